//! What `iopslab next` says where a figure alone would be read as more than it is.

use analysis::{DecidedBy, LoadLevel};
use serde_json::{Value, json};
use sizing::{
    Effort, Foretold, ForetoldCell, HeldOut, LeadingPlace, NextToMeasure, NotPredicted, NotPredictedBecause,
    NothingBecause, Together,
};

fn answer(not_decided_against: &[&str], because: Option<NothingBecause>) -> NextToMeasure {
    NextToMeasure {
        format_version: 1,
        run: "ours".to_owned(),
        is_simulated: false,
        places: vec![LeadingPlace {
            workload: "reads".to_owned(),
            load: LoadLevel::Concurrency(64),
            leader: "today".to_owned(),
            not_decided_against: not_decided_against.iter().map(|name| (*name).to_owned()).collect(),
            operations_per_s: 10_000.0,
            half_width: 0.04,
            usd_per_month: 1_000.0,
        }],
        not_predicted: Vec::new(),
        held_out: Some(HeldOut {
            cells: 4,
            whole_configurations: true,
            median_error: Some(0.2),
            p90_error: Some(0.31),
            worst: None,
        }),
        margin: 0.05,
        predicted: 214,
        proposals: Vec::new(),
        together: None,
        because,
        left_out: Vec::new(),
        basis: Default::default(),
        notes: Vec::new(),
    }
}

fn said(answer: &NextToMeasure) -> String {
    report::next(answer, 100).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_leader_by_its_estimate_is_none_that_is_decided_and_its_interval_stands_beside_it() {
    let open = said(&answer(&["gp3", "local"], None));
    assert!(open.contains("Leads by its estimate under reads"), "{open}");
    assert!(open.contains("today, 10,000 operations/s (±4 %) for 1,000 USD a month"), "{open}");
    assert!(open.contains("; not decided against gp3 and local"), "{open}");
    let decided = said(&answer(&[], None));
    assert!(decided.contains("Leads under reads") && !decided.contains("not decided"), "{decided}");
}

/// What to measure, what that costs, what is expected and how far off that may be, and what the chance is of.
#[test]
fn a_proposal_says_what_to_measure_what_to_expect_and_what_it_may_change() {
    let proposal = |ratio: f64, error: Value, worth: Value| {
        let proposal = json!({
            "configuration": "r7i.2xlarge+gp3:1000GiB:6000", "storage": "gp3 1000 GiB, 6000 IOPS", "like": "today",
            "request": {"instance": "r7i.2xlarge", "volumes": [], "nodes": 1}, "era": null, "memory_limit_gib": null,
            "usd_per_month": 790.0, "error": error, "beyond_evidence": [], "saves_usd_per_month": 160.0,
            "worth": worth, "predicted": [{"operations_per_s": 10_000.0 * ratio, "ratio": ratio, "limit": "cpu"}],
            "measuring": {"name": "r7i", "block": "", "takes": {"trials": 3, "seconds": 540.0, "is_least": false}},
        });
        let proposals = vec![serde_json::from_value(proposal).unwrap()];
        said(&NextToMeasure { proposals, ..answer(&[], None) })
    };
    let known = proposal(0.94, json!(0.12), json!({"chance": 0.85, "expected_usd_per_month": 141.0}));
    let sentences = "1. Measure r7i.2xlarge + gp3 1000 GiB, 6000 IOPS, which takes 3 trials, about 9 minutes. It costs \
                     210 USD a month less than today and is predicted to do 0.94 times its throughput (0.83 to 1.05, \
                     by the error of 4 cells held out: between the two largest). The chance that this changes the \
                     choice, because it turns out to give more for its money by more than 5 %, is 85 %; on average \
                     over all that may come out it saves 141 USD a month for the same throughput; both are likely too \
                     high, because it was picked by them out of 214 predicted configurations.";
    assert!(known.contains(sentences), "{known}");
    let unknown = proposal(0.94, Value::Null, Value::Null);
    assert!(unknown.contains("0.94 times its throughput (how far off that may be is not known). If the"), "{unknown}");
    assert!(unknown.contains("If the prediction holds, it saves 160 USD a month for the same"), "{unknown}");
}

/// Where repetitions are added, so many trials are the least.
#[test]
fn what_measuring_takes_is_called_the_least_where_more_trials_may_follow() {
    let together = |is_least| {
        let effort = |trials, seconds| Effort { trials, seconds, is_least };
        let together = Some(Together { experiment: effort(15, 2_700.0), proposals: effort(3, 540.0) });
        said(&NextToMeasure { together, ..answer(&[], None) })
    };
    let (fixed, added) = (together(false), together(true));
    assert!(fixed.contains(": 15 trials, about 45 minutes, of which 3 trials, about 9 minutes are for"), "{fixed}");
    assert!(added.contains(": at least 15 trials, about") && added.contains("of which at least 3 trials,"), "{added}");
}

#[test]
fn proposals_that_were_not_tried_are_not_called_unmeasurable() {
    let some = said(&answer(&[], Some(NothingBecause::NotMeasurable { refused: 50, untried: 12 })));
    let sentence = "Not decided what to measure next: this experiment cannot measure the first 50 configurations that \
                    would be worth it, and 12 more were not tried";
    assert!(some.contains(sentence) && !some.contains("Nothing is worth measuring"), "{some}");
    let all = said(&answer(&[], Some(NothingBecause::NotMeasurable { refused: 50, untried: 0 })));
    let sentence = "Nothing is worth measuring next: this experiment cannot measure any of the 50 configurations that \
                    would be.";
    assert!(all.contains(sentence), "{all}");
}

#[test]
fn a_refused_model_states_its_errors_and_the_bounds_that_refuse_it() {
    let refused = said(&answer(&[], Some(NothingBecause::ModelRefused)));
    let sentence = "Not decided what to measure next: the model may not be used on this evidence: 4 cells held out, \
                    and predicted from the other configurations: error 20 % (median), 31 % (between the two largest); \
                    at most 15 % and 25 % are accepted; add another mix to the experiment ([[workload]], for example \
                    50 % reads) or another instance size ([[configuration]]).";
    assert!(refused.contains(sentence) && !refused.contains("worth measuring"), "{refused}");
}

/// Few cells are called few, and what they make of a percentile is not called one.
#[test]
fn a_model_that_rests_on_few_cells_says_how_it_gets_more() {
    let of = |cells: u64| {
        let (median_error, p90_error) = (Some(0.1), Some(0.2));
        let held_out = Some(HeldOut { cells, whole_configurations: true, median_error, p90_error, worst: None });
        said(&NextToMeasure { held_out, ..answer(&[], None) })
    };
    for (cells, error, is_few) in [
        (1, "20 % (the largest)", true),
        (4, "20 % (between the two largest)", true),
        (5, "20 % (between the two largest)", false),
        (9, "20 % (between the two largest)", false),
        (10, "20 % (90th percentile)", false),
    ] {
        let words = of(cells);
        assert!(words.contains(error), "{cells}: {words}");
        assert_eq!(words.contains("; that is little evidence: add another mix"), is_few, "{cells}: {words}");
    }
}

/// That an answer is of another kind does not say that nothing is worth measuring.
#[test]
fn where_an_objective_or_a_rate_decides_it_says_which_run_is_needed() {
    let of = |by: &[DecidedBy]| {
        let place = |by: &DecidedBy| NotPredicted {
            workload: "reads".to_owned(),
            load: None,
            why: NotPredictedBecause::DecidedBy { by: *by },
        };
        let not_predicted = by.iter().map(place).collect();
        said(&NextToMeasure { places: Vec::new(), not_predicted, ..answer(&[], Some(NothingBecause::NoPlace)) })
    };
    let asked = of(&[DecidedBy::Objective, DecidedBy::Capacity]);
    let needed = "Proposals need a run with a closed loop ([load] concurrency), without [objective], of at least two \
                  mixes or instance sizes.";
    assert!(asked.contains("Not decided what to measure next: an objective or a rate decides this run"), "{asked}");
    assert!(asked.contains(needed) && !asked.contains("worth measuring"), "{asked}");
    let other = of(&[DecidedBy::Objective, DecidedBy::Throughput]);
    assert!(other.contains("Not decided what to measure next: the model predicts nothing that this run"), "{other}");
}

#[test]
fn predictions_are_judged_by_their_median_too_and_by_how_much_was_stated() {
    let cell = |name: &str, off: f64, error: f64| ForetoldCell {
        cell: name.to_owned(),
        predicted_operations_per_s: Some(1_000.0 * (1.0 + off)),
        why_not: None,
        error: Some(error),
        beyond_evidence: Vec::new(),
        measured_operations_per_s: 1_000.0,
        off: Some(off),
    };
    let answer = Foretold {
        format_version: 1,
        run: "new".to_owned(),
        against: "old".to_owned(),
        is_simulated: false,
        held_out: None,
        median_off: Some(0.03),
        cells: vec![cell("a", 0.02, 0.25), cell("b", -0.03, 0.25), cell("c", 0.2, 0.18)],
        measured_by_both: Vec::new(),
        not_at_limit: Vec::new(),
        given_rate: vec!["d.reads.r500".to_owned()],
        not_observed: Vec::new(),
    };
    let said = report::foretold(&answer, 100).split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = "3 cells of new, predicted from old alone: off by 3 % (median) and 20 % at the most (c); 2 of 3 \
                    within the error that was stated (±18 % to ±25 %, for 9 of 10).";
    assert!(said.contains(sentence), "{said}");
    assert!(said.contains("Not predicted, because their rate was given: d.reads.r500"), "{said}");
}
