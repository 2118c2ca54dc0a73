//! What an operation cost: configurations side by side, so that an effect (operations, latency) has its cause (reads of
//! the devices, what the database reports) below it.

use analysis::{Analysis, CellAnalysis};
use reported::{Place, Reports};

use crate::document::section::Section;
use crate::document::table::{Form, Rows, rows};
use crate::figures::{KIB, MIB};
use crate::labels;

/// Below the tables: what is said of every database ...
const METHOD: &str = "Medians over repetitions; beside a configuration its figure over that of the baseline. Device \
                          requests and bytes are those of all volumes of all nodes.";
/// ... and after what its product says of its own figures.
const MISSING: &str = "A figure that no database here gives is left out.";

/// A figure of a cell.
#[derive(Clone, Copy)]
enum Figure {
    /// Measured of every database.
    Measured(&'static str, fn(&CellAnalysis) -> Option<f64>),
    /// What its product reports.
    Reported(&'static reported::Figure),
}
use Figure::{Measured, Reported};

/// The effect, and what it took of the devices.
const EFFECT: [Figure; 8] = [
    Measured("Operations/s, geo. mean", |c| c.throughput_ops_per_s.map(|t| t.median)),
    Measured("p99 of the slowest operation, ms", |c| {
        c.latency_us.values().filter_map(|l| Some(l.figures.p99? / 1e3)).max_by(f64::total_cmp)
    }),
    Measured("Cache tier hits, % of reads", |c| Some(c.cache_tier.as_ref()?.hit_ratio? * 100.0)),
    Measured("Reads/s that reached the database", |c| c.cache_tier.as_ref()?.database_reads_per_s),
    Measured("Device reads/op.", |c| c.device_reads_per_operation),
    Measured("Device writes/op.", |c| c.device_writes_per_operation),
    Measured("KiB read/op.", |c| Some(c.device_read_bytes_per_operation? / KIB)),
    Measured("KiB written/op.", |c| Some(c.device_write_bytes_per_operation? / KIB)),
];
const CACHE: [Figure; 2] = [
    Measured("Page cache, MiB", |c| Some(c.page_cache_bytes? / MIB)),
    Measured("of data on disk, %", |c| Some(c.page_cache_share? * 100.0)),
];
const MACHINES: [Figure; 5] = [
    Measured("Read IOPS", |c| c.device_read_iops),
    Measured("Write IOPS", |c| c.device_write_iops),
    Measured("Database CPUs", |c| c.database_cpus_used),
    Measured("GC pauses, %", |c| Some(c.gc_pause_share? * 100.0)),
    Measured("Client CPU/op., us", |c| c.client_cpu_us_per_operation),
];

impl Figure {
    /// In the order of the table: the effect, then what may have caused it.
    fn all(product: Option<&'static Reports>) -> Vec<Self> {
        let figures = product.map_or(&[][..], |product| product.figures);
        let placed = |place| figures.iter().filter(move |figure| figure.place == place).map(|figure| Reported(figure));
        let lookups = EFFECT.into_iter().chain(placed(Place::Lookups));
        lookups.chain(CACHE).chain(placed(Place::Kept)).chain(placed(Place::Background)).chain(MACHINES).collect()
    }

    fn label(&self) -> &'static str {
        match self {
            Measured(label, _) => label,
            Reported(figure) => figure.label,
        }
    }

    fn of(&self, cell: &CellAnalysis) -> Option<f64> {
        match self {
            Measured(_, of) => of(cell),
            Reported(figure) => Some(cell.database.get(figure)? * figure.shown_times),
        }
    }
}

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
    let section = groups.iter().map(Group::table).fold(section, |section, table| section.table(table));
    let product = analysis.cells.iter().find_map(|cell| cell.database.product());
    let words = [METHOD, product.map_or("", |product| product.how_to_read), MISSING];
    section.key(words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" "))
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
    fn table(&self) -> Rows<Figure> {
        let product = self.cells.iter().find_map(|cell| cell.database.product());
        let is_known = |figure: &Figure| self.cells.iter().any(|cell| figure.of(cell).is_some());
        let known = Figure::all(product).into_iter().filter(is_known);
        let table = rows(&*self.title, known).class("dense").text("Figure", Figure::label);
        self.cells.iter().fold(table, |table, cell| {
            let name = match self.has_one_load {
                true => cell.configuration.clone(),
                false => format!("{}; {}", cell.configuration, labels::load(cell.load)),
            };
            let table = table.number(name, |figure| figure.of(cell));
            let Some(baseline) = self.baseline.filter(|baseline| baseline.id != cell.id) else { return table };
            table.number(format!("to {}, x", baseline.configuration), |figure| {
                let its = figure.of(baseline).filter(|its| *its != 0.0)?;
                Some(figure.of(cell)? / its)
            })
        })
    }
}
