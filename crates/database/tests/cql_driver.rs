//! The engine and the CQL driver against a real Cassandra: one server, one story after another.

#![allow(clippy::unwrap_used, reason = "helpers of a test are test code too")]
#![allow(clippy::print_stdout, reason = "a test run with --nocapture prints what was answered")]

#[path = "cql_driver/both_paths.rs"]
mod both_paths;
mod shared;
#[path = "cql_driver/write_check.rs"]
mod write_check;

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use database::cassandra::{Admin, Node, NodeConfig, ensure_distribution, ensure_start_archive, find_java, versions};
use database::{CqlConnect, Replication, TableAt};
use engine::{
    Connect as _, Driver as _, ErrorKind, Load, LoadPlan, Second, TrialOutcome, TrialPlan, run_load, run_trial,
};
use experiment::{Arrivals, Definition, Distribution, Mix, ScanLength, Section, Setting, Settings};
use rustix::process::{Pid, Signal, kill_process};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;

/// An address of this test alone, so that it can run beside others.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 51, 2);
const JMX_PORT: u16 = 17_252;
const RECORDS: u64 = 3000;
const FIELDS: u32 = 4;
/// Longer than a busy machine keeps client and server from their turns: where no request may fail, none does so for
/// that.
const PATIENCE: Duration = MINUTE;
/// What makes the server give up requests by itself.
const SERVER_TIMEOUTS: [&str; 4] =
    ["read_request_timeout", "range_request_timeout", "write_request_timeout", "native_transport_timeout"];

static NEVER: AtomicBool = AtomicBool::new(false);

#[test]
fn the_engine_drives_a_real_cassandra() {
    let directory = tempfile::Builder::new().prefix("iopslab-driver-").tempdir().unwrap();
    let mut server = Server::start(directory.path().to_owned());
    let connect = server.connect(PATIENCE);

    records_are_loaded_in_ycsb_layout(&connect);
    every_call_does_what_it_says(&connect);
    write_check::acknowledged_writes_are_found_and_planted_losses_are_reported(&connect);
    every_kind_of_operation_runs_without_error(&connect);
    missing_records_are_errors_which_do_not_end_a_trial(&connect);
    both_paths::answers_are_equal_for_random_operations(&connect);
    both_paths::a_stopped_server_means_the_same_timeouts_on_both_paths(&connect, &server);
    a_stopped_server_is_seen_in_full(&connect, &server);
    requests_that_take_too_long_are_client_timeouts(&server);
    a_server_that_dies_leaves_connection_errors(&connect, &mut server);
}

struct Server {
    node: Node,
}

impl Server {
    fn start(directory: PathBuf) -> Self {
        let cache = shared::cache();
        let mut distribution = ensure_distribution(versions()[0], &cache, &mut |_| {}, &|| false).unwrap();
        shared::enter_own_network();
        let java = find_java(versions()[0]).unwrap();
        ensure_start_archive(&mut distribution, &java, None, &|| false, &|_| Ok(())).unwrap();
        let mut config = NodeConfig::new("iopslab-driver-test", ADDRESS, &directory);
        config.plan.ports.management = JMX_PORT;
        config.plan.memory.main_bytes = 768 << 20;
        let patient = |key: &str| (key.to_owned(), Setting::Value(format!("{}s", PATIENCE.as_secs())));
        let keys = Section::Keys(SERVER_TIMEOUTS.map(patient).into());
        config.plan.settings = Settings::default().with(cassandra_model::YAML, keys);
        let mut node = Node::start(&distribution, &java, config).unwrap();
        let ready = node.wait_ready(Duration::from_secs(180), &|| false);
        if let Err(error) = ready {
            node.kill();
            panic!("{error}\n{}", node.config().log_tail(50).join("\n"));
        }
        let server = Self { node };
        let dataset =
            experiment::Dataset { records: RECORDS, fields: FIELDS, field_length: 50, compressibility: 0.0, seed: 1 };
        let admin = Admin::connect(server.node.config().plan.client_address(), PATIENCE).unwrap();
        admin
            .create_schema("ycsb", "usertable", &dataset, &Replication::Each(1), &std::collections::BTreeMap::new())
            .unwrap();
        server
    }

    fn connect(&self, request_timeout: Duration) -> CqlConnect {
        CqlConnect::new(TableAt {
            request_timeout,
            ..TableAt::ycsb(self.node.config().plan.client_address().to_string(), FIELDS)
        })
    }

    /// Stops the server's process until `meanwhile` is over. Gives how long it was stopped.
    fn pause(&self, meanwhile: impl FnOnce()) -> Duration {
        let pid = Pid::from_raw(self.node.pid().try_into().unwrap()).unwrap();
        let began = Instant::now();
        kill_process(pid, Signal::STOP).unwrap();
        meanwhile();
        kill_process(pid, Signal::CONT).unwrap();
        began.elapsed()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.node.kill();
    }
}

fn plan(mix: Mix, load: Load, duration: Duration) -> TrialPlan {
    let scan_length = ScanLength { max: 20, ..ScanLength::default() };
    let definition = Definition { scan_length, ..Definition::new("test", mix, Distribution::Uniform) };
    let warmup = Duration::from_millis(500);
    let usual = TrialPlan::new(definition, RECORDS, load, duration);
    TrialPlan { fields: FIELDS, field_length: 50, warmup, seed: 3, ..usual }
}

const READS: Mix = Mix { read: 1.0, update: 0.0, insert: 0.0, scan: 0.0, read_modify_write: 0.0 };

fn run(connect: &CqlConnect, plan: &TrialPlan) -> TrialOutcome {
    run_trial(connect, plan, &mut |_| {}, &NEVER).unwrap()
}

/// Operations after which a trial is seen to measure.
const SEEN: u64 = 200;

/// A trial in whose measurement something is done to the server, once more than [`SEEN`] operations were completed. It
/// has to last longer than a busy machine may take to do it.
fn run_beside<T>(connect: &CqlConnect, plan: &TrialPlan, done: impl FnOnce() -> T) -> (TrialOutcome, T) {
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        let trial = scope.spawn(move || {
            let mut seen = 0;
            let mut on_second = |second: &Second| {
                seen += if second.t_s >= 0.0 { second.operations } else { 0 };
                if seen > SEEN {
                    // Nobody listens any more from the second time on.
                    let _ = tell.send(());
                }
            };
            run_trial(connect, plan, &mut on_second, &NEVER).unwrap()
        });
        told.recv().expect("the trial completes enough operations");
        let of_it = done();
        (trial.join().unwrap(), of_it)
    })
}

fn completed(outcome: &TrialOutcome) -> u64 {
    outcome.result.completed.values().sum()
}

/// A quantile of all measured responses, failed ones included, in seconds.
fn response_quantile_s(outcome: &TrialOutcome, quantile: f64) -> f64 {
    let mut measured = outcome.intervals.iter().filter(|i| i.start_s >= 0.0 && !i.series.tag().starts_with("service."));
    let mut all = measured.next().unwrap().histogram.clone();
    measured.for_each(|interval| all.add(&interval.histogram).unwrap());
    all.value_at_quantile(quantile) as f64 / 1e6
}

fn on_a_runtime<T>(work: impl Future<Output = T>) -> T {
    // As a load thread has it.
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .unwrap()
        .block_on(work)
}

async fn text(session: &Session, what: &str, key: &str) -> Option<String> {
    let statement = format!("SELECT {what} FROM ycsb.usertable WHERE y_id = '{key}'");
    let rows = session.query_unpaged(statement, ()).await.unwrap().into_rows_result().unwrap();
    rows.maybe_first_row::<(Option<String>,)>().unwrap().and_then(|row| row.0)
}

fn records_are_loaded_in_ycsb_layout(connect: &CqlConnect) {
    let load = LoadPlan {
        first_record: 0,
        records: RECORDS,
        fields: FIELDS,
        field_length: 50,
        compressibility: 0.0,
        keys: experiment::KeyFormat::default(),
        concurrency: 32,
        threads: 2,
        seed: 1,
        overwrites_of: None,
        own_rows: false,
    };
    assert_eq!(run_load(connect, &load, &mut |_| {}, &NEVER).unwrap().records, RECORDS);
    on_a_runtime(async {
        let session = SessionBuilder::new().known_nodes(&connect.at.contact_points).build().await.unwrap();
        let rows = session.query_unpaged("SELECT count(*) FROM ycsb.usertable", ()).await.unwrap();
        let (count,) = rows.into_rows_result().unwrap().first_row::<(i64,)>().unwrap();
        assert_eq!(count, RECORDS as i64);
        // Record 0 under the key that YCSB gives it (Utils.hash(0)).
        assert_eq!(text(&session, "field3", "user6284781860667377211").await.unwrap().len(), 50);
    });
}

fn every_call_does_what_it_says(connect: &CqlConnect) {
    on_a_runtime(async {
        let driver = connect.connect().await.unwrap();
        let session = SessionBuilder::new().known_nodes(&connect.at.contact_points).build().await.unwrap();

        assert_eq!(driver.read("nobody", None).await, Err(ErrorKind::NotFound));
        assert_eq!(driver.read("nobody", Some(1)).await, Err(ErrorKind::NotFound));
        driver.insert("somebody", &["a", "b", "c", "d"]).await.unwrap();
        driver.read("somebody", None).await.unwrap();
        driver.read("somebody", Some(3)).await.unwrap();
        driver.update("somebody", &[(2, "C")]).await.unwrap();
        let all = "field0, field1, field2, field3";
        let mut fields = String::new();
        for field in all.split(", ") {
            fields += &text(&session, field, "somebody").await.unwrap();
        }
        assert_eq!(fields, "abCd");
        driver.update("somebody", &[(0, "1"), (1, "2"), (2, "3"), (3, "4")]).await.unwrap();
        assert_eq!(text(&session, "field0", "somebody").await.unwrap(), "1");
        assert_eq!(text(&session, "field3", "somebody").await.unwrap(), "4");
        driver.scan("somebody", 10).await.unwrap();
        session.query_unpaged("DELETE FROM ycsb.usertable WHERE y_id = 'somebody'", ()).await.unwrap();
    });
}

fn every_kind_of_operation_runs_without_error(connect: &CqlConnect) {
    let mix = Mix { read: 0.4, update: 0.2, insert: 0.2, scan: 0.1, read_modify_write: 0.1 };
    let mixed = TrialPlan { operations: Some(5000), threads: 2, ..plan(mix, Load::Closed { concurrency: 20 }, MINUTE) };
    let outcome = run(connect, &mixed);
    assert_eq!(outcome.result.errors, [].into());
    assert_eq!((outcome.result.operations_sent, completed(&outcome)), (5000, 5000));
    assert_eq!(outcome.result.completed.len(), 5);
    let one_field = Definition { read_all_fields: false, write_all_fields: true, ..mixed.definition.clone() };
    let outcome = run(connect, &TrialPlan { definition: one_field, first_insert: 2 * RECORDS, ..mixed });
    assert_eq!((outcome.result.errors.clone(), completed(&outcome)), ([].into(), 5000));
}

const MINUTE: Duration = Duration::from_secs(60);

fn missing_records_are_errors_which_do_not_end_a_trial(connect: &CqlConnect) {
    // Far more records than were loaded or inserted so far: most do not exist.
    let load = Load::Closed { concurrency: 10 };
    let beyond = TrialPlan {
        operations: Some(2000),
        records: 100 * RECORDS,
        first_insert: 100 * RECORDS,
        ..plan(READS, load, MINUTE)
    };
    let outcome = run(connect, &beyond);
    let missing = outcome.result.errors[&ErrorKind::NotFound];
    assert!((1900..2000).contains(&missing), "{missing}");
    assert_eq!(missing + completed(&outcome), 2000);
}

/// The server is stopped for 1 s in 15 s at 500 reads/s. Each request due meanwhile waits for the rest of the stop, so
/// the worst 1 % of 7,500 waited more than the stop less 0.15 s. A client that waits for answers before it sends would
/// see 10 slow requests and report a p99 of a millisecond.
fn a_stopped_server_is_seen_in_full(connect: &CqlConnect, server: &Server) {
    let load = Load::Open { operations_per_s: 500.0, arrivals: Arrivals::Constant };
    let paced = plan(READS, load, Duration::from_secs(15));
    let began = Instant::now();
    let (outcome, stopped) =
        run_beside(connect, &paced, || server.pause(|| std::thread::sleep(Duration::from_secs(1))));
    let took_s = began.elapsed().as_secs_f64();
    assert_eq!(outcome.result.operations_sent, 7500, "nothing due is dropped");
    assert_eq!((outcome.result.errors.clone(), completed(&outcome)), ([].into(), 7500));
    let expected_s = stopped.as_secs_f64() - 0.15;
    let p99_s = response_quantile_s(&outcome, 0.99);
    // A busy machine answers the backlog later, never earlier.
    assert!(
        p99_s > expected_s * 0.95 && p99_s < took_s,
        "stopped {stopped:?} of {took_s} s: expected {expected_s} s, reported {p99_s} s"
    );
}

fn requests_that_take_too_long_are_client_timeouts(server: &Server) {
    let timeout = Duration::from_millis(300);
    let connect = server.connect(timeout);
    let closed = plan(READS, Load::Closed { concurrency: 10 }, Duration::from_secs(12));
    let began = Instant::now();
    let (outcome, _) =
        run_beside(&connect, &closed, || server.pause(|| std::thread::sleep(Duration::from_millis(1000))));
    let timeouts = outcome.result.errors[&ErrorKind::ClientTimeout];
    // Ten slots time out about three times each, and go on to while a busy machine keeps the server from its turn.
    let most = 10 * (1 + began.elapsed().as_millis() / timeout.as_millis());
    assert!((10..=most).contains(&u128::from(timeouts)), "{timeouts} of at most {most}");
    assert!(completed(&outcome) > SEEN);
}

fn a_server_that_dies_leaves_connection_errors(connect: &CqlConnect, server: &mut Server) {
    let closed = plan(READS, Load::Closed { concurrency: 10 }, Duration::from_secs(12));
    let began = Instant::now();
    let (outcome, ()) = run_beside(connect, &closed, || server.node.kill());
    assert!(began.elapsed() < PATIENCE, "nobody waits for answers that cannot come");
    assert!(completed(&outcome) > SEEN);
    let lost = outcome.result.errors[&ErrorKind::Connection];
    assert!((10..1000).contains(&lost), "a lost connection pauses its slots: {lost}");
}
