//! Configurations of one value and unlike throughput: as many true hypotheses of money as there are pairs, and none of
//! throughput.

use crate::story::{bought, noise, of_equal_reads, priced, run};
use analysis::{Analysis, TrialMeasurement, ValueVerdict, analyse};
use experiment::Job;
use stats::SplitMix;

/// Names with what each gives and costs, as a multiple of the first.
const ALL: [(&str, f64); 6] = [("a", 1.0), ("b", 1.6), ("c", 2.5), ("d", 4.0), ("e", 6.4), ("f", 10.0)];
const BLOCKS: u32 = 4;
const EXPERIMENTS: u64 = 120;

fn job() -> Job {
    priced(bought(&ALL.map(|(name, _)| (name, 0)), BLOCKS), ALL.map(|(name, times)| (name, 100.0 * times)))
}

/// Throughput is as the price, but for the noise and for what one configuration gives more.
fn trials(seed: u64, more: (&str, f64)) -> Vec<TrialMeasurement> {
    let mut random = SplitMix::new(seed);
    let mut all = Vec::new();
    for block in 1..=BLOCKS {
        for (name, times) in ALL {
            let gives = if name == more.0 { more.1 } else { 1.0 };
            let operations = 60_000.0 * times * gives * noise(&mut random, 0.04).exp();
            all.push(of_equal_reads(name, block, operations, 6_250.0));
        }
    }
    all
}

fn analysed(trials: &[TrialMeasurement]) -> Analysis {
    analyse(&run(&job(), trials))
}

/// Each of fifteen pairs was judged at the level that its throughputs had earned, whose sum is 8 % where all
/// throughputs are unlike: the steps and the best value of one experiment in twelve were false.
#[test]
fn configurations_of_one_value_are_rarely_called_better_or_worse_for_their_money() {
    let claims = |seed: &u64| {
        let analysis = analysed(&trials(*seed, ("", 1.0)));
        let judged = [ValueVerdict::WorthIt, ValueVerdict::NotWorthIt];
        analysis.value_of_money.iter().any(|step| judged.contains(&step.verdict))
    };
    let false_claims = (0..EXPERIMENTS).filter(claims).count();
    assert!(false_claims <= EXPERIMENTS as usize / 20, "{false_claims} of {EXPERIMENTS}");
}

#[test]
fn one_that_gives_half_as_much_again_for_its_money_is_found() {
    let found = |seed: &u64| {
        let analysis = analysed(&trials(*seed, ("d", 1.5)));
        analysis.value_of_money.iter().any(|step| step.to == "d" && step.verdict == ValueVerdict::WorthIt)
    };
    let found = (0..20).filter(found).count();
    assert!(found >= 18, "{found} of 20");
}
