//! At which limits a volume is taken to be in each window, in the terms in which Amazon EBS counts, and who serves an
//! emulated one.

use evidence::VolumeFacts;
use experiment::Setup;

use super::pauses::Pauses;
use super::window::{Dimension, VOLUME_AT_CAP, Watched};
use super::{instance, volume};
use crate::document::limit::LimitKind;
use crate::ebs::EbsExceeded;
use crate::node::Node;

/// What we take a volume to be at in a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LimitsOfWindow {
    /// Limits that it is at by itself.
    own: Vec<(LimitKind, Dimension)>,
    /// The largest share of a limit that it used by itself, of requests and of bytes, at its cap or not.
    used: [f64; 2],
    /// Whether it is emulated: then the narrower of what volume and instance let through is the volume's own limit.
    is_emulated: bool,
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
                // The narrower of both, whichever that is.
                LimitKind::InstanceEbsBandwidth if self.is_emulated => of_volume.max(of_instance),
                LimitKind::CommitLog => of_volume.max(of_instance),
                LimitKind::InstanceEbsBandwidth => of_instance,
                _ => of_volume,
            }
        };
        self.own.iter().map(of).fold(0.0, f64::max)
    }

    /// Whether the volume did at least what one does that is at its limits for as long as is counted, and at none for
    /// the rest of the window; shares of it below `least` are not looked at.
    pub fn allow(&self, exceeded: &EbsExceeded, least: f64) -> bool {
        let [requests, bytes] = self.used;
        let counted = [
            (exceeded.volume_iops.max(exceeded.instance_iops), requests),
            (exceeded.volume_bytes.max(exceeded.instance_bytes), bytes),
        ];
        counted.into_iter().all(|(share, used)| share < least || used >= VOLUME_AT_CAP * share)
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
    let mut found = vec![LimitsOfWindow { is_emulated: facts.is_served, ..LimitsOfWindow::default() }; count];
    for (watched, windows) in uses {
        for (limits, window) in found.iter_mut().zip(windows) {
            match watched {
                Watched::Volume(_, dimension, _) => {
                    let used = &mut limits.used[dimension as usize];
                    *used = used.max(window.share());
                    limits.own.extend(window.at_cap.then_some((window.kind, dimension)));
                }
                _ => limits.path_is_full |= window.at_cap,
            }
        }
    }
    is_known.then_some(found)
}
