//! What `iopslab size` says to people.

mod fleets;
mod next;
mod notes;
mod words;

pub use next::{foretold, foretold_document, next, next_document};

use ::sizing::{
    Demand, FleetComparison, LeftOut, NodesBecause, NotCandidates, Note, Obstacle, Proposal, Remark, Sizing, Survive,
};
use analysis::grouped;
use serde_json::{Value, json};

use crate::document::section::Section;
use crate::document::table::{Rows, column, rows};
use crate::document::terminal::plain;
use crate::figures::{given, number, several, when, whole_percent};
use words::{
    SIMULATED, amount, because, counted, held_out, in_doubt, not_candidates, one_left_out, short, usd, would_decide,
};

/// The document as it is printed by `--format json`: the answer, with the sentences that people read beside the values
/// they are made from.
pub fn sizing_document(answer: &Sizing) -> Value {
    let mut document = json!(answer);
    let notes: Vec<String> = answer.notes.iter().map(notes::note).collect();
    document["notes_typed"] = std::mem::replace(&mut document["notes"], json!(notes));
    for (index, proposal) in answer.proposals.iter().enumerate() {
        let remarks: Vec<String> = proposal.remarks.iter().map(notes::remark).collect();
        let shown = &mut document["proposals"][index];
        shown["remarks_typed"] = std::mem::replace(&mut shown["remarks"], json!(remarks));
    }
    document
}

/// The proposals with what they rest on, at most `width` columns wide; the answer first.
pub fn sizing(answer: &Sizing, width: usize) -> String {
    let simulated = answer.evidence.is_simulated.then(|| SIMULATED.to_owned());
    let fleets = answer.comparison.as_ref();
    let decision = fleets.and_then(|c| Some(fleets::decision(c.decision.as_ref()?, c)));
    let asked = [
        format!("Target: {}", target(answer)),
        format!("Evidence: {}", evidence(answer)),
        format!("Demand: {}", demand(answer)),
    ];
    let busiest = "Busiest: the fullest resource with all nodes up, and with a part down. Error: of what it carries.";
    let notes = answer.notes.iter().map(|note| format!("note: {}", notes::note(note)));
    let measured = answer.not_candidates.iter().map(not_candidates);
    let left_out = measured.chain(answer.left_out.iter().map(one_left_out)).map(|left| format!("left out: {left}"));
    let said = simulated.into_iter().chain(decision).chain(headline(answer)).chain(with_or_without_cache(answer));
    let all = answer.proposals.iter().enumerate();
    let (sure, others): (Vec<_>, Vec<_>) = all.partition(|(_, p)| p.doubts.is_empty());
    let mut ranked = Section::new("proposals", "").table(proposals(sure));
    if !others.is_empty() {
        ranked = ranked.paragraph("In doubt, to be measured first:").table(proposals(others));
    }
    let mut sections = vec![
        Section::new("answer", "").paragraphs(said),
        Section::new("asked", "").paragraphs(asked),
        ranked.paragraph(busiest).paragraphs(remarks(&answer.proposals)),
    ];
    sections.extend(answer.proposals.first().map(in_full));
    sections.extend(fleets.map(fleets::section));
    let basis = Section::new("basis", "").paragraph(format!("Basis: {}", answer.basis));
    sections.push(basis.paragraphs(notes.chain(left_out)));
    plain(sections, width)
}

/// Two fleets beside each other, at most `width` columns wide.
pub fn fleets(comparison: &FleetComparison, width: usize) -> String {
    plain([fleets::section(comparison)], width)
}

/// Why no machine is proposed: each reason with the machines that it holds for, in one line.
pub fn left_out(all: &[LeftOut], measured: &[NotCandidates]) -> String {
    let all = measured.iter().map(not_candidates).chain(all.iter().map(one_left_out));
    all.collect::<Vec<_>>().join("; ")
}

/// The first proposal: what a zone has, and its bill.
fn in_full(first: &Proposal) -> Section<'_> {
    let whole = format!(
        "1. {}: {} in each zone, {} on each node at the end, {} of reads found in the page cache; \
         carries {} operations/s",
        first.title(),
        counted(first.nodes_per_zone, "node", "nodes"),
        amount(first.data_bytes_per_node),
        whole_percent(first.hit_ratio),
        number(first.operations_per_s)
    );
    let bill = first.cost.iter().map(|cost| {
        format!(
            "{}: {} {} x {} USD = {:.2} USD a month",
            cost.what,
            given(cost.quantity),
            cost.unit,
            cost.unit_usd,
            cost.usd_per_month
        )
    });
    let section = Section::new("first", "")
        .paragraph(whole)
        .paragraphs(first.cache.as_ref().map(|tier| words::cache("The cache", tier)));
    section.table(fleets::zones(first)).list(bill)
}

/// Machines and money with a cache and without one, where one was asked for.
fn with_or_without_cache(answer: &Sizing) -> Option<String> {
    let find = |name: Option<&String>| name.and_then(|name| answer.proposals.iter().find(|p| p.title() == *name));
    let with = find(answer.choice.cheapest_with_cache.as_ref())?;
    let if_it_holds = |proposal: &Proposal| if proposal.doubts.is_empty() { "" } else { ", if it holds" };
    let machines = format!(
        "With a cache: {} database + {} cache machines ({}), {} USD a month{}.",
        given(with.nodes.into()),
        given(with.cache.as_ref()?.nodes.into()),
        with.title(),
        usd(with.usd_per_month),
        if_it_holds(with)
    );
    Some(match find(answer.choice.cheapest_without_cache.as_ref()) {
        Some(without) => format!(
            "{machines} Without: {} ({}), {} USD a month{}; the cache makes it {} times the money.",
            counted(without.nodes, "database machine", "database machines"),
            without.title(),
            usd(without.usd_per_month),
            if_it_holds(without),
            number(with.usd_per_month / without.usd_per_month)
        ),
        None => format!("{machines} Without: no machine of the search meets the target."),
    })
}

/// The best one, by more than its error; what would be cheaper if it holds, and the run that would tell.
fn headline(answer: &Sizing) -> Vec<String> {
    let find = |name: &str| answer.proposals.iter().find(|p| p.title() == name);
    let Some(cheapest) = find(&answer.choice.cheapest) else { return Vec::new() };
    let said = |p: &Proposal| format!("{}, {} USD a month", p.title(), usd(p.usd_per_month));
    let best = |p: &Proposal| {
        let error = p.uncertainty_percent.map_or_else(String::new, |half| format!(" ({})", words::plus_minus(half)));
        (
            format!("Best {}: {}", words::standing(p), said(p)),
            format!(
                ". It meets the target by more than its error{error}.{}{}",
                words::p99_checked(p, &answer.target),
                extrapolated(p)
            ),
        )
    };
    let (first, less) = match answer.choice.best.as_deref().and_then(find) {
        Some(one) if one.title() == cheapest.title() => {
            // A search may be of one machine, and what has no price here may be cheap.
            let besides = when(is_anything_unknown(answer), || {
                "; what could not be judged is left out, as stands below".to_owned()
            });
            let (first, why) = best(one);
            let fewer = fewer(one);
            return vec![format!("{first}; by the estimates nothing of the search is cheaper{fewer}{besides}{why}")];
        }
        Some(one) => {
            let less = one.usd_per_month - cheapest.usd_per_month;
            let share = whole_percent(less / one.usd_per_month);
            let (first, why) = best(one);
            (first + &why, format!(", {} USD ({share}) less", usd(less)))
        }
        None => {
            let none = "Best proven: none; something is in doubt of every cluster of the search that would do.";
            (none.to_owned(), String::new())
        }
    };
    let word = if less.is_empty() { "Cheapest" } else { "Cheaper" };
    let second = format!(
        "{word} if it holds: {}{less}; {}. Measure it: {}; then give size that run, too.",
        said(cheapest),
        in_doubt(&cheapest.doubts),
        would_decide(cheapest, &answer.target)
    );
    vec![first, second]
}

/// That a smaller cluster may do of which the estimate says that it does not, by less than its error; else that those
/// count which are in doubt.
fn fewer(best: &Proposal) -> String {
    match best.nodes_because {
        NodesBecause::Full { fewer, within_error_percent: Some(_), .. } => {
            let lies = if fewer == 1 { "it lies" } else { "they lie" };
            format!(", but {} may do, as {lies} within the error", counted(fewer, "node", "nodes"))
        }
        _ => ", in doubt or not".to_owned(),
    }
}

/// Whether something is left out that might be cheaper, for all that is known.
fn is_anything_unknown(answer: &Sizing) -> bool {
    let unknown =
        |why: &Obstacle| matches!(why, Obstacle::PriceUnknown | Obstacle::DisksUnknown | Obstacle::NotMeasured);
    let of_evidence = |why: &Obstacle| matches!(why, Obstacle::NothingLearned | Obstacle::Rule(_)) || unknown(why);
    let not_learned = |note: &Note| match note {
        Note::Settings { left_out, .. } => !left_out.is_empty(),
        other => matches!(other, Note::SeveralDataVolumes { .. } | Note::CacheTier { .. }),
    };
    answer.left_out.iter().any(|left| unknown(&left.why))
        || answer.not_candidates.iter().any(|left| of_evidence(&left.why))
        || answer.notes.iter().any(not_learned)
}

/// What lies beyond the measured range, and no further than is allowed; after a sentence.
fn extrapolated(proposal: &Proposal) -> String {
    let of = proposal.remarks.iter().filter(|remark| matches!(remark, Remark::Extrapolated { .. }));
    let of: Vec<String> = of.map(notes::remark).collect();
    when(!of.is_empty(), || format!(" It is {}.", of.join("; ")))
}

/// Where each figure comes from, why so many nodes, what is doubted or left out; said once of all rows that it holds
/// for.
fn remarks(proposals: &[Proposal]) -> Vec<String> {
    let of_one = |(index, p): (usize, &Proposal)| {
        let mut of =
            vec![format!("{}, {} {}", p.label.word(), counted(p.nodes, "node", "nodes"), because(&p.nodes_because))];
        if !p.measured_as.is_empty() {
            of.push(format!("the machine and disks of {} in the evidence", p.measured_as.join(", ")));
        }
        if !p.doubts.is_empty() {
            of.push(in_doubt(&p.doubts));
        }
        of.extend(p.remarks.iter().map(notes::remark));
        of.into_iter().map(move |words| (words, format!("{}.", index + 1)))
    };
    let said = grouped(proposals.iter().enumerate().flat_map(of_one)).into_iter();
    said.map(|(words, rows)| format!("{} {words}", rows.join(" "))).collect()
}

fn target(answer: &Sizing) -> String {
    let t = &answer.target;
    let growth = if t.growth_percent_per_year > 0.0 {
        format!(
            " ({} after {} years of {} % growth)",
            amount(t.data_at_the_end()),
            given(t.years),
            given(t.growth_percent_per_year)
        )
    } else {
        String::new()
    };
    let p99 = t.p99_ms.map_or_else(String::new, |ms| format!(", p99 <= {} ms", given(ms)));
    let survive = match t.survive {
        Survive::None => "nothing may be down".to_owned(),
        down => format!("quorum and target with {down} down"),
    };
    let level = t.consistency.name().to_uppercase();
    format!(
        "{} operations/s, {} reads at {level} (the run's level, unless --consistency states another){p99}; {} of \
         payload{growth} in {} over {}; {} % headroom, {survive}, disks at most {} % full",
        given(t.operations_per_s),
        whole_percent(t.read_share),
        amount(t.data_bytes),
        counted(t.replication_factor, "copy", "copies"),
        counted(t.zones, "zone", "zones"),
        given(t.headroom_percent),
        given(t.disk_fill_percent),
    )
}

fn evidence(answer: &Sizing) -> String {
    let e = &answer.evidence;
    format!(
        "{}; {} ({} at a limit), {}; {}",
        e.runs.join(", "),
        several(e.cells, "cell"),
        e.capacity_cells,
        several(e.trials, "trial"),
        held_out(&e.held_out)
    )
}

fn demand(answer: &Sizing) -> String {
    let d = &answer.evidence.demand;
    format!(
        "a read {} us of CPU and {} device reads of {} KiB {}; {}; a write {} us, {} KiB to the \
        data and {} KiB to the commit log; {} B on disk for each byte; replicas do {} reads",
        number(d.read_cpu_us),
        number(d.reads_per_miss),
        number(d.read_request_bytes / 1024.0),
        match d.sstables.is_empty() {
            true => "if it misses the page cache",
            false => "for each SSTable whose chunk misses the page cache",
        },
        files(d),
        number(d.write_cpu_us),
        number(d.bytes_per_write / 1024.0),
        number(d.log_bytes_per_write / 1024.0),
        number(answer.evidence.on_disk),
        whole_percent(answer.evidence.replica_read_share),
    )
}

/// Chunks and SSTables, with who says so.
fn files(d: &Demand) -> String {
    let says = if d.chunk_is_stated { "as its settings state" } else { "Cassandra's default" };
    let sstables = match (d.sstables.first(), d.sstables.last()) {
        (Some(one), Some(other)) if one == other => {
            format!("{} SSTables a read, as the database counted", number(one.per_read))
        }
        (Some(low), Some(high)) => format!(
            "{} SSTables a read at {} reads to {} at {}, as the database counted",
            number(low.per_read),
            whole_percent(low.read_share),
            number(high.per_read),
            whole_percent(high.read_share)
        ),
        _ => "SSTables of a read not counted apart".to_owned(),
    };
    format!("chunks of {} KiB, {says}; {sstables}", given(d.chunk_bytes / 1024.0))
}

fn proposals(all: Vec<(usize, &Proposal)>) -> Rows<(usize, &Proposal)> {
    rows("", all)
        .text("", |(index, _)| format!("{}.", index + 1))
        .text("Nodes", |(_, p)| {
            let cache = p.cache.iter().map(|cache| format!("\n+ {} x cache\n{}", cache.nodes, cache.instance));
            format!("{} x\n{}{}", p.nodes, p.instance, cache.collect::<String>())
        })
        .text(column("Disks of a node").wide(), |(_, p)| p.storage.clone())
        .number("$/month", |(_, p)| usd(p.usd_per_month))
        .number("Busiest", |(_, p)| {
            let (up, down) = (whole_percent(p.used), whole_percent(p.utilisation_when_down));
            format!("{}\n{up}, {down}", short(p.busiest))
        })
        .number(column("Error").drop(1), |(_, p)| error(p))
}

fn error(proposal: &Proposal) -> String {
    proposal.uncertainty_percent.map_or_else(|| "not known".to_owned(), words::plus_minus)
}
