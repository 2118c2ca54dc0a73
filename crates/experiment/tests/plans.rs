//! Plans: every cell once in every block, in an order that the seed decides.

use crate::story;
use std::collections::BTreeSet;

use experiment::{LoadLevel, Plan, Provider, ReadFor, plan};
use proptest::prelude::*;

fn planned(configurations: u32, workloads: u32, levels: u32, repetitions: u32, seed: u32) -> Plan {
    let mut text = String::from("name = \"p\"\n[dataset]\nrecords = 5000\n");
    for i in 0..configurations {
        text += &format!(
            "[[configuration]]\nname = \"c{i}\"\ninstance = \"r4.4xlarge\"\ndata_volume = {{ iops = {} }}\n",
            100 + i
        );
    }
    for i in 0..workloads {
        text += &format!("[[workload]]\nname = \"w{i}\"\nread = 1\n");
    }
    let concurrency: Vec<_> = (1..=levels).map(|n| n.to_string()).collect();
    text +=
        &format!("[load]\nconcurrency = [{}]\nrepetitions = {repetitions}\nseed = {seed}\n", concurrency.join(", "));
    plan(&story::accepted(&text))
}

proptest! {
    #[test]
    fn every_block_holds_every_cell_once(c in 1u32..4, w in 1u32..4, l in 1u32..4, r in 1u32..4, seed in 0u32..1000) {
        let plan = planned(c, w, l, r, seed);
        prop_assert_eq!(plan.cells.len(), (c * w * l) as usize);
        let ids: BTreeSet<_> = plan.cells.iter().map(|cell| cell.id.clone()).collect();
        prop_assert_eq!(ids.len(), plan.cells.len());
        for (k, block) in plan.trials.chunks(plan.cells.len()).enumerate() {
            prop_assert!(block.iter().all(|t| t.block == k as u32 + 1));
            prop_assert_eq!(&block.iter().map(|t| t.cell.clone()).collect::<BTreeSet<_>>(), &ids);
        }
    }
}

/// Of eight cells two, which are all that their configuration, workload and load levels make.
#[test]
fn only_some_cells_are_measured() {
    let text = |only: &str| {
        let configuration = |name: &str| {
            format!("[[configuration]]\nname = \"{name}\"\ninstance = \"r4.4xlarge\"\ndata_volume = {{ iops = 100 }}\n")
        };
        let workload = |name: &str| format!("[[workload]]\nname = \"{name}\"\nread = 1\n");
        format!(
            "name = \"p\"\n[dataset]\nrecords = 5000\n{}{}{}{}[load]\nconcurrency = [1, 8]\nonly = [{only}]\n",
            configuration("a"),
            configuration("b"),
            workload("w"),
            workload("v")
        )
    };
    let plan = plan(&story::accepted(&text("\"b.w.c8\", \"b.w.c1\"")));
    let ids: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(ids, ["b.w.c1", "b.w.c8"]);
    assert_eq!((plan.configurations.len(), plan.workloads.len(), plan.money.configurations.len()), (1, 1, 1));
    assert_eq!(plan.left_out.unwrap().to_string(), "configuration a; workload v");
    for (only, cells, left_out) in [
        ("\"b\"", 4, Some("configuration a")),
        ("\"b.v\", \"a.v\"", 4, Some("workload w")),
        ("\"b.v.c8\"", 1, Some("configuration a; workload w; load level c1")),
        ("\"a\", \"b\"", 8, None),
    ] {
        let plan = experiment::plan(&story::accepted(&text(only)));
        assert_eq!(plan.cells.len(), cells, "{only}");
        assert_eq!(plan.left_out.map(|out| out.to_string()).as_deref(), left_out, "{only}");
    }
    for (only, reason) in [
        ("\"b.w.c9\"", "there is no cell `b.w.c9` (did you mean `b.w.c"),
        ("\"b\", \"c\"", "there is no configuration `c` (valid: a, b)"),
        ("\"b.x\"", "there is no cell `b.x`"),
        ("\"a.w.c1\", \"b.v.c1\"", "make a.v.c1, b.w.c1 too"),
        ("", "no cell is named"),
    ] {
        let refused = story::refused(&text(only)).to_string();
        assert!(refused.contains(reason), "{only}: {refused}");
    }
}

#[test]
fn the_seed_decides_the_order() {
    let order = |seed| planned(3, 3, 2, 2, seed).trials;
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    let plan = planned(3, 3, 2, 2, 1);
    let (first, second) = plan.trials.split_at(18);
    let cells = |trials: &[experiment::PlannedTrial]| trials.iter().map(|t| t.cell.clone()).collect::<Vec<_>>();
    assert_ne!(cells(first), cells(second), "no two blocks have one order");
}

/// As many processes as are stated share out a block, each with trials that follow one another, and all with about as
/// many.
#[test]
fn forks_share_out_the_trials_of_a_block() {
    let shared = |forks: u32| {
        let mut plan = planned(3, 2, 1, 2, 1);
        plan.forks = forks;
        plan.trials.iter().map(|trial| plan.fork_of(trial)).collect::<Vec<_>>()
    };
    assert_eq!(shared(1), [0; 12]);
    assert_eq!(shared(2), [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]);
    assert_eq!(shared(4)[..6], [0, 0, 1, 2, 2, 3]);
    assert_eq!(shared(6)[..6], [0, 1, 2, 3, 4, 5]);
    assert_eq!(shared(99), shared(6), "no more than there are trials");
    // Each fork has to be brought to rest: the estimate knows.
    let estimated =
        |forks: u32| plan(&story::accepted(&story::with("[load]", &format!("[load]\nforks = {forks}")))).estimated_s;
    assert_eq!(estimated(1), estimated(9), "one cell has one process anyway");
    story::each_refused(&[(story::with("[load]", "[load]\nforks = 0"), "forks")]);
}

/// Two configurations, three repetitions and the default seed were ab|ab|ab: a drift of the machine made equal ones
/// differ.
#[test]
fn two_configurations_take_turns_at_being_first() {
    let trials = planned(2, 1, 1, 3, 1).trials;
    let first: Vec<&str> = trials.chunks(2).map(|block| &block[0].cell[..2]).collect();
    assert_ne!(first[0], first[1]);
}

/// A seed that somebody has written down gives the order that it gave then.
#[test]
fn a_seed_gives_the_order_that_it_always_gave() {
    let trials = planned(3, 1, 1, 4, 1).trials;
    let order: Vec<String> =
        trials.chunks(3).map(|block| block.iter().map(|t| &t.cell[..2]).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(order, ["c0 c2 c1", "c1 c2 c0", "c0 c2 c1", "c1 c2 c0"]);
}

#[test]
fn a_plan_keeps_the_day_and_the_source_of_every_price() {
    let planned = planned(1, 1, 1, 1, 1);
    let stated = &planned.money.configurations[0];
    assert!(stated.missing.is_some(), "a volume given by its limits has no price");
    let text = "name = \"p\"\n[dataset]\nrecords = 5000\n[[configuration]]\nname = \"a\"\ninstance = \"r4.4xlarge\"\n\
                data_volume = { type = \"gp2\", size_gib = 320 }\n[[workload]]\nname = \"w\"\nread = 1\n[load]\n\
                concurrency = [10]\nrepetitions = 1\n[basis]\nprice_date = \"2017-11-12\"\n";
    let experiment = story::accepted(text);
    let plan = plan(&experiment);
    let money = &plan.money;
    for line in &money.configurations[0].lines {
        let day = line.price_date.as_deref();
        assert!(day.is_some_and(|day| day <= "2017-11-12"), "the price of its time: {line:?}");
        assert!(!line.source.is_empty(), "{line:?}");
        assert!((line.quantity * line.unit_usd - line.usd_per_month).abs() < 1e-6, "{line:?}");
    }
    // What is bought is in it, how it is built is not.
    assert_eq!(plan.configurations, experiment.configurations);
    assert!(!serde_json::to_string(&plan).unwrap().contains("setups"));
    // Frozen and read again it is the same, and a workload's keys stand where they always stood.
    let frozen = serde_json::to_value(&plan).unwrap();
    assert_eq!(serde_json::from_value::<Plan>(frozen.clone()).unwrap(), plan);
    assert_eq!(
        (&frozen["workloads"][0]["hashed_keys"], &frozen["workloads"][0]["zero_padding"]),
        (&serde_json::json!(true), &serde_json::json!(1))
    );
}

/// As run directories and messages have it.
#[test]
fn json_says_how_requests_arrive() {
    for word in ["poisson", "constant"] {
        let load = format!("rate = [100]\narrival = \"{word}\"");
        let level = story::accepted(&story::with("concurrency = [10]", &load)).load.levels[0];
        let json = serde_json::to_string(&level).unwrap();
        assert_eq!(json, format!("{{\"rate\":{{\"operations_per_s\":100.0,\"arrivals\":\"{word}\"}}}}"));
        assert_eq!(serde_json::from_str::<LoadLevel>(&json).unwrap(), level);
    }
}

#[test]
fn each_existing_server_is_loaded_for_itself() {
    let target = "[target]\nhosts = [\"h:9042\"]\nkeyspace = \"lab\"\n[dataset]";
    let one = story::with("[dataset]", target);
    let another = |hosts: &str| {
        format!(
            "[[configuration]]\nname = \"b\"\ninstance = \"r4.4xlarge\"\n\
             data_volume = {{ type = \"gp2\", size_gib = 320 }}\nhosts = [\"{hosts}\"]\n"
        )
    };
    let seconds = |text: &str| plan(&story::accepted(text)).seconds_of_loading();
    let (same, other) = (one.clone() + &another("h:9042"), one.clone() + &another("other:9042"));
    assert_eq!([seconds(&same), seconds(&other)], [seconds(&one), 2.0 * seconds(&one)]);
}

#[test]
fn a_database_of_our_own_is_brought_to_rest_for_a_time_that_can_be_stated() {
    let seconds = |load: &str, provider| {
        let text = story::with("concurrency = [10]", load) + "[objective]\np99_ms = 20\n";
        let experiment = story::read(&text, ReadFor::PlanOf(provider)).unwrap();
        let plan = experiment::plan(&experiment);
        // Its time is counted.
        let mut without = experiment;
        without.load.shape.rest_max_s = 0.0;
        let more = plan.estimated_s - experiment::plan(&without).estimated_s;
        assert_eq!(more > 0.0, plan.shape.rest_max_s > 0.0, "{load}: {more}");
        plan.shape.rest_max_s
    };
    let (local, simulated) = (Provider::Local, Provider::Simulated);
    assert_eq!(seconds("rate = \"find\"", local), 120.0);
    assert_eq!(seconds("rate = [100]", local), 120.0);
    assert_eq!(seconds("rate = [100]\nrest_max_s = 3", local), 3.0);
    assert_eq!(seconds("rate = [100]\nrest_max_s = 0", local), 0.0);
    // What is simulated compiles nothing of its own accord.
    assert_eq!(seconds("rate = \"find\"\nrest_max_s = 3", simulated), 0.0);
}

/// Which configurations one process of the database can serve, by the words that differ between them.
#[test]
fn configurations_share_a_process_where_what_differs_can_change_while_it_runs() {
    let processes = |differing: &str| {
        let second = format!("[[configuration]]\nname = \"b\"\n{differing}\n\n[[workload]]");
        let text = story::with("[[workload]]", &second);
        experiment::plan(&story::accepted(&text)).processes
    };
    let (same, gp2) = ("instance = \"r4.4xlarge\"", "data_volume = { type = \"gp2\", size_gib = 320 }");
    let together = vec![vec!["a".to_owned(), "b".to_owned()]];
    let apart = vec![vec!["a".to_owned()], vec!["b".to_owned()]];
    // Limits of volumes.
    assert_eq!(processes(&format!("{same}\ndata_volume = {{ iops = 9000 }}")), together);
    assert_eq!(processes(&format!("{same}\ndata_volume = {{ type = \"gp3\", size_gib = 900 }}")), together);
    // What a process is started with: heap, CPUs, settings, where the commit log is.
    assert_eq!(processes(&format!("instance = \"r4.2xlarge\"\n{gp2}")), apart);
    assert_eq!(processes(&format!("{same}\n{gp2}\ncommitlog_volume = {{ iops = 3000 }}")), apart);
    assert_eq!(processes(&format!("{same}\n{gp2}\nsettings = {{ jvm = [\"-XX:+UseParallelGC\"] }}")), apart);
    assert_eq!(processes(&format!("{same}\n{gp2}\nnodes = 3\nreplication_factor = 3")), apart);
    // Nobody starts a process in a simulation.
    let simulated = experiment::plan(&story::read(story::GOOD, ReadFor::PlanOf(Provider::Simulated)).unwrap());
    assert!(simulated.processes.is_empty() && simulated.shape.rest_max_s == 0.0);
}
