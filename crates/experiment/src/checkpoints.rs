//! Whether a trial has a checkpoint of its database, as production has them.

use product::CheckpointRules;

use crate::{Configuration, Database, Experiment, Note, Sentence};

/// Space of a commit log on a node that iopslab starts, bytes: half of the smallest emulated commit-log volume.
pub const COMMITLOG_BYTES: u64 = 1 << 30;

/// Trials that write and are over before the checkpoint after the one that they begin with, of each configuration.
pub(crate) fn none_in_a_trial(experiment: &Experiment) -> Vec<Note> {
    let Database::Started(started) = &experiment.target.database else { return Vec::new() };
    let Some(rules) = started.product.checkpoints else { return Vec::new() };
    if !experiment.workloads.iter().any(|asked| asked.writes() > 0.0) {
        return Vec::new();
    }
    let trial_s = experiment.load.shape.warmup_s + experiment.load.shape.duration_s;
    let late = |configuration: &Configuration| {
        let interval_s = (rules.interval_s)(&configuration.settings);
        (interval_s > trial_s).then(|| none(&rules, configuration, (interval_s, trial_s)))
    };
    experiment.configurations.iter().filter_map(late).collect()
}

fn none(rules: &CheckpointRules, configuration: &Configuration, (interval_s, trial_s): (f64, f64)) -> Note {
    let (section, key) = rules.setting;
    let logged_mib = COMMITLOG_BYTES as f64 * (rules.log_share)(&configuration.settings) / catalog::MIB;
    let words = format!(
        "a trial begins with a checkpoint and is over after {trial_s:.0} s, and the next one comes after \
         {interval_s:.0} s, or once about {logged_mib:.0} MiB are logged: what production writes at checkpoints, \
         and the whole pages that it logs after them, is likely in no trial"
    );
    let advice = format!(
        "Set settings.{section} {key} to {trial_s:.0} s or less (at least {}), or [load] duration_s = \
         {interval_s:.0} or more; a checkpoint in each trial is more than production has, and overstates what settings \
         save that spare whole pages of the log; none is less",
        rules.least
    );
    let numbers = [("interval_s", interval_s), ("trial_s", trial_s)];
    Note::new("no_checkpoint", Sentence::about(&configuration.name, words), advice).with(numbers)
}
