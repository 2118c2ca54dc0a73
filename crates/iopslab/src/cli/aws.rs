//! Machines on AWS, as commands need them: what they cost, whether they may be made, and `iopslab destroy`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use archive::{JournalEvent, RunDirectory};
use clap::Args;
use experiment::{AwsBatch, AwsPrice, AwsSettings, AwsSite, Job, Role};
use process::failure::{Failure, Kind};
use process::output::{Format, pretty};
use provider::Provider as _;
use provider::aws::{Aws, Backend, Certainty};

use super::{machines, pairs, quotas, resumed, snapshots};

/// All that knows of a run's machines, below its directory.
const DIRECTORY: &str = "terraform";
/// Seconds from the first request until machines are ready, and those of taking them away: for the estimate.
pub(super) const MAKING_S: f64 = 600.0;
/// Seconds for taking them away, kept back of what a run may cost.
const REMOVING_S: f64 = 300.0;
/// Machines may be needed for so much longer than the estimate says.
const EXPIRES_AFTER: f64 = 3.0;

/// What a run on AWS costs, by the plan's estimate of its time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Estimate {
    /// The whole, USD: instances with their volumes, without transfer between zones.
    pub usd: f64,
    /// The most that is spent in an hour, USD: where several sites work, that of each site's most expensive batch.
    pub usd_per_hour: f64,
    /// Hours until the last site is done.
    pub hours: f64,
}

/// Hours of a batch's machines.
fn hours_of(job: &Job, settings: &AwsSettings, batch: u32) -> f64 {
    let waited_s = waited_s(settings, &settings.batches[batch as usize]);
    (job.of_batch(batch).plan.estimated_s + MAKING_S + waited_s) / 3_600.0
}

/// Seconds in which a batch waits for volumes of EBS: until their blocks were read, and other levels are in force.
fn waited_s(settings: &AwsSettings, batch: &AwsBatch) -> f64 {
    settings.initialisation_s(&batch.configurations) + settings.modification_s(&batch.configurations)
}

/// The estimate of a job; the error is which price is not known.
pub(super) fn estimate(job: &Job, settings: &AwsSettings) -> Result<Estimate, String> {
    let mut usd = 0.0;
    let mut by_site = vec![(0.0_f64, 0.0); settings.sites.len()];
    for (batch, number) in settings.batches.iter().zip(0..) {
        let usd_per_hour = match &batch.prices[batch.site] {
            AwsPrice::UsdPerHour(usd) => *usd,
            AwsPrice::Missing(what) => return Err(what.clone()),
        };
        let hours = hours_of(job, settings, number);
        usd += usd_per_hour * hours;
        let (most, all_hours) = &mut by_site[batch.site];
        (*most, *all_hours) = (most.max(usd_per_hour), *all_hours + hours);
    }
    Ok(Estimate {
        usd,
        usd_per_hour: by_site.iter().map(|(most, _)| most).sum(),
        hours: by_site.iter().map(|(_, hours)| *hours).fold(0.0, f64::max),
    })
}

/// What is to be made and what that costs, for people.
pub(super) fn reported(settings: &AwsSettings, estimate: &Result<Estimate, String>) -> String {
    let machines = match settings.batches.as_slice() {
        [all] => {
            let place = match all.zones() {
                1 => "one zone".to_owned(),
                zones => format!("{zones} zones"),
            };
            format!("on AWS, {}, {place}: {}", settings.sites[all.site].name, counted(all))
        }
        batches => {
            let line = |(number, batch): (usize, &AwsBatch)| {
                format!(
                    "\n  batch {}, {}: {}; {}",
                    number + 1,
                    settings.sites[batch.site].name,
                    batch.configurations.join(", "),
                    counted(batch)
                )
            };
            let lines: String = batches.iter().enumerate().map(line).collect();
            format!(
                "on AWS, in {} batches; each site goes through its own in turn; \
                 ratios between batches\n  are not paired:{lines}",
                batches.len()
            )
        }
    };
    let machines = machines + &quotas::reported(settings) + &snapshots::reported(settings) + &pairs::reported(settings);
    let rate = match settings.batches.len() {
        1 => "",
        _ => "at most ",
    };
    match estimate {
        Ok(estimate) => format!(
            "{machines}\n  about {:.2} USD: {rate}{:.2} USD an hour for {:.1} hours, on demand, at the catalog's\n  \
             latest prices; transfer between zones comes on top",
            estimate.usd, estimate.usd_per_hour, estimate.hours
        ),
        Err(missing) => format!("{machines}\n  what they cost is not known: {missing}"),
    }
}

fn counted(batch: &AwsBatch) -> String {
    let [databases, caches, clients] = Role::ALL.map(|role| batch.machines_of(role).count());
    let machines = if databases == 1 { "machine" } else { "machines" };
    let caches = if caches == 0 { String::new() } else { format!("{caches} for caches, ") };
    format!("{databases} {machines} for databases, {caches}{clients} for clients")
}

/// The same for programs.
pub(super) fn document(estimate: &Result<Estimate, String>) -> serde_json::Value {
    match estimate {
        Ok(estimate) => serde_json::json!({
            "usd": estimate.usd,
            "usd_per_hour": estimate.usd_per_hour,
            "hours": estimate.hours,
        }),
        Err(missing) => serde_json::json!({ "missing": missing }),
    }
}

/// Whether machines may be made: the estimate is within what the run may cost, and the user says yes.
pub(super) fn may_be_made(
    settings: &AwsSettings,
    estimate: &Result<Estimate, String>,
    max_cost_usd: Option<f64>,
    yes: bool,
) -> Result<(), Failure> {
    if let Some(most) = max_cost_usd.or(settings.max_cost_usd) {
        match estimate {
            Ok(estimate) if estimate.usd > most => {
                return Err(Failure::input(format!(
                    "the run is estimated at {:.2} USD and may cost {most:.2} USD: nothing was made",
                    estimate.usd
                ))
                .help("fewer cells, repetitions or seconds cost less; --max-cost USD allows more"));
            }
            Err(missing) => {
                return Err(Failure::input(format!(
                    "the run may cost {most:.2} USD, and what it costs is not known: {missing}"
                ))
                .help("ask AWS for its prices (iopslab catalog refresh), or leave out the bound"));
            }
            Ok(_) => {}
        }
    }
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::input("machines cost money, and nobody can be asked: stdin is no terminal")
            .help("add --yes to have them made"));
    }
    eprint!("make them? [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::input("nothing was made")),
    }
}

/// What the machines of a run have cost since it was begun or resumed, against what they may cost.
#[derive(Debug)]
pub(super) struct Meter {
    /// USD; `None`: no bound is stated.
    most: Option<f64>,
    batches: Mutex<BTreeMap<usize, Metered>>,
}

/// Machines of a batch that cost money.
#[derive(Debug)]
struct Metered {
    usd_per_hour: f64,
    since: Instant,
    /// `None`: they still do.
    until: Option<Instant>,
}

impl Meter {
    pub fn new(settings: &AwsSettings, max_cost_usd: Option<f64>) -> Self {
        Self { most: max_cost_usd.or(settings.max_cost_usd), batches: Mutex::default() }
    }

    /// Machines of a batch cost money from here on. A price that nobody knows counts as none.
    pub fn begins(&self, number: usize, price: &AwsPrice) {
        let usd_per_hour = match price {
            AwsPrice::UsdPerHour(usd) => *usd,
            AwsPrice::Missing(_) => 0.0,
        };
        let metered = Metered { usd_per_hour, since: Instant::now(), until: None };
        self.of_batches().insert(number, metered);
    }

    /// They are gone.
    pub fn ends(&self, number: usize) {
        if let Some(metered) = self.of_batches().get_mut(&number) {
            metered.until = Some(Instant::now());
        }
    }

    /// Whether all that stands may go on for so many seconds, and be taken away then.
    pub fn affords(&self, seconds: f64) -> bool {
        let usd = |metered: &Metered| {
            let so_far = metered.until.unwrap_or_else(Instant::now) - metered.since;
            let more = if metered.until.is_some() { 0.0 } else { seconds + REMOVING_S };
            metered.usd_per_hour * (so_far.as_secs_f64() + more) / 3_600.0
        };
        let spent: f64 = self.of_batches().values().map(usd).sum();
        self.most.is_none_or(|most| spent <= most)
    }

    fn of_batches(&self) -> MutexGuard<'_, BTreeMap<usize, Metered>> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that knows of a batch's machines lies here.
fn place_of(directory: &RunDirectory, settings: &AwsSettings, number: usize) -> Result<PathBuf, Failure> {
    let place = std::path::absolute(directory.path().join(DIRECTORY)).map_err(Failure::work)?;
    Ok(match settings.batches.len() {
        1 => place,
        _ => place.join((number + 1).to_string()),
    })
}

/// The machines of a batch, at a site: where it stands if it does, else where it is to stand.
pub(super) fn machines_of(
    directory: &RunDirectory,
    settings: &AwsSettings,
    number: usize,
    site: Option<usize>,
) -> Result<Aws, Failure> {
    let waited_s = waited_s(settings, &settings.batches[number]);
    let life = Duration::from_secs_f64((directory.plan().estimated_s + MAKING_S + waited_s) * EXPIRES_AFTER);
    let expires = jiff::Timestamp::now() + life;
    let place = place_of(directory, settings, number)?;
    let batch = &settings.batches[number];
    let site = site.or_else(|| stands_at(&place, settings)).unwrap_or(batch.site);
    let run = name_of(directory)?;
    let machines = Aws::new(
        &run,
        &expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        &place,
        settings,
        (batch, &settings.sites[site]),
        &machines::own_binary()?,
    );
    let (job, batches) = (directory.job().clone(), [number as u32]);
    let machines = machines.asking_before_making(move || {
        controller::check_restored(&job, &batches).map_err(|failure| match failure.help {
            Some(help) => format!("{}; {help}", failure.message),
            None => failure.message,
        })
    });
    // Each site that a batch may stand at has a state of its own: one state knows one site.
    let key = format!("{run}/batch-{}/site-{}-{}", number + 1, site + 1, settings.sites[site].region);
    Ok(match &settings.backend {
        Some(backend) => machines.with_state_in(Backend::of(backend, &key)),
        None => machines,
    })
}

/// What the run's directory is called in `environment.json`.
const RUN: &str = "run";

/// The run keeps its name, which its machines and their state carry, wherever its directory is copied to.
pub(super) fn keep_name(directory: &RunDirectory) -> Result<(), Failure> {
    let facts = [(RUN.to_owned(), serde_json::json!(directory.name()))];
    directory.add_to_environment(facts.into_iter().collect()).map_err(Failure::work)
}

/// The name that it began with: that of its experiment, and the moment. It is the tag of its machines and part of where
/// their state is, so that another one would name those of another run.
fn name_of(directory: &RunDirectory) -> Result<String, Failure> {
    let environment = directory.environment().map_err(Failure::work)?;
    let kept = environment[RUN].as_str().map(str::to_owned);
    let name = kept.unwrap_or_else(|| directory.name());
    let experiment = &directory.plan().experiment;
    match is_name_of(&name, experiment) {
        true => Ok(name),
        false => Err(Failure::input(format!(
            "{}: {name:?} is not what a run of {experiment} is called: its machines would be those of another run",
            directory.path().display()
        ))
        .help("if nobody has changed environment.json: give the directory back the name with which the run began")),
    }
}

/// Such as `gp3-or-io2-20261120T221500Z`, of `gp3-or-io2`.
fn is_name_of(name: &str, experiment: &str) -> bool {
    let moment = name.strip_prefix(experiment).and_then(|rest| rest.strip_prefix('-')).unwrap_or_default();
    let fits = |(at, byte): (usize, u8)| match at {
        8 => byte == b'T',
        15 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    moment.len() == 16 && moment.bytes().enumerate().all(fits)
}

/// The site of the machines that are known here, as far as any were asked for.
fn stands_at(place: &Path, settings: &AwsSettings) -> Option<usize> {
    let (region, profile) = Aws::stands_at(place)?;
    let is_there = |site: &AwsSite| (&site.region, &site.profile) == (&region, &profile);
    settings.sites.iter().position(is_there)
}

/// The batches of a run that goes on whose machines are to be made anew: something is left to measure on them, and none
/// of them may stand. Trials of these cells are measured `again`.
pub(super) fn to_make(
    directory: &RunDirectory,
    settings: &AwsSettings,
    again: &BTreeSet<&str>,
) -> Result<Vec<u32>, Failure> {
    let mut batches = Vec::new();
    for number in 0..settings.batches.len() {
        let batch = number as u32;
        let part = directory.part(directory.job().of_batch(batch));
        let is_again = part.plan().cells.iter().any(|cell| again.contains(cell.id.as_str()));
        let is_done = !is_again && part.is_finished().map_err(Failure::work)?;
        if !is_done && !Aws::may_stand(&place_of(directory, settings, number)?) {
            batches.push(batch);
        }
    }
    Ok(batches)
}

/// Whether machines of the run may stand, for all that its directory says.
pub(super) fn may_stand(directory: &RunDirectory, settings: &AwsSettings) -> bool {
    let stands = |number| place_of(directory, settings, number).is_ok_and(|place| Aws::may_stand(&place));
    (0..settings.batches.len()).any(stands)
}

/// Whether the run was begun before.
fn is_resumed(directory: &RunDirectory) -> Result<bool, Failure> {
    let entries = directory.journal_entries().map_err(Failure::work)?;
    Ok(entries.iter().any(|entry| matches!(entry.event, JournalEvent::Resumed)))
}

/// What a batch has left at another site than this one is taken away: its state knows one site at a time.
pub(super) fn leave_other_sites(
    directory: &RunDirectory,
    settings: &AwsSettings,
    number: usize,
    site: usize,
    say: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let place = place_of(directory, settings, number)?;
    let stands_at = stands_at(&place, settings);
    if stands_at.is_none() && settings.backend.is_some() && is_resumed(directory)? {
        // A copy of the run's directory does not know to which sites the batch had gone.
        for other in (0..settings.sites.len()).filter(|other| *other != site) {
            let elsewhere = machines_of(directory, settings, number, Some(other))?;
            let released = elsewhere.asking_state(Certainty::Unlikely).release(say);
            released.map_err(Failure::work)?;
        }
        return Ok(());
    }
    if stands_at.is_none_or(|other| other == site) {
        return Ok(());
    }
    let mut elsewhere = machines_of(directory, settings, number, None)?;
    elsewhere.release(say).map_err(Failure::work)
}

/// Takes away the machines of all batches; the failures of those that could not be.
fn take_away(directory: &RunDirectory, settings: &AwsSettings, say: &mut dyn FnMut(&str)) -> Vec<Failure> {
    let release = |(number, site): (usize, Option<usize>)| {
        let certainty = match site.is_none_or(|site| site == settings.batches[number].site) {
            true => Certainty::Likely,
            // Another one that had room.
            false => Certainty::Unlikely,
        };
        machines_of(directory, settings, number, site)?.asking_state(certainty).release(say).map_err(Failure::work)
    };
    // Where states are kept elsewhere this directory may be a copy that does not know where machines stand.
    let sites: Vec<Option<usize>> = match settings.backend {
        Some(_) => (0..settings.sites.len()).map(Some).collect(),
        None => vec![None],
    };
    let all = (0..settings.batches.len()).flat_map(|number| sites.iter().map(move |site| (number, *site)));
    let outcomes: Vec<_> = all.map(release).collect();
    outcomes.into_iter().filter_map(Result::err).collect()
}

/// Says how machines that could not be taken away are.
pub(super) fn left(directory: &Path, failure: Failure) -> Failure {
    let run = directory.file_name().unwrap_or_default().to_string_lossy();
    let destroy = format!(
        "they cost money until, with credentials that are good: iopslab destroy {}\n       \
         where its terraform/ is lost: iopslab clean --aws --run {run}, with --region and --profile of each site",
        guarded::shell_path(directory)
    );
    if !matches!(failure.kind, Kind::Work) {
        return failure;
    }
    Failure::work(format!("machines could not be taken away: {}", failure.message)).help(destroy)
}

/// The first of several failures is the outcome; the others are shown before it.
pub(super) fn show_all_but_the_first(mut failures: Vec<Failure>, format: Format) -> Result<(), Failure> {
    failures.drain(1.min(failures.len())..).for_each(|failure| failure.show(format));
    failures.pop().map_or(Ok(()), Err)
}

/// What was typed after `destroy`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab destroy runs/gp3-or-io2-20261120T221500Z     # what an interrupted run has made on AWS")]
pub struct DestroyArgs {
    /// The run directory
    run: PathBuf,
}

/// `iopslab destroy`: takes away the machines that a run had made on AWS. Its evidence stays.
pub fn destroy(args: &DestroyArgs, format: Format) -> Result<(), Failure> {
    let directory = RunDirectory::open(&args.run).map_err(Failure::input)?;
    directory.check_own().map_err(Failure::input)?;
    let Some(settings) = directory.plan().place.aws().cloned() else {
        return Err(Failure::input(format!(
            "{} made no machines on AWS: there is nothing to destroy",
            args.run.display()
        ))
        .help("what a run leaves on this machine: iopslab clean"));
    };
    resumed::check_to_take_away(&directory)?;
    let _lock = directory.lock().map_err(Failure::work)?;
    let mut said = Vec::new();
    let mut say = |line: &str| {
        if matches!(format, Format::Human) {
            println!("{line}");
        }
        said.push(line.to_owned());
    };
    let failures = take_away(&directory, &settings, &mut say).into_iter();
    show_all_but_the_first(failures.map(|failure| left(directory.path(), failure)).collect(), format)?;
    match format {
        Format::Json => println!("{}", pretty(&serde_json::json!({ "said": said }))),
        Format::Human if said.is_empty() => println!("nothing is left of this run's machines"),
        Format::Human => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_called_as_its_experiment_with_the_moment() {
        assert!(is_name_of("gp3-or-io2-20261120T221500Z", "gp3-or-io2"));
        for other in [
            "gp3-20261120T221500Z",
            "gp3-or-io2",
            "gp3-or-io2-",
            "gp3-or-io2-copy",
            "gp3-or-io2-20261120T221500Z/../x",
            "../gp3-or-io2-20261120T221500Z",
            "gp3-or-io2-prod-20261120T221500Z",
            "gp3-or-io2-202611200221500Z0",
        ] {
            assert!(!is_name_of(other, "gp3-or-io2"), "{other}");
        }
    }

    #[test]
    fn a_run_begins_nothing_that_it_could_not_pay_to_the_end() {
        let meter = Meter { most: Some(2.0), batches: Mutex::default() };
        meter.begins(0, &AwsPrice::UsdPerHour(1.0));
        // Two hours, of which five minutes are for taking the machines away.
        assert!(meter.affords(6_890.0) && !meter.affords(6_910.0));
        // Another site's machines go on meanwhile.
        meter.begins(1, &AwsPrice::UsdPerHour(3.0));
        assert!(meter.affords(1_490.0) && !meter.affords(1_510.0));
        // What is gone costs nothing more, and what it has cost stays: nothing here, as no time has passed.
        meter.ends(1);
        assert!(meter.affords(6_890.0) && !meter.affords(6_910.0));
        // A price that nobody knows cannot be counted; without a bound nobody asks.
        meter.begins(2, &AwsPrice::Missing("none".to_owned()));
        assert!(meter.affords(6_890.0));
        let free = Meter { most: None, batches: Mutex::default() };
        free.begins(0, &AwsPrice::UsdPerHour(1e9));
        assert!(free.affords(1e9));
    }
}
