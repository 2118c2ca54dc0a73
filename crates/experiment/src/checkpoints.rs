//! Whether a trial has a checkpoint of its database, as production has them, and how much is logged until one comes.

use product::{CheckpointRules, Product, Settings};

use crate::{Configuration, Database, Experiment, Note};

/// Space of a commit log on a node that iopslab starts, where no setting states it, bytes.
pub const COMMITLOG_BYTES: u64 = 1 << 30;

/// So many times the space of a log has its volume at the least: PostgreSQL exceeds `max_wal_size`, a soft limit, while
/// a checkpoint is late (PostgreSQL: "WAL Configuration"). How far is ours: a whole checkpoint.
pub(crate) const LOG_ROOM: f64 = 2.0;

/// Space of a log in a model of 1:`scale`, by the setting that states it at full scale, bytes; `None`: none does.
pub(crate) fn stated_log_bytes(product: &Product, settings: &Settings, scale: f64) -> Option<u64> {
    let stated = (product.checkpoints?.log.bytes)(settings)?;
    Some((stated / scale) as u64)
}

/// Trials that write and are over before the checkpoint after the one that they begin with, of each configuration.
pub(crate) fn none_in_a_trial(experiment: &Experiment) -> Vec<Note> {
    let database = &experiment.target.database;
    let product = database.product();
    let Some(rules) = product.checkpoints else { return Vec::new() };
    if !experiment.workloads.iter().any(|asked| asked.writes() > 0.0) {
        return Vec::new();
    }
    let trial_s = experiment.load.shape.warmup_s + experiment.load.shape.duration_s;
    let late = |configuration: &Configuration| {
        let interval_s = (rules.interval_s)(&configuration.settings);
        (interval_s > trial_s).then(|| match database {
            Database::Existing(_) => none_known(&rules, product, configuration, (interval_s, trial_s)),
            Database::Started(_) => {
                let log = stated_log_bytes(product, &configuration.settings, experiment.place.scale());
                none(&rules, configuration, log.unwrap_or(COMMITLOG_BYTES), (interval_s, trial_s))
            }
        })
    };
    experiment.configurations.iter().filter_map(late).collect()
}

fn none(rules: &CheckpointRules, configuration: &Configuration, log: u64, (interval_s, trial_s): (f64, f64)) -> Note {
    let (section, key) = rules.setting;
    let logged_mib = log as f64 * (rules.log_share)(&configuration.settings) / catalog::MIB;
    let words = format!(
        "a trial begins with a checkpoint and is over after {trial_s:.0} s, and the next one comes after \
         {interval_s:.0} s, or once about {logged_mib:.0} MiB are logged: what production writes at checkpoints, \
         and the whole pages that it logs after them, is likely in no trial"
    );
    let least_s = rules.least_s;
    let shorter = match trial_s < least_s {
        true => format!(
            "Trials are shorter than the {least_s:.0} s that {key} is at the least: set [load] duration_s = \
             {least_s:.0} or more and settings.{section} {key} to {least_s:.0} s"
        ),
        false => format!("Set settings.{section} {key} to {trial_s:.0} s or less (at least {least_s:.0} s)"),
    };
    let advice = format!(
        "{shorter}, or [load] duration_s = {interval_s:.0} or more; a checkpoint in each trial is more than production \
         has, and overstates what settings save that spare whole pages of the log; none is less"
    );
    let numbers = [("interval_s", interval_s), ("trial_s", trial_s)];
    Note::new("no_checkpoint", (&configuration.name, words), advice).with(numbers)
}

/// Of a server that exists, whose settings nobody knows.
fn none_known(
    rules: &CheckpointRules,
    product: &Product,
    configuration: &Configuration,
    (interval_s, trial_s): (f64, f64),
) -> Note {
    let (_, key) = rules.setting;
    let words = format!(
        "how often this server makes a checkpoint is not known here, by default of {} every {interval_s:.0} s: a trial \
         is over after {trial_s:.0} s, and what production writes at checkpoints may be in none",
        product.title
    );
    let advice = format!(
        "Ask the server for {key}, and set [load] duration_s to that or more ({interval_s:.0} where it is the default)"
    );
    let numbers = [("interval_s", interval_s), ("trial_s", trial_s)];
    Note::new("no_checkpoint", (&configuration.name, words), advice).with(numbers)
}
