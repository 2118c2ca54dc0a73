//! What Cassandra counts of itself and of one table, read from its metrics beans for a monitor that asks once a second.
//!
//! Counters are kept as counters; rates are differences, taken later by whoever analyses. What a server does not offer
//! is absent, never zero. Its virtual tables have half of it, for twice the CPU (`tests/one_node.rs` prints what a
//! reading costs). The number of dropped messages is in the log: see [`super::DroppedMessages`].

use std::time::Duration;

use reported::cassandra as series;
use reported::{Reported, Series};

use super::jmx::{Jmx, JmxError};
use super::management::Management;
use super::serialized::Value;

/// How long one answer may take. A node that stands still longer than this is not asked for the rest of the second.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a node under load may take to answer for a figure that has to be known.
const NEEDED: Duration = Duration::from_secs(30);

/// A series, the bean that it is, the attribute that has it, and how many of that make one. Those of one series are
/// added.
type Figure = (&'static Series, &'static str, &'static str, f64);

const OF_TABLE: &[Figure] = &[
    (&series::BLOOM_FALSE_POSITIVES, "BloomFilterFalsePositives", "Value", 1.0),
    (&series::COMPRESSION_RATIO, "CompressionRatio", "Value", 1.0),
    (&series::COMPRESSION_METADATA_BYTES, "CompressionMetadataOffHeapMemoryUsed", "Value", 1.0),
    (&series::SSTABLES, "LiveSSTableCount", "Value", 1.0),
    (&series::FLUSHES, "MemtableSwitchCount", "Count", 1.0),
    (&series::FLUSHED_BYTES, "BytesFlushed", "Count", 1.0),
    (&series::COMPACTED_BYTES, "CompactionBytesWritten", "Count", 1.0),
    (&series::COORDINATOR_READS, "CoordinatorReadLatency", "Count", 1.0),
    (&series::COORDINATOR_WRITES, "CoordinatorWriteLatency", "Count", 1.0),
    // Microseconds.
    (&series::COORDINATOR_READ_P99_MS, "CoordinatorReadLatency", "99thPercentile", 1e3),
    (&series::COORDINATOR_WRITE_P99_MS, "CoordinatorWriteLatency", "99thPercentile", 1e3),
];
/// What cannot be added up over several tables: it is absent then.
const OF_ONE_TABLE: [&Series; 3] =
    [&series::COMPRESSION_RATIO, &series::COORDINATOR_READ_P99_MS, &series::COORDINATOR_WRITE_P99_MS];
/// Of the node's pools of threads.
const OF_POOLS: &[Figure] = &[
    (&series::PENDING_COMPACTIONS, "path=internal,scope=CompactionExecutor,name=ActiveTasks", "Value", 1.0),
    (&series::PENDING_COMPACTIONS, "path=internal,scope=CompactionExecutor,name=PendingTasks", "Value", 1.0),
    (&series::PENDING_READS, "path=request,scope=ReadStage,name=PendingTasks", "Value", 1.0),
    (&series::PENDING_MUTATIONS, "path=request,scope=MutationStage,name=PendingTasks", "Value", 1.0),
    (&series::CLIENT_REQUESTS, "path=transport,scope=Native-Transport-Requests,name=CompletedTasks", "Value", 1.0),
];
/// Of the node's caches. The chunk cache is there where it is on.
const OF_CACHES: &[Figure] = &[
    (&series::CHUNK_CACHE_HITS, "scope=ChunkCache,name=Hits", "Count", 1.0),
    (&series::CHUNK_CACHE_REQUESTS, "scope=ChunkCache,name=Requests", "Count", 1.0),
    (&series::KEY_CACHE_HITS, "scope=KeyCache,name=Hits", "Count", 1.0),
    (&series::KEY_CACHE_REQUESTS, "scope=KeyCache,name=Requests", "Count", 1.0),
];
const METRICS: &str = "org.apache.cassandra.metrics:";
/// Who knows the files of hints that wait.
const HINTS: &str = "org.apache.cassandra.hints:type=HintsService";
/// How many SSTables were merged for a read: a histogram with a bucket for each number up to 8.
const SSTABLES_PER_READ: &str = "SSTablesPerReadHistogram";

/// A reader of the counters of a node and of a table, or of several together.
pub struct Counters {
    node: Management,
    /// The beans of each table, from their type up to the name of the metric.
    beans: Vec<String>,
    connection: Option<Jmx>,
}

impl Counters {
    /// Of a node with this management interface. Nothing is asked yet.
    pub fn new(node: &Management, keyspace: &str, table: &str) -> Self {
        Self::of_tables(node, keyspace, &[table.to_owned()])
    }

    /// As [`Self::new`], of several tables of a keyspace: what they count is added up.
    pub fn of_tables(node: &Management, keyspace: &str, tables: &[String]) -> Self {
        let beans = tables.iter().map(|table| format!("type=Table,keyspace={keyspace},scope={table},name="));
        Self { node: node.clone(), beans: beans.collect(), connection: None }
    }

    /// The counters now. What the node does not answer is absent.
    pub fn read(&mut self) -> Reported {
        self.try_read().unwrap_or_else(|error| {
            tracing::debug!("{error}");
            // The next reading begins anew.
            self.connection = None;
            Reported::default()
        })
    }

    /// As [`Self::read`]; the error is that nothing could be asked.
    pub fn try_read(&mut self) -> Result<Reported, JmxError> {
        let kept = self.connection.take().filter(Jmx::is_fresh);
        let connection = match kept {
            Some(connection) => connection,
            None => Jmx::connect(&self.node, PATIENCE)?,
        };
        let connection = self.connection.insert(connection);
        let mut reported = Reported::default();
        let are_several = self.beans.len() > 1;
        let of_tables = self.beans.iter().map(|beans| (beans.as_str(), OF_TABLE));
        let of_node = [("type=ThreadPools,", OF_POOLS), ("type=Cache,", OF_CACHES)];
        for (of, figures) in of_tables.chain(of_node) {
            for (series, metric, attribute, per) in figures {
                if are_several && OF_ONE_TABLE.iter().any(|of| of.key == series.key) {
                    continue;
                }
                let answer = connection.attribute(&format!("{METRICS}{of}{metric}"), attribute);
                let number = known(answer)?.and_then(|value| value.number());
                // A table without a compressed file has the ratio -1.
                if let Some(number) = number.filter(|number| *number >= 0.0) {
                    reported.add(series, number / per);
                }
            }
        }
        let hints = known(connection.attribute(HINTS, "PendingHints"))?;
        reported.set(&series::PENDING_HINT_FILES, hints.as_ref().and_then(hint_files));
        for beans in &self.beans {
            let buckets = known(connection.invoke(&format!("{METRICS}{beans}{SSTABLES_PER_READ}"), "values", &[]))?;
            if let Some((reads, merged)) = buckets.as_ref().and_then(sum) {
                reported.add(&series::TABLE_READS, reads);
                reported.add(&series::SSTABLES_MERGED, merged);
            }
        }
        Ok(reported)
    }
}

/// What a node reports of a table in one series, now. Errors: nobody answers, the table does not exist, or tables have
/// no such series.
pub fn of_table(node: &Management, keyspace: &str, table: &str, series: &'static Series) -> Result<f64, JmxError> {
    let nothing = |reason: String| JmxError::Connection { port: node.port, reason };
    let (_, metric, attribute, per) = OF_TABLE
        .iter()
        .find(|(of, ..)| of.key == series.key)
        .ok_or_else(|| nothing(format!("a table has no series {}", series.key)))?;
    let bean = format!("{METRICS}type=Table,keyspace={keyspace},scope={table},name={metric}");
    let answer = Jmx::connect(node, NEEDED)?.attribute(&bean, attribute)?;
    let number = answer.number().ok_or_else(|| nothing(format!("{answer:?} is no number of {}", series.key)))?;
    Ok(number / per)
}

/// `None`: this server has no such figure.
fn known(answer: Result<Value, JmxError>) -> Result<Option<Value>, JmxError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(JmxError::Refused { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Files of hints: those of a list with a map for each node that they are for.
fn hint_files(nodes: &Value) -> Option<f64> {
    let Value::Object(nodes) = nodes else { return None };
    let files = |node: &Value| {
        let Value::Object(map) = node else { return None };
        let name = map.written.iter().position(|word| word.text() == Some("total_files"))?;
        map.written.get(name + 1)?.text()?.parse::<f64>().ok()
    };
    // Of an empty list nothing is written but its capacity.
    Some(nodes.written.iter().filter_map(files).sum())
}

/// Reads, and SSTables merged for all of them, of the buckets of a histogram that counts zeroes.
fn sum(buckets: &Value) -> Option<(f64, f64)> {
    let Value::List(buckets) = buckets else { return None };
    let counts: Option<Vec<f64>> = buckets.iter().map(Value::number).collect();
    let counts = counts?;
    let merged = counts.iter().zip(bounds()).map(|(count, bound)| count * bound).sum();
    Some((counts.iter().sum(), merged))
}

/// Upper bounds of the buckets of an `EstimatedHistogram` that counts zeroes: 0, 1, 2, and then a fifth more each, at
/// least one (`EstimatedHistogram.newOffsets`). A bucket holds what is above the bound before: up to 8 that is one
/// number.
fn bounds() -> impl Iterator<Item = f64> {
    let next = |last: &u64| Some((*last + 1).max((*last as f64 * 1.2).round() as u64));
    std::iter::once(0.0).chain(std::iter::successors(Some(1), next).map(|bound| bound as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassandra::serialized::Object;

    /// The first offsets that Cassandra prints in `nodetool tablehistograms` of 3.x: 1, 2, 3, ... 8, 10, 12, 14, 17,
    /// 20, 24.
    #[test]
    fn buckets_are_those_of_the_server() {
        let first: Vec<f64> = bounds().take(15).collect();
        let expected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24];
        assert_eq!(first, expected.map(f64::from));
    }

    #[test]
    fn files_of_hints_are_those_of_all_nodes() {
        let written = |class: &str, written| {
            let class = class.to_owned();
            Value::Object(Object { class, written, ..Object::default() })
        };
        let text = |word: &str| Value::Text(word.to_owned());
        let node = |files| {
            let pairs = [Value::Bytes(vec![0; 8]), text("host_id"), text("a"), text("total_files"), text(files)];
            written("java.util.HashMap", pairs.to_vec())
        };
        let list = |nodes: &[Value]| {
            let capacity = [Value::Bytes(vec![0; 4])];
            written("java.util.ArrayList", [&capacity, nodes].concat())
        };
        assert_eq!(hint_files(&list(&[])), Some(0.0));
        assert_eq!(hint_files(&list(&[node("2"), node("5")])), Some(7.0));
        assert_eq!(hint_files(&Value::Null), None, "missing is not zero");
    }

    #[test]
    fn reads_and_the_sstables_merged_for_them_are_summed_exactly_up_to_eight() {
        // 2 reads of no SSTable, 5 of one, 1 of three.
        let buckets = Value::List([2, 5, 0, 1].map(Value::Whole).to_vec());
        assert_eq!(sum(&buckets), Some((8.0, 8.0)));
        assert_eq!(sum(&Value::Null), None);
        assert_eq!(sum(&Value::List(vec![Value::Null])), None, "missing is not zero");
    }
}
