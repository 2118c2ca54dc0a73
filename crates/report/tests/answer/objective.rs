//! What an objective asks for, or a rate without one.

use analysis::{
    AnswerOutcome, Candidate, Check, Criterion, DecidedBy, FleetOf, LatencyFigure, Meets, OperationKind, Range, Reason,
    Status,
};

use super::{run, said, story, with};
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
