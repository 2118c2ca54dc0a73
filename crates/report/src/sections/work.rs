//! What an operation cost: configurations side by side, so that an effect (operations, latency) has its cause (reads of
//! the devices, SSTables, caches, flushes and compactions) below it.

use analysis::{Analysis, CellAnalysis};

use crate::document::section::Section;
use crate::document::table::{Form, Rows, rows};
use crate::figures::{KIB, MIB};
use crate::labels;

/// Below the tables.
const METHOD: &str = "Medians over repetitions; beside a configuration its figure over that of the baseline. Device \
                          requests and bytes are those of all volumes of all nodes. SSTables, caches, flushes and \
                          compactions are the database's own counts of the measured window: for each read of the table \
                          on a node, how many SSTables were merged, and how often a bloom filter let it into one without \
                          the row; the bytes of the SSTables that flushes and compactions have written. A figure that no \
                          database here gives is left out.";

type Figure = fn(&CellAnalysis) -> Option<f64>;

/// In the order of the table: the effect, then what may have caused it.
const FIGURES: [(&str, Figure); 26] = [
    ("Operations/s, geo. mean", |c| c.throughput_ops_per_s.map(|t| t.median)),
    ("p99 of the slowest operation, ms", |c| c.latency_us.values().map(|l| l.p99 / 1e3).max_by(f64::total_cmp)),
    ("Device reads/op.", |c| c.device_reads_per_operation),
    ("Device writes/op.", |c| c.device_writes_per_operation),
    ("KiB read/op.", |c| Some(c.device_read_bytes_per_operation? / KIB)),
    ("KiB written/op.", |c| Some(c.device_write_bytes_per_operation? / KIB)),
    ("SSTables merged/read", |c| c.database.sstables_per_read),
    ("Bloom filter wrong/1,000 reads", |c| Some(c.database.bloom_false_positives_per_read? * 1e3)),
    ("Chunk cache hits, %", |c| Some(c.database.chunk_cache_hit_share? * 100.0)),
    ("Key cache hits, %", |c| Some(c.database.key_cache_hit_share? * 100.0)),
    ("Page cache, MiB", |c| Some(c.page_cache_bytes? / MIB)),
    ("of data on disk, %", |c| Some(c.page_cache_share? * 100.0)),
    ("Compressed to, %", |c| Some(c.database.compression_ratio? * 100.0)),
    ("Memory for chunk offsets, KiB", |c| Some(c.database.compression_metadata_bytes? / KIB)),
    ("SSTables of the backlog and at rest", |c| c.database.backlog_sstables),
    ("Backlog compacted until, s", |c| c.database.backlog_compacted_until_s),
    ("SSTables at the end", |c| c.database.sstables),
    ("Flushes in a trial", |c| c.database.flushes),
    ("Compactions in a trial", |c| c.database.compactions),
    ("Bytes flushed/op.", |c| c.database.flushed_bytes_per_operation),
    ("Bytes compacted/op.", |c| c.database.compacted_bytes_per_operation),
    ("Read IOPS", |c| c.device_read_iops),
    ("Write IOPS", |c| c.device_write_iops),
    ("Database CPUs", |c| c.database_cpus_used),
    ("GC pauses, %", |c| Some(c.gc_pause_share? * 100.0)),
    ("Client CPU/op., us", |c| c.client_cpu_us_per_operation),
];

/// Cells beside each other.
struct Group<'a> {
    /// Workload, and the load where it is one.
    title: String,
    cells: Vec<&'a CellAnalysis>,
    /// The baseline, where it is among them under the same load.
    baseline: Option<&'a CellAnalysis>,
    has_one_load: bool,
}

/// A table for each workload and load; empty where no cell has a valid trial.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("work", "What an operation cost").mostly(Form::ROOMY);
    let groups = groups(analysis);
    if groups.is_empty() {
        return section;
    }
    let tables = groups.iter().map(Group::table);
    let section = tables.fold(section, |section, table| section.table(table));
    section.key(METHOD)
}

/// The cells with a valid trial: a table for each workload and load that several configurations have; for each workload
/// one of those that are alone under their load.
fn groups(analysis: &Analysis) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    for workload in &analysis.workloads {
        let mut alone = Vec::new();
        for (_, load) in labels::places(analysis).into_iter().filter(|(of, _)| *of == workload.name) {
            let beside = analysis.cells_at(&workload.name, Some(load));
            let cells: Vec<&CellAnalysis> = beside.filter(|c| c.valid_trials > 0).collect();
            if cells.len() < 2 {
                alone.extend(cells);
                continue;
            }
            groups.push(Group {
                title: format!("{}; {}", workload.name, labels::load(load)),
                baseline: cells.iter().copied().find(|c| c.configuration == analysis.baseline),
                cells,
                has_one_load: true,
            });
        }
        if !alone.is_empty() {
            groups.push(Group { title: workload.name.clone(), cells: alone, baseline: None, has_one_load: false });
        }
    }
    groups
}

impl Group<'_> {
    /// A row for each figure that one of the cells has; beside a cell its figures over those of the baseline.
    fn table(&self) -> Rows<(&'static str, Figure)> {
        let known = FIGURES.into_iter().filter(|(_, of)| self.cells.iter().any(|c| of(c).is_some()));
        let table = rows(&*self.title, known).class("dense").text("Figure", |(name, _)| *name);
        self.cells.iter().fold(table, |table, cell| {
            let name = match self.has_one_load {
                true => cell.configuration.clone(),
                false => format!("{}; {}", cell.configuration, labels::load(cell.load)),
            };
            let table = table.number(name, |(_, of)| of(cell));
            let Some(baseline) = self.baseline.filter(|baseline| baseline.id != cell.id) else {
                return table;
            };
            table.number(format!("to {}, x", baseline.configuration), |(_, of)| {
                let its = of(baseline).filter(|its| *its != 0.0)?;
                Some(of(cell)? / its)
            })
        })
    }
}
