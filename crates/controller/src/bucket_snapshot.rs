//! A snapshot of the user's own in a bucket: looked at when the experiment of a run is read, and fetched before nodes
//! of this machine take it in.

use std::collections::BTreeMap;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use database::TableSnapshot;
use experiment::{DataSetPlace, FoundSnapshot, Provider, Snapshot};
use process::{failure, human_duration};

use super::run::Run;
use super::run_failure::{Failure, Result};
use super::s3::{Bucket, Objects};
use super::store::RESTORE_HERE;

/// Below a work directory: data sets, which `clean --snapshots` removes.
const KEPT: &str = "snapshots";
/// There: copies of what lies in buckets.
const FETCHED: &str = "fetched-";
/// A file of a copy that is not whole; no file of an SSTable ends like this.
const UNFINISHED: &str = ".part";
/// How often a connection may be lost without a byte having come since.
const ATTEMPTS: u32 = 4;
/// Before the connection is made anew; each further pause is longer by as much.
const PAUSE: Duration = Duration::from_secs(1);
const CHUNK_BYTES: usize = 1 << 20;

/// What a snapshot in a bucket has, by the list of its objects and by each `schema.cql`. Errors: what S3 says, or why
/// it is no snapshot.
pub fn find_in_bucket(place: &DataSetPlace) -> Result<FoundSnapshot, failure::Failure> {
    Ok(Listed::of(place)?.files.found())
}

/// A bucket with a snapshot.
struct Listed {
    bucket: Bucket,
    objects: Objects,
    files: TableSnapshot,
}

impl Listed {
    fn of(place: &DataSetPlace) -> Result<Self, failure::Failure> {
        let bucket = Bucket::open(place)?;
        let bucket = bucket.ok_or_else(|| failure::Failure::input(format!("{place} is no bucket")))?;
        let most = TableSnapshot::MOST_ENTRIES;
        let objects = bucket.list(most)?;
        let objects =
            objects.ok_or_else(|| failure::Failure::input(format!("{place} has more than {most} objects")))?;
        let listed = objects.iter().map(|(key, (bytes, _))| (key.clone(), *bytes));
        // Those of several nodes and tables are often the same.
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        let mut schema = |path: &Path| -> Result<String, String> {
            let object = Object::of(&objects, path)?;
            if let Some(text) = known.get(object.etag) {
                return Ok(text.clone());
            }
            let text = object.text(&bucket, &format!("{place}/{}", object.key))?;
            known.insert(object.etag.to_owned(), text.clone());
            Ok(text)
        };
        let files = TableSnapshot::listed(&place.to_string(), listed, &mut schema).map_err(failure::Failure::input)?;
        Ok(Self { bucket, objects, files })
    }
}

/// An object of a list.
struct Object<'o> {
    key: &'o str,
    bytes: u64,
    etag: &'o str,
}

impl<'o> Object<'o> {
    /// That of a file of the snapshot.
    fn of(objects: &'o Objects, path: &Path) -> Result<Self, String> {
        let found = path.to_str().and_then(|path| objects.get_key_value(path));
        let object = found.map(|(key, (bytes, etag))| Self { key, bytes: *bytes, etag });
        object.ok_or_else(|| format!("{} is not in the list of the bucket", path.display()))
    }

    /// All of it, which is small. `what` it is for people.
    fn text(&self, bucket: &Bucket, what: &str) -> Result<String, String> {
        if self.bytes > TableSnapshot::MOST_SCHEMA_BYTES {
            return Err(format!("{what} has more than {} MiB", TableSnapshot::MOST_SCHEMA_BYTES >> 20));
        }
        let body = bucket.read(self.key, self.etag, 0).map_err(|failure| failure.message)?;
        let mut text = String::new();
        body.take(self.bytes).read_to_string(&mut text).map_err(|error| format!("{what}: {error}"))?;
        match text.len() as u64 == self.bytes {
            true => Ok(text),
            false => Err(format!("{what} ends after {} of {} bytes", text.len(), self.bytes)),
        }
    }
}

/// Brings the snapshot to this machine, as far as a copy that an interrupted run has left does not have it; gives the
/// directory. Each of so many nodes takes it in from there.
pub(super) fn fetch(run: &Run<'_>, snapshot: &Snapshot, nodes: u64) -> Result<PathBuf> {
    let place = &snapshot.place;
    if run.plan().place.provider() != Provider::Local {
        let message =
            format!("{place} is fetched to this machine alone, and [dataset.store] does not have it restored");
        return Err(failure::Failure::input(message).help(RESTORE_HERE).into());
    }
    let Listed { bucket, objects, files } = Listed::of(place)?;
    let files = files.as_planned(snapshot).map_err(failure::Failure::input)?.files(snapshot);
    let work = &run.settings.work_directory;
    let copy = copy_of(work, place, &files, &objects).map_err(Failure::work)?;
    let missing: Vec<&(PathBuf, u64)> = files.iter().filter(|(path, bytes)| !has(&copy.join(path), *bytes)).collect();
    let bytes = missing.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    has_room(work, bytes, snapshot.bytes_taken_in().saturating_mul(nodes))?;
    if missing.is_empty() {
        return Ok(copy);
    }
    let (mib, began) = (|bytes: u64| bytes as f64 / catalog::MIB, Instant::now());
    run.say(&format!("fetching {} of {} files of {place}, {:.0} MiB", missing.len(), files.len(), mib(bytes)));
    let mut fetched = 0;
    let mut on_bytes = |more: u64| -> Result<()> {
        fetched += more;
        let how_far = format!("{:.0} of {:.0} MiB", mib(fetched), mib(bytes));
        run.agents.screen.doing(&format!("fetching {place}"), &how_far);
        if run.agents.is_interrupted() { Err(Failure::Interrupted(None)) } else { Ok(()) }
    };
    for (path, bytes) in missing {
        let object = Object::of(&objects, path).map_err(Failure::work)?;
        let open = |from: u64| bucket.read(object.key, object.etag, from);
        fetch_file(&format!("{place}/{}", object.key), &open, (&copy.join(path), *bytes), &mut on_bytes)?;
    }
    let seconds = began.elapsed().as_secs_f64();
    run.say(&format!("fetched {place}: {:.0} MiB in {}", mib(bytes), human_duration(seconds)));
    Ok(copy)
}

/// Removes what was fetched of buckets for runs on this machine: what nodes have taken in, they keep.
pub(super) fn remove_copy(run: &Run<'_>, snapshot: &Snapshot) -> Result<()> {
    let is_here = run.plan().place.provider() == Provider::Local;
    if !is_here || !matches!(snapshot.place, DataSetPlace::S3 { .. }) {
        return Ok(());
    }
    let all = std::fs::read_dir(run.settings.work_directory.join(KEPT)).into_iter().flatten().flatten();
    for copy in all.filter(|entry| entry.file_name().to_string_lossy().starts_with(FETCHED)) {
        storage::remove_tree(&copy.path()).map_err(Failure::work)?;
    }
    Ok(())
}

/// Where the copy of these objects lies: one is changed, and it is another. Its last name is that of the place, which
/// may be that of a table.
fn copy_of(work: &Path, place: &DataSetPlace, files: &[(PathBuf, u64)], objects: &Objects) -> Result<PathBuf, String> {
    let mut all = String::new();
    for (path, bytes) in files {
        let object = Object::of(objects, path)?;
        all += &format!("{bytes} {} {}\n", object.etag, object.key);
    }
    let hash = guarded::sha256(all.as_bytes()).map_err(|error| error.to_string())?;
    let place = place.to_string();
    let name = place.rsplit('/').next().unwrap_or_default();
    Ok(work.join(KEPT).join(format!("{FETCHED}{hash}")).join(name))
}

/// Whether a file is whole: it gets its name when it is.
fn has(path: &Path, bytes: u64) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == bytes)
}

/// Refuses what would fill the disk in hours.
fn has_room(work: &Path, fetched: u64, taken_in: u64) -> Result<()> {
    let (needed, free) = (fetched.saturating_add(taken_in), storage::free_bytes(work).map_err(Failure::work)?);
    if needed <= free {
        return Ok(());
    }
    let gib = |bytes: u64| bytes as f64 / catalog::MIB / 1_024.0;
    let message = format!(
        "{} has {:.1} GiB free; fetching the snapshot needs {:.1}, and taking it in {:.1}",
        work.display(),
        gib(free),
        gib(fetched),
        gib(taken_in)
    );
    Err(failure::Failure::work(message).help("make room, or state another work directory").into())
}

/// Fetches so many bytes into a file, which has its name once it is whole. `open` goes on from a byte, `what` is the
/// object for people.
fn fetch_file(
    what: &str,
    open: &dyn Fn(u64) -> Result<Box<dyn Read>, failure::Failure>,
    (to, bytes): (&Path, u64),
    on_bytes: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let mut unfinished = to.as_os_str().to_owned();
    unfinished.push(UNFINISHED);
    let unfinished = PathBuf::from(unfinished);
    let not_written = |error: io::Error| Failure::work(format!("cannot write {}: {error}", unfinished.display()));
    if let Some(directory) = to.parent() {
        std::fs::create_dir_all(directory).map_err(not_written)?;
    }
    let mut file = guarded::write_anew(&unfinished, 0o600).map_err(not_written)?;
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut body: Option<Box<dyn Read>> = None;
    let (mut position, mut lost) = (0, 0);
    while position < bytes {
        if body.is_none() {
            body = Some(open(position)?);
        }
        let Some(reader) = &mut body else { continue };
        let room = (bytes - position).min(CHUNK_BYTES as u64) as usize;
        match reader.read(&mut buffer[..room]) {
            Ok(0) => return Err(Failure::work(format!("{what} ends after {position} of {bytes} bytes"))),
            Ok(read) => {
                file.write_all(&buffer[..read]).map_err(not_written)?;
                (position, lost) = (position + read as u64, 0);
                on_bytes(read as u64)?;
            }
            Err(error) => {
                lost += 1;
                if lost == ATTEMPTS {
                    return Err(Failure::work(format!("{what}: {error}")));
                }
                body = None;
                std::thread::sleep(PAUSE * lost);
            }
        }
    }
    file.sync_all().map_err(not_written)?;
    std::fs::rename(&unfinished, to).map_err(not_written)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Gives so many bytes, and then loses the connection.
    struct Lost(&'static [u8]);

    impl Read for Lost {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("connection reset")),
                read => Ok(read),
            }
        }
    }

    #[test]
    fn a_file_goes_on_from_where_its_connection_was_lost_and_has_its_name_once_it_is_whole() {
        let work = tempfile::tempdir().unwrap();
        let to = work.path().join("carts/nb-1-big-Data.db");
        let asked = RefCell::new(Vec::new());
        let open = |from: u64| -> Result<Box<dyn Read>, failure::Failure> {
            asked.borrow_mut().push(from);
            let body: Box<dyn Read> = if from == 0 { Box::new(Lost(b"abc")) } else { Box::new(&b"defgh"[..]) };
            Ok(body)
        };
        let (mut fetched, mut is_whole) = (0, false);
        let mut on_bytes = |more: u64| -> Result<()> {
            fetched += more;
            is_whole |= to.exists();
            Ok(())
        };
        fetch_file("x", &open, (&to, 8), &mut on_bytes).unwrap();
        assert_eq!((fetched, is_whole), (8, false));
        assert_eq!((std::fs::read(&to).unwrap(), asked.into_inner()), (b"abcdefgh".to_vec(), vec![0, 3]));
        assert!(has(&to, 8) && !has(&to, 7));

        // An end of the user's, and an object that is shorter than the list has it, leave no file of that name.
        let other = work.path().join("carts/nb-2-big-Data.db");
        let short = |_: u64| -> Result<Box<dyn Read>, failure::Failure> {
            let body: Box<dyn Read> = Box::new(&b"abc"[..]);
            Ok(body)
        };
        let stopped = fetch_file("x", &short, (&other, 8), &mut |_| Err(Failure::Interrupted(None)));
        assert!(matches!(stopped, Err(Failure::Interrupted(None))), "{stopped:?}");
        let ended = fetch_file("s3://b/x", &short, (&other, 8), &mut |_| Ok(())).unwrap_err();
        assert_eq!((ended.message().as_str(), other.exists()), ("s3://b/x ends after 3 of 8 bytes", false));
    }

    #[test]
    fn the_copy_of_changed_objects_is_another_one_of_the_same_name() {
        let objects = |etag: &str| -> Objects { [("nb-1-big-Data.db".to_owned(), (4, etag.to_owned()))].into() };
        let files = [(PathBuf::from("nb-1-big-Data.db"), 4)];
        let [bucket, prefix, region] = ["backups", "lab/carts", "eu-west-1"].map(str::to_owned);
        let place = DataSetPlace::S3 { bucket, prefix, region, profile: None };
        let of = |etag: &str| copy_of(Path::new("/work"), &place, &files, &objects(etag)).unwrap();
        assert_eq!(of("a"), of("a"));
        assert_ne!(of("a"), of("b"));
        assert!(of("a").starts_with("/work/snapshots") && of("a").ends_with("carts"), "{:?}", of("a"));
        assert!(copy_of(Path::new("/work"), &place, &files, &Objects::new()).is_err());
    }

    #[test]
    fn what_the_disk_has_no_room_for_is_refused() {
        let work = tempfile::tempdir().unwrap();
        assert!(has_room(work.path(), 1, 1).is_ok());
        let refused = has_room(work.path(), 1 << 62, 1 << 62).unwrap_err().message();
        assert!(refused.contains(" GiB free; fetching the snapshot needs 4294967296.0, and taking it in"), "{refused}");
    }
}
