//! What caches in front of databases answered, and what was left to the database.

use analysis::{Analysis, CacheAnswer, CacheTierAnalysis};

use super::columns::{place, placed};
use crate::document::section::Section;
use crate::document::table::{Form, column};
use crate::figures::MIB;

/// A row for each cell with such caches; empty where there are none.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("cache-tier", "What the cache tier answered").mostly(Form::ROOMY);
    let cells: Vec<_> = analysis.cells.iter().filter_map(|cell| Some((cell, cell.cache_tier.as_ref()?))).collect();
    if cells.is_empty() {
        return section;
    }
    let table = placed("", cells, |(cell, _)| place(cell))
        .number("Hits, % of reads", |(_, tier)| percent(tier.hit_ratio))
        .number(column("Predicted, %").drop(4), |(_, tier)| percent(tier.predicted_hit_ratio))
        .number("Stale, %", |(_, tier)| percent(tier.stale_share))
        .number("Not answered, %", |(_, tier)| percent(tier.unanswered_share))
        .number("Reads/s that reached the database", |(_, tier)| tier.database_reads_per_s)
        .number("p99 of a hit, ms", |(_, tier)| p99_ms(tier, CacheAnswer::Hit))
        .number("p99 of a miss, ms", |(_, tier)| p99_ms(tier, CacheAnswer::Miss))
        .number(column("Evictions/s").drop(2), |(_, tier)| tier.evictions_per_s)
        .number(column("Records, MiB").drop(3), |(_, tier)| Some(tier.bytes? / MIB))
        .number(column("Network, MiB/s").drop(7), |(_, tier)| Some(tier.network_bytes_per_s? / MIB))
        .number(column("Network, % of the machines'").drop(6), |(_, tier)| percent(tier.network_share))
        .number(column("CPUs used").drop(1), |(_, tier)| tier.cpus_used)
        .number(column("CPU of a request, us").drop(5), |(_, tier)| tier.request_cpu_us);
    let method = "Medians over repetitions, all nodes of the tier together. Predicted are the hits of the workload's \
                  keys in memcached's LRU of that memory, full and undisturbed; none where caches begin cold or a \
                  fault is planned. Hits, and reads that reached the database, \
                  are of the reads alone, as the client saw them; those of a read-modify-write and scans are not \
                  among them. Stale is a hit, with a record older than a write that the client had already had \
                  acknowledged; counted at the least, since a client knows its own writes alone. p99 of a hit is that \
                  of the others. A miss takes the time of the cache, of the database, and of putting the record into \
                  the cache. Network is what the tier received and sent, and the larger of these of what the \
                  machines that are paid for carry at this scale; beside the database it is a machine's loopback, \
                  which holds nothing back. CPU of a request is what the caches' processes used for each get, set \
                  and delete.";
    let tiers = analysis.configurations.iter();
    let tiers = tiers.filter_map(|c| Some(format!("{}: {}.", c.name, c.cache_tier.as_ref()?)));
    section.key(method).list(tiers).table(table)
}

fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| share * 100.0)
}

fn p99_ms(tier: &CacheTierAnalysis, answer: CacheAnswer) -> Option<f64> {
    Some(tier.latency_us.get(&answer)?.figures.p99? / 1e3)
}
