//! A run on AWS: batches of machines at its sites are made, measured and taken away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use archive::RunDirectory;
use controller::sites::{Work, work_through};
use controller::{Agents, Channel, EvidenceGrew, Next, Screen, Settings};
use experiment::AwsSettings;
use process::failure::Failure;
use process::output::Format;
use provider::Incoming;
use provider::aws::Certainty;

use super::aws::{self, Meter};
use super::carried_out::{User, same_machine, settings_for};

/// Between two looks at whether the sites are done.
const LOOK: Duration = Duration::from_millis(200);

/// What all batches share.
struct Sites<'a> {
    directory: &'a RunDirectory,
    settings: &'a AwsSettings,
    meter: Arc<Meter>,
    /// Where the user's Ctrl-C goes, by the batches that are under way.
    inboxes: Mutex<Vec<Sender<Incoming>>>,
    /// Machines that could not be taken away.
    left: Mutex<Vec<Failure>>,
    interrupted: &'a Arc<AtomicBool>,
    evidence_grew: EvidenceGrew,
}

/// Measures what is missing of a run on AWS; at the end no machine is left. The second outcome is whether that is so.
pub(super) fn drive(
    directory: &RunDirectory,
    settings: &AwsSettings,
    user: &User<'_>,
    (to, inbox): Channel,
) -> (Result<(), Failure>, Result<(), Failure>) {
    let (screen, interrupted) = (&user.screen, &user.interrupted);
    let _lock = match directory.lock() {
        Ok(lock) => lock,
        Err(error) => return (Err(Failure::work(error)), Ok(())),
    };
    drop(to);
    if let Err(failure) = controller::begins(directory, screen) {
        return (Err(failure.into()), Ok(()));
    }
    let sites = Sites {
        directory,
        settings,
        meter: Arc::new(Meter::new(settings, user.args.max_cost)),
        inboxes: Mutex::default(),
        left: Mutex::default(),
        interrupted,
        evidence_grew: user.evidence_grew(),
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
        is_called_off: &|| interrupted.load(Ordering::Relaxed) || screen.is_stopping(),
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
        let screens = match names.as_slice() {
            [_] => vec![screen.clone()],
            several => several.iter().map(|name| screen.beside(name)).collect(),
        };
        let failures = work_through(&work, &screens);
        is_over.store(true, Ordering::Relaxed);
        failures
    });
    let left = sites.left.into_inner().unwrap_or_else(PoisonError::into_inner);
    let left = left.into_iter().map(|failure| aws::left(directory.path(), failure)).collect();
    let failures = failures.into_iter().map(Failure::from).collect();
    let outcome = aws::show_all_but_the_first(failures, Format::Human).map_err(controller::Failure::from);
    let outcome = outcome.and_then(|()| not_stopped(directory, screen));
    let outcome = controller::ended(directory, outcome, interrupted.load(Ordering::Relaxed));
    (outcome.map_err(Failure::from), aws::show_all_but_the_first(left, Format::Human))
}

/// Whether the user wanted an end while something was left: batches that wait are not begun then.
fn not_stopped(directory: &RunDirectory, screen: &Screen) -> Result<(), controller::Failure> {
    match directory.remaining()?.len() {
        left if left > 0 && screen.is_stopping() => {
            Err(controller::Failure::Stopped { left, run: directory.path().to_owned() })
        }
        _ => Ok(()),
    }
}

impl Sites<'_> {
    fn interrupt(&self) {
        let inboxes = self.inboxes.lock().unwrap_or_else(PoisonError::into_inner);
        // A batch that is over does not listen any more.
        inboxes.iter().for_each(|inbox| drop(inbox.send(Incoming::Interrupt)));
    }

    /// Makes the machines of a batch, measures on them what is missing, and takes them away.
    fn carry_out(&self, number: usize, site: usize, screen: &Screen) -> Result<(), controller::Failure> {
        let part = self.directory.part(self.directory.job().of_batch(number as u32));
        let say = &mut |line: &str| screen.say(line);
        aws::leave_other_sites(self.directory, self.settings, number, site, say)
            .map_err(|failure| aws::left(self.directory.path(), failure))?;
        let is_finished = part.is_finished()?;
        let machines = aws::machines_of(self.directory, self.settings, number, Some(site))?;
        // Where nothing is left to measure nothing is made, and what was left there goes.
        let machines = if is_finished { machines.asking_state(Certainty::Unlikely) } else { machines };
        let channel = channel();
        let listens = channel.0.clone();
        let mut agents = Agents::new(Box::new(machines), channel, screen, self.interrupted);
        let done = if is_finished { Ok(()) } else { self.measure((number, site), &part, &mut agents, listens) };
        agents.close();
        let released = agents.release();
        self.meter.ends(number);
        let left = released.map_err(|failure| {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            left.push(failure.into());
        });
        done.map_err(|failure| match failure.next() {
            // What is left of its machines would be in the way.
            Next::BatchWaits if left.is_err() => controller::Failure::work(failure.message()),
            Next::BatchWaits => {
                screen.say(&format!("batch {}: {}", number + 1, failure.message()));
                failure
            }
            _ => failure,
        })
    }

    fn measure(
        &self,
        (number, site): (usize, usize),
        part: &RunDirectory,
        agents: &mut Agents,
        listens: Sender<Incoming>,
    ) -> Result<(), controller::Failure> {
        let batch = &self.settings.batches[number];
        self.meter.begins(number, &batch.prices[site]);
        let initialised_s = self.settings.initialisation_s(&batch.configurations);
        if !self.meter.affords(aws::MAKING_S + initialised_s) {
            return Err(controller::Failure::Spent {
                left: part.remaining()?.len(),
                run: self.directory.path().to_owned(),
            });
        }
        if self.settings.batches.len() > 1 {
            agents.screen.say(&format!(
                "batch {} of {}: {}",
                number + 1,
                self.settings.batches.len(),
                batch.configurations.join(", ")
            ));
        }
        self.inboxes.lock().unwrap_or_else(PoisonError::into_inner).push(listens);
        agents.provide()?;
        let job = part.job();
        let hosts = controller::greet(agents, job)?;
        let meter = Arc::clone(&self.meter);
        let settings = Settings {
            affords: Arc::new(move |seconds| meter.affords(seconds)),
            evidence_grew: Arc::clone(&self.evidence_grew),
            ..settings_for(&job.plan)
        };
        controller::check(job, agents, &settings)?;
        same_machine(self.directory, &hosts, &agents.screen)?;
        let facts = hosts.into_iter().map(|(host, facts)| (host.to_string(), serde_json::json!(facts)));
        let site = serde_json::json!({ "site": self.settings.sites[site].name });
        let facts = facts.chain([(format!("batch-{}", number + 1), site)]);
        self.directory.add_to_environment(facts.collect())?;
        controller::work_through(part, agents, &settings)
    }
}
