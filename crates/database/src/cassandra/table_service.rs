//! What a node does with the files of a table when it is asked over its management interface: flush, compact, begin or stop to
//! compact by itself. No second JVM is needed for it, so that a trial under way can be asked too.

use std::time::Duration;

use super::jmx::{Argument, Jmx, JmxError};

const STORAGE_SERVICE: &str = "org.apache.cassandra.db:type=StorageService";
/// The longest that a compaction may take; a node that ends meanwhile closes the connection.
const A_COMPACTION: Duration = Duration::from_secs(24 * 3600);
/// The longest that a flush may take.
const A_FLUSH: Duration = Duration::from_secs(3600);
/// The longest that a node under load may take to answer what costs it nothing.
const AN_ANSWER: Duration = Duration::from_secs(30);
/// Keyspaces that every node has.
const OF_THE_NODE: [&str; 5] = [
    "system",
    "system_schema",
    "system_auth",
    "system_distributed",
    "system_traces",
];

/// Compacts all SSTables of a table into one, as `nodetool compact` does; returns when that is done.
///
/// # Errors
/// Nobody answers, the node ends meanwhile, or it refuses.
pub fn compact_table(port: u16, keyspace: &str, table: &str) -> Result<(), JmxError> {
    let with = [
        Argument::Flag(false),
        Argument::Text(keyspace),
        Argument::Texts(&[table]),
    ];
    Jmx::connect(port, A_COMPACTION)?.invoke(STORAGE_SERVICE, "forceKeyspaceCompaction", &with)?;
    Ok(())
}

/// Writes what a table has in memory into files, as `nodetool flush` does; returns when that is done.
///
/// # Errors
/// As [`compact_table`].
pub fn flush_table(port: u16, keyspace: &str, table: &str) -> Result<(), JmxError> {
    let with = [Argument::Text(keyspace), Argument::Texts(&[table])];
    Jmx::connect(port, A_FLUSH)?.invoke(STORAGE_SERVICE, "forceKeyspaceFlush", &with)?;
    Ok(())
}

/// From here on a node compacts the tables of a keyspace by itself, and its own ones too, as `nodetool enableautocompaction`
/// has it; or no table of that keyspace any more (`nodetool disableautocompaction`).
///
/// # Errors
/// As [`compact_table`].
pub fn compact_automatically(port: u16, keyspace: &str, is_on: bool) -> Result<(), JmxError> {
    let mut node = Jmx::connect(port, AN_ANSWER)?;
    let mut ask = |operation: &str, keyspace: &str| {
        let with = [Argument::Text(keyspace), Argument::Texts(&[])];
        node.invoke(STORAGE_SERVICE, operation, &with).map(drop)
    };
    if !is_on {
        return ask("disableAutoCompaction", keyspace);
    }
    ask("enableAutoCompaction", keyspace)?;
    for own in OF_THE_NODE {
        ask("enableAutoCompaction", own)?;
    }
    Ok(())
}

/// SSTables of a table, now.
///
/// # Errors
/// As [`compact_table`]; the table does not exist.
pub fn sstables(port: u16, keyspace: &str, table: &str) -> Result<u64, JmxError> {
    let bean =
        format!("org.apache.cassandra.metrics:type=Table,keyspace={keyspace},scope={table},name=LiveSSTableCount");
    let answer = Jmx::connect(port, AN_ANSWER)?.attribute(&bean, "Value")?;
    let number = answer.number().ok_or_else(|| JmxError::Connection {
        port,
        reason: format!("{answer:?} is no number of SSTables"),
    })?;
    // Whole, and far below 2^53.
    Ok(number as u64)
}
