//! What the money buys: cost against performance with its frontier where the page has not drawn it on its first screen,
//! then every step up from the cheapest.

use analysis::{Analysis, BoundIs, LoadLevel, Meets, Status, ValueOfMoney, ValueVerdict};

use crate::answer::step_reason;
use crate::capacity::any;
use crate::charts::frontier::others;
use crate::document::section::Section;
use crate::document::table::{Cell, Form, Rows, column, range, rows};
use crate::document::text::{Text, Tone, tag};
use crate::figures::number;
use crate::labels;

/// Empty where the question is what each carries.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("money", "What the money buys").mostly(Form::ROOMY);
    let steps = &analysis.value_of_money;
    if any(analysis) {
        return section;
    }
    let section = section.drawn(move || others(analysis));
    if steps.is_empty() {
        return missing(analysis, section);
    }
    let open = steps.iter().filter(|s| s.withheld.is_some() || s.verdict == ValueVerdict::NotDecided);
    let basis = format!(
        "Basis: {}; at full scale. {} Throughput ratios pair trials of the same block; low and high are the ends of \
         their intervals.",
        labels::basis(analysis),
        labels::VALUE_WORDS
    );
    section
        .table(whole(analysis))
        .table(short(steps))
        .on(Form::TERMINAL)
        .list(open.map(|step| format!("{}.", step_reason(analysis, step))))
        .key(basis)
}

/// Why there is no step.
fn missing<'a>(analysis: &'a Analysis, section: Section<'a>) -> Section<'a> {
    // What misses a demand has steps all the same.
    let bounded = analysis.recommendation.places.iter().filter(|place| place.load.is_some());
    let missing = |c: &analysis::ConfigurationFacts| Some(format!("{}: {}", c.name, c.cost_missing.as_ref()?));
    let missing: Vec<String> = analysis.configurations.iter().filter_map(missing).collect();
    let words = if !missing.is_empty() {
        "Not computed, because prices are missing; a missing price never counts as zero."
    } else if analysis.cells.iter().all(|c| matches!(c.load, LoadLevel::Rate { .. })) {
        "Steps of money are judged by throughput, and at a given rate every configuration that holds it has the same: \
         what is good enough says the objective."
    } else if analysis.cells.iter().any(analysis::CellAnalysis::has_lost_writes) {
        "Nothing to compare: fewer than two configurations have a price and a figure and kept \
         their acknowledged writes."
    } else if bounded.flat_map(|p| &p.candidates).any(|c| c.meets == Meets::No) {
        "Nothing to compare: fewer than two configurations have a price and a figure and are not shown to miss a \
         bound of the objective."
    } else {
        "Nothing to compare: fewer than two configurations have a price and a figure."
    };
    section.paragraph(words).list(missing)
}

fn whole(analysis: &Analysis) -> Rows<&ValueOfMoney> {
    let label = "Step by step: what each more expensive configuration gives for its price, factors in throughput \
                 (op/s) and in throughput / cost (op/$) with their intervals";
    rows(label, &analysis.value_of_money)
        .class("money")
        .text(column("Workload").varies(), |s| s.workload.clone())
        .text(column("Load").varies(), |s| labels::load(s.load))
        .text("From", |s| s.from.clone())
        .text("To", |s| s.to.clone())
        .text("Verdict", |s| verdict(analysis, s))
        .number("$/month more", |s| labels::dollars(s.extra_usd_per_month))
        .number("Cost, x", |s| s.cost_ratio)
        .range("Op/s, x", |s| {
            let ratio = &s.throughput_ratio;
            range(ratio.median, ratio.low, ratio.high)
        })
        .range("Op/$, x", |s| range(s.value_ratio.median, s.value_ratio.low, s.value_ratio.high))
        .number("p99, x", |s| s.p99_ratio)
        .number("$/month per op/s", |s| s.usd_per_extra_op_per_s.map(labels::dollars))
}

/// For a terminal: both ends of a step below each other, and of a factor what carries over.
fn short(steps: &[ValueOfMoney]) -> Rows<&ValueOfMoney> {
    let factor = |step: &ValueOfMoney, of: analysis::Range| {
        labels::carried(&step.throughput_ratio, of.low, of.high).unwrap_or_else(|| labels::range(of))
    };
    rows("", steps)
        .text("Step", |s| format!("{}\n-> {}", s.from, s.to))
        .text(column("Workload").varies(), |s| s.workload.clone())
        .text(column("Load").varies(), |s| labels::load(s.load))
        .number("Cost", |s| format!("{}x\n+{}", number(s.cost_ratio), labels::usd(s.extra_usd_per_month)))
        .number("Throughput", |s| {
            let analysis::Ratio { median, low, high, .. } = s.throughput_ratio;
            factor(s, analysis::Range { median, low, high })
        })
        .number(column("Throughput / cost").drop(1), |s| factor(s, s.value_ratio))
        .text("Verdict", |s| labels::value_verdict(s).replace(" (", "\n("))
}

fn verdict(analysis: &Analysis, step: &ValueOfMoney) -> Cell {
    let class = match (step.withheld, step.verdict) {
        // Green says "take this".
        (None, ValueVerdict::WorthIt) if analysis.recommendation.status != Status::NoAnswerYet => "best",
        (None, ValueVerdict::NotWorthIt | ValueVerdict::Dominated) => "far",
        _ => "near",
    };
    let words = if step.withheld.is_some() { "withheld" } else { labels::verdict_words(step) };
    let knee = step.knee.then_some("knee");
    let bound = labels::bound(&step.throughput_ratio).filter(|_| step.withheld.is_none());
    let bound = bound.map(|bound| match bound {
        BoundIs::AtLeast => "at least",
        BoundIs::AtMost => "at most",
        BoundIs::Nothing => "not carried over",
    });
    let tags = knee.into_iter().chain(bound);
    let words = tags.fold(Text::from(words), |words, word| words.then(" ").then(tag(word, Tone::More)));
    Cell::styled(words, format!("heat {class}"), "")
}
