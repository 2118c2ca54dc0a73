//! The agents of a run and the one inbox that they and the user's Ctrl-C share.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use provider::{Agent, Incoming, Role, local};
use wire::{Event, Fault, Reply, Request};

use crate::cli::Failure;
use crate::progress::Screen;

/// How long agents may take to end a cancelled request.
const CANCEL_PATIENCE: Duration = Duration::from_secs(6);

/// The agents of a run.
pub struct Crew {
    database: Agent,
    client: Agent,
    inbox: Receiver<Incoming>,
}

/// Why a request has no answer.
pub enum CallError {
    /// The agent says what is wrong.
    Fault(Fault),
    /// The run cannot go on: an agent is gone, or the user asked to stop.
    Fatal(Failure),
}

impl Crew {
    /// Starts both agents on this machine. `inbox` is where the signal handler sends its [`Incoming::Interrupt`].
    pub fn start_local(binary: &Path, (to, inbox): (Sender<Incoming>, Receiver<Incoming>)) -> Result<Self, Failure> {
        let database = local::start(Role::Database, binary, to.clone()).map_err(Failure::work)?;
        let client = local::start(Role::Client, binary, to).map_err(Failure::work)?;
        Ok(Self {
            database,
            client,
            inbox,
        })
    }

    /// A channel for [`Crew::start_local`].
    pub fn channel() -> (Sender<Incoming>, Receiver<Incoming>) {
        channel()
    }

    fn agent(&mut self, role: Role) -> &mut Agent {
        match role {
            Role::Database => &mut self.database,
            Role::Client => &mut self.client,
        }
    }

    /// Sends a request and waits for its answer; every fault ends the run.
    pub fn call(&mut self, role: Role, request: Request, screen: &mut Screen) -> Result<Reply, Failure> {
        self.try_call(role, request, screen).map_err(|error| match error {
            CallError::Fatal(failure) => failure,
            CallError::Fault(fault) => {
                let failure = Failure::work(fault.message);
                if let Some(help) = fault.help {
                    failure.help(help)
                } else {
                    failure
                }
            }
        })
    }

    /// Sends a request and waits for its answer, showing progress meanwhile.
    pub fn try_call(&mut self, role: Role, request: Request, screen: &mut Screen) -> Result<Reply, CallError> {
        self.converse(role, request, &mut |_, event| {
            if let Event::Progress(progress) = event {
                screen.live(&match progress.share {
                    Some((done, total)) if total > 0 => {
                        format!("{}: {:.0} %", progress.doing, 100.0 * done as f64 / total as f64)
                    }
                    _ => progress.doing,
                });
            }
            true
        })
    }

    /// Sends a request and hands every event of any agent to `on_event` until the answer is there. When `on_event` returns
    /// `false`, or the user interrupts, the request is cancelled.
    pub fn converse(
        &mut self,
        role: Role,
        request: Request,
        on_event: &mut dyn FnMut(Role, Event) -> bool,
    ) -> Result<Reply, CallError> {
        let fatal = |failure| CallError::Fatal(failure);
        self.agent(role).send(&request).map_err(|e| fatal(Failure::work(e)))?;
        let mut give_up: Option<Instant> = None;
        let mut interrupted = false;
        loop {
            let wait = give_up.map_or(Duration::from_secs(3600), |at| {
                at.saturating_duration_since(Instant::now())
            });
            let cancel = match self.inbox.recv_timeout(wait) {
                Ok(Incoming::Event(from, event)) => match *event {
                    Event::Reply(_) if interrupted => return Err(fatal(interruption())),
                    Event::Reply(answer) if from == role => return answer.map_err(CallError::Fault),
                    other => !on_event(from, other),
                },
                Ok(Incoming::Lost(lost, how)) => {
                    return Err(fatal(
                        Failure::work(format!("the {} agent is gone: {how}", lost.name()))
                            .help("its last words are above; a killed agent's leftovers go with: iopslab clean"),
                    ));
                }
                Ok(Incoming::Interrupt) => {
                    interrupted = true;
                    true
                }
                Err(RecvTimeoutError::Timeout) if interrupted => return Err(fatal(interruption())),
                Err(RecvTimeoutError::Timeout) if give_up.is_some() => {
                    return Err(fatal(Failure::work(format!(
                        "the {} agent does not answer",
                        role.name()
                    ))));
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return Err(fatal(Failure::work("both agents are gone"))),
            };
            if cancel && give_up.is_none() {
                give_up = Some(Instant::now() + CANCEL_PATIENCE);
                // An agent that does not listen any more will be reported as lost.
                let _ = self.agent(role).send(&Request::Cancel);
            }
        }
    }

    /// Ends both agents: the client first, so that nothing loads a database that is being stopped.
    pub fn close(&mut self, screen: &mut Screen) {
        screen.live("cleaning up");
        for agent in [&mut self.client, &mut self.database] {
            if !agent.close() {
                screen.say(&format!(
                    "the {} agent had to be killed; then: iopslab clean",
                    agent.role().name()
                ));
            }
        }
    }
}

fn interruption() -> Failure {
    Failure::work("interrupted")
}
