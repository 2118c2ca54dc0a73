//! `iopslab catalog show`.

use ::catalog::{Catalog, Cloud, FigureSource, InstanceType, Lifecycle, LocalDisks, Purchase, cpu_speed};
use process::failure::Failure;
use process::output::{Format, pretty};

use crate::cli::facts::{paths_of, speed_of_vcpu, unknown_instance};

pub(super) fn run(catalog: &Catalog, name: &str, format: Format) -> Result<(), Failure> {
    let found = catalog.instance(&catalog.with_cloud(name)).ok_or_else(|| unknown_instance(catalog, name))?;
    let (prices, speed) = (catalog.price_history(&found.name), cpu_speed(&found.name));
    if format == Format::Json {
        println!("{}", pretty(&serde_json::json!({ "instance": found, "cpu_speed": speed, "prices": prices })));
        return Ok(());
    }
    let lifecycle = match found.lifecycle {
        Lifecycle::Current => "current generation",
        Lifecycle::Previous => "previous generation by AWS's CurrentGeneration",
        Lifecycle::Retired => "no longer offered",
    };
    println!("{}: {} vCPU, {} GiB, {}, {lifecycle}", found.name, found.vcpus, found.memory_gib, found.architecture);
    println!("processor: {}", processor(found));
    println!("{}", speed_of_vcpu(speed));
    match &found.local_disks {
        Some(disks) => println!("local disks: {}", local(disks)),
        None if found.leaves_out_disks() => println!("local disks: it has some, which the catalog leaves out"),
        None => println!("local disks: none"),
    }
    match found.ebs {
        Some(e) => {
            println!(
                "EBS: {} IOPS (16 KiB), {} MB/s; burst {} IOPS, {} MB/s",
                e.baseline_iops, e.baseline_mb_per_s, e.burst_iops, e.burst_mb_per_s
            );
            if e.cards > 1 {
                let card = e.of_card();
                println!("EBS cards: {}, each {} IOPS, {} MB/s", e.cards, card.baseline_iops, card.baseline_mb_per_s);
            }
        }
        None if found.cloud() != Cloud::Aws => paths_of(found).iter().for_each(|line| println!("{line}")),
        None => println!("EBS: its own path is not known, or shared with the network"),
    }
    if let Some(slots) = found.volume_slots {
        let others = if slots.shared { "; further network interfaces take places of them" } else { "" };
        println!("EBS volumes: at most {}, the root volume among them{others}", slots.most);
    }
    if let Some(gbps) = found.network_gbps {
        println!("network: {gbps} Gbit/s, for a while {}", found.network_burst_gbps.unwrap_or(gbps));
    }
    println!("prices, USD an hour (Linux, shared tenancy):");
    for price in prices {
        let upfront = match (price.upfront_usd, price.purchase) {
            (Some(usd), _) if usd > 0.0 => format!("{usd:.2} USD upfront; "),
            (None, Purchase::OneYearPartialUpfront | Purchase::ThreeYearPartialUpfront) => {
                "upfront part not known; ".to_owned()
            }
            _ => String::new(),
        };
        println!(
            "  {}  {}  {:<22} {:>9}  {upfront}{}",
            price.region, price.date, price.purchase, price.usd_per_hour, price.source
        );
    }
    if prices.is_empty() {
        println!("  none known");
    }
    Ok(())
}

fn processor(found: &InstanceType) -> String {
    let mut words = found.processor.clone().unwrap_or_else(|| "not known".to_owned());
    if let Some(ghz) = found.clock_ghz {
        words += &format!(", {ghz} GHz sustained");
    }
    if let Some(share) = found.cpu_share {
        words += &format!("; earns CPU credits: {:.0} % of each vCPU lasts", share * 100.0);
    }
    words
}

fn local(disks: &LocalDisks) -> String {
    let mut words = disks.label();
    let from = |source: Option<FigureSource>| match source {
        Some(FigureSource::Documented) => "documented",
        Some(FigureSource::Measured) => "measured",
        None => "stated",
    };
    words += &match (disks.read_iops, disks.write_iops) {
        (Some(read), Some(write)) => {
            let source = from(disks.iops_source);
            format!("; together {read:.0} reads and {write:.0} writes of 4 KiB per second ({source})")
        }
        _ => "; IOPS unknown".to_owned(),
    };
    words += &match (disks.read_mb_per_s, disks.write_mb_per_s) {
        (Some(read), Some(write)) => format!(", {read:.0} and {write:.0} MB/s ({})", from(disks.throughput_source)),
        _ => ", MB/s unknown".to_owned(),
    };
    words
}
