//! What the client costs on this machine: measured by `doctor` against a server without a database, kept beside the
//! downloads, and used where a plan names rates.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use database::{CqlConnect, TableAt, null_server};
use engine::{Load, TrialPlan};
use experiment::{Arrivals, ClientCost, Definition, Distribution, Mix, SPARSE_PER_S};
use process::failure::Failure;
use process::paths::{cache_directory, keep_json};
use serde::{Deserialize, Serialize};

/// What a hidden verb serves with the null server on.
const SERVE: &str = "null-server";
/// Measured seconds of each load.
const MEASURED_S: f64 = 1.0;
/// Requests in flight in the closed loop.
const IN_FLIGHT: u32 = 100;
/// Records that keys are taken from, fields of each and their bytes: those of the null server.
const RECORDS: u64 = 100_000;
const FIELDS: u32 = 10;
const FIELD_BYTES: u32 = 100;

/// A cost, and of what.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    version: String,
    machine: String,
    cost: ClientCost,
}

/// Measures it, some three seconds, and keeps it. The error says why that is not possible.
pub fn measure() -> Result<ClientCost, String> {
    let failed = |what: &str, error: &dyn std::fmt::Display| format!("cannot be measured: {what}: {error}");
    let server = Server::start().map_err(|e| failed("the server without a database does not start", &e))?;
    let us = |load: Load| {
        let outcome = engine::run_trial(&server.connect(), &plan(load), &mut |_| {}, &false.into());
        let result = outcome.map_err(|e| failed("the load", &e))?.result;
        let operations = result.completed.values().sum::<u64>() as f64;
        let each = stats::ratio(result.client_cpu_s * 1e6, operations);
        each.ok_or_else(|| failed("the load", &"nothing was answered"))
    };
    let cost = ClientCost {
        threads: engine::most_threads(),
        closed_us: us(Load::Closed { concurrency: IN_FLIGHT })?,
        sparse_us: us(Load::Open { operations_per_s: SPARSE_PER_S, arrivals: Arrivals::Poisson })?,
    };
    let kept = Kept { version: version(), machine: machine(), cost };
    let path = path();
    keep_json(&path, &kept, 0o600).map_err(|e| failed(&path.display().to_string(), &e))?;
    Ok(cost)
}

/// What was measured by this version on this machine.
pub fn known() -> Option<ClientCost> {
    let kept: Kept = serde_json::from_slice(&guarded::read(&path(), 1 << 16).ok()?).ok()?;
    (kept.version == version() && kept.machine == machine()).then_some(kept.cost)
}

fn path() -> PathBuf {
    cache_directory().join("client-cost.json")
}

/// Which program, and in which way it sends: an unoptimised one and the driver cost several times as much.
fn version() -> String {
    let profile = if cfg!(debug_assertions) { " (debug)" } else { "" };
    let way = if database::driver_only() { " (driver)" } else { "" };
    format!("{}{profile}{way}", env!("CARGO_PKG_VERSION"))
}

/// What the figures hold for: processors and their number.
fn machine() -> String {
    let facts = monitor::environment(Path::new("/"));
    format!("{} x {}", facts.cpus, facts.cpu_model.unwrap_or_default())
}

/// Serves with the null server; its port is the only line on stdout. For [`measure`], which must not count its CPU.
pub fn serve() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| {
        println!("{}", listener.local_addr()?.port());
        null_server::serve(&listener)
    });
    listener.map_err(Failure::work)
}

/// The server's process, which ends with this value.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start() -> std::io::Result<Self> {
        let mut process =
            Command::new(std::env::current_exe()?).arg(SERVE).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let mut server = Self { process, port: 0 };
        server.port = line.trim().parse().map_err(std::io::Error::other)?;
        Ok(server)
    }

    fn connect(&self) -> CqlConnect {
        CqlConnect::new(TableAt {
            driver_only: database::driver_only(),
            ..TableAt::ycsb(format!("127.0.0.1:{}", self.port), FIELDS)
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has nothing to lose, and may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One load thread: others cost what it costs.
fn plan(load: Load) -> TrialPlan {
    let definition = Definition::new("reads", Mix { read: 1.0, ..Mix::default() }, Distribution::Uniform);
    let usual = TrialPlan::new(definition, RECORDS, load, Duration::from_secs_f64(MEASURED_S));
    TrialPlan { fields: FIELDS, field_length: FIELD_BYTES, warmup: Duration::from_millis(300), ..usual }
}
