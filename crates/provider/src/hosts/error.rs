//! Why a machine of the user's cannot be used: which one, what failed in its own words, and what to do.

use std::net::Ipv4Addr;
use std::path::PathBuf;

/// Why a machine cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum HostError {
    #[error("cannot start ssh: {0}; install OpenSSH's client (Debian, Ubuntu: apt-get install openssh-client)")]
    NoSsh(std::io::Error),
    #[error("cannot connect to {name}: {words}; {}", advice(name, words))]
    Connect { name: String, words: String },
    /// A command failed there.
    #[error("{name}: cannot {doing} ({how}): {words}{}", on_failure(words))]
    Command { name: String, doing: &'static str, how: String, words: String },
    #[error(
        "{name}: expected a short answer about the machine, got {answer:?}; \
         does its shell print something for every login?"
    )]
    Answer { name: String, answer: String },
    #[error(
        "{name} is {machine}, and there is no iopslab for it here; make one (make dist) and state it as \
         binary_{machine} where the experiment names ssh_config: in [provider.hosts] or [target]"
    )]
    NoProgram { name: String, machine: String },
    #[error("{name} has no sha256sum, with which uploads are verified; install it (Debian, Ubuntu: package coreutils)")]
    NoChecksum { name: String },
    /// A program's file is not what it should be.
    #[error("{}: {reason}", path.display())]
    Program { path: PathBuf, reason: String },
    #[error(
        "the IPv4 address of {name} cannot be found ({reason}); state it: {{ ssh = \"{name}\", \
         address = \"10.0.0.5\" }}"
    )]
    Address { name: String, reason: String },
    #[error(
        "{name} is {address} from here, which is no address for other machines; state it: {{ ssh = \"{name}\", address \
         = \"10.0.0.5\" }}"
    )]
    Loopback { name: String, address: Ipv4Addr },
    #[error("the experiment names no machine for {0}")]
    NoMachine(String),
    #[error("{0}: making it ready ended early; this is a bug of iopslab")]
    Ended(String),
    /// Several machines at once.
    #[error("{}", list(.0))]
    Several(Vec<HostError>),
}

impl HostError {
    /// Nothing, one, or all of them together.
    pub(super) fn all(mut errors: Vec<Self>) -> Result<(), Self> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(Self::Several(errors)),
        }
    }
}

fn list(errors: &[HostError]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// What to do about a connection that ssh refuses or does not get.
fn advice(name: &str, words: &str) -> String {
    if words.contains("HOST IDENTIFICATION HAS CHANGED") {
        format!("find out why its key has changed before anything else (ssh {name} shows how)")
    } else if words.contains("Host key verification failed") {
        format!(
            "its key is not known, and iopslab accepts none by itself: verify it, then connect once with: ssh {name}"
        )
    } else if words.contains("Permission denied") {
        format!("iopslab asks for no password: make this work without one: ssh {name} true (keys, ssh-agent)")
    } else {
        format!("try: ssh {name} true")
    }
}

fn on_failure(words: &str) -> &'static str {
    match words {
        words if words.contains("No space left on device") => "; free some space there (~/.cache/iopslab)",
        words if words.contains("Permission denied") => "; its user cannot write or execute there (~/.cache/iopslab)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_which_machine_what_ssh_said_and_what_to_do() {
        let refused = |words: &str| {
            let error = HostError::Connect { name: "db1".to_owned(), words: words.to_owned() };
            error.to_string()
        };
        let unknown = refused("No ED25519 host key is known for db1 / Host key verification failed.");
        assert!(unknown.starts_with("cannot connect to db1: No ED25519 host key is known"), "{unknown}");
        assert!(unknown.ends_with("connect once with: ssh db1"), "{unknown}");
        let changed = refused("WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! / Host key verification failed.");
        assert!(changed.contains("find out why its key has changed"), "{changed}");
        let two = HostError::all(vec![
            HostError::NoMachine("database".to_owned()),
            HostError::NoMachine("client".to_owned()),
        ]);
        assert_eq!(two.unwrap_err().to_string().lines().count(), 2);
    }
}
