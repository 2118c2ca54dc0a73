//! Making a lock list: jars with the SHA-256 of what a repository gave, and what it says of versions.

use std::fmt;
use std::path::Path;

use roxmltree::Document;
use sha1::{Digest as _, Sha1};
use sha2::{Digest as _, Sha256};

use super::error::DistributionError;
use super::fetch::{agent, bytes};

/// Most bytes of a POM, a list of versions, or a checksum.
const TEXT_MOST_BYTES: u64 = 4 << 20;
/// Most bytes of a jar; the largest has some 30 MB.
const JAR_MOST_BYTES: u64 = 256 << 20;

/// A list as it stands in the source: its text is what [`fmt::Display`] writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockList {
    /// What it is of and how it is made: its first line.
    pub about: String,
    /// Version of the product.
    pub version: String,
    /// SHA-256, bytes and path of each jar, by path.
    pub jars: Vec<(String, u64, String)>,
}

impl fmt::Display for LockList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}", self.about)?;
        self.jars.iter().try_for_each(|(sha256, bytes, path)| writeln!(f, "{sha256}  {bytes}  {path}"))
    }
}

/// A repository that is asked for what nobody knows the hash of yet.
pub(crate) struct Repository<'a> {
    agent: ureq::Agent,
    address: &'a str,
}

impl<'a> Repository<'a> {
    /// At this address (`http(s)://...`, without a slash at its end).
    pub fn at(address: &'a str) -> Self {
        Self { agent: agent(), address }
    }

    pub fn text(&self, path: &str) -> Result<String, DistributionError> {
        let text = bytes(&self.agent, self.address, path, TEXT_MOST_BYTES)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The newest of the versions that it has of an artifact, as `pick` chooses; `wanted` is how they were asked for.
    /// Errors: it does not say which there are, or `pick` finds none among them.
    pub fn newest<T>(
        &self,
        (group, artifact): (&str, &str),
        wanted: &str,
        pick: impl FnOnce(Vec<String>) -> Option<T>,
    ) -> Result<T, DistributionError> {
        let path = format!("{}/{artifact}/maven-metadata.xml", group.replace('.', "/"));
        let all = released(&self.text(&path)?).map_err(|reason| unclear(format!("{path}: {reason}")))?;
        pick(all).ok_or_else(|| unclear(format!("{path} has no release of {wanted}")))
    }

    /// A jar of it, which is in its place below `root` afterwards: its line of a lock list.
    pub fn jar(&self, path: &str, root: &Path) -> Result<(String, u64, String), DistributionError> {
        let jar = bytes(&self.agent, self.address, path, JAR_MOST_BYTES)?;
        check_sha1(self.address, path, &jar, &self.text(&format!("{path}.sha1"))?)?;
        let target = root.join(path);
        let kept = target.parent().map_or(Ok(()), std::fs::create_dir_all);
        // What is there already keeps its time: a start archive belongs to jars of theirs.
        let is_there = guarded::read(&target, JAR_MOST_BYTES).is_ok_and(|there| there == jar);
        let kept = kept.and_then(|()| if is_there { Ok(()) } else { guarded::replace(&target, &jar, 0o644) });
        kept.map_err(|source| DistributionError::Io { path: target, source })?;
        Ok((guarded::hex(&Sha256::digest(&jar)), jar.len() as u64, path.to_owned()))
    }
}

/// Maven asks for the same of a repository that it is to be strict with.
fn check_sha1(repository: &str, path: &str, jar: &[u8], said: &str) -> Result<(), DistributionError> {
    let expected = said.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let actual = guarded::hex(&Sha1::digest(jar));
    match actual == expected {
        true => Ok(()),
        false => Err(unclear(format!("{repository}/{path} has SHA-1 {actual}, and {path}.sha1 says {expected}"))),
    }
}

/// No list can be made.
pub(crate) fn unclear(reason: String) -> DistributionError {
    DistributionError::NoLockList { reason }
}

/// The versions that `maven-metadata.xml` names.
fn released(metadata: &str) -> Result<Vec<String>, String> {
    let document = Document::parse(metadata).map_err(|error| error.to_string())?;
    let versions = document.root_element().children().filter(|node| node.tag_name().name() == "versioning");
    let lists = versions.flat_map(|node| node.children()).filter(|node| node.tag_name().name() == "versions");
    let each = lists.flat_map(|node| node.children()).filter(|node| node.tag_name().name() == "version");
    Ok(each.map(|node| node.text().unwrap_or_default().trim().to_owned()).collect())
}
