//! Two uses of one machine at once: one at a time measures, and the other learns who does.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use storage::Measuring;
use support::Laboratory;

#[test]
fn what_would_disturb_a_measurement_is_refused_with_who_measures() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root, as what it is about does");
        return;
    }
    let lab = Laboratory::new();
    let lock = lab.work().with_extension("lock").join("measuring");
    let run = Measuring::begin(&lock, "run gp3-20261125T120000Z").unwrap();
    lab.write("x.toml", include_str!("../../../examples/quickstart.toml"));
    for asked in [&["db", "start"][..], &["probe", "x.toml", "--seconds", "1"]] {
        let output = lab.output(asked);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{asked:?}: {said}");
        let whom = format!(
            "process {}, run gp3-20261125T120000Z measures on this machine",
            std::process::id()
        );
        assert!(said.contains(&whom), "{asked:?}: {said}");
    }
    // Nothing of a measurement is disturbed by these.
    for asked in [&["db", "status"][..], &["clean"]] {
        let said = String::from_utf8_lossy(&lab.output(asked).stderr).into_owned();
        assert!(!said.contains("measures on this machine"), "{asked:?}: {said}");
    }
    drop(run);
}
