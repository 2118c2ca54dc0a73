//! Choosing a Java runtime, and starting it: fake `java` programs that only answer `-version`.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, ffi::OsStr, fs, os::unix::fs::PermissionsExt, path::Path};

use database::Ports;
use database::cassandra::java::{JavaPlaces, common, find_java_in, supported};
use database::cassandra::{Distribution, Java, JavaError, Node, NodeConfig};

/// A Java for a Cassandra in these two places alone.
fn find(version: &str, java_home: Option<&Path>, path: &OsStr) -> Result<Java, JavaError> {
    find_java_in(version, supported(version), JavaPlaces { java_home, path, jvms: Path::new("/nonexistent") })
}

fn fake_java(directory: &Path, says: &str) {
    fake(directory, &format!("echo '{says}' >&2"));
}

fn fake(directory: &Path, script: &str) {
    fs::create_dir_all(directory).unwrap();
    let path = directory.join("java");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn java_home_comes_before_path_and_only_11_or_17_will_do() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fake_java(&at("home/bin"), "openjdk version \"11.0.27\" 2025-04-15");
    fake_java(&at("new"), "openjdk version \"21.0.7\" 2025-04-15");
    fake_java(&at("good"), "openjdk version \"17.0.15\" 2025-04-15");
    let path = std::env::join_paths([at("empty"), at("new"), at("good")]).unwrap();

    let home = at("home");
    let java = find("5.0.9", Some(&home), &path).unwrap();
    assert_eq!((java.version, &java.path), (11, &at("home/bin/java")));

    let java = find("5.0.9", None, &path).unwrap();
    assert_eq!((java.version, &java.path), (17, &at("good/java")), "the 21 before it is passed over");

    // Seen from where this process is, and not where a node will be.
    let relative = Path::new(&"../".repeat(30)).join(home.strip_prefix("/").unwrap());
    let java = find("5.0.9", Some(&relative), OsStr::new("")).unwrap();
    assert!(java.version == 11 && java.path.is_absolute(), "{}", java.path.display());

    let error = find("5.0.9", None, at("new").as_os_str()).unwrap_err();
    assert!(matches!(error, JavaError::Unsupported { .. }));
    let text = error.to_string();
    for part in ["21.0.7", "new/java", "11 or 17", "apt-get install openjdk-17-jre-headless", "JAVA_HOME"] {
        assert!(text.contains(part), "{text}");
    }

    let error = find("5.0.9", None, OsStr::new("")).unwrap_err();
    assert!(matches!(error, JavaError::Missing { .. }) && error.to_string().contains("openjdk-17-jre-headless"));
}

/// One run may need several: each version of Cassandra finds its own, or says how to get it.
#[test]
fn each_version_finds_its_own_java_and_never_another_one() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fake_java(&at("home/bin"), "openjdk version \"17.0.15\" 2025-04-15");
    fake_java(&at("jvms/jdk-11/bin"), "openjdk version \"11.0.27\" 2025-04-15");
    fake_java(&at("jvms/jdk-25/bin"), "openjdk version \"25.0.1\" 2025-10-21");
    let (home, jvms) = (at("home"), at("jvms"));
    let found = |version: &str, jvms: &Path| {
        let places = JavaPlaces { java_home: Some(&home), path: OsStr::new(""), jvms };
        find_java_in(version, supported(version), places)
    };
    assert_eq!(found("4.1.10", &jvms).unwrap().path, jvms.join("jdk-11/bin/java"));
    assert_eq!(found("5.0.9", &jvms).unwrap().version, 17);
    assert_eq!(found("6.0-alpha2", &jvms).unwrap().version, 17);
    // Beside 4.1 the Java of both is taken, which is not the first one.
    let places = JavaPlaces { java_home: Some(&home), path: OsStr::new(""), jvms: &jvms };
    assert_eq!(find_java_in("5.0.9", &common(["5.0.9", "4.1.10"]), places).unwrap().version, 11);

    let error = found("4.1.10", Path::new("/nonexistent")).unwrap_err().to_string();
    for part in ["Cassandra 4.1.10 needs Java 11, but found only", "17.0.15", "openjdk-11-jre-headless", "JAVA_HOME"] {
        assert!(error.contains(part), "{error}");
    }
}

/// Where a JVM finds options besides its command line.
const OPTIONS: [&str; 4] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"];

/// Options of other programs in Java would change what is measured, and load what they name into the server.
#[test]
fn what_the_environment_has_for_other_programs_in_java_reaches_none_of_ours() {
    const STORY: &str = "java::what_the_environment_has_for_other_programs_in_java_reaches_none_of_ours";
    const OF_OTHERS: &str = "-javaagent:/tmp/of-others.jar";
    if OPTIONS.iter().any(|name| env::var(name).as_deref() != Ok(OF_OTHERS)) {
        // The environment is that of a process, which other stories share: this one runs again in one of its own.
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["--exact", STORY, "--nocapture"]).envs(OPTIONS.map(|name| (name, OF_OTHERS)));
        again.envs([("LC_ALL", "de_DE.UTF-8"), ("TZ", "Asia/Tokyo")]);
        let output = again.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let says = "openjdk version \"17.0.15\" 2025-04-15";
    // It ends at once, as no Cassandra would.
    fake(&home.join("bin"), &format!("env >> \"$0.environment\"; echo '{says}' >&2"));
    let java = find("5.0.9", Some(&home), OsStr::new("")).unwrap();

    let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let [clients, peers, management] = [free(), free(), free()].map(|bound| bound.local_addr().unwrap().port());
    let mut config = NodeConfig::new("story", Ipv4Addr::LOCALHOST, &directory.path().join("node"));
    config.plan.ports = Ports { clients, peers, management };
    let distribution = Distribution {
        version: "5.0.9".to_owned(),
        jars: Vec::new(),
        cache: directory.path().to_owned(),
        start_archive: None,
        row_overhead_bytes: None,
    };
    let mut node = Node::start(&distribution, &java, config).unwrap();
    let began = Instant::now();
    while node.exited().is_none() {
        assert!(began.elapsed() < Duration::from_secs(20), "it does nothing but print");
        std::thread::sleep(Duration::from_millis(10));
    }

    let seen = fs::read_to_string(home.join("bin/java.environment")).unwrap();
    let times = |name: &str| seen.lines().filter(|line| line.starts_with(&format!("{name}="))).count();
    assert_eq!(times("PATH"), 2, "it was asked for its version, and started: {seen}");
    for name in OPTIONS {
        assert_eq!(times(name), 0, "{name} has reached a JVM: {seen}");
    }
    // Nor does the user's language, in which the log of pauses may have decimal commas, or the machine's zone.
    for (name, value) in [("LC_ALL", "C.UTF-8"), ("TZ", "UTC")] {
        assert_eq!(seen.lines().filter(|line| *line == format!("{name}={value}")).count(), 2, "{seen}");
    }
}
