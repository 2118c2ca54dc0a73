//! What the database asked of its data volumes beside what fio found them to deliver.
//!
//! fio's requests are not the database's: it reads at random in requests of 4 KiB and writes in a row in requests of 64
//! KiB. They can be compared where a limit is what bounds both: a limit on requests counts each as one, whatever its
//! size, and a limit on bytes counts bytes. Which of the two runs out first follows from the size of the database's
//! requests. Without a limit that fio reached, the device itself bounds, and requests of another size or direction cost
//! it otherwise: then only reads of about fio's size are compared. Where nothing can be compared, nothing is said.

use evidence::ProbeResult;
use experiment::IoLimits;

use crate::activity::VolumeActivity;
use crate::document::limit::Unit;
use crate::document::{ConfigurationFacts, Delivered, VolumeReport};
use crate::measurement::TrialMeasurement;
use crate::rules;

/// A volume that gave fio this share of its limit was held by the limit.
const AT_LIMIT: f64 = 0.9;
/// A request of up to this size counts as one on a volume of EBS with SSDs (EBS user guide, "EBS I/O characteristics").
const ONE_REQUEST_BYTES: f64 = 256.0 * 1024.0;
/// Reads of up to this many times the size of fio's are like them ...
const LIKE_SIZE: f64 = 1.5;
/// ... and writes of up to this share of all requests do not matter.
const FEW_WRITES: f64 = 0.05;

/// Of a cell with these valid trials; `None` where nobody probed its data volume, its requests were not seen, or fio's
/// cannot be compared with them.
pub fn of_cell(configuration: &ConfigurationFacts, trials: &[&TrialMeasurement]) -> Option<Delivered> {
    let data = configuration.data_volumes().next()?;
    let members: Vec<ProbeResult> = configuration.data_volumes().map(|v| v.probe).collect::<Option<_>>()?;
    let count = members.len() as f64;
    let mean = |figure: fn(&ProbeResult) -> f64| members.iter().map(figure).sum::<f64>() / count;
    // Several are alike, but for what fio found.
    let probe = ProbeResult {
        read_iops: mean(|p| p.read_iops),
        write_bytes_per_s: mean(|p| p.write_bytes_per_s),
        ..*members.first()?
    };
    let asked = DeviceDemand::of(trials, count)?;
    let limits = lasting(data)?;
    let is_held = |expected: Option<f64>, got: f64| expected.is_some_and(|expected| got >= AT_LIMIT * expected);
    let found = if is_held(rules::expected_read_iops(&limits), probe.read_iops) {
        // Whether a volume that somebody else made counts reads and writes together is not known.
        let is_known = !configuration.is_bought && configuration.exists_at.is_empty();
        if !is_known && !asked.has_few_writes() {
            return None;
        }
        let writes_held = is_held(rules::expected_write_bytes_per_s(&limits), probe.write_bytes_per_s);
        under_limits(&limits, data.is_combined(), &asked, &probe, writes_held)
    } else {
        like_with_like(&asked, &probe)
    };
    let nodes = f64::from(configuration.nodes);
    found
        .map(|of_one| Delivered { used: of_one.used * count, delivered: of_one.delivered * count * nodes, ..of_one })
        .filter(|found| found.delivered > 0.0)
}

/// What is in force for good; `None` where credits say how much that is, so that the probe's moment is not the trial's.
fn lasting(data: &VolumeReport) -> Option<IoLimits> {
    if data.byte_burst.is_some() {
        return None;
    }
    match data.burst.filter(|bucket| bucket.burst_iops > bucket.baseline_iops) {
        Some(bucket) if bucket.credits_start > 0.0 => None,
        Some(bucket) => Some(data.limits.min(IoLimits::symmetric(Some(bucket.baseline_iops), None))),
        None => Some(data.limits),
    }
}

/// What a database asked of the data volumes of all its nodes, a second: medians over trials; of so many volumes of a
/// node the share of one.
struct DeviceDemand {
    reads: f64,
    writes: f64,
    read_bytes: f64,
    write_bytes: f64,
}

impl DeviceDemand {
    fn of(trials: &[&TrialMeasurement], members: f64) -> Option<Self> {
        let median = |figure: fn(&VolumeActivity) -> f64| {
            stats::median(trials.iter().filter_map(|t| Some(t.sum_of_data(figure)? / members)))
        };
        Some(Self {
            reads: median(VolumeActivity::read_iops)?,
            writes: median(VolumeActivity::write_iops)?,
            read_bytes: median(VolumeActivity::read_bytes_per_s)?,
            write_bytes: median(VolumeActivity::write_bytes_per_s)?,
        })
    }

    fn has_few_writes(&self) -> bool {
        self.writes <= FEW_WRITES * (self.reads + self.writes)
    }
}

/// A volume that its limits hold. `writes_held`: fio's writes came to theirs. All that is delivered is of one node.
fn under_limits(
    limits: &IoLimits,
    with_writes: bool,
    asked: &DeviceDemand,
    probe: &ProbeResult,
    writes_held: bool,
) -> Option<Delivered> {
    let (requests, bytes) = match with_writes {
        true => (asked.reads + asked.writes, asked.read_bytes + asked.write_bytes),
        false => (asked.reads, asked.read_bytes),
    };
    let request_bytes = stats::ratio(bytes, requests)?;
    let iops = limits.read_iops.unwrap_or(f64::INFINITY);
    // Requests of this size use up both limits.
    let both_at = limits.read_bytes_per_s.map_or(f64::INFINITY, |most| most / iops);
    if request_bytes <= both_at {
        // fio's reads are no larger, so that requests bounded them too.
        return (request_bytes <= ONE_REQUEST_BYTES && both_at >= ProbeResult::READ_BYTES).then_some(Delivered {
            unit: Unit::Iops,
            used: requests,
            delivered: probe.read_iops,
            with_writes,
            request_bytes,
            probe_request_bytes: ProbeResult::READ_BYTES,
        });
    }
    // fio has written, and what it wrote is what may be read where both share one limit.
    let is_of_bytes = with_writes && writes_held && both_at <= ProbeResult::WRITE_BYTES;
    is_of_bytes.then_some(Delivered {
        unit: Unit::BytesPerS,
        used: bytes,
        delivered: probe.write_bytes_per_s,
        with_writes,
        request_bytes,
        probe_request_bytes: ProbeResult::WRITE_BYTES,
    })
}

/// A volume that is as fast as its device: reads of fio's size beside hardly anything else.
fn like_with_like(asked: &DeviceDemand, probe: &ProbeResult) -> Option<Delivered> {
    let request_bytes = stats::ratio(asked.read_bytes, asked.reads)?;
    let is_like = request_bytes <= LIKE_SIZE * ProbeResult::READ_BYTES && asked.has_few_writes();
    is_like.then_some(Delivered {
        unit: Unit::Iops,
        used: asked.reads,
        delivered: probe.read_iops,
        with_writes: false,
        request_bytes,
        probe_request_bytes: ProbeResult::READ_BYTES,
    })
}

#[cfg(test)]
mod tests {
    use experiment::{Burst, Job};

    use super::*;
    use crate::analyse;
    use crate::rules::cases::first_data;
    use crate::story::{job, run, trials};

    const MIB: f64 = 1_048_576.0;

    /// Of the story's gp2 and io1, in this order.
    fn of_both(job: &Job, trials: &[TrialMeasurement]) -> [Option<Delivered>; 2] {
        let analysis = analyse(&run(job, trials));
        ["gp2-320", "io1-10000"].map(|name| analysis.cells.iter().find(|c| c.configuration == name).unwrap().delivered)
    }

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value}, not {expected}");
    }

    fn set_probe(trials: &mut [TrialMeasurement], change: impl Fn(&mut ProbeResult)) {
        for trial in trials {
            let probes = trial.record.nodes[0].volumes.iter_mut().flat_map(|v| &mut v.probe);
            probes.for_each(&change);
        }
    }

    /// gp2 gave fio the 60 IOPS of its limit, and 59.92 reads of 16 KiB a second to the database. io1 gave 500 of 625:
    /// the machine was slower, and reads four times as large cost it more than fio's.
    #[test]
    fn reads_are_compared_where_a_limit_on_requests_holds_the_volume() {
        let [gp2, io1] = of_both(&job(), &trials());
        let gp2 = gp2.unwrap();
        assert_eq!((gp2.unit, gp2.with_writes), (Unit::Iops, false));
        near(gp2.used, (3_590.0 + 3_600.0) / 2.0 / 60.0);
        near(gp2.delivered, 60.1);
        near(gp2.request_bytes, 16_384.0);
        assert_eq!(gp2.probe_request_bytes, 4096.0);
        assert_eq!(io1, None);
    }

    /// Two writes a second beside the reads: of the same limit where they share it.
    #[test]
    fn writes_count_where_they_share_the_limit() {
        let mut job = job();
        job.setups[0].data.combined = Some(true);
        let gp2 = of_both(&job, &trials())[0].unwrap();
        let reads = 3_595.0 / 60.0;
        assert!(gp2.with_writes);
        near(gp2.used, reads + 2.0);
        near(gp2.request_bytes, (reads * 16_384.0 + 2.0 * 65_536.0) / (reads + 2.0));
    }

    /// With 0.9 MiB/s beside 60 IOPS, requests of more than 15.4 KiB use up the bytes first.
    #[test]
    fn bytes_are_compared_where_they_run_out_first() {
        let mut job = job();
        job.setups[0].data.combined = Some(true);
        job.setups[0].data.limits = IoLimits::symmetric(Some(60.0), Some(0.9));
        let mut trials = trials();
        set_probe(&mut trials, |probe| probe.write_bytes_per_s = 0.89 * MIB);
        let gp2 = of_both(&job, &trials)[0].unwrap();
        assert_eq!((gp2.unit, gp2.probe_request_bytes), (Unit::BytesPerS, 65_536.0));
        near(gp2.used, 3_595.0 / 60.0 * 16_384.0 + 2.0 * 65_536.0);
        near(gp2.delivered, 0.89 * MIB);
        // fio has read nothing in large requests, so that of a limit on reads alone nothing is known.
        job.setups[0].data.combined = Some(false);
        assert_eq!(of_both(&job, &trials)[0], None);
        // Nor where its writes did not come to their limit.
        job.setups[0].data.combined = Some(true);
        set_probe(&mut trials, |probe| probe.write_bytes_per_s = 0.5 * MIB);
        assert_eq!(of_both(&job, &trials)[0], None);
    }

    #[test]
    fn requests_like_fios_are_compared_on_a_device_without_limits() {
        let mut job = job();
        job.setups[0].data.limits = IoLimits::default();
        let mut trials = trials();
        assert_eq!(of_both(&job, &trials)[0], None, "reads of 16 KiB, and fio's of 4 KiB");
        for data in trials.iter_mut().map(first_data) {
            data.read_bytes = data.reads * 5_000.0;
        }
        let gp2 = of_both(&job, &trials)[0].unwrap();
        near(gp2.request_bytes, 5_000.0);
        assert!(!gp2.with_writes, "2 of 62 requests are writes");
        trials.iter_mut().for_each(|trial| first_data(trial).writes = 1_200.0);
        assert_eq!(of_both(&job, &trials)[0], None, "a quarter are writes");
    }

    #[test]
    fn of_credits_that_come_and_go_nothing_is_said() {
        let mut job = job();
        let bucket = |credits_start: f64, baseline_iops: f64| Burst {
            baseline_iops,
            burst_iops: 3_000.0,
            credits_max: 1e6,
            credits_start,
        };
        job.setups[0].data.limits = IoLimits::symmetric(Some(3_000.0), Some(10.0));
        job.setups[0].data.burst = Some(bucket(1e6, 60.0));
        assert_eq!(of_both(&job, &trials())[0], None);
        job.setups[0].data.burst = Some(bucket(0.0, 60.0));
        near(of_both(&job, &trials())[0].unwrap().delivered, 60.1);
    }

    #[test]
    fn without_a_probe_nothing_is_said() {
        let mut trials = trials();
        for trial in &mut trials {
            trial.record.nodes[0].volumes.iter_mut().for_each(|v| v.probe = None);
        }
        assert_eq!(of_both(&job(), &trials), [None, None]);
    }
}
