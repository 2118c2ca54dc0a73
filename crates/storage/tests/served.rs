//! Served volumes on the real machine. This program is the volume server as well, which is a process of its own.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests, too")]

#[path = "served/cleaned.rs"]
mod cleaned;
mod machine;

use std::fs;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catalog::{IoLimits, Latency};
use evidence::EbsFigures;
use machine::{Machine, is_emulated, runs_nothing, share_off};
use rustix::process::{Pid, Signal, kill_process};
use storage::{Array, LoopVolume, ServedGauge, VolumeServer, copy_tree, probe};
use volume::{Effect, Model, VolumeFault};

const SIZE: u64 = 512 << 20;
const AS_SERVER: &str = "volume-server";
const DIRECT: i32 = rustix::fs::OFlags::DIRECT.bits() as i32;

type Story = fn(&Machine);

fn main() {
    if std::env::args().nth(1).as_deref() == Some(AS_SERVER) {
        served::run().unwrap();
        return;
    }
    let (wanted, skipped) = asked_for(std::env::args().skip(1));
    let stories: [(&str, Story); 15] = [
        ("holds_its_limits_for_reads_and_writes_together", holds_its_limits),
        ("shares_the_limits_of_its_instance", shares_its_instance),
        ("counts_as_ebs_does_for_how_long_it_was_at_its_limits", counts_as_ebs_does),
        ("takes_its_time_for_a_request", takes_its_time),
        ("keeps_what_was_written", keeps_what_was_written),
        ("stalls_fails_and_is_full_on_demand", has_faults),
        ("is_whole_again_after_its_file_system_was_shut_down", shut_down),
        ("is_attached_anew_after_its_server_was_killed", goes_on),
        ("is_attached_anew_after_its_server_stood_still", stood_still),
        ("as_a_member_of_an_array_goes_on_too", array_goes_on),
        ("is_cleaned_after_its_server_was_killed", cleaned::server_killed),
        ("is_cleaned_while_its_server_stands_still", cleaned::server_stopped),
        ("is_cleaned_when_only_its_owner_is_gone", cleaned::owner_gone),
        ("ends_soon_after_its_owner_and_keeps_nobody_waiting", cleaned::left_alone),
        ("is_unmounted_as_fast_as_the_machine_can_however_slow_it_is", slow_one_unmounted),
    ];
    let mut passed = 0;
    for (name, story) in stories {
        let is_wanted = wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
        if is_wanted && !skipped.iter().any(|word| name.contains(word.as_str())) {
            let Some(machine) = Machine::new() else { return };
            story(&machine);
            println!("test {name} ... ok");
            passed += 1;
        }
    }
    println!("test result: ok. {passed} passed");
}

/// Parts of names of the stories that are to run, and of those that are not, as other test programs take them.
fn asked_for(mut arguments: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let (mut wanted, mut skipped) = (Vec::new(), Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--skip" => skipped.extend(arguments.next()),
            option if option.starts_with('-') => {}
            _ => wanted.push(argument),
        }
    }
    (wanted, skipped)
}

fn server(machine: &Machine) -> Arc<VolumeServer> {
    let program = std::env::current_exe().unwrap().display().to_string();
    let server = VolumeServer::start(&machine.ledger, &[program, AS_SERVER.to_owned()]).unwrap();
    println!("the server lacks: {:?}", server.hardening().missing);
    Arc::new(server)
}

fn mounted(machine: &Machine, server: &Arc<VolumeServer>, model: Model) -> LoopVolume {
    named(machine, server, "data", model)
}

fn named(machine: &Machine, server: &Arc<VolumeServer>, name: &str, model: Model) -> LoopVolume {
    let mut volume = LoopVolume::create(&machine.ledger, &machine.path(&format!("{name}.img")), SIZE).unwrap();
    volume.serve_by(server, name, model);
    volume.attach_and_mount(&machine.path(name)).unwrap();
    volume
}

fn limited(iops: f64, mib_per_s: Option<f64>) -> Model {
    Model::limited(IoLimits::symmetric(Some(iops), mib_per_s))
}

fn end(machine: &Machine, volumes: impl IntoIterator<Item = LoopVolume>, server: Arc<VolumeServer>) {
    for volume in volumes {
        volume.delete().unwrap();
    }
    Arc::into_inner(server).unwrap().end().unwrap();
    assert_eq!(machine.leftovers(), Vec::<String>::new());
}

/// A fault from now on.
fn fault(effect: Effect, until_s: Option<f64>) -> VolumeFault {
    VolumeFault { from_s: 0.0, until_s, effect }
}

/// Writes a new file to the volume.
fn write_new(machine: &Machine) -> std::io::Result<()> {
    fs::File::create(machine.path("data/new")).and_then(|file| file.sync_all())
}

/// What fio counts: I/Os of either kind in a second of random 4 KiB, half of them reads, 32 in flight.
fn mixed_iops(directory: &Path) -> f64 {
    let output = Command::new("fio")
        .arg(format!("--filename={}", directory.join("mixed").display()))
        .args("--name=mixed --rw=randrw --bs=4k --size=64m --direct=1 --ioengine=libaio --iodepth=32".split(' '))
        .args("--time_based --runtime=3 --norandommap --output-format=json".split(' '))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let result: serde_json::Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let of = |kind: &str| result["jobs"][0][kind]["iops"].as_f64().unwrap();
    println!("mix: {:.0} reads and {:.0} writes a second", of("read"), of("write"));
    of("read") + of("write")
}

/// Never more than 5 % above; as much in one of three attempts, because other work of this machine may take its disk.
fn holds_its_limits(machine: &Machine) {
    let (limits_iops, off_max) = if is_emulated() { ([60.0, 200.0], 0.5) } else { ([200.0, 1000.0], 0.05) };
    let server = server(machine);
    let volume = mounted(machine, &server, Model::unlimited());
    let root = machine.path("data");
    mixed_iops(&root);
    for iops in limits_iops {
        volume.behave(&limited(iops, Some(8.0))).unwrap();
        let held = (0..3).any(|_| {
            let limits = IoLimits::symmetric(Some(iops), Some(8.0));
            volume.behave(&Model::unlimited()).unwrap();
            let behave = || {
                let files = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap());
                let laid_out = |entry: &std::fs::DirEntry| {
                    let name = entry.file_name().into_string().unwrap();
                    name.starts_with("iopslab-probe-").then(|| entry.metadata().unwrap().len())
                };
                let bytes: Vec<u64> = files.filter_map(|entry| laid_out(&entry)).collect();
                assert_eq!(bytes, [64 << 20], "the file is written before the volume is as slow as it should be");
                volume.behave(&limited(iops, Some(8.0)))
            };
            let figures = probe(&root, &[], 2.0, 64 << 20, behave).unwrap();
            println!("{iops}: {figures:?}");
            assert!(figures.read_iops < 1.05 * iops && figures.write_bytes_per_s < 1.05 * 8.0 * 1_048_576.0);
            share_off(&figures, &limits) < off_max
        });
        assert!(held, "{iops} IOPS");
        let mixed = (0..3).any(|_| {
            let mixed = mixed_iops(&root);
            assert!(mixed < 1.05 * iops, "reads and writes together: {mixed}");
            mixed > (1.0 - off_max) * iops
        });
        assert!(mixed, "{iops} IOPS mixed");
    }
    let counts = volume.served_counts().unwrap().unwrap();
    let least = limits_iops[1] as u64;
    assert!(counts.reads > least && counts.writes > least && counts.errors == 0, "{counts:?}");
    assert!(counts.server_cpu_s > 0.0);
    end(machine, [volume], server);
}

/// Data and commit log of 1,000 IOPS each behind an instance of 1,200: together never more than 5 % above that, and
/// nearly as much in one of three attempts; alone each has its own.
fn shares_its_instance(machine: &Machine) {
    let (each, least) = if is_emulated() { (100.0, 0.5) } else { (1000.0, 0.93) };
    let instance = 1.2 * each;
    let server = server(machine);
    let volumes = ["data", "commitlog"].map(|name| named(machine, &server, name, Model::unlimited()));
    let roots = ["data", "commitlog"].map(|name| machine.path(name));
    for root in &roots {
        mixed_iops(root);
    }
    // I/Os of both in a second, counted while both run: of two that do not begin at once, the first has an instance
    // alone.
    let together = || -> f64 {
        std::thread::scope(|scope| {
            let running = roots.each_ref().map(|root| scope.spawn(|| mixed_iops(root)));
            let served = || -> f64 {
                let counts = volumes.each_ref().map(|volume| volume.served_counts().unwrap().unwrap());
                counts.iter().map(|counts| (counts.reads + counts.writes) as f64).sum()
            };
            std::thread::sleep(Duration::from_millis(1000));
            let (before, began) = (served(), Instant::now());
            std::thread::sleep(Duration::from_millis(1500));
            let rate = (served() - before) / began.elapsed().as_secs_f64();
            running.into_iter().for_each(|one| {
                one.join().unwrap();
            });
            println!("both together: {rate:.0} a second");
            rate
        })
    };
    let behave = || volumes.iter().for_each(|volume| volume.behave(&limited(each, None)).unwrap());
    let gauges = volumes.each_ref().map(|volume| volume.gauge().unwrap());
    behave();
    ServedGauge::share(&gauges, &limited(instance, None)).unwrap();
    let held = (0..3).any(|_| {
        let sum = together();
        assert!(sum < 1.05 * instance, "both together: {sum}");
        sum > least * instance
    });
    assert!(held);
    let alone = (0..3).any(|_| mixed_iops(&roots[0]) > 0.95 * each);
    assert!(alone, "one alone has what it is");
    // With their limits stated anew, they share nothing any more.
    behave();
    let apart = (0..3).any(|_| together() > 1.05 * instance);
    assert!(apart);
    drop(gauges);
    end(machine, volumes, server);
}

/// Of the 3 s in which fio has 32 requests in flight, and the moment in which it starts and ends.
fn counts_as_ebs_does(machine: &Machine) {
    let iops = if is_emulated() { 60.0 } else { 200.0 };
    let server = server(machine);
    let volume = mounted(machine, &server, Model::unlimited());
    let root = machine.path("data");
    let page = || monitor::ebs_figures(&volume.gauge().unwrap().sample().unwrap().1).unwrap();
    let exceeded = |page: &EbsFigures| {
        let of_volume = [page.volume_iops_exceeded_s, page.volume_bytes_exceeded_s];
        let of_instance = [page.instance_iops_exceeded_s, page.instance_bytes_exceeded_s];
        [of_volume, of_instance].concat().into_iter().map(Option::unwrap).collect::<Vec<f64>>()
    };
    mixed_iops(&root);
    let free = page();
    let counts = volume.served_counts().unwrap().unwrap();
    assert_eq!(exceeded(&free), [0.0; 4], "nothing is limited");
    let requests = |page: &EbsFigures| page.reads.unwrap() + page.writes.unwrap();
    assert!(requests(&free) > 100.0 && requests(&free) <= (counts.reads + counts.writes) as f64, "{free:?} {counts:?}");

    volume.behave(&limited(iops, None)).unwrap();
    let (before, began) = (page(), Instant::now());
    mixed_iops(&root);
    let (after, seconds) = (page(), began.elapsed().as_secs_f64());
    let grown: Vec<f64> =
        exceeded(&after).iter().zip(exceeded(&before)).map(|(after, before)| after - before).collect();
    println!("at its limit for {:.2} of {seconds:.2} s", grown[0]);
    assert!(grown[0] > 2.0 && grown[0] <= seconds && grown[1..] == [0.0; 3], "{grown:?}");
    // With 32 in flight, at most 200 of which are answered in a second, an answer takes more than 65 ms.
    let soon = after.reads_within_65536_us.unwrap() - before.reads_within_65536_us.unwrap();
    let reads = after.reads.unwrap() - before.reads.unwrap();
    assert!(reads > 50.0 && soon < 0.3 * reads, "{soon} of {reads}");
    let mean_s = (after.read_wait_s.unwrap() - before.read_wait_s.unwrap()) / reads;
    assert!(mean_s > 0.05 && mean_s < seconds, "{mean_s}");
    end(machine, [volume], server);
}

fn takes_its_time(machine: &Machine) {
    let server = server(machine);
    let latency = Some(Latency { median_us: 5000.0, sigma: 0.0 });
    let model = Model { latency, ..Model::unlimited() };
    let volume = mounted(machine, &server, model);
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(DIRECT)
        .open(machine.path("data/file"))
        .unwrap();
    let memory = vec![7; 8192];
    let block = &memory[memory.as_ptr().align_offset(4096)..][..4096];
    let mut times: Vec<Duration> = (0..50)
        .map(|n| {
            let began = Instant::now();
            file.write_at(block, n * 4096).unwrap();
            began.elapsed()
        })
        .collect();
    times.sort();
    println!("a write of 5 ms takes {:?} to {:?}, half of them {:?}", times[0], times[49], times[25]);
    println!("on the way: {:?} s", server.on_the_way_s());
    assert!(times[25] >= Duration::from_micros(4900), "{:?}", times[25]);
    let most = Duration::from_millis(if is_emulated() { 50 } else { 7 });
    assert!(times[5] < most, "{:?}", times[5]);
    drop(file);
    end(machine, [volume], server);
}

/// A file whose bytes depend on their place.
fn write_pattern(path: &Path, bytes: usize) {
    let content: Vec<u8> = (0..bytes).map(|n| (n * 31 + n / 4096) as u8).collect();
    let mut file = fs::File::create(path).unwrap();
    file.write_all(&content).unwrap();
    file.sync_all().unwrap();
}

fn has_pattern(path: &Path, bytes: usize) -> bool {
    let content = fs::read(path).unwrap();
    content.len() == bytes && content.iter().enumerate().all(|(n, byte)| *byte == (n * 31 + n / 4096) as u8)
}

fn keeps_what_was_written(machine: &Machine) {
    let server = server(machine);
    let mut volume = mounted(machine, &server, Model::unlimited());
    let root = machine.path("data");
    runs_nothing(&root);
    runs_nothing(&machine.path("data.served"));
    // Sizes that are whole blocks and that are not, small writes and ones that are handed over whole.
    for bytes in [1, 511, 4097, 300_000, 20_000_003] {
        write_pattern(&root.join(format!("of-{bytes}")), bytes);
    }
    copy_tree(&root, &machine.path("copied")).unwrap();
    let trimmed = Command::new("fstrim").arg("-v").arg(&root).output().unwrap();
    assert!(trimmed.status.success(), "{}", String::from_utf8_lossy(&trimmed.stderr));
    volume.unmount_and_detach().unwrap();
    volume.attach_and_mount(&root).unwrap();
    for bytes in [1, 511, 4097, 300_000, 20_000_003] {
        assert!(has_pattern(&root.join(format!("of-{bytes}")), bytes), "{bytes} bytes after a cold start");
        assert!(has_pattern(&machine.path("copied").join(format!("of-{bytes}")), bytes));
    }
    // The image is a file system of its own, too: without a server it holds the same.
    volume.unmount_and_detach().unwrap();
    let mut plain = LoopVolume::open(&machine.ledger, volume.image()).unwrap();
    plain.attach_and_mount(&root).unwrap();
    assert!(has_pattern(&root.join("of-300000"), 300_000));
    drop(plain);
    end(machine, [volume], server);
}

fn has_faults(machine: &Machine) {
    let server = server(machine);
    let volume = mounted(machine, &server, Model::unlimited());
    let path = machine.path("data/file");
    write_pattern(&path, 1 << 20);
    let mut file = fs::OpenOptions::new().read(true).write(true).custom_flags(DIRECT).open(&path).unwrap();
    let mut memory = vec![0; 8192];
    let start = memory.as_ptr().align_offset(4096);
    let block = &mut memory[start..start + 4096];
    let mut read = |at: u64| {
        file.seek(std::io::SeekFrom::Start(at)).unwrap();
        file.read_exact(block)
    };
    // Before the server counts, however late this process gets a CPU again.
    let began = Instant::now();
    volume.set_faults(&[fault(Effect::Stall, Some(0.5))]).unwrap();
    read(0).unwrap();
    let waited = began.elapsed();
    assert!(waited > Duration::from_millis(400) && waited < Duration::from_secs(30), "{waited:?}");
    let errors = Effect::Error { reads: true, writes: false, range: None, share: 1.0 };
    volume.set_faults(&[fault(errors, None)]).unwrap();
    assert_eq!(read(8192).unwrap_err().raw_os_error(), Some(5));
    volume.set_faults(&[fault(Effect::Slow { times: 10.0 }, None)]).unwrap();
    read(8192).unwrap();
    volume.set_faults(&[fault(Effect::Full, None)]).unwrap();
    read(8192).unwrap();
    let full = file.write_at(&memory[start..start + 4096], 4096);
    assert_eq!(full.unwrap_err().raw_os_error(), Some(28));
    volume.set_faults(&[]).unwrap();
    drop(file);
    let counts = volume.served_counts().unwrap().unwrap();
    assert!(counts.errors >= 2, "{counts:?}");
    end(machine, [volume], server);
}

/// No write succeeds, so that XFS cannot write its log and shuts down; attached anew it holds what was written before.
fn shut_down(machine: &Machine) {
    let server = server(machine);
    let mut volume = mounted(machine, &server, Model::unlimited());
    let (root, kept) = (machine.path("data"), machine.path("data/kept"));
    write_pattern(&kept, 3 << 20);
    let errors = Effect::Error { reads: false, writes: true, range: None, share: 1.0 };
    volume.set_faults(&[fault(errors, None)]).unwrap();
    assert!(write_new(machine).is_err(), "a log that cannot be written");
    volume.set_faults(&[]).unwrap();
    assert!(fs::read_dir(&root).is_err(), "the disk is well, the file system is not");
    volume.unmount_and_detach().unwrap();
    volume.attach_and_mount(&root).unwrap();
    assert!(has_pattern(&kept, 3 << 20));
    write_pattern(&root.join("new"), 1 << 20);
    end(machine, [volume], server);
}

/// Sends the server a signal, and gives it a moment to follow.
fn signal(server: &VolumeServer, signal: Signal) {
    let pid = Pid::from_raw(server.pid().unwrap() as i32).unwrap();
    kill_process(pid, signal).unwrap();
    std::thread::sleep(Duration::from_millis(200));
}

/// What was written before is there, the limits are in force, and the process that was killed is forgotten.
fn goes_on(machine: &Machine) {
    let server = server(machine);
    let mut volume = mounted(machine, &server, limited(500.0, None));
    let (first, path) = (server.pid(), machine.path("data/file"));
    write_pattern(&path, 3 << 20);
    signal(&server, Signal::KILL);
    assert!(volume.served_counts().is_err(), "a server that is lost is an error");
    volume.unmount_and_detach().unwrap();
    volume.attach_and_mount(&machine.path("data")).unwrap();
    assert_ne!(server.pid(), first);
    assert!(has_pattern(&path, 3 << 20));
    volume.behave(&limited(200.0, None)).unwrap();
    let iops = mixed_iops(&machine.path("data"));
    assert!(iops < 210.0, "{iops} a second");
    end(machine, [volume], server);
}

/// Whoever waits for a volume whose server is stopped gets an error, though nobody asks that server anything, and the
/// volume is attached anew.
fn stood_still(machine: &Machine) {
    let server = server(machine);
    let mut volume = mounted(machine, &server, limited(500.0, None));
    let (first, path) = (server.pid(), machine.path("data/file"));
    write_pattern(&path, 3 << 20);
    signal(&server, Signal::STOP);
    let began = Instant::now();
    let written = write_new(machine);
    let waited = began.elapsed();
    println!("who waited for a stopped server got an answer after {waited:?}");
    assert!(written.is_err() && waited < Duration::from_secs(60), "{written:?} after {waited:?}");
    let lost = volume.served_counts().unwrap_err().to_string();
    assert!(lost.contains("said nothing for 10 s, and was killed"), "{lost}");
    assert!(server.is_lost());
    volume.unmount_and_detach().unwrap();
    volume.attach_and_mount(&machine.path("data")).unwrap();
    assert_ne!(server.pid(), first);
    assert!(has_pattern(&path, 3 << 20));
    end(machine, [volume], server);
}

/// The server is killed under an array, which is taken apart and built again of the same files.
fn array_goes_on(machine: &Machine) {
    if let Some(problem) = Array::problems().first() {
        assert!(!is_emulated(), "{problem:?}");
        println!("skipped: {}", problem.what);
        return;
    }
    let server = server(machine);
    let member = |name: &str| {
        let image = machine.path(&format!("{name}.img"));
        let mut volume = LoopVolume::create_member(&machine.ledger, &image, SIZE).unwrap();
        volume.serve_by(&server, name, Model::unlimited());
        volume.attach().unwrap();
        volume
    };
    let mut members = ["one", "two"].map(member);
    let mut array = Array::new(&machine.ledger, 256);
    array.build_and_mount(&members, &machine.path("data")).unwrap();
    let (first, path) = (server.pid(), machine.path("data/file"));
    write_pattern(&path, 3 << 20);
    signal(&server, Signal::KILL);
    assert!(members[0].served_counts().is_err(), "a server that is lost is an error");
    array.unmount_and_stop().unwrap();
    for member in &mut members {
        member.unmount_and_detach().unwrap();
        member.attach().unwrap();
    }
    array.build_and_mount(&members, &machine.path("data")).unwrap();
    assert_ne!(server.pid(), first);
    assert!(has_pattern(&path, 3 << 20));
    for member in &members {
        member.behave(&limited(100.0, None)).unwrap();
    }
    let iops = mixed_iops(&machine.path("data"));
    assert!((115.0..210.0).contains(&iops), "{iops} a second of two members of 100");
    array.unmount_and_stop().unwrap();
    end(machine, members, server);
}

/// What memory holds of a volume of 1 MiB/s would take it a minute and a half.
fn slow_one_unmounted(machine: &Machine) {
    let server = server(machine);
    let mut volume = mounted(machine, &server, limited(20.0, Some(1.0)));
    fs::write(machine.path("data/file"), vec![7; 90 << 20]).unwrap();
    let began = Instant::now();
    volume.unmount_and_detach().unwrap();
    println!("90 MiB were written and unmounted in {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(45), "{:?}", began.elapsed());
    end(machine, [volume], server);
}
