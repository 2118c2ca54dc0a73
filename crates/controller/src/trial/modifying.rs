//! A volume gets another level while it is in use: it is asked for, and in force once EC2 calls the modification
//! completed. Before that it is somewhere between both.

use std::time::{Duration, Instant};

use archive::JournalEvent;
use catalog::{MODIFICATIONS_A_DAY, modification_s};
use evidence::{HostId, ModifiedVolume};
use experiment::{AwsPair, Setup, VolumeLevel};
use jiff::Timestamp;
use offers::{LevelStep, ModificationState, Volume};
use process::{failure, human_duration};
use provider::EbsVolumes;

use crate::hosts;
use crate::reconnect::sleep;
use crate::run::Run;
use crate::run_failure::{Failure, Result};

/// Between two looks at a volume: at first, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(15));
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
    /// Its modifications, as the journal has them.
    known: Vec<ModifiedVolume>,
    /// When the level was asked for, by this controller.
    asked_at: Option<Timestamp>,
    is_in_force: bool,
    /// Modifications that are seen to have come into force now.
    modified: Vec<ModifiedVolume>,
}

/// Modifies the data volumes of a configuration of this pair that have another level, and waits until that is in force;
/// so many trials are left. Which were modified.
pub fn modify(run: &mut Run<'_>, setup: &Setup, pair: &AwsPair, left: usize) -> Result<Vec<ModifiedVolume>> {
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
        sleep(pause, run.agents)?;
        pause = (pause * 2).min(PAUSES.1);
    }
    Ok(volumes.into_iter().flat_map(|volume| volume.modified).collect())
}

/// The volumes that hold a configuration's data.
fn volumes_of(run: &Run<'_>, setup: &Setup) -> Result<Vec<Shared>> {
    let modifications = run.directory.modifications()?;
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
            known: modifications.iter().filter(|one| one.volume == *id).cloned().collect(),
            asked_at: None,
            is_in_force: false,
            modified: Vec::new(),
        }));
    }
    Ok(all)
}

impl Shared {
    /// Does what comes next for it; what is waited for, if it is. So many seconds are what a modification typically
    /// takes, and so many trials are left.
    fn step(
        &mut self,
        run: &mut Run<'_>,
        wanted: VolumeLevel,
        (typical_s, left): (f64, usize),
    ) -> Result<Option<String>> {
        if self.is_in_force {
            return Ok(None);
        }
        let about = format!("{}: {} is modified to {wanted}", self.machine, self.id);
        let now = match offers::volume(self.at.profile.as_deref(), &self.at.region, &self.id) {
            Ok(now) => now,
            Err(error) if self.is_seen && self.misses < MISSES => {
                // A machine that was taken away has taken its volume with it: that is a host that is lost.
                run.agents.clocks(&[self.host])?;
                // It goes on meanwhile.
                self.misses += 1;
                tracing::warn!("{error}");
                return Ok(Some(about));
            }
            Err(error) => return Err(self.refused(run, error)),
        };
        (self.is_seen, self.misses) = (true, 0);
        self.keep(run, &now)?;
        Ok(match offers::level_step(&now, wanted, self.asked_at) {
            LevelStep::InForce => {
                self.is_in_force = true;
                None
            }
            LevelStep::Ask => {
                // Nothing is begun that could not be paid to its end.
                run.check_money(typical_s, left)?;
                self.ask(run, wanted, now.level)?;
                Some(about)
            }
            LevelStep::Wait => {
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

    /// Asks for another level than this one.
    fn ask(&mut self, run: &mut Run<'_>, wanted: VolumeLevel, from: Option<VolumeLevel>) -> Result<()> {
        let lately = lately(&self.known, Timestamp::now());
        if lately.len() >= MODIFICATIONS_A_DAY as usize {
            let what = format!(
                "{}: {} was to be modified to {wanted}, and modifications of it were asked for {} times in the last 24 \
                 hours: {}",
                self.machine,
                self.id,
                lately.len(),
                lately.join(", ")
            );
            let help = "AWS modifies a volume no more often: iopslab run --resume goes on 24 hours after the first of \
                        these, or at once, with new volumes, where the machines were taken away";
            return Err(failure::Failure::work(what).help(help).into());
        }
        let (profile, region) = (self.at.profile.as_deref(), self.at.region.as_str());
        let asked_at = match offers::modify(profile, region, &self.id, wanted) {
            Ok(asked_at) => asked_at,
            Err(error) => {
                // The answer may be what was lost: then the volume is being modified, and EC2 says when that was asked
                // for.
                let then = match offers::volume(profile, region, &self.id) {
                    Ok(then) => then,
                    Err(error) => return Err(self.refused(run, error)),
                };
                if offers::level_step(&then, wanted, None) == LevelStep::Ask {
                    return Err(self.refused(run, error));
                }
                return Ok(());
            }
        };
        let asked = ModifiedVolume {
            host: self.host,
            volume: self.id.clone(),
            from,
            to: wanted,
            asked_at: asked_at.to_string(),
            in_force_at: None,
        };
        run.note(JournalEvent::VolumeModified(asked.clone()))?;
        run.say(&format!("{}: {} is modified to {wanted}", self.machine, self.id));
        self.known.push(asked);
        self.asked_at = Some(asked_at);
        Ok(())
    }

    /// Keeps a modification that has come into force, whoever has asked for it.
    fn keep(&mut self, run: &Run<'_>, now: &Volume) -> Result<()> {
        let Some(one) = come_into_force(&self.known, (self.host, &self.id), now, Timestamp::now()) else {
            return Ok(());
        };
        run.note(JournalEvent::VolumeModified(one.clone()))?;
        let moment = |at: &str| at.parse::<Timestamp>().ok();
        let moments = moment(&one.asked_at).zip(one.in_force_at.as_deref().and_then(moment));
        let seconds = moments.map_or(0.0, |(asked, in_force)| in_force.duration_since(asked).as_secs_f64().max(0.0));
        let duration = human_duration(seconds);
        run.say(&format!("{}: {} is modified to {}: in force after {duration}", self.machine, self.id, one.to));
        self.known.retain(|known| known.asked_at != one.asked_at);
        self.known.push(one.clone());
        self.modified.push(one);
        Ok(())
    }

    /// EC2 does not do, or say, what it was asked; where its machine was taken away, that is why.
    fn refused(&self, run: &mut Run<'_>, error: offers::AwsError) -> Failure {
        if let Err(lost) = run.agents.clocks(&[self.host]) {
            return lost;
        }
        failure::Failure::work(error)
            .help(
                "docs/aws.md, \"Levels of one volume, on one machine\", says what the credentials must allow and how \
                 often AWS modifies a volume; iopslab run --resume goes on, with new volumes where the machines were \
                 taken away",
            )
            .into()
    }
}

/// Of modifications that were asked for, when those of the last 24 hours were.
fn lately(known: &[ModifiedVolume], now: Timestamp) -> Vec<&str> {
    let age = |one: &ModifiedVolume| Some(now.duration_since(one.asked_at.parse().ok()?));
    let is_late = |one: &&ModifiedVolume| age(one).is_some_and(|age| age.as_secs() < 24 * 3_600);
    known.iter().filter(is_late).map(|one| one.asked_at.as_str()).collect()
}

/// The latest modification of a volume, where it is in force and `known` does not say so. One that nobody knows was
/// asked for by a controller that was killed, or whose answer was lost. Where EC2 states no end, it is `seen_at`.
fn come_into_force(
    known: &[ModifiedVolume],
    (host, id): (HostId, &str),
    now: &Volume,
    seen_at: Timestamp,
) -> Option<ModifiedVolume> {
    let latest = now.modification.as_ref().filter(|one| one.state == ModificationState::Completed)?;
    let level = now.level?;
    let later_s = |one: &ModifiedVolume| {
        let asked_at: Timestamp = one.asked_at.parse().ok()?;
        Some(asked_at.as_second() - latest.asked_at.as_second())
    };
    // To the second. What was asked for later is not reported yet.
    if known.iter().filter_map(later_s).any(|later_s| later_s > 1) {
        return None;
    }
    let in_force_at = Some(latest.ended_at.unwrap_or(seen_at).to_string());
    // Where modifications take no time, the one before may have been asked for in the same second.
    let apart_s = known.iter().rev().filter_map(|one| Some((later_s(one)?.abs(), one)));
    match apart_s.filter(|(apart_s, _)| *apart_s <= 1).min_by_key(|(apart_s, _)| *apart_s) {
        // Its volume reports the level soon.
        Some((_, asked)) if asked.in_force_at.is_some() || asked.to != level => None,
        Some((_, asked)) => Some(ModifiedVolume { in_force_at, ..asked.clone() }),
        None => {
            let (volume, asked_at) = (id.to_owned(), latest.asked_at.to_string());
            Some(ModifiedVolume { host, volume, from: latest.from, to: level, asked_at, in_force_at })
        }
    }
}

#[cfg(test)]
mod tests {
    use catalog::VolumeType;
    use offers::Modification;

    use super::*;

    const ID: &str = "vol-1";

    fn gp3(iops: u32) -> VolumeLevel {
        VolumeLevel { kind: VolumeType::Gp3, iops, mib_per_s: Some(125) }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn asked(second: i64, to: u32, in_force: Option<i64>) -> ModifiedVolume {
        ModifiedVolume {
            host: HostId::DATABASE,
            volume: ID.to_owned(),
            from: None,
            to: gp3(to),
            asked_at: at(second).to_string(),
            in_force_at: in_force.map(|second| at(second).to_string()),
        }
    }

    /// A controller asks, and is gone when the modification completes; or it is killed before it has written that it
    /// has asked. Who resumes the run keeps both.
    #[test]
    fn a_modification_that_completed_while_nobody_looked_is_kept_once() {
        use ModificationState::{Completed, Failed, Optimizing};
        let reported = |state, asked_at| Volume {
            level: Some(gp3(6_000)),
            modification: Some(Modification {
                state,
                from: Some(gp3(3_000)),
                progress: None,
                asked_at: at(asked_at),
                ended_at: Some(at(asked_at + 500)),
                message: None,
            }),
        };
        let of = (HostId::DATABASE, ID);
        let found = |known: &[ModifiedVolume], now: &Volume| come_into_force(known, of, now, at(9_999));
        // In the journal as asked for.
        let known = [asked(100, 3_000, Some(200)), asked(1_000, 6_000, None)];
        let kept = found(&known, &reported(Completed, 1_000)).unwrap();
        assert_eq!(kept, asked(1_000, 6_000, Some(1_500)));
        // Not there at all: its first level is the one that EC2 reports.
        let kept = found(&known[..1], &reported(Completed, 1_000)).unwrap();
        assert_eq!(kept, ModifiedVolume { from: Some(gp3(3_000)), ..asked(1_000, 6_000, Some(1_500)) });
        // Kept before, still under way, come to nothing, not reported yet, or its level is not.
        for (known, now) in [
            (vec![kept], reported(Completed, 1_000)),
            (known.to_vec(), reported(Optimizing, 1_000)),
            (known.to_vec(), reported(Failed, 1_000)),
            (vec![asked(5_000, 3_000, None)], reported(Completed, 1_000)),
            (vec![asked(1_000, 3_000, None)], reported(Completed, 1_000)),
            (known.to_vec(), Volume { modification: None, ..reported(Completed, 1_000) }),
        ] {
            assert_eq!(found(&known, &now), None, "{known:?} {now:?}");
        }
        // The one before was asked for a second ago, or less: it is the one that was asked for then.
        for before in [999, 1_000] {
            let known = [asked(before, 3_000, Some(1_000)), asked(1_000, 6_000, None)];
            assert_eq!(found(&known, &reported(Completed, 1_000)), Some(asked(1_000, 6_000, Some(1_500))), "{before}");
        }
        // EC2 still reports that one, which is known.
        let both = [asked(1_000, 6_000, Some(1_000)), asked(1_001, 3_000, None)];
        assert_eq!(found(&both, &reported(Completed, 1_000)), None);
        // EC2 states no end: it is when somebody looked.
        let mut open = reported(Completed, 1_000);
        open.modification.as_mut().unwrap().ended_at = None;
        assert_eq!(found(&known, &open), Some(asked(1_000, 6_000, Some(9_999))));
    }

    #[test]
    fn modifications_of_the_last_day_are_counted_whether_or_not_a_trial_has_them() {
        let day = 24 * 3_600;
        let known = [asked(0, 6_000, Some(10)), asked(100, 3_000, None), asked(day, 6_000, Some(day + 5))];
        assert_eq!(lately(&known, at(day - 1)).len(), 3);
        assert_eq!(lately(&known, at(day)), [at(100).to_string(), at(day).to_string()]);
        assert_eq!(lately(&known, at(2 * day)).len(), 0);
    }
}
