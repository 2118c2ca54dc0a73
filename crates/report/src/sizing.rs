//! What `iopslab size` says to people.

use ::sizing::{Fleet, FleetComparison, FleetTotals, Proposal, Sizing, Survive};
use comfy_table::{CellAlignment, Table, presets};

use crate::figures::{MISSING, given, number, optional};

/// The proposals with what they rest on.
pub fn sizing(answer: &Sizing) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    line(format!("Target: {}", target(answer)));
    line(format!("Evidence: {}", evidence(answer)));
    line(format!("Demand: {}", demand(answer)));
    line(String::new());
    line(proposals(&answer.proposals).to_string());
    for (index, proposal) in answer.proposals.iter().enumerate() {
        if !proposal.beyond_evidence.is_empty() {
            line(format!(
                "{}. lies beyond the evidence, its error is not known: {}",
                index + 1,
                proposal.beyond_evidence.join("; ")
            ));
        }
    }
    for (index, proposal) in answer.proposals.iter().enumerate() {
        for remark in &proposal.remarks {
            line(format!("{}. {remark}", index + 1));
        }
    }
    if let Some(first) = answer.proposals.first() {
        line(String::new());
        line(format!(
            "1. {}: {} in each zone, {} on each node at the end",
            first.configuration,
            counted(first.nodes_per_zone, "node", "nodes"),
            amount(first.data_bytes_per_node)
        ));
        line(zones(first).to_string());
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
            left.count, left.example, left.why
        ));
    }
    text
}

/// The model is not worth more digits.
fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// TB, or GB of less than a tenth of one.
fn amount(bytes: f64) -> String {
    if bytes < 1e11 {
        format!("{} GB", number(bytes / 1e9))
    } else {
        format!("{} TB", number(bytes / 1e12))
    }
}

fn counted(count: u32, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
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
    let mut table = aligned(
        &[
            "",
            "Nodes",
            "Disks of a node",
            "$/month",
            "Limit",
            "Used, with loss",
            "Carries ops/s",
            "Cache hits",
            "Figure",
        ],
        3,
    );
    for (index, p) in all.iter().enumerate() {
        let figure = match p.uncertainty_percent {
            Some(half) => format!("{} ±{half:.0} %", p.label.word()),
            None => format!("{}, error not known", p.label.word()),
        };
        table.add_row([
            format!("{}.", index + 1),
            format!("{} x {}", p.nodes, p.instance),
            p.storage.clone(),
            number(p.usd_per_month.round()),
            p.limit.words().to_owned(),
            format!("{}, {}", whole_percent(p.used), whole_percent(p.utilisation_when_down)),
            number(p.operations_per_s),
            whole_percent(p.hit_ratio),
            figure,
        ]);
    }
    table
}

const TOTALS: [&str; 8] = [
    "Nodes",
    "vCPUs",
    "RAM GiB",
    "Disk TB",
    "Usable TB",
    "IOPS",
    "MB/s",
    "Network Gbit/s",
];

fn totals(t: &FleetTotals) -> [String; 8] {
    [
        t.nodes.to_string(),
        given(t.vcpus as f64),
        number(t.memory_gib),
        number(t.disk_tb),
        number(t.usable_tb),
        optional(t.iops),
        optional(t.mb_per_s),
        optional(t.network_gbps),
    ]
}

fn zones(proposal: &Proposal) -> Table {
    let mut head = vec![""];
    head.extend(TOTALS);
    let mut table = aligned(&head, 1);
    for (name, part) in [("a zone", &proposal.per_zone), ("all", &proposal.total)] {
        let mut row = vec![name.to_owned()];
        row.extend(totals(part));
        table.add_row(row);
    }
    table
}

/// Two fleets beside each other.
pub fn fleets(comparison: &FleetComparison) -> String {
    let mut head = vec![""];
    head.extend(TOTALS);
    head.extend(["USD/hour", "USD/month"]);
    let mut table = aligned(&head, 1);
    let mut add = |name: &str, fleet: &Fleet| {
        let mut row = vec![format!("{name}: {}", fleet.configurations.join(" + "))];
        row.extend(totals(&fleet.total));
        let money = |usd: Option<f64>| usd.map_or_else(|| MISSING.to_owned(), |usd| format!("{usd:.2}"));
        row.extend([money(fleet.usd_per_hour), money(fleet.usd_per_month)]);
        table.add_row(row);
    };
    add("today", &comparison.current);
    add("proposed", &comparison.proposed);
    let ratio = |name: &str| {
        comparison
            .ratios
            .get(name)
            .map_or_else(|| MISSING.to_owned(), |r| format!("x {r:.2}"))
    };
    let mut row = vec!["proposed / today".to_owned()];
    row.extend(
        [
            "nodes",
            "vcpus",
            "memory_gib",
            "disk_tb",
            "usable_tb",
            "iops",
            "mb_per_s",
            "network_gbps",
            "usd_per_hour",
            "usd_per_month",
        ]
        .map(ratio),
    );
    table.add_row(row);
    let mut text = format!("{table}\n");
    if let Some(today) = &comparison.current_use {
        text.push_str(&format!(
            "At the target the fleet of today would use {} of its {} and fill {} of its disks, by the model.\n",
            whole_percent(today.used),
            today.limit.words(),
            whole_percent(today.disk_fill)
        ));
    }
    let (now, then) = (&comparison.current.price_days, &comparison.proposed.price_days);
    if now != then && !now.is_empty() && !then.is_empty() {
        text.push_str(&format!(
            "note: prices of different days are compared ({} and {}); --price-date sets one day for both\n",
            now.join(", "),
            then.join(", ")
        ));
    }
    for (name, fleet) in [("today", &comparison.current), ("proposed", &comparison.proposed)] {
        for note in &fleet.notes {
            text.push_str(&format!("note: {name}: {note}\n"));
        }
        if let Some(why) = &fleet.price_missing {
            text.push_str(&format!("note: no price of the fleet {name}: {why}\n"));
        }
    }
    text
}
