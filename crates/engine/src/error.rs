//! What can end a trial or a load early. Errors of the database during a trial are results, not errors.

/// Why the engine gave up.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A load thread could not connect.
    #[error("cannot connect to the database: {0}")]
    Connect(String),
    /// The plan cannot be carried out.
    #[error("this load cannot be generated: {0}")]
    Plan(String),
    /// The caller asked for the end.
    #[error("cancelled")]
    Cancelled,
    /// The operating system refused something that a load thread needs.
    #[error("cannot start a load thread: {0}")]
    Thread(#[from] std::io::Error),
    /// A load thread panicked: a bug in the engine or in the driver.
    #[error("a load thread panicked; the message is on standard error: please report it")]
    Panicked,
    /// A record could not be written during the load phase.
    #[error(
        "record {record} could not be written: {attempts} attempts failed, the last with {last}; look at the \
         database's log, then load again"
    )]
    Insert {
        /// Record number.
        record: u64,
        /// Attempts made.
        attempts: u32,
        /// The last error's name, and where it is known what the server said of the first of its kind.
        last: String,
    },
}
