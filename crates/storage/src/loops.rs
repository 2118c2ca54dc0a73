//! Loop devices: finding, attaching and detaching them.
//!
//! Attaching goes through the `losetup` program rather than the ioctls of loop(4): `losetup --find` retries when
//! another process takes the same free device, configures the device in one step (LOOP_CONFIGURE) where the kernel can,
//! and needs no `unsafe` of ours. (The crates that offer these ioctls generate their bindings with libclang and
//! set device and flags in separate steps.) What was achieved is then read back from sysfs, not believed.
//!
//! On a busy machine it can take long, by whatever way: direct I/O is switched on after the image's dirty pages have
//! been written back (`vfs_fsync` of the backing file, drivers/block/loop.c), behind everything else that the disk has
//! to write. So `losetup` is given more time with each try, and one that was killed in the middle may have done its
//! work all the same.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::call;
use crate::error::{Result, StorageError, io_error};
use crate::mounts::await_copies;
use crate::process::wait_until;

const LOSETUP: (&str, &str) = ("losetup", "util-linux");
const SYS_BLOCK: &str = "/sys/block";
/// How long `losetup` may take, try by try. The first was found too short on a machine whose two cores and disk were
/// busy.
const PATIENCE: [Duration; 3] = [Duration::from_secs(20), Duration::from_secs(60), Duration::from_secs(180)];
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(500);

/// Largest single I/O of an emulated volume. EBS counts an I/O of up to 256 KiB to an SSD volume as one and splits
/// larger ones ("I/O characteristics", EBS user guide); the loop driver's own default would pass 1,280 KiB as one.
/// Measured: with this setting a volume held to 100 IOPS takes 25 one-MiB writes/s, as EBS would.
const LARGEST_IO_KIB: u32 = 256;

/// What is behind a loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoopBacking {
    /// The image itself: requests are split here, as EBS counts them.
    Image,
    /// A served file, which counts by itself; larger requests reach it whole. What it has answered is written, as far
    /// as the volume is concerned, so that no flush is sent (two of the host's disk for each fdatasync otherwise).
    Served,
}

impl LoopBacking {
    const fn largest_io_kib(self) -> u32 {
        match self {
            Self::Image => LARGEST_IO_KIB,
            Self::Served => 1024,
        }
    }

    const fn write_cache(self) -> &'static str {
        match self {
            Self::Image => "write back",
            Self::Served => "write through",
        }
    }
}

/// An attached loop device.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    /// `loop3`.
    pub name: String,
    /// Major and minor number.
    pub number: (u32, u32),
    /// Setting to put back when it is detached.
    previous_largest_io: Option<String>,
}

/// Where the kernel shows a block device.
pub(crate) fn sysfs_of(name: &str) -> PathBuf {
    Path::new(SYS_BLOCK).join(name)
}

/// Major and minor number of a block device; `None` where there is none of this name.
pub(crate) fn number_of(name: &str) -> Option<(u32, u32)> {
    let text = fs::read_to_string(sysfs_of(name).join("dev")).ok()?;
    parse_number(&text)
}

/// Loop devices backed by `image`.
pub(crate) fn find(image: &Path) -> Vec<String> {
    find_in(Path::new(SYS_BLOCK), image)
}

fn find_in(sys_block: &Path, image: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(sys_block).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("loop") && backing_file(sys_block, &name).as_deref() == Some(image) {
            names.push(name);
        }
    }
    names.sort();
    names
}

fn backing_file(sys_block: &Path, name: &str) -> Option<PathBuf> {
    let text = fs::read_to_string(sys_block.join(name).join("loop/backing_file")).ok()?;
    let text = text.trim_end_matches('\n');
    // The kernel marks an image that has been unlinked while attached.
    Some(text.strip_suffix(" (deleted)").unwrap_or(text).into())
}

/// Attaches `image` (absolute, without symbolic links) to a free loop device with direct I/O.
pub(crate) fn attach(image: &Path, behind: LoopBacking) -> Result<LoopDevice> {
    if let Some(device) = find(image).into_iter().next() {
        return Err(StorageError::AlreadyAttached { image: image.to_owned(), device });
    }
    let words = ["--find", "--show", "--direct-io=on", "--"].map(OsStr::new).into_iter().chain([image.as_os_str()]);
    let name = try_again(
        |patience| {
            call(LOSETUP, words.clone(), patience).map(|shown| shown.trim().trim_start_matches("/dev/").to_owned())
        },
        || attached_all_the_same(image),
    )?;
    let configured = configure(&name, image, behind);
    if configured.is_err() {
        // The first error is the one to report.
        let _ = detach_named(&name, image);
    }
    configured
}

/// Acts until it succeeds, each time with more patience; what failed may have had its effect, and then that is the
/// result.
fn try_again<T>(mut act: impl FnMut(Duration) -> Result<T>, effect: impl Fn() -> Option<T>) -> Result<T> {
    let (last, first) = PATIENCE.split_last().expect("there is at least one try");
    for patience in first {
        if let Ok(result) = act(*patience) {
            return Ok(result);
        }
        if let Some(result) = effect() {
            return Ok(result);
        }
        std::thread::sleep(PAUSE);
    }
    act(*last).or_else(|error| effect().ok_or(error))
}

/// The device of a `losetup` that was killed before it could name it; one without direct I/O is given back.
fn attached_all_the_same(image: &Path) -> Option<String> {
    let name = find(image).into_iter().next()?;
    let direct = fs::read_to_string(sysfs_of(&name).join("loop/dio"));
    if direct.is_ok_and(|text| text.trim() == "1") {
        return Some(name);
    }
    // If this fails, so does the next try, and says why.
    let _ = detach_named(&name, image);
    None
}

fn configure(name: &str, image: &Path, behind: LoopBacking) -> Result<LoopDevice> {
    let sysfs = sysfs_of(name);
    let read = |file: &str| {
        let path = sysfs.join(file);
        fs::read_to_string(&path).map(|text| text.trim().to_owned()).map_err(io_error("read", &path))
    };
    if read("loop/dio")? != "1" {
        return Err(StorageError::NoDirectIo { device: name.to_owned(), image: image.to_owned() });
    }
    let number = parse_number(&read("dev")?)
        .ok_or_else(|| io_error("understand", &sysfs.join("dev"))(std::io::ErrorKind::InvalidData))?;
    let largest = sysfs.join("queue/max_sectors_kb");
    let previous = read("queue/max_sectors_kb")?;
    let kib = behind.largest_io_kib();
    let larger = previous.parse::<u32>().is_ok_and(|default| default > kib);
    // A device keeps this setting when it is detached, so that it may be that of another volume.
    let differs = larger || (behind == LoopBacking::Served && previous.parse() != Ok(kib));
    if differs {
        fs::write(&largest, kib.to_string()).map_err(io_error("write to", &largest))?;
    }
    let cache = sysfs.join("queue/write_cache");
    if read("queue/write_cache")? != behind.write_cache() {
        fs::write(&cache, behind.write_cache()).map_err(io_error("write to", &cache))?;
    }
    Ok(LoopDevice { name: name.to_owned(), number, previous_largest_io: differs.then_some(previous) })
}

/// `7:3`.
pub(crate) fn parse_number(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

impl LoopDevice {
    /// `/dev/loop3`.
    pub fn path(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    pub fn detach(&self, image: &Path) -> Result<()> {
        if let Some(kib) = &self.previous_largest_io {
            // A setting of an unused device: not worth failing a run for.
            let _ = fs::write(sysfs_of(&self.name).join("queue/max_sectors_kb"), kib);
        }
        detach_named(&self.name, image)
    }
}

/// Detaches every loop device of `image`; none is success. Returns their names.
pub(crate) fn detach_all(image: &Path) -> Result<Vec<String>> {
    let names = find(image);
    for name in &names {
        detach_named(name, image)?;
    }
    Ok(names)
}

/// `losetup --detach` of a busy device only marks it, so the end is awaited; and the device may belong to someone else
/// by then, so it is asked for by image.
fn detach_named(name: &str, image: &Path) -> Result<()> {
    let attached = || find(image).iter().any(|found| found == name);
    if !attached() {
        return Ok(());
    }
    let device = PathBuf::from(format!("/dev/{name}"));
    let words = [OsStr::new("--detach"), device.as_os_str()];
    let detached = try_again(|patience| call(LOSETUP, words, patience).map(drop), || (!attached()).then_some(()));
    let ended = || wait_until(Duration::from_secs(5), || !attached());
    if ended() {
        return Ok(());
    }
    detached?;
    if let Some(number) = number_of(name) {
        await_copies(number, &device)?;
        if ended() {
            return Ok(());
        }
    }
    Err(StorageError::Busy {
        path: device,
        holders: format!("something still uses this loop device of {}", image.display()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn too_slow() -> StorageError {
        StorageError::Command {
            command: "losetup".to_owned(),
            how: "no answer within 20 s".to_owned(),
            stderr_tail: String::new(),
        }
    }

    #[test]
    fn a_losetup_that_is_slow_gets_more_time() {
        let mut given = Vec::new();
        let attached = try_again(
            |patience| {
                given.push(patience.as_secs());
                if given.len() == 2 { Ok("loop3") } else { Err(too_slow()) }
            },
            || None,
        );
        assert_eq!(attached.unwrap(), "loop3");
        assert_eq!(given, [20, 60]);
        let error = try_again(|_| Err::<&str, _>(too_slow()), || None).unwrap_err();
        assert!(error.to_string().contains("no answer within 20 s"), "{error}");
    }

    #[test]
    fn one_that_was_killed_after_it_had_attached_is_not_repeated() {
        let mut tries = 0;
        let attached = try_again(
            |_| {
                tries += 1;
                Err(too_slow())
            },
            || Some("loop5"),
        );
        assert_eq!((attached.unwrap(), tries), ("loop5", 1));
    }

    #[test]
    fn a_device_is_found_by_its_image_even_when_that_was_deleted() {
        let tree = tempfile::tempdir().unwrap();
        for (name, backing) in [("loop0", "/a/one.img\n"), ("loop1", "/a/two.img (deleted)\n"), ("sda", "/a/one.img\n")]
        {
            fs::create_dir_all(tree.path().join(name).join("loop")).unwrap();
            fs::write(tree.path().join(name).join("loop/backing_file"), backing).unwrap();
        }
        fs::create_dir_all(tree.path().join("loop2")).unwrap();
        assert_eq!(find_in(tree.path(), Path::new("/a/one.img")), ["loop0"]);
        assert_eq!(find_in(tree.path(), Path::new("/a/two.img")), ["loop1"]);
        assert!(find_in(tree.path(), Path::new("/a/three.img")).is_empty());
    }
}
