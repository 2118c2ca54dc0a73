//! A run on AWS of one machine, for tests.

use std::collections::BTreeMap;

use experiment::{AwsBatch, AwsMachine, AwsSettings, AwsSite, AwsVolume, Role};

pub(super) const MACHINE: &str = "fast.database-1";

/// What is asked for: the settings, their one batch and the site of it.
pub(super) fn planned() -> (AwsSettings, AwsBatch, AwsSite) {
    let volume = AwsVolume { kind: "gp3".to_owned(), size_gib: 500, iops: Some(6_000), mib_per_s: None };
    let machine = AwsMachine {
        name: MACHINE.to_owned(),
        role: Role::Database,
        configuration: Some("fast".to_owned()),
        host: 0,
        instance_type: "r7i.xlarge".to_owned(),
        architecture: "x86_64".to_owned(),
        zone: 2,
        root_gib: 64,
        spot: false,
        ebs_optimized: None,
        bandwidth_weighting: None,
        instance_store: false,
        volumes: BTreeMap::from([("data".to_owned(), volume)]),
        vcpus: 4,
    };
    let site = AwsSite { name: "eu-west-1".to_owned(), region: "eu-west-1".to_owned(), ..AwsSite::default() };
    let batch =
        AwsBatch { site: 0, configurations: vec!["fast".to_owned()], machines: vec![machine], prices: Vec::new() };
    let settings = AwsSettings {
        sites: vec![site.clone()],
        controller_cidr: Some("203.0.113.7/32".to_owned()),
        public_address: true,
        ssh_user: "admin".to_owned(),
        lifetime_s: 1_800,
        ready_timeout_s: 900,
        batches: vec![batch.clone()],
        ..AwsSettings::default()
    };
    (settings, batch, site)
}
