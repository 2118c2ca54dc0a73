//! The nodes as one load thread sees them: which of them a key belongs to, and connections to each.

use std::cell::{Cell, RefCell};
use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::time::{error::Elapsed, timeout};

use super::protocol::Connection;

/// How long a node may take to answer before the database is asked instead. A threshold of ours: a hundred times what
/// memcached takes, and little beside what a client waits for the database.
const TIMEOUT: Duration = Duration::from_millis(250);
/// How long a node that cannot be connected to is not tried again. A threshold of ours; libmemcached's
/// `MEMCACHED_BEHAVIOR_RETRY_TIMEOUT` is of the same kind.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Files that a client has open at the most, where the system lets it: connections of 30,000 requests in flight to
/// several nodes. The usual bound of 1,024 would leave reads unanswered of which no node knows.
const MOST_FILES: u64 = 1 << 18;

/// Nothing came in time, or the connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unanswered;

pub struct Nodes(Vec<Node>);

/// One of them, with connections that nobody uses now: each carries one request at a time.
pub struct Node {
    address: String,
    idle: RefCell<Vec<Connection>>,
    /// Until when it counts as lost.
    lost_until: Cell<Option<Instant>>,
}

impl Nodes {
    /// Those at these addresses (`host:port`), at least one; nothing is connected yet.
    pub fn new(addresses: &[String]) -> Self {
        let node =
            |address: &String| Node { address: address.clone(), idle: RefCell::default(), lost_until: Cell::new(None) };
        Self(addresses.iter().map(node).collect())
    }

    /// The node of a key with this hash; the same one in every client.
    pub fn of(&self, hash: u64) -> &Node {
        &self.0[place(hash, self.0.len())]
    }
}

impl Node {
    /// A connection that is free, or a new one.
    async fn connection(&self) -> Result<Connection, Unanswered> {
        let idle = self.idle.borrow_mut().pop();
        if let Some(connection) = idle {
            return Ok(connection);
        }
        if self.lost_until.get().is_some_and(|until| Instant::now() < until) {
            return Err(Unanswered);
        }
        match timeout(TIMEOUT, Connection::open(&self.address)).await {
            Ok(Ok(connection)) => {
                self.lost_until.set(None);
                Ok(connection)
            }
            Ok(Err(_)) | Err(_) => {
                self.lost_until.set(Some(Instant::now() + RETRY_AFTER));
                Err(Unanswered)
            }
        }
    }

    /// What became of a request. A connection whose answer did not come, or made no sense, is closed: what comes later
    /// would be taken for the answer to another request.
    fn ended<R>(&self, connection: Connection, answer: Result<io::Result<R>, Elapsed>) -> Result<R, Unanswered> {
        match answer {
            Ok(Ok(answer)) => {
                self.idle.borrow_mut().push(connection);
                Ok(answer)
            }
            Ok(Err(_)) | Err(_) => Err(Unanswered),
        }
    }

    /// The item of a key, if there is one.
    pub async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Unanswered> {
        let mut connection = self.connection().await?;
        let answer = timeout(TIMEOUT, connection.get(key)).await;
        self.ended(connection, answer)
    }

    /// Puts an item there, which is gone after so many seconds (0: never by itself).
    pub async fn set(&self, key: &str, item: &[u8], ttl_s: u32) -> Result<(), Unanswered> {
        let mut connection = self.connection().await?;
        let answer = timeout(TIMEOUT, connection.set(key, item, ttl_s)).await;
        self.ended(connection, answer)
    }

    /// Takes an item away, if there is one.
    pub async fn delete(&self, key: &str) -> Result<(), Unanswered> {
        let mut connection = self.connection().await?;
        let answer = timeout(TIMEOUT, connection.delete(key)).await;
        self.ended(connection, answer)
    }
}

/// Lets this process have as many connections as its requests need, as far as the system allows.
pub fn allow_connections() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(MOST_FILES, |most| most.min(MOST_FILES));
    if current.is_some_and(|current| current < wanted) {
        // Reads beyond what it has are counted as not answered.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

/// What places a key: FNV-1a of 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>).
pub fn hash(key: &str) -> u64 {
    key.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

/// Which of so many nodes a hash belongs to: with one more of them, only what moves there moves (Lamping and Veach, "A
/// Fast, Minimal Memory, Consistent Hash Algorithm", 2014).
fn place(mut hash: u64, nodes: usize) -> usize {
    let (mut place, mut next) = (0, 0);
    while next < nodes {
        place = next;
        hash = hash.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        let step = (1_u64 << 31) as f64 / ((hash >> 33) + 1) as f64;
        next = ((place + 1) as f64 * step) as usize;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_have_more_connections_than_the_usual_bound() {
        let before = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(900), ..before }).unwrap();
        allow_connections();
        let most = before.maximum.unwrap_or(u64::MAX);
        assert_eq!(getrlimit(Resource::Nofile), Rlimit { current: Some(most.min(MOST_FILES)), ..before });
    }

    fn places(nodes: usize) -> Vec<usize> {
        (0..30_000).map(|n| place(hash(&format!("user{n}")), nodes)).collect()
    }

    #[test]
    fn nodes_have_equal_parts_of_the_keys_and_a_further_one_takes_its_part_of_each() {
        let (three, four) = (places(3), places(4));
        for node in 0..3 {
            let keys = three.iter().filter(|place| **place == node).count();
            assert!((9_500..10_500).contains(&keys), "node {node} has {keys} of 30,000");
        }
        let moved: Vec<usize> = three.iter().zip(&four).filter(|(a, b)| a != b).map(|(_, to)| *to).collect();
        assert!(moved.iter().all(|to| *to == 3), "what moves goes to the new one");
        assert!((7_000..8_000).contains(&moved.len()), "{}", moved.len());
        assert!(places(1).iter().all(|place| *place == 0));
        assert_eq!(hash(""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(hash("a"), 0xAF63_DC4C_8601_EC8C, "as published");
    }
}
