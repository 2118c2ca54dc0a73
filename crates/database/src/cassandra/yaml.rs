//! `cassandra.yaml` and the logging configuration of a node.
//!
//! **Every key that matters is stated.** A key that is left out takes the default in Cassandra's *code*
//! (`org.apache.cassandra.config.Config`), which is not what the shipped `conf/cassandra.yaml` says: the code ignores
//! disk failures (`disk_failure_policy: ignore`), names no partitioner, no snitch and no commit-log mode. Where nothing
//! else is said below, the value is that of the `conf/cassandra.yaml` shipped with 5.0, so that a result speaks for a
//! default installation.
//!
//! Where iopslab departs from the shipped file, and why:
//!
//! | key | shipped | here | why |
//! |---|---|---|---|
//! | `concurrent_writes` | 32 | 8 x CPUs, 16 to 128 | the shipped file's own rule; 32 is that rule for 4 CPUs |
//! | `trickle_fsync` | false (true is advised for SSD) | true | they issue their own writes (below) |
//! | `auto_bootstrap` | true | false | nodes start together and empty, or from a snapshot; nothing to stream |
//! | `initial_token` | none | evenly spaced | random tokens give each node another share of the data at every run |
//! | `storage_compatibility_mode` | CASSANDRA_4 | NONE | a new cluster has no older nodes to write for |
//! | `materialized_views_enabled` | false | true | schemas of the user's own may have views |
//! | `auto_snapshot` | true | false | a dropped or truncated table would keep its space on a volume of limited size |
//! | `hints_flush_period` | 10 s | 0.1 s for one node | nothing is allocated within a trial (below) |
//! | `key_cache_size` | 1/20 heap, at most 100 MiB | in a 1:N model 1/N of that of the full heap | see below |
//! | `file_cache_size` | 1/4 heap, at most 512 MiB | and at most half of direct memory | both come out of that |
//!
//! With `trickle_fsync` flushes and compactions issue their own writes, 10 MiB at a time: steadier, and cgroup v1 can
//! only limit writes that the process issues itself. At the first flush of hints Cassandra takes 32 MiB, which one node
//! never writes: 10 s after its start, in the midst of a trial, and out of the page cache where memory is limited. A
//! model's heap is not divided: its key cache would hold most of its keys, and be filling throughout a run. Direct
//! memory is `-XX:MaxDirectMemorySize`.
//!
//! `concurrent_reads` stays 32: the rule is 16 per drive, and it bounds how many reads a volume sees at a time. The
//! chunk cache stays off (`file_cache_enabled: false`, as shipped): blocks are cached by the operating system's page
//! cache, which is what a memory limit acts on.

use super::node_config::{LOGS, NodeConfig, SYSTEM_LOG, balanced_tokens};
use crate::plan::NodeLocation;

const MIB: u64 = 1 << 20;

/// What places rows: that of every cluster that kept to the default since 1.2.
pub(super) const PARTITIONER: &str = "org.apache.cassandra.dht.Murmur3Partitioner";

/// Keys that some versions do not have. They are left out there: what is stated here is all that those do.
const NOT_IN_ALL: [&str; 5] =
    ["cidr_authorizer", "commitlog_disk_access_mode", "heap_dump_path", "sstable", "storage_compatibility_mode"];

/// The settings of a node of this version as (key, YAML value), in order; those of the plan replace keys or are added.
/// A key that the version does not know would keep the node from starting.
pub(crate) fn cassandra_yaml(config: &NodeConfig, version: &str) -> String {
    let mut settings = settings(config, version);
    settings.retain(|(key, _)| !NOT_IN_ALL.contains(&key.as_str()) || cassandra_model::has_key(version, key));
    let asked = cassandra_model::yaml(&config.plan.settings);
    for (key, value) in asked.iter().map(|(key, setting)| (key, setting.value())) {
        match settings.iter_mut().find(|(known, _)| known == key) {
            Some(setting) => value.clone_into(&mut setting.1),
            None => settings.push((key.clone(), value.to_owned())),
        }
    }
    // Cassandra refuses the period of a way to write the commit log that is not used.
    let is_other = asked.get("commitlog_sync").is_some_and(|way| way.label() != "periodic");
    if is_other && !asked.contains_key("commitlog_sync_period") {
        settings.retain(|(key, _)| key != "commitlog_sync_period");
    }
    let lines: String = settings.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
    format!("# Written by iopslab at every start; changes are lost.\n{lines}")
}

#[expect(clippy::too_many_lines, reason = "a list of settings reads best as one list")]
fn settings(config: &NodeConfig, version: &str) -> Vec<(String, String)> {
    let heap_mib = config.plan.memory.main_bytes / MIB;
    let direct_mib = config.plan.memory.buffer_bytes / MIB;
    let cpus = config.cpu_count();
    let inside = |name: &str| quoted(&config.plan.directories.own.join(name).to_string_lossy());
    let tokens = balanced_tokens(config.plan.index, config.plan.nodes);
    let tokens: Vec<String> = tokens.iter().map(i64::to_string).collect();
    let seeds: Vec<String> =
        config.plan.seeds.iter().map(|seed| format!("{seed}:{}", config.plan.ports.peers)).collect();
    let class = |key: &str, class: &str| match cassandra_model::takes_parameters(version, key) {
        Some(false) => class.to_owned(),
        Some(true) | None => format!("{{class_name: {class}}}"),
    };
    let mut list = Vec::new();
    let mut set = |key: &str, value: String| list.push((key.to_owned(), value));

    // Identity and ring
    set("cluster_name", quoted(&config.plan.cluster));
    set("num_tokens", tokens.len().to_string());
    set("initial_token", quoted(&tokens.join(",")));
    set("partitioner", PARTITIONER.into());
    // Without places all nodes are in rack1 of datacenter1.
    let snitch = config.plan.place.as_ref().map_or("SimpleSnitch", |_| "GossipingPropertyFileSnitch");
    set("endpoint_snitch", snitch.into());
    set("dynamic_snitch", "true".into());
    set("dynamic_snitch_update_interval", "100ms".into());
    set("dynamic_snitch_reset_interval", "600000ms".into());
    set("dynamic_snitch_badness_threshold", "1.0".into());
    set("auto_bootstrap", "false".into());
    set("storage_compatibility_mode", "NONE".into());
    set(
        "seed_provider",
        format!(
            "[{{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{{seeds: {}}}]}}]",
            quoted(&seeds.join(","))
        ),
    );
    set("authenticator", class("authenticator", "AllowAllAuthenticator"));
    set("authorizer", class("authorizer", "AllowAllAuthorizer"));
    set("role_manager", class("role_manager", "CassandraRoleManager"));
    set("network_authorizer", class("network_authorizer", "AllowAllNetworkAuthorizer"));
    set("cidr_authorizer", class("cidr_authorizer", "AllowAllCIDRAuthorizer"));

    // Addresses
    set("listen_address", config.plan.address.to_string());
    set("storage_port", config.plan.ports.peers.to_string());
    set("rpc_address", config.plan.address.to_string());
    set("start_native_transport", "true".into());
    set("native_transport_port", config.plan.ports.clients.to_string());
    set("rpc_keepalive", "true".into());
    set("internode_compression", "dc".into());
    set("phi_convict_threshold", "8".into());

    // Where things lie
    let data: Vec<String> =
        config.plan.directories.data.iter().map(|directory| quoted(&directory.to_string_lossy())).collect();
    set("data_file_directories", format!("[{}]", data.join(", ")));
    set("commitlog_directory", quoted(&config.plan.directories.commitlog.to_string_lossy()));
    set("hints_directory", inside("hints"));
    set("saved_caches_directory", inside("saved_caches"));
    set("cdc_raw_directory", inside("cdc_raw"));
    set("heap_dump_path", inside("logs"));
    set("disk_failure_policy", "stop".into());
    set("commit_failure_policy", "stop".into());

    // Commit log
    set("commitlog_sync", "periodic".into());
    set("commitlog_sync_period", "10000ms".into());
    set("commitlog_segment_size", "32MiB".into());
    set("commitlog_disk_access_mode", "legacy".into());
    if let Some(bytes) = config.plan.commitlog_bytes {
        set("commitlog_total_space", format!("{}MiB", (bytes / MIB).max(64)));
    }
    set("cdc_enabled", "false".into());

    // Reads and writes
    set("disk_access_mode", "mmap_index_only".into());
    set("disk_optimization_strategy", "ssd".into());
    set("trickle_fsync", "true".into());
    set("trickle_fsync_interval", "10240KiB".into());
    set("concurrent_reads", "32".into());
    set("concurrent_writes", (8 * cpus).clamp(16, 128).to_string());
    set("concurrent_counter_writes", "32".into());
    set("concurrent_materialized_view_writes", "32".into());
    set("materialized_views_enabled", "true".into());
    set("column_index_size", "4KiB".into());
    set("column_index_cache_size", "2KiB".into());
    set("sstable", "{selected_format: big}".into());

    // Memtables: a quarter of the heap each on and off heap, as the server computes it; flushed at 1/(writers+1) = a
    // third.
    set("memtable_allocation_type", "heap_buffers".into());
    set("memtable_heap_space", format!("{}MiB", (heap_mib / 4).max(1)));
    set("memtable_offheap_space", format!("{}MiB", (heap_mib / 4).max(1)));
    set("memtable_flush_writers", "2".into());
    set("memtable_cleanup_threshold", "0.33".into());

    // Caches
    set("file_cache_enabled", "false".into());
    set("file_cache_size", format!("{}MiB", (heap_mib / 4).min(512).min(direct_mib / 2).max(32)));
    set("networking_cache_size", format!("{}MiB", (heap_mib / 16).clamp(8, 128)));
    set("buffer_pool_use_heap_if_exhausted", "false".into());
    set("key_cache_size", format!("{}MiB", config.plan.memory.key_cache_bytes / MIB));
    set("key_cache_save_period", "4h".into());
    set("row_cache_size", "0MiB".into());
    set("row_cache_save_period", "0s".into());
    set("counter_cache_size", "0MiB".into());
    set("cache_load_timeout", "30s".into());

    // Compaction: min(8, max(2, min(CPUs, data directories))) = 2 for one directory.
    let directories = u32::try_from(data.len()).unwrap_or(u32::MAX);
    set("concurrent_compactors", cpus.min(directories).clamp(2, 8).to_string());
    set("compaction_throughput", "64MiB/s".into());
    if !config.plan.maintains_itself {
        set("autocompaction_on_startup_enabled", "false".into());
    }
    set("sstable_preemptive_open_interval", "50MiB".into());
    set("stream_throughput_outbound", "24MiB/s".into());
    set("auto_snapshot", "false".into());
    set("snapshot_before_compaction", "false".into());
    set("incremental_backups", "false".into());

    // Requests: the shipped timeouts
    set("read_request_timeout", "5000ms".into());
    set("range_request_timeout", "10000ms".into());
    set("write_request_timeout", "2000ms".into());
    set("counter_write_request_timeout", "5000ms".into());
    set("cas_contention_timeout", "1000ms".into());
    set("truncate_request_timeout", "60000ms".into());
    set("request_timeout", "10000ms".into());
    set("slow_query_log_timeout", "500ms".into());
    set("internode_timeout", "true".into());
    set("native_transport_max_threads", "128".into());
    set("native_transport_max_frame_size", "16MiB".into());
    set("native_transport_max_concurrent_connections", "-1".into());
    set("native_transport_max_concurrent_connections_per_ip", "-1".into());
    // Shares of the heap, as the server computes them: requests beyond them wait in the socket (back pressure).
    set("native_transport_max_request_data_in_flight", format!("{}MiB", (heap_mib / 10).max(1)));
    set("native_transport_max_request_data_in_flight_per_ip", format!("{}MiB", (heap_mib / 40).max(1)));
    set("native_transport_rate_limiting_enabled", "false".into());
    set("native_transport_allow_older_protocols", "true".into());
    set("batch_size_warn_threshold", "5KiB".into());
    set("batch_size_fail_threshold", "50KiB".into());
    set("tombstone_warn_threshold", "1000".into());
    set("tombstone_failure_threshold", "100000".into());

    // Hints
    set("hinted_handoff_enabled", "true".into());
    set("max_hint_window", "3h".into());
    set("hinted_handoff_throttle", "1024KiB".into());
    set("max_hints_delivery_threads", "2".into());
    let is_alone = config.plan.seeds.len() <= 1;
    set("hints_flush_period", if is_alone { "100ms" } else { "10000ms" }.into());
    set("max_hints_file_size", "128MiB".into());
    set("batchlog_replay_throttle", "1024KiB".into());

    // Its own reports of pauses
    set("gc_log_threshold", "200ms".into());
    set("gc_warn_threshold", "1000ms".into());
    list
}

/// A JSON string is a valid YAML double-quoted scalar.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// `logback.xml`: everything at INFO into one file that rolls at 20 MB and keeps five old ones. When it ends, 4.1 says
/// at DEBUG alone that it has drained (StorageService.setMode), later ones at INFO.
pub(crate) fn logback_xml(version: &str) -> String {
    let debug = r#"<logger name="org.apache.cassandra.service.StorageService" level="DEBUG"/>"#;
    let drained = match cassandra_model::Line::of(version) {
        Some(cassandra_model::Line::V4_1) => format!("  {debug}\n"),
        _ => String::new(),
    };
    format!(
        r#"<configuration scan="false">
  <appender name="SYSTEM" class="ch.qos.logback.core.rolling.RollingFileAppender">
    <file>{LOGS}/{SYSTEM_LOG}</file>
    <rollingPolicy class="ch.qos.logback.core.rolling.FixedWindowRollingPolicy">
      <fileNamePattern>{LOGS}/{SYSTEM_LOG}.%i</fileNamePattern>
      <minIndex>1</minIndex>
      <maxIndex>5</maxIndex>
    </rollingPolicy>
    <triggeringPolicy class="ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy">
      <maxFileSize>20MB</maxFileSize>
    </triggeringPolicy>
    <encoder><pattern>%-5level [%thread] %date{{ISO8601}} %F:%L - %msg%n</pattern></encoder>
  </appender>
{drained}  <root level="INFO"><appender-ref ref="SYSTEM"/></root>
</configuration>
"#
    )
}

/// `cassandra-rackdc.properties`: where the node stands.
pub(crate) fn rackdc_properties(place: &NodeLocation) -> String {
    format!("dc={}\nrack={}\n", place.data_centre, place.rack)
}

#[cfg(test)]
mod tests {
    use experiment::{Section, Setting, Settings};

    use super::*;

    fn with(keys: &[(&str, &str)]) -> Settings {
        let keys = keys.iter().map(|(key, value)| ((*key).to_owned(), Setting::Value((*value).to_owned())));
        Settings::default().with(cassandra_model::YAML, Section::Keys(keys.collect()))
    }

    #[test]
    fn keys_are_unique_and_extra_yaml_replaces_or_adds() {
        let mut config = NodeConfig::new("a \"b\"", "127.0.41.1".parse().unwrap(), "/x y".as_ref());
        config.plan.settings = with(&[("concurrent_reads", "7"), ("paxos_variant", "v2")]);
        let text = cassandra_yaml(&config, "5.0.9");
        let mut keys: Vec<&str> = text.lines().filter_map(|line| line.split_once(':')).map(|(key, _)| key).collect();
        assert!(text.contains("\nconcurrent_reads: 7\n") && text.contains("\npaxos_variant: v2\n"));
        assert!(text.contains(r#"cluster_name: "a \"b\"""#) && text.contains(r#"hints_directory: "/x y/hints""#));
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    /// A key that a version does not know keeps it from starting.
    #[test]
    fn every_version_is_given_keys_that_it_has() {
        let config = NodeConfig::new("c", "127.0.41.1".parse().unwrap(), "/x".as_ref());
        for version in cassandra_model::versions() {
            let text = cassandra_yaml(&config, version);
            let keys = text.lines().filter_map(|line| line.split_once(':')).map(|(key, _)| key);
            let unknown: Vec<&str> = keys.filter(|key| !cassandra_model::has_key(version, key)).collect();
            assert_eq!(unknown, [""; 0], "{version}");
        }
        let text = cassandra_yaml(&config, "5.0.9");
        for line in ["authenticator: {class_name: AllowAllAuthenticator}", "storage_compatibility_mode: NONE"] {
            assert!(text.contains(&format!("\n{line}\n")), "{text}");
        }
    }

    #[test]
    fn a_node_with_several_data_directories_names_them_in_their_order() {
        let mut config = NodeConfig::new("c", "127.0.41.1".parse().unwrap(), "/x".as_ref());
        assert!(cassandra_yaml(&config, "5.0.9").contains("\ndata_file_directories: [\"/x/data\"]\n"));
        config.plan.cpus = 16.0;
        config.plan.directories.data = ["/b", "/a 2", "/c", "/d"].map(std::path::PathBuf::from).to_vec();
        let text = cassandra_yaml(&config, "5.0.9");
        assert!(text.contains(r#"data_file_directories: ["/b", "/a 2", "/c", "/d"]"#), "{text}");
        assert!(text.contains("\nconcurrent_compactors: 4\n"), "{text}");
        config.plan.cpus = 1.5;
        assert!(cassandra_yaml(&config, "5.0.9").contains("\nconcurrent_compactors: 2\n"));
    }

    #[test]
    fn the_period_of_the_commit_log_goes_with_its_way() {
        let mut config = NodeConfig::new("c", "127.0.41.1".parse().unwrap(), "/x".as_ref());
        assert!(cassandra_yaml(&config, "5.0.9").contains("\ncommitlog_sync_period: 10000ms\n"));
        config.plan.settings = with(&[("commitlog_sync", "\"batch\"")]);
        let text = cassandra_yaml(&config, "5.0.9");
        assert!(text.contains("\ncommitlog_sync: \"batch\"\n") && !text.contains("commitlog_sync_period"), "{text}");
    }

    /// The buffer of the first flush, 32 MiB, is taken before page cache and load come.
    #[test]
    fn a_node_that_is_not_to_compact_is_reported_so_before_it_starts() {
        let mut config = NodeConfig::new("c", "127.0.41.1".parse().unwrap(), "/x".as_ref());
        assert!(!cassandra_yaml(&config, "5.0.9").contains("autocompaction_on_startup_enabled"));
        config.plan.maintains_itself = false;
        assert!(cassandra_yaml(&config, "5.0.9").contains("\nautocompaction_on_startup_enabled: false\n"));
    }

    #[test]
    fn a_node_alone_flushes_its_hints_at_once() {
        let mut config = NodeConfig::new("c", "127.0.41.1".parse().unwrap(), "/x".as_ref());
        assert!(cassandra_yaml(&config, "5.0.9").contains("\nhints_flush_period: 100ms\n"));
        config.plan.seeds.push("127.0.41.2".parse().unwrap());
        assert!(cassandra_yaml(&config, "5.0.9").contains("\nhints_flush_period: 10000ms\n"));
    }

    #[test]
    fn a_node_with_a_place_gossips_it() {
        let mut config = NodeConfig::new("c", "127.0.41.1".parse().unwrap(), "/x".as_ref());
        assert!(cassandra_yaml(&config, "5.0.9").contains("\nendpoint_snitch: SimpleSnitch\n"));
        let place = NodeLocation { data_centre: "north".to_owned(), rack: "a".to_owned() };
        assert_eq!(rackdc_properties(&place), "dc=north\nrack=a\n");
        config.plan.place = Some(place);
        assert!(cassandra_yaml(&config, "5.0.9").contains("\nendpoint_snitch: GossipingPropertyFileSnitch\n"));
    }
}
