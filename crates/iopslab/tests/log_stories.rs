//! What is logged on stderr beside our own words.

use crate::support::{Exits, Laboratory};

/// The CQL driver logged its own error first, in its own words.
#[test]
fn a_server_that_is_not_there_is_reported_once_and_in_our_words() {
    let lab = Laboratory::new();
    for (log, logs) in [(None, false), (Some(""), false), (Some("scylla=error"), true)] {
        let mut load = lab.iopslab(&["load", "--hosts", "127.0.0.1:9", "--workload", "read=1", "--duration", "1s"]);
        load.env_remove("IOPSLAB_LOG");
        load.envs(log.map(|log| ("IOPSLAB_LOG", log)));
        let stderr = load.exits(1).stderr;
        assert!(stderr.contains("is a CQL server listening there"), "{stderr}");
        assert_eq!(stderr.contains("ERROR scylla"), logs, "{log:?}: {stderr}");
        assert_eq!(stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{stderr}");
    }
}

/// A log that is asked for and cannot be is reported, which shows that warnings are not silenced.
#[test]
fn a_wish_that_cannot_be_read_is_reported() {
    let lab = Laboratory::new();
    let output = lab.iopslab(&["schema"]).env("IOPSLAB_LOG", "a=b=c").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("is ignored"), "{stderr}");
}

/// What a program can do is decided when it is built.
#[test]
fn tls_is_tried_where_the_program_has_it_and_refused_with_how_to_get_it_where_not() {
    let lab = Laboratory::new();
    let output = lab.output(&["load", "--hosts", "127.0.0.1:9", "--workload", "read=1", "--tls-any-name"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let (code, said) = match cfg!(feature = "tls") {
        true => (1, "cannot connect to the database: 127.0.0.1:9: "),
        false => {
            (2, "error: this iopslab was built without TLS\n help: build it with: cargo build --release --features tls")
        }
    };
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(said), "{stderr}");
}
