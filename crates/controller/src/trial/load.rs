//! The load of a trial: the clients make it, and what is planned happens to the nodes meanwhile.

use std::collections::BTreeMap;
use std::time::Instant;

use ::evidence::HostId;
use experiment::NodeFault;
use process::machine;
use wire::{ClientRequest, Event, Reply, Request, TrialTask};

use super::clients::{self, Measured};
use super::database::{Parts, ended, task};
use super::failed_disks::{FailedDisks, MeasurementStart};
use super::faults::Faults;
use super::lag::Lag;
use super::live::LiveFigures;
use super::pieces::Pieces;
use super::state::TrialState;
use crate::agents::Agents;
use crate::agents::conversation::{Answers, all_or_gravest};
use crate::run::Run;
use crate::run_failure::{Failure, Result, answer};
use crate::{hosts, silence};

/// Loads the database that was started, and takes in what the clients measured.
pub(super) fn measure(run: &mut Run<'_>, parts: Parts<'_>, state: &mut TrialState) -> Result<()> {
    let (plan, setup, screen) = (parts.plan, parts.setup, run.agents.screen.clone());
    let product = plan.target.database.product();
    let requests = requests(&task(parts, &run.target, state), parts, state, run.agents);
    let mut figures = LiveFigures::default();
    let mut lag = Lag::new();
    let offsets = state.offsets_ms();
    let samples = &mut state.samples;
    let mut pieces = Pieces::of(parts.workload, silence::longest_load(&plan.shape));
    let (measurement_start, failed_disks) = (MeasurementStart::default(), FailedDisks::default());
    let with_backlogs = setup.backlog.map(|_| hosts::nodes_of(setup)).unwrap_or_default();
    let host_of = |fault: &NodeFault| hosts::of_fault(plan, setup, fault);
    let say = |step: &str| screen.say(step);
    let mut faults = Faults::new(&plan.faults, host_of, (&measurement_start, &failed_disks), say)
        .after_backlogs_of(with_backlogs.iter().copied());
    let on_event = &mut |host, event| {
        match event {
            Event::Second(second) => {
                measurement_start.second_over(second.t_s, Instant::now());
                figures.second(host, second, &plan.shape, &screen);
            }
            Event::Sample(sample) => {
                let offset_ms = offsets.get(&host).copied().unwrap_or(0.0);
                lag.handled(&sample, offset_ms, machine::unix_ms());
                figures.sample(host, samples.of(host).last(), &sample);
                samples.keep(host, [*sample]);
            }
            Event::Piece(piece) => pieces.take(host, *piece)?,
            Event::DatabaseDied { how, .. } if failed_disks.ended(host, &how, &measurement_start, Instant::now()) => {
                screen.say(&format!("{host} ended after its disk had failed: {how}"));
            }
            Event::DatabaseDied { how, log_tail } => return Err(ended(product, setup, host, how, log_tail)),
            Event::Progress(progress) => screen.doing(&progress.doing, ""),
            Event::AtWork | Event::Reply(_) => {}
        }
        Ok(())
    };
    screen.doing("connecting the client", "");
    tracing::info!("the load begins");
    let answers = run.agents.converse_beside(requests, on_event, &mut faults);
    lag.log();
    state.measured = Some(measured(answers?, pieces, state)?);
    state.backlogs = faults.backlogs(|host| state.measurement_began_ms(host));
    state.faults = faults.records(|host| state.measurement_began_ms(host));
    match with_backlogs.iter().find(|host| !state.backlogs.contains_key(*host)) {
        None => Ok(()),
        Some(host) => Err(Failure::BacklogNotAsPlanned(format!(
            "the trial was over before {host} was left to compact its backlog"
        ))),
    }
}

/// What each client of a trial is asked for.
pub(super) fn requests(
    whole: &TrialTask,
    parts: Parts<'_>,
    state: &TrialState,
    agents: &Agents,
) -> Vec<(HostId, Request)> {
    let tasks = clients::tasks(
        whole,
        &hosts::clients_of(parts.plan, parts.setup),
        machine::unix_ms(),
        |client| state.offset_ms(client),
        |client| hosts::database_cpus(parts.setup, client, agents),
    );
    let request = |(client, task)| (client, Request::Client(ClientRequest::Trial(Box::new(task))));
    tasks.into_iter().map(request).collect()
}

/// What the clients measured together, or why one of them has not.
pub(super) fn measured(answers: Answers, mut pieces: Pieces, state: &TrialState) -> Result<Measured> {
    let replies = all_or_gravest(answers).map_err(|(client, failure)| match failure {
        Failure::Refused { error, .. } => Failure::ClientFailed { client, error },
        lost => lost,
    })?;
    let read = answer!(Reply::Trial(result) => *result);
    let result = |(client, reply)| read(reply).map(|result| (client, (result, pieces.of_client(client))));
    let results: BTreeMap<_, _> = replies.into_iter().map(result).collect::<Result<_>>()?;
    let measured = Measured::of(results, |client| state.offset_ms(client)).map_err(Failure::work)?;
    measured.ok_or_else(|| Failure::work("a client agent does not answer"))
}
