//! `[provider.aws]`: which machines an experiment asks of AWS, what they cost, and what AWS has not.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{VcpuPool, VolumeType};
use experiment::{
    AwsBackend, AwsPrice, AwsQuota, AwsQuotas, AwsSettings, AwsSite, Experiment, ParseContext, Provider, QuotaNeeds,
    ReadFor, SetupAt, parse,
};

use crate::story::{self, to_run};

fn aws_of(experiment: Experiment) -> AwsSettings {
    experiment.place.aws().unwrap().clone()
}

const CLUSTER: &str = r#"
name = "x"
[dataset]
records = 1_000_000
[[configuration]]
name = "ebs"
instance = "r7i.xlarge"
data_volume = { type = "io2", size_gib = 500, iops = 8000 }
commitlog_volume = { type = "gp3", size_gib = 50 }
nodes = 3
racks = 3
replication_factor = 3
[[configuration]]
name = "nvme"
instance = "i8g.xlarge"
data_volume = "local"
[[workload]]
name = "w"
read = 1.0
[load]
concurrency = [8]
clients = 2
repetitions = 3
"#;
const WAY: &str = "[provider.aws]\ncontroller_cidr = \"203.0.113.7/32\"\npublic_address = true\n";

type Read = Result<experiment::Experiment, String>;

fn planned(text: &str) -> Read {
    story::read(text, ReadFor::PlanOf(Provider::Aws)).map_err(|mistakes| mistakes.to_string())
}

/// As AWS would answer: so many vCPUs of standard types are granted, and so many GiB of gp3; 10 of each are in use.
fn granted(text: &str, vcpus: u64, gp3: u64) -> Read {
    let quota = |code: &str, granted| AwsQuota { code: code.to_owned(), granted, in_use: 10, is_default: false };
    let quotas = |site: &AwsSite, needs: &QuotaNeeds| {
        assert_eq!((site.region.as_str(), needs.spot), ("us-east-1", false));
        assert_eq!(needs.pools, BTreeSet::from([VcpuPool::Standard]));
        assert_eq!(needs.volume_types, BTreeSet::from([VolumeType::Gp3, VolumeType::Io2]));
        Ok(AwsQuotas {
            spot: false,
            vcpus: BTreeMap::from([(VcpuPool::Standard, quota("L-1216C47A", vcpus))]),
            volume_gib: BTreeMap::from([(VolumeType::Gp3, quota("L-7A658B76", gp3))]),
        })
    };
    let beside = ParseContext { quotas: &quotas, ..ParseContext::alone() };
    let read = parse(catalog::Catalog::built_in(), "x.toml", text, &beside, ReadFor::PlanOf(Provider::Aws));
    read.map_err(|mistakes| mistakes.to_string())
}

/// The same with other settings of AWS.
fn stated(settings: &str) -> String {
    format!("{CLUSTER}{WAY}{settings}\n")
}

#[test]
fn every_node_and_every_client_has_a_machine_in_the_zone_of_its_rack() {
    let experiment = planned(&stated("client_zone = \"other\"\nclient = \"c7g.xlarge\"")).unwrap();
    let aws = experiment.place.aws().unwrap();
    let [batch] = aws.batches.as_slice() else { panic!("{:?}", aws.batches) };
    let seen: Vec<(&str, u32, u32, &str)> =
        batch.machines.iter().map(|m| (m.name.as_str(), m.host, m.zone, m.architecture.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("ebs.database-1", 0, 0, "x86_64"),
            ("ebs.database-2", 1, 1, "x86_64"),
            ("ebs.database-3", 2, 2, "x86_64"),
            ("nvme.database-1", 3, 0, "arm64"),
            ("client-1", 0, 3, "arm64"),
            ("client-2", 1, 3, "arm64"),
        ]
    );
    assert_eq!((batch.zones(), batch.site), (4, 0));
    let (ebs, nvme) = (&batch.machines[0], &batch.machines[3]);
    assert_eq!((ebs.volumes["data"].kind.as_str(), ebs.volumes["data"].iops), ("io2", Some(8_000)));
    assert_eq!((ebs.volumes.len(), ebs.instance_store), (2, false));
    assert_eq!((nvme.volumes.len(), nvme.instance_store), (0, true));
    // The plan's setups say the same of hosts, and that nothing is emulated.
    let setups = experiment::setups(&experiment);
    let hosts: Vec<Vec<u32>> = setups.iter().map(experiment::Setup::database_hosts).collect();
    assert_eq!(hosts, [vec![0, 1, 2], vec![3]]);
    assert!(setups.iter().all(experiment::Setup::has_real_volumes));
}

#[test]
fn a_machine_costs_its_instance_its_volumes_and_its_root_at_todays_prices() {
    let text = stated("") + "[basis]\nprice_date = \"2019-01-01\"\n";
    let experiment = planned(&text.replace("r7i.xlarge", "r4.xlarge").replace("i8g.xlarge", "i3.xlarge")).unwrap();
    let catalog = catalog::Catalog::built_in();
    let on_demand = |kind: &str| catalog.instance(kind).unwrap().on_demand_usd_per_hour.unwrap();
    // us-east-1: io2 0.125 a GiB and 0.065 an IOPS a month, gp3 0.08 a GiB.
    let of_ebs = 500.0 * 0.125 + 8_000.0 * 0.065 + 50.0 * 0.08;
    let machines = 3.0 * on_demand("r4.xlarge") + on_demand("i3.xlarge") + 2.0 * on_demand("c7i.2xlarge");
    let expected = machines + (3.0 * of_ebs + 6.0 * 64.0 * 0.08) / 730.0;
    let price = |experiment: experiment::Experiment| experiment.place.aws().unwrap().batches[0].prices.clone();
    let AwsPrice::UsdPerHour(usd) = price(experiment)[0] else { panic!("no price") };
    assert!((usd - expected).abs() < 1e-9, "{usd} {expected}");
    // A region whose prices nobody has asked for costs what nobody knows.
    let elsewhere = price(planned(&stated("region = \"eu-central-1\"")).unwrap());
    assert!(matches!(&elsewhere[0], AwsPrice::Missing(what) if what.contains("ebs.database-1")), "{elsewhere:?}");
}

/// The same at two sites with limits.
fn at_sites(limits: &str) -> String {
    let sites = format!(
        "[[provider.aws.site]]\nname = \"a\"\nregion = \"us-east-1\"\nprofile = \"one\"\n{limits}\n\
         [[provider.aws.site]]\nregion = \"us-west-2\"\n{limits}\n"
    );
    stated("") + &sites
}

#[test]
fn sites_share_the_configurations_and_each_stays_within_its_limits() {
    let experiment = planned(&at_sites("volume_gib = 2000")).unwrap();
    let aws = experiment.place.aws().unwrap();
    let placed: Vec<(usize, &[String])> = aws.batches.iter().map(|b| (b.site, b.configurations.as_slice())).collect();
    assert_eq!(placed, [(0, &["ebs".to_owned()][..]), (1, &["nvme".to_owned()])]);
    assert_eq!((aws.sites[0].name.as_str(), aws.sites[1].name.as_str()), ("a", "us-west-2"));
    // Each batch has clients of its own, and its part of the plan knows nothing of the other.
    let names: Vec<&str> = aws.batches[1].machines.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["nvme.database-1", "client-3", "client-4"]);
    let job = experiment::job(&experiment);
    let part = job.of_batch(1);
    let counted = (job.plan.trials.len(), part.plan.trials.len(), part.plan.cells.len());
    assert_eq!(counted, (6, 3, 1));
    assert!(part.plan.estimated_s < job.plan.estimated_s);
    assert_eq!(
        (part.setups.len(), part.setups[0].at.clone()),
        (1, SetupAt::Bought { first_host: 3, first_cache: 0, batch: 1 })
    );

    // One site with little room works through them in turn.
    let one =
        stated("") + "[[provider.aws.site]]\nregion = \"us-east-1\"\nmachines = { \"c7i.2xlarge\" = 2 }\nvcpus = 28\n";
    let aws = aws_of(planned(&one).unwrap());
    let placed: Vec<(usize, usize)> = aws.batches.iter().map(|b| (b.site, b.configurations.len())).collect();
    assert_eq!(placed, [(0, 1), (0, 1)]);
}

#[test]
fn a_site_is_held_to_what_aws_grants_less_what_is_in_use_and_to_what_is_stated() {
    let at = |limits: &str| stated("") + &format!("[[provider.aws.site]]\nregion = \"us-east-1\"\n{limits}\n");
    let text = at("limits = \"quotas\"");
    let batches = |text: &str, vcpus, gp3| aws_of(granted(text, vcpus, gp3).unwrap()).batches.len();
    // Databases of 12 and 4 vCPUs, clients of 16 beside each batch; 3 volumes of 50 GiB, and roots of 64.
    assert_eq!(batches(&text, 42, 1_000), 1);
    assert_eq!(batches(&text, 41, 1_000), 2);
    assert_eq!(batches(&text, 42, 3 * 50 + 6 * 64 + 10), 1);
    assert_eq!(batches(&text, 42, 3 * 50 + 6 * 64 + 9), 2);
    // What is stated beside it holds as well.
    assert_eq!(batches(&at("limits = \"quotas\"\nvcpus = 28"), 1_000, 1_000), 2);
    let kept = aws_of(granted(&text, 42, 1_000).unwrap()).sites[0].limits.clone();
    let quotas = kept.quotas.unwrap();
    assert_eq!((quotas.vcpus[&VcpuPool::Standard].left(), kept.vcpus), (32, None));
    let said = granted(&text, 37, 1_000).unwrap_err();
    let why = "us-east-1: 28 vCPUs of 27 that are left: L-1216C47A grants 37, 10 are in use";
    assert!(said.contains("no site has room for `ebs`") && said.contains(why), "{said}");
    let said = granted(&text, 1_000, 9).unwrap_err();
    assert!(said.contains("GiB of gp3 of 0 that are left: L-7A658B76 grants 9, 10 are in use"), "{said}");

    // What AWS does not answer is a mistake at its place, and so is a type whose quota nobody knows.
    let said = planned(&text).unwrap_err();
    assert!(said.contains("the quotas of us-east-1 cannot be read: nobody asks AWS here"), "{said}");
    let line = text.lines().position(|line| line == "limits = \"quotas\"").unwrap() + 1;
    assert!(said.starts_with(&format!("x.toml:{line}:")), "{said}");
    let said = planned(&at("limits = \"quota\"")).unwrap_err();
    assert!(said.contains("limits cannot be `quota`") && said.contains("did you mean `quotas`?"), "{said}");
    // Who does not make machines there asks nobody.
    assert!(to_run(&text, Provider::Local).is_ok());
}

#[test]
fn sites_that_cannot_be_are_refused_at_their_places() {
    let cases = [
        (
            at_sites("vcpus = 20"),
            "no site has room for `ebs` and its clients (a: 28 vCPUs of 20; us-west-2: 28 vCPUs of 20)",
        ),
        (at_sites("machines = { \"c7i.2xlarge\" = 1 }"), "2 c7i.2xlarge of 1"),
        (at_sites("machines = { \"m55.large\" = 1 }"), "m55.large"),
        (at_sites("volumes = 0"), "volumes cannot be 0"),
        (at_sites("").replace("us-west-2", "us-east-1\"\nprofile = \"one"), "is a site already"),
        (at_sites("").replace("us-west-2", "us-east-1\"\nname = \"a"), "two sites are called a"),
        (at_sites("").replace("public_address", "region = \"us-east-1\"\npublic_address"), "region beside sites"),
        (at_sites("").replace("public_address", "profile = \"x\"\npublic_address"), "profile beside sites"),
        (at_sites("vpc = \"vpc-1\""), "vpc without subnets"),
        (at_sites("vpc = \"vpc-1\"\nsubnets = [\"subnet-1\"]"), "1 subnets for 3 zones"),
        (
            at_sites("").replace("repetitions = 3", "repetitions = \"auto\""),
            "each would stop after another number of blocks",
        ),
        (at_sites("limit = 3"), "limit"),
    ];
    for (text, part) in cases {
        let said = planned(&text).map(drop).expect_err(part);
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
}

#[test]
fn machines_are_measured_at_full_size() {
    let text = stated("") + "[provider.local]\nscale = 64\npage_cache_mib = 100\n";
    let experiment = planned(&text.replace("nodes = 3", "memory_limit_gib = 4\nnodes = 3")).unwrap();
    let (plan, setups) = (experiment::plan(&experiment), experiment::setups(&experiment));
    assert_eq!((plan.scale(), plan.dataset.records), (1.0, 1_000_000));
    assert_eq!(setups[0].cpus, 4.0);
    assert!(setups[0].page_cache_budget_bytes > 20 << 30, "32 GiB less a heap of 8");
    let notes = experiment::static_notes(catalog::Catalog::built_in(), &experiment, Some(Provider::Aws), None);
    let reported = notes.iter().find(|n| n.message.to_string().contains("without effect on AWS")).unwrap();
    for key in ["scale", "page_cache_mib", "memory_limit_gib"] {
        assert!(reported.message.to_string().contains(key), "{}", reported.message);
    }
    // Elsewhere AWS is not mentioned, and nobody makes machines.
    let here = to_run(&text, Provider::Local).unwrap();
    assert_eq!(here.place.aws(), None);
    assert_eq!(experiment::setups(&here)[1].at, SetupAt::Shared);
}

/// `iopslab init` states a heap for a model; a plan of the same file on AWS showed 1 GiB of 32 and did not say why.
#[test]
fn a_heap_that_was_stated_for_a_model_is_obeyed_on_aws_and_said() {
    let of = |heap: &str| {
        let experiment = planned(&(stated("") + "[provider.local]\n" + heap)).unwrap();
        let notes = experiment::static_notes(catalog::Catalog::built_in(), &experiment, Some(Provider::Aws), None);
        let said = notes.into_iter().find(|note| note.rule == "heap_of_a_model").map(|note| note.to_string());
        (experiment::setups(&experiment)[0].heap_bytes, said)
    };
    let (heap, said) = of("heap_mib = 1024\n");
    assert_eq!(heap, 1 << 30);
    let said = said.expect("a note");
    assert!(said.contains("heap_mib = 1024 of [provider.local] is the heap on AWS, too"), "{said}");
    assert!(said.contains("8192"), "{said}");
    let (heap, said) = of("");
    assert_eq!((heap, said), (8 << 30, None));
}

#[test]
fn an_experiment_that_says_nothing_of_aws_is_planned_there_and_not_run() {
    let plan = planned(CLUSTER).unwrap();
    assert_eq!(aws_of(plan).sites[0].region, "us-east-1");
    let said = to_run(CLUSTER, Provider::Aws).unwrap_err();
    assert!(said.contains("controller_cidr is missing"), "{said}");
    assert!(said.contains("no way in but public addresses"), "{said}");
    assert!(to_run(&stated(""), Provider::Aws).is_ok());
    let of_ours =
        WAY.replace("public_address = true", "vpc = \"vpc-1\"\nsubnets = [\"subnet-1\", \"subnet-2\", \"subnet-3\"]");
    assert!(to_run(&format!("{CLUSTER}{of_ours}"), Provider::Aws).is_ok());
}

#[test]
fn what_aws_has_not_is_refused_at_its_place() {
    for (from, to, part) in [
        ("\"r7i.xlarge\"", "\"cc2.8xlarge\"", "AWS no longer offers cc2.8xlarge"),
        ("\"r7i.xlarge\"", "{ vcpus = 4, memory_gib = 32 }", "is no instance type of AWS"),
        (
            "{ type = \"io2\", size_gib = 500, iops = 8000 }",
            "{ iops = 900, mib_per_s = 100, size_gib = 10 }",
            "is no volume of AWS",
        ),
    ] {
        let text = stated("").replace(from, to);
        let said = planned(&text).map(drop).expect_err(part);
        assert!(said.contains(part), "{said}");
        assert!(to_run(&text, Provider::Local).is_ok(), "it can be emulated");
    }
    let ssd = "{ type = \"pd-ssd\", size_gib = 500 }";
    let google = stated("")
        .replace("\"r7i.xlarge\"", "\"gcp:n2-standard-16\"")
        .replace("{ type = \"io2\", size_gib = 500, iops = 8000 }", ssd)
        .replace("commitlog_volume = { type = \"gp3\", size_gib = 50 }\n", "");
    let said = planned(&google).unwrap_err();
    assert!(said.contains("a machine of Google Cloud, and iopslab makes machines on AWS alone"), "{said}");
    assert!(to_run(&google, Provider::Local).is_ok(), "it can be emulated");
    let existing = "[target]\nhosts = [\"10.0.0.5\"]\nkeyspace = \"lab\"\n";
    let said = planned(&stated("").replace("[dataset]", &format!("{existing}[dataset]"))).unwrap_err();
    assert!(said.contains("--provider aws makes others"), "{said}");
}

#[test]
fn the_state_may_be_kept_where_that_was_tried_and_nowhere_else() {
    let of = |backend: &str| planned(&stated(&format!("backend = {{ {backend} }}")));
    let kept = |backend: &str| aws_of(of(backend).unwrap()).backend.unwrap();
    let s3 = kept("type = \"s3\", bucket = \"b\", region = \"eu-west-1\", prefix = \"/lab/\", use_lockfile = true");
    let expected = AwsBackend::S3 {
        bucket: "b".to_owned(),
        region: "eu-west-1".to_owned(),
        prefix: Some("lab".to_owned()),
        profile: None,
        use_lockfile: Some(true),
        use_path_style: None,
    };
    assert_eq!(s3, expected);
    let path = "/srv/states".to_owned();
    assert_eq!(kept("type = \"local\", path = \"/srv/states\""), AwsBackend::Local { path });
    for (backend, part) in [
        ("type = \"azurerm\"", "the backend `azurerm` was never tried"),
        ("type = \"s3\", bucket = \"b\"", "a backend of the type s3 needs region"),
        ("type = \"s3\", region = \"eu-west-1\"", "a backend of the type s3 needs bucket"),
        ("type = \"s3\", bucket = \"b\", region = \"r\", path = \"/x\"", "a backend of the type s3 has no path"),
        ("type = \"s3\", bucket = \"b\", region = \"r\", key = \"x\"", "key"),
        ("type = \"s3\", bucket = \"b\", region = \"r\", access_key = \"x\"", "access_key"),
        ("type = \"local\", path = \"states\"", "needs path, an absolute one"),
        ("type = \"local\"", "needs path, an absolute one"),
        ("type = \"local\", path = \"/x\", use_lockfile = true", "local has no use_lockfile"),
    ] {
        let said = of(backend).map(drop).expect_err(part);
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
}

#[test]
fn settings_that_cannot_be_are_reported_together_whoever_runs() {
    let settings = r#"
client_zone = "same zone"
placement_group = "near"
lifetime_min = 2
ready_timeout_s = 5
capacity_wait_min = -1
max_cost_usd = 0
root_gib = 1
ssh_user = "-oProxyCommand=x"
tags = { "iopslab:run" = "mine" }
subnets = ["subnet-1"]
region = "us east"
"#;
    let text = format!("{CLUSTER}[provider.aws]\ncontroller_cidr = \"0.0.0.0/0\"\n{settings}");
    for provider in [Provider::Aws, Provider::Local] {
        let said = to_run(&text, provider).unwrap_err();
        for part in [
            "controller_cidr cannot be `0.0.0.0/0`",
            "client_zone cannot be `same zone`",
            "placement_group cannot be `near`",
            "lifetime_min cannot be 2",
            "ready_timeout_s cannot be 5",
            "capacity_wait_min cannot be -1",
            "max_cost_usd cannot be 0",
            "root_gib cannot be 1",
            "a machine cannot be called `-oProxyCommand=x`",
            "`iopslab:run` cannot be a tag of yours",
            "subnets without a vpc",
            "region cannot be `us east`",
        ] {
            assert!(said.contains(part), "{part:?} is missing in:\n{said}");
        }
    }
    let few = stated("").replace("public_address = true", "vpc = \"vpc-1\"\nsubnets = [\"subnet-1\"]");
    let said = to_run(&few, Provider::Aws).unwrap_err();
    assert!(said.contains("1 subnets for 3 zones"), "{said}");
    let cluster = planned(&stated("placement_group = \"cluster\"")).unwrap_err();
    assert!(cluster.contains("a cluster placement group lies in one zone"), "{cluster}");
}

const ONE: &str = r#"
name = "x"
[dataset]
records = 1_000_000
[[configuration]]
name = "gp3"
instance = "m7i.4xlarge"
data_volume = { type = "gp3", size_gib = 500, mib_per_s = 250 }
[[configuration]]
name = "io2"
instance = "r7i.xlarge"
data_volume = { type = "io2", size_gib = 600, iops = 8000 }
commitlog_volume = { type = "gp3", size_gib = 50 }
[[workload]]
name = "w"
read = 1.0
[load]
concurrency = [8]
repetitions = 3
[provider.aws]
"#;
const SNAPSHOT: &str = "snapshot = \"snap-0123456789abcdef0\"\n";

#[test]
fn data_volumes_are_made_from_a_snapshot_and_a_plan_estimates_how_long_reading_them_takes() {
    let experiment = planned(&format!("{ONE}{SNAPSHOT}")).unwrap();
    let aws = aws_of(experiment);
    assert_eq!(aws.sites[0].snapshot.as_deref(), Some("snap-0123456789abcdef0"));
    let reported: Vec<(&str, u32)> =
        aws.initialisations.iter().map(|one| (one.configuration.as_str(), one.size_gib)).collect();
    assert_eq!(reported, [("gp3", 500), ("io2", 600)]);
    // 500 GiB at the 250 MiB/s of the volume.
    assert_eq!(aws.initialisations[0].estimated_s(), Some(2_048.0));
    // All machines of a batch are read at the same time: the slowest counts.
    let both = ["gp3".to_owned(), "io2".to_owned()];
    let io2 = aws.initialisations[1].estimated_s().unwrap();
    assert_eq!(aws.initialisation_s(&both), io2.max(2_048.0));
    assert_eq!(aws.initialisation_s(&both[..1]), 2_048.0);

    // Without one nothing is read, and the file plans as before.
    let aws = aws_of(planned(ONE).unwrap());
    assert!(aws.initialisations.is_empty() && aws.sites[0].snapshot.is_none());
}

#[test]
fn what_a_snapshot_cannot_be_for_is_refused_at_its_place() {
    let refused = |text: &str, words: &[&str]| {
        let said = planned(text).unwrap_err();
        for word in words {
            assert!(said.contains(word), "no {word:?} in:\n{said}");
        }
    };
    for id in ["vol-0123456789abcdef0", "snap-", "snap-0123", "snap-0123456789ABCDEF0"] {
        let text = format!("{ONE}snapshot = \"{id}\"\n");
        refused(&text, &[&format!("`{id}` is no snapshot of EBS"), "snap-0123456789abcdef0"]);
    }
    let text = format!("{ONE}{SNAPSHOT}");
    refused(
        &text.replace("[[workload]]", "[dataset.store]\nat = \"/mnt/sets\"\n[[workload]]"),
        &["[dataset.store] beside a snapshot", "leave out one of the two"],
    );
    refused(
        &text
            .replace("data_volume = { type = \"io2\", size_gib = 600, iops = 8000 }\n", "data_volume = \"local\"\n")
            .replace("r7i.xlarge", "i8g.xlarge"),
        &["`io2` has its data on the instance's own disks", "leave out snapshot"],
    );
    refused(
        &text.replace("name = \"gp3\"\n", "name = \"gp3\"\nnodes = 3\nreplication_factor = 3\n"),
        &["`gp3` has 3 nodes, and a snapshot holds the data set of one"],
    );
}

#[test]
fn a_snapshot_belongs_to_a_region_so_each_site_has_its_own_or_none_has() {
    let site = |name: &str, region: &str, snapshot: &str| {
        format!("[[provider.aws.site]]\nname = \"{name}\"\nregion = \"{region}\"\n{snapshot}")
    };
    let other = SNAPSHOT.replace("abcdef0", "abcdef1");
    let both = format!("{ONE}{}{}", site("a", "us-east-1", SNAPSHOT), site("b", "eu-west-1", &other));
    let aws = aws_of(planned(&both).unwrap());
    let ids: Vec<_> = aws.sites.iter().map(|site| site.snapshot.as_deref().unwrap()).collect();
    assert_eq!(ids, ["snap-0123456789abcdef0", "snap-0123456789abcdef1"]);
    assert_eq!(aws.initialisations.len(), 2);

    let one = format!("{ONE}{}{}", site("a", "us-east-1", SNAPSHOT), site("b", "eu-west-1", ""));
    let said = planned(&one).unwrap_err();
    assert!(said.contains("b has no snapshot and other sites have one"), "{said}");
    let above = format!("{ONE}{SNAPSHOT}{}", site("a", "us-east-1", ""));
    let said = planned(&above).unwrap_err();
    assert!(said.contains("[provider.aws] snapshot beside sites"), "{said}");
}

#[test]
fn a_rehearsal_elsewhere_makes_no_volume_from_a_snapshot() {
    // As all of [provider.aws]: the same file is rehearsed on one machine, and its data set is loaded there.
    let text = format!("{ONE}{SNAPSHOT}").replace("[provider.aws]", "[provider.local]\nscale = 1000\n[provider.aws]");
    let experiment = to_run(&text, Provider::Local).unwrap();
    assert_eq!(experiment.place.aws(), None);
}

/// Before anything is planned there, and so before anything costs money.
#[test]
fn a_database_that_machines_on_aws_are_not_made_for_is_refused_at_its_place() {
    let of = |more: &str| story::with("[load]", "[target]\ndatabase = \"postgresql\"\n\n[load]") + more;
    let plain = story::read(&of(""), ReadFor::PlanOf(Provider::Aws)).err().unwrap().to_string();
    assert!(
        plain.contains("database = \"postgresql\": machines on AWS are made for Apache Cassandra alone so far"),
        "{plain}"
    );
    let stated = of("\n[provider.aws]\nregion = \"us-east-1\"\n");
    for purpose in [ReadFor::Anybody, ReadFor::PlanOf(Provider::Local), ReadFor::PlanOf(Provider::Aws)] {
        let refused = story::read(&stated, purpose).err().unwrap().to_string();
        assert!(refused.contains("[provider.aws]: machines on AWS are made for Apache Cassandra alone"), "{refused}");
        assert_eq!(refused.matches("machines on AWS are made for").count(), 1, "said once: {refused}");
    }
    assert!(story::read(&of(""), ReadFor::PlanOf(Provider::Local)).is_ok());
    assert!(planned(&format!("{CLUSTER}[target]\ndatabase = \"cassandra\"\n")).is_ok());
}
