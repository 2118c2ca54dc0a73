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
/// Device reads for each operation of the last two rounds may differ by so much of the larger, or ...
const READS_LEVEL: f64 = 0.05;
/// ... by so much: fewer than one operation in fifty misses then.
const READS_FEW: f64 = 0.02;

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

/// Whether a page cache of so many bytes holds what the workload's keys leave in it: they have brought as much as it
/// holds, whatever was in it before, and device reads for each operation are steady. `None`: nobody limits it.
pub fn cache_is_settled(rounds: &[RestRound], page_cache_bytes: Option<u64>) -> bool {
    let [.., before, last] = rounds else { return false };
    let brought: f64 = rounds.iter().map(|round| round.read_bytes).sum();
    let (a, b) = (before.reads_per_operation(), last.reads_per_operation());
    if a.max(b) <= READS_FEW {
        return true;
    }
    let is_level = (a - b).abs() <= (READS_LEVEL * a.max(b)).max(READS_FEW);
    is_level && page_cache_bytes.is_none_or(|bytes| brought >= bytes as f64)
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

    #[test]
    fn a_page_cache_is_settled_when_reads_are_steady_and_it_was_turned_over() {
        let cache = |reads: &[f64], bytes| {
            let rounds: Vec<_> = reads.iter().map(|n| round(1_000, None, *n)).collect();
            cache_is_settled(&rounds, bytes)
        };
        assert!(!cache(&[900.0], None));
        assert!(cache(&[900.0, 880.0], None), "2 % apart");
        assert!(!cache(&[1_050.0, 900.0], None), "index pages come last");
        assert!(!cache(&[900.0, 880.0], Some(64 << 20)), "28 MiB of 64 are as the keys left them");
        assert!(cache(&[1_400.0, 1_100.0, 1_000.0, 980.0], Some(64 << 20)));
        assert!(cache(&[15.0, 2.0], Some(64 << 20)), "nearly all of it is in memory");
    }
}
