//! `iopslab catalog caps`.

use ::catalog::{BandwidthWeighting, Caps, CapsAtSize, Catalog, Cloud, ClusterRequest, MB, MIB, TODAY};
use clap::Args;
use process::failure::Failure;
use process::output::{Format, pretty};

use crate::cli::facts::{FORMAT_VERSION, paths_of, speed_of_vcpu};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  iopslab catalog caps i3.4xlarge
  iopslab catalog caps r4.4xlarge+io1:1000GiB:20000
  iopslab catalog caps r6i.4xlarge+gp3:500+gp3:500                                # two volumes, striped
  iopslab catalog caps r4.4xlarge+gp2:1000GiB --era 2017
  iopslab catalog caps azure:Standard_E16ds_v5+premium-v2:1024:10000:400MB
  iopslab catalog caps gcp:n4-highmem-16+hyperdisk-balanced:2000:20000:600")]
pub(super) struct CapsArgs {
    /// INSTANCE[+TYPE:SIZE[:IOPS[:MIB_PER_S]]]..., sizes in GiB or with a unit; each volume with a + of its own
    configuration: String,
    /// Volume rules of this time: a year, a date, or today
    #[arg(long)]
    era: Option<String>,
    /// How the instance shares its bandwidth between volumes and network: default or ebs-1
    #[arg(long, value_name = "WEIGHTING", value_parser = weighting, default_value = "default")]
    bandwidth_weighting: BandwidthWeighting,
}

fn weighting(word: &str) -> Result<BandwidthWeighting, String> {
    let known = BandwidthWeighting::ALL.into_iter().find(|known| known.word() == word);
    known.ok_or_else(|| format!("expected one of {}", BandwidthWeighting::ALL.map(BandwidthWeighting::word).join(", ")))
}

pub(super) fn run(catalog: &Catalog, args: &CapsArgs, format: Format) -> Result<(), Failure> {
    let request = ClusterRequest::parse(catalog, &args.configuration).map_err(Failure::input)?;
    let era = args.era.as_deref().filter(|era| *era != TODAY);
    let caps = catalog.caps_weighted(&request, era, args.bandwidth_weighting).map_err(Failure::input)?;
    if format == Format::Json {
        let mut document = serde_json::json!(caps);
        document["format_version"] = FORMAT_VERSION.into();
        println!("{}", pretty(&document));
        return Ok(());
    }
    match request.nodes {
        1 => println!("{}", caps.configuration),
        nodes => println!("{}: each of {nodes} nodes; several volumes are written one by one", caps.configuration),
    }
    println!("{}", speed_of_vcpu(caps.cpu_speed));
    if caps.ebs.is_empty() {
        path(&caps, &catalog.instance(&request.instance).map(paths_of).unwrap_or_default());
    } else {
        volumes(&caps);
    }
    cards(&caps);
    local(&caps);
    for remark in &caps.remarks {
        println!("note: {remark}");
    }
    let mut rules: Vec<String> = caps.volumes.iter().map(|v| format!("rules of {}: {}", v.label, v.source)).collect();
    rules.dedup();
    for line in rules {
        println!("{line}");
    }
    Ok(())
}

/// What volumes would get, where none is named.
fn path(caps: &Caps, of_other_cloud: &[String]) {
    match caps.path {
        Some(path) if path.bursts() => println!(
            "path to EBS, all volumes together: {} IOPS (16 KiB) and {} MB/s (128 KiB) last; {} IOPS and {} MB/s for \
             at least 30 minutes in 24 hours",
            path.baseline_iops, path.baseline_mb_per_s, path.burst_iops, path.burst_mb_per_s
        ),
        Some(path) => println!(
            "path to EBS, all volumes together: {} IOPS (16 KiB) and {} MB/s (128 KiB){}",
            path.baseline_iops,
            path.baseline_mb_per_s,
            if path.cards > 1 { format!(", over {} EBS cards", path.cards) } else { String::new() }
        ),
        None if !of_other_cloud.is_empty() => of_other_cloud.iter().for_each(|line| println!("{line}")),
        None => println!("path to EBS: not known, or shared with the network"),
    }
    if let Some(slots) = caps.volume_slots {
        println!("EBS volumes: at most {}, the root volume among them", slots.most);
    }
}

fn volumes(caps: &Caps) {
    if Cloud::of(&caps.configuration) != Cloud::Aws {
        // Their bursts are left out, and nothing follows for one.
        println!("volumes and instance together (bursts are not in the catalog):");
        println!("{:>10} {:>12} {:>10} {:>10} {:>10}", "I/O size", "IOPS", "MiB/s", "MB/s", "capped by");
        for CapsAtSize { io_kib, baseline: lasts, .. } in &caps.ebs {
            let (by, mb) = (lasts.capped_by.word(), lasts.mib_per_s * MIB / MB);
            println!("{io_kib:>6} KiB {:>12.0} {:>10.1} {mb:>10.1} {by:>10}", lasts.iops, lasts.mib_per_s);
        }
        return;
    }
    println!("EBS, volumes and instance together:");
    println!(
        "{:>10} {:>12} {:>10} {:>10} {:>14} {:>10} {:>10}",
        "I/O size", "IOPS", "MiB/s", "capped by", "burst IOPS", "MiB/s", "capped by"
    );
    for at in &caps.ebs {
        println!(
            "{:>6} KiB {:>12.0} {:>10.1} {:>10} {:>14.0} {:>10.1} {:>10}",
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

/// Where each volume is, what it gets there alone, and what all of a card get together.
fn cards(caps: &Caps) {
    for card in &caps.cards {
        println!(
            "EBS card {}: {} IOPS (16 KiB), {} MB/s",
            card.card, card.path.baseline_iops, card.path.baseline_mb_per_s
        );
        let mib = card.path.baseline_mb_per_s * MB / MIB;
        for volume in card.volumes.iter().map(|at| &caps.volumes[*at]) {
            let (iops, bytes) = (volume.baseline_iops, volume.baseline_mib_per_s);
            println!(
                "  {}: alone {:.0} IOPS and {:.1} MiB/s",
                volume.label,
                iops.min(card.path.baseline_iops),
                bytes.min(mib)
            );
        }
        if let [small, .., large] = &card.ebs[..] {
            println!("  together: {:.0} IOPS and {:.1} MiB/s", small.baseline.iops, large.baseline.mib_per_s);
        }
    }
}

fn local(caps: &Caps) {
    if caps.local.is_empty() {
        return;
    }
    println!("local disks together:");
    println!("{:>10} {:>12} {:>12} {:>14} {:>14}", "I/O size", "reads/s", "writes/s", "MiB/s read", "MiB/s written");
    let figure = |value: Option<f64>, digits: usize| value.map_or("unknown".to_owned(), |v| format!("{v:.digits$}"));
    for at in &caps.local {
        println!(
            "{:>6} KiB {:>12} {:>12} {:>14} {:>14}",
            at.io_kib,
            figure(at.read_iops, 0),
            figure(at.write_iops, 0),
            figure(at.read_mib_per_s, 1),
            figure(at.write_mib_per_s, 1)
        );
    }
}
