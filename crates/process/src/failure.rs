//! The one error path to the user: what failed, where, what to do now.

use miette::Diagnostic as _;

use crate::output::{Format, has_colour};

/// Why a command did not do what was asked, with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: Kind,
    /// What failed, and where, without advice.
    pub message: String,
    /// What to do now.
    pub help: Option<String>,
}

/// What kind of failure it is.
#[derive(Debug)]
pub enum Kind {
    /// Exit 2: the experiment file is wrong; each mistake is shown at its place.
    Mistakes(Box<experiment::Mistakes>),
    /// Exit 2: bad usage or bad input of any other kind.
    Input,
    /// Exit 1: the work failed.
    Work,
    /// Exit 3: done, but the verdict failed.
    Verdict,
    /// Exit 130, as shells have it for Ctrl-C: the user asked to stop.
    Interrupted,
}

impl Failure {
    fn new(kind: Kind, message: impl ToString) -> Self {
        Self { kind, message: message.to_string(), help: None }
    }

    /// A wrong experiment file.
    pub fn mistakes(mistakes: experiment::Mistakes) -> Self {
        let message = mistakes.to_string();
        Self::new(Kind::Mistakes(Box::new(mistakes)), message)
    }

    /// Bad input.
    pub fn input(message: impl ToString) -> Self {
        Self::new(Kind::Input, message)
    }

    /// Failed work.
    pub fn work(message: impl ToString) -> Self {
        Self::new(Kind::Work, message)
    }

    /// Done, with a verdict that failed.
    pub fn verdict(message: impl ToString) -> Self {
        Self::new(Kind::Verdict, message)
    }

    /// Stopped by the user: what was stopped, and what is kept.
    pub fn interrupted(message: impl ToString) -> Self {
        Self::new(Kind::Interrupted, message)
    }

    /// The same failure with advice; mistakes and verdicts have none.
    pub fn help(mut self, advice: impl ToString) -> Self {
        if matches!(self.kind, Kind::Input | Kind::Work | Kind::Interrupted) {
            self.help = Some(advice.to_string());
        }
        self
    }

    /// The exit code of the contract.
    pub fn code(&self) -> u8 {
        match self.kind {
            Kind::Work => 1,
            Kind::Mistakes(_) | Kind::Input => 2,
            Kind::Verdict => 3,
            Kind::Interrupted => 130,
        }
    }

    /// Prints it on stderr.
    pub fn show(&self, format: Format) {
        let Self { kind, message, help } = self;
        if format == Format::Json {
            let shown = match kind {
                Kind::Mistakes(mistakes) => {
                    serde_json::json!({ "error": "the experiment is not valid", "mistakes": mistakes })
                }
                Kind::Input | Kind::Work | Kind::Verdict | Kind::Interrupted => {
                    serde_json::json!({ "error": message, "help": help })
                }
            };
            eprintln!("{shown}");
            return;
        }
        match kind {
            // The plain form is the fall-back: an error must never hide behind a drawing that failed.
            Kind::Mistakes(mistakes) => eprintln!("{}", drawn(mistakes).unwrap_or_else(|_| message.clone())),
            Kind::Input | Kind::Work => eprintln!("error: {message}"),
            Kind::Verdict | Kind::Interrupted => eprintln!("{message}"),
        }
        if let Some(help) = help {
            eprintln!(" help: {help}");
        }
    }
}

/// Every mistake once, at its place in the file.
fn drawn(mistakes: &experiment::Mistakes) -> Result<String, std::fmt::Error> {
    let theme = match has_colour(std::io::stderr()) {
        true => miette::GraphicalTheme::unicode(),
        false => miette::GraphicalTheme::unicode_nocolor(),
    };
    let handler = miette::GraphicalReportHandler::new_themed(theme);
    let mut text = String::new();
    for mistake in mistakes.related().into_iter().flatten() {
        handler.render_report(&mut text, mistake)?;
    }
    Ok(text)
}
