//! Pipes and devices in the place of files: whoever reads one waits for ever, or until memory is full. They are refused
//! at once, each by its name.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::support::{Laboratory, Said};

/// Nothing of it makes a command take longer.
const NO_HANG: Duration = Duration::from_secs(20);

/// Exit code, and what was said.
fn ask(lab: &Laboratory, arguments: &[&str]) -> (Option<i32>, String) {
    let began = Instant::now();
    let said = Said::of(&mut lab.iopslab(arguments));
    assert!(began.elapsed() < NO_HANG, "{arguments:?} took {:?}", began.elapsed());
    (said.code, said.all())
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn an_experiment_and_what_it_names_are_regular_files() {
    let lab = Laboratory::new();
    pipe(&lab.path().join("pipe"));
    std::os::unix::fs::symlink("/dev/zero", lab.path().join("zero")).unwrap();
    let experiment = "name = \"x\"\n[dataset]\nrecords = 1000\n[[configuration]]\nname = \"a\"\n\
                      instance = { vcpus = 1, memory_gib = 8 }\ndata_volume = { iops = 100 }\n[[workload]]\n\
                      ycsb = \"FILE\"\n[load]\nconcurrency = [4]\n";
    for (file, what) in [("pipe", "it is a pipe"), ("zero", "it is a device"), ("/dev/zero", "it is a device")] {
        lab.write("x.toml", &experiment.replace("FILE", file));
        let of_ycsb: [&[&str]; 2] = [
            &["plan", "x.toml", "--format", "json"],
            &["run", "x.toml", "--provider", "simulated", "--format", "json"],
        ];
        let itself: &[&str] = &["plan", file, "--format", "json"];
        for arguments in of_ycsb.into_iter().chain([itself]) {
            let (code, said) = ask(&lab, arguments);
            assert_eq!(code, Some(2), "{arguments:?}: {said}");
            assert!(said.contains(file) && said.contains(what), "{arguments:?}: {said}");
        }
    }
}

/// The work directory is one's own: somebody may have been root, or a disk may be damaged.
#[test]
fn a_ledger_and_a_lock_are_regular_files() {
    let lab = Laboratory::new();
    for name in ["ledger.jsonl", "lock"] {
        for what in ["pipe", "device"] {
            let work = lab.path().join(format!("work-{name}-{what}"));
            std::fs::create_dir(&work).unwrap();
            let file = work.join(name);
            // Without a right to make devices there is none to be found.
            let zero = makedev(1, 5);
            match what {
                "pipe" => pipe(&file),
                _ if mknodat(CWD, &file, FileType::CharacterDevice, Mode::RUSR | Mode::WUSR, zero).is_err() => continue,
                _ => {}
            }
            let (code, said) = ask(&lab, &["clean", "--work-directory", work.to_str().unwrap()]);
            assert_eq!(code, Some(1), "{name}, {what}: {said}");
            assert!(said.contains(file.to_str().unwrap()), "{name}, {what}: {said}");
        }
    }
}
