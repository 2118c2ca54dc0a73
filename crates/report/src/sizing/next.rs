//! What `iopslab next` says to people: what would be worth measuring, and how right that was.

use ::sizing::{
    Foretold, ForetoldCell, HeldOut, LeadingPlace, NextToMeasure, NotPredicted, NotPredictedBecause, NothingBecause,
    Predicted, Unmeasured,
};
use analysis::{DecidedBy, each_once};
use serde_json::{Value, json};

use super::notes;
use super::words::{doubts, obstacle, one_left_out, short, usd};
use crate::document::section::Section;
use crate::document::table::{Rows, column, rows};
use crate::document::terminal::plain;
use crate::figures::{about, given_percent, number, several, when, whole_percent};
use crate::labels::load;

const SIMULATED: &str = "SIMULATED evidence: the answer is one about a stated truth, not about machines.";

/// The document as it is printed by `--format json`: the answer, with the sentences that people read beside the values
/// they are made from.
pub fn next_document(answer: &NextToMeasure) -> Value {
    let mut document = json!(answer);
    let notes: Vec<String> = answer.notes.iter().map(notes::note).collect();
    document["notes_typed"] = std::mem::replace(&mut document["notes"], json!(notes));
    for (index, proposal) in answer.proposals.iter().enumerate() {
        document["proposals"][index]["sentences"] = json!([proposed(answer, proposal), worth(answer, proposal)]);
    }
    document["sentences"] = json!(answer.because.iter().map(|why| nothing(answer, why)).collect::<Vec<_>>());
    document
}

/// The proposals with what they rest on, at most `width` columns wide; the answer first.
pub fn next(answer: &NextToMeasure, width: usize) -> String {
    let simulated = answer.is_simulated.then(|| SIMULATED.to_owned());
    let why = answer.because.iter().map(|why| nothing(answer, why));
    let of_one =
        |(index, p): (usize, &Unmeasured)| format!("{}. {} {}", index + 1, proposed(answer, p), worth(answer, p));
    let proposed = answer.proposals.iter().enumerate().map(of_one);
    let leads = answer.places.iter().map(|place| {
        format!(
            "Leads under {}: {}, {} operations/s for {} USD a month",
            under(place),
            place.leader,
            number(place.operations_per_s),
            usd(place.usd_per_month)
        )
    });
    let held_out = answer.held_out.as_ref().map(|held| format!("Model: {}", model(held)));
    let key = "Of throughput: predicted over what leads, with the fullest resource used in full; at a load that does \
               not come to this limit it does less. A chance counts the held-out errors, each as likely as the others, \
               and one more that speaks against the proposal.";
    let key = (!answer.proposals.is_empty()).then(|| key.to_owned());
    let notes = answer.notes.iter().map(|note| format!("note: {}", notes::note(note)));
    let left_out = answer.left_out.iter().map(|left| format!("left out: {}", one_left_out(left)));
    let basis = Section::new("basis", "").paragraph(format!("Basis: {}", answer.basis));
    let sections = [
        Section::new("answer", "").paragraphs(simulated.into_iter().chain(why).chain(proposed)),
        Section::new("predicted", "").table(predictions(answer)).paragraphs(key),
        Section::new("asked", "")
            .paragraphs(leads.chain(answer.not_predicted.iter().map(not_predicted)).chain(held_out)),
        basis.paragraphs(notes.chain(left_out)),
    ];
    plain(sections, width)
}

/// The document of what was predicted and then measured, with its sentence.
pub fn foretold_document(answer: &Foretold) -> Value {
    let mut document = json!(answer);
    document["sentences"] = json!([how_right(answer)]);
    document
}

/// What was predicted beside what was measured, at most `width` columns wide.
pub fn foretold(answer: &Foretold, width: usize) -> String {
    let simulated = answer.is_simulated.then(|| SIMULATED.to_owned());
    let why_not =
        |cell: &ForetoldCell| Some(format!("{} is not predicted: {}", cell.cell, obstacle(cell.why_not.as_ref()?)));
    let beyond = |cell: &ForetoldCell| {
        let is_beyond = !cell.beyond_evidence.is_empty();
        is_beyond.then(|| {
            format!("{} lies outside the range of {}: {}", cell.cell, answer.against, doubts(&cell.beyond_evidence))
        })
    };
    let listed = |names: &[String], what: &str| (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")));
    let both = listed(&answer.measured_by_both, "Measured by both, and not predicted");
    let not_at_limit =
        listed(&answer.not_at_limit, "Not predicted, because no resource of the database was at its limit");
    let held_out = answer.held_out.as_ref().map(|held| format!("Model: {}", model(held)));
    let cells = answer.cells.iter();
    let remarks = cells.clone().filter_map(why_not).chain(cells.filter_map(beyond)).chain(both).chain(not_at_limit);
    let sections = [
        Section::new("answer", "").paragraphs(simulated.into_iter().chain([how_right(answer)])),
        Section::new("cells", "").table(beside(answer)).paragraphs(remarks.chain(held_out)),
    ];
    plain(sections, width)
}

/// `r7i.2xlarge + gp3 1000 GiB, 6000 IOPS: 0.94 of the throughput of today for 210 USD a month less, ±12 %; 3 trials,
/// about 3 minutes, would tell.`
fn proposed(answer: &NextToMeasure, p: &Unmeasured) -> String {
    let nodes = when(p.request.nodes > 1, || format!("{} x ", p.request.nodes));
    let leaders = each_once(answer.places.iter().map(|place| place.leader.clone()));
    let (whose, money) = match (leaders.as_slice(), answer.places.first()) {
        ([one], Some(place)) => (format!("of the throughput of {one}"), difference(p, place)),
        _ => ("of the throughput of what leads".to_owned(), format!("for {} USD a month", usd(p.usd_per_month))),
    };
    let error = match p.error {
        Some(half) => format!("±{}", whole_percent(half)),
        None => "its error not known".to_owned(),
    };
    let tells = match &p.measuring {
        Some(it) => format!("{}, about {}, would tell", several(it.trials, "trial"), about(it.seconds)),
        None => "a measurement would tell".to_owned(),
    };
    format!("{nodes}{} + {}: {} {whose} {money}, {error}; {tells}.", p.request.instance, p.storage, ratios(p))
}

/// The least and the most over the places: `0.94`, `0.94 to 1.10`.
fn ratios(p: &Unmeasured) -> String {
    let all = || p.predicted.iter().map(|predicted| predicted.ratio);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let [low, high] = [low, high].map(|ratio| format!("{ratio:.2}"));
    if low == high { low } else { format!("{low} to {high}") }
}

fn difference(p: &Unmeasured, place: &LeadingPlace) -> String {
    let less = place.usd_per_month - p.usd_per_month;
    if less.abs() < 0.5 {
        "for the same money".to_owned()
    } else if less > 0.0 {
        format!("for {} USD a month less", usd(less))
    } else {
        format!("for {} USD a month more", usd(-less))
    }
}

/// What a measurement may change; where the model has no error, that it has none, and why.
fn worth(answer: &NextToMeasure, p: &Unmeasured) -> String {
    let margin = given_percent(answer.margin);
    match p.worth {
        Some(worth) => format!(
            "Expected to save {} USD a month for the same throughput; the chance that it is the better choice, by more \
             than {margin}, is {}.",
            usd(worth.expected_usd_per_month),
            whole_percent(worth.chance)
        ),
        None => {
            let why = match p.beyond_evidence.as_slice() {
                [] => "no cell could be held out".to_owned(),
                beyond => format!("outside the measured range: {}", doubts(beyond)),
            };
            format!(
                "Would save {} USD a month for the same throughput if it holds; how likely that is the model does not \
                 know ({why}).",
                usd(p.saves_usd_per_month)
            )
        }
    }
}

fn nothing(answer: &NextToMeasure, why: &NothingBecause) -> String {
    let margin = given_percent(answer.margin);
    let why = match why {
        NothingBecause::NoPlace => "the model predicts nothing that this run decides".to_owned(),
        NothingBecause::ModelRefused { median_error, p90_error } => format!(
            "the model may not be used on this evidence: held out, its error is {} (median) and {} (90th percentile; \
             at most 15 % and 25 % are accepted)",
            whole_percent(*median_error),
            whole_percent(*p90_error)
        ),
        NothingBecause::NothingBetter { predicted } => format!(
            "of {} that were predicted none gives more for its money than what leads, by more than {margin}, even if \
             the model is as wrong as it was on what it was tested with",
            several(*predicted, "configuration")
        ),
        NothingBecause::NotMeasurable { refused } => {
            format!("this experiment cannot measure any of the {} that would be", several(*refused, "configuration"))
        }
    };
    format!("Nothing is worth measuring next: {why}.")
}

fn under(place: &LeadingPlace) -> String {
    format!("{}, {}", place.workload, load(place.load))
}

fn not_predicted(place: &NotPredicted) -> String {
    let level = place.load.map_or_else(String::new, |level| format!(", {}", load(level)));
    let why = match &place.why {
        NotPredictedBecause::DecidedBy { by } => {
            format!("{}, and the model predicts throughput for money", decides(*by))
        }
        NotPredictedBecause::NoLeader => "nothing leads there yet: the report says what would decide".to_owned(),
        NotPredictedBecause::NotLearned { leader } => {
            format!("the model learns nothing from {leader} (its settings, version, volumes or caches)")
        }
        NotPredictedBecause::NotAtLimit { leader } => format!(
            "no resource of {leader} was at its limit there, so that its throughput is no capacity to compare with; \
             more load would show one"
        ),
    };
    format!("Not predicted under {}{level}: {why}", place.workload)
}

fn decides(by: DecidedBy) -> &'static str {
    match by {
        DecidedBy::Value => "throughput for money decides at a level that is not known",
        DecidedBy::Throughput => "fewer than two configurations have a price",
        DecidedBy::Objective => "an objective or a given rate decides",
        DecidedBy::Capacity => "the rate under an objective decides",
        DecidedBy::Writes => "lost writes decide",
    }
}

fn model(held: &HeldOut) -> String {
    match (held.median_error, held.p90_error) {
        (Some(median), Some(p90)) => format!(
            "{} held out: error {} (median), {} (90th percentile)",
            several(held.cells, "cell"),
            whole_percent(median),
            whole_percent(p90)
        ),
        _ => "no cell could be held out, so that its error is not known".to_owned(),
    }
}

/// A proposal in a place: its number, the configuration, the place, and what is predicted there.
type InPlace<'a> = (usize, &'a Unmeasured, &'a LeadingPlace, Predicted);

fn predictions(answer: &NextToMeasure) -> Rows<InPlace<'_>> {
    let proposals = answer.proposals.iter().enumerate();
    let all = proposals
        .flat_map(|(index, p)| answer.places.iter().zip(&p.predicted).map(move |(place, at)| (index, p, place, *at)));
    let all: Vec<InPlace<'_>> = all.collect();
    rows("", all)
        .text(column("").once(), |(index, ..)| format!("{}.", index + 1))
        .text(column("Configuration").once().wide(), |(_, p, ..)| p.configuration.clone())
        .text("Under", |(_, _, place, _)| under(place))
        .number("Predicted\nops/s", |(.., at)| number(at.operations_per_s))
        .number("Of through-\nput", |(.., at)| format!("{:.2}", at.ratio))
        .number("Error", |(_, p, ..)| p.error.map_or_else(|| "not known".to_owned(), stated))
        .number(column("$/month").drop(1), |(_, p, ..)| usd(p.usd_per_month))
        .text(column("Limit").drop(2), |(.., at)| short(at.limit))
}

fn stated(half: f64) -> String {
    format!("±{}", whole_percent(half))
}

/// How far predictions were off, and how many of them as far as was stated at the most.
fn how_right(answer: &Foretold) -> String {
    let off = |cell: &ForetoldCell| Some((cell.off?.abs(), cell.cell.clone()));
    let worst = answer.cells.iter().filter_map(off).max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((most, cell)) = worst else {
        return format!("Nothing of {} is predicted from {}.", answer.run, answer.against);
    };
    let predicted = answer.cells.iter().filter(|cell| cell.off.is_some()).count() as u64;
    let stated = || answer.cells.iter().filter_map(ForetoldCell::is_within);
    let within = stated().filter(|is_within| *is_within).count();
    let of_stated = match stated().count() {
        0 => "; no error was stated".to_owned(),
        all => format!("; {within} of {all} within the error that was stated"),
    };
    format!(
        "{} of {}, predicted from {} alone: off by {} at the most ({cell}){of_stated}.",
        several(predicted, "cell"),
        answer.run,
        answer.against,
        whole_percent(most)
    )
}

fn beside(answer: &Foretold) -> Rows<&ForetoldCell> {
    rows("", answer.cells.iter().filter(|cell| cell.off.is_some()).collect::<Vec<_>>())
        .text(column("Cell").wide(), |cell| cell.cell.clone())
        .number("Predicted\nops/s", |cell| cell.predicted_operations_per_s.map(number))
        .number("Measured\nops/s", |cell| number(cell.measured_operations_per_s))
        .number("Off", |cell| cell.off.map(|off| format!("{:+.0} %", off * 100.0)))
        .number("Stated", |cell| cell.error.map_or_else(|| "not known".to_owned(), stated))
        .text("", |cell| match cell.is_within() {
            Some(true) => "within",
            Some(false) => "outside",
            None => "",
        })
}
