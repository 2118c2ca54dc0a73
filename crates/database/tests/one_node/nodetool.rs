//! Cassandra's own client for its management interface: what iopslab reads and asks for is held to what it prints.

use std::process::Command;

use database::cassandra::{Distribution, Java, NodeConfig};

/// What it needs of the JDK.
const MODULES: [&str; 4] = [
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.module=ALL-UNNAMED",
];

/// What a command prints that a running node carries out.
pub fn nodetool(distribution: &Distribution, java: &Java, config: &NodeConfig, arguments: &[&str]) -> String {
    let logback = config.plan.directories.own.join("conf/logback-tools.xml");
    std::fs::write(&logback, r#"<configuration><root level="OFF"/></configuration>"#).unwrap();
    let password = std::fs::read_to_string(config.plan.directories.own.join("conf/jmx.password")).unwrap();
    let (user, password) = password.trim().split_once(' ').unwrap();
    let temporary = config.plan.directories.own.join("tmp");
    let output = Command::new(&java.path)
        .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
        .arg(format!("-Dlogback.configurationFile={}", logback.display()))
        // It keeps a history of commands in the home directory.
        .arg(format!("-Duser.home={}", temporary.display()))
        .arg("-Dcom.sun.jndi.rmiURLParsing=legacy")
        .args(MODULES)
        .args(["-cp", &distribution.classpath(), "org.apache.cassandra.tools.NodeTool"])
        .args(["-h", "127.0.0.1", "-p", &config.plan.ports.management.to_string(), "-u", user, "-pw", password])
        .args(arguments)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "nodetool {arguments:?}: {printed}{}", String::from_utf8_lossy(&output.stderr));
    printed
}
