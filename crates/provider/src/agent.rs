//! A running agent: something that takes requests and sends events.

use std::collections::VecDeque;
use std::io::BufReader;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use evidence::{HostId, Role};
use wire::{Event, Request, WireError};

use crate::room::{Held, Room};

/// What reaches the controller; all agents and the signal handler share one channel.
#[derive(Debug)]
pub enum Incoming {
    /// An agent said something; what is held with it is the room that it takes.
    Event(HostId, Box<Event>, Held),
    /// An agent ended or spoke nonsense.
    Lost(HostId, String),
    /// The user asked to stop.
    Interrupt,
}

/// The last lines that an agent, or its ssh, wrote to stderr.
pub(crate) type LastWords = Arc<Mutex<VecDeque<String>>>;

/// Why an agent could not be started or reached.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum AgentError {
    #[error("cannot start the {host} agent ({command}): {source}")]
    Start { host: HostId, command: String, source: std::io::Error },
    #[error("the {host} agent does not listen any more: {source}")]
    Send { host: HostId, source: WireError },
    /// A machine of the user's cannot be used.
    #[error("{0}")]
    Host(#[from] crate::hosts::HostError),
    /// Machines of AWS cannot be used.
    #[error("{0}")]
    Aws(#[from] crate::aws::AwsError),
}

impl AgentError {
    /// Whether machines could not be had where they were asked for, and may be had elsewhere or later.
    pub fn has_no_room(&self) -> bool {
        matches!(self, Self::Aws(error) if error.has_no_room())
    }
}

/// An agent that was started: requests go in here, what it says comes out of the [`Incoming`] channel that it was
/// started with. It takes one request at a time, answers it with one [`Event::Reply`], and may say other things before.
pub trait Agent {
    /// Sends one request.
    fn send(&mut self, request: &Request) -> Result<(), AgentError>;

    /// How it ended, if it has and anything is known about it. May wait a moment.
    fn how_it_ended(&mut self) -> Option<String>;

    /// Makes it undo everything that it did, and waits as long as it gets on with that.
    fn close(&mut self) -> Ending;

    /// Number of its process on this machine, also once that has ended; `None`: it has none.
    fn pid(&self) -> Option<u32> {
        None
    }
}

/// How an agent has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, after it has undone what it did.
    InOrder,
    /// Before it had undone that: it was lost.
    Lost,
    /// It was killed, because it did not get on with it.
    Killed,
}

/// An agent in a process of this machine, which reads requests on stdin and writes events on stdout. Dropping it closes
/// its stdin and waits, so that it cleans up after itself.
#[derive(Debug)]
pub struct ProcessAgent {
    host: HostId,
    child: Child,
    /// Shared with the thread that says that the controller is alive; `None` once it is closed.
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    heard: Arc<Mutex<Heard>>,
    patience: Patience,
    /// Where it is at the other end of an `ssh`: the machine's name, and the last that ssh or the agent wrote to
    /// stderr, with which it is said how it ended.
    pub(crate) by_ssh: Option<(String, LastWords)>,
}

/// What an agent has said last.
#[derive(Debug, Clone, Copy)]
struct Heard {
    last: Instant,
    /// When it said that its work had got on.
    got_on: Instant,
}

/// How long an agent is waited for once its stdin is closed.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// A client has nothing to clean up.
    client: Duration,
    /// A database's agent says every [`wire::AT_WORK_S`] seconds that it is there: one that is stopped is not waited
    /// for any longer.
    silent: Duration,
    /// It says as well whenever less is left: an unmount takes as long as the disk needs to write what memory holds.
    /// What hangs, or cannot be called off, is not waited for any longer.
    stuck: Duration,
}

const PATIENCE: Patience = Patience {
    client: Duration::from_secs(5),
    silent: Duration::from_secs(2 * wire::AT_WORK_S + 2),
    stuck: Duration::from_secs(60),
};
/// From its being killed to its end: a process that waits for a disk that does not answer ends when that does.
const KILLED_PATIENCE: Duration = Duration::from_secs(2);
/// Most bytes of what an agent has said and nobody has taken yet. One that says more waits until it is heard: its pipe
/// fills, and it cannot fill the controller's memory.
const UNHEARD_MOST_BYTES: usize = 64 << 20;
/// Memory of a sample, which has room for all figures however few stand in its line: 3.4 KB (docs/scale.md).
const SAMPLE_BYTES: usize = 4_096;
/// From the end of an agent's output to the end of its process.
const END_PATIENCE: Duration = Duration::from_secs(1);

/// Bytes that an event takes in memory, whose line had so many.
fn memory_bytes(event: &Event, line_bytes: usize) -> usize {
    let samples = match event {
        Event::Sample(_) => 1,
        Event::Piece(piece) => piece.samples.len(),
        Event::Reply(_) | Event::AtWork | Event::Progress(_) | Event::Second(_) | Event::DatabaseDied { .. } => 0,
    };
    line_bytes.max(samples * SAMPLE_BYTES)
}

impl ProcessAgent {
    /// Starts `command` and forwards what it says into `inbox`.
    ///
    /// The agent gets a process group of its own: a terminal's Ctrl-C reaches the controller alone, which then stops
    /// its agents in order.
    pub fn start(host: HostId, mut command: Command, inbox: Sender<Incoming>) -> Result<Self, AgentError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child =
            command.spawn().map_err(|source| AgentError::Start { host, command: format!("{command:?}"), source })?;
        let stdin = Arc::new(Mutex::new(child.stdin.take()));
        let stdout = child.stdout.take().expect("stdout was piped above");
        let now = Instant::now();
        let heard = Arc::new(Mutex::new(Heard { last: now, got_on: now }));
        let hears = Arc::clone(&heard);
        thread::spawn(move || {
            let mut lines = BufReader::new(stdout);
            let room = Arc::new(Room::new(UNHEARD_MOST_BYTES));
            loop {
                let said = wire::read_sized::<Event>(&mut lines);
                let mut heard = hears.lock().unwrap_or_else(PoisonError::into_inner);
                heard.last = Instant::now();
                if matches!(said, Ok(Some((Event::Progress(_) | Event::Reply(_), _)))) {
                    heard.got_on = heard.last;
                }
                drop(heard);
                let message = match said {
                    Ok(Some((event, bytes))) => match event.check() {
                        Ok(()) => {
                            let held = room.hold(memory_bytes(&event, bytes));
                            Incoming::Event(host, Box::new(event), held)
                        }
                        Err(problem) => Incoming::Lost(host, format!("it said what cannot be: {problem}")),
                    },
                    Ok(None) => Incoming::Lost(host, "it exited".to_owned()),
                    Err(error) => Incoming::Lost(host, error.to_string()),
                };
                let last = matches!(message, Incoming::Lost(..));
                if inbox.send(message).is_err() || last {
                    return;
                }
            }
        });
        Ok(Self { host, child, stdin, heard, patience: PATIENCE, by_ssh: None })
    }

    /// From now on the agent gets [`Request::Alive`] every `period`, until it is closed.
    pub(crate) fn stay_in_touch(&self, period: Duration) {
        let stdin = Arc::downgrade(&self.stdin);
        thread::spawn(move || {
            while let Some(stdin) = stdin.upgrade() {
                let mut stdin = stdin.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(open) = stdin.as_mut() else { return };
                if wire::write(open, &Request::Alive).is_err() {
                    // It is gone, which shows at the other end.
                    return;
                }
                drop(stdin);
                thread::sleep(period);
            }
        });
    }

    /// What it writes to stderr, where that was piped.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// How the process has ended, if it has while it is `waited` for.
    fn ended(&mut self, waited: impl Fn() -> bool) -> Option<ExitStatus> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if waited() => thread::sleep(Duration::from_millis(20)),
                _ => return None,
            }
        }
    }

    /// The same after at most so long.
    fn ended_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let began = Instant::now();
        self.ended(|| began.elapsed() < patience)
    }

    fn stdin(&self) -> std::sync::MutexGuard<'_, Option<ChildStdin>> {
        self.stdin.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Agent for ProcessAgent {
    fn send(&mut self, request: &Request) -> Result<(), AgentError> {
        let host = self.host;
        let failed = |source| AgentError::Send { host, source };
        match self.stdin().as_mut() {
            Some(stdin) => wire::write(stdin, request).map_err(failed),
            None => Err(failed(WireError::Io(std::io::ErrorKind::BrokenPipe.into()))),
        }
    }

    /// Exit code or signal; of ssh with its own last words or the agent's. Waits a moment, because the end of its
    /// output comes a little earlier.
    fn how_it_ended(&mut self) -> Option<String> {
        let how = format!("it ended with {}", self.ended_within(END_PATIENCE)?);
        let Some((machine, words)) = &self.by_ssh else { return Some(how) };
        let words = Vec::from(words.lock().unwrap_or_else(PoisonError::into_inner).clone());
        Some(match words.is_empty() {
            true => format!("ssh {machine}: {how}"),
            false => format!("ssh {machine}: {how}; its last words: {}", words.join(" / ")),
        })
    }

    /// Closes the agent's stdin, which makes it clean up and exit, and waits; a stuck one is killed, and its ledger
    /// remains.
    fn close(&mut self) -> Ending {
        drop(self.stdin().take());
        let patience = self.patience;
        let (asked, heard) = (Instant::now(), Arc::clone(&self.heard));
        let ended = match self.host.role {
            Role::Client => self.ended_within(patience.client),
            Role::Database | Role::Cache => self.ended(|| {
                let Heard { last, got_on } = *heard.lock().unwrap_or_else(PoisonError::into_inner);
                last.max(asked).elapsed() < patience.silent && got_on.max(asked).elapsed() < patience.stuck
            }),
        };
        match ended {
            Some(status) if status.success() => Ending::InOrder,
            Some(_) => Ending::Lost,
            None => {
                // It fails only if the child is gone already, which is what we want.
                let _ = self.child.kill();
                self.ended_within(KILLED_PATIENCE);
                Ending::Killed
            }
        }
    }

    fn pid(&self) -> Option<u32> {
        Some(self.child.id())
    }
}

impl Drop for ProcessAgent {
    fn drop(&mut self) {
        if self.stdin().is_some() {
            self.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use evidence::HostSample;
    use wire::TrialPiece;

    use super::*;

    /// How an agent ends that does this once its stdin is closed, and after how many tenths of a second.
    fn ending(script: &str) -> (Ending, u128) {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("while read -r request; do :; done; {script}")]);
        let (inbox, _said) = std::sync::mpsc::channel();
        let mut agent = ProcessAgent::start(HostId::DATABASE, command, inbox).unwrap();
        agent.patience = Patience { silent: Duration::from_secs(2), stuck: Duration::from_secs(3), ..PATIENCE };
        let began = Instant::now();
        (agent.close(), began.elapsed().as_millis() / 100)
    }

    /// A slow disk made a clean-up longer than a fixed time, and what was killed then left the rest.
    #[test]
    fn an_agent_is_waited_for_as_long_as_its_end_comes_nearer() {
        let says = |event: &Event| {
            let mut line = Vec::new();
            wire::write(&mut line, event).unwrap();
            format!("echo '{}'", String::from_utf8(line).unwrap().trim())
        };
        let works = says(&Event::AtWork);
        let gets_on = says(&Event::Progress(wire::Progress { doing: "cleaning up".to_owned(), share: None }));
        let often = |says: &str| format!("for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do {says}; sleep 0.4; done");
        let (slow, took) = ending(&often(&gets_on));
        assert!(slow == Ending::InOrder && took >= 60, "{slow:?} after {took} tenths of a second");
        // It says that it works, from a thread that knows nothing of what hangs.
        let (stuck, took) = ending(&often(&works));
        assert!(stuck == Ending::Killed && (30..55).contains(&took), "{stuck:?} after {took} tenths of a second");
        let (silent, took) = ending("exec sleep 60");
        assert!(silent == Ending::Killed && (20..30).contains(&took), "{silent:?} after {took} tenths of a second");
        assert_eq!(ending("kill -9 $$").0, Ending::Lost);
        assert_eq!(ending(":").0, Ending::InOrder);
    }

    #[test]
    fn what_is_held_of_samples_is_their_memory_and_not_their_lines() {
        let sample = HostSample::default();
        let bytes = |event: &Event| {
            let mut line = Vec::new();
            wire::write(&mut line, event).unwrap();
            (memory_bytes(event, line.len()), line.len())
        };
        let (held, line) = bytes(&Event::Sample(Box::new(sample.clone())));
        assert!(line < 100 && held == SAMPLE_BYTES, "{held} of {line}");
        let piece = TrialPiece { intervals: Vec::new(), samples: vec![sample; 10] };
        assert_eq!(bytes(&Event::Piece(Box::new(piece))).0, 10 * SAMPLE_BYTES);
        let (held, line) = bytes(&Event::AtWork);
        assert_eq!(held, line);
    }
}
