//! A bucket of S3. Of one in which data sets are kept small objects are read and written here, large ones by whoever
//! gets a signed URL; one with a snapshot of somebody's own is listed, and its objects are read as they come.

use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

use crate::AwsError;
use crate::signed::{Caller, Refused};
use crate::xml::{child, text, value};

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

/// Objects by what their keys have behind a prefix: bytes and ETag of each.
pub type Objects = BTreeMap<String, (u64, String)>;

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

    /// All objects below the prefix; `None`: they are more than `most`.
    ///
    /// # Errors
    /// What S3 says, with the permission that is needed; or its list cannot be read.
    pub fn list(&self, most: usize) -> Result<Option<Objects>, AwsError> {
        let mut objects = Objects::new();
        let mut next = String::new();
        loop {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("list-type", "2").append_pair("prefix", &self.prefix);
            if !next.is_empty() {
                query.append_pair("continuation-token", &next);
            }
            let url = format!("{}/?{}", self.url, query.finish());
            let listed = self.caller.ask_s3("GET", &self.region, &url, "").and_then(|answer| {
                let before = objects.len();
                let token = page(&answer, &self.prefix, &mut objects)?;
                // A list that does not grow would never end.
                let is_stuck = token.is_some() && objects.len() == before;
                if is_stuck { Err(unreadable("its list has a page with nothing new")) } else { Ok(token) }
            });
            let token = listed.map_err(|refused| self.refused("s3:ListBucket", &self.prefix, refused))?;
            if objects.len() > most {
                return Ok(None);
            }
            let Some(token) = token else { return Ok(Some(objects)) };
            next = token;
        }
    }

    /// An object from a byte on, if it still is the one of this ETag.
    ///
    /// # Errors
    /// What S3 says, with the permission that is needed; or another object has that key now.
    pub fn open(&self, key: &str, etag: &str, from: u64) -> Result<Box<dyn Read>, AwsError> {
        let range = format!("bytes={from}-");
        let headers = [("if-match", etag), ("range", range.as_str())];
        // Of nothing there is no byte to begin with.
        let headers = if from == 0 { &headers[..1] } else { &headers[..] };
        self.caller.open_s3(&self.region, &self.url_of(key), headers).map_err(|refused| {
            let is_other = refused.code.as_deref() == Some("PreconditionFailed");
            let refused = if is_other { unreadable("it has changed since it was listed") } else { refused };
            self.refused("s3:GetObject", key, refused)
        })
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
    pub fn signed_url(&self, right: UrlPermission, key: &str) -> Result<String, AwsError> {
        let (method, permission) = match right {
            UrlPermission::Get => ("GET", "s3:GetObject"),
            UrlPermission::Put => ("PUT", "s3:PutObject"),
        };
        let signed = self.caller.sign_url(method, &self.region, &self.url_of(key), LASTS);
        signed.map_err(|refused| self.refused(permission, key, refused))
    }

    fn url_of(&self, key: &str) -> String {
        format!("{}/{}", self.url, encoded(&format!("{}{key}", self.prefix)))
    }

    fn refused(&self, permission: &str, key: &str, refused: Refused) -> AwsError {
        let below = if key == self.prefix { String::new() } else { self.prefix.clone() };
        let (bucket, reason) = (&self.bucket, refused.reason);
        AwsError::Refused(format!("s3://{bucket}/{below}{key}: {reason} (permission {permission})"))
    }
}

/// A key in the path of a URL. Source: "Create a signed AWS API request" (`UriEncode`), IAM User Guide: what is signed
/// has to be encoded so.
fn encoded(key: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    key.bytes().map(byte).collect()
}

/// Takes in the objects of an answer to `ListObjectsV2`; gives what asks for the next page.
fn page(answer: &str, prefix: &str, objects: &mut Objects) -> Result<Option<String>, Refused> {
    let document = roxmltree::Document::parse(answer).map_err(|error| unreadable(&format!("its list: {error}")))?;
    let root = document.root_element();
    for listed in root.children().filter(|node| node.tag_name().name() == "Contents") {
        // As it is: blanks may be a part of it.
        let key = child(listed, "Key").and_then(|key| key.text()?.strip_prefix(prefix));
        let (Some(key), Some(bytes), Some(etag)) = (key, value(listed, "Size"), text(listed, "ETag")) else {
            return Err(unreadable("its list has an object without a key below the prefix, a size or an ETag"));
        };
        objects.insert(key.to_owned(), (bytes, etag.to_owned()));
    }
    Ok(text(root, "NextContinuationToken").filter(|token| !token.is_empty()).map(str::to_owned))
}

fn unreadable(reason: &str) -> Refused {
    Refused { code: None, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(contents: &str, end: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{contents}{end}\
             </ListBucketResult>"
        )
    }

    fn object(key: &str) -> String {
        format!("<Contents><Key>{key}</Key><ETag>&quot;ab-2&quot;</ETag><Size>7</Size></Contents>")
    }

    #[test]
    fn a_page_of_a_list_has_keys_below_the_prefix_with_sizes_and_etags() {
        let mut objects = Objects::new();
        let two = [object("lab/carts/nb-1-big-Data.db"), object("lab/ a &amp; b")].concat();
        let more = "<NextContinuationToken>1/x+=</NextContinuationToken>";
        assert_eq!(page(&listed(&two, more), "lab/", &mut objects).unwrap().as_deref(), Some("1/x+="));
        let expected = (7, "\"ab-2\"".to_owned());
        let expected = [(" a & b".to_owned(), expected.clone()), ("carts/nb-1-big-Data.db".to_owned(), expected)];
        assert_eq!(objects.into_iter().collect::<Vec<_>>(), expected);
        for (contents, words) in [
            (object("other/x"), "without a key below the prefix"),
            ("<Contents><Key>lab/x</Key></Contents>".to_owned(), "a size or an ETag"),
            ("<Contents>".to_owned(), "its list: "),
        ] {
            let refused = page(&listed(&contents, ""), "lab/", &mut Objects::new()).unwrap_err();
            assert!(refused.reason.contains(words), "{words}: {}", refused.reason);
        }
        assert_eq!(page(&listed("", ""), "lab/", &mut Objects::new()).unwrap(), None);
    }

    #[test]
    fn keys_are_encoded_as_they_are_signed() {
        assert_eq!(encoded("lab/a-1_b.c~/SAI+aa=1 x:*\u{e4}"), "lab/a-1_b.c~/SAI%2Baa%3D1%20x%3A%2A%C3%A4");
    }
}
