//! The matrix, shown before anything starts.

use std::fmt::Display;

use analysis::{
    BurstStart, CPU_REFERENCE, DataSetPlace, DataSetStore, Job, Own, Place, Plan, SetupAt, Setups, VolumeSetup,
    each_once, price_days, workload_facts,
};

use crate::document::section::Section;
use crate::document::table::{Rows, column, rows};
use crate::document::terminal::plain;
use crate::figures::{bytes, count, duration, given, mib_per_s, percent, several, several_of, when};
use crate::{labels, placed};

/// Configurations with their scaled limits, workloads, load levels, cells, trials, time and data; then the notes, one a
/// paragraph. At most `width` columns wide.
pub fn plan_table<N: Display>(Job { plan, setups }: &Job, notes: &[N], width: usize) -> String {
    let speeds = labels::cpu_speeds(setups.iter().filter_map(|s| s.stands_for.as_ref())).map(|speeds| {
        format!(
            "CPUs are given by the speed of a vCPU, beside {CPU_REFERENCE}: {speeds}; a CPU here stands for the \
             fastest of them"
        )
    });
    let with_settings = setups.iter().filter(|setup| !setup.settings.is_empty());
    let settings =
        with_settings.map(|s| format!("Settings of {}: {}", s.configuration, s.settings.labels().join(", ")));
    let usual = plan.target.database.version().unwrap_or_default();
    let are_several = setups.iter().any(|setup| setup.version.is_some());
    let versions = setups
        .iter()
        .filter(|_| are_several)
        .map(|setup| format!("Version of {}: {}", setup.configuration, setup.version.as_deref().unwrap_or(usual)));
    let backlogs = setups.iter().filter_map(|setup| {
        Some(format!(
            "Backlog of {}: {} beside its data set at rest; compacted as soon as measurement begins",
            setup.configuration,
            setup.backlog?.label()
        ))
    });
    let caches = plan.configurations.iter().filter_map(|configuration| {
        let tier = configuration.cache_tier.as_ref()?;
        let machines = plan.place.hosts().into_iter().flat_map(|hosts| hosts.cache.iter().take(tier.nodes as usize));
        let machines: Vec<&str> = machines.map(|machine| machine.ssh.as_str()).collect();
        let on = when(!machines.is_empty(), || format!(", on {}", machines.join(", ")));
        let (name, label) = (&configuration.name, tier.label());
        let time = when(plan.scale() > 1.0, || "; time is not divided by the scale".to_owned());
        Some(format!("Cache tier of {name}: {label}{on}{time}"))
    });
    let page_caches = plan.caches.same_misses_bytes.iter().map(|(configuration, kept)| {
        let each = kept.iter().map(|(workload, size)| format!("{} under {workload}", bytes(*size as f64)));
        format!(
            "Page cache of {configuration}, to miss as often as at full scale: {}",
            each.collect::<Vec<_>>().join(", ")
        )
    });
    let matrix = Section::new("matrix", "").paragraphs(matrix(plan));
    let machines = Section::new("machines", "")
        .table(machines(plan, setups))
        .paragraphs(speeds.into_iter().chain(versions).chain(settings).chain(backlogs).chain(caches).chain(page_caches))
        .paragraphs(money(plan))
        .paragraphs(notes.iter().map(ToString::to_string));
    plain([matrix, machines], width)
}

/// What is measured, and how long that takes.
fn matrix(plan: &Plan) -> Vec<String> {
    let at_most = if plan.adaptive.as_ref().is_some_and(|a| a.rests_cells()) { "at most " } else { "" };
    let trials = match &plan.search {
        Some(search) => several_of(search.searches.len() as u64, "rate to find", "rates to find"),
        None => format!("{at_most}{}", several(plan.trials.len() as u64, "trial")),
    };
    let mut lines = vec![format!("{}: {trials}", plan.experiment)];
    lines.extend(plan.question.clone());
    let workloads = workload_facts(plan).into_iter().map(|w| format!("{}: {}", w.name, w.description));
    lines.push(cells(plan));
    lines.extend(plan.left_out.as_ref().map(|out| format!("Left out (`only` of [load]): {out}")));
    lines.extend([
        format!("Workloads: {}", workloads.collect::<Vec<_>>().join("; ")),
        match &plan.own {
            Some(own) => own_data_set(plan, own),
            None => format!(
                "Data set: {} records x {} fields x {} B = {} payload; {}{}",
                count(plan.dataset.records),
                plan.dataset.fields,
                plan.dataset.field_length,
                bytes(plan.dataset.payload_bytes() as f64),
                labels::at_scale(plan.scale()),
                labels::stands_for(plan.dataset.records, plan.stands_for_records),
            ),
        },
    ]);
    lines.extend(placed::of_plan(plan));
    lines.extend(plan.data_set_store.iter().map(store));
    let operations = plan.shape.operations;
    let operations = operations.map(|n| format!(" or {}, whichever ends first", several(n, "operation")));
    lines.push(format!(
        "Each trial: {}{} warm-up, {}{}",
        labels::code_warmup(&plan.shape),
        duration(plan.shape.warmup_s),
        duration(plan.shape.duration_s),
        operations.unwrap_or_default()
    ));
    let warming = plan.caches.warming_s.values().copied().max_by(f64::total_cmp);
    lines.extend(warming.filter(|seconds| *seconds >= 1.0).map(|seconds| {
        let about = duration(seconds.round());
        format!("Before a trial with a warm page cache, the workload's keys fill it: about {about}")
    }));
    if !plan.faults.is_empty() {
        let faults: Vec<String> = plan.faults.iter().map(analysis::NodeFault::label).collect();
        // Nobody knows what a statement of the user's own leaves behind.
        let then = if plan.own.is_none() { "; every acknowledged write is read back at its end" } else { "" };
        lines.push(format!("In each trial: {}{then}", faults.join(", ")));
    }
    let time = if plan.place.is_simulated() { "Simulated" } else { "Estimated" };
    lines.push(format!("{time} time: {at_most}{}", duration(plan.estimated_s)));
    lines
}

/// Tables of the user's own: what is stated of them, and what follows from it.
fn own_data_set(plan: &Plan, own: &Own) -> String {
    let of_table = |table: &str| {
        let data = own.data.table(table);
        let (partitions, rows) = data.map_or((0, 0.0), |data| (data.partitions, data.expected_rows()));
        // Of a replay at 1:N one of N is there, whichever its key chooses.
        let thinned = own.replay.as_ref().map_or(1, |replay| replay.thinned.max(1));
        let (partitions, rows) = (partitions / thinned, rows / thinned as f64);
        format!("{table}: {} partitions, {} rows", count(partitions), count(rows.round() as u64))
    };
    if let Some(snapshot) = &own.snapshot {
        let tables = snapshot.tables.iter().map(|table| {
            let (sstables, folders) = (u64::from(table.sstables), u64::from(table.folders));
            let (sstables, folders) = (several(sstables, "SSTable"), several(folders, "folder"));
            format!("{}: {sstables} in {folders}, {}", table.name, bytes(table.bytes as f64))
        });
        let tables: Vec<String> = tables.collect();
        return format!(
            "Data set from the snapshot {}: {}; compacted on each node before trials; of the requests of each \
             statement {:.0} % have to find something",
            snapshot.place,
            tables.join("; "),
            snapshot.least_found * 100.0
        );
    }
    let views = own.script.views().map(|(view, table)| format!("{view}: a view of {table}"));
    let tables: Vec<String> = own.tables().iter().map(|table| of_table(table)).chain(views).collect();
    format!(
        "Data set of {}: {}; estimated: {} B of values a row, {} in all, at most {} on disk, all data sets written in \
         {}; {}",
        own.file,
        tables.join("; "),
        plan.dataset.field_length,
        bytes(plan.dataset.payload_bytes() as f64),
        bytes(plan.dataset.most_bytes_on_disk()),
        duration(plan.seconds_of_loading().ceil()),
        labels::at_scale(plan.scale()),
    )
}

/// Where the data set comes from, if hosts do not have it.
fn store(store: &DataSetStore) -> String {
    let absent = if store.keep { "else loaded and kept there" } else { "else loaded, and not kept there" };
    let money = match store.place {
        DataSetPlace::S3 { .. } => "; requests, storage and transfer of S3 are not priced here",
        DataSetPlace::Directory { .. } => "",
    };
    format!("Data set from {} where it has it, {absent}{money}", store.place)
}

/// `2 configurations x 1 workload x 2 load levels (...) = 4 cells, 3 repetitions each`.
fn cells(plan: &Plan) -> String {
    if let Some(search) = &plan.search {
        return format!(
            "{} x {}: for each the highest rate that meets the objective. Short probes look for it; then it is \
             measured, with 8 % less and 8 % more, by {} each (and further rates, where these do not suffice)",
            several(plan.configurations.len() as u64, "configuration"),
            several(plan.workloads.len() as u64, "workload"),
            several(search.repetitions.into(), "whole trial"),
        );
    }
    let levels = each_once(plan.cells.iter().map(|cell| labels::load(cell.load)));
    let most = several(plan.trials.iter().map(|t| t.block).max().unwrap_or(0).into(), "repetition");
    let repetitions = match plan.adaptive.as_ref().filter(|adaptive| adaptive.rests_cells()) {
        Some(adaptive) => format!("{} to {most}", adaptive.blocks_min),
        None => most,
    };
    format!(
        "{} x {} x {} ({}) = {}, {} each",
        several(plan.configurations.len() as u64, "configuration"),
        several(plan.workloads.len() as u64, "workload"),
        several(levels.len() as u64, "load level"),
        levels.join(", "),
        several(plan.cells.len() as u64, "cell"),
        repetitions,
    )
}

fn machines<'a>(plan: &Plan, setups: &'a Setups) -> Rows<&'a analysis::Setup> {
    let main_memory = plan.target.database.product().reports.main_memory.to_lowercase();
    let (database, limits) = match plan.place {
        Place::Bought(_) => ("Database\non its machine", "Volumes and\ntheir limits"),
        Place::Existing(_) => ("Database\nas it stands", "Volumes\nas stated"),
        _ => ("Database\non this machine", "Volumes and their\nlimits on this machine"),
    };
    rows("", setups.iter())
        .text("Configuration", |s| s.configuration.clone())
        .text(column(database).wide().drop(1), |s| machine(plan, s, &main_memory))
        .text(column(limits).wide(), |s| volumes(s))
        .number("$/month", |s| price(plan, &s.configuration))
}

/// What a configuration's database has of its machine.
fn machine(plan: &Plan, setup: &analysis::Setup, main_memory: &str) -> String {
    match &setup.at {
        SetupAt::Shared | SetupAt::Bought { .. } => started(plan, setup, main_memory),
        SetupAt::Existing { contact_points, watched } => {
            let stated = format!(
                "exists: {}\nstated: {}{} CPUs,\n{} memory",
                contact_points.join(",\n"),
                cluster(setup),
                given(setup.cpus),
                bytes(setup.memory_limit_bytes as f64)
            );
            let watched: Vec<&str> = watched.iter().map(|node| node.ssh.as_str()).collect();
            match watched.as_slice() {
                [] => stated,
                names => format!("{stated}\nwatched: {}", names.join(",\n")),
            }
        }
        SetupAt::Imported { .. } => "not known".to_owned(),
    }
}

/// The same of one that the run starts; memory and page cache as trials of each workload have them, from the least to
/// the most.
fn started(plan: &Plan, setup: &analysis::Setup, main_memory: &str) -> String {
    let workloads = plan.workloads.iter();
    let of_trials: Vec<_> = workloads.map(|w| plan.caches.setup(setup, &w.name, &plan.dataset)).collect();
    let size = |of: fn(&analysis::Setup) -> u64| {
        let sizes = of_trials.iter().map(of);
        let least = bytes(sizes.clone().min().unwrap_or_else(|| of(setup)) as f64);
        let most = bytes(sizes.max().unwrap_or_else(|| of(setup)) as f64);
        if least == most { most } else { format!("{least} to {most}") }
    };
    let caches = setup.cache_tier.as_ref().map(|tier| {
        format!(
            "\ncache tier: {} of\n{} CPUs, {} for items",
            several(tier.nodes.into(), "node"),
            given(tier.cpus),
            bytes(tier.memory_bytes as f64)
        )
    });
    format!(
        "{}{} {}\n{} memory\n{} {main_memory}\n{} page cache{}",
        cluster(setup),
        given(setup.cpus),
        if setup.cpus == 1.0 { "CPU" } else { "CPUs" },
        size(|s| s.memory_limit_bytes),
        bytes(setup.heap_bytes as f64),
        size(|s| s.page_cache_budget_bytes),
        caches.unwrap_or_default()
    )
}

/// What a cluster has, before what each of its nodes has; nothing of one node.
fn cluster(setup: &analysis::Setup) -> String {
    let placement = setup.placement;
    let racks = when(placement.racks > 1, || format!(",\n{} racks", placement.racks));
    when(placement.is_cluster(), || {
        format!(
            "{}, {}{racks};\neach node:\n",
            several(placement.nodes.into(), "node"),
            several(placement.replication_factor.into(), "replica")
        )
    })
}

/// A configuration's volumes with what they are held to.
fn volumes(setup: &analysis::Setup) -> String {
    let mut lines = vec![match setup.layout {
        None => format!("data: {}", setup.data.label),
        Some(layout) => {
            format!("data: {} x {}, {}; each of them:", setup.data_volume_count(), setup.data.label, layout.label())
        }
    }];
    lines.extend(on_this_machine(&setup.data));
    match &setup.commitlog {
        Some(log) => {
            lines.push(format!("commit log: {}", log.label));
            lines.extend(on_this_machine(log));
        }
        None => lines.push("commit log: on the data volume".to_owned()),
    }
    let cards: Vec<String> = setup.volumes().filter_map(|volume| volume.card).map(|card| card.to_string()).collect();
    if !cards.is_empty() {
        lines.push(format!(
            "on EBS card{}: {}",
            if cards.len() == 1 { "" } else { "s, in this order" },
            cards.join(", ")
        ));
    }
    if let Some(path) = &setup.instance_limits {
        let both = setup.volumes().count() == 2;
        lines.push(match (cards.is_empty(), both) {
            (false, _) => "those of one card together:".to_owned(),
            (true, true) => "both together, by the instance:".to_owned(),
            (true, false) => "all together, by the instance:".to_owned(),
        });
        lines.push(format!("  {}", labels::limits(path)));
    }
    lines.join("\n")
}

/// What a configuration costs a month at full scale; nothing where a price is missing, which is not 0.
fn price(plan: &Plan, configuration: &str) -> Option<String> {
    let mut money = plan.money.configurations.iter().filter(|m| m.configuration == configuration);
    money.find_map(|m| m.usd_per_month).map(labels::usd)
}

/// How money is counted, what the same matrix would cost if it were bought, and what has no price.
fn money(plan: &Plan) -> Vec<String> {
    let money = &plan.money;
    let mut lines = Vec::new();
    if money.configurations.iter().any(|m| m.usd_per_month.is_some()) {
        let basis = &money.basis;
        let days = price_days(money.configurations.iter().flat_map(|m| &m.lines));
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
    let is_free = !matches!(plan.place, Place::Bought(_) | Place::Existing(_));
    if let Some(usd) = plan.usd_of(plan.trials.iter().chain(&plan.expected_trials())).filter(|_| is_free) {
        lines.push(format!(
            "The database hosts of this matrix would cost about {} for these trials at the prices of who offers them, \
            each configuration by the hour for its own; here nothing.",
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
    let lacks_bytes = volume.limits.read_bytes_per_s.is_none() && volume.limits.read_iops.is_some();
    let unknown = (volume.is_local && lacks_bytes).then(|| "MiB/s not known: not limited".to_owned());
    limits.chain(unknown).chain(bucket(volume)).chain(service(volume)).map(|line| format!("  {line}")).collect()
}

/// What a process that answers for it makes of it.
fn service(volume: &VolumeSetup) -> Option<String> {
    let served = volume.served?;
    let counted = if volume.is_combined() { "reads and writes together" } else { "reads and writes apart" };
    let takes = match served.latency {
        Some(latency) => format!("median latency {} us (sigma {})", given(latency.median_us), given(latency.sigma)),
        None => "the latency of this machine's disk".to_owned(),
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
