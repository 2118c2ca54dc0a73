//! How fast a vCPU is at a public kernel, beside that of another instance type: a cipher of `openssl speed`.
//!
//! Spare Cores has run it on all vCPUs of nearly every machine type, and anybody can run it on a machine of their own
//! in a second: so the figures of both are of the same work, unlike a speed by clock times instructions for each clock
//! ([`CpuSpeed`]). OpenSSL has ARIA in C alone, so that no CPU gains by instructions of its own: of the algorithms that
//! were run, its rates are the nearest to the benchmark's (`sources/cpu_benchmarks.py` prints how near). It reads
//! tables that a core's first cache holds, each time at a place that the step before found; nothing of it waits for
//! memory, as a database does. A compiler makes the code: the rates of another build of OpenSSL may differ.

use serde::Serialize;

use crate::cpu_speed::{cpu_speed_of_family, off};
use crate::{CpuSpeed, table};

/// The cipher, as `openssl speed -evp` takes it.
pub const OPENSSL_CIPHER: &str = "aria-256-cbc";
/// Bytes that each call enciphers.
pub const OPENSSL_BLOCK: u32 = 16_384;
/// MB (10^6 bytes) a second of a vCPU of m5.2xlarge, all eight at work: what a speed of 1 is
/// (`data/aws/m5.2xlarge/openssl/parsed.json` of the source of `data/cpu_openssl.csv`).
const REFERENCE_MB_PER_S: f64 = 533.899_946_67 / 8.0;

/// What was published of a family.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpensslFamily {
    /// `r4`, in small letters.
    pub family: String,
    /// So many of its machines were measured, one run each.
    pub machines: u32,
    /// Of a vCPU with all of its machine at work, beside one of m5.2xlarge: the median of the machines.
    pub speed: f64,
    /// The slowest machine.
    pub least: f64,
    /// The fastest machine.
    pub most: f64,
    /// What the catalog counts with, by other sources; `None`: not known.
    pub cpu_speed: Option<CpuSpeed>,
}

/// The speed, beside a vCPU of m5.2xlarge, of one that enciphers so many MB (10^6 bytes) a second.
pub fn openssl_speed(mb_per_s: f64) -> f64 {
    mb_per_s / REFERENCE_MB_PER_S
}

/// The families whose speed at this kernel is nearest to this one, the nearest first.
pub fn openssl_speeds_near(speed: f64, most: usize) -> Vec<OpensslFamily> {
    let mut all = known();
    all.sort_by(|a, b| off(a.speed, speed).total_cmp(&off(b.speed, speed)));
    all.truncate(most);
    all
}

fn known() -> Vec<OpensslFamily> {
    table::read(include_str!("../data/cpu_openssl.csv"), |row| {
        let family = row.text("family").unwrap_or_default().to_ascii_lowercase();
        OpensslFamily {
            machines: row.required("machines") as u32,
            speed: openssl_speed(row.required("mb_per_s")),
            least: openssl_speed(row.required("least")),
            most: openssl_speed(row.required("most")),
            cpu_speed: cpu_speed_of_family(&family),
            family,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;
    use crate::cpu_speed::family;

    fn of(name: &str) -> OpensslFamily {
        known().into_iter().find(|known| known.family == name).unwrap()
    }

    #[test]
    fn the_reference_is_1() {
        let reference = of("m5");
        assert!((reference.speed - 1.0).abs() < 0.01, "{reference:?}");
        assert_eq!(openssl_speed(REFERENCE_MB_PER_S), 1.0);
        assert_eq!(reference.cpu_speed.unwrap().speed, 1.0);
    }

    /// On most families it says about what the catalog counts with, and it is known of some of which that is not. AWS's
    /// units of m1 are those of its first machines.
    #[test]
    fn it_differs_from_what_the_catalog_counts_with_by_a_factor_of_less_than_1_6() {
        let mut both: Vec<(f64, String)> = known()
            .into_iter()
            .filter_map(|known| Some((off(known.speed, known.cpu_speed?.speed), known.family)))
            .filter(|(_, family)| family != "m1")
            .collect();
        both.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(both.len() > 120, "{}", both.len());
        assert!(both[both.len() / 2].0 < 0.25 && both[both.len() - 1].0 < 0.6, "{both:?}");
        let (graviton, table) = (of("m7g").speed, of("m7g").cpu_speed.unwrap().speed);
        assert!((1.41..1.43).contains(&graviton) && (1.85..1.87).contains(&table), "{graviton} {table}");
        assert!(of("m9g").cpu_speed.is_none());
    }

    #[test]
    fn a_speed_has_its_neighbours() {
        let near = openssl_speeds_near(1.105, 5);
        assert_eq!(near.len(), 5);
        for known in near {
            assert!((known.speed - 1.105).abs() < 0.01, "{known:?}");
        }
        assert_eq!(openssl_speeds_near(100.0, 1)[0].family, "x8aedz");
    }

    /// A row of no family of the catalog would name what nobody can rent.
    #[test]
    fn each_row_is_of_a_family_of_the_catalog_and_plausible() {
        let families: Vec<String> =
            Catalog::built_in().instances().iter().map(|instance| family(&instance.name)).collect();
        for known in known() {
            assert!(families.contains(&known.family), "{known:?}");
            assert!(known.machines > 0, "{known:?}");
            assert!((known.least..=known.most).contains(&known.speed), "{known:?}");
            assert!(known.least > 0.3 && known.most < 3.1, "{known:?}");
        }
    }
}
