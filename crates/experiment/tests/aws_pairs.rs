//! `pair_volumes`: configurations that share machines on AWS, how often their volume is modified, and what is refused.

use std::collections::BTreeMap;

use catalog::{VolumeLevel, VolumeType, modification_s};
use experiment::{AwsPrice, AwsSettings, Job, Provider, ReadFor, Role, SetupAt};

use crate::story;

/// Three levels of a volume of one size, and another machine.
const FILE: &str = r#"
name = "x"
[dataset]
records = 1_000_000
[[configuration]]
name = "other"
instance = "m7i.xlarge"
data_volume = { type = "gp3", size_gib = 200 }
[[configuration]]
name = "low"
instance = "r7i.xlarge"
data_volume = { type = "gp3", size_gib = 200 }
[[configuration]]
name = "high"
instance = "r7i.xlarge"
data_volume = { type = "gp3", size_gib = 200, iops = 6000, mib_per_s = 250 }
[[configuration]]
name = "io2"
instance = "r7i.xlarge"
data_volume = { type = "io2", size_gib = 200, iops = 6000 }
[[workload]]
name = "w"
read = 1.0
[[workload]]
name = "v"
read = 0.5
update = 0.5
[load]
concurrency = [8, 32]
repetitions = 2
[provider.aws]
"#;
const PAIRED: &str = "pair_volumes = \"modify\"\n";

fn planned(text: &str) -> Result<Job, String> {
    let read = story::read(text, ReadFor::PlanOf(Provider::Aws));
    read.map(|experiment| experiment::job(&experiment)).map_err(|mistakes| mistakes.to_string())
}

fn job(changed: impl Fn(String) -> String) -> Job {
    planned(&changed(format!("{FILE}{PAIRED}"))).unwrap()
}

fn aws_of(job: &Job) -> &AwsSettings {
    job.plan.place.aws().unwrap()
}

/// The configurations of trials in their order, each once where several of one follow each other; those of `of` alone.
fn visits(job: &Job, of: &[&str]) -> Vec<String> {
    let configuration = |cell: &str| cell.split('.').next().unwrap_or_default().to_owned();
    let mut all: Vec<String> = job.plan.trials.iter().map(|trial| configuration(&trial.cell)).collect();
    all.retain(|name| of.contains(&name.as_str()));
    all.dedup();
    all
}

#[test]
fn levels_of_one_volume_share_a_machine_and_each_block_goes_through_them_once() {
    let job = job(|text| text);
    let aws = aws_of(&job);
    let [pair] = aws.pairs.as_slice() else { panic!("{:?}", aws.pairs) };
    let levels: BTreeMap<&str, VolumeLevel> =
        pair.levels.iter().map(|level| (level.configuration.as_str(), level.volume)).collect();
    let gp3 = |iops, mib_per_s| VolumeLevel { kind: VolumeType::Gp3, iops, mib_per_s: Some(mib_per_s) };
    let io2 = VolumeLevel { kind: VolumeType::Io2, iops: 6_000, mib_per_s: None };
    assert_eq!(levels, BTreeMap::from([("low", gp3(3_000, 125)), ("high", gp3(6_000, 250)), ("io2", io2)]));
    // Two machines for four configurations, in one batch.
    let [batch] = aws.batches.as_slice() else { panic!("{:?}", aws.batches) };
    let machines: Vec<(&str, u32)> = batch.machines_of(Role::Database).map(|m| (m.name.as_str(), m.host)).collect();
    assert_eq!(machines, [("other.database-1", 0), ("low.database-1", 1)]);
    assert_eq!(batch.configurations, ["other", "low", "high", "io2"]);
    let hosts: Vec<SetupAt> = job.setups.iter().map(|setup| setup.at.clone()).collect();
    let at = |first_host| SetupAt::Bought { first_host, first_cache: 0, batch: 0 };
    assert_eq!(hosts, [at(0), at(1), at(1), at(1)]);
    // A process serves one level: each is measured on a database that was started at it.
    assert!(!job.setups[1].shares_process_with(&job.setups[2]));

    for seed in 0..20 {
        let job = self::job(|text| text.replace("repetitions = 2", &format!("repetitions = 2\nseed = {seed}")));
        let pair = &aws_of(&job).pairs[0];
        let visits = visits(&job, &["low", "high", "io2"]);
        // To and fro: the level at the turn is not modified.
        assert_eq!((visits.len(), pair.modifications), (5, 4), "seed {seed}: {visits:?}");
        assert_eq!(visits[0], visits[4]);
        // The volume is made at the level of the trial that comes first.
        let machine = aws_of(&job).batches[0].machines_of(Role::Database).nth(1).unwrap();
        let (made, first) = (&machine.volumes["data"], pair.level_of(&visits[0]).unwrap());
        assert_eq!(
            (made.kind.as_str(), made.iops, made.mib_per_s, made.size_gib),
            (first.kind.name(), Some(first.iops), first.mib_per_s, 200)
        );
    }
}

#[test]
fn a_shared_volume_costs_its_dearest_level_and_its_modifications_take_time() {
    let shared = job(|text| text);
    let aws = aws_of(&shared);
    let AwsPrice::UsdPerHour(usd) = aws.batches[0].prices[0] else { panic!("{:?}", aws.batches[0].prices) };
    let catalog = catalog::Catalog::built_in();
    let on_demand = |kind: &str| catalog.instance(kind).unwrap().on_demand_usd_per_hour.unwrap();
    // us-east-1: io2 0.125 a GiB and 0.065 an IOPS a month, gp3 0.08 a GiB; three roots of 64 GiB.
    let volumes = 200.0 * 0.125 + 6_000.0 * 0.065 + (200.0 + 3.0 * 64.0) * 0.08;
    let machines = on_demand("m7i.xlarge") + on_demand("r7i.xlarge") + on_demand("c7i.2xlarge");
    let expected = machines + volumes / 730.0;
    assert!((usd - expected).abs() < 1e-9, "{usd} {expected}");
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    assert_eq!(aws.modification_s(&names(&["other", "low", "high", "io2"])), 4.0 * modification_s(200.0));
    assert_eq!(aws.modification_s(&names(&["other"])), 0.0);

    // Without the key each has a machine of its own, and orders are those of always.
    let apart = planned(FILE).unwrap();
    assert_eq!((aws_of(&apart).batches[0].machines_of(Role::Database).count(), aws_of(&apart).pairs.len()), (4, 0));
    let first = |job: &Job| serde_json::json!(job.plan.trials);
    assert_ne!(first(&apart), first(&shared));
}

#[test]
fn what_cannot_share_a_volume_has_machines_of_its_own() {
    // Another size, another commit log, more nodes, a type whose IOPS follow its size.
    let high = "{ type = \"gp3\", size_gib = 200, iops = 6000, mib_per_s = 250 }";
    for other in [
        "{ type = \"gp3\", size_gib = 201, iops = 6000 }".to_owned(),
        format!("{high}\ncommitlog_volume = {{ type = \"gp3\", size_gib = 20 }}"),
        format!("{high}\nnodes = 3\nreplication_factor = 3"),
        "{ type = \"gp2\", size_gib = 200 }".to_owned(),
    ] {
        let job = job(|text| text.replace(high, &other));
        let pairs = &aws_of(&job).pairs;
        let names: Vec<&str> = pairs[0].levels.iter().map(|level| level.configuration.as_str()).collect();
        assert_eq!((pairs.len(), names), (1, vec!["low", "io2"]), "{other}");
        assert_eq!(
            aws_of(&job).batches[0].machines_of(Role::Database).filter(|m| m.name.starts_with("low")).count(),
            1
        );
    }
    // A price of one's own is no difference, and clusters share all their machines.
    let priced = job(|text| text.replace("name = \"high\"", "name = \"high\"\nprice_usd_per_month = 500"));
    assert_eq!(aws_of(&priced).pairs[0].levels.len(), 3);
    let nodes = "instance = \"r7i.xlarge\"\nnodes = 3\nreplication_factor = 3";
    let clusters = job(|text| text.replace("instance = \"r7i.xlarge\"", nodes));
    let hosts: Vec<Vec<u32>> = clusters.setups.iter().map(experiment::Setup::database_hosts).collect();
    assert_eq!(hosts, [vec![0], vec![1, 2, 3], vec![1, 2, 3], vec![1, 2, 3]]);
}

#[test]
fn configurations_that_share_machines_share_their_caches() {
    let cached = "instance = \"r7i.xlarge\"\ncache_tier = { memory_gib = 8, nodes = 2, instance = \"r7g.large\" }";
    let job = job(|text| text.replace("instance = \"r7i.xlarge\"", cached));
    assert_eq!(aws_of(&job).pairs[0].levels.len(), 3);
    let batch = &aws_of(&job).batches[0];
    let caches: Vec<(&str, u32)> = batch.machines_of(Role::Cache).map(|m| (m.name.as_str(), m.host)).collect();
    assert_eq!(caches, [("low.cache-1", 0), ("low.cache-2", 1)]);
    assert!(batch.machines_of(Role::Cache).all(|cache| cache.volumes.is_empty()), "none of theirs is modified");
    let firsts: Vec<u32> = job.setups.iter().map(|setup| setup.at.first_cache()).collect();
    assert_eq!(firsts, [0; 4]);
}

/// What the file states of a configuration was looked for at its place among those that are measured.
#[test]
fn a_configuration_that_only_leaves_out_takes_no_volume_from_those_that_are_measured() {
    let log = "instance = \"r7i.xlarge\"\ncommitlog_volume = { type = \"gp3\", size_gib = 20 }";
    let kept = "repetitions = 2\nonly = [\"low.w.c8\", \"high.w.c8\"]";
    let job = job(|text| text.replace("instance = \"r7i.xlarge\"", log).replace("repetitions = 2", kept));
    let machines: Vec<_> = aws_of(&job).batches[0].machines_of(Role::Database).collect();
    let [machine] = machines.as_slice() else { panic!("{machines:?}") };
    assert_eq!(machine.name, "low.database-1");
    assert_eq!(machine.volumes.keys().collect::<Vec<_>>(), ["commitlog", "data"]);
}

/// One of a pair that is measured alone has nothing to share, and its partner is still named in the file.
#[test]
fn only_may_keep_one_of_a_pair_whose_volume_is_never_modified_then() {
    let job = job(|text| {
        text.replace("repetitions = 2", "repetitions = 2\nonly = [\"low.w.c8\", \"low.w.c32\"]")
            .replace("[[workload]]\nname = \"v\"\nread = 0.5\nupdate = 0.5\n", "")
    });
    assert!(aws_of(&job).pairs.is_empty());
    let machines: Vec<&str> = aws_of(&job).batches[0].machines_of(Role::Database).map(|m| m.name.as_str()).collect();
    assert_eq!(machines, ["low.database-1"]);
    assert_eq!(visits(&job, &["low"]), ["low"]);
    // What leaves nobody out of a pair hides no file that has none.
    let none = format!("{FILE}{PAIRED}")
        .replace("size_gib = 200, iops = 6000, mib_per_s", "size_gib = 201, iops = 6000, mib_per_s")
        .replace("\"io2\", size_gib = 200", "\"io2\", size_gib = 202");
    let kept = none.replace("repetitions = 2", "repetitions = 2\nonly = [\"low.w.c8\", \"low.w.c32\"]");
    for text in [none, kept] {
        let said = planned(&text).map(drop).unwrap_err();
        assert!(said.contains("no two configurations differ in nothing but type, IOPS and MiB/s"), "{said}");
    }
}

/// The data set, and a copy of it for each level, lie on both volumes: what cannot hold them is known before machines
/// are made.
#[test]
fn volumes_that_cannot_hold_a_copy_for_each_level_are_refused_in_the_plan() {
    // About 32 GiB on disk: eight times that for three levels.
    let large = format!("{FILE}{PAIRED}").replace("1_000_000", "30_000_000");
    let said = planned(&large).unwrap_err();
    let line = |of: &str| large.lines().position(|line| line.starts_with(of)).unwrap() + 1;
    for (at, part) in [
        (
            line("name = \"low\"") + 2,
            "the data volume of low, high, io2 has 200 GiB, and the data set and a copy of it",
        ),
        (line("pair_volumes"), "the root volume of the machine of low, high, io2 has 64 GiB, and the data set"),
    ] {
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
        assert!(said.contains(&format!("x.toml:{at}:")), "no line {at} in:\n{said}");
    }
    let with_root = large.replace(PAIRED, &format!("root_gib = 400\n{PAIRED}"));
    let said = planned(&with_root).unwrap_err();
    assert!(said.contains("the data volume of low") && !said.contains("root volume"), "{said}");
    let with_room = with_root.replace("size_gib = 200", "size_gib = 400");
    assert_eq!(planned(&with_room).map(drop), Ok(()));
    // From a snapshot of EBS the data set is on the data volume, and copies share its blocks at first.
    let restored = large.replace(PAIRED, &format!("snapshot = \"snap-0123456789abcdef0\"\n{PAIRED}"));
    assert_eq!(planned(&restored).map(drop), Ok(()));
    // Without the key every configuration has volumes of its own.
    assert_eq!(planned(&large.replace(PAIRED, "")).map(drop), Ok(()));
}

#[test]
fn pairs_that_cannot_be_are_refused_before_money_is_spent() {
    let paired = format!("{FILE}{PAIRED}");
    let cases = [
        // AWS modifies a volume four times in 24 hours.
        (
            paired.replace("repetitions = 2", "repetitions = 3"),
            "the volume of low, high, io2 would be modified 6 times, 2 in each of 3 repetitions, and AWS modifies one \
             4 times in 24 hours (repetitions = 2 is the most",
        ),
        (
            paired
                .replace(
                    "{ type = \"io2\", size_gib = 200, iops = 6000 }",
                    "{ type = \"io2\", size_gib = 300, iops = 6000 }",
                )
                .replace("repetitions = 2", "repetitions = 5"),
            "the volume of low, high would be modified 5 times, 1 in each of 5 repetitions",
        ),
        (paired.replace("\"modify\"", "\"modified\""), "pair_volumes cannot be `modified`"),
        (
            paired
                .replace("size_gib = 200, iops = 6000", "size_gib = 300, iops = 6000")
                .replace("type = \"io2\", size_gib = 300", "type = \"io2\", size_gib = 400"),
            "no two configurations differ in nothing but type, IOPS and MiB/s of one data volume",
        ),
        (
            paired.replace("repetitions = 2", "repetitions = \"adaptive\""),
            "how often volumes would be modified is not known before",
        ),
        (
            paired.replace("concurrency = [8, 32]", "rate = \"find\"") + "[objective]\np99_ms = 10\n",
            "pair_volumes beside rate = \"find\"",
        ),
        // Cuts of a block would fall where another level, and with it another process, begins anyway.
        (
            paired.replace("repetitions = 2", "repetitions = 2\nforks = 2"),
            "pair_volumes beside forks = 2: trials of a configuration stand together in a block",
        ),
    ];
    for (text, part) in cases {
        let said = planned(&text).map(drop).expect_err(part);
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
    let line = paired.lines().position(|line| line.starts_with("pair_volumes")).unwrap() + 1;
    let said = planned(&paired.replace("repetitions = 2", "repetitions = 3")).unwrap_err();
    assert!(said.starts_with(&format!("x.toml:{line}:")), "{said}");
    // A rehearsal elsewhere modifies nothing, and says of a word that is none.
    let here = |text: &str| story::read(text, ReadFor::Run(Provider::Local)).map(drop).map_err(|m| m.to_string());
    assert_eq!(here(&paired.replace("repetitions = 2", "repetitions = 3")), Ok(()));
    assert!(here(&paired.replace("\"modify\"", "\"yes\"")).unwrap_err().contains("pair_volumes cannot be `yes`"));
}
