//! Agents of a simulation: they answer what a real one is asked, at once, with the evidence of the stated truth.
//!
//! The crate `simulator` makes it and knows no agent; what a controller hears of it is here. The client's trial makes
//! it all: the database host's samples are sent then, and what that host says when it is stopped is kept for it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::sync::mpsc::Sender;

use evidence::{Environment, HostId, HostSample, Interval, Role, Series, SnapshotFacts};
use experiment::{Cell, Job, LoadLevel, PlannedTrial, TrialShape, Truth};
use simulator::{SimulatedTrial, Simulation};
use wire::{
    ClientRequest, DatabaseRequest, Event, LoadedDataset, Reply, Request, RequestError, Second, StartedTrial,
    TrialResult, WarmRound,
};

use crate::{Agent, AgentError, Ending, Held, HostAddress, Incoming, Provider};

/// The hosts of a simulation.
pub struct SimulatedHosts(Rc<RefCell<Shared>>);

/// What the simulated hosts know of each other.
struct Shared {
    simulation: Simulation,
    /// The trial under way.
    trial: Option<(PlannedTrial, SimulatedTrial)>,
    /// A database under way whose load the plan does not say: that of a search.
    searched: Option<Searched>,
}

impl SimulatedHosts {
    /// Hosts on which this job has this truth.
    pub fn new(job: &Job, truth: &Truth) -> Self {
        Self(Rc::new(RefCell::new(Shared { simulation: Simulation::new(job, truth), trial: None, searched: None })))
    }
}

impl Provider for SimulatedHosts {
    fn start(&mut self, host: HostId, inbox: Sender<Incoming>) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(SimulatedAgent { host, shared: Rc::clone(&self.0), inbox }))
    }

    fn place(&self, host: HostId) -> HostAddress {
        HostAddress { machine: host.to_string(), address: Ipv4Addr::LOCALHOST }
    }
}

/// A database that is loaded again and again.
struct Searched {
    trial: PlannedTrial,
    configuration: String,
    /// Seconds for which it has been loaded: its page cache has filled, its credits are used.
    loaded_s: f64,
}

/// What a client reports of each second of its trial, as it passes. Percentiles cannot be added: those of the slowest
/// kind of operation.
fn seconds(intervals: &[Interval]) -> Vec<Second> {
    let mut all: BTreeMap<i64, Second> = BTreeMap::new();
    for interval in intervals {
        let nothing = Second { t_s: interval.start_s, operations: 0, errors: 0, p50_us: 0, p99_us: 0 };
        let second = all.entry(interval.start_s.floor() as i64).or_insert(nothing);
        let latencies = &interval.histogram;
        match interval.series {
            Series::Response(_) => {
                second.operations += latencies.len();
                second.p50_us = second.p50_us.max(latencies.value_at_quantile(0.5));
                second.p99_us = second.p99_us.max(latencies.value_at_quantile(0.99));
            }
            Series::Failed(_) => second.errors += latencies.len(),
            Series::Service(_) | Series::Cache(_) | Series::Unmet(_) => {}
        }
    }
    all.into_values().collect()
}

struct SimulatedAgent {
    host: HostId,
    shared: Rc<RefCell<Shared>>,
    inbox: Sender<Incoming>,
}

impl Agent for SimulatedAgent {
    /// Answers before it returns. A controller that is gone does not need the answer.
    fn send(&mut self, request: &Request) -> Result<(), AgentError> {
        if matches!(request, Request::Cancel) {
            return Ok(());
        }
        let mut shared = self.shared.borrow_mut();
        let reply = match (request, self.host.role) {
            (Request::Hello { .. }, _) => Ok(Reply::Hello {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                environment: Box::new(Environment::default()),
            }),
            (Request::Clock, _) => Ok(Reply::Clock { unix_ms: None }),
            (Request::Database(request), Role::Database) => shared.database(self.host, request),
            (Request::Client(request), Role::Client) => shared.client(self.host, request, &self.inbox),
            (request, _) => Err(RequestError::new(format!("the simulated {} cannot do {request:?}", self.host))),
        };
        let _ = self.inbox.send(Incoming::Event(self.host, Box::new(Event::Reply(reply)), Held::NONE));
        Ok(())
    }

    fn how_it_ended(&mut self) -> Option<String> {
        None
    }

    fn close(&mut self) -> Ending {
        Ending::InOrder
    }
}

impl Shared {
    fn snapshot(&self) -> SnapshotFacts {
        SnapshotFacts {
            key: "simulated".to_owned(),
            records: self.simulation.records(),
            loading: String::new(),
            table_bytes: self.simulation.data_bytes() as u64,
            bytes: self.simulation.data_bytes() as u64,
        }
    }

    fn database(&mut self, host: HostId, request: &DatabaseRequest) -> Result<Reply, RequestError> {
        Ok(match request {
            DatabaseRequest::Check(_) => Reply::Checked(Vec::new()),
            DatabaseRequest::Open(_) => Reply::Opened { cleaned: Vec::new(), software: Vec::new() },
            DatabaseRequest::Watch(_) | DatabaseRequest::Observe | DatabaseRequest::EndObservation => {
                return Err(RequestError::new("a simulation has no node of somebody else's"));
            }
            DatabaseRequest::FindSnapshot { .. } => {
                Reply::Found { key: self.snapshot().key, snapshot: Some(self.snapshot()) }
            }
            DatabaseRequest::Initialise { .. } => {
                return Err(RequestError::new("a simulation has no volumes to initialise"));
            }
            DatabaseRequest::FindKept { .. }
            | DatabaseRequest::Restore { .. }
            | DatabaseRequest::MeasureArchive { .. }
            | DatabaseRequest::KeepInStore { .. } => {
                return Err(RequestError::new("a simulation has no data set to keep"));
            }
            DatabaseRequest::StartLoading { .. } => Reply::Loading { contact_points: Vec::new() },
            DatabaseRequest::FinishLoading => Reply::AtRest,
            DatabaseRequest::FlushBacklog | DatabaseRequest::CompactBacklog => {
                return Err(RequestError::new("a simulation has no SSTables to compact"));
            }
            DatabaseRequest::ImportSnapshot { .. } | DatabaseRequest::SampleSnapshot { .. } => {
                return Err(RequestError::new("a simulation has no tables to restore"));
            }
            DatabaseRequest::KeepSnapshot => Reply::Snapshot(self.snapshot()),
            DatabaseRequest::Close => Reply::Closed,
            DatabaseRequest::Prepare { .. } => Reply::Prepared { note: None },
            DatabaseRequest::StartTrial { trial, setup, .. } => {
                // The first node that is asked makes it for all.
                if self.trial.as_ref().is_none_or(|(known, _)| known != trial) {
                    self.searched = None;
                    if !self.simulation.has(trial) {
                        self.open(trial, &setup.configuration);
                    }
                    let simulated = self.simulation.trial(trial);
                    let simulated = simulated
                        .ok_or_else(|| RequestError::new(format!("the plan has no cell {} to simulate", trial.cell)))?;
                    self.trial = Some((trial.clone(), simulated));
                }
                let nodes = self.trial.iter().flat_map(|(_, simulated)| &simulated.record.nodes);
                let facts = nodes.into_iter().find(|node| node.host == host);
                let facts = facts.ok_or_else(|| RequestError::new(format!("{host} is no node of {}", trial.cell)))?;
                let started = StartedTrial {
                    volumes: facts.volumes.clone(),
                    data_bytes_on_disk: facts.data_bytes_on_disk,
                    keys_checked: facts.restored_keys_checked,
                    began_unix_ms: self.simulation.started_unix_ms(trial),
                    warmed: facts.warmed,
                    ..StartedTrial::default()
                };
                Reply::Started(Box::new(started))
            }
            DatabaseRequest::Usage
            | DatabaseRequest::Empty
            | DatabaseRequest::Renew { .. }
            | DatabaseRequest::LookUp { .. }
            | DatabaseRequest::NoteCache { .. }
            | DatabaseRequest::Hold => {
                return Err(RequestError::new("a simulated database is at rest from the start"));
            }
            DatabaseRequest::StartFault(_) | DatabaseRequest::EndFault => {
                return Err(RequestError::new("a simulated node cannot be taken away"));
            }
            DatabaseRequest::ReadLog { name, .. } => {
                return Err(RequestError::new(format!("a simulated node has no log {name}")));
            }
            DatabaseRequest::StopTrial { .. } => Reply::Stopped(Box::default()),
        })
    }

    /// A database is started that the plan says no load of: it is known by a moment without any.
    fn open(&mut self, trial: &PlannedTrial, configuration: &str) {
        let moment = TrialShape {
            rest_max_s: 0.0,
            warmup_s: 0.0,
            warmup_max_s: None,
            duration_s: 1.0,
            operations: None,
            request_timeout_s: 1.0,
        };
        let workload = self.simulation.first_workload();
        self.take_in(trial, configuration, &workload, LoadLevel::Concurrency(1), moment);
        self.searched = Some(Searched { trial: trial.clone(), configuration: configuration.to_owned(), loaded_s: 0.0 });
    }

    fn take_in(
        &mut self,
        trial: &PlannedTrial,
        configuration: &str,
        workload: &str,
        load: LoadLevel,
        shape: TrialShape,
    ) {
        let cell = Cell {
            id: trial.cell.clone(),
            configuration: configuration.to_owned(),
            workload: workload.to_owned(),
            load,
        };
        self.simulation.take_in(cell, trial, shape);
    }

    fn client(
        &mut self,
        host: HostId,
        request: &ClientRequest,
        inbox: &Sender<Incoming>,
    ) -> Result<Reply, RequestError> {
        let task = match request {
            ClientRequest::Load { dataset, .. } => {
                return Ok(Reply::Loaded(LoadedDataset { records: dataset.records, seconds: 0.0 }));
            }
            ClientRequest::Take(_) => {
                return Ok(Reply::Taken { whole: true, left_out: Vec::new() });
            }
            ClientRequest::Loaded(_) => return Ok(Reply::Marked),
            ClientRequest::Maintain(_) => return Ok(Reply::Maintained(None)),
            ClientRequest::Warm { .. } => return Ok(Reply::Warm(WarmRound { operations: 0, cache: None })),
            ClientRequest::Close => return Ok(Reply::Closed),
            ClientRequest::Trial(task) => task,
        };
        let begun = match &self.searched {
            Some(begun) if begun.trial.cell == task.trial.cell => {
                let configuration = begun.configuration.clone();
                // What went before counts as time under this load.
                let shape = TrialShape { warmup_s: begun.loaded_s + task.shape.warmup_s, ..task.shape };
                self.take_in(&task.trial, &configuration, &task.workload.name, task.load, shape);
                let loaded_s = shape.warmup_s + shape.duration_s;
                self.searched.iter_mut().for_each(|searched| searched.loaded_s = loaded_s);
                let simulated = self.simulation.trial(&task.trial);
                simulated.map(|simulated| (task.trial.clone(), simulated))
            }
            _ => self.trial.take(),
        };
        let (_, mut simulated) = begun
            .filter(|(trial, _)| *trial == task.trial)
            .ok_or_else(|| RequestError::new("the simulated database was not started for this trial"))?;
        let say = |from: HostId, event: Event| {
            let _ = inbox.send(Incoming::Event(from, Box::new(event), Held::NONE));
        };
        let nodes: Vec<HostId> = simulated.record.nodes.iter().map(|node| node.host).collect();
        let result =
            simulated.record.client.ok_or_else(|| RequestError::new("the simulated client measured nothing"))?;
        let started_ms = self.simulation.started_unix_ms(&task.trial);
        let mut samples: Vec<(HostId, HostSample)> = Vec::new();
        for node in nodes {
            samples.extend(simulated.samples.remove(&node).unwrap_or_default().into_iter().map(|of| (node, of)));
        }
        // In the order in which real ones would be heard.
        samples.sort_by_key(|(_, sample)| sample.unix_ms);
        let mut samples = samples.into_iter().peekable();
        for second in seconds(&simulated.intervals) {
            let over_ms = started_ms as f64 + (result.warmup_s + second.t_s + 1.0) * 1e3;
            while let Some((node, sample)) = samples.next_if(|(_, sample)| sample.unix_ms as f64 <= over_ms) {
                say(node, Event::Sample(Box::new(sample)));
            }
            say(host, Event::Second(second));
        }
        samples.for_each(|(node, sample)| say(node, Event::Sample(Box::new(sample))));
        let samples = simulated.samples.remove(&HostId::CLIENT).unwrap_or_default();
        wire::in_pieces(&simulated.intervals, samples, &mut |piece| say(host, Event::Piece(Box::new(piece))));
        Ok(Reply::Trial(Box::new(TrialResult {
            measurement_started_unix_ms: started_ms + (result.warmup_s * 1e3) as i64,
            result,
            writes: None,
        })))
    }
}
