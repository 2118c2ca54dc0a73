//! Reasons and doubts in words.

use ::sizing::{
    Allowance, CacheTier, Doubt, HeldOut, LeftOut, Limit, MOST_NODES, NodesBecause, Obstacle, Proposal, Range, Target,
};

use crate::figures::{given, number, percent, several, several_of, when, whole_percent};

/// First where evidence was simulated.
pub(super) const SIMULATED: &str = "SIMULATED evidence: the answer is one about a stated truth, not about machines.";

/// Whole dollars, all digits.
pub(super) fn usd(amount: f64) -> String {
    given(amount.round())
}

/// TB, or GB of less than a tenth of one.
pub(super) fn amount(bytes: f64) -> String {
    if bytes < 1e11 { format!("{} GB", number(bytes / 1e9)) } else { format!("{} TB", number(bytes / 1e12)) }
}

pub(super) fn counted(count: u32, one: &str, more: &str) -> String {
    several_of(count.into(), one, more)
}

/// For a narrow column.
pub(super) fn short(limit: Limit) -> &'static str {
    match limit {
        Limit::VolumeIops => "IOPS",
        Limit::VolumeThroughput => "MB/s",
        Limit::CommitLog => "log",
        Limit::DiskSpace => "space",
        Limit::Cpu | Limit::Network | Limit::Copies => limit.words(),
    }
}

/// After "at most 63 %".
pub(super) fn allowance(what: Allowance) -> &'static str {
    match what {
        Allowance::Headroom => "for the headroom",
        Allowance::PartDown => "so that the others carry what a lost part did",
        Allowance::P99 => "for the p99",
        Allowance::DiskFill => "of the disks may be filled",
    }
}

/// Why a machine is not proposed.
pub(super) fn obstacle(why: &Obstacle) -> String {
    match why {
        Obstacle::Full(Limit::DiskSpace) => format!("its disks are too small even with {MOST_NODES} nodes"),
        Obstacle::Full(limit) => format!("{} is too small even with {MOST_NODES} nodes", limit.words()),
        Obstacle::NoVolume(limit) => format!("no volume is sold with enough {}", limit.words()),
        Obstacle::NoDisks => "no disks for the data; add a volume, such as +gp3:1000GiB".to_owned(),
        Obstacle::DisksUnknown => "what its disks can do is not known".to_owned(),
        Obstacle::PriceUnknown => "its price is not known on this basis".to_owned(),
        Obstacle::NotMeasured => "not measured under this target, and the model fails its held-out test".to_owned(),
        Obstacle::CpuCredits => "its CPUs work on credits".to_owned(),
        Obstacle::FlexCpus => "its CPUs are whole for 95 % of a day only".to_owned(),
        Obstacle::TooSmall => "less than 8 GiB of memory or 2 vCPUs".to_owned(),
        Obstacle::NoNodeLeft => "no node would be left".to_owned(),
        Obstacle::Rule(words) => words.clone(),
    }
}

/// How well the model predicted what it had not seen.
pub(super) fn held_out(held: &HeldOut) -> String {
    match (held.median_error, held.p90_error) {
        (Some(median), Some(p90)) => format!(
            "{} held out, and predicted from the {}: error {} (median), {} ({})",
            several(held.cells, "cell"),
            if held.whole_configurations { "other configurations" } else { "other cells" },
            whole_percent(median),
            whole_percent(p90),
            held.p90_is()
        ),
        _ => "no cell could be held out".to_owned(),
    }
}

/// The same where the model is used, with the remedy where that rests on few cells.
pub(super) fn tested(held: &HeldOut) -> String {
    let is_few = held.cells < HeldOut::FEW_CELLS && held.is_accepted();
    let remedy = when(is_few, || format!("; that is little evidence: {}", HeldOut::REMEDY));
    format!("Model: {}{remedy}", held_out(held))
}

/// Machines that are left out for one reason.
pub(super) fn one_left_out(left: &LeftOut) -> String {
    let types = several(left.count, "type");
    let example = match left.count {
        1 => left.example.clone(),
        _ => format!("such as {}", left.example),
    };
    format!("{types}, {example}: {}", obstacle(&left.why))
}

/// Why so many nodes.
pub(super) fn because(why: &NodesBecause) -> String {
    match why {
        NodesBecause::Copies { replication_factor, zones } => format!(
            "the fewest that hold {} in {} with a part down",
            counted(*replication_factor, "copy", "copies"),
            counted(*zones, "zone", "equal zones")
        ),
        NodesBecause::Full { limit: Limit::DiskSpace, fewer, used, allowed, .. } => format!(
            "for disk space: data would fill {} of the disks of {fewer}, at most {} may be",
            whole_percent(*used),
            whole_percent(*allowed)
        ),
        NodesBecause::Full { limit, fewer, used, allowed, allowance: what } => format!(
            "for {}: {fewer} would use {}, at most {} {}",
            limit.words(),
            whole_percent(*used),
            whole_percent(*allowed),
            allowance(*what)
        ),
        NodesBecause::NotPossible { fewer, why: Obstacle::NoVolume(limit) } => {
            format!("for {0}: no volume is sold with enough {0} for {fewer}", limit.words())
        }
        NodesBecause::NotPossible { fewer, why } => format!("with {fewer}: {}", obstacle(why)),
        NodesBecause::Price { fewer, usd_per_month } => format!(
            "for the price: {fewer} would do for {} USD a month, their volumes cost more than nodes",
            usd(*usd_per_month)
        ),
        NodesBecause::Evidence { fewer, usd_per_month, doubts: all } => format!(
            "for the evidence: {fewer} would do for {} USD a month, but lie outside the measured range ({})",
            usd(*usd_per_month),
            doubts(all)
        ),
    }
}

/// Joined by semicolons.
pub(super) fn doubts(all: &[Doubt]) -> String {
    all.iter().map(doubt).collect::<Vec<_>>().join("; ")
}

/// The run that would decide whether a cluster does what is said of it: one of its nodes with what it would hold and
/// do.
pub(super) fn would_decide(proposal: &Proposal, target: &Target) -> String {
    format!(
        "run one {} with {}, {} reads, and {} of data, of which its page cache holds {:.1} %, loaded up to its limit",
        proposal.instance,
        proposal.storage,
        whole_percent(target.read_share),
        amount(proposal.data_bytes_per_node),
        proposal.cache_share * 100.0
    )
}

pub(super) fn doubt(one: &Doubt) -> String {
    match one {
        Doubt::Mix { read_share, measured } => {
            format!("replicas do {} reads, measured: {}", whole_percent(*read_share), percents(measured))
        }
        Doubt::NeverTheLimit { limit } => format!("no cell was bounded by {}", limit.words()),
        Doubt::NoDeviceReads => "no cell read from its device".to_owned(),
        Doubt::CacheShare { share, measured } => {
            format!("{:.1} % of the data fits the page cache, measured: {}", share * 100.0, percents(measured))
        }
        Doubt::DataPerNode { bytes, measured } => {
            let gb = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
            format!("{} of data on a node, measured: {}", gb(*bytes), span(measured, gb))
        }
        Doubt::Cache { hit_ratio, half_width, cpu_is_measured } => {
            let (before, cpu) = match cpu_is_measured {
                true => ("no run measured a cache at this target", "was measured of the caches of runs"),
                false => ("no run measured a cache", "is as it was stated"),
            };
            format!(
                "{before}: that it answers {} of the reads (±{:.1} points) is predicted from the workload's keys, and \
                 what a request costs its CPUs {cpu}",
                percent(*hit_ratio),
                half_width * 100.0
            )
        }
        Doubt::CpuSpeed => "the speed of its vCPUs is not known".to_owned(),
        Doubt::DiskThroughput => {
            "the MB/s of its local disks are not known and were left out of the check: state read_mb_per_s and \
             write_mb_per_s in a catalog file (docs/catalog.md)"
                .to_owned()
        }
        Doubt::Vcpus { vcpus, measured } => format!("{vcpus} vCPUs, measured: {}", span(measured, |v| v.to_string())),
    }
}

fn percents(range: &Range) -> String {
    let (low, high) = (range.low * 100.0, range.high * 100.0);
    if high - low < 1.0 { format!("{high:.0} %") } else { format!("{low:.0} to {high:.0} %") }
}

/// `4 to 8`, or `8` where both ends read alike.
fn span(range: &Range, show: impl Fn(f64) -> String) -> String {
    let (low, high) = (show(range.low), show(range.high));
    if low == high { high } else { format!("{low} to {high}") }
}

/// What a cache holds and answers, and what it leaves to the database.
pub(super) fn cache(name: &str, cache: &CacheTier) -> String {
    let network =
        cache.network.map_or_else(String::new, |share| format!(" and {} of the network", whole_percent(share)));
    format!(
        "{name}: {} hold {} of the records in {} and answer {} of the reads (±{:.1} points; {} with a part down), \
         {} requests/s with {} of the CPUs{network} in use. With a part of it down it leaves {} operations/s to the \
         database, {} of them reads",
        counted(cache.nodes, "node", "nodes"),
        percent(cache.share_of_records),
        amount(cache.memory_bytes),
        percent(cache.hit_ratio),
        cache.hit_ratio_half_width * 100.0,
        percent(cache.hit_ratio_when_down),
        number(cache.requests_per_s),
        whole_percent(cache.cpu),
        number(cache.database_operations_per_s),
        whole_percent(cache.database_read_share)
    )
}
