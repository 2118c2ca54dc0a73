//! How long hosts may take, and be silent: an agent that is stopped, or whose machine hangs, ends nothing by itself.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use evidence::HostId;
use experiment::TrialShape;
use wire::{ClientRequest, Request};

/// How long an agent may say nothing while it works: it says every [`wire::AT_WORK_S`] seconds that it does.
pub(super) const SILENCE: Duration = Duration::from_secs(60);
/// An open loop beyond the capacity is answered late, and connections are made before and between: a trial may take so
/// many times what it was planned to take ...
const LATE_FACTOR: f64 = 2.0;
/// ... and this much.
const MARGIN: Duration = Duration::from_secs(300);

/// Until when each host has to be heard.
pub(super) struct Watch {
    silence: Duration,
    hosts: BTreeMap<HostId, Heard>,
}

/// A host that works.
struct Heard {
    last: Instant,
    /// When its answer is due whatever it says meanwhile; `None`: nobody knows how long it takes.
    answer: Option<Instant>,
}

impl Watch {
    pub fn new(silence: Duration) -> Self {
        Self { silence, hosts: BTreeMap::new() }
    }

    /// It has been asked.
    pub fn begins(&mut self, host: HostId, request: &Request) {
        let last = Instant::now();
        let answer = takes_at_most(request).and_then(|most| last.checked_add(most));
        self.hosts.insert(host, Heard { last, answer });
    }

    /// It has said something, which was its answer or not.
    pub fn heard(&mut self, host: HostId, is_answer: bool) {
        match is_answer {
            true => drop(self.hosts.remove(&host)),
            false => {
                if let Some(heard) = self.hosts.get_mut(&host) {
                    heard.last = Instant::now();
                }
            }
        }
    }

    /// When the first of them is overdue.
    pub fn ends(&self) -> Option<Instant> {
        let end = |heard: &Heard| heard.answer.into_iter().chain([heard.last + self.silence]).min();
        self.hosts.values().filter_map(end).min()
    }

    /// One that is, in words; it is watched no more.
    pub fn overdue(&mut self) -> Option<(HostId, String)> {
        let now = Instant::now();
        let (host, how) = self.hosts.iter().find_map(|(host, heard)| {
            let silent = now.saturating_duration_since(heard.last);
            if silent >= self.silence {
                return Some((*host, format!("it has said nothing for {} s", silent.as_secs())));
            }
            let is_late = heard.answer.is_some_and(|answer| answer <= now);
            is_late.then(|| (*host, "it goes on long after its trial should have ended".to_owned()))
        })?;
        self.hosts.remove(&host);
        Some((host, how))
    }
}

/// How long an answer may take, where what is asked says how long it lasts.
fn takes_at_most(request: &Request) -> Option<Duration> {
    let Request::Client(ClientRequest::Trial(task)) = request else {
        return None;
    };
    if task.shape.operations.is_some() || task.check_writes {
        return None;
    }
    Some(longest_load(&task.shape))
}

/// How long the load of a trial takes at most, from its request to its last response. A number of operations makes it
/// shorter, if anything: `duration_s` is a bound beside it.
pub(super) fn longest_load(shape: &TrialShape) -> Duration {
    let load_s = shape.warmup_s + shape.warmup_max_s.unwrap_or(0.0) + shape.duration_s + shape.request_timeout_s;
    Duration::try_from_secs_f64(load_s * LATE_FACTOR).unwrap_or(Duration::MAX).saturating_add(MARGIN)
}
