//! A volume gets another level while it is in use: it is asked for, and in force once EC2 calls the modification
//! completed. Before that it is somewhere between both.

use std::time::{Duration, Instant};

use catalog::modification_s;
use evidence::{HostId, ModifiedVolume};
use experiment::{AwsPair, Setup, VolumeLevel};
use jiff::Timestamp;
use offers::{LevelStep, ModificationState};
use process::{failure, human_duration};
use provider::EbsVolumes;

use crate::failure::Failure;
use crate::hosts;
use crate::run::Run;

/// Between two looks at a volume: at first, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(15));
/// Between two looks at whether the user wants an end.
const LOOK: Duration = Duration::from_millis(200);
/// Looks in a row that may fail once one has succeeded or a trial is done: about five minutes, as for a host that is
/// lost.
const MISSES: u32 = 20;
/// A modification is waited for no longer. AWS: "In some cases, it can take more than 24 hours" (EBS User Guide,
/// "Monitor the progress of Amazon EBS volume modifications"), of volumes that are not initialised; these are.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// A volume that is brought to a level.
struct Shared {
    host: HostId,
    /// Its machine, for people.
    machine: String,
    at: EbsVolumes,
    id: String,
    /// Whether EC2 has said anything of it, or there is a trial by which credentials were good, ...
    is_seen: bool,
    /// ... and how often it has not answered since.
    misses: u32,
    /// Whether a modification was waited for: also one of which this controller has no answer.
    is_awaited: bool,
    /// What it had, and when another level was asked for.
    asked: Option<(Option<VolumeLevel>, Timestamp)>,
    in_force_at: Option<Timestamp>,
}

/// Modifies the data volumes of a configuration of this pair that have another level, and waits until that is in force;
/// so many trials are left. Which were modified.
pub fn modify(run: &Run<'_>, setup: &Setup, pair: &AwsPair, left: usize) -> Result<Vec<ModifiedVolume>, Failure> {
    let Some(wanted) = pair.level_of(&setup.configuration) else { return Ok(Vec::new()) };
    let typical_s = modification_s(f64::from(pair.size_gib));
    let mut volumes = volumes_of(run, setup)?;
    let began = Instant::now();
    let mut pause = PAUSES.0;
    loop {
        let mut waits = None;
        // All of them are asked for before any is waited for.
        for volume in &mut volumes {
            waits = volume.step(run, wanted, (typical_s, left))?.or(waits);
        }
        let Some(waits) = waits else { break };
        // Machines that wait cost as much as those that work.
        run.check_money(0.0, left)?;
        if run.agents.screen.is_stopping() {
            return Err(Failure::Stopped { left, run: run.directory.path().to_owned() });
        }
        if began.elapsed() > LONGEST {
            let what = format!("{waits}: not in force after {}", human_duration(LONGEST.as_secs_f64()));
            return Err(failure::Failure::work(what).help("leave pair_volumes out, or make the volume smaller").into());
        }
        run.agents.screen.doing(&waits, "");
        sleep(run, pause)?;
        pause = (pause * 2).min(PAUSES.1);
    }
    Ok(volumes.into_iter().filter_map(|volume| volume.modified(wanted)).collect())
}

/// The volumes that hold a configuration's data.
fn volumes_of(run: &Run<'_>, setup: &Setup) -> Result<Vec<Shared>, Failure> {
    let mut all = Vec::new();
    for host in hosts::nodes_of(setup) {
        let machine = run.agents.place(host).machine;
        let at = run.agents.data_volumes(host).filter(|at| !at.ids.is_empty());
        let missing = || {
            failure::Failure::work(format!("{machine}: Terraform names no data volume of it to be modified"))
                .help("if it was removed or detached: iopslab destroy, then iopslab run --resume makes other machines")
        };
        let at = at.ok_or_else(missing)?;
        all.extend(at.ids.iter().map(|id| Shared {
            host,
            machine: machine.clone(),
            at: at.clone(),
            id: id.clone(),
            is_seen: !run.directory.done().is_empty(),
            misses: 0,
            is_awaited: false,
            asked: None,
            in_force_at: None,
        }));
    }
    Ok(all)
}

impl Shared {
    /// Does what comes next for it; what is waited for, if it is. So many seconds are what a modification typically
    /// takes, and so many trials are left.
    fn step(
        &mut self,
        run: &Run<'_>,
        wanted: VolumeLevel,
        (typical_s, left): (f64, usize),
    ) -> Result<Option<String>, Failure> {
        if self.in_force_at.is_some() {
            return Ok(None);
        }
        let (profile, region) = (self.at.profile.as_deref(), self.at.region.as_str());
        let about = format!("{}: {} is modified to {wanted}", self.machine, self.id);
        let now = match offers::volume(profile, region, &self.id) {
            Ok(now) => now,
            // It goes on meanwhile.
            Err(error) if self.is_seen && self.misses < MISSES => {
                self.misses += 1;
                tracing::warn!("{error}");
                return Ok(Some(about));
            }
            Err(error) => return Err(refused(error)),
        };
        (self.is_seen, self.misses) = (true, 0);
        Ok(match offers::level_step(&now, wanted, self.asked.map(|(_, asked_at)| asked_at)) {
            LevelStep::InForce => {
                let latest = now.modification.as_ref();
                // Asked for by a controller that ended meanwhile, or the answer was lost.
                let found = latest.filter(|one| self.is_awaited && one.state == ModificationState::Completed);
                self.asked = self.asked.or(found.map(|one| (one.from, one.asked_at)));
                let ended_at = latest.and_then(|one| one.ended_at);
                let in_force_at = ended_at.unwrap_or_else(Timestamp::now);
                if let Some((_, asked_at)) = self.asked {
                    let seconds = in_force_at.duration_since(asked_at).as_secs_f64().max(0.0);
                    run.say(&format!("{about}: in force after {}", human_duration(seconds)));
                }
                self.in_force_at = Some(in_force_at);
                None
            }
            LevelStep::Ask => {
                // Nothing is begun that could not be paid to its end.
                run.check_money(typical_s, left)?;
                let asked_at = match offers::modify(profile, region, &self.id, wanted) {
                    Ok(asked_at) => asked_at,
                    Err(error) => {
                        // The answer may be what was lost: then the volume is being modified.
                        let then = offers::volume(profile, region, &self.id).map_err(refused)?;
                        if offers::level_step(&then, wanted, None) == LevelStep::Ask {
                            return Err(refused(error));
                        }
                        self.is_awaited = true;
                        return Ok(Some(about));
                    }
                };
                run.say(&about);
                self.asked = Some((now.level, asked_at));
                Some(about)
            }
            LevelStep::Wait => {
                self.is_awaited = true;
                let progress = now.modification.as_ref().and_then(|one| one.progress);
                let how_far = progress.map_or_else(String::new, |percent| format!(", {percent} %"));
                Some(format!("{about}{how_far}"))
            }
            LevelStep::Failed => {
                let message = now.modification.and_then(|one| one.message);
                let why = message.unwrap_or_else(|| "EC2 does not say why".to_owned());
                return Err(failure::Failure::work(format!("{about}, which has failed: {why}"))
                    .help("AWS calls that rare and transient: iopslab run --resume goes on")
                    .into());
            }
        })
    }

    /// What the trial's record says of it; `None`: it had its level.
    fn modified(self, to: VolumeLevel) -> Option<ModifiedVolume> {
        let ((from, asked_at), in_force_at) = self.asked.zip(self.in_force_at)?;
        Some(ModifiedVolume {
            host: self.host,
            volume: self.id,
            from,
            to,
            asked_at: asked_at.to_string(),
            in_force_at: in_force_at.to_string(),
        })
    }
}

fn refused(error: offers::AwsError) -> Failure {
    failure::Failure::work(error)
        .help(
            "docs/aws.md, \"Levels of one volume, on one machine\", says what the credentials must allow and how \
             often AWS modifies a volume; iopslab run --resume goes on, with new volumes where the machines were taken \
             away",
        )
        .into()
}

/// Waits, unless the user wants an end.
fn sleep(run: &Run<'_>, pause: Duration) -> Result<(), Failure> {
    let until = Instant::now() + pause;
    while Instant::now() < until {
        if run.agents.is_interrupted() {
            return Err(Failure::Interrupted(None));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}
