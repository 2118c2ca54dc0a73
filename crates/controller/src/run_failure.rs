//! Why a run, or a step of it, could not go on: what it says to people, and what comes next.

use std::path::PathBuf;

use archive::RunError;
use evidence::{Cause, HostId, Validity};
use guarded::shell_path;
use process::failure;
use wire::{Reply, RequestError};

/// What comes of a step.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a step could not be done.
#[derive(Debug)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum Failure {
    /// The user asked to stop; the run, where it has ended in order.
    Interrupted(Option<PathBuf>),
    /// An agent says what is wrong with what it was asked for. The host is named where several were asked.
    Refused { host: Option<HostId>, error: RequestError },
    /// A client's agent was lost while it did what was asked of it. It keeps nothing that outlives a request, so that
    /// another one can take the next.
    ClientLost { how: String },
    /// An agent that is needed on and on is gone, or cannot be had.
    HostLost {
        how: String,
        help: Option<&'static str>,
        /// Only the way to it may be cut.
        may_come_back: bool,
    },
    /// The database of a trial was not there for it: it `did not start`, or what else.
    DidNotStart {
        /// Such as `the database on database-2`.
        database: String,
        /// `did not start`, or what else.
        how: &'static str,
        error: RequestError,
    },
    /// It has ended on its own.
    DatabaseEnded {
        /// Such as `Cassandra on database-2`.
        database: String,
        how: String,
        /// What its log said last.
        log_tail: Vec<String>,
    },
    /// A client could not do what its trial asks for.
    ClientFailed { client: HostId, error: RequestError },
    /// A planned fault could not be begun.
    FaultFailed { host: HostId, error: RequestError },
    /// A backlog was not compacted when it was to be.
    BacklogNotAsPlanned(String),
    /// An agent does not answer in time.
    NoAnswer(HostId),
    /// It answers what nobody asked.
    NotAsked { host: HostId, answer: String },
    /// It answers another question.
    Unexpected(Box<Reply>),
    /// Machines could not be had where they were asked for, and may be had elsewhere or later.
    NoRoom(String),
    /// There is no more money, and so many trials are left.
    Spent { left: usize, run: PathBuf },
    /// The user wants no further trial, on the page: so many are left.
    Stopped { left: usize, run: PathBuf },
    /// Trials in a row could not be carried out.
    TrialsFailed { trials: u32, last: String, run: PathBuf },
    /// Databases were lost in a search.
    SearchFailed { starts: u32, last: String, run: PathBuf },
    /// Whatever else, in its own words.
    Other(failure::Failure),
}

/// What comes after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The trial is invalid for this; the run goes on.
    TrialInvalid(Cause),
    /// The trial is invalid; the run goes on once the host is there again.
    HostReturns,
    /// The batch of machines is measured elsewhere or later.
    BatchWaits,
    /// Nothing more is begun.
    RunEnds,
}

impl Failure {
    /// Work that failed, in words.
    pub fn work(message: impl ToString) -> Self {
        Self::Other(failure::Failure::work(message))
    }

    /// What comes next.
    pub fn next(&self) -> Next {
        match self {
            Self::ClientLost { .. } => Next::TrialInvalid(Cause::ClientLost),
            Self::DidNotStart { .. } => Next::TrialInvalid(Cause::DidNotStart),
            Self::DatabaseEnded { .. } => Next::TrialInvalid(Cause::DatabaseEnded),
            Self::ClientFailed { .. } => Next::TrialInvalid(Cause::ClientFailed),
            Self::FaultFailed { .. } => Next::TrialInvalid(Cause::FaultFailed),
            Self::BacklogNotAsPlanned(_) => Next::TrialInvalid(Cause::BacklogNotAsPlanned),
            Self::HostLost { may_come_back: true, .. } => Next::HostReturns,
            Self::NoRoom(_) => Next::BatchWaits,
            Self::Interrupted(_)
            | Self::Refused { .. }
            | Self::HostLost { .. }
            | Self::NoAnswer(_)
            | Self::NotAsked { .. }
            | Self::Unexpected(_)
            | Self::Spent { .. }
            | Self::Stopped { .. }
            | Self::TrialsFailed { .. }
            | Self::SearchFailed { .. }
            | Self::Other(_) => Next::RunEnds,
        }
    }

    /// What it makes of the trial that it befell; `None`: nothing is stored of that.
    pub(crate) fn validity(&self) -> Option<Validity> {
        let (cause, reason) = match self.next() {
            Next::TrialInvalid(cause) => (cause, self.message()),
            Next::HostReturns => (Cause::HostLost, format!("a host was lost: {}", self.message())),
            Next::BatchWaits | Next::RunEnds => return None,
        };
        let log_tail = match self {
            Self::DatabaseEnded { log_tail, .. } => log_tail.clone(),
            _ => Vec::new(),
        };
        Some(Validity::Invalid { cause, reason, log_tail })
    }

    /// What failed, and where.
    pub fn message(&self) -> String {
        match self {
            Self::Interrupted(None) => "interrupted".to_owned(),
            Self::Interrupted(Some(_)) => "interrupted; every finished trial is kept".to_owned(),
            Self::Refused { host: None, error } => error.message.clone(),
            Self::Refused { host: Some(host), error } => format!("{host}: {}", error.message),
            Self::ClientLost { how } | Self::HostLost { how, .. } => how.clone(),
            Self::DidNotStart { database, how, error } => {
                let help = error.help.iter().map(|help| format!("\nhelp: {help}"));
                format!("{database} {how}: {}{}", error.message, help.collect::<String>())
            }
            Self::DatabaseEnded { database, how, .. } => format!("{database} ended during the trial: {how}"),
            Self::ClientFailed { client, error } => format!("the {client} failed: {}", error.message),
            Self::FaultFailed { host, error } => {
                format!("a planned fault could not be carried out on {host}: {}", error.message)
            }
            Self::BacklogNotAsPlanned(how) | Self::NoRoom(how) => how.clone(),
            Self::NoAnswer(host) => format!("the {host} agent does not answer"),
            Self::NotAsked { host, answer } => {
                format!("the {host} agent gave an answer that it was not asked for: {answer}")
            }
            Self::Unexpected(reply) => format!("an agent gave an answer to another question: {reply:?}"),
            Self::Spent { left, .. } => format!("the run has spent what it may cost: {left} trials are left"),
            Self::Stopped { left, .. } => {
                format!(
                    "stopped after a trial, as wished on the page: {left} trials are left, every finished one is kept"
                )
            }
            Self::TrialsFailed { trials, last, .. } => {
                format!("{trials} trials in a row could not be carried out; the last one: {last}")
            }
            Self::SearchFailed { starts, last, .. } => format!("{starts} databases were lost in the search: {last}"),
            Self::Other(failure) => failure.message.clone(),
        }
    }

    /// What to do now.
    fn help(&self) -> Option<String> {
        match self {
            Self::Stopped { run, .. } => Some(format!("continue with: iopslab run --resume {}", shell_path(run))),
            Self::Interrupted(Some(run)) => Some(format!(
                "continue with: iopslab run --resume {0}; what is there so far: iopslab report {0}",
                shell_path(run)
            )),
            Self::Refused { error, .. } => error.help.clone(),
            Self::HostLost { help, .. } => help.map(str::to_owned),
            Self::Spent { run, .. } => {
                Some(format!("continue with more: iopslab run --resume {} --max-cost USD", shell_path(run)))
            }
            Self::TrialsFailed { run, .. } => Some(format!(
                "remove the cause, then: iopslab run --resume {}, which repeats what did not start (with \
                 --retry-invalid: every invalid trial)",
                shell_path(run)
            )),
            Self::SearchFailed { run, .. } => {
                Some(format!("remove the cause, then: iopslab run --resume {}", shell_path(run)))
            }
            _ => None,
        }
    }
}

impl From<failure::Failure> for Failure {
    fn from(failure: failure::Failure) -> Self {
        Self::Other(failure)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::work(error)
    }
}

/// For the user, with the exit code of the command.
impl From<Failure> for failure::Failure {
    fn from(failure: Failure) -> Self {
        let (message, help) = (failure.message(), failure.help());
        let shown = match failure {
            Failure::Other(own) => return own,
            Failure::Interrupted(_) | Failure::Stopped { .. } => Self::interrupted(message),
            _ => Self::work(message),
        };
        match help {
            Some(help) => shown.help(help),
            None => shown,
        }
    }
}

/// Reads an answer of one kind; any other is one to another question.
macro_rules! answer {
    ($kind:pat => $value:expr) => {
        |reply: wire::Reply| match reply {
            $kind => Ok($value),
            other => Err($crate::run_failure::Failure::Unexpected(Box::new(other))),
        }
    };
}
pub(super) use answer;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_comes_of_its_trial_and_of_the_run() {
        let lost = |may_come_back| Failure::HostLost {
            how: "the database agent is gone: it exited".to_owned(),
            help: None,
            may_come_back,
        };
        assert_eq!((lost(true).next(), lost(false).next()), (Next::HostReturns, Next::RunEnds));
        let reason = |failure: &Failure| match failure.validity() {
            Some(Validity::Invalid { cause, reason, .. }) => Some((cause, reason)),
            Some(Validity::Valid) | None => None,
        };
        let of_lost = "a host was lost: the database agent is gone: it exited".to_owned();
        assert_eq!(reason(&lost(true)), Some((Cause::HostLost, of_lost)));
        assert_eq!(reason(&lost(false)), None, "the run ends, and its trial is done again");

        let silent = Failure::DidNotStart {
            database: "the database on database-2".to_owned(),
            how: "did not start",
            error: RequestError::new("no space left").help("make room"),
        };
        let words = "the database on database-2 did not start: no space left\nhelp: make room".to_owned();
        assert_eq!(reason(&silent), Some((Cause::DidNotStart, words)));

        let run = PathBuf::from("runs/x");
        let shown = failure::Failure::from(Failure::Spent { left: 3, run });
        let help = "continue with more: iopslab run --resume runs/x --max-cost USD";
        assert_eq!((shown.code(), shown.help.as_deref()), (1, Some(help)));

        let run = PathBuf::from("runs/x");
        let shown = failure::Failure::from(Failure::Stopped { left: 3, run });
        assert_eq!((shown.code(), shown.help.as_deref()), (130, Some("continue with: iopslab run --resume runs/x")));
    }
}
