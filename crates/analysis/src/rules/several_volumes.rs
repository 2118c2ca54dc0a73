//! Did configurations that share a volume of EBS have one volume in each block?
//!
//! They share it so that what machines and volumes differ by is no part of their ratio. Machines that are made anew
//! between two trials of a block, or before a trial that is repeated, bring other volumes into it.

use std::collections::{BTreeMap, BTreeSet};

use evidence::HostId;
use experiment::AwsPair;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Trials of a block that were to share a volume had several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeveralVolumes {
    /// The configurations that were to share it.
    pub configurations: Vec<String>,
    /// In which blocks.
    pub blocks: Vec<VolumesOfBlock>,
}

/// Volumes that a host had in the trials of one block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VolumesOfBlock {
    /// Which block.
    pub block: u32,
    /// Whose data they hold.
    pub host: HostId,
    /// Their ids.
    pub volumes: Vec<String>,
}

/// Blocks in which valid trials of a pair had several volumes. A trial that does not say which it had says nothing.
pub(crate) fn of_pair(pair: &AwsPair, trials: &[&TrialMeasurement]) -> Option<Seen<SeveralVolumes>> {
    let mut volumes: BTreeMap<(u32, HostId), BTreeSet<&Vec<String>>> = BTreeMap::new();
    let of_pair =
        trials.iter().filter(|trial| trial.is_valid() && pair.level_of(&trial.record.configuration).is_some());
    for trial in of_pair {
        for (host, ids) in &trial.record.data_volumes {
            volumes.entry((trial.record.block, *host)).or_default().insert(ids);
        }
    }
    let several = volumes.into_iter().filter(|(_, all)| all.len() > 1).map(|((block, host), all)| {
        let volumes = all.into_iter().flatten().cloned().collect();
        VolumesOfBlock { block, host, volumes }
    });
    let blocks: Vec<VolumesOfBlock> = several.collect();
    let configurations = pair.levels.iter().map(|level| level.configuration.clone()).collect();
    (!blocks.is_empty()).then(|| SeveralVolumes { configurations, blocks }.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::cases::recorded;

    fn pair() -> AwsPair {
        let level = |name: &str, iops: u32| json!({ "configuration": name, "kind": "io2", "iops": iops });
        let levels = [level("low", 3_000), level("high", 6_000)];
        serde_json::from_value(json!({ "levels": levels, "size_gib": 200, "modifications": 2 })).unwrap()
    }

    fn trial(configuration: &str, block: u32, volume: Option<&str>) -> TrialMeasurement {
        recorded(|record| {
            (record.configuration, record.block) = (configuration.to_owned(), block);
            let ids = volume.map(|id| (HostId::DATABASE, vec![id.to_owned()]));
            record.data_volumes = ids.into_iter().collect();
        })
    }

    #[test]
    fn a_block_that_went_on_on_another_volume_is_found_and_a_new_one_between_blocks_is_not() {
        let found = |trials: &[TrialMeasurement]| {
            let trials: Vec<&TrialMeasurement> = trials.iter().collect();
            of_pair(&pair(), &trials).map(|seen| seen.figures)
        };
        let (low, high) = (|block, volume| trial("low", block, volume), |block, volume| trial("high", block, volume));
        let (old, new) = (Some("vol-1"), Some("vol-2"));
        let between = [low(1, old), high(1, old), high(2, new), low(2, new)];
        assert_eq!(found(&between), None);
        let within = [low(1, old), high(1, old), high(2, old), low(2, new)];
        let volumes =
            VolumesOfBlock { block: 2, host: HostId::DATABASE, volumes: vec!["vol-1".to_owned(), "vol-2".to_owned()] };
        let names = vec!["low".to_owned(), "high".to_owned()];
        assert_eq!(found(&within), Some(SeveralVolumes { configurations: names, blocks: vec![volumes] }));
        // One that shares nothing, one that is in no ratio, and one of which nobody knows.
        assert_eq!(found(&[low(1, old), trial("other", 1, new), high(1, None)]), None);
        let mut invalid = high(1, new);
        invalid.forbidden = Some("the trial is invalid".to_owned());
        assert_eq!(found(&[low(1, old), invalid]), None);
    }
}
