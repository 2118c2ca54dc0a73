//! Which part of the client's operations falls to a node.
//!
//! The nodes stand on a ring. The client asks the first replica of a record, which coordinates (token-aware routing); a
//! read goes on to the next ones until as many as its consistency level waits for have been asked, a write to all
//! replicas. So an operation's coordination is done once and its replica work as often as there are replicas asked;
//! spread evenly, unless one node is asked more often than the others.

use experiment::{ConsistencyLevels, Definition, FaultKind, OperationKind, Placement, Truth};

use crate::faults::Faults;
use crate::latency::normal_quantile;
use crate::noise::SIGMA;

/// How a cluster spreads the client's operations.
#[derive(Debug, Clone)]
pub struct Spread {
    /// How often each node is the first replica that is asked; sums to 1.
    first: Vec<f64>,
    /// Replicas that a read asks, and that a write waits for, and that it goes to.
    pub read: usize,
    pub waits: usize,
    pub copies: usize,
    /// Mean of the slowest of the replicas that a read asks, over that of one: log-normal service times.
    pub slowest_of_read: f64,
    /// The same of a write: the slowest of those that it waits for, of all that it goes to.
    pub slowest_of_write: f64,
}

/// The part of one of the client's operations that falls to a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Operations that it coordinates.
    pub coordinates: f64,
    /// Replica reads of a read.
    pub reads: f64,
    /// Replica writes of a write.
    pub writes: f64,
}

impl Spread {
    /// That of a configuration's cluster in one block.
    pub fn of(
        truth: &Truth,
        (configuration, block): (&str, u32),
        placement: Placement,
        levels: ConsistencyLevels,
        workload: &Definition,
    ) -> Self {
        let nodes = placement.nodes.max(1);
        let weight = |node| Faults::of(truth, configuration, block, node).amount_or(FaultKind::BusyNode, 1.0);
        let weights: Vec<f64> = (0..nodes).map(weight).collect();
        let all: f64 = weights.iter().sum();
        let asked = |level: experiment::Consistency| {
            let copies = placement.replication_factor;
            level.replicas(copies).min(copies) as usize
        };
        // One level for each direction: that of the kind that the workload has more of.
        let more = |one: OperationKind, other: OperationKind| workload.mix.share(one) >= workload.mix.share(other);
        let read = if more(OperationKind::Read, OperationKind::Scan) { levels.read } else { levels.scan };
        let write = if more(OperationKind::Update, OperationKind::Insert) { levels.update } else { levels.insert };
        let first = weights.iter().map(|weight| weight / all).collect();
        let copies = placement.replication_factor.clamp(1, nodes) as usize;
        Self::new(first, asked(read), asked(write), copies)
    }

    fn new(first: Vec<f64>, read: usize, waits: usize, copies: usize) -> Self {
        Self { first, read, waits, copies, slowest_of_read: slowest(read), slowest_of_write: ordered(copies, waits) }
    }

    pub fn nodes(&self) -> usize {
        self.first.len()
    }

    /// The part of a node.
    pub fn share(&self, node: usize) -> Share {
        Share {
            coordinates: self.first[node],
            reads: self.of_replicas(node, self.read),
            writes: self.of_replicas(node, self.copies),
        }
    }

    /// How often a node is among the first `asked` replicas.
    fn of_replicas(&self, node: usize, asked: usize) -> f64 {
        let n = self.first.len();
        (0..asked).map(|behind| self.first[(node + n - behind) % n]).sum()
    }

    /// The first replica of an operation; `at` is uniform in [0, 1).
    pub fn first_replica(&self, at: f64) -> usize {
        let mut sum = 0.0;
        let found = self.first.iter().position(|share| {
            sum += share;
            at < sum
        });
        found.unwrap_or(self.first.len() - 1)
    }
}

/// Mean of the largest of `n` log-normal numbers with mean 1.
fn slowest(n: usize) -> f64 {
    ordered(n, n)
}

/// Mean of the `k`-th smallest of `n` such numbers: its distribution function's density is that of a beta distribution
/// over quantiles (David & Nagaraja, Order Statistics, 2003, chapter 2). Midpoint rule.
fn ordered(n: usize, k: usize) -> f64 {
    if n == 1 {
        return 1.0;
    }
    const POINTS: usize = 4000;
    let (below, above) = ((k - 1) as i32, (n - k) as i32);
    let mut weights = 0.0;
    let mut sum = 0.0;
    for i in 0..POINTS {
        let q = (i as f64 + 0.5) / POINTS as f64;
        let weight = q.powi(below) * (1.0 - q).powi(above);
        weights += weight;
        sum += weight * (SIGMA * normal_quantile(q) - SIGMA * SIGMA / 2.0).exp();
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(first: Vec<f64>, read: usize, copies: usize) -> Spread {
        Spread::new(first, read, read, copies)
    }

    #[test]
    fn one_node_does_all_of_it_once() {
        let alone = spread(vec![1.0], 1, 1);
        let share = alone.share(0);
        assert_eq!((share.coordinates, share.reads, share.writes), (1.0, 1.0, 1.0));
        assert_eq!((alone.slowest_of_read, alone.slowest_of_write), (1.0, 1.0));
    }

    #[test]
    fn replica_work_adds_up_to_the_replicas_asked() {
        let busy = spread(vec![0.2, 0.4, 0.2, 0.2], 2, 3);
        let sum = |of: fn(Share) -> f64| (0..4).map(|node| of(busy.share(node))).sum::<f64>();
        assert!((sum(|s| s.coordinates) - 1.0).abs() < 1e-12);
        assert!((sum(|s| s.reads) - 2.0).abs() < 1e-12);
        assert!((sum(|s| s.writes) - 3.0).abs() < 1e-12);
        // The busy node is asked first in 0.4, and second after the first node in 0.2.
        assert!((busy.share(1).reads - 0.6).abs() < 1e-12);
        assert_eq!(busy.first_replica(0.1), 0);
        assert_eq!([0.2, 0.59, 0.61, 0.999].map(|at| busy.first_replica(at)), [1, 1, 2, 3]);
    }

    /// The larger of two log-normal numbers has the mean 2 Phi(sigma / sqrt 2), the smaller the rest of 2.
    #[test]
    fn the_slowest_of_two_is_known() {
        let larger = 2.0 * crate::latency::normal_below(SIGMA / std::f64::consts::SQRT_2);
        assert!((slowest(2) - larger).abs() < 0.002, "{}", slowest(2));
        assert!((ordered(2, 1) - (2.0 - larger)).abs() < 0.002);
        assert!(slowest(3) > slowest(2) && ordered(3, 2) < slowest(2));
    }
}
