//! Bounds on latency: how a single configuration stands against them, with nothing beside it, or nothing that is left.

use analysis::{Analysis, AnswerOutcome, Status, Withheld};

use crate::story::{NVME, Story, cell, configuration, iops, noisy, priced};

/// p99 of reads, ms.
fn p99_ms(analysis: &Analysis, name: &str) -> f64 {
    cell(analysis, name).latency_us[&experiment::OperationKind::Read].figures.p99.unwrap() / 1000.0
}

fn bounded(story: &Story, p99_ms: f64) -> Story {
    Story { rest: format!("[objective]\nread = {{ p99_ms = {p99_ms:.3} }}"), ..story.clone() }
}

fn outcome(analysis: &Analysis) -> &AnswerOutcome {
    &analysis.recommendation.places[0].outcome
}

/// It said that fewer than two configurations could be judged, although both were: one misses the bound, and whether
/// the other keeps it is the question.
#[test]
fn where_one_misses_a_bound_in_a_closed_loop_the_other_is_held_against_it() {
    for [slow, fast] in
        [[iops("slow", 300), iops("fast", 20_000)], [priced("slow", 300, 9.0), priced("fast", 20_000, 19.0)]]
    {
        let story = noisy(&[slow, fast], 0.02, 3);
        let plain = story.analysis();
        let of_fast = p99_ms(&plain, "fast");
        assert!(p99_ms(&plain, "slow") > 4.0 * of_fast);
        let within = bounded(&story, 1.8 * of_fast).analysis();
        assert_eq!(within.recommendation.run.as_deref(), Some("fast"), "{:?}", within.recommendation);
        assert!(matches!(outcome(&bounded(&story, of_fast / 1.8).analysis()), AnswerOutcome::NoneMeets));

        let around = bounded(&story, of_fast).analysis();
        let AnswerOutcome::Between { configurations, .. } = outcome(&around) else {
            panic!("{:?}", around.recommendation)
        };
        assert_eq!(configurations, &["fast"]);
        let headline = report::answer(&around).headline();
        assert!(headline.starts_with("Not decided: whether fast keeps p99 at most "), "{headline}");
        assert!(headline.contains(" is not shown: read p99 ") && !headline.contains("choice is between"), "{headline}");
    }
}

/// The same where the figures of the other are not those of its storage, or too few.
#[test]
fn where_one_misses_a_bound_the_other_says_why_it_is_not_judged() {
    let story = noisy(&[iops("slow", 300), iops("fast", 20_000)], 0.02, 3);
    let within = 1.8 * p99_ms(&story.analysis(), "fast");
    let short = story.clone().fault("kind = \"small_dataset\"\namount = 0.8\nconfiguration = \"fast\"");
    let withheld = bounded(&short, within).analysis();
    let expected = AnswerOutcome::Withheld { configurations: vec![("fast".to_owned(), Withheld::Data)] };
    assert_eq!(outcome(&withheld), &expected);
    let headline = report::answer(&withheld).headline();
    assert!(headline.contains("records were missing or counters disagreed with fast"), "{headline}");

    // Four of six trials are valid.
    let few = story.fault("kind = \"errors\"\nblocks = [1, 2]\nconfiguration = \"fast\"\namount = 0.05");
    let few = bounded(&few, within).analysis();
    assert_eq!(cell(&few, "fast").valid_trials, 1);
    assert_eq!(outcome(&few), &AnswerOutcome::TooFew { pairs: 1 });
}

/// A single configuration is held against its bound as well: there is nothing to choose, and something to know.
#[test]
fn a_single_configuration_is_held_against_its_bound() {
    let alone = noisy(&[configuration("only", NVME)], 0.02, 3);
    for story in [alone.clone(), alone.open(1000.0)] {
        let p99 = p99_ms(&story.analysis(), "only");
        let within = bounded(&story, 2.5 * p99).analysis();
        assert_eq!(within.recommendation.run.as_deref(), Some("only"), "{:?}", within.recommendation);
        let headline = report::answer(&within).headline();
        assert!(headline.contains("it keeps p99 at most "), "{headline}");
        let around = bounded(&story, p99).analysis();
        let headline = report::answer(&around).headline();
        assert!(headline.starts_with("Not decided: whether only keeps p99 at most "), "{headline}");
    }
}

/// Both hold the rate within the bound, and nobody knows what they cost: no repetition says which to run.
#[test]
fn where_several_meet_a_bound_prices_would_decide() {
    let mut story = noisy(&[iops("middle", 5_000), iops("fast", 20_000)], 0.02, 3).open(1000.0);
    let slowest = p99_ms(&story.analysis(), "middle").max(p99_ms(&story.analysis(), "fast"));
    let both = bounded(&story, 3.0 * slowest).analysis();
    assert_eq!((both.recommendation.status, both.recommendation.would_decide), (Status::NotDecided, None));
    let headline = report::answer(&both).headline();
    assert!(headline.starts_with("Not decided: each of middle and fast keeps p99 at most "), "{headline}");
    assert!(headline.contains("what they cost is not known") && !headline.contains("repetitions"), "{headline}");
    // The same at two rates, at both of which it must be met.
    story.load = story.load.replace("[1000.0]", "[300.0, 1000.0]");
    let everywhere = bounded(&story, 3.0 * slowest).analysis();
    assert_eq!(everywhere.recommendation.run, None, "{:?}", everywhere.recommendation);
    let headline = report::answer(&everywhere).headline();
    assert!(headline.contains("each of middle and fast keeps p99 at most "), "{headline}");
}

/// What has a price misses the bound: that no configuration keeps it would be false; and so would it be that another
/// without a price was not considered, which misses it as well.
#[test]
fn what_has_no_price_may_be_the_only_one_that_keeps_a_bound() {
    let with_price = [priced("slow", 300, 100.0), priced("slow_too", 310, 110.0)];
    let all = [with_price, [iops("unpriced", 305), iops("fast", 20_000)]].concat();
    let closed = noisy(&all, 0.02, 3);
    for story in [closed.clone(), closed.open(1000.0)] {
        let plain = story.analysis();
        let (slow, fast) = (p99_ms(&plain, "slow_too"), p99_ms(&plain, "fast"));
        assert!(slow > 4.0 * fast, "{slow} {fast}");
        let analysis = bounded(&story, (slow * fast).sqrt()).analysis();
        assert_eq!(analysis.recommendation.run.as_deref(), Some("fast"), "{:?}", analysis.recommendation);
        assert_eq!(analysis.recommendation.not_considered, []);
        let headline = report::answer(&analysis).headline();
        assert!(headline.contains("it is the only one that keeps p99"), "{headline}");
    }
}

/// One of two prices is left within the bound: what has none is no more a choice than it was beside both.
#[test]
fn a_bound_does_not_make_a_choice_of_what_has_no_price() {
    let story = noisy(&[priced("slow", 300, 100.0), priced("middle", 2_500, 120.0), iops("fast", 20_000)], 0.02, 3);
    let plain = story.analysis();
    let (slow, middle) = (p99_ms(&plain, "slow"), p99_ms(&plain, "middle"));
    assert!(slow > 3.0 * middle, "{slow} {middle}");
    let analysis = bounded(&story, (slow * middle).sqrt()).analysis();
    assert_eq!(analysis.recommendation.run.as_deref(), Some("middle"), "{:?}", analysis.recommendation);
    let not_considered = analysis.recommendation.not_considered.iter().map(|n| n.configuration.as_str());
    assert_eq!(not_considered.collect::<Vec<_>>(), ["fast"]);
}

/// What misses the bound gives most for its money: it was said that nothing else is worth it, without a word that it is
/// no choice.
#[test]
fn a_step_of_money_does_not_start_at_what_misses_the_bound() {
    let all = [priced("a", 1000, 100.0), priced("b", 1500, 160.0), priced("c", 2000, 210.0)];
    let mut story = noisy(&all, 0.01, 5);
    story.truth = story.truth.replace("block_noise = 0.08", "block_noise = 0.01");
    let plain = story.analysis();
    let (a, b) = (p99_ms(&plain, "a"), p99_ms(&plain, "b"));
    assert!(a > 1.3 * b, "{a} {b}");
    for (limit_ms, misses) in [((a * b).sqrt(), true), (2.0 * a, false)] {
        let analysis = bounded(&story, limit_ms).analysis();
        let steps = || analysis.value_of_money.iter().map(|step| (step.from.as_str(), step.to.as_str()));
        let lines = report::answer(&analysis).lines().join("\n");
        println!("{limit_ms:.1} ms: {lines}");
        assert_eq!(steps().any(|(from, to)| from == "a" || to == "a"), !misses, "{:?}", steps().collect::<Vec<_>>());
        // Beside what is run, or beside those between which the choice is.
        let is_named = lines.contains("a misses p99 at most ") || lines.contains("a does not (read p99 ");
        assert_eq!(is_named, misses, "{lines}");
        assert!(!misses || !lines.contains("the throughput of a "), "{lines}");
    }
}
