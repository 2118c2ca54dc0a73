//! Predicted hit ratios against a real memcached that is fed with a workload's own keys, and with items as large as a
//! run's client puts there.
//!
//! memcached has three sizes: it holds 18, 36 and 72 % of the records, each in whole pages of 1 MiB of one class of
//! chunks, which is why records are of 2,000 bytes: 451 to a page. The prediction takes its segmented LRU for a plain
//! one. What is read twice is kept apart there and outlives what is read once, so that a small cache answers *more*
//! than is predicted, and the more the smaller it is. Seen beside a plain LRU under the same requests (memcached
//! 1.6.18, 27 November 2026): 2.1 and 2.7 points more at 18 % of the records, 1.2 and 0.1 at 36 %, 0.2 and 0.0 at 72 %,
//! zipfian and hot set; the same at 20,000 requests a second as at 150,000. So a prediction may be above what is
//! measured by one point at the most, whatever the size, and below it by what is allowed for each.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;

use database::Account;
use database::memcached::{NodeOfCache, Process};
use miss_ratio::{Item, Policy, Rules, hit_ratios};
use workload::{Definition, Distribution, Generator, InsertSequence, Mix, write_key};

const RECORDS: u64 = 20_000;
const FIELDS: u32 = 10;
/// Fields of 200 bytes, and what the client of a run stores beside them: 8 bytes, and 4 for each field.
const VALUE_BYTES: usize = 2_000 + 8 + 4 * 10;
/// memcached's memory (`-m`), MiB, and how far what is measured may be above the prediction.
const SIZES: [(u8, f64); 3] = [(8, 0.05), (16, 0.04), (32, 0.02)];
/// How far the prediction may be above what is measured.
const TOO_MUCH: f64 = 0.01;
/// Reads of one request (`get` of several keys): one that is missing is put there after all of them.
const BATCH: usize = 16;
/// Requests before those that count, and those.
const BEFORE: usize = 50_000 / BATCH;
const COUNTED: usize = 80_000 / BATCH;

/// A connection to a node.
struct Client {
    to: TcpStream,
    from: BufReader<TcpStream>,
}

impl Client {
    fn of(node: &Process) -> Self {
        let to = TcpStream::connect(node.at()).unwrap();
        to.set_nodelay(true).unwrap();
        Self { from: BufReader::new(to.try_clone().unwrap()), to }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line
    }

    /// Whether each of these keys has an item.
    fn get(&mut self, keys: &[String]) -> Vec<bool> {
        self.to.write_all(format!("get {}\r\n", keys.join(" ")).as_bytes()).unwrap();
        let (mut found, mut value) = (HashSet::new(), vec![0; VALUE_BYTES + 2]);
        loop {
            let line = self.line();
            let Some(item) = line.strip_prefix("VALUE ") else {
                assert_eq!(line, "END\r\n");
                return keys.iter().map(|key| found.contains(key)).collect();
            };
            found.extend(item.split(' ').next().map(str::to_owned));
            self.from.read_exact(&mut value).unwrap();
        }
    }

    /// Puts an item under each of them.
    fn set<'k>(&mut self, keys: impl Iterator<Item = &'k String>) {
        let (mut request, value) = (String::new(), "x".repeat(VALUE_BYTES));
        for key in keys {
            write!(request, "set {key} 0 0 {VALUE_BYTES} noreply\r\n{value}\r\n").unwrap();
        }
        self.to.write_all(request.as_bytes()).unwrap();
    }

    /// Items that it holds.
    fn items(&mut self) -> f64 {
        self.to.write_all(b"stats\r\n").unwrap();
        let mut items = None;
        loop {
            let line = self.line();
            if let Some(count) = line.strip_prefix("STAT curr_items ") {
                items = count.trim().parse().ok();
            } else if line == "END\r\n" {
                return items.unwrap();
            }
        }
    }
}

fn key(record: u64, definition: &Definition) -> String {
    let mut key = String::new();
    write_key(record, definition.keys, &mut key);
    key
}

/// Share of the reads that a memcached of so many MiB answers once it is as full as it gets, and the items in it.
fn fed(definition: &Definition, network: u8, mib: u8) -> (f64, f64) {
    let node = NodeOfCache {
        address: Ipv4Addr::new(127, 0, network, mib),
        memory_bytes: u64::from(mib) << 20,
        cpus: 1.0,
        launch_prefix: Vec::new(),
    };
    let account = Account::of_this_machine().unwrap();
    let mut process = Process::start(&node, account.as_ref()).expect("scripts/setup.sh --tests installs memcached");
    process.wait_ready().unwrap();
    let mut client = Client::of(&process);
    // Full from the start: the records of a hot set are the first ones, and are put there last.
    let all: Vec<String> = (0..RECORDS).rev().map(|record| key(record, definition)).collect();
    all.chunks(BATCH).for_each(|keys| client.set(keys.iter()));
    let inserts = Arc::new(InsertSequence::starting_at(RECORDS));
    let mut operations = Generator::new(definition, FIELDS, RECORDS, inserts, 36);
    let mut hits = 0_usize;
    for request in 0..BEFORE + COUNTED {
        let keys: Vec<String> = (0..BATCH).map(|_| key(operations.next_operation().record, definition)).collect();
        let found = client.get(&keys);
        client.set(keys.iter().zip(&found).filter(|(_, found)| !**found).map(|(key, _)| key));
        if request >= BEFORE {
            hits += found.into_iter().filter(|found| *found).count();
        }
    }
    (hits as f64 / (COUNTED * BATCH) as f64, client.items())
}

/// Three sizes, predicted and measured.
fn agrees(distribution: Distribution, network: u8) {
    let definition = Definition::new("w", Mix { read: 1.0, ..Mix::default() }, distribution);
    let item = Item::of(key(0, &definition).len() as u64, VALUE_BYTES as u64).unwrap();
    let sizes = SIZES.map(|(mib, _)| item.in_memory(f64::from(u32::from(mib) << 20)));
    let rules = Rules { policy: Policy::Aside, ttl_operations: None };
    let points = hit_ratios(&definition, RECORDS, &rules, &sizes).unwrap();
    for ((mib, more), point) in SIZES.into_iter().zip(points) {
        let (measured, items) = fed(&definition, network, mib);
        println!(
            "{distribution}, {mib} MiB, {:.0} % of the records: predicted {:.4} +- {:.4}, measured {measured:.4}",
            point.share_of_records * 100.0,
            point.hit_ratio,
            point.half_width
        );
        // Pages, chunks and what an item takes beside its value are as memcached has them.
        assert!((items / point.items - 1.0).abs() < 0.01, "{items} items of {}", point.items);
        let above = measured - point.hit_ratio;
        assert!((-TOO_MUCH..=more).contains(&above), "{distribution}, {mib} MiB: {measured} of {point:?}");
    }
}

#[test]
fn popular_records_are_found_as_often_as_predicted() {
    agrees(Distribution::Zipfian { constant: 0.99 }, 246);
}

#[test]
fn a_hot_set_is_found_as_often_as_predicted() {
    agrees(Distribution::Hotspot { data_fraction: 0.2, operation_fraction: 0.8 }, 245);
}
