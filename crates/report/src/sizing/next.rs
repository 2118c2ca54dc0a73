//! What `iopslab next` says to people: what would be worth measuring, and how right that was.

use ::sizing::{
    Effort, Foretold, ForetoldCell, HeldOut, LeadingPlace, NextToMeasure, NotPredicted, NotPredictedBecause,
    NothingBecause, Predicted, Together, Unmeasured,
};
use analysis::{DecidedBy, each_once};
use serde_json::{Value, json};

use super::notes;
use super::words::{SIMULATED, doubts, held_out, obstacle, one_left_out, short, tested, usd};
use crate::document::section::Section;
use crate::document::table::{Rows, column, rows};
use crate::document::terminal::plain;
use crate::figures::{about, count, given_percent, listed, margin, number, several, when, whole_percent};
use crate::labels::load;

/// The document as it is printed by `--format json`: the answer, with the sentences that people read beside the values
/// they are made from.
pub fn next_document(answer: &NextToMeasure) -> Value {
    let mut document = json!(answer);
    let notes: Vec<String> = answer.notes.iter().map(notes::note).collect();
    document["notes_typed"] = std::mem::replace(&mut document["notes"], json!(notes));
    for (index, proposal) in answer.proposals.iter().enumerate() {
        document["proposals"][index]["sentences"] = json!([proposed(answer, proposal), worth(answer, proposal)]);
    }
    let together = answer.together.iter().map(|all| together(answer, all));
    let sentences = answer.because.iter().map(|why| nothing(answer, why)).chain(together);
    document["sentences"] = json!(sentences.collect::<Vec<_>>());
    document
}

/// The proposals with what they rest on, at most `width` columns wide; the answer first.
pub fn next(answer: &NextToMeasure, width: usize) -> String {
    let simulated = answer.is_simulated.then(|| SIMULATED.to_owned());
    let why = answer.because.iter().map(|why| nothing(answer, why));
    let of_one =
        |(index, p): (usize, &Unmeasured)| format!("{}. {} {}", index + 1, proposed(answer, p), worth(answer, p));
    let proposed = answer.proposals.iter().enumerate().map(of_one);
    let together = answer.together.iter().map(|all| together(answer, all));
    let leads = answer.places.iter().map(leads);
    let held_out = answer.held_out.as_ref().map(tested);
    let key = (!answer.proposals.is_empty()).then(|| key(answer));
    let notes = answer.notes.iter().map(|note| format!("note: {}", notes::note(note)));
    let left_out = answer.left_out.iter().map(|left| format!("left out: {}", one_left_out(left)));
    let basis = Section::new("basis", "").paragraph(format!("Basis: {}", answer.basis));
    let sections = [
        Section::new("answer", "").paragraphs(simulated.into_iter().chain(why).chain(proposed).chain(together)),
        Section::new("predicted", "").table(predictions(answer)).paragraphs(key),
        Section::new("asked", "")
            .paragraphs(leads.chain(answer.not_predicted.iter().map(not_predicted)).chain(held_out)),
        basis.paragraphs(notes.chain(left_out)),
    ];
    plain(sections, width)
}

/// What leads in a place; where that is not decided, against what.
fn leads(place: &LeadingPlace) -> String {
    let open = place.not_decided_against.as_slice();
    format!(
        "{} under {}: {}, {} operations/s ({}) for {} USD a month{}",
        if open.is_empty() { "Leads" } else { "Leads by its estimate" },
        under(place),
        place.leader,
        number(place.operations_per_s),
        stated(place.half_width),
        usd(place.usd_per_month),
        when(!open.is_empty(), || format!("; not decided against {}", listed(open)))
    )
}

/// How the table and the chances are to be read.
fn key(answer: &NextToMeasure) -> String {
    let all_alike = when(answer.places.len() > 1, || {
        " Each error, and each end of an interval, is taken for all workloads and load levels at once, and the errors \
         of all of them are counted together."
            .to_owned()
    });
    format!(
        "Of throughput: what is predicted, divided by what leads now; at a load that does not fill the limit it does \
         less. A cell is a measured configuration under one workload and load level; held out, it is predicted from \
         others. The chance: the error of each of these cells is tried on the prediction, and one more that speaks \
         against it, with what leads in the middle and at either end of its interval; the share of \
         these cases in which the proposal wins.{all_alike}"
    )
}

/// What it takes to measure all that is proposed.
fn together(answer: &NextToMeasure, all: &Together) -> String {
    format!(
        "The experiment with {}: {}, of which {} are for what is new.",
        match answer.proposals.len() {
            1 => "it".to_owned(),
            n => format!("these {}", count(n as u64)),
        },
        takes(all.experiment),
        takes(all.proposals)
    )
}

/// `3 trials, about 9 minutes`
fn takes(effort: Effort) -> String {
    let least = when(effort.is_least, || "at least ".to_owned());
    format!("{least}{}, about {}", several(effort.trials, "trial"), about(effort.seconds))
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
    let named = |names: &[String], what: &str| (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")));
    let both = named(&answer.measured_by_both, "Measured by both, and not predicted");
    let not_at_limit =
        named(&answer.not_at_limit, "Not predicted, because no resource of the database was at its limit");
    let given_rate = named(&answer.given_rate, "Not predicted, because their rate was given");
    let not_observed =
        named(&answer.not_observed, "Not predicted, because nothing was learned from them (trials, volumes, caches)");
    let held_out = answer.held_out.as_ref().map(tested);
    let cells = answer.cells.iter();
    let of_cells = cells.clone().filter_map(why_not).chain(cells.filter_map(beyond));
    let remarks = of_cells.chain(both).chain(not_at_limit).chain(given_rate).chain(not_observed);
    let sections = [
        Section::new("answer", "").paragraphs(simulated.into_iter().chain([how_right(answer)])),
        Section::new("cells", "").table(beside(answer)).paragraphs(remarks.chain(held_out)),
    ];
    plain(sections, width)
}

/// `Measure r7i.2xlarge + gp3 1000 GiB, 6000 IOPS, which takes 3 trials, about 9 minutes. It costs 210 USD a month less
/// than r4-2x-8k and is predicted to do 0.94 times its throughput (0.83 to 1.05: ...).`
fn proposed(answer: &NextToMeasure, p: &Unmeasured) -> String {
    let nodes = when(p.request.nodes > 1, || format!("{} x ", p.request.nodes));
    let leaders = each_once(answer.places.iter().map(|place| place.leader.clone()));
    let (money, whose) = match (leaders.as_slice(), answer.places.first()) {
        ([_], Some(place)) => (difference(p, place), "its throughput"),
        _ => (format!("{} USD a month", usd(p.usd_per_month)), "the throughput of what leads"),
    };
    let measuring = p.measuring.as_ref().map_or_else(String::new, |it| format!(", which takes {}", takes(it.takes)));
    format!(
        "Measure {nodes}{} + {}{measuring}. It costs {money} and is predicted to do {} times {whose} ({}).",
        p.request.instance,
        p.storage,
        to(ratios(p)),
        error(answer, p)
    )
}

/// How far off a prediction may be: as far as those of cells that were measured.
fn error(answer: &NextToMeasure, p: &Unmeasured) -> String {
    let (Some(half), Some(held)) = (p.error, &answer.held_out) else {
        return "how far off that may be is not known".to_owned();
    };
    let (low, high) = ratios(p);
    let ends = to((low * (1.0 - half), high * (1.0 + half)));
    format!("{ends}, by the error of {} held out: {}", several(held.cells, "cell"), held.p90_is())
}

/// The least and the most over the places.
fn ratios(p: &Unmeasured) -> (f64, f64) {
    let all = || p.predicted.iter().map(|predicted| predicted.ratio);
    (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max))
}

/// `0.94`, `0.94 to 1.10`.
fn to((low, high): (f64, f64)) -> String {
    let [low, high] = [low, high].map(|ratio| format!("{ratio:.2}"));
    if low == high { low } else { format!("{low} to {high}") }
}

/// `210 USD a month less than r4-2x-8k`
fn difference(p: &Unmeasured, place: &LeadingPlace) -> String {
    let (less, leader) = (place.usd_per_month - p.usd_per_month, &place.leader);
    if less.abs() < 0.5 {
        format!("as much as {leader}")
    } else if less > 0.0 {
        format!("{} USD a month less than {leader}", usd(less))
    } else {
        format!("{} USD a month more than {leader}", usd(-less))
    }
}

/// What a measurement may change, and that the best of many predictions is likely too high; where the model has no
/// error, that it has none, and why.
fn worth(answer: &NextToMeasure, p: &Unmeasured) -> String {
    let margin = given_percent(answer.margin);
    match p.worth {
        Some(worth) => format!(
            "The chance that this changes the choice, because it turns out to give more for its money by more than \
             {margin}, is {}; on average over all that may come out it saves {} USD a month for the same throughput{}.",
            whole_percent(worth.chance),
            usd(worth.expected_usd_per_month),
            when(answer.predicted > 1, || format!(
                "; both are likely too high, because it was picked by them out of {}",
                several(answer.predicted, "predicted configuration")
            ))
        ),
        None => {
            let why = match p.beyond_evidence.as_slice() {
                [] => "no cell could be held out".to_owned(),
                beyond => format!("outside the measured range: {}", doubts(beyond)),
            };
            format!(
                "If the prediction holds, it saves {} USD a month for the same throughput; with which chance it does, \
                 the model does not know ({why}).",
                usd(p.saves_usd_per_month)
            )
        }
    }
}

/// Before the reason, where the evidence does not say whether anything is worth measuring.
const UNDECIDED: &str = "Not decided what to measure next";
/// Why nothing is proposed where an objective, a given rate or a rate that was found decides, and which run would do.
const OF_OBJECTIVES: &str = "an objective or a rate decides this run, and the model predicts throughput for money, no \
                             response times. Proposals need a run with a closed loop ([load] concurrency), without \
                             [objective], of at least two mixes or instance sizes";

/// Whether an objective, a given rate or a rate that was found decides everywhere.
fn is_by_objective(answer: &NextToMeasure) -> bool {
    let is_one = |why: &NotPredictedBecause| {
        matches!(why, NotPredictedBecause::DecidedBy { by: DecidedBy::Objective | DecidedBy::Capacity })
    };
    !answer.not_predicted.is_empty() && answer.not_predicted.iter().all(|place| is_one(&place.why))
}

fn nothing(answer: &NextToMeasure, why: &NothingBecause) -> String {
    let margin = given_percent(answer.margin);
    let why = match why {
        NothingBecause::NoPlace if is_by_objective(answer) => {
            return format!("{UNDECIDED}: {OF_OBJECTIVES}.");
        }
        NothingBecause::NoPlace => return format!("{UNDECIDED}: the model predicts nothing that this run decides."),
        NothingBecause::ModelRefused => {
            return format!(
                "{UNDECIDED}: the model may not be used on this evidence: {}; at most {} and {} are accepted; {}.",
                answer.held_out.as_ref().map_or_else(String::new, held_out),
                given_percent(HeldOut::MOST_MEDIAN_ERROR),
                given_percent(HeldOut::MOST_P90_ERROR),
                HeldOut::REMEDY
            );
        }
        NothingBecause::NothingBetter => format!(
            "of {} that were predicted none gives more for its money than what leads, by more than {margin}, even if \
             the model is as wrong as it was on what it was tested with",
            several(answer.predicted, "configuration")
        ),
        NothingBecause::NotMeasurable { refused, untried: 0 } => {
            format!("this experiment cannot measure any of the {} that would be", several(*refused, "configuration"))
        }
        NothingBecause::NotMeasurable { refused, untried } => {
            return format!(
                "{UNDECIDED}: this experiment cannot measure the first {} that would be worth it, \
                 and {} more were not tried (--family chooses among them).",
                several(*refused, "configuration"),
                count(*untried)
            );
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
    format!("±{}", margin(half))
}

/// How far predictions were off, and how many of them no further than was stated, which says the less the more was
/// stated.
fn how_right(answer: &Foretold) -> String {
    let off = |cell: &ForetoldCell| Some((cell.off?.abs(), cell.cell.clone()));
    let all: Vec<(f64, String)> = answer.cells.iter().filter_map(off).collect();
    let worst = all.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(median), Some((most, cell))) = (answer.median_off, worst) else {
        return format!("Nothing of {} is predicted from {}.", answer.run, answer.against);
    };
    let of_stated: Vec<bool> = answer.cells.iter().filter_map(ForetoldCell::is_within).collect();
    let within = of_stated.iter().filter(|is_within| **is_within).count();
    let errors = || answer.cells.iter().filter(|cell| cell.off.is_some()).filter_map(|cell| cell.error);
    let [least_error, most_error] = [errors().fold(f64::INFINITY, f64::min), errors().fold(0.0, f64::max)].map(stated);
    let range = if least_error == most_error { most_error } else { format!("{least_error} to {most_error}") };
    let of_stated = match of_stated.len() {
        0 => "; no error was stated".to_owned(),
        all => format!("; {within} of {all} within the error that was stated ({range}, for 9 of 10)"),
    };
    let most = match all.len() {
        1 => format!("{} ({cell})", margin(*most)),
        _ => format!("{} (median) and {} at the most ({cell})", margin(median), margin(*most)),
    };
    format!(
        "{} of {}, predicted from {} alone: off by {most}{of_stated}.",
        several(all.len() as u64, "cell"),
        answer.run,
        answer.against
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
