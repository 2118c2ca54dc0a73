//! The user's own ssh, as a child process.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::path::Path;
use std::process::{Command, Stdio};

use guarded::shell_word;

use super::error::HostError;

/// What is the same for every connection, whatever the user's configuration says: nobody is asked anything, host keys
/// are checked and never accepted here, a connection is nobody else's and only for this command, and one that is dead
/// is noticed within 8 s.
const OPTIONS: [&str; 11] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "ControlMaster=no",
    "ControlPath=none",
    "RemoteCommand=none",
    "RequestTTY=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "ConnectTimeout=10",
    "ServerAliveInterval=2",
    "ServerAliveCountMax=4",
];
/// ssh's own exit code for whatever is not the command's.
const SSH_FAILED: i32 = 255;
/// Lines of ssh's words in an error.
const MOST_WORDS: usize = 6;

/// How ssh is called.
#[derive(Debug, Clone)]
pub(crate) struct Ssh {
    config: Option<String>,
}

impl Ssh {
    pub fn new(config: Option<&str>) -> Self {
        Self { config: config.map(str::to_owned) }
    }

    /// ssh with a script for the machine's `sh`.
    pub fn command(&self, name: &str, script: &str) -> Command {
        self.command_with(&[], name, script)
    }

    /// The same to a machine that was made a moment ago, and may not answer yet.
    pub fn first_command(&self, name: &str, script: &str) -> Command {
        self.command_with(&["ConnectTimeout=5"], name, script)
    }

    /// ssh takes the first value that it is given of an option.
    fn command_with(&self, first: &[&str], name: &str, script: &str) -> Command {
        let mut command = self.base();
        for option in first.iter().chain(&OPTIONS) {
            command.args(["-o", option]);
        }
        // Whatever the login shell is, it can call sh.
        command.args(["-T", "--", name]).arg(format!("exec sh -c {}", shell_word(script)));
        command
    }

    fn base(&self) -> Command {
        let mut command = Command::new("ssh");
        if let Some(config) = &self.config {
            command.args(["-F", config]);
        }
        command
    }

    /// Runs a script there to its end; gives its stdout. `input` is its stdin.
    pub fn run(&self, name: &str, script: &str, input: Option<File>) -> Result<String, HostError> {
        self.run_for("run a command there", name, script, input)
    }

    /// The same, with what is tried by it in an error.
    pub fn run_for(
        &self,
        doing: &'static str,
        name: &str,
        script: &str,
        input: Option<File>,
    ) -> Result<String, HostError> {
        let mut command = self.command(name, script);
        command.stdin(input.map_or_else(Stdio::null, Stdio::from));
        let output = command.output().map_err(HostError::NoSsh)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let (name, words) = (name.to_owned(), words(&output.stderr));
        Err(match output.status.code() {
            Some(SSH_FAILED) => HostError::Connect { name, words },
            _ => HostError::Command { name, doing, how: output.status.to_string(), words },
        })
    }

    /// Where ssh connects to: the host name of its configuration, by this machine's resolver.
    pub fn address(&self, name: &str) -> Result<Ipv4Addr, HostError> {
        let failed = |reason: String| HostError::Address { name: name.to_owned(), reason };
        let output = self.base().args(["-G", "--", name]).output().map_err(HostError::NoSsh)?;
        if !output.status.success() {
            return Err(failed(words(&output.stderr)));
        }
        let settings = String::from_utf8_lossy(&output.stdout);
        let host = settings.lines().find_map(|line| line.strip_prefix("hostname "));
        let host = host.ok_or_else(|| failed("ssh -G names no host".to_owned()))?;
        let found = (host, 0).to_socket_addrs().map_err(|error| failed(format!("{host}: {error}")))?;
        let mut found = found.filter_map(|address| match address {
            SocketAddr::V4(address) => Some(*address.ip()),
            SocketAddr::V6(_) => None,
        });
        found.next().ok_or_else(|| failed(format!("{host} has none")))
    }
}

/// A path as one word of ssh_config(5): in quotes, since it may have spaces, and without a `%` that begins a token.
pub(crate) fn config_word(path: &Path) -> String {
    let path = path.display().to_string();
    format!("\"{}\"", path.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%"))
}

/// The last lines, without the frames of ssh's warnings.
fn words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.trim_matches(|c: char| c == '@' || c.is_whitespace()))
        .filter(|line| !line.is_empty())
        .collect();
    match lines.as_slice() {
        [] => "it said nothing".to_owned(),
        // The headline of a warning comes first, the verdict last.
        [first, .., _] if lines.len() > MOST_WORDS => {
            let last = &lines[lines.len() - (MOST_WORDS - 1)..];
            format!("{first} / ... / {}", last.join(" / "))
        }
        lines => lines.join(" / "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_word_is_one_word_for_a_shell() {
        for text in ["plain", "two words", "it's", "$HOME `x` \"y\" \\", ""] {
            let script = format!("printf %s {}", shell_word(text));
            // As it travels: quoted once more, for the login shell.
            let outer = format!("sh -c {}", shell_word(&script));
            let output = Command::new("sh").args(["-c", &outer]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
        }
    }

    #[test]
    fn the_words_of_ssh_keep_the_headline_and_the_verdict() {
        let stderr = "@@@@\n@  WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!  @\n@@@@\na\nb\nc\nd\ne\nf\nHost key \
                      verification failed.\r\n";
        assert_eq!(
            words(stderr.as_bytes()),
            "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! / ... / c / d / e / f / Host key verification failed."
        );
        assert_eq!(words(b""), "it said nothing");
    }

    #[test]
    fn an_address_is_where_ssh_connects_to() {
        let directory = std::env::temp_dir().join(format!("iopslab-ssh-{}", std::process::id()));
        std::fs::write(&directory, "Host db1\n  HostName 192.0.2.7\n").unwrap();
        let ssh = Ssh::new(directory.to_str());
        assert_eq!(ssh.address("db1").unwrap(), Ipv4Addr::new(192, 0, 2, 7));
        let unknown = ssh.address("no-such-host.invalid").unwrap_err().to_string();
        assert!(unknown.contains("no-such-host.invalid") && unknown.contains("address ="), "{unknown}");
        std::fs::remove_file(&directory).unwrap();
    }
}
