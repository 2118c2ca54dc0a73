//! `agent --role ROLE` as iopslab has it, without a database: a simulated trial, played in real time. For
//! `make bench-scale`, which asks what a controller carries: these agents cost next to nothing.
//!
//! A database host sends its samples once a second, as a real one does: each is taken by `monitor` on this machine,
//! with the simulated database's figures in it. A client reports every second, and sends its histograms and samples at
//! the end. `IOPSLAB_SCALE_EXPERIMENT` names the experiment, `IOPSLAB_SCALE_HZ` how many samples a second each host
//! sends.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use evidence::{HostFigures, HostId, HostSample};
use experiment::{Job, PlannedTrial};
use monitor::{Sampler, Sources};
use reported::Series;
use reported::cassandra::REPORTS;
use simulator::{SimulatedTrial, Simulation};
use wire::{
    ClientRequest, DatabaseRequest, Event, Reply, Request, RequestError, Second, StartedTrial, TrialResult, TrialTask,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let is_client = std::env::args().any(|argument| argument == "client");
    let (to, requests) = channel();
    thread::spawn(move || {
        let mut stdin = BufReader::new(std::io::stdin());
        // The end of stdin, or nonsense: the channel closes, and the agent ends.
        while let Ok(Some(request)) = wire::read::<Request>(&mut stdin) {
            if !matches!(request, Request::Alive) && to.send(request).is_err() {
                return;
            }
        }
    });
    let mut agent = StreamingAgent {
        job: job()?,
        hz: std::env::var("IOPSLAB_SCALE_HZ").map_or(Ok(1.0), |hz| hz.parse())?,
        out: Outbox::default(),
        is_client,
        index: 0,
        trial: None,
        stream: None,
    };
    while let Ok(request) = requests.recv() {
        let answer = agent.answer(request, &requests);
        if let Some(answer) = answer {
            agent.out.send(&Event::Reply(answer));
        }
    }
    agent.stop();
    Ok(())
}

/// The run's job, made of its experiment as the controller makes it.
fn job() -> Result<Job> {
    let experiment = PathBuf::from(std::env::var("IOPSLAB_SCALE_EXPERIMENT")?);
    let text = std::fs::read_to_string(experiment)?;
    Ok(experiment::testing::job(&text))
}

/// Unix milliseconds with their fraction.
fn unix_ms() -> f64 {
    jiff::Timestamp::now().as_microsecond() as f64 / 1e3
}

/// Until the clock shows so many Unix milliseconds.
fn until(at_ms: f64) -> Duration {
    Duration::from_secs_f64((at_ms - unix_ms()).max(0.0) / 1e3)
}

/// What was sent, counted.
#[derive(Clone, Default)]
struct Outbox(Arc<Mutex<(u64, u64)>>);

impl Outbox {
    /// A controller that is gone shows on stdin, not here.
    fn send(&self, event: &Event) {
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = Vec::new();
        if wire::write(&mut line, event).is_ok() {
            sent.0 += 1;
            sent.1 += line.len() as u64;
            let _ = std::io::Write::write_all(&mut std::io::stdout(), &line);
        }
    }

    /// Events and bytes so far.
    fn sent(&self) -> (u64, u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct StreamingAgent {
    job: Job,
    hz: f64,
    out: Outbox,
    is_client: bool,
    /// Number of this host among those of its role.
    index: u32,
    trial: Option<(PlannedTrial, SimulatedTrial)>,
    stream: Option<Stream>,
}

impl StreamingAgent {
    /// `None`: the request wants no answer.
    fn answer(
        &mut self,
        request: Request,
        requests: &Receiver<Request>,
    ) -> Option<std::result::Result<Reply, RequestError>> {
        Some(Ok(match request {
            Request::Cancel | Request::Alive => return None,
            Request::Hello { .. } => Reply::Hello {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                environment: Box::new(monitor::environment(std::path::Path::new("/"))),
            },
            Request::Clock => Reply::Clock { unix_ms: Some(unix_ms()) },
            Request::Database(DatabaseRequest::Check(_)) => Reply::Checked(Vec::new()),
            Request::Database(DatabaseRequest::Open(task)) => {
                self.index = task.index;
                Reply::Opened { cleaned: Vec::new(), software: Vec::new() }
            }
            // Here, because nothing is measured yet: the simulation costs more than all that follows.
            Request::Database(DatabaseRequest::Prepare { .. }) => match self.simulate(None) {
                Ok(()) => Reply::Prepared { note: None },
                Err(request_error) => return Some(Err(request_error)),
            },
            Request::Database(DatabaseRequest::StartTrial { trial, .. }) => return Some(self.start(&trial)),
            Request::Database(DatabaseRequest::StopTrial { .. }) => {
                self.stop();
                let (events, bytes) = self.out.sent();
                eprintln!("sent {events} events of {bytes} bytes");
                Reply::Stopped(Box::default())
            }
            Request::Client(ClientRequest::Trial(task)) => return self.load(&task, requests),
            Request::Database(DatabaseRequest::Close) | Request::Client(ClientRequest::Close) => Reply::Closed,
            other => {
                return Some(Err(RequestError::new(format!("an agent that only streams cannot do {other:?}"))));
            }
        }))
    }

    /// The evidence of a trial, or of the first one, which is the only one of `make bench-scale`.
    fn simulate(&mut self, planned: Option<&PlannedTrial>) -> std::result::Result<(), RequestError> {
        let planned = planned.or(self.job.plan.trials.first());
        let planned = planned.cloned().ok_or_else(|| RequestError::new("the plan has no trial"))?;
        if self.trial.as_ref().is_some_and(|(known, _)| *known == planned) {
            return Ok(());
        }
        let truth = self.job.plan.place.truth().cloned();
        let truth = truth.ok_or_else(|| RequestError::new("the experiment has no [provider.simulated]"))?;
        let simulated = Simulation::new(&self.job, &truth).trial(&planned);
        let simulated = simulated.ok_or_else(|| RequestError::new(format!("no cell {} in the plan", planned.cell)))?;
        self.trial = Some((planned, simulated));
        Ok(())
    }

    fn start(&mut self, trial: &PlannedTrial) -> std::result::Result<Reply, RequestError> {
        self.simulate(Some(trial))?;
        let own = HostId::database(self.index);
        let (_, simulated) = self.trial.as_ref().ok_or_else(|| RequestError::new("no trial"))?;
        let facts = simulated.record.nodes.iter().find(|node| node.host == own);
        let facts = facts.ok_or_else(|| RequestError::new(format!("{own} is no node of {}", trial.cell)))?;
        let samples = simulated.samples.get(&own).cloned().unwrap_or_default();
        let began_ms = unix_ms();
        let started = StartedTrial {
            volumes: facts.volumes.clone(),
            data_bytes_on_disk: facts.data_bytes_on_disk,
            keys_checked: facts.restored_keys_checked,
            began_unix_ms: began_ms as i64,
            warmed: facts.warmed,
            ..StartedTrial::default()
        };
        // Machines do not sample at the same moment.
        let phase_ms = f64::from(self.index) * 997.0 % 1_000.0;
        let out = self.out.clone();
        let sink = move |sample| out.send(&Event::Sample(Box::new(sample)));
        self.stream = Some(Stream::start(samples, began_ms + phase_ms, self.hz, Box::new(sink)));
        Ok(Reply::Started(Box::new(started)))
    }

    fn stop(&mut self) {
        if let Some(stream) = self.stream.take() {
            stream.stop();
        }
    }

    /// The load of a trial takes its time; `None`: the controller is gone.
    fn load(
        &mut self,
        task: &TrialTask,
        requests: &Receiver<Request>,
    ) -> Option<std::result::Result<Reply, RequestError>> {
        if !self.is_client {
            return Some(Err(RequestError::new("a database host sends no load")));
        }
        if let Err(request_error) = self.simulate(Some(&task.trial)) {
            return Some(Err(request_error));
        }
        let (_, simulated) = self.trial.as_ref()?;
        let Some(result) = simulated.record.client.clone() else {
            return Some(Err(RequestError::new("the simulated client measured nothing")));
        };
        let begin_ms = task.begin_unix_ms.unwrap_or_else(unix_ms);
        let started_ms = begin_ms + result.warmup_s * 1e3;
        let samples = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&samples);
        let own = simulated.samples.get(&HostId::CLIENT).cloned().unwrap_or_default();
        let keep = move |sample| sink.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
        let stream = Stream::start(own, begin_ms, 1.0, Box::new(keep));
        let seconds = (result.warmup_s + result.measured_s).round() as u32;
        let each = result.operations_sent as f64 / result.measured_s.max(1.0) / f64::from(task.clients);
        for second in 1..=seconds {
            match requests.recv_timeout(until(begin_ms + f64::from(second) * 1e3)) {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
                Ok(_) => {
                    return Some(Err(RequestError::cancelled()));
                }
            }
            self.out.send(&Event::Second(Second {
                t_s: f64::from(second) - result.warmup_s,
                operations: each as u64,
                errors: 0,
                p50_us: 1_000,
                p99_us: 5_000,
            }));
        }
        stream.stop();
        let (_, simulated) = self.trial.as_ref()?;
        let samples = std::mem::take(&mut *samples.lock().unwrap_or_else(PoisonError::into_inner));
        let mut send = |piece| self.out.send(&Event::Piece(Box::new(piece)));
        wire::in_pieces(&simulated.intervals, samples, &mut send);
        let reply = Reply::Trial(Box::new(TrialResult {
            measurement_started_unix_ms: started_ms as i64,
            result,
            writes: None,
        }));
        let answer = serde_json::to_vec(&reply).map_or(0, |line| line.len() as u64);
        let (events, bytes) = self.out.sent();
        eprintln!("sent {} events of {} bytes", events + 1, bytes + answer);
        Some(Ok(reply))
    }
}

/// Samples at their moments, in a thread of their own.
struct Stream {
    ended: Arc<AtomicBool>,
    wake: Sender<()>,
    thread: JoinHandle<()>,
}

impl Stream {
    /// The nth simulated second, in a sample of this machine, from `begin_ms` on.
    fn start(simulated: Vec<HostSample>, begin_ms: f64, hz: f64, mut sink: Box<dyn FnMut(HostSample) + Send>) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let (wake, woken) = channel::<()>();
        let is_over = Arc::clone(&ended);
        let thread = thread::spawn(move || {
            let mut sampler = Sampler::new(sources());
            let began = Instant::now();
            let mut second = None;
            let mut sample = HostSample::default();
            for number in 0_u64.. {
                let t_s = number as f64 / hz;
                // At a whole millisecond, which is what a sample says of its moment.
                let due_ms = (begin_ms + t_s * 1e3).ceil();
                let _ = woken.recv_timeout(until(due_ms));
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                // More than one sample a second repeats that second: what is asked is what a sample costs elsewhere.
                if second != Some(t_s as usize) {
                    second = Some(t_s as usize);
                    let own = sampler.sample(began.elapsed().as_secs_f64(), 0);
                    let played = simulated.get(t_s as usize).or(simulated.last());
                    sample = played.map_or_else(|| own.clone(), |played| together(played, &own, t_s));
                }
                sample.unix_ms = unix_ms() as i64;
                sink(sample.clone());
            }
        });
        Self { ended, wake, thread }
    }

    fn stop(self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = self.wake.send(());
        // A panic in the thread has been reported on stderr already.
        let _ = self.thread.join();
    }
}

/// What `monitor` watches on a machine of ours.
fn sources() -> Sources {
    Sources { root: PathBuf::from("/"), pid: Some(std::process::id()), ..Sources::default() }
}

/// A sample as full as a real one: simulated figures, what the simulation leaves out from this machine, and a counter
/// that grows for what only a real database has.
fn together(simulated: &HostSample, own: &HostSample, t_s: f64) -> HostSample {
    let own: BTreeMap<&str, Option<f64>> = own.columns(&REPORTS).into_iter().collect();
    let is_of_host = |name: &str| HostFigures::FIELDS.contains(&name) || Series::of_key(name).is_some();
    let figure = |(name, value): (&'static str, Option<f64>)| {
        let counted = || is_of_host(name).then(|| (t_s * 1_234.5).floor() + name.len() as f64);
        (name, value.or(own.get(name).copied().flatten()).or_else(counted))
    };
    let row: Vec<(&str, Option<f64>)> = simulated.columns(&REPORTS).into_iter().map(figure).collect();
    HostSample::from_columns(&row).expect("columns of a sample")
}
