//! Experiments of one small node of Cassandra, for stories that are not about its size: its volume limits little, its
//! page cache is smaller than most data sets.

/// An experiment of such nodes, each with its name and what its configuration has besides; `text` is the rest of it.
pub fn experiment(text: &str, nodes: &[(&str, &str)]) -> String {
    let configuration = |(name, more): &(&str, &str)| {
        format!(
            r#"
[[configuration]]
name = "{name}"
instance = {{ vcpus = 0.7, memory_gib = 16 }}
data_volume = {{ iops = 4500, mib_per_s = 200, size_gib = 2 }}
memory_limit_gib = 8
{more}
"#
        )
    };
    let configurations: String = nodes.iter().map(configuration).collect();
    format!("{text}{configurations}[provider.local]\nheap_mib = 512\npage_cache_mib = 64\n")
}
