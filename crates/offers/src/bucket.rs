//! A bucket of S3 in which data sets are kept: small objects are read and written here, large ones by whoever gets a
//! signed URL.

use std::time::Duration;

use crate::AwsError;
use crate::signed::{Caller, Refused};

/// How long a signed URL is good. Those of temporary credentials end with them.
const LASTS: Duration = Duration::from_secs(12 * 3_600);

/// What a signed URL allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlPermission {
    /// To read an object.
    Get,
    /// To write it.
    Put,
}

/// A prefix in a bucket, with somebody's rights.
pub struct Bucket {
    caller: Caller,
    region: String,
    bucket: String,
    prefix: String,
    url: String,
}

impl Bucket {
    /// With the credentials of a profile, or of the SDK's search; asks nothing of S3.
    ///
    /// # Errors
    /// When there are no credentials.
    pub fn new(profile: Option<&str>, region: &str, bucket: &str, prefix: &str) -> Result<Self, AwsError> {
        let caller = Caller::new(profile, Some(region))?;
        let url = caller.bucket_url(region, bucket);
        let prefix = match prefix {
            "" => String::new(),
            prefix => format!("{prefix}/"),
        };
        Ok(Self { caller, region: region.to_owned(), bucket: bucket.to_owned(), prefix, url })
    }

    /// Whether it answers, and lists what is below the prefix. A key that is missing and one that is forbidden are
    /// different only to those who may list.
    ///
    /// # Errors
    /// What S3 says, with the permission that is needed.
    pub fn check(&self) -> Result<(), AwsError> {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("list-type", "2").append_pair("max-keys", "1").append_pair("prefix", &self.prefix);
        let url = format!("{}/?{}", self.url, query.finish());
        let listed = self.caller.ask_s3("GET", &self.region, &url, "");
        listed.map(drop).map_err(|refused| self.refused("s3:ListBucket", &self.prefix, refused))
    }

    /// An object's text; `None` where there is none.
    ///
    /// # Errors
    /// What S3 says, with the permission that is needed.
    pub fn get(&self, key: &str) -> Result<Option<String>, AwsError> {
        match self.caller.ask_s3("GET", &self.region, &self.url_of(key), "") {
            Ok(text) => Ok(Some(text)),
            Err(refused) if refused.code.as_deref() == Some("NoSuchKey") => Ok(None),
            Err(refused) => Err(self.refused("s3:GetObject", key, refused)),
        }
    }

    /// Writes an object.
    ///
    /// # Errors
    /// What S3 says, with the permission that is needed.
    pub fn put(&self, key: &str, text: &str) -> Result<(), AwsError> {
        let answer = self.caller.ask_s3("PUT", &self.region, &self.url_of(key), text);
        answer.map(drop).map_err(|refused| self.refused("s3:PutObject", key, refused))
    }

    /// A URL by which anybody can read or write an object, for twelve hours at most.
    ///
    /// # Errors
    /// When it cannot be signed.
    pub fn signed_url(&self, right: UrlPermission, key: &str) -> Result<String, AwsError> {
        let (method, permission) = match right {
            UrlPermission::Get => ("GET", "s3:GetObject"),
            UrlPermission::Put => ("PUT", "s3:PutObject"),
        };
        let signed = self.caller.sign_url(method, &self.region, &self.url_of(key), LASTS);
        signed.map_err(|refused| self.refused(permission, key, refused))
    }

    fn url_of(&self, key: &str) -> String {
        format!("{}/{}{key}", self.url, self.prefix)
    }

    fn refused(&self, permission: &'static str, key: &str, refused: Refused) -> AwsError {
        let below = if key == self.prefix { String::new() } else { self.prefix.clone() };
        AwsError::Bucket { place: format!("s3://{}/{below}{key}", self.bucket), permission, reason: refused.reason }
    }
}
