//! What ran, in sentences: on what, how much of it is valid, and what was otherwise than usual.

use std::collections::BTreeSet;

use analysis::{
    Analysis, AwsPair, BandwidthWeighting, ConfigurationFacts, Dataset, Initialised, OperationKind, Provider, Remark,
    Runtime, VolumeReport, grouped, runtimes,
};

use crate::figures::{MIB, bytes, count, duration, listed, number, when};
use crate::labels::{at_scale, code_warmup, kinds, stands_for};
use crate::placed;

/// What ran, on what, how much of it is valid, and what was otherwise than usual: a sentence or more each.
pub fn of_run(analysis: &Analysis) -> Vec<String> {
    let trials = analysis.trials;
    let ran = match analysis.provider {
        Provider::Imported => {
            format!("Imported: {}. Data set, machines and warm-up are as the tools had them.", analysis.database)
        }
        Provider::Local | Provider::Simulated | Provider::Hosts | Provider::Aws => ran(analysis),
    };
    let n = analysis.invalid_trials();
    let invalid = when(n > 0, || format!(" {n} invalid: kept as evidence, in no figure below."));
    let done = format!("{} of {} trials done, {} valid.{invalid}", trials.done, trials.planned, trials.valid);
    let placed = placed::of_run(analysis).map(|placed| format!("{placed}."));
    let more = placed.into_iter().chain(settings(analysis)).chain(origins(analysis)).chain(initialised(analysis));
    let more = more.chain(shared_volumes(analysis));
    let left_out = analysis.left_out.as_ref().map(|out| format!("Left out, as this run was asked to: {out}."));
    [ran, done].into_iter().chain(left_out).chain(more).collect()
}

fn ran(analysis: &Analysis) -> String {
    let shape = &analysis.shape;
    let until_rest = shape.warmup_max_s.map_or_else(String::new, |most| {
        format!("warm-up until throughput has stabilised (at most {}) + ", duration(most))
    });
    let operations = shape.operations.map_or_else(String::new, |n| format!(" or {} operations", count(n)));
    format!(
        "{} on the {} provider, {}, {}; trials of {}{until_rest}{} warm-up + {}{operations}.",
        analysis.database,
        analysis.provider,
        at_scale(analysis.scale),
        data_set(analysis),
        code_warmup(shape),
        duration(shape.warmup_s),
        duration(shape.duration_s),
    )
}

/// What was loaded; how many rows tables of the user's own have is an estimate.
fn data_set(analysis: &Analysis) -> String {
    let Dataset { records, fields, field_length, .. } = analysis.dataset;
    let is_own = kinds(analysis).iter().any(|kind| matches!(kind, OperationKind::Statement(_)));
    match is_own {
        true => format!("about {} rows", count(records)),
        false => {
            let all = stands_for(records, analysis.stands_for_records);
            format!("{} records x {fields} fields x {field_length} B{all}", count(records))
        }
    }
}

/// What of the database was otherwise than iopslab starts it: its version where that varies, a sentence for each
/// configuration with settings, and one for each with weighted bandwidth, or with a backlog of compaction.
fn settings(analysis: &Analysis) -> Vec<String> {
    let with = analysis.configurations.iter().filter(|c| !c.settings.is_empty());
    let each = with.map(|c| format!("Settings of {}: {}.", c.name, c.settings.labels().join(", ")));
    let versions = versions(analysis).into_iter();
    versions.chain(each).chain(weightings(analysis)).chain(backlogs(analysis)).collect()
}

/// Which configurations had which version of the database, a sentence for each where they differ in it.
pub fn versions(analysis: &Analysis) -> Vec<String> {
    let with = analysis.configurations.iter().filter_map(|c| Some((c.version.as_deref()?, &c.name)));
    let groups = grouped(with);
    let runtimes = runtimes(&analysis.environment);
    let ran: Vec<(&str, &Vec<Runtime>)> =
        groups.iter().filter_map(|(version, _)| Some((*version, runtimes.get(*version)?))).collect();
    let each = groups.into_iter().map(|(version, names)| format!("Version {version}: {}.", listed(names)));
    let mut all: Vec<String> = each.collect();
    all.extend(unlike_runtimes(&ran));
    all
}

/// What ran the versions, where that is not the same for all: more than the version differs then.
fn unlike_runtimes(ran: &[(&str, &Vec<Runtime>)]) -> Option<String> {
    let (_, first) = ran.first()?;
    if ran.iter().all(|(_, runtimes)| runtimes == first) {
        return None;
    }
    let words = |all: &[Runtime]| all.iter().map(Runtime::to_string).collect::<Vec<_>>().join(" or ");
    let each: Vec<String> = ran.iter().map(|(version, all)| format!("{version} on {}", words(all))).collect();
    Some(format!("What runs them differs besides, and is part of what is compared: {}.", listed(&each)))
}

/// What bandwidth weighting gives and takes, a sentence for each configuration that has it.
pub fn weightings(analysis: &Analysis) -> Vec<String> {
    let of_one = |c: &ConfigurationFacts| {
        let weighting = c.bandwidth_weighting.filter(|weighting| *weighting != BandwidthWeighting::Default)?;
        Some(format!(
            "Bandwidth weighting of {}: {weighting}, a quarter more MB/s for its volumes, and as much less for its \
             network, which no emulation has.",
            c.name
        ))
    };
    analysis.configurations.iter().filter_map(of_one).collect()
}

/// What trials began with beside a data set at rest, a sentence for each configuration with a backlog.
pub fn backlogs(analysis: &Analysis) -> Vec<String> {
    let of_one = |c: &ConfigurationFacts| {
        let label = c.backlog?.label();
        Some(format!("Trials of {} began with a backlog of compaction: {label}.", c.name))
    };
    analysis.configurations.iter().filter_map(of_one).collect()
}

/// Where the data set was restored from, a sentence for each; nothing where it was loaded.
fn origins(analysis: &Analysis) -> Vec<String> {
    let each = analysis.origins.iter().map(|origin| {
        let day = origin.made_at.split('T').next().unwrap_or_default();
        format!("Data set restored from {}, where the run {} kept it on {day}.", origin.store, origin.made_by)
    });
    each.collect()
}

/// How data volumes were made from snapshots of EBS, a sentence for each; nothing where they were made empty.
fn initialised(analysis: &Analysis) -> Vec<String> {
    let of_volume = |(name, volume): (&str, &VolumeReport)| {
        let sentence = |how: &Initialised| {
            format!(
                "{name}: the {} volume was made from {} of EBS, with the data set loaded on {}. Each of its blocks was \
                 read once before anything was measured: {} in {} ({} MiB/s).",
                volume.role.name(),
                how.snapshot,
                how.loaded_at.split('T').next().unwrap_or_default(),
                bytes(how.bytes as f64),
                duration(how.seconds.max(1.0).round()),
                number(how.bytes_per_s() / MIB),
            )
        };
        volume.initialised.iter().map(sentence).collect::<Vec<_>>()
    };
    let configurations = analysis.configurations.iter();
    let volumes = configurations.flat_map(|c| c.volumes.iter().map(|volume| (c.name.as_str(), volume)));
    volumes.flat_map(of_volume).collect()
}

/// Which configurations shared machines, a sentence for each pair; nothing where each had its own. Blocks that had
/// several machines are named.
fn shared_volumes(analysis: &Analysis) -> Vec<String> {
    let of_pair = |pair: &AwsPair| {
        let names: Vec<&String> = pair.levels.iter().map(|level| &level.configuration).collect();
        let several = analysis.findings.iter().filter_map(|finding| match &finding.remark {
            Remark::SeveralVolumes(of) if of.configurations.iter().eq(names.iter().copied()) => Some(&of.blocks),
            _ => None,
        });
        let blocks: BTreeSet<u32> = several.flatten().map(|one| one.block).collect();
        let but = when(!blocks.is_empty(), || format!(", but of those of block {}", listed(&blocks)));
        format!(
            "{} share their machines and data volumes, which EBS modifies between their trials: what machines and \
             volumes differ by is no part of their ratios{but}.",
            listed(names)
        )
    };
    analysis.shared_volumes.iter().map(of_pair).collect()
}
