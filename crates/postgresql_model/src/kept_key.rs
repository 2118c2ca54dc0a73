//! Settings of `postgresql.conf` that are not for an experiment to state.

use product::{Kept, KeptOption, REMOVE, kept_among};

const KEPT: &[Kept] = &[
    (
        "huge_pages huge_page_size shared_memory_type dynamic_shared_memory_type min_dynamic_shared_memory",
        "memory that the limits of a trial do not see would be measured as none",
        REMOVE,
    ),
    (
        "min_wal_size wal_keep_size max_slot_wal_keep_size",
        "iopslab keeps the WAL within its space, so that it fits on its volume",
        "max_wal_size says how much WAL there may be",
    ),
    (
        "max_connections superuser_reserved_connections reserved_connections",
        "iopslab sets how many clients a node takes, so that every request in flight has a connection",
        "concurrency in [load] says how many these are",
    ),
    (
        "data_directory config_file hba_file ident_file external_pid_file temp_tablespaces default_tablespace",
        "iopslab decides where the files of a node are",
        "data_volume and commitlog_volume of the configuration say on which volumes",
    ),
    (
        "logging_collector log_destination log_directory log_filename log_file_mode log_line_prefix log_rotation_* \
         log_truncate_on_rotation log_timezone syslog_* event_source",
        "iopslab reads the log of a node where it has put it",
        "what is logged can be stated, such as log_min_duration_statement",
    ),
    (
        "archive_* summarize_wal wal_summary_keep_time",
        "its files would lie where nothing is measured or limited",
        REMOVE,
    ),
    (
        "listen_addresses port unix_socket_* bonjour* cluster_name",
        "iopslab decides at which addresses a node is reached",
        REMOVE,
    ),
    (
        "ssl* password_encryption krb_* gss_* oauth_* authentication_timeout scram_iterations md5_password_warnings \
         pre_auth_delay post_auth_delay row_security",
        "iopslab reaches the nodes that it starts without passwords and certificates",
        REMOVE,
    ),
    (
        "hot_standby* max_wal_senders max_replication_slots wal_sender_timeout wal_receiver_* \
         wal_retrieve_retry_interval synchronous_standby_names synchronized_standby_slots sync_replication_slots \
         max_standby_* max_logical_replication_workers max_sync_workers_per_subscription \
         max_parallel_apply_workers_per_subscription max_active_replication_origins idle_replication_slot_timeout \
         session_replication_role primary_* restore_command recovery_end_command recovery_min_apply_delay \
         recovery_target*",
        "iopslab starts one node, without replicas, and from no archive",
        REMOVE,
    ),
    (
        "shared_preload_libraries session_preload_libraries local_preload_libraries dynamic_library_path \
         extension_control_path jit_provider",
        "what it would load is none of the software whose hash is known",
        REMOVE,
    ),
    (
        "fsync",
        "a commit that no volume has taken would be measured as one that it has",
        "synchronous_commit = \"off\" measures commits that do not wait for their volume; a crash may lose what they \
         acknowledged just before",
    ),
    (
        "restart_after_crash exit_on_error data_sync_retry ignore_* zero_damaged_pages allow_* \
         send_abort_for_* remove_temp_files_after_crash debug_discard_caches debug_io_direct",
        "a node that has lost a process or a page must be seen as lost",
        REMOVE,
    ),
    (
        "default_transaction_read_only transaction_deferrable transaction_isolation transaction_read_only \
         transaction_timeout search_path client_encoding client_min_messages default_table_access_method",
        "requests and schema are those of the workload",
        REMOVE,
    ),
];

/// Why iopslab keeps this setting to itself; `None`: an experiment may state it.
pub fn kept_key(name: &str) -> Option<KeptOption> {
    kept_among(name, KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::known;

    /// A name that no PostgreSQL has keeps nothing.
    #[test]
    fn every_name_is_one_that_postgresql_has() {
        let known = known("18.3").expect("a known version");
        for name in KEPT.iter().flat_map(|(names, _, _)| names.split_whitespace()) {
            let is_known = match name.strip_suffix('*') {
                Some(beginning) => known.keys().any(|key| key.starts_with(beginning)),
                None => known.contains_key(name),
            };
            assert!(is_known, "{name}");
        }
    }

    #[test]
    fn what_storage_is_judged_by_can_be_stated() {
        for name in [
            "checkpoint_timeout",
            "checkpoint_completion_target",
            "max_wal_size",
            "full_page_writes",
            "wal_compression",
            "effective_io_concurrency",
            "io_method",
            "synchronous_commit",
            "autovacuum",
            "transaction_buffers",
            "wal_buffers",
            "work_mem",
            "shared_buffers",
        ] {
            assert!(kept_key(name).is_none(), "{name}");
        }
        assert!(kept_key("restore_command").is_some_and(|kept| kept.why.contains("no archive")));
    }
}
