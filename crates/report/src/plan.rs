//! The matrix, shown before anything starts.

use std::fmt::Display;

use analysis::{BurstStart, CPU_REFERENCE, DataSetPlace, DataSetStore, Database, Job, Plan, Setups, VolumeSetup};

use crate::figures::{MISSING, bytes, count, duration, given, mib_per_s, percent, several, several_of};
use crate::labels;
use crate::terminal::table::{Column, fitted, folded};
use crate::wrap::wrapped;

/// Configurations with their scaled limits, workloads, load levels, cells, trials, time and data; then the notes, one a
/// paragraph. At most `width` columns wide.
pub fn plan_table<N: Display>(Job { plan, setups }: &Job, notes: &[N], width: usize) -> String {
    let mut text = String::new();
    let mut line = |words: String| text.push_str(&wrapped(&words, width, ""));
    let trials = match &plan.search {
        Some(search) => several_of(search.searches.len() as u64, "rate to find", "rates to find"),
        None => several(plan.trials.len() as u64, "trial"),
    };
    line(format!("{}: {trials}", plan.experiment));
    plan.question.iter().cloned().for_each(&mut line);
    line(matrix(plan));
    let workloads: Vec<&str> = plan.workloads.iter().map(|w| w.name.as_str()).collect();
    line(format!("Workloads: {}", workloads.join(", ")));
    line(format!(
        "Data set: {} records x {} fields x {} B = {} payload; scale 1:{}",
        count(plan.dataset.records),
        plan.dataset.fields,
        plan.dataset.field_length,
        bytes(plan.dataset.payload_bytes() as f64),
        given(plan.scale),
    ));
    plan.data_set_store.iter().map(store).for_each(&mut line);
    line(format!(
        "Each trial: {}{} warm-up, {}{}",
        labels::code_warmup(&plan.shape),
        duration(plan.shape.warmup_s),
        duration(plan.shape.duration_s),
        plan.shape.operations.map_or_else(String::new, |n| format!(
            " or {}, whichever ends first",
            several(n, "operation")
        )),
    ));
    let warming = plan.caches.warming_s.values().copied().max_by(f64::total_cmp);
    if let Some(seconds) = warming.filter(|seconds| *seconds >= 1.0) {
        line(format!(
            "Before a trial with a warm page cache, the workload's keys fill it: about {}",
            duration(seconds.round())
        ));
    }
    if !plan.faults.is_empty() {
        let faults: Vec<String> = plan.faults.iter().map(analysis::NodeFault::label).collect();
        line(format!(
            "In each trial: {}; every acknowledged write is read back at its end",
            faults.join(", ")
        ));
    }
    let time = if plan.simulated.is_some() {
        "Simulated time"
    } else {
        "Estimated time"
    };
    line(format!("{time}: {}", duration(plan.estimated_s)));
    text.push_str(&format!("\n{}\n", machines(plan, setups, width)));
    if let Some(speeds) = labels::cpu_speeds(setups.iter().filter_map(|s| s.stands_for.as_ref())) {
        let words = format!(
            "CPUs are given by the speed of a vCPU, beside {CPU_REFERENCE}: {speeds}; a CPU here stands for the fastest of them"
        );
        text.push_str(&wrapped(&words, width, ""));
    }
    for setup in setups.iter().filter(|setup| !setup.settings.is_empty()) {
        let words = format!(
            "Settings of {}: {}",
            setup.configuration,
            setup.settings.labels().join(", ")
        );
        text.push_str(&wrapped(&words, width, ""));
    }
    for setup in setups.iter() {
        if let Some(backlog) = setup.backlog {
            let words = format!(
                "Backlog of {}: {} beside its data set at rest; compacted as soon as measurement begins",
                setup.configuration,
                backlog.label()
            );
            text.push_str(&wrapped(&words, width, ""));
        }
    }
    let money = money(plan).into_iter();
    for words in money.chain(notes.iter().map(ToString::to_string)) {
        text.push_str(&wrapped(&words, width, ""));
    }
    text
}

/// Where the data set comes from, if hosts do not have it.
fn store(store: &DataSetStore) -> String {
    let absent = if store.keep {
        "else loaded and kept there"
    } else {
        "else loaded, and not kept there"
    };
    let money = match store.place {
        DataSetPlace::S3 { .. } => "; requests, storage and transfer of S3 are not priced here",
        DataSetPlace::Directory { .. } => "",
    };
    format!("Data set from {} where it has it, {absent}{money}", store.place)
}

/// `2 configurations x 1 workload x 2 load levels (...) = 4 cells, 3 repetitions each`.
fn matrix(plan: &Plan) -> String {
    if let Some(search) = &plan.search {
        return format!(
            "{} x {}: for each the highest rate that meets the objective. Short probes look for it; then it is measured, with \
             8 % less and 8 % more, by {} each (and further rates, where these do not suffice)",
            several(plan.configurations.len() as u64, "configuration"),
            several(plan.workloads.len() as u64, "workload"),
            several(search.repetitions.into(), "whole trial"),
        );
    }
    let mut levels: Vec<String> = Vec::new();
    for cell in &plan.cells {
        let level = labels::load(cell.load);
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    let repetitions = plan.trials.iter().map(|t| t.block).max().unwrap_or(0);
    format!(
        "{} x {} x {} ({}) = {}, {} each",
        several(plan.configurations.len() as u64, "configuration"),
        several(plan.workloads.len() as u64, "workload"),
        several(levels.len() as u64, "load level"),
        levels.join(", "),
        several(plan.cells.len() as u64, "cell"),
        several(repetitions.into(), "repetition"),
    )
}

fn machines(plan: &Plan, setups: &Setups, width: usize) -> String {
    let each = |show: &dyn Fn(&analysis::Setup) -> String| setups.iter().map(show).collect::<Vec<String>>();
    let machine = |setup: &analysis::Setup| {
        if let Some(hosts) = &setup.existing {
            let stated = format!(
                "exists: {}\nstated: {} CPUs,\n{} memory",
                hosts.join(",\n"),
                given(setup.cpus),
                bytes(setup.memory_limit_bytes as f64)
            );
            let watched: Vec<&str> = setup.watched.iter().map(|node| node.ssh.as_str()).collect();
            return match watched.as_slice() {
                [] => stated,
                names => format!("{stated}\nwatched: {}", names.join(",\n")),
            };
        }
        format!(
            "{} {}\n{} memory\n{} heap\n{} page cache",
            given(setup.cpus),
            if setup.cpus == 1.0 { "CPU" } else { "CPUs" },
            bytes(setup.memory_limit_bytes as f64),
            bytes(setup.heap_bytes as f64),
            bytes(setup.page_cache_budget_bytes as f64)
        )
    };
    let (database, limits) = match plan.aws {
        Some(_) => ("Database\non its machine", "Volumes, and\ntheir limits"),
        None => (
            "Database\non this machine",
            "Volumes, and their\nlimits on this machine",
        ),
    };
    fitted(width, &["machine"], |name| {
        // What a volume is may take twice the room of a name.
        let fold = |text: &str| folded(text, name.saturating_mul(2).saturating_sub(4)).replace('\n', "\n  ");
        let volumes = |setup: &analysis::Setup| {
            let mut lines = vec![match setup.layout {
                None => format!("data: {}", setup.data.label),
                Some(layout) => format!(
                    "data: {} x {}, {}; each of them:",
                    setup.data_volume_count(),
                    setup.data.label,
                    layout.label()
                ),
            }];
            lines.extend(on_this_machine(&setup.data));
            match &setup.commitlog {
                Some(log) => {
                    lines.push(format!("commit log: {}", log.label));
                    lines.extend(on_this_machine(log));
                }
                None => lines.push("commit log: on the data volume".to_owned()),
            }
            if let Some(path) = &setup.instance_limits {
                let both = setup.volumes().count() == 2;
                let who = if both { "both" } else { "all" };
                lines.push(format!("{who} together, by the instance:"));
                lines.push(format!("  {}", labels::limits(path)));
            }
            lines.iter().map(|line| fold(line)).collect::<Vec<_>>().join("\n")
        };
        vec![
            Column::text("name", "Configuration", each(&|s| folded(&s.configuration, name))),
            Column::text("machine", database, each(&machine)),
            Column::text("volumes", limits, each(&volumes)),
            Column::numbers("usd", "$/month", each(&|s| price(plan, &s.configuration))),
        ]
    })
}

/// What a configuration costs a month at full scale; `-` where a price is missing, which is not 0.
fn price(plan: &Plan, configuration: &str) -> String {
    let money = plan.money.configurations.iter();
    money
        .filter(|m| m.configuration == configuration)
        .find_map(|m| m.usd_per_month)
        .map_or_else(|| MISSING.to_owned(), labels::usd)
}

/// How money is counted, what the same matrix would cost on AWS, and what has no price.
fn money(plan: &Plan) -> Vec<String> {
    let money = &plan.money;
    let mut lines = Vec::new();
    if money.configurations.iter().any(|m| m.usd_per_month.is_some()) {
        let basis = &money.basis;
        let days = labels::price_days(money.configurations.iter().flat_map(|m| &m.lines));
        let priced = money.configurations.iter().filter_map(|m| {
            let placement = plan.configuration(&m.configuration)?.placement;
            Some((placement, &*m.lines))
        });
        lines.push(format!(
            "Money at full scale; basis: {} h/month, {}, {}, prices of {}, uplift {} %{}.",
            given(basis.hours_per_month),
            basis.purchase,
            basis.region,
            days.as_deref().unwrap_or("the experiment"),
            given(basis.uplift_percent),
            labels::not_priced(priced)
        ));
    }
    let is_made = matches!(plan.target.database, Database::Cassandra { .. });
    if let Some(usd) = plan
        .usd_of(plan.trials.iter().chain(&plan.expected_trials()))
        .filter(|_| is_made && plan.aws.is_none())
    {
        lines.push(format!(
            "The database hosts of this matrix would cost about {} on AWS for these trials, each configuration by the \
            hour for its own; here nothing.",
            labels::usd(usd)
        ));
    }
    let unpriced = money.configurations.iter();
    let unpriced = unpriced.filter_map(|m| Some(format!("no price: {}: {}", m.configuration, m.missing.as_ref()?)));
    lines.extend(unpriced);
    lines
}

/// What a volume's limits are here, and how its bucket starts; indented below its name.
fn on_this_machine(volume: &VolumeSetup) -> Vec<String> {
    let limits = std::iter::once(labels::limits(&volume.limits));
    let lines = limits.chain(bucket(volume)).chain(service(volume));
    lines.map(|line| format!("  {line}")).collect()
}

/// What a process that answers for it makes of it.
fn service(volume: &VolumeSetup) -> Option<String> {
    let served = volume.served?;
    let counted = match volume.is_combined() {
        true => "reads and writes together",
        false => "reads and writes apart",
    };
    let takes = match served.latency {
        Some(latency) => format!(
            "a request takes {} us (sigma {})",
            given(latency.median_us),
            given(latency.sigma)
        ),
        None => "a request takes what this machine takes".to_owned(),
    };
    Some(format!("served: {counted}, {takes}"))
}

/// How the bucket starts and what follows; `None` where there is none that matters.
fn bucket(volume: &VolumeSetup) -> Option<String> {
    let start = volume.burst_start()?;
    let (baseline, burst) = match (volume.burst, volume.byte_burst) {
        (Some(bucket), _) => (bucket.baseline_iops, bucket.burst_iops),
        (None, bucket) => bucket.map(|bucket| (bucket.baseline_bytes_per_s, bucket.burst_bytes_per_s))?,
    };
    let figure = |value: f64| match volume.burst {
        Some(_) => format!("{} IOPS", given(value)),
        None => mib_per_s(value),
    };
    let lasts = || {
        format!(
            "{} for at least {} at full demand, then {}",
            figure(burst),
            duration(volume.burst_lasts_s().unwrap_or_default()),
            figure(baseline).trim_end_matches(" IOPS")
        )
    };
    Some(match start {
        BurstStart::Baseline => format!("starts at its baseline: {}", figure(baseline)),
        BurstStart::Full => format!("starts full: {}", lasts()),
        BurstStart::Share(share) => format!("starts {} full: {}", percent(share), lasts()),
    })
}
