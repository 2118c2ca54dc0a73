//! An instance type of EC2 (`DescribeInstanceTypes`, XML), in the catalog's words.

use catalog::{DiskKind, Lifecycle, LocalDisks, UserEbs, UserInstance};
use roxmltree::Node;

use crate::xml::{child, items, next_token, text, value};

/// One page of the answer.
#[derive(Debug)]
pub(super) struct Page {
    /// Entries without a name are left out.
    pub types: Vec<UserInstance>,
    /// For the next page; `None` at the end.
    pub next_token: Option<String>,
}

/// Reads a page.
///
/// # Errors
/// When it is no XML, or none of this call.
pub(super) fn page(xml: &str) -> Result<Page, String> {
    let document = roxmltree::Document::parse(xml).map_err(|error| format!("no XML: {error}"))?;
    let root = document.root_element();
    if !root.tag_name().name().starts_with("DescribeInstanceTypes") {
        return Err(format!("<{}> is no list of instance types", root.tag_name().name()));
    }
    Ok(Page { types: items(root, "instanceTypeSet").filter_map(entry).collect(), next_token: next_token(root) })
}

/// `None` for an entry without a name.
fn entry(reported: Node<'_, '_>) -> Option<UserInstance> {
    let mut entry = UserInstance::named(text(reported, "instanceType")?);
    entry.architecture = child(reported, "processorInfo").and_then(|processor| {
        ["x86_64", "arm64"]
            .into_iter()
            .find(|known| items(processor, "supportedArchitectures").any(|item| item.text() == Some(*known)))
            .map(str::to_owned)
    });
    entry.vcpus = child(reported, "vCpuInfo").and_then(|cpus| value(cpus, "defaultVCpus"));
    entry.memory_gib =
        child(reported, "memoryInfo").and_then(|memory| value::<f64>(memory, "sizeInMiB")).map(|mib| mib / 1024.0);
    entry.lifecycle = value(reported, "currentGeneration")
        .map(|is_current| if is_current { Lifecycle::Current } else { Lifecycle::Previous });
    entry.nitro = match (value::<bool>(reported, "bareMetal"), text(reported, "hypervisor")) {
        (Some(true), _) | (_, Some("nitro")) => Some(true),
        (_, Some("xen")) => Some(false),
        _ => None,
    };
    if let Some(network) = child(reported, "networkInfo") {
        let label = text(network, "networkPerformance");
        entry.network_gbps = labelled(together(network, "baselineBandwidthInGbps"), label);
        let mut weightings = items(network, "bandwidthWeightings");
        entry.bandwidth_weighting = weightings.any(|item| item.text() == Some("ebs-1")).then_some(true);
        entry.network_burst_gbps = labelled(together(network, "peakBandwidthInGbps"), label);
    }
    entry.ebs = child(reported, "ebsInfo").and_then(path);
    entry.local_disks = child(reported, "instanceStorageInfo").and_then(disks);
    Some(entry)
}

/// The sum over all cards; `None` where any is missing, or it is zero.
fn together(network: Node<'_, '_>, figure: &str) -> Option<f64> {
    let sum: Option<f64> = items(network, "networkCards").map(|card| value::<f64>(card, figure)).sum();
    sum.filter(|gbps| *gbps > 0.0)
}

/// AWS's label of the whole type, `200 Gigabit`, bounds the sum over its cards: each card of some types has the
/// bandwidth of both. Labels are cut to two digits, so that a hundredth above one is the same.
fn labelled(gbps: Option<f64>, label: Option<&str>) -> Option<f64> {
    let most: Option<f64> = label.and_then(|label| label.strip_suffix(" Gigabit")?.parse().ok());
    match (gbps, most) {
        (Some(gbps), Some(most)) if gbps > most * 1.01 => Some(most),
        (gbps, _) => gbps,
    }
}

fn path(ebs: Node<'_, '_>) -> Option<UserEbs> {
    let reported = child(ebs, "ebsOptimizedInfo")?;
    let positive = |name: &str| value::<f64>(reported, name).filter(|figure| *figure > 0.0);
    Some(UserEbs {
        baseline_iops: positive("baselineIops")?,
        baseline_mb_per_s: positive("baselineThroughputInMBps")?,
        burst_iops: value(reported, "maximumIops"),
        burst_mb_per_s: value(reported, "maximumThroughputInMBps"),
        cards: value::<u32>(ebs, "maximumEbsCards").filter(|cards| *cards > 0),
    })
}

/// Disks of one size and kind, as every type has them so far; others are left out rather than wrong.
fn disks(storage: Node<'_, '_>) -> Option<LocalDisks> {
    let mut all = items(storage, "disks");
    let only = all.next()?;
    if all.next().is_some() {
        return None;
    }
    let is_nvme = matches!(text(storage, "nvmeSupport"), Some("required" | "supported"));
    Some(LocalDisks {
        count: value::<u32>(only, "count").filter(|count| *count > 0)?,
        size_gb_each: value::<f64>(only, "sizeInGB").filter(|gb| *gb > 0.0)?,
        kind: match (text(only, "type")?, is_nvme) {
            ("hdd", _) => DiskKind::Hdd,
            (_, true) => DiskKind::NvmeSsd,
            (_, false) => DiskKind::Ssd,
        },
        read_iops: None,
        write_iops: None,
        iops_source: None,
        read_mb_per_s: None,
        write_mb_per_s: None,
        throughput_source: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape is that of the EC2 API reference's example of DescribeInstanceTypes.
    const PAGE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<DescribeInstanceTypesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
  <requestId>x</requestId>
  <instanceTypeSet>
    <item>
      <instanceType>i4i.8xlarge</instanceType>
      <currentGeneration>true</currentGeneration>
      <bareMetal>false</bareMetal>
      <hypervisor>nitro</hypervisor>
      <processorInfo><supportedArchitectures><item>x86_64</item></supportedArchitectures></processorInfo>
      <vCpuInfo><defaultVCpus>32</defaultVCpus></vCpuInfo>
      <memoryInfo><sizeInMiB>262144</sizeInMiB></memoryInfo>
      <instanceStorageInfo>
        <totalSizeInGB>7500</totalSizeInGB>
        <disks><item><count>2</count><sizeInGB>3750</sizeInGB><type>ssd</type></item></disks>
        <nvmeSupport>required</nvmeSupport>
      </instanceStorageInfo>
      <ebsInfo><maximumEbsCards>2</maximumEbsCards><ebsOptimizedInfo>
        <baselineIops>40000</baselineIops><baselineThroughputInMBps>1250.0</baselineThroughputInMBps>
        <maximumIops>40000</maximumIops><maximumThroughputInMBps>1250.0</maximumThroughputInMBps>
      </ebsOptimizedInfo></ebsInfo>
      <networkInfo><networkCards>
        <item><baselineBandwidthInGbps>9.375</baselineBandwidthInGbps>
          <peakBandwidthInGbps>9.375</peakBandwidthInGbps></item>
        <item><baselineBandwidthInGbps>9.375</baselineBandwidthInGbps></item>
      </networkCards><bandwidthWeightings><item>default</item><item>ebs-1</item></bandwidthWeightings></networkInfo>
    </item>
    <item><currentGeneration>true</currentGeneration></item>
  </instanceTypeSet>
  <nextToken>more</nextToken>
</DescribeInstanceTypesResponse>"#;

    #[test]
    fn a_page_becomes_entries_of_the_catalog() {
        let page = page(PAGE).unwrap();
        assert_eq!(page.next_token.as_deref(), Some("more"));
        let [reported] = &page.types[..] else { panic!("an entry without a name counts: {:?}", page.types) };
        assert_eq!(
            (reported.name(), reported.vcpus, reported.memory_gib, reported.nitro),
            ("i4i.8xlarge", Some(32), Some(256.0), Some(true))
        );
        assert_eq!(reported.network_gbps, Some(18.75), "the cards together");
        assert_eq!(reported.bandwidth_weighting, Some(true));
        assert_eq!(reported.network_burst_gbps, None, "one card's peak is not known");
        let ebs = reported.ebs.as_ref().unwrap();
        assert_eq!((ebs.baseline_mb_per_s, ebs.cards), (1250.0, Some(2)));
        let disks = reported.local_disks.as_ref().unwrap();
        assert_eq!((disks.count, disks.size_gb_each), (2, 3750.0));
        assert!(matches!(disks.kind, DiskKind::NvmeSsd));
    }

    #[test]
    fn the_label_of_a_type_bounds_the_sum_over_its_cards() {
        assert_eq!(labelled(Some(400.0), Some("200 Gigabit")), Some(200.0));
        assert_eq!(labelled(Some(18.75), Some("18.75 Gigabit")), Some(18.75));
        assert_eq!(labelled(Some(9.375), Some("Up to 25 Gigabit")), Some(9.375));
        assert_eq!(labelled(None, Some("200 Gigabit")), None);
    }

    #[test]
    fn something_else_is_no_page() {
        assert!(page("<html></html>").unwrap_err().contains("html"));
        assert!(page("{}").is_err());
    }
}
