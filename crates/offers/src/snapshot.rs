//! A snapshot of EBS.

use crate::AwsError;
use crate::ec2;
use crate::signed::Caller;
use crate::xml::{items, text, value};

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// `completed` once volumes can be made from it; else `pending`, `error`, `recoverable` or `recovering`.
    pub state: String,
    /// Size of the volume that it was made of, GiB: the least that one made from it has.
    pub size_gib: u32,
}

/// Asks for a snapshot with the credentials of a named profile, or those that the SDK finds.
///
/// # Errors
/// When there are no credentials, or no such snapshot in that region that they may see.
pub fn snapshot(profile: Option<&str>, region: &str, id: &str) -> Result<Snapshot, AwsError> {
    let failed = |reason: String| AwsError::Refused(format!("EC2 in {region} says of {id}: {reason}"));
    let caller = Caller::new(profile, Some(region))?;
    let parameters = [("SnapshotId.1".to_owned(), id.to_owned())];
    let answer = ec2::ask(&caller, region, "DescribeSnapshots", &parameters);
    let answer = answer.map_err(|refused| failed(refused.reason))?;
    let document = roxmltree::Document::parse(&answer).map_err(|error| failed(format!("no XML: {error}")))?;
    let reported = items(document.root_element(), "snapshotSet").find(|one| text(*one, "snapshotId") == Some(id));
    let read = reported
        .and_then(|one| Some(Snapshot { state: text(one, "status")?.to_owned(), size_gib: value(one, "volumeSize")? }));
    read.ok_or_else(|| failed("the answer has no state or no size of it".to_owned()))
}
