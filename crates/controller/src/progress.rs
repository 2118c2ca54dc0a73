//! What the user sees while a run is under way: two lines that stay in their place on a terminal, plain lines
//! elsewhere. All on stderr.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use process::{eprintln, output};

use crate::live::{Live, LiveRun, Site, Wishes};
use crate::live_line::{Figures, LiveLine, Position};

/// Plain lines about one thing are written this often at most.
const PLAIN_EVERY: Duration = Duration::from_secs(10);
/// What is new is written sooner: it may go on for minutes without another word.
const NEW_AFTER: Duration = Duration::from_secs(1);

/// The live lines are brought up to date this often.
const TICK: Duration = Duration::from_millis(500);

/// The progress display; clones are one display. Its live lines say what it is about (the trial), what is being done,
/// and for how long that has been going on.
#[derive(Clone)]
pub struct Screen {
    shown: Arc<Mutex<Shown>>,
    /// What others see of the run: scrapers, and who watches it on the page.
    live: Option<LiveRun>,
    /// Which of several sites this is; empty: the only one.
    site: String,
}

/// What is shown now.
#[derive(Default)]
struct Shown {
    bar: Option<ProgressBar>,
    /// Drawn by the bar, which has a lock of its own while it draws.
    line: Arc<Mutex<LiveLine>>,
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
    /// Live lines if stderr is a terminal that obeys, plain lines otherwise; for others as well, if the run can be
    /// watched.
    pub fn new(live: Option<LiveRun>) -> Self {
        let screen = Self { shown: Arc::default(), live, site: String::new() };
        let mut shown = screen.shown();
        shown.bar = output::obeys(std::io::stderr()).then(|| drawing(&shown.line));
        drop(shown);
        screen
    }

    /// Plain lines of one of several that work at the same time, for the same watchers.
    pub fn beside(&self, who: &str) -> Self {
        let screen = Self { shown: Arc::default(), live: self.live.clone(), site: who.to_owned() };
        let mut shown = screen.shown();
        (shown.who, shown.is_quiet) = (format!("[{who}] "), self.shown().is_quiet);
        drop(shown);
        screen
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        locked(&self.shown)
    }

    /// Changes what watchers get, if there may be any.
    pub(crate) fn publish(&self, change: impl FnOnce(&mut Live)) {
        if let Some(live) = &self.live {
            live.update(change);
        }
    }

    /// The same of what goes on here, where several work at the same time.
    pub(crate) fn publish_here(&self, change: impl FnOnce(&mut Site)) {
        self.publish(|live| change(live.sites.entry(self.site.clone()).or_default()));
    }

    /// What the user wishes.
    pub(crate) fn wishes(&self) -> Wishes {
        self.live.as_ref().map_or_else(Wishes::default, |live| live.read(|live| live.wishes.clone()))
    }

    /// Whether the user wants no further trial.
    pub fn is_stopping(&self) -> bool {
        self.wishes().is_stopping
    }

    /// Looks at where the run stands, if somebody keeps that.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&Live) -> R) -> Option<R> {
        self.live.as_ref().map(|live| live.read(look))
    }

    /// From now on only lines that stay are shown: nothing takes long enough for a live line.
    pub fn quiet(&self) {
        self.shown().is_quiet = true;
    }

    /// A line that stays.
    pub fn say(&self, line: &str) {
        let mut shown = self.shown();
        eprintln!("{}{line}", shown.who);
        shown.last_plain = None;
    }

    /// A note, which is said once however often it is true.
    pub fn note(&self, note: &str) {
        if self.shown().noted.insert(note.to_owned()) {
            self.say(&format!("note: {note}"));
        }
    }

    /// What the following live lines are about, and where in the run that is; nothing in particular if it is empty.
    pub(crate) fn about(&self, position: Option<Position>, what: &str) {
        let shown = self.shown();
        let mut line = locked(&shown.line);
        line.position = position;
        what.clone_into(&mut line.about);
    }

    /// What is being done now; its time begins when it is first said. `detail` changes while it goes on.
    pub fn doing(&self, what: &str, detail: &str) {
        self.show(what, detail, None);
    }

    /// The load of a database, and how far it is.
    pub(crate) fn load(&self, what: &str, how_far: &str, figures: Figures) {
        self.show(what, how_far, Some(figures));
    }

    fn show(&self, what: &str, detail: &str, figures: Option<Figures>) {
        self.publish_here(|site| site.doing = [what, detail].join(" ").trim_end().to_owned());
        let mut shown = self.shown();
        if shown.is_quiet {
            return;
        }
        let mut line = locked(&shown.line);
        let is_new = line.doing != what;
        if is_new {
            what.clone_into(&mut line.doing);
            line.began = Instant::now();
        }
        detail.clone_into(&mut line.detail);
        line.figures = figures;
        let plain = line.plain(Instant::now());
        drop(line);
        if shown.bar.is_some() {
            shown.draw();
            return;
        }
        let every = if is_new { NEW_AFTER } else { PLAIN_EVERY };
        if shown.last_plain.is_none_or(|last| last.elapsed() >= every) {
            eprintln!("  {}{plain}", shown.who);
            shown.last_plain = Some(Instant::now());
        }
    }

    /// Removes the live lines.
    pub fn clear(&self) {
        self.shown().clear();
    }
}

impl Shown {
    /// Not before there is something to draw: whatever is printed before would be torn.
    fn draw(&mut self) {
        let Some(bar) = self.bar.as_ref().filter(|_| !self.is_ticking) else { return };
        let own = bar.clone();
        output::set_in_place(Some(Arc::new(move |write: &mut dyn FnMut()| own.suspend(write))));
        bar.reset();
        bar.enable_steady_tick(TICK);
        self.is_ticking = true;
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.as_ref().filter(|_| self.is_ticking) {
            output::set_in_place(None);
            bar.finish_and_clear();
            self.is_ticking = false;
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A bar that draws these lines as they are at that moment.
fn drawing(line: &Arc<Mutex<LiveLine>>) -> ProgressBar {
    let line = Arc::clone(line);
    let lines = move |_: &ProgressState, to: &mut dyn fmt::Write| {
        // In the last column a terminal would begin another line.
        let width = output::columns().saturating_sub(1);
        let text = locked(&line).lines(Instant::now(), width);
        // A line that cannot be drawn is drawn the next time.
        let _ = to.write_str(&text);
    };
    let style = ProgressStyle::with_template("{lines}").expect("the template is a constant");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
    bar.set_style(style.with_key("lines", lines));
    bar
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_at_several_sites_is_kept_apart_for_those_who_watch() {
        let live = LiveRun::default();
        let screen = Screen::new(Some(live.clone()));
        screen.quiet();
        let (one, two) = (screen.beside("one"), screen.beside("two"));
        one.doing("restoring", "40 %");
        two.doing("starting", "");
        let doing = live.read(|live| live.sites.values().map(|site| site.doing.clone()).collect::<Vec<String>>());
        assert_eq!(doing, ["restoring 40 %", "starting"]);
        live.update(|live| live.wishes.is_stopping = true);
        assert!(one.is_stopping() && two.is_stopping(), "a wish is for all of them");
    }
}
