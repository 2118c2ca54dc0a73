//! A store of data sets: what a host without one looks for it in, before it is loaded.

use std::fmt;

use serde::{Deserialize, Serialize};

/// `[dataset.store]`, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSetStore {
    /// Where.
    pub place: DataSetPlace,
    /// Whether a data set that is not there is kept there once it is loaded.
    pub keep: bool,
}

/// Where data sets are kept, each below its key; or where the user's own snapshot lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataSetPlace {
    /// A bucket.
    S3 {
        /// Its name.
        bucket: String,
        /// What keys begin with, without slashes at its ends; may be empty.
        prefix: String,
        /// Its region.
        region: String,
        /// With whose credentials; `None`: those of the usual search.
        profile: Option<String>,
    },
    /// A directory of the database hosts.
    Directory {
        /// Absolute.
        path: String,
    },
}

impl fmt::Display for DataSetPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::S3 { bucket, prefix, .. } if prefix.is_empty() => write!(f, "s3://{bucket}"),
            Self::S3 { bucket, prefix, .. } => write!(f, "s3://{bucket}/{prefix}"),
            Self::Directory { path } => f.write_str(path),
        }
    }
}
