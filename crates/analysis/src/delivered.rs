//! The database's requests beside what the probe found the volume to deliver.

use crate::document::{CellAnalysis, ConfigurationFacts, Delivered, VolumeReport};

/// Of a cell; `None` where nobody probed its data volume, or its requests were not seen.
pub fn of_cell(cell: &CellAnalysis, configurations: &[ConfigurationFacts]) -> Option<Delivered> {
    let configuration = configurations.iter().find(|c| c.name == cell.configuration)?;
    let delivered_iops = configuration.probed_read_iops()? * f64::from(configuration.nodes);
    let with_writes = configuration.data_volumes().all(VolumeReport::is_combined);
    let writes = if with_writes { cell.device_write_iops? } else { 0.0 };
    (delivered_iops > 0.0).then_some(Delivered {
        used_iops: cell.device_read_iops? + writes,
        delivered_iops,
        with_writes,
    })
}

#[cfg(test)]
mod tests {
    use crate::analyse;
    use crate::story::{job, run, trials};

    /// The story's volumes deliver what their probes say; reads and writes have limits of their own.
    #[test]
    fn a_cell_says_how_much_of_its_volume_it_used_and_nothing_without_a_probe() {
        let (job, mut trials) = (job(), trials());
        let analysis = analyse(&run(&job, &trials));
        for cell in &analysis.cells {
            let delivered = cell.delivered.unwrap();
            let volume = &analysis
                .configurations
                .iter()
                .find(|c| c.name == cell.configuration)
                .unwrap()
                .volumes[0];
            assert_eq!(delivered.delivered_iops, volume.probe.unwrap().read_iops);
            assert_eq!(delivered.used_iops, cell.device_read_iops.unwrap());
            assert!(!delivered.with_writes && delivered.share() > 0.0);
        }
        for trial in &mut trials {
            trial.record.nodes[0].volumes.iter_mut().for_each(|v| v.probe = None);
        }
        assert!(
            analyse(&run(&job, &trials))
                .cells
                .iter()
                .all(|cell| cell.delivered.is_none())
        );
    }
}
