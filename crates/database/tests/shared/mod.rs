//! Where the jars are that `iopslab` has fetched, a network for databases, and what a process may do.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Of this process alone; `None`: this user may have none.
static NETWORK: LazyLock<Option<File>> = LazyLock::new(make_network);

/// This thread, and what it starts, is in a network of this process from here on, where whoever can have one: whatever
/// else this machine runs, tests among it, has none of its ports. It leads nowhere: what is to be fetched comes before.
pub fn enter_own_network() {
    if let Some(network) = &*NETWORK {
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
    }
}

fn make_network() -> Option<File> {
    let name = format!("iopslab-databases-{}", std::process::id());
    let ip = |words: &[&str]| Command::new("ip").args(words).output().is_ok_and(|output| output.status.success());
    if !rustix::process::geteuid().is_root() || !ip(&["netns", "add", &name]) {
        return None;
    }
    let is_up = ip(&["-n", &name, "link", "set", "lo", "up"]);
    let network = File::open(Path::new("/run/netns").join(&name)).unwrap();
    // It lives as long as it is open, or somebody is in it.
    ip(&["netns", "del", &name]);
    is_up.then_some(network)
}

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
