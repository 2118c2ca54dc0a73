//! `iopslab catalog`: facts about instance and volume types, what they cap, what they cost.

use ::catalog::{Basis, Catalog, ClusterRequest, InstanceType, Lifecycle, Purchase, REGION};
use clap::{Args, Subcommand, ValueEnum};

use super::basis::BasisArgs;
use super::facts::catalog;
use super::{Failure, Format, pretty};

/// What was typed after `catalog`.
#[derive(Debug, Args)]
pub struct CatalogArgs {
    #[command(subcommand)]
    command: CatalogCommand,
}

#[derive(Debug, Subcommand)]
enum CatalogCommand {
    /// Instance types, filtered and sorted
    List(ListArgs),
    /// Everything known about one instance type, with every price and its source
    Show {
        /// For example r4.4xlarge
        instance: String,
    },
    /// What a configuration can do at 4, 16, 64 and 256 KiB, and which side caps it
    Caps(CapsArgs),
    /// What configurations cost, line by line, with the basis
    Cost(CostArgs),
    /// Read today's instance types and prices from AWS into a file of your catalog, which comes before the program's own tables
    Refresh(super::refresh::RefreshArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Example: iopslab catalog list --min-vcpu 8 --memory 60 --local-nvme --sort price")]
struct ListArgs {
    /// At least this many vCPUs
    #[arg(long, value_name = "N")]
    min_vcpu: Option<u32>,
    /// At least this much memory, GiB
    #[arg(long, value_name = "GIB")]
    memory: Option<f64>,
    /// With local NVMe disks
    #[arg(long)]
    local_nvme: bool,
    /// Of this family, such as r4
    #[arg(long)]
    family: Option<String>,
    /// Of this architecture: x86_64 or arm64
    #[arg(long)]
    arch: Option<String>,
    /// Introduced in or before this year
    #[arg(long, value_name = "YEAR")]
    era: Option<u32>,
    /// Region of the prices
    #[arg(long, default_value = REGION)]
    region: String,
    /// Order
    #[arg(long, value_enum, default_value = "name")]
    sort: Sort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    Name,
    Price,
    Vcpu,
    Memory,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  iopslab catalog caps i3.4xlarge
  iopslab catalog caps r4.4xlarge+io1:1000GiB:20000
  iopslab catalog caps r4.4xlarge+gp2:1000GiB --era 2017")]
struct CapsArgs {
    /// INSTANCE[+TYPE:SIZE[:IOPS[:MIB_PER_S]]]..., sizes with a unit
    configuration: String,
    /// Volume rules of this time: a year, a date, or today
    #[arg(long)]
    era: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  iopslab catalog cost 'i3.2xlarge*3' --price-date 2017-11-12
  iopslab catalog cost r4.4xlarge+io1:3200GB:10000 --purchase 1yr-all-upfront
  iopslab catalog cost 'm2.4xlarge*48' 'm2.xlarge*36' --price-date 2012-07-19     # one fleet of two kinds
  iopslab catalog cost i3.4xlarge --run-hours 6                                   # one benchmark run")]
struct CostArgs {
    /// INSTANCE[+TYPE:SIZE[:IOPS[:MIB_PER_S]]]...[*NODES], sizes with a unit; several are one bill
    #[arg(required = true, value_name = "CONFIG")]
    configurations: Vec<String>,
    #[command(flatten)]
    basis: BasisArgs,
    /// Also the cost of one run of so many hours
    #[arg(long, value_name = "HOURS")]
    run_hours: Option<f64>,
}

pub fn run(args: &CatalogArgs, format: Format) -> Result<(), Failure> {
    let catalog = &catalog()?;
    match &args.command {
        CatalogCommand::Refresh(args) => super::refresh::run(args, format),
        CatalogCommand::List(args) => list(catalog, args, format),
        CatalogCommand::Show { instance } => show(catalog, instance, format),
        CatalogCommand::Caps(args) => caps(catalog, args, format),
        CatalogCommand::Cost(args) => cost(catalog, args, format),
    }
}

fn list(catalog: &Catalog, args: &ListArgs, format: Format) -> Result<(), Failure> {
    let basis = Basis {
        region: args.region.clone(),
        ..Basis::default()
    };
    basis.check(catalog).map_err(Failure::input)?;
    let family = |i: &InstanceType| i.name.split('.').next().unwrap_or_default().to_owned();
    let mut found: Vec<InstanceType> = catalog
        .instances()
        .iter()
        .filter(|i| args.min_vcpu.is_none_or(|n| i.vcpus >= n))
        .filter(|i| args.memory.is_none_or(|gib| i.memory_gib >= gib))
        .filter(|i| {
            !args.local_nvme
                || i.local_disks
                    .as_ref()
                    .is_some_and(|d| d.kind == ::catalog::DiskKind::NvmeSsd)
        })
        .filter(|i| args.family.as_ref().is_none_or(|f| family(i) == *f))
        .filter(|i| args.arch.as_ref().is_none_or(|a| i.architecture == *a))
        .filter(|i| args.era.is_none_or(|year| i.introduced.is_some_and(|y| y <= year)))
        .map(|i| priced_in(catalog, i, &args.region))
        .collect();
    // What has no price comes last: it may cost anything.
    let price = |i: &InstanceType| i.on_demand_usd_per_hour.unwrap_or(f64::INFINITY);
    match args.sort {
        Sort::Name => {}
        Sort::Price => found.sort_by(|a, b| price(a).total_cmp(&price(b))),
        Sort::Vcpu => found.sort_by_key(|i| i.vcpus),
        Sort::Memory => found.sort_by(|a, b| a.memory_gib.total_cmp(&b.memory_gib)),
    }
    if format == Format::Json {
        println!("{}", pretty(&found));
        return Ok(());
    }
    println!(
        "{:<20} {:>5} {:>11} {:>26} {:>9} {:>11} {:>10} {:>11}",
        "instance", "vCPU", "memory GiB", "local disks", "EBS IOPS", "EBS MB/s", "USD/hour", "seen"
    );
    for i in &found {
        let known = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| v.to_string());
        println!(
            "{:<20} {:>5} {:>11} {:>26} {:>9} {:>11} {:>10} {:>11}",
            i.name,
            i.vcpus,
            i.memory_gib,
            i.local_disks
                .as_ref()
                .map_or_else(|| "-".to_owned(), ::catalog::LocalDisks::label),
            known(i.ebs.map(|e| e.baseline_iops)),
            known(i.ebs.map(|e| e.baseline_mb_per_s)),
            known(i.on_demand_usd_per_hour),
            i.price_date.as_deref().unwrap_or("-")
        );
    }
    println!(
        "{} types; prices: on demand, {}, Linux, latest known; - is not known",
        found.len(),
        args.region
    );
    Ok(())
}

/// The type with its price in a region.
fn priced_in(catalog: &Catalog, instance: &InstanceType, region: &str) -> InstanceType {
    let mut priced = instance.clone();
    if region != REGION {
        let price = catalog
            .instance_price(&instance.name, Purchase::OnDemand, region, None)
            .ok();
        priced.on_demand_usd_per_hour = price.map(|p| p.usd_per_hour);
        priced.price_date = price.map(|p| p.date.clone());
    }
    priced
}

fn show(catalog: &Catalog, name: &str, format: Format) -> Result<(), Failure> {
    let found = catalog.instance(name).ok_or_else(|| unknown_instance(catalog, name))?;
    let prices = catalog.price_history(&found.name);
    if format == Format::Json {
        println!(
            "{}",
            pretty(&serde_json::json!({ "instance": found, "prices": prices }))
        );
        return Ok(());
    }
    let lifecycle = match found.lifecycle {
        Lifecycle::Current => "current generation",
        Lifecycle::Previous => "previous generation",
        Lifecycle::Retired => "no longer offered",
    };
    println!(
        "{}: {} vCPU, {} GiB, {}, {lifecycle}",
        found.name, found.vcpus, found.memory_gib, found.architecture
    );
    println!(
        "local disks: {}",
        found
            .local_disks
            .as_ref()
            .map_or_else(|| "none".to_owned(), ::catalog::LocalDisks::label)
    );
    match found.ebs {
        Some(e) => println!(
            "EBS: {} IOPS (16 KiB), {} MB/s; burst {} IOPS, {} MB/s",
            e.baseline_iops, e.baseline_mb_per_s, e.burst_iops, e.burst_mb_per_s
        ),
        None => println!("EBS: its own path is not known, or shared with the network"),
    }
    if let Some(gbps) = found.network_gbps {
        println!(
            "network: {gbps} Gbit/s, for a while {}",
            found.network_burst_gbps.unwrap_or(gbps)
        );
    }
    println!("prices, USD an hour (Linux, shared tenancy):");
    for price in prices {
        println!(
            "  {}  {}  {:<22} {:>9}  {}",
            price.region, price.date, price.purchase, price.usd_per_hour, price.source
        );
    }
    if prices.is_empty() {
        println!("  none known");
    }
    Ok(())
}

fn unknown_instance(catalog: &Catalog, name: &str) -> Failure {
    let near = catalog.nearest_instances(name);
    let help = match near.as_slice() {
        [] => "see: iopslab catalog list".to_owned(),
        near => format!("nearest: {}", near.join(", ")),
    };
    Failure::input(format!("unknown instance type {name}")).help(help)
}

fn caps(catalog: &Catalog, args: &CapsArgs, format: Format) -> Result<(), Failure> {
    let request = ClusterRequest::parse(catalog, &args.configuration).map_err(Failure::input)?;
    let era = args.era.as_deref().filter(|era| *era != "today");
    let caps = catalog.caps(&request, era).map_err(Failure::input)?;
    if format == Format::Json {
        println!("{}", pretty(&caps));
        return Ok(());
    }
    println!("{} (each node)", caps.configuration);
    if !caps.ebs.is_empty() {
        println!("EBS, volumes and instance together:");
        println!(
            "{:>10} {:>12} {:>10} {:>10} {:>14} {:>10} {:>10}",
            "I/O size", "IOPS", "MiB/s", "capped by", "burst IOPS", "MiB/s", "capped by"
        );
        for at in &caps.ebs {
            println!(
                "{:>7} KiB {:>12.0} {:>10.1} {:>10} {:>14.0} {:>10.1} {:>10}",
                at.io_kib,
                at.baseline.iops,
                at.baseline.mib_per_s,
                at.baseline.capped_by.word(),
                at.burst.iops,
                at.burst.mib_per_s,
                at.burst.capped_by.word()
            );
        }
    }
    if !caps.local.is_empty() {
        println!("local disks together:");
        println!(
            "{:>10} {:>12} {:>12} {:>14} {:>14}",
            "I/O size", "reads/s", "writes/s", "MiB/s read", "MiB/s written"
        );
        for at in &caps.local {
            println!(
                "{:>7} KiB {:>12.0} {:>12.0} {:>14.1} {:>14.1}",
                at.io_kib, at.read_iops, at.write_iops, at.read_mib_per_s, at.write_mib_per_s
            );
        }
    }
    for remark in &caps.remarks {
        println!("note: {remark}");
    }
    for volume in &caps.volumes {
        println!("rules of {}: {}", volume.label, volume.source);
    }
    Ok(())
}

fn cost(catalog: &Catalog, args: &CostArgs, format: Format) -> Result<(), Failure> {
    let requests = args
        .configurations
        .iter()
        .map(|text| ClusterRequest::parse(catalog, text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::input)?;
    let basis = args.basis.basis()?;
    let cost = catalog.total_cost(&requests, &basis).map_err(Failure::input)?;
    let capacity = match requests.as_slice() {
        [only] => catalog.capacity_table(only, &basis).map_err(Failure::input)?,
        _ => Vec::new(),
    };
    let run = args
        .run_hours
        .map(|hours| catalog.run_cost(&requests, hours, &basis))
        .transpose()
        .map_err(Failure::input)?;
    if format == Format::Json {
        let mut document = serde_json::json!(cost);
        document["capacity"] = serde_json::json!(capacity);
        if let Some(run) = &run {
            document["run"] = serde_json::json!({ "hours": run.hours, "usd": run.usd });
        }
        println!("{}", pretty(&document));
        return Ok(());
    }
    let words: Vec<String> = requests.iter().map(ToString::to_string).collect();
    println!("{}", words.join(" + "));
    println!(
        "{:<52} {:>12} {:>12} {:>12} {:>14}",
        "", "quantity", "unit", "USD each", "USD/month"
    );
    for line in &cost.lines {
        println!(
            "{:<52} {:>12} {:>12} {:>12} {:>14.2}",
            line.what, line.quantity, line.unit, line.unit_usd, line.usd_per_month
        );
    }
    println!(
        "{:<52} {:>12} {:>12} {:>12} {:>14.2}",
        "a month", "", "", "", cost.usd_per_month
    );
    println!(
        "{:<52} {:>12} {:>12} {:>12} {:>14.2}",
        "an hour", "", "", "", cost.usd_per_hour
    );
    if let Some(run) = &run {
        println!(
            "{:<52} {:>12} {:>12} {:>12} {:>14.2}",
            format!("a run of {} h", run.hours),
            "",
            "",
            "",
            run.usd
        );
    }
    if !capacity.is_empty() {
        println!("sets of nodes (capacity grows with them):");
        for row in &capacity {
            println!(
                "  {}x {:>5} nodes {:>14.2} USD/month {:>10.2} USD/hour",
                row.factor, row.nodes, row.usd_per_month, row.usd_per_hour
            );
        }
    }
    println!("basis: {}", cost.basis);
    for note in &cost.notes {
        println!("note: {note}");
    }
    Ok(())
}
