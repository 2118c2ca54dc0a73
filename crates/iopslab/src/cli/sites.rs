//! A run on AWS: batches of machines at its sites are made, measured and taken away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use archive::RunDirectory;
use experiment::AwsSettings;
use provider::Incoming;
use provider::aws::Certainty;

use super::aws::{self, Meter};
use super::carried_out::{Channel, same_machine, settings_for};
use crate::controller::sites::{BatchOutcome, Work, work_through};
use crate::controller::{self, Agents, Settings};
use crate::failure::Failure;
use crate::output::Format;
use crate::progress::Screen;

/// Between two looks at whether the sites are done.
const LOOK: Duration = Duration::from_millis(200);

/// What all batches share.
struct Sites<'a> {
    directory: &'a RunDirectory,
    settings: &'a AwsSettings,
    meter: Arc<Meter>,
    /// Where the user's Ctrl-C goes, by the batches that are under way.
    crews: Mutex<Vec<Sender<Incoming>>>,
    /// Machines that could not be taken away.
    left: Mutex<Vec<Failure>>,
    interrupted: &'a Arc<AtomicBool>,
}

/// Measures what is missing of a run on AWS; at the end no machine is left. The second outcome is whether that is so.
pub(super) fn drive(
    directory: &RunDirectory,
    settings: &AwsSettings,
    max_cost_usd: Option<f64>,
    (to, inbox): Channel,
    screen: &mut Screen,
    interrupted: &Arc<AtomicBool>,
) -> (Result<(), Failure>, Result<(), Failure>) {
    let _lock = match directory.lock() {
        Ok(lock) => lock,
        Err(error) => return (Err(Failure::work(error)), Ok(())),
    };
    drop(to);
    controller::begins(directory, screen);
    let sites = Sites {
        directory,
        settings,
        meter: Arc::new(Meter::new(settings, max_cost_usd)),
        crews: Mutex::default(),
        left: Mutex::default(),
        interrupted,
    };
    let planned: Vec<usize> = settings.batches.iter().map(|batch| batch.site).collect();
    let names: Vec<String> = settings.sites.iter().map(|site| site.name.clone()).collect();
    let work = Work {
        planned: &planned,
        sites: &names,
        patience: Duration::from_secs(settings.capacity_wait_s),
        may_stand: &|batch, site| {
            let machines = settings.batches[batch].machines.iter();
            settings.sites[site].limits.exceeded_by(machines).is_none()
        },
        carry_out: &|batch, site, screen| sites.carry_out(batch, site, screen),
        is_called_off: &|| interrupted.load(Ordering::Relaxed),
    };
    let is_over = AtomicBool::new(false);
    let failures = std::thread::scope(|scope| {
        let (all, is_over) = (&sites, &is_over);
        scope.spawn(move || {
            loop {
                match inbox.recv_timeout(LOOK) {
                    Ok(Incoming::Interrupt) => all.interrupt(),
                    Err(RecvTimeoutError::Disconnected) => return,
                    Ok(_) | Err(RecvTimeoutError::Timeout) if is_over.load(Ordering::Relaxed) => return,
                    Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                }
            }
        });
        let failures = match settings.sites.len() {
            1 => work_through(&work, std::slice::from_mut(screen)),
            _ => {
                let mut screens: Vec<Screen> = names.iter().map(|name| screen.beside(name)).collect();
                work_through(&work, &mut screens)
            }
        };
        is_over.store(true, Ordering::Relaxed);
        failures
    });
    let left = sites.left.into_inner().unwrap_or_else(PoisonError::into_inner);
    let left = left
        .into_iter()
        .map(|failure| aws::left(directory.path(), failure))
        .collect();
    let outcome = aws::show_all_but_the_first(failures, Format::Human);
    let outcome = controller::ended(directory, outcome, interrupted);
    (outcome, aws::show_all_but_the_first(left, Format::Human))
}

impl Sites<'_> {
    fn interrupt(&self) {
        let crews = self.crews.lock().unwrap_or_else(PoisonError::into_inner);
        // A batch that is over does not listen any more.
        crews.iter().for_each(|agents| drop(agents.send(Incoming::Interrupt)));
    }

    /// Makes the machines of a batch, measures on them what is missing, and takes them away.
    fn carry_out(&self, number: usize, site: usize, screen: &mut Screen) -> BatchOutcome {
        let part = self.directory.part(self.directory.job().of_batch(number as u32));
        let say = &mut |line: &str| screen.say(line);
        if let Err(failure) = aws::leave_other_sites(self.directory, self.settings, number, site, say) {
            return BatchOutcome::Failed(aws::left(self.directory.path(), failure));
        }
        let machines = aws::machines_of(self.directory, self.settings, number, Some(site));
        let (is_finished, machines) = match (part.is_finished(), machines) {
            // Nothing is left to measure: what stands is only taken away.
            (Ok(true), Ok(machines)) => (true, machines.asking_state(Certainty::Unlikely)),
            (Ok(is_finished), Ok(machines)) => (is_finished, machines),
            (Err(error), _) => return BatchOutcome::Failed(Failure::work(error)),
            (_, Err(failure)) => return BatchOutcome::Failed(failure),
        };
        let channel = Agents::channel();
        let listens = channel.0.clone();
        let mut agents = Agents::new(Box::new(machines), channel);
        // Where nothing is left to measure nothing is made, and what was left there goes.
        let done = match is_finished {
            true => Ok(()),
            false => self.measure((number, site), &part, (&mut agents, listens), screen),
        };
        let has_no_room = agents.has_no_room();
        agents.close(screen);
        let released = agents.release(screen);
        self.meter.ends(number);
        let is_gone = released.is_ok();
        if let Err(failure) = released {
            self.left.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
        }
        match done {
            Ok(()) => BatchOutcome::Done,
            Err(failure) if has_no_room && is_gone => {
                screen.say(&format!("batch {}: {}", number + 1, in_words(&failure)));
                BatchOutcome::NoRoom(failure)
            }
            Err(failure) => BatchOutcome::Failed(failure),
        }
    }

    fn measure(
        &self,
        (number, site): (usize, usize),
        part: &RunDirectory,
        (agents, listens): (&mut Agents, Sender<Incoming>),
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        let price = &self.settings.batches[number].prices[site];
        self.meter.begins(number, price);
        let initialised_s = self
            .settings
            .initialisation_s(&self.settings.batches[number].configurations);
        if !self.meter.affords(aws::MAKING_S + initialised_s) {
            let left = part.remaining().map_err(Failure::work)?.len();
            return Err(controller::spent(self.directory, left));
        }
        if self.settings.batches.len() > 1 {
            let batch = &self.settings.batches[number];
            screen.say(&format!(
                "batch {} of {}: {}",
                number + 1,
                self.settings.batches.len(),
                batch.configurations.join(", ")
            ));
        }
        self.crews.lock().unwrap_or_else(PoisonError::into_inner).push(listens);
        agents.provide(screen, self.interrupted)?;
        let job = part.job();
        let hosts = controller::greet(agents, job, screen)?;
        let meter = Arc::clone(&self.meter);
        let settings = Settings {
            affords: Arc::new(move |seconds| meter.affords(seconds)),
            ..settings_for(&job.plan)
        };
        controller::check(job, agents, &settings, screen)?;
        same_machine(self.directory, &hosts, screen)?;
        let facts = hosts
            .into_iter()
            .map(|(host, facts)| (host.to_string(), serde_json::json!(facts)));
        let site = serde_json::json!({ "site": self.settings.sites[site].name });
        let facts = facts.chain([(format!("batch-{}", number + 1), site)]);
        self.directory
            .add_to_environment(facts.collect())
            .map_err(Failure::work)?;
        controller::work_through(part, agents, &settings, screen, self.interrupted)
    }
}

fn in_words(failure: &Failure) -> String {
    match failure {
        Failure::Work { message, .. } | Failure::Input { message, .. } | Failure::Interrupted { message, .. } => {
            message.clone()
        }
        Failure::Mistakes(_) | Failure::Verdict(_) => String::new(),
    }
}
