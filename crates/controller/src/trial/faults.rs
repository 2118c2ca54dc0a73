//! What is done to nodes while the clients go on, each at its moment of the measurement: planned faults, which are
//! begun and ended, and before them all backlogs, which nodes are left to compact.

use std::collections::BTreeMap;
use std::time::Instant;

use evidence::{BacklogFound, FaultRecord, HostId};
use experiment::{NodeFault, NodeFaultKind};
use wire::{DatabaseRequest, Moments, Reply, RequestError};

use super::failed_disks::{FailedDisks, MeasurementStart};
use crate::agents::conversation::Agenda;
use crate::run_failure::{Failure, Result, answer};

/// What is done next.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Task {
    /// A node is left to compact its backlog.
    Compact(HostId),
    StartFault(NodeFault),
    EndFault(NodeFault),
}

/// What a fault takes away, for people: the database's node on this host, or a cache in front of it; `None`: nothing.
fn taken(fault: &NodeFault, host: HostId) -> Option<String> {
    fault.action.cache().or_else(|| fault.kind().takes_node_away().then(|| host.to_string()))
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
    failed_requests: Option<u64>,
}

/// Planned faults and backlogs of a trial: what was done, and what is next.
pub(super) struct Faults<'a> {
    host_of: Box<dyn Fn(&NodeFault) -> HostId + 'a>,
    measurement_start: &'a MeasurementStart,
    failed_disks: &'a FailedDisks,
    /// The next one last; they do not overlap.
    left: Vec<Task>,
    under_way: Option<Task>,
    done: Vec<Done>,
    /// SSTables of nodes that compact their backlogs, and since when by their clocks, Unix milliseconds.
    compacting: BTreeMap<HostId, (u64, f64)>,
    /// Called with each step, for people.
    say: Box<dyn FnMut(&str) + 'a>,
}

impl<'a> Faults<'a> {
    /// None of them is done yet. `host_of` is the host of a fault's node; `say` takes each step, for people.
    pub fn new(
        planned: &[NodeFault],
        host_of: impl Fn(&NodeFault) -> HostId + 'a,
        (measurement_start, failed_disks): (&'a MeasurementStart, &'a FailedDisks),
        say: impl FnMut(&str) + 'a,
    ) -> Self {
        let steps = planned.iter().flat_map(|fault| {
            let ends = fault.for_s.is_some() || fault.kind() == NodeFaultKind::Compaction;
            std::iter::once(Task::StartFault(*fault)).chain(ends.then_some(Task::EndFault(*fault)))
        });
        let mut left: Vec<_> = steps.collect();
        left.reverse();
        Self {
            host_of: Box::new(host_of),
            measurement_start,
            failed_disks,
            left,
            under_way: None,
            done: Vec::new(),
            compacting: BTreeMap::new(),
            say: Box::new(say),
        }
    }

    /// Before them, as soon as measurement has begun, these nodes are left to compact their backlogs.
    #[must_use]
    pub fn after_backlogs_of(mut self, nodes: impl IntoIterator<Item = HostId>) -> Self {
        self.left.extend(nodes.into_iter().map(Task::Compact));
        self
    }

    /// The backlogs that nodes were left to compact, by seconds from the start of measurement, which each host's clock
    /// showed at `began_ms`.
    pub fn backlogs(&self, began_ms: impl Fn(HostId) -> Option<f64>) -> BTreeMap<HostId, BacklogFound> {
        let found = |(host, (sstables, unix_ms)): (&HostId, &(u64, f64))| {
            let found = BacklogFound { sstables: *sstables, compacts_from_s: (unix_ms - began_ms(*host)?) / 1e3 };
            Some((*host, found))
        };
        self.compacting.iter().filter_map(found).collect()
    }

    /// The answer of a node that was to compact its backlog.
    fn compacts(&mut self, host: HostId, answer: Result<Reply, RequestError>) -> Result<()> {
        let reply = answer.map_err(|refused| {
            let why = refused.message;
            Failure::BacklogNotAsPlanned(format!("the backlog of {host} could not be left to it: {why}"))
        })?;
        let compacting = answer!(Reply::Compacting { sstables, done_unix_ms } => (sstables, done_unix_ms));
        let (sstables, done_unix_ms) = compacting(reply)?;
        (self.say)(&format!("{host} compacts its backlog: {sstables} SSTables"));
        self.compacting.insert(host, (sstables, done_unix_ms));
        Ok(())
    }

    /// A node is gone, or its disk has the fault.
    fn gone(&mut self, fault: NodeFault, host: HostId, moments: Moments, problem: Option<String>) {
        let but = problem.as_ref().map_or(String::new(), |p| format!(", but {p}"));
        (self.say)(&match (taken(&fault, host), fault.action.volume()) {
            (Some(gone), _) => format!("{gone} is away{but}"),
            (None, Some(role)) => format!("{} of {host} has the fault{but}", role.of_node()),
            (None, None) => format!("{host} compacts its tables"),
        });
        self.done.push(Done {
            fault,
            gone: moments,
            problems: problem.into_iter().collect(),
            return_asked_s: None,
            back: None,
            failed_requests: None,
        });
    }

    /// A node is back, or its disk is as before.
    fn back(&mut self, fault: NodeFault, host: HostId, moments: Moments, failed_requests: Option<u64>) {
        (self.say)(&match (taken(&fault, host), fault.action.volume()) {
            (Some(gone), _) => format!("{gone} is back"),
            (None, Some(role)) => format!("{} of {host} is as before", role.of_node()),
            (None, None) => format!("{host} has compacted its tables"),
        });
        if let Some(last) = self.done.last_mut() {
            last.back = Some(moments);
            last.failed_requests = failed_requests;
        }
    }

    /// It is not: that is a result.
    fn not_back(&mut self, fault: NodeFault, host: HostId, refused: RequestError) {
        let gone = taken(&fault, host);
        let problem = match (refused.cancelled, gone.is_some(), fault.action.volume()) {
            (true, true, _) => "it was not back when the trial ended".to_owned(),
            (true, _, Some(_)) => "it had not been lifted when the trial ended".to_owned(),
            (true, _, None) => "it was not done when the trial ended".to_owned(),
            (false, ..) => refused.message,
        };
        let first = problem.lines().next().unwrap_or_default();
        let kind = fault.kind().name();
        (self.say)(&match (gone, fault.action.volume()) {
            (Some(gone), _) => format!("{gone} did not come back: {first}"),
            (None, Some(_)) => format!("{kind} of {host} was not lifted: {first}"),
            (None, None) => format!("{kind} of {host}: {first}"),
        });
        if let Some(last) = self.done.last_mut() {
            last.problems.push(problem);
        }
    }

    /// What was done, by seconds from the start of measurement, which each host's clock showed at `began_ms`.
    pub fn records(self, began_ms: impl Fn(HostId) -> Option<f64>) -> Vec<FaultRecord> {
        let record = |done: Done| {
            let host = (self.host_of)(&done.fault);
            let began_ms = began_ms(host)?;
            let at_s = |unix_ms: f64| (unix_ms - began_ms) / 1e3;
            let back = done.back;
            Some(FaultRecord {
                kind: done.fault.kind(),
                host,
                volume: done.fault.action.volume(),
                began_s: at_s(done.gone.began_unix_ms),
                gone_s: at_s(done.gone.done_unix_ms),
                return_began_s: back.map_or(done.return_asked_s, |b| Some(at_s(b.began_unix_ms))),
                back_s: back.map(|b| at_s(b.done_unix_ms)),
                problem: (!done.problems.is_empty()).then(|| done.problems.join("; ")),
                failed_requests: done.failed_requests,
                ended: None,
            })
        };
        let mut records: Vec<FaultRecord> = self.done.into_iter().filter_map(record).collect();
        for (host, end) in self.failed_disks.take_ends() {
            let its = |r: &&mut FaultRecord| r.host == host && r.volume.is_some();
            let before = records.iter_mut().filter(its).filter(|r| r.began_s <= end.at_s).count();
            // Clocks of two machines: an end that seems to come before the first fault is that of the first.
            if let Some(last) = records.iter_mut().filter(its).nth(before.saturating_sub(1)) {
                last.ended = Some(end);
            }
        }
        records
    }
}

impl Agenda for Faults<'_> {
    fn due(&self) -> Option<Instant> {
        let at_s = match self.left.last().filter(|_| self.under_way.is_none())? {
            Task::Compact(_) => 0.0,
            Task::StartFault(fault) => fault.at_s,
            // A compaction is awaited as soon as it has begun.
            Task::EndFault(fault) => fault.until_s().unwrap_or(fault.at_s),
        };
        self.measurement_start.at(at_s)
    }

    fn take(&mut self) -> Option<(HostId, DatabaseRequest)> {
        let task = self.left.pop()?;
        self.under_way = Some(task);
        match task {
            Task::Compact(host) => Some((host, DatabaseRequest::CompactBacklog)),
            Task::StartFault(fault) => {
                let host = (self.host_of)(&fault);
                if fault.action.volume().is_some() {
                    self.failed_disks.add(host);
                }
                let of = fault.action.cache().unwrap_or_else(|| host.to_string());
                (self.say)(&format!("{} of {of}", fault.kind().name()));
                Some((host, DatabaseRequest::StartFault(fault.action)))
            }
            Task::EndFault(fault) => {
                let host = (self.host_of)(&fault);
                let asked_s = self.measurement_start.seconds_to(Instant::now());
                if let Some(done) = self.done.last_mut() {
                    done.return_asked_s = asked_s;
                }
                if fault.action.volume().is_some() {
                    (self.say)(&format!("lifting {} of {host}", fault.kind().name()));
                } else if let Some(gone) = taken(&fault, host) {
                    (self.say)(&format!("bringing {gone} back"));
                }
                Some((host, DatabaseRequest::EndFault))
            }
        }
    }

    fn answered(&mut self, host: HostId, answer: Result<Reply, RequestError>) -> Result<()> {
        let Some(task) = self.under_way.take() else { return Ok(()) };
        match (task, answer) {
            (Task::Compact(_), answer) => return self.compacts(host, answer),
            (Task::StartFault(fault), Ok(Reply::FaultStarted { moments, problem })) => {
                self.gone(fault, host, moments, problem);
            }
            (Task::EndFault(fault), Ok(Reply::FaultEnded { moments, failed_requests })) => {
                self.back(fault, host, moments, failed_requests);
            }
            (_, Ok(other)) => return Err(Failure::NotAsked { host, answer: format!("{other:?}") }),
            (Task::StartFault(_), Err(error)) => return Err(Failure::FaultFailed { host, error }),
            (Task::EndFault(fault), Err(refused)) => self.not_back(fault, host, refused),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use evidence::Cause;
    use experiment::{FaultAction, VolumeRole};

    use super::*;
    use crate::run_failure::Next;

    const KILL: NodeFault = NodeFault { action: FaultAction::NodeKill, node: 2, at_s: 10.0, for_s: Some(5.0) };

    fn node(fault: &NodeFault) -> HostId {
        HostId::database(fault.node - 1)
    }

    fn moments(began_unix_ms: f64, done_unix_ms: f64) -> Moments {
        Moments { began_unix_ms, done_unix_ms }
    }

    fn came_back(began_unix_ms: f64, done_unix_ms: f64) -> Result<Reply, RequestError> {
        Ok(Reply::FaultEnded { moments: moments(began_unix_ms, done_unix_ms), failed_requests: Some(7) })
    }

    fn gone(began_unix_ms: f64, done_unix_ms: f64, problem: Option<&str>) -> Result<Reply, RequestError> {
        Ok(Reply::FaultStarted { moments: moments(began_unix_ms, done_unix_ms), problem: problem.map(str::to_owned) })
    }

    #[test]
    fn a_fault_is_due_at_its_second_of_the_measurement_and_not_in_warm_up() {
        let (measurement_start, failed_disks) = (MeasurementStart::default(), FailedDisks::default());
        let mut faults = Faults::new(&[KILL], node, (&measurement_start, &failed_disks), |_| {});
        let now = Instant::now() + Duration::from_secs(100);
        measurement_start.second_over(-3.0, now);
        assert_eq!(faults.due(), None, "nobody has measured yet");
        // The second report came 0.2 s late; the first one is the better one.
        measurement_start.second_over(0.0, now + Duration::from_secs(1));
        measurement_start.second_over(1.0, now + Duration::from_millis(2_200));
        assert_eq!(faults.due(), Some(now + Duration::from_secs(10)));

        let (host, request) = faults.take().unwrap();
        assert_eq!(host, HostId::database(1));
        assert!(matches!(request, DatabaseRequest::StartFault(FaultAction::NodeKill)));
        assert_eq!(faults.due(), None, "one thing after the other");
        let went = faults.answered(host, gone(1_010_000.0, 1_010_500.0, None));
        assert!(went.is_ok());
        assert_eq!(faults.due(), Some(now + Duration::from_secs(15)));
        let (host, _) = faults.take().unwrap();
        let came = faults.answered(host, came_back(1_015_000.0, 1_023_000.0));
        assert!(came.is_ok());
        assert_eq!(faults.due(), None);

        let records = faults.records(|_| Some(1_000_000.0));
        let [record] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!((record.began_s, record.gone_s), (10.0, 10.5));
        assert_eq!((record.return_began_s, record.back_s), (Some(15.0), Some(23.0)));
        assert_eq!((record.host, &record.problem), (HostId::database(1), &None));
    }

    #[test]
    fn a_cache_is_named_as_what_is_away_and_its_host_is_asked() {
        let (measurement_start, failed_disks) = (MeasurementStart::default(), FailedDisks::default());
        let action = FaultAction::CacheKill { cache_node: 2 };
        let kill = NodeFault { action, node: 1, at_s: 10.0, for_s: Some(5.0) };
        let mut said = Vec::new();
        let say = |words: &str| said.push(words.to_owned());
        let mut faults = Faults::new(&[kill], node, (&measurement_start, &failed_disks), say);
        let (host, request) = faults.take().unwrap();
        assert_eq!(host, HostId::DATABASE);
        assert!(matches!(request, DatabaseRequest::StartFault(FaultAction::CacheKill { cache_node: 2 })));
        assert!(faults.answered(host, gone(10_000.0, 10_001.0, None)).is_ok());
        let (host, _) = faults.take().unwrap();
        assert!(faults.answered(host, came_back(15_000.0, 15_020.0)).is_ok());
        let records = faults.records(|_| Some(0.0));
        assert_eq!((records[0].kind, records[0].back_s), (NodeFaultKind::CacheKill, Some(15.02)));
        let step = |words: &str| words.replace("it", "cache node 2");
        assert_eq!(said, ["cache-kill of it", "it is away", "bringing it back", "it is back"].map(step));
    }

    #[test]
    fn backlogs_are_left_to_their_nodes_as_soon_as_measurement_has_begun_and_before_any_fault() {
        let (measurement_start, failed_disks) = (MeasurementStart::default(), FailedDisks::default());
        let hosts = [HostId::database(0), HostId::database(1)];
        let begun = || Faults::new(&[KILL], node, (&measurement_start, &failed_disks), |_| {}).after_backlogs_of(hosts);
        let mut faults = begun();
        let now = Instant::now() + Duration::from_secs(100);
        measurement_start.second_over(-1.0, now);
        assert_eq!(faults.due(), None, "in warm-up the backlog stays");
        measurement_start.second_over(0.0, now + Duration::from_secs(1));
        for (sstables, later) in [(9, hosts[1]), (11, hosts[0])] {
            assert_eq!(faults.due(), Some(now));
            let (host, request) = faults.take().unwrap();
            assert!(matches!(request, DatabaseRequest::CompactBacklog));
            assert_eq!(host, later);
            let compacts = Reply::Compacting { sstables, done_unix_ms: 1_001_100.0 };
            assert!(faults.answered(host, Ok(compacts)).is_ok());
        }
        let found = faults.backlogs(|_| Some(1_000_000.0));
        assert_eq!((found[&hosts[0]].sstables, found[&hosts[1]].sstables), (11, 9));
        assert_eq!(found[&hosts[0]].compacts_from_s, 1.1);
        let (host, _) = faults.take().unwrap();
        assert_eq!(host, HostId::database(1), "then the fault");

        let mut faults = begun();
        let (host, _) = faults.take().unwrap();
        let refused = RequestError { message: "3 SSTables are left".to_owned(), help: None, cancelled: false };
        let called_off = faults.answered(host, Err(refused)).unwrap_err();
        assert_eq!(called_off.next(), Next::TrialInvalid(Cause::BacklogNotAsPlanned));
        let reason = called_off.message();
        assert!(reason.contains("database-2") && reason.contains("3 SSTables"), "{reason}");
    }

    #[test]
    fn a_node_that_ends_after_its_disk_has_failed_is_what_was_to_be_seen() {
        let (measurement_start, failed_disks) = (MeasurementStart::default(), FailedDisks::default());
        let stall = |at_s| NodeFault { action: FaultAction::DiskStall { volume: VolumeRole::Data }, at_s, ..KILL };
        let mut faults = Faults::new(&[stall(10.0), stall(20.0)], node, (&measurement_start, &failed_disks), |_| {});
        let now = Instant::now() + Duration::from_secs(100);
        measurement_start.second_over(0.0, now + Duration::from_secs(1));
        let (host, other) = (HostId::database(1), HostId::database(0));
        assert!(!failed_disks.ended(host, "signal 9", &measurement_start, now), "nothing has failed yet");
        for at in [10_000.0, 20_000.0] {
            let _ = faults.take().unwrap();
            let _ = faults.answered(host, gone(at, at + 1.0, None));
            let _ = faults.take().unwrap();
            let _ = faults.answered(host, came_back(at + 5_000.0, at + 5_001.0));
        }
        assert!(!failed_disks.ended(other, "signal 9", &measurement_start, now), "its disk is well");
        assert!(failed_disks.ended(host, "signal 7", &measurement_start, now + Duration::from_secs(17)));
        let records = faults.records(|_| Some(0.0));
        let ends: Vec<_> = records.iter().map(|r| r.ended.as_ref().map(|e| (e.at_s, e.how.as_str()))).collect();
        assert_eq!(ends, [Some((17.0, "signal 7")), None]);
        assert_eq!((records[1].volume, records[1].failed_requests), (Some(VolumeRole::Data), Some(7)));
    }

    #[test]
    fn a_node_that_does_not_come_back_is_a_result_and_one_that_does_not_go_is_none() {
        let (measurement_start, failed_disks) = (MeasurementStart::default(), FailedDisks::default());
        let refused = |cancelled| Err(RequestError { message: "no space left".to_owned(), help: None, cancelled });
        let mut faults = Faults::new(&[KILL], node, (&measurement_start, &failed_disks), |_| {});
        let (host, _) = faults.take().unwrap();
        let _ = faults.answered(host, gone(10_000.0, 10_000.0, Some("it had not drained")));
        let (host, _) = faults.take().unwrap();
        assert!(faults.answered(host, refused(false)).is_ok(), "the clients go on");
        let records = faults.records(|_| Some(0.0));
        assert_eq!((records[0].return_began_s, records[0].back_s), (None, None), "nobody has measured");
        assert_eq!(records[0].problem.as_deref(), Some("it had not drained; no space left"));

        let mut faults = Faults::new(&[KILL], node, (&measurement_start, &failed_disks), |_| {});
        let (host, _) = faults.take().unwrap();
        let called_off = faults.answered(host, refused(false)).unwrap_err();
        assert_eq!(called_off.next(), Next::TrialInvalid(Cause::FaultFailed));
        assert!(faults.records(|_| Some(0.0)).is_empty());
    }
}
