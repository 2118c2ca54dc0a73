//! Volumes on the real machine: what they deliver, how they are restored, and that they start cold.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests, too")]

mod machine;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use experiment::IoLimits;
use machine::{CGROUP_ROOT, Machine, end, runs_nothing, share_off, with_a_copy_of_the_mount};
use storage::{
    Cgroup, DeviceLimit, Ledger, LoopVolume, ResourceLimits, copy_tree, device_bytes, free_bytes, probe, read_whole,
    restore_apart, restore_tree,
};

const SIZE: u64 = 512 << 20;

fn mounted(machine: &Machine) -> LoopVolume {
    let mut volume = LoopVolume::create(&machine.ledger, &machine.path("data.img"), SIZE).unwrap();
    volume.attach_and_mount(&machine.path("data")).unwrap();
    volume
}

fn limited(machine: &Machine, device: (u32, u32), limits: IoLimits) -> Cgroup {
    let limits = ResourceLimits {
        memory_bytes: Some(512 << 20),
        cpus: Some(2.0),
        cpuset: None,
        before_others: false,
        devices: vec![DeviceLimit { device, limits }],
    };
    Cgroup::create(Path::new(CGROUP_ROOT), &machine.ledger, &machine.name, &limits).unwrap()
}

/// Reads completed by the device since it was attached.
fn device_reads(volume: &LoopVolume) -> u64 {
    let stat = fs::read_to_string(format!("/sys/block/{}/stat", volume.device().unwrap())).unwrap();
    stat.split_ascii_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_limited_volume_delivers_what_was_asked_for() {
    let Some(machine) = Machine::new() else { return };
    let volume = mounted(&machine);
    // 200 reads/s, and 8 MiB/s that bind the 64 KiB writes (128/s) before their 200 do: rates that an emulated machine
    // reaches as well.
    let limits = IoLimits::symmetric(Some(200.0), Some(8.0));
    let cgroup = limited(&machine, volume.device_number().unwrap(), limits);
    // Never more than that; as much in one of three attempts: a disk that others use too may give less for a while.
    let delivers = |limits: &IoLimits| {
        (0..3).any(|_| {
            let figures =
                probe(volume.mount_point().unwrap(), &cgroup.launch_prefix(), 2.0, 64 << 20, || Ok(())).unwrap();
            println!("{figures:?}");
            let of = |delivered: f64, asked: Option<f64>| asked.map_or(0.0, |asked| delivered / asked);
            for delivered in [
                of(figures.read_iops, limits.read_iops),
                of(figures.write_iops, limits.write_iops),
                of(figures.write_bytes_per_s, limits.write_bytes_per_s),
            ] {
                assert!(delivered < 1.15, "{delivered}: {figures:?}");
            }
            share_off(&figures, limits) < 0.15
        })
    };
    assert!(delivers(&limits));

    for iops in [20.0, 60.0] {
        let slow = IoLimits::symmetric(Some(iops), None);
        cgroup.set_device_limits(volume.device_number().unwrap(), &slow).unwrap();
        assert!(delivers(&slow), "limits move while the cgroup lives");
    }

    let unlimited = probe(volume.mount_point().unwrap(), &[], 0.5, 64 << 20, || Ok(())).unwrap();
    println!("{unlimited:?}");
    assert!(unlimited.read_iops > 4.0 * 60.0, "without the prefix nothing is limited: {unlimited:?}");
    let left = fs::read_dir(volume.mount_point().unwrap()).unwrap().count();
    assert_eq!(left, 0, "the probe's file is gone");
    cgroup.remove().unwrap();
}

#[test]
fn a_data_set_is_restored_by_reference_and_starts_cold() {
    let Some(machine) = Machine::new() else { return };
    let mut volume = mounted(&machine);
    let snapshot = machine.path("snapshot");
    fs::create_dir_all(snapshot.join("ks/table")).unwrap();
    let content: Vec<u8> = (0..16 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(snapshot.join("ks/table/big.db"), &content).unwrap();

    runs_nothing(volume.mount_point().unwrap());
    let (pristine, data) = (machine.path("data/pristine"), machine.path("data/cassandra"));
    let copied = copy_tree(&snapshot, &pristine).unwrap();
    assert_eq!((copied.files, copied.bytes, copied.reflinked), (1, content.len() as u64, false), "another file system");
    let started = Instant::now();
    let restored = restore_tree(&pristine, &data).unwrap();
    println!("restored {} bytes in {:?}", restored.bytes, started.elapsed());
    assert!(restored.reflinked, "XFS shares the blocks");
    fs::write(data.join("ks/table/big.db"), "a trial overwrote this").unwrap();
    fs::write(data.join("stale"), "").unwrap();
    assert!(restore_tree(&pristine, &data).unwrap().reflinked);
    assert!(!data.join("stale").exists());
    let free = free_bytes(&data).unwrap();
    assert!(!restore_apart(&pristine, &data).unwrap().reflinked);
    let taken = free.saturating_sub(free_bytes(&data).unwrap());
    assert!(taken >= content.len() as u64 * 9 / 10, "{taken} bytes are its own");

    let warm_before = device_reads(&volume);
    assert!(fs::read(data.join("ks/table/big.db")).unwrap() == content);
    assert!(fs::read(data.join("ks/table/big.db")).unwrap() == content);
    let first = device_reads(&volume);
    let cached = fs::read(data.join("ks/table/big.db")).unwrap();
    assert_eq!(device_reads(&volume), first, "the page cache answers ({warm_before} reads before)");

    let mount_point = volume.mount_point().unwrap().to_owned();
    volume.unmount_and_detach().unwrap();
    volume.unmount_and_detach().unwrap();
    assert!(volume.device().is_none() && !data.exists());
    volume.attach_and_mount(&mount_point).unwrap();
    runs_nothing(&mount_point);
    let cold = device_reads(&volume);
    assert!(fs::read(data.join("ks/table/big.db")).unwrap() == cached);
    let needed = content.len() as u64 / (256 << 10);
    assert!(device_reads(&volume) - cold >= needed, "every byte came from the device again, at most 256 KiB at a time");

    drop(volume);
    assert!(machine.leftovers().is_empty(), "dropping unmounts and detaches: {:?}", machine.leftovers());
    let again = LoopVolume::open(&machine.ledger, &machine.path("data.img")).unwrap();
    let blocks = fs::metadata(machine.path("data.img")).unwrap().blocks();
    assert!(blocks * 512 < SIZE, "the image is sparse");
    again.delete().unwrap();
    assert!(!machine.path("data.img").exists());
}

/// Bytes that were read of the device since it was attached.
fn device_read_bytes(volume: &LoopVolume) -> u64 {
    let stat = fs::read_to_string(format!("/sys/block/{}/stat", volume.device().unwrap())).unwrap();
    stat.split_ascii_whitespace().nth(2).unwrap().parse::<u64>().unwrap() * 512
}

#[test]
fn every_block_of_a_mounted_volume_is_read_once_and_it_can_be_stopped() {
    let Some(machine) = Machine::new() else { return };
    // Not a whole number of reads.
    let size = (64 << 20) + 4096 * 3;
    let mut volume = LoopVolume::create(&machine.ledger, &machine.path("data.img"), SIZE + size).unwrap();
    volume.attach_and_mount(&machine.path("data")).unwrap();
    fs::write(machine.path("data/file"), vec![7_u8; 8 << 20]).unwrap();
    let device = Path::new("/dev").join(volume.device().unwrap());
    assert_eq!(device_bytes(&device).unwrap(), SIZE + size);

    let before = device_read_bytes(&volume);
    let mut reported = Vec::new();
    let read = read_whole(&device, &mut |done| {
        reported.push(done);
        true
    });
    let read = read.unwrap().unwrap();
    assert_eq!(read.bytes, SIZE + size);
    let from_the_device = device_read_bytes(&volume) - before;
    // Past the page cache, and each block once; the file system may read a little of its own meanwhile.
    assert!((read.bytes..read.bytes + (4 << 20)).contains(&from_the_device), "{from_the_device} of {}", read.bytes);
    assert!(read.seconds > 0.0 && reported.is_sorted() && reported.iter().all(|done| *done <= read.bytes));

    // Somebody asks for the end at once.
    assert_eq!(read_whole(&device, &mut |_| false).unwrap(), None);
    let error = read_whole(&machine.path("none"), &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("/none: No such file"), "{error}");
}

#[test]
fn a_volume_in_use_says_by_whom_and_an_attached_image_where() {
    let Some(machine) = Machine::new() else { return };
    let mut volume = mounted(&machine);
    let open = fs::File::create(machine.path("data/open")).unwrap();
    let error = volume.unmount_and_detach().unwrap_err().to_string();
    assert!(error.contains(&format!("({})", std::process::id())), "{error}");
    assert!(volume.mount_point().is_some(), "still mounted, still known");
    let error = LoopVolume::open(&machine.ledger, volume.image()).unwrap().attach_and_mount(&machine.path("twice"));
    assert!(error.unwrap_err().to_string().contains(volume.device().unwrap()));
    drop(open);
    volume.unmount_and_detach().unwrap();
}

#[test]
fn an_image_that_cannot_be_made_leaves_nothing() {
    let Some(machine) = Machine::new() else { return };
    let error = LoopVolume::create(&machine.ledger, &machine.path("tiny.img"), 1 << 20).unwrap_err().to_string();
    assert!(error.contains("mkfs.xfs") && error.contains("tiny.img"), "{error}");
    assert!(!machine.path("tiny.img").exists());
    assert!(Ledger::outstanding(&machine.ledger_path).unwrap().is_empty());
    fs::write(machine.path("precious.img"), "x").unwrap();
    assert!(LoopVolume::create(&machine.ledger, &machine.path("precious.img"), SIZE).is_err());
    assert!(machine.path("precious.img").exists(), "what was there before is not ours to delete");
}

/// A device is taken only when it is empty, and given back as it was.
#[test]
fn a_device_with_anything_on_it_is_refused_and_an_empty_one_is_given_back_empty() {
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("device.img");
    std::fs::File::create(&image).unwrap().set_len(400 << 20).unwrap();
    let losetup = |arguments: &[&str]| {
        let output = std::process::Command::new("/sbin/losetup").args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let name = losetup(&["--find", "--show", image.to_str().unwrap()]);
    let device = std::path::Path::new(&name);
    let path = directory.path().join("ledger.jsonl");
    let ledger = std::sync::Arc::new(storage::Ledger::open(&path).unwrap());

    let mut disk = storage::Disk::format(&ledger, device).unwrap();
    disk.mount(&directory.path().join("mnt")).unwrap();
    runs_nothing(&directory.path().join("mnt"));
    std::fs::write(directory.path().join("mnt/file"), "x").unwrap();
    let busy = storage::Disk::format(&ledger, device).unwrap_err().to_string();
    assert!(busy.contains("somebody uses it"), "{busy}");
    let other = with_a_copy_of_the_mount(&directory.path().canonicalize().unwrap().join("mnt"));
    let warm = disk.unmount().unwrap_err().to_string();
    let who = format!("mount namespace of sleep ({})", other.id());
    assert!(warm.contains(&who), "{warm}");
    // What others keep of it would not be cold: it is not mounted again, nor taken for mounted.
    assert_eq!(disk.held_elsewhere(), Some(format!("sleep ({})", other.id())));
    let again = disk.mount(&directory.path().join("mnt")).unwrap_err().to_string();
    assert!(again.contains(&who), "{again}");
    let left: Vec<String> = storage::clean(&path).unwrap().left().collect();
    assert!(left.len() == 1 && left[0].contains("file system on") && left[0].contains(&who), "{left:?}");
    end(other);
    disk.unmount().unwrap();
    assert_eq!(disk.held_elsewhere(), None);
    let taken = storage::Disk::format(&ledger, device).unwrap_err().to_string();
    assert!(taken.contains("wipefs finds") && taken.contains("xfs"), "{taken}");
    disk.mount(&directory.path().join("mnt")).unwrap();
    assert!(directory.path().join("mnt/file").exists(), "nothing was made anew");
    drop(disk);

    let cleaned = storage::clean(&path).unwrap();
    assert!(cleaned.is_complete(), "{cleaned:?}");
    assert_eq!(cleaned.removed, [format!("file system on {name}")]);
    // Whose device it is has made a file system of their own on it since the run was killed: that one stays.
    drop(storage::Disk::format(&ledger, device).unwrap());
    let made = std::process::Command::new("/sbin/mkfs.xfs").args(["-q", "-f", &name]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let cleaned = storage::clean(&path).unwrap();
    assert!(cleaned.is_complete() && cleaned.removed.is_empty(), "{cleaned:?}");
    let taken = storage::Disk::check(device).unwrap_err().to_string();
    assert!(taken.contains("wipefs finds") && taken.contains("xfs"), "it is gone: {taken}");
    losetup(&["--detach", &name]);
}

/// As a container, or a service with private mounts, that began in the middle of a run has it.
#[test]
fn a_copy_in_a_namespace_that_follows_ours_ends_with_our_mount() {
    let Some(machine) = Machine::new() else { return };
    let shared = machine.path("mnt");
    storage::share_mounts_below(&machine.ledger, &shared).unwrap();
    storage::share_mounts_below(&machine.ledger, &shared).unwrap();
    // mkfs.xfs refuses less (since xfsprogs 5.19: "Filesystem must be larger than 300MB").
    let mut volume = LoopVolume::create(&machine.ledger, &machine.path("data.img"), 300 << 20).unwrap();
    volume.attach_and_mount(&shared.join("data")).unwrap();
    let mut other = std::process::Command::new("unshare")
        .args(["--mount", "--propagation", "slave", "sh", "-c", "echo ready; exec sleep 60"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(other.stdout.take().unwrap()), &mut ready).unwrap();
    let has_it = || {
        let mounts = std::fs::read_to_string(format!("/proc/{}/mountinfo", other.id())).unwrap();
        mounts.contains(&format!("{} ", shared.join("data").display()))
    };
    assert!(has_it());
    volume.unmount_and_detach().unwrap();
    assert!(!has_it() && volume.held_elsewhere().is_none());
    end(other);
    volume.delete().unwrap();
    assert!(storage::clean(&machine.ledger_path).unwrap().is_complete());
    assert_eq!(machine.leftovers(), Vec::<String>::new());
}

#[test]
fn a_mount_that_lives_on_in_another_namespace_is_no_cold_start_and_its_process_is_named() {
    let Some(machine) = Machine::new() else { return };
    let mut volume = mounted(&machine);
    let other = with_a_copy_of_the_mount(volume.mount_point().unwrap());
    let error = volume.unmount_and_detach().unwrap_err().to_string();
    let expected = format!("it is mounted in the mount namespace of sleep ({}), too", other.id());
    assert!(error.contains(&expected), "{error}");
    assert_eq!(volume.held_elsewhere(), Some(format!("sleep ({})", other.id())));

    // It ends while the volume waits for it.
    let ended = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        end(other);
    });
    volume.unmount_and_detach().unwrap();
    ended.join().unwrap();
    volume.attach_and_mount(&machine.path("data")).unwrap();
    volume.delete().unwrap();
    assert_eq!(machine.leftovers(), Vec::<String>::new());
}
