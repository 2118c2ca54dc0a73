//! Several volumes for the data of a node: what is stated of them, what each is, and what they cost.

use crate::story::{self, accepted, each_refused, notes, with};
use catalog::IoLimits;
use experiment::{
    DataLayout, DataSetFiles, ParseContext, Provider, ReadFor, Setup, ThisMachine, VolumeRole, parse, setups,
};

const GP2: &str = "{ type = \"gp2\", size_gib = 320 }";
const SERVED: &str = "\n[provider.local]\nvolumes = \"served\"\nscale = 10\n";

fn volume(text: &str, more: &str) -> String {
    format!("{}{more}", with(GP2, text))
}

fn setup(text: &str, more: &str) -> Setup {
    setups(&accepted(&volume(text, more)))[0].clone()
}

fn roles(setup: &Setup) -> Vec<&'static str> {
    setup.volumes().map(|volume| volume.role.name()).collect()
}

#[test]
fn each_of_several_volumes_is_what_one_would_be() {
    let two = setup("{ type = \"gp3\", size_gib = 250, count = 2, layout = \"directories\" }", SERVED);
    let one = setup("{ type = \"gp3\", size_gib = 250 }", SERVED);
    assert_eq!((roles(&two), roles(&one)), (vec!["data", "data-2"], vec!["data"]));
    for volume in two.volumes() {
        let mut same = one.data.clone();
        same.role = volume.role;
        assert_eq!(*volume, same);
    }
    // r4.4xlarge: 18,750 IOPS and 437.5 MB/s, over which both go.
    let path = two.instance_limits.unwrap();
    assert_eq!((path.read_iops, one.instance_limits), (Some(1875.0), None));
    let log = volume(
        "{ type = \"gp3\", size_gib = 250, count = 3 }\ncommitlog_volume = { type = \"gp3\", size_gib = 50 }",
        "",
    );
    let setup = setups(&accepted(&log))[0].clone();
    assert_eq!(roles(&setup), ["data", "data-2", "data-3", "commitlog"]);
    assert_eq!(setup.volume(VolumeRole::Data3).unwrap().label, "gp3 250 GiB");
}

/// Nothing shares the kernel's throttle over several devices.
#[test]
fn throttled_volumes_have_an_equal_part_of_the_instances_path_each() {
    let iops = |count: u32| {
        let text = format!("{{ type = \"io2\", size_gib = 250, iops = 16000, count = {count} }}");
        let setup = setup(&text, "");
        assert_eq!(setup.instance_limits, None);
        let limits: Vec<IoLimits> = setup.volumes().map(|volume| volume.limits).collect();
        assert!(limits.iter().all(|each| *each == limits[0]));
        limits[0].read_iops.unwrap()
    };
    assert_eq!((iops(1), iops(2)), (16_000.0, 18_750.0 / 2.0));
    // Behind no path: nobody sells it.
    let explicit = setup("{ iops = 16000, count = 4 }", "");
    assert!(explicit.volumes().all(|volume| volume.limits.read_iops == Some(16_000.0)));
}

#[test]
fn a_data_set_in_two_directories_is_another_one_and_old_plans_have_one() {
    let two = setup("{ iops = 500, count = 2 }", SERVED);
    let one = setup("{ iops = 500 }", SERVED);
    let files = DataSetFiles::of(&two);
    assert_eq!((files.directories, files.label()), (2, "2 data directories".to_owned()));
    assert_ne!(files, DataSetFiles::of(&one));
    let text = serde_json::to_string(&DataSetFiles::of(&one)).unwrap();
    assert_eq!(serde_json::from_str::<DataSetFiles>(&text).unwrap(), DataSetFiles::of(&one));
    for setup in [&one, &two] {
        let kept = serde_json::to_string(setup).unwrap();
        assert_eq!(serde_json::from_str::<Setup>(&kept).unwrap(), *setup);
    }
}

/// With one data directory, as a volume alone, whose data set it shares.
#[test]
fn striped_volumes_are_what_each_would_be_alone_and_have_one_data_directory() {
    let one = setup("{ iops = 500 }", SERVED);
    for count in 2..=8 {
        let striped = setup(&format!("{{ iops = 500, count = {count}, layout = \"raid0\" }}"), SERVED);
        let beside = setup(&format!("{{ iops = 500, count = {count} }}"), SERVED);
        assert!(striped.volumes().eq(beside.volumes()), "{count}");
        assert_eq!((striped.chunk_kib(), beside.chunk_kib()), (Some(256), None));
        assert_eq!((striped.data_directory_count(), beside.data_directory_count()), (1, beside.data_volume_count()));
        assert_eq!(DataSetFiles::of(&striped), DataSetFiles::of(&one));
        assert_eq!(beside.layout, Some(DataLayout::Directories));
    }
    let stated = setup("{ iops = 500, count = 2, layout = \"raid0\", chunk_kib = 64 }", SERVED);
    assert_eq!(stated.layout, Some(DataLayout::Raid0 { chunk_kib: 64 }));
    let kept = serde_json::to_value(&stated).unwrap();
    assert_eq!(kept["layout"], serde_json::json!({ "kind": "raid0", "chunk_kib": 64 }));
    assert_eq!(serde_json::from_value::<Setup>(kept).unwrap(), stated);
    assert_eq!(one.layout, None);
    let money = |layout: &str| {
        let text = format!("{{ type = \"gp3\", size_gib = 250, count = 2, layout = \"{layout}\" }}");
        accepted(&volume(&text, "")).money.configurations[0].clone()
    };
    assert_eq!(money("raid0"), money("directories"));
}

#[test]
fn a_plan_on_a_machine_that_cannot_stripe_says_that_its_run_is_refused() {
    let text = volume("{ iops = 500, count = 2, layout = \"raid0\" }", SERVED);
    let noted = |text: &str, provider, cannot_stripe: Option<&str>| {
        let machine = ThisMachine { cpus: 2.0, cannot_serve: None, cannot_stripe: cannot_stripe.map(str::to_owned) };
        let beside = ParseContext { machine: Some(machine), ..ParseContext::alone() };
        let experiment = parse(catalog::Catalog::built_in(), "x.toml", text, &beside, ReadFor::PlanOf(provider));
        notes(&experiment.unwrap(), "raid0_not_here", Some(provider))
    };
    let why = Some("this kernel has no md driver");
    let reported = noted(&text, Provider::Local, why);
    assert!(
        reported.len() == 1
            && reported[0].contains("a: a run on this machine is refused: this kernel has no md driver"),
        "{reported:?}"
    );
    assert!(reported[0].contains("layout = \"directories\""), "{reported:?}");
    assert!(noted(&text, Provider::Local, None).is_empty());
    assert!(noted(&text, Provider::Simulated, why).is_empty());
    assert!(noted(&text.replace(", layout = \"raid0\"", ""), Provider::Local, why).is_empty());
}

/// Each gp3 has 3,000 IOPS and 125 MiB/s for nothing.
#[test]
fn two_volumes_cost_twice_what_one_costs_with_what_each_has_for_nothing() {
    let money = |text: &str| accepted(&volume(text, "")).money.configurations[0].clone();
    let cost = |text: &str| money(text).usd_per_month.unwrap();
    let large = cost("{ type = \"gp3\", size_gib = 500 }");
    let two = cost("{ type = \"gp3\", size_gib = 250, count = 2 }");
    let fast = cost("{ type = \"gp3\", size_gib = 500, iops = 6000, mib_per_s = 250 }");
    assert!((two - large).abs() < 1e-6, "{two} {large}");
    assert!(fast > two + 10.0, "{fast} {two}");
    // Above what each has: 1,000 IOPS twice.
    let more = money("{ type = \"gp3\", size_gib = 250, iops = 4000, count = 2 }");
    let iops = more.lines.iter().find(|line| line.unit == "IOPS-month").unwrap();
    assert_eq!(iops.quantity, 2000.0);
    assert!(iops.what.starts_with("2 x gp3 250 GiB"), "{}", iops.what);
    // Three nodes with two each.
    let three = volume("{ type = \"gp3\", size_gib = 250, count = 2 }\nnodes = 3", "");
    let lines = accepted(&three).money.configurations[0].lines.clone();
    assert!(lines.iter().any(|line| line.what.starts_with("6 x gp3 250 GiB")), "{lines:?}");
}

#[test]
fn volumes_that_could_do_more_together_than_their_instance_are_noted() {
    let noted = |text: &str| notes(&accepted(&volume(text, "")), "volumes_above_instance", None);
    let all = noted("{ type = \"io2\", size_gib = 500, iops = 16000, count = 2 }");
    assert!(all.len() == 1 && all[0].contains("a: 2 data volumes could do 32000 IOPS together"), "{all:?}");
    assert!(noted("{ type = \"io2\", size_gib = 500, iops = 16000 }").is_empty());
}

#[test]
fn what_is_stated_of_several_volumes_and_cannot_be_is_refused_at_its_place() {
    let logs = "{ type = \"gp3\", size_gib = 250 }\ncommitlog_volume = { type = \"gp3\", size_gib = 50, count = 2 }";
    each_refused(&[
        (volume("{ type = \"gp3\", size_gib = 250, count = 9 }", ""), "x.toml:9:47: count cannot be 9"),
        (volume("{ iops = 500, count = 0 }", ""), "x.toml:9:29: count cannot be 0"),
        (
            volume("{ iops = 500, layout = \"directories\" }", ""),
            "x.toml:9:29: `layout` says how data lies on several volumes, and this is one",
        ),
        (
            volume("{ iops = 500, layout = \"raid0\" }", ""),
            "x.toml:9:29: `layout` says how data lies on several volumes, and this is one",
        ),
        (
            volume("{ iops = 500, count = 1, layout = \"raid0\" }", ""),
            "x.toml:9:40: `layout` says how data lies on several volumes, and this is one",
        ),
        (volume("{ iops = 500, count = 9, layout = \"raid0\" }", ""), "x.toml:9:29: count cannot be 9"),
        (
            volume("{ iops = 500, count = 2, layout = \"raid0\", chunk_kib = 100 }", ""),
            "x.toml:9:58: chunk_kib cannot be 100",
        ),
        (
            volume("{ iops = 500, count = 2, layout = \"raid0\", chunk_kib = 2048 }", ""),
            "a power of two from 4 to 1024",
        ),
        (
            volume("{ iops = 500, count = 2, chunk_kib = 64 }", ""),
            "x.toml:9:40: `chunk_kib` is of RAID 0, and these volumes are not striped",
        ),
        (
            volume("{ iops = 500, count = 2, layout = \"directoris\" }", ""),
            "layout cannot be `directoris` (did you mean `directories`?",
        ),
        (volume(logs, ""), "x.toml:10:51: `count` of commitlog_volume: the commit log is one sequence of files"),
    ]);
}

#[test]
fn a_fault_names_one_of_several_volumes_that_every_configuration_has() {
    let fault = "\n[[fault]]\nkind = \"disk-slow\"\ntimes = 10\nvolume = \"data-2\"\nat_s = 6\nfor_s = 2\n";
    let text = |volume_text: &str| volume(volume_text, &format!("{fault}{SERVED}"));
    let experiment = accepted(&text("{ iops = 500, count = 2 }"));
    assert_eq!(experiment.faults[0].action.volume(), Some(VolumeRole::Data2));
    assert_eq!(experiment.faults[0].label(), "disk-slow (10 times) of node 1's data volume data-2 at 6 s for 2 s");
    each_refused(&[
        (text("{ iops = 500 }"), "volume = \"data-2\": a has one data volume, data"),
        (
            text("{ iops = 500, count = 2 }").replace("\"data-2\"", "\"data-3\""),
            "volume = \"data-3\": a has 2 data volumes, the last of them data-2",
        ),
        (
            text("{ iops = 500, count = 2 }").replace("\"data-2\"", "\"data2\""),
            "unknown volume `data2` (did you mean `data-2`?",
        ),
    ]);
}

#[test]
fn machines_that_are_not_ours_have_one_volume() {
    let text = volume("{ type = \"gp3\", size_gib = 250, count = 2 }", "");
    let read = |text: &str, provider| story::read(text, ReadFor::PlanOf(provider));
    let message = read(&text, Provider::Aws).err().unwrap().to_string();
    let expected =
        "x.toml:9:47: count = 2 of the data_volume of a: AWS machines are made with one volume for their data so far";
    assert!(message.contains(expected), "{message}");
    let hosts = |limits: bool| {
        format!("{text}\n[provider.hosts]\nlimits = {limits}\ndatabase = [\"db1\"]\nclient = [\"load1\"]\n")
    };
    let message = read(&hosts(false), Provider::Hosts).err().unwrap().to_string();
    assert!(message.contains("machines without limits are measured on one directory"), "{message}");
    for (text, provider) in
        [(hosts(true), Provider::Hosts), (text.clone(), Provider::Local), (text.clone(), Provider::Simulated)]
    {
        read(&text, provider).unwrap_or_else(|mistakes| panic!("{provider}: {mistakes}"));
    }
}
