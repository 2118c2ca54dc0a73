//! A node or a cache that was away or a disk that failed by plan, in words: when it was gone and back, what came of
//! throughput, hints and writes. And the findings about it.

use analysis::rules::fault_not_as_planned::FaultNotAsPlanned;
use analysis::rules::faults_planned::FaultsPlanned;
use analysis::rules::writes_lost::{WritesLost, WritesUnread};
use analysis::{
    CellAnalysis, Consistency, FaultAnalysis, HintFiles, NodeFaultKind, PhaseAnalysis, RECOVERED_SECONDS,
    RECOVERED_SHARE, RecoveryAnalysis, Summary, WritesAnalysis,
};

use super::amounts::Words;
use crate::figures::{bytes, count, given, given_percent, listed, several, when};

/// How the figures of the section are made, for every report.
pub fn method() -> String {
    format!(
        "Phases: whole seconds between the real times of a fault; median (lowest to highest) over valid repetitions. \
         Percentiles are those of all operations that succeeded; an operation counts in the second of its answer. \
         Throughput is back (within {}) from the first {RECOVERED_SECONDS} consecutive seconds on whose mean is at \
         least {} of that before the first fault.",
        given_percent(1.0 - RECOVERED_SHARE),
        given_percent(RECOVERED_SHARE)
    )
}

/// The same of reads that ask caches first.
pub const METHOD_OF_CACHES: &str = "Hits are of the reads that succeeded, as clients saw them: a read whose cache was \
                                    lost or too slow is none. Device reads are those of the data volumes.";

/// What the section is called where a cache was killed, which goes with no other fault.
pub const CACHE_TITLE: &str = "When a cache was lost";

/// What the section is called, by what was done.
pub fn title(nodes: bool, disks: bool, compactions: bool) -> &'static str {
    match (nodes, disks, compactions) {
        (false, false, true) => "While it compacted",
        (_, _, true) => "When a node was away, a disk failed or it compacted",
        (true, true, _) => "When a node was away or a disk failed",
        (false, true, _) => "When a disk failed",
        (_, false, _) => "When a node was away",
    }
}

/// `before`, `during`, `after`; of several faults with the fault's number: `during 2`.
pub fn phase(phase: &PhaseAnalysis, faults: usize) -> String {
    match phase.fault {
        Some(number) if faults > 1 => format!("{} {number}", phase.phase.name()),
        _ => phase.phase.name().to_owned(),
    }
}

/// Errors by kind: `900 unavailable, 303 write timeout`.
pub fn kinds(phase: &PhaseAnalysis) -> Vec<String> {
    let mut kinds: Vec<_> = phase.errors.iter().filter(|(_, n)| **n > 0).collect();
    kinds.sort_by(|a, b| b.1.cmp(a.1));
    kinds.into_iter().map(|(kind, n)| format!("{} {}", count(*n), kind.name().replace('_', " "))).collect()
}

/// What happened in a cell: each fault with what followed, and what became of its writes.
pub fn sentences(cell: &CellAnalysis) -> Vec<String> {
    let mut all = Vec::new();
    let faults = cell.faults.as_ref().map_or(&[][..], |f| &f.faults);
    for (i, fault) in faults.iter().enumerate() {
        let is_last = i + 1 == faults.len();
        all.push(happened(fault));
        all.extend(fault.failed_requests.as_ref().map(failed_requests));
        if !fault.ended.is_empty() {
            all.push(ended(fault));
        }
        all.extend(recovery(fault, is_last));
        match &fault.hint_files {
            // Hints are kept for a node that is away.
            _ if fault.kind == NodeFaultKind::CacheKill => {}
            Some(hints) if fault.kind == NodeFaultKind::Compaction && hints.most.high == 0.0 => {}
            Some(hints) => all.push(hinted(hints, fault, is_last)),
            // A single node keeps no hints.
            None if cell.nodes.is_empty() => {}
            None => all.push("How many hint files waited is not known.".to_owned()),
        }
        all.extend(fault.problems.iter().map(|p| format!("Not as planned: {p}.")));
    }
    match &cell.writes {
        Some(writes) => all.push(written(writes)),
        None if faults.is_empty() => {}
        None => all.push("Acknowledged writes were not read back.".to_owned()),
    }
    all
}

/// Seconds with their range: `12.1 s (11.0 to 25.3)`.
fn seconds(summary: &Summary) -> String {
    match summary.low < summary.high {
        true => format!("{:.1} s ({:.1} to {:.1})", summary.median, summary.low, summary.high),
        false => format!("{:.1} s", summary.median),
    }
}

/// What was planned, when it really began, and when it was over.
fn happened(fault: &FaultAnalysis) -> String {
    let planned = match &fault.planned {
        Some(planned) => format!("Planned was {}: ", planned.label()),
        None => format!("{}: ", fault.kind.name()),
    };
    let (node, gone, back) = (fault.node, &fault.gone_s, &fault.back_s);
    let away = match (fault.kind, &fault.planned) {
        (NodeFaultKind::CacheKill, planned) => planned.and_then(|planned| planned.action.cache()),
        _ => Some(node.to_string()),
    };
    let at = |words: &str, time: &Option<Summary>| time.as_ref().map(|at| format!("{words} {}", seconds(at)));
    let began = |words: &str| at(words, gone).unwrap_or_default();
    let later =
        |took: &Option<Summary>| took.as_ref().map_or_else(String::new, |took| format!(", {} later", seconds(took)));
    let some = |words: &str, n: u64| (n > 0).then(|| format!("{words}{}", of_trials(n, fault.trials)));
    let parts = match fault.volume {
        Some(role) => vec![
            Some(format!("{} of {node} had it{}", role.of_node(), began(" from"))),
            at("was as before from", back),
            some("had it to the end", fault.left_away + fault.not_back),
        ],
        None if fault.kind == NodeFaultKind::Compaction => vec![
            Some(format!("{node} compacted{}", began(" from"))),
            at("was done at", back).map(|done| done + &later(&fault.away_s)),
            fault.compacted_bytes.as_ref().map(|written| format!("wrote {}", bytes(written.median))),
            some("was not done when the trial ended", fault.not_back),
        ],
        None => vec![
            Some(format!("{}{}", away.as_deref().unwrap_or("a cache node"), began(" was gone at"))),
            some("was not brought back", fault.left_away),
            at("was being brought back from", &fault.return_began_s),
            at("answered clients again at", back).map(|back| back + &later(&fault.return_took_s)),
            some("did not answer clients before the trial ended", fault.not_back),
        ],
    };
    format!("{planned}{}.", listed(parts.into_iter().flatten()))
}

/// Requests to the disk that failed. A fault that none has met shows nothing.
fn failed_requests(failed: &Summary) -> String {
    match (failed.low, failed.high) {
        (_, 0.0) => "No request to the volume met it: the database asked for nothing of that kind.".to_owned(),
        (low, high) if low < high => {
            let [median, low, high] = [failed.median, low, high].map(given);
            format!("Requests to the volume that failed: {median} ({low} to {high}).")
        }
        _ => format!("Requests to the volume that failed: {}.", given(failed.median)),
    }
}

/// The database's process ended under a fault of its disk.
fn ended(fault: &FaultAnalysis) -> String {
    let n = fault.ended.len() as u64;
    let some = of_trials(n, fault.trials);
    format!("The database's process ended by itself{some}: {}.", fault.ended.join("; "))
}

/// ` in 1 of 3 trials`; nothing where it was so in all of them.
fn of_trials(n: u64, all: u64) -> String {
    when(n != all, || format!(" in {n} of {all} trials"))
}

/// Whether and when throughput was back, where the node was.
fn recovery(fault: &FaultAnalysis, is_last: bool) -> Option<String> {
    let RecoveryAnalysis { recovered, seconds, never, too_short } = fault.recovery;
    let all = recovered + never + too_short;
    if all == 0 {
        return None;
    }
    let (was, was_back) = match fault.volume {
        None if fault.kind == NodeFaultKind::Compaction => ("the compaction was done", "the compaction was done"),
        None if fault.kind == NodeFaultKind::CacheKill => ("the cache was", "the cache was back"),
        None => ("the node was", "the node was back"),
        Some(_) => ("the fault was lifted", "the fault was lifted"),
    };
    let within = given_percent(1.0 - RECOVERED_SHARE);
    let end = if is_last { "when the trial ended" } else { "when the next fault began" };
    let some = |n: u64| format!("in {n} of {all} trials");
    let mut parts = Vec::new();
    if let Some(seconds) = seconds {
        let in_some = if recovered < all { format!(", {}", some(recovered)) } else { String::new() };
        parts.push(format!("Throughput was back within {within} of before {} {was}{in_some}", after(&seconds)));
    }
    let subject = if recovered == 0 { "throughput" } else { "it" };
    match never {
        0 => {}
        n if n == all => parts.push(format!("Throughput was not back within {within} of before {end}")),
        n => parts.push(format!("{} {subject} was not back within {within} of before {end}", some(n))),
    }
    match too_short {
        0 => {}
        n if n == all => parts.push(format!(
            "Fewer than {RECOVERED_SECONDS} s were left after {was_back}: too few to judge throughput by"
        )),
        n => parts.push(format!("{} fewer than {RECOVERED_SECONDS} s were left to judge it by", some(n))),
    }
    Some(format!(
        "{}.",
        parts.join("; ").replacen("in ", "In ", usize::from(recovered == 0 && never < all && too_short < all))
    ))
}

/// `6 s (4 to 9) after`; it is known by whole seconds.
fn after(seconds: &Summary) -> String {
    match seconds {
        s if s.high < 1.0 => "less than 1 s after".to_owned(),
        s if s.low < s.high => format!("{:.0} s ({:.0} to {:.0}) after", s.median, s.low, s.high),
        s => format!("{:.0} s after", s.median),
    }
}

fn hinted(hints: &HintFiles, fault: &FaultAnalysis, is_last: bool) -> String {
    let files = |s: &Summary| match s.low < s.high {
        true => format!("{} ({} to {})", given(s.median), given(s.low), given(s.high)),
        false => given(s.median),
    };
    let until = match (fault.back_s, fault.volume) {
        (None, _) => "",
        (Some(_), None) if fault.kind == NodeFaultKind::Compaction => " until the compaction was done",
        (Some(_), None) => " until the node was back",
        (Some(_), Some(_)) => " until the fault was lifted",
    };
    let end = if is_last { "at the end" } else { "before the next fault" };
    format!(
        "Hint files that waited, all nodes together: at most {}{until}, {} {end}.",
        files(&hints.most),
        files(&hints.left)
    )
}

/// What reading acknowledged writes back found.
pub fn written(writes: &WritesAnalysis) -> String {
    let level = level(writes.consistency);
    let trials = several(writes.trials, "trial");
    if writes.values == 0 {
        return format!("No write was acknowledged in {trials}: nothing to read back.");
    }
    let lost = match (writes.lost(), writes.unreadable) {
        (0, 0) => "none lost".to_owned(),
        (0, _) => format!("none seen lost, but {}", unread(writes)),
        (_, 0) => lost(writes),
        _ => format!("{}, and {}", lost(writes), unread(writes)),
    };
    let n = writes.unacknowledged;
    let unknown = when(n > 0, || format!(" {} more had no known outcome and may be there or not.", count(n)));
    let stale = if writes.older > 0 { stale(writes.consistency) } else { "" };
    format!(
        "{} acknowledged writes ({} values) read back at {level} in {trials}: {lost}.{stale}{unknown}",
        count(writes.acknowledged),
        count(writes.values)
    )
}

fn unread(writes: &WritesAnalysis) -> String {
    format!("{} could not be read", several(writes.unreadable, "value"))
}

/// `214 of 31,004 values lost (older 200, missing 14), in 2 of 3 trials`.
fn lost(writes: &WritesAnalysis) -> String {
    let kinds = [("older", writes.older), ("missing", writes.missing), ("foreign", writes.foreign)];
    let kinds: Vec<String> =
        kinds.into_iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {}", count(n))).collect();
    let some = when(writes.trials_with_loss != writes.trials, || {
        format!(", in {} of {}", writes.trials_with_loss, several(writes.trials, "trial"))
    });
    format!("{} of {} values lost ({}){some}", count(writes.lost()), count(writes.values), kinds.join(", "))
}

/// What an older value may mean where one replica answers.
fn stale(level: Consistency) -> &'static str {
    match level {
        Consistency::Any | Consistency::One | Consistency::LocalOne => STALE,
        _ => "",
    }
}

const STALE: &str = " At this level an older value may be that of one stale replica, which hints or a repair may still \
                     mend; the workload's own reads would have seen it all the same.";

pub(super) fn faults_planned(of: &FaultsPlanned) -> Words {
    let (disks, compactions) = (of.disk_faults, of.compactions);
    let nodes = of.faults.saturating_sub(disks + compactions);
    let what = match (nodes, disks) {
        _ if of.cache_kills == 1 => "A cache was killed by plan".to_owned(),
        _ if of.cache_kills > 1 => format!("Caches were killed by plan {} times", of.cache_kills),
        (0, 0) if compactions == 1 => "A node compacted by plan beside its load".to_owned(),
        (nodes, disks) if compactions > 0 => {
            format!(
                "Nodes were taken away, disks failed and nodes compacted by plan {} times in all",
                nodes + disks + compactions
            )
        }
        (1, 0) => "A node was taken away by plan".to_owned(),
        (n, 0) => format!("Nodes were taken away by plan {n} times"),
        (0, 1) => "A disk failed by plan".to_owned(),
        (0, n) => format!("Disks failed by plan {n} times"),
        (nodes, disks) => {
            format!("Nodes were taken away by plan and disks failed {} times in all", nodes + disks)
        }
    };
    let lasting =
        when(nodes + disks > 0, || format!(", for {} of {} measured seconds", given(of.away_s), given(of.measured_s)));
    (
        format!(
            "{what}{lasting}, first at {} s. Throughput, latency and errors of the cells are those \
             of the whole measurement, with this time in it; steadiness, limits, machines and the validity of trials \
             are judged on the seconds before the first fault.",
            given(of.first_at_s)
        ),
        match (nodes, disks) {
            _ if of.cache_kills > 0 => "Read \"When a cache was lost\" for before, during and after apart.",
            (0, 0) => "Read \"While it compacted\" for before, during and after apart.",
            _ if compactions > 0 => {
                "Read \"When a node was away, a disk failed or it compacted\" for before, during and after apart."
            }
            (_, 0) => "Read \"When a node was away\" for before, during and after apart.",
            (0, _) => "Read \"When a disk failed\" for before, during and after apart.",
            _ => "Read \"When a node was away or a disk failed\" for before, during and after apart.",
        },
    )
}

pub(super) fn not_as_planned(of: &FaultNotAsPlanned) -> Words {
    let message = match of.problems.is_empty() {
        false => format!("A planned fault was not as planned: {}.", of.problems.join("; ")),
        true => format!("{} of {} planned faults happened.", count(of.happened), count(of.planned)),
    };
    (message, "The trial is not quite the one that was asked for: compare its phases with those of its repetitions.")
}

pub(super) fn writes_lost(of: &WritesLost) -> Words {
    let first = of.example.as_ref();
    let first = first.map_or_else(String::new, |e| format!(" The first: {e}."));
    let stale = if of.older > 0 { stale(of.consistency) } else { "" };
    (
        format!(
            "{} of {} values that were read back at {} had lost their last acknowledged write (older {}, missing {}, \
             foreign {}), in {} of {} trials.{stale}{first}",
            count(of.lost),
            count(of.values),
            level(of.consistency),
            count(of.older),
            count(of.missing),
            count(of.foreign),
            count(of.trials_with_loss),
            count(of.trials)
        ),
        "The database said that these writes were done. The configuration is left out of the recommendation. A write \
         outlives a node only where another replica has it, and is sure to be seen only where the replicas that writes \
         and reads wait for overlap; look at replication factor, consistency levels and commit-log sync. Keys: writes \
         in trial.json.",
    )
}

pub(super) fn writes_unread(of: &WritesUnread) -> Words {
    (
        format!(
            "{} of {} values with an acknowledged write could not be read back at {}: whether they are lost is not \
             known.",
            count(of.unreadable),
            count(of.values),
            level(of.consistency)
        ),
        "Too few replicas answered at the end. Let the node come back early enough before the end of the trial, or \
         read \"none lost\" as said of the others alone.",
    )
}

fn level(consistency: Consistency) -> String {
    consistency.name().to_uppercase()
}
