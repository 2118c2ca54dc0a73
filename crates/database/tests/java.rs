//! Choosing a Java runtime: fake `java` programs that only answer `-version`.

#![allow(clippy::unwrap_used, reason = "helpers of a test are test code too")]

use std::{ffi::OsStr, fs, os::unix::fs::PermissionsExt, path::Path};

use database::cassandra::{JavaError, java::find_java_in};

fn fake_java(directory: &Path, says: &str) {
    fs::create_dir_all(directory).unwrap();
    let path = directory.join("java");
    fs::write(&path, format!("#!/bin/sh\necho '{says}' >&2\n")).unwrap();
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
    let java = find_java_in(Some(&home), &path).unwrap();
    assert_eq!((java.version, &java.path), (11, &at("home/bin/java")));

    let java = find_java_in(None, &path).unwrap();
    assert_eq!((java.version, &java.path), (17, &at("good/java")), "the 21 before it is passed over");

    let error = find_java_in(None, at("new").as_os_str()).unwrap_err();
    assert!(matches!(error, JavaError::Unsupported { .. }));
    let text = error.to_string();
    for part in ["21.0.7", "new/java", "11 or 17", "apt-get install openjdk-17-jre-headless", "JAVA_HOME"] {
        assert!(text.contains(part), "{text}");
    }

    let error = find_java_in(None, OsStr::new("")).unwrap_err();
    assert!(matches!(error, JavaError::Missing) && error.to_string().contains("openjdk-17-jre-headless"));
}
