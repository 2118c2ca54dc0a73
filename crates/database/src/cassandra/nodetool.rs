//! Flush and compaction on demand.
//!
//! CQL cannot ask for them; the management interface (JMX) can, and Cassandra's own client for it, `nodetool`, is among
//! the jars. It costs a JVM start of a second or two, which is fine for something done once per data set. The node
//! listens for it on 127.0.0.1 only, and asks for a password ([`super::Management`]).

use std::process::Command;

use super::{
    distribution::Distribution,
    java::{Java, WithoutJavaOptions as _},
    management::{USER, password_file},
    node_config::NodeConfig,
    node_error::NodeError,
    node_files::write,
};
use crate::account::Account;

/// Write all memtables of `keyspace` to disk, then compact each of its tables into one SSTable.
///
/// A major compaction rather than "wait until the automatic one has nothing to do": where size tiers come to rest
/// depends on the timing of flushes, so that two loads of the same data would leave different numbers of files to read
/// from. Wait with [`super::Admin::wait_settled`] afterwards (old files are deleted in the background).
pub fn flush_and_compact(
    distribution: &Distribution,
    java: &Java,
    config: &NodeConfig,
    keyspace: &str,
) -> Result<(), NodeError> {
    nodetool(distribution, java, config, &["flush", keyspace])?;
    nodetool(distribution, java, config, &["compact", keyspace]).map(|_| ())
}

/// Run one `nodetool` command against a running node; gives what it printed.
pub fn nodetool(
    distribution: &Distribution,
    java: &Java,
    config: &NodeConfig,
    arguments: &[&str],
) -> Result<String, NodeError> {
    let logback = config.directory.join("conf/logback-tools.xml");
    let quiet = r#"<configuration><root level="OFF"/></configuration>"#;
    write(&logback, quiet)?;
    // As the server runs: what that answers is read by a JVM that may do no more than it.
    let mut words = config.account.as_ref().map(Account::launch_prefix).unwrap_or_default();
    words.push(java.path.display().to_string());
    let output = Command::new(&words[0])
        .args(&words[1..])
        .args([
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:ActiveProcessorCount=1",
        ])
        .arg(format!("-Dlogback.configurationFile={}", logback.display()))
        // It keeps a history of commands in the home directory.
        .arg(format!("-Duser.home={}", config.directory.join("tmp").display()))
        .arg(format!("-Djava.io.tmpdir={}", config.directory.join("tmp").display()))
        .arg("-Dcom.sun.jndi.rmiURLParsing=legacy")
        .args(super::jvm::module_access())
        .args(["-cp", &distribution.classpath(), "org.apache.cassandra.tools.NodeTool"])
        .args([
            "-h",
            "127.0.0.1",
            "-p",
            &config.jmx_port.to_string(),
            "-u",
            USER,
            "-pwf",
        ])
        .arg(password_file(config))
        .args(arguments)
        .without_java_options()
        .current_dir(&config.directory)
        .output()
        .map_err(|source| NodeError::Spawn {
            program: java.path.display().to_string(),
            source,
        })?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(NodeError::Nodetool {
        command: arguments.join(" "),
        output: format!("{}{}", printed, errors).trim().to_owned(),
    })
}
