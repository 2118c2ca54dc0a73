//! The matrix, shown before anything starts.

use std::fmt::Display;

use analysis::{BurstStart, Plan, VolumeSetup};
use comfy_table::{Table, presets};

use crate::figures::{MISSING, bytes, count, duration, given, percent};
use crate::labels;

/// Configurations with their scaled limits, workloads, load levels, cells, trials, time and data; then the notes, one a line.
pub fn plan_table<N: Display>(plan: &Plan, notes: &[N]) -> String {
    let mut text = format!("{}: {} trials\n", plan.experiment, count(plan.trials.len() as u64));
    if let Some(question) = &plan.question {
        text.push_str(&format!("{question}\n"));
    }
    let repetitions = plan.trials.iter().map(|t| t.block).max().unwrap_or(0);
    let mut levels: Vec<String> = Vec::new();
    for cell in &plan.cells {
        let level = labels::load(cell.load);
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    text.push_str(&format!(
        "{} configurations x {} workloads x {} load levels ({}) = {} cells, {repetitions} repetitions each\n",
        plan.setups.len(),
        plan.workloads.len(),
        levels.len(),
        levels.join(", "),
        plan.cells.len(),
    ));
    let workloads: Vec<&str> = plan.workloads.iter().map(|w| w.name.as_str()).collect();
    text.push_str(&format!("Workloads: {}\n", workloads.join(", ")));
    text.push_str(&format!(
        "Data set: {} records x {} fields x {} B = {} payload; scale 1:{}\n",
        count(plan.dataset.records),
        plan.dataset.fields,
        plan.dataset.field_length,
        bytes(plan.dataset.payload_bytes() as f64),
        given(plan.scale),
    ));
    text.push_str(&format!(
        "Each trial: {} warm-up, {}{}\n",
        duration(plan.shape.warmup_s),
        duration(plan.shape.duration_s),
        plan.shape.operations.map_or_else(String::new, |n| format!(
            " or {} operations, whichever ends first",
            count(n)
        )),
    ));
    let time = if plan.simulated.is_some() {
        "Simulated time"
    } else {
        "Estimated time"
    };
    text.push_str(&format!("{time}: {}\n\n", duration(plan.estimated_s)));
    text.push_str(&setups(plan).to_string());
    text.push('\n');
    text.push_str(&money(plan));
    for note in notes {
        text.push_str(&format!("{note}\n"));
    }
    text
}

fn setups(plan: &Plan) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header([
        "Configuration",
        "CPUs",
        "Memory",
        "Heap",
        "Page cache",
        "Data volume (on this machine)",
        "Commit log",
        "$/month",
    ]);
    for setup in &plan.setups {
        table.add_row([
            setup.configuration.clone(),
            given(setup.cpus),
            bytes(setup.memory_limit_bytes as f64),
            bytes(setup.heap_bytes as f64),
            bytes(setup.page_cache_budget_bytes as f64),
            volume(&setup.data),
            setup
                .commitlog
                .as_ref()
                .map_or_else(|| "on the data volume".to_owned(), volume),
            price(plan, &setup.configuration),
        ]);
    }
    table
}

/// What a configuration costs a month at full scale; `-` where a price is missing, which is not 0.
fn price(plan: &Plan, configuration: &str) -> String {
    let money = plan.money.iter().flat_map(|m| &m.configurations);
    money
        .filter(|m| m.configuration == configuration)
        .find_map(|m| m.usd_per_month)
        .map_or_else(|| MISSING.to_owned(), labels::usd)
}

/// How money is counted, what the same matrix would cost on AWS, and what has no price.
fn money(plan: &Plan) -> String {
    let Some(money) = &plan.money else {
        return String::new();
    };
    let mut text = String::new();
    let priced: Vec<_> = money
        .configurations
        .iter()
        .filter_map(|m| Some((m.configuration.as_str(), m.usd_per_month?)))
        .collect();
    if !priced.is_empty() {
        let basis = &money.basis;
        text.push_str(&format!(
            "Money at full scale; basis: {} h/month, {}, {}, prices of {}, uplift {} %.\n",
            given(basis.hours_per_month),
            basis.purchase,
            basis.region,
            basis.price_date.as_deref().unwrap_or("the experiment"),
            given(basis.uplift_percent)
        ));
    }
    if let Some(usd) = plan.usd_of(plan.trials.iter()) {
        text.push_str(&format!(
            "The database hosts of this matrix would cost about {} on AWS for these trials, each configuration by the hour for its own; here nothing.\n",
            labels::usd(usd)
        ));
    }
    for m in &money.configurations {
        if let Some(missing) = &m.missing {
            text.push_str(&format!("no price: {}: {missing}\n", m.configuration));
        }
    }
    text
}

/// The full-scale label, and below it what it is on this machine.
fn volume(volume: &VolumeSetup) -> String {
    let burst = bucket(volume).map_or_else(String::new, |words| format!("\n{words}"));
    format!("{}\n{}{burst}", volume.label, labels::limits(&volume.limits))
}

/// How the bucket starts and what follows; `None` where there is none that matters.
fn bucket(volume: &VolumeSetup) -> Option<String> {
    let (start, bucket) = (volume.burst_start()?, volume.burst?);
    let (baseline, burst) = (given(bucket.baseline_iops), given(bucket.burst_iops));
    let lasts = || {
        format!(
            "{burst} IOPS for at least {}\nat full demand, then {baseline}",
            duration(volume.burst_lasts_s().unwrap_or_default())
        )
    };
    Some(match start {
        BurstStart::Baseline => format!("starts at its baseline: {baseline} IOPS"),
        BurstStart::Full => format!("starts full: {}", lasts()),
        BurstStart::Share(share) => format!("starts {} full: {}", percent(share), lasts()),
    })
}
