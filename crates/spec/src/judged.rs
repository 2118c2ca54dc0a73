//! What the analysis needs at the least, by its own bounds: told before anything runs, where a plan has less.

use crate::{Load, Note};

/// Measured seconds below which no trial can be judged for a steady state.
pub(crate) const JUDGED_FROM_S: f64 = stats::JUDGED_FROM as f64;
/// Half as much again: seconds resemble their neighbours, and then the least is not enough.
pub(crate) const ROOMY_S: f64 = 1.5 * JUDGED_FROM_S;
/// Trials of a cell below which nothing is tested.
pub(crate) const REPETITIONS_MIN: u32 = stats::REPETITIONS_MIN as u32;

/// What a run of this load would measure, and the analysis not judge.
pub(crate) fn notes(load: &Load) -> Vec<Note> {
    [trials(load), repetitions(load)].into_iter().flatten().collect()
}

fn trials(load: &Load) -> Option<Note> {
    let duration_s = load.duration_s;
    (duration_s < JUDGED_FROM_S).then(|| {
        let message = format!(
            "trials of {duration_s} s are too short to tell a steady state from a passing one: {JUDGED_FROM_S} s are \
             the least"
        );
        let advice =
            format!("Set [load] duration_s = {ROOMY_S}; shorter trials count all the same, and the report doubts them");
        let numbers = [("duration_s", duration_s), ("needed_s", JUDGED_FROM_S)];
        Note::new("trials_too_short", message, advice).with(numbers)
    })
}

fn repetitions(load: &Load) -> Option<Note> {
    let most = load.repetitions;
    (most < REPETITIONS_MIN).then(|| {
        let key = if load.adaptive.is_some() {
            "max_repetitions"
        } else {
            "repetitions"
        };
        let message = format!(
            "{key} = {most}: figures without intervals, and no difference can be tested: {REPETITIONS_MIN} are the \
             least"
        );
        let advice = format!("Set {key} = {REPETITIONS_MIN} or more");
        let numbers = [("repetitions", f64::from(most)), ("needed", f64::from(REPETITIONS_MIN))];
        Note::new("repetitions_too_few", message, advice).with(numbers)
    })
}
