//! How fast the machine is: from trial to trial and from second to second.
//!
//! Two resources vary apart: the CPU (its speed) and the device (work per operation: how many reads a miss needs, how
//! many bytes are written for a byte). What a volume was bought for does not vary: a volume at its limit delivers its
//! limit, and its noise is seen in the throughput.

use experiment::{Plan, Truth};

use crate::noise::{Chain, Noise, factor, linked};

/// Speeds against the usual ones; the device's is one over its work per operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    pub cpu: f64,
    pub device: f64,
}

impl Pace {
    /// Both together.
    fn times(self, other: Self) -> Self {
        Self { cpu: self.cpu * other.cpu, device: self.device * other.device }
    }

    /// The same factor on both.
    fn both(factor: f64) -> Self {
        Self { cpu: factor, device: factor }
    }
}

/// The seed of all noise of a plan.
pub fn seed(plan: &Plan, truth: &Truth) -> u64 {
    truth.seed ^ plan.seed.rotate_left(32)
}

/// The pace of every planned trial, in the order in which they run. A planted `speed` is not in it.
pub fn of_trials(plan: &Plan, truth: &Truth) -> Vec<Pace> {
    let seed = seed(plan, truth);
    let drawn = |parts: [&str; 3], variation: f64| factor(variation, Noise::of(seed, &parts[..]).normal());
    let of_device = truth.device_noise.unwrap_or(truth.run_noise);
    let of_device_block = truth.device_block_noise.unwrap_or(truth.block_noise);
    let (mut cpu_before, mut device_before) = (None, None);
    let last = plan.trials.len().saturating_sub(1).max(1) as f64;
    let of_trial = |(position, trial): (usize, &experiment::PlannedTrial)| {
        let block = trial.block.to_string();
        let cell = plan.cells.iter().find(|c| c.id == trial.cell);
        let host = cell.map_or("", |c| c.configuration.as_str());
        let own = |name, before: &mut Option<f64>, variation| {
            let fresh = Noise::of(seed, &[name, &block, &trial.cell]).normal();
            factor(variation, linked(before, truth.run_autocorrelation, fresh))
        };
        let run = Pace {
            cpu: own("trial", &mut cpu_before, truth.run_noise),
            device: own("trial device", &mut device_before, of_device),
        };
        let shared = Pace {
            cpu: factor(truth.block_noise, Noise::of(seed, &["block", &block]).normal()),
            device: factor(of_device_block, Noise::of(seed, &["block device", &block]).normal()),
        };
        let machine = Pace {
            cpu: drawn(["host", host, "cpu"], truth.host_noise),
            device: drawn(["host", host, "device"], truth.host_noise),
        };
        let is_slow = Noise::of(seed, &["mode", &block, &trial.cell]).unit() < truth.slow_share;
        let mode = if is_slow { truth.slow_factor } else { 1.0 };
        let drifted = 1.0 + truth.drift * position as f64 / last;
        run.times(shared).times(machine).times(Pace::both(mode * drifted))
    };
    plan.trials.iter().enumerate().map(of_trial).collect()
}

impl Pace {
    /// That of one node of a cluster: its own machine, and what equal nodes differ by from trial to trial. The first
    /// one's machine is in the trial's pace already.
    pub fn of_node(self, plan: &Plan, truth: &Truth, trial: &experiment::PlannedTrial, node: usize) -> Self {
        let seed = seed(plan, truth);
        let (block, name) = (trial.block.to_string(), node.to_string());
        let cell = plan.cells.iter().find(|c| c.id == trial.cell);
        let host = cell.map_or("", |c| c.configuration.as_str());
        let of = |resource: &str| {
            let own = Noise::of(seed, &["node", resource, &block, &trial.cell, &name]).normal();
            let machine = Noise::of(seed, &["host", host, resource, &name]).normal();
            let machine = if node == 0 { 1.0 } else { factor(truth.host_noise, machine) };
            factor(truth.node_noise, own) * machine
        };
        self.times(Self { cpu: of("cpu"), device: of("device") })
    }
}

/// Noise from second to second inside a trial.
pub struct Seconds {
    cpu: Chain,
    device: Chain,
    variation: f64,
}

impl Seconds {
    /// That of a node in one trial.
    pub fn new(seed: u64, truth: &Truth, trial: &experiment::PlannedTrial, node: usize) -> Self {
        let block = trial.block.to_string();
        let chain = |name: &str| {
            let number = node.to_string();
            let noise = match node {
                0 => Noise::of(seed, &[name, &block, &trial.cell]),
                _ => Noise::of(seed, &[name, &block, &trial.cell, &number]),
            };
            Chain::new(noise, truth.second_autocorrelation)
        };
        Self { cpu: chain("second"), device: chain("second device"), variation: truth.second_noise }
    }

    /// The next second's pace: the trial's own times a common factor, with this second's noise.
    pub fn next(&mut self, own: Pace, common: f64) -> Pace {
        let noise =
            Pace { cpu: factor(self.variation, self.cpu.next()), device: factor(self.variation, self.device.next()) };
        own.times(noise).times(Pace::both(common))
    }
}
