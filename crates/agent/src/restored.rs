//! A data volume that was made from a snapshot of EBS: the data set that it holds, and all of its blocks read once.
//!
//! Its file system has a work directory of iopslab as `iopslab/`, as a run leaves it: the data set is in
//! `iopslab/snapshots/KEY/`, where `snapshot.json` says what it is.

use std::fs;
use std::path::{Path, PathBuf};

use evidence::{Initialised, SnapshotFacts};
use experiment::MachineStorage;
use process::paths::keep_json;
use wire::{MachineUse, RequestError, Result};

use super::backing::BELOW;
use super::host::{Host, MANIFEST, MANIFEST_MOST_BYTES, SNAPSHOTS};
use super::pace::Pace;

/// The volume, ready to be measured.
pub(super) struct Restored {
    /// The data set's directory on it.
    pub directory: PathBuf,
    /// What the data set is.
    pub facts: SnapshotFacts,
    /// How the volume was initialised.
    pub how: Initialised,
}

impl Restored {
    /// Looks whether the volume holds this data set (its key and its records), and reads each of its blocks unless that
    /// was done on this machine before; with whether it was.
    pub fn initialise(host: &Host, machine_use: &MachineUse, wanted: (&str, u64)) -> Result<(Self, bool)> {
        let (Some(snapshot), Some(MachineStorage::Directory(mount))) = (&machine_use.snapshot, &machine_use.data)
        else {
            return Err(RequestError::new("this host's data volume was not made from a snapshot"));
        };
        let mount = Path::new(mount);
        let (directory, facts) = held(mount, snapshot, wanted)?;
        let name = storage::device_of(mount).ok_or_else(|| {
            RequestError::new(format!(
                "{} has no device of its own, so it is no volume made from {snapshot}",
                mount.display()
            ))
        })?;
        let device = Path::new("/dev").join(&name);
        let bytes = storage::device_bytes(&device).map_err(|error| unreadable(error, &name))?;
        let serial = serial_of(&name);
        let written = host.initialised_file(&name);
        if let Some(how) = read_before(&written)
            && (&how.snapshot, how.bytes, &how.serial) == (snapshot, bytes, &serial)
        {
            return Ok((Self { directory, facts, how }, true));
        }
        let doing = format!("reading every block of {name}, made from {snapshot}");
        let mut pace = Pace::new(&host.outbox, doing, bytes);
        let read = storage::read_whole(&device, &mut |done| pace.goes_on(done));
        let read = read.map_err(|error| unreadable(error, &name))?.ok_or_else(RequestError::cancelled)?;
        let how = Initialised {
            snapshot: snapshot.clone(),
            loaded_at: facts.loading.clone(),
            serial,
            bytes: read.bytes,
            seconds: read.seconds,
            done_at: jiff::Timestamp::now().to_string(),
        };
        keep_json(&written, &how, 0o644)
            .map_err(|error| RequestError::new(format!("cannot write {}: {error}", written.display())))?;
        Ok((Self { directory, facts, how }, false))
    }
}

/// The data set of a volume, if it is the one that is wanted and whole.
fn held(mount: &Path, snapshot: &str, (key, records): (&str, u64)) -> Result<(PathBuf, SnapshotFacts)> {
    let all = mount.join(BELOW).join(SNAPSHOTS);
    let directory = all.join(key);
    let Some(facts) = manifest(&directory) else {
        let others: Vec<SnapshotFacts> =
            fs::read_dir(&all).into_iter().flatten().flatten().filter_map(|entry| manifest(&entry.path())).collect();
        let holds = match others.as_slice() {
            [] => format!("no data set of iopslab (there is no {BELOW}/{SNAPSHOTS}/*/{MANIFEST})"),
            others => {
                let named = others.iter().map(|o| format!("{} ({} records)", o.key, o.records));
                named.collect::<Vec<_>>().join(", ")
            }
        };
        return Err(RequestError::new(format!(
            "the volume made from {snapshot} does not hold the data set of this plan: it holds {holds}, the plan needs \
                 {key} ({records} records)"
        ))
        .help(
            "name the snapshot of a volume on which this data set was loaded by this version of the database \
                 (docs/aws.md says how to make one), or leave out `snapshot`, and it is loaded",
        ));
    };
    let bytes = storage::tree_bytes(&directory.join("data"));
    if bytes != facts.bytes || facts.records != records {
        return Err(RequestError::new(format!(
            "the data set {key} on the volume made from {snapshot} is not whole: its files have {bytes} bytes, and had \
                 {} when it was loaded",
            facts.bytes
        ))
        .help("make the snapshot again once the run has ended and the volume is unmounted"));
    }
    Ok((directory, facts))
}

fn manifest(directory: &Path) -> Option<SnapshotFacts> {
    let facts: SnapshotFacts =
        serde_json::from_str(&guarded::text(&directory.join(MANIFEST), MANIFEST_MOST_BYTES).ok()?).ok()?;
    // A directory that was renamed is not what it says.
    (directory.file_name()? == facts.key.as_str()).then_some(facts)
}

/// Serial number of a disk, or of the one whose part it is; EBS has the volume's id there.
fn serial_of(name: &str) -> Option<String> {
    let class = Path::new("/sys/class/block").join(name);
    let places = ["device/serial", "serial", "../device/serial"];
    let text = places.iter().find_map(|place| fs::read_to_string(class.join(place)).ok())?;
    Some(text.trim().to_owned()).filter(|serial| !serial.is_empty())
}

fn read_before(file: &Path) -> Option<Initialised> {
    serde_json::from_str(&guarded::text(file, MANIFEST_MOST_BYTES).ok()?).ok()
}

fn unreadable(error: storage::StorageError, name: &str) -> RequestError {
    RequestError::new(error).help(format!(
        "whoever logs in must be allowed to read /dev/{name}, as the modules' first boot has it; where the disk \
             itself fails, see dmesg, and go on with --resume"
    ))
}
