//! Finding a Java runtime on which a version of Cassandra runs.
//!
//! Each version is built and tested for some Java versions only; its start script refuses anything else. iopslab
//! refuses too, before it starts anything, because a server on an unsupported runtime fails late and with a message
//! about something else. Another Java than these is never taken in their place.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use cassandra_model::Line;

/// Where the packages of distributions put each JDK.
const JVMS: &str = "/usr/lib/jvm";

/// Java versions on which a version of Cassandra runs, oldest first; none for one of an unknown line.
///
/// * 4.1: 11 (<https://cassandra.apache.org/doc/4.1/cassandra/getting_started/java11.html>, which also has 8: its JVM
///   knows none of the options that iopslab starts a node with).
/// * 5.0: 11 and 17 (<https://cassandra.apache.org/doc/5.0/cassandra/getting-started/java17.html>).
/// * 6.0: 17 and 21 (its `conf/jvm17-server.options` and `conf/jvm21-server.options`; CASSANDRA-18831 added 21).
pub fn supported(version: &str) -> &'static [u32] {
    match Line::of(version) {
        Some(Line::V4_1) => &[11],
        Some(Line::V5_0) => &[11, 17],
        Some(Line::V6_0) => &[17, 21],
        None => &[],
    }
}

/// What a JVM reads options from besides its command line: meant for other programs in Java, they would change what is
/// measured, and load what they name into the server.
const OPTION_VARIABLES: [&str; 4] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"];

/// A command that starts a JVM of ours: nothing but its command line decides what it runs with. In some languages its
/// log of pauses has decimal commas, in the language `C` it finds no file whose name is not ASCII
/// (`sun.jnu.encoding`), and Cassandra reads times without a zone as those of the machine's.
pub(crate) fn in_plain_surroundings(command: &mut Command) -> &mut Command {
    let command = OPTION_VARIABLES.iter().fold(command, |command, name| command.env_remove(name));
    command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC")
}

/// A usable Java runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Java {
    /// The `java` program.
    pub path: PathBuf,
    /// Feature release, such as 17.
    pub version: u32,
    /// What it says of itself, first line of `java -version`.
    pub version_text: String,
    /// Options of the JVM that it has without being given any, such as those of a script in its place:
    /// `TieredStopAtLevel=1`.
    pub own_options: Vec<String>,
}

/// No usable Java runtime.
#[derive(Debug, thiserror::Error)]
pub enum JavaError {
    /// Nothing called `java` where iopslab looks.
    #[error(
        "Cassandra {version} needs Java {}, and none was found in JAVA_HOME, PATH or {JVMS}. {}",
        needed(version),
        how_to_get(version)
    )]
    Missing {
        /// Of Cassandra.
        version: String,
    },
    /// Only runtimes that this Cassandra does not support.
    #[error(
        "Cassandra {version} needs Java {}, but found only: {}. {}",
        needed(version),
        found.join("; "),
        how_to_get(version)
    )]
    Unsupported {
        /// Of Cassandra.
        version: String,
        /// `path: what it said`, in the order of the search.
        found: Vec<String>,
    },
}

/// `11 or 17`.
pub fn needed(version: &str) -> String {
    supported(version).iter().map(u32::to_string).collect::<Vec<_>>().join(" or ")
}

/// What to do where there is none, for people.
pub fn how_to_get(version: &str) -> String {
    let newest = supported(version).last().copied().unwrap_or_default();
    format!(
        "Install one (Debian, Ubuntu: apt-get install openjdk-{newest}-jre-headless, where the release has it), unpack \
         one below {JVMS}, or set JAVA_HOME to its directory"
    )
}

/// Where a Java is looked for, in this order.
#[derive(Debug, Clone, Copy)]
pub struct JavaPlaces<'a> {
    /// `JAVA_HOME`.
    pub java_home: Option<&'a Path>,
    /// `PATH`.
    pub path: &'a OsStr,
    /// A directory with a JDK in each of its directories.
    pub jvms: &'a Path,
}

/// Java versions on which each of these versions of Cassandra runs, oldest first; none where they have none in common.
pub fn common<'v>(versions: impl IntoIterator<Item = &'v str>) -> Vec<u32> {
    let mut each = versions.into_iter().map(supported);
    let first = each.next().unwrap_or_default().to_vec();
    each.fold(first, |common, next| common.into_iter().filter(|release| next.contains(release)).collect())
}

/// Finds a Java for a version of Cassandra that is compared with others on this host: one on which all of them run,
/// where they have one in common and it is here, so that they differ in nothing else; or else one of its own.
pub fn find_java_beside(version: &str, others: &[String]) -> Result<Java, JavaError> {
    let all = std::iter::once(version).chain(others.iter().map(String::as_str));
    find_java_of(version, &common(all)).or_else(|_| find_java(version))
}

/// Finds a Java for a version of Cassandra: in `JAVA_HOME`, then every directory of `PATH`, then every JDK below
/// `/usr/lib/jvm`. The first supported one wins.
pub fn find_java(version: &str) -> Result<Java, JavaError> {
    find_java_of(version, supported(version))
}

fn find_java_of(version: &str, allowed: &[u32]) -> Result<Java, JavaError> {
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let java_home = home.as_ref().map(Path::new);
    find_java_in(version, allowed, JavaPlaces { java_home, path: &path, jvms: Path::new(JVMS) })
}

/// [`find_java`] in these places, of these Java versions.
pub fn find_java_in(version: &str, allowed: &[u32], places: JavaPlaces<'_>) -> Result<Java, JavaError> {
    let home = places.java_home.map(|home| home.join("bin/java"));
    let on_path = std::env::split_paths(places.path).map(|dir| dir.join("java"));
    let installed = jdks_below(places.jvms).into_iter().map(|jdk| jdk.join("bin/java"));
    let mut found = Vec::new();
    let mut seen = Vec::new();
    // A node starts in a directory of its own: a path that begins where this process is would lead elsewhere there.
    let from_root = |place: PathBuf| std::path::absolute(&place).unwrap_or(place);
    for candidate in home.into_iter().chain(on_path).chain(installed).map(from_root) {
        if !candidate.is_file() || seen.contains(&candidate) {
            continue;
        }
        seen.push(candidate.clone());
        let (text, own_options) = match in_plain_surroundings(Command::new(&candidate).args(SHOW)).output() {
            // Its version goes to standard error, its flags to standard output.
            Ok(Output { stdout, stderr, .. }) => (
                String::from_utf8_lossy(&stderr).lines().next().unwrap_or_default().to_owned(),
                given_flags(&String::from_utf8_lossy(&stdout)),
            ),
            Err(error) => {
                found.push(format!("{}: cannot be run ({error})", candidate.display()));
                continue;
            }
        };
        match feature_release(&text) {
            Some(release) if allowed.contains(&release) => {
                return Ok(Java { path: candidate, version: release, version_text: text, own_options });
            }
            _ if text.is_empty() => found.push(format!("{}: says nothing to -version", candidate.display())),
            _ => found.push(format!("{}: {text}", candidate.display())),
        }
    }
    let version = version.to_owned();
    Err(if found.is_empty() { JavaError::Missing { version } } else { JavaError::Unsupported { version, found } })
}

/// Shows the version, and each flag of the JVM with its value and where that came from.
const SHOW: [&str; 2] = ["-XX:+PrintFlagsFinal", "-version"];

/// Flags that were given on the command line, besides the one that shows them: lines such as
/// `intx TieredStopAtLevel = 1 {product} {command line}`. Of one whose value the JVM has then changed they end with
/// `{command line, ergonomic}` (`JVMFlag::print_origin` of OpenJDK 17).
fn given_flags(shown: &str) -> Vec<String> {
    let given = shown.lines().filter(|line| line.contains("{command line"));
    let flags = given.filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (name, value) = (words.next()?, words.nth(1)?);
        let value = if value.starts_with('{') { "" } else { value };
        (name != "PrintFlagsFinal").then(|| format!("{name}={value}"))
    });
    flags.collect()
}

/// The directories below this one, in the order of their names; none where it cannot be read.
fn jdks_below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut jdks: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    jdks.sort();
    jdks
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
    use super::{common, feature_release, given_flags, needed, supported};

    #[test]
    fn flags_that_a_java_has_of_its_own_are_those_of_a_command_line_besides_ours() {
        // Of OpenJDK 17.0.15, shortened; `command line, ergonomic` by its source.
        let shown = "[Global flags]\n\
             size_t MaxHeapSize          = 536870912             {product} {command line}\n\
               bool PrintFlagsFinal      = true                  {product} {command line}\n\
               intx ThreadStackSize      = 1024            {pd product} {default}\n\
               intx TieredStopAtLevel    = 1                     {product} {command line}\n\
              ccstr ErrorFile            =                       {product} {command line}\n\
               bool OptimizeFill         = true               {C2 product} {command line, ergonomic}\n\
               bool UseG1GC              = true                  {product} {ergonomic}\n";
        let given = ["MaxHeapSize=536870912", "TieredStopAtLevel=1", "ErrorFile=", "OptimizeFill=true"];
        assert_eq!(given_flags(shown), given);
        assert_eq!(given_flags(""), [""; 0]);
    }

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

    #[test]
    fn each_line_has_javas_of_its_own() {
        assert_eq!(needed("4.1.10"), "11");
        assert_eq!(needed("5.0.9"), "11 or 17");
        assert_eq!(needed("6.0-alpha2"), "17 or 21");
        assert_eq!(supported("3.11.19"), [0_u32; 0]);
        assert!(cassandra_model::versions().all(|version| !supported(version).is_empty()));
        assert_eq!(common(["5.0.9", "4.1.10"]), [11]);
        assert_eq!(common(["5.0.9", "6.0-alpha2"]), [17]);
        assert_eq!(common(["6.0-alpha2", "4.1.10", "5.0.9"]), [0_u32; 0]);
    }
}
