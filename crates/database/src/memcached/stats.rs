//! What nodes report of themselves (`stats` of memcached, doc/protocol.txt, "General-purpose statistics").

use std::time::Duration;

use reported::memcached::{BYTES, CPU_S, DELETES, EVICTIONS, HITS, ITEMS, MISSES, RECEIVED_BYTES, SENT_BYTES, SETS};
use reported::{Reported, Series};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::protocol::Connection;
use crate::MetricsReader;

/// How long a node may take: it is asked beside the database, once a second.
const PATIENCE: Duration = Duration::from_millis(200);

/// What is read of each node, by memcached's names. Deletes and CPU time are in two parts.
const READ: [(&str, &Series); 12] = [
    ("get_hits", &HITS),
    ("get_misses", &MISSES),
    ("cmd_set", &SETS),
    ("delete_hits", &DELETES),
    ("delete_misses", &DELETES),
    ("evictions", &EVICTIONS),
    ("bytes", &BYTES),
    ("curr_items", &ITEMS),
    ("bytes_read", &RECEIVED_BYTES),
    ("bytes_written", &SENT_BYTES),
    ("rusage_user", &CPU_S),
    ("rusage_system", &CPU_S),
];

/// Reads what all nodes of a tier report, added up.
pub struct StatsReader {
    runtime: Runtime,
    nodes: Vec<(String, Option<Connection>)>,
}

impl StatsReader {
    /// Of the nodes at these addresses (`host:port`); nothing is connected yet. Errors: no runtime can be had.
    pub fn new(addresses: &[String]) -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, nodes: addresses.iter().map(|address| (address.clone(), None)).collect() })
    }
}

impl MetricsReader for StatsReader {
    /// Nothing, where one of them does not answer: missing is not zero.
    fn read(&mut self) -> Reported {
        let Self { runtime, nodes } = self;
        let all = async {
            let mut reported = Reported::default();
            for (address, known) in nodes.iter_mut() {
                reported = added(reported, asked(address, known).await?);
            }
            Some(reported)
        };
        runtime.block_on(all).unwrap_or_default()
    }
}

/// Both together.
fn added(mut sum: Reported, of_node: Vec<(&'static Series, f64)>) -> Reported {
    of_node.into_iter().for_each(|(series, value)| sum.add(series, value));
    sum
}

/// What a node reports; `None`: it does not answer, or not with all of it.
async fn asked(address: &str, known: &mut Option<Connection>) -> Option<Vec<(&'static Series, f64)>> {
    timeout(PATIENCE, stats(address, known)).await.ok()?
}

/// The same, however long it takes. A connection that does not answer is closed.
async fn stats(address: &str, known: &mut Option<Connection>) -> Option<Vec<(&'static Series, f64)>> {
    let mut connection = match known.take() {
        Some(connection) => connection,
        None => Connection::open(address).await.ok()?,
    };
    let stats = connection.stats().await.ok()?;
    *known = Some(connection);
    let value = |(name, series): &(&str, &'static Series)| Some((*series, stats.get(*name)?.parse::<f64>().ok()?));
    READ.iter().map(value).collect()
}

/// The number of the process that answers at this address (`host:port`).
pub fn answering(address: &str) -> Result<u32, String> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    runtime.block_on(async {
        let asked = async { Connection::open(address).await?.stats().await };
        let answer = timeout(PATIENCE, asked).await.map_err(|_| "no answer in time".to_owned())?;
        let stats = answer.map_err(|error| error.to_string())?;
        let pid = stats.get("pid").and_then(|pid| pid.parse().ok());
        pid.ok_or_else(|| "it does not say which process it is".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_of_the_tier_is_read_and_nodes_are_added_up() {
        let mut read: Vec<&str> = READ.iter().map(|(_, series)| series.key).collect();
        read.dedup();
        let stated: Vec<&str> = reported::memcached::REPORTS.all_series().map(|series| series.key).collect();
        assert_eq!(read, stated);
        let node = || vec![(&HITS, 5.0), (&CPU_S, 0.25), (&CPU_S, 0.5)];
        let both = added(added(Reported::default(), node()), node());
        assert_eq!((both.get(&HITS), both.get(&CPU_S), both.get(&MISSES)), (Some(10.0), Some(1.5), None));
    }
}
