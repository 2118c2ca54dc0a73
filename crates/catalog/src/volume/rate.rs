//! Bytes a second of a volume in the unit of who sells it.

use super::{VolumeRequest, VolumeType};
use crate::{Cloud, MB, MIB};

/// What a rate may be written in on the command line, longest first where one ends with another, and how many MiB/s it
/// is.
const UNITS: [(&str, f64); 4] = [("mib/s", 1.0), ("mib", 1.0), ("mb/s", MB / MIB), ("mb", MB / MIB)];

impl VolumeType {
    /// Whether its seller states MB/s of 10^6 bytes (Azure, disks-types.md, 2026-08-11), where others state MiB/s.
    pub fn is_sold_by_mb(self) -> bool {
        self.cloud() == Cloud::Azure
    }

    /// The unit of its seller.
    pub(super) fn unit_of_rate(self) -> &'static str {
        if self.is_sold_by_mb() { "MB/s" } else { "MiB/s" }
    }

    /// MiB/s in the unit of its seller.
    pub(super) fn in_its_unit(self, mib_per_s: f64) -> f64 {
        let rate = if self.is_sold_by_mb() { mib_per_s * MIB / MB } else { mib_per_s };
        // Six places keep what IOPS give of it (0.015625); more are of the conversion.
        (rate * 1e6).round() / 1e6
    }

    /// A rate for people, to two places: `1907.35 MiB/s (2000 MB/s)` where its seller states MB/s.
    pub(super) fn rate_words(self, mib_per_s: f64) -> String {
        let mib = format!("{} MiB/s", hundredths(mib_per_s));
        match self.is_sold_by_mb() {
            true => format!("{mib} ({} MB/s)", hundredths(self.in_its_unit(mib_per_s))),
            false => mib,
        }
    }

    /// MiB/s as they are written on the command line: `2000MB` where they are no whole ones and the seller states MB/s.
    pub fn rate_as_written(self, mib_per_s: f64) -> String {
        match self.is_sold_by_mb() && mib_per_s.fract() != 0.0 {
            true => format!("{}MB", mib_per_s * MIB / MB),
            false => mib_per_s.to_string(),
        }
    }
}

/// To two places.
pub(super) fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// The digits of a rate, and how many MiB/s one of them is: `2000MB`; MiB/s where no unit follows.
pub(crate) fn digits_and_mib(lower: &str) -> (&str, f64) {
    let with_unit = UNITS.iter().find_map(|(unit, mib)| Some((lower.strip_suffix(unit)?, *mib)));
    with_unit.unwrap_or((lower, 1.0))
}

/// How whole MiB/s were taken of volumes whose seller states MB/s: once a type and rate.
pub(crate) fn taken<'a>(volumes: impl Iterator<Item = &'a VolumeRequest>) -> Vec<String> {
    let mut words: Vec<String> = volumes.filter_map(taken_of).collect();
    words.dedup();
    words
}

fn taken_of(volume: &VolumeRequest) -> Option<String> {
    let kind = volume.kind;
    // What was written in MB/s is no whole number of MiB/s.
    let mib_per_s = volume.mib_per_s.filter(|mib| kind.is_sold_by_mb() && mib.fract() == 0.0)?;
    Some(format!(
        "{kind}: {mib_per_s} was taken as MiB/s, which are {} MB/s as Azure states them; Azure's {mib_per_s} MB/s are \
         written {mib_per_s}MB",
        hundredths(kind.in_its_unit(mib_per_s))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_said_in_both_units_where_its_seller_states_mb() {
        for (kind, mib_per_s, words, written) in [
            (VolumeType::PremiumV2, 1_907.348_632_812_5, "1907.35 MiB/s (2000 MB/s)", "2000MB"),
            (VolumeType::Ultra, 2_000.0, "2000 MiB/s (2097.15 MB/s)", "2000"),
            (VolumeType::Gp3, 1_000.0, "1000 MiB/s", "1000"),
            (VolumeType::HyperdiskBalanced, 312.5, "312.5 MiB/s", "312.5"),
        ] {
            assert_eq!(kind.rate_words(mib_per_s), words);
            assert_eq!(kind.rate_as_written(mib_per_s), written);
        }
        assert_eq!(VolumeType::Io1.in_its_unit(0.015_625), 0.015_625);
    }

    #[test]
    fn a_unit_counts_and_none_is_mib() {
        for (text, digits, mib) in
            [("2000mb", "2000", MB / MIB), ("2000mb/s", "2000", MB / MIB), ("500mib", "500", 1.0), ("500", "500", 1.0)]
        {
            assert_eq!(digits_and_mib(text), (digits, mib), "{text}");
        }
    }
}
