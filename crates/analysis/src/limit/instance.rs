//! What the volumes of an instance did together of what it lets through to them.

use experiment::Setup;

use super::pauses::Pauses;
use super::window::{Dimension, Watched, Window};
use crate::document::limit::LimitKind;
use crate::host::WindowRates;
use crate::node::Node;
use crate::rules::VOLUME_AT_CAP;

/// Requests and bytes of all volumes, window by window; nothing where they do not share a path that is held.
pub fn windows(setup: &Setup, node: &Node<'_>, pauses: &Pauses) -> Vec<(Watched, Vec<Window>)> {
    let Some(limits) = setup.instance_limits else {
        return Vec::new();
    };
    let volumes = node.facts.volumes.iter().map(|facts| node.activity(facts.role));
    let rates: Option<Vec<&WindowRates>> = volumes.map(|activity| Some(&activity?.windows)).collect();
    let rates = rates.filter(|rates| rates.len() > 1).unwrap_or_default();
    let of = |dimension: Dimension, capacity: Option<f64>, reads: Rates, writes: Rates| {
        let done = |rates: &&WindowRates| -> Vec<f64> {
            reads(rates).iter().zip(writes(rates)).map(|(reads, writes)| reads + writes).collect()
        };
        let each: Vec<Vec<f64>> = rates.iter().map(done).collect();
        let count = each.iter().map(Vec::len).min().unwrap_or(0);
        let together = (0..count).map(|window| each.iter().map(|volume| volume[window]).sum::<f64>());
        let capacity = capacity.filter(|capacity| *capacity > 0.0);
        let windows = capacity.map(|capacity| {
            let window = |(at, used)| {
                let whole = Window::at(LimitKind::InstanceEbsBandwidth, used, capacity, VOLUME_AT_CAP);
                whole.between(pauses.in_window(at), VOLUME_AT_CAP)
            };
            together.enumerate().map(window).collect()
        });
        (Watched::Instance(dimension), windows.unwrap_or_default())
    };
    vec![
        of(Dimension::Requests, limits.read_iops, |rates| &rates.read_iops, |rates| &rates.write_iops),
        of(
            Dimension::Bytes,
            limits.read_bytes_per_s,
            |rates| &rates.read_bytes_per_s,
            |rates| &rates.write_bytes_per_s,
        ),
    ]
}

/// Rates of one kind, window by window.
type Rates = fn(&WindowRates) -> &[f64];
