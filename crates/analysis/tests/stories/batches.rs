//! Configurations that were measured in several batches of machines: what is shared within a batch must not be taken
//! for shared across them.

use crate::story::{Reported, bought, measured, noise, record, run};
use analysis::{Analysis, Doubt, HostId, RunEvidence, Scope, TrialMeasurement, Verdict, analyse};
use experiment::{Job, Place};
use serde_json::json;
use stats::SplitMix;

const NAMES: [&str; 3] = ["a", "b", "c"];
const BLOCKS: u32 = 3;
/// Of which 5 % may show a difference that there is not.
const EXPERIMENTS: u64 = 60;

fn job(batches: [u32; 3]) -> Job {
    let configurations: Vec<(&str, u32)> = NAMES.into_iter().zip(batches).collect();
    bought(&configurations, BLOCKS)
}

/// All configurations are equally fast. The hour moves all trials of a block of one batch, `a` and `b` alike, by much;
/// each trial has a little noise of its own.
fn trials(seed: u64, times: [f64; 3]) -> Vec<TrialMeasurement> {
    let mut random = SplitMix::new(seed);
    let mut all = Vec::new();
    for block in 1..=BLOCKS {
        let hours = [noise(&mut random, 0.08), noise(&mut random, 0.08)];
        for (number, name) in NAMES.into_iter().enumerate() {
            let hour = hours[usize::from(number == 2)];
            let log = hour + noise(&mut random, 0.005);
            let reported = Reported {
                configuration: name,
                block,
                operations: (60_000.0 * times[number] * log.exp()) as u64,
                device_reads: 9_600.0,
                probe_read_iops: 625.0,
            };
            all.push(measured(&record(reported), 9_600.0));
        }
    }
    all
}

fn analysed(batches: [u32; 3], trials: &[TrialMeasurement]) -> Analysis {
    let environment = json!({ "batch-1": { "site": "us-east-1" }, "batch-2": { "site": "us-west-2" } });
    analyse(&RunEvidence { environment, ..run(&job(batches), trials) })
}

/// Experiments of so many in which a difference is shown that there is not.
fn false_winners(batches: [u32; 3]) -> usize {
    let shows_one = |seed: &u64| {
        let analysis = analysed(batches, &trials(*seed, [1.0; 3]));
        let ratios = analysis.cells.iter().filter_map(|cell| cell.ratio_to_slowest.as_ref());
        ratios.into_iter().any(|ratio| matches!(ratio.verdict, Verdict::Faster | Verdict::Slower))
    };
    (0..EXPERIMENTS).filter(shows_one).count()
}

#[test]
fn equal_configurations_of_two_batches_are_not_made_unequal_by_the_hours_of_their_batches() {
    let right = false_winners([0, 0, 1]);
    assert!(right <= 3, "{right} of {EXPERIMENTS}");
    // Taken for one batch, the hours that `a` and `b` share would make `c` another one.
    let taken_for_one = false_winners([0, 0, 0]);
    assert!(taken_for_one > right, "{taken_for_one} against {right} of {EXPERIMENTS}");
}

#[test]
fn within_a_batch_ratios_are_as_sharp_as_without_the_other_one() {
    let analysis = analysed([0, 0, 1], &trials(7, [1.0, 1.05, 4.0]));
    let ratio = |name: &str| {
        let cell = analysis.cells.iter().find(|cell| cell.configuration == name);
        cell.unwrap().ratio_to_slowest.clone().unwrap()
    };
    let (b, c) = (ratio("b"), ratio("c"));
    assert_eq!((b.verdict, b.unpaired, b.pairs), (Verdict::Faster, false, 3));
    assert_eq!((c.verdict, c.unpaired, c.pairs), (Verdict::Faster, true, 3));
    let width = |ratio: &analysis::Ratio| ratio.high / ratio.low;
    assert!(width(&b) < 1.1 && width(&c) > 1.2, "{b:?} {c:?}");
    // The report says so, with the sites.
    let site = |name: &str| Some(name.to_owned());
    let batches =
        vec![(vec!["a".to_owned(), "b".to_owned()], site("us-east-1")), (vec!["c".to_owned()], site("us-west-2"))];
    assert!(analysis.recommendation.doubts.contains(&Doubt::Batches { batches }));
    let together = analysed([0, 0, 0], &trials(7, [1.0, 1.05, 4.0]));
    let is_of_batches = |doubt: &Doubt| matches!(doubt, Doubt::Batches { .. });
    assert!(!together.recommendation.doubts.iter().any(is_of_batches));
}

#[test]
fn two_trials_on_a_side_are_shown_and_not_tested() {
    let mut few = trials(3, [1.0, 1.0, 2.0]);
    few.retain(|trial| trial.record.block < 3);
    let analysis = analysed([0, 0, 1], &few);
    let c = analysis.cells[2].ratio_to_slowest.clone().unwrap();
    assert_eq!((c.verdict, c.unpaired, c.p_value), (Verdict::TooFew, true, None));
    assert!(c.low <= c.median && c.median <= c.high, "{c:?}");
}

/// A run was resumed on new machines in the middle of its second block.
#[test]
fn configurations_that_share_a_volume_are_named_and_so_is_a_block_that_had_two() {
    let mut job = job([0; 3]);
    let Place::Bought(aws) = &mut job.plan.place else { panic!("nothing is bought") };
    let level = |name: &str, iops: u32| json!({ "configuration": name, "kind": "io2", "iops": iops });
    let levels = [level("a", 3_000), level("b", 6_000)];
    let pair = json!({ "levels": levels, "size_gib": 200, "modifications": 3 });
    aws.pairs = vec![serde_json::from_value(pair).unwrap()];
    let on = |volume: fn(&str, u32) -> &'static str| {
        let mut trials = trials(7, [1.0; 3]);
        for trial in &mut trials {
            let record = &mut trial.record;
            let ids = vec![volume(&record.configuration, record.block).to_owned()];
            record.data_volumes = [(HostId::DATABASE, ids)].into();
        }
        let analysis = analyse(&run(&job, &trials));
        assert_eq!(analysis.shared_volumes.len(), 1);
        let mut found = analysis.findings.iter().filter(|finding| finding.rule().name() == "several_volumes");
        found.next().map(|finding| finding.scope.clone())
    };
    assert_eq!(on(|configuration, _| if configuration == "c" { "vol-3" } else { "vol-1" }), None);
    let resumed =
        on(|configuration, block| if (configuration, block) == ("b", 2) || block == 3 { "vol-2" } else { "vol-1" });
    assert!(matches!(resumed, Some(Scope::Run(_))), "{resumed:?}");
}
