//! What every product owes: one set of stories, which each of them passes with a real server, through the seams alone.
//!
//! They start databases and fetch their software, one after the other: `cargo test -p database --test products`. Those
//! of Cassandra are asked for by name (`... -- --ignored cassandra`): other tests start it and ask for the same.

#![allow(clippy::unwrap_used, reason = "helpers of a test are test code too")]
#![allow(clippy::print_stdout, reason = "a test run with --nocapture prints what was seen")]

#[path = "products/access.rs"]
mod access;
#[path = "products/own_sql.rs"]
mod own_sql;
#[path = "products/settings_list.rs"]
mod settings_list;
mod shared;
#[path = "products/stage.rs"]
mod stage;
#[cfg(feature = "tls")]
#[path = "products/theirs.rs"]
mod theirs;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use database::{Client, ClientWork, DATABASE_LOG, DataSetTable, Renewal, Replication, TableAt, with_client};
use engine::{Driver as _, ErrorKind, Stamp};
use experiment::{KeyFormat, PRODUCTS, Section, Setting, Settings};

use self::stage::{DATASET, KEYSPACE, PATIENCE, RECORDS, Stage, Subject, TABLE};

const CASSANDRA: Subject = Subject {
    name: "cassandra",
    address: Ipv4Addr::new(127, 0, 61, 2),
    setting: ("cassandra", "concurrent_reads", "24", "24"),
    kept: ("jvm", "-Xmx1g", ""),
};
const POSTGRESQL: Subject = Subject {
    name: "postgresql",
    address: Ipv4Addr::new(127, 0, 61, 3),
    setting: ("postgresql", "checkpoint_timeout", "15min", "900"),
    kept: ("postgresql", "port", "5433"),
};

macro_rules! story {
    (always, $story:ident, $subject:expr) => {
        #[test]
        fn $story() {
            super::$story(&$subject);
        }
    };
    (asked_for, $story:ident, $subject:expr) => {
        #[test]
        #[ignore = "fetches and starts a real database: asked for by name"]
        fn $story() {
            super::$story(&$subject);
        }
    };
}

macro_rules! stories {
    ($when:ident, $module:ident, $subject:expr => $($story:ident),+ $(,)?) => {
        mod $module {
            $(
                story!($when, $story, $subject);
            )+
        }
    };
}

macro_rules! of_every_product {
    ($($story:ident),+ $(,)?) => {
        stories!(asked_for, cassandra, super::CASSANDRA => $($story),+);
        stories!(always, postgresql, super::POSTGRESQL => $($story),+);

        /// Whoever adds a product adds its stories.
        #[test]
        fn every_product_has_its_stories() {
            let have_stories = [CASSANDRA, POSTGRESQL].map(|subject| subject.name);
            assert_eq!(PRODUCTS.map(|product| product.name), have_stories);
        }
    };
}

of_every_product!(
    a_node_starts_answers_and_stops_in_order,
    a_data_set_is_loaded_by_its_client_and_found_in_a_copy_of_its_files,
    a_node_takes_its_data_set_in_anew_or_says_that_another_process_is_needed,
    a_setting_that_is_stated_is_in_force_and_one_that_is_kept_is_refused,
    every_request_of_a_workload_does_what_it_says,
    of_two_stamped_writes_the_later_one_stays_in_whatever_order_they_come,
    a_node_counts_what_it_does,
    a_killed_node_is_gone_at_once_and_has_what_was_acknowledged_when_it_starts_again,
    a_paused_node_answers_when_it_goes_on,
);

fn key(record: u64) -> String {
    let mut key = String::new();
    workload::write_key(record, KeyFormat::default(), &mut key);
    key
}

fn keys(count: u64) -> Vec<String> {
    (0..count).map(key).collect()
}

/// Does something with a driver, as a load thread does.
fn drive<C: Client>(client: &C, story: impl AsyncFnOnce(C::Driver)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .unwrap();
    runtime.block_on(async {
        let driver = client.connect().await.unwrap_or_else(|error| panic!("{error}"));
        story(driver).await;
    });
}

fn a_node_starts_answers_and_stops_in_order(subject: &Subject) {
    let stage = Stage::of(subject);
    let plan = stage.plan("node", Settings::default());
    assert!(!stage.server.answers(plan.client_address(), Duration::from_secs(1)));
    stage.server.check(plan.address, plan.ports).unwrap();
    let mut node = stage.start(&plan);
    assert!(stage.server.answers(plan.client_address(), PATIENCE));
    assert!(stage.server.check(plan.address, plan.ports).is_err(), "somebody listens there");
    assert_eq!(node.0.ended(), None);
    let logs = node.0.logs();
    let log = logs.iter().find(|log| log.name == DATABASE_LOG).unwrap();
    assert!(log.path.metadata().unwrap().len() > 0 && !node.0.log_tail(5).is_empty());
    node.0.come_to_rest().unwrap();
    assert!(!node.0.stopped_cleanly(), "it still runs");
    node.0.stop(PATIENCE).unwrap();
    assert!(node.0.stopped_cleanly() && node.0.ended().is_some());
    assert!(!stage.server.answers(plan.client_address(), Duration::from_secs(1)));
}

fn a_data_set_is_loaded_by_its_client_and_found_in_a_copy_of_its_files(subject: &Subject) {
    let stage = Stage::of(subject);
    let (plan, mut node) = stage.loaded("first");
    assert_eq!(node.0.count_sample(KEYSPACE, TABLE, &keys(RECORDS)).unwrap(), RECORDS as u32);
    let beyond = [key(RECORDS), key(RECORDS + 1), key(0)];
    assert_eq!(node.0.count_sample(KEYSPACE, TABLE, &beyond).unwrap(), 1);
    node.0.stop(PATIENCE).unwrap();
    assert!(node.0.stopped_cleanly());
    let of_keyspace = stage.server.keyspace_directories(&plan.directories.data[0], KEYSPACE);
    let payload = RECORDS * u64::from(DATASET.fields * DATASET.field_length);
    let bytes: u64 = of_keyspace.iter().map(|directory| bytes_below(directory)).sum();
    assert!(bytes as f64 > 0.3 * payload as f64, "{bytes} bytes of {payload} in {of_keyspace:?}");

    // Another node with an empty commit log and nothing else of the first one.
    let copy = stage.plan("copy", Settings::default());
    std::fs::create_dir_all(&copy.directories.own).unwrap();
    let copied = Command::new("cp").arg("-a").args([&plan.directories.data[0], &copy.directories.data[0]]).status();
    assert!(copied.unwrap().success());
    let mut node = stage.start(&copy);
    assert_eq!(node.0.count_sample(KEYSPACE, TABLE, &keys(RECORDS)).unwrap(), RECORDS as u32);
}

fn bytes_below(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    let each = entries.map(|entry| match entry.file_type().unwrap().is_dir() {
        true => bytes_below(&entry.path()),
        false => entry.metadata().unwrap().len(),
    });
    each.sum()
}

fn a_node_takes_its_data_set_in_anew_or_says_that_another_process_is_needed(subject: &Subject) {
    let stage = Stage::of(subject);
    let (_, mut node) = stage.loaded("node");
    let emptied = node.0.truncate(KEYSPACE, TABLE);
    let left = node.0.count_sample(KEYSPACE, TABLE, &keys(10)).unwrap();
    match stage.server.renewal() {
        Renewal::InPlace => {
            emptied.unwrap();
            assert_eq!(left, 0);
        }
        Renewal::AnotherProcess => {
            let refused = emptied.unwrap_err().to_string();
            assert!(refused.contains("while it runs"), "{refused}");
            assert_eq!(left, 10, "and nothing is lost");
            assert!(node.0.import(KEYSPACE, TABLE, &[]).is_err());
        }
    }
}

fn settings(section: &str, key: &str, value: &str) -> Settings {
    let keys = BTreeMap::from([(key.to_owned(), Setting::Value(value.to_owned()))]);
    let stated = if key.starts_with('-') { Section::Options(vec![key.to_owned()]) } else { Section::Keys(keys) };
    Settings::default().with(section, stated)
}

fn a_setting_that_is_stated_is_in_force_and_one_that_is_kept_is_refused(subject: &Subject) {
    let stage = Stage::of(subject);
    let (section, key, value, shown) = subject.setting;
    let mut node = stage.start(&stage.plan("node", settings(section, key, value)));
    node.0.create_schema(KEYSPACE, TABLE, &DATASET, &Replication::Each(1)).unwrap();
    let table = DataSetTable { keyspace: KEYSPACE, table: TABLE, is_restored: false };
    let found = node.0.settings_in_force(table).unwrap_or_else(|error| panic!("{error}"));
    let Some(Section::Keys(keys)) = found.sections.get(section) else { panic!("{found:?}") };
    assert!(keys[key].value().contains(shown), "{keys:?}");
    let (section, key, value) = subject.kept;
    let refused = stage.installed.start(&stage.plan("other", settings(section, key, value)));
    let refused = refused.err().map(|error| error.to_string()).unwrap();
    assert!(refused.contains(key), "{refused}");
}

struct Requests(TableAt);

impl ClientWork for Requests {
    type Output = ();

    fn with<C: Client>(self) {
        drive(&C::to(self.0), async |driver: C::Driver| {
            let (there, missing) = (key(7), key(RECORDS + 7));
            driver.read(&there, None).await.unwrap();
            driver.read(&there, Some(1)).await.unwrap();
            assert_eq!(driver.read(&missing, None).await, Err(ErrorKind::NotFound));
            driver.update(&there, &[(1, "one field")]).await.unwrap();
            let fields = driver.fetch(&there).await.unwrap().unwrap();
            assert_eq!((fields.len(), fields[1].as_deref()), (3, Some("one field")));
            driver.update(&there, &[(0, "all"), (1, "of"), (2, "them")]).await.unwrap();
            let fields = driver.fetch(&there).await.unwrap().unwrap();
            assert_eq!(fields.iter().flatten().collect::<Vec<_>>(), ["all", "of", "them"]);
            assert_eq!(driver.fetch(&missing).await, Ok(None));
            driver.insert(&missing, &["a", "b\\t", "c"]).await.unwrap();
            // Whoever writes a record again, because the first answer was lost, has written it.
            driver.insert(&missing, &["a", "b\\t", "c"]).await.unwrap();
            let fields = driver.fetch(&missing).await.unwrap().unwrap();
            assert_eq!(fields.iter().flatten().collect::<Vec<_>>(), ["a", "b\\t", "c"]);
            driver.scan(&there, 10).await.unwrap();
            assert!(driver.max_in_flight(1) >= 64);
        });
    }
}

fn every_request_of_a_workload_does_what_it_says(subject: &Subject) {
    let stage = Stage::of(subject);
    let (plan, _node) = stage.loaded("node");
    with_client(stage.product, Requests(stage.table(&plan))).unwrap();
}

struct Stamped(TableAt);

impl ClientWork for Stamped {
    type Output = ();

    fn with<C: Client>(self) {
        drive(&C::to(self.0), async |mut driver: C::Driver| {
            driver.prepare_stamped().await.unwrap();
            let (key, new) = (key(9), key(RECORDS + 9));
            let [first, second, third] = [(); 3].map(|()| Stamp::now(9));
            driver.update_stamped(&key, &[(2, "second")], &second).await.unwrap();
            driver.update_stamped(&key, &[(2, "first")], &first).await.unwrap();
            let text = |fields: Option<Vec<Option<String>>>, field: usize| fields.unwrap()[field].clone().unwrap();
            assert!(text(driver.fetch(&key).await.unwrap(), 2).ends_with("second"));
            driver.update_stamped(&key, &[(2, "third")], &third).await.unwrap();
            assert!(text(driver.fetch(&key).await.unwrap(), 2).ends_with("third"));
            driver.insert_stamped(&new, &["second"; 3], &second).await.unwrap();
            driver.insert_stamped(&new, &["first"; 3], &first).await.unwrap();
            assert!(text(driver.fetch(&new).await.unwrap(), 0).ends_with("second"));
        });
    }
}

fn of_two_stamped_writes_the_later_one_stays_in_whatever_order_they_come(subject: &Subject) {
    let stage = Stage::of(subject);
    let (plan, _node) = stage.loaded("node");
    with_client(stage.product, Stamped(stage.table(&plan))).unwrap();
}

fn a_node_counts_what_it_does(subject: &Subject) {
    let stage = Stage::of(subject);
    let (plan, mut node) = stage.loaded("node");
    let mut metrics = node.0.metrics(KEYSPACE, &[TABLE.to_owned()]).unwrap();
    let before = metrics.read();
    with_client(stage.product, Requests(stage.table(&plan))).unwrap();
    // Those of PostgreSQL are handed in once a second.
    std::thread::sleep(Duration::from_secs(3));
    let after = metrics.read();
    let all: Vec<&'static reported::Series> = stage.product.reports.all_series().collect();
    let known = all.iter().filter(|series| after.get(series).is_some()).count();
    assert!(known * 2 >= all.len(), "{known} of {} series: {after:?}", all.len());
    let grew = |series: &&&reported::Series| after.get(series) > before.get(series);
    assert!(all.iter().filter(grew).count() >= 3, "{before:?} {after:?}");
    node.0.kill();
    assert!(metrics.read().len() < known, "what nobody answers is missing, never zero");
}

fn a_killed_node_is_gone_at_once_and_has_what_was_acknowledged_when_it_starts_again(subject: &Subject) {
    let stage = Stage::of(subject);
    let (plan, mut node) = stage.loaded("node");
    let pid = node.0.pid();
    with_client(stage.product, Requests(stage.table(&plan))).unwrap();
    let began = Instant::now();
    node.0.kill();
    assert!(node.0.ended().is_some() && !node.0.stopped_cleanly());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    let mut again = stage.start(&plan);
    // Its last record was acknowledged by then.
    let present = again.0.count_sample(KEYSPACE, TABLE, &[key(0), key(RECORDS + 7)]).unwrap();
    let is_logged_at_once = stage.product.name == "postgresql";
    assert!(present == 2 || (!is_logged_at_once && present == 1), "{present}");
}

struct Read(TableAt);

impl ClientWork for Read {
    type Output = Result<(), ErrorKind>;

    fn with<C: Client>(self) -> Result<(), ErrorKind> {
        let client = C::to(self.0);
        let mut answer = Err(ErrorKind::Other);
        drive(&client, async |driver: C::Driver| answer = driver.read(&key(1), None).await);
        answer
    }
}

fn a_paused_node_answers_when_it_goes_on(subject: &Subject) {
    let stage = Stage::of(subject);
    let (plan, mut node) = stage.loaded("node");
    node.0.pause();
    assert!(!stage.server.answers(plan.client_address(), Duration::from_secs(1)));
    assert_eq!(node.0.ended(), None);
    node.0.resume();
    node.0.wait_ready(PATIENCE, &|| false).unwrap();
    assert_eq!(with_client(stage.product, Read(stage.table(&plan))).unwrap(), Ok(()));
}
