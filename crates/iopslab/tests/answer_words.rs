//! No sentence of an answer contradicts its document: random matrices, simulated, analysed, worded and read again.
//!
//! Twelve matrices by default; `IOPSLAB_MATRICES=300 cargo test -p iopslab --test answer_words -- --nocapture` tries
//! more.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "../../report/tests/contradictions/mod.rs"]
mod contradictions;

use std::collections::BTreeMap;

use analysis::{Analysis, RunEvidence, TrialEvidence, analyse, measure};
use contradictions::contradictions;
use provider::simulated::Simulation;
use spec::{LatencyFigure, LatencyObjective, Objective, Plan};

/// Matrices that are tried unless `IOPSLAB_MATRICES` says otherwise.
const MATRICES: u64 = 12;

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): the same matrices in every run of the test.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len() as u64) as usize]
    }
}

/// A random experiment: volumes from too slow to idle, prices from equal to absent, one to four repetitions, calm to
/// noisy, with and without objectives.
fn random(seed: u64) -> Plan {
    let mut dice = Dice(seed);
    let mut text = format!(
        "name = \"random\"\n[dataset]\nrecords = {}\n",
        dice.of(&[100_000_u64, 8_000_000, 8_000_000, 8_000_000])
    );
    let priced = dice.roll(8) > 0;
    for i in 0..2 + dice.roll(3) {
        let iops = dice.of(&[400, 800, 1600, 3000, 3000, 6400, 100_000]);
        text.push_str(&format!(
            "[[configuration]]\nname = \"c{i}-{iops}\"\ninstance = {{ vcpus = 4, memory_gib = 8 \
            }}\nmemory_limit_gib = 3\n\
             data_volume = {{ iops = {iops}, mib_per_s = 500, size_gib = 200 }}\n"
        ));
        if priced && dice.roll(8) > 0 {
            text.push_str(&format!(
                "price_usd_per_month = {}\n",
                dice.of(&[100.0, 110.0, 130.0, 150.0, 200.0, 400.0])
            ));
        }
    }
    for i in 0..1 + dice.roll(2) {
        let read = dice.of(&[0.2, 0.5, 0.8]);
        text.push_str(&format!(
            "[[workload]]\nname = \"w{i}\"\nread = {read}\nupdate = {}\n",
            1.0 - read
        ));
    }
    let load = dice.of(&[
        "concurrency = [64]",
        "concurrency = [64]",
        "concurrency = [8, 64]",
        "concurrency = [32]",
        "rate = [1500]",
        "rate = [4000]",
    ]);
    text.push_str(&format!(
        "[load]\n{load}\nwarmup_s = 5\nduration_s = 45\nrepetitions = {}\n[provider.simulated]\nread_cpu_us = \
        400\nwrite_cpu_us = 300\n\
         reads_per_miss = 1.2\nrun_noise = {}\nblock_noise = 0.05\nseed = {}\n",
        dice.of(&[1, 2, 3, 3, 4]),
        dice.of(&[0.01, 0.04, 0.1]),
        seed + 1
    ));
    let experiment = spec::parse(catalog::Catalog::built_in(), "random.toml", &text, &|_| {
        Err("no file".into())
    });
    let mut plan = spec::plan(&experiment.unwrap_or_else(|e| panic!("{e:?}\n{text}")));
    let bound = |limit_us| LatencyObjective {
        operation: None,
        figure: LatencyFigure::P99,
        limit_us,
    };
    plan.objective = dice
        .of(&[None, None, Some((10_000.0, None)), Some((50_000.0, Some(3000.0)))])
        .map(|(limit_us, throughput)| Objective {
            latency: vec![bound(limit_us)],
            error_share: None,
            throughput,
            headroom: 0.3,
        });
    plan
}

fn analysed(plan: &Plan) -> Analysis {
    let simulation = Simulation::new(plan, plan.simulated.as_ref().unwrap());
    let trials: Vec<_> = plan
        .trials
        .iter()
        .map(|planned| {
            let trial = simulation.trial(planned).unwrap();
            measure(&TrialEvidence {
                record: &trial.record,
                intervals: &trial.intervals,
                samples: &trial.samples,
            })
        })
        .collect();
    analyse(&RunEvidence {
        run: "random".into(),
        provider: "simulated".into(),
        plan,
        environment: serde_json::Value::Null,
        trials: &trials,
    })
}

#[test]
fn no_sentence_contradicts_its_document() {
    let matrices = std::env::var("IOPSLAB_MATRICES").map_or(MATRICES, |n| n.parse().unwrap());
    let mut wrong = Vec::new();
    let mut said: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..matrices {
        let analysis = analysed(&random(seed));
        let answer = report::answer(&analysis);
        println!("{seed}: {}", answer.headline());
        *said
            .entry(analysis.recommendation.status.words().to_owned())
            .or_default() += 1;
        wrong.extend(
            contradictions(&analysis, &answer.lines())
                .into_iter()
                .map(|w| format!("{seed}: {w}")),
        );
        // The three views lead with the same sentence.
        let options = report::TerminalOptions {
            width: 80,
            color: false,
        };
        let terminal = report::terminal(&analysis, options);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&terminal).contains(&words(&answer.headline())), "{terminal}");
        let markdown = report::markdown(&analysis).replace("**", "");
        assert!(markdown.contains(&answer.headline()), "{markdown}");
        assert_eq!(
            report::document(&analysis)["answer"][1],
            answer.headline(),
            "banner first, then the headline"
        );
    }
    println!("{matrices} matrices: {said:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
