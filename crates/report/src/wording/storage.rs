//! Did the volume do the work, was it whole, and was it what was asked for?

use analysis::rules::{BOUGHT, LAYOUT, RAID0};
use analysis::{Rule, SmallerThan, VolumeLimit};

use super::of::{Of, count, duration, operation};
use crate::figures::{MIB, number};

pub fn words(of: &Of<'_>) -> (String, &'static str) {
    match of.0.rule {
        Rule::ServedFromPageCache => (
            format!(
                "{} operations read, but the data volume saw only {} read requests ({:.3} each).",
                of.count("operations_that_read"),
                of.count("device_reads"),
                of.number("device_reads_per_read")
            ),
            "Memory answered, not the volume: nothing follows about IOPS. Use a larger [dataset], a flatter key distribution or, where iopslab limits it, a \
             smaller page cache (provider.local.page_cache_mib).",
        ),
        Rule::DataFitsPageCache => (
            format!(
                "The whole data set ({} MB on disk) fits the page cache ({} MB).",
                count(of.number("data_bytes_on_disk") / 1e6),
                count(of.number("page_cache_budget_bytes") / 1e6)
            ),
            "Reads will be served from memory once it has filled: conclude nothing about IOPS; load more records or allow less memory.",
        ),
        Rule::CacheWarmed => (
            format!(
                "The page cache was warm: {} of {} MB of the data set were read into it before the warm-up{}, in {:.1} s.{}",
                count(of.number("read_bytes") / 1e6),
                count(of.number("data_bytes_on_disk") / 1e6),
                of.0.number("by_keys_bytes").map_or_else(String::new, |bytes| format!(
                    ", then {} MB by the workload's own keys",
                    count(bytes / 1e6)
                )),
                of.number("seconds"),
                of.0.number("device_reads_per_read").map_or_else(String::new, |reads| format!(
                    " An operation that read then took {reads:.3} reads of the data volume."
                ))
            ),
            match of.0.number("by_keys_bytes") {
                Some(_) => {
                    "Asked for by cache = \"warm\" in [load]: it holds what it would after a long time under this workload."
                }
                None => {
                    "Asked for by cache = \"warm\" in [load]: what memory answers says nothing about IOPS, and that is the answer for a \
                     cache that is warm."
                }
            },
        ),
        Rule::DataSetSmaller => data_set_smaller(of),
        Rule::VolumeAtCap => volume_at_cap(of),
        Rule::ThrottleSlices => (
            format!(
                "p99 of {} is {:.0} ms on a {} volume at its limit: the kernel's throttle releases I/O in slices of ~{:.0} ms.",
                operation(of.fact("operation")),
                of.number("p99_us") / 1e3,
                of.fact("volume"),
                of.number("slice_us") / 1e3
            ),
            "Tail latency of a saturated emulated volume shows these steps; a real volume queues more evenly. Compare throughput here, and tails at a load \
             below saturation.",
        ),
        Rule::SeparateReadWriteLimits => (
            format!(
                "The {} volume did {} reads and writes per second together, {} of the {} IOPS that EBS counts for both.",
                of.fact("volume"),
                count(of.number("read_iops") + of.number("write_iops")),
                of.percent("combined_share"),
                of.count("limit_iops")
            ),
            "cgroups limit reads and writes apart, EBS together: this emulated volume gave more than the real one would. Read the cell's throughput as an upper \
             bound.",
        ),
        Rule::LimitsCountSeparately => (
            "Volumes without a type of EBS are throttled for reads and for writes apart (cgroup io.max, blkio.throttle); \
             EBS counts both together."
                .to_owned(),
            "A mixed workload may get up to twice the IOPS of the real volume; a cell where it did carries the finding separate_read_write_limits.",
        ),
        Rule::BurstChanged => (
            format!(
                "The {} volume's burst credits ran out inside the window ({} at its start).{}",
                of.fact("volume"),
                credits(of, "start"),
                lasts(of)
            ),
            "The trial mixes two speeds: the burst and the baseline. Start with the credits that production would have (provider.local burst_credits_start), or \
             measure long enough to see the baseline alone.",
        ),
        Rule::BurstOnly if of.0.number("measured_iops").is_some() && of.0.number("credits_start").is_none() => (
            format!(
                "The {} volume did {} IOPS, and its baseline is {}: it ran on burst credits, and nobody saw how many are left.{}",
                of.fact("volume"),
                of.count("measured_iops"),
                of.count("baseline_iops"),
                lasts(of)
            ),
            "This speed does not last. Measure when the credits are spent (EBS tells them as BurstBalance).",
        ),
        Rule::BurstOnly => (
            format!(
                "The {} volume ran on burst credits ({} to {}): this speed does not last.{}",
                of.fact("volume"),
                credits(of, "start").trim_end_matches(" I/O").trim_end_matches(" MiB"),
                credits(of, "end"),
                lasts(of)
            ),
            "For the sustained speed start the bucket empty (provider.local burst_credits_start = 0).",
        ),
        Rule::EmulationOffLimit => off_limit(of),
        Rule::EmulationFloor => (
            format!(
                "Answers of the {} volume came later than its model says: in {} of the window for this machine's disk, in {} for its CPUs.",
                of.fact("volume"),
                of.percent("disk_floor_share"),
                of.percent("cpu_floor_share")
            ),
            "This machine was measured there, not the volume. Stop what else uses it, raise provider.local.scale, or leave a CPU to the volume server.",
        ),
        Rule::UnbalancedMembers => unbalanced_members(of),
        Rule::SlowMember => slow_member(of),
        _ => above_instance(of),
    }
}

/// `5,000 I/O`, or `3,200 MiB` of a bucket of bytes.
fn credits(of: &Of<'_>, when: &str) -> String {
    match of.0.number(&format!("byte_credits_{when}")) {
        Some(bytes) => format!("{} MiB", count(bytes / MIB)),
        None => format!("{} I/O", of.count(&format!("credits_{when}"))),
    }
}

/// `A full bucket gives 3,000 IOPS for 33 minutes, then 300.`, at full scale.
fn lasts(of: &Of<'_>) -> String {
    let Some(seconds) = of.0.number("full_bucket_lasts_s") else {
        return String::new();
    };
    let (burst, baseline, unit) = match of.0.number("burst_bytes_per_s") {
        Some(bytes) => (bytes / MIB, of.number("baseline_bytes_per_s") / MIB, "MiB/s"),
        None => (of.number("burst_iops"), of.number("baseline_iops"), "IOPS"),
    };
    let scale = of.number("scale");
    format!(
        " Under this demand a full bucket gives {} {unit} for {}, then {} (at full scale).",
        count(burst * scale),
        duration(seconds),
        count(baseline * scale)
    )
}

fn data_set_smaller(of: &Of<'_>) -> (String, &'static str) {
    let megabytes = |name: &str| count(of.number(name) / 1e6);
    let message = if of.fact("than") == SmallerThan::Others.word() {
        format!(
            "{} MB are on disk, {} less than the {} MB of the run's median trial.",
            megabytes("bytes_on_disk"),
            of.percent("less_by_share"),
            megabytes("median_bytes_of_the_run")
        )
    } else {
        format!(
            "{} MB are on disk, {} records of this layout take {} MB at the least.",
            megabytes("bytes_on_disk"),
            of.count("records"),
            megabytes("least_bytes")
        )
    };
    (
        message,
        "Records are missing, or they compress although they should not. A smaller data set fits the page cache better: the cell flatters its storage. Delete the \
         snapshot (iopslab clean --snapshots) and load again.",
    )
}

fn volume_at_cap(of: &Of<'_>) -> (String, &'static str) {
    let limit = of.number("limit");
    let limit = match VolumeLimit::named(of.fact("limited")) {
        Some(VolumeLimit::ReadIops) => format!("{} read IOPS", count(limit)),
        Some(VolumeLimit::WriteIops) => format!("{} write IOPS", count(limit)),
        Some(VolumeLimit::ReadBytesPerS) => format!("{} MB/s read", count(limit / 1e6)),
        Some(VolumeLimit::Iops) => format!("{} IOPS", count(limit)),
        Some(VolumeLimit::BytesPerS) => format!("{} MB/s", count(limit / 1e6)),
        _ => format!("{} MB/s written", count(limit / 1e6)),
    };
    (
        format!(
            "The {} volume was at its limit of {limit} (on this machine) in {} of the window.",
            of.fact("volume"),
            of.percent("windows_at_cap_share")
        ),
        "Whether a faster volume gives more is said under the cell's limit, where this matrix holds one.",
    )
}

fn off_limit(of: &Of<'_>) -> (String, &'static str) {
    let (measured, expected, off) = (of.number("measured"), of.number("expected"), of.number("off_by"));
    let (given, what) = match VolumeLimit::named(of.fact("probed")) {
        Some(VolumeLimit::ReadIops) => ([measured, expected], "4 KiB random reads/s"),
        _ => ([measured / 1e6, expected / 1e6], "MB/s of 64 KiB sequential writes"),
    };
    (
        format!(
            "The {} volume gives {} {what}, its limit allows {} ({:+.1} %).",
            of.fact("volume"),
            count(given[0]),
            count(given[1]),
            off * 100.0
        ),
        if of.0.fact("volumes") == Some(BOUGHT) {
            "A volume that gives more runs on credits: those of its own (gp2, st1), or of the instance, which may go above its path to EBS for half an \
             hour a day. Measure longer than they last. One that gives less was not attached as stated, or its instance is the limit."
        } else if off < 0.0 {
            "Ask this machine's own disk while nothing else runs: iopslab probe DIR, with the work directory. If it gives more than the limit, other programs used \
             it: stop them, or take a quieter hour, and run again. If it gives less: raise provider.local.scale, or set work_directory to a faster disk."
        } else {
            "The limit does not hold: check with `iopslab doctor` that the cgroup controller limits this device."
        },
    )
}

fn unbalanced_members(of: &Of<'_>) -> (String, &'static str) {
    let (most, least) = (of.number("most"), of.number("least"));
    let message = match of.fact("figure") {
        "iops" => format!(
            "The data volumes are not asked alike: {} did {} requests a second, {} {} ({} less).",
            of.fact("most"),
            number(most),
            of.fact("least"),
            number(least),
            of.percent("less_by_share")
        ),
        _ => format!(
            "The data volumes do not answer alike: a request to {} took {} ms on average, one to {} {} ms ({} less).",
            of.fact("most"),
            number(most / 1e3),
            of.fact("least"),
            number(least / 1e3),
            of.percent("less_by_share")
        ),
    };
    if is_striped(of) {
        return (
            message,
            "The members of a RAID 0 have their chunks by turns, so that they are asked alike where many places are: few files, or requests that all go to \
             one place, keep one of them busier. Measure longer, or with smaller chunks (chunk_kib).",
        );
    }
    (
        message,
        "A database keeps each of its ranges of keys on one volume: whole ranges are not equal parts (of four volumes one has 28 % of the keys here, one \
         22 %), popular keys lie where they lie, and tables of the system lie on the first. The node is as fast as the volume that is asked most; what the \
         others could do is not had. Compare with one volume of the same IOPS.",
    )
}

/// Whether volumes are the members of a RAID 0.
fn is_striped(of: &Of<'_>) -> bool {
    of.0.fact(LAYOUT) == Some(RAID0)
}

fn slow_member(of: &Of<'_>) -> (String, &'static str) {
    let advice = match is_striped(of) {
        true => {
            "One member of a RAID 0 is slower, and requests wait for it whatever their keys: this cell measures that volume. Look what else uses it, or \
             whether a fault of it was planned; on rented machines replace it, and measure again."
        }
        false => {
            "One of several like volumes is slower, and requests for its keys wait for it: this cell measures that volume. Look what else uses it, or whether a \
             fault of it was planned; on rented machines replace it, and measure again."
        }
    };
    (
        format!(
            "A request to the volume {} took {} ms on average, {:.1} times as long as to the other data volumes ({} ms), at {} requests a second \
             against {}.",
            of.fact("volume"),
            number(of.number("await_us") / 1e3),
            of.number("times"),
            number(of.number("others_await_us") / 1e3),
            number(of.number("iops")),
            number(of.number("others_iops"))
        ),
        advice,
    )
}

fn above_instance(of: &Of<'_>) -> (String, &'static str) {
    let message = match (of.0.number("bought_iops"), of.0.number("reachable_iops")) {
        (Some(bought), Some(reachable)) => format!(
            "{} IOPS are bought, {} are reachable: the instance is the limit.",
            count(bought),
            count(reachable)
        ),
        _ => format!(
            "The volume could move {} MB/s, the instance lets {} through.",
            count(of.number("bought_bytes_per_s") / 1e6),
            count(of.number("reachable_bytes_per_s") / 1e6)
        ),
    };
    (
        message,
        "Buy no more than the instance reaches, or an instance with more EBS bandwidth (iopslab catalog caps).",
    )
}
