//! `iopslab catalog list`.

use ::catalog::{Basis, Catalog, Cloud, InstanceType, OmittedType, Purchase, REGION, omitted};
use clap::{Args, ValueEnum};
use process::failure::Failure;
use process::output::{Format, pretty};

use crate::cli::facts::unknown;

#[derive(Debug, Args)]
#[command(after_help = "Example: iopslab catalog list --min-vcpu 8 --memory 60 --local-nvme --sort price")]
pub(super) struct ListArgs {
    /// At least this many vCPUs
    #[arg(long, value_name = "N")]
    min_vcpu: Option<u32>,
    /// At least this much memory, GiB
    #[arg(long, value_name = "GIB")]
    memory: Option<f64>,
    /// With local NVMe disks
    #[arg(long)]
    local_nvme: bool,
    /// Of this family, such as r4, of all of a cloud (gcp, azure, aws), or of a series of one (gcp:c4, azure:E)
    #[arg(long)]
    family: Option<String>,
    /// Of this architecture: x86_64 or arm64
    #[arg(long)]
    arch: Option<String>,
    /// Introduced in or before this year; types whose year is not known are left out
    #[arg(long, value_name = "YEAR")]
    era: Option<u32>,
    /// Region of the prices
    #[arg(long, default_value = REGION)]
    region: String,
    /// Order
    #[arg(long, value_enum, default_value = "name")]
    sort: Sort,
    /// The types that the catalog leaves out, of other clouds than AWS by series, each with the reason
    #[arg(long, conflicts_with_all = ["min_vcpu", "memory", "local_nvme", "arch", "era", "region", "sort"])]
    missing: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    Name,
    Price,
    Vcpu,
    Memory,
}

pub(super) fn run(catalog: &Catalog, args: &ListArgs, format: Format) -> Result<(), Failure> {
    if args.missing {
        return missing(catalog, args, format);
    }
    let basis = Basis { region: args.region.clone(), ..Basis::default() };
    basis.check(catalog).map_err(Failure::input)?;
    known_words(catalog, args)?;
    let families = args.family.as_ref().map(|family| catalog.families_of(family));
    let is = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|w| w.eq_ignore_ascii_case(name));
    let nvme = |i: &InstanceType| {
        let disks = i.local_disks.as_ref();
        disks.is_some_and(|d| d.kind == ::catalog::DiskKind::NvmeSsd)
    };
    let mut found: Vec<InstanceType> = catalog
        .instances()
        .iter()
        .filter(|i| args.min_vcpu.is_none_or(|n| i.vcpus >= n))
        .filter(|i| args.memory.is_none_or(|gib| i.memory_gib >= gib))
        .filter(|i| !args.local_nvme || nvme(i))
        .filter(|i| families.as_ref().is_none_or(|families| families.contains(&i.family())))
        .filter(|i| is(&args.arch, &i.architecture))
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
        "{:<24} {:>5} {:>11} {:>26} {:>9} {:>11} {:>10} {:>11}",
        "instance", "vCPU", "memory GiB", "local disks", "EBS IOPS", "EBS MB/s", "USD/hour", "seen"
    );
    for i in &found {
        let known = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| v.to_string());
        let disks = i.local_disks.as_ref();
        println!(
            "{:<24} {:>5} {:>11} {:>26} {:>9} {:>11} {:>10} {:>11}",
            i.name,
            i.vcpus,
            i.memory_gib,
            disks.map_or_else(|| "-".to_owned(), ::catalog::LocalDisks::label),
            known(i.ebs.map(|e| e.baseline_iops)),
            known(i.ebs.map(|e| e.baseline_mb_per_s)),
            known(i.on_demand_usd_per_hour),
            i.price_date.as_deref().unwrap_or("-")
        );
    }
    if found.is_empty() {
        println!("0 types");
        return Ok(());
    }
    println!(
        "{} types; prices: on demand, {}, Linux, latest known; - is not known",
        found.len(),
        regions(&found, args)
    );
    // Each type of volume has limits of its own there.
    if found.iter().any(|i| i.cloud() != Cloud::Aws) {
        println!("limits of volumes on machines of Azure and Google: iopslab catalog show TYPE");
    }
    Ok(())
}

/// Where these prices hold: the region that is asked for, of each cloud its own.
fn regions(found: &[InstanceType], args: &ListArgs) -> String {
    let mut regions: Vec<&str> = found.iter().map(|i| i.cloud().region(&args.region)).collect();
    regions.sort_unstable();
    regions.dedup();
    regions.join(", ")
}

/// Types that a source names and the catalog does not hold; a user's own files may hold some of them.
fn missing(catalog: &Catalog, args: &ListArgs, format: Format) -> Result<(), Failure> {
    let all: Vec<_> = omitted().into_iter().filter(|one| catalog.instance(&one.name).is_none()).collect();
    let is_asked = |one: &OmittedType| {
        let is_of = |family: &String| {
            let (word, name) = (family.to_ascii_lowercase(), one.name.to_ascii_lowercase());
            // `azure:E` of `azure:Standard_E*ads_v5`.
            let starts = name.starts_with(&word) || name.replace("standard_", "").starts_with(&word);
            word == Cloud::of(&one.name).prefix() || word == one.family() || word.contains(':') && starts
        };
        args.family.as_ref().is_none_or(is_of)
    };
    let found: Vec<&OmittedType> = all.iter().filter(|one| is_asked(one)).collect();
    if let (Some(family), true) = (&args.family, found.is_empty()) {
        let why = if !catalog.families_of(family).is_empty() {
            "the catalog has all types of it"
        } else {
            "no source names a type of it"
        };
        return Err(Failure::input(format!("no type of family `{family}` is left out: {why}"))
            .help("see: iopslab catalog list --missing"));
    }
    if format == Format::Json {
        println!("{}", pretty(&found));
        return Ok(());
    }
    println!("Types that the catalog leaves out; of Google Cloud and Azure by series (* is any size)");
    println!("{:<22} reason (named by)", "instance");
    for one in &found {
        println!("{:<22} {} ({})", one.name, one.reason.words(), one.source);
    }
    println!("{} types and series; a file of your own catalog may state one (docs/catalog.md)", found.len());
    Ok(())
}

/// An empty list would look like an answer to a name that nobody has.
fn known_words(catalog: &Catalog, args: &ListArgs) -> Result<(), Failure> {
    if let Some(family) = &args.family
        && catalog.families_of(family).is_empty()
    {
        let near = catalog.nearest_families(family);
        if !near.is_empty() {
            return Err(unknown("family", family, &near));
        }
        let others: Vec<&str> = catalog.families().into_iter().filter(|known| known.contains(':')).collect();
        let help = format!("aws, gcp, azure, a family of AWS such as r4, or one of {}", others.join(", "));
        return Err(Failure::input(format!("unknown family `{family}`")).help(help));
    }
    let mut architectures: Vec<&str> = catalog.instances().iter().map(|i| i.architecture.as_str()).collect();
    architectures.sort_unstable();
    architectures.dedup();
    if let Some(arch) = &args.arch
        && !architectures.iter().any(|known| known.eq_ignore_ascii_case(arch))
    {
        return Err(unknown("architecture", arch, &architectures));
    }
    Ok(())
}

/// The type with its price in a region.
fn priced_in(catalog: &Catalog, instance: &InstanceType, region: &str) -> InstanceType {
    let mut priced = instance.clone();
    if region != REGION {
        let price = catalog.instance_price(&instance.name, Purchase::OnDemand, region, None).ok();
        priced.on_demand_usd_per_hour = price.map(|p| p.usd_per_hour);
        priced.price_date = price.map(|p| p.date.clone());
    }
    priced
}
