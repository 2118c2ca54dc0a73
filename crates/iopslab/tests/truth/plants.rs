//! Planted clusters: counters of nodes and devices that somebody has made request by request, who knows nothing of how
//! they are judged. What `iopslab profile` says of them has to be what was planted.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use catalog::{Basis, Catalog};
use profile::{
    CacheCounts, Cluster, DeviceCounters, HostSeen, Moment, NodeReading, NodeSeen, Observation, Operations, Profile,
    TableName, TableReading, TableSchema, judge,
};

use crate::rates::seeds;

/// Twelve minutes, of which the middle ones are the busiest.
const SECONDS: u32 = 720;
/// Bytes of a read of the device.
const BLOCK: f64 = 16_384.0;
/// Bytes that are written at once when a memtable is.
const EXTENT: f64 = 262_144.0;
/// Between two readings of the counters of a node.
const READ_EVERY_S: u32 = 60;
const CACHE: &str = "chunks";

/// The same numbers for the same seed (xorshift64*, Vigna 2016).
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + self.unit() * (most - least)
    }

    /// How many of what happens `mean` times as a rule.
    fn count(&mut self, mean: f64) -> f64 {
        if mean < 30.0 {
            let (end, mut product, mut events) = ((-mean).exp(), self.unit(), 0.0);
            while product > end {
                product *= self.unit();
                events += 1.0;
            }
            return events;
        }
        // Twelve of them have a variance of 1.
        let normal: f64 = (0..12).map(|_| self.unit()).sum::<f64>() - 6.0;
        (mean + mean.sqrt() * normal).round().max(0.0)
    }
}

/// What is planted.
#[derive(Debug)]
struct Plant {
    nodes: u32,
    /// Replicas of a row, and how many of them a read asks.
    copies: f64,
    asked: f64,
    /// Shares of all operations.
    reads: f64,
    scans: f64,
    /// Share of the second table.
    second: f64,
    /// Operations of clients in a second, in the mean of a quiet minute.
    per_s: f64,
    /// Share of a replica's reads that its cache answers.
    hits: f64,
    /// Requests of the device for each other one.
    per_miss: f64,
    row_bytes: f64,
    /// A node starts again in the midst of it.
    restarts: bool,
    /// Samples of a host are missing for some seconds.
    has_gap: bool,
}

impl Plant {
    fn of(number: u64) -> Self {
        let mut dice = Dice(number * 7_919 + 17);
        let nodes = 1 + (dice.unit() * 6.0) as u32;
        let copies = f64::from(nodes.min(3));
        let reads = dice.between(0.05, 0.9);
        Self {
            nodes,
            copies,
            asked: if dice.unit() < 0.5 { 1.0 } else { (copies / 2.0).floor() + 1.0 },
            reads,
            scans: if number.is_multiple_of(3) { 0.05 } else { 0.0 },
            second: dice.between(0.05, 0.5),
            per_s: dice.between(300.0, 3_000.0),
            hits: dice.between(0.3, 0.97),
            per_miss: dice.between(1.0, 2.0),
            row_bytes: dice.between(200.0, 4_000.0),
            restarts: nodes > 1 && number.is_multiple_of(2),
            has_gap: number % 4 == 1,
        }
    }
}

/// What has happened in all.
#[derive(Debug, Default)]
struct Happened {
    clients: [Operations; 2],
    /// By minute: requests of all devices, and operations of clients.
    minutes: BTreeMap<u32, (f64, f64)>,
    /// By node.
    caches: Vec<CacheCounts>,
}

impl Happened {
    fn all(&self) -> Operations {
        self.clients[0].plus(self.clients[1])
    }

    fn add(&mut self, second: u32, device_requests: f64, operations: f64) {
        let minute = self.minutes.entry((second - 1) / READ_EVERY_S).or_default();
        *minute = (minute.0 + device_requests, minute.1 + operations);
    }

    /// In the minute with the most operations, as a profile has them.
    fn device_requests_per_operation(&self) -> f64 {
        let busiest = self.minutes.values().max_by(|a, b| a.1.total_cmp(&b.1));
        busiest.map(|(requests, operations)| requests / operations).unwrap()
    }
}

/// A node with its host.
struct Node {
    generation: i64,
    clients: [Operations; 2],
    replicas: [Operations; 2],
    cache: CacheCounts,
    device: [f64; 4],
    unwritten: f64,
    readings: Vec<NodeReading>,
    samples: Vec<Moment>,
}

impl Node {
    /// It has run for a while: what it has counted before says nothing of now.
    fn new(number: u32) -> Self {
        let before = Operations { reads: 1e7 + f64::from(number), scans: 1e4, writes: 3e7 };
        Self {
            generation: 1,
            clients: [before; 2],
            replicas: [before; 2],
            cache: CacheCounts { requests: 5e7, hits: 1e7 },
            device: [1e8, 1e12, 1e8, 1e12],
            unwritten: 0.0,
            readings: Vec::new(),
            samples: Vec::new(),
        }
    }

    fn start_again(&mut self) {
        self.generation += 1;
        (self.clients, self.replicas) = ([Operations::default(); 2], [Operations::default(); 2]);
        self.cache = CacheCounts::default();
    }

    fn read(&mut self, second: u32) {
        let tables = [0, 1].map(|table| {
            let (clients, replicas) = (Some(self.clients[table]), Some(self.replicas[table]));
            (name(table), TableReading { clients, replicas, ..TableReading::default() })
        });
        self.readings.push(NodeReading {
            at_s: f64::from(second),
            generation: Some(self.generation),
            tables: tables.into(),
            caches: BTreeMap::from([(CACHE.to_owned(), self.cache)]),
            ..NodeReading::default()
        });
    }

    fn sample(&mut self, second: u32) {
        let [reads, read_bytes, writes, write_bytes] = self.device.map(Some);
        let data = DeviceCounters { reads, read_bytes, writes, write_bytes, ..DeviceCounters::default() };
        let unix_ms = 1_795_000_000_000 + i64::from(second) * 1_000;
        self.samples.push(Moment { unix_ms, data: Some(data), ..Moment::default() });
    }

    /// Requests of its device.
    fn use_device(&mut self, reads: f64, writes: f64, write_bytes: f64) {
        let more = [reads, reads * BLOCK, writes, write_bytes];
        self.device.iter_mut().zip(more).for_each(|(count, more)| *count += more);
    }
}

fn name(table: usize) -> TableName {
    TableName { keyspace: "shop".to_owned(), table: ["carts", "stock"][table].to_owned() }
}

/// Lets clients ask for twelve minutes.
fn grown(plant: &Plant, number: u64) -> (Observation, Happened) {
    let mut dice = Dice(number * 104_729 + 3);
    let mut nodes: Vec<Node> = (0..plant.nodes).map(Node::new).collect();
    let mut happened = Happened { caches: vec![CacheCounts::default(); nodes.len()], ..Happened::default() };
    nodes.iter_mut().for_each(|node| {
        node.read(0);
        node.sample(0);
    });
    for second in 1..=SECONDS {
        let load = plant.per_s * (1.0 - 0.25 * (TAU * f64::from(second) / f64::from(SECONDS)).cos());
        for (table, share) in [1.0 - plant.second, plant.second].into_iter().enumerate() {
            let (mut asked, mut requests) = (Operations::default(), 0.0);
            for coordinator in &mut nodes {
                let each = load * share / f64::from(plant.nodes);
                let more = Operations {
                    reads: dice.count(each * plant.reads),
                    scans: dice.count(each * plant.scans),
                    writes: dice.count(each * (1.0 - plant.reads - plant.scans)),
                };
                coordinator.clients[table] = coordinator.clients[table].plus(more);
                asked = asked.plus(more);
            }
            happened.clients[table] = happened.clients[table].plus(asked);
            for (replica, cache) in nodes.iter_mut().zip(&mut happened.caches) {
                let part = 1.0 / f64::from(plant.nodes);
                let more = Operations {
                    reads: dice.count(asked.reads * plant.asked * part),
                    scans: dice.count(asked.scans * part),
                    writes: dice.count(asked.writes * plant.copies * part),
                };
                replica.replicas[table] = replica.replicas[table].plus(more);
                let misses = dice.count(more.reads * (1.0 - plant.hits)).min(more.reads);
                for counts in [&mut replica.cache, cache] {
                    counts.requests += more.reads;
                    counts.hits += more.reads - misses;
                }
                let device_reads = dice.count(misses * plant.per_miss) + more.scans * 4.0;
                replica.use_device(device_reads, 0.0, 0.0);
                replica.unwritten += more.writes * plant.row_bytes;
                requests += device_reads;
            }
            happened.add(second, requests, asked.total());
        }
        for (place, node) in nodes.iter_mut().enumerate() {
            // The commit log is synced all the time, memtables are written now and then.
            let mut writes = (5.0, 5.0 * BLOCK);
            if (second as usize + place * 7).is_multiple_of(20) {
                writes = (writes.0 + (node.unwritten / EXTENT).ceil(), writes.1 + node.unwritten);
                node.unwritten = 0.0;
            }
            node.use_device(0.0, writes.0, writes.1);
            happened.add(second, writes.0, 0.0);
            if plant.restarts && place == 1 && second == 400 {
                node.start_again();
            }
            if !(plant.has_gap && place == 0 && (300..320).contains(&second)) {
                node.sample(second);
            }
            if second % READ_EVERY_S == 0 {
                node.read(second);
            }
        }
    }
    (observed(nodes), happened)
}

fn observed(nodes: Vec<Node>) -> Observation {
    let schema = |table| TableSchema {
        name: name(table),
        partition_key: 1,
        key: vec!["k".to_owned()],
        columns: 4,
        ..TableSchema::default()
    };
    let cluster = Cluster {
        name: "planted".to_owned(),
        version: "5.0.9".to_owned(),
        nodes: nodes.len() as u32,
        tables: vec![schema(0), schema(1)],
        ..Cluster::default()
    };
    let (mut seen, mut hosts) = (Vec::new(), Vec::new());
    for (number, node) in nodes.into_iter().enumerate() {
        seen.push(NodeSeen { node: format!("10.0.0.{number}"), readings: node.readings, not_read: Vec::new() });
        hosts.push(HostSeen {
            host: format!("db{number}"),
            what: "process 42 (java), data on nvme1n1".to_owned(),
            missing: Vec::new(),
            cpus: 8.0,
            memory_bytes: 64 << 30,
            samples: node.samples,
            agent_cpu: None,
        });
    }
    Observation { cluster, nodes: seen, hosts, today: None, log: None, seconds: f64::from(SECONDS), ended_early: false }
}

/// How far what is said of a plant is from what was planted: points of the share of reads, of the second table and of
/// the cache's hits, and the share by which I/O per operation differs.
fn errors(happened: &Happened, profile: &Profile) -> [f64; 4] {
    let clients = profile.workload.clients.unwrap();
    let mix = clients.mean.read_share().unwrap() - happened.all().read_share().unwrap();
    let of_table = |table: usize| {
        let mut tables = profile.workload.tables.iter();
        tables.find(|of| of.schema.name == name(table)).and_then(|of| of.clients).unwrap().total()
    };
    let second = of_table(1) / (of_table(0) + of_table(1));
    let second = second - happened.clients[1].total() / happened.all().total();
    // In the busiest minute, on all nodes together.
    let device: f64 = profile.devices.iter().map(|device| device.busiest_minute.both.iops).sum();
    let per_operation = device / clients.busiest.total();
    let planted = happened.device_requests_per_operation();
    let nodes = profile.workload.nodes.iter().zip(&happened.caches);
    let hits = nodes.map(|(node, planted)| (node.cache_hits[CACHE] - planted.hits / planted.requests).abs());
    let hits = hits.reduce(f64::max).unwrap();
    [mix.abs() * 100.0, second.abs() * 100.0, hits * 100.0, (per_operation / planted - 1.0).abs()]
}

#[test]
fn a_profile_says_what_was_planted() {
    let plants = seeds(10, 100);
    let mut worst = [0.0_f64; 4];
    for number in 0..plants {
        let plant = Plant::of(number);
        let (observation, happened) = grown(&plant, number);
        let profile = judge(Catalog::built_in(), &Basis::default(), &observation);
        let errors = errors(&happened, &profile);
        let [mix, second, hits, per_operation] = errors;
        let case = format!("{number}: {plant:?}: {errors:?}");
        assert!(mix <= 2.0 && second <= 2.0, "{case}");
        assert!(hits <= 3.0, "{case}");
        assert!(per_operation <= 0.10, "{case}");
        let left_out: u32 = profile.workload.nodes.iter().map(|node| node.left_out).sum();
        assert_eq!(left_out, u32::from(plant.restarts), "{case}");
        let gaps: u32 = profile.devices.iter().map(|device| device.gaps).sum();
        assert_eq!(gaps, u32::from(plant.has_gap), "{case}");
        worst.iter_mut().zip(errors).for_each(|(worst, error)| *worst = worst.max(error));
    }
    let [mix, second, hits, per_operation] = worst;
    println!(
        "| profiles of {plants} planted clusters of 1 to 6 nodes and two tables, 12 minutes each | largest errors: \
         share of reads {mix:.2} points, of a table {second:.2} points, cache hits {hits:.2} points, I/O per operation \
         {:.1} % |",
        per_operation * 100.0
    );
}
