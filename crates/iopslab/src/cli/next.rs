//! `iopslab next`: which configuration of the catalog would be worth measuring, by what a run has measured; and how
//! right that was.

use std::path::{Path, PathBuf};

use ::catalog::Catalog;
use ::sizing::{Effort, Measuring, NextToMeasure, NothingBecause, Obstacle, SizingOptions, Together, Unmeasured};
use archive::RunDirectory;
use clap::Args;
use controller::Measured;
use experiment::{OtherMachine, Place, Plan, ReadFor};
use process::failure::Failure;
use process::output::{Format, pretty};

use super::facts::catalog;
use super::{client_cost, init, latest, resumed, size, terminal};

/// Proposals that an experiment cannot measure, before it is asked of no more.
const MOST_REFUSED: usize = 50;

/// What was typed after `next`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  iopslab next                                        # of the latest run of runs/
  iopslab next runs/kenzan-2018-... --family r7i --family i4i
  iopslab next RUN --out next.toml && iopslab run next.toml
  iopslab next NEW_RUN --against RUN                  # predicted from RUN alone, beside what NEW_RUN measured

The proposal that is expected to save most comes first: what it saves times the chance that it holds, by the model's \
own held-out errors. What has no known error stands below, and says so. Exit 3: the evidence carries no answer, or \
only the first of what is proposed were tried, and this experiment cannot measure them.")]
pub struct NextArgs {
    /// Run directory to learn from [default: the latest of runs/]
    run: Option<PathBuf>,
    /// Write the run's experiment with the proposals added, ready to run
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long, requires = "out")]
    force: bool,
    /// How many proposals
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Only this family, such as i4i (repeatable)
    #[arg(long)]
    family: Vec<String>,
    /// Architecture to search
    #[arg(long, default_value = "x86_64")]
    arch: String,
    /// Instead: predict RUN's configurations from this earlier run alone, beside what RUN measured
    #[arg(long, value_name = "EARLIER", conflicts_with_all = ["out", "force", "top", "family", "arch"])]
    against: Option<PathBuf>,
}

pub fn run(args: &NextArgs, format: Format) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        init::is_free(out, args.force)?;
    }
    let catalog = catalog()?;
    let path = match &args.run {
        Some(path) => path.clone(),
        None => latest::run("it: iopslab next RUN")?,
    };
    match &args.against {
        Some(earlier) => beside(&catalog, &path, earlier, format),
        None => propose(&catalog, &path, args, format),
    }
}

fn propose(catalog: &Catalog, path: &Path, args: &NextArgs, format: Format) -> Result<(), Failure> {
    let directory = RunDirectory::open(path).map_err(Failure::input)?;
    size::check_evidence(std::slice::from_ref(&directory))?;
    if matches!(directory.plan().place, Place::Existing(_) | Place::AsIs(_)) {
        return Err(Failure::input(format!(
            "{} measured machines as they are: another machine of the catalog cannot be added to it",
            path.display()
        ))
        .help("machines for a target: iopslab size RUN --throughput N --read-share S --data SIZE"));
    }
    let measured = Measured::read(&directory)?;
    let options = SizingOptions {
        families: args.family.clone(),
        architecture: Some(args.arch.clone()),
        most: args.top.into(),
        ..SizingOptions::default()
    };
    let answer = ::sizing::next_to_measure(catalog, &measured.evidence(&directory), &options);
    let mut answer = answer.map_err(size::failure)?;
    let experiment = Frozen::of(catalog, &directory)?;
    experiment.keep_measurable(&mut answer, options.most)?;
    match format {
        Format::Json => println!("{}", pretty(&::report::next_document(&answer))),
        Format::Human => print!("{}", ::report::next(&answer, terminal::width())),
    }
    let blocks = blocks(&answer.proposals);
    match &args.out {
        Some(out) if blocks.is_empty() => eprintln!("nothing to add: {} is not written", out.display()),
        Some(out) => {
            let text = experiment::with_blocks(&experiment.text, blocks);
            experiment.plan_of(&text)?;
            init::write(out, args.force, &text)?;
            let word = guarded::shell_path(out);
            eprintln!("wrote {}; next: iopslab plan {word}, then iopslab run {word}", out.display());
        }
        None if format == Format::Human => {
            blocks.iter().for_each(|block| println!("\n{}", block.trim_end()));
        }
        None => {}
    }
    match &answer.because {
        Some(NothingBecause::NotMeasurable { untried: 1.., .. }) => {
            Err(Failure::verdict("not all that may be worth measuring was tried"))
        }
        Some(why) if !why.is_answer() => Err(Failure::verdict("the evidence does not say what to measure next")),
        _ => Ok(()),
    }
}

/// The blocks of proposals that can be measured.
fn blocks(proposals: &[Unmeasured]) -> Vec<&str> {
    proposals.iter().filter_map(|p| Some(p.measuring.as_ref()?.block.as_str())).collect()
}

/// Proposals, tried in their order.
struct Tried<T, M> {
    /// Those that can be measured, with what that takes.
    kept: Vec<(T, M)>,
    /// Those that cannot, with the reason.
    refused: Vec<(T, String)>,
    /// Those that were not tried after so many refusals.
    untried: Vec<T>,
}

/// The first so many that can be measured; after [`MOST_REFUSED`] that cannot, no more are tried.
fn first_measurable<T, M>(all: Vec<T>, most: usize, measuring: impl Fn(&T) -> Result<M, String>) -> Tried<T, M> {
    let mut tried = Tried { kept: Vec::new(), refused: Vec::new(), untried: Vec::new() };
    for one in all {
        if tried.kept.len() == most {
            break;
        }
        if tried.refused.len() == MOST_REFUSED {
            tried.untried.push(one);
            continue;
        }
        match measuring(&one) {
            Ok(it) => tried.kept.push((one, it)),
            Err(why) => tried.refused.push((one, why)),
        }
    }
    tried
}

/// What a plan takes; where repetitions are added, with the first ones.
fn effort(plan: &Plan) -> Effort {
    let first = plan.without_later_blocks();
    Effort { trials: first.trials.len() as u64, seconds: first.estimated_s, is_least: plan.adaptive.is_some() }
}

/// By how much one is more than the other.
fn more(effort: Effort, than: Effort) -> Effort {
    Effort {
        trials: effort.trials.saturating_sub(than.trials),
        seconds: (effort.seconds - than.seconds).max(0.0),
        ..effort
    }
}

/// The experiment of a run, as it was frozen.
struct Frozen<'a> {
    catalog: &'a Catalog,
    directory: &'a RunDirectory,
    text: String,
}

impl<'a> Frozen<'a> {
    fn of(catalog: &'a Catalog, directory: &'a RunDirectory) -> Result<Self, Failure> {
        let text = directory.experiment_text().map_err(Failure::input)?;
        Ok(Self { catalog, directory, text })
    }

    /// Of the proposals the first that the experiment can measure where it was carried out, so many at the most, with
    /// what that takes; what it cannot measure is left out with the reason, and so is what was not tried.
    fn keep_measurable(&self, answer: &mut NextToMeasure, most: usize) -> Result<(), Failure> {
        if answer.proposals.is_empty() {
            return Ok(());
        }
        // Where the text itself is refused, no proposal is to blame.
        let without = effort(&self.plan_of(&self.text)?);
        let all = std::mem::take(&mut answer.proposals);
        let tried = first_measurable(all, most, |one| self.measuring(one, without));
        let (refused, untried) = (tried.refused.len() as u64, tried.untried.len() as u64);
        answer.because = tried.kept.is_empty().then_some(NothingBecause::NotMeasurable { refused, untried });
        let not_tried = |one: Unmeasured| {
            (one, format!("not tried: the experiment cannot measure {MOST_REFUSED} others before it"))
        };
        let left_out = tried.refused.into_iter().chain(tried.untried.into_iter().map(not_tried));
        let left_out = left_out.map(|(one, why)| (one.configuration, Obstacle::Rule(why)));
        answer.left_out.extend(::sizing::left_out(left_out));
        let kept = tried.kept.into_iter();
        answer.proposals = kept.map(|(one, it)| Unmeasured { measuring: Some(it), ..one }).collect();
        answer.together = self.together(&answer.proposals, without);
        Ok(())
    }

    /// What it takes to measure all of these; `None`: there is none, or the experiment cannot have all at once.
    fn together(&self, proposals: &[Unmeasured], without: Effort) -> Option<Together> {
        let blocks = Some(blocks(proposals)).filter(|blocks| !blocks.is_empty())?;
        let plan = self.plan_of(&experiment::with_blocks(&self.text, blocks)).ok()?;
        let with = effort(&plan);
        Some(Together { experiment: with, proposals: more(with, without) })
    }

    /// What it takes to measure a configuration, or why this experiment cannot.
    fn measuring(&self, one: &Unmeasured, without: Effort) -> Result<Measuring, String> {
        let other = OtherMachine {
            like: &one.like,
            request: &one.request,
            era: one.era.as_deref(),
            memory_limit_gib: one.memory_limit_gib,
        };
        let block = experiment::block_on(&self.text, other)?;
        let text = experiment::with_blocks(&self.text, [block.text.as_str()]);
        let plan = self.plan_of(&text).map_err(|refused| refused.message)?;
        let takes = more(effort(&plan), without);
        if takes.trials == 0 {
            return Err("the experiment measures some of its cells alone ([load] only)".to_owned());
        }
        Ok(Measuring { name: block.name, block: block.text, takes })
    }

    /// The plan of a text, on what was frozen with the run.
    fn plan_of(&self, text: &str) -> Result<Plan, Failure> {
        let name = self.directory.path().join("experiment.toml").display().to_string();
        let purpose = ReadFor::PlanOf(self.directory.plan().place.provider());
        let client = client_cost::known();
        let experiment = resumed::parsed(self.catalog, self.directory, (&name, text), (client, purpose))?;
        Ok(experiment::plan(&experiment))
    }
}

/// What an earlier run alone says of a run, beside what that measured.
fn beside(catalog: &Catalog, run: &Path, earlier: &Path, format: Format) -> Result<(), Failure> {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if whole(run) == whole(earlier) {
        return Err(Failure::input(format!("{} is given twice: it would foretell itself", run.display())));
    }
    let open = |path: &Path| RunDirectory::open(path).map_err(Failure::input);
    let directories = [open(run)?, open(earlier)?];
    size::check_evidence(&directories)?;
    let measured = [Measured::read(&directories[0])?, Measured::read(&directories[1])?];
    let runs = [measured[0].evidence(&directories[0]), measured[1].evidence(&directories[1])];
    size::check_providers(&runs)?;
    let answer = ::sizing::foretold(catalog, &runs[0], &runs[1]).map_err(size::failure)?;
    match format {
        Format::Json => println!("{}", pretty(&::report::foretold_document(&answer))),
        Format::Human => print!("{}", ::report::foretold(&answer, terminal::width())),
    }
    match answer.is_answer() {
        true => Ok(()),
        false => Err(Failure::verdict(format!("{} does not say what {} measured", earlier.display(), run.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_tried_is_no_answer() {
        let refuse = |_: &u32| -> Result<(), String> { Err("no such volume".to_owned()) };
        let tried = first_measurable((0..60).collect(), 3, refuse);
        assert_eq!((tried.kept.len(), tried.refused.len(), tried.untried.len()), (0, MOST_REFUSED, 60 - MOST_REFUSED));
        assert_eq!(tried.untried.first(), Some(&(MOST_REFUSED as u32)), "in their order");
        assert!(!NothingBecause::NotMeasurable { refused: 50, untried: 10 }.is_answer());
        // As many as there are: the experiment was asked of all.
        let tried = first_measurable((0..MOST_REFUSED).collect(), 3, |_| Err::<(), _>("no such volume".to_owned()));
        assert!(tried.untried.is_empty());
        assert!(NothingBecause::NotMeasurable { refused: 50, untried: 0 }.is_answer());
    }

    #[test]
    fn no_more_are_tried_than_are_shown() {
        let odd = |n: &u32| if n % 2 == 1 { Ok(*n) } else { Err("even".to_owned()) };
        let tried = first_measurable((0..60).collect(), 2, odd);
        assert_eq!(tried.kept, [(1, 1), (3, 3)]);
        assert_eq!(tried.refused.len(), 2);
        assert!(tried.untried.is_empty(), "what comes after the last that is shown is not missed");
    }
}
