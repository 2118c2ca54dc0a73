//! Plans: every cell once in every block, in an order that the seed decides.

use std::collections::BTreeSet;

use proptest::prelude::*;
use spec::{Plan, parse, plan};

fn planned(configurations: u32, workloads: u32, levels: u32, repetitions: u32, seed: u32) -> Plan {
    let mut text = String::from("name = \"p\"\n[dataset]\nrecords = 5000\n");
    for i in 0..configurations {
        text += &format!(
            "[[configuration]]\nname = \"c{i}\"\ninstance = \"r4.4xlarge\"\ndata_volume = {{ iops = {} }}\n",
            100 + i
        );
    }
    for i in 0..workloads {
        text += &format!("[[workload]]\nname = \"w{i}\"\nread = 1\n");
    }
    let concurrency: Vec<_> = (1..=levels).map(|n| n.to_string()).collect();
    text += &format!(
        "[load]\nconcurrency = [{}]\nrepetitions = {repetitions}\nseed = {seed}\n",
        concurrency.join(", ")
    );
    plan(
        &parse(catalog::Catalog::built_in(), "p.toml", &text, &|_| Err(String::new()))
            .unwrap_or_else(|m| panic!("{m}")),
    )
}

proptest! {
    #[test]
    fn every_block_holds_every_cell_once(c in 1u32..4, w in 1u32..4, l in 1u32..4, r in 1u32..4, seed in 0u32..1000) {
        let plan = planned(c, w, l, r, seed);
        prop_assert_eq!(plan.cells.len(), (c * w * l) as usize);
        let ids: BTreeSet<_> = plan.cells.iter().map(|cell| cell.id.clone()).collect();
        prop_assert_eq!(ids.len(), plan.cells.len());
        for (k, block) in plan.trials.chunks(plan.cells.len()).enumerate() {
            prop_assert!(block.iter().all(|t| t.block == k as u32 + 1));
            prop_assert_eq!(&block.iter().map(|t| t.cell.clone()).collect::<BTreeSet<_>>(), &ids);
        }
    }
}

#[test]
fn the_seed_decides_the_order() {
    let order = |seed| planned(3, 3, 2, 2, seed).trials;
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    let plan = planned(3, 3, 2, 2, 1);
    let (first, second) = plan.trials.split_at(18);
    let cells = |trials: &[spec::PlannedTrial]| trials.iter().map(|t| t.cell.clone()).collect::<Vec<_>>();
    assert_ne!(cells(first), cells(second), "blocks are shuffled each on its own");
}
