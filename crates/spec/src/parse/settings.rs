//! `[configuration.settings]`: what of a configuration's database is otherwise than iopslab starts it.

use std::collections::BTreeSet;

use toml::Spanned;

use crate::jvm_option::{is_jvm_setting, jvm_option_name, kept_jvm_option};
use crate::mistakes::Collector;
use crate::{Settings, raw};

/// The settings of a configuration; none where it states none.
pub(super) fn check(given: Option<&Spanned<raw::Settings>>, mistakes: &mut Collector<'_>) -> Option<Settings> {
    let Some(given) = given.map(Spanned::get_ref) else {
        return Some(Settings::default());
    };
    let jvm = given.jvm.as_deref().unwrap_or_default();
    Some(Settings {
        jvm: jvm_options(jvm, mistakes)?,
    })
}

fn jvm_options(given: &[Spanned<String>], mistakes: &mut Collector<'_>) -> Option<Vec<String>> {
    let mut names = BTreeSet::new();
    let mut all_good = true;
    for option in given {
        let is_new = names.insert(jvm_option_name(option.get_ref()));
        if let Some((what, help)) = problem(option.get_ref(), is_new) {
            mistakes.add(option.span(), what, help);
            all_good = false;
        }
    }
    all_good.then(|| given.iter().map(|option| option.get_ref().clone()).collect())
}

fn problem(option: &str, is_new: bool) -> Option<(String, &'static str)> {
    const FOR_EXAMPLE: &str = "for example jvm = [\"-XX:TieredStopAtLevel=1\", \"-Xss512k\", \"-Dname=value\"]";
    if option.contains(|c: char| c.is_whitespace() || c.is_control()) {
        let what = format!("`{option}` is more than one word");
        return Some((what, "each option is an entry of its own, in quotes of its own"));
    }
    if !option.starts_with('-') {
        return Some((
            format!("`{option}` is no option of the JVM: they begin with `-`"),
            FOR_EXAMPLE,
        ));
    }
    if let Some(kept) = kept_jvm_option(option) {
        return Some((format!("{option}: {}", kept.why), kept.help));
    }
    if !is_jvm_setting(option) {
        return Some((format!("`{option}` sets nothing of a JVM"), FOR_EXAMPLE));
    }
    (!is_new).then(|| {
        (
            format!("{} is set twice", jvm_option_name(option)),
            "the last one would win: remove the other",
        )
    })
}
