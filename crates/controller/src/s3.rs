//! A bucket in which data sets are kept, or a snapshot of the user's own lies, as far as this iopslab was built with
//! AWS.

use std::collections::BTreeMap;
use std::io::Read;

use evidence::KeptDataSet;
use experiment::DataSetPlace;
use process::failure::Failure;
#[cfg(feature = "aws")]
use wire::SignedUrl;
use wire::Transfer;

/// What stands in a bucket's prefix besides data sets. Writing it shows that data sets can be kept before any is
/// loaded.
#[cfg(feature = "aws")]
const README: &str = "Data sets kept by iopslab ([dataset.store] of an experiment). KEY/snapshot.json says what a data \
set is; its\nparts, below a name of their own beside it, are one tar archive. A part without snapshot.json that names \
it is of\nno use: delete it. iopslab deletes nothing here.\n";

/// Objects by their keys below the prefix: bytes and ETag of each.
pub(super) type Objects = BTreeMap<String, (u64, String)>;

/// A bucket, or a part of one.
#[cfg(feature = "aws")]
pub(super) struct Bucket {
    /// As the experiment has it.
    name: String,
    remote: offers::Bucket,
}

/// There is none: this program cannot sign requests.
#[cfg(not(feature = "aws"))]
pub(super) enum Bucket {}

#[cfg(not(feature = "aws"))]
impl Bucket {
    pub fn open(place: &DataSetPlace) -> Result<Option<Self>, Failure> {
        match place {
            DataSetPlace::Directory { .. } => Ok(None),
            DataSetPlace::S3 { .. } => Err(Failure::input(format!("{place}: this iopslab was built without AWS"))
                .help("build it with: cargo build --release --features aws")),
        }
    }

    pub fn check(&self, _: bool) -> Result<(), Failure> {
        match *self {}
    }

    pub fn find(&self, _: &str) -> Result<Option<Result<KeptDataSet, String>>, Failure> {
        match *self {}
    }

    pub fn write_down(&self, _: &KeptDataSet) -> Result<(), Failure> {
        match *self {}
    }

    pub fn transfer(&self, _: bool, _: &str, _: &[String]) -> Result<Transfer, Failure> {
        match *self {}
    }

    pub fn list(&self, _: usize) -> Result<Option<Objects>, Failure> {
        match *self {}
    }

    pub fn read(&self, _: &str, _: &str, _: u64) -> Result<Box<dyn Read>, Failure> {
        match *self {}
    }
}

#[cfg(feature = "aws")]
impl Bucket {
    /// Finds credentials; `None` where data sets are in a directory.
    pub fn open(place: &DataSetPlace) -> Result<Option<Self>, Failure> {
        let DataSetPlace::S3 { bucket, prefix, region, profile } = place else { return Ok(None) };
        let name = place.to_string();
        let remote = offers::Bucket::new(profile.as_deref(), region, bucket, prefix);
        let remote = remote.map_err(|error| Failure::work(format!("{name}: {error}")).help(HELP))?;
        Ok(Some(Self { name, remote }))
    }

    /// Whether it can be read, and written to where that is wanted.
    pub fn check(&self, is_written: bool) -> Result<(), Failure> {
        self.remote.check().map_err(failed)?;
        if is_written { self.remote.put("README.txt", README).map_err(failed) } else { Ok(()) }
    }

    /// What it says of the data set of a key, or what is wrong with what it says.
    pub fn find(&self, key: &str) -> Result<Option<Result<KeptDataSet, String>>, Failure> {
        let document = document(key);
        let text = self.remote.get(&document).map_err(failed)?;
        Ok(text.map(|text| KeptDataSet::read(&text, key).map_err(|why| format!("{}/{document}: {why}", self.name))))
    }

    /// The last step: now it is a data set.
    pub fn write_down(&self, kept: &KeptDataSet) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(kept).map_err(Failure::work)?;
        self.remote.put(&document(&kept.snapshot.key), &text).map_err(failed)
    }

    /// The right to read or write these parts.
    pub fn transfer(&self, is_written: bool, key: &str, parts: &[String]) -> Result<Transfer, Failure> {
        let right = if is_written { offers::UrlPermission::Put } else { offers::UrlPermission::Get };
        let url = |part: &String| self.remote.signed_url(right, &format!("{key}/{part}")).map(SignedUrl);
        let urls: Result<Vec<_>, _> = parts.iter().map(url).collect();
        Ok(Transfer::Urls { name: self.name.clone(), urls: urls.map_err(failed)? })
    }

    /// All of its objects; `None`: they are more than `most`.
    pub fn list(&self, most: usize) -> Result<Option<Objects>, Failure> {
        self.remote.list(most).map_err(failed)
    }

    /// An object from a byte on, if it still is the one of this ETag.
    pub fn read(&self, key: &str, etag: &str, from: u64) -> Result<Box<dyn Read>, Failure> {
        self.remote.open(key, etag, from).map_err(failed)
    }
}

#[cfg(feature = "aws")]
const HELP: &str = "docs/aws.md says what the credentials of a bucket must allow";

#[cfg(feature = "aws")]
fn document(key: &str) -> String {
    format!("{key}/snapshot.json")
}

#[cfg(feature = "aws")]
fn failed(error: offers::AwsError) -> Failure {
    Failure::work(error).help(HELP)
}
