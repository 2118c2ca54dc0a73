//! Cache tiers on AWS: which machines they ask for, what these cost, and what there is no machine for.

use experiment::{AwsPrice, AwsSettings, Experiment, Provider, ReadFor, Role};

use crate::story::{self, to_run};

/// A cluster behind one cache, and one node behind two of another type.
const FILE: &str = r#"
name = "x"
[dataset]
records = 1_000_000
[[configuration]]
name = "ebs"
instance = "r7i.xlarge"
data_volume = { type = "gp3", size_gib = 500 }
nodes = 3
racks = 3
replication_factor = 3
cache_tier = { memory_gib = 8, instance = "r7g.large" }
[[configuration]]
name = "nvme"
instance = "i8g.xlarge"
data_volume = "local"
cache_tier = { memory_gib = 8, nodes = 2, instance = "r7i.xlarge" }
[[workload]]
name = "w"
read = 1.0
[load]
concurrency = [8]
clients = 2
repetitions = 3
[provider.aws]
client_zone = "other"
"#;

fn planned(text: &str) -> Result<Experiment, String> {
    story::read(text, ReadFor::PlanOf(Provider::Aws)).map_err(|mistakes| mistakes.to_string())
}

fn aws_of(experiment: &Experiment) -> &AwsSettings {
    experiment.place.aws().unwrap()
}

#[test]
fn every_cache_has_a_machine_of_its_own_in_the_zone_of_the_first_database() {
    let experiment = planned(FILE).unwrap();
    let [batch] = aws_of(&experiment).batches.as_slice() else { panic!("{:?}", aws_of(&experiment).batches) };
    let caches: Vec<(&str, u32, u32, &str, &str)> = batch
        .machines_of(Role::Cache)
        .map(|m| (m.name.as_str(), m.host, m.zone, m.instance_type.as_str(), m.architecture.as_str()))
        .collect();
    assert_eq!(
        caches,
        [
            ("ebs.cache-1", 0, 0, "r7g.large", "arm64"),
            ("nvme.cache-1", 1, 0, "r7i.xlarge", "x86_64"),
            ("nvme.cache-2", 2, 0, "r7i.xlarge", "x86_64"),
        ]
    );
    assert!(batch.machines_of(Role::Cache).all(|machine| machine.volumes.is_empty() && !machine.instance_store));
    assert_eq!([Role::Database, Role::Client].map(|role| batch.machines_of(role).count()), [4, 2]);
    // The plan's setups say the same of hosts.
    assert!(experiment.place.has_cache_machines());
    let setups = experiment::setups(&experiment);
    let firsts: Vec<(u32, u32)> = setups.iter().map(|setup| (setup.at.first_host(), setup.at.first_cache())).collect();
    assert_eq!((firsts, setups[1].cache_host_of(2)), (vec![(0, 0), (3, 1)], 2));
}

#[test]
fn caches_cost_their_instances_and_their_roots() {
    let usd = |text: &str| match &aws_of(&planned(text).unwrap()).batches[0].prices[0] {
        AwsPrice::UsdPerHour(usd) => *usd,
        missing => panic!("{missing:?}"),
    };
    let is_other = |line: &&str| !line.starts_with("cache_tier");
    let plain: Vec<&str> = FILE.lines().filter(is_other).collect();
    let catalog = catalog::Catalog::built_in();
    let on_demand = |kind: &str| catalog.instance(kind).unwrap().on_demand_usd_per_hour.unwrap();
    // Roots of 64 GiB; us-east-1: gp3 0.08 a GiB.
    let expected = on_demand("r7g.large") + 2.0 * on_demand("r7i.xlarge") + 3.0 * 64.0 * 0.08 / 730.0;
    let more = usd(FILE) - usd(&plain.join("\n"));
    assert!((more - expected).abs() < 1e-9, "{more} {expected}");
}

#[test]
fn caches_are_held_to_what_a_site_may_have_and_to_what_aws_offers() {
    let at = |machines: &str| {
        let site = format!("[[provider.aws.site]]\nregion = \"us-east-1\"\nmachines = {{ {machines} }}\n");
        planned(&format!("{FILE}{site}"))
    };
    let batches = |experiment: &Experiment| -> Vec<Vec<String>> {
        aws_of(experiment).batches.iter().map(|batch| batch.configurations.clone()).collect()
    };
    // Three databases of one configuration and two caches of the other are of one type.
    assert_eq!(batches(&at("\"r7i.xlarge\" = 5").unwrap()), [["ebs", "nvme"]]);
    assert_eq!(batches(&at("\"r7i.xlarge\" = 4").unwrap()), [["ebs"], ["nvme"]]);
    let said = at("\"r7g.large\" = 0").unwrap_err();
    assert!(said.contains("no site has room for `ebs`") && said.contains("1 r7g.large of 0"), "{said}");
    for (kind, part) in [
        ("cc2.8xlarge", "AWS no longer offers cc2.8xlarge"),
        ("gcp:n2-standard-16", "a machine of Google Cloud, and iopslab makes machines on AWS alone"),
    ] {
        let text = FILE.replace("\"r7g.large\"", &format!("\"{kind}\""));
        let said = planned(&text).map(drop).expect_err(part);
        assert!(said.contains(part), "{said}");
        assert!(to_run(&text, Provider::Local).is_ok(), "it can be emulated");
    }
}
