//! Why machines cannot be made, used or taken away, and what to do.

use std::path::{Path, PathBuf};

use crate::hosts::HostError;

/// Why machines of AWS cannot be made or taken away.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum AwsError {
    #[error(
        "cannot start {program}: {source}; install Terraform 1.5 or newer, or OpenTofu, and name it with \
         IOPSLAB_TERRAFORM"
    )]
    NoTerraform { program: String, source: std::io::Error },
    #[error("{program} is {found}; Terraform or OpenTofu 1.5 or newer is needed (IOPSLAB_TERRAFORM names another one)")]
    Version { program: String, found: String },
    #[error("terraform {verb} failed: {words}\n  its whole output: {}", log.display())]
    Terraform { verb: &'static str, words: String, log: PathBuf },
    #[error(
        "terraform init failed: {words}\n  its whole output: {}\n  iopslab's lock file has the plug-in of AWS that it \
         was tested with. Give that one, or a lock file of your own for yours: make it with `terraform providers lock` \
         in a copy of terraform/aws, and name it with IOPSLAB_TERRAFORM_LOCK",
        log.display()
    )]
    Lock { words: String, log: PathBuf },
    #[error("terraform's state cannot be read from {address}: {words}")]
    State { address: String, words: String },
    #[error("terraform's outputs are not those of the modules: {0}")]
    Output(String),
    #[error("{name} could not be made ready: {words}; the machine has a log: /var/lib/iopslab/first-boot.log")]
    FirstBoot { name: String, words: String },
    #[error(
        "{name} {} after {waited_s} s{}", if *answers { "is not ready" } else { "does not answer by SSH" },
        advice(*answers, words)
    )]
    NotReady { name: String, answers: bool, waited_s: u64, words: String },
    #[error("cannot start ssh: {0}; install OpenSSH's client (Debian, Ubuntu: apt-get install openssh-client)")]
    NoSsh(std::io::Error),
    #[error("cannot start ssh-keygen: {0}; install OpenSSH's client (Debian, Ubuntu: apt-get install openssh-client)")]
    NoKeygen(std::io::Error),
    #[error("ssh-keygen failed: {0}")]
    Keygen(String),
    /// A file of the run.
    #[error("cannot {doing} {}: {source}", path.display())]
    File { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error(
        "{what}: Terraform would obey it, and iopslab did not put it there; if you know where it comes from, remove \
         it; machines that are left go with: iopslab clean --aws"
    )]
    Foreign { what: String },
    #[error(
        "{}: tfenv, asdf and their like choose by it what is started as Terraform, and iopslab did not put it there; \
         remove it, or, if it is your own and lies above the run, go to its directory and try again; machines that are \
         left go with: iopslab clean --aws",
        path.display()
    )]
    Chosen { path: PathBuf },
    #[error(
        "another Terraform still works in {dir} after {waited_s} s: wait until it has ended, then try again; which \
         process it is says: fuser -v {dir}/at-work",
        dir = directory.display()
    )]
    AtWork { directory: PathBuf, waited_s: u64 },
    #[error("the keys of this copy of the run are not those of its machines; iopslab destroy takes these away")]
    OtherKey,
    #[error("the making of machines was called off")]
    CalledOff,
    #[error("no machine was made so far; this is a bug of iopslab")]
    NothingMade,
    /// What machines would need that are to be made is nowhere.
    #[error("{0}")]
    Refused(String),
    /// A machine that is there cannot be used.
    #[error("{0}")]
    Host(#[from] HostError),
}

/// How Terraform says that a plug-in is not that of the lock file: its hash, its version, or that it is not in it.
const OTHER_PLUGIN: [&str; 3] =
    ["checksums previously recorded", "previously-selected version", "Provider dependency changes detected"];

impl AwsError {
    /// Where the lock file is why Terraform could not begin, what to do about that.
    pub(super) fn of_the_lock(self) -> Self {
        match self {
            Self::Terraform { words, log, .. } if OTHER_PLUGIN.iter().any(|way| words.contains(way)) => {
                Self::Lock { words, log }
            }
            other => other,
        }
    }

    pub(super) fn file(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::File { doing, path: path.to_owned(), source }
    }
}

fn advice(answers: bool, words: &str) -> String {
    match answers {
        true => "; its user data has not ended: look at /var/lib/iopslab/first-boot.log there".to_owned(),
        false if words.contains("Host key verification failed") => format!(
            ": {words}; what answers does not show the host key of the run: the first script of the machine has not \
             got so far, or somebody else is at its address"
        ),
        false => format!(
            ": {words}; is [provider.aws] controller_cidr the address from which you come, and is there a way to its \
             subnet?"
        ),
    }
}

/// Codes by which EC2 says that it has no machines of a kind now, or that an account may not have more of something.
const NO_ROOM: [&str; 6] = [
    "InsufficientInstanceCapacity",
    "InstanceLimitExceeded",
    "VcpuLimitExceeded",
    "VolumeLimitExceeded",
    "MaxIOPSLimitExceeded",
    "MaxSpotInstanceCountExceeded",
];

impl AwsError {
    /// Whether another availability zone may have what this one has not.
    pub(super) fn is_of_the_zone(&self) -> bool {
        matches!(self, Self::Terraform { words, .. } if words.contains(NO_ROOM[0]))
    }

    /// Whether machines could not be had where they were asked for, and may be had elsewhere or later.
    pub fn has_no_room(&self) -> bool {
        matches!(self, Self::Terraform { words, .. } if NO_ROOM.iter().any(|code| words.contains(code)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_plugin_than_that_of_the_lock_file_is_said_with_what_to_do() {
        const OWN_LOCK: &str = "IOPSLAB_TERRAFORM_LOCK";
        let said = |words: &str| {
            let (words, log) = (words.to_owned(), PathBuf::from("terraform.log"));
            AwsError::Terraform { verb: "init", words, log }.of_the_lock().to_string()
        };
        for words in [
            "Failed to install provider Error while installing hashicorp/aws v5.100.0: the local package for \
             registry.terraform.io/hashicorp/aws 5.100.0 doesn't match any of the checksums previously recorded in the \
             dependency lock file",
            "Failed to query available provider packages Could not retrieve the list of available versions for \
             provider hashicorp/aws: the previously-selected version 5.99.0 is no longer available",
        ] {
            for part in [words, OWN_LOCK, "terraform providers lock"] {
                assert!(said(words).contains(part), "{}", said(words));
            }
        }
        let other = said("S3 bucket does not exist");
        assert!(!other.contains(OWN_LOCK), "{other}");
    }
}
