//! Reasons and doubts in words.

use ::sizing::{
    Allowance, CacheTier, Doubt, HeldOut, LeftOut, Limit, MOST_NODES, NodesBecause, NotCandidates, Obstacle, P99By,
    P99Unchecked, Proposal, Range, Target,
};

use crate::figures::{given, margin, number, percent, several, several_of, when, whole_percent};

/// First where evidence was simulated.
pub(super) const SIMULATED: &str = "SIMULATED evidence: the answer is one about a stated truth, not about machines.";

/// Whole dollars, all digits.
pub(super) fn usd(amount: f64) -> String {
    given(amount.round())
}

/// Of per cent.
pub(super) fn plus_minus(half: f64) -> String {
    format!("±{}", margin(half / 100.0))
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
        Obstacle::Retired => "it is no longer sold".to_owned(),
        Obstacle::NotAskedFor => "--family or --arch asks for others".to_owned(),
        Obstacle::NothingLearned => "no valid trial of it says what an operation costs".to_owned(),
        Obstacle::WorkloadNotAskedFor => "--workload asks for others than it was measured with".to_owned(),
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
            margin(median),
            margin(p90),
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

/// Configurations of the evidence that are no candidates for one reason.
pub(super) fn not_candidates(all: &NotCandidates) -> String {
    format!("{} of the evidence: {}", all.configurations.join(", "), obstacle(&all.why))
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
        NodesBecause::Full { limit, fewer, used, allowed, allowance: what, within_error_percent: None } => format!(
            "for {}: {fewer} would use {}, at most {} {}",
            limit.words(),
            whole_percent(*used),
            whole_percent(*allowed),
            allowance(*what)
        ),
        NodesBecause::Full { limit, fewer, used, allowed, within_error_percent: Some(error), .. } => {
            format!("for {}: {fewer} {}", limit.words(), within_error(*limit, *used, *allowed, *error))
        }
        NodesBecause::NotPossible { fewer, why: Obstacle::NoVolume(limit) } => {
            format!("for {0}: no volume is sold with enough {0} for {fewer}", limit.words())
        }
        NodesBecause::NotPossible { fewer, why } => format!("with {fewer}: {}", obstacle(why)),
        NodesBecause::Price { fewer, usd_per_month } => format!(
            "for the price: {fewer} would do for {} USD a month, their volumes cost more than nodes",
            usd(*usd_per_month)
        ),
        NodesBecause::Evidence { fewer, usd_per_month, doubts: all } => format!(
            "for the evidence: {fewer} would do for {} USD a month if they hold ({})",
            usd(*usd_per_month),
            in_doubt(all)
        ),
    }
}

/// Joined by semicolons.
pub(super) fn doubts(all: &[Doubt]) -> String {
    all.iter().map(doubt).collect::<Vec<_>>().join("; ")
}

/// All doubts, what lies outside the measured range last: `outside the measured range: 2 vCPUs, measured: 8 to 16`.
pub(super) fn in_doubt(all: &[Doubt]) -> String {
    let (outside, others): (Vec<Doubt>, Vec<Doubt>) = all.iter().cloned().partition(Doubt::is_outside);
    let outside = (!outside.is_empty()).then(|| format!("outside the measured range: {}", doubts(&outside)));
    others.iter().map(doubt).chain(outside).collect::<Vec<_>>().join("; ")
}

/// The same after a subject: `lies outside the measured range: ...`, `is in doubt: ...`.
pub(super) fn is_in_doubt(all: &[Doubt]) -> String {
    let verb = if all.iter().all(Doubt::is_outside) { "lies" } else { "is in doubt:" };
    format!("{verb} {}", in_doubt(all))
}

/// What the headline calls the best one: proven, or else where its figures come from.
pub(super) fn standing(proposal: &Proposal) -> &'static str {
    if proposal.is_proven() { "proven" } else { proposal.label.word() }
}

/// Where response times are those of a model; nothing at full scale.
pub(super) fn in_model(scale: f64) -> String {
    when(scale > 1.0, || {
        format!(" in a model of 1:{} (where a request waits no shorter than at full scale)", given(scale))
    })
}

/// What checks the p99 of a proposal; after a sentence.
pub(super) fn p99_checked(proposal: &Proposal, target: &Target) -> String {
    let Some((asked_ms, by)) = target.p99_ms.zip(proposal.p99_by) else { return String::new() };
    let asked_ms = given(asked_ms);
    match by {
        P99By::Found { scale } => format!(
            " Its p99 <= {asked_ms} ms was measured{}: this machine was found to carry so much under it.",
            in_model(scale)
        ),
        P99By::Kept { used } => format!(
            " Its p99 <= {asked_ms} ms is modelled: rates that were measured kept it up to {} use, and it is used no \
             more.",
            whole_percent(used)
        ),
    }
}

/// The run that would decide whether a cluster does what is said of it: one of its nodes with what it would hold and
/// do, at rates under the p99 where one is asked for.
pub(super) fn would_decide(proposal: &Proposal, target: &Target) -> String {
    let load = target.p99_ms.map_or_else(
        || "loaded up to its limit".to_owned(),
        |ms| format!("at rates that are found (rate = \"find\") under p99_ms = {} in [objective]", given(ms)),
    );
    format!(
        "run one {} with {}, {} reads, and {} of data, of which its page cache holds {:.1} %, {load}",
        proposal.instance,
        proposal.storage,
        whole_percent(target.read_share),
        amount(proposal.data_bytes_per_node),
        proposal.cache_share * 100.0
    )
}

/// `would use 69.2 % of its CPU, at most 70.0 %, which is within the error of 5.0 %`
fn within_error(limit: Limit, used: f64, allowed: f64, error_percent: f64) -> String {
    format!(
        "would use {:.1} % of {}, at most {:.1} %, which is within the error of {error_percent:.1} %",
        used * 100.0,
        limit.words(),
        allowed * 100.0
    )
}

/// Why nothing checks a p99, and what would.
pub(super) fn unchecked(why: P99Unchecked) -> String {
    match why {
        P99Unchecked::NoRate => {
            "the evidence has closed-loop cells only, which promise nothing about an offered load; measure with `rate`"
                .to_owned()
        }
        P99Unchecked::InModel { scale } => format!(
            "no rate kept it in a model of 1:{}, where a request takes up to so many times as long; measure lower \
             rates, or at scale = 1",
            given(scale)
        ),
        P99Unchecked::Contradicted { failed, kept } => format!(
            "it was not kept at {} use and kept at {}, so that more than the rate decides it; measure with more \
             repetitions",
            whole_percent(failed),
            whole_percent(kept)
        ),
        P99Unchecked::AboveKept { used, kept } => format!(
            "{} would be used, rates that were measured kept it up to {}, and that it is missed there is not shown; \
             measure higher rates",
            whole_percent(used),
            whole_percent(kept)
        ),
    }
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
        Doubt::P99 { asked_ms, why } => format!("p99 <= {} ms is not checked: {}", given(*asked_ms), unchecked(*why)),
        Doubt::WithinError { limit, used, allowed, error_percent } => {
            format!("it {}", within_error(*limit, *used, *allowed, *error_percent))
        }
        Doubt::ErrorNotKnown => {
            "how far off its estimate is nobody knows: no cell could be held out, or its machine was measured once"
                .to_owned()
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
