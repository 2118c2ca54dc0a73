//! Hosts are asked, and all that any of them says meanwhile is heard.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use evidence::{ClockReading, HostId, Role};
use process::machine::unix_ms;
use provider::Incoming;
use wire::{DatabaseRequest, Event, Reply, Request, RequestError};

use super::Agents;
use crate::run_failure::{Failure, Next, Result, answer};
use crate::silence::Watch;

/// How long agents may take to end a cancelled request.
pub const CANCEL_PATIENCE: Duration = Duration::from_secs(6);
/// How long hosts may take to end what they are about when another one is in trouble: not everything can be called off
/// (a compaction, the copy of a data set), and an agent that ends cleans up after itself.
const END_PATIENCE: Duration = Duration::from_secs(300);
/// Readings of a host's clock, of which the most certain is kept.
const CLOCK_READINGS: u32 = 5;

/// What became of requests, by host.
pub type Answers = BTreeMap<HostId, Result<Reply>>;

/// What is done with an event that is no answer; an error calls the conversation off.
pub type OnEvent<'a> = &'a mut dyn FnMut(HostId, Event) -> Result<()>;

/// What is asked of hosts at moments of their own while a conversation with others goes on.
pub trait Agenda {
    /// When the next thing is due; `None`: nothing is, as far as is known now.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// What is due.
    fn take(&mut self) -> Option<(HostId, DatabaseRequest)> {
        None
    }

    /// The answer to it; an error of the trial calls the conversation off.
    fn answered(&mut self, _: HostId, _: Result<Reply, RequestError>) -> Result<()> {
        Ok(())
    }
}

/// Nothing is asked beside.
struct EmptyAgenda;

impl Agenda for EmptyAgenda {}

impl Agents {
    /// Asks several database hosts the same at the same time; every fault ends the run.
    pub(crate) fn ask_each<R>(
        &mut self,
        hosts: &[HostId],
        request: &DatabaseRequest,
        read: impl Fn(Reply) -> Result<R>,
    ) -> Result<BTreeMap<HostId, R>> {
        let request = |host: &HostId| (*host, Request::Database(request.clone()));
        self.call_all(hosts.iter().map(request).collect(), read)
    }

    /// Sends a request and waits for its answer, showing progress meanwhile; every fault ends the run.
    pub(crate) fn call<R>(&mut self, host: HostId, request: Request, read: impl Fn(Reply) -> Result<R>) -> Result<R> {
        let answers = self.call_all(vec![(host, request)], read)?;
        answers.into_values().next().ok_or(Failure::NoAnswer(host))
    }

    /// The same with a request for each of several hosts, which work at the same time.
    pub(crate) fn call_all<R>(
        &mut self,
        requests: Vec<(HostId, Request)>,
        read: impl Fn(Reply) -> Result<R>,
    ) -> Result<BTreeMap<HostId, R>> {
        let (several, screen) = (requests.len() > 1, self.screen.clone());
        let answers = self.converse(requests, &mut |host, event| {
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
            Ok(())
        })?;
        let replies = all_or_gravest(answers).map_err(|(_, failure)| self.of_run(failure))?;
        let read = |(host, reply)| read(reply).map(|value| (host, value));
        replies.into_iter().map(read).collect()
    }

    /// Without an answer the run cannot go on: a client on a machine that may come back may come back, too.
    fn of_run(&self, failure: Failure) -> Failure {
        match failure {
            Failure::ClientLost { how } => self.out_of_reach(how),
            other => other,
        }
    }

    /// Sends each host its request and hands every other event of any host to `on_event` until all have answered. When
    /// `on_event` fails, when one of several is in trouble, or when the user interrupts, what is still under way is
    /// cancelled. An answer that nobody asked for ends the run: whatever it means, it is not ignored.
    pub(crate) fn converse(&mut self, requests: Vec<(HostId, Request)>, on_event: OnEvent<'_>) -> Result<Answers> {
        self.converse_beside(requests, on_event, &mut EmptyAgenda)
    }

    /// The same, and asks other hosts what an agenda says, when it is due. The conversation is over when those of
    /// `requests` have answered; what is then still under way beside is cancelled.
    pub(crate) fn converse_beside(
        &mut self,
        requests: Vec<(HostId, Request)>,
        on_event: OnEvent<'_>,
        agenda: &mut dyn Agenda,
    ) -> Result<Answers> {
        let mut conversation = Conversation {
            watch: Watch::new(self.silence, self.work),
            several: requests.len() > 1,
            waiting: BTreeSet::new(),
            beside: None,
            answers: Answers::new(),
            give_up: None,
            interrupted: false,
            called_off: None,
            agents: self,
        };
        for (host, request) in requests {
            conversation.ask(host, &request)?;
        }
        while conversation.goes_on() {
            if conversation.ask_what_is_due(agenda)? {
                continue;
            }
            let said = conversation.listen(agenda);
            if conversation.take(said, on_event, agenda)? && conversation.give_up.is_none() {
                conversation.cancel();
            }
        }
        conversation.called_off.map_or(Ok(conversation.answers), Err)
    }

    /// Reads the clocks of hosts, the most certain of a few readings each. A host is missing where time is only
    /// simulated. What hosts say meanwhile is passed over: nothing that counts may be under way.
    pub(crate) fn clocks(&mut self, hosts: &[HostId]) -> Result<BTreeMap<HostId, ClockReading>> {
        let mut clocks: BTreeMap<HostId, ClockReading> = BTreeMap::new();
        for host in hosts {
            for _ in 0..CLOCK_READINGS {
                let asked_ms = unix_ms();
                let answers = self.converse(vec![(*host, Request::Clock)], &mut |_, _| Ok(()))?;
                let answered_ms = unix_ms();
                let replies = all_or_gravest(answers).map_err(|(_, failure)| self.of_run(failure))?;
                let reply = replies.into_values().next().ok_or(Failure::NoAnswer(*host))?;
                let Some(shown) = answer!(Reply::Clock { unix_ms } => unix_ms)(reply)? else { break };
                let reading = ClockReading::new(asked_ms, answered_ms, shown);
                clocks.entry(*host).and_modify(|best| *best = best.better(reading)).or_insert(reading);
            }
        }
        Ok(clocks)
    }
}

/// All replies, or whose failure says why: a host that was called off because of another one says least.
pub fn all_or_gravest(answers: Answers) -> Result<BTreeMap<HostId, Reply>, (HostId, Failure)> {
    let mut replies = BTreeMap::new();
    let mut failures = Vec::new();
    for (host, answer) in answers {
        match answer {
            Ok(reply) => drop(replies.insert(host, reply)),
            Err(failure) => failures.push((host, failure)),
        }
    }
    failures.sort_by_key(|(_, failure)| match failure {
        Failure::Refused { error, .. } => 1 + u8::from(error.cancelled),
        _ => 0,
    });
    failures.into_iter().next().map_or(Ok(replies), Err)
}

/// Requests that are under way, and what has become of them.
struct Conversation<'c> {
    agents: &'c mut Agents,
    watch: Watch,
    several: bool,
    /// Those that have not answered yet.
    waiting: BTreeSet<HostId>,
    /// Who was asked what the agenda says.
    beside: Option<HostId>,
    answers: Answers,
    /// Set once it is called off.
    give_up: Option<Instant>,
    interrupted: bool,
    /// Why it is called off, where that is no answer.
    called_off: Option<Failure>,
}

impl Conversation<'_> {
    fn goes_on(&self) -> bool {
        !self.waiting.is_empty() || self.beside.is_some()
    }

    fn ask(&mut self, host: HostId, request: &Request) -> Result<()> {
        self.agents.start(&[host])?;
        self.watch.begins(host, request);
        let sent = self.agents.agents.get_mut(&host).map(|agent| agent.send(request));
        match (sent, host.role) {
            (Some(Ok(())), _) => {}
            // It ended unnoticed, which the inbox says later.
            (Some(Err(error)), Role::Database | Role::Cache) if self.agents.each_for_itself => {
                self.watch.heard(host, true);
                self.agents.lost.insert(host);
                self.answers.insert(host, Err(self.agents.out_of_reach(error.to_string())));
                return Ok(());
            }
            // It ended unnoticed; what it left in the inbox says so soon.
            (_, Role::Client) => self.give_up = Some(Instant::now() + CANCEL_PATIENCE),
            (Some(Err(error)), Role::Database | Role::Cache) => {
                return Err(self.agents.out_of_reach(error.to_string()));
            }
            (None, Role::Database | Role::Cache) => return Err(Failure::NoAnswer(host)),
        }
        self.waiting.insert(host);
        Ok(())
    }

    /// When the agenda wants something; not once it is called off.
    fn due(&self, agenda: &dyn Agenda) -> Option<Instant> {
        agenda.due().filter(|_| self.give_up.is_none())
    }

    /// Whether something was.
    fn ask_what_is_due(&mut self, agenda: &mut dyn Agenda) -> Result<bool> {
        if self.due(agenda).is_none_or(|at| at > Instant::now()) {
            return Ok(false);
        }
        let Some((host, request)) = agenda.take() else { return Ok(false) };
        let agent = self.agents.agents.get_mut(&host).ok_or(Failure::NoAnswer(host))?;
        let request = Request::Database(request);
        let sent = agent.send(&request);
        sent.map_err(|error| self.agents.out_of_reach(error.to_string()))?;
        self.watch.begins(host, &request);
        self.beside = Some(host);
        Ok(true)
    }

    /// What is said next, or that nobody says anything for as long as may be.
    fn listen(&mut self, agenda: &dyn Agenda) -> Result<Incoming, RecvTimeoutError> {
        let ends = self.give_up.or_else(|| self.watch.ends());
        let until = self.due(agenda).into_iter().chain(ends).min();
        let wait = until.map_or(Duration::from_secs(3600), |at| at.saturating_duration_since(Instant::now()));
        let said = match self.agents.next(wait) {
            // Called off, it has its own time to end.
            Err(RecvTimeoutError::Timeout) if self.give_up.is_none() => {
                let (host, how) = self.watch.overdue().ok_or(RecvTimeoutError::Timeout)?;
                self.agents.silent.insert(host);
                // The way to it may be cut as well: the user has to know which machine that is.
                let how = match self.agents.provider.may_come_back() {
                    true => format!("{}: {how}", self.agents.place(host).machine),
                    false => how,
                };
                Ok(Incoming::Lost(host, how))
            }
            said => said,
        };
        if let Ok(Incoming::Event(from, event, _)) = &said {
            self.watch.heard(*from, matches!(**event, Event::Reply(_)));
        }
        said
    }

    /// Takes what was said; `true`: what is still under way is to be cancelled.
    fn take(
        &mut self,
        said: Result<Incoming, RecvTimeoutError>,
        on_event: OnEvent<'_>,
        agenda: &mut dyn Agenda,
    ) -> Result<bool> {
        match said {
            Ok(Incoming::Event(from, event, _held)) => match *event {
                Event::AtWork => Ok(false),
                Event::Reply(_) if self.interrupted => Err(Failure::Interrupted(None)),
                Event::Reply(answer) if self.beside == Some(from) => {
                    self.beside = None;
                    self.may_call_off(agenda.answered(from, answer))
                }
                Event::Reply(answer) => self.answered(from, answer),
                other => self.may_call_off(on_event(from, other)),
            },
            Ok(Incoming::Lost(lost, how)) => self.lost(lost, how),
            Ok(Incoming::Interrupt) => {
                self.interrupted = true;
                // Whoever asks to stop does not wait for what is in trouble.
                self.give_up = self.give_up.map(|at| at.min(Instant::now() + CANCEL_PATIENCE));
                Ok(true)
            }
            Err(RecvTimeoutError::Timeout) if self.give_up.is_none() => Ok(false),
            Err(RecvTimeoutError::Timeout) => Err(self.given_up()),
            Err(RecvTimeoutError::Disconnected) => Err(Failure::work("all agents are gone")),
        }
    }

    /// What makes the trial invalid calls the conversation off; any other failure ends it.
    fn may_call_off(&mut self, outcome: Result<()>) -> Result<bool> {
        let Err(failure) = outcome else { return Ok(false) };
        if !matches!(failure.next(), Next::TrialInvalid(_)) {
            return Err(failure);
        }
        let is_end = |failure: &Failure| matches!(failure, Failure::DatabaseEnded { .. });
        // A database that has ended is why other things failed.
        if self.called_off.as_ref().is_none_or(|before| is_end(&failure) && !is_end(before)) {
            self.called_off = Some(failure);
        }
        Ok(true)
    }

    fn answered(&mut self, from: HostId, answer: Result<Reply, RequestError>) -> Result<bool> {
        if !self.waiting.remove(&from) {
            let answer = answer.map_or_else(|error| error.message, |reply| format!("{reply:?}"));
            return Err(Failure::NotAsked { host: from, answer });
        }
        let in_trouble = answer.is_err();
        let host = self.several.then_some(from);
        let answer = answer.map_err(|error| Failure::Refused { host, error });
        self.answers.insert(from, answer);
        Ok(in_trouble || (self.waiting.is_empty() && self.beside.is_some()))
    }

    /// An agent is gone. A client's costs what it was asked for; if that is nothing, nothing is lost.
    fn lost(&mut self, lost: HostId, how: String) -> Result<bool> {
        let ended = self.agents.agents.get_mut(&lost).and_then(|agent| agent.how_it_ended());
        self.agents.lost.insert(lost);
        if lost.role == Role::Client && !self.interrupted {
            self.watch.heard(lost, true);
            let was_asked = self.waiting.remove(&lost);
            if was_asked {
                let how = format!("the {lost} agent was lost: {}", ended.unwrap_or(how));
                self.answers.insert(lost, Err(Failure::ClientLost { how }));
            }
            return Ok(was_asked);
        }
        let may_come_back = self.agents.provider.may_come_back();
        if self.agents.each_for_itself && !self.interrupted {
            self.watch.heard(lost, true);
            if self.waiting.remove(&lost) {
                let how = format!("its agent is gone: {}", ended.filter(|_| may_come_back).unwrap_or(how));
                self.answers.insert(lost, Err(Failure::HostLost { how, help: None, may_come_back }));
            }
            return Ok(false);
        }
        let help = match may_come_back {
            true => "its agent undoes everything by itself; what a dead machine keeps goes with: iopslab clean --hosts",
            false => "its last words are above; what it left on this machine is removed when the run ends",
        };
        let how = ended.filter(|_| may_come_back).unwrap_or(how);
        Err(Failure::HostLost { how: format!("the {lost} agent is gone: {how}"), help: Some(help), may_come_back })
    }

    /// What was called off has not ended in time. What is known says more than that somebody is still busy.
    fn given_up(&mut self) -> Failure {
        if self.interrupted {
            return Failure::Interrupted(None);
        }
        let busy = self.waiting.first().copied().or(self.beside);
        match (all_or_gravest(std::mem::take(&mut self.answers)), busy) {
            (Err((_, failure)), _) => self.agents.of_run(failure),
            (Ok(_), Some(host)) => Failure::NoAnswer(host),
            (Ok(_), None) => Failure::Interrupted(None),
        }
    }

    fn cancel(&mut self) {
        let busy: Vec<HostId> = self.waiting.iter().copied().chain(self.beside).collect();
        // A client stops at once; what a database host is about may have to come to its end.
        let is_long = !self.interrupted && busy.iter().any(|host| host.role != Role::Client);
        self.give_up = Some(Instant::now() + if is_long { END_PATIENCE } else { CANCEL_PATIENCE });
        for host in busy {
            // An agent that does not listen any more will be reported as lost.
            let _ = self.agents.agents.get_mut(&host).map(|agent| agent.send(&Request::Cancel));
        }
    }
}
