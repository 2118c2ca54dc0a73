//! What `iopslab size` says to people.

mod fleets;
mod words;

use ::sizing::{Proposal, Sizing, Survive};
use comfy_table::{CellAlignment, Table, presets};

use crate::figures::{given, number};
use words::{amount, because, counted, doubts, obstacle, short, usd, whole_percent};

pub use fleets::fleets;

/// Prose is broken at this column.
const WIDTH: usize = 100;

/// The proposals with what they rest on; the answer first.
pub fn sizing(answer: &Sizing) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(&wrapped(&words));
        text.push('\n');
    };
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
    line(String::new());
    line(proposals(&answer.proposals).to_string());
    line(
        "Busiest: the fullest resource with all nodes up, and with a part down. Error: of what it carries.".to_owned(),
    );
    remarks(&answer.proposals).into_iter().for_each(&mut line);
    if let Some(first) = answer.proposals.first() {
        line(String::new());
        line(format!(
            "1. {}: {} in each zone, {} on each node at the end, {} of reads found in the page cache; carries {} operations/s",
            first.configuration,
            counted(first.nodes_per_zone, "node", "nodes"),
            amount(first.data_bytes_per_node),
            whole_percent(first.hit_ratio),
            number(first.operations_per_s)
        ));
        line(fleets::zones(first).to_string());
        for cost in &first.cost {
            line(format!(
                "   {}: {} {} x {} USD = {:.2} USD a month",
                cost.what,
                given(cost.quantity),
                cost.unit,
                cost.unit_usd,
                cost.usd_per_month
            ));
        }
    }
    if let Some(comparison) = &answer.comparison {
        line(String::new());
        line(fleets(comparison));
    }
    line(format!("Basis: {}", answer.basis));
    for note in &answer.notes {
        line(format!("note: {note}"));
    }
    for left in &answer.left_out {
        line(format!(
            "left out: {} types, such as {}: {}",
            left.count,
            left.example,
            obstacle(&left.why)
        ));
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

/// Where each figure comes from, why so many nodes, what is doubted or left out; said once of all rows that it holds for.
fn remarks(proposals: &[Proposal]) -> Vec<String> {
    let mut said: Vec<(String, String)> = Vec::new();
    for (index, p) in proposals.iter().enumerate() {
        let mut of = vec![format!(
            "{}, {} nodes {}",
            p.label.word(),
            p.nodes,
            because(&p.nodes_because)
        )];
        if !p.beyond_evidence.is_empty() {
            of.push(format!("beyond the evidence: {}", doubts(&p.beyond_evidence)));
        }
        of.extend(p.remarks.iter().cloned());
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

/// Prose broken at [`WIDTH`]; a table, which has lines of its own, as it is.
fn wrapped(words: &str) -> String {
    if words.contains('\n') || words.chars().count() <= WIDTH {
        return words.to_owned();
    }
    let (mut text, mut column) = (String::new(), 0);
    for word in words.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            text.push_str("\n   ");
            column = 3;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text
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
        "{} operations/s, {} reads{p99}; {} of payload{growth} in {} over {}; {} % headroom, {survive}, disks at most {} % full",
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
            "{} cells held out ({}): error {} (median), {} (90th percentile)",
            e.held_out.cells,
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
        "{}; {} cells ({} at a limit), {} trials; {held}",
        e.runs.join(", "),
        e.cells,
        e.capacity_cells,
        e.trials
    )
}

fn demand(answer: &Sizing) -> String {
    let d = &answer.evidence.demand;
    format!(
        "a read {} us of CPU and {} device reads of {} KiB if it misses the page cache; a write {} us, {} KiB to the data and {} KiB to the \
         commit log; {} B on disk for each byte; replicas do {} reads",
        number(d.read_cpu_us),
        number(d.reads_per_miss),
        number(d.read_request_bytes / 1024.0),
        number(d.write_cpu_us),
        number(d.bytes_per_write / 1024.0),
        number(d.log_bytes_per_write / 1024.0),
        number(answer.evidence.on_disk),
        whole_percent(answer.evidence.replica_read_share),
    )
}

fn aligned(head: &[&str], left: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(head);
    for (index, column) in table.column_iter_mut().enumerate() {
        if index >= left {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn proposals(all: &[Proposal]) -> Table {
    let mut table = aligned(&["", "Nodes", "Disks of a node", "$/month", "Busiest", "Error"], 3);
    for (index, p) in all.iter().enumerate() {
        let error = match p.uncertainty_percent {
            Some(half) => format!("±{half:.0} %"),
            None if p.beyond_evidence.is_empty() => "not known".to_owned(),
            None => "beyond".to_owned(),
        };
        table.add_row([
            format!("{}.", index + 1),
            format!("{} x {}", p.nodes, p.instance),
            p.storage.clone(),
            usd(p.usd_per_month),
            format!(
                "{} {}, {}",
                short(p.busiest),
                whole_percent(p.used),
                whole_percent(p.utilisation_when_down)
            ),
            error,
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn prose_is_broken_and_tables_are_not() {
        let long = "word ".repeat(60);
        assert!(
            wrapped(long.trim())
                .lines()
                .all(|line| line.chars().count() <= super::WIDTH)
        );
        assert_eq!(wrapped(long.trim()).split_whitespace().count(), 60);
        let table = format!("{}\n{}", "-".repeat(200), "-".repeat(200));
        assert_eq!(wrapped(&table), table);
    }
}
