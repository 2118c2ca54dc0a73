//! `nodes`, `racks`, `replication_factor`: the shape of a configuration's cluster.

use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{Placement, raw};

/// Most nodes of a configuration: so many hosts are what one controller was measured with (docs/scale.md). Larger
/// clusters are for `iopslab size`.
const MOST_NODES: i64 = 60;
/// Replicas where the file does not say, or as many as there are nodes.
const USUAL_REPLICAS: u32 = 3;

pub(super) fn check(raw: &raw::Configuration, mistakes: &mut Collector<'_>) -> Option<Placement> {
    let nodes = mistakes.sound(|mistakes| mistakes.integer(&raw.nodes, "nodes", 1..=MOST_NODES, 1))? as u32;
    let most = i64::from(nodes);
    let usual = nodes.min(USUAL_REPLICAS);
    let replicas = of_nodes(&raw.replication_factor, "replication_factor", most, usual, mistakes)?;
    // A rack for each replica, where the nodes can be spread evenly over so many.
    let usual = if nodes.is_multiple_of(replicas) { replicas } else { 1 };
    let racks = of_nodes(&raw.racks, "racks", most, usual, mistakes)?;
    let placement = Placement { nodes, racks, replication_factor: replicas };
    let Some(stated) = &raw.racks else { return Some(placement) };
    if !nodes.is_multiple_of(racks) {
        return mistakes.refuse(
            stated.span(),
            format!("{nodes} nodes cannot be spread evenly over {racks} racks: some would hold more data than others"),
            "give a number of racks that divides the number of nodes",
        );
    }
    if racks > 1 && racks < replicas {
        return mistakes.refuse(
            stated.span(),
            format!("{replicas} replicas in {racks} racks: one rack would hold two of them, and its nodes more data"),
            "give one rack, or as many as there are replicas",
        );
    }
    Some(placement)
}

/// A number from 1 to that of the nodes.
fn of_nodes(
    given: &Option<Spanned<i64, u32>>,
    key: &str,
    most: i64,
    usual: u32,
    mistakes: &mut Collector<'_>,
) -> Option<u32> {
    let Some(stated) = given else { return Some(usual) };
    let value = **stated;
    if (1..=most).contains(&value) {
        return u32::try_from(value).ok();
    }
    let of = match most {
        1 => "one node".to_owned(),
        most => format!("{most} nodes"),
    };
    let help = format!("a whole number from 1 to {most}; or state more `nodes`");
    mistakes.refuse(stated.span(), format!("{key} = {value} is not possible with {of}"), help)
}
