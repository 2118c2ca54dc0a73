//! Whether a table has the options that were asked for, by `system_schema.tables`.

use std::collections::BTreeMap;

use experiment::Setting;

use super::node_error::NotInForce;

/// The options that were asked for, as the schema has them.
pub(super) fn check(
    asked: &BTreeMap<String, Setting>,
    schema: &BTreeMap<String, Setting>,
) -> Result<BTreeMap<String, Setting>, NotInForce> {
    let mut found = BTreeMap::new();
    for (name, wanted) in asked {
        let setting = || format!("table {name} = {}", wanted.label());
        let Some(shown) = schema.get(name) else {
            return Err((setting(), "system_schema.tables does not show it".to_owned()));
        };
        if !is_it(wanted, shown) {
            return Err((setting(), format!("system_schema.tables shows {}", shown.label())));
        }
        found.insert(name.clone(), shown.clone());
    }
    Ok(found)
}

/// The schema may have more than was asked for: what was left out has a value of its own.
fn is_it(wanted: &Setting, shown: &Setting) -> bool {
    match (wanted, shown) {
        (Setting::Value(wanted), Setting::Value(shown)) => is_same(wanted, shown),
        (Setting::Map(wanted), Setting::Map(shown)) => {
            wanted.iter().all(|(key, value)| shown.get(key).is_some_and(|shown| is_same(value, shown)))
        }
        _ => false,
    }
}

/// The schema has classes with their packages, and numbers in its own way.
fn is_same(wanted: &str, shown: &str) -> bool {
    if let (Ok(wanted), Ok(shown)) = (wanted.parse::<f64>(), shown.parse::<f64>()) {
        return (wanted - shown).abs() <= wanted.abs() * 1e-9;
    }
    let class = |name: &str| name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    wanted.eq_ignore_ascii_case(shown) || class(wanted) == class(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, &str)]) -> Setting {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Setting::Map(entries.iter().map(own).collect())
    }

    #[test]
    fn an_option_is_in_force_if_the_schema_has_all_of_it() {
        let schema: BTreeMap<String, Setting> = [
            (
                "compaction".to_owned(),
                map(&[
                    ("class", "org.apache.cassandra.db.compaction.LeveledCompactionStrategy"),
                    ("sstable_size_in_mb", "160"),
                ]),
            ),
            ("bloom_filter_fp_chance".to_owned(), Setting::Value("0.1".to_owned())),
        ]
        .into();
        let checked = |name: &str, wanted: Setting| check(&[(name.to_owned(), wanted)].into(), &schema);
        let leveled = checked("compaction", map(&[("class", "LeveledCompactionStrategy")])).unwrap();
        assert_eq!(leveled["compaction"], schema["compaction"], "what is kept is what was found");
        checked("bloom_filter_fp_chance", Setting::Value("0.10".to_owned())).unwrap();

        let (setting, why) = checked("compaction", map(&[("class", "UnifiedCompactionStrategy")])).unwrap_err();
        assert_eq!(setting, "table compaction = UnifiedCompactionStrategy");
        assert!(why.contains("shows org.apache.cassandra.db.compaction.LeveledCompactionStrategy"), "{why}");
        let other = map(&[("class", "LeveledCompactionStrategy"), ("sstable_size_in_mb", "10")]);
        checked("compaction", other).unwrap_err();
        let (_, why) = checked("memtable", Setting::Value("trie".to_owned())).unwrap_err();
        assert_eq!(why, "system_schema.tables does not show it");
    }
}
