//! A real memcached with three clients: ours, and those of crate `memcache`, by the text and by the meta protocol. What
//! one of them does, all see alike.

use std::time::Duration;

use memcache::exp::{Meta, MetaClient};
use miss_ratio::Item;
use tokio::runtime::{Builder, Runtime};

use super::nodes::{Nodes, Unanswered, hash};
use super::own_address;
use super::process::{NodeOfCache, Process};
use super::protocol::Connection;
use super::record::encode;
use crate::Account;

const KEY: &str = "user1";

/// Who asks.
#[derive(Debug, Clone, Copy)]
enum By {
    Us,
    Text,
    Meta,
}

const ALL: [By; 3] = [By::Us, By::Text, By::Meta];

/// A node, and its clients.
struct Clients {
    us: Connection,
    text: memcache::Client,
    meta: MetaClient,
    runtime: Runtime,
    node: Process,
}

impl Clients {
    /// Of a node at an address that no other test has.
    fn at(host: u8) -> Self {
        let address = own_address(241, host);
        let node =
            NodeOfCache { address, memory_bytes: 64 << 20, cpus: 1.0, launch_prefix: Vec::new(), oom_kills: None };
        let account = Account::of_this_machine().unwrap();
        let mut node = Process::start(&node, account.as_ref()).expect("scripts/setup.sh --tests installs memcached");
        node.wait_ready().unwrap();
        let at = node.at();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self {
            us: runtime.block_on(Connection::open(&at.to_string())).unwrap(),
            text: memcache::Client::with_pool_size(format!("memcache://{at}?protocol=ascii"), 1).unwrap(),
            meta: MetaClient::connect(at).unwrap().with_io_timeout(Some(Duration::from_secs(10))),
            runtime,
            node,
        }
    }

    /// Puts an item there; why not, in words.
    fn put(&mut self, by: By, key: &str, item: &[u8], ttl_s: u32) -> Result<(), String> {
        match by {
            By::Us => self.runtime.block_on(self.us.set(key, item, ttl_s)).map_err(|error| error.to_string()),
            By::Text => self.text.set(key, item, ttl_s).map_err(|error| error.to_string()),
            By::Meta => {
                let put = self.meta.set(key, item).ttl(ttl_s).send().map_err(|error| error.to_string())?;
                assert!(put.stored(), "{put:?}");
                Ok(())
            }
        }
    }

    /// Takes it away; the same where there is none.
    fn delete(&mut self, by: By, key: &str) {
        match by {
            By::Us => self.runtime.block_on(self.us.delete(key)).unwrap(),
            By::Text => {
                self.text.delete(key).unwrap();
            }
            By::Meta => {
                self.meta.delete(key).send().unwrap();
            }
        }
    }

    /// What each of them finds.
    fn found(&mut self, key: &str) -> [Option<Vec<u8>>; 3] {
        let us = self.runtime.block_on(self.us.get(key)).unwrap();
        let text: Option<Vec<u8>> = self.text.get(key).unwrap();
        [us, text, self.meta.get(key).send().unwrap().value]
    }

    /// Seconds that memcached lets it live on (-1: for ever); `None`: it is not there.
    fn lives_on_s(&self, key: &str) -> Option<i64> {
        self.meta.get(key).meta(Meta::NONE.ttl()).send().unwrap().item.ttl
    }

    /// A connection of ours is of no use after an error.
    fn connect_again(&mut self) {
        self.us = self.runtime.block_on(Connection::open(&self.node.at().to_string())).unwrap();
    }
}

const NONE: [Option<Vec<u8>>; 3] = [None, None, None];

/// The largest item under this key, as hit ratios are predicted with.
fn most_bytes(key: &str) -> usize {
    let most = (0..1 << 20).rev().find(|bytes| Item::of(key.len() as u64, *bytes).is_some());
    most.unwrap() as usize
}

#[test]
fn what_one_client_puts_there_all_find_to_the_byte() {
    let mut clients = Clients::at(1);
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    let record = encode(7, [Some("first"), None, Some("\u{2026}\r\nEND\r\n")].into_iter());
    let largest = vec![b'\r'; most_bytes(KEY)];
    let items: [&[u8]; 8] =
        [b"", b"a", b"\r\n", b"END\r\n", b"VALUE user1 0 1\r\na\r\nEND\r\n", &every_byte, &record, &largest];
    for (by, item) in ALL.into_iter().flat_map(|by| items.map(|item| (by, item))) {
        clients.put(by, KEY, item, 0).unwrap();
        let alike = clients.found(KEY).map(|found| found.as_deref() == Some(item));
        assert_eq!(alike, [true; 3], "{} bytes by {by:?}", item.len());
    }
    let longest_key = "k".repeat(250);
    for by in ALL {
        clients.put(by, &longest_key, b"a", 0).unwrap();
        assert_eq!(clients.found(&longest_key), [(); 3].map(|()| Some(b"a".to_vec())), "{by:?}");
        clients.delete(by, &longest_key);
        assert_eq!(clients.found(&longest_key), NONE, "{by:?}");
    }
}

#[test]
fn what_one_client_deletes_is_missing_for_all() {
    let mut clients = Clients::at(2);
    assert_eq!(clients.found(KEY), NONE);
    for by in ALL {
        clients.put(By::Us, KEY, b"a", 0).unwrap();
        clients.delete(by, KEY);
        assert_eq!(clients.found(KEY), NONE, "{by:?}");
        clients.delete(by, KEY);
    }
}

#[test]
fn an_item_lives_as_long_whoever_has_put_it_there() {
    const MONTH_S: u32 = 30 * 24 * 60 * 60;
    let mut clients = Clients::at(3);
    for (by, short) in ALL.into_iter().zip(["short1", "short2", "short3"]) {
        clients.put(by, KEY, b"a", 0).unwrap();
        assert_eq!(clients.lives_on_s(KEY), Some(-1), "{by:?}");
        for ttl_s in [100, MONTH_S] {
            clients.put(by, KEY, b"a", ttl_s).unwrap();
            let left_s = clients.lives_on_s(KEY).unwrap();
            // memcached counts whole seconds.
            assert!((i64::from(ttl_s) - 30..=i64::from(ttl_s)).contains(&left_s), "{left_s} of {ttl_s} s by {by:?}");
        }
        // That is a date, in 1970: the reason why `ttl_s` has an end.
        clients.put(by, KEY, b"a", MONTH_S + 1).unwrap();
        assert_eq!(clients.found(KEY), NONE, "{by:?}");
        clients.put(by, short, b"a", 1).unwrap();
    }
    std::thread::sleep(Duration::from_millis(2_200));
    for short in ["short1", "short2", "short3"] {
        assert_eq!(clients.found(short), NONE);
    }
}

/// A copy that cannot be replaced does not stay as it was.
#[test]
fn what_is_too_large_is_refused_to_all_and_takes_the_old_item_with_it() {
    let mut clients = Clients::at(4);
    let too_large = vec![b'a'; most_bytes(KEY) + 1];
    for by in ALL {
        clients.put(By::Us, KEY, b"old", 0).unwrap();
        let error = clients.put(by, KEY, &too_large, 0).unwrap_err();
        assert!(error.contains("object too large for cache"), "{error} by {by:?}");
        clients.connect_again();
        assert_eq!(clients.found(KEY), NONE, "{by:?}");
    }
    let error = clients.put(By::Us, &"k".repeat(251), b"a", 0).unwrap_err();
    assert!(error.starts_with("memcached answered \"CLIENT_ERROR "), "{error}");
}

/// The rest of what a refused request had sent, or an answer that comes late, belongs to no other request.
#[test]
fn after_an_error_the_next_request_has_its_own_answer() {
    let clients = Clients::at(5);
    let nodes = Nodes::new(&[clients.node.at().to_string()]);
    let node = nodes.of(hash(KEY));
    clients.runtime.block_on(async {
        assert_eq!(node.set(KEY, &vec![b'a'; most_bytes(KEY) + 1], 0).await, Err(Unanswered));
        assert_eq!(node.get(KEY).await, Ok(None));
        assert_eq!(node.set(&"k".repeat(251), b"a", 0).await, Err(Unanswered));
        assert_eq!(node.set(KEY, b"a", 0).await, Ok(()));
        assert_eq!(node.get(KEY).await, Ok(Some(b"a".to_vec())));
    });
}
