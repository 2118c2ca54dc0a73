//! What is paid for is decided first, then which of its settings to run: the best where one is shown to be, else any of
//! those that nothing distinguishes, and none that is slower than what other hardware does for less. A simulation has
//! no settings; what they would do is planted as a speed of configurations of one price and one machine.

use std::collections::BTreeMap;

use analysis::{Analysis, AnswerOutcome, OtherSettings, Reason, Status, Verdict, analyse};

use crate::rates::{at_least, at_most, seeds};
use crate::story::{Story, cell, evidence, measured, noisy, over_seeds, priced, share};
use crate::words::contradictions::contradictions;

/// Names that begin with `big` are of the hardware that costs 1.2 times what the others do.
fn story(speeds: &[(&str, f64)], noise: f64, repetitions: u32) -> Story {
    let all: Vec<String> = speeds
        .iter()
        .map(|(name, _)| match name.starts_with("big") {
            true => priced(name, 200_000, 120.0),
            false => priced(name, 100_000, 100.0),
        })
        .collect();
    let speeds: Vec<String> = speeds.iter().map(|(name, speed)| format!("{name} = {speed:?}")).collect();
    noisy(&all, noise, repetitions).truth(&format!("speed = {{ {} }}", speeds.join(", ")))
}

/// The analysis, after making sure that no sentence contradicts it, and that what may be run is nowhere named as
/// slower.
fn sound(analysis: Analysis) -> Analysis {
    let answer = report::answer(&analysis);
    let found = contradictions(&analysis, &answer.lines());
    assert!(found.is_empty(), "{found:#?}");
    let any = offered(&analysis);
    for settings in settings(&analysis) {
        let worse = settings.worse.iter().map(|w| &w.configuration).chain(&settings.open);
        let both: Vec<&String> = worse.filter(|name| any.contains(&name.as_str())).collect();
        assert!(both.is_empty(), "{both:?} of {any:?}");
    }
    analysis
}

/// All that may be run.
fn offered(analysis: &Analysis) -> Vec<&str> {
    let recommendation = &analysis.recommendation;
    match (&recommendation.any_of, &recommendation.run) {
        (Some(any), _) => any.configurations.iter().map(String::as_str).collect(),
        (None, run) => run.iter().map(String::as_str).collect(),
    }
}

fn settings(analysis: &Analysis) -> Vec<&OtherSettings> {
    let places = analysis.recommendation.places.iter();
    let settings = places.filter_map(|place| match &place.outcome {
        AnswerOutcome::Run { settings, .. } => settings.as_ref(),
        _ => None,
    });
    settings.collect()
}

fn worse(analysis: &Analysis) -> Vec<&str> {
    let all = settings(analysis).into_iter().flat_map(|s| &s.worse);
    all.map(|w| w.configuration.as_str()).collect()
}

fn sentence<'a>(sentences: &'a [String], start: &str) -> Option<&'a String> {
    sentences.iter().find(|s| s.starts_with(start))
}

#[test]
fn the_hardware_is_decided_and_any_of_its_equal_settings_may_be_run() {
    let speeds = [("small", 1.0), ("small_b", 1.0), ("big", 1.9), ("big_b", 1.9), ("big_c", 1.9)];
    let analysis = sound(story(&speeds, 0.02, 4).analysis());
    let all = ["big", "big_b", "big_c"];
    assert_eq!(analysis.recommendation.status, Status::Decided);
    assert_eq!(analysis.recommendation.run.as_deref(), Some("big"), "the first of the experiment");
    assert_eq!(analysis.recommendation.hardware, all);
    assert_eq!(offered(&analysis), all);
    let apart = analysis.recommendation.any_of.as_ref().unwrap().apart.unwrap();
    assert!((1.0..1.2).contains(&apart), "{apart}");
    let answer = report::answer(&analysis);
    println!("{:#?}", answer.lines());
    assert!(
        answer.headline().starts_with("Run big, with any of 3 settings: from a cold start, 1.")
            && answer.headline().contains("for 1.20 times its cost"),
        "{answer:#?}"
    );
    let reported = sentence(&answer.sentences, "Settings, which cost nothing: ").unwrap();
    assert!(reported.contains("big, big_b and big_c"), "{reported}");
    assert!(sentence(&answer.sentences, "big_b is ").is_none(), "{answer:#?}");
    // The document says the same.
    let document = report::document(&analysis);
    assert_eq!(document["recommendation"]["any_of"]["configurations"][2], "big_c");
    assert_eq!(document["recommendation"]["hardware"][0], "big");
}

#[test]
fn settings_that_are_shown_to_be_slower_are_named() {
    let speeds = [("small", 1.0), ("big", 1.9), ("big_b", 1.9), ("big_c", 1.9 * 0.72)];
    let analysis = sound(story(&speeds, 0.02, 4).analysis());
    assert_eq!(offered(&analysis), ["big", "big_b"]);
    assert_eq!(worse(&analysis), ["big_c"]);
    let answer = report::answer(&analysis);
    let reported = sentence(&answer.sentences, "Not big_c, shown to be slower: big_c has 0.7").unwrap();
    assert!(reported.contains("the throughput of big"), "{reported}");

    // The one that the experiment names first is the slow one: another is named.
    let speeds = [("small", 1.0), ("big", 1.9 * 0.72), ("big_b", 1.9), ("big_c", 1.9)];
    let analysis = sound(story(&speeds, 0.02, 4).analysis());
    assert_eq!(analysis.recommendation.run.as_deref(), Some("big_b"));
    assert_eq!((offered(&analysis), worse(&analysis)), (vec!["big_b", "big_c"], vec!["big"]));
}

/// A better one alone: no choice, and the others are named.
#[test]
fn the_best_settings_are_run_where_they_are_shown_to_be() {
    let speeds = [("small", 1.0), ("big", 1.4), ("big_b", 1.9), ("big_c", 1.4)];
    let analysis = sound(story(&speeds, 0.02, 4).analysis());
    assert_eq!(analysis.recommendation.run.as_deref(), Some("big_b"));
    assert_eq!(analysis.recommendation.any_of, None);
    assert_eq!(worse(&analysis), ["big", "big_c"]);
    assert!(report::answer(&analysis).headline().starts_with("Run big_b: "));
}

/// Around the margin of 5 %: whatever is said follows the one interval of the two.
#[test]
fn what_is_said_of_two_settings_follows_their_interval() {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for noise in [0.002, 0.02, 0.05] {
        for slower in [1.0, 0.98, 0.96, 0.94, 0.7] {
            let speeds = [("small", 1.0), ("big", 1.9), ("big_b", 1.9 * slower)];
            let mut story = story(&speeds, noise, 4);
            if noise < 0.01 {
                story.truth = story.truth.replace("block_noise = 0.08", "block_noise = 0.01\nsecond_noise = 0.001");
            }
            let analysis = sound(story.analysis());
            let step = analysis.free_steps.iter().find(|s| s.from == "big").unwrap();
            let answer = report::answer(&analysis);
            let reported = sentence(&answer.sentences, "Settings, which cost nothing: ");
            let verdict = step.throughput_ratio.verdict;
            let (run, no) = match verdict {
                Verdict::Slower => (vec!["big"], vec!["big_b"]),
                Verdict::Faster => (vec!["big_b"], vec!["big"]),
                _ => (vec!["big", "big_b"], vec![]),
            };
            assert_eq!((offered(&analysis), worse(&analysis)), (run, no), "{noise} {slower}: {step:?}");
            let same = "big and big_b give the same throughput within 5 %.";
            let is_same = reported.is_some_and(|reported| reported.ends_with(same));
            assert_eq!(is_same, verdict == Verdict::Same, "{noise} {slower}: {reported:?}");
            if verdict == Verdict::NoDifferenceShown {
                let apart = analysis.recommendation.any_of.as_ref().unwrap().apart.unwrap();
                assert!(apart > 1.05 && apart > 1.0 / slower, "{apart} for {slower}");
            }
            *seen.entry(verdict.words()).or_default() += 1;
        }
    }
    println!("{seen:?}");
    assert!(["the same", "no difference shown", "slower"].iter().all(|v| seen.contains_key(v)), "{seen:?}");
}

/// Settings that make the dearer hardware win, and others of it that pay less than the cheaper hardware does: 0.95 of
/// it, and exactly as much. "Any of these" would be false of them.
#[test]
fn what_pays_less_than_cheaper_hardware_is_rarely_offered_with_the_settings_that_win() {
    for (winner, other) in [(1.7, 1.14), (1.7, 1.2), (1.4, 1.2)] {
        let n = seeds(20, 200);
        let speeds = [("small", 0.7), ("small_b", 1.0), ("big", other), ("big_b", winner)];
        let job = story(&speeds, 0.05, 3).job();
        let seen = over_seeds(n, &job, |analysis| {
            let analysis = sound(analysis.clone());
            let offered = offered(&analysis);
            (offered.contains(&"big"), offered.contains(&"big_b"))
        });
        let of = |is: fn(&(bool, bool)) -> bool| share(&seen.iter().map(is).collect::<Vec<bool>>());
        let (wrong, right) = (of(|s| s.0), of(|s| s.1));
        println!(
            "| settings worth {:.2} of cheaper hardware beside some worth {:.2}, 3 repetitions, 5 % noise, {n} seeds | \
             offered: {:.1} %, the others {:.0} % |",
            other / 1.2,
            winner / 1.2,
            wrong * 100.0,
            right * 100.0
        );
        assert!(at_most(wrong, 0.05, n), "{winner} {other}: {wrong}");
        if winner > 1.5 {
            assert!(at_least(right, 0.8, n), "{winner} {other}: {right}");
        }
    }
}

/// Six equal settings: to name the luckiest as the best, or the unluckiest as slower, is an error.
#[test]
fn equal_settings_are_rarely_told_apart() {
    let n = seeds(20, 200);
    let names = ["big", "big_b", "big_c", "big_d", "big_e", "big_f"];
    let speeds: Vec<(&str, f64)> =
        [("small", 1.0), ("small_b", 1.0)].into_iter().chain(names.map(|name| (name, 1.9))).collect();
    let job = story(&speeds, 0.05, 3).job();
    let seen = over_seeds(n, &job, |analysis| {
        let analysis = sound(analysis.clone());
        let is_hardware = analysis.recommendation.hardware == names;
        let (any, worse) = (offered(&analysis).len(), worse(&analysis).len());
        // What is not offered is not left out: nothing is shown of it.
        let open: usize = settings(&analysis).iter().map(|s| s.open.len()).sum();
        assert!(!is_hardware || any + worse + open == names.len(), "{any} {worse} {open}");
        (is_hardware, worse > 0, any)
    });
    let of = |is: fn(&(bool, bool, usize)) -> bool| share(&seen.iter().map(is).collect::<Vec<bool>>());
    let (hardware, wrong, all) = (of(|s| s.0), of(|s| s.1), of(|s| s.2 == 6));
    let any: usize = seen.iter().filter(|s| s.0).map(|s| s.2).sum();
    let any = any as f64 / seen.iter().filter(|s| s.0).count() as f64;
    println!(
        "| six equal settings of the better of two machines, 3 repetitions, 5 % noise, {n} seeds | hardware decided \
         {:.0} %, then {any:.1} of six offered, all six {:.0} %, one called slower {:.1} % |",
        hardware * 100.0,
        all * 100.0,
        wrong * 100.0
    );
    assert!(at_most(wrong, 0.05, n), "{wrong}");
    assert!(at_least(hardware, 0.8, n) && any > 3.0, "{hardware} {any}");
}

/// Neither hardware is shown to be the better: then no settings are chosen, whatever is known of them.
#[test]
fn without_a_decision_on_the_hardware_there_is_none_on_settings() {
    let speeds = [("small", 1.0), ("small_b", 1.0), ("big", 1.2), ("big_b", 1.2)];
    let analysis = sound(story(&speeds, 0.05, 3).analysis());
    assert_eq!(analysis.recommendation.run, None, "{:?}", analysis.recommendation);
    assert_eq!(analysis.recommendation.hardware, Vec::<String>::new());
    assert!(report::answer(&analysis).headline().starts_with("Not decided: "));
}

/// One hardware alone: no settings win, and nothing that is paid for was compared.
#[test]
fn settings_alone_are_not_decided_by_being_alike() {
    let analysis = sound(story(&[("big", 1.0), ("big_b", 1.0), ("big_c", 1.0)], 0.05, 3).analysis());
    let recommendation = &analysis.recommendation;
    assert_eq!((&recommendation.run, &recommendation.any_of), (&None, &None));
    assert_eq!(recommendation.hardware, Vec::<String>::new());
}

/// The cheaper hardware is the better choice: any of its settings, and the step up is reported.
#[test]
fn the_cheaper_hardware_has_settings_too() {
    let speeds = [("small", 1.0), ("small_b", 1.0), ("big", 1.02), ("big_b", 1.02)];
    let analysis = sound(story(&speeds, 0.01, 4).analysis());
    assert_eq!(offered(&analysis), ["small", "small_b"], "{:?}", analysis.recommendation);
    let headline = report::answer(&analysis).headline();
    assert!(
        headline.starts_with("Run small, with any of 2 settings: from a cold start, no other costs less, and big"),
        "{headline}"
    );
}

/// One setting is the better for reads, the other for writes: what is bought is the same.
#[test]
fn the_hardware_is_decided_where_workloads_want_other_settings() {
    let two = "[[workload]]\nname = \"reads\"\nread = 0.9\nupdate = 0.1\n[[workload]]\nname = \"writes\"\nread = 0.1\n\
               update = 0.9\n";
    let job = story(&[("small", 1.0), ("big", 1.0), ("big_b", 1.0)], 0.02, 4).workload(two).job();
    let of = |workload: &str, big: f64, big_b: f64| {
        let mut job = job.clone();
        let truth = job.plan.place.truth_mut().unwrap();
        truth.speed = [("small", 1.0), ("big", big), ("big_b", big_b)].map(|(n, s)| (n.to_owned(), s)).into();
        let all = measured(&job).into_iter();
        all.filter(|t| t.record.workload == workload).collect::<Vec<_>>()
    };
    let trials = [of("reads", 1.9, 1.5), of("writes", 1.5, 1.9)].concat();
    let analysis = sound(analyse(&evidence("truth", &job, &trials)));
    let recommendation = &analysis.recommendation;
    assert_eq!((recommendation.reason, &recommendation.run), (Reason::Depends, &None));
    assert_eq!(recommendation.hardware, ["big", "big_b"]);
    let headline = report::answer(&analysis).headline();
    assert!(headline.contains("for reads run big (") && headline.contains("for writes run big_b ("), "{headline}");
    assert!(headline.ends_with("; the hardware is decided, that of big: which of its settings is not."), "{headline}");
    // A third that both accept is the answer: none is shown to be better in either place.
    let trials = [of("reads", 1.9, 1.9), of("writes", 1.5, 1.9)].concat();
    let analysis = sound(analyse(&evidence("truth", &job, &trials)));
    assert_eq!(offered(&analysis), ["big_b"], "{:?}", analysis.recommendation);
}

/// Without prices the hardware is decided by throughput alone.
#[test]
fn without_prices_other_hardware_is_beaten_by_throughput() {
    let speeds = [("small", 1.0), ("small_b", 1.0), ("big", 1.5), ("big_b", 1.5), ("big_c", 1.2)];
    let mut story = story(&speeds, 0.02, 4);
    story.configurations = story
        .configurations
        .lines()
        .filter(|line| !line.starts_with("price_usd_per_month"))
        .map(|line| format!("{line}\n"))
        .collect();
    let analysis = sound(story.analysis());
    assert_eq!(offered(&analysis), ["big", "big_b"], "{:?}", analysis.recommendation);
    assert_eq!(worse(&analysis), ["big_c"]);
    let headline = report::answer(&analysis).headline();
    assert!(
        headline
            .starts_with("Run big, with any of 2 settings: from a cold start, no other hardware has its throughput"),
        "{headline}"
    );
}

/// At a given rate: all settings of the cheapest hardware that meet the objective, and not one that is not shown to.
#[test]
fn an_objective_is_met_by_several_settings_of_the_cheapest_hardware() {
    let all = |speed_of_c: f64| {
        let volumes = [
            priced("slow", 300, 100.0),
            priced("middle", 2500, 120.0),
            priced("middle_b", 2500, 120.0),
            priced("fast", 20_000, 300.0),
        ];
        let speeds = format!("speed = {{ middle_b = {speed_of_c:?} }}");
        noisy(&volumes, 0.03, 3).open(1000.0).truth(&speeds)
    };
    let mut story = all(1.0);
    let plain = story.analysis();
    let p99 = |analysis: &Analysis, name: &str| {
        cell(analysis, name).latency_us[&experiment::OperationKind::Read].figures.p99.unwrap() / 1000.0
    };
    story.rest = format!("[objective]\np99_ms = {:.2}", (p99(&plain, "slow") * p99(&plain, "middle")).sqrt());
    let analysis = sound(story.analysis());
    assert_eq!(offered(&analysis), ["middle", "middle_b"], "{:?}", analysis.recommendation);
    let answer = report::answer(&analysis);
    assert!(
        sentence(&answer.sentences, "Settings, which cost nothing: each of middle and middle_b meets the objective.")
            .is_some(),
        "{answer:#?}"
    );

    // At the very p99 of the first it is open whether that meets it; the other, of the same price, is shown to.
    let mut story = all(3.0);
    let plain = story.analysis();
    println!("p99: {} {}", p99(&plain, "middle"), p99(&plain, "middle_b"));
    story.rest = format!("[objective]\np99_ms = {:.3}", p99(&plain, "middle"));
    let analysis = sound(story.analysis());
    assert_eq!(offered(&analysis), ["middle_b"], "{:?}", analysis.recommendation);
    assert_eq!(settings(&analysis)[0].open, ["middle"]);
    let answer = report::answer(&analysis);
    assert!(
        sentence(&answer.sentences, "Open, on the same hardware: middle, not shown to be worse").is_some(),
        "{answer:#?}"
    );
}
