//! Predicted hit ratios against a real memcached that is fed with a workload's own keys, and with items as large as a
//! run's client puts there.
//!
//! memcached has three sizes: it holds 18, 36 and 72 % of the records, each in whole pages of 1 MiB of one class of
//! chunks, which is why records are of 2,000 bytes: 451 to a page. Before reads are counted each record is asked for
//! six times in the mean, as in the model: segments take that long to settle, and the hit ratio of zipfian keys rises
//! by more than a point meanwhile.
//!
//! How old an item may grow is counted in whole seconds, so that it depends on the pace of the test, by which it
//! predicts. Keys are the same each time, and memcached decides by their order. A busy machine changes the pace, lets
//! it be uneven, and has the maintainer come late. Simulated, half of the time at four times the pace of the other half
//! changes a hit ratio by 0.1 points, and a maintainer that comes by once in 500 reads changes it by 0.1. Measured on a
//! busy machine (memcached 1.6.18, 27 November 2026) and simulated under the same keys at the same pace: at 18 % of the
//! records 2.87 points more than a plain LRU (simulated 2.97; zipfian keys, 250,000 reads/s), 2.49 (2.62; hot set,
//! 116,000); at 36 % of a hot set 0.66 (0.67; 4,000). With the error of the prediction, which is printed, and 0.2
//! points of chance in what is counted, one point is enough for a quiet machine and for a busy one.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use database::Account;
use database::memcached::{NodeOfCache, Process};
use miss_ratio::{Item, Point, Policy, Rules, hit_ratios};
use workload::{Definition, Distribution, Generator, InsertSequence, Mix, write_key};

use crate::shared;

const RECORDS: u64 = 20_000;
const FIELDS: u32 = 10;
/// Fields of 200 bytes, and what the client of a run stores beside them: 8 bytes, and 4 for each field.
const VALUE_BYTES: usize = 2_000 + 8 + 4 * 10;
/// memcached's memory (`-m`), MiB.
const SIZES: [u8; 3] = [8, 16, 32];
/// How far what is measured may be from the prediction. On a quiet machine that is 0.009 at most; beside compilers
/// memcached's maintainer, which moves items between the segments, comes late, and 0.0104 was seen.
const APART: f64 = 0.015;
/// So many memcacheds are fed at the most until one holds what it has room for: on a busy machine one held 6,477 items
/// instead of 7,216 at the end (2026-11-28, once; why is not known).
const TIMES: usize = 3;
/// Reads of one request (`get` of several keys): one that is missing is put there after all of them.
const BATCH: usize = 16;
/// Requests before those that count, and those.
const BEFORE: usize = 120_000 / BATCH;
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

/// What a memcached did.
struct Fed {
    /// Share of the reads that it answered once it was as full as it gets.
    hit_ratio: f64,
    /// In it at the end.
    items: f64,
    /// Reads per second.
    pace: f64,
}

/// A memcached of so many MiB, fed with a workload.
fn fed(definition: &Definition, network: u8, mib: u8) -> Fed {
    shared::enter_own_network();
    let node = NodeOfCache {
        address: Ipv4Addr::new(127, 0, network, mib),
        memory_bytes: u64::from(mib) << 20,
        cpus: 1.0,
        launch_prefix: Vec::new(),
        oom_kills: None,
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
    let begun = Instant::now();
    for request in 0..BEFORE + COUNTED {
        let keys: Vec<String> = (0..BATCH).map(|_| key(operations.next_operation().record, definition)).collect();
        let found = client.get(&keys);
        client.set(keys.iter().zip(&found).filter(|(_, found)| !**found).map(|(key, _)| key));
        if request >= BEFORE {
            hits += found.into_iter().filter(|found| *found).count();
        }
    }
    let pace = ((BEFORE + COUNTED) * BATCH) as f64 / begun.elapsed().as_secs_f64();
    Fed { hit_ratio: hits as f64 / (COUNTED * BATCH) as f64, items: client.items(), pace }
}

/// Three sizes, predicted and measured.
fn agrees(distribution: Distribution, network: u8) {
    let definition = Definition::new("w", Mix { read: 1.0, ..Mix::default() }, distribution);
    let item = Item::of_record(key(0, &definition).len() as u64, FIELDS, 2_000).unwrap();
    for mib in SIZES {
        let size = item.in_memory(f64::from(u32::from(mib) << 20));
        let tried = std::iter::repeat_with(|| {
            let fed = fed(&definition, network, mib);
            let rules = Rules { policy: Policy::Aside, ttl_operations: None, operations_per_s: Some(fed.pace) };
            let point = hit_ratios(&definition, RECORDS, &rules, &[size]).unwrap()[0];
            (fed, point)
        });
        // Pages, chunks and what an item takes beside its value are as memcached has them.
        let holds = |(fed, point): &(Fed, Point)| (fed.items / point.items - 1.0).abs() < 0.01;
        let (fed, point) = tried.take(TIMES).find(holds).expect("as many items as its memory has chunks");
        println!(
            "{distribution}, {mib} MiB, {:.0} % of the records, {:.0}/s: predicted {:.4} +- {:.4}, measured {:.4}",
            point.share_of_records * 100.0,
            fed.pace,
            point.hit_ratio,
            point.half_width,
            fed.hit_ratio
        );
        let apart = fed.hit_ratio - point.hit_ratio;
        assert!(apart.abs() <= APART, "{distribution}, {mib} MiB: {} of {point:?}", fed.hit_ratio);
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
