//! How fast one vCPU is beside that of another instance type.
//!
//! Relative to a vCPU of `m5.2xlarge` ([`CPU_REFERENCE`]), from two published sources: AWS's own "EC2 compute units",
//! which it gave until about 2020, and for later families clock times instructions for each clock as Netflix plans by.
//! Where both are known the units count, and the other shows how far to trust them. Neither is Cassandra: a database
//! that waits for memory gains less by clock. What nobody has published is not known, and never 1.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::table;

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
    /// How far the sources lie apart, as a share: ECUs of the family's sizes, and both sources where both are known.
    /// `None`: stated.
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
    /// The experiment states it.
    Stated,
}

impl CpuSpeedBasis {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Ecu => "AWS's ECU / vCPU",
            Self::ClockTimesIpc => "clock x IPC as Netflix plans by",
            Self::Stated => "stated",
        }
    }
}

impl CpuSpeed {
    /// As an experiment states it.
    pub fn stated(speed: f64) -> Self {
        Self { speed, apart: None, basis: CpuSpeedBasis::Stated }
    }
}

struct Row {
    family: String,
    /// Of the family's 2xlarge, with the least and the most of its sizes; all relative to the reference.
    ecu: Option<(f64, f64, f64)>,
    clock: Option<f64>,
}

/// The speed of a vCPU of an instance type, such as `r4.2xlarge`; `None`: not known.
pub fn cpu_speed(instance: &str) -> Option<CpuSpeed> {
    let family = instance.split('.').next()?;
    let row = rows().iter().find(|row| row.family.eq_ignore_ascii_case(family))?;
    let off = |a: f64, b: f64| (a / b).max(b / a) - 1.0;
    match (row.ecu, row.clock) {
        (Some((speed, least, most)), clock) => {
            let others = [Some(least), Some(most), clock];
            let apart = others.into_iter().flatten().map(|other| off(speed, other));
            Some(CpuSpeed { speed, apart: apart.max_by(f64::total_cmp), basis: CpuSpeedBasis::Ecu })
        }
        (None, Some(speed)) => {
            Some(CpuSpeed { speed, apart: Some(sources_apart()), basis: CpuSpeedBasis::ClockTimesIpc })
        }
        (None, None) => None,
    }
}

/// The furthest that the two sources lie apart of a family which both have: what one alone is trusted within.
fn sources_apart() -> f64 {
    let both = rows().iter().filter_map(|row| Some((row.ecu?.0, row.clock?)));
    both.map(|(a, b)| (a / b).max(b / a) - 1.0).fold(0.0, f64::max)
}

fn rows() -> &'static [Row] {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| table::read(include_str!("../data/cpu_speeds.csv"), read));
    &ROWS
}

fn read(row: &table::Row<'_>) -> Row {
    let ecu = || {
        let each = row.number("ecu")? / row.number("ecu_vcpus")?;
        let all = (each, row.number("ecu_least")?, row.number("ecu_most")?);
        Some((all.0 / REFERENCE_ECU, all.1 / REFERENCE_ECU, all.2 / REFERENCE_ECU))
    };
    let clock = || Some(row.number("ghz")? * row.number("ipc")? / REFERENCE_GHZ);
    Row { family: row.text("family").unwrap_or_default().to_owned(), ecu: ecu(), clock: clock() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, InstanceType};

    fn speed(instance: &str) -> f64 {
        cpu_speed(instance).unwrap().speed
    }

    #[test]
    fn the_reference_is_1_by_both_sources() {
        let reference = cpu_speed("m5.2xlarge").unwrap();
        assert_eq!((reference.speed, reference.basis), (1.0, CpuSpeedBasis::Ecu));
        assert_eq!(speed("m5n.2xlarge"), 1.0);
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

    /// 3.5 GHz at 1.15 instructions for each clock. How far one source is to be trusted the families say that both
    /// have.
    #[test]
    fn later_families_have_clock_times_instructions_and_the_doubt_of_the_worst_that_both_have() {
        let i4i = cpu_speed("i4i.16xlarge").unwrap();
        assert!((i4i.speed - 3.5 * 1.15 / 3.1).abs() < 1e-12);
        assert_eq!(i4i.basis, CpuSpeedBasis::ClockTimesIpc);
        // r4: 0.838 by units, 0.631 by clock.
        assert!((i4i.apart.unwrap() - 0.329).abs() < 1e-3, "{i4i:?}");
        let r4 = cpu_speed("r4.2xlarge").unwrap();
        assert!(r4.apart.unwrap() >= i4i.apart.unwrap() - 1e-12);
    }

    #[test]
    fn what_nobody_states_is_not_known() {
        for instance in ["r6g.2xlarge", "m5a.large", "t3.large", "acme.db40", ""] {
            assert_eq!(cpu_speed(instance), None, "{instance}");
        }
    }

    /// A row of no family would never be read; a family of a known processor must have one.
    #[test]
    fn each_row_is_of_a_family_of_the_catalog_and_plausible() {
        let catalog = Catalog::built_in();
        let families: Vec<&str> = catalog.instances().iter().map(InstanceType::family).collect();
        for row in rows() {
            assert!(families.contains(&row.family.as_str()), "{}", row.family);
            let speed = cpu_speed(&row.family).unwrap();
            assert!((0.3..3.0).contains(&speed.speed), "{}: {speed:?}", row.family);
        }
    }
}
