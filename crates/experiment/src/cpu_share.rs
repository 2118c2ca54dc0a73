//! Which part of this machine's CPUs stands for those of an instance.
//!
//! vCPUs / scale, each by its speed beside the fastest of the experiment: that one has whole vCPUs / scale, so that
//! nothing takes more of this machine than without speeds, and a CPU here stands for a vCPU of it. So CPUs are emulated
//! *among each other*. How a CPU of this machine compares with those that are bought nobody has measured; what the CPU
//! limits beside a volume is a bound for that reason.

use catalog::{CPU_REFERENCE, CpuSpeed};
use serde::{Deserialize, Serialize};

use crate::{Configuration, Experiment, Instance, Note, Place};

/// Smallest CPU share of a node: below it what Cassandra does in any case (gossip, collection, metrics: some 0.05 CPUs)
/// is no longer small beside what it is asked for. The start is not bound by it.
pub(crate) const LEAST_CPUS: f64 = 0.25;
/// A part that speeds bring this near to whole CPUs is given as those: a fraction takes a quota, which stops the
/// database for a part of each period, and no source knows speeds better (ours; it is the usual margin of what
/// matters).
const NEARLY_WHOLE: f64 = 0.05;
/// Parts within this factor are in proportion: rounding, of both.
const ROUNDING: f64 = 1.06;

/// What the CPUs of a setup stand for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuShare {
    /// The instance, as its configuration names it.
    pub instance: String,
    /// Its vCPUs.
    pub vcpus: f64,
    /// How fast one of them is; `None`: not known.
    pub speed: Option<CpuSpeed>,
    /// The speed for which one CPU of this machine stands: that of the fastest configuration. `None`: some are not
    /// known, so that all CPUs are assumed equally fast.
    pub unit: Option<f64>,
}

impl CpuShare {
    /// vCPUs of the fastest configuration that its own are worth.
    pub fn worth(&self) -> f64 {
        let relative = self.speed.zip(self.unit).map(|(known, unit)| known.speed / unit);
        self.vcpus * relative.unwrap_or(1.0)
    }

    /// CPUs of this machine for a database at 1:N.
    pub fn cpus(&self, scale: f64) -> f64 {
        let part = self.worth() / scale;
        let whole = part.round();
        let is_nearly = (part / whole - 1.0).abs() <= NEARLY_WHOLE && self.worth() != self.vcpus;
        if is_nearly { whole } else { part.max(LEAST_CPUS) }
    }

    /// How many times its part of this machine's CPUs it has at 1:N, where that is raised to the least; else 1.
    pub fn raised_by(&self, scale: f64) -> f64 {
        (LEAST_CPUS * scale / self.worth()).max(1.0)
    }

    /// The largest N at which it has its part. Whole from 1 on.
    pub fn most_scale(&self) -> f64 {
        match self.worth() / LEAST_CPUS {
            scale if scale >= 1.0 => scale.floor(),
            scale => scale,
        }
    }

    /// Whether so many CPUs for this and so many for the other are in proportion to the CPUs of both instances. Of two
    /// instances of which one has no known speed nobody can say.
    pub fn is_in_proportion(&self, cpus: f64, other: &Self, other_cpus: f64) -> bool {
        let factor = match (self.speed, other.speed) {
            _ if self.instance == other.instance => self.vcpus / other.vcpus,
            (Some(one), Some(two)) => self.vcpus * one.speed / (other.vcpus * two.speed),
            _ => return false,
        };
        let off = cpus / other_cpus / factor;
        (1.0 / ROUNDING..=ROUNDING).contains(&off)
    }
}

/// What the CPUs of an experiment's instances stand for, where they are emulated.
pub(crate) struct Speeds {
    unit: Option<f64>,
}

impl Speeds {
    /// `None` where the machines are what they are.
    pub(crate) fn of(experiment: &Experiment) -> Option<Self> {
        let are_theirs =
            matches!(experiment.place, Place::AsIs(_) | Place::Bought(_) | Place::Existing(_) | Place::Imported);
        let speeds: Option<Vec<f64>> = experiment
            .configurations
            .iter()
            .map(|configuration| Some(configuration.instance.cpu_speed?.speed))
            .collect();
        let fastest = || speeds?.into_iter().reduce(f64::max);
        (!are_theirs).then(|| Self { unit: fastest() })
    }

    /// What the CPUs of an instance stand for.
    pub(crate) fn share_of(&self, instance: &Instance) -> CpuShare {
        self.share(&instance.label, instance.vcpus, instance.cpu_speed)
    }

    /// What so many vCPUs of a type stand for.
    pub(crate) fn share(&self, instance: &str, vcpus: f64, speed: Option<CpuSpeed>) -> CpuShare {
        CpuShare { instance: instance.to_owned(), vcpus, speed, unit: self.unit }
    }
}

/// What of the CPUs is not as it would be bought.
pub(crate) fn notes(experiment: &Experiment) -> Vec<Note> {
    let Some(speeds) = Speeds::of(experiment) else { return Vec::new() };
    unknown(experiment).into_iter().chain(raised(experiment, &speeds)).collect()
}

/// Instances of which some have a known speed and some have not: then all are assumed equally fast.
fn unknown(experiment: &Experiment) -> Option<Note> {
    let all = || experiment.configurations.iter().map(|c| &c.instance);
    let (known, unknown): (Vec<&Instance>, Vec<&Instance>) = all().partition(|i| i.cpu_speed.is_some());
    if known.is_empty() || unknown.is_empty() {
        return None;
    }
    let mut names: Vec<&str> = unknown.iter().map(|instance| instance.label.as_str()).collect();
    names.dedup();
    let message =
        format!("The speed of a vCPU of {} is not known, so that all vCPUs are assumed equally fast", names.join(", "));
    let advice = format!("State cpu_speed of its configuration, beside {CPU_REFERENCE}");
    Some(Note::new("cpu_speed_unknown", message, advice))
}

/// Configurations whose part of the CPUs is less than a database can be given: they have more than their part.
fn raised(experiment: &Experiment, speeds: &Speeds) -> Option<Note> {
    let scale = experiment.place.scale();
    let share = |configuration: &Configuration| speeds.share_of(&configuration.instance);
    let few: Vec<&Configuration> =
        experiment.configurations.iter().filter(|c| share(c).raised_by(scale) > 1.0).collect();
    let most_scale = few.iter().map(|c| share(c).most_scale()).reduce(f64::min)?;
    let names: Vec<String> = few.iter().map(|c| format!("{} {:.2}", c.name, share(c).worth() / scale)).collect();
    let message = format!(
        "CPUs at scale 1:{scale}: {}; a database gets at least {LEAST_CPUS}, which is more than its part",
        names.join(", ")
    );
    let advice =
        format!("Set [provider.local] scale to {most_scale} or less: no verdict rests on CPUs that were raised");
    Some(Note::new("cpus_raised", message, advice).with([("scale_max", most_scale)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(instance: &str, vcpus: f64, speed: Option<f64>) -> CpuShare {
        CpuShare { instance: instance.to_owned(), vcpus, speed: speed.map(CpuSpeed::stated), unit: Some(1.0) }
    }

    #[test]
    fn parts_are_in_proportion_by_vcpus_and_speed() {
        let (slow, fast) = (share("i2", 8.0, Some(0.8)), share("r4", 8.0, Some(1.0)));
        assert!(slow.is_in_proportion(0.4, &fast, 0.5));
        assert!(slow.is_in_proportion(0.42, &fast, 0.5) && !slow.is_in_proportion(0.43, &fast, 0.5));
        assert!(!slow.is_in_proportion(0.5, &fast, 0.5), "as if they were equal");
        assert!(share("r4", 16.0, Some(1.0)).is_in_proportion(1.0, &fast, 0.5));
    }

    /// A quota for 3 % would cost more than it shows; 16 % are given.
    #[test]
    fn what_is_nearly_whole_is_given_whole() {
        let cpus = |speed: f64, scale: f64| share("i4i", 16.0, Some(speed)).cpus(scale);
        assert_eq!((cpus(0.97, 16.0), cpus(1.0, 16.0)), (1.0, 1.0));
        assert!((cpus(0.94, 16.0) - 0.94).abs() < 1e-12);
        assert!((cpus(0.97, 32.0) - 0.485).abs() < 1e-12, "no whole one is near");
        assert_eq!(cpus(0.8, 64.0), LEAST_CPUS);
        let stated = share("2.08 vCPU, 8 GiB", 2.08, Some(1.0));
        assert_eq!(stated.cpus(2.0), 1.04, "as it was stated");
    }

    /// Eight vCPUs at 1:32 are a quarter of one: the least.
    #[test]
    fn what_is_raised_has_so_many_times_its_part() {
        let eight = share("r6i.2xlarge", 8.0, Some(1.0));
        assert_eq!([16.0, 32.0, 33.0, 64.0].map(|scale| eight.raised_by(scale)), [1.0, 1.0, 33.0 / 32.0, 2.0]);
        assert_eq!((eight.most_scale(), share("m5", 2.0, Some(0.7)).most_scale()), (32.0, 5.0));
        for scale in [1.0, 31.0, 32.0, 33.0, 100.0] {
            let given = eight.cpus(scale);
            assert!((given / (8.0 / scale) - eight.raised_by(scale)).abs() < 1e-12, "1:{scale}: {given}");
        }
    }

    #[test]
    fn without_a_speed_only_one_instance_is_like_itself() {
        let (one, other) = (share("acme.db8", 8.0, None), share("acme.db9", 8.0, None));
        assert!(one.is_in_proportion(0.5, &one.clone(), 0.5));
        assert!(!one.is_in_proportion(0.5, &other, 0.5));
    }
}
