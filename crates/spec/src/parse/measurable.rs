//! What can be planned and priced, but not measured so far: refused by a run, told by a plan.

use std::ops::Range;

use toml::Spanned;

use crate::mistakes::{Collector, Mistakes};
use crate::{Note, Provider, raw};

/// Why a run would not measure what the file states, at its place.
struct Problem {
    at: Range<usize>,
    what: String,
    help: &'static str,
}

/// Refuses the frozen file of a run that is to go on; a file that cannot be read any more says nothing here.
///
/// # Errors
/// Everything in it that cannot be measured.
pub fn refuse_unmeasurable(source_name: &str, text: &str) -> Result<(), Mistakes> {
    let mut mistakes = Collector::new(source_name, text);
    if let Ok(file) = toml::from_str::<raw::Experiment>(text) {
        check(&file, Some(Provider::Local), &mut mistakes);
    }
    mistakes.finish(Some(()))
}

/// Mistakes where somebody is to carry the experiment out, notes where it is only planned.
pub(super) fn check(file: &raw::Experiment, provider: Option<Provider>, mistakes: &mut Collector<'_>) {
    for problem in problems(file) {
        if provider.is_some() {
            mistakes.add(problem.at, problem.what, problem.help);
        } else {
            let what = format!("iopslab run refuses this: {}", problem.what);
            mistakes
                .notes
                .push(Note::new("cannot_be_run", what, capitalised(problem.help)));
        }
    }
}

fn problems(file: &raw::Experiment) -> Vec<Problem> {
    let target = file.target.as_ref().map(Spanned::get_ref);
    let hosts = target.and_then(|t| t.hosts.as_ref()).map(|hosts| Problem {
        at: hosts.span(),
        what: "[target] hosts: a run starts its own Cassandra so far".to_owned(),
        help: "measure an existing cluster with: iopslab load --hosts ...",
    });
    let replicas = target.and_then(|t| t.consistency.as_ref()).and_then(|level| {
        let word = level.get_ref().to_ascii_lowercase();
        matches!(word.as_str(), "two" | "three").then(|| Problem {
            at: level.span(),
            what: format!(
                "consistency `{word}` needs as many replicas, and one node is measured: every request would fail"
            ),
            help: "state consistency = \"one\", or \"quorum\", which is one of one here",
        })
    });
    let nodes = file.configuration.iter().filter_map(|configuration| {
        let configuration = configuration.get_ref();
        let nodes = configuration.nodes.as_ref().filter(|n| (2..=MOST_NODES).contains(n.get_ref()))?;
        Some(Problem {
            at: nodes.span(),
            what: format!(
                "nodes = {n} of {}: one node would be measured and {words} priced, so that every figure per dollar would be \
                 wrong by that factor",
                configuration.name.get_ref(),
                n = nodes.get_ref(),
                words = if *nodes.get_ref() == 2 { "two" } else { "three" },
            ),
            help: "clusters are not measured so far: state nodes = 1, or price clusters with iopslab plan or iopslab size",
        })
    });
    hosts.into_iter().chain(replicas).chain(nodes).collect()
}

/// Most nodes that a configuration may state.
pub(super) const MOST_NODES: i64 = 3;

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
