//! `agent --role ROLE` as iopslab has it, without a database: it answers with the evidence of the stated truth. For the
//! tests of machines that are made: many of them cost nothing then. `/var/lib/iopslab/run` names the run's directory.

use std::io::BufReader;
use std::path::Path;
use std::sync::mpsc::channel;

use archive::RunDirectory;
use evidence::HostId;
use experiment::{Job, ParseContext, PlannedTrial, Provider, ReadFor, Truth};
use provider::simulated::SimulatedHosts;
use provider::{Agent, Incoming, Provider as _};
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
            let truth = truth(&run.experiment_text()?)?;
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
        if let (true, Some(trial)) = (is_client, trial) {
            // The simulation makes a trial as a whole; what the database says of it is the other machine's to say.
            start(agent_of(HostId::DATABASE)?.as_mut(), job, trial)?;
            let _ = said.try_iter().count();
        }
        // In a simulation hosts are counted from the first of each configuration.
        let own = if is_client { HostId::CLIENT } else { HostId::DATABASE };
        agent_of(own)?.send(&request)?;
        for incoming in said.try_iter() {
            match incoming {
                Incoming::Event(from, event, _) if from == own => wire::write::<Event>(&mut std::io::stdout(), &event)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// What the experiment says is true; the plan of a run elsewhere does not carry it.
fn truth(experiment: &str) -> Result<Truth, Box<dyn std::error::Error>> {
    let (catalog, purpose) = (catalog::Catalog::built_in(), ReadFor::PlanOf(Provider::Simulated));
    let read = experiment::parse(catalog, "experiment.toml", experiment, &ParseContext::alone(), purpose);
    let place = read.map_err(|mistakes| mistakes.to_string())?.place;
    Ok(place.truth().ok_or("the experiment has no truth")?.clone())
}

fn start(database: &mut dyn Agent, job: &Job, trial: &PlannedTrial) -> Result<(), Box<dyn std::error::Error>> {
    let setup = job.setups.first().ok_or("no setup")?.clone();
    let request = DatabaseRequest::StartTrial {
        trial: trial.clone(),
        setup: Box::new(setup),
        workload: String::new(),
        sample_keys: Vec::new(),
        database_cpus: 0.0,
    };
    Ok(database.send(&Request::Database(request))?)
}
