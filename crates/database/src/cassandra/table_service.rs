//! What a node does with the files of a table when it is asked over its management interface: flush, compact, begin or
//! stop to compact by itself. No second JVM is needed for it, so that a trial under way can be asked too.

use std::time::Duration;

use super::jmx::{Argument, Jmx, JmxError};
use super::management::Management;
use super::serialized::Value;

const STORAGE_SERVICE: &str = "org.apache.cassandra.db:type=StorageService";
/// The longest that a compaction may take; a node that ends meanwhile closes the connection.
const A_COMPACTION: Duration = Duration::from_secs(24 * 3600);
/// The longest that a flush may take.
const A_FLUSH: Duration = Duration::from_secs(3600);
/// The longest that a node under load may take to answer what costs it nothing.
const AN_ANSWER: Duration = Duration::from_secs(30);
/// Keyspaces of the node's own begin so; 6.0 has more of them than 5.0 (`system_cluster_metadata`).
const OF_THE_NODE: &str = "system";

/// Compacts all SSTables of each table of a keyspace into one, a table after the other, as `nodetool compact KEYSPACE`
/// does; returns when that is done. Errors: nobody answers, the node ends meanwhile, or it refuses.
pub fn compact_keyspace(node: &Management, keyspace: &str) -> Result<(), JmxError> {
    compact(&mut Jmx::connect(node, A_COMPACTION)?, keyspace)
}

fn compact(connection: &mut Jmx, keyspace: &str) -> Result<(), JmxError> {
    // No tables: all of them.
    let with = [Argument::Flag(false), Argument::Text(keyspace), Argument::Texts(&[])];
    connection.invoke(STORAGE_SERVICE, "forceKeyspaceCompaction", &with).map(drop)
}

/// Writes what a table has in memory into files, as `nodetool flush` does; returns when that is done. Errors: as
/// [`compact_keyspace`].
pub fn flush_table(node: &Management, keyspace: &str, table: &str) -> Result<(), JmxError> {
    flush(&mut Jmx::connect(node, A_FLUSH)?, keyspace, &[table])
}

/// The named tables, or with none all of the keyspace.
fn flush(connection: &mut Jmx, keyspace: &str, tables: &[&str]) -> Result<(), JmxError> {
    let with = [Argument::Text(keyspace), Argument::Texts(tables)];
    connection.invoke(STORAGE_SERVICE, "forceKeyspaceFlush", &with).map(drop)
}

/// Writes what the tables of a keyspace have in memory into files, then compacts each of them into one SSTable; returns
/// when that is done. Old files are deleted in the background: wait with [`super::Admin::wait_settled`].
///
/// A major compaction rather than "wait until the automatic one has nothing to do": where size tiers stop depends on
/// the timing of flushes, so that two loads of the same data would leave different numbers of files to read from.
/// Errors: as [`compact_keyspace`].
pub fn flush_and_compact(node: &Management, keyspace: &str) -> Result<(), JmxError> {
    let mut connection = Jmx::connect(node, A_COMPACTION)?;
    flush(&mut connection, keyspace, &[])?;
    compact(&mut connection, keyspace)
}

/// Takes all rows of a table away, on all nodes of its cluster; returns when that is done. Errors: as
/// [`compact_keyspace`]; a node of the cluster is away.
pub fn truncate_table(node: &Management, keyspace: &str, table: &str) -> Result<(), JmxError> {
    let with = [Argument::Text(keyspace), Argument::Text(table)];
    Jmx::connect(node, A_FLUSH)?.invoke(STORAGE_SERVICE, "truncate", &with)?;
    Ok(())
}

/// Takes the SSTables in these directories into a table, as `nodetool import --keep-level --keep-repaired --no-verify
/// --no-tokens` does: their files are moved. Returns when reads see them. Since 5.0 `--require-index-components
/// --no-index-validation`, too: files of SAI's indexes must be among them, so that nothing is built, and are not read.
///
/// Those that another cluster has written (`is_foreign`) it takes as `nodetool import --no-tokens` does: they are read
/// for damage first, and which of them were repaired, or had which level, is forgotten; files of indexes are left
/// behind, and built here. Rows of other nodes come with them: see [`clean_up`]. Asked to check tokens, a node would
/// take no part of a directory that has a row of another node, rather than its own rows of it
/// (`SSTableImporter.verifySSTableForImport`). Each SSTable has a new name there
/// (`ColumnFamilyStore.getUniqueDescriptorFor`), so that equal names in several directories do no harm. Errors: as
/// [`compact_keyspace`]; a directory whose SSTables the node does not take.
pub fn import_sstables(
    (node, version): (&Management, &str),
    (keyspace, table): (&str, &str),
    directories: &[&str],
    is_foreign: bool,
) -> Result<(), JmxError> {
    let bean = format!("org.apache.cassandra.db:type=Tables,keyspace={keyspace},table={table}");
    // (directories, reset levels, clear repaired, verify, verify tokens, invalidate caches, verify all, copy), and
    // since 5.0 (fail where a file of an index is missing, validate what indexes have).
    let usual = [is_foreign, is_foreign, is_foreign, false, true, false, false];
    let of_indexes: &[bool] =
        if !is_foreign && cassandra_model::has_attached_indexes(version) { &[true, false] } else { &[] };
    let flags = usual.iter().chain(of_indexes).map(|flag| Argument::Flag(*flag));
    let with: Vec<Argument<'_>> = std::iter::once(Argument::Set(directories)).chain(flags).collect();
    let mut connection = Jmx::connect(node, if is_foreign { A_COMPACTION } else { A_FLUSH })?;
    let Value::Object(refused) = connection.invoke(&bean, "importNewSSTables", &with)? else {
        return Ok(());
    };
    // The directories that it has not taken, as a list.
    let refused: Vec<&str> = refused.written.iter().filter_map(Value::text).collect();
    match refused.is_empty() {
        true => Ok(()),
        false => {
            Err(JmxError::Connection { port: node.port, reason: format!("it does not import {}", refused.join(", ")) })
        }
    }
}

/// Removes rows of a keyspace that this node does not keep by the ring, as `nodetool cleanup` does: each SSTable that
/// has some is written anew. Returns when that is done. Errors: as [`compact_keyspace`]; it could not be done to the
/// end.
pub fn clean_up(node: &Management, keyspace: &str) -> Result<(), JmxError> {
    let with = [Argument::Text(keyspace), Argument::Texts(&[])];
    let status = Jmx::connect(node, A_COMPACTION)?.invoke(STORAGE_SERVICE, "forceKeyspaceCleanup", &with)?;
    // `CompactionManager.AllSSTableOpStatus`: 0 is SUCCESSFUL.
    match status.number() {
        Some(0.0) => Ok(()),
        other => {
            let reason = format!("it has not cleaned {keyspace} up: it answers {other:?}, see its log");
            Err(JmxError::Connection { port: node.port, reason })
        }
    }
}

/// From here on a node compacts the tables of a keyspace by itself, and its own ones too, as `nodetool
/// enableautocompaction` has it; or no table of that keyspace any more (`nodetool disableautocompaction`). Errors: as
/// [`compact_keyspace`].
pub fn compact_automatically(node: &Management, keyspace: &str, is_on: bool) -> Result<(), JmxError> {
    let mut connection = Jmx::connect(node, AN_ANSWER)?;
    let of_the_node = if is_on { keyspaces_of_the_node(&mut connection, node.port)? } else { Vec::new() };
    let mut ask = |operation: &str, keyspace: &str| {
        let with = [Argument::Text(keyspace), Argument::Texts(&[])];
        connection.invoke(STORAGE_SERVICE, operation, &with).map(drop)
    };
    if !is_on {
        return ask("disableAutoCompaction", keyspace);
    }
    ask("enableAutoCompaction", keyspace)?;
    for own in &of_the_node {
        ask("enableAutoCompaction", own)?;
    }
    Ok(())
}

/// Keyspaces of the node's own that have files.
fn keyspaces_of_the_node(connection: &mut Jmx, port: u16) -> Result<Vec<String>, JmxError> {
    let answer = connection.attribute(STORAGE_SERVICE, "Keyspaces")?;
    let all = match &answer {
        Value::Object(list) => list.written.as_slice(),
        Value::List(list) => list.as_slice(),
        _ => &[],
    };
    let own = all.iter().filter_map(Value::text).filter(|name| name.starts_with(OF_THE_NODE));
    let own: Vec<String> = own.map(str::to_owned).collect();
    match own.is_empty() {
        true => Err(JmxError::Connection { port, reason: format!("it names no keyspaces of its own: {answer:?}") }),
        false => Ok(own),
    }
}
