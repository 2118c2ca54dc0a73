//! Databases of several nodes: they are named, shown side by side, and one node is shown as ever.

use crate::page;
use analysis::rules::cassandra::dropped_messages::DroppedMessages;
use analysis::rules::several_volumes::{SeveralVolumes, VolumesOfBlock};
use analysis::rules::unequal_hosts::{DifferenceKind, HostDifference, UnequalHosts};
use analysis::rules::unequal_nodes::UnequalNodes;
use analysis::{
    Analysis, ConsistencyLevels, CostKind, Finding, HostFact, HostId, LimitKind, NodeAnalysis, NodeFigure, Placement,
    Remark, ResourceUse, Scope, SeenOn, Unit, VolumeRole,
};
use report::{TerminalOptions, html, limit_message, markdown, message, nodes_csv, summary_csv, terminal};

const NODES: [HostId; 3] = [HostId::database(0), HostId::database(1), HostId::database(2)];

fn used(kind: LimitKind, unit: Unit, used: f64, capacity: f64, node: HostId) -> ResourceUse {
    ResourceUse {
        kind,
        unit,
        used,
        capacity,
        windows_at_cap: 1.0,
        at_cap: used >= 0.95 * capacity,
        counted: None,
        is_shared: false,
        node: Some(node),
    }
}

/// The page's first configuration as a cluster of three, of which the second node is at its volume's limit.
fn cluster(at: &[HostId]) -> (Analysis, analysis::Charts) {
    let (mut analysis, charts) = page::run(&["three", "one"], &["read-heavy"], 3);
    let facts = &mut analysis.configurations[0];
    facts.nodes = 3;
    facts.placement = Placement { nodes: 3, racks: 3, replication_factor: 3 };
    facts.consistency = serde_json::from_str::<ConsistencyLevels>("\"quorum\"").ok();
    for cell in analysis.cells.iter_mut().filter(|c| c.configuration == "three") {
        cell.nodes = NODES
            .iter()
            .map(|host| {
                let reads = if at.contains(host) { 2990.0 } else { 2000.0 };
                NodeAnalysis {
                    host: *host,
                    cpus_used: Some(1.5),
                    device_read_iops: Some(reads),
                    device_write_iops: Some(12.0),
                    device_read_bytes_per_s: Some(3e7),
                    device_write_bytes_per_s: Some(1e6),
                    page_cache_bytes: Some(2e8),
                    bytes_on_disk: 4e8,
                    gc_pause_share: Some(0.004),
                    uses: vec![
                        used(LimitKind::VolumeIops, Unit::Iops, reads, 3000.0, *host),
                        used(LimitKind::Cpu, Unit::Cpus, 1.5, 2.0, *host),
                    ],
                }
            })
            .collect();
        cell.limit.kind = LimitKind::VolumeIops;
        cell.limit.also = Vec::new();
        cell.limit.interventions = Vec::new();
        cell.limit.uses = vec![used(LimitKind::VolumeIops, Unit::Iops, 2990.0, 3000.0, at[0])];
        (cell.limit.nodes, cell.limit.of_nodes) = (at.to_vec(), 3);
    }
    (analysis, charts)
}

#[test]
fn the_limiting_node_is_named_wherever_the_limit_is() {
    let (analysis, charts) = cluster(&[NODES[1]]);
    assert_eq!(limit_message(&analysis.cells[0].limit), "data volume of database-2: 2,990 of 3,000 IOPS (100 %).");
    for text in [html(&analysis, &charts), markdown(&analysis)] {
        assert!(text.contains("volume IOPS of database-2"), "{text}");
    }
    let (analysis, _) = cluster(&NODES);
    let reported = limit_message(&analysis.cells[0].limit);
    assert!(reported.ends_with("At this limit: all 3 nodes."), "{reported}");
    assert!(markdown(&analysis).contains("volume IOPS of all 3 nodes"));
    let (analysis, _) = cluster(&NODES[1..]);
    assert!(markdown(&analysis).contains("volume IOPS of database-2 and database-3"));
}

#[test]
fn the_nodes_of_a_cell_stand_side_by_side() {
    let (analysis, charts) = cluster(&[NODES[1]]);
    let (page, text) = (html(&analysis, &charts), markdown(&analysis));
    for node in ["database", "database-2", "database-3"] {
        assert!(page.contains(&format!("<td class=\"t\">{node}</td>")), "{node}");
        assert!(text.contains(&format!("| {node} |")), "{node}: {text}");
    }
    for shown in [&page, &text] {
        assert!(shown.contains("3 nodes, 3 racks, 3 replicas, consistency quorum"));
    }
    let said = "Database of three: 3 nodes, 3 racks, 3 replicas, consistency quorum; of one: 1 node.";
    for shown in [page.as_str(), &text, &terminal(&analysis, TerminalOptions { width: 140, color: false })] {
        assert!(shown.contains(said), "{shown}");
    }
    assert!(page.contains("href=\"nodes.csv\""));
    let csv = nodes_csv(&analysis).unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 1 + 3 * analysis.cells.iter().filter(|c| c.configuration == "three").count());
    assert!(rows[2].contains(",database-2,1.5,2,0.75,2990,12,"), "{}", rows[2]);
    assert!(rows[2].ends_with(",volume IOPS") && rows[1].ends_with(','), "{csv}");
    let summary = summary_csv(&analysis);
    let (head, first) = (summary.lines().next().unwrap(), summary.lines().nth(1).unwrap());
    assert!(head.ends_with(",nodes,racks,replication_factor,consistency,limit_nodes"), "{head}");
    assert!(first.ends_with(",3,3,3,quorum,database-2"), "{first}");
}

/// Copies go from zone to zone with every write, and AWS charges for that: a sum without it says so.
#[test]
fn the_cost_of_a_cluster_in_several_racks_says_what_it_leaves_out() {
    let leaves_out = "traffic between zones is not priced";
    let (mut analysis, charts) = cluster(&[NODES[1]]);
    for configuration in &mut analysis.configurations {
        configuration.cost_lines[0].kind = CostKind::Instances;
    }
    let shown = |analysis: &Analysis| [html(analysis, &charts), markdown(analysis)];
    let said = |analysis: &Analysis| shown(analysis).map(|text| text.contains(leaves_out));
    assert_eq!(said(&analysis), [true, true]);
    // Nothing leaves the only rack; and a price that was stated may hold it.
    let mut one_rack = analysis.clone();
    one_rack.configurations[0].placement.racks = 1;
    assert_eq!(said(&one_rack), [false, false]);
    let mut stated = analysis;
    stated.configurations[0].cost_lines[0].kind = CostKind::NotItemised;
    assert_eq!(said(&stated), [false, false]);
}

#[test]
fn one_node_is_shown_as_ever() {
    let (analysis, charts) = page::run(&["one"], &["read-heavy"], 3);
    assert_eq!(nodes_csv(&analysis), None);
    assert!(!summary_csv(&analysis).contains("replication_factor"));
    for text in [html(&analysis, &charts), markdown(&analysis)] {
        assert!(!text.contains("The nodes of each cell") && !text.contains("nodes.csv"));
    }
}

fn finding(remark: impl Into<Remark>) -> Finding {
    Finding::new(Scope::Trial("cell/1".to_owned()), remark)
}

#[test]
fn a_finding_says_on_which_nodes() {
    let dropped = |nodes: &[u32]| {
        let found = finding(DroppedMessages { dropped_messages: 7.0 });
        message(&Finding {
            nodes: Some(SeenOn { names: nodes.iter().map(|node| HostId::database(*node)).collect(), of: 3 }),
            ..found
        })
    };
    assert_eq!(
        dropped(&[1]),
        "The database dropped 7 messages: it shed load to survive. On database-2, one of 3 nodes."
    );
    assert!(
        dropped(&[2, 0]).ends_with("On database-3 and database of 3 nodes; these figures are those of database-3.")
    );
    assert!(dropped(&[2, 0, 1]).ends_with("On all 3 nodes; these figures are those of database-3."));
}

#[test]
fn machines_that_are_not_alike_are_reported_with_all_that_differs() {
    let node = HostId::database;
    let amount = |fact, (most_of, most): (u32, f64), (least_of, least): (u32, f64)| HostDifference {
        fact,
        how: DifferenceKind::Amount { most_of: node(most_of), most, least_of: node(least_of), least },
    };
    let gib = 1_073_741_824.0;
    let reported = message(&finding(UnequalHosts {
        hosts: 3,
        differences: vec![
            HostDifference {
                fact: HostFact::Processor,
                how: DifferenceKind::Words(vec![
                    ("A".to_owned(), vec![node(0), node(1)]),
                    ("B".to_owned(), vec![node(2)]),
                ]),
            },
            amount(HostFact::Cpus, (0, 8.0), (2, 4.0)),
            amount(HostFact::Memory, (0, 16.0 * gib), (2, 15.0 * gib)),
            amount(HostFact::Clock, (1, 12.0), (0, -60.0)),
        ],
    }));
    assert_eq!(
        reported,
        "The 3 machines of its nodes are not alike: processor A (database, database-2) / B (database-3); 8 CPUs on \
         database, 4 on database-3; 16.0 GiB of memory on database, 15.0 on database-3; database-2's clock 72 ms \
         ahead of database's."
    );
}

/// What machines differ by is no part of a ratio, where they are the same: the report says so, and shows by which
/// modifications.
#[test]
fn configurations_that_share_a_volume_are_reported_with_its_modifications() {
    let (mut analysis, _) = page::run(&["low", "high"], &["read-heavy"], 3);
    assert!(!markdown(&analysis).contains("data volumes, which EBS modifies"));
    let level = |iops: u32| serde_json::json!({ "kind": "gp3", "iops": iops, "mib_per_s": 125 });
    let named = |name: &str, iops: u32| {
        let mut named = level(iops);
        named["configuration"] = name.into();
        named
    };
    let levels = [named("low", 3_000), named("high", 6_000)];
    let pair = serde_json::json!({ "levels": levels, "size_gib": 200, "modifications": 3 });
    analysis.shared_volumes = vec![serde_json::from_value(pair).unwrap()];
    let modified = serde_json::json!({ "host": "database", "volume": "vol-1", "from": level(3_000), "to": level(6_000),
        "asked_at": "2026-11-27T01:00:00Z", "in_force_at": "2026-11-27T02:10:00Z" });
    analysis.modifications = vec![serde_json::from_value(modified).unwrap()];
    let text = markdown(&analysis);
    for part in [
        "low and high share their machines and data volumes, which EBS modifies between their trials: what machines \
         and volumes differ by is no part of their ratios.",
        "Modified volumes",
        "| vol-1 | database | gp3, 3000 IOPS, 125 MiB/s | gp3, 6000 IOPS, 125 MiB/s | 2026-11-27T01:00:00Z | \
         2026-11-27T02:10:00Z |",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    let document = report::document(&analysis);
    assert_eq!(document["shared_volumes"][0]["levels"][1]["iops"], 6_000);
    assert_eq!(document["modifications"][0]["in_force_at"], "2026-11-27T02:10:00Z");

    let volumes = ["vol-1", "vol-2"].map(str::to_owned).into();
    let configurations = ["low", "high"].map(str::to_owned).into();
    let blocks = vec![VolumesOfBlock { block: 2, host: HostId::DATABASE, volumes }];
    let several = Finding::new(Scope::Run(analysis.run.clone()), SeveralVolumes { configurations, blocks });
    assert_eq!(
        message(&several),
        "low and high were to share a volume, and had several within a block (block 2 on database: vol-1, vol-2)."
    );
    analysis.findings.push(several);
    let text = markdown(&analysis);
    assert!(text.contains("differ by is no part of their ratios, but of those of block 2."), "{text}");
}

#[test]
fn unequal_nodes_are_reported_with_their_numbers() {
    let reads = UnequalNodes {
        figure: NodeFigure::DeviceReads,
        volume: None,
        most_of: HostId::database(1),
        most: 2400.0,
        least_of: HostId::database(0),
        least: 1900.0,
        less_by_share: 1.0 - 1900.0 / 2400.0,
        nodes: 3,
        trials: 3,
        threshold: 0.15,
    };
    let reported = message(&finding(reads.clone()));
    assert_eq!(
        reported,
        "The nodes are unequal: database-2 read from its data volume 2,400 times a second, database 1,900 (20.8 % \
         less)."
    );
    let probed = message(&finding(UnequalNodes {
        figure: NodeFigure::ProbedReads,
        volume: Some(VolumeRole::Data),
        most_of: HostId::database(0),
        most: 3000.0,
        least_of: HostId::database(2),
        least: 1500.0,
        less_by_share: 0.5,
        ..reads
    }));
    assert_eq!(
        probed,
        "The nodes are unequal: database's data volume delivered to the probe 3,000 random reads a second, \
         database-3's data volume 1,500 (50.0 % less)."
    );
}
