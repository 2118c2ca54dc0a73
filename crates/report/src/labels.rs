//! Short texts that several sections and sentences use.

use std::collections::BTreeSet;

use analysis::{
    Analysis, Arrivals, BoundIs, CellAnalysis, ConfigurationFacts, CostKind, CostLine, CpuShare, Estimate, IoLimits,
    LatencyAnalysis, LatencyFigure, Limit, LimitKind, LoadLevel, Metric, OperationKind, Placement, Provider, Range,
    Ratio, TrialShape, ValueOfMoney, ValueVerdict, Verdict, VolumeReport, each_once, price_days, rules,
};

use crate::figures::{MISSING, count, duration, given, listed, mib_per_s, ms, number, percent, when};

/// A load level: `100 in flight`, `5,000/s Poisson`.
pub fn load(level: LoadLevel) -> String {
    match level {
        LoadLevel::Concurrency(_) => format!("{} in flight", short_load(level)),
        LoadLevel::Rate { .. } => short_load(level),
    }
}

/// A load level below a head that says what it is: `100` (requests in flight), `5,000/s Poisson`, `200/s as recorded`.
fn short_load(level: LoadLevel) -> String {
    match level {
        LoadLevel::Concurrency(n) => count(u64::from(n)),
        LoadLevel::Rate { operations_per_s, arrivals: Arrivals::Poisson } => {
            format!("{}/s Poisson", number(operations_per_s))
        }
        LoadLevel::Rate { operations_per_s, arrivals: Arrivals::Constant } => {
            format!("{}/s", number(operations_per_s))
        }
        LoadLevel::Rate { operations_per_s, arrivals: Arrivals::Recorded } => {
            format!("{}/s as recorded", number(operations_per_s))
        }
    }
}

/// Workload and load of the cells, each once, in the order of the experiment.
pub fn places(analysis: &Analysis) -> Vec<(&str, LoadLevel)> {
    each_once(analysis.cells.iter().map(|cell| (cell.workload.as_str(), cell.load)))
}

/// A model's scale: `1:16`.
pub fn scale(scale: f64) -> String {
    format!("1:{}", given(scale))
}

/// How large what is measured is beside what it stands for: `a 1:16 model`, or `full scale`.
pub fn at_scale(of: f64) -> String {
    if of == 1.0 { "full scale".to_owned() } else { format!("a {} model", scale(of)) }
}

/// What so many records stand for, where that is stated: `, data 1:464, standing for 232,000,000 records`.
pub fn stands_for(records: u64, all: Option<u64>) -> String {
    all.map_or_else(String::new, |all| {
        format!(", data {}, standing for {} records", scale(all as f64 / records as f64), count(all))
    })
}

/// Where a figure was measured that is not one of full scale: ` in the 1:16 model`; empty at 1:1.
pub fn in_model(of: f64) -> String {
    when(of != 1.0, || format!(" in the {} model", scale(of)))
}

/// When a run began, from the end of its name (`quickstart-20260102T030405Z`; a second one of that second has `-2`
/// behind it): `2026-01-02 03:04 UTC`.
pub fn begun(run: &str) -> Option<String> {
    let stamp = run.rsplit('-').take(2).find_map(|part| part.strip_suffix('Z'))?;
    let (day, time) = stamp.split_once('T')?;
    let is_number = |text: &str, length: usize| text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(day, 8) && is_number(time, 6)).then(|| {
        let (year, month, day) = (&day[..4], &day[4..6], &day[6..]);
        format!("{year}-{month}-{day} {}:{} UTC", &time[..2], &time[2..4])
    })
}

/// A limit: `volume IOPS`; in a cluster `volume IOPS of database-2`, `CPU of all 3 nodes`.
pub fn limit(limit: &Limit) -> String {
    match limit.nodes.is_empty() {
        true => limit.kind.words().to_owned(),
        false => format!("{} of {}", limit.kind.words(), nodes_at(limit)),
    }
}

/// The same in this run: `client, simulated` where the client is a part of a simulation.
pub fn limit_here(analysis: &Analysis, limit: &Limit) -> String {
    let is_simulated = limit.kind == LimitKind::Client && analysis.provider == Provider::Simulated;
    format!("{}{}", self::limit(limit), if is_simulated { ", simulated" } else { "" })
}

/// The nodes at a limit: `database-2`, `database and database-3`, `all 3 nodes`, `5 of 12 nodes`.
pub fn nodes_at(limit: &Limit) -> String {
    let (at, all) = (limit.nodes.len(), limit.of_nodes as usize);
    match at {
        _ if at == all => format!("all {all} nodes"),
        0..=NODES_NAMED => listed(&limit.nodes),
        _ => format!("{at} of {all} nodes"),
    }
}

/// What a factor is of: `the throughput of gp3`.
pub fn throughput_of(whose: &str) -> String {
    format!("the throughput of {whose}")
}

/// More nodes than this are counted rather than named.
const NODES_NAMED: usize = 3;

/// The nodes of a configuration: `1`; of a cluster `3 nodes, 3 racks, 3 replicas, consistency quorum`.
pub fn nodes(configuration: &ConfigurationFacts) -> String {
    let levels = configuration.consistency.map(|levels| format!("consistency {}", levels.label()));
    let placement = match configuration.placement.is_cluster() {
        true => configuration.placement.label(),
        false => configuration.nodes.to_string(),
    };
    std::iter::once(placement).chain(levels).collect::<Vec<_>>().join(", ")
}

/// A kind of operation: `read-modify-write`.
pub fn operation(kind: OperationKind) -> String {
    kind.label()
}

/// The kinds of operations that an analysis speaks of: those of YCSB, or the statements of the user's own.
pub fn kinds(analysis: &Analysis) -> Vec<OperationKind> {
    let is_own = |kind: &OperationKind| matches!(kind, OperationKind::Statement(_));
    let own = analysis.cells.iter().flat_map(|cell| cell.latency_us.keys().copied()).filter(is_own);
    let own: BTreeSet<OperationKind> = own.collect();
    if own.is_empty() { OperationKind::YCSB.to_vec() } else { own.into_iter().collect() }
}

/// A figure of response times, perhaps of one kind of operation: `p99.9`, `read p99`.
pub fn latency(operation: Option<OperationKind>, figure: LatencyFigure) -> String {
    match operation {
        Some(kind) => format!("{} {}", self::operation(kind), figure.label()),
        None => figure.label().to_owned(),
    }
}

/// A figure of response times in milliseconds; `~` before a percentile with fewer than 100 samples beyond it.
pub fn latency_ms(latency: &LatencyAnalysis, figure: LatencyFigure) -> String {
    let Some(us) = latency.figure(figure) else { return MISSING.to_owned() };
    let tail = figure.tail().filter(|_| rules::PERCENTILES.contains(&figure));
    let is_supported = tail.is_none_or(|tail| latency.samples as f64 * tail >= rules::SAMPLES_BEYOND);
    format!("{}{}", if is_supported { "" } else { "~" }, ms(us))
}

/// Whether any shown percentile carries the `~`.
pub fn any_unsupported(analysis: &Analysis) -> bool {
    analysis.findings.iter().any(|f| f.rule() == analysis::Rule::TooFewSamples)
}

/// Failed operations: `0`, or the number with its share.
pub fn errors(cell: &CellAnalysis) -> String {
    let failed: u64 = cell.errors.values().sum();
    match (cell.valid_trials, failed, cell.error_share) {
        (0, _, _) => MISSING.to_owned(),
        (_, 0, _) | (_, _, None) => count(failed),
        (_, _, Some(share)) => format!("{} ({})", count(failed), percent(share)),
    }
}

/// A ratio with its interval, where there is one: `2.31x (2.25-2.40)`; where this machine limited one side, what
/// carries over before it: `at least 2.25x (here 2.31x)`.
pub fn ratio(ratio: Option<&Ratio>) -> String {
    match ratio {
        None => MISSING.to_owned(),
        Some(r) if bound(r).is_some() => {
            let least = carried(r, r.low, r.high).unwrap_or_else(|| "not carried over".to_owned());
            format!("{least} (here {}x)", number(r.median))
        }
        Some(r) if r.pairs < 2 || r.low == r.high => format!("{}x", number(r.median)),
        Some(r) => format!("{}x ({}-{})", number(r.median), number(r.low), number(r.high)),
    }
}

/// The bound of a ratio that was tested.
pub fn bound(ratio: &Ratio) -> Option<BoundIs> {
    let bound = ratio.bound.as_ref().filter(|_| ratio.verdict.is_tested());
    bound.map(|bound| bound.is)
}

/// What of an interval carries over where this machine limited one side of its ratio: `at least 2.25x`; `None` where
/// nothing does, or all.
pub fn carried(ratio: &Ratio, low: f64, high: f64) -> Option<String> {
    match bound(ratio)? {
        BoundIs::AtLeast => Some(format!("at least {}x", number(low))),
        BoundIs::AtMost => Some(format!("at most {}x", number(high))),
        BoundIs::Nothing => None,
    }
}

/// A ratio with its interval and what it shows: `2.31x (2.25-2.40), faster`.
pub fn judged(of: Option<&Ratio>) -> String {
    match of {
        Some(r) if r.verdict == Verdict::Reference => "reference".to_owned(),
        Some(r) => format!("{}, {}", ratio(of), r.verdict.words()),
        None => MISSING.to_owned(),
    }
}

/// An estimate with its interval, where there is one: `12,300 (11,900-12,800)`.
pub fn estimate(estimate: Option<Estimate>) -> String {
    match estimate {
        None => MISSING.to_owned(),
        Some(e) if e.low == e.high => number(e.median),
        Some(e) => format!("{} ({}-{})", number(e.median), number(e.low), number(e.high)),
    }
}

/// A metric, for people.
pub fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "throughput",
        Metric::Runtime => "runtime",
        Metric::Mean => "mean latency",
        Metric::P50 => LatencyFigure::P50.label(),
        Metric::P95 => LatencyFigure::P95.label(),
        Metric::P99 => LatencyFigure::P99.label(),
        Metric::P999 => LatencyFigure::P999.label(),
        Metric::OperationsPerDollar => "operations per dollar",
    }
}

/// How fast the CPUs are that are emulated, each speed once: `i2.2xlarge 0.730 (AWS's ECU / vCPU, sources up to 4 %
/// apart)`; `None` where they are all alike, or not known.
pub fn cpu_speeds<'a>(all: impl IntoIterator<Item = &'a CpuShare>) -> Option<String> {
    let mut reported: Vec<(String, f64)> = Vec::new();
    for share in all {
        let (known, _) = share.speed.zip(share.unit)?;
        let apart =
            known.apart.map_or_else(String::new, |apart| format!(", within a factor of {}", number(1.0 + apart)));
        let words = format!("{} {} ({}{apart})", share.instance, number(known.speed), known.basis.words());
        if !reported.iter().any(|(known, _)| *known == words) {
            reported.push((words, known.speed));
        }
    }
    let first = reported.first()?.1;
    let differ = reported.iter().any(|(_, speed)| *speed != first);
    let words: Vec<String> = reported.into_iter().map(|(words, _)| words).collect();
    differ.then(|| words.join("; "))
}

/// What the verdicts on a step mean.
pub const VALUE_WORDS: &str = "Each configuration is compared with the cheaper one that gives most per dollar, or \
                               with the one that dominates it. \
     Worth it: throughput grows more than cost, the whole interval of throughput / cost lies above 1. Not worth it: it \
     lies below. Dominated: a configuration that costs no more is at least as fast. Knee: a dollar buys most here.";

/// A verdict on a step: `worth it (knee)`, `withheld`.
pub fn value_verdict(step: &ValueOfMoney) -> String {
    match (step.withheld, step.knee) {
        (Some(_), _) => "withheld".to_owned(),
        (None, true) => format!("{} (knee)", verdict_words(step)),
        (None, false) => verdict_words(step).to_owned(),
    }
}

/// The verdict alone. A range of two pairs beside "not decided" would be read as an interval.
pub fn verdict_words(step: &ValueOfMoney) -> &'static str {
    match (step.verdict, step.throughput_ratio.verdict.is_tested()) {
        (ValueVerdict::NotDecided, false) => "too few to test (range observed)",
        (verdict, _) => verdict.words(),
    }
}

/// A factor with its interval: `1.23x (1.20-1.27)`.
pub fn range(range: Range) -> String {
    match range.low < range.high {
        true => format!("{}x ({}-{})", number(range.median), number(range.low), number(range.high)),
        false => format!("{}x", number(range.median)),
    }
}

/// Money: `$1,366.56`; below ten cents three significant digits, `$0.00214`.
pub fn usd(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    if value != 0.0 && value.abs() < 0.1 {
        return format!("{sign}${}", number(value.abs()));
    }
    let cents = (value.abs() * 100.0).round() as u64;
    format!("{sign}${}.{:02}", count(cents / 100), cents % 100)
}

/// Dollars without their sign, which stands in the head.
pub fn dollars(value: f64) -> String {
    usd(value).replace('$', "")
}

/// What a rate is that a 1:N model did, times N; empty at 1:1.
pub fn estimated(analysis: &Analysis) -> &'static str {
    if analysis.scale == 1.0 { "" } else { " at full scale (estimated)" }
}

/// ` at full scale`, where what was measured is not.
pub fn at_full_scale(analysis: &Analysis) -> &'static str {
    if analysis.scale == 1.0 { "" } else { " at full scale" }
}

/// Who measured what a volume delivers before the database did.
pub fn prober(analysis: &Analysis) -> &'static str {
    match analysis.provider {
        Provider::Simulated => "the simulated probe",
        Provider::Local | Provider::Hosts | Provider::Aws | Provider::Imported => "fio",
    }
}

/// What emulates the volumes, and what is not as with real ones; `None` where they are real.
pub fn emulation(analysis: &Analysis) -> Option<String> {
    if !analysis.has_emulated_volumes() {
        return None;
    }
    let volumes = || analysis.configurations.iter().flat_map(|c| &c.volumes);
    let limits = match (volumes().all(|v| v.is_combined()), volumes().any(|v| v.is_combined())) {
        (true, _) => "Reads and writes share their limits, as with EBS",
        (false, true) => "Reads and writes share the limits of some volumes and are limited apart on others",
        (false, false) => "Reads and writes are limited apart, EBS counts them together",
    };
    Some(if volumes().any(|v| v.is_served) {
        format!(
            "Volumes are emulated by a process that answers for each of them as its type does, at an even pace. \
             {limits}. Where this machine was too slow for that, emulation_floor says so."
        )
    } else {
        format!(
            "Volumes are emulated by kernel I/O limits on a loop device. {limits}; the throttle releases I/O in slices \
             of about 100 ms, which shows as steps in the tail of a saturated volume."
        )
    })
}

/// How money was counted, printed beside every cost.
pub fn basis(analysis: &Analysis) -> String {
    let basis = &analysis.basis;
    let lines = analysis.configurations.iter().flat_map(|c| &c.cost_lines);
    let priced = analysis.configurations.iter().map(|c| (c.placement, &*c.cost_lines));
    format!(
        "{} h/month, {}, {}, {}, uplift {} %{}",
        given(basis.hours_per_month),
        basis.purchase,
        basis.region,
        price_days(lines)
            .map_or_else(|| "prices as stated, without a date".to_owned(), |days| format!("prices of {days}")),
        given(basis.uplift_percent),
        not_priced(priced)
    )
}

/// What the cost of a cluster in several racks, which are zones, leaves out: what its nodes and its clients send from
/// one into another. A price that was stated as a whole may hold it.
pub fn not_priced<'a>(mut clusters: impl Iterator<Item = (Placement, &'a [CostLine])>) -> &'static str {
    let leaves_it_out = |(placement, lines): (Placement, &[CostLine])| {
        placement.racks > 1 && lines.iter().any(|line| line.kind == CostKind::Instances)
    };
    if clusters.any(leaves_it_out) { ", traffic between zones is not priced" } else { "" }
}

/// Limits in a few words: `60.0 IOPS, 10.0 MiB/s`; reads and writes apart where they differ.
pub fn limits(limits: &IoLimits) -> String {
    let pair = |read: Option<f64>, write: Option<f64>, show: &dyn Fn(f64) -> String| match (read, write) {
        (None, None) => None,
        (Some(r), Some(w)) if r == w => Some(show(r)),
        (r, w) => {
            let side = |v: Option<f64>| v.map_or_else(|| "unlimited".to_owned(), show);
            Some(format!("{} read, {} write", side(r), side(w)))
        }
    };
    let parts: Vec<String> = [
        pair(limits.read_iops, limits.write_iops, &|v| format!("{} IOPS", given(v))),
        pair(limits.read_bytes_per_s, limits.write_bytes_per_s, &mib_per_s),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() { "unlimited".to_owned() } else { parts.join(", ") }
}

/// What a volume models; of several data volumes also how the data lies on them.
pub fn volume(configuration: &ConfigurationFacts, volume: &VolumeReport) -> String {
    match configuration.layout.filter(|_| volume.role.is_data()) {
        Some(layout) => {
            format!("{}, one of {} ({})", volume.label, configuration.data_volumes().count(), layout.label())
        }
        None => volume.label.clone(),
    }
}

/// Whether more of a configuration is known than its name and price: not where other tools measured it.
pub fn is_known(configuration: &ConfigurationFacts) -> bool {
    configuration.cpus > 0.0
}

/// Where figures of configurations hold.
pub fn built(configurations: &[ConfigurationFacts]) -> &'static str {
    let are_all = |is: fn(&ConfigurationFacts) -> bool| configurations.iter().all(is);
    match configurations.is_empty() {
        false if are_all(|c| c.is_bought) => "As bought, at full size",
        false if are_all(|c| !is_known(c)) => "As the import names them",
        _ => "As built on this machine",
    }
}

/// What comes before a trial's warm-up, with the sum's sign; empty where nothing does.
pub fn code_warmup(shape: &TrialShape) -> String {
    let seconds = shape.rest_max_s;
    when(seconds != 0.0, || format!("at most {} until the database is at rest + ", duration(seconds)))
}

#[cfg(test)]
mod tests {
    use super::begun;

    #[test]
    fn the_second_run_of_a_second_began_in_it_too() {
        for run in ["a-20260102T030405Z", "a-b-20260102T030405Z-2"] {
            assert_eq!(begun(run).as_deref(), Some("2026-01-02 03:04 UTC"), "{run}");
        }
        assert_eq!([begun("a"), begun("a-2"), begun("a-Z")], [None, None, None]);
    }
}
