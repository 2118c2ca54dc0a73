//! `iopslab doctor`: what this machine can and cannot do, and how to fix it.

use std::path::Path;

use clap::Args;
use database::cassandra;
use database::memcached::PROGRAM;
use experiment::SPARSE_PER_S;
use process::failure::Failure;
use process::output::{Format, pretty};
use process::paths::{cache_directory, left_before, work_directory};
use serde::Serialize;
use storage::{Controller, Problem};

/// What was typed after `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Measure only how fast a CPU of this machine is (six seconds), and beside which instance types that is
    #[arg(long)]
    cpu: bool,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    what: String,
    ok: bool,
    found: String,
    fix: Option<String>,
}

impl Check {
    /// As it should be.
    fn ok(what: &str, found: impl Into<String>) -> Self {
        Self { what: what.to_owned(), ok: true, found: found.into(), fix: None }
    }

    /// It keeps runs from working, until this is done.
    fn fails(what: &str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { ok: false, ..Self::to_do(what, found, fix) }
    }

    /// It keeps nothing from working; this can be done about it.
    fn to_do(what: &str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::ok(what, found) }
    }
}

pub fn run(args: &DoctorArgs, format: Format) -> Result<(), Failure> {
    if args.cpu {
        return super::doctor_cpu::run(format);
    }
    let mut checks: Vec<Check> = cassandra::versions().iter().map(|version| java(version)).collect();
    checks.push(host_name());
    let controllers = storage::controllers(Path::new(agent::CGROUP_ROOT));
    checks
        .extend([("memory", &controllers.memory), ("cpu", &controllers.cpu), ("io", &controllers.io)].map(controller));
    // Space is looked at below, directory by directory.
    let problems = storage::preflight(&work_directory(), 0, Path::new(agent::CGROUP_ROOT));
    if problems.is_empty() {
        checks.push(Check::ok(VOLUMES, "root, loop devices, XFS, fio, limits"));
    }
    let fails = |problem: Problem| Check::fails(VOLUMES, problem.what, problem.fix);
    checks.extend(problems.into_iter().map(fails));
    checks.push(served_volumes());
    checks.push(arrays());
    checks.push(postgresql());
    checks.push(caches());
    checks.extend(directories()?);
    checks.extend(left_before().map(|left| Check::to_do("earlier version", left.what, left.command)));
    checks.push(client());
    let bad = checks.iter().filter(|c| !c.ok).count();
    match format {
        Format::Json => println!("{}", pretty(&serde_json::json!({ "checks": checks }))),
        Format::Human => {
            for check in &checks {
                println!("{} {:<20} {}", if check.ok { "ok  " } else { "FAIL" }, check.what, check.found);
                if let Some(fix) = &check.fix {
                    println!("{:26}fix: {fix}", "");
                }
            }
        }
    }
    if bad == 0 {
        Ok(())
    } else {
        let (s, keep) = if bad == 1 { ("", "keeps") } else { ("s", "keep") };
        Err(Failure::work(format!("{bad} problem{s} {keep} `iopslab run` from working here")))
    }
}

/// Nothing needs them: a machine without is no worse than throttled volumes are.
fn served_volumes() -> Check {
    let found = match served::available() {
        Ok(()) => "/dev/fuse; the default where the CPUs suffice".to_owned(),
        Err(error) => format!("not here: {error}"),
    };
    Check::ok("served volumes", found)
}

/// Nothing needs it but `database = "postgresql"`.
fn postgresql() -> Check {
    let missing: Vec<&str> = ["tar", "xz"].into_iter().filter(|name| guarded::program(name).is_none()).collect();
    let found = match missing.is_empty() {
        true => "tar and xz, which unpack its binaries".to_owned(),
        false => format!("not here: {} is not installed, which unpacks its binaries", missing.join(" and ")),
    };
    Check::ok("PostgreSQL", found)
}

/// Nothing needs it but `cache_tier`.
fn caches() -> Check {
    let found = match guarded::program(PROGRAM) {
        Some(path) => path.display().to_string(),
        None => format!("not here: {PROGRAM} is not installed; apt-get install {PROGRAM}, or dnf install {PROGRAM}"),
    };
    Check::ok("cache tiers", found)
}

/// Nothing needs it but `layout = "raid0"`.
fn arrays() -> Check {
    let problems = storage::Array::problems().into_iter();
    let missing: Vec<String> = problems.map(|problem| format!("{}; {}", problem.what, problem.fix)).collect();
    let found = match missing.is_empty() {
        true => "the md driver, mdadm".to_owned(),
        false => format!("not here: {}", missing.join("; ")),
    };
    Check::ok("RAID 0 of volumes", found)
}

/// The line about where evidence goes, which is nobody's place in particular.
const RUNS: &str = "runs";
/// The line about emulated volumes.
const VOLUMES: &str = "emulated volumes";
/// The example that `run` is tried with first.
const EXAMPLE: &str = include_str!("../../../../examples/quickstart.toml");
/// The class archive that shortens starts; 58 MB for Cassandra 5.0.9 on JDK 17.
const START_ARCHIVE_BYTES: u64 = 60_000_000;
/// Records, latencies, samples and logs of one trial of the example (measured: 146 to 158 kB).
const EVIDENCE_BYTES: u64 = 160_000;

/// Each directory that a run writes to: what is free there, and what the example needs.
fn directories() -> Result<Vec<Check>, Failure> {
    let (catalog, alone) = (catalog::Catalog::built_in(), experiment::ParseContext::alone());
    let example = experiment::parse(catalog, "quickstart.toml", EXAMPLE, &alone, experiment::ReadFor::Anybody)
        .map_err(Failure::mistakes)?;
    let job = experiment::job(&example);
    let plan = &job.plan;
    let cache = cache_directory();
    let downloads = match &plan.target.database {
        experiment::Database::Started(started) => {
            cassandra::download_bytes(&started.version).map_err(Failure::work)? + START_ARCHIVE_BYTES
        }
        experiment::Database::Existing(_) => 0,
    };
    let there = storage::tree_bytes(&cache.join("cassandra"));
    Ok(vec![
        directory(
            "work directory",
            &work_directory(),
            job.needed_bytes_together(),
            "set IOPSLAB_WORK to a larger disk, or free some space",
        ),
        directory(
            "downloads",
            &cache,
            downloads.saturating_sub(there),
            "set IOPSLAB_CACHE to a larger disk, or free some space",
        ),
        directory(
            RUNS,
            &std::env::current_dir().unwrap_or_default().join(super::run::args::DEFAULT_OUT),
            EVIDENCE_BYTES * plan.trials.len() as u64,
            "write runs elsewhere with: iopslab run --out DIR",
        ),
    ])
}

fn directory(what: &str, path: &Path, needed: u64, fix: &str) -> Check {
    if what != RUNS
        && let Some(problem) = storage::changed_by_others(path)
    {
        return Check::fails(what, problem.what, problem.fix);
    }
    let free = match storage::free_bytes(path) {
        Ok(free) => free,
        Err(error) => return Check::fails(what, error.to_string(), fix),
    };
    let need = match needed {
        0 => ", which has all that is needed".to_owned(),
        _ => format!("; examples/quickstart.toml needs {}", size(needed)),
    };
    let found = format!("{} free in {}{need}", size(free), path.display());
    if free >= needed { Check::ok(what, found) } else { Check::fails(what, found, fix) }
}

fn size(bytes: u64) -> String {
    match bytes as f64 / f64::from(1 << 20) {
        mib if mib >= 1024.0 => format!("{:.1} GiB", mib / 1024.0),
        mib => format!("{mib:.1} MiB"),
    }
}

fn host_name() -> Check {
    match cassandra::check_host_name() {
        Ok(name) => Check::ok("host name", format!("`{name}` resolves")),
        Err(error) => Check::fails(
            "host name",
            format!("`{}` does not resolve ({}); Cassandra does not start without", error.name, error.source),
            format!("add this line to /etc/hosts: 127.0.1.1 {}", error.name),
        ),
    }
}

/// What the client costs, and so how much it can send: what a plan with rates is held against.
fn client() -> Check {
    match super::client_cost::measure() {
        Ok(cost) => Check::ok(
            "client",
            format!(
                "sends {:.0} reads/s at the most, {:.1} us of CPU for each on {} load thread{}; {:.0} us in an open \
                 loop of {SPARSE_PER_S:.0}/s",
                cost.ceiling_per_s(),
                cost.closed_us,
                cost.threads,
                if cost.threads == 1 { "" } else { "s" },
                cost.sparse_us
            ),
        ),
        Err(found) => Check::fails(
            "client",
            found,
            "see that 127.0.0.1 can be listened on, and that the downloads' directory can be written",
        ),
    }
}

/// A Java for a version of Cassandra. One that is missing keeps runs of that version from working, and only the default
/// one is what most runs are of.
fn java(version: &str) -> Check {
    let is_default = version == cassandra::versions()[0];
    let what = if is_default { "Java".to_owned() } else { format!("Java for {version}") };
    match cassandra::find_java(version) {
        Ok(java) => {
            let adds = if java.own_options.is_empty() { "" } else { "; it adds options of its own: " };
            let options = java.own_options.join(", ");
            Check::ok(&what, format!("{} ({}){adds}{options}", java.version_text, java.path.display()))
        }
        Err(error) => {
            let fix = cassandra::java::how_to_get(version);
            if is_default {
                Check::fails(&what, error.to_string(), fix)
            } else {
                Check::to_do(&what, error.to_string(), fix)
            }
        }
    }
}

fn controller((name, controller): (&str, &Controller)) -> Check {
    let what = format!("cgroup {name}");
    match controller {
        Controller::Usable { version, mount } => Check::ok(&what, format!("{version:?} at {}", mount.display())),
        Controller::Missing { reason } => {
            Check::fails(&what, reason, "limits cannot be emulated without it; boot with this controller enabled")
        }
    }
}
