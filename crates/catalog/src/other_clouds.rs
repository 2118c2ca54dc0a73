//! Machine types of Google Cloud and Azure: `data/other_instances.csv`, what they let through to volumes
//! (`data/other_paths.csv`), and their prices.

use std::collections::BTreeMap;

use crate::table::Row;
use crate::{
    DiskKind, EbsCaps, FigureSource, InstancePrice, InstanceType, LocalDisks, Purchase, VolumePath, VolumeType, table,
};

/// The types, each with its price; `None`: not known.
pub(crate) fn built_in() -> Vec<(InstanceType, Option<InstancePrice>)> {
    let mut paths: BTreeMap<String, Vec<VolumePath>> = BTreeMap::new();
    table::read(include_str!("../data/other_paths.csv"), |row| {
        let (iops, mb_per_s) = (row.required("iops"), row.required("mb_per_s"));
        let caps = EbsCaps {
            baseline_mb_per_s: mb_per_s,
            burst_mb_per_s: mb_per_s,
            baseline_iops: iops,
            burst_iops: iops,
            cards: 1,
        };
        let kinds = row
            .text("types")
            .unwrap_or_default()
            .split(' ')
            .map(|name| name.parse::<VolumeType>().unwrap_or_else(|error| panic!("data/other_paths.csv: {error}")));
        let path = VolumePath { kinds: kinds.collect(), caps };
        paths.entry(row.text("name").unwrap_or_default().to_owned()).or_default().push(path);
    });
    table::read(include_str!("../data/other_instances.csv"), |row| {
        let text = |column: &str| row.text(column).unwrap_or_default().to_owned();
        let name = text("name");
        let price = row.number("usd_per_hour").map(|usd_per_hour| InstancePrice {
            date: text("usd_date"),
            region: text("region"),
            purchase: Purchase::OnDemand,
            usd_per_hour,
            upfront_usd: None,
            source: source(&name).to_owned(),
        });
        let instance = InstanceType {
            paths: paths.remove(&name).unwrap_or_default(),
            local_disks: local_disks(row),
            on_demand_usd_per_hour: price.as_ref().map(|price| price.usd_per_hour),
            price_date: price.as_ref().map(|price| price.date.clone()),
            ..InstanceType::of_size(
                name,
                text("architecture"),
                row.required("vcpus") as u32,
                row.required("memory_gib"),
            )
        };
        (instance, price)
    })
}

/// The local disks of a type; `None`: there are none, or nothing is known of them.
fn local_disks(row: &Row<'_>) -> Option<LocalDisks> {
    let count = row.number("disks")? as u32;
    let documented = Some(FigureSource::Documented);
    Some(LocalDisks {
        count,
        size_gb_each: row.required("disk_gb"),
        kind: DiskKind::NvmeSsd,
        read_iops: row.number("read_iops"),
        write_iops: row.number("write_iops"),
        iops_source: documented,
        read_mb_per_s: row.number("read_mb_per_s"),
        write_mb_per_s: row.number("write_mb_per_s"),
        throughput_source: documented,
    })
}

/// Where the prices of a cloud were seen.
fn source(name: &str) -> &'static str {
    match crate::Cloud::of(name) {
        crate::Cloud::Azure => {
            "Azure/karpenter-provider-azure@2b431da zz_generated.pricing.go (Azure retail prices; eastus)"
        }
        _ => "cloudpilot-ai/karpenter-provider-gcp@373e2ba initial-prices.json (Google's billing catalog; us-central1)",
    }
}
