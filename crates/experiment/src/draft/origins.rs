//! What a draft is made from where somebody has measured it, and the comments that say so.

use workload::Distribution;

use crate::ordered::quoted;

/// What a record is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordShape {
    /// Fields.
    pub fields: u32,
    /// Bytes of each.
    pub field_length: u32,
}

impl Default for RecordShape {
    /// As in YCSB.
    fn default() -> Self {
        Self { fields: 10, field_length: 100 }
    }
}

impl RecordShape {
    /// Payload, bytes.
    pub(super) fn bytes(self) -> f64 {
        f64::from(self.fields) * f64::from(self.field_length)
    }
}

/// Where the figures of a draft come from: lines of comments before its sections. None: somebody has answered
/// questions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins {
    /// Of the whole file.
    pub head: Vec<String>,
    /// Of records and their bytes.
    pub dataset: Vec<String>,
    /// Of each configuration, in their order.
    pub configurations: Vec<Vec<String>>,
    /// Of the mix and the keys.
    pub workload: Vec<String>,
    /// Of the load.
    pub load: Vec<String>,
    /// Of the demand.
    pub objective: Vec<String>,
}

/// Lines of a comment, each of which stays one.
pub(super) fn comment(lines: &[String]) -> String {
    let plain = |line: &String| line.replace(char::is_control, " ");
    lines.iter().map(|line| format!("# {}\n", plain(line))).collect()
}

/// How keys are chosen, as the file states it.
pub(super) fn keys(known: Option<Distribution>) -> String {
    let stated = match known {
        None => {
            return "# Some keys are asked for far more often than others. \"uniform\" asks the most of a volume, \
                    \"latest\" reads what is new.\ndistribution = \"zipfian\"\n"
                .to_owned();
        }
        Some(Distribution::Zipfian { constant }) => format!("{{ kind = \"zipfian\", constant = {constant} }}"),
        Some(Distribution::Hotspot { data_fraction, operation_fraction }) => format!(
            "{{ kind = \"hotspot\", data_fraction = {data_fraction}, operation_fraction = {operation_fraction} }}"
        ),
        Some(Distribution::Exponential { percentile, fraction }) => {
            format!("{{ kind = \"exponential\", percentile = {percentile}, fraction = {fraction} }}")
        }
        Some(Distribution::Uniform) => quoted("uniform"),
        Some(Distribution::Latest) => quoted("latest"),
        Some(Distribution::Sequential) => quoted("sequential"),
    };
    format!("distribution = {stated}\n")
}
