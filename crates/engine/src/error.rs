//! What can end a trial or a load early. Errors of the database during a trial are results, not errors.

/// Why the engine gave up.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum EngineError {
    #[error("cannot connect to the database: {0}")]
    Connect(String),
    #[error("this load cannot be generated: {0}")]
    Plan(String),
    #[error("cancelled")]
    Cancelled,
    #[error("cannot start a load thread: {0}")]
    Thread(#[from] std::io::Error),
    #[error("a load thread panicked; the message is on standard error: please report it")]
    Panicked,
    #[error(
        "record {record} could not be written: {attempts} attempts failed, the last with {last}; look at the \
         database's log, then load again"
    )]
    Insert {
        record: u64,
        attempts: u32,
        /// The last error's name, and where it is known what the server said of the first of its kind.
        last: String,
    },
}
