//! `only` of `[load]`: the cells that are measured, where not all are to be.

use std::collections::BTreeSet;

use crate::mistakes::{Collector, choice};
use crate::spanned::Spanned;
use crate::{Configuration, Experiment, LeftOut, raw};

/// Takes out what no cell is measured of. The cells have to be all that their configurations, workloads and load levels
/// make: what is compared is measured alike.
pub(super) fn keep(file: &raw::Experiment, experiment: &mut Experiment, mistakes: &mut Collector<'_>) {
    let Some(only) = &file.load.only else { return };
    if experiment.load.levels.is_empty() {
        let message = "no cell can be named: with rate = \"find\" cells come with the run";
        return mistakes.add(only.span(), message, "remove it, or give rate = [N]");
    }
    let all = cells(experiment);
    let (mut configurations, mut workloads, mut levels) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for named in only.iter() {
        let mut is_any = false;
        for cell in all.iter().filter(|cell| cell.is_of(named)) {
            configurations.insert(cell.configuration.clone());
            workloads.insert(cell.workload.clone());
            levels.insert(cell.level.clone());
            is_any = true;
        }
        if !is_any {
            // No configuration has a dot in its name.
            let what = if named.contains('.') { "cell" } else { "configuration" };
            let names = all.iter().map(|cell| if what == "cell" { &*cell.id } else { &*cell.configuration });
            let names = Vec::from_iter(names.collect::<BTreeSet<&str>>());
            mistakes.add(named.span(), format!("there is no {what} `{named}`"), choice(named, &names));
        }
    }
    if only.is_empty() {
        mistakes.add(only.span(), "no cell is named", "remove it, or name one");
    }
    if configurations.is_empty() {
        return;
    }
    let baseline = file.baseline.as_ref().filter(|name| !configurations.contains(name.as_str()));
    if let Some(baseline) = baseline {
        let message = format!("no cell of the baseline {baseline} is measured");
        mistakes.add(only.span(), message, "name its cells too, or another baseline");
    }
    let left_out = |all: BTreeSet<&str>, kept: &BTreeSet<String>| {
        all.into_iter().filter(|name| !kept.contains(*name)).map(str::to_owned).collect::<Vec<String>>()
    };
    let left_out = LeftOut {
        configurations: left_out(all.iter().map(|cell| &*cell.configuration).collect(), &configurations),
        workloads: left_out(all.iter().map(|cell| &*cell.workload).collect(), &workloads),
        load_levels: left_out(all.iter().map(|cell| &*cell.level).collect(), &levels),
    };
    let is_any = [&left_out.configurations, &left_out.workloads, &left_out.load_levels];
    experiment.left_out = is_any.iter().any(|names| !names.is_empty()).then_some(left_out);
    experiment.configurations.retain(|c| configurations.contains(&c.name));
    experiment.money.configurations.retain(|c| configurations.contains(&c.configuration));
    experiment.workloads.retain(|w| workloads.contains(&w.name));
    experiment.load.levels.retain(|level| levels.contains(&level.slug()));
    let is_named = |cell: &Cell| only.iter().any(|named| cell.is_of(named));
    let others: Vec<String> =
        cells(experiment).into_iter().filter(|cell| !is_named(cell)).map(|cell| cell.id).collect();
    if !others.is_empty() {
        let message = format!("these configurations, workloads and load levels make {} too", others.join(", "));
        mistakes.add(only.span(), message, "name all of them, or make two runs");
    }
}

/// Configurations that are kept, each with what the file states of it: the file has those that are left out as well.
pub(super) fn with_raw<'f>(
    file: &'f raw::Experiment,
    kept: &'f [Configuration],
) -> impl Iterator<Item = (&'f Spanned<raw::Configuration>, &'f Configuration)> {
    kept.iter().filter_map(move |configuration| {
        let raw = file.configuration.iter().find(|raw| raw.name.as_str() == configuration.name)?;
        Some((raw, configuration))
    })
}

/// A cell by its parts.
struct Cell {
    id: String,
    configuration: String,
    workload: String,
    level: String,
}

impl Cell {
    /// Whether it is meant by its own name, or by that of its configuration, alone or with its workload.
    fn is_of(&self, named: &str) -> bool {
        let Self { id, configuration, workload, .. } = self;
        let of_workload = || named.strip_prefix(configuration)?.strip_prefix('.');
        named == id || named == configuration || of_workload() == Some(workload.as_str())
    }
}

/// All cells of an experiment, as its plan has them.
fn cells(experiment: &Experiment) -> Vec<Cell> {
    let mut all = Vec::new();
    for configuration in &experiment.configurations {
        for workload in &experiment.workloads {
            for level in &experiment.load.levels {
                let level = level.slug();
                let (configuration, workload) = (configuration.name.clone(), workload.name.clone());
                all.push(Cell { id: format!("{configuration}.{workload}.{level}"), configuration, workload, level });
            }
        }
    }
    all
}
