//! Did the volume do the work, was it whole, and was it what was asked for?

use analysis::rules::burst::{BucketLasts, BurstChanged, BurstOnly};
use analysis::rules::cache_warmed::CacheWarmed;
use analysis::rules::data_fits_page_cache::DataFitsPageCache;
use analysis::rules::data_set_smaller::DataSetSmaller;
use analysis::rules::ebs_disagrees::EbsDisagrees;
use analysis::rules::emulation_floor::EmulationFloor;
use analysis::rules::emulation_off_limit::EmulationOffLimit;
use analysis::rules::members::{MemberFigure, SlowMember, UnbalancedMembers};
use analysis::rules::separate_read_write_limits::SeparateReadWriteLimits;
use analysis::rules::served_from_page_cache::ServedFromPageCache;
use analysis::rules::table_bloat::TableBloat;
use analysis::rules::throttle_slices::ThrottleSlices;
use analysis::rules::volume_above_instance::VolumeAboveInstance;
use analysis::rules::volume_at_cap::VolumeAtCap;
use analysis::{Dimension, VolumeLimit};

use super::amounts::{Words, percent};
use crate::figures::{MIB, about, count, number, whole};
use crate::labels::operation;

pub fn from_page_cache(of: &ServedFromPageCache) -> Words {
    (
        format!(
            "{} operations read, but the data volume saw only {} read requests ({:.3} each).",
            count(of.operations_that_read),
            whole(of.device_reads),
            of.device_reads_per_read
        ),
        "Memory answered, not the volume: nothing follows about IOPS. Use a larger [dataset], a flatter key \
         distribution or, where iopslab limits it, a smaller page cache (provider.local.page_cache_mib).",
    )
}

pub fn fits_page_cache(of: &DataFitsPageCache) -> Words {
    (
        format!(
            "The whole data set ({} MB on disk) fits the page cache ({} MB).",
            megabytes(of.data_bytes_on_disk),
            megabytes(of.page_cache_budget_bytes)
        ),
        "Reads will be served from memory once it has filled: conclude nothing about IOPS; load more records or allow \
         less memory.",
    )
}

pub fn cache_warmed(of: &CacheWarmed) -> Words {
    (
        format!(
            "The page cache was warm: {} of {} MB of the data set were read into it before the warm-up{}, in {:.1} \
             s.{}",
            megabytes(of.read_bytes),
            megabytes(of.data_bytes_on_disk),
            of.by_keys_bytes
                .map_or_else(String::new, |bytes| format!(", then {} MB by the workload's own keys", megabytes(bytes))),
            of.seconds,
            of.device_reads_per_read.map_or_else(String::new, |reads| format!(
                " An operation that read then took {reads:.3} reads of the data volume."
            ))
        ),
        match of.by_keys_bytes {
            Some(_) => {
                "Asked for by cache = \"warm\" in [load]: it holds what it would after a long time under this workload."
            }
            None => {
                "Asked for by cache = \"warm\" in [load]: what memory answers says nothing about IOPS, and that is the \
                 answer for a cache that is warm."
            }
        },
    )
}

fn megabytes(bytes: u64) -> String {
    whole(bytes as f64 / 1e6)
}

pub fn data_set_smaller(of: &DataSetSmaller) -> Words {
    let message = match of {
        DataSetSmaller::Others { bytes_on_disk, median_bytes_of_the_run, less_by_share, .. } => format!(
            "{} MB are on disk, {} less than the {} MB of the run's median trial.",
            whole(bytes_on_disk / 1e6),
            percent(*less_by_share),
            whole(median_bytes_of_the_run / 1e6)
        ),
        DataSetSmaller::Layout { bytes_on_disk, least_bytes, records, .. } => format!(
            "{} MB are on disk, {} records of this layout take {} MB at the least.",
            whole(bytes_on_disk / 1e6),
            count(*records),
            whole(least_bytes / 1e6)
        ),
    };
    (
        message,
        "Records are missing, or they compress although they should not. A smaller data set fits the page cache \
         better: the cell flatters its storage. Delete the snapshot (iopslab clean --snapshots) and load again.",
    )
}

pub fn volume_at_cap(of: &VolumeAtCap) -> Words {
    let limit = of.limit;
    let limit = match of.limited {
        VolumeLimit::ReadIops => format!("{} read IOPS", whole(limit)),
        VolumeLimit::WriteIops => format!("{} write IOPS", whole(limit)),
        VolumeLimit::ReadBytesPerS => format!("{} MB/s read", whole(limit / 1e6)),
        VolumeLimit::Iops => format!("{} IOPS", whole(limit)),
        VolumeLimit::BytesPerS => format!("{} MB/s", whole(limit / 1e6)),
        VolumeLimit::WriteBytesPerS => format!("{} MB/s written", whole(limit / 1e6)),
    };
    (
        format!(
            "The {} volume was at its limit of {limit} (on this machine) in {} of the window.",
            of.volume.name(),
            percent(of.windows_at_cap_share)
        ),
        "Whether a faster volume gives more is said under the cell's limit, where this matrix holds one.",
    )
}

pub fn slices(of: &ThrottleSlices) -> Words {
    (
        format!(
            "p99 of {} is {:.0} ms on a {} volume at its limit: the throttle releases I/O in slices of ~{:.0} ms.",
            operation(of.operation),
            of.p99_us / 1e3,
            of.volume.name(),
            of.slice_us / 1e3
        ),
        "Tail latency of a saturated emulated volume shows these steps; a real volume queues more evenly. Compare \
         throughput here, and tails at a load below saturation.",
    )
}

pub fn separate_limits(of: &SeparateReadWriteLimits) -> Words {
    (
        format!(
            "The {} volume did {} reads and writes per second together, {} of the {} IOPS that EBS counts for both.",
            of.volume.name(),
            whole(of.read_iops + of.write_iops),
            percent(of.combined_share),
            whole(of.limit_iops)
        ),
        "Here reads and writes have limits of their own, on EBS one together: this volume gave more than the real one \
         would. Read the cell's throughput as an upper bound.",
    )
}

pub fn burst_changed(of: &BurstChanged) -> Words {
    (
        format!(
            "The {} volume's burst credits ran out inside the window ({} at its start).{}",
            of.volume.name(),
            credits(of.unit, of.spent.credits_start),
            lasts(of.unit, of.lasts)
        ),
        "The trial mixes two speeds: the burst and the baseline. Start with the credits that production would have \
         (provider.local burst_credits_start), or measure long enough to see the baseline alone.",
    )
}

pub fn burst_only(of: &BurstOnly) -> Words {
    let Some(spent) = of.spent else { return unseen_burst(of) };
    (
        format!(
            "The {} volume ran on burst credits ({} to {}): this speed does not last.{}",
            of.volume.name(),
            amount(of.unit, spent.credits_start),
            credits(of.unit, spent.credits_end),
            lasts(of.unit, of.lasts)
        ),
        "For the sustained speed start the bucket empty (burst = \"baseline\" of the volume, or of [provider.local]).",
    )
}

/// Of a volume of an existing cluster nobody sees the credits.
fn unseen_burst(of: &BurstOnly) -> Words {
    let (measured, baseline) = of.lasts.map_or((0.0, 0.0), |lasts| (lasts.measured_per_s, lasts.baseline_per_s));
    (
        format!(
            "The {} volume did {} IOPS, and its baseline is {}: it ran on burst credits, and nobody saw how many are \
             left.{}",
            of.volume.name(),
            whole(measured),
            whole(baseline),
            lasts(of.unit, of.lasts)
        ),
        "This speed does not last. Measure when the credits are spent (EBS reports them as BurstBalance).",
    )
}

pub fn table_bloat(of: &TableBloat) -> Words {
    (
        format!(
            "The table with its indexes grew from {} to {} MiB over {} trials; a vacuum before one of them had {} old \
             versions of rows to take away.",
            whole(of.first_bytes as f64 / MIB),
            whole(of.most_bytes as f64 / MIB),
            of.trials,
            whole(of.most_dead_rows as f64)
        ),
        "Later trials read a larger table. Run updates until it has its lasting size before you measure, or load it \
         anew (drop it by hand); a fillfactor below 100 leaves room for new versions on the page of the old one.",
    )
}

/// `5,000 I/O`, or `3,200 MiB` of a bucket of bytes.
fn credits(unit: Dimension, credits: f64) -> String {
    let amount = amount(unit, credits);
    match unit {
        Dimension::Bytes => format!("{amount} MiB"),
        Dimension::Requests => format!("{amount} I/O"),
    }
}

fn amount(unit: Dimension, credits: f64) -> String {
    match unit {
        Dimension::Bytes => whole(credits / MIB),
        Dimension::Requests => whole(credits),
    }
}

/// `A full bucket gives 3,000 IOPS for 33 minutes, then 300.`, at full scale.
fn lasts(unit: Dimension, lasts: Option<BucketLasts>) -> String {
    let Some((lasts, seconds)) = lasts.and_then(|lasts| Some((lasts, lasts.full_bucket_lasts_s?))) else {
        return String::new();
    };
    let (divisor, unit) = match unit {
        Dimension::Bytes => (MIB, "MiB/s"),
        Dimension::Requests => (1.0, "IOPS"),
    };
    format!(
        " Under this demand a full bucket gives {} {unit} for {}, then {} (at full scale).",
        whole(lasts.burst_per_s / divisor * lasts.scale),
        about(seconds),
        whole(lasts.baseline_per_s / divisor * lasts.scale)
    )
}

pub fn off_limit(of: &EmulationOffLimit) -> Words {
    let (measured, expected, off) = (of.measured, of.expected, of.off_by);
    let (given, what) = match of.probed {
        VolumeLimit::ReadIops => ([measured, expected], "4 KiB random reads/s"),
        _ => ([measured / 1e6, expected / 1e6], "MB/s of 64 KiB sequential writes"),
    };
    (
        format!(
            "The {} volume gives {} {what}, its limit allows {} ({:+.1} %).",
            of.volume.name(),
            whole(given[0]),
            whole(given[1]),
            off * 100.0
        ),
        if of.is_bought {
            "A volume that gives more runs on credits: those of its own (gp2, st1), or of the instance, which may go \
             above its path to EBS for half an hour a day. Measure longer than they last. One that gives less was not \
             attached as stated, or its instance is the limit."
        } else if off < 0.0 {
            "Ask this machine's own disk while nothing else runs: iopslab probe DIR, with the work directory. If it \
             gives more than the limit, other programs used it: stop them, or take a quieter hour, and run again. If \
             it gives less: raise provider.local.scale, or set work_directory to a faster disk."
        } else {
            "The limit does not hold: check with `iopslab doctor` that the cgroup controller limits this device."
        },
    )
}

pub fn floor(of: &EmulationFloor) -> Words {
    let late = [(of.disk_floor_share, "this host's disk was too slow"), (of.cpu_floor_share, "its CPUs were")];
    let late = late.into_iter().filter(|(share, _)| *share > 0.0);
    let late: Vec<String> = late.map(|(share, why)| format!("{} of the time: {why}", percent(share))).collect();
    (
        format!("The {} volume answered late {}.", of.volume.name(), late.join(", and ")),
        "These trials measured this host, not the volume. Stop what else uses it, raise provider.local.scale, or leave \
         a CPU to the volume server.",
    )
}

pub fn ebs_disagrees(of: &EbsDisagrees) -> Words {
    let exceeded = &of.exceeded;
    let each = [
        (of.only_ours, "it did what is taken for its limit, and counts hardly any time above one"),
        (of.only_ebs, "it counts time above a limit, and did less than one that is at its limit for so long"),
        (of.another_limit, "it counts time above another limit than the one it is taken to be at"),
    ];
    let seen = each.iter().filter(|(windows, _)| *windows > 0).map(|(windows, what)| format!("in {windows} {what}"));
    (
        format!(
            "The {} volume's own counters and the limits stated of it agree in {} of {} windows of 10 s: {}. It counts \
             {} of the time above its IOPS, {} above its throughput, {} above the instance's IOPS, {} above the \
             instance's throughput.",
            of.volume.name(),
            percent(of.agreed_share),
            of.windows,
            seen.collect::<Vec<_>>().join("; "),
            percent(exceeded.volume_iops),
            percent(exceeded.volume_bytes),
            percent(exceeded.instance_iops),
            percent(exceeded.instance_bytes)
        ),
        "The counters say what it did. Of a volume of EBS look whether it has the type, IOPS and MiB/s that are stated \
         (a change takes minutes to be in force), whether other volumes of the instance were busy, and whether the \
         instance was on its burst; of an emulated one, what else kept this machine busy.",
    )
}

pub fn unbalanced_members(of: &UnbalancedMembers) -> Words {
    let (most, least) = (of.most, of.least);
    let message = match of.figure {
        MemberFigure::Iops => format!(
            "The data volumes are not asked alike: {} did {} requests a second, {} {} ({} less).",
            of.most_of.name(),
            number(most),
            of.least_of.name(),
            number(least),
            percent(of.less_by_share)
        ),
        MemberFigure::AwaitUs => format!(
            "The data volumes do not answer alike: a request to {} took {} ms on average, one to {} {} ms ({} less).",
            of.most_of.name(),
            number(most / 1e3),
            of.least_of.name(),
            number(least / 1e3),
            percent(of.less_by_share)
        ),
    };
    if of.is_striped {
        return (
            message,
            "The members of a RAID 0 have their chunks by turns, so that they are asked alike where many places are: \
             few files, or requests that all go to one place, keep one of them busier. Measure longer, or with smaller \
             chunks (chunk_kib).",
        );
    }
    (
        message,
        "A database keeps each of its ranges of keys on one volume: whole ranges are not equal parts (of four volumes \
         one has 28 % of the keys here, one 22 %), popular keys lie where they lie, and tables of the system lie on \
         the first. The node is as fast as the volume that is asked most; what the others could do is not had. Compare \
         with one volume of the same IOPS.",
    )
}

pub fn slow_member(of: &SlowMember) -> Words {
    let advice = match of.is_striped {
        true => {
            "One member of a RAID 0 is slower, and requests wait for it whatever their keys: this cell measures that \
             volume. Look what else uses it, or whether a fault of it was planned; on rented machines replace it, and \
             measure again."
        }
        false => {
            "One of several like volumes is slower, and requests for its keys wait for it: this cell measures that \
             volume. Look what else uses it, or whether a fault of it was planned; on rented machines replace it, and \
             measure again."
        }
    };
    (
        format!(
            "A request to the volume {} took {} ms on average, {:.1} times as long as to the other data volumes ({} \
             ms), at {} requests a second against {}.",
            of.volume.name(),
            number(of.await_us / 1e3),
            of.times,
            number(of.others_await_us / 1e3),
            number(of.iops),
            number(of.others_iops)
        ),
        advice,
    )
}

pub fn above_instance(of: &VolumeAboveInstance) -> Words {
    let message = match of {
        VolumeAboveInstance::Iops { bought_iops, reachable_iops } => format!(
            "{} IOPS are bought, {} are reachable: the instance is the limit.",
            whole(*bought_iops),
            whole(*reachable_iops)
        ),
        VolumeAboveInstance::Bytes { bought_bytes_per_s, reachable_bytes_per_s } => format!(
            "The volume could move {} MB/s, the instance lets {} through.",
            whole(bought_bytes_per_s / 1e6),
            whole(reachable_bytes_per_s / 1e6)
        ),
    };
    (message, "Buy no more than the instance reaches, or an instance with more EBS bandwidth (iopslab catalog caps).")
}
