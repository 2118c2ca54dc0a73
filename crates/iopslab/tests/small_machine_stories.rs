//! A machine that is too small for what is asked of it.

use crate::support::{Exits, Laboratory};

/// The loader of a data set has no limits, and takes more than each of these configurations.
#[test]
fn a_machine_with_too_little_memory_to_load_the_data_set_is_refused_before_anything_starts() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root, to show the program less memory than there is");
        return;
    }
    let lab = Laboratory::new();
    lab.write("x.toml", include_str!("../../../examples/quickstart.toml"));
    let meminfo = lab.write("meminfo", "MemTotal: 3145728 kB\nMemAvailable: 3145728 kB\nSwapTotal: 0 kB\n");
    let script = format!("mount --bind {} /proc/meminfo", meminfo.display());
    let mut run = lab.iopslab_apart(&script, &["run", "x.toml"]);
    let said = run.env("IOPSLAB_CACHE", lab.path().join("cache")).exits(2).stderr;
    for part in [
        "(while its data set is loaded) needs 3.3 GiB of memory here, this machine has 3.0",
        "use a machine with more memory",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for made in ["runs", "cache", "work/ledger.jsonl"] {
        assert!(!lab.path().join(made).exists(), "{made}: {said}");
    }
}
