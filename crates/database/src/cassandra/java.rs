//! Finding a Java runtime that Cassandra 5.0 supports.
//!
//! Cassandra 5.0 is built and tested for Java 11 and 17 only; its start script refuses anything else
//! (<https://cassandra.apache.org/doc/5.0/cassandra/getting-started/java17.html>). iopslab refuses too, before it
//! starts anything, because a server on an unsupported runtime fails late and with a message about something else.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

/// Java versions that Cassandra 5.0 supports.
pub const SUPPORTED: [u32; 2] = [11, 17];

/// What a JVM reads options from besides its command line: meant for other programs in Java, they would change what is
/// measured, and load what they name into the server.
const OPTION_VARIABLES: [&str; 4] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"];

/// A command that starts a JVM of ours.
pub(crate) trait WithoutJavaOptions {
    /// Nothing but its command line decides what it runs with.
    fn without_java_options(&mut self) -> &mut Self;
}

impl WithoutJavaOptions for Command {
    fn without_java_options(&mut self) -> &mut Self {
        OPTION_VARIABLES.iter().fold(self, |command, name| command.env_remove(name))
    }
}

/// A usable Java runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Java {
    /// The `java` program.
    pub path: PathBuf,
    /// Feature release: 11 or 17.
    pub version: u32,
    /// What it says of itself, first line of `java -version`.
    pub version_text: String,
}

/// No usable Java runtime.
#[derive(Debug, thiserror::Error)]
pub enum JavaError {
    /// Nothing called `java` where iopslab looks.
    #[error(
        "no Java runtime found in JAVA_HOME or PATH; Cassandra needs Java 11 or 17. Install one (Debian, Ubuntu: \
         apt-get install openjdk-17-jre-headless) or set JAVA_HOME to its directory"
    )]
    Missing,
    /// Only runtimes that Cassandra does not support.
    #[error(
        "Cassandra needs Java 11 or 17, but found only: {}. Install one (Debian, Ubuntu: apt-get install \
         openjdk-17-jre-headless) or set JAVA_HOME to its directory",
        found.join("; ")
    )]
    Unsupported {
        /// `path: what it said`, in the order of the search.
        found: Vec<String>,
    },
}

/// Find Java 11 or 17: `JAVA_HOME` first, then every directory of `PATH`. The first supported one wins.
pub fn find_java() -> Result<Java, JavaError> {
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_java_in(home.as_ref().map(Path::new), &path)
}

/// [`find_java`] with the two environment variables as arguments.
pub fn find_java_in(java_home: Option<&Path>, path: &OsStr) -> Result<Java, JavaError> {
    let home = java_home.map(|home| home.join("bin/java"));
    let candidates = home.into_iter().chain(std::env::split_paths(path).map(|dir| dir.join("java")));
    let mut found = Vec::new();
    let mut seen = Vec::new();
    for candidate in candidates {
        if !candidate.is_file() || seen.contains(&candidate) {
            continue;
        }
        seen.push(candidate.clone());
        let text = match Command::new(&candidate).arg("-version").without_java_options().output() {
            // `java -version` writes to standard error.
            Ok(output) => String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned(),
            Err(error) => {
                found.push(format!("{}: cannot be run ({error})", candidate.display()));
                continue;
            }
        };
        match feature_release(&text) {
            Some(version) if SUPPORTED.contains(&version) => {
                return Ok(Java { path: candidate, version, version_text: text });
            }
            _ if text.is_empty() => found.push(format!("{}: says nothing to -version", candidate.display())),
            _ => found.push(format!("{}: {text}", candidate.display())),
        }
    }
    if found.is_empty() { Err(JavaError::Missing) } else { Err(JavaError::Unsupported { found }) }
}

/// The feature release in `openjdk version "17.0.15" 2025-04-15`; before Java 9 it is the second number (`1.8.0_292`).
fn feature_release(version_line: &str) -> Option<u32> {
    let quoted = version_line.split('"').nth(1)?;
    let mut numbers = quoted.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match numbers.next()?.ok()? {
        1 => numbers.next()?.ok(),
        feature => Some(feature),
    }
}

#[cfg(test)]
mod tests {
    use super::feature_release;

    #[test]
    fn feature_release_of_old_and_new_version_lines() {
        for (line, expected) in [
            ("openjdk version \"17.0.15\" 2025-04-15", Some(17)),
            ("openjdk version \"11\" 2018-09-25", Some(11)),
            ("java version \"1.8.0_292\"", Some(8)),
            ("openjdk version \"21-ea\" 2023-09-19", Some(21)),
            ("bash: java: not found", None),
        ] {
            assert_eq!(feature_release(line), expected, "{line}");
        }
    }
}
