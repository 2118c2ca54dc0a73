//! What the user sees while a run is under way: one live line on a terminal, plain lines elsewhere. All on stderr.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use process::eprintln;

use crate::live_metrics::{Live, LiveMetrics};

/// Plain lines about one thing are written this often at most.
const PLAIN_EVERY: Duration = Duration::from_secs(5);
/// What is new is written sooner: it may go on for minutes without another word.
const NEW_AFTER: Duration = Duration::from_secs(1);

/// The time in the live line is brought up to date this often.
const TICK: Duration = Duration::from_secs(1);

/// The progress display; clones are one display. Its live line says what it is about (the trial), what is being done,
/// and for how long that has been going on.
#[derive(Clone)]
pub struct Screen {
    shown: Arc<Mutex<Shown>>,
    metrics: Option<LiveMetrics>,
}

/// What is shown now.
#[derive(Default)]
struct Shown {
    bar: Option<ProgressBar>,
    about: String,
    doing: String,
    is_ticking: bool,
    /// Nothing takes long enough for a live line.
    is_quiet: bool,
    /// Begins each line: who says it, where several do.
    who: String,
    last_plain: Option<Instant>,
    /// Notes that were said.
    noted: BTreeSet<String>,
}

impl Screen {
    /// A live line if stderr is a terminal, plain lines otherwise; for scrapers as well, if there is an endpoint.
    pub fn new(metrics: Option<LiveMetrics>) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
            let style =
                ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}").expect("the template is a constant");
            bar.set_style(style);
            bar
        });
        let screen = Self { shown: Arc::default(), metrics };
        screen.shown().bar = bar;
        screen
    }

    /// Plain lines of one of several that work at the same time, with the same scrapers.
    pub fn beside(&self, who: &str) -> Self {
        let screen = Self { shown: Arc::default(), metrics: self.metrics.clone() };
        let mut shown = screen.shown();
        (shown.who, shown.is_quiet) = (format!("[{who}] "), self.shown().is_quiet);
        drop(shown);
        screen
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what scrapers get, if there is an endpoint.
    pub(crate) fn publish(&self, change: impl FnOnce(&mut Live)) {
        if let Some(metrics) = &self.metrics {
            metrics.update(change);
        }
    }

    /// From now on only lines that stay are shown: nothing takes long enough for a live line.
    pub fn quiet(&self) {
        self.shown().is_quiet = true;
    }

    /// A line that stays.
    pub fn say(&self, line: &str) {
        let mut shown = self.shown();
        match &shown.bar {
            Some(bar) => bar.suspend(|| eprintln!("{line}")),
            None => eprintln!("{}{line}", shown.who),
        }
        shown.last_plain = None;
    }

    /// A note, which is said once however often it is true.
    pub fn note(&self, note: &str) {
        if self.shown().noted.insert(note.to_owned()) {
            self.say(&format!("note: {note}"));
        }
    }

    /// What the following live lines are about; nothing in particular if it is empty.
    pub(crate) fn about(&self, what: &str) {
        what.clone_into(&mut self.shown().about);
    }

    /// What is being done now; its time begins when it is first said. `detail` changes while it goes on.
    pub fn doing(&self, what: &str, detail: &str) {
        let shown = &mut *self.shown();
        if shown.is_quiet {
            return;
        }
        let is_new = shown.doing != what;
        if is_new {
            what.clone_into(&mut shown.doing);
            if let Some(bar) = &shown.bar {
                bar.reset_elapsed();
            }
        }
        let words = [shown.about.as_str(), what, detail];
        let line = words.iter().filter(|w| !w.is_empty()).copied().collect::<Vec<_>>().join(" ");
        if let Some(bar) = &shown.bar {
            bar.set_message(guarded::shown_line(&line));
            if !shown.is_ticking {
                // Not before there is a line: whatever is printed before would be torn.
                bar.enable_steady_tick(TICK);
                shown.is_ticking = true;
            }
            return;
        }
        let every = if is_new { NEW_AFTER } else { PLAIN_EVERY };
        if shown.last_plain.is_none_or(|last| last.elapsed() >= every) {
            eprintln!("  {}{line}", shown.who);
            shown.last_plain = Some(Instant::now());
        }
    }

    /// Removes the live line.
    pub fn clear(&self) {
        self.shown().clear();
    }
}

impl Shown {
    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.clear();
    }
}
