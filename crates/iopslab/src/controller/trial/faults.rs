//! Planned faults: each is begun and ended at its moment of the measurement, while the clients go on.

use std::cell::Cell;
use std::time::{Duration, Instant};

use evidence::{FaultRecord, HostId};
use spec::NodeFault;
use wire::{DatabaseRequest, Fault, Moments, Reply, Request};

use crate::controller::crew::Agenda;

/// When measurement began, as far as the seconds that a client tells of show.
#[derive(Debug, Default)]
pub(super) struct Began(Cell<Option<Instant>>);

impl Began {
    /// Seconds of measurement until now.
    fn seconds_to(&self, now: Instant) -> Option<f64> {
        Some(now.checked_duration_since(self.0.get()?)?.as_secs_f64())
    }

    /// A client tells of a second that is over, `t_s` of the measurement; negative in warm-up. It is told of at once, and
    /// never early: of several tellings the earliest start is the best.
    pub fn told(&self, t_s: f64, now: Instant) {
        if t_s < 0.0 {
            return;
        }
        let told = now.checked_sub(Duration::from_secs_f64(t_s + 1.0));
        let best = self.0.get().into_iter().chain(told).min();
        self.0.set(best);
    }
}

/// What is done next to which fault.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    TakeAway,
    BringBack,
}

/// A fault that was begun.
#[derive(Debug)]
struct Done {
    fault: NodeFault,
    gone: Moments,
    /// How it went otherwise than was asked for, going and coming back.
    problems: Vec<String>,
    /// When its return was asked for, seconds of measurement: what is known where it did not come back.
    return_asked_s: Option<f64>,
    back: Option<Moments>,
}

/// The planned faults of a trial: what was done, and what is next.
pub(super) struct Faults<'a> {
    host_of: Box<dyn Fn(&NodeFault) -> HostId + 'a>,
    began: &'a Began,
    /// In order of time; they do not overlap.
    left: Vec<(NodeFault, Step)>,
    under_way: Option<(NodeFault, Step)>,
    done: Vec<Done>,
    /// Why a fault could not be begun.
    failed: Option<(HostId, Fault)>,
    /// Told about each step, for people.
    say: Box<dyn FnMut(&str) + 'a>,
}

impl<'a> Faults<'a> {
    /// None of them is done yet. `host_of` is the host of a fault's node; `say` is told of each step.
    pub fn new(
        planned: &[NodeFault],
        host_of: impl Fn(&NodeFault) -> HostId + 'a,
        began: &'a Began,
        say: impl FnMut(&str) + 'a,
    ) -> Self {
        let steps = planned.iter().flat_map(|fault| {
            let back = fault.for_s.map(|_| (*fault, Step::BringBack));
            std::iter::once((*fault, Step::TakeAway)).chain(back)
        });
        let mut left: Vec<_> = steps.collect();
        left.reverse();
        Self {
            host_of: Box::new(host_of),
            began,
            left,
            under_way: None,
            done: Vec::new(),
            failed: None,
            say: Box::new(say),
        }
    }

    /// Why a fault could not be begun, so that the trial is not what was planned.
    pub fn failed(&self) -> Option<&(HostId, Fault)> {
        self.failed.as_ref()
    }

    /// What was done, by seconds from the start of measurement, which each host's clock showed at `began_ms`.
    pub fn records(self, began_ms: impl Fn(HostId) -> Option<f64>) -> Vec<FaultRecord> {
        let record = |done: Done| {
            let host = (self.host_of)(&done.fault);
            let began_ms = began_ms(host)?;
            let at_s = |unix_ms: f64| (unix_ms - began_ms) / 1e3;
            let back = done.back;
            Some(FaultRecord {
                kind: done.fault.kind,
                host,
                began_s: at_s(done.gone.began_unix_ms),
                gone_s: at_s(done.gone.done_unix_ms),
                return_began_s: back.map_or(done.return_asked_s, |b| Some(at_s(b.began_unix_ms))),
                back_s: back.map(|b| at_s(b.done_unix_ms)),
                problem: (!done.problems.is_empty()).then(|| done.problems.join("; ")),
            })
        };
        self.done.into_iter().filter_map(record).collect()
    }
}

impl Agenda for Faults<'_> {
    fn due(&self) -> Option<Instant> {
        let (fault, step) = self.left.last().filter(|_| self.under_way.is_none())?;
        let at_s = match step {
            Step::TakeAway => fault.at_s,
            Step::BringBack => fault.until_s()?,
        };
        Some(self.began.0.get()? + Duration::from_secs_f64(at_s))
    }

    fn take(&mut self) -> Option<(HostId, Request)> {
        let (fault, step) = self.left.pop()?;
        self.under_way = Some((fault, step));
        let host = (self.host_of)(&fault);
        let request = match step {
            Step::TakeAway => DatabaseRequest::TakeAway(fault.kind),
            Step::BringBack => {
                let asked_s = self.began.seconds_to(Instant::now());
                if let Some(done) = self.done.last_mut() {
                    done.return_asked_s = asked_s;
                }
                DatabaseRequest::BringBack
            }
        };
        (self.say)(&match step {
            Step::TakeAway => format!("{} of {host}", fault.kind.name()),
            Step::BringBack => format!("bringing {host} back"),
        });
        Some((host, Request::Database(request)))
    }

    fn answered(&mut self, host: HostId, answer: Result<Reply, Fault>) -> Result<bool, Reply> {
        let Some((fault, step)) = self.under_way.take() else {
            return Ok(true);
        };
        match (step, answer) {
            (Step::TakeAway, Ok(Reply::TakenAway { moments, problem })) => {
                let but = problem.as_ref().map_or(String::new(), |p| format!(", but {p}"));
                (self.say)(&format!("{host} is away{but}"));
                self.done.push(Done {
                    fault,
                    gone: moments,
                    problems: problem.into_iter().collect(),
                    return_asked_s: None,
                    back: None,
                });
            }
            (Step::BringBack, Ok(Reply::BroughtBack(moments))) => {
                (self.say)(&format!("{host} is back"));
                if let Some(last) = self.done.last_mut() {
                    last.back = Some(moments);
                }
            }
            (_, Ok(other)) => return Err(other),
            (Step::TakeAway, Err(fault)) => {
                self.failed = Some((host, fault));
                return Ok(false);
            }
            (Step::BringBack, Err(fault)) => {
                let problem = match fault.cancelled {
                    true => "it was not back when the trial ended".to_owned(),
                    false => fault.message,
                };
                let first = problem.lines().next().unwrap_or_default();
                (self.say)(&format!("{host} did not come back: {first}"));
                if let Some(last) = self.done.last_mut() {
                    last.problems.push(problem);
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use spec::NodeFaultKind;

    use super::*;

    const KILL: NodeFault = NodeFault {
        kind: NodeFaultKind::NodeKill,
        node: 2,
        at_s: 10.0,
        for_s: Some(5.0),
    };

    fn node(fault: &NodeFault) -> HostId {
        HostId::database(fault.node - 1)
    }

    fn moments(began_unix_ms: f64, done_unix_ms: f64) -> Moments {
        Moments {
            began_unix_ms,
            done_unix_ms,
        }
    }

    fn gone(began_unix_ms: f64, done_unix_ms: f64, problem: Option<&str>) -> Result<Reply, Fault> {
        Ok(Reply::TakenAway {
            moments: moments(began_unix_ms, done_unix_ms),
            problem: problem.map(str::to_owned),
        })
    }

    #[test]
    fn a_fault_is_due_at_its_second_of_the_measurement_and_not_in_warm_up() {
        let began = Began::default();
        let mut faults = Faults::new(&[KILL], node, &began, |_| {});
        let now = Instant::now() + Duration::from_secs(100);
        began.told(-3.0, now);
        assert_eq!(faults.due(), None, "nobody has measured yet");
        // The second telling came 0.2 s late; the first one is the better one.
        began.told(0.0, now + Duration::from_secs(1));
        began.told(1.0, now + Duration::from_millis(2_200));
        assert_eq!(faults.due(), Some(now + Duration::from_secs(10)));

        let (host, request) = faults.take().unwrap();
        assert_eq!(host, HostId::database(1));
        assert!(matches!(
            request,
            Request::Database(DatabaseRequest::TakeAway(NodeFaultKind::NodeKill))
        ));
        assert_eq!(faults.due(), None, "one thing after the other");
        let went = faults.answered(host, gone(1_010_000.0, 1_010_500.0, None));
        assert_eq!(went.ok(), Some(true));
        assert_eq!(faults.due(), Some(now + Duration::from_secs(15)));
        let (host, _) = faults.take().unwrap();
        let came = faults.answered(host, Ok(Reply::BroughtBack(moments(1_015_000.0, 1_023_000.0))));
        assert_eq!(came.ok(), Some(true));
        assert_eq!(faults.due(), None);

        let records = faults.records(|_| Some(1_000_000.0));
        let [record] = records.as_slice() else {
            panic!("{records:?}")
        };
        assert_eq!((record.began_s, record.gone_s), (10.0, 10.5));
        assert_eq!((record.return_began_s, record.back_s), (Some(15.0), Some(23.0)));
        assert_eq!((record.host, &record.problem), (HostId::database(1), &None));
    }

    #[test]
    fn a_node_that_does_not_come_back_is_a_result_and_one_that_does_not_go_is_none() {
        let began = Began::default();
        let refused = |cancelled| {
            Err(Fault {
                message: "no space left".to_owned(),
                help: None,
                cancelled,
            })
        };
        let mut faults = Faults::new(&[KILL], node, &began, |_| {});
        let (host, _) = faults.take().unwrap();
        let _ = faults.answered(host, gone(10_000.0, 10_000.0, Some("it had not drained")));
        let (host, _) = faults.take().unwrap();
        assert_eq!(
            faults.answered(host, refused(false)).ok(),
            Some(true),
            "the clients go on"
        );
        let records = faults.records(|_| Some(0.0));
        assert_eq!(
            (records[0].return_began_s, records[0].back_s),
            (None, None),
            "nobody has measured"
        );
        assert_eq!(records[0].problem.as_deref(), Some("it had not drained; no space left"));

        let mut faults = Faults::new(&[KILL], node, &began, |_| {});
        let (host, _) = faults.take().unwrap();
        assert_eq!(faults.answered(host, refused(false)).ok(), Some(false), "called off");
        assert!(faults.failed().is_some());
        assert!(faults.records(|_| Some(0.0)).is_empty());
    }
}
