//! Which configurations have the same hardware: machine, memory, volumes, cluster and price, and the same backlog,
//! which nobody chooses. What else differs between them, their settings, costs nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::{ConfigurationFacts, VolumeReport};

/// Prices closer than this are one: half a cent.
const SAME_PRICE_USD: f64 = 0.005;
/// Memory closer than this is one, bytes: what a database takes in a 1:N model is rounded to whole MiB at the most.
const SAME_MEMORY_BYTES: u64 = 1 << 20;

/// Whether two prices, USD a month, are one.
pub fn is_one_price(one: f64, other: f64) -> bool {
    (one - other).abs() < SAME_PRICE_USD
}

/// Whether machine with its path to volumes, memory, volumes and cluster are the same. How much of its memory the
/// database takes for itself follows from these, or is one of its settings.
pub fn is_same_but_for_settings(one: &ConfigurationFacts, other: &ConfigurationFacts) -> bool {
    let machine = |c: &ConfigurationFacts| (c.is_bought, c.cpus, c.nodes);
    let path = |c: &ConfigurationFacts| (c.bandwidth_weighting, c.instance_limits);
    let volume = |v: &VolumeReport| (v.role, v.size_bytes, v.card, v.limits, v.burst, v.byte_burst);
    machine(one) == machine(other)
        && one.memory_limit_bytes.abs_diff(other.memory_limit_bytes) < SAME_MEMORY_BYTES
        && path(one) == path(other)
        && one.exists_at == other.exists_at
        && one.placement == other.placement
        && one.consistency == other.consistency
        && one.layout == other.layout
        && one.cache_tier == other.cache_tier
        && one.volumes.iter().map(volume).eq(other.volumes.iter().map(volume))
        && one.volumes.iter().map(|v| &v.label).eq(other.volumes.iter().map(|v| &v.label))
}

/// The hardware of all configurations of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hardware {
    /// For each configuration the place of the first that has its hardware.
    first: BTreeMap<String, usize>,
    /// Those with another backlog than the baseline, or the first where there is none.
    otherwise_behind: BTreeSet<String>,
}

impl Hardware {
    pub fn of(configurations: &[ConfigurationFacts], baseline: Option<&str>) -> Self {
        let first = configurations.iter().filter_map(|configuration| {
            let mut all = configurations.iter();
            let first = all.position(|other| is_same_hardware(other, configuration))?;
            Some((configuration.name.clone(), first))
        });
        let base = configurations.iter().find(|c| Some(c.name.as_str()) == baseline);
        let backlog = base.or(configurations.first()).and_then(|c| c.backlog);
        let otherwise_behind = configurations.iter().filter(|c| c.backlog != backlog);
        Self { first: first.collect(), otherwise_behind: otherwise_behind.map(|c| c.name.clone()).collect() }
    }

    /// Whether a configuration is chosen from: it has the backlog of the baseline, or of the first configuration where
    /// there is no baseline. Nobody chooses to be behind.
    pub fn is_choice(&self, name: &str) -> bool {
        !self.otherwise_behind.contains(name)
    }

    /// Whether two configurations have the same. One that is not known has none.
    pub fn is_same(&self, one: &str, other: &str) -> bool {
        let first = |name: &str| self.first.get(name);
        first(one).is_some_and(|of_one| first(other) == Some(of_one))
    }
}

fn is_same_hardware(one: &ConfigurationFacts, other: &ConfigurationFacts) -> bool {
    let is_one_price = match (one.usd_per_month, other.usd_per_month) {
        (Some(one), Some(other)) => is_one_price(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    is_one_price && one.backlog == other.backlog && is_same_but_for_settings(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::story::{job, run, trials};

    const BEHIND: experiment::BacklogFiles = experiment::BacklogFiles { sstables: 8, records: 1_000 };

    /// Settings and half a cent make no other hardware; a cent, a volume, its card, the instance's path, a replica's
    /// place and memory do.
    #[test]
    fn what_costs_nothing_makes_no_other_hardware() {
        let plain = analyse(&run(&job(), &trials())).configurations.swap_remove(0);
        let plain = ConfigurationFacts { usd_per_month: Some(100.0), ..plain };
        let is_same = |change: fn(&mut ConfigurationFacts)| {
            let mut other = ConfigurationFacts { name: "other".to_owned(), ..plain.clone() };
            change(&mut other);
            Hardware::of(&[plain.clone(), other], None).is_same(&plain.name, "other")
        };
        assert!(is_same(|_| {}));
        assert!(is_same(|c| {
            let options = experiment::Section::Options(vec!["-XX:+UseZGC".to_owned()]);
            c.settings.sections.insert("jvm".to_owned(), options);
        }));
        assert!(is_same(|c| c.usd_per_month = Some(100.004)));
        // Of the same memory another part is the database's own.
        assert!(is_same(|c| (c.heap_bytes, c.page_cache_budget_bytes) = (c.heap_bytes / 2, 1)));
        let others: [fn(&mut ConfigurationFacts); 9] = [
            |c| c.bandwidth_weighting = Some(experiment::BandwidthWeighting::Ebs1),
            |c| c.instance_limits = Some(experiment::IoLimits { read_iops: Some(9.0), ..Default::default() }),
            |c| c.volumes[0].card = Some(1),
            |c| c.usd_per_month = Some(100.01),
            |c| c.usd_per_month = None,
            |c| c.volumes[0].limits.read_iops = Some(61.0),
            |c| c.memory_limit_bytes += SAME_MEMORY_BYTES,
            |c| c.backlog = Some(BEHIND),
            |c| c.exists_at = vec!["10.0.0.5".to_owned()],
        ];
        for change in others {
            assert!(!is_same(change));
        }
        assert!(!Hardware::of(&[], None).is_same("other", "other"), "nothing is known of it");
    }

    /// A version costs no money and is no hardware; facts name it where it varies, and the run has all of them.
    #[test]
    fn versions_are_named_where_they_vary_and_make_no_other_hardware() {
        let mut job = job();
        let analysis = analyse(&run(&job, &trials()));
        assert_eq!(analysis.database, "Apache Cassandra 5.0.9");
        assert!(analysis.configurations.iter().all(|c| c.version.is_none()));
        job.setups[0].version = Some("4.1.10".to_owned());
        let analysis = analyse(&run(&job, &trials()));
        assert_eq!(analysis.database, "Apache Cassandra 4.1.10, 5.0.9");
        let named: Vec<Option<&str>> = analysis.configurations.iter().map(|c| c.version.as_deref()).collect();
        assert_eq!(named, [Some("4.1.10"), Some("5.0.9")]);
        let old = analysis.configurations[0].clone();
        let new = ConfigurationFacts { name: "new".to_owned(), version: Some("5.0.9".to_owned()), ..old.clone() };
        assert!(Hardware::of(&[old.clone(), new], None).is_same(&old.name, "new"));
        // Where all have one that is not the target's, it does not vary.
        job.setups[1].version = Some("4.1.10".to_owned());
        let analysis = analyse(&run(&job, &trials()));
        assert_eq!(analysis.database, "Apache Cassandra 4.1.10");
        assert!(analysis.configurations.iter().all(|c| c.version.is_none()));
    }

    /// The baseline says which backlog is asked for.
    #[test]
    fn nobody_chooses_to_be_behind() {
        let plain = analyse(&run(&job(), &trials())).configurations.swap_remove(0);
        let named = |name: &str, backlog| ConfigurationFacts { name: name.to_owned(), backlog, ..plain.clone() };
        let all = [named("at-rest", None), named("behind", Some(BEHIND)), named("too", Some(BEHIND))];
        let choices = |baseline: Option<&str>| -> Vec<&str> {
            let hardware = Hardware::of(&all, baseline);
            all.iter().map(|c| c.name.as_str()).filter(|name| hardware.is_choice(name)).collect()
        };
        assert_eq!(choices(None), ["at-rest"]);
        assert_eq!(choices(Some("too")), ["behind", "too"]);
    }
}
