//! Whether a trial has a checkpoint of its database, as production has them.

use crate::{Configuration, Database, Experiment, Note};

/// Space of a commit log on a node that iopslab starts, bytes: half of the smallest emulated commit-log volume.
pub const COMMITLOG_BYTES: u64 = 1 << 30;

/// Trials that write and are over before the checkpoint after the one that they begin with.
pub(crate) fn none_in_a_trial(experiment: &Experiment) -> Option<Note> {
    let Database::Started(started) = &experiment.target.database else { return None };
    let rules = started.product.checkpoints?;
    let trial_s = experiment.load.warmup_s + experiment.load.duration_s;
    let due_s = |configuration: &Configuration| (rules.interval_s)(&configuration.settings);
    let late: Vec<&Configuration> = experiment.configurations.iter().filter(|c| due_s(c) > trial_s).collect();
    if late.is_empty() || !experiment.workloads.iter().any(|asked| asked.writes() > 0.0) {
        return None;
    }
    let interval_s = late.iter().map(|c| due_s(c)).fold(0.0, f64::max);
    let names: Vec<&str> = late.iter().map(|c| c.name.as_str()).collect();
    let (section, key) = rules.setting;
    let message = format!(
        "{}: a trial begins with a checkpoint and is over after {trial_s:.0} s, and the next one comes after \
         {interval_s:.0} s, or once {} MiB are logged: what production writes at checkpoints, and the whole pages that \
         it logs after them, is likely in no trial",
        names.join(", "),
        COMMITLOG_BYTES >> 20
    );
    let advice = format!(
        "Set settings.{section} {key} to {trial_s:.0} s or less, or [load] duration_s = {interval_s:.0} or more; a \
         checkpoint in each trial is more than production has, and none is less"
    );
    let numbers = [("interval_s", interval_s), ("trial_s", trial_s)];
    Some(Note::new("no_checkpoint", message, advice).with(numbers))
}
