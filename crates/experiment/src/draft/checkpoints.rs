//! Checkpoints in a draft: how often they come, so that trials have several, and what makes the log after them smaller.

use product::CheckpointRules;

use crate::ordered::quoted;

/// So many has a trial: with fewer than two in its window it was not at rest (measured: docs/postgresql.md).
const OF_A_TRIAL: f64 = 4.0;

/// Seconds from one to the next (ours: half as long again as the least).
fn interval_s(rules: &CheckpointRules) -> f64 {
    1.5 * rules.least_s
}

/// `duration_s`, and why.
pub(super) fn duration(rules: &CheckpointRules) -> (f64, String) {
    (OF_A_TRIAL * interval_s(rules), format!("{OF_A_TRIAL} checkpoints: with fewer than two a trial is not at rest"))
}

/// The settings of a configuration: where checkpoints are minutes apart none would fall into a trial.
pub(super) fn settings(rules: &CheckpointRules, is_first: bool) -> String {
    let why = match is_first {
        true => {
            "# So that each trial has several checkpoints, and the whole pages that are logged after them. A server \
             of yours\n# has fewer, and writes less; without any a trial writes too little.\n# What spares whole pages \
             of the log (wal_compression, full_page_writes) saves less there than here: to see that,\n# state your \
             server's own interval, and longer trials.\n"
        }
        false => "",
    };
    let (section, key) = rules.setting;
    let interval = quoted(&format!("{}s", interval_s(rules)));
    format!("{why}settings = {{ {section} = {{ {key} = {interval} }} }}\n")
}

/// What costs no money, beside what runs today.
pub(super) fn variant(rules: &CheckpointRules, today: &str) -> String {
    let (section, key, value) = rules.smaller_log;
    format!(
        "
# What costs no money, before what does: a smaller log, for some CPU. With checkpoints in every trial it saves more \
than on a server that
# has few. Other settings become configurations in the same way.
[[variant]]
name = {}
configurations = [{}]
settings = {{ {section} = {{ {key} = {} }} }}
",
        quoted(key),
        quoted(today),
        quoted(value)
    )
}
