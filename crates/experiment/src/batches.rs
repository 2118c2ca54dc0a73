//! Which machines stand at the same time, and where: configurations are placed in batches within the limits of sites.
//!
//! Sites work side by side, each through its batches in turn. Trials of one batch ran close in time on neighbouring
//! machines, so that ratios within it are paired; those across batches are not. Neighbours of the file therefore stay
//! together where that costs little time.

use crate::AwsLimits;
use crate::AwsMachine;

/// Dividing the file into pieces may take so many times the time of the best spread that was found.
const PIECES_MAY_TAKE: f64 = 1.15;

/// A configuration to be placed.
#[derive(Debug)]
pub(crate) struct Item {
    /// Machines of its databases and of the caches in front of them.
    pub machines: Vec<AwsMachine>,
    /// Seconds of its trials.
    pub seconds: f64,
}

/// A batch: its site, and its items by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub site: usize,
    pub items: Vec<usize>,
}

/// An item that no site has room for, with what is too much where most would fit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoRoom {
    pub item: usize,
    /// Number of a site, and what is too much there.
    pub why: Vec<(usize, String)>,
}

/// Batches by site, each site's in the order in which they are made. `clients` stand beside each batch.
pub(crate) fn place(items: &[Item], clients: &[AwsMachine], sites: &[&AwsLimits]) -> Result<Vec<Placed>, Vec<NoRoom>> {
    let alone = |item: usize, site: usize| sites[site].exceeded_by(items[item].machines.iter().chain(clients));
    let mut nowhere = Vec::new();
    let mut possible: Vec<Vec<usize>> = Vec::new();
    for item in 0..items.len() {
        let at: Vec<usize> = (0..sites.len()).filter(|site| alone(item, *site).is_none()).collect();
        if at.is_empty() {
            let why = (0..sites.len()).filter_map(|site| Some((site, alone(item, site)?)));
            nowhere.push(NoRoom { item, why: why.collect() });
        }
        possible.push(at);
    }
    if !nowhere.is_empty() {
        return Err(nowhere);
    }
    let (pieces, spread) = (in_pieces(items, &possible, sites.len()), spread(items, &possible, sites.len()));
    let chosen = match longest(items, &pieces, sites.len()) <= PIECES_MAY_TAKE * longest(items, &spread, sites.len()) {
        true => pieces,
        false => spread,
    };
    let mut batches: Vec<Placed> = Vec::new();
    for (site, limits) in sites.iter().enumerate() {
        let first = batches.len();
        for item in (0..items.len()).filter(|item| chosen[*item] == site) {
            let has_room = |batch: &Placed| {
                let all = batch.items.iter().chain(std::iter::once(&item));
                let machines = all.flat_map(|item| &items[*item].machines);
                limits.exceeded_by(machines.chain(clients)).is_none()
            };
            match batches[first..].iter_mut().find(|batch| has_room(batch)) {
                Some(batch) => batch.items.push(item),
                None => batches.push(Placed { site, items: vec![item] }),
            }
        }
    }
    Ok(batches)
}

/// The seconds of the site that has most to do.
fn longest(items: &[Item], chosen: &[usize], sites: usize) -> f64 {
    let of_site = |site: usize| -> f64 {
        chosen.iter().zip(items).filter(|(at, _)| **at == site).map(|(_, item)| item.seconds).sum()
    };
    (0..sites).map(of_site).fold(0.0, f64::max)
}

/// The file's order cut into as many pieces as there are sites, of about the same time.
fn in_pieces(items: &[Item], possible: &[Vec<usize>], sites: usize) -> Vec<usize> {
    let share = items.iter().map(|item| item.seconds).sum::<f64>() / sites as f64;
    let mut before = 0.0;
    let mut chosen = Vec::new();
    for (item, at) in items.iter().zip(possible) {
        // The piece in which its middle lies; on the border the earlier one, so that the first site is used first.
        let wanted = (((before + item.seconds / 2.0) / share).ceil() - 1.0).max(0.0) as usize;
        before += item.seconds;
        let near = at.iter().min_by_key(|site| site.abs_diff(wanted.min(sites - 1)));
        chosen.push(near.copied().unwrap_or_default());
    }
    chosen
}

/// The longest first, each where least is to be done so far.
fn spread(items: &[Item], possible: &[Vec<usize>], sites: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|a, b| items[*b].seconds.total_cmp(&items[*a].seconds));
    let mut to_do = vec![0.0_f64; sites];
    let mut chosen = vec![0; items.len()];
    for item in order {
        let least = possible[item].iter().min_by(|a, b| to_do[**a].total_cmp(&to_do[**b]));
        let site = least.copied().unwrap_or_default();
        to_do[site] += items[item].seconds;
        chosen[item] = site;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Role;

    fn machine(kind: &str, role: &str) -> AwsMachine {
        AwsMachine {
            name: role.to_owned(),
            role: if role == "client" { Role::Client } else { Role::Database },
            configuration: None,
            host: 0,
            instance_type: kind.to_owned(),
            vcpus: 2,
            architecture: "x86_64".to_owned(),
            zone: 0,
            root_gib: 64,
            spot: false,
            ebs_optimized: None,
            bandwidth_weighting: None,
            instance_store: false,
            volumes: BTreeMap::new(),
        }
    }

    fn item(kind: &str, nodes: usize, seconds: f64) -> Item {
        Item { machines: vec![machine(kind, "database"); nodes], seconds }
    }

    fn at_most(kind: &str, count: u64) -> AwsLimits {
        AwsLimits { machines: BTreeMap::from([(kind.to_owned(), count)]), ..AwsLimits::default() }
    }

    fn batches(placed: &[Placed]) -> Vec<(usize, Vec<usize>)> {
        placed.iter().map(|batch| (batch.site, batch.items.clone())).collect()
    }

    #[test]
    fn without_limits_all_stand_together() {
        let items = [item("m5.large", 1, 10.0), item("m5.xlarge", 3, 10.0)];
        let placed = place(&items, &[machine("c5.large", "client")], &[&AwsLimits::default()]).unwrap();
        assert_eq!(batches(&placed), [(0, vec![0, 1])]);
    }

    #[test]
    fn a_site_works_through_batches_within_its_limits() {
        let items: Vec<Item> = (0..5).map(|_| item("m5.large", 1, 10.0)).collect();
        let placed = place(&items, &[machine("c5.large", "client")], &[&at_most("m5.large", 2)]).unwrap();
        assert_eq!(batches(&placed), [(0, vec![0, 1]), (0, vec![2, 3]), (0, vec![4])]);
        // The clients count as machines of their type.
        let placed = place(&items, &[machine("m5.large", "client")], &[&at_most("m5.large", 2)]).unwrap();
        assert_eq!(placed.len(), 5);
        // A limit of vCPUs, of volumes, of GiB: two databases and a client.
        let by = [
            AwsLimits { vcpus: Some(6), ..AwsLimits::default() },
            AwsLimits { volumes: Some(3), ..AwsLimits::default() },
            AwsLimits { volume_gib: Some(3 * 64), ..AwsLimits::default() },
        ];
        for limits in by {
            let placed = place(&items, &[machine("c5.large", "client")], &[&limits]).unwrap();
            assert_eq!(placed.len(), 3, "{limits:?}");
        }
    }

    #[test]
    fn sites_share_the_work_and_neighbours_stay_together() {
        let items: Vec<Item> = (0..12).map(|_| item("m5.large", 1, 10.0)).collect();
        let limits = at_most("m5.large", 2);
        let placed = place(&items, &[machine("c5.large", "client")], &[&limits; 4]).unwrap();
        let expected = [
            (0, vec![0, 1]),
            (0, vec![2]),
            (1, vec![3, 4]),
            (1, vec![5]),
            (2, vec![6, 7]),
            (2, vec![8]),
            (3, vec![9, 10]),
            (3, vec![11]),
        ];
        assert_eq!(batches(&placed), expected);
        let alone = place(&items[..1], &[], &[&limits; 2]).unwrap();
        assert_eq!(batches(&alone), [(0, vec![0])]);
        // One that takes as long as all others has a site to itself.
        let uneven = [item("a", 1, 10.0), item("a", 1, 60.0), item("a", 1, 10.0), item("a", 1, 40.0)];
        let placed = place(&uneven, &[], &[&AwsLimits::default(); 2]).unwrap();
        let chosen: Vec<usize> =
            (0..4).map(|item| placed.iter().find(|batch| batch.items.contains(&item)).unwrap().site).collect();
        assert!(longest(&uneven, &chosen, 2) <= 70.0, "{placed:?}");
    }

    #[test]
    fn what_only_one_site_can_carry_goes_there() {
        let items = [item("i4i.large", 1, 10.0), item("m5.large", 1, 10.0)];
        let placed = place(&items, &[], &[&at_most("i4i.large", 0), &AwsLimits::default()]).unwrap();
        assert_eq!(placed.iter().find(|batch| batch.items.contains(&0)).unwrap().site, 1);
        let none = at_most("i4i.large", 0);
        let refused = place(&items, &[], &[&none, &none]).unwrap_err();
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].item, 0);
        assert_eq!(refused[0].why[1], (1, "1 i4i.large of 0".to_owned()));
    }

    #[test]
    fn no_batch_exceeds_its_limits_and_nothing_is_left_out() {
        let mut random = stats::SplitMix::new(7);
        for _ in 0..500 {
            let kinds = ["a", "b", "c"];
            let items: Vec<Item> = (0..1 + random.below(12))
                .map(|_| {
                    let kind = kinds[random.below(3) as usize];
                    item(kind, 1 + random.below(3) as usize, 1.0 + random.below(50) as f64)
                })
                .collect();
            let limits: Vec<AwsLimits> =
                (0..1 + random.below(4)).map(|_| at_most(kinds[random.below(3) as usize], random.below(5))).collect();
            let limits: Vec<&AwsLimits> = limits.iter().collect();
            let clients = [machine("c", "client")];
            let Ok(placed) = place(&items, &clients, &limits) else { continue };
            let mut seen: Vec<usize> = placed.iter().flat_map(|batch| batch.items.clone()).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..items.len()).collect::<Vec<_>>());
            for batch in &placed {
                let machines = batch.items.iter().flat_map(|item| &items[*item].machines);
                assert_eq!(limits[batch.site].exceeded_by(machines.chain(&clients)), None);
            }
        }
    }
}
