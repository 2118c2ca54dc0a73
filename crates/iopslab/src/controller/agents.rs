//! The agents of a run and the one inbox that they and the user's Ctrl-C share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use evidence::{ClockReading, HostId, Role};
use provider::{Agent, Incoming, Provider};
use wire::{DatabaseRequest, Event, Reply, Request, RequestError};

use super::left_behind::left_by;
use super::silence::{SILENCE, Watch};
use crate::failure::Failure;
use crate::machine::unix_ms;
use crate::progress::Screen;

/// How long agents may take to end a cancelled request.
const CANCEL_PATIENCE: Duration = Duration::from_secs(6);
/// How long an agent that has ended may take to be noticed.
const LAST_WORDS_PATIENCE: Duration = Duration::from_secs(2);
/// How long hosts may take to end what they are about when another one is in trouble: not everything can be called off
/// (a compaction, the copy of a data set), and an agent that ends cleans up after itself.
const END_PATIENCE: Duration = Duration::from_secs(300);
/// Readings of a host's clock, of which the most certain is kept.
const CLOCK_READINGS: u32 = 5;

/// The agents of a run, by host.
pub struct Agents {
    provider: Box<dyn Provider>,
    agents: BTreeMap<HostId, Box<dyn Agent>>,
    /// Clients that are gone; another one is started before it is asked for something.
    lost: BTreeSet<HostId>,
    /// A host that cannot be reached and may be there again, in words.
    cut_off: Option<String>,
    /// Machines could not be had where they were asked for, and may be had elsewhere or later.
    has_no_room: bool,
    inbox: Receiver<Incoming>,
    /// What others have said while one was waited for.
    unheard: VecDeque<Incoming>,
    to: Sender<Incoming>,
    /// Hosts that were given up while they were silent: what their agents still say belongs to nothing.
    silent: BTreeSet<HostId>,
    /// How long an agent may be silent while it works.
    silence: Duration,
    /// Work directories of hosts that are on this machine.
    work_here: BTreeMap<HostId, PathBuf>,
}

/// Why a host has no answer.
pub enum HostFailure {
    /// The agent says what is wrong.
    Request(RequestError),
    /// A client's agent was lost while it did what was asked of it, in words. It keeps nothing that outlives a request,
    /// so that another one can take the next.
    ClientLost(String),
}

/// What became of requests, by host.
pub type Answered = BTreeMap<HostId, Result<Reply, HostFailure>>;

/// The same, or that the run cannot go on: a database agent is gone, or the user asked to stop.
pub type Answers = Result<Answered, Failure>;

/// What is asked of hosts at moments of their own while a conversation with others goes on.
pub trait Agenda {
    /// When the next thing is due; `None`: nothing is, as far as is known now.
    fn due(&self) -> Option<Instant>;

    /// What is due.
    fn take(&mut self) -> Option<(HostId, Request)>;

    /// The answer to it. `false` calls the conversation off; an error is an answer to something else.
    fn answered(&mut self, host: HostId, answer: Result<Reply, RequestError>) -> Result<bool, Reply>;
}

/// Nothing is asked beside.
struct EmptyAgenda;

impl Agenda for EmptyAgenda {
    fn due(&self) -> Option<Instant> {
        None
    }

    fn take(&mut self) -> Option<(HostId, Request)> {
        None
    }

    fn answered(&mut self, _: HostId, _: Result<Reply, RequestError>) -> Result<bool, Reply> {
        Ok(true)
    }
}

impl From<HostFailure> for Failure {
    fn from(host_failure: HostFailure) -> Self {
        match host_failure {
            HostFailure::ClientLost(how) => Self::work(how),
            HostFailure::Request(error) => match error.help {
                Some(help) => Self::work(error.message).help(help),
                None => Self::work(error.message),
            },
        }
    }
}

impl Agents {
    /// No agents yet. `inbox` is where the signal handler sends its [`Incoming::Interrupt`].
    pub fn new(provider: Box<dyn Provider>, (to, inbox): (Sender<Incoming>, Receiver<Incoming>)) -> Self {
        Self {
            provider,
            agents: BTreeMap::new(),
            lost: BTreeSet::new(),
            cut_off: None,
            has_no_room: false,
            inbox,
            unheard: VecDeque::new(),
            to,
            silent: BTreeSet::new(),
            silence: SILENCE,
            work_here: BTreeMap::new(),
        }
    }

    /// A channel for [`Agents::new`].
    pub fn channel() -> (Sender<Incoming>, Receiver<Incoming>) {
        channel()
    }

    /// Whether trials take no time.
    pub fn is_simulated(&self) -> bool {
        self.provider.is_simulated()
    }

    /// The machines are there from here on, until [`Self::release`].
    pub fn provide(&mut self, screen: &mut Screen, interrupted: &AtomicBool) -> Result<(), Failure> {
        let is_called_off = || interrupted.load(Ordering::Relaxed);
        let made = self.provider.provide(&mut |what| screen.say(what), &is_called_off);
        made.map_err(|error| {
            self.has_no_room = error.has_no_room();
            match is_called_off() {
                true => Failure::interrupted(error),
                false => Failure::work(error),
            }
        })
    }

    /// Whether [`Self::provide`] failed because there is no room for the machines where they were asked for, now.
    pub fn has_no_room(&self) -> bool {
        self.has_no_room
    }

    /// Machines that were made for the run are taken away.
    pub fn release(&mut self, screen: &mut Screen) -> Result<(), Failure> {
        self.provider
            .release(&mut |what| screen.say(what))
            .map_err(Failure::work)
    }

    /// Starts the agents of hosts that have none.
    pub fn start(&mut self, hosts: &[HostId]) -> Result<(), Failure> {
        for host in hosts {
            if self.lost.remove(host) {
                self.agents.remove(host);
                self.forget_words_of(*host);
            }
        }
        let missing = hosts.iter().filter(|host| !self.agents.contains_key(host));
        let missing: Vec<HostId> = missing.copied().collect();
        if let Err(error) = self.provider.prepare(&missing) {
            return Err(self.out_of_reach(error.to_string()));
        }
        for host in missing {
            match self.provider.start(host, self.to.clone()) {
                Ok(agent) => drop(self.agents.insert(host, agent)),
                Err(error) => return Err(self.out_of_reach(error.to_string())),
            }
        }
        Ok(())
    }

    /// The agent of a host that was silent has been ended: what it has said before that is passed over, up to its end.
    fn forget_words_of(&mut self, host: HostId) {
        let until = Instant::now() + LAST_WORDS_PATIENCE;
        while self.silent.contains(&host) {
            match self.inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Incoming::Lost(lost, _)) if lost == host => drop(self.silent.remove(&host)),
                Ok(Incoming::Event(from, ..)) if from == host => {}
                Ok(other) => self.unheard.push_back(other),
                Err(_) => drop(self.silent.remove(&host)),
            }
        }
    }

    /// What is said next.
    fn next(&mut self, wait: Duration) -> Result<Incoming, RecvTimeoutError> {
        self.unheard
            .pop_front()
            .map_or_else(|| self.inbox.recv_timeout(wait), Ok)
    }

    /// A host that cannot be reached and may be there again after [`Self::dismiss`], in words.
    pub fn cut_off(&self) -> Option<&str> {
        self.cut_off.as_deref()
    }

    fn out_of_reach(&mut self, how: String) -> Failure {
        if self.provider.may_come_back() {
            self.cut_off = Some(how.clone());
        }
        Failure::work(how)
    }

    /// Ends all agents and forgets them with what they still say; the next request starts others.
    pub fn dismiss(&mut self, screen: &mut Screen) {
        self.close(screen);
        let mut speaking: BTreeSet<HostId> = self.agents.keys().copied().collect();
        speaking.retain(|host| !self.lost.contains(host));
        self.agents.clear();
        // The last that each one says is that it is lost.
        while !speaking.is_empty() {
            match self.inbox.recv_timeout(LAST_WORDS_PATIENCE) {
                Ok(Incoming::Lost(host, _)) => drop(speaking.remove(&host)),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        self.lost.clear();
        self.unheard.clear();
        self.silent.clear();
        self.cut_off = None;
    }

    /// What a database host's machine is used for.
    pub(super) fn machine_use(&self, host: HostId) -> Option<wire::MachineUse> {
        self.provider.machine_use(host)
    }

    /// Where a host is.
    pub(super) fn place(&self, host: HostId) -> provider::HostAddress {
        self.provider.place(host)
    }

    /// Asks several database hosts the same at the same time; every fault ends the run.
    pub(super) fn ask_each(
        &mut self,
        hosts: &[HostId],
        request: &DatabaseRequest,
        screen: &mut Screen,
    ) -> Result<BTreeMap<HostId, Reply>, Failure> {
        self.call_all(to_each(hosts, request), screen)
    }

    /// Sends a request and waits for its answer, showing progress meanwhile; every fault ends the run.
    pub fn call(&mut self, host: HostId, request: Request, screen: &mut Screen) -> Result<Reply, Failure> {
        let answers = self.call_all(vec![(host, request)], screen)?;
        answers.into_values().next().ok_or_else(|| no_answer(host))
    }

    /// The same with a request for each of several hosts, which work at the same time.
    pub fn call_all(
        &mut self,
        requests: Vec<(HostId, Request)>,
        screen: &mut Screen,
    ) -> Result<BTreeMap<HostId, Reply>, Failure> {
        let several = requests.len() > 1;
        let answers = self.try_call_all(requests, screen)?;
        let mut replies = BTreeMap::new();
        let mut host_failures = Vec::new();
        for (host, answer) in answers {
            match answer {
                Ok(reply) => drop(replies.insert(host, reply)),
                Err(host_failure) => host_failures.push((host, host_failure)),
            }
        }
        match gravest(host_failures) {
            Some((host, host_failure)) => Err(self.failure(several.then_some(host), host_failure)),
            None => Ok(replies),
        }
    }

    /// What a trouble is for the run: a client on a machine that may come back may come back, too. The host is named
    /// where several were asked.
    fn failure(&mut self, of_several: Option<HostId>, host_failure: HostFailure) -> Failure {
        match (host_failure, of_several) {
            (HostFailure::ClientLost(how), _) => self.out_of_reach(how),
            (HostFailure::Request(error), Some(host)) => Failure::from(HostFailure::Request(RequestError {
                message: format!("{host}: {}", error.message),
                ..error
            })),
            (host_failure, None) => host_failure.into(),
        }
    }

    /// The same, and faults are answers.
    pub fn try_call_all(&mut self, requests: Vec<(HostId, Request)>, screen: &mut Screen) -> Answers {
        let several = requests.len() > 1;
        self.converse(requests, &mut |host, event| {
            if let Event::Progress(progress) = event {
                let share = match progress.share {
                    Some((done, total)) if total > 0 => format!("{:.0} %", 100.0 * done as f64 / total as f64),
                    _ => String::new(),
                };
                // How far one of several is says nothing without its name.
                match several && !share.is_empty() {
                    true => screen.doing(&format!("{host}: {}", progress.doing), &share),
                    false => screen.doing(&progress.doing, &share),
                }
            }
            true
        })
    }

    /// Sends each host its request and hands every other event of any host to `on_event` until all have answered. When
    /// `on_event` returns `false`, when one of several is in trouble, or when the user interrupts, what is still under
    /// way is cancelled. An answer that nobody asked for ends the run: whatever it means, it is not ignored.
    pub fn converse(
        &mut self,
        requests: Vec<(HostId, Request)>,
        on_event: &mut dyn FnMut(HostId, Event) -> bool,
    ) -> Answers {
        self.converse_beside(requests, on_event, &mut EmptyAgenda)
    }

    /// The same, and asks other hosts what an agenda says, when it is due. The conversation is over when those of
    /// `requests` have answered; what is then still under way beside is cancelled.
    pub fn converse_beside(
        &mut self,
        requests: Vec<(HostId, Request)>,
        on_event: &mut dyn FnMut(HostId, Event) -> bool,
        agenda: &mut dyn Agenda,
    ) -> Answers {
        let mut give_up: Option<Instant> = None;
        let mut waiting = BTreeSet::new();
        let mut watch = Watch::new(self.silence);
        for (host, request) in requests {
            self.start(&[host])?;
            watch.begins(host, &request);
            let sent = self.agents.get_mut(&host).map(|agent| agent.send(&request));
            match (sent, host.role) {
                (Some(Ok(())), _) => {}
                // It ended unnoticed; what it left in the inbox says so soon.
                (_, Role::Client) => give_up = Some(Instant::now() + CANCEL_PATIENCE),
                (Some(Err(error)), Role::Database) => return Err(self.out_of_reach(error.to_string())),
                (None, Role::Database) => return Err(no_answer(host)),
            }
            waiting.insert(host);
        }
        let mut answers: BTreeMap<HostId, Result<Reply, HostFailure>> = BTreeMap::new();
        let mut interrupted = false;
        let mut beside: Option<HostId> = None;
        while !waiting.is_empty() || beside.is_some() {
            let due = agenda.due().filter(|_| give_up.is_none());
            if due.is_some_and(|at| at <= Instant::now())
                && let Some((host, request)) = agenda.take()
            {
                let sent = self.agents.get_mut(&host).map(|agent| agent.send(&request));
                watch.begins(host, &Request::Cancel);
                match sent {
                    Some(Ok(())) => beside = Some(host),
                    Some(Err(error)) => return Err(self.out_of_reach(error.to_string())),
                    None => return Err(no_answer(host)),
                }
                continue;
            }
            let until = due.into_iter().chain(give_up.or_else(|| watch.ends())).min();
            let wait = until.map_or(Duration::from_secs(3600), |at| {
                at.saturating_duration_since(Instant::now())
            });
            let said = match self.next(wait) {
                // Called off, it has its own time to end.
                Err(RecvTimeoutError::Timeout) if give_up.is_none() => {
                    watch.overdue().map_or(Err(RecvTimeoutError::Timeout), |(host, how)| {
                        self.silent.insert(host);
                        Ok(Incoming::Lost(host, how))
                    })
                }
                said => said,
            };
            if let Ok(Incoming::Event(from, event, _)) = &said {
                watch.heard(*from, matches!(**event, Event::Reply(_)));
            }
            let cancel = match said {
                Ok(Incoming::Event(from, event, _held)) => match *event {
                    Event::AtWork => false,
                    Event::Reply(_) if interrupted => return Err(interruption()),
                    Event::Reply(answer) if beside == Some(from) => {
                        beside = None;
                        match agenda.answered(from, answer) {
                            Ok(go_on) => !go_on,
                            Err(other) => return Err(not_asked(from, &Ok(other))),
                        }
                    }
                    Event::Reply(answer) => {
                        if !waiting.remove(&from) {
                            return Err(not_asked(from, &answer));
                        }
                        let in_trouble = answer.is_err();
                        answers.insert(from, answer.map_err(HostFailure::Request));
                        in_trouble || (waiting.is_empty() && beside.is_some())
                    }
                    other => !on_event(from, other),
                },
                Ok(Incoming::Lost(lost, how)) if lost.role == Role::Client && !interrupted => {
                    watch.heard(lost, true);
                    let ended = self.agents.get_mut(&lost).and_then(|agent| agent.how_it_ended());
                    self.lost.insert(lost);
                    // If nothing was asked of it, nothing is lost.
                    let was_asked = waiting.remove(&lost);
                    if was_asked {
                        let how = format!("the {lost} agent was lost: {}", ended.unwrap_or(how));
                        answers.insert(lost, Err(HostFailure::ClientLost(how)));
                    }
                    was_asked
                }
                Ok(Incoming::Lost(lost, how)) => {
                    let ended = self.agents.get_mut(&lost).and_then(|agent| agent.how_it_ended());
                    self.lost.insert(lost);
                    let may_come_back = self.provider.may_come_back();
                    let help = match may_come_back {
                        true => {
                            "its agent undoes everything by itself; what a dead machine keeps goes with: iopslab clean --hosts"
                        }
                        false => "its last words are above; a killed agent's leftovers go with: iopslab clean",
                    };
                    let how = ended.filter(|_| may_come_back).unwrap_or(how);
                    return Err(self.out_of_reach(format!("the {lost} agent is gone: {how}")).help(help));
                }
                Ok(Incoming::Interrupt) => {
                    interrupted = true;
                    // Whoever asks to stop does not wait for what is in trouble.
                    give_up = give_up.map(|at| at.min(Instant::now() + CANCEL_PATIENCE));
                    true
                }
                Err(RecvTimeoutError::Timeout) if interrupted => return Err(interruption()),
                Err(RecvTimeoutError::Timeout) if give_up.is_some() => {
                    // What is known says more than that somebody is still busy.
                    let host_failures = answers
                        .into_iter()
                        .filter_map(|(host, answer)| Some((host, answer.err()?)));
                    let busy = waiting.first().or(beside.as_ref());
                    return Err(match (gravest(host_failures.collect()), busy) {
                        (Some((host, host_failure)), _) => self.failure(Some(host), host_failure),
                        (None, Some(host)) => no_answer(*host),
                        (None, None) => interruption(),
                    });
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::work("all agents are gone")),
            };
            if cancel && give_up.is_none() {
                // A client stops at once; what a database host is about may have to come to its end.
                let is_long = !interrupted && waiting.iter().chain(&beside).any(|host| host.role == Role::Database);
                give_up = Some(Instant::now() + if is_long { END_PATIENCE } else { CANCEL_PATIENCE });
                for host in waiting.iter().chain(&beside) {
                    // An agent that does not listen any more will be reported as lost.
                    let _ = self.agents.get_mut(host).map(|agent| agent.send(&Request::Cancel));
                }
            }
        }
        Ok(answers)
    }

    /// Reads the clocks of hosts, the most certain of a few readings each. A host is missing where time is only
    /// simulated. What hosts say meanwhile is passed over: nothing that counts may be under way.
    pub fn clocks(&mut self, hosts: &[HostId]) -> Result<BTreeMap<HostId, ClockReading>, Failure> {
        let mut clocks: BTreeMap<HostId, ClockReading> = BTreeMap::new();
        for host in hosts {
            for _ in 0..CLOCK_READINGS {
                let asked_ms = unix_ms();
                let mut answers = self.converse(vec![(*host, Request::Clock)], &mut |_, _| true)?;
                let answered_ms = unix_ms();
                let answer = answers.remove(host).ok_or_else(|| no_answer(*host))?;
                match answer.map_err(|host_failure| self.failure(None, host_failure))? {
                    Reply::Clock { unix_ms: Some(shown) } => {
                        let reading = ClockReading::new(asked_ms, answered_ms, shown);
                        clocks
                            .entry(*host)
                            .and_modify(|best| *best = best.better(reading))
                            .or_insert(reading);
                    }
                    Reply::Clock { unix_ms: None } => break,
                    other => return Err(unexpected(&other)),
                }
            }
        }
        Ok(clocks)
    }

    /// Ends all agents: clients first, so that nothing loads a database that is being stopped.
    pub fn close(&mut self, screen: &mut Screen) {
        screen.about("");
        screen.doing("cleaning up", "");
        for (host, agent) in self.agents.iter_mut().rev() {
            if !agent.close() {
                let help = left_by(*host, self.work_here.get(host), self.provider.may_come_back());
                screen.say(&format!("the {host} agent does not end and was killed{help}"));
            }
        }
    }

    /// A database host has this work directory, which is on this machine.
    pub(super) fn works_here(&mut self, host: HostId, directory: &Path) {
        self.work_here.insert(host, directory.to_owned());
    }
}

/// The trouble that says why: a host that was called off because of another one says least.
pub(super) fn gravest(mut host_failures: Vec<(HostId, HostFailure)>) -> Option<(HostId, HostFailure)> {
    host_failures.sort_by_key(|(_, host_failure)| match host_failure {
        HostFailure::ClientLost(_) => 0,
        HostFailure::Request(error) => 1 + u8::from(error.cancelled),
    });
    host_failures.into_iter().next()
}

/// The same request for each of several database hosts.
fn to_each(hosts: &[HostId], request: &DatabaseRequest) -> Vec<(HostId, Request)> {
    hosts
        .iter()
        .map(|host| (*host, Request::Database(request.clone())))
        .collect()
}

fn interruption() -> Failure {
    Failure::interrupted("interrupted")
}

fn no_answer(host: HostId) -> Failure {
    Failure::work(format!("the {host} agent does not answer"))
}

fn not_asked(host: HostId, answer: &Result<Reply, RequestError>) -> Failure {
    let answer = match answer {
        Ok(reply) => format!("{reply:?}"),
        Err(error) => error.message.clone(),
    };
    Failure::work(format!(
        "the {host} agent gave an answer that it was not asked for: {answer}"
    ))
}

/// An agent's answer that does not belong to what it was asked.
pub(super) fn unexpected(reply: &Reply) -> Failure {
    Failure::work(format!("an agent gave an answer to another question: {reply:?}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use provider::local::Local;
    use wire::ClientRequest;

    /// Agents as a shell script. The first client that is asked for something is killed; what begins as `idle` ends
    /// before that, and its database waits for it; a `twice` database answers twice; an `older` one is of another
    /// version. All others answer.
    const AGENTS: &str = r#"#!/bin/sh
case "$(basename "$0") $3" in
    asked*client) [ -e "$0.lost" ] || { read -r request; : > "$0.lost"; kill -9 $$; } ;;
    idle*client) [ -e "$0.lost" ] || { : > "$0.lost"; exit 7; } ;;
    idle*database) while [ ! -e "$0.lost" ]; do sleep 0.05; done; sleep 0.5 ;;
    twice*database) read -r request; echo '{"reply":{"Ok":"closed"}}' ; echo '{"reply":{"Ok":"closed"}}' ;;
    twice*client) sleep 0.5 ;;
    silent*client) [ -e "$0.silent" ] || { : > "$0.silent"; read -r request; exec sleep 2; } ;;
    silent*database) read -r request; exec sleep 2 ;;
    stopped*client) kill -STOP $$ ;;
    older*database) read -r request; echo '{"reply":{"Err":{"message":"other protocol","help":"same","cancelled":false}}}' ;;
esac
while read -r request; do echo '{"reply":{"Ok":"closed"}}'; done
"#;

    fn agents(directory: &Path, name: &str) -> Agents {
        let binary = directory.join(name);
        std::fs::write(&binary, AGENTS).unwrap();
        std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut agents = Agents::new(Box::new(Local::new(binary)), Agents::channel());
        agents.start(&[HostId::DATABASE, HostId::CLIENT]).unwrap();
        agents
    }

    fn close(role: Role) -> Request {
        match role {
            Role::Database => Request::Database(DatabaseRequest::Close),
            Role::Client => Request::Client(ClientRequest::Close),
        }
    }

    fn ask(agents: &mut Agents, host: HostId) -> Result<Reply, HostFailure> {
        let answers = agents.converse(vec![(host, close(host.role))], &mut |_, _| true);
        answers.unwrap().remove(&host).unwrap()
    }

    #[test]
    fn a_lost_client_costs_what_it_was_doing_and_nothing_after_it() {
        let directory = tempfile::tempdir().unwrap();
        let mut asked = agents(directory.path(), "asked");
        let Err(HostFailure::ClientLost(how)) = ask(&mut asked, HostId::CLIENT) else {
            panic!("the client was killed while it was asked");
        };
        assert!(
            how.contains("the client agent was lost") && how.contains("SIGKILL"),
            "{how}"
        );
        assert!(matches!(ask(&mut asked, HostId::DATABASE), Ok(Reply::Closed)));
        assert!(
            matches!(ask(&mut asked, HostId::CLIENT), Ok(Reply::Closed)),
            "another one answers"
        );

        // Lost while it was idle: nothing is lost.
        let mut idle = agents(directory.path(), "idle");
        assert!(matches!(ask(&mut idle, HostId::DATABASE), Ok(Reply::Closed)));
        assert!(matches!(ask(&mut idle, HostId::CLIENT), Ok(Reply::Closed)));
    }

    /// What a stopped process (SIGSTOP) looks like, and a machine that hangs.
    #[test]
    fn a_host_that_says_nothing_is_given_up_by_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let mut agents = agents(directory.path(), "silent");
        agents.silence = Duration::from_millis(300);
        let Err(HostFailure::ClientLost(how)) = ask(&mut agents, HostId::CLIENT) else {
            panic!("the client says nothing");
        };
        assert_eq!(how, "the client agent was lost: it has said nothing for 0 s");
        // Another one is started in its place, and nothing of the first one is taken for it.
        agents.silence = SILENCE;
        assert!(matches!(ask(&mut agents, HostId::CLIENT), Ok(Reply::Closed)));

        agents.silence = Duration::from_millis(300);
        let hello = |host| {
            (
                host,
                Request::Hello {
                    protocol: wire::PROTOCOL,
                },
            )
        };
        let Err(Failure::Work { message, .. }) = agents.call_all(vec![hello(HostId::database(1))], &mut Screen::new())
        else {
            panic!("the database says nothing");
        };
        assert_eq!(message, "the database-2 agent is gone: it has said nothing for 0 s");
    }

    /// A client that was stopped (SIGSTOP) neither answers nor ends: both waits have their bounds, and nobody is sent to clean what
    /// nothing was made of.
    #[test]
    fn who_interrupts_a_run_does_not_wait_for_a_client_that_is_stopped() {
        let directory = tempfile::tempdir().unwrap();
        let mut agents = agents(directory.path(), "stopped");
        agents.to.send(Incoming::Interrupt).unwrap();
        let began = Instant::now();
        let asked = agents.converse(vec![(HostId::CLIENT, close(Role::Client))], &mut |_, _| true);
        assert!(matches!(asked, Err(Failure::Interrupted { .. })));
        agents.close(&mut Screen::new());
        let took = began.elapsed();
        let bound = CANCEL_PATIENCE + Duration::from_secs(5 + 2);
        assert!(took < bound + Duration::from_secs(3), "{took:?}");
    }

    #[test]
    fn several_hosts_are_asked_at_the_same_time_and_each_answers_for_itself() {
        let directory = tempfile::tempdir().unwrap();
        let mut agents = agents(directory.path(), "plain");
        let hosts = [HostId::DATABASE, HostId::database(1), HostId::CLIENT, HostId::client(1)];
        let requests = hosts.map(|host| (host, close(host.role)));
        let answers = agents.converse(requests.to_vec(), &mut |_, _| true).unwrap();
        assert_eq!(answers.len(), 4);
        assert!(answers.values().all(|answer| matches!(answer, Ok(Reply::Closed))));
    }

    #[test]
    fn a_host_of_another_version_is_refused_by_its_name_with_what_to_do() {
        let directory = tempfile::tempdir().unwrap();
        let mut agents = agents(directory.path(), "older");
        let hello = |host| {
            let protocol = wire::PROTOCOL;
            (host, Request::Hello { protocol })
        };
        let requests = vec![hello(HostId::DATABASE), hello(HostId::CLIENT)];
        let Err(Failure::Work { message, help }) = agents.call_all(requests, &mut Screen::new()) else {
            panic!("its protocol is another one");
        };
        assert_eq!(
            (message.as_str(), help.as_deref()),
            ("database: other protocol", Some("same"))
        );
    }

    #[test]
    fn a_host_that_was_called_off_says_less_than_the_one_that_failed() {
        let error = |message: &str, cancelled| {
            HostFailure::Request(RequestError {
                message: message.to_owned(),
                help: None,
                cancelled,
            })
        };
        let host_failures = vec![
            (HostId::DATABASE, error("cancelled", true)),
            (HostId::database(1), error("no space left", false)),
            (HostId::database(2), error("cancelled", true)),
        ];
        let (host, host_failure) = gravest(host_failures).unwrap();
        assert_eq!(host, HostId::database(1));
        let directory = tempfile::tempdir().unwrap();
        let Failure::Work { message, .. } = agents(directory.path(), "plain").failure(Some(host), host_failure) else {
            panic!("it is a failure of the work");
        };
        assert_eq!(message, "database-2: no space left");
        let lost = (HostId::CLIENT, HostFailure::ClientLost("killed".to_owned()));
        let (host, _) = gravest(vec![(HostId::client(1), error("cancelled", true)), lost]).unwrap();
        assert_eq!(host, HostId::CLIENT);
    }

    #[test]
    fn an_answer_that_nobody_asked_for_is_never_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let mut agents = agents(directory.path(), "twice");
        assert!(matches!(ask(&mut agents, HostId::DATABASE), Ok(Reply::Closed)));
        let second = agents.converse(vec![(HostId::CLIENT, close(Role::Client))], &mut |_, _| true);
        let Err(Failure::Work { message, .. }) = second else {
            panic!("the second answer was ignored");
        };
        assert!(
            message.contains("database agent gave an answer that it was not asked for"),
            "{message}"
        );
    }
}
