//! Whether iopslab's closed loop carries what pgbench does, and what either costs its own machine: TPC-B of
//! `examples/tpcb.sql` beside `pgbench --protocol=prepared`, on tables that pgbench has made, of one server.
//!
//! Both have one thread and as many connections, and run in turns (A B B A ...), so that a machine that gets slower
//! does so for both; before each run history is emptied, dead rows are removed and a checkpoint is written. CPU is that
//! of the client's process alone, by the operating system. Run it by `bench/pgbench.sh`, which prepares the server.

#![allow(clippy::print_stdout, reason = "this program's output is its table")]

use std::error::Error;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use database::postgresql::PostgresConnect;
use database::{Client as _, OwnWork, TableAt};
use engine::{Load, TrialPlan, run_trial};
use experiment::{Definition, OperationKind, Own, StatementName};
use statements::{Data, Generator, Population, Script, TableData};
use tokio::runtime::Runtime;
use tokio_postgres::{Config, NoTls};
use wait4::Wait4 as _;
use workload::{Distribution, StatementShare};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The database in which pgbench has made its tables.
const DATABASE: &str = "ycsb";
const STATEMENT: &str = "tpcb";

/// One run of a client.
struct Row {
    per_s: f64,
    cpu_us: f64,
}

struct Bench {
    host: String,
    port: u16,
    pgbench: String,
    scale: u64,
    clients: u32,
    duration: Duration,
    runtime: Runtime,
}

fn main() -> Result<()> {
    let number = |name: &str, default: u64| std::env::var(name).map_or(Ok(default), |text| text.parse::<u64>());
    let bench = Bench {
        host: std::env::var("PGHOST").unwrap_or_else(|_| "127.0.0.1".to_owned()),
        port: u16::try_from(number("PGPORT", 5432)?)?,
        pgbench: std::env::var("PGBENCH").unwrap_or_else(|_| "pgbench".to_owned()),
        scale: number("SCALE", 100)?,
        clients: u32::try_from(number("CLIENTS", 32)?)?,
        duration: Duration::from_secs(number("SECONDS_EACH", 60)?),
        runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?,
    };
    let rounds = number("ROUNDS", 5)?;
    let (mut pgbench, mut iopslab) = (Vec::new(), Vec::new());
    // Round 0 fills the server's buffers and is not counted.
    for round in 0..=rounds {
        // Who is first in a round is second in the next.
        let (mut of_pgbench, mut of_iopslab) = (None, None);
        for is_peer in [round % 2 == 0, round % 2 == 1] {
            bench.bring_to_rest()?;
            match is_peer {
                true => of_pgbench = Some(bench.pgbench()?),
                false => of_iopslab = Some(bench.iopslab(round)?),
            }
        }
        if round > 0 {
            pgbench.extend(of_pgbench);
            iopslab.extend(of_iopslab);
        }
    }
    let seconds = bench.duration.as_secs();
    println!(
        "TPC-B at scale {}, {} connections, one thread, {rounds} rounds of {seconds} s in turns; medians [least, \
         most].\n",
        bench.scale, bench.clients
    );
    println!("| client | transactions/s | client CPU, us/transaction |");
    println!("|---|---|---|");
    let of = |rows: &[Row], value: fn(&Row) -> f64| -> Vec<f64> { rows.iter().map(value).collect() };
    for (name, rows) in [("pgbench", &pgbench), ("iopslab", &iopslab)] {
        println!("| {name} | {} | {} |", spread(of(rows, |row| row.per_s), 0), spread(of(rows, |row| row.cpu_us), 0));
    }
    // Neighbours in time: a machine that gets slower is in neither ratio.
    let rounds = || iopslab.iter().zip(&pgbench);
    println!(
        "| iopslab / pgbench, round by round | {} | {} |",
        spread(rounds().map(|(own, peer)| own.per_s / peer.per_s).collect(), 3),
        spread(rounds().map(|(own, peer)| own.cpu_us / peer.cpu_us).collect(), 3)
    );
    Ok(())
}

impl Bench {
    /// As the server's superuser.
    fn bring_to_rest(&self) -> Result<()> {
        let mut config = Config::new();
        config.host(&self.host).port(self.port).user("postgres").dbname(DATABASE);
        self.runtime.block_on(async {
            let (client, connection) = config.connect(NoTls).await?;
            tokio::spawn(async move { drop(connection.await) });
            for statement in ["TRUNCATE pgbench_history", "VACUUM", "CHECKPOINT"] {
                client.batch_execute(statement).await?;
            }
            Ok(())
        })
    }

    fn pgbench(&self) -> Result<Row> {
        let (clients, seconds) = (self.clients.to_string(), self.duration.as_secs().to_string());
        let mut command = Command::new(&self.pgbench);
        command
            .args(["--host", &self.host, "--port", &self.port.to_string(), "--username", "iopslab"])
            .args(["--client", &clients, "--jobs", "1", "--time", &seconds])
            .args(["--builtin", "tpcb-like", "--protocol", "prepared", "--no-vacuum", DATABASE]);
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut said = String::new();
        child.stdout.take().ok_or("no output")?.read_to_string(&mut said)?;
        let used = child.wait4()?;
        if !used.status.success() {
            return Err(format!("{command:?} failed: {}: {said}", used.status).into());
        }
        let figure = |before: &str| -> Option<f64> {
            let rest = said.lines().find_map(|line| line.strip_prefix(before))?;
            rest.split([' ', '/']).next()?.parse().ok()
        };
        let unread = || format!("{command:?} says neither: {said}");
        let transactions = figure("number of transactions actually processed: ").ok_or_else(unread)?;
        let cpu = used.rusage.utime + used.rusage.stime;
        Ok(Row { per_s: figure("tps = ").ok_or_else(unread)?, cpu_us: cpu.as_secs_f64() * 1e6 / transactions })
    }

    fn iopslab(&self, round: u64) -> Result<Row> {
        let kind = OperationKind::Statement(StatementName::new(STATEMENT)?);
        let share = StatementShare { kind, share: 1.0, reads: true, writes: true, grows: false };
        let definition = Definition::of_statements(STATEMENT, vec![share]);
        let own = self.own()?.of_workload(&definition);
        let at = TableAt { keyspace: DATABASE.to_owned(), ..TableAt::ycsb(format!("{}:{}", self.host, self.port), 1) };
        let client = PostgresConnect::to(at).with_own(OwnWork::requests(own, 0, 1));
        let load = Load::Closed { concurrency: self.clients };
        // Without a warm-up, as pgbench: what a volume has saved up while nobody asked it is in both windows.
        // Other rows in each round, as pgbench: rows that were updated before lie in pages without room, so that each
        // update writes further pages.
        let plan = TrialPlan { seed: round, ..TrialPlan::new(definition, 1, load, self.duration) };
        let result = run_trial(&client, &plan, &mut |_| {}, &false.into())?.result;
        if result.errors.values().sum::<u64>() > 0 {
            return Err(format!("errors: {:?}", result.errors).into());
        }
        let transactions = result.completed.values().sum::<u64>() as f64;
        Ok(Row { per_s: transactions / result.measured_s, cpu_us: result.client_cpu_s * 1e6 / transactions })
    }

    /// What is asked of pgbench's tables.
    fn own(&self) -> Result<Own> {
        let script = Script::parse_sql(include_str!("../../../examples/tpcb.sql"));
        let script = script.map_err(|mistakes| mistakes[0].to_string())?;
        let table = |name: &str, key: &str, rows: u64| {
            let from_one = Generator::Sequence { start: 1, step: 1, each: 1, cycle: None };
            let blank = Generator::Fixed { value: String::new() };
            TableData {
                columns: [(key.to_owned(), from_one), ("filler".to_owned(), blank)].into(),
                population: Population::Of(Distribution::Uniform),
                ..TableData::new(&format!("pgbench_{name}"), rows)
            }
        };
        let delta = Generator::Uniform { min: -5_000.0, max: 5_000.0 };
        let history =
            TableData { columns: [("delta".to_owned(), delta)].into(), ..TableData::new("pgbench_history", 0) };
        let tables = vec![
            table("branches", "bid", self.scale),
            table("tellers", "tid", 10 * self.scale),
            table("accounts", "aid", 100_000 * self.scale),
            history,
        ];
        Ok(Own {
            file: "examples/tpcb.sql".to_owned(),
            script,
            data: Data { seed: 1, tables, ..Data::default() },
            row_bytes: [].into(),
            replay: None,
            snapshot: None,
        })
    }
}

/// Median, least and most.
fn spread(mut values: Vec<f64>, digits: usize) -> String {
    values.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (values.first(), values.last()) else { return "-".to_owned() };
    format!("{:.digits$} [{least:.digits$}, {most:.digits$}]", values[values.len() / 2])
}
