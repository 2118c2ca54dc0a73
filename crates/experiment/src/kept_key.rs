//! Keys of `cassandra.yaml` that are not for an experiment to state.

use crate::KeptOption;

/// Keys of one purpose that iopslab keeps to itself. A name that ends in `*` stands for all that begin so.
struct Kept {
    names: &'static [&'static str],
    option: KeptOption,
}

const REMOVE: &str = "remove it";

const KEPT: &[Kept] = &[
    Kept {
        names: &[
            "data_file_directories",
            "local_system_data_file_directory",
            "commitlog_directory",
            "hints_directory",
            "saved_caches_directory",
            "cdc_raw_directory",
            "heap_dump_path",
            "dump_heap_on_uncaught_exception",
        ],
        option: KeptOption {
            why: "iopslab decides where the files of a node are",
            help: "data_volume and commitlog_volume of the configuration say on which volumes",
        },
    },
    Kept {
        names: &[
            "cdc_*",
            "audit_logging_options",
            "full_query_logging_options",
            "diagnostic_events_enabled",
        ],
        option: KeptOption {
            why: "its files would lie where nothing is measured or limited",
            help: REMOVE,
        },
    },
    Kept {
        names: &[
            "listen_*",
            "broadcast_*",
            "rpc_address",
            "rpc_interface*",
            "storage_port",
            "ssl_storage_port",
            "native_transport_port*",
            "start_native_transport",
        ],
        option: KeptOption {
            why: "iopslab decides at which addresses a node is reached",
            help: REMOVE,
        },
    },
    Kept {
        names: &[
            "cluster_name",
            "seed_provider",
            "initial_token",
            "num_tokens",
            "allocate_tokens_for_*",
            "auto_bootstrap",
            "partitioner",
            "endpoint_snitch",
            "dynamic_snitch",
            "failure_detector",
        ],
        option: KeptOption {
            why: "iopslab decides to which cluster a node belongs, and which part of the data it has",
            help: "nodes, racks and replication_factor of the configuration say it",
        },
    },
    Kept {
        names: &[
            "authenticator",
            "authorizer",
            "role_manager",
            "network_authorizer",
            "cidr_authorizer",
            "internode_authenticator",
            "crypto_provider",
            "client_encryption_options",
            "server_encryption_options",
            "transparent_data_encryption_options",
        ],
        option: KeptOption {
            why: "iopslab reaches the nodes that it starts without passwords and certificates",
            help: "measure a secured cluster of yours with [target] hosts",
        },
    },
    Kept {
        names: &["disk_failure_policy", "commit_failure_policy", "startup_checks"],
        option: KeptOption {
            why: "a node that has lost its files must be seen as lost",
            help: REMOVE,
        },
    },
    Kept {
        names: &[
            "auto_snapshot*",
            "snapshot_before_compaction",
            "incremental_backups",
            "snapshot_on_*",
        ],
        option: KeptOption {
            why: "copies of files would fill a volume of limited size",
            help: REMOVE,
        },
    },
    Kept {
        names: &["commitlog_total_space"],
        option: KeptOption {
            why: "iopslab sets the space of the commit log so that it fits on every volume",
            help: REMOVE,
        },
    },
];

/// Why iopslab keeps this key to itself; `None`: an experiment may state it.
pub(crate) fn kept_key(key: &str) -> Option<KeptOption> {
    let is_it = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(beginning) => key.starts_with(beginning),
        None => key == *pattern,
    };
    KEPT.iter()
        .find(|kept| kept.names.iter().any(is_it))
        .map(|kept| kept.option)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that no Cassandra has keeps nothing.
    #[test]
    fn every_name_is_one_that_cassandra_has() {
        let known = crate::known::known("5.0.9").expect("a known version");
        for name in KEPT.iter().flat_map(|kept| kept.names) {
            let exists = match name.strip_suffix('*') {
                Some(beginning) => known.keys.keys().any(|key| key.starts_with(beginning)),
                None => known.keys.contains_key(name),
            };
            assert!(exists, "{name}");
        }
    }
}
