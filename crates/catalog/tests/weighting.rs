//! Bandwidth weighting against AWS's own table.

use catalog::{BandwidthWeighting, Catalog, ClusterRequest};

/// EC2 User Guide, "EC2 instance bandwidth weighting configuration" (seen 2026-11-26), Gbit/s with `ebs-1`: EBS
/// baseline and burst, network baseline and burst.
const AWS: [(&str, [f64; 4]); 16] = [
    ("c8a.medium", [0.407, 10.0, 0.438, 10.0]),
    ("c8a.large", [0.813, 10.0, 0.774, 10.0]),
    ("c8a.24xlarge", [37.5, 37.5, 32.5, 32.5]),
    ("c8i-flex.4xlarge", [3.125, 10.0, 3.125, 12.5]),
    ("c8i-flex.8xlarge", [6.25, 12.5, 6.25, 12.5]),
    ("c8i-flex.16xlarge", [12.5, 25.0, 12.5, 25.0]),
    ("c9g.medium", [0.475, 12.0, 0.455, 12.0]),
    ("c9g.2xlarge", [3.75, 12.0, 3.5, 14.0]),
    ("c9g.48xlarge", [90.0, 90.0, 82.0, 82.0]),
    ("m8g.medium", [0.394, 10.0, 0.441, 10.0]),
    ("m8g.4xlarge", [6.25, 10.0, 6.25, 12.5]),
    ("m8g.8xlarge", [12.5, 12.5, 12.5, 12.5]),
    ("m8g.48xlarge", [50.0, 50.0, 40.0, 40.0]),
    ("m8i.96xlarge", [100.0, 100.0, 80.0, 80.0]),
    ("m9gd.12xlarge", [22.5, 22.5, 20.5, 20.5]),
    ("c8id.metal-48xl", [75.0, 75.0, 60.0, 60.0]),
];

fn caps(text: &str, weighting: BandwidthWeighting) -> Result<catalog::Caps, catalog::CapsError> {
    let facts = Catalog::built_in();
    facts.caps_weighted(&ClusterRequest::parse(facts, text).unwrap(), None, weighting)
}

#[test]
fn ebs_1_gives_what_aws_states() {
    for (name, expected) in AWS {
        let known = Catalog::built_in().instance(name).unwrap();
        let weighted = known.weighted(BandwidthWeighting::Ebs1).unwrap();
        let (ebs, plain) = (weighted.ebs.unwrap(), known.ebs.unwrap());
        let gbps = |mb_per_s: f64| mb_per_s * 8.0 / 1000.0;
        let found = [
            gbps(ebs.baseline_mb_per_s),
            gbps(ebs.burst_mb_per_s),
            weighted.network_gbps.unwrap(),
            weighted.network_burst_gbps.unwrap(),
        ];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 0.001, "{name}: {found} is not {expected}");
        }
        assert_eq!((ebs.baseline_iops, ebs.burst_iops), (plain.baseline_iops, plain.burst_iops), "{name}");
        assert_eq!(known.weighted(BandwidthWeighting::Default).unwrap(), *known);
    }
    let offered = Catalog::built_in().instances().iter().filter(|known| known.bandwidth_weighting);
    assert_eq!(offered.count(), 307, "as many as EC2 says it of");
}

#[test]
fn caps_follow_and_a_type_without_it_is_refused_with_the_families_that_have_it() {
    let text = "m8g.8xlarge+gp3:4000:40000:2000";
    let mib = |weighting| caps(text, weighting).unwrap().ebs[3].baseline.mib_per_s;
    let (plain, weighted) = (mib(BandwidthWeighting::Default), mib(BandwidthWeighting::Ebs1));
    assert!((plain - 1250.0e6 / 1_048_576.0).abs() < 1e-6 && (weighted / plain - 1.25).abs() < 1e-9, "{weighted}");
    let remarks = caps(text, BandwidthWeighting::Ebs1).unwrap().remarks;
    let said = "bandwidth weighting ebs-1 gives m8g.8xlarge 1562.5 MB/s to EBS that last instead of 1250.0, and 12.500 \
                Gbit/s of network instead of 15.000; IOPS and price stay";
    assert!(remarks.iter().any(|remark| remark == said), "{remarks:?}");
    let error = caps("r7i.large+gp3:500", BandwidthWeighting::Ebs1).unwrap_err().to_string();
    assert!(error.contains("r7i.large has no bandwidth weighting") && error.contains("m8g, "), "{error}");
}
