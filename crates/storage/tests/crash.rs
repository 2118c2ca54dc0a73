//! A run that is killed: whatever it had made is found in the ledger and undone by the next one.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests, too")]

mod machine;

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use experiment::IoLimits;
use machine::{CGROUP_ROOT, Machine};
use storage::{Cgroup, CgroupVersion, Controller, DeviceLimit, Ledger, LedgerItem, LoopVolume, ResourceLimits, clean};

#[test]
fn a_killed_run_leaves_a_ledger_that_undoes_everything() {
    let Some(machine) = Machine::new() else { return };
    machine.ledger.intend(LedgerItem::Directory { path: machine.path("node1") }).unwrap();
    std::fs::create_dir_all(machine.path("node1/logs")).unwrap();
    let mut volume = LoopVolume::create(&machine.ledger, &machine.path("data.img"), 512 << 20).unwrap();
    volume.attach_and_mount(&machine.path("data")).unwrap();
    let limits = ResourceLimits {
        memory_bytes: Some(256 << 20),
        cpus: Some(1.0),
        cpuset: Some("0".to_owned()),
        before_others: true,
        devices: vec![DeviceLimit {
            device: volume.device_number().unwrap(),
            limits: IoLimits::symmetric(Some(500.0), None),
        }],
    };
    let cgroup = Cgroup::create(Path::new(CGROUP_ROOT), &machine.ledger, &machine.name, &limits).unwrap();

    // A "database" that holds a file open on the volume, ignores SIGTERM and has a child of its own.
    let prefix = cgroup.launch_prefix();
    let script = "trap '' TERM; exec 3>\"$1/open\"; sleep 300 & echo ready; while :; do sleep 1; done";
    let mut database = Command::new(&prefix[0])
        .args(&prefix[1..])
        .args(["sh", "-c", script, "sh"])
        .arg(machine.path("data"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(database.stdout.take().unwrap()), &mut ready).unwrap();
    machine.ledger.intend(LedgerItem::process(database.id(), "database").unwrap()).unwrap();
    let pids = cgroup.pids().unwrap();
    assert!(pids.len() >= 2 && pids.contains(&database.id()), "{pids:?}");
    // One line a hierarchy: one for each controller of version 1, one for all of version 2.
    let of_itself = std::fs::read_to_string(format!("/proc/{}/cgroup", database.id())).unwrap();
    let available = storage::controllers(Path::new(CGROUP_ROOT));
    let version_1 = [&available.memory, &available.cpu, &available.cpuset, &available.io]
        .into_iter()
        .filter(|controller| matches!(controller, Controller::Usable { version: CgroupVersion::V1, .. }))
        .count();
    let joined = of_itself.lines().filter(|line| line.contains(&format!("/{}", machine.name))).count();
    assert!(joined >= version_1.max(1), "{of_itself}");

    // Killed: no destructor runs.
    std::mem::forget(volume);
    std::mem::forget(cgroup);
    let before = machine.leftovers();
    assert!(before.len() >= 3, "mount, loop device, cgroups: {before:?}");

    let cleaned = clean(&machine.ledger_path).unwrap();
    println!("{:#?}", cleaned.removed);
    assert!(cleaned.is_complete(), "{cleaned:?}");
    assert!(machine.leftovers().is_empty(), "{:?}", machine.leftovers());
    assert!(!machine.path("node1").exists() && !machine.path("data.img").exists());
    database.wait().unwrap();
    for pid in pids {
        assert_eq!(storage::start_time_ticks(pid), None, "process {pid} survives");
    }
    assert!(Ledger::outstanding(&machine.ledger_path).unwrap().is_empty());
    assert!(clean(&machine.ledger_path).unwrap().removed.is_empty(), "a second cleaning finds nothing");
}

#[test]
fn what_a_process_touches_is_charged_to_its_cgroup_from_the_first_byte() {
    let Some(machine) = Machine::new() else { return };
    let limits = ResourceLimits { memory_bytes: Some(64 << 20), ..ResourceLimits::default() };
    let cgroup = Cgroup::create(Path::new(CGROUP_ROOT), &machine.ledger, &machine.name, &limits).unwrap();
    // Twice the limit of anonymous memory: the kernel's OOM killer ends it, inside the cgroup only.
    let prefix = cgroup.launch_prefix();
    let dd = |block: &str| {
        let program = ["dd", "if=/dev/zero", "of=/dev/null", "count=1", block];
        Command::new(&prefix[0]).args(&prefix[1..]).args(program).output().unwrap().status
    };
    assert!(dd("bs=16M").success());
    assert_eq!(dd("bs=128M").signal(), Some(9));
    cgroup.remove().unwrap();
    cgroup.remove().unwrap();
    assert!(machine.leftovers().is_empty());
}

/// The tree of cgroups is one for all containers: whoever uses, or undoes, what another agent has made there ends its
/// database.
#[test]
fn a_cgroup_of_the_same_name_that_somebody_else_has_made_is_neither_used_nor_removed() {
    let (Some(theirs), Some(ours)) = (Machine::new(), Machine::new()) else { return };
    let create = |machine: &Machine, bytes: u64| {
        let limits = ResourceLimits { memory_bytes: Some(bytes), ..ResourceLimits::default() };
        Cgroup::create(Path::new(CGROUP_ROOT), &machine.ledger, &theirs.name, &limits)
    };
    let cgroup = create(&theirs, 64 << 20).unwrap();
    let prefix = cgroup.launch_prefix();
    let mut database = Command::new(&prefix[0])
        .args(&prefix[1..])
        .args(["sh", "-c", "echo ready; exec sleep 300"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(database.stdout.take().unwrap()), &mut ready).unwrap();
    let memory = cgroup.paths().memory.clone().unwrap();
    let limit = || {
        let file = match memory.version {
            CgroupVersion::V1 => "memory.limit_in_bytes",
            CgroupVersion::V2 => "memory.max",
        };
        std::fs::read_to_string(memory.path.join(file)).unwrap().trim().to_owned()
    };

    let refused = create(&ours, 32 << 20).unwrap_err().to_string();
    assert!(refused.contains("create the cgroup") && refused.contains(&theirs.name), "{refused}");
    assert!(Ledger::outstanding(&ours.ledger_path).unwrap().is_empty());
    assert!(clean(&ours.ledger_path).unwrap().removed.is_empty());
    assert!(database.try_wait().unwrap().is_none(), "it was ended");
    assert_eq!(cgroup.pids().unwrap(), [database.id()]);
    assert_eq!(limit(), (64 << 20).to_string());
    cgroup.remove().unwrap();
    database.wait().unwrap();
}

/// The kernel refuses memory above memory plus swap, so a limit set in the wrong order could fall but never rise again:
/// a page cache that was held at its budget shrank instead, until the process was killed.
#[test]
fn a_memory_limit_falls_and_rises_again() {
    let Some(machine) = Machine::new() else { return };
    let limits = ResourceLimits { memory_bytes: Some(256 << 20), ..ResourceLimits::default() };
    let cgroup = Cgroup::create(Path::new(CGROUP_ROOT), &machine.ledger, &machine.name, &limits).unwrap();
    let memory = cgroup.paths().memory.clone().unwrap();
    let file = match memory.version {
        storage::CgroupVersion::V1 => "memory.limit_in_bytes",
        storage::CgroupVersion::V2 => "memory.max",
    };
    for mib in [128_u64, 512, 64, 300] {
        cgroup.set_memory_limit(mib << 20).unwrap();
        assert_eq!(std::fs::read_to_string(memory.path.join(file)).unwrap().trim(), (mib << 20).to_string());
    }
}

/// A disk that is full takes half a line: the next one must not be joined to it.
#[test]
fn a_line_of_the_ledger_that_a_full_disk_cuts_off_is_taken_back_and_the_disk_is_named() {
    let Some(machine) = Machine::new() else { return };
    let small = machine.path("small");
    std::fs::create_dir(&small).unwrap();
    let flags = rustix::mount::MountFlags::empty();
    rustix::mount::mount("tmpfs", &small, "tmpfs", flags, c"size=64k,mode=700").unwrap();
    let path = small.join("ledger.jsonl");
    let ledger = Ledger::open(&path).unwrap();
    let item = |number: u32| LedgerItem::File { path: small.join(format!("file-{number}")) };
    let filled = std::fs::write(small.join("filler"), vec![0; 60 << 10]);
    let refused = (0..1_000).find_map(|number| ledger.intend(item(number)).err());
    std::fs::remove_file(small.join("filler")).unwrap();
    let written = Ledger::outstanding(&path).unwrap().len();
    let later = ledger.intend(item(1_001));
    let text = std::fs::read_to_string(&path).unwrap();
    let cleaned = clean(&path);
    rustix::mount::unmount(&small, rustix::mount::UnmountFlags::DETACH).unwrap();

    filled.unwrap();
    later.unwrap();
    let refused = refused.unwrap().to_string();
    assert!(refused.contains("GiB are free on the disk of") && refused.contains("work_directory"), "{refused}");
    assert_eq!(text.lines().count(), written + 1, "{text}");
    let cleaned = cleaned.unwrap();
    assert!(cleaned.is_complete(), "{cleaned:?}");
}
