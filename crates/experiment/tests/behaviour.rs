//! How a volume behaves besides its limits: from the catalog for a type, from the file for one given by its limits.

use crate::story::{accepted, each_refused, notes, read, with};
use catalog::Latency;
use experiment::{Provider, ReadFor, VolumeSetup, setups};

const GP2: &str = "{ type = \"gp2\", size_gib = 320 }";
const SERVED: &str = "\n[provider.local]\nvolumes = \"served\"\nscale = 4\n";

fn volume(text: &str, more: &str) -> String {
    format!("{}{more}", with(GP2, text))
}

fn data(text: &str) -> VolumeSetup {
    setups(&accepted(&volume(text, SERVED)))[0].data.clone()
}

#[test]
fn a_served_volume_given_by_its_limits_takes_the_time_that_is_stated() {
    let stated = data("{ iops = 3000, mib_per_s = 125, latency_us = 500, latency_sigma = 0.3 }");
    let latency = |median_us: f64, sigma: f64| Some(Latency { median_us, sigma });
    assert_eq!(stated.served.unwrap().latency, latency(500.0, 0.3), "not divided by the scale");
    assert_eq!(stated.label, "3000 IOPS, 125 MiB/s, 500 us");
    assert_eq!(stated.limits.read_iops, Some(750.0));
    assert!(stated.is_combined());
    let always_the_same = data("{ iops = 3000, latency_us = 500 }");
    assert_eq!(always_the_same.served.unwrap().latency, latency(500.0, 0.0));
    assert_eq!(data("{ iops = 3000 }").served.unwrap().latency, None);
}

#[test]
fn reads_and_writes_share_limits_unless_the_file_says_otherwise() {
    let combined = |text: &str| data(text).is_combined();
    assert!(combined("{ iops = 3000 }"));
    assert!(combined("{ iops = 3000, combined = true }"));
    assert!(!combined("{ iops = 3000, combined = false }"));
    assert!(combined(GP2), "as at EBS");
    let apart = data("{ iops = 3000, combined = false, latency_us = 500 }");
    assert_eq!(apart.label, "3000 IOPS, reads and writes apart, 500 us");
}

#[test]
fn what_cannot_have_an_effect_is_refused_at_its_place() {
    let served = |text: &str| volume(text, SERVED);
    each_refused(&[
        (
            volume("{ iops = 960, latency_us = 500, combined = false }", ""),
            "x.toml:9:29: `latency_us` has no effect on a throttled volume: a request takes what this machine's disk \
             takes (set volumes = \"served\" in [provider.local], or remove it)",
        ),
        (
            volume("{ iops = 960, combined = true }", ""),
            "x.toml:9:29: `combined` has no effect on a throttled volume: the throttle holds reads and writes apart",
        ),
        (
            served("{ type = \"gp3\", size_gib = 100, latency_us = 500 }"),
            "x.toml:9:47: `latency_us` is not for a volume with a type: gp3 has that of its type: median latency 600 \
             us, sigma 0.35 (remove it; or give the volume by its limits, without `type`)",
        ),
        (
            served("{ type = \"gp3\", size_gib = 100, combined = true }"),
            "`combined` is not for a volume with a type: reads and writes of gp3 share its limits",
        ),
        (served("{ iops = 960, latency_sigma = 0.3 }"), "x.toml:9:29: `latency_sigma` without `latency_us`"),
        (served("{ iops = 960, latency_us = 0 }"), "latency_us cannot be 0 (a number from 1 to 10000000)"),
        (
            served("{ iops = 960, latency_us = 500, latency_sigma = 4 }"),
            "x.toml:9:47: latency_sigma cannot be 4 (a number from 0 to 3)",
        ),
        (served("{ iops = 960, latency_us = \"fast\" }"), "x.toml:9:42: in data_volume:"),
    ]);
}

#[test]
fn volumes_that_nobody_emulates_behave_as_they_do() {
    let text = volume("{ iops = 960, latency_us = 500, combined = false }", SERVED);
    let refused = |text: &str, provider: Provider| {
        read(text, ReadFor::PlanOf(provider)).map(drop).map_err(|mistakes| mistakes.to_string())
    };
    assert_eq!(refused(&text, Provider::Local), Ok(()));
    let aws = refused(&text, Provider::Aws).unwrap_err();
    assert!(
        aws.contains("x.toml:9:29: `latency_us` of a volume: volumes of AWS behave as they do")
            && aws.contains("x.toml:9:47: `combined` of a volume"),
        "{aws}"
    );
    let hosts = |more: &str| {
        let of = "\n[provider.hosts]\ndatabase = [\"db1\"]\nclient = [\"load1\"]\n";
        let text = text.replace("scale = 4\n", "");
        refused(&format!("{text}{of}{more}"), Provider::Hosts)
    };
    let without = hosts("").unwrap_err();
    assert!(
        without.contains("`latency_us` of a volume: machines without limits have the disks that they have"),
        "{without}"
    );
    assert_eq!(hosts("limits = true\n"), Ok(()));
    let existing = text.replacen("[dataset]", "[target]\nhosts = [\"10.0.0.1:9042\"]\n[dataset]", 1);
    let existing = refused(&existing, Provider::Local).unwrap_err();
    assert!(existing.contains("`latency_us` of a volume: an existing cluster has its volumes"), "{existing}");
    let simulated = notes(&accepted(&text), "key_without_effect", Some(Provider::Simulated));
    assert!(simulated.iter().any(|n| n.contains("latency_us, latency_sigma and combined")), "{simulated:?}");
}

/// r4.4xlarge lets 18,750 IOPS through to all of its volumes.
#[test]
fn served_volumes_of_ebs_share_the_path_of_their_instance() {
    let path = |log: &str, more: &str| {
        let text = volume(&format!("{GP2}\n{log}"), more);
        setups(&accepted(&text))[0].instance_limits
    };
    let log = "commitlog_volume = { type = \"gp3\", size_gib = 50 }";
    let shared = path(log, SERVED).unwrap();
    assert_eq!(shared.read_iops, Some(18_750.0 / 4.0), "divided by the scale as all else");
    assert!(shared.write_bytes_per_s.is_some());
    assert_eq!(path("", SERVED), None, "one volume has it for itself");
    assert_eq!(path(log, ""), None, "nobody holds throttled ones to it");
    let explicit = "commitlog_volume = { iops = 1000 }";
    assert_eq!(path(explicit, SERVED), None, "no instance caps a volume given by its limits");
}
