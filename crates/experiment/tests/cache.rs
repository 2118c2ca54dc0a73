//! `[load] cache`: what is in the page cache when a trial begins, and what of it is refused.

use crate::story;
use crate::story::{GOOD, accepted, and, each_refused};
use experiment::{CacheState, Provider};

#[test]
fn a_trial_begins_with_what_its_workload_leaves_in_memory_where_nothing_is_said() {
    let plan = experiment::plan(&accepted(GOOD));
    assert_eq!(plan.caches.state("w"), CacheState::Warm);
    // That memory answers is a surprise unless it was asked for.
    assert!(!plan.caches.asks_for_warm("w"));
    let stated = |state: &str| experiment::plan(&accepted(&and(&format!("cache = \"{state}\"\n")))).caches;
    assert!(stated("warm").asks_for_warm("w"));
    let cold = stated("cold");
    assert!(cold.state("w") == CacheState::Cold && !cold.asks_for_warm("w"));
}

#[test]
fn warming_takes_time_that_a_plan_expects() {
    let big = GOOD.replace("records = 1000\n", "records = 3000000\n");
    let [cold, warm] =
        ["cold", "warm"].map(|state| experiment::plan(&accepted(&format!("{big}cache = \"{state}\"\n"))));
    assert_eq!(warm.caches.state("w"), CacheState::Warm);
    let cells = |plan: &experiment::Plan| plan.cells.iter().map(|cell| cell.id.clone()).collect::<Vec<_>>();
    assert_eq!(cells(&cold), cells(&warm), "one state needs no name");
    // Three trials, each of which reads 3 GB.
    let more = warm.estimated_s - cold.estimated_s;
    assert!((3.0 * 3.0..3.0 * 60.0).contains(&more), "{more}");
    // No more than the page cache holds is read: of 345 GB less than the 122 GiB of memory, at 300 MiB/s; and for a
    // minute at most what the workload's keys ask for, because not all of it fits.
    let huge = GOOD.replace("records = 1000\n", "records = 300000000\n");
    let bounded = experiment::plan(&accepted(&format!("{huge}cache = \"warm\"\n"))).caches.warming_s["a"];
    assert!((360.0..60.0 + 122.0 * 1024.0 / 300.0).contains(&bounded), "{bounded}");
}

/// Until a page cache has settled takes its time once, however many repetitions there are.
#[test]
fn a_plan_without_the_repetitions_that_may_be_added_takes_as_long_as_one_of_the_first_ones() {
    let big = GOOD.replace("records = 1000\n", "records = 300000000\n");
    let planned = |repetitions: &str| {
        experiment::plan(&accepted(&format!("{big}cache = \"warm\"\nrepetitions = {repetitions}\n")))
    };
    let (adaptive, fixed) = (planned("\"adaptive\""), planned("2"));
    assert!(fixed.caches.settling_s["a"]["w"] > 0.0, "{:?}", fixed.caches);
    assert!(adaptive.trials.len() > fixed.trials.len());
    let first = adaptive.without_later_blocks();
    assert_eq!(first.trials.len(), fixed.trials.len());
    assert!((first.estimated_s - fixed.estimated_s).abs() < 1e-6, "{} {}", first.estimated_s, fixed.estimated_s);
    assert_eq!(fixed.without_later_blocks(), fixed, "none may be added");
}

#[test]
fn both_states_divide_each_workload_and_are_never_one_decision() {
    let plan = experiment::plan(&accepted(&and("cache = [\"cold\", \"warm\"]\n")));
    let cells: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(cells, ["a.w-cold.c10", "a.w-warm.c10"]);
    assert_eq!(plan.caches.pairs().collect::<Vec<_>>(), [("w-cold", "w-warm")]);
    assert_eq!(plan.workloads.len(), 2);
    assert_eq!(plan.workloads[0].mix, plan.workloads[1].mix);
}

#[test]
fn what_is_no_state_is_refused_with_the_nearest() {
    let existing = GOOD.replace("[dataset]", "[target]\nhosts = [\"10.0.0.1:9042\"]\nkeyspace = \"k\"\n\n[dataset]");
    each_refused(&[
        (and("cache = \"wram\"\n"), "cache cannot be `wram` (did you mean `warm`? valid: cold, warm)"),
        (and("cache = [\"cold\", 3]\n"), "cache cannot be `3`"),
        (and("cache = []\n"), "cache has no state"),
        (and("cache = [\"warm\", \"warm\"]\n"), "cache: `warm` is given twice"),
        (and("cache = true\n"), "cache cannot be `true`"),
        (format!("{existing}cache = \"warm\"\n"), "cache: the memory of an existing cluster is as it is"),
        (
            format!("{}\n[[workload]]\nname = \"w-warm\"\nread = 1.0\n", and("cache = [\"cold\", \"warm\"]\n")),
            "cache makes `w-warm` of `w`, and another workload has that name",
        ),
    ]);
}

/// 1 MB of data: a note where nobody asked for memory, or for a cold cache too.
#[test]
fn that_the_data_fits_is_reported_where_memory_was_not_asked_to_answer() {
    let reported = |more: &str| {
        let experiment = accepted(&and(more));
        let all = experiment::static_notes(catalog::Catalog::built_in(), &experiment, None, None);
        all.iter().any(|note| note.to_string().contains("fits the page cache"))
    };
    assert!(reported("") && reported("cache = \"cold\"\n") && reported("cache = [\"cold\", \"warm\"]\n"));
    assert!(!reported("cache = \"warm\"\n"));
}

/// A simulation has the same page cache.
#[test]
fn a_simulation_begins_in_the_state_that_is_asked_for() {
    let text = and("cache = [\"cold\", \"warm\"]\n");
    let experiment = carried_out_by(Provider::Simulated, &text).unwrap();
    assert_eq!(experiment::plan(&experiment).caches.state("w-warm"), CacheState::Warm);
}

fn swept(ratios: &str) -> String {
    and(&format!("\n[sweep]\ncache_ratio = {ratios}\n")).replace("records = 1000\n", "records = 3000000\n")
}

/// 3,000,000 records of 1,000 bytes take 3.45 GB on disk.
#[test]
fn a_ratio_gives_the_page_cache_of_which_the_data_is_so_many_times_the_size() {
    let plan = experiment::plan(&accepted(&swept("[0.5, 1, 10]")));
    let cells: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(cells, ["a.w-0.5x.c10", "a.w-1x.c10", "a.w-10x.c10"]);
    let setups = experiment::setups(&accepted(&swept("[0.5, 1, 10]")));
    let of = |workload: &str| plan.caches.setup(&setups[0], workload, &plan.dataset);
    for (workload, mb) in [("w-0.5x", 6900.0), ("w-1x", 3450.0), ("w-10x", 345.0)] {
        let setup = of(workload);
        assert_eq!((setup.page_cache_budget_bytes as f64 / 1e6).round(), mb);
        // What the database holds besides is the same.
        let besides = |s: &experiment::Setup| s.memory_limit_bytes - s.page_cache_budget_bytes;
        assert_eq!(besides(&setup), besides(&setups[0]));
    }
    assert_eq!(of("w"), setups[0], "a workload that is not divided has what the configuration leaves");
    // A cold cache would not have filled.
    assert_eq!(plan.caches.state("w-10x"), CacheState::Warm);
    // One that holds everything has settled at once, and a smaller one takes its time.
    let settling = &plan.caches.settling_s["a"];
    assert_eq!(settling["w-0.5x"], 0.0);
    assert!(settling["w-10x"] > 0.0, "{settling:?}");
    let both = swept("[1, 2]").replace("concurrency = [10]", "concurrency = [10]\ncache = [\"cold\", \"warm\"]");
    let plan = experiment::plan(&accepted(&both));
    assert_eq!(plan.cells.len(), 4);
    let mut pairs: Vec<_> = plan.caches.pairs().collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [("w-1x-cold", "w-1x-warm"), ("w-2x-cold", "w-2x-warm")]);
}

#[test]
fn page_caches_that_cannot_be_are_refused() {
    each_refused(&[
        (swept("[]"), "cache_ratio has no ratio"),
        (swept("[1, 2, 1]"), "cache_ratio 1 is given twice"),
        (swept("[0]"), "cache_ratio cannot be 0"),
        (
            swept("[1]\ncache_ratio_by = \"records\""),
            "cache_ratio_by = \"records\": each ratio would need a data set of its own, and an experiment has one",
        ),
        (swept("[1]\ncache_ratio_by = \"memroy\""), "cache_ratio_by cannot be `memroy` (did you mean `memory`?"),
        (
            swept("[10, 100]"),
            "cache_ratio 100 leaves a a page cache of 33 MiB; below 64 MiB nothing is measured but thrashing (a \
             smaller ratio, or records = 5835554 and more)",
        ),
        (
            format!("{}\n[provider.local]\npage_cache_mib = 256\n", swept("[1]")),
            "cache_ratio: page_cache_mib of [provider.local] states one size, and this asks for several",
        ),
        (
            swept("[1]").replace("[dataset]", "[target]\nhosts = [\"10.0.0.1:9042\"]\nkeyspace = \"k\"\n\n[dataset]"),
            "cache_ratio: the memory of an existing cluster is what it is",
        ),
    ]);
    let refused = carried_out_by(Provider::Aws, &swept("[1]")).unwrap_err().to_string();
    assert!(refused.contains("machines on AWS have the memory that they have"), "{refused}");
}

fn carried_out_by(provider: Provider, text: &str) -> Result<experiment::Experiment, experiment::Mistakes> {
    story::read(text, experiment::ReadFor::PlanOf(provider))
}

#[test]
fn memory_makes_the_ratios_whether_it_is_said_or_not() {
    let said = accepted(&swept("[1, 2]\ncache_ratio_by = \"memory\""));
    assert_eq!(experiment::plan(&said), experiment::plan(&accepted(&swept("[1, 2]"))));
}

/// A node's page cache is held to the ratio by its own data: two thirds of the records on each of three nodes with two
/// replicas.
#[test]
fn the_nodes_of_a_cluster_have_the_ratio_each_of_its_own_data() {
    let text = swept("[1, 2]")
        .replace("instance = \"r4.4xlarge\"", "instance = \"r4.4xlarge\"\nnodes = 3\nreplication_factor = 2");
    let plan = experiment::plan(&accepted(&text));
    let setups = experiment::setups(&accepted(&text));
    for (workload, mb) in [("w-1x", 2300.0), ("w-2x", 1150.0)] {
        let setup = plan.caches.setup(&setups[0], workload, &plan.dataset);
        assert_eq!((setup.page_cache_budget_bytes as f64 / 1e6).round(), mb, "{workload}");
    }
}

/// On machines by SSH memory can be held to a size where limits are asked for, and nowhere else.
#[test]
fn machines_of_ones_own_have_page_caches_of_a_size_where_limits_hold_them() {
    let hosts = |limits: &str| {
        format!("{}\n[provider.hosts]\ndatabase = [\"db1\"]\nclient = [\"load1\"]\n{limits}", swept("[1, 2]"))
    };
    let refused = carried_out_by(Provider::Hosts, &hosts("")).unwrap_err().to_string();
    assert!(refused.contains("cache_ratio: machines without limits have the memory that they have"), "{refused}");
    let held = carried_out_by(Provider::Hosts, &hosts("limits = true\n")).unwrap();
    assert_eq!(experiment::plan(&held).cells.len(), 2);
}

#[test]
fn memory_that_a_sweep_replaces_is_reported() {
    let reported = |memory: &str| {
        let text = swept("[1]").replace(
            "\n[[workload]]",
            &format!(
                "\n[[configuration]]\nname = \"b\"\ninstance = \"r4.4xlarge\"\n\
                 data_volume = {{ type = \"gp2\", size_gib = 320 }}\n{memory}\n[[workload]]"
            ),
        );
        story::notes(&accepted(&text), "key_without_effect", None).join("\n")
    };
    let differ = reported("memory_limit_gib = 30\n");
    assert!(
        differ.contains(
            "cache_ratio of [sweep] says the page cache of every configuration: the configurations differ in memory, \
             and that has an effect on the heap alone"
        ),
        "{differ}"
    );
    assert!(!reported("").contains("cache_ratio"));
}
