//! The two lines that stay in their place while a run is under way, and the plain line where there is no terminal.

use std::time::Instant;

use experiment::grouped_by;
use process::{human_duration, human_us};

use super::live::LiveSecond;
use super::time_left::TimeLeft;

/// Characters of the bar.
const BAR: usize = 12;

/// Where in the run a trial is.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// Which trial, from 1.
    pub number: usize,
    pub of: usize,
    /// Until the last one is over.
    pub left: TimeLeft,
}

/// The load of a second, for people.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    pub second: LiveSecond,
    /// Operations that have failed so far.
    pub errors: u64,
}

/// What is shown now.
#[derive(Debug, Clone)]
pub struct LiveLine {
    /// Where in the run it is.
    pub position: Option<Position>,
    /// What it is about: a cell and a block.
    pub about: String,
    /// What is being done, ...
    pub doing: String,
    /// ... since when, ...
    pub began: Instant,
    /// ... and how far that is.
    pub detail: String,
    /// The load, where there is some.
    pub figures: Option<Figures>,
}

impl Default for LiveLine {
    fn default() -> Self {
        Self {
            position: None,
            about: String::new(),
            doing: String::new(),
            began: Instant::now(),
            detail: String::new(),
            figures: None,
        }
    }
}

impl LiveLine {
    /// Two lines of so many columns, or one where nothing is known of a trial: where the run is and what is left of it;
    /// what the database does. Figures come first: what does not fit is cut off at the end.
    pub fn lines(&self, now: Instant, width: usize) -> String {
        let doing = joined([&self.doing, &self.detail]);
        let second = match &self.figures {
            Some(figures) => format!("{}  {doing}", figures.short()),
            None => {
                let elapsed = human_duration(now.saturating_duration_since(self.began).as_secs_f64());
                joined([&cut(&doing, width.saturating_sub(elapsed.len() + 1)), &elapsed])
            }
        };
        let second = cut(&second, width);
        match self.first(now, width) {
            Some(first) => format!("{first}\n{second}"),
            None => second,
        }
    }

    fn first(&self, now: Instant, width: usize) -> Option<String> {
        let Some(Position { number, of, left }) = &self.position else {
            return (!self.about.is_empty()).then(|| cut(&self.about, width));
        };
        let done = number.saturating_sub(1) as f64 + left.share_of_trial(now);
        let before = format!("{} {number} of {of}  ", bar(done / (*of).max(1) as f64));
        let after = format!("{} left", human_duration(left.seconds(now)));
        let room = width.saturating_sub(before.chars().count() + after.chars().count() + 2);
        Some(cut(&format!("{before}{:room$}  {after}", cut(&self.about, room)), width))
    }

    /// The same in one line, for files.
    pub fn plain(&self, now: Instant) -> String {
        let position = self.position.map(|Position { number, of, left }| {
            format!("[{number} of {of}, about {} left]", human_duration(left.seconds(now)))
        });
        let figures = self.figures.as_ref().map(Figures::long);
        let doing = joined([&self.doing, &self.detail]);
        let doing = match figures {
            Some(figures) => format!("{doing}: {figures}"),
            None => doing,
        };
        joined([&position.unwrap_or_default(), &self.about, &doing])
    }
}

impl Figures {
    /// `12,345 op/s  p99 12.30 ms  3,000 IOPS`.
    fn short(&self) -> String {
        let second = &self.second;
        let mut all = vec![
            format!("{} op/s", grouped_by(second.operations, ',')),
            format!("p99 {}", human_us(second.p99_us)),
            second
                .device_iops
                .map_or_else(|| "- IOPS".to_owned(), |iops| format!("{} IOPS", grouped_by(iops as u64, ','))),
        ];
        if self.errors > 0 {
            all.push(format!("{} errors", grouped_by(self.errors, ',')));
        }
        all.join("  ")
    }

    /// The same with the median, for whoever reads a log.
    fn long(&self) -> String {
        let second = &self.second;
        let device = second.device_iops.map_or_else(|| "-".to_owned(), |iops| format!("{iops:.0}"));
        format!(
            "{} op/s, p50 {}, p99 {}, {} errors, disk {device} IOPS",
            second.operations,
            human_us(second.p50_us),
            human_us(second.p99_us),
            self.errors
        )
    }
}

/// `[=====>      ]`, of a share from 0 to 1.
fn bar(share: f64) -> String {
    let filled = ((share.clamp(0.0, 1.0) * BAR as f64) as usize).min(BAR);
    let head = if filled < BAR { ">" } else { "" };
    let rest = BAR - filled - head.len();
    format!("[{}{head}{}]", "=".repeat(filled), " ".repeat(rest))
}

/// What there is of these, with blanks between.
fn joined<const N: usize>(words: [&String; N]) -> String {
    words.into_iter().filter(|word| !word.is_empty()).cloned().collect::<Vec<String>>().join(" ")
}

/// At most so many characters.
pub fn cut(text: &str, most: usize) -> String {
    let text = guarded::shown_line(text);
    match text.chars().count() <= most {
        true => text,
        false => text.chars().take(most.saturating_sub(1)).chain("…".chars()).take(most).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn line(about: &str, doing: &str, detail: &str, figures: Option<Figures>) -> LiveLine {
        let began = Instant::now();
        let left = TimeLeft { began, trial_s: 80.0, then_s: 300.0 };
        LiveLine {
            position: Some(Position { number: 12, of: 24, left }),
            about: about.to_owned(),
            doing: doing.to_owned(),
            began,
            detail: detail.to_owned(),
            figures,
        }
    }

    fn figures(errors: u64, device_iops: Option<f64>) -> Option<Figures> {
        let second = LiveSecond { t_s: 23.0, operations: 12_345, errors, p50_us: 850, p99_us: 12_300, device_iops };
        Some(Figures { second, errors })
    }

    /// At 80 columns it hid its figures, and the time left stood still within a trial.
    #[test]
    fn at_80_columns_both_lines_are_whole_and_the_time_counts_down() {
        let of = line("gp3-3000.read-heavy.c64 block 2", "measuring,", "23 of 60 s", figures(0, Some(3_000.4)));
        let at = |s| of.lines(of.began + Duration::from_secs(s), 79);
        assert_eq!(
            at(35),
            "[=====>      ] 12 of 24  gp3-3000.read-heavy.c64 block 2            5m 45s left\n\
             12,345 op/s  p99 12.30 ms  3,000 IOPS  measuring, 23 of 60 s"
        );
        assert_eq!(at(35).lines().next().map(|line| line.chars().count()), Some(79));
        assert!(at(36).contains(" 5m 44s left\n"), "{}", at(36));
    }

    #[test]
    fn what_does_not_fit_is_cut_and_figures_are_not() {
        let doing = "warming up until throughput is at rest,";
        let of = line(&"long-name-".repeat(12), doing, "at most 300 s more", figures(17, None));
        let shown = of.lines(of.began, 79);
        assert_eq!(
            shown,
            "[=====>      ] 12 of 24  long-name-long-name-long-name-long-name-…  6m 20s left\n\
             12,345 op/s  p99 12.30 ms  - IOPS  17 errors  warming up until throughput is a…"
        );
        assert!(shown.lines().all(|line| line.chars().count() <= 79), "{shown}");
    }

    #[test]
    fn without_a_load_the_line_says_for_how_long_something_has_been_going_on() {
        let mut of = line("a.w.c2 block 1", "restoring the data set", "40 %", None);
        let at = of.began + Duration::from_secs(34);
        assert!(of.lines(at, 79).ends_with("\nrestoring the data set 40 % 34s"));
        (of.position, of.about) = (None, String::new());
        assert_eq!(of.lines(at, 79), "restoring the data set 40 % 34s", "one line will do");
        assert_eq!(of.lines(at, 20), "restoring the d… 34s");
    }

    #[test]
    fn a_log_gets_all_in_one_line() {
        let of = line("a.w.c2 block 1", "measuring,", "23 of 60 s", figures(2, Some(40.0)));
        assert_eq!(
            of.plain(of.began),
            "[12 of 24, about 6m 20s left] a.w.c2 block 1 measuring, 23 of 60 s: 12345 op/s, p50 850 us, p99 12.30 \
             ms, 2 errors, disk 40 IOPS"
        );
    }

    #[test]
    fn the_bar_is_full_at_the_end_and_never_longer() {
        for (share, seen) in
            [(0.0, "[>           ]"), (0.5, "[======>     ]"), (0.99, "[===========>]"), (1.5, "[============]")]
        {
            assert_eq!(bar(share), seen);
        }
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(|number| grouped_by(number, ',')),
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
