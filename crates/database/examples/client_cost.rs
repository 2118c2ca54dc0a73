//! What a load generator costs its own machine, and what it reports of a stall: `iopslab load` against `latte` and
//! cassandra-stress, same server.
//!
//! The tools send a fixed number of operations with the same number in flight, in turns (A B C A B C ...), so that a
//! machine that gets slower does so for all. iopslab and latte have one thread and send the same statements;
//! cassandra-stress has a thread for each request in flight, and a table of its own with the same number of bytes. The
//! operating system says what each process used (wait4(2)); the server says how many requests it got from the process's
//! connections (`system_views.clients`, polled while they are open) and how many it executed on the table
//! (`system_views.coordinator_*_latency`). A row whose counts do not agree is not printed; the program fails instead.
//! Run it by `make bench`, which prepares server, tools and data.

#![allow(clippy::print_stdout, reason = "this program's output is its table")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use tokio::runtime::{Builder, Runtime};
use wait4::Wait4 as _;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const RECORDS: u64 = 100_000;
const CONCURRENCY: u32 = 100;
/// Requests per second of the open loop, and how many it sends.
const RATE: u64 = 5_000;
const OPEN_OPERATIONS: u64 = 50_000;
/// How long the server stands still, and after how many of a tool's requests.
const STALL: Duration = Duration::from_secs(2);
const STALL_AFTER: i64 = 10_000;
/// p99 of latencies that fall evenly from [`STALL`] to 0 over the share of an open loop that was due meanwhile.
const STALL_P99_MS: f64 = 2_000.0 * (1.0 - 0.01 * OPEN_OPERATIONS as f64 / (2.0 * RATE as f64));
/// Where latte leaves what it measured.
const LATTE_REPORT: &str = "latte-report.json";
/// Inserts of a round begin this far apart, so that no insert overwrites another round's.
const INSERT_STRIDE: u64 = 10_000_000;
/// How far the server's count of a client's requests may be off: the client's own (connect, prepare) are too many,
/// those after the last poll too few.
const TOLERANCE: f64 = 0.03;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tool {
    Iopslab,
    Latte,
    /// cassandra-stress of Cassandra 4.0-alpha2, the newest whose programs are in a registry of packages.
    Stress,
}

impl Tool {
    const ALL: [Self; 3] = [Self::Iopslab, Self::Latte, Self::Stress];

    fn name(self) -> &'static str {
        match self {
            Self::Iopslab => "iopslab",
            Self::Latte => "latte 0.29.0",
            Self::Stress => "cassandra-stress 4.0-alpha2",
        }
    }

    /// The table that it reads and writes.
    fn table(self) -> (&'static str, &'static str) {
        match self {
            Self::Iopslab | Self::Latte => ("ycsb", "usertable"),
            Self::Stress => ("keyspace1", "standard1"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    Read,
    Insert,
    /// Reads of an open loop: [`RATE`] a second, evenly spaced.
    OpenRead,
    /// The same while the server stands still for [`STALL`].
    StalledRead,
}

impl Work {
    const ALL: [Self; 4] = [Self::Read, Self::Insert, Self::OpenRead, Self::StalledRead];

    fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Insert => "insert",
            Self::OpenRead => "read, 5,000/s",
            Self::StalledRead => "read, 5,000/s, stall of 2 s",
        }
    }

    /// What both tools' scripts call it.
    fn script(self) -> &'static str {
        match self {
            Self::Read | Self::OpenRead | Self::StalledRead => "read",
            Self::Insert => "insert",
        }
    }

    fn is_open(self) -> bool {
        matches!(self, Self::OpenRead | Self::StalledRead)
    }
}

/// One process's run.
struct Row {
    cpu_us_per_operation: f64,
    operations_per_s: f64,
    peak_rss_mb: f64,
    /// As the tool reports it.
    p99_ms: f64,
    /// Requests that the server counted on the process's connections, by operation.
    counted_by_server: f64,
}

struct Bench {
    host: String,
    iopslab: PathBuf,
    latte: PathBuf,
    /// Where the distribution of cassandra-stress was unpacked.
    stress: PathBuf,
    /// The server's process: it is stopped and continued.
    server: Option<rustix::process::Pid>,
    scripts: PathBuf,
    operations: u64,
    rounds: u64,
    runtime: Runtime,
    session: Session,
}

fn main() -> Result<()> {
    let argument = |name: &str| std::env::var(name).map_err(|_| format!("set {name}; `make bench` does"));
    let number = |name: &str, default: u64| std::env::var(name).map_or(Ok(default), |text| text.parse::<u64>());
    let host = argument("HOST")?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let point = if host.contains(':') { host.clone() } else { format!("{host}:9042") };
    let session = runtime.block_on(SessionBuilder::new().known_node(&point).build())?;
    let bench = Bench {
        host: point,
        iopslab: argument("IOPSLAB")?.into(),
        latte: argument("LATTE")?.into(),
        stress: argument("STRESS")?.into(),
        server: std::env::var("SERVER_PID").ok().and_then(|pid| rustix::process::Pid::from_raw(pid.parse().ok()?)),
        scripts: argument("SCRIPTS")?.into(),
        operations: number("OPERATIONS", 300_000)?,
        rounds: number("ROUNDS", 5)?,
        runtime,
        session,
    };
    bench.load_records()?;
    bench.compare()
}

impl Bench {
    fn load_records(&self) -> Result<()> {
        let mut load = self.iopslab_command(Work::Read, 0);
        load.args(["--load-data", "--records", &RECORDS.to_string()]);
        let mut write = self.stress_program();
        write.args(["write", &format!("n={RECORDS}"), "no-warmup", "cl=ONE"]);
        self.stress_options(&mut write, &format!("seq=1..{RECORDS}"), None);
        for mut command in [load, write] {
            let output = command.output()?;
            if !output.status.success() {
                let said = [output.stdout, output.stderr].concat();
                return Err(format!("loading failed: {command:?}: {}", String::from_utf8_lossy(&said)).into());
            }
        }
        Ok(())
    }

    fn compare(&self) -> Result<()> {
        let works = || {
            let all = Work::ALL.into_iter();
            all.filter(|work| *work != Work::StalledRead || self.server.is_some())
        };
        let mut rows: BTreeMap<(Work, Tool), Vec<Row>> = BTreeMap::new();
        // Round 0 warms the server's JIT compiler up and is not counted.
        for round in 0..=self.rounds {
            for work in works() {
                for tool in Tool::ALL {
                    let row = self.measure(work, tool, round)?;
                    if round > 0 {
                        rows.entry((work, tool)).or_default().push(row);
                    }
                }
            }
        }
        println!(
            "{} operations a run ({OPEN_OPERATIONS} of an open loop), {} rounds in turns, {CONCURRENCY} in flight, \
             10 x 100 B, consistency ONE; medians [least, most]. iopslab and latte have one thread, cassandra-stress \
             has {CONCURRENCY}; its CPU holds the start of its JVM. A stall makes p99 {STALL_P99_MS:.0} ms or somewhat \
             more.\n",
            self.operations, self.rounds
        );
        println!(
            "| operation | tool | client CPU, us/op | ratio to latte | operations/s | p99 as reported, ms | peak \
             memory, MB | counted by server |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        for work in works() {
            let cpu = |tool| Spread::of(&rows[&(work, tool)], |row| row.cpu_us_per_operation);
            for tool in Tool::ALL {
                let runs = &rows[&(work, tool)];
                println!(
                    "| {} | {} | {} | {:.2} | {:.0} | {} | {:.1} | {:.1} % |",
                    work.name(),
                    tool.name(),
                    cpu(tool),
                    cpu(tool).median / cpu(Tool::Latte).median,
                    Spread::of(runs, |row| row.operations_per_s).median,
                    Spread::of(runs, |row| row.p99_ms),
                    Spread::of(runs, |row| row.peak_rss_mb).median,
                    Spread::of(runs, |row| row.counted_by_server * 100.0).median,
                );
            }
        }
        Ok(())
    }

    fn iopslab_command(&self, work: Work, round: u64) -> Command {
        let mut command = Command::new(&self.iopslab);
        command
            .args(["--format", "json", "load", "--hosts", &self.host])
            .arg("--workload")
            .arg(format!("ycsb:{}", self.scripts.join(format!("{}.ycsb", work.script())).display()))
            .args(["--operations", &self.operations(work).to_string(), "--warmup", "0s", "--threads", "1"])
            .args(["--consistency", "one"])
            .args(["--first-insert", &((2 * round + 1) * INSERT_STRIDE).to_string()]);
        if work.is_open() {
            command.args(["--rate", &RATE.to_string(), "--constant"]);
        } else {
            command.args(["--concurrency", &CONCURRENCY.to_string()]);
        }
        command
    }

    fn operations(&self, work: Work) -> u64 {
        if work.is_open() { OPEN_OPERATIONS } else { self.operations }
    }

    fn latte_command(&self, work: Work, round: u64) -> Command {
        let first = match work {
            Work::Read | Work::OpenRead | Work::StalledRead => 0,
            Work::Insert => (2 * round + 2) * INSERT_STRIDE,
        };
        let mut command = Command::new(&self.latte);
        command
            .arg("run")
            .arg(self.scripts.join("latte.rn"))
            .args(["--functions", work.script(), "--quiet", "--output", LATTE_REPORT])
            // At least one warm-up cycle is its rule.
            .args(["--warmup", "1", "--duration", &self.operations(work).to_string(), "--threads", "1"])
            .args(["--concurrency", &CONCURRENCY.to_string(), "--consistency", "ONE"])
            .args(["--start-cycle", &first.to_string(), "-P", &format!("records={RECORDS}")])
            .args(work.is_open().then(|| format!("--rate={RATE}")))
            .arg(&self.host);
        command
    }

    /// cassandra-stress as its own script starts it.
    fn stress_program(&self) -> Command {
        let part = |name: &str| self.stress.join(name).display().to_string();
        let mut command = Command::new("java");
        command
            .arg("-cp")
            .arg([part("conf"), part("lib/*"), part("tools/lib/stress.jar")].join(":"))
            .arg(format!("-Dcassandra.storagedir={}", part("data")))
            .arg("-Dlogback.configurationFile=logback-tools.xml")
            .arg("org.apache.cassandra.stress.Stress");
        command
    }

    fn stress_options(&self, command: &mut Command, population: &str, rate: Option<u64>) {
        let (host, port) = self.host.rsplit_once(':').unwrap_or((&self.host, "9042"));
        command
            .args(["-pop", population, "-col", "n=FIXED(10)", "size=FIXED(100)"])
            .args(["-mode", "native", "cql3", "-node", host])
            .args(["-port", &format!("native={port}")])
            .args(["-rate", &format!("threads={CONCURRENCY}")])
            .args(rate.map(|rate| format!("fixed={rate}/s")));
    }

    fn stress_command(&self, work: Work, round: u64) -> Command {
        let operations = self.operations(work);
        let (verb, population) = if work == Work::Insert {
            let first = (2 * round + 1) * INSERT_STRIDE;
            ("write", format!("seq={first}..{}", first + operations))
        } else {
            ("read", format!("dist=UNIFORM(1..{RECORDS})"))
        };
        let mut command = self.stress_program();
        command.args([verb, &format!("n={operations}"), "no-warmup", "cl=ONE"]);
        self.stress_options(&mut command, &population, work.is_open().then_some(RATE));
        command
    }

    fn measure(&self, work: Work, tool: Tool, round: u64) -> Result<Row> {
        let mut command = match tool {
            Tool::Iopslab => self.iopslab_command(work, round),
            Tool::Latte => self.latte_command(work, round),
            Tool::Stress => self.stress_command(work, round),
        };
        let executed_before = self.executed(work, tool)?;
        let others: BTreeSet<_> = self.connections()?.into_keys().collect();

        let began = Instant::now();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut output = child.stdout.take().ok_or("no output")?;
        let ended = AtomicBool::new(false);
        let mut requests = BTreeMap::new();
        let mut stall = self.server.filter(|_| work == Work::StalledRead);
        let (used, said) = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut said = String::new();
                let read = output.read_to_string(&mut said);
                let used = child.wait4();
                ended.store(true, Relaxed);
                read.and(used).map(|used| (used, said))
            });
            while !ended.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
                // A failed poll only makes the count older, which the check below would notice.
                requests.extend(self.connections().unwrap_or_default());
                if let Some(server) = stall.filter(|_| sum_of_others(&requests, &others) > STALL_AFTER) {
                    stall = None;
                    // If it cannot be stopped, the p99 shows it.
                    let _ = rustix::process::kill_process(server, rustix::process::Signal::STOP);
                    std::thread::sleep(STALL);
                    let _ = rustix::process::kill_process(server, rustix::process::Signal::CONT);
                }
            }
            waiting.join().expect("waiting for a process does not panic")
        })?;
        let wall_s = began.elapsed().as_secs_f64();
        if !used.status.success() {
            return Err(format!("{command:?} failed: {}", used.status).into());
        }

        let operations = self.operations(work) as f64;
        let executed = (self.executed(work, tool)? - executed_before) as f64 / operations;
        let counted_by_server = sum_of_others(&requests, &others) as f64 / operations;
        // latte adds one warm-up cycle.
        if !(1.0..1.001).contains(&executed) || (counted_by_server - 1.0).abs() > TOLERANCE {
            return Err(format!(
                "the counts of {command:?} do not agree: {operations} operations asked for, the server executed \
                 {executed:.4} and received {counted_by_server:.4} times as many"
            )
            .into());
        }
        let cpu = used.rusage.utime + used.rusage.stime;
        Ok(Row {
            cpu_us_per_operation: cpu.as_secs_f64() * 1e6 / operations,
            operations_per_s: operations / wall_s,
            peak_rss_mb: used.rusage.maxrss as f64 / 1e6,
            p99_ms: p99_ms(tool, &said).ok_or_else(|| format!("{command:?} does not report its p99: {said}"))?,
            counted_by_server,
        })
    }

    /// Requests on each open connection, by the client's port.
    fn connections(&self) -> Result<Connections> {
        let statement = "SELECT address, port, request_count FROM system_views.clients";
        let rows = self.runtime.block_on(self.session.query_unpaged(statement, ()))?.into_rows_result()?;
        let mut connections = BTreeMap::new();
        for row in rows.rows::<(std::net::IpAddr, i32, i64)>()? {
            let (address, port, count) = row?;
            connections.insert((address.to_string(), port), count);
        }
        Ok(connections)
    }

    /// Requests that the server has executed on the tool's table, ever.
    fn executed(&self, work: Work, tool: Tool) -> Result<i64> {
        let view = match work {
            Work::Read | Work::OpenRead | Work::StalledRead => "coordinator_read_latency",
            Work::Insert => "coordinator_write_latency",
        };
        let (keyspace, table) = tool.table();
        let statement = format!(
            "SELECT count FROM system_views.{view} WHERE keyspace_name = '{keyspace}' AND table_name = '{table}'"
        );
        let rows = self.runtime.block_on(self.session.query_unpaged(statement, ()))?.into_rows_result()?;
        Ok(rows.maybe_first_row::<(i64,)>()?.map_or(0, |(count,)| count))
    }
}

type Connections = BTreeMap<(String, i32), i64>;

/// Requests of all connections but those that were there before.
fn sum_of_others(requests: &Connections, before: &BTreeSet<(String, i32)>) -> i64 {
    let new = requests.iter().filter(|(port, _)| !before.contains(*port));
    new.map(|(_, count)| count).sum()
}

/// What a tool says p99 was: `iopslab load` as JSON, latte in the report that it writes, cassandra-stress in words.
fn p99_ms(tool: Tool, said: &str) -> Option<f64> {
    match tool {
        Tool::Iopslab => {
            let document: serde_json::Value = serde_json::from_str(said).ok()?;
            let kinds = document["latency_us"].as_object()?;
            kinds.values().filter_map(|kind| kind["p99"].as_f64()).reduce(f64::max).map(|us| us / 1e3)
        }
        Tool::Latte => {
            let report: serde_json::Value = serde_json::from_slice(&std::fs::read(LATTE_REPORT).ok()?).ok()?;
            let asked = report["percentiles"].as_array()?;
            let at = asked.iter().position(|percentile| percentile.as_f64() == Some(99.0))?;
            // A cycle's latency counts from when it was due; a request's from when it was sent.
            report["result"]["cycle_latency"]["percentiles"][at]["value"].as_f64()
        }
        Tool::Stress => {
            let line = said.lines().find_map(|line| line.strip_prefix("Latency 99th percentile"))?;
            line.split_whitespace().nth(1)?.replace(',', "").parse().ok()
        }
    }
}

struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    fn of(rows: &[Row], value: impl Fn(&Row) -> f64) -> Self {
        let mut values: Vec<f64> = rows.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 };
        Self { least: values[0], median, most: values[values.len() - 1] }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} [{:.2}, {:.2}]", self.median, self.least, self.most)
    }
}
