//! Whether a database is at rest: its code compiled, its page cache as the workload leaves it. Pure functions of the
//! rounds of load that a controller has seen so far; it goes on while they say no.
//!
//! A JVM compiles what it runs often. Until that is done an operation costs several times the CPU, and much of the CPU
//! is the compilers': of Cassandra 5.0 they take about 22 CPU-seconds. That a benchmark has reached its steady state
//! has to be seen, not assumed (Barrett et al., "Virtual Machine Warmup Blows Hot and Cold", OOPSLA 2017).

use evidence::RestRound;

/// The compilers' part of the database's CPU time below which its code counts as compiled, in two rounds together: they
/// pause before they compile anew what they had compiled on a wrong guess. Measured on two cores: rounds of 3 s began
/// with half of all CPU for compilers and a fifth of the final throughput, and had 6 % in a pause at nine tenths of it,
/// before another 25 %.
const COMPILERS_QUIET: f64 = 0.05;
/// Throughput of the last two rounds may differ by so much, as a logarithm (practice).
const THROUGHPUT_LEVEL: f64 = 0.15;
/// With fewer device reads for each operation than this a page cache answers nearly everything.
const READS_FEW: f64 = 0.02;
/// Times that keys must have turned a page cache over: with uniform keys it has settled by then.
const TURNED_OVER: f64 = 4.0;
/// Least rounds that show whether it goes on changing.
const ROUNDS_MIN: usize = 8;
/// Device reads for each operation may differ by so much, as a share, between the third and the last quarter of what
/// was brought.
const QUARTERS_LEVEL: f64 = 0.015;
/// The hit ratio of caches in front of a database may differ by so much between the third and the last quarter of the
/// rounds: half a point, which is less than what is asked of a prediction of it (ours).
const HIT_RATIO_LEVEL: f64 = 0.005;
/// Two rounds of a page cache that was filled with what had settled may differ from that by so much, as a share: what
/// rounds of a second differ by when nothing changes (measured: 1 to 4 %, one by one).
const RECALLED_LEVEL: f64 = 0.03;

/// Whether the code that a workload runs through is compiled.
pub fn code_is_warm(rounds: &[RestRound]) -> bool {
    let [.., before, last] = rounds else { return false };
    let change = (last.rate() / before.rate()).ln().abs();
    // A round without any operation is no level: NaN and infinity are not below it.
    compilers_are_quiet(rounds) && change <= THROUGHPUT_LEVEL
}

/// Whether compilers used little in the last two rounds.
pub fn compilers_are_quiet(rounds: &[RestRound]) -> bool {
    let [.., before, last] = rounds else { return false };
    let compilers = before.compiler_cpu_s.zip(last.compiler_cpu_s).map(|(a, b)| a + b);
    compilers.is_none_or(|s| s < COMPILERS_QUIET * (before.database_cpu_s + last.database_cpu_s))
}

/// Whether a page cache of so many bytes holds what the workload's keys leave in it: they have turned it over several
/// times, whatever was in it before, and device reads for each operation have stopped changing. `None`: nobody limits
/// it.
///
/// Two neighbouring rounds look level long before it has settled, because the kernel promotes pages slowly. So the
/// third quarter of all bytes that the keys have brought is held against the last one: what still changes while these
/// become half as many again is seen, at any speed.
pub fn cache_is_settled(rounds: &[RestRound], page_cache_bytes: Option<u64>) -> bool {
    let [.., before, last] = rounds else { return false };
    if before.operations == 0 || last.operations == 0 {
        return false;
    }
    if before.reads_per_operation().max(last.reads_per_operation()) <= READS_FEW {
        return true;
    }
    let turned_over = page_cache_bytes.is_none_or(|bytes| brought(rounds) >= TURNED_OVER * bytes as f64);
    turned_over && rounds.len() >= ROUNDS_MIN && quarters_are_level(rounds)
}

/// Whether caches in front of a database hold what the workload's keys leave in them: their hit ratio has stopped
/// changing, over the third and the last quarter of the rounds. A round without such a ratio has none in front.
pub fn cache_tier_is_settled(rounds: &[RestRound]) -> bool {
    let ratios: Vec<f64> = rounds.iter().filter_map(|round| round.cache_hit_ratio).collect();
    if ratios.is_empty() {
        return true;
    }
    let quarter = ratios.len() / 4;
    let mean = |ratios: &[f64]| ratios.iter().sum::<f64>() / ratios.len() as f64;
    let (before, last) = ratios.split_at(ratios.len() - quarter);
    let third = &before[before.len() - quarter..];
    rounds.len() >= ROUNDS_MIN && (mean(third) - mean(last)).abs() <= HIT_RATIO_LEVEL
}

fn quarters_are_level(rounds: &[RestRound]) -> bool {
    let [third, last] = last_quarters(rounds).map(Reads::per_operation);
    // A quarter without any operation is no level: NaN and infinity are not below it.
    (third - last).abs() <= (QUARTERS_LEVEL * third.max(last)).max(READS_FEW / 2.0)
}

/// Device reads for each operation of a page cache that has settled: those of the last quarter of the bytes brought.
pub fn settled_reads_per_operation(rounds: &[RestRound]) -> f64 {
    let [_, last] = last_quarters(rounds);
    last.per_operation()
}

/// The third and the last quarter of the bytes brought; where there are none all rounds are the last.
fn last_quarters(rounds: &[RestRound]) -> [Reads; 2] {
    let brought = brought(rounds);
    let mut so_far = 0.0;
    let mut quarters = [Reads::default(); 2];
    for round in rounds {
        so_far += round.read_bytes;
        match so_far / brought {
            share if share <= 0.5 => {}
            share if share <= 0.75 => quarters[0].add(round),
            // NaN, too.
            _ => quarters[1].add(round),
        }
    }
    quarters
}

/// Bytes that the keys have brought from the volumes.
fn brought(rounds: &[RestRound]) -> f64 {
    rounds.iter().map(|round| round.read_bytes).sum()
}

/// Rounds in which the keys bring as much as a page cache of so many bytes holds, at the pace of these; at least one,
/// and at most as many as these. `None`: nobody limits it.
pub fn rounds_of_a_turnover(rounds: &[RestRound], page_cache_bytes: Option<u64>) -> usize {
    let turnovers = page_cache_bytes.map_or(f64::INFINITY, |bytes| brought(rounds) / bytes.max(1) as f64);
    match turnovers >= 1.0 {
        true => ((rounds.len() as f64 / turnovers).ceil() as usize).max(1),
        // All of it fits, or time was over: no look is worth more rounds.
        false => 1,
    }
}

/// Whether a page cache that was filled with what had settled before takes as many device reads for each operation as
/// it did then.
pub fn cache_is_recalled(rounds: &[RestRound], settled_reads_per_operation: f64) -> bool {
    let [.., before, last] = rounds else { return false };
    let mut reads = Reads::default();
    reads.add(before);
    reads.add(last);
    let level = settled_reads_per_operation;
    (reads.per_operation() - level).abs() <= (RECALLED_LEVEL * level).max(READS_FEW / 2.0)
}

/// Device reads, and the operations that took them.
#[derive(Debug, Clone, Copy, Default)]
struct Reads {
    reads: f64,
    operations: f64,
}

impl Reads {
    fn add(&mut self, round: &RestRound) {
        self.reads += round.device_reads;
        self.operations += round.operations as f64;
    }

    /// NaN without any operation.
    fn per_operation(self) -> f64 {
        self.reads / self.operations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(operations: u64, compiler_cpu_s: Option<f64>, device_reads: f64) -> RestRound {
        RestRound {
            seconds: 2.0,
            operations,
            database_cpu_s: 2.0,
            compiler_cpu_s,
            device_reads,
            read_bytes: device_reads * 16_384.0,
            cached_bytes: None,
            cache_hit_ratio: None,
        }
    }

    #[test]
    fn code_is_warm_when_compilers_are_quiet_and_throughput_is_level() {
        let code = |rounds: &[(u64, f64)]| {
            let rounds: Vec<_> = rounds.iter().map(|(n, cpu)| round(*n, Some(*cpu), 0.0)).collect();
            code_is_warm(&rounds)
        };
        assert!(!code(&[]) && !code(&[(9_000, 0.0)]), "one round shows no level");
        assert!(!code(&[(9_000, 0.9), (9_100, 0.03)]), "a pause of the compilers");
        assert!(!code(&[(9_000, 0.11), (9_100, 0.11)]), "5.5 % are theirs");
        assert!(code(&[(9_000, 0.12), (9_100, 0.06)]));
        assert!(!code(&[(7_000, 0.09), (9_100, 0.03)]), "it still rises");
        assert!(!code(&[(0, 0.0), (0, 0.0)]), "nothing was answered");
        let unseen = [round(9_000, None, 0.0), round(9_000, None, 0.0)];
        assert!(code_is_warm(&unseen), "throughput alone, where compilers cannot be seen");
    }

    /// Rounds of 1,000 operations with so many device reads of 16 KiB each.
    fn with_reads(reads: &[f64]) -> Vec<RestRound> {
        reads.iter().map(|n| round(1_000, None, *n)).collect()
    }

    #[test]
    fn a_page_cache_is_settled_when_it_was_turned_over_and_reads_have_stopped_changing() {
        let settled = |reads: &[f64], bytes| cache_is_settled(&with_reads(reads), bytes);
        assert!(!settled(&[900.0; 7], None), "seven rounds show little");
        assert!(settled(&[900.0; 8], None));
        // 112 MiB were brought by then.
        assert!(settled(&[900.0; 8], Some(28 << 20)));
        assert!(!settled(&[900.0; 8], Some(29 << 20)), "turned over fewer than four times");
        assert!(settled(&[15.0, 2.0], Some(64 << 20)), "nearly all of it is in memory");
        assert!(!cache_is_settled(&[round(0, None, 0.0); 2], None), "nothing was answered");
        // Index pages come last: what came first does not count.
        assert!(settled(&[1_400.0, 1_100.0, 1_000.0, 905.0, 900.0, 900.0, 900.0, 900.0, 900.0], None));
    }

    /// The kernel promotes pages slowly: with zipfian keys and chunks of 64 KiB, reads for an operation grew in steps
    /// of 1 % from 0.74 to 1.0 (`examples/free-before-paid.toml`).
    #[test]
    fn a_page_cache_that_changes_in_small_steps_is_not_settled() {
        let curve = |rounds: u32| -> Vec<f64> {
            (1..=rounds).map(|n| 1_000.0 - 300.0 * (-f64::from(n) / 20.0).exp()).collect()
        };
        let first = (8..200).find(|n| cache_is_settled(&with_reads(&curve(*n)), None)).unwrap();
        let left = 1.0 - curve(first).last().unwrap() / 1_000.0;
        assert!((0.002..0.02).contains(&left), "{first} rounds, {left} of the level to go");
    }

    #[test]
    fn a_cache_tier_is_settled_when_its_hit_ratio_has_stopped_changing() {
        let settled = |ratios: &[f64]| {
            let rounds =
                ratios.iter().map(|ratio| RestRound { cache_hit_ratio: Some(*ratio), ..round(1_000, None, 0.0) });
            cache_tier_is_settled(&rounds.collect::<Vec<_>>())
        };
        assert!(cache_tier_is_settled(&with_reads(&[900.0])), "there is none");
        assert!(!settled(&[0.8; 7]), "seven rounds show little");
        assert!(settled(&[0.8; 8]));
        assert!(!settled(&[0.5, 0.6, 0.65, 0.7, 0.73, 0.75, 0.77, 0.78]), "it still fills");
        assert!(settled(&[0.1, 0.4, 0.6, 0.7, 0.798, 0.803, 0.799, 0.802]), "it differs by chance");
    }

    #[test]
    fn a_page_cache_is_recalled_when_it_takes_as_many_reads_as_before() {
        let level = settled_reads_per_operation(&with_reads(&[700.0, 800.0, 900.0, 1_000.0, 1_000.0]));
        assert_eq!(level, 1.0, "of the last quarter");
        assert_eq!(settled_reads_per_operation(&with_reads(&[0.0; 3])), 0.0);
        // 14 MiB in each round.
        let rounds = with_reads(&[900.0; 8]);
        let turnover = |mib: u64| rounds_of_a_turnover(&rounds, Some(mib << 20));
        assert_eq!([10, 28, 30, 112, 113].map(turnover), [1, 2, 3, 8, 1]);
        assert_eq!(rounds_of_a_turnover(&rounds, None), 1);
        let recalled = |reads: &[f64], level| cache_is_recalled(&with_reads(reads), level);
        assert!(!recalled(&[1_000.0], 1.0), "one round shows little");
        assert!(!recalled(&[900.0, 1_000.0], 1.0) && recalled(&[950.0, 1_000.0], 1.0));
        assert!(!recalled(&[1_040.0, 1_040.0], 1.0), "level, but at another level");
        assert!(recalled(&[15.0, 2.0], 0.0), "nearly all of it is in memory");
    }
}
