//! When a node writes what has changed to its files, and how much it logs until then.

use product::{CheckpointRules, Settings, StatedBytes};

use crate::amount::{Unit, amount};
use crate::check::CONF;

/// The setting of how much WAL there may be: a checkpoint comes early because of it.
pub const MAX_WAL_SIZE: &str = "max_wal_size";
/// The setting of the time from one checkpoint to the next.
const CHECKPOINT_TIMEOUT: &str = "checkpoint_timeout";
/// The setting of how much of that time a checkpoint is spread over.
const COMPLETION_TARGET: &str = "checkpoint_completion_target";

/// Where it is not set: five minutes (PostgreSQL's default).
const CHECKPOINT_S: f64 = 300.0;
/// `checkpoint_completion_target` where it is not set (PostgreSQL's default from version 14 on).
const CHECKPOINT_COMPLETION: f64 = 0.9;

/// The unit of `max_wal_size`, bytes.
const MB: f64 = 1_048_576.0;
/// PostgreSQL does not start with less than two segments of its WAL (`ReadControlFile` in `xlog.c`), 16 MiB each as
/// `initdb` makes them.
const LEAST_WAL: f64 = 32.0 * MB;

/// Its checkpoints.
pub(crate) const RULES: CheckpointRules = CheckpointRules {
    setting: (CONF, CHECKPOINT_TIMEOUT),
    least_s: 30.0,
    smaller_log: (CONF, "wal_compression", "pglz"),
    log: StatedBytes { setting: (CONF, MAX_WAL_SIZE), bytes: stated_wal_bytes, least_bytes: LEAST_WAL },
    interval_s,
    log_share,
};

/// What is stated was checked before.
fn interval_s(settings: &Settings) -> f64 {
    let stated = settings.keys(CONF).get(CHECKPOINT_TIMEOUT);
    stated.and_then(|stated| amount(Unit::of_settings("s"), stated.value())).unwrap_or(CHECKPOINT_S)
}

/// Of `max_wal_size`: 1 / (1 + `checkpoint_completion_target`), so that what is logged while a checkpoint is spread
/// over its time fits too (PostgreSQL, `CalculateCheckpointSegments` in `xlog.c`). What is stated was checked before.
fn log_share(settings: &Settings) -> f64 {
    let stated = settings.keys(CONF).get(COMPLETION_TARGET);
    let target = stated.and_then(|stated| stated.value().parse().ok()).unwrap_or(CHECKPOINT_COMPLETION);
    1.0 / (1.0 + target)
}

/// `max_wal_size` as these settings state it, rounded to whole MB as PostgreSQL does. What is stated was checked
/// before.
fn stated_wal_bytes(settings: &Settings) -> Option<f64> {
    let stated = settings.keys(CONF).get(MAX_WAL_SIZE)?;
    Some(amount(Unit::of_settings("MB"), stated.value())?.round() * MB)
}

#[cfg(test)]
mod tests {
    use product::{Section, Setting};

    use super::*;

    fn set(name: &str, value: &str) -> Settings {
        let keys = [(name.to_owned(), Setting::Value(value.to_owned()))].into();
        Settings::default().with(CONF, Section::Keys(keys))
    }

    #[test]
    fn a_checkpoint_comes_as_often_as_is_set_or_every_five_minutes() {
        let every = |value: &str| interval_s(&set(CHECKPOINT_TIMEOUT, value));
        assert_eq!([every("30s"), every("15min"), every("90")], [30.0, 900.0, 90.0]);
        assert_eq!(interval_s(&Settings::default()), 300.0);
    }

    #[test]
    fn a_checkpoint_comes_before_the_log_has_reached_its_goal() {
        let share = |value: &str| log_share(&set(COMPLETION_TARGET, value));
        assert_eq!([share("0"), share("1.0"), share("0.9")], [1.0, 0.5, 1.0 / 1.9]);
        assert_eq!(log_share(&Settings::default()), 1.0 / 1.9);
    }

    #[test]
    fn the_goal_of_the_log_is_counted_in_megabytes() {
        let stated = |value: &str| stated_wal_bytes(&set(MAX_WAL_SIZE, value));
        assert_eq!([stated("16GB"), stated("64"), stated("100MB")], [16_384.0, 64.0, 100.0].map(|mb| Some(mb * MB)));
        assert_eq!(stated("1500kB"), Some(MB), "rounded as PostgreSQL rounds it");
        assert_eq!(stated_wal_bytes(&Settings::default()), None);
    }
}
