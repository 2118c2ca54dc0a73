//! A limit in words, made of its values alone.

use crate::document::limit::{
    Counted, Intervention, Limit, LimitKind, Outcome, Resource, ResourceChange, ResourceUse, Unit,
};

/// Names and values for `evidence`: used, capacity and share, with units.
pub fn numbers(used: &ResourceUse) -> [(String, f64); 3] {
    let (of, unit) = (subject(used.kind), used.unit.name());
    [
        (format!("{of}_{unit}_used"), used.used),
        (format!("{of}_{unit}_capacity"), used.capacity),
        (format!("{of}_{unit}_used_share"), used.share()),
    ]
}

fn subject(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::VolumeIops | LimitKind::VolumeThroughput => "volume",
        LimitKind::BurstSpent => "baseline",
        LimitKind::InstanceEbsBandwidth => "instance_ebs",
        LimitKind::CommitLog => "commit_log",
        LimitKind::Cpu => "database",
        LimitKind::Client => "client",
        LimitKind::Gc => "gc_pause",
        LimitKind::Compaction => "compactions",
        LimitKind::Network => "network",
        LimitKind::OfferedRate => "rate",
        LimitKind::NoneFound | LimitKind::NotComparable => "",
    }
}

/// The limit, the others at their cap, and what more of a resource gave.
pub fn message(limit: &Limit) -> String {
    let of = |kind: LimitKind| {
        let uses = limit.uses.iter().filter(move |u| u.kind == kind);
        uses.max_by(|a, b| {
            (a.at_cap, a.share())
                .partial_cmp(&(b.at_cap, b.share()))
                .unwrap_or(std::cmp::Ordering::Equal)
        })
    };
    let mut sentences: Vec<String> = Vec::new();
    match limit.kind {
        LimitKind::NotComparable => return "No valid trial.".to_owned(),
        LimitKind::NoneFound => sentences.extend(none_found(limit)),
        kind => sentences.extend(of(kind).map(sentence)),
    }
    let also: Vec<String> = limit.also.iter().filter_map(|kind| of(*kind)).map(sentence).collect();
    if !also.is_empty() {
        sentences.push(format!("At the same time: {}", also.join(" ")));
    }
    let is_named = limit.kind == LimitKind::OfferedRate || limit.also.contains(&LimitKind::OfferedRate);
    sentences.extend(of(LimitKind::OfferedRate).filter(|_| !is_named).map(|rate| {
        let share = percent(rate.share());
        format!(
            "The rate was not held: {} of {} operations/s ({share}).",
            short(rate.used),
            short(rate.capacity)
        )
    }));
    sentences.extend(limit.interventions.iter().map(|i| of_intervention(i, limit)));
    sentences.join(" ")
}

fn none_found(limit: &Limit) -> Vec<String> {
    let candidates = limit.uses.iter().filter(|u| u.kind != LimitKind::OfferedRate);
    if let Some(full) = candidates.clone().find(|u| u.at_cap) {
        return vec![format!(
            "At its cap, and yet not the limit, because more of it gave nothing: {}",
            sentence(full)
        )];
    }
    let closest = candidates.max_by(|a, b| a.share().total_cmp(&b.share()));
    let closest = closest.map(|u| format!("Closest: {}", sentence(u)));
    std::iter::once("No watched resource was at its cap.".to_owned())
        .chain(closest)
        .collect()
}

/// One resource: used of what was there.
fn sentence(used: &ResourceUse) -> String {
    let share = percent(used.share());
    let of = |subject: &str| {
        let (amount, unit) = match used.unit {
            Unit::Iops => (1.0, "IOPS"),
            Unit::BytesPerS => (1e6, "MB/s"),
            Unit::Cpus => (1.0, "CPUs"),
            Unit::OpsPerS => (1.0, "operations/s"),
            Unit::CpuS | Unit::Share | Unit::Grown => (1.0, ""),
        };
        let counted = match used.counted {
            Some(Counted::Together) => ", reads and writes together",
            Some(Counted::InUnits) => ", reads and writes together, large requests counted as several",
            Some(Counted::Reads) => " of reads",
            Some(Counted::Writes) => " of writes",
            None => "",
        };
        let (amount, capacity) = (short(used.used / amount), short(used.capacity / amount));
        format!("{subject}: {amount} of {capacity} {unit}{counted} ({share}).")
    };
    match used.kind {
        LimitKind::VolumeIops | LimitKind::VolumeThroughput => of("data volume"),
        LimitKind::BurstSpent => of("data volume at the baseline of its spent burst bucket"),
        LimitKind::InstanceEbsBandwidth => of("the instance's path to its volumes"),
        LimitKind::CommitLog => of("commit-log volume"),
        LimitKind::Cpu => of("database"),
        LimitKind::OfferedRate => of("offered rate"),
        LimitKind::Client => format!("client: {share} of the CPU of its load threads."),
        LimitKind::Gc => format!(
            "garbage collection paused the database for {:.1} % of the time.",
            used.share() * 100.0
        ),
        LimitKind::Compaction => format!("compactions waiting grew by {:.0} in the window.", used.used + 1.0),
        LimitKind::Network | LimitKind::NoneFound | LimitKind::NotComparable => String::new(),
    }
}

/// `3,000 instead of 960 IOPS gave 1.64 times (1.50 to 1.79): IOPS, confirmed.`
fn of_intervention(intervention: &Intervention, limit: &Limit) -> String {
    let more: Vec<String> = intervention.more.iter().map(change).collect();
    let gain = &intervention.gain;
    let gave = format!("{:.2} times ({:.2} to {:.2})", gain.median, gain.low, gain.high);
    let names: Vec<&str> = intervention.more.iter().map(|c| resource(c.resource)).collect();
    let names = names.join(" and ");
    let stands_first = intervention
        .more
        .iter()
        .any(|c| c.resource.kinds().contains(&limit.kind));
    let verdict = match intervention.outcome {
        Outcome::Confirmed if stands_first => format!("{names}, confirmed"),
        Outcome::Confirmed => format!("{names} was a limit too"),
        Outcome::Contradicted if stands_first => format!("{names} alone was not the limit"),
        Outcome::Contradicted => format!("{names} was not the limit"),
        Outcome::NotDecided if intervention.more.len() > 1 => "which of them, is not decided".to_owned(),
        Outcome::NotDecided => format!("whether {names} was the limit is not decided"),
    };
    format!("{} ({}) gave {gave}: {verdict}.", more.join(" and "), intervention.to)
}

fn change(change: &ResourceChange) -> String {
    let (scale, unit) = match change.resource {
        Resource::DataIops => (1.0, "IOPS"),
        Resource::DataBytesPerS => (1e6, "MB/s"),
        Resource::Cpus => (1.0, "CPUs"),
        Resource::Memory => (1e6, "MB of memory"),
        Resource::CommitLog => (1.0, "of the commit log's volume"),
    };
    let amount = |value: Option<f64>| value.map_or_else(|| "no limit".to_owned(), |v| thousands(v / scale));
    if change.resource == Resource::CommitLog && change.from.is_none() {
        return "A commit-log volume of its own".to_owned();
    }
    format!("{} instead of {} {unit}", amount(change.to), amount(change.from))
}

fn resource(resource: Resource) -> &'static str {
    match resource {
        Resource::DataIops => "IOPS",
        Resource::DataBytesPerS => "MB/s",
        Resource::Cpus => "CPU",
        Resource::Memory => "memory",
        Resource::CommitLog => "the commit log",
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Whole numbers with separators of thousands; smaller ones with three significant digits.
fn thousands(value: f64) -> String {
    if value < 100.0 {
        let text = short(value);
        return match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        };
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three significant digits.
fn short(value: f64) -> String {
    let decimals = if value == 0.0 {
        0
    } else {
        (2 - value.abs().log10().floor() as i32).clamp(0, 6)
    };
    format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
}
