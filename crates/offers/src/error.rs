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
    #[error("EC2 did not list the instance types of {region}: {reason}")]
    InstanceTypes { region: String, reason: String },
    /// A quota, or what is in use of it, is not known.
    #[error("{reason} (in {region}; permission {permission})")]
    Quotas { region: String, permission: &'static str, reason: String },
    /// A snapshot is not known.
    #[error("EC2 in {region} says of {id}: {reason}")]
    Snapshot { id: String, region: String, reason: String },
    /// A volume is not known, or not modified.
    #[error("EC2 in {region} says of {id}: {reason} (permission {permission})")]
    Volume { id: String, region: String, permission: &'static str, reason: String },
    /// A bucket does not do what it is asked.
    #[error("{place}: {reason} (permission {permission})")]
    Bucket {
        /// Bucket and key.
        place: String,
        permission: &'static str,
        reason: String,
    },
    #[error("EC2 did not list what runs have in {region}: {reason}")]
    Listing { region: String, reason: String },
}
