//! Instance types that a source names and the catalog leaves out: `data/omitted.csv`, written by `generate.py`, and
//! series of Google Cloud and Azure, `data/other_omitted.csv`.

use serde::Serialize;

use crate::table;

/// Why a type is no row of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Omission {
    /// It is sold for its GPU, ML chip, FPGA or media accelerator.
    Accelerator,
    /// A Mac.
    Mac,
    /// It has no local disks, and the limits of its path to EBS are not published.
    NoStorage,
    /// A source names it, none of the above holds, and EC2's list of types in us-east-1 has it not.
    NotDescribed,
    /// Neither Google's limits of its volumes nor its price were found.
    NoLimits,
    /// Google states other limits of reads than of writes, and a path has one for both.
    ReadsApart,
    /// Nobody has collected its sizes, limits and prices.
    NotCollected,
}

impl Omission {
    /// The reason, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Accelerator => "sold for its accelerators, which a database does not use",
            Self::Mac => "a Mac, which runs macOS alone",
            Self::NoStorage => "no local disks, and AWS publishes no limits of its path to EBS",
            Self::NoLimits => "neither Google's limits of its Hyperdisk volumes nor its price were found",
            Self::ReadsApart => "its limits of reads and of writes differ, and the catalog has one for both",
            Self::NotCollected => "its sizes, limits and prices have not been collected",
            Self::NotDescribed => "EC2 does not describe it in us-east-1, where sizes and limits are taken from",
        }
    }
}

/// A type that the catalog leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OmittedType {
    /// AWS's name; of other clouds a series, `azure:Standard_E*ps_v5`, `gcp:h4d-*`.
    pub name: String,
    /// Why.
    pub reason: Omission,
    /// Where it is named: of AWS an extract in `sources/`, `moto`.
    pub source: String,
}

impl OmittedType {
    /// What stands before the dot of its name; of other clouds the series.
    pub fn family(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Whether it is, or has, a type of this name, with or without its cloud.
    fn has(&self, name: &str) -> bool {
        let (name, own) = (name.to_ascii_lowercase(), self.name.to_ascii_lowercase());
        let Some((before, behind)) = own.split_once('*') else { return own == name };
        let without_cloud = before.split_once(':').map(|(_, before)| before);
        [Some(before), without_cloud].into_iter().flatten().any(|before| {
            let size = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
            let is_size = |size: &str| size.chars().all(|c| c.is_ascii_digit() || c == '-');
            size.is_some_and(|size| !size.is_empty() && (behind.is_empty() || is_size(size)))
        })
    }
}

/// Every type that a source names and the tables of this program leave out, sorted by name.
pub fn omitted() -> Vec<OmittedType> {
    let read_from = |text: &'static str, name: &str| table::read(text, |row| read(row, name));
    let mut all = read_from(include_str!("../data/omitted.csv"), "name");
    all.extend(read_from(include_str!("../data/other_omitted.csv"), "series"));
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn read(row: &table::Row<'_>, name: &str) -> OmittedType {
    let text = |column: &str| row.text(column).unwrap_or_default().to_owned();
    OmittedType {
        name: text(name),
        reason: match row.text("reason") {
            Some("accelerator") => Omission::Accelerator,
            Some("mac") => Omission::Mac,
            Some("no_storage") => Omission::NoStorage,
            Some("not_described") => Omission::NotDescribed,
            Some("no_limits") => Omission::NoLimits,
            Some("reads_apart") => Omission::ReadsApart,
            Some("not_collected") => Omission::NotCollected,
            other => panic!("a table of omitted types has the reason {other:?}"),
        },
        source: text("source"),
    }
}

/// Why the tables of this program leave out a type of this name, whatever its capitals; `None`: no source names it.
pub fn why_omitted(name: &str) -> Option<Omission> {
    omitted().into_iter().find(|known| known.has(name)).map(|known| known.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_has_its_sizes_alone_with_or_without_their_cloud() {
        for (name, reason) in [
            ("g5.xlarge", Some(Omission::Accelerator)),
            ("azure:Standard_E16pds_v5", Some(Omission::NotCollected)),
            ("standard_e96-24ps_v5", Some(Omission::NotCollected)),
            ("azure:Standard_E17as_v7", None),
            ("azure:Standard_M64ms", Some(Omission::NotCollected)),
            ("gcp:h4d-standard-192", Some(Omission::NoLimits)),
            ("c2d-highmem-8", Some(Omission::ReadsApart)),
            ("gcp:c4-standard-17", None),
            ("azure:Standard_Eps_v5", None),
        ] {
            assert_eq!(why_omitted(name), reason, "{name}");
        }
    }

    #[test]
    fn nothing_is_left_out_that_the_catalog_has() {
        for known in crate::Catalog::built_in().instances() {
            assert_eq!(why_omitted(&known.name), None, "{}", known.name);
        }
    }
}
