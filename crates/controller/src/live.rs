//! What a run is doing, as those see it who watch it (`--metrics`, `--watch`), and what the user wishes on the page.
//! The trial loop writes the one, and reads the other between trials.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use experiment::PlannedTrial;

use super::time_left::TimeLeft;

/// Seconds of a trial that are kept for charts: the last ten minutes.
const SECONDS_KEPT: usize = 600;

/// What a run is doing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Live {
    /// Name of the run's directory.
    pub run: String,
    /// What the experiment asks.
    pub question: Option<String>,
    /// Its cells, in the order of the plan.
    pub cells: Vec<Standing>,
    /// Of the trials stored in this sitting, those that are invalid.
    pub invalid: usize,
    /// What goes on at each site, by its name; empty: the only one.
    pub sites: BTreeMap<String, Site>,
    /// What the user wishes.
    pub wishes: Wishes,
    /// The answer so far with its evidence, as HTML.
    pub report: Option<Arc<str>>,
    /// How the run ended.
    pub ended: Option<String>,
    /// Browsers that watch.
    pub watchers: usize,
}

impl Live {
    /// Trials planned.
    pub fn planned(&self) -> usize {
        self.cells.iter().map(|cell| cell.planned).sum()
    }

    /// Trials stored, in this and earlier sittings.
    pub fn done(&self) -> usize {
        self.cells.iter().map(Standing::done).sum()
    }

    /// Where these cells stand now; others stay where they are.
    pub fn learn(&mut self, cells: Vec<Standing>) {
        for cell in cells {
            match self.cells.iter_mut().find(|known| known.cell == cell.cell) {
                Some(known) => *known = cell,
                None => self.cells.push(cell),
            }
        }
    }

    /// A trial of a cell is stored: its operations per second, where it is valid.
    pub fn stored(&mut self, cell: &str, ops_per_s: Option<f64>) {
        self.invalid += usize::from(ops_per_s.is_none());
        if let Some(known) = self.cells.iter_mut().find(|known| known.cell == cell) {
            known.invalid += usize::from(ops_per_s.is_none());
            known.ops_per_s.extend(ops_per_s);
        }
    }

    pub fn under_way(&self) -> impl Iterator<Item = &LiveTrial> {
        self.sites.values().filter_map(|site| site.trial.as_ref()).filter(|trial| !trial.is_over)
    }
}

/// Where a cell stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    pub cell: String,
    /// Trials planned.
    pub planned: usize,
    /// Operations per second of its valid trials.
    pub ops_per_s: Vec<f64>,
    /// Invalid ones.
    pub invalid: usize,
    /// Whether the user wants no more of them.
    pub is_skipped: bool,
}

impl Standing {
    /// Trials stored.
    pub fn done(&self) -> usize {
        self.ops_per_s.len() + self.invalid
    }

    /// Operations per second, mean of the valid trials.
    pub fn mean_ops_per_s(&self) -> Option<f64> {
        (!self.ops_per_s.is_empty()).then(|| self.ops_per_s.iter().sum::<f64>() / self.ops_per_s.len() as f64)
    }
}

/// What goes on at a site.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Site {
    /// What is being done.
    pub doing: String,
    /// The trial under way, or the last one.
    pub trial: Option<LiveTrial>,
    /// The trials after it, in their order.
    pub next: Vec<PlannedTrial>,
    /// Until all of them are done, as far as is known.
    pub left: Option<TimeLeft>,
}

impl Site {
    /// A second of the trial under way is over.
    pub fn second(&mut self, second: LiveSecond) {
        let Some(trial) = self.trial.as_mut().filter(|trial| !trial.is_over) else { return };
        if trial.seconds.len() == SECONDS_KEPT {
            trial.seconds.pop_front();
        }
        trial.seconds.push_back(second);
    }
}

/// A trial under way, or one that was.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveTrial {
    pub cell: String,
    pub block: u32,
    /// Its last seconds.
    pub seconds: VecDeque<LiveSecond>,
    /// Whether it is stored.
    pub is_over: bool,
}

/// One second of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiveSecond {
    /// From the start of measurement to its start, seconds; negative in warm-up.
    pub t_s: f64,
    pub operations: u64,
    pub errors: u64,
    pub p50_us: u64,
    pub p99_us: u64,
    /// I/Os of the data volumes, where they are known.
    pub device_iops: Option<f64>,
}

impl LiveSecond {
    /// `warmup` or `measurement`.
    pub fn phase(&self) -> &'static str {
        if self.t_s < 0.0 { "warmup" } else { "measurement" }
    }
}

/// What the user wishes: obeyed between trials.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wishes {
    /// No further trial begins for now.
    pub is_paused: bool,
    /// No further trial begins at all.
    pub is_stopping: bool,
    /// Cells that are to be skipped, or not any more.
    pub skips: BTreeMap<String, bool>,
}

impl Wishes {
    /// The trial of these that comes first, if one may.
    pub fn first_of<'t>(&self, mut trials: impl Iterator<Item = &'t PlannedTrial>) -> Option<&'t PlannedTrial> {
        let is_wanted = |trial: &&PlannedTrial| !self.skips.get(&trial.cell).copied().unwrap_or(false);
        trials.find(is_wanted).filter(|_| !self.is_paused && !self.is_stopping)
    }
}

/// A run as it is watched, shared by who carries it out and who looks; clones are one.
#[derive(Debug, Clone, Default)]
pub struct LiveRun(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Grows with each change.
    version: u64,
    live: Live,
}

impl LiveRun {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is seen.
    pub fn update<R>(&self, change: impl FnOnce(&mut Live) -> R) -> R {
        let mut state = self.state();
        state.version += 1;
        let result = change(&mut state.live);
        drop(state);
        self.0.changed.notify_all();
        result
    }

    /// Looks at it.
    pub fn read<R>(&self, look: impl FnOnce(&Live) -> R) -> R {
        look(&self.state().live)
    }

    /// Waits until it is another than the version that was seen, at most so long; which version it is then.
    pub fn await_change(&self, seen: u64, patience: Duration) -> u64 {
        let (state, _) = self
            .0
            .changed
            .wait_timeout_while(self.state(), patience, |state| state.version == seen)
            .unwrap_or_else(PoisonError::into_inner);
        state.version
    }

    /// Waits until this holds, at most so long.
    pub fn await_that(&self, holds: impl Fn(&Live) -> bool, patience: Duration) {
        let until = Instant::now() + patience;
        let mut version = self.await_change(u64::MAX, Duration::ZERO);
        while !self.read(&holds) && Instant::now() < until {
            version = self.await_change(version, until.saturating_duration_since(Instant::now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_cell_is_replaced_and_a_new_one_comes_last() {
        let standing = |cell: &str, planned| Standing { cell: cell.to_owned(), planned, ..Standing::default() };
        let mut live = Live::default();
        live.learn(vec![standing("a", 3), standing("b", 3)]);
        live.stored("a", Some(100.0));
        live.stored("a", None);
        live.stored("b", Some(300.0));
        assert_eq!((live.planned(), live.done(), live.invalid), (6, 3, 1));
        assert_eq!((live.cells[0].done(), live.cells[0].mean_ops_per_s()), (2, Some(100.0)));
        live.learn(vec![standing("c", 1), standing("b", 5)]);
        let order: Vec<(&str, usize)> = live.cells.iter().map(|cell| (cell.cell.as_str(), cell.planned)).collect();
        assert_eq!(order, [("a", 3), ("b", 5), ("c", 1)]);
    }

    #[test]
    fn a_trial_keeps_its_last_ten_minutes_and_nothing_once_it_is_over() {
        let second = |t_s| LiveSecond { t_s, operations: 1, errors: 0, p50_us: 1, p99_us: 1, device_iops: None };
        let mut site = Site::default();
        site.second(second(0.0));
        assert_eq!(site.trial, None, "a search has no trial");
        site.trial = Some(LiveTrial::default());
        (0..700).for_each(|t| site.second(second(f64::from(t))));
        let trial = site.trial.as_mut().unwrap();
        assert_eq!((trial.seconds.len(), trial.seconds[0].t_s), (600, 100.0));
        trial.is_over = true;
        site.second(second(700.0));
        assert_eq!(site.trial.unwrap().seconds.len(), 600);
    }

    #[test]
    fn the_next_trial_is_the_first_that_is_wanted() {
        let trial = |cell: &str| PlannedTrial { block: 1, cell: cell.to_owned() };
        let all = [trial("a"), trial("b")];
        let mut wishes = Wishes::default();
        assert_eq!(wishes.first_of(all.iter()), Some(&all[0]));
        wishes.skips.insert("a".to_owned(), true);
        assert_eq!(wishes.first_of(all.iter()), Some(&all[1]));
        wishes.is_paused = true;
        assert_eq!(wishes.first_of(all.iter()), None, "a process is not kept through a pause");
    }

    #[test]
    fn who_waits_hears_of_a_change_at_once_and_of_none_in_the_end() {
        let live = LiveRun::default();
        let seen = live.await_change(u64::MAX, Duration::ZERO);
        let began = Instant::now();
        assert_eq!(live.await_change(seen, Duration::from_millis(50)), seen);
        assert!(began.elapsed() >= Duration::from_millis(50));
        std::thread::scope(|scope| {
            scope.spawn(|| live.update(|live| live.wishes.is_paused = true));
            assert!(live.await_change(seen, Duration::from_secs(60)) > seen);
        });
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
