//! RAID 0 over volumes on the real machine, where its kernel has the md driver: limits hold for each member, and
//! nothing stays.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests, too")]

mod machine;

use std::fs;
use std::path::Path;
use std::process::Command;

use experiment::IoLimits;
use machine::{CGROUP_ROOT, Machine, end, is_emulated, runs_nothing, with_a_copy_of_the_mount};
use storage::{Array, Cgroup, DeviceLimit, Ledger, LoopVolume, ReadAhead, ResourceLimits, clean, probe_members};

const SIZE: u64 = 512 << 20;
const CHUNK_KIB: u32 = 256;

/// `None`, with a word why, where this machine cannot do it; that of scripts/vm.sh can.
fn machine() -> Option<Machine> {
    let problems = Array::problems();
    assert!(problems.is_empty() || !is_emulated(), "{problems:?}");
    if let Some(problem) = problems.first() {
        println!("skipped: {}", problem.what);
        return None;
    }
    Machine::new()
}

fn members(machine: &Machine, count: usize) -> Vec<LoopVolume> {
    let member = |number: usize| {
        let image = machine.path(&format!("member-{number}.img"));
        let mut volume = LoopVolume::create_member(&machine.ledger, &image, SIZE).unwrap();
        volume.attach().unwrap();
        volume
    };
    (0..count).map(member).collect()
}

fn mounted(machine: &Machine, members: &[LoopVolume]) -> Array {
    let mut array = Array::new(&machine.ledger, CHUNK_KIB);
    array.build_and_mount(members, &machine.path("data")).unwrap();
    array
}

fn running() -> Vec<String> {
    let text = fs::read_to_string("/proc/mdstat").unwrap();
    let lines = text.lines().filter(|line| line.starts_with("md"));
    lines.map(str::to_owned).collect()
}

#[test]
fn two_limited_members_do_together_twice_what_one_may_and_evenly() {
    let Some(machine) = machine() else { return };
    let mut members = members(&machine, 2);
    let array = mounted(&machine, &members);
    let limits = IoLimits::symmetric(Some(100.0), None);
    let devices = members.iter().map(|member| DeviceLimit { device: member.device_number().unwrap(), limits });
    let limits = ResourceLimits { devices: devices.collect(), ..ResourceLimits::default() };
    let cgroup = Cgroup::create(Path::new(CGROUP_ROOT), &machine.ledger, &machine.name, &limits).unwrap();
    let names: Vec<String> = members.iter().map(|m| m.device().unwrap().to_owned()).collect();
    let measured = |prefix: &[String], seconds: f64| {
        let found = probe_members(&machine.path("data"), prefix, seconds, 64 << 20, &names, || Ok(())).unwrap();
        let of = |n: usize| (found[n].read_iops, found[n].write_iops);
        println!("figures: reads and writes a second of each of two members: {:.0?} {:.0?}", of(0), of(1));
        found
    };
    // Never more than both may; more than one may in one of three attempts: a disk that others use too may give less
    // for a while.
    let held = (0..3).any(|_| {
        let found = measured(&cgroup.launch_prefix(), 4.0);
        let sum: f64 = found.iter().map(|member| member.read_iops).sum();
        assert!(sum < 2.0 * 115.0, "{found:?}");
        for member in &found {
            assert!((0.4..0.6).contains(&(member.read_iops / sum)), "{found:?}");
        }
        sum > 2.0 * 75.0
    });
    assert!(held, "two members of 100 IOPS do not do together what both may");
    let unlimited = measured(&[], 1.0);
    assert!(
        unlimited.iter().all(|member| member.read_iops > 200.0),
        "without the prefix nothing is limited: {unlimited:?}"
    );
    cgroup.remove().unwrap();

    drop(array);
    assert_eq!(running(), Vec::<String>::new(), "dropping it stops it");
    members.iter_mut().for_each(|member| member.unmount_and_detach().unwrap());
    assert!(machine.leftovers().is_empty(), "{:?}", machine.leftovers());
}

#[test]
fn its_file_system_knows_the_stripes_and_is_whole_when_it_is_built_again() {
    let Some(machine) = machine() else { return };
    let mut members = members(&machine, 4);
    let mut array = mounted(&machine, &members);
    runs_nothing(&machine.path("data"));
    let info = Command::new("xfs_info").arg(machine.path("data")).output().unwrap();
    let info = String::from_utf8_lossy(&info.stdout).into_owned();
    // Blocks of 4 KiB: 256 KiB, and four times that.
    assert!(info.contains("sunit=64") && info.contains("swidth=256 blks"), "{info}");
    let content: Vec<u8> = (0..8 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let file = machine.path("data/file");
    fs::write(&file, &content).unwrap();

    let read_ahead = ReadAhead::set(&machine.ledger, array.device().unwrap(), 64).unwrap();
    assert_eq!(storage::read_ahead_kb_of(&machine.path("data")), Some(64));
    read_ahead.put_back().unwrap();
    let sectors_read = || {
        let of = |member: &LoopVolume| {
            let stat = fs::read_to_string(format!("/sys/block/{}/stat", member.device().unwrap())).unwrap();
            stat.split_ascii_whitespace().nth(2).unwrap().parse::<usize>().unwrap()
        };
        members.iter().map(of).sum::<usize>()
    };
    array.cool().unwrap();
    let before = sectors_read();
    assert!(fs::read(&file).unwrap() == content);
    assert!((sectors_read() - before) * 512 >= content.len(), "all of it came from the members");

    for _ in 0..2 {
        array.unmount_and_stop().unwrap();
        array.unmount_and_stop().unwrap();
        assert!(array.device().is_none() && !file.exists());
        for member in &mut members {
            member.unmount_and_detach().unwrap();
        }
        let refused = array.build_and_mount(&members, &machine.path("data"));
        assert!(refused.unwrap_err().to_string().contains("not all of its volumes are attached"));
        for member in &mut members {
            member.attach().unwrap();
        }
        array.build_and_mount(&members, &machine.path("data")).unwrap();
        assert!(fs::read(&file).unwrap() == content);
    }
    array.unmount_and_stop().unwrap();
}

#[test]
fn a_killed_run_leaves_an_array_that_its_ledger_undoes() {
    let Some(machine) = machine() else { return };
    let members = members(&machine, 2);
    let array = mounted(&machine, &members);
    let device = array.device().unwrap().to_owned();
    fs::write(machine.path("data/file"), vec![7_u8; 1 << 20]).unwrap();
    ReadAhead::set(&machine.ledger, &device, 64).unwrap();
    assert_eq!(running().len(), 1);
    // Killed: no destructor runs. Its mount is held, too.
    let mut holder = Command::new("sleep").arg("300").current_dir(machine.path("data")).spawn().unwrap();
    std::mem::forget(array);
    std::mem::forget(members);
    assert!(machine.leftovers().len() >= 3, "mount, loop devices: {:?}", machine.leftovers());
    let first = clean(&machine.ledger_path).unwrap();
    println!("while somebody has a file open in it: {first:?}");
    assert!(!first.is_complete(), "an array that is used is not stopped");
    holder.kill().unwrap();
    holder.wait().unwrap();

    let cleaned = clean(&machine.ledger_path).unwrap();
    println!("{:#?}", cleaned.removed);
    assert!(cleaned.is_complete(), "{cleaned:?}");
    assert!(cleaned.removed.iter().any(|what| what.starts_with("array of ")), "{cleaned:?}");
    assert_eq!(running(), Vec::<String>::new());
    assert!(machine.leftovers().is_empty(), "{:?}", machine.leftovers());
    assert!(!machine.path("member-0.img").exists());
    assert!(Ledger::outstanding(&machine.ledger_path).unwrap().is_empty());
    assert!(clean(&machine.ledger_path).unwrap().removed.is_empty());
}

/// Whoever keeps its file system by a mount namespace of their own is named, and it is no cold start.
#[test]
fn an_array_whose_mount_lives_on_in_another_namespace_is_not_cold_and_its_process_is_named() {
    let Some(machine) = machine() else { return };
    let mut members = members(&machine, 2);
    let mut array = mounted(&machine, &members);
    let other = with_a_copy_of_the_mount(&machine.path("data"));
    let who = format!("sleep ({})", other.id());
    let warm = array.cool().unwrap_err().to_string();
    assert!(warm.contains(&format!("it is mounted in the mount namespace of {who}, too")), "{warm}");
    assert_eq!(array.held_elsewhere(), Some(who.clone()));
    let kept = array.unmount_and_stop().unwrap_err().to_string();
    assert!(kept.contains(&who), "{kept}");
    end(other);
    array.unmount_and_stop().unwrap();
    assert_eq!(array.held_elsewhere(), None);
    for member in &mut members {
        member.unmount_and_detach().unwrap();
    }
}
