//! Was the database still compiling its own code while it was measured?

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::rules::nodes::worst;
use crate::seen::Seen;

/// The compilers used much of the database's CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CodeNotWarm {
    /// Share of its CPU time in the window; `None`: nobody saw them.
    pub compiler_share: Option<f64>,
    /// Allowed share.
    pub threshold: f64,
    /// Whether the preparation ended by its time bound before the code was compiled.
    pub preparation_ended_early: bool,
    /// Whether a volume was the limit of its cell, so that its throughput does not depend on this.
    pub volume_was_limit: bool,
}

/// Compilers used more than this share of the database's CPU time in the window (practice). A Cassandra whose code is
/// compiled shows 1 to 2 %; at 5 % the code that is not compiled yet costs a multiple of that: what compilers use is
/// the smaller part of what is missing.
const COMPILER_SHARE_MAX: f64 = 0.05;

/// A database that used less than this share of its CPUs was not held back by its code, whatever part of little its
/// compilers took (practice).
const CPU_SHARE_THAT_MATTERS: f64 = 0.25;

/// What the window shows decides; how the preparation ended is reported with it, and decides where the compilers could
/// not be seen.
pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<CodeNotWarm>> {
    worst(trial, |node| {
        let ended_early = node.facts.rest.as_ref().is_some_and(|rest| !rest.code_is_warm);
        let share = node.host.compiler_share;
        let used = node.host.cpus_used.map(|used| used / node.facts.cpus.max(1e-9));
        if used.is_some_and(|used| used < CPU_SHARE_THAT_MATTERS) {
            return None;
        }
        let is_cold = share.map_or(ended_early, |share| share > COMPILER_SHARE_MAX);
        let figures = CodeNotWarm {
            compiler_share: share,
            threshold: COMPILER_SHARE_MAX,
            preparation_ended_early: ended_early,
            // Known once the limit of the cell is.
            volume_was_limit: false,
        };
        is_cold.then_some((share.unwrap_or(0.0), figures))
    })
}

/// Whether every node showed that its code was compiled.
pub(crate) fn is_warm(trial: &TrialMeasurement) -> bool {
    let is_warm = |node: crate::Node<'_>| match node.host.compiler_share {
        Some(share) => share <= COMPILER_SHARE_MAX,
        None => node.facts.rest.as_ref().is_some_and(|rest| rest.code_is_warm),
    };
    trial.nodes().all(is_warm)
}

#[cfg(test)]
mod tests {
    use evidence::Rest;
    use experiment::{Database, PRODUCTS, Product, Started};

    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{changed, fires, first_host, found, seen};
    use crate::rules::{RunContext, of_trial_in_run};
    use crate::story::job;

    #[test]
    fn a_twentieth_of_the_cpu_for_compilers_is_the_bound() {
        let cases = [(Some(0.3), true), (Some(0.051), true), (Some(0.049), false), (Some(0.0), false), (None, false)];
        fires(Rule::CodeNotWarm, &cases, |share| changed(|t| first_host(t).compiler_share = share));
    }

    /// At 47 IOPS a database uses a tenth of a CPU, and its compilers half of that: the volume is what holds it back.
    #[test]
    fn compilers_of_a_database_that_has_little_to_compute_are_no_finding() {
        let using = |cpus: f64| {
            let trial = changed(|t| {
                t.record.nodes[0].cpus = 2.0;
                let host = first_host(t);
                (host.compiler_share, host.cpus_used) = (Some(0.4), Some(cpus));
            });
            found(&trial, Rule::CodeNotWarm).is_some()
        };
        assert!(!using(0.49) && using(0.51));
    }

    /// The preparation ended by its time bound: the warm-up may have done the rest, and where the window shows that it
    /// did, it did.
    #[test]
    fn the_window_decides_and_the_preparation_explains() {
        let with = |share: Option<f64>, code_is_warm: bool| {
            changed(|t| {
                first_host(t).compiler_share = share;
                t.record.nodes[0].rest = Some(Rest { code_is_warm, ..Rest::default() });
            })
        };
        assert!(found(&with(Some(0.01), false), Rule::CodeNotWarm).is_none());
        assert!(found(&with(None, true), Rule::CodeNotWarm).is_none());
        assert!(found(&with(None, false), Rule::CodeNotWarm).is_some(), "nobody saw that it ended");
        let explained = with(Some(0.2), false);
        let reported = seen::<CodeNotWarm>(&explained).unwrap();
        assert!(reported.preparation_ended_early && reported.compiler_share == Some(0.2));
        let unexplained = with(Some(0.2), true);
        assert!(!seen::<CodeNotWarm>(&unexplained).unwrap().preparation_ended_early);
    }

    /// A trial that ends before its database is at rest: nobody knows of Cassandra, and PostgreSQL has nothing to
    /// compile.
    #[test]
    fn a_product_that_compiles_nothing_is_never_found_to_compile() {
        let ended_early = changed(|t| {
            first_host(t).compiler_share = None;
            t.record.nodes[0].rest = Some(Rest::default());
        });
        let is_found = |product: &'static Product| {
            let mut job = job();
            let version = product.default_version.to_owned();
            job.plan.target.database = Database::Started(Started { product, version });
            let findings = of_trial_in_run(&ended_early, &RunContext::of(&job.plan, &job.setups, &[]));
            findings.iter().any(|finding| finding.rule() == Rule::CodeNotWarm)
        };
        assert_eq!(PRODUCTS.map(is_found), [true, false]);
    }
}
