//! What an objective asks for, or a rate without one.

use analysis::{
    AnswerOutcome, Candidate, Check, Criterion, DecidedBy, Doubt, FleetOf, LatencyFigure, Meets, OfThisMachine,
    OperationKind, Range, Reason, Status, ValueVerdict,
};

use serde_json::json;

use super::{run, said, step, story, with};
use crate::page::LOADS;

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
            level: None,
            meets,
            repetitions: None,
        }],
        fleet: None,
    }
}

#[test]
fn an_objective_names_the_cheapest_that_meets_it_and_who_does_not() {
    let mut analysis = with(DecidedBy::Objective, run("gp3"));
    analysis.recommendation.places[0].load = Some(LOADS[1]);
    analysis.recommendation.places[0].candidates = vec![
        candidate("gp2", 500.0, [520.0, 500.0, 540.0], Meets::No),
        candidate("gp3", 750.0, [8.1, 7.4, 8.9], Meets::Yes),
        candidate("io2", 1000.0, [4.0, 3.8, 4.2], Meets::Yes),
    ];
    assert_eq!(
        said(&analysis).headline(),
        "Run gp3: it is the cheapest that keeps p99 at most 10 ms at 5,000/s Poisson in the 1:16 model: read p99 8.10 \
         ms (7.40 to 8.90); gp2 does not (read p99 520 ms (500 to 540))."
    );
    let places = &mut analysis.recommendation.places;
    places[0].candidates[1].checks[0].level = Some(0.0125);
    let headline = said(&analysis).headline();
    assert!(headline.contains("read p99 8.10 ms (7.40 to 8.90, 98.75 % interval); gp2"), "{headline}");
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
        answer.headline().starts_with("Not decided: no configuration keeps p99 at most 10 ms in the 1:16 model at 5"),
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

/// The story is a 1:16 model: gp2 misses the bound there by a factor of 5, and queues are up to 16 times as long.
#[test]
fn a_bound_that_a_model_misses_by_less_than_its_scale_is_not_decided() {
    let between = AnswerOutcome::Between {
        configurations: vec!["gp2".into(), "gp3".into()],
        break_even: false,
        alike: Vec::new(),
        repetitions: None,
    };
    let mut analysis = with(DecidedBy::Objective, between);
    analysis.recommendation.places[0].load = Some(LOADS[1]);
    analysis.recommendation.places[0].candidates = vec![
        candidate("gp2", 500.0, [52.0, 50.0, 54.0], Meets::NotDecided),
        candidate("gp3", 750.0, [8.1, 7.4, 8.9], Meets::Yes),
    ];
    analysis.recommendation.doubts = vec![Doubt::LatencyInModel { scale: 16.0 }];
    let needs = "the 1:16 model does not decide a latency above its bound by less than a factor of 16: latency bounds \
                 need scale 1:1 (or existing hosts)";
    let answer = said(&analysis);
    assert_eq!(
        answer.headline(),
        format!(
            "Not decided: the choice is between gp2 and gp3: whether gp2 keeps p99 at most 10 ms at 5,000/s Poisson is \
             not shown: read p99 52.0 ms (50.0 to 54.0); {needs}."
        )
    );
    assert!(answer.doubts[0].starts_with("Latencies are those of a 1:16 model"), "{answer:#?}");
    // What is open at full scale is open because of its interval.
    analysis.scale = 1.0;
    assert!(!said(&analysis).headline().contains("model"));
}

/// In a closed loop the choice is between those that keep the bound, and the one that does not is named.
#[test]
fn who_misses_the_bound_is_named_beside_those_between_which_the_choice_is() {
    let between = AnswerOutcome::Between {
        configurations: vec!["io2".into(), "gp3".into()],
        break_even: true,
        alike: Vec::new(),
        repetitions: None,
    };
    let mut analysis = with(DecidedBy::Objective, between);
    analysis.scale = 1.0;
    step(&mut analysis, 1, "gp3", 1.33, 1.33, ValueVerdict::BreakEven);
    // Of what misses it there is no step.
    analysis.value_of_money.remove(0);
    analysis.recommendation.places[0].candidates = vec![
        candidate("gp2", 500.0, [14.1, 13.0, 15.3], Meets::No),
        candidate("gp3", 750.0, [8.1, 7.4, 8.9], Meets::Yes),
        candidate("io2", 1000.0, [4.0, 3.8, 4.2], Meets::Yes),
    ];
    let answer = said(&analysis);
    let headline = answer.headline();
    assert!(headline.starts_with("Not decided: io2 and gp3 pay for themselves alike within 5 %"), "{headline}");
    let ends = "; more repetitions would not decide; gp2 misses p99 at most 10 ms (read p99 14.1 ms (13.0 to 15.3)).";
    assert!(headline.ends_with(ends), "{headline}");
    assert!(!answer.lines().iter().any(|line| line.contains("the throughput of gp2")), "{answer:#?}");
    // Where one of the two may yet be shown to miss it, more repetitions may decide.
    analysis.recommendation.places[0].candidates[1] = candidate("gp3", 750.0, [9.8, 9.1, 10.6], Meets::NotDecided);
    let headline = said(&analysis).headline();
    assert!(headline.contains("whether gp3 keeps p99 at most 10 ms at 100 in flight is not shown: "), "{headline}");
    assert!(!headline.contains("would not decide"), "{headline}");
}

/// Whether another that meets the bounds costs less is known of those that have a price alone.
#[test]
fn at_a_rate_nothing_is_the_cheapest_of_those_that_have_no_price() {
    let headline = |usd: Option<f64>| {
        let mut analysis = with(DecidedBy::Objective, run("gp3"));
        analysis.recommendation.places[0].load = Some(LOADS[1]);
        let io2 = candidate("io2", 1000.0, [4.0, 3.8, 4.2], Meets::Yes);
        analysis.recommendation.places[0].candidates = vec![
            candidate("gp2", 500.0, [520.0, 500.0, 540.0], Meets::No),
            candidate("gp3", 750.0, [8.1, 7.4, 8.9], Meets::Yes),
            Candidate { usd_per_month: usd, ..io2 },
        ];
        said(&analysis).headline()
    };
    let (priced, unpriced) = (headline(Some(1000.0)), headline(None));
    assert!(priced.starts_with("Run gp3: it is the cheapest that keeps p99 at most 10 ms"), "{priced}");
    assert!(unpriced.starts_with("Run gp3: it keeps p99 at most 10 ms"), "{unpriced}");
}

/// Three configurations; what is known of the third, which might meet the bounds for less: its price in this place, and
/// in the catalog.
#[test]
fn nothing_is_the_cheapest_of_all_where_another_might_cost_less() {
    let headline = |usd_of_gp2: Option<f64>, third: Option<(Option<f64>, Meets)>| {
        let mut analysis = with(DecidedBy::Objective, run("gp3"));
        analysis.recommendation.places[0].load = Some(LOADS[1]);
        analysis.configurations.iter_mut().find(|c| c.name == "gp2").unwrap().usd_per_month = usd_of_gp2;
        let mut candidates = vec![
            candidate("gp3", 750.0, [8.1, 7.4, 8.9], Meets::Yes),
            candidate("io2", 1000.0, [4.0, 3.8, 4.2], Meets::Yes),
        ];
        candidates.extend(third.map(|(usd_per_month, meets)| Candidate {
            usd_per_month,
            ..candidate("gp2", 0.0, [8.0, 7.3, 8.8], meets)
        }));
        analysis.recommendation.places[0].candidates = candidates;
        said(&analysis).headline()
    };
    // Beside one of its price that might do, it is not.
    let (cheapest, as_cheap) =
        ("it is the cheapest that keeps p99 at most 10 ms", "no other that keeps p99 at most 10 ms");
    for (usd_of_gp2, third, is_of_all, claim) in [
        // It was not measured there.
        (Some(749.0), None, false, cheapest),
        (Some(750.0), None, true, as_cheap),
        (None, None, false, cheapest),
        // It has no price.
        (None, Some((None, Meets::Yes)), false, cheapest),
        (None, Some((None, Meets::NotDecided)), false, cheapest),
        (None, Some((None, Meets::No)), true, cheapest),
        (Some(751.0), Some((Some(751.0), Meets::Yes)), true, cheapest),
        (Some(750.0), Some((Some(750.0), Meets::Yes)), true, as_cheap),
        (Some(750.0), Some((Some(750.0), Meets::NotDecided)), true, as_cheap),
        (Some(750.0), Some((Some(750.0), Meets::No)), true, cheapest),
    ] {
        let said = headline(usd_of_gp2, third);
        let start = if is_of_all { "Run gp3: " } else { "Run gp3: of those that were judged " };
        assert!(said.starts_with(&format!("{start}{claim}")), "{usd_of_gp2:?} {third:?}: {said}");
        assert_eq!(said.contains(" costs less: "), claim == as_cheap, "{said}");
    }
}

/// What was not measured in a place might meet its bounds, too.
#[test]
fn what_alone_meets_a_bound_is_the_only_one_of_those_that_were_judged() {
    let headline = |candidates: Vec<Candidate>| {
        let mut analysis = with(DecidedBy::Objective, run("gp3"));
        analysis.recommendation.places[0].load = Some(LOADS[1]);
        analysis.recommendation.places[0].candidates = candidates;
        said(&analysis).headline()
    };
    let missing = |name: &str, usd: f64| candidate(name, usd, [520.0, 500.0, 540.0], Meets::No);
    let ours = candidate("gp3", 750.0, [8.1, 7.4, 8.9], Meets::Yes);
    let only = "it is the only one that keeps p99 at most 10 ms";
    let two = headline(vec![ours.clone(), missing("io2", 1000.0)]);
    assert!(two.starts_with(&format!("Run gp3: of those that were judged {only}")), "{two}");
    let all = headline(vec![missing("gp2", 500.0), ours, missing("io2", 1000.0)]);
    assert!(all.starts_with(&format!("Run gp3: {only}")), "{all}");
}

/// No configuration has a price, so that nothing is the most for its money.
#[test]
fn within_bounds_of_a_closed_loop_money_is_named_where_there_is_some() {
    let headline = |usd: Option<f64>| {
        let mut analysis = with(DecidedBy::Objective, run("gp3"));
        let of = |name: &str, p99_ms: [f64; 3], meets: Meets| Candidate {
            usd_per_month: usd,
            ..candidate(name, 0.0, p99_ms, meets)
        };
        analysis.recommendation.places[0].by_money = usd.is_some();
        analysis.recommendation.places[0].candidates = vec![
            of("gp2", [520.0, 500.0, 540.0], Meets::No),
            of("gp3", [8.1, 7.4, 8.9], Meets::Yes),
            of("io2", [4.0, 3.8, 4.2], Meets::Yes),
        ];
        said(&analysis).headline()
    };
    let (priced, unpriced) = (headline(Some(500.0)), headline(None));
    assert!(priced.starts_with("Run gp3: it gives the most throughput for its money of all that keep p99"), "{priced}");
    // What one without a price gives for its money nobody knows.
    let one = {
        let mut analysis = with(DecidedBy::Objective, run("gp3"));
        let io2 = candidate("io2", 1000.0, [4.0, 3.8, 4.2], Meets::Yes);
        analysis.recommendation.places[0].candidates = vec![
            candidate("gp2", 500.0, [8.0, 7.3, 8.8], Meets::Yes),
            candidate("gp3", 750.0, [8.1, 7.4, 8.9], Meets::Yes),
            Candidate { usd_per_month: None, ..io2 },
        ];
        said(&analysis).headline()
    };
    assert!(one.starts_with("Run gp3: it gives the most throughput for its money of those judged that keep"), "{one}");
    assert!(unpriced.starts_with("Run gp3: it gives the most throughput of all that keep p99"), "{unpriced}");
}

/// What a CPU of this machine held back misses the bound here, and might keep it on more: its figures stood in no
/// sentence, and the headline ended behind a colon.
#[test]
fn what_this_machine_held_back_is_named_where_it_misses_a_bound() {
    let between = AnswerOutcome::Between {
        configurations: vec!["gp2".into()],
        break_even: false,
        alike: Vec::new(),
        repetitions: None,
    };
    let mut analysis = with(DecidedBy::Objective, between);
    analysis.scale = 1.0;
    let mut missed = candidate("gp2", 500.0, [52.0, 50.0, 54.0], Meets::No);
    missed.meets = Meets::NotDecided;
    analysis.recommendation.places[0].candidates = vec![missed];
    let own = analysis.cells.iter_mut().filter(|c| c.configuration == "gp2");
    own.for_each(|cell| cell.limited_here = Some(OfThisMachine::Cpu));
    assert_eq!(
        said(&analysis).headline(),
        "Not decided: whether gp2 keeps p99 at most 10 ms at 100 in flight is not shown: read p99 52.0 ms (50.0 to \
         54.0), while this machine's CPU limited it."
    );
}

/// A rate that was held is the least of a capacity, and the answer names the rate that would show the demand.
#[test]
fn a_held_rate_is_the_least_that_is_carried() {
    let between = AnswerOutcome::Between {
        configurations: vec!["gp2".into(), "gp3".into()],
        break_even: false,
        alike: Vec::new(),
        repetitions: None,
    };
    let at = |scale: f64, demand: f64, held: Meets| {
        let mut analysis = with(DecidedBy::Objective, between.clone());
        analysis.scale = scale;
        let stated = json!({"latency": [], "error_share": null, "throughput": demand, "headroom": 0.3});
        analysis.objective = Some(serde_json::from_value(stated).unwrap());
        let check = |what: Criterion, rate: f64, meets: Meets| Check {
            what,
            measured: Some(Range { median: rate, low: rate, high: rate }),
            level: None,
            meets,
            repetitions: None,
        };
        let of = |name: &str| Candidate {
            checks: vec![
                check(Criterion::RateHeld, 3000.0, held),
                check(Criterion::Throughput { demand }, 2100.0, Meets::NotDecided),
            ],
            ..candidate(name, 500.0, [1.0; 3], Meets::NotDecided)
        };
        analysis.recommendation.places[0].load = Some(LOADS[1]);
        analysis.recommendation.places[0].candidates = vec![of("gp2"), of("gp3")];
        said(&analysis).headline()
    };
    let open = |demand: f64, held: Meets| at(1.0, demand, held);
    let least = open(3000.0, Meets::Yes);
    let expected = "gp2 (capacity less headroom at least 2,100/s, as the offered rate was held: offer 4,510/s or more)";
    assert!(least.contains(expected), "{least}");
    let edge = open(2100.0, Meets::Yes);
    assert!(edge.contains("gp2 (capacity less headroom at least 2,100/s)"), "{edge}");
    let not_held = open(3000.0, Meets::NotDecided);
    assert!(not_held.contains("capacity less headroom 2,100/s)"), "{not_held}");
    let of_model = at(16.0, 3000.0, Meets::NotDecided);
    assert!(of_model.contains("capacity less headroom 2,100/s at full scale (estimated)"), "{of_model}");
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
