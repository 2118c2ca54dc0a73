//! What is ordered as an experiment file has it: a name, a volume, the memory that is left to a database.

use catalog::{ClusterRequest, GIB, VolumeRequest};
use product::{MemoryRules, Settings};

/// `r7i-2xlarge-gp3-500-12000`: what was ordered, as far as names may say it.
pub(crate) fn name(request: &ClusterRequest) -> String {
    let mut name = request.instance.replace('.', "-");
    match request.volumes.first() {
        None => name += "-local",
        Some(data) => {
            name += &format!("-{}-{}", data.kind, data.size_gib);
            let rate = data.mib_per_s.map(|mib_per_s| data.kind.rate_as_written(mib_per_s));
            for stated in [data.iops.map(|iops| iops.to_string()), rate].into_iter().flatten() {
                name += &format!("-{stated}");
            }
        }
    }
    let is_sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    name.chars().map(|c| if is_sound(c) { c } else { '_' }).collect()
}

/// `{ type = "gp3", size_gib = 500 }`, by the rules of an era where one is stated.
pub(crate) fn volume(request: &VolumeRequest, era: Option<&str>) -> String {
    let mut keys = format!("type = \"{}\", size_gib = {}", request.kind, request.size_gib);
    if let Some(iops) = request.iops {
        keys += &format!(", iops = {iops}");
    }
    if let Some(mib_per_s) = request.mib_per_s {
        let rate = request.kind.rate_as_written(mib_per_s);
        keys += &match rate.strip_suffix("MB") {
            Some(mb) => format!(", mb_per_s = {mb}"),
            None => format!(", mib_per_s = {rate}"),
        };
    }
    if let Some(era) = era {
        keys += &format!(", era = {}", quoted(era));
    }
    format!("{{ {keys} }}")
}

/// The memory limit, GiB, that leaves a node without settings this share of the page cache that all of `memory_bytes`
/// leaves: heap and buffers depend on it too, so it is searched for. `None`: all of it leaves none.
pub fn memory_limit_gib(rules: &MemoryRules, memory_bytes: u64, share: f64) -> Option<f64> {
    let left_by = |memory_bytes: u64| rules.page_cache_bytes(memory_bytes, &Settings::default());
    let wanted = left_by(memory_bytes)? * share;
    let (mut low, mut high) = (0, memory_bytes);
    while high - low > 1 << 20 {
        let middle = low + (high - low) / 2;
        match left_by(middle) {
            Some(left) if left >= wanted => high = middle,
            _ => low = middle,
        }
    }
    Some(((high as f64 / GIB * 1e3).ceil() / 1e3).min(memory_bytes as f64 / GIB))
}

/// A TOML string, whatever is in it.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
