//! What was measured instead, what was not considered, and what a reader must know before believing the answer.

use analysis::{
    Analysis, CPU_REFERENCE, Doubt, LEAST_MISSES, LimitedHere, MissesInModel, NotJudged, OfThisMachine, Rule, Sickness,
    Unrest, VolumeRole, Withheld, grouped,
};

use super::{carries_over, disk_room, durability, gains, places};
use crate::figures::{MIB, about, count, given, listed, number, percent, several, when};
use crate::labels;

/// Stands before everything else where nothing was measured.
pub const SIMULATED: &str =
    "SIMULATED: nothing here was measured; the figures come from a simulation of a stated truth.";

/// What a simulated client carries, and what would be more.
const SIMULATED_CLIENT: &str = " (it is simulated: more threads of it, [provider.simulated] client_threads, or less \
                                CPU for each operation, client_cpu_us, carry more)";

/// Of figures that iopslab did not measure.
const IMPORTED: &str = "All figures are those of other tools: nobody watched the machines, restored the data before \
                        each trial or mixed the order of the trials, so that whatever else differed is in every ratio.";

/// Rules with suspect findings that are named; the others are in the list of findings.
const RULES: usize = 3;

/// What was measured instead of the storage of configurations in their sustained state, each reason once, as clauses.
pub fn withheld(analysis: &Analysis, all: &[(String, Withheld)]) -> String {
    // Burst credits differ by configuration: each has its own numbers.
    let groups = grouped(all.iter().map(|(name, why)| (why, name)));
    listed(groups.iter().map(|(why, names)| withheld_words(analysis, &listed(names), why)))
}

fn withheld_words(analysis: &Analysis, names: &str, why: &Withheld) -> String {
    match why {
        Withheld::Client => {
            let raised = when(analysis.provider == analysis::Provider::Simulated, || SIMULATED_CLIENT.to_owned());
            format!("the client was at its limit while it loaded {names}{raised}")
        }
        Withheld::PageCache => format!("memory answered the reads of {names}, not storage"),
        Withheld::Data => format!("records were missing or counters disagreed with {names}"),
        Withheld::NotAtRest { unrest } => not_at_rest(names, *unrest),
        Withheld::Sick { sickness, amount } => sick(names, *sickness, *amount, labels::prober(analysis)),
        Withheld::Rate => format!("the given rate was not held, or a queue was still draining, with {names}"),
        Withheld::Burst { burst_iops, baseline_iops, lasts_s } => {
            format!("burst credits carried {names}{}", burst(analysis, "IOPS", *burst_iops, *baseline_iops, *lasts_s))
        }
        Withheld::BurstOfBytes { burst_bytes_per_s, baseline_bytes_per_s, lasts_s } => {
            let (carried, lasting) = (burst_bytes_per_s / MIB, baseline_bytes_per_s / MIB);
            format!("burst credits carried {names}{}", burst(analysis, "MiB/s", carried, lasting, *lasts_s))
        }
    }
}

/// What a machine had, so that it says nothing of what was bought.
fn sick(names: &str, sickness: Sickness, amount: f64, prober: &str) -> String {
    let share = percent(amount);
    match sickness {
        Sickness::Disk => {
            format!("the machine of {names} was not well: {prober} found {share} of what its volume should deliver")
        }
        Sickness::Quota => format!(
            "the machine of {names} was not well: a CPU quota that nobody asked for held the database back in {share} \
             of its periods"
        ),
        Sickness::Steal => {
            format!("the machine of {names} was not well: the hypervisor took {share} of its CPU time")
        }
        Sickness::OtherWork => {
            let cpus = number(amount);
            format!("the machine of {names} was not its own: programs outside of the run used {cpus} CPUs of it")
        }
        Sickness::Pauses => {
            format!("the database of {names} was not well: garbage collection stopped it for {share} of the time")
        }
        Sickness::Nodes => format!(
            "the nodes of {names} were not alike: one did {} times what another did, or needed that for the same",
            number(amount)
        ),
    }
}

/// What showed that the database was not at rest, and what to do.
fn not_at_rest(names: &str, unrest: Unrest) -> String {
    let (what, advice) = match unrest {
        Unrest::Code => ("its code was still being compiled with", LONGER_WARMUP),
        Unrest::Cache => ("its page cache was still changing with", LONGER_WARMUP),
        Unrest::CacheTier => ("the caches in front of it were still filling or changing with", LONGER_WARMUP),
        Unrest::Changing => ("its throughput was still changing with", LONGER_WARMUP),
        Unrest::Disturbed => (
            "its throughput was changing while other programs, or the hypervisor, took CPU time of the machine, with",
            "stop what else runs there; where it was the hypervisor, measure at another hour or on another machine",
        ),
        Unrest::TooShort => (
            "the trials are too short to show that it was, and the CPU was the limit, with",
            "lengthen [load] duration_s",
        ),
        Unrest::Gain => ("more was gained than there is more of what limits it with", LONGER_WARMUP),
        Unrest::Costs => ("an operation cost far more CPU than elsewhere with", LONGER_WARMUP),
    };
    format!("the database was not at rest: {what} {names} ({advice})")
}

/// What to do about a database that wakes up.
const LONGER_WARMUP: &str = "lengthen [load] warmup_s";

/// ` (3,000 IOPS for 33 minutes, then 300)`, at full scale.
fn burst(analysis: &Analysis, unit: &str, carried: f64, lasting: f64, lasts_s: Option<f64>) -> String {
    if carried <= 0.0 {
        return String::new();
    }
    let full = |rate: f64| given((rate * analysis.scale).round());
    format!(
        " ({} {unit} {}, then {})",
        full(carried),
        lasts_s.map_or_else(|| "while they last".to_owned(), |s| format!("for {}", about(s))),
        full(lasting)
    )
}

/// Why a configuration was not considered.
pub fn not_judged(why: NotJudged) -> String {
    let words = match why {
        NotJudged::NoPrice => "no price",
        NotJudged::NoPriceThoughFaster => "no price, although it is faster than every configuration that has one",
        NotJudged::NoValidTrial => "no valid trial",
        NotJudged::NotEverywhere => "no valid trial under some of the workloads or load levels",
        NotJudged::OtherBacklog => "its trials began with another backlog, which nobody chooses",
        NotJudged::LostWrites { lost, values } => return format!("it {}", lost_writes(lost, values)),
    };
    words.to_owned()
}

/// `lost acknowledged writes (214 of 31,004 values)`.
fn lost_writes(lost: u64, values: u64) -> String {
    format!("lost acknowledged writes ({} of {} values)", count(lost), count(values))
}

/// `rf1 lost acknowledged writes (214 of 31,004 values)`; `None` where none was lost.
pub fn losers(analysis: &Analysis) -> Option<String> {
    let all = analysis.recommendation.not_considered.iter().filter_map(|n| match n.why {
        NotJudged::LostWrites { lost, values } => Some(format!("{} {}", n.configuration, lost_writes(lost, values))),
        _ => None,
    });
    let all = listed(all);
    (!all.is_empty()).then_some(all)
}

/// Configurations that could not be judged, in one sentence for each reason.
pub fn not_considered(analysis: &Analysis) -> Vec<String> {
    let all = &analysis.recommendation.not_considered;
    let entries = all.iter().map(|n| (n.configuration.clone(), not_judged(n.why)));
    places::grouped(entries.collect())
        .into_iter()
        .map(|(names, why)| format!("Not considered: {} ({why}).", listed(names)))
        .collect()
}

/// A doubt as a sentence.
pub fn doubt(analysis: &Analysis, doubt: &Doubt) -> String {
    match doubt {
        Doubt::DiskTooSmall { configurations } => disk_room::too_small(configurations),
        Doubt::LatencyInModel { scale } => latency_in_model(analysis, *scale),
        Doubt::Simulated => SIMULATED.to_owned(),
        Doubt::Imported => IMPORTED.to_owned(),
        Doubt::Beside { others } => beside(others),
        Doubt::RuntimeOptions { options } => format!(
            "What ran the database adds options of its own ({}): production without them may do otherwise, above all \
             where the CPU is the limit. A Java by its own program (JAVA_HOME) adds none.",
            listed(options)
        ),
        Doubt::RuntimesDiffer { version, runtimes } => format!(
            "Not all trials of {version} ran on the same: {}. Hosts differ in it, or the run was resumed with another; \
             differences between trials may be those of what ran them.",
            listed(runtimes)
        ),
        Doubt::Scale { scale } => {
            format!("This is {}: {}, and {}.", labels::at_scale(*scale), carries_over::clause(analysis), cpus(analysis))
        }
        Doubt::OneCopy => durability::one_copy(analysis),
        Doubt::ModelMisses { all, can_be_kept, own_buffers } => model_misses(all, *can_be_kept, own_buffers.as_deref()),
        Doubt::CpusRaised { configurations, most_scale } => format!(
            "At 1:{} the part of {} is less CPU than a database can be given, and was raised: no verdict rests on \
             ratios to what CPUs limited. At scale = {} or less in [provider.local] each has its part.",
            given(analysis.scale),
            listed(configurations),
            given(*most_scale)
        ),
        Doubt::LimitedHere { all } => limited_here(analysis, all),
        Doubt::TooShort { trials, valid } => format!(
            "{} of {valid} valid trials {} too short to judge whether throughput had stabilised.",
            trials,
            is(*trials)
        ),
        Doubt::NoCheckpoint { configurations } => format!(
            "No checkpoint of the database fell into half of the trials of {} or more: what it writes at one, and the \
             whole pages that it logs after it, is missing, so that production writes more than was measured. Lengthen \
             [load] duration_s, or have checkpoints come more often.",
            listed(configurations)
        ),
        Doubt::LocalBytesUnknown { configurations } => local_bytes(configurations),
        Doubt::LocalDisks { configuration } => format!(
            "{configuration} keeps its data on the instance's own disks: they are lost when it stops or fails, so that \
             replicas and backups must carry the data."
        ),
        Doubt::Missing { trials, planned } => {
            format!("{} of {planned} planned {} missing.", several(*trials, "trial"), is(*trials))
        }
        Doubt::Invalid { trials, done } => format!(
            "{} of {done} {} invalid and {} no figure.",
            several(*trials, "trial"),
            is(*trials),
            if *trials == 1 { "enters" } else { "enter" }
        ),
        Doubt::Findings { rules } => warnings(analysis, rules),
        Doubt::BurstStart { volumes } => {
            let of = |role| volumes.iter().filter(move |(_, r)| *r == role).map(|(name, _)| name);
            let data: Vec<String> = of(VolumeRole::Data).map(|name| started(analysis, name)).collect();
            let logs: Vec<String> = of(VolumeRole::Commitlog).cloned().collect();
            let parts = [("data volumes of", data), ("commit logs of", logs)];
            let parts: Vec<String> = parts
                .into_iter()
                .filter(|(_, names)| !names.is_empty())
                .map(|(what, names)| format!("{what} {}", listed(names)))
                .collect();
            format!("Started with burst credits, by choice: {}.", parts.join("; "))
        }
        Doubt::PlacesUndecided { places } => format!(
            "{places} of {} places (workload and load) {} not decided; none contradicts.",
            analysis.recommendation.places.len(),
            is(*places)
        ),
        Doubt::FleetCheaper { configuration, fleet } => format!(
            "{} x {configuration} would carry the demand for less, {} a month together, provided that throughput \
            grows with their number.",
            fleet.count,
            labels::usd(fleet.usd_per_month)
        ),
        Doubt::NotMonotone { configuration, workload, missed_ops_per_s, met_ops_per_s } => format!(
            "Under {workload} {configuration} missed the objective at {} operations/s and met it at {}: its latency \
             depends on more than the rate (compaction, a neighbour, the order of trials), and no rate is named.",
            number(*missed_ops_per_s),
            number(*met_ops_per_s)
        ),
        Doubt::ClosedLoopOnce { configurations } => format!(
            "{} cannot carry more at full scale than the closed loop of the model did, by one short probe of each: the \
             error of that figure is not known.",
            listed(configurations)
        ),
        Doubt::Stopped { why } => format!("Repeating stopped by itself: {why}."),
        Doubt::Skipped { cells } => {
            let far = |n: u64| if n == 0 { "before the first".to_owned() } else { format!("after {n}") };
            let all = cells.iter().map(|c| format!("{} {} of {}", c.cell, far(c.done), several(c.planned, "trial")));
            format!("Skipped by the user while the run was under way: {}.", listed(all))
        }
        Doubt::Batches { batches } => in_batches(batches),
    }
}

/// Local disks that did what they could here, because nobody knows what they may.
fn local_bytes(configurations: &[(String, Option<f64>)]) -> String {
    let each = configurations.iter().map(|(name, most)| match most {
        Some(bytes) => format!("{name} (a node did up to {} MB/s at full scale)", number(bytes / 1e6)),
        None => name.clone(),
    });
    format!(
        "The MB/s of the local disks of {} are not known, and were not limited: they may have done more than those \
         that are bought. State read_mb_per_s and write_mb_per_s in a catalog file.",
        listed(each)
    )
}

/// What was gained beyond what was bought in a sentence of its own, because it is about the answer; the other rules by
/// name.
fn warnings(analysis: &Analysis, rules: &[(Rule, u64)]) -> String {
    let (mut said, told) = gains::beyond_resource(analysis);
    let left = rules.iter().filter_map(|(rule, n)| {
        let left = if *rule == Rule::GainAboveResource { n.saturating_sub(told) } else { *n };
        (left > 0).then(|| format!("{} x{left}", rule_name(*rule)))
    });
    let mut named: Vec<String> = left.collect();
    let more = named.len().saturating_sub(RULES);
    named.truncate(RULES);
    if more > 0 {
        named.push(several(more as u64, "other rule"));
    }
    if !named.is_empty() {
        said.push(format!("Warnings: {}.", listed(named)));
    }
    said.join(" ")
}

/// A rule in a sentence.
fn rule_name(rule: Rule) -> String {
    match rule {
        Rule::LittlesLaw => "Little's law".to_owned(),
        other => other.name().replace('_', " "),
    }
}

/// Others that measured on the same machine.
fn beside(others: &[String]) -> String {
    let who = when(!others.is_empty(), || format!(" When it began, {} did.", listed(others)));
    format!(
        "The run was allowed to go on beside others that measure on the same machine (--beside).{who} Each finds a \
         slower machine, so that figures are lower bounds, and differences between trials may be those of the others."
    )
}

/// What the CPUs of a model stand for.
fn cpus(analysis: &Analysis) -> String {
    let shares = analysis.configurations.iter().filter_map(|c| c.stands_for.as_ref());
    match labels::cpu_speeds(shares) {
        Some(speeds) => format!("CPUs have the speed of {speeds}, beside {CPU_REFERENCE}"),
        None => "it assumes all vCPUs equally fast".to_owned(),
    }
}

/// What would have a model miss its page caches as often as full scale does.
pub(super) fn what_keeps_misses(can_be_kept: bool) -> &'static str {
    match can_be_kept {
        true => "page_cache = \"same-misses\" in [provider.local]",
        false => "more of the records, by a smaller scale or more of them in [dataset],",
    }
}

/// What a model says of a bound on latency, or of the rates that were found under one.
fn latency_in_model(analysis: &Analysis, scale: f64) -> String {
    let n = given(scale);
    let follows = match analysis.capacities.is_empty() {
        true => format!(
            "what meets a bound here meets it there as far as queues decide, what misses it here is excluded only \
             beyond a factor of {n}"
        ),
        false => "what is carried under a bound here is the least that is carried there, as far as queues decide, and \
                  what a closed loop does the most"
            .to_owned(),
    };
    format!(
        "Latencies are those of {}, whose queues take up to {n}-fold the time of those at full scale: {follows}. \
         Measure latency at full scale, or on existing hosts.",
        labels::at_scale(scale)
    )
}

/// Page caches that miss more or less often in the model, those with the same figures together.
fn model_misses(all: &[MissesInModel], can_be_kept: bool, own_buffers: Option<&str>) -> String {
    let reads = |missing: f64| if missing < LEAST_MISSES { "hardly any".to_owned() } else { number(missing) };
    let often = |of: &MissesInModel| match of.in_model < LEAST_MISSES {
        true => "hardly read".to_owned(),
        false => format!("read {} times as often", number(of.factor)),
    };
    let said = |of: &MissesInModel| (reads(of.in_model), reads(of.at_full_scale), often(of));
    let groups = grouped(all.iter().map(|of| ((said(of), &of.workload), &of.configuration)));
    let each = groups.iter().map(|(((here, full, often), workload), names)| {
        format!(
            "under {workload} {here} reads of {} are expected to miss for each operation, {full} at full scale, so \
             that volumes are {often}",
            listed(names)
        )
    });
    let left_out = own_buffers
        .map_or_else(String::new, |buffers| format!(" (reckoned without {buffers} and without what updates read)"));
    format!(
        "Page caches here do not miss as often as at full scale: {}{left_out}. No verdict is given that \
         this would change; {} {} the misses.",
        each.collect::<Vec<_>>().join("; "),
        what_keeps_misses(can_be_kept),
        if can_be_kept { "keeps" } else { "would keep more of" }
    )
}

/// What of this machine was in the way, and what a bound rests on.
fn limited_here(analysis: &Analysis, all: &[LimitedHere]) -> String {
    let groups = grouped(all.iter().map(|limited| (limited.by.words(), &limited.configuration)));
    let held = groups.iter().map(|(resource, names)| format!("its {resource} limited {}", listed(names)));
    let rests = when(all.iter().any(|limited| limited.by == OfThisMachine::Cpu), || {
        let model = analysis.environment["database"]["cpu_model"].as_str();
        let model = model.map_or_else(String::new, |model| format!(" ({model})"));
        format!(", provided that a vCPU of what is bought does no less than a CPU here{model}")
    });
    format!(
        "Not all that was measured is emulated on this machine: {}. Ratios to that are bounds{rests}.",
        listed(held)
    )
}

/// Configurations that were not measured at the same time in the same place.
fn in_batches(batches: &[(Vec<String>, Option<String>)]) -> String {
    let of_batch = |(together, site): &(Vec<String>, Option<String>)| {
        let names = listed(together);
        site.as_ref().map_or_else(|| names.clone(), |site| format!("{names} at {site}"))
    };
    let all: Vec<String> = batches.iter().map(of_batch).collect();
    format!(
        "Not all were measured on neighbouring machines at the same time: {}. Ratios between these groups are not \
         paired, and whatever differed between the groups besides the configurations is part of them.",
        all.join("; ")
    )
}

fn is(n: u64) -> &'static str {
    if n == 1 { "is" } else { "are" }
}

/// A configuration with the burst of its data volume.
fn started(analysis: &Analysis, name: &str) -> String {
    let volumes = analysis.configurations.iter().filter(|c| c.name == name).flat_map(|c| &c.volumes);
    let numbers = volumes.filter(|v| v.role == VolumeRole::Data).map(|volume| {
        let of_requests = volume.burst.map(|b| ("IOPS", b.burst_iops, b.baseline_iops));
        let of_bytes = volume.byte_burst.map(|b| ("MiB/s", b.burst_bytes_per_s / MIB, b.baseline_bytes_per_s / MIB));
        let bucket = of_requests.or(of_bytes);
        bucket.map_or_else(String::new, |(unit, carried, lasting)| burst(analysis, unit, carried, lasting, None))
    });
    format!("{name}{}", numbers.collect::<String>())
}

/// What limits the configuration to run, by place: what the next money would have to buy.
pub fn limits_of(analysis: &Analysis) -> Option<String> {
    let run = analysis.recommendation.run.as_ref()?;
    let entries = analysis.cells.iter().filter(|c| c.configuration == *run).map(|c| {
        let name = places::name(analysis, &c.workload, Some(c.load));
        (name, labels::limit_here(analysis, &c.limit))
    });
    let groups = places::grouped(entries.collect());
    let clauses: Vec<String> = match groups.as_slice() {
        [(_, only)] => vec![only.clone()],
        groups => groups.iter().map(|(names, limit)| format!("{limit} ({})", listed(names))).collect(),
    };
    (!clauses.is_empty()).then(|| format!("Limit of {run}: {}.", clauses.join("; ")))
}
