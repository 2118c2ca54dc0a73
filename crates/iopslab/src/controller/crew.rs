//! The agents of a run and the one inbox that they and the user's Ctrl-C share.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use provider::{Agent, Incoming, Role, local};
use wire::{Event, Fault, Reply, Request};

use crate::failure::Failure;
use crate::progress::Screen;

/// How long agents may take to end a cancelled request.
const CANCEL_PATIENCE: Duration = Duration::from_secs(6);

/// The agents of a run.
pub struct Crew {
    database: Agent,
    client: Agent,
    inbox: Receiver<Incoming>,
    /// What a client agent is started again with.
    binary: PathBuf,
    to: Sender<Incoming>,
    /// The client agent is gone; another one is started before it is asked for something.
    client_is_lost: bool,
}

/// Why a request has no answer.
pub enum CallError {
    /// The agent says what is wrong.
    Fault(Fault),
    /// The client agent was lost while it did what was asked of it, in words. It keeps nothing that outlives a request,
    /// so that another one can take the next.
    ClientLost(String),
    /// The run cannot go on: the database agent is gone, or the user asked to stop.
    Fatal(Failure),
}

impl Crew {
    /// Starts both agents on this machine. `inbox` is where the signal handler sends its [`Incoming::Interrupt`].
    pub fn start_local(binary: &Path, (to, inbox): (Sender<Incoming>, Receiver<Incoming>)) -> Result<Self, Failure> {
        let database = local::start(Role::Database, binary, to.clone()).map_err(Failure::work)?;
        let client = local::start(Role::Client, binary, to.clone()).map_err(Failure::work)?;
        Ok(Self {
            database,
            client,
            inbox,
            binary: binary.to_owned(),
            to,
            client_is_lost: false,
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
            CallError::ClientLost(how) => Failure::work(how),
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
                let share = match progress.share {
                    Some((done, total)) if total > 0 => format!("{:.0} %", 100.0 * done as f64 / total as f64),
                    _ => String::new(),
                };
                screen.doing(&progress.doing, &share);
            }
            true
        })
    }

    /// Sends a request and hands every event of any agent to `on_event` until the answer is there. When `on_event`
    /// returns `false`, or the user interrupts, the request is cancelled.
    pub fn converse(
        &mut self,
        role: Role,
        request: Request,
        on_event: &mut dyn FnMut(Role, Event) -> bool,
    ) -> Result<Reply, CallError> {
        let fatal = |failure| CallError::Fatal(failure);
        if role == Role::Client && self.client_is_lost {
            self.client =
                local::start(Role::Client, &self.binary, self.to.clone()).map_err(|e| fatal(Failure::work(e)))?;
            self.client_is_lost = false;
        }
        let mut give_up: Option<Instant> = None;
        match (self.agent(role).send(&request), role) {
            (Ok(()), _) => {}
            // It ended unnoticed; what it left in the inbox says so soon.
            (Err(_), Role::Client) => give_up = Some(Instant::now() + CANCEL_PATIENCE),
            (Err(error), Role::Database) => return Err(fatal(Failure::work(error))),
        }
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
                Ok(Incoming::Lost(Role::Client, how)) if !interrupted => {
                    let how = self.client.how_it_ended().unwrap_or(how);
                    self.client_is_lost = true;
                    if role == Role::Client {
                        return Err(CallError::ClientLost(format!("the client agent was lost: {how}")));
                    }
                    // Nothing was asked of it: nothing is lost.
                    false
                }
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
        screen.about("");
        screen.doing("cleaning up", "");
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
    Failure::interrupted("interrupted")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use std::os::unix::fs::PermissionsExt as _;

    use wire::{ClientRequest, DatabaseRequest};

    use super::*;

    /// Agents as a shell script. The first client that is asked for something is killed; what begins as `idle` ends
    /// before that, and its database waits for it. All others answer.
    const AGENTS: &str = r#"#!/bin/sh
case "$(basename "$0") $3" in
    asked*client) [ -e "$0.lost" ] || { read -r request; : > "$0.lost"; kill -9 $$; } ;;
    idle*client) [ -e "$0.lost" ] || { : > "$0.lost"; exit 7; } ;;
    idle*database) while [ ! -e "$0.lost" ]; do sleep 0.05; done; sleep 0.5 ;;
esac
while read -r request; do echo '{"reply":{"Ok":"closed"}}'; done
"#;

    fn crew(directory: &Path, name: &str) -> Crew {
        let binary = directory.join(name);
        std::fs::write(&binary, AGENTS).unwrap();
        std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
        Crew::start_local(&binary, Crew::channel()).unwrap()
    }

    fn ask(crew: &mut Crew, role: Role) -> Result<Reply, CallError> {
        let request = match role {
            Role::Database => Request::Database(DatabaseRequest::Close),
            Role::Client => Request::Client(ClientRequest::Close),
        };
        crew.converse(role, request, &mut |_, _| true)
    }

    #[test]
    fn a_lost_client_costs_what_it_was_doing_and_nothing_after_it() {
        let directory = tempfile::tempdir().unwrap();
        let mut asked = crew(directory.path(), "asked");
        let Err(CallError::ClientLost(how)) = ask(&mut asked, Role::Client) else {
            panic!("the client was killed while it was asked");
        };
        assert!(
            how.contains("the client agent was lost") && how.contains("SIGKILL"),
            "{how}"
        );
        assert!(matches!(ask(&mut asked, Role::Database), Ok(Reply::Closed)));
        assert!(
            matches!(ask(&mut asked, Role::Client), Ok(Reply::Closed)),
            "another one answers"
        );

        // Lost while it was idle: nothing is lost.
        let mut idle = crew(directory.path(), "idle");
        assert!(matches!(ask(&mut idle, Role::Database), Ok(Reply::Closed)));
        assert!(matches!(ask(&mut idle, Role::Client), Ok(Reply::Closed)));
    }
}
