//! Where a host brings the parts of a data set, or fetches them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where the parts of a data set are, or go.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transfer {
    /// Below a directory of the host; each data set has one of its key in it.
    Directory(String),
    /// One URL for each part.
    Urls {
        /// What people call the place.
        name: String,
        /// In the order of the parts.
        urls: Vec<SignedUrl>,
    },
}

/// A URL that gives whoever knows it a right for some hours: it is shown nowhere.
#[derive(Clone, Serialize, Deserialize)]
pub struct SignedUrl(pub String);

impl fmt::Debug for SignedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignedUrl(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_url_is_shown_nowhere() {
        let transfer = Transfer::Urls {
            name: "s3://bucket".to_owned(),
            urls: vec![SignedUrl("https://bucket/?X-Amz-Signature=secret".to_owned())],
        };
        let shown = format!("{transfer:?}");
        assert!(shown.contains("s3://bucket") && !shown.contains("secret"), "{shown}");
    }
}
