//! `iopslab probe`: what a file system's storage delivers, by fio.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::output::{Format, pretty};

/// What was typed after `probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  iopslab probe /var/lib/cassandra --seconds 10

Writes a file of --size-mib into PATH, measures 4 KiB random reads and 64 KiB sequential writes with direct I/O, and
removes the file.")]
pub struct ProbeArgs {
    /// A directory on the storage to measure
    path: PathBuf,
    /// Seconds that each of the two measurements runs
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Size of the file that is read and written, MiB
    #[arg(long, default_value_t = 256)]
    size_mib: u64,
}

pub fn run(args: &ProbeArgs, format: Format) -> Result<(), Failure> {
    if !args.path.is_dir() {
        return Err(Failure::input(format!("{} is not a directory", args.path.display())));
    }
    if !(args.seconds > 0.0 && args.seconds <= 3600.0) || args.size_mib == 0 {
        return Err(Failure::input(
            "--seconds must lie in 0..3600 and --size-mib must be positive",
        ));
    }
    let measured = storage::probe(&args.path, &[], args.seconds, args.size_mib << 20).map_err(Failure::work)?;
    match format {
        Format::Json => println!(
            "{}",
            pretty(&serde_json::json!({
                "path": args.path,
                "read_iops_4kib": measured.read_iops,
                "read_latency_us": measured.read_latency_us,
                "write_mib_per_s_64kib": measured.write_bytes_per_s / ::catalog::MIB,
                "write_iops_64kib": measured.write_iops,
                "seconds": measured.seconds,
            }))
        ),
        Format::Human => {
            println!("{}", args.path.display());
            println!(
                "  4 KiB random read, direct       {:>9.0} IOPS  mean latency {:.0} us",
                measured.read_iops, measured.read_latency_us
            );
            println!(
                "  64 KiB sequential write, direct {:>9.0} IOPS  {:.0} MiB/s",
                measured.write_iops,
                measured.write_bytes_per_s / ::catalog::MIB
            );
        }
    }
    Ok(())
}
