//! An operation of one workload costs the same CPU time, whatever the volume.

use super::pair::ComparedCells;
use crate::document::CellAnalysis;
use crate::document::limit::LimitKind;
use crate::finding::{Finding, Scope};
use crate::physics::figures::CpuPerOperation;
use crate::rules::code_is_warm;

/// So many times the CPU time of the cheapest cell of the workload (practice): what waiting, batching and a colder page
/// cache cost is less. A Cassandra that compiles is found at three to six times.
const TIMES_MAX: f64 = 2.0;

/// The finding on a cell that the CPU limits and whose operations cost too much. Where there is CPU to spare, what is
/// done without load is much of it, and costs no throughput.
pub fn finding(together: &ComparedCells<'_>, at: usize) -> Option<Finding> {
    let cell = &together.cells[at];
    let mut uses = cell.limit.uses.iter();
    uses.find(|used| used.kind == LimitKind::Cpu && used.at_cap)?;
    let mine = cpu_us(cell)?;
    let others = together.others(at).filter_map(|(_, other)| Some((cpu_us(other)?, other)));
    let (least, other) = others.min_by(|a, b| a.0.total_cmp(&b.0))?;
    (mine > TIMES_MAX * least).then(|| {
        let figures = CpuPerOperation {
            other: other.configuration.clone(),
            cpu_us_per_operation: mine,
            cpu_us_per_operation_of_other: least,
            threshold: TIMES_MAX,
            // Compiled code that costs more has another reason, such as a slower processor.
            code_is_warm: together.trials_of(cell).all(code_is_warm),
        };
        Finding::new(Scope::Cell(cell.id.clone()), figures)
    })
}

/// CPU time of all nodes for each operation, microseconds.
fn cpu_us(cell: &CellAnalysis) -> Option<f64> {
    let throughput = cell.throughput_ops_per_s.as_ref()?.median;
    stats::ratio(cell.database_cpus_used? * 1e6, throughput).filter(|us| *us > 0.0)
}
