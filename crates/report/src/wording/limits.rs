//! Limits in words: what bounded a cell, what else was at its cap, and what more of a resource gave. Made of a limit's
//! values alone.

use analysis::{
    Analysis, CellAnalysis, Counted, Delivered, Intervention, InterventionOutcome, Limit, LimitKind, Resource,
    ResourceChange, ResourceUse, Unit,
};

use crate::figures::{KIB, given, number, whole_percent};
use crate::labels;

/// What is said of a cell's limit, and how much of what its volumes deliver it used.
pub fn of_cell(analysis: &Analysis, cell: &CellAnalysis) -> String {
    let used = used(analysis, cell).map_or_else(String::new, |used| format!(" {used}"));
    format!("{}{used}", message(&cell.limit))
}

/// How much of what its volumes deliver a cell used; `None` where that is not known.
pub fn used(analysis: &Analysis, cell: &CellAnalysis) -> Option<String> {
    let of = cell.delivered.filter(|_| cell.valid_trials > 0)?;
    let is_one = cell.nodes.is_empty() && cell.data_volumes.is_empty();
    Some(of_delivered(&of, is_one, labels::prober(analysis)))
}

/// Up to this share of what the probe got the difference is the noise of a probe of two seconds.
const NOISE: f64 = 1.05;

/// `is_one`: one node has one volume for its data. `prober` found what is delivered.
fn of_delivered(of: &Delivered, is_one: bool, prober: &str) -> String {
    let requests = if of.with_writes { "reads and writes" } else { "reads" };
    let (each, its) = (number(of.request_bytes / KIB), given(of.probe_request_bytes / KIB));
    let (what, numbers) = match of.unit {
        Unit::BytesPerS => (
            "MB/s",
            format!(
                "{} MB/s by {requests} of {each} KiB in the mean, beside {} MB/s that {prober} wrote in requests of \
                 {its} KiB",
                number(of.used / 1e6),
                number(of.delivered / 1e6)
            ),
        ),
        _ => (
            if of.with_writes { "IOPS" } else { "read IOPS" },
            format!(
                "{} {requests} a second of {each} KiB in the mean, beside {} random reads of {its} KiB by {prober}",
                number(of.used),
                number(of.delivered)
            ),
        ),
    };
    let (volumes, deliver) = if is_one { ("volume", "delivers") } else { ("volumes", "deliver") };
    match of.share() > NOISE {
        true => format!("The {volumes} gave the database more than {prober} had got before: {numbers}."),
        false => format!(
            "The database used {} of the {what} that the {volumes} {deliver}: {numbers}.",
            whole_percent(of.share())
        ),
    }
}

/// The limit, the others at their cap, and what more of a resource gave.
pub fn message(limit: &Limit) -> String {
    let mut sentences: Vec<String> = Vec::new();
    match limit.kind {
        LimitKind::NotComparable => return "No valid trial.".to_owned(),
        LimitKind::NotWatched => sentences.push(
            "The hosts of the database were not watched, so that nothing is known of what limited it.".to_owned(),
        ),
        LimitKind::NotAtRest => {
            sentences.push(
                "The CPU was full, and the database was not at rest: what it would carry is not known.".to_owned(),
            );
            sentences.extend(fullest(limit, LimitKind::Cpu).map(sentence));
        }
        LimitKind::NoneFound => sentences.extend(none_found(limit)),
        kind => sentences.extend(fullest(limit, kind).map(sentence)),
    }
    let also = limit.also.iter().filter_map(|kind| fullest(limit, *kind));
    let also: Vec<String> = also.map(sentence).collect();
    if !also.is_empty() {
        sentences.push(format!("At the same time: {}", also.join(" ")));
    }
    sentences.extend(also_on(limit));
    let is_named = limit.kind == LimitKind::OfferedRate || limit.also.contains(&LimitKind::OfferedRate);
    let rate = fullest(limit, LimitKind::OfferedRate).filter(|_| !is_named);
    sentences.extend(rate.map(|rate| {
        format!(
            "The rate was not held: {} of {} operations/s ({}).",
            number(rate.used),
            number(rate.capacity),
            whole_percent(rate.share())
        )
    }));
    sentences.extend(limit.interventions.iter().map(|i| of_intervention(i, limit)));
    sentences.join(" ")
}

/// The other nodes at the limit; the sentence before names one.
fn also_on(limit: &Limit) -> Option<String> {
    (limit.nodes.len() > 1).then(|| format!("At this limit: {}.", labels::nodes_at(limit)))
}

/// The use of a resource that counts: at its cap before below it, then the fullest.
pub fn fullest(limit: &Limit, kind: LimitKind) -> Option<&ResourceUse> {
    let uses = limit.uses.iter().filter(|u| u.kind == kind);
    uses.max_by(|a, b| {
        let (a, b) = ((a.at_cap, a.share()), (b.at_cap, b.share()));
        a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal)
    })
}

/// Whether another configuration of the matrix with more of this resource alone was faster: `None` where no
/// configuration has more of it alone.
pub fn is_confirmed(limit: &Limit) -> Option<bool> {
    let of_kind = |i: &&Intervention| i.more.len() == 1 && i.more[0].resource.kinds().contains(&limit.kind);
    let mut found = limit.interventions.iter().filter(of_kind).peekable();
    found.peek()?;
    Some(found.any(|i| i.outcome == InterventionOutcome::Confirmed))
}

fn none_found(limit: &Limit) -> Vec<String> {
    let candidates = limit.uses.iter().filter(|u| u.kind != LimitKind::OfferedRate);
    if let Some(full) = candidates.clone().find(|u| u.at_cap) {
        return vec![format!("At its cap, and yet not the limit, because more of it gave nothing: {}", sentence(full))];
    }
    let closest = candidates.max_by(|a, b| a.share().total_cmp(&b.share()));
    let closest = closest.map(|u| format!("Closest: {}", sentence(u)));
    std::iter::once("No watched resource was at its cap.".to_owned()).chain(closest).collect()
}

/// One resource: used of what was there.
fn sentence(used: &ResourceUse) -> String {
    let share = whole_percent(used.share());
    let whose = used.node.map_or_else(String::new, |node| format!(" of {node}"));
    let of = |subject: &str| {
        let (scale, unit) = match used.unit {
            Unit::Iops => (1.0, " IOPS"),
            Unit::BytesPerS => (1e6, " MB/s"),
            Unit::Cpus => (1.0, " CPUs"),
            Unit::OpsPerS => (1.0, " operations/s"),
            Unit::CpuS | Unit::Share | Unit::Grown => (1.0, ""),
        };
        let counted = match used.counted {
            Some(Counted::Together) => ", reads and writes together",
            Some(Counted::InUnits) => ", reads and writes together, large requests counted as several",
            Some(Counted::Reads) => " of reads",
            Some(Counted::Writes) => " of writes",
            None => "",
        };
        let (amount, capacity) = (number(used.used / scale), number(used.capacity / scale));
        format!("{subject}{whose}: {amount} of {capacity}{unit}{counted} ({share}).")
    };
    match used.kind {
        LimitKind::VolumeIops | LimitKind::VolumeThroughput => of("data volume"),
        LimitKind::BurstSpent => of("data volume at the baseline of its spent burst bucket"),
        LimitKind::InstanceEbsBandwidth => of("the instance's path to its volumes"),
        LimitKind::CommitLog => of("commit-log volume"),
        LimitKind::Cpu => of("database"),
        LimitKind::CacheTierCpu => of("cache tier"),
        LimitKind::OfferedRate => of("offered rate"),
        LimitKind::Client => format!("client: {share} of the CPU of its load threads."),
        LimitKind::Gc => {
            format!("garbage collection paused the database{} for {:.1} % of the time.", on(used), used.share() * 100.0)
        }
        LimitKind::Compaction => {
            format!("compactions waiting{} grew by {:.0} in the window.", on(used), used.used + 1.0)
        }
        LimitKind::Network
        | LimitKind::NotAtRest
        | LimitKind::NoneFound
        | LimitKind::NotWatched
        | LimitKind::NotComparable => String::new(),
    }
}

/// ` on database-2`; nothing where the database has one node.
fn on(used: &ResourceUse) -> String {
    used.node.map_or_else(String::new, |node| format!(" on {node}"))
}

/// `3,000 instead of 960 IOPS (gp2-3000) gave 1.64 times (1.50 to 1.79): IOPS, confirmed.`
fn of_intervention(intervention: &Intervention, limit: &Limit) -> String {
    let more: Vec<String> = intervention.more.iter().map(change).collect();
    let gain = &intervention.gain;
    let gave = format!("{} times ({} to {})", number(gain.median), number(gain.low), number(gain.high));
    let names: Vec<&str> = intervention.more.iter().map(|c| resource(c.resource).0).collect();
    let names = names.join(" and ");
    let stands_first = intervention.more.iter().any(|c| c.resource.kinds().contains(&limit.kind));
    let verdict = match intervention.outcome {
        InterventionOutcome::Confirmed if stands_first => format!("{names}, confirmed"),
        InterventionOutcome::Confirmed => format!("{names} was a limit too"),
        InterventionOutcome::Contradicted if stands_first => format!("{names} alone was not the limit"),
        InterventionOutcome::Contradicted => format!("{names} was not the limit"),
        InterventionOutcome::NotDecided if intervention.more.len() > 1 => {
            "which of these was the limit is not decided".to_owned()
        }
        InterventionOutcome::NotDecided => format!("whether {names} was the limit is not decided"),
    };
    format!("{} ({}) gave {gave}: {verdict}.", more.join(" and "), intervention.to)
}

fn change(change: &ResourceChange) -> String {
    let (_, scale, unit) = resource(change.resource);
    let amount = |value: Option<f64>| value.map_or_else(|| "no limit".to_owned(), |v| trimmed(v / scale));
    if change.resource == Resource::CommitLog && change.from.is_none() {
        return "A commit-log volume of its own".to_owned();
    }
    format!("{} instead of {} {unit}", amount(change.to), amount(change.from))
}

/// What it is called, by what its amounts are divided, and their unit.
fn resource(resource: Resource) -> (&'static str, f64, &'static str) {
    match resource {
        Resource::DataIops => ("IOPS", 1.0, "IOPS"),
        Resource::DataBytesPerS => ("MB/s", 1e6, "MB/s"),
        Resource::InstanceIops => ("IOPS of the instance", 1.0, "IOPS of the instance"),
        Resource::InstanceBytesPerS => ("MB/s of the instance", 1e6, "MB/s of the instance"),
        Resource::Cpus => ("CPU", 1.0, "CPUs"),
        Resource::Memory => ("memory", 1e6, "MB of memory"),
        Resource::CommitLog => ("the commit log", 1.0, "of the commit log's volume"),
    }
}

/// What somebody ordered, without zeros that say nothing: `12,345`, `62.5`, `0.5`.
fn trimmed(value: f64) -> String {
    let text = given(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivered(unit: Unit, used: f64, delivered: f64, with_writes: bool) -> Delivered {
        let is_bytes = unit == Unit::BytesPerS;
        Delivered {
            unit,
            used,
            delivered,
            with_writes,
            request_bytes: if is_bytes { 62_464.0 } else { 9_421.0 },
            probe_request_bytes: if is_bytes { 65_536.0 } else { 4_096.0 },
        }
    }

    fn reported(unit: Unit, used: f64, got: f64, with_writes: bool) -> String {
        of_delivered(&delivered(unit, used, got, with_writes), true, "fio")
    }

    #[test]
    fn what_was_used_is_reported_with_both_sizes_of_requests() {
        assert_eq!(
            reported(Unit::Iops, 1140.0, 3000.0, true),
            "The database used 38 % of the IOPS that the volume delivers: 1,140 reads and writes a second of 9.20 KiB \
             in the mean, beside 3,000 random reads of 4 KiB by fio."
        );
        assert!(
            reported(Unit::Iops, 1140.0, 3000.0, false).starts_with("The database used 38 % of the read IOPS that")
        );
        assert_eq!(
            reported(Unit::BytesPerS, 77.5e6, 125e6, true),
            "The database used 62 % of the MB/s that the volume delivers: 77.5 MB/s by reads and writes of 61.0 KiB in \
             the mean, beside 125 MB/s that fio wrote in requests of 64 KiB."
        );
        let several = of_delivered(&delivered(Unit::Iops, 1140.0, 3000.0, true), false, "the simulated probe");
        assert!(several.starts_with("The database used 38 % of the IOPS that the volumes deliver: "));
        // A simulation has no fio.
        assert!(several.ends_with("3,000 random reads of 4 KiB by the simulated probe."), "{several}");
        // Not "113 % of what it delivers".
        assert!(
            reported(Unit::Iops, 3400.0, 3000.0, true)
                .starts_with("The volume gave the database more than fio had got before: 3,400")
        );
    }
}
