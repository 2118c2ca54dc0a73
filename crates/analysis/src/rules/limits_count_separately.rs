//! Throttled volumes limit reads and writes apart (cgroup `io.max`, `blkio.throttle`), unless somebody divides one
//! limit between them; EBS counts them together.

use experiment::Provider;

use crate::document::{ConfigurationFacts, are_emulated};
use crate::finding::{Finding, Scope};
use crate::remark::storage::LimitsCountSeparately;

pub fn finding(run: &str, provider: Provider, configurations: &[ConfigurationFacts]) -> Option<Finding> {
    let limited = configurations
        .iter()
        .filter(|c| c.exists_at.is_empty())
        .flat_map(|c| &c.volumes)
        .filter(|v| v.limits.read_iops.is_some() && !v.is_served && !v.is_combined())
        .count();
    (are_emulated(provider, configurations) && limited > 0).then(|| {
        let figures = LimitsCountSeparately {
            volumes_with_an_iops_limit: limited as u64,
        };
        Finding::new(Scope::Run(run.to_owned()), figures)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::rule::Rule;
    use crate::story::{job, run, trials};

    #[test]
    fn a_local_run_with_limits_is_reported_once() {
        let (job, trials) = (job(), trials());
        let mut evidence = run(&job, &trials);
        let reported = |evidence: &crate::RunEvidence<'_>| {
            let analysis = analyse(evidence);
            let of_rule = analysis
                .findings
                .iter()
                .filter(|f| f.rule() == Rule::LimitsCountSeparately);
            of_rule.count()
        };
        assert_eq!(reported(&evidence), 1);
        let mut divided = job.clone();
        for setup in &mut divided.setups.setups {
            setup.data.combined = Some(true);
        }
        assert_eq!(
            reported(&run(&divided, &trials)),
            0,
            "their limits are divided anew every 100 ms"
        );
        evidence.provider = Provider::Simulated;
        assert_eq!(reported(&evidence), 0);
    }
}
