//! What costs no money, before what does; and what it costs besides.

use analysis::{Analysis, FreeStep, Meets, Need, Spending, SpendingChange, Verdict, grouped};

use super::{durability, places, ratio};
use crate::figures::{bytes, given_percent, listed, number, several, when};
use crate::labels;

/// Groups of places that are printed; the document has them all.
const SHOWN: usize = 3;
/// Places of one step that are named one by one.
const PLACES: usize = 3;

/// What to do first, for no money: of the configurations that cost what the cheapest does, or what the recommended one
/// does. Of the latter only what is shown, where its settings have been named. Nothing that leaves what is run, or that
/// misses what is asked: the answer speaks against it.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let cheapest = analysis.free_steps.iter().map(|s| s.usd_per_month).fold(f64::INFINITY, f64::min);
    let run = analysis.recommendation.run.as_deref();
    let concerns = |step: &&FreeStep| {
        let is_run = run.is_some_and(|run| step.from == run || step.tried.iter().any(|t| t == run));
        let is_reported = !analysis.recommendation.hardware.is_empty();
        let is_news = !is_reported || step.throughput_ratio.verdict == Verdict::Faster;
        let places = analysis.recommendation.places.iter().filter(|place| place.workload == step.workload);
        let mut own = places.flat_map(|place| &place.candidates).filter(|c| c.configuration == step.to);
        let is_against = run == Some(step.from.as_str()) || own.any(|c| c.meets == Meets::No);
        let is_advised = step.throughput_ratio.verdict == Verdict::Faster;
        !(is_advised && is_against) && (step.usd_per_month == cheapest || (is_run && is_news))
    };
    let groups = alike(analysis.free_steps.iter().filter(concerns).collect());
    let mut sentences: Vec<String> =
        groups.iter().take(SHOWN).map(|group| sentence(analysis, group, group[0].usd_per_month == cheapest)).collect();
    if groups.len() > SHOWN {
        let more = several((groups.len() - SHOWN) as u64, "comparison");
        sentences.push(format!("For no money, {more} more: free_steps in analysis.json."));
    }
    sentences
}

/// Steps with the same ends and the same kind of verdict together.
fn alike(all: Vec<&FreeStep>) -> Vec<Vec<&FreeStep>> {
    let kind = |step: &FreeStep| (step.from.clone(), step.to.clone(), step.throughput_ratio.verdict);
    grouped(all.into_iter().map(|step| (kind(step), step))).into_iter().map(|(_, group)| group).collect()
}

fn sentence(analysis: &Analysis, group: &[&FreeStep], is_cheapest: bool) -> String {
    let step = group[0];
    let (from, to) = (&step.from, &step.to);
    let of = |what: &str| factors(analysis, group, what);
    match step.throughput_ratio.verdict {
        Verdict::Faster => {
            let lead = if is_cheapest { "First, for no money" } else { "Also for no money" };
            let (factors, replaced) = (of(" its throughput"), replaced(analysis, group));
            let unlike = durability::beside(analysis, to, from);
            let first = format!("{lead}{}: {to} instead of {from}, {factors}{replaced}{unlike}.", but(analysis, step));
            let costs = [needed(analysis, step), risked(analysis, step), space(step), memory(step), spent(group)];
            let all: Vec<String> = std::iter::once(first).chain(costs.into_iter().flatten()).collect();
            all.join(" ")
        }
        Verdict::TooFew => {
            let factors = of(&format!(" {}", labels::throughput_of(from)));
            format!("For no money{}, not tested: {to} has {factors}.", but(analysis, step))
        }
        _ => {
            let factors = of(" its throughput");
            let best = match step.tried.len() {
                1 => format!("{to} has {factors}"),
                _ => format!("the best of {}, {to}, has {factors}", listed(&step.tried)),
            };
            let at = places::all(analysis, group.iter().map(|s| (&s.workload, s.load)));
            format!("For no money, nothing that was tried is shown to be faster than {from}{at}: {best}.")
        }
    }
}

/// `1.62 times (1.50 to 1.75) its throughput under reads, 1.20 times (...) under mixed`, `of` behind the first.
fn factors(analysis: &Analysis, group: &[&FreeStep], of: &str) -> String {
    let at = |s: &FreeStep| places::at(analysis, &s.workload, Some(s.load));
    let reported = |s: &FreeStep, of: &str| format!("{}{of}{}", ratio::times(&s.throughput_ratio), at(s));
    let beyond = ratio::beyond(group.iter().map(|s| &s.throughput_ratio));
    if group.len() <= PLACES {
        let all: Vec<String> =
            group.iter().enumerate().map(|(i, s)| reported(s, if i == 0 { of } else { "" })).collect();
        return format!("{}{beyond}", all.join(", "));
    }
    let mut sorted: Vec<&FreeStep> = group.to_vec();
    sorted.sort_by(|a, b| a.throughput_ratio.median.total_cmp(&b.throughput_ratio.median));
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    format!("{} up to {}, in {} places{beyond}", reported(least, of), reported(most, ""), group.len())
}

/// What it costs instead of money, where it costs network bandwidth or what a crash may.
fn but(analysis: &Analysis, step: &FreeStep) -> String {
    let network = step.needs.contains(&Need::NetworkBandwidth).then_some("network bandwidth");
    let safety = risked(analysis, step).map(|_| "safety at a crash");
    let all: Vec<&str> = network.into_iter().chain(safety).collect();
    when(!all.is_empty(), || format!(" but {}", listed(all)))
}

/// What has to be done for it to hold; `None` where it is no setting, weighting or card.
fn needed(analysis: &Analysis, FreeStep { from, to, needs, .. }: &FreeStep) -> Option<String> {
    let version = |name: &str| {
        let facts = analysis.configurations.iter().find(|c| c.name == name);
        facts.and_then(|facts| facts.version.as_deref()).unwrap_or_default()
    };
    let has = |need: Need| needs.contains(&need);
    // One of the two is named: either way the files are written anew.
    let is_reported = |need: &&Need| **need != Need::Recompaction || !has(Need::Rewrite);
    let reported = needs.iter().filter(is_reported).map(|need| match need {
        Need::Upgrade => format!("an upgrade of each node from {} to {}", version(from), version(to)),
        Need::SetBack => format!("each node set back from {} to {}", version(from), version(to)),
        Need::StorageMode => {
            "storage_compatibility_mode NONE on each node once all are upgraded, as it was measured (the shipped file \
             has CASSANDRA_4)"
                .to_owned()
        }
        Need::EarlierVersion => format!(
            "new nodes of the earlier version {}, into which the data is loaded: Cassandra takes no files of {}",
            version(to),
            version(from)
        ),
        Need::AlterTable => "ALTER TABLE".to_owned(),
        Need::Restart => "a restart of each node".to_owned(),
        Need::Settings => "other settings of the server (pg_settings.context says which take a restart)".to_owned(),
        Need::Rewrite => "the SSTables that exist rewritten (nodetool upgradesstables -a)".to_owned(),
        Need::Recompaction => "the SSTables that exist compacted anew, which Cassandra does by itself".to_owned(),
        Need::Host => "the read-ahead of each host's volumes set".to_owned(),
        Need::NetworkBandwidth => {
            "bandwidth weighting ebs-1, by which the network of each instance loses a quarter of what its path to EBS \
             sustains (no emulation has that loss)"
                .to_owned()
        }
        Need::DefaultWeighting => "the instances' own bandwidth weighting".to_owned(),
        Need::EbsCards => "volumes attached to other EBS cards".to_owned(),
    });
    let reported: Vec<String> = reported.collect();
    if reported.is_empty() {
        return None;
    }
    let is_of_instance = has(Need::NetworkBandwidth) || has(Need::DefaultWeighting) || has(Need::EbsCards);
    let are_new = has(Need::EarlierVersion);
    let is_restarted = has(Need::Restart) || has(Need::Upgrade) || has(Need::SetBack) || are_new;
    let spared = match (is_restarted, has(Need::Rewrite) || has(Need::Recompaction) || are_new) {
        // Nothing is promised where instances or their volumes are changed.
        _ if is_of_instance || has(Need::Settings) => "",
        (true, true) => "",
        (true, false) if has_sstables(analysis) => "; no SSTable is rewritten",
        (true, false) => "",
        (false, true) => "; no node is restarted",
        (false, false) if !has_sstables(analysis) => "; no node is restarted",
        (false, false) => "; no node is restarted and no SSTable rewritten",
    };
    Some(format!("It needs {}{spared}.", listed(&reported)))
}

/// Whether the files of what was measured are Cassandra's; so they are where nothing was.
fn has_sstables(analysis: &Analysis) -> bool {
    let product = analysis.cells.iter().find_map(|cell| cell.database.product());
    product.is_none_or(|product| std::ptr::eq(product, &reported::cassandra::REPORTS))
}

/// What it risks that the other one does not.
fn risked(analysis: &Analysis, step: &FreeStep) -> Option<String> {
    let is_taken = |configuration: &str, risk: &reported::Risk| {
        let facts = analysis.configurations.iter().find(|c| c.name == configuration);
        let set = facts.and_then(|facts| facts.settings.keys(risk.section).get(risk.key));
        set.is_some_and(|of| of.value() == risk.value)
    };
    let all = reported::ALL.iter().flat_map(|product| product.risks);
    let risks = all.filter(|risk| is_taken(&step.to, risk) && !is_taken(&step.from, risk));
    let all: Vec<String> = risks.map(|risk| format!("{}.", risk.what)).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// The room that its data set takes, where that is another.
fn space(step: &FreeStep) -> Option<String> {
    let disk = step.elsewhere.iter().find(|s| s.what == Spending::DiskBytes)?;
    let ratio = number(disk.after / disk.before);
    (ratio != number(1.0)).then(|| {
        format!(
            "The data set takes {ratio} times the disk space ({} instead of {}).",
            bytes(disk.after),
            bytes(disk.before)
        )
    })
}

/// The memory that its chunks take, where that is another.
fn memory(step: &FreeStep) -> Option<String> {
    let offsets = step.elsewhere.iter().find(|s| s.what == Spending::ChunkOffsetBytes)?;
    Some(format!("Where its chunks begin takes {}.", taken(offsets)?))
}

/// What an operation takes then, in one place: the cause beside the effect.
fn spent(group: &[&FreeStep]) -> Option<String> {
    let [step] = group else { return None };
    let takes: Vec<String> = step.per_operation.iter().filter_map(taken).collect();
    let takes = (!takes.is_empty()).then(|| format!("An operation takes {}.", listed(&takes)));
    let amplification = step.elsewhere.iter().find(|s| s.what == Spending::WriteAmplification).and_then(taken);
    let amplification = amplification.map(|reported| format!("For each byte that clients write there are {reported}."));
    let all: Vec<String> = takes.into_iter().chain(amplification).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// `1.10 device reads instead of 1.90`; `None` where both are the same to three digits.
fn taken(spent: &SpendingChange) -> Option<String> {
    let us = |value: f64| format!("{} us", number(value));
    let (show, what): (&dyn Fn(f64) -> String, &str) = match spent.what {
        Spending::DeviceReads => (&number, "device reads"),
        Spending::DeviceReadBytes => (&bytes, "read from volumes"),
        Spending::DeviceWriteBytes => (&bytes, "written to volumes"),
        Spending::DatabaseCpuUs => (&us, "of the database's CPU"),
        Spending::DiskBytes => (&bytes, "on disk"),
        Spending::ChunkOffsetBytes => (&bytes, "of memory outside the heap"),
        Spending::WriteAmplification => (&number, "bytes written to SSTables"),
    };
    let (before, after) = (show(spent.before), show(spent.after));
    (before != after).then(|| format!("{after} {what} instead of {before}"))
}

/// The more expensive configurations that it replaces in every place of the group, by what is shown of them.
fn replaced(analysis: &Analysis, group: &[&FreeStep]) -> String {
    let verdicts = |name: &str| {
        let of =
            |s: &&FreeStep| s.replaces.iter().find(|r| r.configuration == name).map(|r| r.throughput_ratio.verdict);
        group.iter().map(of).collect::<Option<Vec<Verdict>>>()
    };
    let (mut faster, mut same, mut either) = (Vec::new(), Vec::new(), Vec::new());
    for replaced in &group[0].replaces {
        let Some(verdicts) = verdicts(&replaced.configuration) else { continue };
        let is_all = |wanted: Verdict| verdicts.iter().all(|v| *v == wanted);
        let list = match (is_all(Verdict::Faster), is_all(Verdict::Same)) {
            (true, _) => &mut faster,
            (_, true) => &mut same,
            _ => &mut either,
        };
        let extra = labels::usd(replaced.extra_usd_per_month);
        list.push(format!("{} ({extra} a month more)", replaced.configuration));
    }
    let margin = given_percent(analysis.margin);
    let clauses = [
        ("faster than", faster, String::new()),
        ("the same as", same, format!(" within {margin}")),
        ("faster than, or the same as,", either, format!(" within {margin}, by place")),
    ];
    let clauses = clauses.into_iter().filter(|(_, names, _)| !names.is_empty());
    let clauses: Vec<String> = clauses.map(|(how, names, within)| format!("{how} {}{within}", listed(names))).collect();
    when(!clauses.is_empty(), || format!("; it is shown to be {}", listed(&clauses)))
}
