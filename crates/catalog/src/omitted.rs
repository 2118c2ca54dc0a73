//! Instance types that a source names and the catalog leaves out: `data/omitted.csv`, written by `generate.py`.

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
}

impl Omission {
    /// The reason, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Accelerator => "sold for its accelerators, which a database does not use",
            Self::Mac => "a Mac, which runs macOS alone",
            Self::NoStorage => "no local disks, and AWS publishes no limits of its path to EBS",
            Self::NotDescribed => "EC2 does not describe it in us-east-1, where sizes and limits are taken from",
        }
    }
}

/// A type that the catalog leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OmittedType {
    /// AWS's name.
    pub name: String,
    /// Why.
    pub reason: Omission,
    /// The extract in `sources/` that names it: `moto`.
    pub source: String,
}

impl OmittedType {
    /// What stands before the dot of its name.
    pub fn family(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }
}

/// Every type that a source names and the tables of this program leave out, sorted by name.
pub fn omitted() -> Vec<OmittedType> {
    table::read(include_str!("../data/omitted.csv"), |row| {
        let text = |column: &str| row.text(column).unwrap_or_default().to_owned();
        OmittedType {
            name: text("name"),
            reason: match row.text("reason") {
                Some("accelerator") => Omission::Accelerator,
                Some("mac") => Omission::Mac,
                Some("no_storage") => Omission::NoStorage,
                Some("not_described") => Omission::NotDescribed,
                other => panic!("data/omitted.csv has the reason {other:?}"),
            },
            source: text("source"),
        }
    })
}

/// Why the tables of this program leave out a type of this name, whatever its capitals; `None`: no source names it.
pub fn why_omitted(name: &str) -> Option<Omission> {
    omitted().into_iter().find(|known| known.name.eq_ignore_ascii_case(name)).map(|known| known.reason)
}
