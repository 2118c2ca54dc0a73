//! Where the jars are that `iopslab` has fetched, and what a process may do.

use std::path::PathBuf;

/// The cache of whoever runs the tests, as the program finds it.
pub fn cache() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").expect("tests run with a home directory"));
    let usual = || match rustix::process::geteuid().is_root() {
        true => PathBuf::from("/var/cache/iopslab"),
        false => home().join(".cache/iopslab"),
    };
    std::env::var_os("IOPSLAB_CACHE").map_or_else(usual, PathBuf::from)
}

/// A process is that of a user who has no rights but its own, and no way to any.
#[allow(dead_code, reason = "some of the programs that have this start no database of their own")]
pub fn has_no_rights(pid: u32, uid: u32) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let fact = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(fact("Uid:"), format!("{uid} {uid} {uid} {uid}"), "{status}");
    assert_eq!((fact("Groups:"), fact("NoNewPrivs:")), (String::new(), "1".to_owned()), "{status}");
    for set in ["CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(fact(set), "0".repeat(16), "{set} {status}");
    }
}
