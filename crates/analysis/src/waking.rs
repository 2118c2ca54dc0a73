//! What shows that a database is not at rest: its compilers' part of its CPU time, and device reads over time.

use evidence::{HostFigures, HostSample};
use reported::Meaning;

/// The part of the database's CPU time that its compilers used between the first and the last sample, 0 to 1; `None`
/// where it has no compilers, or they were not seen.
pub fn compiler_share(window: &[HostSample]) -> Option<f64> {
    let knows = |sample: &&HostSample| compiled(sample).is_some() && database(&sample.host).is_some();
    let first = window.iter().find(knows)?;
    let last = window.iter().rev().find(knows)?;
    let grown = compiled(last)? - compiled(first)?;
    stats::ratio(grown.max(0.0), database(&last.host)? - database(&first.host)?)
}

fn compiled(sample: &HostSample) -> Option<f64> {
    sample.database.meaning(Meaning::CompilerCpuS)
}

/// The CPU time that the compilers' is a part of: that of their process.
fn database(host: &HostFigures) -> Option<f64> {
    host.process_cpu_s.or(host.cgroup_cpu_s)
}

/// Read requests of all data volumes so far, at each sample that knows them: (seconds from the start of measurement,
/// requests).
pub fn data_reads(window: &[HostSample]) -> Vec<(f64, f64)> {
    let of = |sample: &HostSample| {
        let mut data = sample.volumes.iter().filter(|(role, _)| role.is_data()).peekable();
        data.peek()?;
        let reads: Option<f64> = data.map(|(_, volume)| volume.reads).sum();
        Some((sample.t_s, reads?))
    };
    window.iter().filter_map(of).collect()
}

/// What a counter rose by in the second that begins at `from`, between its readings; `None` outside them.
pub fn in_second(counter: &[(f64, f64)], from: f64) -> Option<f64> {
    let at = |t: f64| {
        let after = counter.partition_point(|(time, _)| *time < t);
        let (later, value) = *counter.get(after)?;
        if later == t {
            return Some(value);
        }
        let (earlier, before) = *counter.get(after.checked_sub(1)?)?;
        Some(before + (value - before) * (t - earlier) / (later - earlier))
    };
    Some(at(from + 1.0)? - at(from)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_read_between_its_samples() {
        let counter = [(0.5, 100.0), (1.5, 200.0), (2.5, 240.0)];
        assert_eq!(in_second(&counter, 1.0), Some(70.0));
        assert_eq!(in_second(&counter, 0.5), Some(100.0));
        assert_eq!(in_second(&counter, 0.0), None, "nobody looked before");
        assert_eq!(in_second(&counter, 2.0), None);
    }

    #[test]
    fn what_was_not_seen_is_no_share() {
        let sample = |process: f64, compilers: Option<f64>| {
            let mut sample = HostSample::default();
            sample.host.process_cpu_s = Some(process);
            sample.database.set(&reported::jvm::COMPILER_CPU_S, compilers);
            sample
        };
        let share =
            |compilers: [Option<f64>; 2]| compiler_share(&[sample(10.0, compilers[0]), sample(20.0, compilers[1])]);
        assert_eq!(share([Some(1.0), Some(4.0)]), Some(0.3));
        assert_eq!(share([Some(1.0), Some(1.0)]), Some(0.0));
        assert_eq!(share([None, None]), None);
        assert_eq!(compiler_share(&[]), None);
    }
}
