//! Why there is no answer.

/// Why AWS could not be asked.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum AwsError {
    /// The runtime could not be started.
    #[error("cannot start: {0}")]
    Start(#[from] std::io::Error),
    #[error("no AWS credentials were found")]
    NoCredentials,
    #[error("AWS credentials cannot be had: {0}")]
    Credentials(String),
    /// What AWS says of a request, with the region, and the permission where one is needed.
    #[error("{0}")]
    Refused(String),
}
