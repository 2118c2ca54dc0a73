//! What is drafted is a sound experiment, and the model in it keeps what decides.

use catalog::{Catalog, ClusterRequest};
use experiment::{
    Arrivals, Consistency, ConsistencyLevels, Distribution, Draft, Experiment, LoadLevel, Origins, PRODUCTS, Plan,
    RecordShape, Settings, VolumeKind, draft, plan,
};

use crate::story::accepted;

fn asked(configurations: &[&str]) -> Draft {
    let request = |text: &&str| ClusterRequest::parse(Catalog::built_in(), text).unwrap();
    Draft {
        name: "own".to_owned(),
        question: "Is it worth paying for more IOPS?".to_owned(),
        product: PRODUCTS[0],
        configurations: configurations.iter().map(request).collect(),
        nodes: 1,
        replication_factor: 1,
        consistency: None,
        read_share: 0.8,
        data_bytes: 400e9,
        load: LoadLevel::Concurrency(64),
        demand: None,
        p99_ms: None,
        machine_cpus: 2.0,
        record: RecordShape::default(),
        keys: None,
        own: None,
        origins: Origins::default(),
    }
}

/// The text, read back.
fn drafted(asked: &Draft) -> (String, Experiment, Plan) {
    let text = draft(Catalog::built_in(), asked);
    let experiment = accepted(&text);
    let plan = plan(&experiment);
    (text, experiment, plan)
}

const TODAY: &str = "r6i.2xlarge+gp3:500GiB";

#[test]
fn every_answer_is_in_the_file() {
    let (text, experiment, plan) = drafted(&Draft {
        load: LoadLevel::Rate { operations_per_s: 5_000.0, arrivals: Arrivals::Poisson },
        demand: Some(4_500.0),
        question: "Is \"fast\" worth it?\nReally?".to_owned(),
        ..asked(&[TODAY, "r6i.2xlarge+gp3:500GiB:12000:300+gp3:50GiB", "i4i.2xlarge"])
    });
    assert!(text.starts_with("#:schema "), "{text}");
    assert_eq!(experiment.question.as_deref(), Some("Is \"fast\" worth it?\nReally?"));
    let names: Vec<_> = experiment.configurations.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["r6i-2xlarge-gp3-500", "r6i-2xlarge-gp3-500-12000-300", "i4i-2xlarge-local"]);
    assert_eq!(experiment.baseline.as_deref(), Some(names[0]));
    let order = experiment.configurations[1].data_volume.order.unwrap();
    assert_eq!((order.iops, order.mib_per_s), (Some(12_000.0), Some(300.0)));
    assert!(experiment.configurations[1].commitlog_volume.is_some());
    assert_eq!(experiment.configurations[2].data_volume.kind, VolumeKind::Local);
    let mix = experiment.workloads[0].mix;
    assert_eq!((mix.read, mix.update), (0.8, 0.2));
    assert_eq!(experiment.load.levels[0].slug(), "p5000");
    let objective = experiment.objective.unwrap();
    assert_eq!((objective.throughput, objective.headroom), (Some(4_500.0), 0.3));
    assert_eq!(plan.trials.len(), 3 * 3);
}

/// In a 1:N model a queue takes N times as long, and the file says what becomes of a bound there.
#[test]
fn a_bound_on_latency_is_in_force_at_every_scale() {
    for (machine_cpus, demand) in [(2.0, None), (2.0, Some(4_500.0)), (16.0, None), (16.0, Some(4_500.0))] {
        let (text, experiment, plan) =
            drafted(&Draft { machine_cpus, demand, p99_ms: Some(7.5), ..asked(&[TODAY, "i4i.2xlarge"]) });
        let objective = experiment.objective.as_ref();
        assert_eq!(objective.and_then(|o| o.throughput), demand);
        let bounds: Vec<f64> = objective.into_iter().flat_map(|o| &o.latency).map(|l| l.limit_us).collect();
        assert_eq!(bounds, [7_500.0], "{text}");
        let says = text.contains("# At 1:8 a queue in front of a volume takes 8 times as long")
            && text.contains("with 8 CPUs for the database");
        assert_eq!(says, plan.scale() > 1.0, "{text}");
    }
}

/// 9,000 operations a second at QUORUM over three nodes with three replicas are not 3,000 of one node: reads ask two of
/// them and writes three. So the nodes are measured, and what is asked is asked of all of them.
#[test]
fn a_cluster_is_drafted_as_the_cluster_that_it_is() {
    let draft = |nodes, replication_factor, consistency| Draft {
        nodes,
        replication_factor,
        consistency,
        load: LoadLevel::Rate { operations_per_s: 9_000.0, arrivals: Arrivals::Poisson },
        demand: Some(9_000.0),
        ..asked(&[TODAY, "i4i.2xlarge"])
    };
    let (text, experiment, plan) = drafted(&draft(3, 3, Some(Consistency::Quorum)));
    for configuration in &experiment.configurations {
        assert_eq!(configuration.placement.label(), "3 nodes, 3 racks, 3 replicas", "{text}");
    }
    assert_eq!(experiment.target.consistency, ConsistencyLevels::all(Consistency::Quorum));
    assert_eq!(experiment.objective.as_ref().unwrap().throughput, Some(9_000.0));
    assert_eq!(experiment.load.levels[0].slug(), "p9000");
    for said in [
        "operations/s of all 3 nodes together of full size",
        "# Operations a second on all 3 nodes together",
        "# Records count once: 400 GB on a node x 3 nodes / 3 replicas = 400 GB.",
        "# waits for 2 of 3 replicas",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let (one, _, _) = drafted(&draft(1, 1, None));
    let formula = "operations x (read x replicas that a read\n# waits for + update x copies) / N.";
    assert_eq!((one.contains(formula), text.contains(formula)), (true, false), "{one}");
    // All nodes run on this machine, none with less than the least share.
    for setup in experiment::setups(&experiment).iter() {
        assert_eq!((setup.cpus, plan.scale()), (0.25, 32.0), "{text}");
    }
    // A node holds as much as one that is measured alone: two of three copies are on others.
    let held = |nodes, replicas| {
        let (_, experiment, plan) = drafted(&draft(nodes, replicas, None));
        let share = experiment::setups(&experiment)[0].placement.share_per_node();
        let full = experiment.stands_for_records.unwrap() as f64 * share * 1_000.0;
        (full, plan.dataset.payload_bytes() as f64 * share)
    };
    let (full, here) = held(1, 1);
    for (nodes, replicas) in [(2, 1), (3, 3), (6, 3), (4, 2)] {
        let (of_full, of_here) = held(nodes, replicas);
        assert!((of_full / full - 1.0).abs() < 0.01, "{nodes} nodes: {of_full} bytes of {full}");
        assert!((of_here / here - 1.0).abs() < 0.01, "{nodes} nodes: {of_here} bytes of {here}");
    }
}

#[test]
fn what_is_drafted_can_be_judged() {
    let (_, experiment, _) = drafted(&asked(&[TODAY, "i4i.2xlarge"]));
    let notes = experiment::static_notes(Catalog::built_in(), &experiment, None, Some(2.0));
    for rule in ["trials_too_short", "repetitions_too_few", "cpus_above_machine"] {
        assert!(notes.iter().all(|note| note.rule != rule), "{notes:?}");
    }
}

/// What the page cache holds of the data decides what reaches the volume; CPUs have to fit this machine.
#[test]
fn the_model_fits_this_machine_and_keeps_the_share_that_memory_holds() {
    let configurations = [TODAY, "r6i.4xlarge+gp3:500GiB", "i4i.2xlarge"];
    for (data_bytes, machine_cpus) in [(400e9, 2.0), (2e12, 2.0), (100e9, 4.0), (1e9, 2.0), (300e9, 64.0)] {
        let (text, experiment, plan) = drafted(&Draft { data_bytes, machine_cpus, ..asked(&configurations) });
        let local = plan.dataset.payload_bytes() as f64;
        assert!(local <= 4.01e9, "{local} bytes to load\n{text}");
        for (setup, configuration) in experiment::setups(&experiment).iter().zip(&experiment.configurations) {
            assert!(setup.cpus <= machine_cpus / 2.0, "{}: {text}", setup.cpus);
            let memory = Catalog::built_in().instance(&configuration.instance.label).unwrap().memory_gib;
            let memory_bytes = (memory * 1_073_741_824.0) as u64;
            let cache = PRODUCTS[0].memory.page_cache_bytes(memory_bytes, &Settings::default()).unwrap();
            let (full, here) = (cache / data_bytes, setup.page_cache_budget_bytes as f64 / local);
            // Rounding of the limit to a thousandth of a GiB, and of records to thousands.
            assert!((here / full - 1.0).abs() < 0.02, "{full} of the data there, {here} here\n{text}");
        }
    }
}

/// Every product's draft is taken by its own rules, and states nothing that changes nothing.
#[test]
fn a_draft_of_every_product_is_a_sound_experiment() {
    for product in PRODUCTS {
        for (data_bytes, read_share) in [(400e9, 0.8), (1e9, 0.8), (2e12, 1.0)] {
            let (text, experiment, plan) =
                drafted(&Draft { product, data_bytes, read_share, ..asked(&[TODAY, "r6i.4xlarge+gp3:500GiB"]) });
            assert_eq!(experiment.target.database.product(), product, "{text}");
            assert_eq!(text.contains("heap_mib"), data_bytes > 1e9 && product == PRODUCTS[0], "{text}");
            assert_eq!(text.contains("consistency"), product.has_consistency, "{text}");
            let names: Vec<_> = experiment.configurations.iter().map(|c| c.name.as_str()).collect();
            let compressed = names.contains(&"r6i-2xlarge-gp3-500_wal_compression");
            assert_eq!(compressed, product.checkpoints.is_some() && read_share < 1.0, "{names:?}");
            let sets = !experiment.configurations[0].settings.is_empty();
            assert_eq!(sets, product.checkpoints.is_some() && read_share < 1.0, "{text}");
            if sets {
                // Of 45 s each, the first at the start of a trial, before its warm-up.
                assert!(text.contains("checkpoint_timeout = \"45s\""), "{text}");
                assert!(experiment.load.shape.duration_s >= 3.0 * 45.0, "{text}");
            }
            let cache = product.memory.page_cache_bytes(64 << 30, &Settings::default()).unwrap();
            let local = plan.dataset.payload_bytes() as f64;
            let setup = &experiment::setups(&experiment)[0];
            let (full, here) = (cache / data_bytes, setup.page_cache_budget_bytes as f64 / local);
            let same_share = !text.contains("same-misses");
            assert!(!same_share || (here / full - 1.0).abs() < 0.02, "{full} of the data there, {here} here\n{text}");
            let notes = experiment::static_notes(Catalog::built_in(), &experiment, None, Some(2.0));
            for rule in ["trials_too_short", "repetitions_too_few", "cpus_above_machine", "no_checkpoint"] {
                assert!(notes.iter().all(|note| note.rule != rule), "{notes:?}");
            }
        }
    }
}

/// Of fewer records the same share would miss more often than the data that were asked about.
#[test]
fn page_caches_of_a_draft_miss_as_often_as_those_of_production() {
    for (data_bytes, machine_cpus) in [(400e9, 2.0), (2e12, 2.0), (400e9, 64.0)] {
        let (text, experiment, plan) =
            drafted(&Draft { data_bytes, machine_cpus, ..asked(&[TODAY, "r6i.4xlarge+gp3:500GiB"]) });
        assert!(text.contains("\npage_cache = \"same-misses\"\n"), "{text}");
        let all = plan.misses().all(&experiment::setups(&experiment));
        assert_eq!(all.len(), 2, "{text}");
        let records = experiment.stands_for_records.unwrap_or(experiment.dataset.records) as f64;
        assert!((records * 1_000.0 / data_bytes - 1.0).abs() < 0.01, "{records} of 1 kB stand for {data_bytes}");
        assert!(all.iter().all(|of| (of.factor() - 1.0).abs() < 0.01), "{all:?}");
    }
    let (text, _, plan) = drafted(&Draft { data_bytes: 4e8, machine_cpus: 64.0, ..asked(&[TODAY]) });
    assert!(plan.scale() == 1.0 && !text.contains("same-misses"), "{text}");
}

#[test]
fn keys_that_are_known_are_stated() {
    let hot = Distribution::Hotspot { data_fraction: 0.000_1, operation_fraction: 0.842 };
    for keys in [Distribution::Zipfian { constant: 1.083 }, Distribution::Uniform, hot, Distribution::Latest] {
        let (text, experiment, _) = drafted(&Draft { keys: Some(keys), ..asked(&[TODAY]) });
        assert_eq!(experiment.workloads[0].distribution, keys, "{text}");
        assert!(!text.contains("Some keys are asked for"), "{text}");
        // Of uniform keys a model misses as often as full scale.
        assert_eq!(text.contains("page_cache = \"same-misses\""), keys != Distribution::Uniform, "{text}");
    }
}

#[test]
fn odd_answers_give_sound_files_too() {
    for read_share in [0.0, 1.0, 0.5, 1.0 / 3.0, 0.999] {
        let (_, experiment, _) = drafted(&Draft { read_share, ..asked(&[TODAY, "i4i.2xlarge"]) });
        assert!((experiment.workloads[0].mix.read - read_share).abs() < 1e-4);
    }
    // The same thing twice; one CPU; more data than any page cache can follow; a machine of the first days.
    let (_, twice, _) = drafted(&asked(&[TODAY, TODAY, TODAY]));
    assert_eq!(twice.configurations[2].name, "r6i-2xlarge-gp3-500--3");
    for odd in [
        Draft { machine_cpus: 1.0, ..asked(&["c5.18xlarge+io1:1000GiB:20000", "i3.16xlarge"]) },
        Draft { data_bytes: 50e12, ..asked(&[TODAY, "i3.2xlarge"]) },
        Draft { data_bytes: 1e6, ..asked(&["m1.xlarge+standard:100GiB", "m3.xlarge"]) },
    ] {
        drafted(&odd);
    }
}
