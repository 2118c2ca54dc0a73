//! A real memcached in front of a database that says what it was asked.

mod hit_ratio;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use database::memcached::{Cached, CachedDriver, CachesAt, NodeOfCache, Process, StatsReader};
use database::{Account, MetricsReader};
use engine::{CacheAnswer, Connect, Driver, ErrorKind, Load, Part, Stamp, TrialPlan};
use evidence::{OperationKind, Series};
use experiment::CachePolicy;
use reported::memcached::{EVICTIONS, HITS, ITEMS, MISSES, SETS};
use workload::{Definition, Distribution, Mix};

use crate::shared;

/// Records of two fields, and the keys that were read.
#[derive(Default)]
struct Records {
    fields: BTreeMap<String, [String; 2]>,
    fetched: Vec<String>,
    /// Writes fail, though they may have been done.
    fails: bool,
}

#[derive(Clone, Default)]
struct Database(Arc<Mutex<Records>>);

impl Database {
    fn with(record: &str, fields: [&str; 2]) -> Self {
        let database = Self::default();
        database.records().fields.insert(record.to_owned(), fields.map(str::to_owned));
        database
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap()
    }

    fn fetched(&self) -> usize {
        self.records().fetched.len()
    }
}

impl Connect for Database {
    type Driver = Self;

    async fn connect(&self) -> Result<Self, String> {
        Ok(self.clone())
    }
}

impl Driver for Database {
    type Own = ();

    async fn read(&self, _: &str, _: Option<u32>) -> Result<(), ErrorKind> {
        panic!("a record that is to be put into a cache is fetched");
    }

    async fn update(&self, key: &str, fields: &[(u32, &str)]) -> Result<(), ErrorKind> {
        let mut records = self.records();
        let record = records.fields.get_mut(key).ok_or(ErrorKind::NotFound)?;
        for (field, value) in fields {
            record[*field as usize] = (*value).to_owned();
        }
        if records.fails { Err(ErrorKind::WriteTimeout) } else { Ok(()) }
    }

    async fn insert(&self, key: &str, values: &[&str]) -> Result<(), ErrorKind> {
        let values = [values[0].to_owned(), values[1].to_owned()];
        self.records().fields.insert(key.to_owned(), values);
        Ok(())
    }

    async fn scan(&self, _: &str, _: u32) -> Result<(), ErrorKind> {
        Ok(())
    }

    async fn prepare_stamped(&mut self) -> Result<(), String> {
        Ok(())
    }

    async fn update_stamped(&self, key: &str, fields: &[(u32, &str)], stamp: &Stamp) -> Result<(), ErrorKind> {
        for (field, value) in fields {
            let text = format!("{}{value}", stamp.tag());
            self.update(key, &[(*field, text.as_str())]).await?;
        }
        Ok(())
    }

    async fn insert_stamped(&self, key: &str, values: &[&str], _: &Stamp) -> Result<(), ErrorKind> {
        self.insert(key, values).await
    }

    async fn fetch(&self, key: &str) -> Result<Option<Vec<Option<String>>>, ErrorKind> {
        let mut records = self.records();
        records.fetched.push(key.to_owned());
        let found = records.fields.get(key).cloned();
        Ok(found.map(|fields| fields.into_iter().map(Some).collect()))
    }
}

/// Nodes at addresses that no other test has.
fn nodes(network: u8, count: u8) -> Vec<Process> {
    (1..=count).map(|host| node(Ipv4Addr::new(127, 0, network, host))).collect()
}

fn node(address: Ipv4Addr) -> Process {
    shared::enter_own_network();
    let account = Account::of_this_machine().unwrap();
    let node = NodeOfCache { address, memory_bytes: 8 << 20, cpus: 1.0, launch_prefix: Vec::new(), oom_kills: None };
    let mut process = Process::start(&node, account.as_ref()).expect("scripts/setup.sh --tests installs memcached");
    process.wait_ready().unwrap();
    process
}

fn addresses(nodes: &[Process]) -> Vec<String> {
    nodes.iter().map(|node| node.at().to_string()).collect()
}

fn at(nodes: &[Process], policy: CachePolicy, ttl_s: Option<u32>) -> CachesAt {
    CachesAt { nodes: addresses(nodes), ttl_s, policy, fields: 2 }
}

/// What comes of a driver of this database behind these caches.
fn with<R>(
    database: &Database,
    at: CachesAt,
    story: impl AsyncFnOnce(CachedDriver<Database>) -> R,
) -> (R, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let connect = Cached::new(database.clone(), Some(at));
    let result = runtime.block_on(async { story(connect.connect().await.unwrap()).await });
    (result, connect.notes())
}

const HIT: Result<Option<CacheAnswer>, ErrorKind> = Ok(Some(CacheAnswer::Hit));
const STALE: Result<Option<CacheAnswer>, ErrorKind> = Ok(Some(CacheAnswer::Stale));
const MISS: Result<Option<CacheAnswer>, ErrorKind> = Ok(Some(CacheAnswer::Miss));
const UNANSWERED: Result<Option<CacheAnswer>, ErrorKind> = Ok(Some(CacheAnswer::Unanswered));

#[test]
fn a_record_is_read_from_the_database_once_and_a_written_one_as_the_policy_says() {
    let nodes = nodes(251, 2);
    let policies = [
        (CachePolicy::Aside, "a", STALE, 1),
        (CachePolicy::Invalidate, "b", MISS, 2),
        (CachePolicy::WriteThrough, "c", HIT, 1),
    ];
    for (policy, key, after_write, fetched) in policies {
        let database = Database::with(key, ["one", "two"]);
        let story = async |driver: CachedDriver<Database>| {
            assert_eq!(driver.read_cached(key, None).await, MISS);
            assert_eq!(driver.read_cached(key, Some(1)).await, HIT);
            driver.update(key, &[(1, "new")]).await.unwrap();
            assert_eq!(driver.read_cached(key, None).await, after_write, "{policy:?}");
            assert_eq!(driver.read_cached("nobody", None).await, Err(ErrorKind::NotFound));
            // One that was inserted is there at once where writes go through.
            driver.insert(&format!("{key}2"), &["three", "four"]).await.unwrap();
            let through = if policy == CachePolicy::WriteThrough { HIT } else { MISS };
            assert_eq!(driver.read_cached(&format!("{key}2"), None).await, through, "{policy:?}");
        };
        let ((), notes) = with(&database, at(&nodes, policy, None), story);
        assert_eq!(notes.len(), 1, "nothing but what is always said: {notes:?}");
        let of_key = database.records().fetched.iter().filter(|fetched| *fetched == key).count();
        assert_eq!(of_key, fetched, "{policy:?}");
    }
}

#[test]
fn a_write_that_failed_leaves_no_copy_since_it_may_have_been_done() {
    let nodes = nodes(252, 1);
    let database = Database::with("a", ["one", "two"]);
    database.records().fails = true;
    let story = async |driver: CachedDriver<Database>| {
        assert_eq!(driver.read_cached("a", None).await, MISS);
        assert_eq!(driver.update("a", &[(0, "new")]).await, Err(ErrorKind::WriteTimeout));
        driver.read_cached("a", None).await
    };
    assert_eq!(with(&database, at(&nodes, CachePolicy::WriteThrough, None), story).0, MISS);
    assert_eq!(database.fetched(), 2);
}

#[test]
fn a_record_is_gone_after_its_time_to_live() {
    let nodes = nodes(253, 1);
    let database = Database::with("a", ["one", "two"]);
    let story = async |driver: CachedDriver<Database>| {
        assert_eq!(driver.read_cached("a", None).await, MISS);
        assert_eq!(driver.read_cached("a", None).await, HIT);
        // memcached counts whole seconds.
        tokio::time::sleep(Duration::from_millis(2_200)).await;
        driver.read_cached("a", None).await
    };
    assert_eq!(with(&database, at(&nodes, CachePolicy::Aside, Some(1)), story).0, MISS);
}

/// Whoever had the address before would answer, with records of somebody else.
#[test]
fn another_process_at_the_address_is_not_taken_for_the_node() {
    let first = nodes(248, 1);
    let account = Account::of_this_machine().unwrap();
    let node = NodeOfCache {
        address: *first[0].at().ip(),
        memory_bytes: 8 << 20,
        cpus: 1.0,
        launch_prefix: Vec::new(),
        oom_kills: None,
    };
    let mut second = Process::start(&node, account.as_ref()).unwrap();
    let error = second.wait_ready().unwrap_err().to_string();
    assert!(error.contains(" ended (") && error.contains("failed to listen"), "{error}");
}

/// Whoever takes it over has what its process has.
#[test]
fn a_node_has_no_rights_of_root() {
    let Some(account) = Account::of_this_machine().unwrap() else {
        println!("skipped: only root has another user to start it as");
        return;
    };
    crate::shared::has_no_rights(nodes(242, 1)[0].pid(), account.uid());
}

/// Each request of a client has a connection of its own, and memcached takes 1,024 where nothing else is stated.
#[test]
fn a_node_takes_as_many_connections_as_the_system_lets_it_have() {
    let nodes = nodes(247, 1);
    let mut connection = TcpStream::connect(nodes[0].at()).unwrap();
    connection.write_all(b"stats\r\n").unwrap();
    let stats = BufReader::new(connection).lines().map(Result::unwrap).take_while(|line| line != "END");
    let stats: Vec<String> = stats.collect();
    let most = stats.iter().find_map(|line| line.strip_prefix("STAT max_connections ")?.parse::<u64>().ok()).unwrap();
    let allowed = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum.unwrap_or(u64::MAX);
    assert_eq!(most, allowed.min(65_536), "{stats:?}");
}

/// No acknowledged write waits for a cache, and none is lost with it.
#[test]
fn a_node_that_is_lost_costs_its_hits_and_no_answer() {
    let mut nodes = nodes(254, 1);
    let caches = at(&nodes, CachePolicy::Invalidate, None);
    let database = Database::with("a", ["one", "two"]);
    let lost = nodes.pop();
    let story = async move |driver: CachedDriver<Database>| {
        assert_eq!(driver.read_cached("a", None).await, MISS);
        assert_eq!(driver.read_cached("a", None).await, HIT);
        drop(lost);
        assert_eq!(driver.read_cached("a", None).await, UNANSWERED);
        driver.update("a", &[(0, "new")]).await.unwrap();
        assert_eq!(driver.read_cached("a", None).await, UNANSWERED);
    };
    let ((), notes) = with(&database, caches, story);
    assert_eq!(database.records().fields["a"][0], "new");
    let note = "writes whose copy in a cache was neither replaced nor deleted, since its node was lost or too slow, \
                warm-up included: 1";
    assert_eq!(notes[1..], [note]);
}

/// What it held is gone, and the database is asked for it once more: that is the storm.
#[test]
fn a_node_that_comes_back_is_empty_and_is_asked_again() {
    let mut nodes = nodes(243, 1);
    let caches = at(&nodes, CachePolicy::Aside, None);
    let database = Database::with("a", ["one", "two"]);
    let lost = nodes.pop();
    let story = async move |driver: CachedDriver<Database>| {
        assert_eq!(driver.read_cached("a", None).await, MISS);
        assert_eq!(driver.read_cached("a", None).await, HIT);
        let address = lost.as_ref().map(|node| *node.at().ip()).unwrap();
        drop(lost);
        assert_eq!(driver.read_cached("a", None).await, UNANSWERED, "its connection is broken");
        assert_eq!(driver.read_cached("a", None).await, UNANSWERED, "nobody is there to connect to");
        // Outside of this runtime: who answers there is asked in one of its own.
        let again = std::thread::spawn(move || node(address)).join().unwrap();
        // One that could not be connected to is left alone for a second.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        assert_eq!(driver.read_cached("a", None).await, MISS);
        assert_eq!(driver.read_cached("a", None).await, HIT);
        drop(again);
    };
    with(&database, caches, story);
    assert_eq!(database.fetched(), 4);
}

/// Where a fault is planned, writes carry their stamp, and are looked for in the database afterwards.
#[test]
fn a_stamped_write_is_treated_as_any_other_and_its_copy_is_what_the_database_has() {
    let nodes = nodes(244, 1);
    let stamp = Stamp::now(1);
    let written = format!("{}new", stamp.tag());
    let policies =
        [(CachePolicy::Aside, "a", STALE), (CachePolicy::Invalidate, "b", MISS), (CachePolicy::WriteThrough, "c", HIT)];
    for (policy, key, after_write) in policies {
        let database = Database::with(key, ["one", "two"]);
        let story = async |driver: CachedDriver<Database>| {
            assert_eq!(driver.read_cached(key, None).await, MISS);
            driver.update_stamped(key, &[(1, "new")], &stamp).await.unwrap();
            assert_eq!(driver.read_cached(key, None).await, after_write, "{policy:?}");
            let found = driver.fetch(key).await.unwrap().unwrap();
            assert_eq!(found, [Some("one".to_owned()), Some(written.clone())], "{policy:?}");
        };
        with(&database, at(&nodes, policy, None), story);
    }
    let mut connection = TcpStream::connect(nodes[0].at()).unwrap();
    connection.write_all(b"get c\r\n").unwrap();
    let lines = BufReader::new(connection).split(b'\n').map(Result::unwrap).take_while(|line| line != b"END\r");
    let item = lines.collect::<Vec<Vec<u8>>>().concat();
    let item = String::from_utf8_lossy(&item);
    assert!(item.contains(&written), "{item}");
}

#[test]
fn nodes_report_what_they_were_asked_and_nothing_once_one_is_lost() {
    let mut nodes = nodes(250, 2);
    let keys: Vec<String> = (0..100).map(|n| format!("user{n}")).collect();
    let database = Database::default();
    for key in &keys {
        database.records().fields.insert(key.clone(), ["one".to_owned(), "two".to_owned()]);
    }
    let story = async |driver: CachedDriver<Database>| {
        for key in keys.iter().chain(&keys) {
            driver.read(key, None).await.unwrap();
        }
    };
    with(&database, at(&nodes, CachePolicy::Aside, None), story);
    assert_eq!(database.fetched(), 100);
    let mut reader = StatsReader::new(&addresses(&nodes)).unwrap();
    let reported = reader.read();
    let counts = [&HITS, &MISSES, &SETS, &ITEMS, &EVICTIONS].map(|series| reported.get(series).unwrap());
    assert_eq!(counts, [100.0, 100.0, 100.0, 100.0, 0.0]);
    nodes.pop();
    assert!(reader.read().is_empty(), "missing is not zero");
}

#[test]
fn reads_of_a_trial_are_counted_by_how_the_caches_answered_them() {
    let nodes = nodes(249, 2);
    let definition = Definition::new("reads", Mix { read: 1.0, ..Mix::default() }, Distribution::Uniform);
    let database = Database::default();
    for record in 0..50 {
        let mut key = String::new();
        workload::write_key(record, definition.keys, &mut key);
        database.records().fields.insert(key, ["one".to_owned(), "two".to_owned()]);
    }
    let plan = TrialPlan {
        definition,
        fields: 2,
        field_length: 3,
        compressibility: 0.0,
        records: 50,
        load: Load::Closed { concurrency: 8 },
        warmup: Duration::ZERO,
        duration: Duration::from_secs(20),
        operations: Some(2_000),
        threads: 2,
        seed: 7,
        first_insert: 50,
        part: Part::WHOLE,
        check_writes: false,
        begin: None,
    };
    let connect = Cached::new(database.clone(), Some(at(&nodes, CachePolicy::Aside, None)));
    let outcome = engine::run_trial(&connect, &plan, &mut |_| {}, &false.into()).unwrap();
    let counted = |series| {
        let intervals = outcome.intervals.iter().filter(|interval| interval.series == series);
        intervals.map(|interval| interval.histogram.len()).sum::<u64>()
    };
    let [hits, misses] = [CacheAnswer::Hit, CacheAnswer::Miss].map(|answer| counted(Series::Cache(answer)));
    assert_eq!((hits + misses, counted(Series::Response(OperationKind::Read))), (2_000, 2_000));
    assert_eq!(misses, database.fetched() as u64);
    // Each record once, and again where several ask for it before it is there.
    assert!((50..200).contains(&misses), "{misses}");
}
