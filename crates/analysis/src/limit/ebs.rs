//! At which limits a volume is taken to be in each window, in the terms in which Amazon EBS counts.

use evidence::VolumeFacts;
use experiment::Setup;

use super::pauses::Pauses;
use super::window::{Dimension, Watched};
use super::{instance, volume};
use crate::document::limit::LimitKind;
use crate::ebs::EbsExceeded;
use crate::node::Node;

/// What we take a volume to be at in a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LimitsOfWindow {
    /// Limits that it is at by itself.
    own: Vec<(LimitKind, Dimension)>,
    /// Whether it is at a limit of the instance together with others: which of them EBS then holds back is not known.
    pub path_is_full: bool,
}

impl LimitsOfWindow {
    /// Whether it is at no limit.
    pub fn is_none(&self) -> bool {
        self.own.is_empty() && !self.path_is_full
    }

    /// The largest share of the window that EBS counts as above one of the limits that the volume is at by itself.
    pub fn share_of(&self, exceeded: &EbsExceeded) -> f64 {
        let of = |(kind, dimension): &(LimitKind, Dimension)| {
            let (of_volume, of_instance) = match dimension {
                Dimension::Requests => (exceeded.volume_iops, exceeded.instance_iops),
                Dimension::Bytes => (exceeded.volume_bytes, exceeded.instance_bytes),
            };
            match kind {
                LimitKind::InstanceEbsBandwidth => of_instance,
                // The narrower of both, whichever that is.
                LimitKind::CommitLog => of_volume.max(of_instance),
                _ => of_volume,
            }
        };
        self.own.iter().map(of).fold(0.0, f64::max)
    }
}

/// The limits that a volume is at, window by window; `None` where none of its limits is known.
pub fn limits_by_window(setup: Option<&Setup>, node: &Node<'_>, facts: &VolumeFacts) -> Option<Vec<LimitsOfWindow>> {
    let count = node.activity(facts.role)?.windows.read_iops.len();
    let pauses = Pauses::of(node);
    let mut uses = volume::windows(setup, node, facts, &pauses);
    uses.extend(setup.map(|setup| instance::windows(setup, node, &pauses)).unwrap_or_default());
    // Ways of counting that have no limit have no windows.
    uses.retain(|(_, windows)| windows.len() == count);
    let is_known = count > 0 && !uses.is_empty();
    let mut found = vec![LimitsOfWindow::default(); count];
    for (watched, windows) in uses {
        for (limits, window) in found.iter_mut().zip(windows).filter(|(_, window)| window.at_cap) {
            match watched {
                Watched::Volume(_, dimension, _) => limits.own.push((window.kind, dimension)),
                _ => limits.path_is_full = true,
            }
        }
    }
    is_known.then_some(found)
}
