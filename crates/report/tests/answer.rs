//! The answer in words: one story for each thing that it can say, and no sentence against its document.

use crate::contradictions::contradictions;
use crate::page;
use crate::page::{LOADS, ratio, value};
use analysis::{
    Analysis, AnswerOutcome, AnyOf, Bound, BoundIs, Candidate, Check, Criterion, DecidedBy, Doubt, FleetOf,
    LatencyFigure, LimitedHere, Meets, NotConsidered, NotJudged, OfThisMachine, OperationKind, OtherSettings, Range,
    Reason, Status, Unrest, ValueVerdict, Verdict, Withheld, WorkloadAnswer, WorseSettings, WouldDecide,
};
use report::{Answer, TerminalOptions, answer, document, html, markdown, terminal};

/// Three configurations (500, 750 and 1,000 dollars; 1, 2 and 3 times the throughput) under one workload.
fn story() -> Analysis {
    page::run(&["gp2", "gp3", "io2"], &["read-heavy"], 3).0
}

/// The story with one place.
fn with(by: DecidedBy, outcome: AnswerOutcome) -> Analysis {
    let mut analysis = story();
    analysis.cells.retain(|c| c.load == LOADS[0]);
    analysis.decision.retain(|d| d.load == LOADS[0]);
    let run = match &outcome {
        AnswerOutcome::Run { configuration, .. } => Some(configuration.clone()),
        _ => None,
    };
    let recommendation = &mut analysis.recommendation;
    recommendation.status = if run.is_some() { Status::Decided } else { Status::NotDecided };
    recommendation.reason = if run.is_some() { Reason::Agreement } else { Reason::Undecided };
    recommendation.run = run;
    recommendation.doubts.clear();
    recommendation.places = vec![WorkloadAnswer {
        workload: "read-heavy".into(),
        load: Some(LOADS[0]),
        by,
        outcome,
        candidates: Vec::new(),
    }];
    analysis
}

fn run(configuration: &str) -> AnswerOutcome {
    AnswerOutcome::Run { configuration: configuration.into(), same: Vec::new(), settings: None }
}

/// Makes a step what a test is about; factor and cost with it.
fn step(analysis: &mut Analysis, index: usize, from: &str, factor: f64, cost: f64, verdict: ValueVerdict) {
    let step = &mut analysis.value_of_money[index];
    step.from = from.into();
    step.throughput_ratio = ratio(from, factor);
    step.cost_ratio = cost;
    step.value_ratio = value(factor, cost);
    step.verdict = verdict;
    step.knee = false;
}

/// The answer, after making sure that it contradicts nothing.
fn said(analysis: &Analysis) -> Answer {
    let answer = answer(analysis);
    let found = contradictions(analysis, &answer.lines());
    assert!(found.is_empty(), "{found:#?}");
    answer
}

#[test]
fn a_step_that_pays_is_reported_with_its_interval_and_the_next_one_that_does_not() {
    let mut analysis = with(DecidedBy::Value, run("gp3"));
    step(&mut analysis, 1, "gp3", 1.05, 2.1, ValueVerdict::NotWorthIt);
    analysis.value_of_money[1].extra_usd_per_month = 825.0;
    let answer = said(&analysis);
    assert_eq!(
        answer.headline(),
        "Run gp3: 2.00 times (1.90 to 2.10) the throughput of gp2 for 1.50 times its cost ($250.00 more a month)."
    );
    assert_eq!(
        answer.sentences[..2],
        [
            "io2 is not worth it: 1.05 times (0.997 to 1.10) the throughput of gp3 for 2.10 times its cost ($825.00 \
             more a month).",
            "If gp3 is too slow, more of gp3 buys more for the money, provided that throughput grows with their \
             number.",
        ]
    );
}

/// This machine's CPU limited some of these: what of a ratio carries over.
fn bounded(analysis: &mut Analysis, index: usize, is: BoundIs, names: &[&str]) {
    let by = names.iter().map(|name| LimitedHere { configuration: (*name).to_owned(), by: OfThisMachine::Cpu });
    analysis.value_of_money[index].throughput_ratio.bound = Some(Bound { is, by: by.collect() });
    analysis.value_of_money[index].usd_per_extra_op_per_s = None;
}

/// Only the lower end is given of what this machine's CPU held back, and why.
#[test]
fn what_this_machine_held_back_is_reported_by_its_lower_end() {
    let mut analysis = with(DecidedBy::Value, run("gp3"));
    bounded(&mut analysis, 0, BoundIs::AtLeast, &["gp3"]);
    step(&mut analysis, 1, "gp3", 1.5, 2.0, ValueVerdict::NotDecided);
    bounded(&mut analysis, 1, BoundIs::AtLeast, &["io2"]);
    analysis.value_of_money[1].throughput_ratio.verdict = Verdict::Faster;
    analysis.value_of_money[1].repetitions_to_decide = None;
    let all = ["gp3", "io2"].map(|name| LimitedHere { configuration: name.to_owned(), by: OfThisMachine::Cpu });
    analysis.recommendation.doubts = vec![Doubt::LimitedHere { all: all.to_vec() }];
    let answer = said(&analysis);
    assert_eq!(
        answer.headline(),
        "Run gp3: at least 1.90 times the throughput of gp2 for 1.50 times its cost ($250.00 more a month): beyond \
         that this machine's CPU was measured, not gp3's."
    );
    assert_eq!(
        answer.sentences[0],
        "Whether io2 is worth it is not decided: at least 1.42 times the throughput of gp3 for 2.00 times its cost \
         ($500.00 more a month): beyond that this machine's CPU was measured, not io2's."
    );
    assert!(
        answer.doubts[0].starts_with(
            "Not all that was measured is emulated on this machine: its CPU limited gp3 and io2. Ratios to that are \
             bounds, provided that a vCPU of what is bought does no less than a CPU here"
        ),
        "{:?}",
        answer.doubts
    );
    assert!(markdown(&analysis).contains("(at least) | 250.00 | 1.50 | 2.00 (1.90-2.10) |"));
}

/// The slower side, or both: nothing is gained by repeating, and it is said who was held back.
#[test]
fn what_this_machine_held_back_on_the_slower_side_may_do_more() {
    let mut analysis = with(DecidedBy::Value, run("gp2"));
    for (is, names, expected) in [
        (
            BoundIs::AtMost,
            &["gp2"][..],
            "Whether gp3 is worth it is not decided: at most 2.10 times the throughput of gp2 for 1.50 times its cost \
             ($250.00 more a month): this machine's CPU held gp2 back, which may do more.",
        ),
        (
            BoundIs::Nothing,
            &["gp3", "gp2"],
            "Whether gp3 is worth it is not decided: 2.00 times (1.90 to 2.10) the throughput of gp2 for 1.50 times \
             its cost ($250.00 more a month): this machine's CPU held gp3 and gp2 back, so that this is not carried \
             over.",
        ),
    ] {
        step(&mut analysis, 0, "gp2", 2.0, 1.5, ValueVerdict::NotDecided);
        bounded(&mut analysis, 0, is, names);
        let ratio = &mut analysis.value_of_money[0].throughput_ratio;
        ratio.verdict = Verdict::NotCarriedOver;
        let sentences = said(&analysis).sentences;
        assert!(sentences.contains(&expected.to_owned()), "{sentences:#?}");
    }
}

/// The hardware with what it gives for its price stands first; then any of its settings, those that are slower, and
/// those of which neither is known.
#[test]
fn hardware_comes_first_and_then_any_of_its_settings() {
    let names = ["gp2", "gp3", "gp3_a", "gp3_b", "gp3_c", "gp3_d"];
    let mut analysis = with(DecidedBy::Value, run("gp3"));
    let slower = |configuration: &str, factor: f64| {
        let mut throughput_ratio = ratio("gp3", factor);
        throughput_ratio.verdict = Verdict::Slower;
        WorseSettings { configuration: configuration.into(), throughput_ratio: Some(throughput_ratio) }
    };
    let settings = |worse: Vec<WorseSettings>| OtherSettings {
        any: vec!["gp3_a".into(), "gp3_b".into()],
        worse,
        open: vec!["gp3_d".into()],
    };
    let outcome = |worse: Vec<WorseSettings>| AnswerOutcome::Run {
        configuration: "gp3".into(),
        same: Vec::new(),
        settings: Some(settings(worse)),
    };
    analysis.configurations = page::run(&names, &["read-heavy"], 3).0.configurations;
    let recommendation = &mut analysis.recommendation;
    recommendation.places[0].outcome = outcome(vec![slower("gp3_c", 0.72)]);
    recommendation.any_of =
        Some(AnyOf { configurations: vec!["gp3".into(), "gp3_a".into(), "gp3_b".into()], apart: Some(1.12) });
    recommendation.hardware = names[1..].iter().map(|name| (*name).to_owned()).collect();
    let answer = said(&analysis);
    assert_eq!(
        answer.headline(),
        "Run gp3, with any of 3 settings: 2.00 times (1.90 to 2.10) the throughput of gp2 for 1.50 times its cost \
         ($250.00 more a month)."
    );
    assert_eq!(
        answer.sentences[..3],
        [
            "Settings, which cost nothing: none of gp3, gp3_a and gp3_b is shown to be faster than another; by the \
             widest of their intervals two of them differ by at most 1.12 times.",
            "Not gp3_c, shown to be slower: gp3_c has 0.720 times (0.684 to 0.756) the throughput of gp3.",
            "Open, on the same hardware: gp3_d, not shown to be worse, nor to be as good a choice.",
        ]
    );
    // All surfaces lead with it.
    assert!(markdown(&analysis).contains("**Run gp3, with any of 3 settings**: 2.00 times"));
    assert!(
        html(&analysis, &analysis::Charts::default()).contains("<b>Run gp3, with any of 3 settings</b>: 2.00 times")
    );
    let options = TerminalOptions { width: 200, color: false };
    assert!(terminal(&analysis, options).contains("Run gp3, with any of 3 settings: 2.00 times"));
    // Within the margin is another thing than not shown; many that are slower are given by the least and the most.
    if let Some(any) = &mut analysis.recommendation.any_of {
        any.apart = Some(1.05);
    }
    let four = [("gp3_c", 0.7), ("gp3_d", 0.9), ("gp3_e", 0.8), ("gp3_f", 0.75)];
    analysis.recommendation.places[0].outcome = outcome(four.map(|(name, factor)| slower(name, factor)).into());
    assert_eq!(
        said(&analysis).sentences[..2],
        [
            "Settings, which cost nothing: gp3, gp3_a and gp3_b give the same throughput within 5 %.",
            "Not gp3_c, gp3_d, gp3_e and gp3_f, shown to be slower: from 0.700 times (0.665 to 0.735) the throughput \
             of gp3 (gp3_c) to 0.900 times (0.855 to 0.945) the throughput of gp3 (gp3_d), in 4 comparisons.",
        ]
    );
}

#[test]
fn the_cheapest_is_run_where_the_next_step_does_not_pay() {
    let mut analysis = with(DecidedBy::Value, run("gp2"));
    step(&mut analysis, 0, "gp2", 1.01, 1.5, ValueVerdict::Same);
    step(&mut analysis, 1, "gp2", 0.9, 2.0, ValueVerdict::Dominated);
    let answer = said(&analysis);
    assert_eq!(
        answer.headline(),
        "Run gp2: no other costs less, and gp3 gives the same throughput as gp2 within 5 %: 1.01 times (0.959 to 1.06) \
         for 1.50 times its cost ($250.00 more a month)."
    );
    assert!(
        answer.sentences[0].starts_with(
            "io2 is dominated by gp2: 0.900 times (0.855 to 0.945) its throughput for 2.00 times its cost"
        ),
        "{answer:#?}"
    );
}

#[test]
fn what_is_open_says_between_whom_and_how_many_repetitions_would_decide() {
    let between = |break_even, repetitions| AnswerOutcome::Between {
        configurations: vec!["gp3".into(), "gp2".into()],
        break_even,
        alike: Vec::new(),
        repetitions,
    };
    let mut analysis = with(DecidedBy::Value, between(false, Some(9)));
    step(&mut analysis, 0, "gp2", 1.55, 1.5, ValueVerdict::NotDecided);
    analysis.value_of_money[0].repetitions_to_decide = Some(9);
    analysis.recommendation.would_decide = Some(WouldDecide { repetitions: 9 });
    assert_eq!(
        said(&analysis).headline(),
        "Not decided: the choice is between gp3 and gp2: gp3 gives 1.55 times (1.47 to 1.63) the throughput of gp2 for \
         1.50 times its cost ($250.00 more a month); if that is the truth, about 9 repetitions of each cell would \
         decide."
    );
    let mut analysis = with(DecidedBy::Value, between(true, None));
    step(&mut analysis, 0, "gp2", 1.5, 1.5, ValueVerdict::BreakEven);
    let headline = said(&analysis).headline();
    assert!(headline.starts_with("Not decided: gp3 and gp2 pay for themselves alike within 5 %"), "{headline}");
    assert!(headline.ends_with("more repetitions would not decide."), "{headline}");
}

/// What is shown to be alike is distinguished from what more repetitions would decide, whichever step comes first.
#[test]
fn repetitions_are_not_promised_to_what_is_break_even() {
    let outcome = AnswerOutcome::Between {
        configurations: vec!["io2".into(), "gp2".into(), "gp3".into()],
        break_even: false,
        alike: vec!["gp3".into()],
        repetitions: Some(9),
    };
    let mut analysis = with(DecidedBy::Value, outcome);
    step(&mut analysis, 0, "gp2", 1.55, 1.5, ValueVerdict::NotDecided);
    step(&mut analysis, 1, "gp3", 2.0, 2.0, ValueVerdict::BreakEven);
    analysis.recommendation.would_decide = Some(WouldDecide { repetitions: 9 });
    let headline = said(&analysis).headline();
    assert!(
        headline.starts_with("Not decided: the choice is between io2, gp2 and gp3: gp3 gives 1.55 times"),
        "{headline}"
    );
    assert!(
        headline.ends_with(
            "about 9 repetitions of each cell would decide; io2 and gp3 pay for themselves alike within 5 %."
        ),
        "{headline}"
    );
}

#[test]
fn what_was_not_the_storage_is_said_in_words() {
    for (why, words) in [
        (Withheld::Client, "the client was at its limit while it loaded gp2"),
        (Withheld::PageCache, "memory answered the reads of gp2, not storage"),
        (Withheld::Data, "records were missing or counters disagreed with gp2"),
        (Withheld::Rate, "the given rate was not held, or a queue was still draining, with gp2"),
        (
            // On a 1:16 model: 187.5 and 18.75 IOPS.
            Withheld::Burst { burst_iops: 187.5, baseline_iops: 18.75, lasts_s: Some(2000.0) },
            "burst credits carried gp2 (3,000 IOPS for 33 minutes, then 300)",
        ),
    ] {
        let outcome = AnswerOutcome::Withheld { configurations: vec![("gp2".into(), why)] };
        let mut analysis = with(DecidedBy::Value, outcome);
        let own = analysis.cells.iter_mut().filter(|c| c.configuration == "gp2");
        own.for_each(|cell| cell.withheld = Some(why));
        let headline = said(&analysis).headline();
        let expected = format!("Not decided: what was measured is not the storage: {words}.");
        assert_eq!(headline, expected);
    }
}

/// A longer warm-up changes nothing about what others did.
#[test]
fn others_that_took_cpu_time_are_not_answered_with_a_longer_warm_up() {
    let why = Withheld::NotAtRest { unrest: Unrest::Disturbed };
    let outcome = AnswerOutcome::Withheld { configurations: vec![("gp2".into(), why)] };
    let mut analysis = with(DecidedBy::Value, outcome);
    let own = analysis.cells.iter_mut().filter(|c| c.configuration == "gp2");
    own.for_each(|cell| cell.withheld = Some(why));
    assert_eq!(
        said(&analysis).headline(),
        "Not decided: the database was not at rest: its throughput was changing while other programs, or the \
         hypervisor, took CPU time of the machine, with gp2 (stop what else runs there; where it was the hypervisor, \
         measure at another hour or on another machine)."
    );
}

fn candidate(name: &str, usd: f64, p99_ms: [f64; 3], meets: Meets) -> Candidate {
    let [median, low, high] = p99_ms.map(|ms| ms * 1e3);
    Candidate {
        configuration: name.into(),
        usd_per_month: Some(usd),
        meets,
        checks: vec![Check {
            what: Criterion::Latency {
                operation: Some(OperationKind::Read),
                figure: LatencyFigure::P99,
                limit_us: 10_000.0,
            },
            measured: Some(Range { median, low, high }),
            meets,
        }],
        fleet: None,
    }
}

#[test]
fn an_objective_names_the_cheapest_that_meets_it_and_who_does_not() {
    let mut analysis = with(DecidedBy::Objective, run("gp3"));
    analysis.recommendation.places[0].load = Some(LOADS[1]);
    analysis.recommendation.places[0].candidates = vec![
        candidate("gp2", 500.0, [52.0, 50.0, 54.0], Meets::No),
        candidate("gp3", 750.0, [8.1, 7.4, 8.9], Meets::Yes),
        candidate("io2", 1000.0, [4.0, 3.8, 4.2], Meets::Yes),
    ];
    assert_eq!(
        said(&analysis).headline(),
        "Run gp3: it is the cheapest that keeps p99 at most 10 ms at 5,000/s Poisson: read p99 8.10 ms (7.40 to 8.90); \
         gp2 does not (read p99 52.0 ms (50.0 to 54.0))."
    );
    let places = &mut analysis.recommendation.places;
    places[0].outcome = AnswerOutcome::NoneMeets;
    for candidate in &mut places[0].candidates {
        candidate.meets = Meets::No;
        candidate.checks[0].meets = Meets::No;
    }
    places[0].candidates[1].fleet = Some(FleetOf { count: 2, usd_per_month: 1500.0 });
    let recommendation = &mut analysis.recommendation;
    (recommendation.run, recommendation.status, recommendation.reason) = (None, Status::NotDecided, Reason::Undecided);
    let answer = said(&analysis);
    assert!(
        answer.headline().starts_with("Not decided: no configuration keeps p99 at most 10 ms at 5,000/s"),
        "{answer:?}"
    );
    assert!(
        answer
            .sentences
            .iter()
            .any(|s| s.starts_with("2 x gp3 would carry the demand at 5,000/s Poisson for $1,500.00 a month together")),
        "{answer:?}"
    );
}

#[test]
fn a_rate_without_an_objective_says_nothing_about_value() {
    let mut analysis = with(DecidedBy::Objective, AnswerOutcome::NoObjective);
    let full = story();
    analysis.recommendation.places[0].load = Some(LOADS[1]);
    analysis.recommendation.reason = Reason::NoObjective;
    (analysis.cells, analysis.decision) = (full.cells, full.decision);
    let answer = said(&analysis);
    let headline = answer.headline();
    assert!(headline.contains("throughput says nothing about value"), "{headline}");
    assert!(headline.contains("p99_ms = 10 in [objective]"), "{headline}");
    assert!(answer.sentences.iter().any(|s| s.starts_with("p99 of the worst operation kind")), "{answer:#?}");
    assert!(!answer.lines().iter().any(|s| s.contains("worth it")), "{answer:#?}");
}

#[test]
fn different_workloads_may_want_different_configurations() {
    let (mut analysis, _) = page::run(&["gp2", "gp3"], &["read-heavy", "write-heavy"], 3);
    let place = |workload: &str, configuration: &str| WorkloadAnswer {
        workload: workload.into(),
        load: Some(LOADS[0]),
        by: DecidedBy::Value,
        outcome: run(configuration),
        candidates: Vec::new(),
    };
    analysis.recommendation.places = vec![place("read-heavy", "gp3"), place("write-heavy", "gp2")];
    let recommendation = &mut analysis.recommendation;
    (recommendation.run, recommendation.status, recommendation.reason) = (None, Status::NotDecided, Reason::Depends);
    step(&mut analysis, 1, "gp2", 1.2, 1.5, ValueVerdict::NotWorthIt);
    let headline = said(&analysis).headline();
    assert!(
        headline.starts_with(
            "Not decided: it depends on the workload: for read-heavy run gp3 (2.00 times (1.90 to 2.10) the \
             throughput of gp2 for"
        ) && headline.contains(
            "for write-heavy run gp2 (no other costs less, and gp3 is not worth it: 1.20 times \
             (1.14 to 1.26)"
        ),
        "{headline}"
    );
}

#[test]
fn with_few_valid_trials_nothing_leads_with_a_winner() {
    let mut analysis = story();
    (analysis.trials.planned, analysis.trials.done, analysis.trials.valid) = (12, 10, 5);
    let recommendation = &mut analysis.recommendation;
    (recommendation.run, recommendation.status, recommendation.reason) =
        (None, Status::NoAnswerYet, Reason::TooFewValidTrials);
    recommendation.doubts = vec![Doubt::Missing { trials: 2, planned: 12 }, Doubt::Invalid { trials: 5, done: 10 }];
    let answer = said(&analysis);
    assert_eq!(answer.headline(), "No answer yet: only 5 of 12 planned trials are valid.");
    assert_eq!(
        answer.doubts[..2],
        ["2 trials of 12 planned are missing.", "5 trials of 10 are invalid and enter no figure."]
    );
    let page = html(&analysis, &analysis::Charts::default());
    let text = markdown(&analysis);
    for name in ["gp2", "gp3", "io2"] {
        assert!(!page.contains(&format!("<b>{name}</b>")), "{name} is bold in HTML");
        assert!(!text.contains(&format!("**{name}")), "{name} is bold in Markdown");
    }
    assert!(!page.contains("heat best\">"), "green says: take this");
}

#[test]
fn two_repetitions_show_what_was_observed_and_test_nothing() {
    let mut analysis = with(DecidedBy::Value, AnswerOutcome::TooFew { pairs: 2 });
    analysis.recommendation.reason = Reason::TooFewRepetitions;
    analysis.recommendation.would_decide = Some(WouldDecide { repetitions: 3 });
    analysis.value_of_money.truncate(1);
    step(&mut analysis, 0, "gp2", 2.0, 1.5, ValueVerdict::NotDecided);
    analysis.value_of_money[0].throughput_ratio.verdict = Verdict::TooFew;
    let answer = said(&analysis);
    assert_eq!(
        answer.headline(),
        "Not decided: fewer than three valid repetitions of each cell, so that nothing can be tested; 3 repetitions of \
         each cell are needed."
    );
    assert!(answer.sentences[0].contains("2.00 times (1.90 to 2.10 observed)"), "{answer:#?}");
}

#[test]
fn what_was_not_considered_stands_beside_the_answer() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    analysis.recommendation.not_considered =
        vec![NotConsidered { configuration: "nvme".into(), why: NotJudged::NoPriceThoughFaster }];
    let answer = said(&analysis);
    let expected = "Not considered: nvme (no price, although it is faster than every configuration that has one).";
    assert!(answer.doubts.iter().any(|s| s == expected), "{answer:#?}");
}

#[test]
fn a_run_beside_others_says_so_and_beside_whom() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    let others = vec!["process 7, run gp3-20261125T120000Z".to_owned()];
    analysis.recommendation.doubts = vec![Doubt::Beside { others }];
    let answer = said(&analysis);
    assert_eq!(
        answer.doubts[0],
        "The run was allowed to go on beside others that measure on the same machine (--beside). When it began, \
         process 7, run gp3-20261125T120000Z did. Each finds a slower machine, so that figures are lower bounds, and \
         differences between trials may be those of the others."
    );
    analysis.recommendation.doubts = vec![Doubt::Beside { others: Vec::new() }];
    assert!(!said(&analysis).doubts[0].contains("When it began"));
}

#[test]
fn simulated_results_carry_a_banner_before_everything() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    analysis.provider = analysis::Provider::Simulated;
    analysis.recommendation.doubts.push(Doubt::Simulated);
    said(&analysis);
    let options = TerminalOptions { width: 80, color: false };
    let page = html(&analysis, &analysis::Charts::default());
    for (what, text) in [
        ("terminal", terminal(&analysis, options)),
        ("markdown", markdown(&analysis)),
        ("html", page.split_once("<header>").unwrap().1.to_owned()),
    ] {
        let (banner, headline) = (text.find("SIMULATED").unwrap(), text.find("Run io2").unwrap());
        assert!(banner < headline, "{what}");
    }
}

#[test]
fn the_document_holds_the_sentences_beside_the_values() {
    let mut analysis = story();
    analysis.recommendation.not_considered =
        vec![NotConsidered { configuration: "nvme".into(), why: NotJudged::NoPrice }];
    let mut json = document(&analysis);
    let words = said(&analysis);
    assert_eq!(json["answer"], serde_json::json!(words.lines()));
    let recommendation = &json["recommendation"];
    assert_eq!((recommendation["status"].as_str(), recommendation["run"].as_str()), (Some("decided"), Some("io2")));
    assert!(recommendation["because"].as_str().unwrap().starts_with("3.00 times (2.85 to 3.15)"));
    assert!(recommendation["would_decide"].is_null());
    assert!(recommendation["doubts"][1].as_str().unwrap().starts_with("This is a 1:16 model"));
    assert_eq!(recommendation["not_considered"], serde_json::json!([{"configuration": "nvme", "why": "no price"}]));
    assert_eq!(recommendation["places"].as_array().unwrap().len(), 2);
    assert!(json["value_of_money"][0]["reason"].as_str().unwrap().starts_with("gp3 is worth it: 2.00 times"));
    assert!(json["decision"][0]["caution"].as_str().unwrap().contains("closed loop"));
    assert!(json["spread"].as_str().unwrap().contains("4.00 %"));
    let limit = &mut json["cells"][0]["limit"];
    assert_eq!(limit["message"], "data volume: 990 of 1,000 IOPS (99 %).");
    // Everything else is the analysis as it is.
    for cell in json["cells"].as_array_mut().unwrap() {
        cell["limit"].as_object_mut().unwrap().remove("message");
    }
    assert_eq!(json["cells"], serde_json::to_value(&analysis.cells).unwrap());
}

#[test]
fn the_guard_against_contradictions_sees_them() {
    let analysis = with(DecidedBy::Value, run("io2"));
    let lines = answer(&analysis).lines();
    assert_eq!(contradictions(&analysis, &lines), Vec::<String>::new());
    let headline = lines[0].clone();
    for (wrong, why) in [
        (headline.replace("Run io2", "Run gp3"), "another configuration"),
        (headline.replace("3.00 times", "3.01 times"), "a factor that nobody measured"),
        (headline.replace("2.85 to", "2.84 to"), "another interval"),
        (headline.replace("$500.00", "$501.00"), "another price"),
        (format!("{headline} gp3 is not worth it: 2.00 times the throughput."), "another verdict"),
        (format!("{headline} About 7 repetitions would decide."), "repetitions from nowhere"),
        (format!("{headline} read p99 3.33 ms."), "a latency from nowhere"),
    ] {
        assert_ne!(wrong, headline, "{why}");
        assert!(!contradictions(&analysis, &[wrong]).is_empty(), "{why}");
    }
    assert!(!contradictions(&analysis, &[headline, "Run gp2: because.".into()]).is_empty(), "two winners");
}

/// A sum is as old as its oldest price.
#[test]
fn the_days_of_prices_are_told_from_the_oldest_to_the_newest() {
    let mut analysis = story();
    let mut reported = |days: [Option<&str>; 3]| {
        for (configuration, day) in analysis.configurations.iter_mut().zip(days) {
            for line in &mut configuration.cost_lines {
                line.price_date = day.map(str::to_owned);
            }
        }
        let page = html(&analysis, &page::run(&["gp2", "gp3", "io2"], &["read-heavy"], 3).1);
        let basis = answer(&analysis).basis.unwrap();
        let days = basis.split("prices of ").nth(1).unwrap().split(',').next().unwrap().to_owned();
        assert!(page.contains(&format!("prices of {days}, uplift")), "{days}");
        assert!(markdown(&analysis).contains(&format!("prices of {days}, uplift")), "{days}");
        days
    };
    let (old, new) = (Some("2025-10-01"), Some("2026-11-01"));
    assert_eq!(reported([new, old, new]), "2025-10-01 to 2026-11-01");
    assert_eq!(reported([old, old, None]), "2025-10-01");
}

#[test]
fn a_cell_that_the_user_skipped_is_a_doubt_with_how_far_it_had_come() {
    let mut analysis = story();
    let skipped = |cell: &str, done| analysis::SkippedCell { cell: cell.to_owned(), done, planned: 4 };
    let cells = vec![skipped("gp2.read-heavy.c64", 1), skipped("io2.read-heavy.c64", 0)];
    analysis.recommendation.doubts = vec![Doubt::Skipped { cells }];
    let said = "Skipped by the user while the run was under way: gp2.read-heavy.c64 after 1 of 4 trials and \
                io2.read-heavy.c64 before the first of 4 trials.";
    assert!(answer(&analysis).doubts.iter().any(|doubt| doubt == said), "{:?}", answer(&analysis).doubts);
}

#[test]
fn what_the_money_buys_says_where_it_buys_that_if_not_everywhere() {
    let mut analysis = page::run(&["gp2", "gp3"], &["reads", "writes"], 3).0;
    analysis.cells.retain(|c| c.load == LOADS[0]);
    analysis.recommendation.places.retain(|place| place.load == Some(LOADS[0]));
    let of = |analysis: &Analysis| answer(analysis).exchange.unwrap().of;
    assert_eq!(of(&analysis), "gp3 instead of gp2, $250.00 more a month: worth it");
    // Of writes no such step is there: gp3 is run for another reason.
    analysis.value_of_money.retain(|step| step.workload == "reads");
    assert_eq!(of(&analysis), "gp3 instead of gp2 under reads, $250.00 more a month: worth it");
    analysis.recommendation.status = Status::NotDecided;
    assert_eq!(answer(&analysis).exchange, None);
}
