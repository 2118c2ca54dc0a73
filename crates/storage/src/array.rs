//! RAID 0 over volumes, by the kernel's md driver: members -> array -> XFS -> mounted.
//!
//! # Choices, and why
//!
//! * **Built, not created** (`mdadm --build`): nothing is written onto the members. With superblocks on them, udev
//!   would put an array together by itself as soon as its members are attached, under a name of its own (mdadm's
//!   64-md-raid-assembly.rules), and those of a killed run would have to be wiped. What superblocks hold (members,
//!   their order, the chunk) is known here. Requests take the same way through the driver.
//! * **XFS knows the stripes**: mkfs.xfs reads chunk and width from the device.
//! * **The array is in the ledger before it is built**, and is called there by the files of its members: whichever
//!   number it got ends with them. It is stopped before they are detached.
//! * **Members are limited, not the array**: a request goes on to a member for the cgroup that made it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::command::{call, require};
use crate::error::{Result, StorageError, io_error};
use crate::file_system::{self, Mounted};
use crate::ledger::{Ledger, LedgerId, LedgerItem};
use crate::loops;
use crate::mounts::{self, IfBusy, await_copies};
use crate::preflight::{Problem, has_module, not_installed};
use crate::process::wait_until;
use crate::volume::LoopVolume;

/// Numbers that are tried for an array, the first free one; those of a machine's own arrays begin at 0 or end at 127.
const NUMBERS: std::ops::Range<u32> = 900..1000;
/// Somebody else may take a number in the meantime.
const TRIES: usize = 3;
/// How long a command may take: members are emulated volumes, unlimited, on what may be a busy disk.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long an array may stay busy: whatever looks at new devices (udev) has it open for a moment.
const BUSY_PATIENCE: Duration = Duration::from_secs(10);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(300);
const MDADM: (&str, &str) = ("mdadm", "mdadm");

/// An array of volumes with its file system. Dropping it unmounts and stops it as well as it can, which has to be
/// before its members are dropped.
#[derive(Debug)]
pub struct Array {
    ledger: Arc<Ledger>,
    chunk_kib: u32,
    has_file_system: bool,
    running: Option<Running>,
    mounted: Option<Mounted>,
}

#[derive(Debug)]
struct Running {
    /// `md900`.
    name: String,
    members: Vec<PathBuf>,
    entry: LedgerId,
}

impl Array {
    /// An array with these chunks, whose members have nothing on them yet.
    pub fn new(ledger: &Arc<Ledger>, chunk_kib: u32) -> Self {
        Self { ledger: Arc::clone(ledger), chunk_kib, has_file_system: false, running: None, mounted: None }
    }

    /// Builds it of attached volumes, always the same ones in the same order, makes its file system if that is missing,
    /// and mounts it; nothing happens if it is mounted. Errors: the kernel has no md driver, mdadm is missing, a member
    /// is not attached, or the system refuses.
    pub fn build_and_mount<'v>(
        &mut self,
        members: impl IntoIterator<Item = &'v LoopVolume>,
        mount_point: &Path,
    ) -> Result<()> {
        if self.mounted.is_some() {
            return Ok(());
        }
        let members: Vec<&LoopVolume> = members.into_iter().collect();
        let result = self.try_build_and_mount(&members, mount_point);
        if result.is_err() {
            // The first error is the one to report; what remains is in the ledger.
            let _ = self.release(IfBusy::Refuse);
        }
        result
    }

    fn try_build_and_mount(&mut self, members: &[&LoopVolume], mount_point: &Path) -> Result<()> {
        let attached = members.iter().filter_map(|member| member.attached());
        let (devices, files): (Vec<PathBuf>, Vec<PathBuf>) =
            attached.map(|(device, file)| (device, file.to_owned())).unzip();
        if devices.len() != members.len() {
            return Err(io_error("build an array at", mount_point)(std::io::Error::other(
                "not all of its volumes are attached",
            )));
        }
        let entry = self.ledger.intend(LedgerItem::Array { members: files.clone() })?;
        let name = match build(&devices, self.chunk_kib) {
            Ok(name) => name,
            Err(error) => {
                // The first error is the one to report; a remnant stays in the ledger.
                if stop_all(&files).is_ok() {
                    self.ledger.done(entry)?;
                }
                return Err(error);
            }
        };
        let device = path_of(&name);
        self.running = Some(Running { name, members: files, entry });
        if !self.has_file_system {
            file_system::make(&device)?;
            self.has_file_system = true;
        }
        self.mount(&device, mount_point)
    }

    fn mount(&mut self, device: &Path, mount_point: &Path) -> Result<()> {
        self.mounted.insert(Mounted::prepare(&self.ledger, mount_point)?).mount(device)
    }

    /// Unmounts and mounts it where it is: the cold start, which drops its page cache and nobody else's. Errors:
    /// somebody uses it.
    pub fn cool(&mut self) -> Result<()> {
        let (Some(running), Some(mounted)) = (&self.running, &self.mounted) else { return Ok(()) };
        let (device, path) = (path_of(&running.name), mounted.path().to_owned());
        mounted.unmount(&self.ledger, IfBusy::Refuse)?;
        self.mounted = None;
        if let Some(number) = loops::number_of(&running.name) {
            await_copies(number, &device)?;
        }
        self.mount(&device, &path)
    }

    /// Unmounts and stops it; nothing to do is success. Errors: somebody uses it.
    pub fn unmount_and_stop(&mut self) -> Result<()> {
        self.release(IfBusy::Refuse)
    }

    fn release(&mut self, if_busy: IfBusy) -> Result<()> {
        if let Some(mounted) = &self.mounted {
            mounted.unmount(&self.ledger, if_busy)?;
            self.mounted = None;
        }
        if let Some(running) = &self.running {
            stop_all(&running.members)?;
            self.ledger.done(running.entry)?;
            self.running = None;
        }
        Ok(())
    }

    /// `md900`, while it runs.
    pub fn device(&self) -> Option<&str> {
        self.running.as_ref().map(|running| running.name.as_str())
    }

    /// Who keeps it, which is mounted nowhere here, by a mount namespace of their own.
    pub fn held_elsewhere(&self) -> Option<String> {
        let running = self.running.as_ref().filter(|_| self.mounted.is_none())?;
        mounts::held_elsewhere(loops::number_of(&running.name)?)
    }

    /// What stands in the way of arrays on this machine, all of it; changes nothing.
    pub fn problems() -> Vec<Problem> {
        let mut problems = Vec::new();
        if !is_loaded() && !has_module("raid0") {
            problems.push(Problem::new(
                "volumes cannot be striped: this kernel has no md driver with RAID 0 (no raid0 in /proc/mdstat, \
                 and no such module)",
                "boot a kernel that has it (in a container it is the host's: modprobe raid0 there), or state layout \
                 = \"directories\": a data directory on each volume",
            ));
        }
        problems.extend(not_installed(MDADM.0, MDADM.1).map(|Problem { what, fix }| {
            Problem::new(
                format!("volumes cannot be striped: {what}"),
                format!("{fix}, or state layout = \"directories\""),
            )
        }));
        problems
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // A drop reports nothing; what could not be undone is still in the ledger.
        let _ = self.release(IfBusy::Detach);
    }
}

fn path_of(name: &str) -> PathBuf {
    Path::new("/dev").join(name)
}

/// Whether the driver is in the kernel (`Personalities : [raid0] ...`).
fn is_loaded() -> bool {
    fs::read_to_string("/proc/mdstat").is_ok_and(|text| text.contains("[raid0]"))
}

/// Builds an array of these devices under a free number; gives its name.
fn build(devices: &[PathBuf], chunk_kib: u32) -> Result<String> {
    require(MDADM.0, MDADM.1)?;
    if !is_loaded() {
        call(("modprobe", "kmod"), ["raid0"], PATIENCE)?;
    }
    let is_there = |name: &str| loops::sysfs_of(name).exists();
    let free = NUMBERS.map(|number| format!("md{number}")).filter(|name| !is_there(name));
    let mut refused = None;
    for name in free.take(TRIES) {
        let (count, chunk) = (format!("--raid-devices={}", devices.len()), format!("--chunk={chunk_kib}"));
        let array = path_of(&name);
        let words = [OsStr::new("--build"), array.as_os_str(), OsStr::new("--level=0"), count.as_ref(), chunk.as_ref()];
        match call(MDADM, words.into_iter().chain(devices.iter().map(|device| device.as_os_str())), PATIENCE) {
            Ok(_) => return is_as_asked(&name, devices.len(), chunk_kib).map(|()| name),
            Err(error) if is_there(&name) => refused = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(refused.unwrap_or_else(|| {
        io_error("find a free number for an array below", Path::new("/sys/block"))(std::io::Error::other(format!(
            "md{} to md{} are taken",
            NUMBERS.start,
            NUMBERS.end - 1
        )))
    }))
}

/// What was built is read back, not believed.
fn is_as_asked(name: &str, members: usize, chunk_kib: u32) -> Result<()> {
    let directory = loops::sysfs_of(name).join("md");
    let asked = [
        ("level", "raid0".to_owned()),
        ("raid_disks", members.to_string()),
        ("chunk_size", (u64::from(chunk_kib) << 10).to_string()),
    ];
    for (file, asked) in asked {
        let path = directory.join(file);
        let shown = fs::read_to_string(&path).map_err(io_error("read", &path))?;
        if shown.trim() != asked {
            let shown = format!("it shows `{}` where {asked} was asked for", shown.trim());
            return Err(io_error("use the array of", &path)(std::io::Error::other(shown)));
        }
    }
    Ok(())
}

/// Arrays that have one of these files as a member, behind its loop device.
fn running_of(members: &[PathBuf]) -> BTreeSet<String> {
    let devices = members.iter().flat_map(|file| loops::find(file));
    let holders = devices.flat_map(|device| {
        let holders = fs::read_dir(loops::sysfs_of(&device).join("holders"));
        holders.into_iter().flatten().flatten()
    });
    let names = holders.map(|holder| holder.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("md")).collect()
}

/// Stops every array of these files; none is success. Returns their names.
pub(crate) fn stop_all(members: &[PathBuf]) -> Result<BTreeSet<String>> {
    let names = running_of(members);
    for name in &names {
        stop(name, || !running_of(members).contains(name))?;
    }
    Ok(names)
}

fn stop(name: &str, is_stopped: impl Fn() -> bool) -> Result<()> {
    let device = path_of(name);
    let words = [OsStr::new("--stop"), device.as_os_str()];
    let mut outcome = Ok(String::new());
    let stopped = wait_until(BUSY_PATIENCE, || {
        outcome = call(MDADM, words, PATIENCE);
        wait_until(PAUSE, &is_stopped)
    });
    if stopped {
        return Ok(());
    }
    if let Some(number) = loops::number_of(name) {
        await_copies(number, &device)?;
    }
    outcome?;
    Err(StorageError::Busy { path: device, holders: "something still uses this array".to_owned() })
}
