//! Both versions on fake trees; version 1 on the real one is in `tests/`.

use super::*;
use std::process::Command;

fn ledger(directory: &Path) -> Arc<Ledger> {
    Arc::new(Ledger::open(&directory.join("ledger.jsonl")).unwrap())
}

/// A directory that looks like a mounted cgroup tree. Unlike a real one it cannot remove a directory with files in it,
/// so tests forget their cgroups.
fn fake(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn limits() -> ResourceLimits {
    ResourceLimits {
        memory_bytes: Some(1 << 30),
        cpus: Some(1.5),
        cpuset: Some("0".into()),
        before_others: true,
        devices: vec![DeviceLimit { device: (7, 3), limits: IoLimits::symmetric(Some(187.5), Some(10.0)) }],
    }
}

#[test]
fn version_2_gets_the_lines_that_the_kernel_documents() {
    let tree = tempfile::tempdir().unwrap();
    fake(
        tree.path(),
        &[
            ("cgroup.controllers", "cpuset cpu io memory pids\n"),
            ("cgroup.subtree_control", "memory pids\n"),
            ("cgroup.procs", "1\n2\n"),
        ],
    );
    let work = tempfile::tempdir().unwrap();
    let cgroup = Cgroup::create(tree.path(), &ledger(work.path()), "iopslab-1-database", &limits()).unwrap();

    assert_eq!(
        read(tree.path().join("cgroup.subtree_control")),
        "memory pids\n+cpu\n+io\n+cpuset\n",
        "only what is missing"
    );
    let outer = tree.path().join("iopslab-1-database");
    assert_eq!(read(outer.join("cgroup.subtree_control")), "+memory\n+cpu\n+io\n+cpuset\n");
    assert_eq!(read(outer.join("cpu.weight")), "10000\n", "the outer one competes with the machine");
    let leaf = outer.join(LEAF);
    assert_eq!(read(leaf.join("memory.max")), "1073741824\n");
    assert_eq!(read(leaf.join("cpu.max")), "15000 10000\n");
    assert_eq!(read(leaf.join("cpuset.cpus")), "0\n");
    assert_eq!(read(leaf.join("io.max")), "7:3 riops=188 wiops=188 rbps=10485760 wbps=10485760\n");
    lift_device_limits(&leaf);
    assert!(read(leaf.join("io.max")).ends_with("\n7:3 riops=max wiops=max rbps=max wbps=max\n"));
    assert!(cgroup.paths().memory.as_ref().is_some_and(|m| m.version == CgroupVersion::V2 && m.path == leaf));
    assert_eq!(cgroup.oom_kills(), Some(leaf.join("memory.events")));

    fs::remove_file(leaf.join("io.max")).unwrap();
    cgroup.set_device_limits((7, 3), &IoLimits { read_iops: Some(0.2), ..IoLimits::default() }).unwrap();
    assert_eq!(read(leaf.join("io.max")), "7:3 riops=1 wiops=max rbps=max wbps=max\n");
    std::mem::forget(cgroup);
}

#[test]
fn a_hybrid_machine_uses_each_controller_where_it_is() {
    let tree = tempfile::tempdir().unwrap();
    fake(
        tree.path(),
        &[
            ("unified/cgroup.controllers", "io\n"),
            ("unified/cgroup.subtree_control", ""),
            ("memory/cgroup.procs", ""),
            ("memory/memory.limit_in_bytes", ""),
            ("cpu,cpuacct/cgroup.procs", ""),
            ("cpu,cpuacct/cpu.cfs_quota_us", ""),
            ("cpu,cpuacct/cpuacct.usage", ""),
            ("blkio/cgroup.procs", ""),
            ("blkio/blkio.throttle.read_iops_device", ""),
        ],
    );
    std::os::unix::fs::symlink("cpu,cpuacct", tree.path().join("cpu")).unwrap();
    let found = controllers(tree.path());
    assert!(matches!(&found.io, Controller::Usable { version: CgroupVersion::V2, .. }), "v2 first: {found:?}");
    assert!(matches!(&found.memory, Controller::Usable { version: CgroupVersion::V1, .. }));
    assert_eq!(found.cpu, found.cpuacct, "joint mount");
    assert!(matches!(&found.cpuset, Controller::Missing { reason } if reason.contains("cpuset")));

    let work = tempfile::tempdir().unwrap();
    let asked = ResourceLimits { cpuset: None, ..limits() };
    let cgroup = Cgroup::create(tree.path(), &ledger(work.path()), "iopslab-1-db", &asked).unwrap();
    let joint = tree.path().join("cpu,cpuacct/iopslab-1-db");
    // It is lifted before the period changes; the kernel keeps the last line.
    assert_eq!(read(joint.join("cpu.cfs_quota_us")), "-1\n15000\n");
    assert_eq!(read(joint.join("cpu.shares")), "102400\n");
    assert_eq!(read(tree.path().join("memory/iopslab-1-db/memory.limit_in_bytes")), "1073741824\n");
    assert_eq!(cgroup.oom_kills(), Some(tree.path().join("memory/iopslab-1-db/memory.oom_control")));
    assert!(read(tree.path().join("unified/iopslab-1-db").join(LEAF).join("io.max")).starts_with("7:3 riops=188"));
    assert_eq!(cgroup.launch_prefix()[2].matches("cgroup.procs").count(), 3, "unified, memory, cpu once");
    std::mem::forget(cgroup);
}

#[test]
fn a_limit_that_cannot_be_set_is_refused_before_anything_is_created() {
    let tree = tempfile::tempdir().unwrap();
    fake(tree.path(), &[("cgroup.controllers", "cpu memory\n"), ("cgroup.subtree_control", "")]);
    let work = tempfile::tempdir().unwrap();
    let error = Cgroup::create(tree.path(), &ledger(work.path()), "iopslab-1-db", &limits()).unwrap_err();
    assert!(matches!(&error, StorageError::NoController { resource: "cpuset", .. }), "{error}");
    assert!(!tree.path().join("iopslab-1-db").exists());
    assert!(Ledger::outstanding(&work.path().join("ledger.jsonl")).unwrap().is_empty());
}

#[test]
fn processes_in_a_containers_root_are_named_as_the_obstacle() {
    let tree = tempfile::tempdir().unwrap();
    fake(
        tree.path(),
        &[
            ("cgroup.controllers", "cpu io memory\n"),
            ("cgroup.subtree_control", "memory\n"),
            ("cgroup.type", "domain\n"),
            ("cgroup.procs", "1\n"),
        ],
    );
    let found = controllers(tree.path());
    assert!(matches!(found.memory, Controller::Usable { .. }), "enabled already");
    assert!(matches!(&found.io, Controller::Missing { reason } if reason.contains("container")), "{found:?}");
}

#[test]
fn the_launch_prefix_joins_then_becomes_the_program_or_fails_loudly() {
    let tree = tempfile::tempdir().unwrap();
    fake(tree.path(), &[("it's v2/cgroup.controllers", "memory\n"), ("it's v2/cgroup.subtree_control", "")]);
    let work = tempfile::tempdir().unwrap();
    let root = tree.path().join("it's v2");
    let cgroup = Cgroup::create(&root, &ledger(work.path()), "iopslab-1-db", &ResourceLimits::default()).unwrap();
    let prefix = cgroup.launch_prefix();
    let launch = || {
        Command::new(&prefix[0]).args(&prefix[1..]).args(["sh", "-c", "echo $$ \"$1\"", "sh", "a  b"]).output().unwrap()
    };

    let output = launch();
    let procs = root.join("iopslab-1-db").join(LEAF).join("cgroup.procs");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, format!("{} a  b\n", read(procs.clone()).trim()), "same process, arguments untouched");

    fs::remove_file(&procs).unwrap();
    fs::create_dir(&procs).unwrap();
    let output = launch();
    assert_eq!(output.status.code(), Some(CANNOT_JOIN_EXIT_STATUS));
    assert!(output.stdout.is_empty(), "the program was not started");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot join"));
    std::mem::forget(cgroup);
}

#[test]
fn only_our_own_cgroups_are_ever_removed() {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir(tree.path().join("system.slice")).unwrap();
    assert!(remove_directory(&tree.path().join("system.slice")).is_err());
    assert!(tree.path().join("system.slice").exists());
    assert!(Cgroup::create(tree.path(), &ledger(tree.path()), "database", &ResourceLimits::default()).is_err());
}
