//! Keys of `cassandra.yaml` that are not for an experiment to state.

use product::{Kept, KeptOption, REMOVE, kept_among};

const KEPT: &[Kept] = &[
    (
        "data_file_directories local_system_data_file_directory commitlog_directory hints_directory \
         saved_caches_directory cdc_raw_directory accord.journal_directory heap_dump_path \
         dump_heap_on_uncaught_exception",
        "iopslab decides where the files of a node are",
        "data_volume and commitlog_volume of the configuration say on which volumes",
    ),
    (
        "cdc_* audit_logging_options full_query_logging_options diagnostic_events_enabled",
        "its files would lie where nothing is measured or limited",
        REMOVE,
    ),
    (
        "listen_* broadcast_* rpc_address rpc_interface* storage_port ssl_storage_port native_transport_port* \
         start_native_transport",
        "iopslab decides at which addresses a node is reached",
        REMOVE,
    ),
    (
        "cluster_name seed_provider initial_token num_tokens allocate_tokens_for_* auto_bootstrap partitioner \
         endpoint_snitch dynamic_snitch failure_detector node_proximity initial_location_provider addresses_config",
        "iopslab decides to which cluster a node belongs, and which part of the data it has",
        "nodes, racks and replication_factor of the configuration say it",
    ),
    (
        "authenticator authorizer role_manager network_authorizer cidr_authorizer internode_authenticator \
         crypto_provider client_encryption_options server_encryption_options transparent_data_encryption_options \
         jmx_server_options",
        "iopslab reaches the nodes that it starts without passwords and certificates",
        "measure a secured cluster of yours with [target] hosts",
    ),
    (
        "disk_failure_policy commit_failure_policy startup_checks",
        "a node that has lost its files must be seen as lost",
        REMOVE,
    ),
    (
        "auto_snapshot* snapshot_before_compaction incremental_backups snapshot_on_*",
        "copies of files would fill a volume of limited size",
        REMOVE,
    ),
    ("commitlog_total_space", "iopslab sets the space of the commit log so that it fits on every volume", REMOVE),
];

/// Why iopslab keeps this key to itself, or one below another (`accord.journal_directory`); `None`: an experiment may
/// state it.
pub(crate) fn kept_key(key: &str) -> Option<KeptOption> {
    kept_among(key, KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that came with 6.0 (`Config.java` of its branch).
    const OF_6_0: [&str; 5] = [
        "node_proximity",
        "initial_location_provider",
        "addresses_config",
        "jmx_server_options",
        "accord.journal_directory",
    ];

    /// A name that no Cassandra has keeps nothing.
    #[test]
    fn every_name_is_one_that_cassandra_has() {
        let known = crate::known::known("5.0.9").expect("a known version");
        for later in crate::versions().filter(|version| crate::Line::of(version) == Some(crate::Line::V6_0)) {
            assert!(OF_6_0.iter().all(|name| crate::has_key(later, name)), "{later}");
        }
        let names = KEPT.iter().flat_map(|(names, _, _)| names.split(' '));
        for name in names.filter(|name| !OF_6_0.contains(name)) {
            let exists = match name.strip_suffix('*') {
                Some(beginning) => known.keys.keys().any(|key| key.starts_with(beginning)),
                None => known.keys.contains_key(name),
            };
            assert!(exists, "{name}");
        }
    }
}
