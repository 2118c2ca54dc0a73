//! A full disk: a clear error, every earlier trial kept, nothing half.

use std::path::PathBuf;

use crate::story::{CELLS, create, intervals, record, samples, write};
use archive::RunError;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// A tmpfs of the given size, unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn of_kib(kib: u32) -> Option<Self> {
        let at = std::env::temp_dir().join(format!("iopslab-run-{}", std::process::id()));
        std::fs::create_dir_all(&at).unwrap();
        let options = std::ffi::CString::new(format!("size={kib}k")).unwrap();
        match mount("tmpfs", &at, "tmpfs", MountFlags::empty(), options.as_c_str()) {
            Ok(()) => Some(Self(at)),
            Err(_) => {
                std::fs::remove_dir(&at).unwrap();
                None
            }
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        unmount(&self.0, UnmountFlags::DETACH).unwrap();
        std::fs::remove_dir(&self.0).unwrap();
    }
}

#[test]
fn a_full_disk_keeps_earlier_trials_and_nothing_half() {
    let Some(disk) = SmallDisk::of_kib(256) else {
        println!("skipped: mounting a small tmpfs needs root");
        return;
    };
    let run = create(&disk.0);
    write(&run, CELLS[0], 1);
    let mut logs = run.logs(CELLS[1], 1).unwrap();
    let refused = logs.append("database.log", &vec![b'x'; 300 << 10]).unwrap_err();
    drop(logs);
    assert!(matches!(refused, RunError::DiskFull { .. }), "{refused}");
    assert!(refused.to_string().contains("--resume"), "{refused}");
    // On which disk, and how much is left there.
    let directory = run.path().join(".aside").join(format!("{}.1.logs", CELLS[1]));
    let left = format!(" MiB free in {})", directory.display());
    assert!(refused.to_string().contains(&left), "{refused}");
    assert!(!run.trial_path(CELLS[1], 1).exists());
    assert_eq!(run.remaining().unwrap().len(), 3);
    assert_eq!(run.trials().filter(Result::is_ok).count(), 1);

    // Space again (a smaller log): the same run goes on.
    let logs = run.logs(CELLS[1], 1).unwrap();
    run.write_trial(&record(CELLS[1], 1), &intervals(), &samples(), logs).unwrap();
    assert_eq!(run.remaining().unwrap().len(), 2);
}
