//! Did the machine itself stay out of the way?

use analysis::{PROGRAMS, Rule};

use super::of::{Of, count};
use crate::figures::MIB;

pub fn words(of: &Of<'_>) -> (String, &'static str) {
    match of.0.rule {
        Rule::ClockDrift => (
            format!(
                "The clock of {} moved by {:.0} ms against the controller's during the trial.",
                of.fact("host"),
                of.number("drift_ms")
            ),
            "Its samples are up to half of that off in time. Look for a clock that is being set (chrony, ntpd, a suspended machine).",
        ),
        Rule::ClientsApart => (
            format!(
                "The {:.0} clients that share the load began {:.0} ms apart.",
                of.number("clients"),
                of.number("apart_ms")
            ),
            "Their seconds are not the same seconds. Look for a client host that was slow to connect, or whose clock was set.",
        ),
        Rule::CpuSteal => (
            format!(
                "The hypervisor took {} of the host's CPU time ({} in the worst 10 s).",
                of.percent("steal_share"),
                of.percent("steal_share_worst_10_s")
            ),
            "The hypervisor gave this CPU time to others. Compare this trial with its repetitions; use dedicated or larger instances where it recurs.",
        ),
        Rule::CpuThrottled => (
            format!(
                "A CPU quota that nobody asked for held the database back in {} of its periods.",
                of.percent("throttled_periods_share")
            ),
            "Look for a CPU limit on the service, container or slice in which this runs.",
        ),
        Rule::OtherWork => (
            format!(
                "Programs that are no part of the run used {:.2} CPUs of the database's host{}.",
                of.number("other_cpus"),
                of.0.fact(PROGRAMS)
                    .map_or_else(String::new, |programs| format!(" ({programs})"))
            ),
            "They take CPU time, memory bandwidth and shared caches, so that an operation costs more. Stop them, or measure at another hour.",
        ),
        Rule::GcPauses => {
            let longest_s = of.number("longest_pause_s");
            let once = if longest_s > of.number("threshold_s") {
                format!(", once for {:.0} ms", longest_s * 1e3)
            } else {
                String::new()
            };
            (
                format!(
                    "Garbage collection paused the database for {} of the window{once}.",
                    of.percent("gc_pause_share")
                ),
                "Look at gc.log; a heap too small for the load hides what the storage could do.",
            )
        }
        Rule::CompactionDebt => (
            format!(
                "Compactions waiting or running grew from {:.1} to {:.1} in the window.",
                of.number("compactions_start"),
                of.number("compactions_end")
            ),
            "The database wrote faster than it can compact: this throughput is on credit. Measure longer, until the number stays level.",
        ),
        Rule::WritesNotFlushed => (
            format!(
                "Clients wrote {:.1} MiB/s of payload{}. In {:.0} s {}{}.",
                of.number("written_bytes_per_s") / MIB,
                of.0.number("written_share").map_or_else(String::new, |share| format!(
                    ", {:.0} % of what the node's data volumes may write",
                    share * 100.0
                )),
                of.number("window_s"),
                match of.number("flushes").round() as u64 {
                    0 => "no memtable was flushed".to_owned(),
                    1 => "one memtable was flushed".to_owned(),
                    flushes => format!("{flushes} memtables were flushed"),
                },
                of.0.number("data_volume_bytes_per_s")
                    .map_or_else(String::new, |bytes| format!(
                        ", and the data volumes wrote {:.1} MiB/s",
                        bytes / MIB
                    ))
            ),
            "This is the throughput of memory and the commit log: what flushes, and compactions after them, take of the data volume is hardly in it. \
             Measure for minutes, until several flushes have reached the volume.",
        ),
        Rule::CompactionBacklog => (
            format!(
                "The trial began with a backlog: {}",
                backlog(of, of.0.number("compacted_until_s"))
            ),
            "Asked for by `backlog`: its figures are those of the whole measurement, of no steady state. Compare trials of equal length.",
        ),
        Rule::CompactionBacklogLeft => (
            format!(
                "The trial began with a backlog, which was still being compacted at its end: {}",
                backlog(of, None)
            ),
            "Its figures are those of a database on its way. Measure longer (duration_s in [load]), or with a smaller backlog, to see how it \
             goes on.",
        ),
        Rule::DroppedMessages => (
            format!(
                "The database dropped {} messages: it shed load to survive.",
                of.count("dropped_messages")
            ),
            "The load level is beyond what this configuration sustains; its throughput includes work that was thrown away.",
        ),
        _ => (
            format!(
                "{:.2} TCP segments were sent again for each megabyte sent.",
                of.number("retransmits_per_mb")
            ),
            "The counter is that of the whole machine. Where client and database share it they talk over loopback, which loses nothing: other \
             programs sent these, or the CPUs were too busy to answer in time. Between machines: look at the instance's network allowance before \
             judging its storage.",
        ),
    }
}

/// What became of a backlog of compaction.
fn backlog(of: &Of<'_>, until_s: Option<f64>) -> String {
    let known = |name: &str| of.0.number(name);
    let left = known("sstables_left").map_or_else(String::new, |left| format!(", {} at the end", count(left)));
    let written = known("compacted_bytes").map_or_else(String::new, |bytes| {
        format!("; compactions wrote {} MB", count(bytes / 1e6))
    });
    let until = until_s.map_or_else(
        || format!("to the end at {:.0} s", of.number("measured_s")),
        |until_s| format!("to {until_s:.0} s"),
    );
    let rate = |name: &str, when: &str| known(name).map(|rate| format!("{} operations/s {when}", count(rate)));
    let rates: Vec<String> = [
        ("operations_per_s_meanwhile", "meanwhile"),
        ("operations_per_s_after", "after"),
    ]
    .into_iter()
    .filter_map(|(name, when)| rate(name, when))
    .collect();
    let rates = if rates.is_empty() {
        String::new()
    } else {
        format!(": {}", rates.join(", "))
    };
    format!(
        "{} SSTables when measurement had begun{left}{written}. It was compacted from {:.1} s {until}{rates}.",
        of.count("sstables"),
        of.number("compacts_from_s")
    )
}
