//! A configuration on the command line: `INSTANCE[+TYPE:SIZE[:IOPS[:MIB_PER_S]]]...[*NODES]`.
//!
//! A size without a unit is in GiB. AWS sells volumes by whole GiB and calls them GB, on its price pages and in the
//! studies that quote them:
//! a "3200 GB" volume is one of 3,200 GiB, and is charged as 3,200 GB-months. So after a volume type GB means GiB; TB
//! means 1,000 of them and TiB 1,024.
//!
//! A throughput without a unit is in MiB/s, as AWS and Google sell it; `2000MB` is Azure's 2,000 MB/s of 10^6 bytes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::volume::{digits_and_mib, premium_gib};
use crate::{Catalog, Cloud, VolumeRequest, VolumeType, why_omitted};

/// The form, for messages.
const FORM: &str = "INSTANCE[+TYPE:SIZE[:IOPS[:MIB_PER_S]]]...[*NODES], for example r4.4xlarge+io1:3200GB:10000*3";

/// Where Google's local SSD stands.
const LOCAL_SSD: &str = "a machine type that is sold with it, such as gcp:c3-standard-22-lssd, or `local_disks` of an \
                         [[instance]] in a catalog file where it is added by choice (docs/catalog.md)";

/// Units of size, longest first where one ends with another, and how many GiB they are.
const UNITS: [(&str, f64); 4] = [("gib", 1.0), ("tib", 1024.0), ("gb", 1.0), ("tb", 1000.0)];

/// Machines and their volumes, as one would order them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterRequest {
    /// A type that the catalog knows.
    pub instance: String,
    /// EBS volumes of each machine; their rules are checked when they are priced or capped, because rules have eras.
    pub volumes: Vec<VolumeRequest>,
    /// Machines.
    pub nodes: u32,
}

/// A configuration that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("configuration `{given}`: {problem}; expected {expected}{}", near(.nearest))]
pub struct ClusterError {
    /// The whole text.
    pub given: String,
    /// The part that is wrong.
    pub part: String,
    /// What is wrong with it.
    pub problem: String,
    /// What may stand there.
    pub expected: String,
    /// Names like the one given.
    pub nearest: Vec<String>,
}

fn near(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(" (nearest: {})", names.join(", ")) }
}

impl ClusterRequest {
    /// Reads the command-line form.
    ///
    /// # Errors
    ///
    /// Names the first part that is wrong, what was expected there, and near matches.
    pub fn parse(catalog: &Catalog, text: &str) -> Result<Self, ClusterError> {
        read(catalog, text).map_err(|wrong| ClusterError { given: text.to_owned(), ..wrong })
    }
}

impl VolumeRequest {
    /// Reads the command-line form of a volume alone: `TYPE:SIZE[:IOPS[:MIB_PER_S]]`.
    ///
    /// # Errors
    ///
    /// Names the first part that is wrong, and what was expected there.
    pub fn parse(text: &str) -> Result<Self, ClusterError> {
        read_volume(text.trim(), None).map_err(|wrong| ClusterError { given: text.to_owned(), ..wrong })
    }
}

impl fmt::Display for ClusterRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.instance)?;
        for volume in &self.volumes {
            write!(f, "+{}:{}GiB", volume.kind, volume.size_gib)?;
            match (volume.iops, volume.mib_per_s) {
                (Some(iops), Some(mib)) => write!(f, ":{iops}:{}", volume.kind.rate_as_written(mib))?,
                (Some(iops), None) => write!(f, ":{iops}")?,
                (None, Some(mib)) => write!(f, "::{}", volume.kind.rate_as_written(mib))?,
                (None, None) => {}
            }
        }
        if self.nodes == 1 { Ok(()) } else { write!(f, "*{}", self.nodes) }
    }
}

/// Of a part; the whole text is not known there.
fn wrong(part: &str, problem: impl Into<String>, expected: impl Into<String>) -> ClusterError {
    ClusterError {
        given: String::new(),
        part: part.to_owned(),
        problem: problem.into(),
        expected: expected.into(),
        nearest: Vec::new(),
    }
}

fn read(catalog: &Catalog, text: &str) -> Result<ClusterRequest, ClusterError> {
    let (machine, nodes) = match text.trim().split_once('*') {
        None => (text.trim(), 1),
        Some((machine, nodes)) => (machine, read_nodes(nodes)?),
    };
    let mut parts = machine.split('+');
    let name = parts.next().unwrap_or_default();
    if name.is_empty() {
        return Err(wrong(name, "it names no instance type", FORM));
    }
    let Some(found) = catalog.instance(&catalog.with_cloud(name)) else {
        let problem = match why_omitted(name) {
            Some(reason) => format!("instance type `{name}` is not in the catalog ({})", reason.words()),
            None => format!("unknown instance type `{name}`"),
        };
        let mut error = wrong(name, problem, "a name of `iopslab catalog list`, or one of your own catalog");
        error.nearest = catalog.nearest_instances(name).into_iter().map(str::to_owned).collect();
        return Err(error);
    };
    Ok(ClusterRequest {
        instance: found.name.clone(),
        volumes: parts.map(|part| read_volume(part, Some(found.cloud()))).collect::<Result<_, _>>()?,
        nodes,
    })
}

fn read_nodes(text: &str) -> Result<u32, ClusterError> {
    let nodes = text.parse().ok().filter(|nodes| (1..=100_000).contains(nodes));
    nodes.ok_or_else(|| wrong(text, format!("`*{text}` is no number of nodes"), "1 to 100000 after the `*`"))
}

/// A volume; only types of a cloud are expected where a machine says whose it is.
fn read_volume(part: &str, cloud: Option<Cloud>) -> Result<VolumeRequest, ClusterError> {
    let fields: Vec<&str> = part.split(':').collect();
    let (kind, size, iops, mib) = match fields[..] {
        [kind, size] => (kind, size, "", ""),
        [kind, size, iops] => (kind, size, iops, ""),
        [kind, size, iops, mib] => (kind, size, iops, mib),
        _ => {
            let expected = match part.to_ascii_lowercase().contains("local") {
                true => expected_kind(part, cloud),
                false => "TYPE:SIZE[:IOPS[:MIB_PER_S]], such as gp3:1000GiB".to_owned(),
            };
            return Err(wrong(part, format!("`{part}` is no volume"), expected));
        }
    };
    let kind: VolumeType = kind.parse().map_err(|error: crate::UnknownVolumeType| ClusterError {
        // A size that Azure names says the type as well.
        nearest: match (premium_gib(kind), error.nearest) {
            (Some(gib), Some(near)) => vec![format!("{near}:{gib}")],
            (_, near) => near.map(str::to_owned).into_iter().collect(),
        },
        ..wrong(kind, format!("unknown volume type `{kind}` in `{part}`"), expected_kind(kind, cloud))
    })?;
    Ok(VolumeRequest {
        kind,
        size_gib: match premium_gib(size).filter(|_| kind == VolumeType::Premium) {
            Some(gib) => gib,
            None => read_size(size, part)?,
        },
        iops: read_iops(iops, part)?,
        mib_per_s: read_rate(mib, part)?,
    })
}

/// What may stand in place of a word that is no type of volume.
fn expected_kind(kind: &str, cloud: Option<Cloud>) -> String {
    let types = cloud.map_or_else(|| crate::volume_type_names().to_vec(), crate::volume_type_names_of).join(", ");
    if kind.to_ascii_lowercase().contains("local") {
        let own = "no volume: an instance alone is with its local disks (data_volume = \"local\" of an experiment), so \
                   leave it out";
        // Google's name for what belongs to a machine here.
        return match kind.eq_ignore_ascii_case("local-ssd") {
            true => format!("{own}; of Google Cloud, {LOCAL_SSD}"),
            false => format!("{own}; volumes are of {types}"),
        };
    }
    if kind.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("one of {types}; several are written one by one (+gp3:500+gp3:500)");
    }
    format!("one of {types}")
}

fn read_size(text: &str, part: &str) -> Result<f64, ClusterError> {
    let lower = text.to_ascii_lowercase();
    let expected = "a number of GiB, or with a unit: 1000, 1000GiB, 3200GB, 2TiB or 2TB";
    let with_unit = UNITS.iter().find_map(|(unit, gib)| Some((lower.strip_suffix(unit)?, gib)));
    // A bare number is the size as AWS's own tools take it.
    let (digits, gib) = with_unit.unwrap_or((&lower, &1.0));
    let size =
        plain_number(digits).ok_or_else(|| wrong(text, format!("`{text}` in `{part}` is no size"), expected))? * gib;
    // 2.2TB is 2200.0000000000002 in binary: whole to a millionth is whole.
    let whole = size.round();
    if (size - whole).abs() > 1e-6 {
        return Err(wrong(
            text,
            format!("size `{text}` in `{part}` is {size} GiB"),
            "a whole number of GiB, as AWS sells them",
        ));
    }
    Ok(whole)
}

fn read_iops(text: &str, part: &str) -> Result<Option<f64>, ClusterError> {
    if text.is_empty() {
        return Ok(None);
    }
    plain_number(text)
        .map(Some)
        .ok_or_else(|| wrong(text, format!("`{text}` in `{part}` is no number of IOPS"), "a number such as 10000"))
}

/// Throughput, MiB/s.
fn read_rate(text: &str, part: &str) -> Result<Option<f64>, ClusterError> {
    if text.is_empty() {
        return Ok(None);
    }
    let lower = text.to_ascii_lowercase();
    let (digits, mib) = digits_and_mib(&lower);
    let expected = "a number of MiB/s, or with a unit: 500, 500MiB or 500MB";
    let refused = || wrong(text, format!("`{text}` in `{part}` is no throughput"), expected);
    Ok(Some(plain_number(digits).ok_or_else(refused)? * mib))
}

/// Digits with an optional fraction: no sign, exponent, `inf` or `nan`, which `f64` would take.
fn plain_number(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit()) && text.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    plain.then(|| text.parse().ok()).flatten()
}
