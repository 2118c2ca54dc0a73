//! How fast one vCPU is beside that of another instance type.
//!
//! Relative to a vCPU of `m5.2xlarge` ([`CPU_REFERENCE`]), from three published sources: AWS's own "EC2 compute units",
//! which it gave until about 2020; for later families clock times instructions for each clock as Netflix plans by; and
//! a benchmark of one machine of each family. The first of them that knows a family counts, and the others show how far
//! to trust it. None is Cassandra: a database that waits for memory gains less by clock. What nobody has published is
//! not known, and never 1.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::{Cloud, table};

/// What a speed of 1 is.
pub const CPU_REFERENCE: &str = "a vCPU of m5.2xlarge (Intel Xeon Platinum 8175, Skylake, 3.1 GHz)";
/// EC2 compute units for each vCPU of the reference: 37 / 8 (`data/cpu_speeds.csv`).
const REFERENCE_ECU: f64 = 37.0 / 8.0;
/// Its clock, GHz, at one instruction for each.
const REFERENCE_GHZ: f64 = 3.1;

/// The speed of a vCPU.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CpuSpeed {
    /// Beside [`CPU_REFERENCE`].
    pub speed: f64,
    /// How far the sources lie apart, as a share: of several those of this family, with the ECUs of its sizes; of one
    /// alone the furthest that two lie apart of any family. `None`: stated.
    pub apart: Option<f64>,
    /// Where it is from.
    pub basis: CpuSpeedBasis,
}

/// Where the speed of a vCPU is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuSpeedBasis {
    /// AWS's EC2 compute units for each vCPU.
    Ecu,
    /// Clock times instructions for each clock.
    ClockTimesIpc,
    /// A published benchmark.
    Benchmark,
    /// The clock as we measured it, times instructions for each clock.
    MeasuredClock,
    /// The experiment states it.
    Stated,
}

impl CpuSpeedBasis {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Ecu => "AWS's ECU / vCPU",
            Self::ClockTimesIpc => "clock x IPC as Netflix plans by",
            Self::Benchmark => "Geekbench 6 as Spare Cores published it",
            Self::MeasuredClock => "clock measured here x IPC as Netflix plans by",
            Self::Stated => "stated",
        }
    }
}

impl CpuSpeed {
    /// As an experiment states it.
    pub fn stated(speed: f64) -> Self {
        Self { speed, apart: None, basis: CpuSpeedBasis::Stated }
    }

    /// Of a clock that was measured on a processor of this many instructions for each clock, beside Skylake.
    pub(crate) fn measured(ghz: f64, ipc: f64) -> Self {
        let speed = ghz * ipc / REFERENCE_GHZ;
        Self { speed, apart: Some(sources_apart()), basis: CpuSpeedBasis::MeasuredClock }
    }
}

impl fmt::Display for CpuSpeed {
    /// `0.838 (AWS's ECU / vCPU, within a factor of 1.33)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ({}", self.speed, self.basis.words())?;
        if let Some(apart) = self.apart {
            write!(f, ", within a factor of {:.2}", 1.0 + apart)?;
        }
        f.write_str(")")
    }
}

/// What the sources say of a family; all relative to the reference.
#[derive(Debug, Default)]
struct Known {
    /// Of the family's 2xlarge, with the least and the most of its sizes.
    ecu: Option<(f64, f64, f64)>,
    clock: Option<f64>,
    /// The mean of several tests, with the least and the most of them.
    benchmark: Option<(f64, f64, f64)>,
}

impl Known {
    /// One speed of each source, the first that counts first.
    fn sources(&self) -> impl Iterator<Item = (f64, CpuSpeedBasis)> + '_ {
        let ecu = self.ecu.map(|(speed, ..)| (speed, CpuSpeedBasis::Ecu));
        let clock = self.clock.map(|speed| (speed, CpuSpeedBasis::ClockTimesIpc));
        let benchmark = self.benchmark.map(|(speed, ..)| (speed, CpuSpeedBasis::Benchmark));
        [ecu, clock, benchmark].into_iter().flatten()
    }

    /// The furthest that two of its sources lie apart; `None`: it has one at most.
    fn sources_apart(&self) -> Option<f64> {
        let speeds: Vec<f64> = self.sources().map(|(speed, _)| speed).collect();
        let pairs = speeds.iter().flat_map(|a| speeds.iter().map(move |b| off(*a, *b)));
        pairs.max_by(f64::total_cmp).filter(|_| speeds.len() > 1)
    }

    fn speed(&self) -> Option<CpuSpeed> {
        let (speed, basis) = self.sources().next()?;
        // Of tests that are another source's the mean alone counts: their differences are what it is the mean of.
        let own = match basis {
            CpuSpeedBasis::Benchmark => self.benchmark,
            _ => self.ecu,
        };
        let own = own.into_iter().flat_map(|(_, least, most)| [least, most]).map(|other| off(speed, other));
        let others = match self.sources_apart() {
            Some(_) => self.sources().map(|(other, _)| off(speed, other)).max_by(f64::total_cmp),
            None => Some(sources_apart()),
        };
        Some(CpuSpeed { speed, apart: own.chain(others).max_by(f64::total_cmp), basis })
    }
}

/// By which share one is more than the other.
pub(crate) fn off(a: f64, b: f64) -> f64 {
    (a / b).max(b / a) - 1.0
}

/// The speed of a vCPU of an instance type, such as `r4.2xlarge`; `None`: not known.
pub fn cpu_speed(instance: &str) -> Option<CpuSpeed> {
    cpu_speed_of_family(&family(instance))
}

/// The same of a family, in small letters.
pub(crate) fn cpu_speed_of_family(family: &str) -> Option<CpuSpeed> {
    known().get(family)?.speed()
}

/// The families whose speed is nearest to this one, the nearest first.
pub fn cpu_speeds_near(speed: f64, most: usize) -> Vec<(String, CpuSpeed)> {
    let mut all: Vec<(String, CpuSpeed)> =
        known().iter().filter_map(|(family, known)| Some((family.clone(), known.speed()?))).collect();
    all.sort_by(|a, b| off(a.1.speed, speed).total_cmp(&off(b.1.speed, speed)));
    all.truncate(most);
    all
}

/// What all types of one speed have in common: the name without its size, in small letters.
pub(crate) fn family(instance: &str) -> String {
    let name = match Cloud::of(instance) {
        Cloud::Aws => instance.split('.').next().unwrap_or_default().to_owned(),
        Cloud::Google => instance.rsplit_once('-').map_or(instance, |(family, _)| family).to_owned(),
        // The size is inside of it: `Standard_E16ds_v5`.
        Cloud::Azure => match instance.split_once(|c: char| c.is_ascii_digit()) {
            Some((before, after)) => {
                format!("{before}{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
            }
            None => instance.to_owned(),
        },
    };
    name.to_ascii_lowercase()
}

/// The furthest that two sources lie apart of a family which both have: what one alone is trusted within.
fn sources_apart() -> f64 {
    known().values().filter_map(Known::sources_apart).fold(0.0, f64::max)
}

fn known() -> &'static BTreeMap<String, Known> {
    static KNOWN: LazyLock<BTreeMap<String, Known>> = LazyLock::new(|| {
        let mut all: BTreeMap<String, Known> = BTreeMap::new();
        let name = |row: &table::Row<'_>| row.text("family").unwrap_or_default().to_ascii_lowercase();
        table::read(include_str!("../data/cpu_speeds.csv"), |row| {
            let known = all.entry(name(row)).or_default();
            known.ecu = ecu(row);
            known.clock = clock(row);
        });
        table::read(include_str!("../data/cpu_benchmarks.csv"), |row| {
            let figures = (row.required("speed"), row.required("least"), row.required("most"));
            all.entry(name(row)).or_default().benchmark = Some(figures);
        });
        all
    });
    &KNOWN
}

fn ecu(row: &table::Row<'_>) -> Option<(f64, f64, f64)> {
    let each = row.number("ecu")? / row.number("ecu_vcpus")?;
    let all = (each, row.number("ecu_least")?, row.number("ecu_most")?);
    Some((all.0 / REFERENCE_ECU, all.1 / REFERENCE_ECU, all.2 / REFERENCE_ECU))
}

fn clock(row: &table::Row<'_>) -> Option<f64> {
    Some(row.number("ghz")? * row.number("ipc")? / REFERENCE_GHZ)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, InstanceType};

    fn speed(instance: &str) -> f64 {
        cpu_speed(instance).unwrap().speed
    }

    fn apart(instance: &str) -> f64 {
        cpu_speed(instance).unwrap().apart.unwrap()
    }

    #[test]
    fn the_reference_is_1_by_all_sources() {
        let reference = cpu_speed("m5.2xlarge").unwrap();
        assert_eq!((reference.speed, reference.basis), (1.0, CpuSpeedBasis::Ecu));
        assert_eq!(speed("m5n.2xlarge"), 1.0);
        assert_eq!(known()["m5"].sources_apart(), Some(0.0));
    }

    /// 27, 31, 31 and 26 units of 8 vCPUs.
    #[test]
    fn generations_follow_their_compute_units() {
        let expected = |ecu: f64| ecu / 37.0;
        assert_eq!(speed("i2.2xlarge"), expected(27.0));
        assert_eq!((speed("r4.2xlarge"), speed("c4.2xlarge")), (expected(31.0), expected(31.0)));
        assert_eq!(speed("m4.2xlarge"), expected(26.0));
        assert_eq!(speed("R4.16xlarge"), speed("r4.large"), "a family has one speed");
    }

    /// 3.5 GHz at 1.15 instructions for each clock; the benchmark has 1.401.
    #[test]
    fn later_families_have_clock_times_instructions_and_the_benchmark_shows_how_far_to_trust_them() {
        let i4i = cpu_speed("i4i.16xlarge").unwrap();
        assert!((i4i.speed - 3.5 * 1.15 / 3.1).abs() < 1e-12);
        assert_eq!(i4i.basis, CpuSpeedBasis::ClockTimesIpc);
        assert!((i4i.apart.unwrap() - (1.401 / i4i.speed - 1.0)).abs() < 1e-12, "{i4i:?}");
        // r4: 0.838 by units, 0.631 by clock, 0.823 by the benchmark.
        assert!((apart("r4.2xlarge") - 0.329).abs() < 1e-3);
    }

    /// What two lie apart at the most, of i7i: 1.373 by clock, 2.014 by the benchmark.
    #[test]
    fn one_source_alone_is_trusted_as_the_worst_of_two() {
        assert!((sources_apart() - 0.467).abs() < 1e-3, "{}", sources_apart());
        for alone in ["cc2.8xlarge", "x2idn.16xlarge", "t3.large", "r6g.2xlarge"] {
            assert!(apart(alone) >= sources_apart(), "{alone}");
        }
        let graviton = cpu_speed("r8g.4xlarge").unwrap();
        assert_eq!((graviton.speed, graviton.basis), (2.377, CpuSpeedBasis::Benchmark));
        assert_eq!(CpuSpeed::measured(3.1, 1.0).speed, 1.0);
    }

    #[test]
    fn machines_of_other_clouds_have_the_speed_of_their_series() {
        assert_eq!(speed("gcp:n2-standard-64"), 1.057);
        assert_eq!(speed("azure:Standard_E16ds_v5"), 1.49);
        assert_eq!(speed("azure:standard_e104bds_v5"), 1.477);
        assert_eq!(cpu_speed("gcp:c4d-standard-16"), None);
    }

    #[test]
    fn what_nobody_states_is_not_known() {
        for instance in ["r9g.2xlarge", "u7i-8tb.112xlarge", "acme.db40", "azure:", ""] {
            assert_eq!(cpu_speed(instance), None, "{instance}");
        }
    }

    #[test]
    fn a_speed_has_its_neighbours() {
        let near = cpu_speeds_near(1.33, 3);
        assert_eq!(near.len(), 3);
        assert!(near.iter().all(|(_, known)| (1.3..1.36).contains(&known.speed)), "{near:?}");
        assert_eq!(cpu_speeds_near(1.0, 1)[0].1.speed, 1.0);
    }

    /// A row of no family would never be read; a family of a known processor must have one.
    #[test]
    fn each_row_is_of_a_family_of_the_catalog_and_plausible() {
        let families: Vec<String> = Catalog::built_in().instances().iter().map(of_type).collect();
        for (family, known) in known() {
            assert!(families.contains(family), "{family}");
            let speed = known.speed().unwrap();
            assert!((0.3..3.1).contains(&speed.speed), "{family}: {speed:?}");
        }
    }

    fn of_type(instance: &InstanceType) -> String {
        family(&instance.name)
    }
}
