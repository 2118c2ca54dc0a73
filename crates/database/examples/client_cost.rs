//! What a load generator costs its own machine: `iopslab load` against `latte`, same server, same statements.
//!
//! Both tools send a fixed number of operations with the same number in flight from one thread, in turns (A B A B ...),
//! so that a machine that gets slower does so for both. The operating system says what each process used (wait4(2));
//! the server says how many requests it got from the process's connections (`system_views.clients`, polled while they
//! are open) and how many it executed on the table (`system_views.coordinator_*_latency`). A row whose counts do not
//! agree is not printed; the program fails instead. Run it by `make bench`, which prepares server, tools and data.

#![allow(clippy::print_stdout, reason = "this program's output is its table")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
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
/// Inserts of a round begin this far apart, so that no insert overwrites another round's.
const INSERT_STRIDE: u64 = 10_000_000;
/// How far the server's count of a client's requests may be off: the client's own (connect, prepare) are too many,
/// those after the last poll too few.
const TOLERANCE: f64 = 0.03;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tool {
    Iopslab,
    Latte,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    Read,
    Insert,
    /// Reads of an open loop: [`RATE`] a second, evenly spaced.
    OpenRead,
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Insert => "insert",
            Self::OpenRead => "read, 5,000/s",
        }
    }

    /// What both tools' scripts call it.
    fn script(self) -> &'static str {
        match self {
            Self::Read | Self::OpenRead => "read",
            Self::Insert => "insert",
        }
    }
}

/// One process's run.
struct Row {
    cpu_us_per_operation: f64,
    operations_per_s: f64,
    peak_rss_mb: f64,
    /// Requests that the server counted on the process's connections, by operation.
    counted_by_server: f64,
}

struct Bench {
    host: String,
    iopslab: PathBuf,
    latte: PathBuf,
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
    let point = if host.contains(':') {
        host.clone()
    } else {
        format!("{host}:9042")
    };
    let session = runtime.block_on(SessionBuilder::new().known_node(&point).build())?;
    let bench = Bench {
        host: point,
        iopslab: argument("IOPSLAB")?.into(),
        latte: argument("LATTE")?.into(),
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
        let output = load.output()?;
        if !output.status.success() {
            return Err(format!("loading failed: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(())
    }

    fn compare(&self) -> Result<()> {
        let mut rows: BTreeMap<(Work, Tool), Vec<Row>> = BTreeMap::new();
        // Round 0 warms the server's JIT compiler up and is not counted.
        for round in 0..=self.rounds {
            for work in [Work::Read, Work::Insert, Work::OpenRead] {
                for tool in [Tool::Iopslab, Tool::Latte] {
                    let row = self.measure(work, tool, round)?;
                    if round > 0 {
                        rows.entry((work, tool)).or_default().push(row);
                    }
                }
            }
        }
        println!(
            "{} operations a run ({OPEN_OPERATIONS} of an open loop), {} rounds in turns, {CONCURRENCY} in flight, 1 thread, \
             10 x 100 B, consistency ONE; medians [least, most].\n",
            self.operations, self.rounds
        );
        println!(
            "| operation | tool | client CPU, us/op | ratio | operations/s | peak memory, MB | counted by server |"
        );
        println!("|---|---|---|---|---|---|---|");
        for work in [Work::Read, Work::Insert, Work::OpenRead] {
            let cpu = |tool| Spread::of(&rows[&(work, tool)], |row| row.cpu_us_per_operation);
            for (tool, name) in [(Tool::Iopslab, "iopslab"), (Tool::Latte, "latte 0.29.0")] {
                let runs = &rows[&(work, tool)];
                println!(
                    "| {} | {name} | {} | {:.2} | {:.0} | {:.1} | {:.1} % |",
                    work.name(),
                    cpu(tool),
                    cpu(tool).median / cpu(Tool::Latte).median,
                    Spread::of(runs, |row| row.operations_per_s).median,
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
            .arg(format!(
                "ycsb:{}",
                self.scripts.join(format!("{}.ycsb", work.script())).display()
            ))
            .args([
                "--operations",
                &self.operations(work).to_string(),
                "--warmup",
                "0s",
                "--threads",
                "1",
            ])
            .args(["--consistency", "one"])
            .args(["--first-insert", &((2 * round + 1) * INSERT_STRIDE).to_string()]);
        match work {
            Work::OpenRead => command.args(["--rate", &RATE.to_string(), "--constant"]),
            Work::Read | Work::Insert => command.args(["--concurrency", &CONCURRENCY.to_string()]),
        };
        command
    }

    fn operations(&self, work: Work) -> u64 {
        match work {
            Work::Read | Work::Insert => self.operations,
            Work::OpenRead => OPEN_OPERATIONS,
        }
    }

    fn latte_command(&self, work: Work, round: u64) -> Command {
        let first = match work {
            Work::Read | Work::OpenRead => 0,
            Work::Insert => (2 * round + 2) * INSERT_STRIDE,
        };
        let mut command = Command::new(&self.latte);
        command
            .arg("run")
            .arg(self.scripts.join("latte.rn"))
            .args(["--functions", work.script(), "--quiet", "--output", "/dev/null"])
            // At least one warm-up cycle is its rule.
            .args([
                "--warmup",
                "1",
                "--duration",
                &self.operations(work).to_string(),
                "--threads",
                "1",
            ])
            .args(["--concurrency", &CONCURRENCY.to_string(), "--consistency", "ONE"])
            .args(["--start-cycle", &first.to_string(), "-P", &format!("records={RECORDS}")])
            .args(matches!(work, Work::OpenRead).then(|| format!("--rate={RATE}")))
            .arg(&self.host);
        command
    }

    fn measure(&self, work: Work, tool: Tool, round: u64) -> Result<Row> {
        let mut command = match tool {
            Tool::Iopslab => self.iopslab_command(work, round),
            Tool::Latte => self.latte_command(work, round),
        };
        let executed_before = self.executed(work)?;
        let others: BTreeSet<_> = self.connections()?.into_keys().collect();

        let began = Instant::now();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let ended = AtomicBool::new(false);
        let mut requests = BTreeMap::new();
        let used = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let used = child.wait4();
                ended.store(true, Relaxed);
                used
            });
            while !ended.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
                // A failed poll only makes the count older, which the check below would notice.
                requests.extend(self.connections().unwrap_or_default());
            }
            waiting.join().expect("waiting for a process does not panic")
        })?;
        let wall_s = began.elapsed().as_secs_f64();
        if !used.status.success() {
            return Err(format!("{command:?} failed: {}", used.status).into());
        }

        let operations = self.operations(work) as f64;
        let executed = (self.executed(work)? - executed_before) as f64 / operations;
        let counted: i64 = requests
            .iter()
            .filter(|(port, _)| !others.contains(*port))
            .map(|(_, count)| count)
            .sum();
        let counted_by_server = counted as f64 / operations;
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
            counted_by_server,
        })
    }

    /// Requests on each open connection, by the client's port.
    fn connections(&self) -> Result<BTreeMap<(String, i32), i64>> {
        let statement = "SELECT address, port, request_count FROM system_views.clients";
        let rows = self
            .runtime
            .block_on(self.session.query_unpaged(statement, ()))?
            .into_rows_result()?;
        let mut connections = BTreeMap::new();
        for row in rows.rows::<(std::net::IpAddr, i32, i64)>()? {
            let (address, port, count) = row?;
            connections.insert((address.to_string(), port), count);
        }
        Ok(connections)
    }

    /// Requests that the server has executed on the table, ever.
    fn executed(&self, work: Work) -> Result<i64> {
        let view = match work {
            Work::Read | Work::OpenRead => "coordinator_read_latency",
            Work::Insert => "coordinator_write_latency",
        };
        let statement =
            format!("SELECT count FROM system_views.{view} WHERE keyspace_name = 'ycsb' AND table_name = 'usertable'");
        let rows = self
            .runtime
            .block_on(self.session.query_unpaged(statement, ()))?
            .into_rows_result()?;
        Ok(rows.maybe_first_row::<(i64,)>()?.map_or(0, |(count,)| count))
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
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            (values[middle - 1] + values[middle]) / 2.0
        };
        Self {
            least: values[0],
            median,
            most: values[values.len() - 1],
        }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} [{:.2}, {:.2}]", self.median, self.least, self.most)
    }
}
