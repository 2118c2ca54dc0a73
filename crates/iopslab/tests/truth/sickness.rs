//! A machine or a node that is sick supports no verdict on the configuration; a sickness that took nothing of what
//! limits does.

use analysis::{Analysis, AnswerOutcome, Meets, Sickness, ValueVerdict, Withheld};

use crate::story::{Story, cell, configuration, noisy, priced, step};
use crate::words::contradictions::contradictions;

/// The sickness of a configuration's cell, after making sure that the answer says the same.
fn sickness(analysis: &Analysis, name: &str) -> Option<Sickness> {
    let lines = report::answer(analysis).lines();
    let found = contradictions(analysis, &lines);
    assert!(found.is_empty(), "{found:#?}\n{lines:#?}");
    match cell(analysis, name).withheld {
        Some(Withheld::Sick { sickness, .. }) => Some(sickness),
        None => None,
        other => panic!("{name}: {other:?}"),
    }
}

/// No verdict, and why.
fn is_withheld(story: &Story, name: &str, expected: Sickness, says: &str) {
    let analysis = story.analysis();
    assert_eq!(sickness(&analysis, name), Some(expected));
    assert_eq!(analysis.recommendation.run, None, "{:?}", analysis.recommendation);
    let outcome = &analysis.recommendation.places[0].outcome;
    assert!(matches!(outcome, AnswerOutcome::Withheld { .. }), "{outcome:?}");
    let headline = report::answer(&analysis).headline();
    assert!(headline.contains(says) && headline.contains(name), "{headline}");
    assert!(analysis.value_of_money.iter().all(|s| s.verdict == ValueVerdict::NotDecided));
}

/// The verdict stands, and is the true one.
fn stands(story: &Story, name: &str, expected: &[ValueVerdict]) {
    let analysis = story.analysis();
    assert_eq!(sickness(&analysis, name), None, "{name}");
    let step = step(&analysis, name);
    assert!(step.withheld.is_none() && expected.contains(&step.verdict), "{step:?}");
}

/// Reads that miss the page cache: `b` has twice the IOPS of `a` for 1.3 times the price.
fn volumes() -> Story {
    noisy(&[priced("a", 1000, 100.0), priced("b", 2000, 130.0)], 0.02, 4)
        .workload("read = 1.0\ndistribution = \"uniform\"")
}

/// The same CPUs and volumes that are never full, for one price and 1.5 times it.
fn machines() -> Story {
    noisy(&[priced("a", 100_000, 100.0), priced("b", 100_000, 150.0)], 0.02, 4)
}

fn fault(kind: &str, amount: f64) -> String {
    format!("kind = \"{kind}\"\nconfiguration = \"b\"\namount = {amount:?}")
}

#[test]
fn half_of_a_disk_is_no_verdict_on_the_volume() {
    stands(&volumes(), "b", &[ValueVerdict::WorthIt]);
    is_withheld(
        &volumes().fault(&fault("slow_disk", 0.5)),
        "b",
        Sickness::Disk,
        "the simulated probe found 50.0 % of what its volume should deliver",
    );
    // 95 % is within what a volume may be off.
    stands(&volumes().fault(&fault("slow_disk", 0.95)), "b", &[ValueVerdict::WorthIt]);
    // Half of a volume that hardly anything is asked of.
    let dear = [ValueVerdict::Same, ValueVerdict::Dominated, ValueVerdict::NotWorthIt];
    stands(&machines().fault(&fault("slow_disk", 0.5)), "b", &dear);
}

#[test]
fn a_quota_that_nobody_asked_for_is_no_verdict_on_the_machine() {
    is_withheld(
        &machines().fault(&fault("throttle", 0.1)),
        "b",
        Sickness::Quota,
        "a CPU quota that nobody asked for held the database back",
    );
    // The volume is the limit, and CPUs idle.
    stands(&volumes().fault(&fault("throttle", 0.1)), "b", &[ValueVerdict::WorthIt]);
}

#[test]
fn stolen_time_is_no_verdict_on_the_machine() {
    is_withheld(&machines().fault(&fault("steal", 0.12)), "b", Sickness::Steal, "the hypervisor took 12");
    let dear = [ValueVerdict::Same, ValueVerdict::Dominated, ValueVerdict::NotWorthIt];
    stands(&machines().fault(&fault("steal", 0.02)), "b", &dear);
    stands(&volumes().fault(&fault("steal", 0.12)), "b", &[ValueVerdict::WorthIt]);
}

#[test]
fn a_machine_that_others_use_is_no_verdict_on_it() {
    is_withheld(
        &machines().fault(&fault("other_work", 0.6)),
        "b",
        Sickness::OtherWork,
        "programs outside of the run used 0.6",
    );
    let dear = [ValueVerdict::Same, ValueVerdict::Dominated, ValueVerdict::NotWorthIt];
    stands(&machines().fault(&fault("other_work", 0.1)), "b", &dear);
    stands(&volumes().fault(&fault("other_work", 0.6)), "b", &[ValueVerdict::WorthIt]);
}

#[test]
fn a_database_that_mostly_collects_garbage_is_no_verdict_on_its_machine() {
    is_withheld(
        &volumes().fault(&fault("garbage_collection", 0.4)),
        "b",
        Sickness::Pauses,
        "garbage collection stopped it for 40",
    );
    stands(&volumes().fault(&fault("garbage_collection", 0.08)), "b", &[ValueVerdict::WorthIt]);
}

/// A database that stood still for three seconds of each window has a p99 of these, and nobody knows whether the
/// machine that is bought stands still as well; one that is slow has its own.
#[test]
fn a_bound_that_a_stop_breaks_is_not_decided_and_one_that_is_missed_without_it_is_missed() {
    let at = |bound_ms: u32| {
        let mut story = machines();
        story.load = "rate = [2000.0]\nwarmup_s = 5\nduration_s = 45".into();
        story.rest = format!("[objective]\np99_ms = {bound_ms}");
        story
    };
    let meets = |story: &Story, name: &str| {
        let place = &story.analysis().recommendation.places[0];
        let candidate = place.candidates.iter().find(|c| c.configuration == name);
        candidate.unwrap().meets
    };
    assert_eq!(meets(&at(200), "b"), Meets::Yes);
    let stalled = at(200).fault(&fault("stall", 3.0));
    assert_eq!((meets(&stalled, "a"), meets(&stalled, "b")), (Meets::Yes, Meets::NotDecided));
    // Its mean is that of the stop, too: a fifteenth of the requests wait for 1.5 s.
    let mean = |story: Story| Story { rest: "[objective]\nmean_ms = 50".into(), ..story };
    assert_eq!(meets(&mean(at(200)), "b"), Meets::Yes);
    assert_eq!(meets(&mean(at(200)).fault(&fault("stall", 3.0)), "b"), Meets::NotDecided);
    // A stop that is shorter than the bound leaves it met.
    assert_eq!(meets(&at(5_000).fault(&fault("stall", 3.0)), "b"), Meets::Yes);
    // A volume that gives half of what is asked of it misses the bound by itself.
    let mut slow = at(200);
    slow.configurations = [priced("a", 100_000, 100.0), priced("b", 500, 150.0)].concat();
    assert_eq!(meets(&slow.fault(&fault("stall", 3.0)), "b"), Meets::No);
}

/// Three nodes each; `b` costs half as much again.
fn clusters(iops: u32) -> Story {
    let of = |name: &str, usd: f64| {
        let volume = format!("data_volume = {{ iops = {iops}, mib_per_s = 2000, size_gib = 100 }}");
        configuration(name, &format!("{volume}\nnodes = 3\nconsistency = \"one\"\nprice_usd_per_month = {usd:.2}"))
    };
    noisy(&[of("a", 100.0), of("b", 150.0)], 0.02, 4).workload("read = 0.95\nupdate = 0.05\ndistribution = \"uniform\"")
}

#[test]
fn one_sick_or_busy_node_is_no_verdict_on_its_cluster() {
    let of_node =
        |kind: &str, amount: f64| format!("kind = \"{kind}\"\nconfiguration = \"a\"\nnode = 2\namount = {amount:?}");
    is_withheld(
        &clusters(2000).fault(&of_node("slow_disk", 0.5)),
        "a",
        Sickness::Disk,
        "the simulated probe found 50.0 % of what its volume should deliver",
    );
    is_withheld(
        &clusters(100_000).fault(&of_node("throttle", 0.3)),
        "a",
        Sickness::Quota,
        "a CPU quota that nobody asked for",
    );
    is_withheld(
        &clusters(100_000).fault(&of_node("busy_node", 1.5)),
        "a",
        Sickness::Nodes,
        "the nodes of a were not alike",
    );
    let dear = [ValueVerdict::Same, ValueVerdict::Dominated, ValueVerdict::NotWorthIt];
    stands(&clusters(100_000), "b", &dear);
    stands(&clusters(100_000).fault(&of_node("busy_node", 1.05)), "b", &dear);
}

/// At a given rate: what a sick machine holds is held, and what it misses a sound one may hold.
#[test]
fn a_sick_machine_may_meet_an_objective_and_misses_none() {
    let of = |rate: f64, p99_ms: f64| {
        let mut story = volumes().open(rate).fault(&fault("slow_disk", 0.5));
        story.rest = format!("[objective]\np99_ms = {p99_ms:.1}");
        let analysis = story.analysis();
        let place = &analysis.recommendation.places[0];
        let candidate = place.candidates.iter().find(|c| c.configuration == "b").unwrap();
        (candidate.meets, cell(&analysis, "b").withheld)
    };
    // 1,800 reads a second of 1,000 that are left, and of 2,000 that were bought.
    let (meets, withheld) = of(1800.0, 200.0);
    assert_ne!(meets, analysis::Meets::Yes, "{withheld:?}");
    let (meets, _) = of(600.0, 500.0);
    assert_eq!(meets, analysis::Meets::Yes);
}
