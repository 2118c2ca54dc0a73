//! RAID 0 of volumes on the machine that would have to make it.

use crate::{DataLayout, Experiment, Note, ThisMachine};

/// RAID 0 that this machine cannot make: a run here is refused.
pub(crate) fn not_here(experiment: &Experiment, machine: &ThisMachine) -> Option<Note> {
    let why = machine.cannot_stripe.as_ref()?;
    let mut all = experiment.configurations.iter();
    let configuration = all.find(|c| matches!(c.data_volume.layout, Some(DataLayout::Raid0 { .. })))?;
    let message = format!("{}: a run on this machine is refused: {why}", configuration.name);
    let advice = "See `iopslab doctor`; or state layout = \"directories\": a data directory on each volume";
    Some(Note::new("raid0_not_here", message, advice))
}
