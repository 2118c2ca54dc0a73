//! Bandwidth weighting: more of an instance's bandwidth for its volumes, and equally less for its network, or as it is.
//!
//! EC2 User Guide, "EC2 instance bandwidth weighting configuration", and EBS User Guide, "Configurable instance
//! bandwidth weighting" (both seen 2026-11-26): `ebs-1` gives the path to EBS a quarter more of its baseline, and the
//! network less by the same amount; bursts stay on the side that gains and fall on the other one; IOPS do not change,
//! and nothing is charged. Tests hold the rule to AWS's table of what each type gets.

use crate::InstanceType;
use crate::words::words;

/// What `ebs-1` adds to the path to EBS.
const MORE: f64 = 0.25;
/// Gbit in one MB (10^6 bytes).
const GBIT: f64 = 8e-3;
/// From this size on (in xlarge) the burst of a flex type follows its baseline.
const LARGE_FLEX: u32 = 8;

words! {
    /// How an instance's bandwidth is shared between its volumes and its network, in AWS's words.
    #[derive(Default)]
    pub enum BandwidthWeighting by word {
        /// As the type has it.
        #[default]
        Default = "default",
        /// More for the volumes.
        Ebs1 = "ebs-1",
    }
}

/// A type whose bandwidth cannot be weighted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{instance} has no bandwidth weighting (source: EC2 DescribeInstanceTypes, BandwidthWeightings); \
     families that have it: {}",
    .families.join(", ")
)]
pub struct NotWeighted {
    /// The type.
    pub instance: String,
    /// Families of the program's own tables whose types have it.
    pub families: Vec<String>,
}

impl InstanceType {
    /// The type with its bandwidth weighted.
    ///
    /// # Errors
    ///
    /// When AWS does not offer that for it.
    pub fn weighted(&self, weighting: BandwidthWeighting) -> Result<Self, NotWeighted> {
        if weighting == BandwidthWeighting::Default {
            return Ok(self.clone());
        }
        let Some(ebs) = self.ebs.filter(|_| self.bandwidth_weighting) else {
            let all = crate::Catalog::built_in().instances().iter().filter(|known| known.bandwidth_weighting);
            let mut families: Vec<String> = all.map(|known| known.family().to_owned()).collect();
            families.dedup();
            return Err(NotWeighted { instance: self.name.clone(), families });
        };
        let mut weighted = self.clone();
        let baseline_mb_per_s = ebs.baseline_mb_per_s * (1.0 + MORE);
        let burst_mb_per_s = match self.is_flex() && self.xlarges() >= LARGE_FLEX {
            true => ebs.burst_mb_per_s * (1.0 + MORE),
            false => ebs.burst_mb_per_s.max(baseline_mb_per_s),
        };
        weighted.ebs = Some(crate::EbsCaps { baseline_mb_per_s, burst_mb_per_s, ..ebs });
        let less = |gbps: Option<f64>, mb_per_s: f64| gbps.map(|gbps| gbps - MORE * mb_per_s * GBIT);
        weighted.network_gbps = less(self.network_gbps, ebs.baseline_mb_per_s);
        weighted.network_burst_gbps = less(self.network_burst_gbps, ebs.burst_mb_per_s);
        Ok(weighted)
    }

    /// What weighting has changed beside the type as it is, in a sentence; `None`: nothing.
    pub fn weighted_from(&self, plain: &Self) -> Option<String> {
        let (to, from) = (self.ebs?, plain.ebs?);
        let gbps = |known: &Self| known.network_gbps.map_or("not known".to_owned(), |gbps| format!("{gbps:.3}"));
        (to != from).then(|| {
            format!(
                "bandwidth weighting {} gives {} {:.1} MB/s to EBS that last instead of {:.1}, and {} Gbit/s of \
                 network instead of {}; IOPS and price stay",
                BandwidthWeighting::Ebs1,
                self.name,
                to.baseline_mb_per_s,
                from.baseline_mb_per_s,
                gbps(self),
                gbps(plain)
            )
        })
    }

    /// Its size: 16 of a 16xlarge, 0 below an xlarge.
    fn xlarges(&self) -> u32 {
        let size = self.name.split('.').nth(1).and_then(|size| size.strip_suffix("xlarge"));
        size.map_or(0, |many| many.parse().unwrap_or(1))
    }
}
