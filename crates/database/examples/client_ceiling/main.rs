//! What the client itself costs, and how much it carries: the engine and the CQL driver against a server without a
//! database, a process of its own (`null_server`). CPU is the client process's alone, by the operating system.
//!
//! `make bench` runs it. Each round measures every case once in frames of iopslab's own, its reads once more as a
//! statement of the user's own, every case once through the CQL driver, and reads of one thread by a client that does
//! nothing else ([`raw`]), so that a machine that gets slower does so for all.
//!
//! ```text
//! ROUNDS=5  CASE_S=5  CASES=open   cargo run --release -p database --example client_ceiling
//! ```

#![allow(clippy::print_stdout, reason = "this program's output is its table")]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use database::{CqlConnect, OwnWork, TableAt, null_server};
use engine::{Load, TrialOutcome, TrialPlan};
use experiment::{Arrivals, Definition, Distribution, Mix, OperationKind, Own, StatementName};
use statements::{Data, Population, Script, TableData};
use workload::StatementShare;

mod raw;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const RECORDS: u64 = 100_000;
const FIELDS: u32 = 10;
const CONCURRENCY: u32 = 100;
/// The read of YCSB, as a statement of the user's own.
const STATEMENT: &str = "look";

/// One row of the table.
struct Case {
    name: &'static str,
    mix: fn() -> Mix,
    load: Load,
    threads: u32,
}

fn cases() -> Vec<Case> {
    let read = || Mix { read: 1.0, ..Mix::default() };
    let insert = || Mix { insert: 1.0, ..Mix::default() };
    let closed = Load::Closed { concurrency: CONCURRENCY };
    let open = |operations_per_s, arrivals| Load::Open { operations_per_s, arrivals };
    let case = |name, mix, load, threads| Case { name, mix, load, threads };
    vec![
        case("closed, read, 1 thread", read, closed, 1),
        case("closed, read, 2 threads", read, closed, 2),
        case("closed, insert, 1 thread", insert, closed, 1),
        case("open 5,000/s, constant, read", read, open(5e3, Arrivals::Constant), 1),
        case("open 5,000/s, Poisson, read", read, open(5e3, Arrivals::Poisson), 1),
        case("open 50,000/s, constant, read", read, open(5e4, Arrivals::Constant), 1),
        case("open 100,000/s, constant, read", read, open(1e5, Arrivals::Constant), 1),
    ]
}

/// The server's process, which ends with this value.
struct Server(Child, u16);

impl Server {
    fn start() -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?).arg("serve").stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().ok_or("the server has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok(Self(child, line.trim().parse()?))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing is lost when it has ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() -> Result<()> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        println!("{}", listener.local_addr()?.port());
        return Ok(null_server::serve(&listener)?);
    }
    let number = |name: &str, default: u64| std::env::var(name).map_or(Ok(default), |text| text.parse::<u64>());
    let (rounds, case_s) = (number("ROUNDS", 5)?, number("CASE_S", 5)?);
    let wanted = std::env::var("CASES").unwrap_or_default();
    let cases: Vec<Case> = cases().into_iter().filter(|case| case.name.contains(&wanted)).collect();
    let server = Server::start()?;
    let connect = CqlConnect::new(TableAt::ycsb(format!("127.0.0.1:{}", server.1), FIELDS));
    let driver = CqlConnect::new(TableAt { driver_only: true, ..connect.at.clone() });
    let statement = CqlConnect { own: Some(Arc::new(OwnWork::requests(own()?, 0, 1))), ..connect.clone() };
    let paths =
        [("own frames", Some(&connect)), ("own statement", Some(&statement)), ("driver", Some(&driver)), ("raw", None)];
    let mut rows: BTreeMap<(usize, usize), Vec<Row>> = BTreeMap::new();
    for _ in 0..rounds {
        for (position, case) in cases.iter().enumerate() {
            for (path, (name, connect)) in paths.iter().enumerate() {
                let duration = Duration::from_secs(case_s);
                let reads = (case.mix)().read > 0.0;
                let row = match connect {
                    Some(connect) if connect.own.is_none() || reads => {
                        let plan = plan(case, connect.own.is_some(), duration)?;
                        Row::of(&engine::run_trial(*connect, &plan, &mut |_| {}, &false.into())?)
                            .map_err(|e| format!("{}, {name}: {e}", case.name))?
                    }
                    None if case.threads == 1 && reads => Row::of_raw(&raw::run(server.1, case.load, duration)?),
                    _ => continue,
                };
                rows.entry((position, path)).or_default().push(row);
            }
        }
    }
    if let Some(note) = engine::Connect::notes(&connect).first() {
        return Err(note.clone().into());
    }
    println!("{rounds} rounds of {case_s} s; medians [least, most]; lag is how late a request was sent, us.\n");
    println!("| case | path | operations/s | client CPU, us/op | lag p50 | lag p99 |");
    println!("|---|---|---|---|---|---|");
    for ((position, path), rows) in &rows {
        println!(
            "| {} | {} | {} | {} | {} | {} |",
            cases[*position].name,
            paths[*path].0,
            spread(rows, |row| Some(row.operations_per_s), 0),
            spread(rows, |row| Some(row.cpu_us), 2),
            spread(rows, |row| row.lag_us.map(|lag| lag.0), 0),
            spread(rows, |row| row.lag_us.map(|lag| lag.1), 0),
        );
    }
    Ok(())
}

/// A case measured once.
struct Row {
    operations_per_s: f64,
    /// CPU of the client, microseconds per operation.
    cpu_us: f64,
    /// How late requests were sent, median and p99, microseconds; `None` in a closed loop.
    lag_us: Option<(f64, f64)>,
}

impl Row {
    fn of(outcome: &TrialOutcome) -> Result<Self> {
        let result = &outcome.result;
        if result.errors.values().sum::<u64>() > 0 {
            return Err(format!("errors: {:?}", result.errors).into());
        }
        let operations = result.completed.values().sum::<u64>() as f64;
        Ok(Self {
            operations_per_s: operations / result.measured_s,
            cpu_us: result.client_cpu_s * 1e6 / operations,
            lag_us: result.send_lag_us.as_ref().map(|lag| (lag.p50 as f64, lag.p99 as f64)),
        })
    }

    fn of_raw(run: &raw::Run) -> Self {
        Self {
            operations_per_s: run.operations_per_s,
            cpu_us: run.cpu_us_per_operation,
            lag_us: run.lag(0.5).zip(run.lag(0.99)),
        }
    }
}

/// Of a case, or of the same reads as a statement of the user's own.
fn plan(case: &Case, is_own: bool, duration: Duration) -> Result<TrialPlan> {
    let definition = if is_own {
        let kind = OperationKind::Statement(StatementName::new(STATEMENT)?);
        let share = StatementShare { kind, share: 1.0, reads: true, writes: false, grows: false };
        Definition::of_statements("ceiling", vec![share])
    } else {
        Definition::new("ceiling", (case.mix)(), Distribution::Uniform)
    };
    let usual = TrialPlan::new(definition, RECORDS, case.load, duration);
    Ok(TrialPlan { warmup: Duration::from_millis(500), threads: case.threads, ..usual })
}

/// YCSB's table, and its read of one record.
fn own() -> Result<Own> {
    let fields: String = (0..FIELDS).map(|field| format!(", field{field} text")).collect();
    let script = format!(
        "CREATE TABLE usertable (y_id text PRIMARY KEY{fields});\n-- statement {STATEMENT} weight 1\n\
         SELECT * FROM usertable WHERE y_id = ?;\n"
    );
    let script = Script::parse(&script, &[]).map_err(|mistakes| mistakes[0].to_string())?;
    let population = Population::Of(Distribution::Uniform);
    let table = TableData { population, ..TableData::new("usertable", RECORDS) };
    Ok(Own {
        file: "ceiling.cql".to_owned(),
        script,
        data: Data { tables: vec![table], ..Data::default() },
        row_bytes: BTreeMap::new(),
        replay: None,
        snapshot: None,
    })
}

fn spread(rows: &[Row], value: impl Fn(&Row) -> Option<f64>, digits: usize) -> String {
    let mut values: Vec<f64> = rows.iter().filter_map(value).collect();
    values.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (values.first(), values.last()) else { return "-".to_owned() };
    let median = values[values.len() / 2];
    format!("{median:.digits$} [{least:.digits$}, {most:.digits$}]")
}
