//! What this machine limited.

use analysis::{Analysis, Bound, BoundIs, DecidedBy, Doubt, LimitedHere, OfThisMachine, ValueVerdict, Verdict};
use report::markdown;

use super::{run, said, step, with};

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

/// What the model of 1:N is not in proportion in, rather than what this machine holds back.
#[test]
fn what_is_not_in_proportion_in_the_model_is_reported_as_that() {
    for (by, why) in [
        (
            OfThisMachine::LeastCpus,
            "a database cannot be given as little CPU as the part of gp3 is in this model, so that this is not carried \
             over",
        ),
        (
            OfThisMachine::PageCache,
            "reads of gp3 do not miss the page cache as often at full scale as in this model, so that this is not \
             carried over",
        ),
    ] {
        let mut analysis = with(DecidedBy::Value, run("gp2"));
        step(&mut analysis, 0, "gp2", 2.0, 1.5, ValueVerdict::NotDecided);
        bounded(&mut analysis, 0, BoundIs::Nothing, &["gp3"]);
        let ratio = &mut analysis.value_of_money[0].throughput_ratio;
        ratio.verdict = Verdict::NotCarriedOver;
        ratio.bound.as_mut().unwrap().by[0].by = by;
        let expected = format!(
            "Whether gp3 is worth it is not decided: 2.00 times (1.90 to 2.10) the throughput of gp2 for 1.50 times \
             its cost ($250.00 more a month): {why}."
        );
        let sentences = said(&analysis).sentences;
        assert!(sentences.contains(&expected), "{sentences:#?}");
    }
}
