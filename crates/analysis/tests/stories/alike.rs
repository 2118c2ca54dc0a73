//! Two that give about the same, or cost what they bring: how many repetitions are promised, and what they decide.
//!
//! In turns one is up and the other down by the spread, so that four blocks have an interval of 2.42 spreads to either
//! side (Student's t of six degrees of freedom, 2.97, times the root of 2 x 4 / 3 / 4), and twenty one of 0.76. The
//! margin is 4.88 % as a logarithm.

use crate::story::{bought, of_equal_reads, priced, run};
use analysis::{Analysis, AnswerOutcome, Status, TrialMeasurement, ValueOfMoney, ValueVerdict, analyse};

const NAMES: [&str; 2] = ["a", "b"];

/// b gives so many times what a does, and costs so many dollars where a costs 100.
fn analysed(gain: f64, usd: f64, spread: f64, blocks: u32) -> Analysis {
    let job = priced(bought(&NAMES.map(|name| (name, 0)), blocks), NAMES.into_iter().zip([100.0, usd]));
    let trial = |name: &'static str, block: u32, gives: f64| of_equal_reads(name, block, 60_000.0 * gives, 6_250.0);
    let of_block = |block: u32| {
        let up = if block.is_multiple_of(2) { spread } else { -spread };
        [trial("a", block, up.exp()), trial("b", block, gain * (-up).exp())]
    };
    let trials: Vec<TrialMeasurement> = (1..=blocks).flat_map(of_block).collect();
    analyse(&run(&job, &trials))
}

fn step(analysis: &Analysis) -> &ValueOfMoney {
    &analysis.value_of_money[0]
}

/// (Whether they are shown to pay for themselves alike, the repetitions that would decide).
fn open(analysis: &Analysis) -> (bool, Option<u32>) {
    match &analysis.recommendation.places[0].outcome {
        AnswerOutcome::Between { break_even, repetitions, .. } => (*break_even, *repetitions),
        other => panic!("{other:?}"),
    }
}

/// It said that no affordable number would decide between equals, and twenty do: for the cheaper, or for either of one
/// price.
#[test]
fn repetitions_that_show_equal_throughput_decide_for_the_cheaper() {
    for usd in [100.0, 102.0, 104.0, 106.0] {
        let four = analysed(1.0, usd, 0.03, 4);
        let (break_even, repetitions) = open(&four);
        assert!(!break_even && repetitions.is_some_and(|n| (10..40).contains(&n)), "{usd}: {repetitions:?}");
        assert_eq!(step(&four).verdict, ValueVerdict::NotDecided, "{usd}");
        assert_eq!(step(&four).repetitions_to_decide, repetitions, "{usd}");
        assert_eq!(four.recommendation.would_decide.map(|more| more.repetitions), repetitions, "{usd}");
        let twenty = analysed(1.0, usd, 0.03, 20);
        assert_eq!(twenty.recommendation.run.as_deref(), Some("a"), "{usd}: {:?}", twenty.recommendation);
    }
}

/// Repetitions were promised that would refute that they pay alike, where more repetitions show that they do: at 1.40
/// times the throughput for 1.42 times the cost, 59.
#[test]
fn repetitions_are_promised_beyond_the_margin_of_equal_value_only() {
    let cost = 1.4;
    for (value, is_promised) in [(0.92, true), (0.96, false), (1.0, false), (1.04, false), (1.08, true)] {
        let analysis = analysed(value * cost, 100.0 * cost, 0.04, 4);
        let (break_even, repetitions) = open(&analysis);
        assert_eq!((break_even, repetitions.is_some()), (false, is_promised), "{value}: {repetitions:?}");
        assert_eq!(step(&analysis).verdict, ValueVerdict::NotDecided, "{value}");
        assert_eq!(step(&analysis).repetitions_to_decide.is_some(), is_promised, "{value}");
        if !is_promised {
            let many = analysed(value * cost, 100.0 * cost, 0.004, 40);
            assert_eq!(open(&many), (true, None), "{value}");
            assert_eq!(step(&many).verdict, ValueVerdict::BreakEven, "{value}");
        }
    }
}

/// They pay for themselves alike at once, and whether they give the same is open where it is near: then more
/// repetitions decide for the cheaper, and where it is not they never do.
#[test]
fn what_pays_alike_is_decided_by_repetitions_where_throughput_may_be_the_same() {
    let (near, far) = (0.02_f64.exp(), 1.4);
    let alike = analysed(near, 102.0, 0.014, 4);
    let (break_even, repetitions) = open(&alike);
    assert!(break_even && repetitions.is_some_and(|n| (5..16).contains(&n)), "{break_even} {repetitions:?}");
    assert_eq!(alike.recommendation.would_decide.map(|more| more.repetitions), repetitions);
    let more = analysed(near, 102.0, 0.014, 16);
    assert_eq!((more.recommendation.status, more.recommendation.run.as_deref()), (Status::Decided, Some("a")));
    for blocks in [4, 16] {
        assert_eq!(open(&analysed(far, 140.0, 0.014, blocks)), (true, None), "{blocks}");
    }
}
