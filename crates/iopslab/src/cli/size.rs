//! `iopslab size`: nodes and money for a target, from measured evidence; or two fleets beside each other.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::LazyLock;

use ::catalog::{Catalog, ClusterRequest};
use ::sizing::{FleetMachines, SizingError, SizingOptions, Survive, Target};
use analysis::RunEvidence;
use archive::RunDirectory;
use clap::Args;
use controller::Measured;
use experiment::{Consistency, DEFAULT_HEADROOM, DISK_FILL, Lack, choice};
use process::failure::Failure;
use process::output::{Format, pretty};

use super::amounts::{data_size, share};
use super::basis::BasisArgs;
use super::cached::CacheSizeArgs;
use super::facts::catalog;
use super::numbers::positive;
use super::{latest, terminal};

/// Shares that are usual, as `--help` shows them.
static HEADROOM: LazyLock<String> = LazyLock::new(|| format!("{}%", DEFAULT_HEADROOM * 100.0));
static FILL: LazyLock<String> = LazyLock::new(|| format!("{}%", DISK_FILL * 100.0));

/// What was typed after `size`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  iopslab size runs/kenzan-2018-... --throughput 60000 --read-share 0.8 --data 2TB --growth 30% --years 2
  iopslab size RUN_A RUN_B --throughput 60000 --read-share 50% --data 500GB --p99-ms 20 --survive zone
  iopslab size RUN --throughput 20000 --read-share 0.8 --data 1TB --candidate i4i.2xlarge --candidate \
r6i.2xlarge+gp3:2TiB:6000
  iopslab size RUN --throughput 20000 --read-share 0.8 --data 1TB --current 'i3.2xlarge*9'
  iopslab size RUN --throughput 60000 --read-share 0.9 --data 2TB --cache r7g.large --cache-cpu-us 15 \
--cache-ttl-s 3600
  iopslab size --current 'm2.4xlarge*48' --current-cache 'm2.xlarge*36' --proposed 'hi1.4xlarge*15' \
--price-date 2012-07-19

The cheapest cluster that meets the target by more than its error comes first, proven where it was measured; what is \
cheaper and in doubt stands below, with the run that would decide. Each figure is measured, interpolated or \
modelled, and each number of nodes says why. With --current: keep what you have, change, or not decided. Exit 3: \
the evidence carries no answer.")]
pub struct SizeArgs {
    /// Run directories to learn from [default: the latest of runs/]
    runs: Vec<PathBuf>,
    /// Client operations per second: 60000 or 60k
    #[arg(long, value_name = "OPS_PER_S", value_parser = positive)]
    throughput: Option<f64>,
    /// Share of the operations that read: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    read_share: Option<f64>,
    /// Size of the data in production on all nodes together, each record once, such as 2TB: payload, which is bytes on
    /// disk of all nodes / copies / compression ratio / 1.15
    #[arg(long, value_name = "SIZE", value_parser = data_size)]
    data: Option<f64>,
    /// 99th percentile of response times that clients may see, milliseconds
    #[arg(long, value_name = "MS")]
    p99_ms: Option<f64>,
    /// Growth of the data a year: 30% or 0.3
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0%")]
    growth: f64,
    /// Years for which the cluster must last
    #[arg(long, default_value_t = 1.0)]
    years: f64,
    /// Copies of each record
    #[arg(long, value_name = "N", default_value_t = 3)]
    replication_factor: u32,
    /// Availability zones, nodes spread evenly
    #[arg(long, value_name = "N", default_value_t = 3)]
    zones: u32,
    /// Share of each resource that stays free with all nodes up: 30% or 0.3
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = HEADROOM.as_str())]
    headroom: f64,
    /// What may be down while every record keeps its quorum and the target is met (up to 80 % use): none, node or zone
    #[arg(long, value_name = "PART", default_value = "node")]
    survive: Survive,
    /// Consistency of the requests, such as one or local_quorum. Default: that of the first run
    #[arg(long)]
    consistency: Option<Consistency>,
    /// Share of a node's disks that data may fill; size-tiered compaction needs the rest
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = FILL.as_str())]
    disk_fill: f64,
    /// Learn only from this workload (repeatable)
    #[arg(long, value_name = "NAME")]
    workload: Vec<String>,
    /// Search only this machine: how many of it carry the target, by what the runs measured (repeatable), as
    /// INSTANCE[+TYPE:SIZE[:IOPS[:MIB_PER_S]]]... without nodes. Default: what the runs measured, and the whole catalog
    /// with volumes made to measure
    #[arg(long, value_name = "CONFIG")]
    candidate: Vec<String>,
    /// Only this family, such as i4i (repeatable)
    #[arg(long)]
    family: Vec<String>,
    /// Only this architecture. Default: x86_64, and whatever the runs measured
    #[arg(long)]
    arch: Option<String>,
    /// How many proposals; the cheapest and the best one are always shown
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// The fleet of today: is it to be kept? (repeatable: several kinds are one fleet)
    #[arg(long, value_name = "CONFIG")]
    current: Vec<String>,
    /// Only compare: a whole fleet, CONFIG*NODES, beside that of --current, by what both have and cost; no run is read
    /// and no load is asked about (repeatable: several kinds are one fleet)
    #[arg(
        long,
        value_name = "CONFIG",
        requires = "current",
        conflicts_with_all = [
            "runs", "throughput", "read_share", "data", "p99_ms", "candidate", "family", "workload", "cache",
            "cache_cpu_us", "cache_memory", "cache_ttl_s", "cache_policy"
        ]
    )]
    proposed: Vec<String>,
    #[command(flatten)]
    cache: CacheSizeArgs,
    #[command(flatten)]
    basis: BasisArgs,
}

pub fn run(args: &SizeArgs, format: Format) -> Result<(), Failure> {
    let catalog = catalog()?;
    if !args.proposed.is_empty() {
        return compare(&catalog, args, format);
    }
    let latest = match args.runs.is_empty() {
        true => vec![latest::run(
            "it: iopslab size RUN... --throughput N --read-share S --data SIZE; or two fleets: --current CONFIG \
             --proposed CONFIG",
        )?],
        false => Vec::new(),
    };
    let paths: Vec<&PathBuf> = args.runs.iter().chain(&latest).collect();
    let mut seen = BTreeSet::new();
    for path in &paths {
        if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_path_buf())) {
            return Err(Failure::input(format!(
                "{} is given twice: it would count as evidence for itself",
                path.display()
            )));
        }
    }
    let directories: Vec<RunDirectory> =
        paths.iter().map(|path| RunDirectory::open(path).map_err(Failure::input)).collect::<Result<_, _>>()?;
    check_evidence(&directories)?;
    let target = target(args, &directories)?;
    target.check().map_err(Failure::input)?;
    let options = SizingOptions {
        workloads: known_workloads(args, &directories)?,
        candidates: requests(&catalog, &args.candidate)?,
        families: args.family.clone(),
        architecture: args.arch.clone(),
        most: args.top.into(),
        current: requests(&catalog, &args.current)?,
        cache: args.cache.options(&catalog)?,
    };
    check_storage(&directories, &options)?;
    let basis = args.basis.basis()?;
    let measured: Vec<Measured> = directories.iter().map(Measured::read).collect::<Result<_, _>>()?;
    let runs: Vec<RunEvidence<'_>> =
        directories.iter().zip(&measured).map(|(directory, measured)| measured.evidence(directory)).collect();
    check_providers(&runs)?;
    let answer = ::sizing::size(&catalog, &runs, &target, &options, &basis).map_err(failure)?;
    match format {
        Format::Json => println!("{}", pretty(&::report::sizing_document(&answer))),
        Format::Human => print!("{}", ::report::sizing(&answer, terminal::width())),
    }
    Ok(())
}

/// Refuses runs from which no demand can be learned, with the reason.
pub(super) fn check_evidence(directories: &[RunDirectory]) -> Result<(), Failure> {
    if let Some(imported) = directories.iter().find(|directory| directory.plan().place.is_imported()) {
        return Err(Failure::input(format!(
            "{} was imported: what an operation takes of CPUs, volumes and memory is not in the results of other tools",
            imported.path().display()
        ))
        .help(
            "size from a run of your own; iopslab run loads a cluster that exists, too, and watches its nodes \
             (docs/existing-clusters.md)",
        ));
    }
    let product = |directory: &RunDirectory| directory.plan().target.database.product();
    if let Some(other) = directories.iter().find(|directory| product(directory).lacks(Lack::Clusters)) {
        return Err(Failure::input(format!(
            "{} measured {}, of which iopslab starts one node: clusters are sized of what can be one",
            other.path().display(),
            product(other).title
        ))
        .help("what one node carries stands in the run's own report"));
    }
    if let Some(own) = directories.iter().find_map(|directory| directory.plan().own.as_ref()) {
        return Err(Failure::input(format!(
            "a run asked statements of its own ({}), and sizing knows the operations of YCSB alone so far",
            own.file
        ))
        .help("give runs of YCSB's operations; what was measured stands in the run's own report"));
    }
    Ok(())
}

/// Refuses storage of RDS for machines of a database that does not run there.
fn check_storage(directories: &[RunDirectory], options: &SizingOptions) -> Result<(), Failure> {
    let mut products = directories.iter().map(|directory| directory.plan().target.database.product());
    let is_of_rds = |request: &&ClusterRequest| request.volumes.iter().any(|volume| volume.kind.is_of_rds());
    let on_rds = options.candidates.iter().chain(&options.current).find(is_of_rds);
    match on_rds.zip(products.find(|product| product.lacks(Lack::Rds))) {
        Some((machines, product)) => {
            Err(Failure::input(format!("{machines} has storage of RDS, which does not run {}", product.title))
                .help("name a volume of EC2, such as gp3"))
        }
        None => Ok(()),
    }
}

/// Refuses runs of several providers.
pub(super) fn check_providers(runs: &[RunEvidence<'_>]) -> Result<(), Failure> {
    let provider = |run: &RunEvidence<'_>| run.plan.place.provider();
    if let Some(other) = runs.iter().find(|run| provider(run) != provider(&runs[0])) {
        return Err(Failure::input(format!(
            "the runs come from different providers ({} and {}): \
             what was simulated is no evidence beside what was measured",
            provider(&runs[0]),
            provider(other)
        ))
        .help("give runs of one provider; the provider of a run stands in its environment.json"));
    }
    Ok(())
}

/// Why there is no answer, with its exit code.
pub(super) fn failure(error: SizingError) -> Failure {
    match error {
        SizingError::Target(_) | SizingError::Input(_) | SizingError::Distributions { .. } => Failure::input(error),
        SizingError::NoEvidence { .. } => Failure::input(error).help("see what the run holds: iopslab report RUN"),
        SizingError::NothingFound { ref left_out, ref not_candidates } => {
            Failure::verdict(format!("{error}: {}", ::report::left_out(left_out, not_candidates)))
        }
        SizingError::NoPrice { .. } | SizingError::ModelRefused { .. } | SizingError::P99 { .. } => {
            Failure::verdict(error)
        }
    }
}

/// Two fleets beside each other.
fn compare(catalog: &Catalog, args: &SizeArgs, format: Format) -> Result<(), Failure> {
    let (current, proposed) = (requests(catalog, &args.current)?, requests(catalog, &args.proposed)?);
    let caches: Vec<ClusterRequest> = args.cache.today(catalog)?.into_iter().collect();
    if !(args.disk_fill > 0.0 && args.disk_fill <= 1.0) || args.replication_factor == 0 {
        return Err(Failure::input("--disk-fill is above 0% and at most 100%, --replication-factor at least 1"));
    }
    let usable = args.disk_fill / f64::from(args.replication_factor);
    let basis = args.basis.basis()?;
    let current = FleetMachines { database: &current, caches: &caches };
    let proposed = FleetMachines { database: &proposed, caches: &[] };
    let comparison = ::sizing::compare_fleets(catalog, current, proposed, usable, &basis).map_err(Failure::input)?;
    match format {
        Format::Json => println!("{}", pretty(&comparison)),
        Format::Human => {
            print!("{}", ::report::fleets(&comparison, terminal::width()));
            println!(
                "Usable TB: {} copies, disks at most {:.0} % full",
                args.replication_factor,
                args.disk_fill * 100.0
            );
            println!("Basis: {}", comparison.basis);
        }
    }
    Ok(())
}

fn requests(catalog: &Catalog, texts: &[String]) -> Result<Vec<ClusterRequest>, Failure> {
    texts.iter().map(|text| ClusterRequest::parse(catalog, text).map_err(Failure::input)).collect()
}

fn target(args: &SizeArgs, directories: &[RunDirectory]) -> Result<Target, Failure> {
    let needed = |value: Option<f64>, flag: &str| {
        value.ok_or_else(|| {
            Failure::input(format!("{flag} is missing: the target has a throughput, a read share and a data size"))
        })
    };
    Ok(Target {
        operations_per_s: needed(args.throughput, "--throughput")?,
        read_share: needed(args.read_share, "--read-share")?,
        p99_ms: args.p99_ms,
        data_bytes: needed(args.data, "--data")?,
        growth_percent_per_year: args.growth * 100.0,
        years: args.years,
        replication_factor: args.replication_factor,
        zones: args.zones,
        headroom_percent: args.headroom * 100.0,
        survive: args.survive,
        consistency: match args.consistency {
            Some(level) => level,
            None => one_level(directories[0].plan())?,
        },
        disk_fill_percent: args.disk_fill * 100.0,
    })
}

/// The level at which a run read and wrote, if it is one.
fn one_level(plan: &experiment::Plan) -> Result<experiment::Consistency, Failure> {
    let levels = plan.target.consistency;
    let one = levels.read;
    let own = plan.configurations.iter().filter_map(|configuration| configuration.consistency);
    if std::iter::once(levels).chain(own).all(|l| l == experiment::ConsistencyLevels::all(one)) {
        return Ok(one);
    }
    Err(Failure::input("the run has several consistency levels").help("state the target's: --consistency LEVEL"))
}

/// The workloads asked for, every one known to some run.
fn known_workloads(args: &SizeArgs, directories: &[RunDirectory]) -> Result<Vec<String>, Failure> {
    let known: BTreeSet<&str> =
        directories.iter().flat_map(|d| d.plan().workloads.iter().map(|w| w.name.as_str())).collect();
    let known = Vec::from_iter(known);
    match args.workload.iter().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => {
            Err(Failure::input(format!("no run has a workload `{unknown}`")).help(choice(unknown, &known)))
        }
        None => Ok(args.workload.clone()),
    }
}
