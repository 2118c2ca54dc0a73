//! Which configurations differ in amounts of resources alone.
//!
//! A volume of another kind brings IOPS, MB/s and latency at once, another version or setting other work: what such a
//! step gains is the gain of all of it, and says nothing about one resource.

use experiment::{Plan, Setup, VolumeKind, VolumeSetup};

/// Whether what differs is how much there is of resources, and nothing else.
pub fn is_in_amounts_alone(plan: &Plan, from: &Setup, to: &Setup) -> bool {
    let logs = from.commitlog.as_ref().zip(to.commitlog.as_ref());
    let ((data_from, log_from), (data_to, log_to)) = (kinds(plan, from), kinds(plan, to));
    (from.placement, from.consistency) == (to.placement, to.consistency)
        && (&from.version, &from.settings) == (&to.version, &to.settings)
        // What caches answer is no resource of the database, and leaves it other work.
        && from.cache_tier == to.cache_tier
        && data_from == data_to
        && is_served_alike(&from.data, &to.data)
        // A log without a volume of its own shares that of the data.
        && logs.is_none_or(|(from, to)| log_from == log_to && is_served_alike(from, to))
}

/// What the volumes for data and commit log are; `None`: not stated.
fn kinds(plan: &Plan, setup: &Setup) -> (Option<VolumeKind>, Option<VolumeKind>) {
    let configuration = plan.configuration(&setup.configuration);
    let log = configuration.and_then(|c| c.commitlog_volume.as_ref());
    (configuration.map(|c| c.data_volume.kind), log.map(|volume| volume.kind))
}

/// Whether a request to either takes the same time where nothing waits.
fn is_served_alike(from: &VolumeSetup, to: &VolumeSetup) -> bool {
    (from.is_local, from.served) == (to.is_local, to.served)
}

#[cfg(test)]
mod tests {
    use experiment::ServedAs;

    use super::*;
    use crate::limit::tests::made::{Disk, with};
    use crate::story::job;

    /// From gp3 to the instance's own NVMe: more IOPS and more MB/s, and each request in a tenth of the time.
    #[test]
    fn another_kind_of_volume_is_more_than_an_amount() {
        let plan = job().plan;
        let from = with(|m| m.log = Some(Disk::of(0.0, 100.0, 3000.0, 125.0))).setup();
        let is_alike = |change: fn(&mut Setup)| {
            let mut to = from.clone();
            change(&mut to);
            is_in_amounts_alone(&plan, &from, &to)
        };
        let served = ServedAs { latency: None, is_hard_disk: true };
        assert_eq!((from.data.is_local, from.data.served), (false, None));
        assert!(is_alike(|to| to.cpus *= 2.0));
        assert!(is_alike(|to| to.data.limits.read_iops = Some(20_000.0)));
        assert!(is_alike(|to| to.commitlog = None));
        assert!(!is_alike(|to| to.data.is_local = true));
        assert!(!is_alike(|to| to.version = Some("4.1.7".to_owned())));
        assert!(!is_alike(|to| to.commitlog.iter_mut().for_each(|log| log.is_local = true)));
        let mut to = from.clone();
        to.data.served = Some(served);
        assert!(!is_in_amounts_alone(&plan, &from, &to));
    }
}
