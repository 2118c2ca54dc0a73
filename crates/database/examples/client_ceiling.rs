//! What the client itself costs, and how much it carries: the engine and the CQL driver against a server without a
//! database, a process of its own (`null_server`). CPU is the client process's alone, by the operating system.
//!
//! `make bench` runs it. Each round measures every case once in frames of iopslab's own and once through the CQL driver,
//! so that a machine that gets slower does so for all.
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
use std::time::Duration;

use database::{CqlConnect, Notes, null_server};
use engine::{Load, TrialOutcome, TrialPlan};
use spec::{Access, Consistency, ConsistencyLevels, Definition, Distribution, Mix, ScanLength};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const RECORDS: u64 = 100_000;
const FIELDS: u32 = 10;
const CONCURRENCY: u32 = 100;

/// One row of the table.
struct Case {
    name: &'static str,
    mix: fn() -> Mix,
    load: Load,
    threads: u32,
}

fn cases() -> Vec<Case> {
    let read = || Mix {
        read: 1.0,
        ..Mix::default()
    };
    let insert = || Mix {
        insert: 1.0,
        ..Mix::default()
    };
    let closed = Load::Closed {
        concurrency: CONCURRENCY,
    };
    let open = |operations_per_s, poisson| Load::Open {
        operations_per_s,
        poisson,
    };
    let case = |name, mix, load, threads| Case {
        name,
        mix,
        load,
        threads,
    };
    vec![
        case("closed, read, 1 thread", read, closed, 1),
        case("closed, read, 2 threads", read, closed, 2),
        case("closed, insert, 1 thread", insert, closed, 1),
        case("open 5,000/s, constant, read", read, open(5e3, false), 1),
        case("open 5,000/s, Poisson, read", read, open(5e3, true), 1),
        case("open 50,000/s, constant, read", read, open(5e4, false), 1),
        case("open 100,000/s, constant, read", read, open(1e5, false), 1),
    ]
}

/// The server's process, which ends with this value.
struct Server(Child, u16);

impl Server {
    fn start() -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("serve")
            .stdout(Stdio::piped())
            .spawn()?;
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
    let connect = CqlConnect {
        contact_points: vec![format!("127.0.0.1:{}", server.1)],
        keyspace: "ycsb".to_owned(),
        table: "usertable".to_owned(),
        fields: FIELDS,
        consistency: ConsistencyLevels::all(Consistency::One),
        request_timeout: Duration::from_secs(10),
        access: Access::default(),
        driver_only: false,
        notes: Notes::default(),
    };
    let driver = CqlConnect {
        driver_only: true,
        notes: Notes::default(),
        ..connect.clone()
    };
    let paths = [("own frames", &connect), ("driver", &driver)];
    let mut outcomes: BTreeMap<(usize, usize), Vec<TrialOutcome>> = BTreeMap::new();
    for _ in 0..rounds {
        for (position, case) in cases.iter().enumerate() {
            for (path, (name, connect)) in paths.iter().enumerate() {
                let plan = plan(case, Duration::from_secs(case_s));
                let outcome = engine::run_trial(*connect, &plan, &mut |_| {}, &false.into())?;
                if outcome.result.errors.values().sum::<u64>() > 0 {
                    return Err(format!("{}, {name}: errors: {:?}", case.name, outcome.result.errors).into());
                }
                outcomes.entry((position, path)).or_default().push(outcome);
            }
        }
    }
    if let Some(note) = engine::Connect::notes(&connect).first() {
        return Err(note.clone().into());
    }
    println!("{rounds} rounds of {case_s} s; medians [least, most]; lag is how late a request was sent, us.\n");
    println!("| case | path | operations/s | client CPU, us/op | lag p50 | lag p99 |");
    println!("|---|---|---|---|---|---|");
    for ((position, path), outcomes) in &outcomes {
        let lag = |of: fn(&evidence::SendLag) -> u64| match outcomes[0].result.send_lag_us {
            Some(_) => spread(outcomes, |one| one.result.send_lag_us.as_ref().map_or(0, of) as f64, 0),
            None => "-".to_owned(),
        };
        println!(
            "| {} | {} | {} | {} | {} | {} |",
            cases[*position].name,
            paths[*path].0,
            spread(outcomes, |one| operations(one) / one.result.measured_s, 0),
            spread(outcomes, |one| one.result.client_cpu_s * 1e6 / operations(one), 2),
            lag(|lag| lag.p50),
            lag(|lag| lag.p99),
        );
    }
    Ok(())
}

fn operations(outcome: &TrialOutcome) -> f64 {
    outcome.result.completed.values().sum::<u64>() as f64
}

fn plan(case: &Case, duration: Duration) -> TrialPlan {
    TrialPlan {
        definition: Definition {
            name: "ceiling".to_owned(),
            mix: (case.mix)(),
            distribution: Distribution::Uniform,
            read_all_fields: true,
            write_all_fields: false,
            scan_length: ScanLength::default(),
            keys: spec::KeyFormat::default(),
        },
        fields: FIELDS,
        field_length: 100,
        compressibility: 0.0,
        records: RECORDS,
        load: case.load,
        warmup: Duration::from_millis(500),
        duration,
        operations: None,
        threads: case.threads,
        seed: 7,
        first_insert: RECORDS,
        part: engine::Part::WHOLE,
        check_writes: false,
        begin: None,
    }
}

fn spread(outcomes: &[TrialOutcome], value: impl Fn(&TrialOutcome) -> f64, digits: usize) -> String {
    let mut values: Vec<f64> = outcomes.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    let (least, median, most) = (values[0], values[values.len() / 2], values[values.len() - 1]);
    format!("{median:.digits$} [{least:.digits$}, {most:.digits$}]")
}
