//! What the volumes of an instance did together of what it lets through to them, or those of an EBS card of its card.

use std::collections::BTreeSet;

use experiment::Setup;

use super::pauses::Pauses;
use super::window::{VOLUME_AT_CAP, Watched, Window};
use crate::activity::WindowRates;
use crate::dimension::Dimension;
use crate::document::limit::LimitKind;
use crate::node::Node;

/// Requests and bytes of all volumes, window by window; nothing where they do not share a path that is held.
pub fn windows(setup: &Setup, node: &Node<'_>, pauses: &Pauses) -> Vec<(Watched, Vec<Window>)> {
    let Some(limits) = setup.instance_limits else { return Vec::new() };
    // By EBS card; without such, all together.
    let card = |role| setup.volume(role).and_then(|volume| volume.card);
    let has_cards = setup.volumes().any(|volume| volume.card.is_some());
    let volumes = node.facts.volumes.iter().filter(|facts| card(facts.role).is_some() == has_cards);
    let rates = volumes.map(|facts| Some((card(facts.role), &node.activity(facts.role)?.windows)));
    let rates: Option<Vec<(Option<u32>, &WindowRates)>> = rates.collect();
    let rates = rates.filter(|rates| rates.len() > 1).unwrap_or_default();
    let cards: BTreeSet<Option<u32>> = rates.iter().map(|(card, _)| *card).collect();
    let of = |dimension: Dimension| {
        let done = |rates: &WindowRates| -> Vec<f64> {
            let (reads, writes) = rates.of(dimension);
            reads.iter().zip(writes).map(|(reads, writes)| reads + writes).collect()
        };
        let each: Vec<(Option<u32>, Vec<f64>)> = rates.iter().map(|(card, rates)| (*card, done(rates))).collect();
        let count = each.iter().map(|(_, windows)| windows.len()).min().unwrap_or(0);
        let on = |card: &Option<u32>, window: usize| -> f64 {
            each.iter().filter(|(on, _)| on == card).map(|(_, windows)| windows[window]).sum()
        };
        // The fullest card is the one that limits.
        let fullest = |window| cards.iter().map(|card| on(card, window)).fold(0.0, f64::max);
        let together = (0..count).map(fullest);
        let (capacity, _) = dimension.limits(&limits);
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
    Dimension::ALL.map(of).into()
}
