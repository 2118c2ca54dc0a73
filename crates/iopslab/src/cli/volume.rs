//! `iopslab volume`: one served volume, for any program.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::catalog::{GIB, KnownLatency, Latency, VolumeRequest, latency_of, resolve_volume, rules_in};
use ::volume::Model;
use clap::{Args, ValueEnum};
use process::failure::Failure;
use process::output::{Format, pretty};
use served::Counts;
use storage::{DISK_READ_AHEAD_KB, Ledger, LoopVolume, ReadAhead, StorageError, VolumeServer};

use super::by_hand::ByHand;

/// How often is looked whether it is asked to stop, and whether the server is there.
const LOOK: Duration = Duration::from_millis(200);

/// What was typed after `volume`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab volume gp3:500GiB:6000 --mount /mnt/v
  iopslab volume gp2:100GiB --burst baseline --mount /mnt/slow
  iopslab volume io2:1000GiB:32000 --scale 16 --mount /mnt/v --image /data/v.img

Serves the volume until Ctrl-C, then unmounts it and says what it did. Reads and writes share its limits, requests are
counted as EBS counts them, and each takes the time that one of this type takes. Needs root and /dev/fuse.")]
pub struct VolumeArgs {
    /// Type, size, IOPS and MiB/s as one orders them: TYPE:SIZE[:IOPS[:MIB_PER_S]]
    #[arg(value_name = "VOLUME")]
    volume: String,
    /// Where it is mounted, as XFS; an empty directory, made if missing
    #[arg(long, value_name = "DIR")]
    mount: PathBuf,
    /// With what credits a burst bucket begins: those of a new volume, or none
    #[arg(long, value_enum, default_value = "full")]
    burst: Start,
    /// Divide limits and credits by this; not the size, and not the time of one request
    #[arg(long, default_value_t = 1.0, value_name = "N")]
    scale: f64,
    /// Rules of an earlier time, such as 2017 [default: today's]
    #[arg(long, value_name = "YEAR")]
    era: Option<String>,
    /// Median time of a small request that need not wait, microseconds [default: the catalog's for this type]
    #[arg(long, value_name = "US")]
    latency_us: Option<f64>,
    /// Its spread: the standard deviation of its logarithm [default: the catalog's for this type]
    #[arg(long, value_name = "SIGMA")]
    latency_sigma: Option<f64>,
    /// Keep its bytes in this file, made if missing [default: a file in the work directory, deleted at the end]
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
}

/// How a bucket begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Start {
    /// As a new volume's
    Full,
    /// Empty: what lasts
    Baseline,
}

/// What is served.
struct VolumeToServe {
    request: VolumeRequest,
    model: Model,
    known: &'static KnownLatency,
}

pub fn run(args: &VolumeArgs, format: Format) -> Result<(), Failure> {
    let asked = asked(args)?;
    let empty = std::fs::read_dir(&args.mount).map_or(true, |mut entries| entries.next().is_none());
    if !empty || args.mount.is_file() {
        let message = format!("{} is not an empty directory", args.mount.display());
        return Err(Failure::input(message).help("name one that is empty or does not exist with --mount"));
    }
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::work("not running as root, which loop devices and mounts need").help("run it with sudo"));
    }
    served::available().map_err(Failure::work)?;
    let stop = process::interrupt::install(|| {}).map_err(Failure::work)?;
    let by_hand = ByHand::open(&name_of(&args.mount), "volume")?;
    let served = allow(args, &by_hand.ledger).and_then(|()| serve(args, &asked, &by_hand, &stop, format));
    let closed = by_hand.close();
    served.and(closed)
}

/// The volume is mounted, and its bytes may lie, outside of the work directory.
fn allow(args: &VolumeArgs, ledger: &Ledger) -> Result<(), Failure> {
    let help = "choose a place where root alone can make names, such as a directory in /mnt";
    let of_image = args.image.as_deref().map(|image| match image.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    });
    std::fs::create_dir_all(&args.mount)
        .map_err(|error| Failure::work(format!("cannot create {}: {error}", args.mount.display())))?;
    for place in std::iter::once(args.mount.as_path()).chain(of_image) {
        ledger.allow(place).map_err(|error| Failure::input(error).help(help))?;
    }
    Ok(())
}

/// The volume of this type, size and time.
fn asked(args: &VolumeArgs) -> Result<VolumeToServe, Failure> {
    let request = VolumeRequest::parse(&args.volume)
        .map_err(|e| Failure::input(format!("volume `{}`: {}; expected {}", e.given, e.problem, e.expected)))?;
    let resolved = match &args.era {
        None => resolve_volume(&request),
        Some(era) => {
            let rules = rules_in(request.kind, era).map_err(Failure::input)?;
            ::catalog::resolve_volume_by(rules, &request)
        }
    };
    let resolved = resolved.map_err(Failure::input)?;
    if !(args.scale >= 1.0 && args.scale <= 1000.0) {
        return Err(Failure::input(format!("--scale cannot be {}", args.scale)).help("a number from 1 to 1000"));
    }
    let known = latency_of(Some(request.kind));
    let latency = Latency {
        median_us: args.latency_us.unwrap_or(known.latency.median_us),
        sigma: args.latency_sigma.unwrap_or(known.latency.sigma),
    };
    if !(0.0..=1e7).contains(&latency.median_us) {
        return Err(Failure::input(format!("--latency-us cannot be {}", latency.median_us)).help("0 to 10000000"));
    }
    if !(0.0..=3.0).contains(&latency.sigma) {
        return Err(Failure::input(format!("--latency-sigma cannot be {}", latency.sigma)).help("0 to 3"));
    }
    let share = match args.burst {
        Start::Full => 1.0,
        Start::Baseline => 0.0,
    };
    let model = Model::of(&resolved, Some(latency), share).scaled(args.scale);
    if args.burst == Start::Baseline && model.burst.is_none() && model.byte_burst.is_none() {
        let message = format!("--burst baseline: {} has no burst bucket", request.label());
        return Err(Failure::input(message).help("leave --burst out"));
    }
    Ok(VolumeToServe { request, model, known })
}

/// A name for a directory, of a path.
fn name_of(mount: &Path) -> String {
    let path = std::path::absolute(mount).unwrap_or_else(|_| mount.to_owned());
    path.to_string_lossy().trim_matches('/').replace(['/', ' '], "-")
}

fn serve(
    args: &VolumeArgs,
    asked: &VolumeToServe,
    by_hand: &ByHand,
    stop: &AtomicBool,
    format: Format,
) -> Result<(), Failure> {
    let ledger = &by_hand.ledger;
    let command = process::machine::volume_server();
    let command = command.map_err(|e| Failure::work(format!("cannot find this program: {e}")))?;
    let server = Arc::new(VolumeServer::start(ledger, &command).map_err(Failure::work)?);
    if let Some(note) = server.hardening().note() {
        eprintln!("note: {note}");
    }
    let size_bytes = (asked.request.size_gib * GIB) as u64;
    let mut volume = match &args.image {
        Some(image) if image.exists() => LoopVolume::open(ledger, image),
        Some(image) => {
            LoopVolume::create(ledger, image, size_bytes).and_then(|mut volume| volume.keep().map(|()| volume))
        }
        None => LoopVolume::create(ledger, &by_hand.path().join("volume.img"), size_bytes),
    }
    .map_err(Failure::work)?;
    volume.serve_by(&server, "volume", asked.model.clone());
    volume.attach_and_mount(&args.mount).map_err(Failure::work)?;
    let read_ahead = volume.device().map(|device| ReadAhead::set(ledger, device, DISK_READ_AHEAD_KB));
    let read_ahead = read_ahead.transpose().map_err(Failure::work)?;
    announce(args, asked, &volume, format);
    if let (Some(way_s), Format::Human) = (server.on_the_way_s(), format) {
        println!("  of which the way through this machine takes {:.0} us", way_s * 1e6);
    }
    if format == Format::Human {
        let and_bytes = if args.image.is_none() { " and deletes its bytes" } else { "" };
        println!("Ctrl-C unmounts it{and_bytes}");
    }
    let mut counts = Counts::default();
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
        counts = volume.served_counts().map_err(Failure::work)?.unwrap_or(counts);
    }
    // Before its loop device is given back.
    read_ahead.map_or(Ok(()), ReadAhead::put_back).map_err(Failure::work)?;
    let mut reported = false;
    loop {
        counts = volume.served_counts().map_err(Failure::work)?.unwrap_or(counts);
        match volume.unmount_and_detach() {
            Ok(()) => break,
            Err(error @ StorageError::Busy { .. }) => {
                // Whoever still uses it has what was asked for, but for the moment in which it was to be unmounted.
                volume.behave(&asked.model).map_err(Failure::work)?;
                if !std::mem::replace(&mut reported, true) {
                    eprintln!("{error}; waiting for that");
                }
            }
            Err(error) => return Err(Failure::work(error)),
        }
    }
    if args.image.is_none() {
        volume.delete().map_err(Failure::work)?;
    } else {
        drop(volume);
    }
    if let Some(server) = Arc::into_inner(server) {
        server.end().map_err(Failure::work)?;
    }
    summarise(args, asked, &counts, format);
    Ok(())
}

fn announce(args: &VolumeArgs, asked: &VolumeToServe, volume: &LoopVolume, format: Format) {
    let limits = &asked.model.limits;
    let latency = asked.model.latency.unwrap_or(asked.known.latency);
    let basis =
        if args.latency_us.is_some() || args.latency_sigma.is_some() { "stated" } else { asked.known.basis.as_str() };
    let device = volume.device().unwrap_or_default();
    if format == Format::Json {
        eprintln!("{} is mounted on {}", asked.request.label(), args.mount.display());
        return;
    }
    println!("{} on {} (/dev/{device})", asked.request.label(), args.mount.display());
    if let Some(iops) = limits.read_iops {
        println!("  {iops:.0} IOPS, reads and writes together");
    }
    if let Some(bytes) = limits.read_bytes_per_s {
        println!("  {:.0} MiB/s, reads and writes together", bytes / ::catalog::MIB);
    }
    if let Some(burst) = asked.model.burst {
        println!(
            "  {:.0} IOPS that last, {:.0} of {:.0} credits",
            burst.baseline_iops, burst.credits_start, burst.credits_max
        );
    }
    if let Some(burst) = asked.model.byte_burst {
        println!(
            "  {:.0} MiB/s that last, {:.0} while credits last ({:.0} of {:.0} GiB)",
            burst.baseline_bytes_per_s / ::catalog::MIB,
            burst.burst_bytes_per_s / ::catalog::MIB,
            burst.credits_start / GIB,
            burst.credits_max / GIB
        );
    }
    println!(
        "  a request that need not wait takes {:.0} us (median, {basis}: {})",
        latency.median_us, asked.known.source
    );
}

fn summarise(args: &VolumeArgs, asked: &VolumeToServe, counts: &Counts, format: Format) {
    if format == Format::Json {
        let document = serde_json::json!({
            "volume": asked.request.label(), "mounted_on": args.mount, "model": asked.model, "did": counts,
            "catalog_latency": { "basis": asked.known.basis, "source": asked.known.source },
        });
        println!("{}", pretty(&document));
        return;
    }
    let operations = counts.reads + counts.writes;
    println!(
        "{} reads ({:.1} MiB) and {} writes ({:.1} MiB) in {:.0} s, {} errors; \
         the server used {:.1} s of CPU ({:.0} us a request)",
        counts.reads,
        counts.read_bytes as f64 / ::catalog::MIB,
        counts.writes,
        counts.write_bytes as f64 / ::catalog::MIB,
        counts.seconds,
        counts.errors,
        counts.server_cpu_s,
        counts.server_cpu_s * 1e6 / operations.max(1) as f64
    );
    println!(
        "this machine was slower than the volume for {:.1} s (its disk) and {:.1} s (its CPUs)",
        counts.disk_floor_s, counts.cpu_floor_s
    );
}
