//! What AWS, Google and Microsoft document for each volume type and era.
//!
//! The table is `data/volumes.csv`, one row per type and era, with its source; the formulas are here. Published studies
//! used the rules of their time, so older rows stay.

use std::sync::LazyLock;

use super::{VolumeError, VolumeField, VolumeRequest, VolumeType};
use crate::{Burst, table};

/// GiB in one TiB.
const GIB_PER_TIB: f64 = 1024.0;
/// MiB that one I/O of 256 KiB moves, the largest that EBS counts as one on SSD volumes.
const MIB_PER_LARGEST_IO: f64 = 0.25;

/// What volumes up to a size do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VolumeStep {
    /// The size.
    pub gib: f64,
    /// What they do.
    pub iops: f64,
    /// And how many bytes they move.
    pub mib_per_s: f64,
}

/// The rules of one volume type in one era. What does not apply to a type is `None`.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the columns of data/volumes.csv, which explains them")]
pub struct VolumeRules {
    pub kind: VolumeType,
    pub era: String,
    /// As documented; not always a day.
    pub valid_from: String,
    pub min_size_gib: f64,
    pub max_size_gib: f64,
    pub iops_per_gib: Option<f64>,
    pub min_iops: Option<f64>,
    pub max_iops: f64,
    /// Most that a volume does on an instance that is not built on Nitro, whatever was provisioned.
    pub max_iops_without_nitro: Option<f64>,
    pub max_provisioned_iops_per_gib: Option<f64>,
    pub min_provisioned_iops_per_gib: Option<f64>,
    /// Added to `iops_per_gib`.
    pub base_iops: Option<f64>,
    pub included_iops: Option<f64>,
    pub burst_iops: Option<f64>,
    pub burst_credits: Option<f64>,
    pub burst_below_gib: Option<f64>,
    pub included_mib_per_s: Option<f64>,
    /// Least that must be bought, where none is included.
    pub min_mib_per_s: Option<f64>,
    /// Least for each of the provisioned IOPS.
    pub min_mib_per_s_per_iops: Option<f64>,
    pub max_mib_per_s: f64,
    pub mib_per_s_per_iops: Option<f64>,
    /// Where `mib_per_s_per_iops` ends.
    pub mib_per_s_cap: Option<f64>,
    /// Above this many provisioned IOPS, `many_mib_per_s_per_iops` applies.
    pub many_iops: Option<f64>,
    pub many_mib_per_s_per_iops: Option<f64>,
    /// A volume up to this size has at most `small_mib_per_s`.
    pub small_gib: Option<f64>,
    pub small_mib_per_s: Option<f64>,
    /// Sizes with what a volume up to each of them does, and nothing else may be bought; none where it is no matter of
    /// steps.
    pub steps: Vec<VolumeStep>,
    pub base_mib_per_s: Option<f64>,
    /// Added to `base_mib_per_s`.
    pub mib_per_s_per_gib: Option<f64>,
    pub mib_per_s_per_tib: Option<f64>,
    pub burst_mib_per_s_per_tib: Option<f64>,
    pub max_baseline_mib_per_s: Option<f64>,
    /// Least that must be bought for each TiB, and with [`Self::most_mib_per_s_per_tib`] the sign that the size bounds
    /// what is sold.
    pub least_mib_per_s_per_tib: Option<f64>,
    pub most_mib_per_s_per_tib: Option<f64>,
    /// IOPS that come with each of the bought MiB/s, in place of IOPS that are bought.
    pub iops_per_mib_per_s: Option<f64>,
    pub source: String,
}

/// Throughput of a volume, MiB/s.
pub(super) struct Throughput {
    /// What the volume is held to (see `ResolvedVolume::limits`).
    pub(super) limit: f64,
    pub(super) baseline: f64,
    pub(super) burst: f64,
}

/// Today's rules of a type.
pub fn rules(kind: VolumeType) -> &'static VolumeRules {
    let latest = rules_of_all_eras().iter().rfind(|rules| rules.kind == kind);
    latest.expect("data/volumes.csv has a row for each type, which a test holds")
}

/// The rules of every type and era, oldest first within a type.
pub fn rules_of_all_eras() -> &'static [VolumeRules] {
    static RULES: LazyLock<Vec<VolumeRules>> =
        LazyLock::new(|| table::read(include_str!("../../data/volumes.csv"), read));
    &RULES
}

impl VolumeRules {
    pub(super) fn check_size(&self, request: &VolumeRequest) -> Result<(), VolumeError> {
        let (least, most) = (self.min_size_gib, self.max_size_gib);
        let rule = || format!("a {} volume has {least} to {most} GiB", self.kind);
        self.check(VolumeField::Size, request.size_gib, (least, most), rule)
    }

    /// IOPS that last.
    pub(super) fn checked_iops(&self, request: &VolumeRequest) -> Result<f64, VolumeError> {
        let size = request.size_gib;
        if let Some(step) = self.step(size) {
            let rule = || format!("IOPS of {} cannot be chosen with up to {} GiB", self.kind, step.gib);
            return self.refuse_any(VolumeField::Iops, request.iops, rule).map(|()| step.iops);
        }
        if let Some(per_mib_per_s) = self.iops_per_mib_per_s {
            let rule = || format!("IOPS of {} follow from its throughput ({per_mib_per_s} per MiB/s)", self.kind);
            self.refuse_any(VolumeField::Iops, request.iops, rule)?;
            // Without throughput the volume is refused afterwards.
            return Ok((request.mib_per_s.unwrap_or(0.0) * per_mib_per_s).min(self.max_iops));
        }
        let Some(per_gib) = self.max_provisioned_iops_per_gib else {
            let by_size = || match self.iops_per_gib {
                Some(per_gib) => format!("IOPS of {} follow from its size ({per_gib} per GiB)", self.kind),
                None => format!("IOPS of {} cannot be chosen", self.kind),
            };
            self.refuse_any(VolumeField::Iops, request.iops, by_size)?;
            return Ok(match self.iops_per_gib {
                Some(per_gib) => {
                    let by_size = self.base_iops.unwrap_or(0.0) + size * per_gib;
                    by_size.clamp(self.min_iops.unwrap_or(0.0), self.max_iops)
                }
                None => self.max_iops,
            });
        };
        let few_per_gib = self.min_provisioned_iops_per_gib;
        let least = few_per_gib.map_or(0.0, |few| (size * few).ceil()).max(self.min_iops.unwrap_or(0.0));
        let by_size = (size * per_gib).floor();
        let most = by_size.min(self.max_iops).max(least);
        let rule = || {
            let ratio = if by_size < self.max_iops { "this size allows" } else { "the type allows" };
            let per_gib = few_per_gib.map_or_else(|| format!("at most {per_gib}"), |few| format!("{few} to {per_gib}"));
            format!(
                "{} takes {least} to {} IOPS and {per_gib} per GiB; {ratio} {most} with {} GiB",
                self.kind, self.max_iops, size
            )
        };
        match (request.iops, self.included_iops) {
            (Some(iops), _) => self.check(VolumeField::Iops, iops, (least, most), rule).map(|()| iops),
            (None, Some(included)) => Ok(included),
            (None, None) => Err(self.error(
                VolumeField::Iops,
                None,
                format!("{} is sold by provisioned IOPS", self.kind),
                Some((least, most)),
            )),
        }
    }

    pub(super) fn checked_throughput(&self, request: &VolumeRequest, iops: f64) -> Result<Throughput, VolumeError> {
        if let Some(step) = self.step(request.size_gib) {
            let rule = || format!("throughput of {} cannot be chosen with up to {} GiB", self.kind, step.gib);
            self.refuse_any(VolumeField::Throughput, request.mib_per_s, rule)?;
            return Ok(Throughput::constant(step.mib_per_s));
        }
        if let (Some(few), Some(many)) = (self.least_mib_per_s_per_tib, self.most_mib_per_s_per_tib) {
            let tib = request.size_gib / GIB_PER_TIB;
            let least = (few * tib).max(self.min_mib_per_s.unwrap_or(0.0));
            let most = (many * tib).min(self.max_mib_per_s);
            let rule = || {
                format!(
                    "{} takes {few} to {many} MiB/s per TiB, which are {least} to {most} with {} GiB",
                    self.kind, request.size_gib
                )
            };
            let asked = self.bought_throughput(request.mib_per_s, (least, most))?;
            self.check(VolumeField::Throughput, asked, (least, most), rule)?;
            return Ok(Throughput::constant(asked));
        }
        if let Some(least) = self.included_mib_per_s.or(self.min_mib_per_s) {
            let least = least.max(iops * self.min_mib_per_s_per_iops.unwrap_or(0.0));
            let per_iops = self.mib_per_s_per_iops.unwrap_or(0.0);
            let most = (iops * per_iops).min(self.max_mib_per_s);
            let rule = || {
                let of = |mib_per_s: f64| self.kind.in_its_unit(mib_per_s);
                format!(
                    "{} takes {} to {} {} and at most {} per provisioned IOPS, {} with {iops} IOPS",
                    self.kind,
                    of(least),
                    of(self.max_mib_per_s),
                    self.kind.unit_of_rate(),
                    of(per_iops),
                    of(most)
                )
            };
            let asked = request.mib_per_s.or(self.included_mib_per_s.map(|_| least));
            let asked = self.bought_throughput(asked, (least, most))?;
            self.check(VolumeField::Throughput, asked, (least, most), rule)?;
            return Ok(Throughput::constant(asked));
        }
        let fixed = || format!("throughput of {} follows from its size or IOPS", self.kind);
        self.refuse_any(VolumeField::Throughput, request.mib_per_s, fixed)?;
        Ok(self.throughput(request.size_gib, iops))
    }

    /// Throughput that has to be bought.
    fn bought_throughput(&self, asked: Option<f64>, allowed: (f64, f64)) -> Result<f64, VolumeError> {
        let rule = || format!("{} is sold by provisioned throughput", self.kind);
        asked.ok_or_else(|| self.error(VolumeField::Throughput, None, rule(), Some(allowed)))
    }

    /// Throughput where it cannot be chosen.
    pub(super) fn throughput(&self, size_gib: f64, iops: f64) -> Throughput {
        if let (Some(baseline), Some(burst)) = (self.mib_per_s_per_tib, self.burst_mib_per_s_per_tib) {
            let tib = size_gib / GIB_PER_TIB;
            let baseline = (baseline * tib).min(self.max_baseline_mib_per_s.unwrap_or(self.max_mib_per_s));
            let burst = (burst * tib).min(self.max_mib_per_s).max(baseline);
            return Throughput { limit: baseline, baseline, burst };
        }
        if let Some(per_gib) = self.mib_per_s_per_gib {
            let by_size = self.base_mib_per_s.unwrap_or(0.0) + size_gib * per_gib;
            return Throughput::constant(by_size.min(self.max_mib_per_s));
        }
        let most = match (self.small_gib, self.small_mib_per_s) {
            (Some(small_gib), Some(small)) if size_gib <= small_gib => small,
            _ => self.max_mib_per_s,
        };
        if let Some(per_iops) = self.mib_per_s_per_iops {
            let mut mib_per_s = (iops * per_iops).min(self.mib_per_s_cap.unwrap_or(f64::INFINITY));
            if let (Some(many), Some(per_iops)) = (self.many_iops, self.many_mib_per_s_per_iops)
                && iops > many
            {
                mib_per_s = mib_per_s.max(iops * per_iops);
            }
            return Throughput::constant(mib_per_s.min(most));
        }
        let baseline = if self.burst_iops.is_some() { most.min(iops * MIB_PER_LARGEST_IO) } else { most };
        Throughput { limit: most, baseline, burst: most }
    }

    fn step(&self, size_gib: f64) -> Option<&VolumeStep> {
        self.steps.iter().find(|step| size_gib <= step.gib)
    }

    /// The bucket of a volume whose baseline lies below the burst.
    pub(super) fn burst(&self, size_gib: f64, baseline_iops: f64) -> Option<Burst> {
        let credits = self.burst_credits?;
        (size_gib < self.burst_below_gib?).then_some(Burst {
            baseline_iops,
            burst_iops: self.burst_iops?,
            credits_max: credits,
            credits_start: credits,
        })
    }

    /// Also refuses NaN, which lies in no range.
    fn check(
        &self,
        field: VolumeField,
        given: f64,
        (least, most): (f64, f64),
        rule: impl Fn() -> String,
    ) -> Result<(), VolumeError> {
        if (least..=most).contains(&given) {
            return Ok(());
        }
        Err(self.error(field, Some(given), rule(), Some((least, most))))
    }

    fn refuse_any(&self, field: VolumeField, given: Option<f64>, rule: impl Fn() -> String) -> Result<(), VolumeError> {
        given.map_or(Ok(()), |given| Err(self.error(field, Some(given), rule(), None)))
    }

    fn error(&self, field: VolumeField, given: Option<f64>, rule: String, allowed: Option<(f64, f64)>) -> VolumeError {
        VolumeError { kind: self.kind, field, given, rule, allowed, source_of_rule: self.source.clone() }
    }
}

impl Throughput {
    fn constant(mib_per_s: f64) -> Self {
        Self { limit: mib_per_s, baseline: mib_per_s, burst: mib_per_s }
    }
}

/// `128:500:95.4 256:1100:119.2`: GiB, IOPS and MiB/s of each step.
fn steps(text: &str) -> Vec<VolumeStep> {
    let step = |step: &str| {
        let mut numbers = step.split(':').filter_map(|number| number.parse::<f64>().ok());
        let (gib, iops, mib_per_s) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some(VolumeStep { gib, iops, mib_per_s })
    };
    text.split(' ').map(|given| step(given).unwrap_or_else(|| panic!("data/volumes.csv: step `{given}`"))).collect()
}

fn read(row: &table::Row<'_>) -> VolumeRules {
    let text = |column: &str| row.text(column).unwrap_or_default().to_owned();
    let name = text("type");
    VolumeRules {
        kind: name.parse().unwrap_or_else(|error| panic!("data/volumes.csv: {error}")),
        era: text("era"),
        valid_from: text("from"),
        min_size_gib: row.required("min_gib"),
        max_size_gib: row.required("max_gib"),
        iops_per_gib: row.number("iops_per_gib"),
        min_iops: row.number("min_iops"),
        max_iops: row.required("max_iops"),
        max_iops_without_nitro: row.number("max_iops_not_nitro"),
        max_provisioned_iops_per_gib: row.number("max_iops_per_gib"),
        min_provisioned_iops_per_gib: row.number("min_iops_per_gib"),
        base_iops: row.number("base_iops"),
        included_iops: row.number("included_iops"),
        burst_iops: row.number("burst_iops"),
        burst_credits: row.number("burst_credits"),
        burst_below_gib: row.number("burst_below_gib"),
        included_mib_per_s: row.number("included_mib"),
        min_mib_per_s: row.number("min_mib"),
        min_mib_per_s_per_iops: row.number("min_mib_per_iops"),
        max_mib_per_s: row.required("max_mib"),
        mib_per_s_per_iops: row.number("mib_per_iops"),
        mib_per_s_cap: row.number("mib_cap"),
        many_iops: row.number("many_iops"),
        many_mib_per_s_per_iops: row.number("many_mib_per_iops"),
        small_gib: row.number("small_gib"),
        small_mib_per_s: row.number("small_mib"),
        steps: row.text("steps").map(steps).unwrap_or_default(),
        base_mib_per_s: row.number("base_mib"),
        mib_per_s_per_gib: row.number("mib_per_gib"),
        mib_per_s_per_tib: row.number("mib_per_tib"),
        burst_mib_per_s_per_tib: row.number("burst_mib_per_tib"),
        max_baseline_mib_per_s: row.number("max_base_mib"),
        least_mib_per_s_per_tib: row.number("least_mib_per_tib"),
        most_mib_per_s_per_tib: row.number("most_mib_per_tib"),
        iops_per_mib_per_s: row.number("iops_per_mib"),
        source: text("source"),
    }
}
