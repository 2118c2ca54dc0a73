//! Which configurations differ in amounts of resources alone.
//!
//! A volume of another kind brings IOPS, MB/s and latency at once, a machine of another kind faster CPUs, another
//! version, setting or backlog other work: what such a step gains is the gain of all of it, and says nothing about one
//! resource.

use experiment::{Instance, Plan, Setup, VolumeKind, VolumeSetup};

/// Whether what differs is how much there is of resources, and nothing else.
pub fn is_in_amounts_alone(plan: &Plan, from: &Setup, to: &Setup) -> bool {
    let logs = from.commitlog.as_ref().zip(to.commitlog.as_ref());
    let ((data_from, log_from), (data_to, log_to)) = (kinds(plan, from), kinds(plan, to));
    (from.placement, from.consistency) == (to.placement, to.consistency)
        && (&from.version, &from.settings) == (&to.version, &to.settings)
        // What caches answer is no resource of the database, and leaves it other work.
        && from.cache_tier == to.cache_tier
        && from.backlog == to.backlog
        && has_same_cpus(plan, from, to)
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

/// Whether a CPU of either does as much: one that is emulated is this machine's, which is counted.
fn has_same_cpus(plan: &Plan, from: &Setup, to: &Setup) -> bool {
    let real = |setup: &Setup| {
        let is_real = setup.has_real_volumes();
        plan.configuration(&setup.configuration).filter(|_| is_real).map(|configuration| &configuration.instance)
    };
    real(from).zip(real(to)).is_none_or(|(from, to)| is_as_fast(from, to))
}

/// Whether a vCPU of either is as fast; where a speed is not known, whether they are of one family.
fn is_as_fast(from: &Instance, to: &Instance) -> bool {
    match (from.cpu_speed, to.cpu_speed) {
        (Some(from), Some(to)) => from.speed == to.speed,
        _ => family(from) == family(to),
    }
}

/// `r5` of `r5.2xlarge`; `None`: described by its size.
fn family(instance: &Instance) -> Option<&str> {
    instance.label.split('.').next().filter(|_| instance.from_catalog)
}

/// Whether a request to either takes the same time where nothing waits.
fn is_served_alike(from: &VolumeSetup, to: &VolumeSetup) -> bool {
    (from.is_local, from.served) == (to.is_local, to.served)
}

#[cfg(test)]
mod tests {
    use experiment::ServedAs;
    use serde_json::json;

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

    /// As many vCPUs of a newer family are more CPU.
    #[test]
    fn a_faster_cpu_is_more_than_an_amount() {
        let of = |label: &str, speed: Option<f64>| Instance {
            label: label.to_owned(),
            from_catalog: true,
            vcpus: 8.0,
            memory_bytes: 1 << 36,
            cpu_speed: speed.map(|speed| {
                serde_json::from_value(json!({"speed": speed, "apart": null, "basis": "stated"})).unwrap()
            }),
            ..Instance::default()
        };
        let usual = of("r5.2xlarge", Some(1.0));
        assert!(is_as_fast(&usual, &of("r5b.2xlarge", Some(1.0))));
        assert!(!is_as_fast(&usual, &of("r6i.2xlarge", Some(1.2))));
        assert!(is_as_fast(&usual, &of("r5.4xlarge", None)));
        assert!(!is_as_fast(&usual, &of("x9z.2xlarge", None)));
    }
}
