//! What Cassandra did beside its work, in words.

use analysis::Untried;
use analysis::rules::cassandra::code_not_warm::CodeNotWarm;
use analysis::rules::cassandra::compaction_backlog::Backlog;
use analysis::rules::cassandra::compaction_debt::CompactionDebt;
use analysis::rules::cassandra::dropped_messages::DroppedMessages;
use analysis::rules::cassandra::gc_pauses::GcPauses;
use analysis::rules::cassandra::writes_not_flushed::WritesNotFlushed;

use super::amounts::{Words, percent};
use crate::figures::{MIB, bytes, number, whole};

pub fn code_not_warm(of: &CodeNotWarm) -> Words {
    if of.volume_was_limit {
        // The same for all trials, so that it is said once.
        let message = "The database was still compiling its code, or nobody saw that it was not. A volume at its limit \
                       gives what it gives all the same; latencies may be longer for it.";
        return (
            message.to_owned(),
            "Throughput is that of the volume. For latencies lengthen [load] warmup_s until the compilers use less \
             than 5 % (compiler_cpu_s beside process_cpu_s in the trial's host samples).",
        );
    }
    let message = match of.compiler_share {
        Some(share) => {
            let why = match of.preparation_ended_early {
                true => " The preparation ended before its code was compiled.",
                false => "",
            };
            format!(
                "The database was still compiling its code: its compilers used {} of its CPU while it was \
                 measured.{why}",
                percent(share)
            )
        }
        None => "The preparation ended before the database's code was compiled, and nobody saw its compilers while it \
                 was measured."
            .to_owned(),
    };
    (
        message,
        "Code that is not compiled yet costs several times the CPU. Lengthen [load] warmup_s until the compilers use \
         less than 5 % (compiler_cpu_s beside process_cpu_s in the trial's host samples).",
    )
}

pub fn gc_pauses(of: &GcPauses) -> Words {
    let longest_s = of.longest_pause_s;
    let once = if longest_s > of.threshold_s { format!(", once for {:.0} ms", longest_s * 1e3) } else { String::new() };
    (
        format!("Garbage collection paused the database for {} of the window{once}.", percent(of.gc_pause_share)),
        "Look at gc.log; a heap too small for the load hides what the storage could do.",
    )
}

pub fn compaction_debt(of: &CompactionDebt) -> Words {
    (
        format!(
            "Compactions waiting or running grew from {:.1} to {:.1} in the window.",
            of.compactions_start, of.compactions_end
        ),
        "The database wrote faster than it can compact: this throughput is on credit. Measure longer, until the number \
         stays level.",
    )
}

pub fn writes_not_flushed(of: &WritesNotFlushed) -> Words {
    (
        format!(
            "Clients wrote {:.1} MiB/s of payload{}. In {:.0} s {}{}.",
            of.written_bytes_per_s / MIB,
            of.written_share.map_or_else(String::new, |share| format!(
                ", {:.0} % of what the node's data volumes may write",
                share * 100.0
            )),
            of.window_s,
            match of.flushes.round() as u64 {
                0 => "no memtable was flushed".to_owned(),
                1 => "one memtable was flushed".to_owned(),
                flushes => format!("{flushes} memtables were flushed"),
            },
            of.data_volume_bytes_per_s
                .map_or_else(String::new, |bytes| format!(", and the data volumes wrote {:.1} MiB/s", bytes / MIB))
        ),
        "This is the throughput of memory and the commit log: what flushes, and compactions after them, take of the \
         data volume is hardly in it. Measure for minutes, until several flushes have reached the volume.",
    )
}

pub fn compacted_backlog(of: &Backlog) -> Words {
    (
        format!("The trial began with a backlog: {}", backlog(of)),
        "Asked for by `backlog`: its figures are those of the whole measurement, of no steady state. Compare trials of \
         equal length.",
    )
}

pub fn backlog_left(of: &Backlog) -> Words {
    (
        format!("The trial began with a backlog, which was still being compacted at its end: {}", backlog(of)),
        "Its figures are those of a database on its way. Measure longer (duration_s in [load]), or with a smaller \
         backlog, to see how it goes on.",
    )
}

/// What became of a backlog of compaction.
fn backlog(of: &Backlog) -> String {
    let left = of.sstables_left.map_or_else(String::new, |left| format!(", {} at the end", whole(left)));
    let written =
        of.compacted_bytes.map_or_else(String::new, |bytes| format!("; compactions wrote {} MB", whole(bytes / 1e6)));
    let until = of
        .compacted_until_s
        .map_or_else(|| format!("to the end at {:.0} s", of.measured_s), |until_s| format!("to {until_s:.0} s"));
    let rate = |rate: Option<f64>, when: &str| rate.map(|rate| format!("{} operations/s {when}", whole(rate)));
    let rates = [rate(of.operations_per_s_meanwhile, "meanwhile"), rate(of.operations_per_s_after, "after")];
    let rates: Vec<String> = rates.into_iter().flatten().collect();
    let rates = if rates.is_empty() { String::new() } else { format!(": {}", rates.join(", ")) };
    format!(
        "{} SSTables when measurement had begun{left}{written}. It was compacted from {:.1} s {until}{rates}.",
        whole(of.sstables),
        of.compacts_from_s
    )
}

pub fn dropped_messages(of: &DroppedMessages) -> Words {
    (
        format!("The database dropped {} messages: it shed load to survive.", whole(of.dropped_messages)),
        "The load level is beyond what this configuration sustains; its throughput includes work that was thrown away.",
    )
}

/// A setting that was not tried: what it is, what was seen `with` a configuration, and who expects what.
pub fn untried(setting: Untried, with: &str) -> (&'static str, String, &'static str) {
    match setting {
        Untried::ChunkLength { read_bytes_per_read, record_bytes, chunk_bytes } => (
            "smaller compression chunks (table compression chunk_length_in_kb = 4)",
            format!(
                "a read {with} takes {} from the volumes for a record of {}, in chunks of {}",
                bytes(read_bytes_per_read),
                bytes(record_bytes),
                bytes(chunk_bytes)
            ),
            "less is expected by Cassandra's documentation on compression: a chunk is read whole",
        ),
        Untried::CompactionStrategy { sstables_per_read } => (
            "leveled or unified compaction (table compaction class = LeveledCompactionStrategy or \
             UnifiedCompactionStrategy)",
            format!("a read {with} merges {} SSTables", number(sstables_per_read)),
            "fewer are expected by Cassandra's documentation on compaction",
        ),
        Untried::ReadAhead { read_bytes_per_request, chunk_bytes } => (
            "less read-ahead (host read_ahead_kb = 8)",
            format!(
                "a read request {with} takes {} from its volume, where a chunk has {}",
                bytes(read_bytes_per_request),
                bytes(chunk_bytes)
            ),
            "less is expected by the check that Cassandra does when it starts, which recommends 8 KB on SSDs",
        ),
    }
}
