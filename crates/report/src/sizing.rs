//! What `iopslab size` says to people.

mod fleets;
mod notes;
mod words;

use ::sizing::{Demand, LeftOut, Proposal, Sizing, Survive};
use serde_json::{Value, json};

use crate::figures::{given, number, several};
use crate::terminal::table::{Column, fitted, folded};
use crate::wrap::wrapped;
use words::{amount, because, counted, doubts, obstacle, short, usd, whole_percent};

pub use fleets::fleets;

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
    let mut text = String::new();
    let mut line = |words: String| text.push_str(&wrapped(&words, width, ""));
    if answer.evidence.is_simulated {
        line("SIMULATED evidence: the answer is one about a stated truth, not about machines.".to_owned());
    }
    if let Some((comparison, decision)) = answer.comparison.as_ref().and_then(|c| Some((c, c.decision.as_ref()?))) {
        line(fleets::decision(decision, comparison));
    }
    headline(answer).into_iter().for_each(&mut line);
    line(String::new());
    line(format!("Target: {}", target(answer)));
    line(format!("Evidence: {}", evidence(answer)));
    line(format!("Demand: {}", demand(answer)));
    text.push_str(&format!("\n{}\n", proposals(&answer.proposals, width)));
    let mut line = |words: String| text.push_str(&wrapped(&words, width, ""));
    line(
        "Busiest: the fullest resource with all nodes up, and with a part down. Error: of what it carries.".to_owned(),
    );
    remarks(&answer.proposals).into_iter().for_each(&mut line);
    if let Some(first) = answer.proposals.first() {
        text.push_str(&format!("\n{}", in_full(first, width)));
    }
    if let Some(comparison) = &answer.comparison {
        text.push_str(&format!("\n{}", fleets(comparison, width)));
    }
    let mut line = |words: String| text.push_str(&wrapped(&words, width, ""));
    line(format!("Basis: {}", answer.basis));
    for note in &answer.notes {
        line(format!("note: {}", notes::note(note)));
    }
    for left in &answer.left_out {
        line(format!("left out: {}", one_left_out(left)));
    }
    text
}

/// Why no machine is proposed: each reason with the machines that it holds for, in one line.
pub fn left_out(all: &[LeftOut]) -> String {
    all.iter().map(one_left_out).collect::<Vec<_>>().join("; ")
}

fn one_left_out(left: &LeftOut) -> String {
    let types = several(left.count, "type");
    let example = match left.count {
        1 => left.example.clone(),
        _ => format!("such as {}", left.example),
    };
    format!("{types}, {example}: {}", obstacle(&left.why))
}

/// The first proposal: what a zone has, and its bill.
fn in_full(first: &Proposal, width: usize) -> String {
    let mut text = wrapped(
        &format!(
            "1. {}: {} in each zone, {} on each node at the end, {} of reads found in the page cache; carries {} \
            operations/s",
            first.configuration,
            counted(first.nodes_per_zone, "node", "nodes"),
            amount(first.data_bytes_per_node),
            whole_percent(first.hit_ratio),
            number(first.operations_per_s)
        ),
        width,
        "",
    );
    text.push_str(&format!("{}\n", fleets::zones(first, width)));
    for cost in &first.cost {
        let line = format!(
            "{}: {} {} x {} USD = {:.2} USD a month",
            cost.what,
            given(cost.quantity),
            cost.unit,
            cost.unit_usd,
            cost.usd_per_month
        );
        text.push_str(&wrapped(&line, width, "   "));
    }
    text
}

/// The cheapest with its doubts, and what proof costs.
fn headline(answer: &Sizing) -> Vec<String> {
    let find = |name: &str| answer.proposals.iter().find(|p| p.configuration == name);
    let Some(cheapest) = find(&answer.choice.cheapest) else {
        return Vec::new();
    };
    let said = |p: &Proposal| format!("{}, {} USD a month", p.configuration, usd(p.usd_per_month));
    if cheapest.beyond_evidence.is_empty() {
        return vec![format!(
            "Cheapest: {}; within the evidence, so it is the best proven too.",
            said(cheapest)
        )];
    }
    let first = format!(
        "Cheapest: {}; beyond the evidence: {}.",
        said(cheapest),
        doubts(&cheapest.beyond_evidence)
    );
    let second = match answer.choice.best_proven.as_deref().and_then(find) {
        Some(proven) => {
            let more = proven.usd_per_month - cheapest.usd_per_month;
            format!(
                "Best proven: {}; the proof costs {} USD a month ({}) more.",
                said(proven),
                usd(more),
                whole_percent(more / cheapest.usd_per_month)
            )
        }
        None => "Best proven: none; every machine of the search lies beyond the evidence.".to_owned(),
    };
    vec![first, second]
}

/// Where each figure comes from, why so many nodes, what is doubted or left out; said once of all rows that it holds
/// for.
fn remarks(proposals: &[Proposal]) -> Vec<String> {
    let mut said: Vec<(String, String)> = Vec::new();
    for (index, p) in proposals.iter().enumerate() {
        let mut of = vec![format!(
            "{}, {} {}",
            p.label.word(),
            counted(p.nodes, "node", "nodes"),
            because(&p.nodes_because)
        )];
        if !p.beyond_evidence.is_empty() {
            of.push(format!("beyond the evidence: {}", doubts(&p.beyond_evidence)));
        }
        of.extend(p.remarks.iter().map(notes::remark));
        for words in of {
            let row = format!("{}.", index + 1);
            match said.iter_mut().find(|(_, known)| *known == words) {
                Some((rows, _)) => *rows = format!("{rows} {row}"),
                None => said.push((row, words)),
            }
        }
    }
    said.into_iter()
        .map(|(rows, words)| format!("{rows} {words}"))
        .collect()
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
    let p99 = t
        .p99_ms
        .map_or_else(String::new, |ms| format!(", p99 <= {} ms", given(ms)));
    let survive = match t.survive {
        Survive::None => "nothing may be down".to_owned(),
        down => format!("quorum and target with {down} down"),
    };
    format!(
        "{} operations/s, {} reads{p99}; {} of payload{growth} in {} over {}; {} % headroom, {survive}, disks at most \
        {} % full",
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
    let held = match (e.held_out.median_error, e.held_out.p90_error) {
        (Some(median), Some(p90)) => format!(
            "{} held out ({}): error {} (median), {} (90th percentile)",
            several(e.held_out.cells, "cell"),
            if e.held_out.whole_configurations {
                "whole configurations"
            } else {
                "cell by cell"
            },
            whole_percent(median),
            whole_percent(p90)
        ),
        _ => "no cell could be held out".to_owned(),
    };
    format!(
        "{}; {} ({} at a limit), {}; {held}",
        e.runs.join(", "),
        several(e.cells, "cell"),
        e.capacity_cells,
        several(e.trials, "trial")
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
    let says = if d.chunk_is_stated {
        "as its settings state"
    } else {
        "Cassandra's default"
    };
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

/// The fullest table that fits.
fn proposals(all: &[Proposal], width: usize) -> String {
    fitted(width, &["error"], |name| {
        let each = |show: &dyn Fn(usize, &Proposal) -> String| {
            let rows = all.iter().enumerate();
            rows.map(|(index, p)| show(index, p)).collect::<Vec<String>>()
        };
        let nodes = |_: usize, p: &Proposal| format!("{} x\n{}", p.nodes, folded(&p.instance, name));
        let disks = |_: usize, p: &Proposal| folded(&p.storage, name.saturating_mul(2));
        let busiest = |_: usize, p: &Proposal| {
            format!(
                "{}\n{}, {}",
                short(p.busiest),
                whole_percent(p.used),
                whole_percent(p.utilisation_when_down)
            )
        };
        vec![
            Column::text("row", "", each(&|index, _| format!("{}.", index + 1))),
            Column::text("nodes", "Nodes", each(&nodes)),
            Column::text("disks", "Disks of a node", each(&disks)),
            Column::numbers("usd", "$/month", each(&|_, p| usd(p.usd_per_month))),
            Column::numbers("busiest", "Busiest", each(&busiest)),
            Column::numbers("error", "Error", each(&|_, p| error(p))),
        ]
    })
}

fn error(proposal: &Proposal) -> String {
    match proposal.uncertainty_percent {
        Some(half) => format!("±{half:.0} %"),
        None if proposal.beyond_evidence.is_empty() => "not known".to_owned(),
        None => "beyond".to_owned(),
    }
}
