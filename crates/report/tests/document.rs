//! `analysis.json` as scripts read it: the analysis, and each finding in words.

use analysis::rules::burst::{BucketLasts, BurstOnly, CreditsSpent};
use analysis::rules::data_set_smaller::DataSetSmaller;
use analysis::rules::members::{MemberFigure, SlowMember, UnbalancedMembers};
use analysis::rules::no_steady_state::NoSteadyState;
use analysis::rules::not_found::NotFound;
use analysis::rules::offered_rate::{BacklogDrained, OfferedNotAchieved, OfferedRate};
use analysis::rules::unequal_hosts::{DifferenceKind, HostDifference, UnequalHosts};
use analysis::rules::volume_above_instance::VolumeAboveInstance;
use analysis::{Analysis, CpuTakenBy, Dimension, Finding, HostFact, HostId, Remark, Scope, SeenOn, VolumeRole};
use report::{advice, document, message};

use crate::{faults, page};

/// As `analysis` has written it.
fn written() -> &'static str {
    let snapshot = include_str!("../../analysis/tests/stories/snapshots/stories__analyse__analysis.snap");
    snapshot.splitn(3, "---\n").nth(2).unwrap().trim_end()
}

fn story() -> Analysis {
    serde_json::from_str(written()).unwrap()
}

/// What was measured, and what is written by hand: with faults and lost writes, in every place and without.
#[test]
fn an_analysis_reads_back_as_it_was_written() {
    assert_eq!(serde_json::to_string_pretty(&story()).unwrap(), written());
    for analysis in [story(), page::run(&["a", "b"], &["w", "v"], 3).0, faults::lost::run_with_loss().0] {
        let text = serde_json::to_string_pretty(&analysis).unwrap();
        assert_eq!(serde_json::from_str::<Analysis>(&text).unwrap(), analysis, "{text}");
    }
}

#[test]
fn a_finding_reads_back_as_it_was_written() {
    let burst = BurstOnly {
        volume: VolumeRole::Data,
        unit: Dimension::Requests,
        spent: Some(CreditsSpent { credits_start: 5.0, credits_end: 4.0 }),
        lasts: None,
    };
    let burst = Finding { nodes: Some(SeenOn { names: vec![HostId::database(1)], of: 3 }), ..finding(burst) };
    let smaller = DataSetSmaller::Others {
        bytes_on_disk: 1e6,
        median_bytes_of_the_run: 2e6,
        less_by_share: 0.5,
        threshold: 0.05,
    };
    let amount =
        DifferenceKind::Amount { most_of: HostId::database(0), most: 8.0, least_of: HostId::database(1), least: 4.0 };
    let kernel = DifferenceKind::Words(vec![("6.1".into(), vec![HostId::database(0)])]);
    let hosts = UnequalHosts {
        hosts: 2,
        differences: vec![
            HostDifference { fact: HostFact::Kernel, how: kernel },
            HostDifference { fact: HostFact::Cpus, how: amount },
        ],
    };
    let above = VolumeAboveInstance::Bytes { bought_bytes_per_s: 2e6, reachable_bytes_per_s: 1e6 };
    for finding in [burst.clone(), finding(smaller), finding(above), finding(hosts)] {
        let text = serde_json::to_string_pretty(&finding).unwrap();
        assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), finding, "{text}");
    }
    let value = serde_json::to_value(burst).unwrap();
    assert_eq!(value["rule"], "burst_only");
    assert_eq!(value["figures"]["volume"], "data");
    assert_eq!(value["nodes"], serde_json::json!({ "names": ["database-2"], "of": 3 }));
}

/// Sentences stand beside the figures in `analysis.json`.
#[test]
fn a_finding_reads_back_from_a_document_with_sentences() {
    let text = r#"{"rule": "not_found", "severity": "suspect", "scope": {"trial": "a/1"},
        "figures": {"not_found": 1, "reads": 9}, "message": "One row was missing.", "advice": "Load it."}"#;
    let finding: Finding = serde_json::from_str(text).unwrap();
    assert_eq!(finding.figures::<NotFound>().unwrap().not_found, 1);
}

#[test]
fn each_finding_has_its_words_in_the_list_and_in_its_cell() {
    let analysis = story();
    let document = document(&analysis);
    assert_eq!(document["cells"].as_array().unwrap().len(), analysis.cells.len());
    let cells = document["cells"].as_array().unwrap();
    let of_cells = cells.iter().flat_map(|c| c["findings"].as_array().unwrap());
    let mut n = 0;
    for finding in document["findings"].as_array().unwrap().iter().chain(of_cells) {
        for words in ["message", "advice"] {
            let text = finding[words].as_str().unwrap();
            assert!(text.ends_with('.') && !text.contains('?'), "{text}");
        }
        n += 1;
    }
    assert!(n > 10, "{n}");
}

fn finding(remark: impl Into<Remark>) -> Finding {
    Finding::new(Scope::trial("a.w.c1", 1), remark)
}

#[test]
fn a_burst_says_how_long_it_lasts_at_full_scale() {
    let reported = finding(BurstOnly {
        volume: VolumeRole::Data,
        unit: Dimension::Requests,
        spent: Some(CreditsSpent { credits_start: 337_500.0, credits_end: 300_000.0 }),
        lasts: Some(BucketLasts {
            measured_per_s: 162.0,
            burst_per_s: 187.5,
            baseline_per_s: 18.75,
            credits_full: 337_500.0,
            scale: 16.0,
            full_bucket_lasts_s: Some(2000.0),
        }),
    });
    assert!(
        message(&reported).ends_with("a full bucket gives 3,000 IOPS for 33 minutes, then 300 (at full scale)."),
        "{}",
        message(&reported)
    );
}

#[test]
fn a_drained_backlog_and_saturation_are_told_apart() {
    let achieved = |achieved_ops_per_s: f64| OfferedRate {
        offered_ops_per_s: 7350.0,
        achieved_ops_per_s,
        share: achieved_ops_per_s / 7350.0,
        allowed_off: 0.01,
        requests_off: (achieved_ops_per_s - 7350.0) * 60.0,
    };
    assert_eq!(
        message(&finding(BacklogDrained(achieved(7620.0)))),
        "7,620 operations/s were achieved where 7,350 were offered (+3.67 %): about 16,200 requests were left over \
         from before the window."
    );
    assert!(message(&finding(OfferedNotAchieved(achieved(7000.0)))).starts_with("Saturated: 7,000 of the 7,350"));
}

/// A trend has its interval. Rounds that vary without one have their range, and no interval that says anything.
#[test]
fn throughput_that_changed_says_what_is_known_of_it_and_who_was_there() {
    let changed = |(low, high): (f64, f64), cpu_taken_by: Option<CpuTakenBy>| {
        finding(NoSteadyState {
            change_over_window_share: -0.16,
            change_low_share: low,
            change_high_share: high,
            rounds_range_share: 1.9,
            cpu_taken_by,
            ..NoSteadyState::default()
        })
    };
    let fell = changed((-0.2, -0.1), None);
    let message_of_trend = message(&fell);
    assert!(
        message_of_trend.contains("-16.0 % over the window (95 % interval -20.0 % to -10.0 %)"),
        "{message_of_trend}"
    );
    assert!(advice(&fell).starts_with("Lengthen [load] warmup_s"), "{}", advice(&fell));
    let varied = changed((-3.12, 1.34), None);
    assert_eq!(
        message(&varied),
        "Throughput varied too much while it was measured to say whether it rose or fell: between the best and the \
         worst of its five rounds lie 190.0 % of their mean, more than their own noise explains."
    );
    assert!(!advice(&varied).contains("warmup_s"), "{}", advice(&varied));
    for range in [(-0.2, -0.1), (-3.12, 1.34)] {
        let beside_others = advice(&changed(range, Some(CpuTakenBy::Programs)));
        assert!(beside_others.starts_with("Programs that are no part of the run took CPU time"), "{beside_others}");
        let stolen = advice(&changed(range, Some(CpuTakenBy::Hypervisor)));
        assert!(stolen.starts_with("The hypervisor took CPU time meanwhile"), "{stolen}");
    }
}

fn slow(is_striped: bool) -> SlowMember {
    SlowMember {
        volume: VolumeRole::Data2,
        await_us: 4000.0,
        others_await_us: 800.0,
        times: 5.0,
        iops: 98.0,
        others_iops: 101.0,
        members: 2,
        threshold: 1.5,
        is_striped,
    }
}

fn unbalanced(figure: MemberFigure, most: f64, least: f64, is_striped: bool) -> UnbalancedMembers {
    UnbalancedMembers {
        figure,
        most_of: VolumeRole::Data2,
        most,
        least_of: VolumeRole::Data,
        least,
        less_by_share: 1.0 - least / most,
        members: 2,
        threshold: 1.2,
        is_striped,
    }
}

/// What keys have to do with it differs.
#[test]
fn what_is_said_of_members_of_a_raid_0_is_not_what_is_said_of_data_directories() {
    let uneven = |is_striped| unbalanced(MemberFigure::Iops, 150.0, 100.0, is_striped);
    for [directories, striped] in [
        [false, true].map(|is_striped| advice(&finding(slow(is_striped)))),
        [false, true].map(|is_striped| advice(&finding(uneven(is_striped)))),
    ] {
        assert!(striped.contains("RAID 0") && !directories.contains("RAID 0"), "{striped} {directories}");
    }
}

#[test]
fn a_slow_data_volume_and_unequal_ones_are_named_with_their_figures() {
    assert_eq!(
        message(&finding(slow(false))),
        "A request to the volume data-2 took 4.00 ms on average, 5.0 times as long as to the other data volumes (0.800 \
         ms), at 98.0 requests a second against 101."
    );
    let of = |figure, most, least| message(&finding(unbalanced(figure, most, least, false)));
    assert_eq!(
        of(MemberFigure::Iops, 150.0, 100.0),
        "The data volumes are not asked alike: data-2 did 150 requests a second, data 100 (33.3 % less)."
    );
    assert_eq!(
        of(MemberFigure::AwaitUs, 1600.0, 800.0),
        "The data volumes do not answer alike: a request to data-2 took 1.60 ms on average, one to data 0.800 ms (50.0 \
         % less)."
    );
}
