//! `iopslab probe`: what a file system's storage, or the volumes of a configuration, deliver, by fio.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use ::catalog::MIB;
use agent::{ProbedVolume, probe_configuration};
use clap::Args;
use experiment::{IoLimits, Provider, ReadFor, Setup, choice};
use process::failure::Failure;
use process::output::{Format, pretty};
use serde_json::{Value, json};
use storage::{BurstDrain, ProbeMeasured, ProbeRequest, ProbeSuite};

use super::by_hand::{ByHand, alone};
use super::experiment_file::read_experiment;
use super::facts::catalog;

/// What was typed after `probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab probe /var/lib/cassandra --seconds 10
  iopslab probe quickstart.toml --configuration gp3     # its volumes, emulated here, under their limits
  iopslab probe /mnt/v --burst-s 600                    # until a burst bucket is empty

Writes a file of --size-mib, measures it by size of request, by requests in flight, \
through the page cache and past it, and
removes it. Of an experiment the volumes of each configuration are made, measured one after the other, and deleted; \
that needs
root.")]
pub struct ProbeArgs {
    /// A directory on the storage to measure, or an experiment file
    #[arg(value_name = "PATH|EXPERIMENT")]
    target: PathBuf,
    /// Of an experiment: the configuration whose volumes are measured [default: each]
    #[arg(long, value_name = "NAME")]
    configuration: Option<String>,
    /// Seconds that each measurement runs
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Size of the file that is read and written, MiB
    #[arg(long, default_value_t = 256)]
    size_mib: u64,
    /// Bound on the p99 of random reads under which the highest IOPS are looked for, milliseconds
    #[arg(long, default_value_t = 10.0)]
    p99_ms: f64,
    /// Ask for everything so long at first, to see a burst bucket run empty; 0: not at all
    #[arg(long, default_value_t = 0.0)]
    burst_s: f64,
}

pub fn run(args: &ProbeArgs, format: Format) -> Result<(), Failure> {
    let asked = asked(args)?;
    let mut report = |what: &str| {
        if format == Format::Human {
            eprintln!("{what}");
        }
    };
    if args.target.is_dir() {
        if args.configuration.is_some() {
            return Err(Failure::input("--configuration is for an experiment file, and this is a directory"));
        }
        let suite =
            storage::probe_suite(&args.target, &[], &asked, &mut || Ok(()), &mut report).map_err(Failure::work)?;
        // It is somebody's disk: nothing of it is changed.
        let read_ahead_kb = storage::read_ahead_kb_of(&args.target);
        match format {
            Format::Json => {
                let mut document = of_suite(&suite);
                document["path"] = json!(args.target);
                document["read_ahead_kb"] = json!(read_ahead_kb);
                println!("{}", pretty(&document));
            }
            Format::Human => print!("{}{}\n{}", args.target.display(), read_ahead(read_ahead_kb), table(&suite)),
        }
        return Ok(());
    }
    if !args.target.is_file() {
        return Err(Failure::input(format!("{} is neither a directory nor an experiment file", args.target.display())));
    }
    let setups = setups(args)?;
    let stop = process::interrupt::install(|| {}).map_err(Failure::work)?;
    let mut all = Vec::new();
    for setup in &setups {
        report(&format!("the volumes of {}", setup.configuration));
        let probed = of_configuration(setup, &asked, &stop, &mut report)?;
        for volume in &probed {
            if format == Format::Human {
                let (label, limits) = (&volume.label, limits(&volume.limits));
                print!(
                    "{} {}: {label}{limits}{}\n{}",
                    setup.configuration,
                    volume.role.name(),
                    read_ahead(volume.read_ahead_kb),
                    table(&volume.suite)
                );
            }
        }
        all.extend(probed.iter().map(|volume| of_volume(setup, volume)));
    }
    if format == Format::Json {
        println!("{}", pretty(&json!({ "volumes": all })));
    }
    Ok(())
}

fn asked(args: &ProbeArgs) -> Result<ProbeRequest, Failure> {
    if !(args.seconds > 0.0 && args.seconds <= 3600.0) || args.size_mib == 0 {
        return Err(Failure::input("--seconds must lie in 0..3600 and --size-mib must be positive"));
    }
    let is_sound = args.p99_ms > 0.0 && args.p99_ms <= 60_000.0 && (0.0..=86_400.0).contains(&args.burst_s);
    if !is_sound {
        return Err(Failure::input("--p99-ms must lie in 0..60000 and --burst-s in 0..86400"));
    }
    Ok(ProbeRequest {
        seconds: args.seconds,
        file_bytes: args.size_mib << 20,
        bound_us: args.p99_ms * 1e3,
        burst_s: args.burst_s,
    })
}

/// What this machine makes of the configurations that are asked for.
fn setups(args: &ProbeArgs) -> Result<Vec<Setup>, Failure> {
    let catalog = catalog()?;
    let experiment = read_experiment(&catalog, &args.target, ReadFor::PlanOf(Provider::Local))?.experiment;
    let mut setups = experiment::setups(&experiment).setups;
    let names: Vec<String> = setups.iter().map(|setup| setup.configuration.clone()).collect();
    if let Some(name) = &args.configuration {
        setups.retain(|setup| setup.configuration == *name);
        if setups.is_empty() {
            return Err(Failure::input(format!("the experiment has no configuration `{name}`"))
                .help(choice(name, &names.iter().map(String::as_str).collect::<Vec<_>>())));
        }
    }
    if let Some(existing) = setups.iter().find(|setup| !setup.at.is_started()) {
        return Err(Failure::input(format!(
            "{} is an existing cluster: iopslab makes no volumes for it",
            existing.configuration
        ))
        .help("probe a directory on its machine: iopslab probe /var/lib/cassandra"));
    }
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::work("not running as root, which emulated volumes need").help("run it with sudo"));
    }
    if setups.iter().any(|setup| setup.chunk_kib().is_some())
        && let Some(problem) = storage::Array::problems().into_iter().next()
    {
        return Err(Failure::work(problem.what).help(problem.fix));
    }
    Ok(setups)
}

/// Makes, measures and deletes the volumes of a configuration.
fn of_configuration(
    setup: &Setup,
    asked: &ProbeRequest,
    stop: &AtomicBool,
    report: &mut dyn FnMut(&str),
) -> Result<Vec<ProbedVolume>, Failure> {
    let _machine = alone("iopslab probe")?;
    let by_hand = ByHand::open("probe", "probe")?;
    let directory = by_hand.path().join("volumes");
    let probed = probe_configuration(&by_hand.ledger, directory, setup, asked, report);
    let closed = by_hand.close();
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::interrupted("stopped while volumes were measured"));
    }
    let probed = probed.map_err(Failure::work)?;
    closed.map(|()| probed)
}

fn limits(limits: &IoLimits) -> String {
    let iops = limits.read_iops.map(|iops| format!("{iops:.0} IOPS"));
    let bytes = limits.read_bytes_per_s.map(|bytes| format!("{:.0} MiB/s", bytes / MIB));
    let stated: Vec<String> = iops.into_iter().chain(bytes).collect();
    if stated.is_empty() { String::new() } else { format!(" (limit {})", stated.join(", ")) }
}

/// What sequential reads and page faults through the page cache were measured with.
fn read_ahead(kb: Option<u32>) -> String {
    kb.map_or_else(
        || "; how far is read ahead of it is not known".to_owned(),
        |kb| format!("; {kb} KiB are read ahead"),
    )
}

fn of_volume(setup: &Setup, volume: &ProbedVolume) -> Value {
    let mut document = of_suite(&volume.suite);
    document["configuration"] = json!(setup.configuration);
    document["volume"] = json!(volume.role);
    document["label"] = json!(volume.label);
    document["limits"] = json!(volume.limits);
    document["read_ahead_kb"] = json!(volume.read_ahead_kb);
    document
}

/// The figures that have always stood there, and all tests.
fn of_suite(suite: &ProbeSuite) -> Value {
    json!({
        "read_iops_4kib": suite.random_read_4kib.iops,
        "read_latency_us": suite.random_read_4kib.mean_us,
        "write_mib_per_s_64kib": suite.write_64kib.bytes_per_s / MIB,
        "write_iops_64kib": suite.write_64kib.iops,
        "highest_under_bound": suite.highest_under_bound(),
        "tests": suite,
    })
}

/// All tests for people.
fn table(suite: &ProbeSuite) -> String {
    let mut text =
        format!("  {:<46}{:>9}{:>9}{:>11}{:>11}{:>11}\n", "", "IOPS", "MiB/s", "mean ms", "p50 ms", "p99 ms");
    let mut row = |what: &str, m: &ProbeMeasured| {
        text.push_str(&format!(
            "  {what:<46}{:>9.0}{:>9.1}{:>11.3}{:>11.3}{:>11.3}\n",
            m.iops,
            m.bytes_per_s / MIB,
            m.mean_us / 1e3,
            m.p50_us / 1e3,
            m.p99_us / 1e3
        ));
    };
    row("4 KiB random read, direct, 1 in flight", &suite.random_read_4kib_alone);
    row("4 KiB random read, direct, 32 in flight", &suite.random_read_4kib);
    row("4 KiB page faults, mapped file, 32 at a time", &suite.random_read_4kib_mapped);
    row("16 KiB random read, direct, 32 in flight", &suite.random_read_16kib);
    row("256 KiB random read, direct, 32 in flight", &suite.random_read_256kib);
    row("64 KiB sequential write, direct, 8 in flight", &suite.write_64kib);
    row("64 KiB sequential write, direct, 60 jobs", &suite.write_64kib_60_jobs);
    let read = &suite.sequential_read;
    text.push_str(&format!(
        "  sequential read of {:.0} MiB: {:.1} MiB/s from the volume, {:.0} MiB/s from the page cache ({:.1} times)\n",
        read.bytes as f64 / MIB,
        read.uncached_bytes_per_s / MIB,
        read.cached_bytes_per_s / MIB,
        read.cached_bytes_per_s / read.uncached_bytes_per_s
    ));
    let bound_ms = suite.bound_us / 1e3;
    text.push_str(&match suite.highest_under_bound() {
        Some(step) => format!(
            "  most random reads with p99 <= {bound_ms} ms: {:.0} a second, {} in flight (p99 {:.3} ms)\n",
            step.measured.iops,
            step.in_flight,
            step.measured.p99_us / 1e3
        ),
        None => format!(
            "  most random reads with p99 <= {bound_ms} ms: none, one at a time takes {:.3} ms\n",
            suite.random_read_4kib_alone.p99_us / 1e3
        ),
    });
    text.push_str(&suite.burst.as_ref().map_or_else(String::new, drained));
    text
}

fn drained(burst: &BurstDrain) -> String {
    match (burst.drained_after_s, burst.after_iops) {
        (Some(at), Some(after)) => format!("  burst: {:.0} IOPS for {at} s, then {after:.0}\n", burst.before_iops),
        _ => format!("  burst: {:.0} IOPS for all of {} s\n", burst.before_iops, burst.iops.len()),
    }
}
