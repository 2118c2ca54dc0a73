//! What is not decided, and why.

use analysis::{
    AnswerOutcome, Candidate, DecidedBy, Doubt, Meets, Reason, Status, Unrest, ValueVerdict, Verdict, Withheld,
    WorkloadAnswer, WouldDecide,
};
use report::{answer, html, markdown};

use super::{run, said, step, story, with};

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
         decide in 80 of 100 new runs (45 minutes of trials each)."
    );
    // What other tools measured took nobody knows how long.
    analysis.trial_s = None;
    assert!(said(&analysis).headline().ends_with("would decide in 80 of 100 new runs."));
    let mut analysis = with(DecidedBy::Value, between(true, None));
    step(&mut analysis, 0, "gp2", 1.5, 1.5, ValueVerdict::BreakEven);
    let headline = said(&analysis).headline();
    assert!(headline.starts_with("Not decided: gp3 and gp2 pay for themselves alike within 5 %"), "{headline}");
    assert!(headline.ends_with("more repetitions would not decide."), "{headline}");
}

/// The first look of an adaptive run may show that one has beaten all others.
#[test]
fn what_leads_by_two_trials_of_each_is_no_answer() {
    let outcome = AnswerOutcome::Between {
        configurations: vec!["gp3".into()],
        break_even: false,
        alike: Vec::new(),
        repetitions: Some(3),
    };
    let mut analysis = with(DecidedBy::Value, outcome);
    analysis.recommendation.would_decide = Some(WouldDecide { repetitions: 3 });
    let headline = answer(&analysis).headline();
    let words = "Not decided: gp3 leads, and an answer takes more than two trials of each; if that is the truth, about \
                 3 repetitions of each cell would decide";
    assert!(headline.starts_with(words), "{headline}");
}

/// Queues of a model are longer: what it carries under a bound on latency is the least that full scale carries.
#[test]
fn what_a_model_carries_under_a_bound_is_not_the_most_that_full_scale_carries() {
    let between = AnswerOutcome::Between {
        configurations: vec!["gp3".into(), "gp2".into()],
        break_even: false,
        alike: Vec::new(),
        repetitions: None,
    };
    let mut analysis = with(DecidedBy::Capacity, between);
    analysis.recommendation.places[0].load = None;
    let headline = said(&analysis).headline();
    assert!(headline.contains("each may carry more than in the 1:16 model, up to its closed loop"), "{headline}");
    analysis.scale = 1.0;
    assert!(!said(&analysis).headline().contains("closed loop"));
}

/// Of those between which the choice is, the one that is shown to carry the demand is not among what is open.
#[test]
fn what_is_not_shown_to_carry_the_demand_is_named() {
    let headline = |contenders: &[(&str, Meets)]| {
        let between = AnswerOutcome::Between {
            configurations: contenders.iter().map(|(name, _)| (*name).to_owned()).collect(),
            break_even: false,
            alike: Vec::new(),
            repetitions: None,
        };
        let mut analysis = with(DecidedBy::Capacity, between);
        let place = &mut analysis.recommendation.places[0];
        place.load = None;
        let candidate = |(name, meets): &(&str, Meets)| Candidate {
            configuration: (*name).to_owned(),
            usd_per_month: Some(500.0),
            meets: *meets,
            checks: Vec::new(),
            fleet: None,
        };
        place.candidates = contenders.iter().map(candidate).collect();
        said(&analysis).headline()
    };
    let (open, shown) = (Meets::NotDecided, Meets::Yes);
    for (contenders, words) in [
        (vec![("gp2", open), ("gp3", open)], "whether each carries the demand with headroom is not shown; at"),
        (
            vec![("gp2", open), ("gp3", shown)],
            "whether gp2 carries the demand with headroom is not shown; that gp3 does is shown",
        ),
        (
            vec![("gp2", open), ("io2", open), ("gp3", shown)],
            "whether each of gp2 and io2 carries the demand with headroom is not shown; that gp3 does is shown",
        ),
        (vec![("gp2", open)], "Not decided: whether gp2 carries the demand with headroom at "),
    ] {
        let headline = headline(&contenders);
        assert!(headline.contains(words), "{headline}");
        assert_eq!(headline.contains("the choice is between"), contenders.len() > 1, "{headline}");
    }
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
            "about 9 repetitions of each cell would decide in 80 of 100 new runs (45 minutes of trials each); io2 and \
             gp3 pay for themselves alike within 5 %."
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

/// What credits carried under other workloads is no part of what is decided: the sentence on these workloads tells it.
/// And the picture beside the decision is one of what is decided.
#[test]
fn a_decision_names_and_shows_no_burst_of_other_workloads() {
    let why = Withheld::Burst { burst_iops: 187.5, baseline_iops: 18.75, lasts_s: Some(2000.0) };
    let mut analysis = with(DecidedBy::Value, run("gp3"));
    let place = &analysis.recommendation.places[0];
    let writes = WorkloadAnswer {
        workload: "writes".into(),
        outcome: AnswerOutcome::Withheld { configurations: vec![("gp2".into(), why)] },
        ..place.clone()
    };
    analysis.recommendation.places.insert(0, writes);
    let mut cells: Vec<_> = analysis.cells.iter().filter(|c| c.configuration == "gp2").cloned().collect();
    cells.iter_mut().for_each(|cell| (cell.workload, cell.withheld) = ("writes".into(), Some(why)));
    analysis.cells.extend(cells);
    let answer = answer(&analysis);
    assert!(answer.headline().starts_with("Run gp3"), "{}", answer.headline());
    assert!(!answer.headline().contains("burst credits"), "{}", answer.headline());
    let told = answer.sentences.iter().filter(|sentence| sentence.contains("burst credits carried gp2 (3,000 IOPS"));
    assert_eq!(told.count(), 1, "{:#?}", answer.sentences);
    let page = html(&analysis, &analysis::Charts::default());
    let (_, picture) = page.split_once("<figure class=\"frontier\"><figcaption><b>").unwrap();
    assert!(picture.starts_with("read-heavy"), "{}", picture.chars().take(60).collect::<String>());
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

/// What more repetitions would show of two that cost what they bring: that they do, where their throughputs are apart;
/// equal throughput where they are near.
#[test]
fn more_repetitions_are_said_to_decide_what_they_can() {
    let headline = |factor: f64, cost: f64, break_even: bool, repetitions: Option<u32>| {
        let outcome = AnswerOutcome::Between {
            configurations: vec!["gp3".into(), "gp2".into()],
            break_even,
            alike: Vec::new(),
            repetitions,
        };
        let mut analysis = with(DecidedBy::Value, outcome);
        let verdict = if break_even { ValueVerdict::BreakEven } else { ValueVerdict::NotDecided };
        step(&mut analysis, 0, "gp2", factor, cost, verdict);
        analysis.value_of_money[0].repetitions_to_decide = repetitions.filter(|_| !break_even);
        analysis.recommendation.would_decide = repetitions.map(|repetitions| WouldDecide { repetitions });
        said(&analysis).headline()
    };
    let only = "; if that is the truth, more repetitions would only show that gp3 and gp2 pay for themselves alike.";
    let (none, never) = ("; no affordable number of repetitions would decide.", "; more repetitions would not decide.");
    let about = "; if that is the truth, about 9 repetitions of each cell would decide in 80 of 100 new runs (45 \
                 minutes of trials each).";
    for (factor, cost, break_even, repetitions, ends) in [
        (1.4, 1.42, false, None, only),
        // 6 % less for its money, beyond the margin; and the same throughput, which too many repetitions would show.
        (1.4, 1.49, false, None, none),
        (1.01, 1.02, false, None, none),
        (1.01, 1.02, false, Some(9), about),
        (1.01, 1.02, true, Some(9), about),
        (1.01, 1.02, true, None, none),
        (1.4, 1.42, true, None, never),
    ] {
        let headline = headline(factor, cost, break_even, repetitions);
        assert!(headline.ends_with(ends), "{factor} for {cost}: {headline}");
        assert_eq!(headline.contains("Not decided: gp3 and gp2 pay for themselves alike"), break_even, "{headline}");
    }
}
