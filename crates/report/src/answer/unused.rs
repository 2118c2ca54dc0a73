//! IOPS that were paid and that nothing used, because the volume's bytes a second ended before.

use analysis::{Analysis, CellAnalysis, LimitKind, each_once};

use crate::figures::{whole, whole_percent};
use crate::wording::limits::fullest;

/// IOPS are unused up to this share of them: with more, what is bought next would have to be both.
const UNUSED: f64 = 0.8;

/// A sentence for each configuration whose volumes were limited by bytes a second and had IOPS to spare in every cell.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let of = |name: &str| -> Option<String> {
        let cells = || analysis.cells.iter().filter(|c| c.configuration == name && c.valid_trials > 0);
        let iops = |cell: &CellAnalysis| fullest(&cell.limit, LimitKind::VolumeIops).copied();
        let is_limited = |cell: &CellAnalysis| cell.limit.kind == LimitKind::VolumeThroughput;
        let most = cells().filter_map(iops).max_by(|a, b| a.share().total_cmp(&b.share()))?;
        (cells().any(is_limited) && most.share() <= UNUSED).then(|| {
            format!(
                "{name} was limited by MB/s and used {} of its {} IOPS: for requests of this size the rest buys \
                 nothing.",
                whole_percent(most.share()),
                whole(most.capacity * analysis.scale)
            )
        })
    };
    let names = each_once(analysis.cells.iter().map(|cell| cell.configuration.as_str()));
    names.into_iter().filter_map(of).collect()
}
