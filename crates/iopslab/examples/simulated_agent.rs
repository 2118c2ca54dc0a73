//! `agent --role ROLE` as iopslab has it, without a database: it answers with the evidence of the stated truth. For the
//! tests of machines that are made: many of them cost nothing then. `/var/lib/iopslab/run` names the run's directory.

use std::io::BufReader;
use std::path::Path;
use std::sync::mpsc::channel;

use archive::RunDirectory;
use evidence::HostId;
use provider::simulated::SimulatedHosts;
use provider::{Agent, Incoming, Provider as _};
use spec::{Job, PlannedTrial};
use wire::{ClientRequest, DatabaseRequest, Event, Request};

/// Says where the run is.
const RUN: &str = "/var/lib/iopslab/run";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let is_client = std::env::args().any(|argument| argument == "client");
    let (inbox, said) = channel();
    let mut hosts: Option<(Job, SimulatedHosts)> = None;
    let mut stdin = BufReader::new(std::io::stdin());
    while let Some(request) = wire::read::<Request>(&mut stdin)? {
        if matches!(request, Request::Alive) {
            continue;
        }
        if hosts.is_none() {
            let run = RunDirectory::open(Path::new(std::fs::read_to_string(RUN)?.trim()))?;
            let job = run.job().clone();
            let truth = job.plan.simulated.clone().ok_or("the plan has no truth")?;
            let simulated = SimulatedHosts::new(&job, &truth);
            hosts = Some((job, simulated));
        }
        let (job, simulated) = hosts.as_mut().ok_or("no plan")?;
        let mut agent_of = |host| simulated.start(host, inbox.clone());
        let trial = match &request {
            Request::Database(DatabaseRequest::StartTrial { trial, .. }) => Some(trial),
            Request::Client(ClientRequest::Trial(task)) => Some(&task.trial),
            _ => None,
        };
        let node = trial.and_then(|trial| node_of(job, trial)).unwrap_or(HostId::DATABASE);
        if let (true, Some(trial)) = (is_client, trial) {
            // The simulation makes a trial as a whole; what the database says of it is the other machine's to say.
            start(agent_of(node)?.as_mut(), job, trial)?;
            let _ = said.try_iter().count();
        }
        let own = if is_client { HostId::CLIENT } else { node };
        agent_of(own)?.send(&request)?;
        for incoming in said.try_iter() {
            match incoming {
                Incoming::Event(from, event) if from == own => wire::write::<Event>(&mut std::io::stdout(), &event)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// The first node of a trial's configuration.
fn node_of(job: &Job, trial: &PlannedTrial) -> Option<HostId> {
    let cell = job.plan.cells.iter().find(|cell| cell.id == trial.cell)?;
    job.setups
        .of(&cell.configuration)?
        .database_hosts()
        .first()
        .copied()
        .map(HostId::database)
}

fn start(database: &mut dyn Agent, job: &Job, trial: &PlannedTrial) -> Result<(), Box<dyn std::error::Error>> {
    let setup = job.setups.first().ok_or("no setup")?.clone();
    let request = DatabaseRequest::StartTrial {
        trial: trial.clone(),
        setup: Box::new(setup),
        sample_keys: Vec::new(),
    };
    Ok(database.send(&Request::Database(request))?)
}
