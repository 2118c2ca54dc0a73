//! The one error path to the user: what failed, where, what to do now.

use std::io::IsTerminal as _;

use miette::Diagnostic as _;

use crate::output::Format;

/// Why a command did not do what was asked, with its exit code.
#[derive(Debug)]
pub enum Failure {
    /// Exit 2: the experiment file is wrong; each mistake is shown at its place.
    Mistakes(Box<experiment::Mistakes>),
    /// Exit 2: bad usage or bad input of any other kind.
    Input {
        /// What is wrong.
        message: String,
        /// What to do.
        help: Option<String>,
    },
    /// Exit 1: the work failed.
    Work {
        /// What failed, and where.
        message: String,
        /// What to do now.
        help: Option<String>,
    },
    /// Exit 3: done, but the verdict failed.
    Verdict(String),
    /// Exit 130, as shells have it for Ctrl-C: the user asked to stop.
    Interrupted {
        /// What was stopped, and what is kept.
        message: String,
        /// How to go on.
        help: Option<String>,
    },
}

impl Failure {
    /// Bad input.
    pub fn input(message: impl ToString) -> Self {
        Self::Input { message: message.to_string(), help: None }
    }

    /// Failed work.
    pub fn work(message: impl ToString) -> Self {
        Self::Work { message: message.to_string(), help: None }
    }

    /// Stopped by the user.
    pub fn interrupted(message: impl ToString) -> Self {
        Self::Interrupted { message: message.to_string(), help: None }
    }

    /// What failed, without advice.
    pub fn message(&self) -> String {
        match self {
            Self::Mistakes(mistakes) => mistakes.to_string(),
            Self::Input { message, .. } | Self::Work { message, .. } | Self::Interrupted { message, .. } => {
                message.clone()
            }
            Self::Verdict(message) => message.clone(),
        }
    }

    /// The same failure with advice.
    pub fn help(self, advice: impl ToString) -> Self {
        let help = Some(advice.to_string());
        match self {
            Self::Input { message, .. } => Self::Input { message, help },
            Self::Work { message, .. } => Self::Work { message, help },
            Self::Interrupted { message, .. } => Self::Interrupted { message, help },
            other => other,
        }
    }

    /// The exit code of the contract.
    pub fn code(&self) -> u8 {
        match self {
            Self::Work { .. } => 1,
            Self::Mistakes(_) | Self::Input { .. } => 2,
            Self::Verdict(_) => 3,
            Self::Interrupted { .. } => 130,
        }
    }

    /// Prints it on stderr.
    pub fn show(&self, format: Format) {
        if format == Format::Json {
            let (message, help) = match self {
                Self::Mistakes(mistakes) => {
                    eprintln!(
                        "{}",
                        serde_json::json!({ "error": "the experiment is not valid", "mistakes": mistakes })
                    );
                    return;
                }
                Self::Input { message, help } | Self::Work { message, help } | Self::Interrupted { message, help } => {
                    (message, help)
                }
                Self::Verdict(message) => (message, &None),
            };
            eprintln!("{}", serde_json::json!({ "error": message, "help": help }));
            return;
        }
        match self {
            Self::Mistakes(mistakes) => {
                // The plain form is the fall-back: an error must never hide behind a drawing that failed.
                match drawn(mistakes) {
                    Ok(text) => eprintln!("{text}"),
                    Err(_) => eprintln!("{mistakes}"),
                }
            }
            Self::Interrupted { message, help } => {
                eprintln!("{message}");
                if let Some(help) = help {
                    eprintln!(" help: {help}");
                }
            }
            Self::Input { message, help } | Self::Work { message, help } => {
                eprintln!("error: {message}");
                if let Some(help) = help {
                    eprintln!(" help: {help}");
                }
            }
            Self::Verdict(message) => eprintln!("{message}"),
        }
    }
}

/// Every mistake once, at its place in the file.
fn drawn(mistakes: &experiment::Mistakes) -> Result<String, std::fmt::Error> {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if colour { miette::GraphicalTheme::unicode() } else { miette::GraphicalTheme::unicode_nocolor() };
    let handler = miette::GraphicalReportHandler::new_themed(theme);
    let mut text = String::new();
    for mistake in mistakes.related().into_iter().flatten() {
        handler.render_report(&mut text, mistake)?;
    }
    Ok(text)
}
