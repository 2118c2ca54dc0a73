//! What an experiment names, and others read.

use crate::{AwsQuotas, AwsSite, ClientCost, DataSetPlace, FoundSnapshot, QuotaNeeds, Recording, ThisMachine};

/// Reads a file's text by its name.
pub(crate) type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;
/// Says why a file is not there, by its name.
pub(crate) type FindFile<'a> = &'a dyn Fn(&str) -> Result<(), String>;
pub(crate) type ReadRecording<'a> = &'a dyn Fn(&str) -> Result<Recording, String>;
/// Reads a snapshot of tables in a directory, by the name that the experiment gives it, or in a bucket; `None`: nobody
/// asks the bucket.
pub(crate) type ReadSnapshot<'a> = &'a dyn Fn(&DataSetPlace) -> Result<Option<FoundSnapshot>, String>;
/// What asks for the quotas of a site.
pub(crate) type ReadQuotas<'a> = &'a dyn Fn(&AwsSite, &QuotaNeeds) -> Result<AwsQuotas, String>;

/// What an experiment may name, and this crate cannot read itself.
pub struct ParseContext<'a> {
    /// The text of a YCSB file, relative to the experiment.
    pub file: ReadFile<'a>,
    /// Whether a file is there that nobody reads here, such as one with a password, relative to the experiment.
    pub there: FindFile<'a>,
    /// What was recorded in a file or directory, relative to the experiment.
    pub recording: ReadRecording<'a>,
    /// What is in a snapshot of tables, in a directory relative to the experiment or in a bucket, which a run alone
    /// asks.
    pub snapshot: ReadSnapshot<'a>,
    /// What AWS grants at a site; the error is why that is not known.
    pub quotas: ReadQuotas<'a>,
    /// What the client costs on this machine; `None`: nobody has measured it.
    pub client: Option<ClientCost>,
    /// This machine, where it may carry the experiment out; `None`: not known, and volumes are not served unless
    /// stated.
    pub machine: Option<ThisMachine>,
}

impl<'a> ParseContext<'a> {
    /// The experiment alone: every file that it names is refused, and nobody asks AWS.
    pub fn alone() -> Self {
        Self::files(&|_| Err("no other file is read here".to_owned()))
    }

    /// Files alone: nobody asks AWS, and what is not read may be anywhere.
    pub fn files(file: ReadFile<'a>) -> Self {
        Self {
            file,
            there: &|_| Ok(()),
            recording: &|_| Err("no recording is read here".to_owned()),
            snapshot: &|_| Err("no snapshot is read here".to_owned()),
            quotas: &|_, _| Err("nobody asks AWS here".to_owned()),
            client: None,
            machine: None,
        }
    }
}
