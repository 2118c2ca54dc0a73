//! A recording that is sent again: read from its files, and laid out for the engine once its statements are prepared.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::statements::{Effect, Recorded as RecordedText, SerialConsistency, component};
use engine::Recorded;
use experiment::{Own, Recording, Replay};
use query_log::{Log, Popularity, Request, TooHot, Value};
use scylla::statement::prepared::PreparedStatement;
use sha2::{Digest as _, Sha256};

use crate::statements::Statement;

/// Most bytes of one file. A file of a full query log is made 64 MiB or more at a time, whatever is in it.
const MOST_FILE_BYTES: u64 = 4 << 30;
/// The ends of files of a full query log.
const QUEUE: &str = "cq4";

/// A recording, read.
#[derive(Debug)]
pub struct ReadRecording {
    /// What was recorded.
    pub log: Log,
    /// Where, whole.
    pub path: String,
    /// Hash of names and bytes of its files.
    pub sha256: String,
}

impl ReadRecording {
    /// Reads a file (JSON Lines, or `.cq4` of a full query log), or all files of full query logs in a directory and in
    /// its own folders: those of a node each. By the clocks of the nodes they become one recording.
    pub fn read(path: &Path) -> Result<Self, String> {
        Self::read_if(path, None)
    }

    /// Reads what a plan names: the same bytes as when it was made, which are not looked at otherwise. Errors: as
    /// [`Self::read`]; or it has changed since.
    pub fn read_again(replay: &Replay) -> Result<Self, String> {
        Self::read_if(Path::new(&replay.path), Some(&replay.sha256))
    }

    fn read_if(path: &Path, expected: Option<&str>) -> Result<Self, String> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
        let path = path.canonicalize().map_err(|error| failed(path, &error))?;
        let files = files(&path).map_err(|error| failed(&path, &error))?;
        if files.is_empty() {
            return Err(format!("{} has no file of a full query log (.{QUEUE})", path.display()));
        }
        let mut hash = Sha256::new();
        for file in &files {
            let opened = guarded::open(file).map_err(|error| failed(file, &error))?;
            let of_file = guarded::sha256(opened).map_err(|error| failed(file, &error))?;
            // Files of several nodes have the same names.
            let within = file.strip_prefix(&path).ok().filter(|name| !name.as_os_str().is_empty());
            let name = within.or(file.file_name().map(Path::new)).unwrap_or(file);
            hash.update(format!("{of_file}  {}\n", name.display()));
        }
        let sha256 = guarded::hex(&hash.finalize());
        if expected.is_some_and(|expected| expected != sha256) {
            return Err(format!("{} has changed since the experiment was read", path.display()));
        }
        let mut log = Log::default();
        for file in &files {
            let bytes = guarded::read(file, MOST_FILE_BYTES).map_err(|error| failed(file, &error))?;
            // Of a file that is named itself no path is left.
            if let Some(folder) = file.strip_prefix(&path).ok().and_then(Path::parent) {
                let name = folder.to_string_lossy();
                log.of_node(if name.is_empty() { "." } else { &name });
            }
            let taken = if is_queue(file) { log.read_full_query_log(&bytes) } else { log.read_json_lines(&bytes) };
            taken.map_err(|error| format!("{}: {error}", file.display()))?;
        }
        log.finish();
        Ok(Self { log, path: path.display().to_string(), sha256 })
    }

    /// What an experiment is to know of it.
    pub fn recording(&self) -> Recording {
        Recording { path: self.path.clone(), sha256: self.sha256.clone(), summary: self.log.summary() }
    }
}

fn is_queue(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == QUEUE)
}

/// The file; of a directory those of a full query log, in it and in its own folders, in the order of their names, which
/// within a folder is that of time.
fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in entries(path)? {
        match entry.is_dir() {
            true => files.extend(entries(&entry)?),
            false => files.push(entry),
        }
    }
    files.retain(|file| is_queue(file));
    files.sort();
    Ok(files)
}

fn entries(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    std::fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect()
}

/// A recording whose statements are known: what is sent of it, and by which of the statements.
pub(crate) struct Layout {
    read: Arc<ReadRecording>,
    /// Of each statement of the log the one that sends it; `None`: it is left out.
    statements: Vec<Option<u32>>,
    /// Of each of those, which values make the partition key.
    keys: Vec<KeyMarkers>,
    requests: Vec<Recorded>,
}

/// Which markers of a statement make its partition key, in the order of the key's columns.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KeyMarkers {
    /// Empty: no single partition is known.
    markers: Vec<u16>,
    /// Of its table, so that equal keys of two tables are two partitions.
    table: u64,
}

impl KeyMarkers {
    fn of(prepared: &PreparedStatement) -> Self {
        let mut indexes = prepared.get_variable_pk_indexes().to_vec();
        indexes.sort_by_key(|index| index.sequence);
        let table = prepared.get_table_spec().map_or(0, |spec| query_log::partition(spec.table_name().as_bytes()));
        Self { markers: indexes.iter().map(|index| index.index).collect(), table }
    }

    /// The partition key of a request, as the token is computed from it, into `key`; it stays empty where there is
    /// none.
    fn key(&self, log: &Log, request: &Request, key: &mut Vec<u8>) {
        key.clear();
        for marker in &self.markers {
            let Some(Value::Bytes(value)) = log.values(request).nth(usize::from(*marker)) else {
                key.clear();
                return;
            };
            if self.markers.len() == 1 {
                key.extend_from_slice(value);
            } else {
                component(key, |out| out.extend_from_slice(value));
            }
        }
    }
}

impl Layout {
    /// Lays a recording out for prepared statements, those of `own` in their order. Errors: a request has another
    /// number of values than its statement has markers, or one partition is too hot for the model.
    pub fn of(read: &Arc<ReadRecording>, own: &Own, prepared: &[Statement]) -> Result<Self, String> {
        let keys: Vec<KeyMarkers> = prepared.iter().map(|statement| KeyMarkers::of(statement)).collect();
        let log = &read.log;
        let statements = log.statements().iter().map(|recorded| number(recorded, own)).collect::<Vec<_>>();
        let thinned = own.replay.as_ref().map_or(1, |replay| replay.thinned);
        let mut popularity = Popularity::default();
        let begin_us = log.requests().first().map_or(0, |request| request.at_us);
        let mut requests = Vec::new();
        let mut key = Vec::new();
        for (request, place) in log.requests().iter().zip(0..) {
            let Some(statement) = statements[request.statement as usize] else { continue };
            let statement = statement as usize;
            let markers = prepared[statement].get_variable_col_specs().len();
            if usize::from(request.markers) != markers {
                return Err(format!(
                    "{}: a request of `{}` at {} us was recorded with {} values, and the statement has {markers} \
                     markers",
                    read.path, own.script.statements[statement].name, request.at_us, request.markers
                ));
            }
            keys[statement].key(log, request, &mut key);
            let has_key = !key.is_empty();
            if !has_key {
                // No partition is known: what it asks for decides.
                key.extend_from_slice(own.script.statements[statement].text.as_bytes());
                log.values(request).for_each(|value| match value {
                    Value::Bytes(bytes) => key.extend_from_slice(bytes),
                    Value::Null | Value::NotSet => key.push(0),
                });
            }
            if thinned > 1 {
                popularity.count(&key);
            }
            if !own.keeps(&key) {
                continue;
            }
            let partition = has_key.then(|| partition_of(keys[statement].table, &key));
            let at_ns = (request.at_us - begin_us).saturating_mul(1_000);
            requests.push(Recorded { at_ns, number: place, partition });
        }
        match popularity.too_hot(thinned, sent(log, own)) {
            Some(hot) => Err(too_hot(&read.path, thinned, hot)),
            None => Ok(Self { read: Arc::clone(read), statements, keys, requests }),
        }
    }

    /// What one load thread sends.
    pub fn part(&self, thread: u32, threads: u32) -> Vec<Recorded> {
        let of = |request: &&Recorded| {
            let by = request.partition.unwrap_or(u64::from(request.number));
            by % u64::from(threads.max(1)) == u64::from(thread)
        };
        self.requests.iter().filter(of).copied().collect()
    }

    /// The statement of a request, and its partition key into `key`.
    pub fn make(&self, number: u32, key: &mut Vec<u8>) -> usize {
        let request = self.request(number);
        // Only what has a statement is among `requests`.
        let statement = self.statements[request.statement as usize].unwrap_or_default() as usize;
        self.keys[statement].key(&self.read.log, request, key);
        statement
    }

    /// The values of a request.
    pub fn values(&self, number: u32) -> impl Iterator<Item = Value<'_>> {
        self.read.log.values(self.request(number))
    }

    fn request(&self, number: u32) -> &Request {
        &self.read.log.requests()[number as usize]
    }
}

/// The number of a partition. That of its key alone decides what a model has: of 1:N it is a multiple of N, by which
/// most load threads would have none.
fn partition_of(table: u64, key: &[u8]) -> u64 {
    let both = [table, query_log::partition(key)].map(u64::to_le_bytes);
    query_log::partition(both.as_flattened())
}

/// How many requests of a recording are sent, writes among them also where a round sends what reads alone.
fn sent(log: &Log, own: &Own) -> u64 {
    let is_known = |table: &String| own.script.tables().any(|known| known == table);
    let is_sent = |text: &str| RecordedText::read(text).is_some_and(|text| text.tables.iter().all(is_known));
    let sent = log.statements().iter().filter(|recorded| is_sent(&recorded.text));
    sent.map(|recorded| recorded.requests).sum()
}

/// Why a model cannot be of this recording.
fn too_hot(path: &str, thinned: u64, hot: TooHot) -> String {
    let percent = hot.share * 100.0;
    let most = match hot.most {
        0 | 1 => "without `scale`".to_owned(),
        most => format!("with a `scale` of {most} or less"),
    };
    format!(
        "{path}: {percent:.1} % of all requests ask for one partition, or by one statement that names none, which is \
         more than one in {thinned}: a model of 1:{thinned} has far too much of it, or nothing; replay it {most}"
    )
}

/// The number of the statement that sends a recorded one.
fn number(recorded: &query_log::RecordedStatement, own: &Own) -> Option<u32> {
    let text = RecordedText::read(&recorded.text)?;
    let serial = recorded.serial.as_deref().filter(|_| text.effect == Effect::Conditional);
    let mut all = own.script.statements.iter().zip(0..);
    let found = all.find(|(statement, _)| {
        statement.text == text.text
            && statement.consistency == recorded.consistency
            && statement.serial.map(SerialConsistency::name) == serial
    });
    Some(found?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_several_columns_is_put_together_as_the_token_needs_it() {
        let mut log = Log::default();
        let line = r#"{"at": 1, "statement": "x", "values": ["0x6161", "0x01", null]}"#;
        log.read_json_lines(line.as_bytes()).unwrap();
        log.finish();
        let (request, mut key) = (log.requests()[0], Vec::new());
        let mut of = |markers: &[u16]| {
            KeyMarkers { markers: markers.to_vec(), table: 0 }.key(&log, &request, &mut key);
            key.clone()
        };
        assert_eq!(of(&[0]), b"aa");
        assert_eq!(of(&[1, 0]), [0, 1, 1, 0, 0, 2, b'a', b'a', 0]);
        assert_eq!((of(&[2]), of(&[0, 2]), of(&[])), (vec![], vec![], vec![]));
    }

    #[test]
    fn the_partitions_of_a_model_are_spread_over_all_load_threads() {
        let mut of_thread = [0; 4];
        for key in (0..16_000_u32).map(u32::to_be_bytes).filter(|key| query_log::keeps(key, 16)) {
            of_thread[(partition_of(7, &key) % 4) as usize] += 1;
        }
        assert!(of_thread.iter().all(|count| (150..350).contains(count)), "{of_thread:?}");
        assert_ne!(partition_of(7, b"a"), partition_of(8, b"a"), "of another table");
    }

    #[test]
    fn a_directory_is_read_in_the_order_of_its_names_and_must_not_change() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("shop.jsonl");
        std::fs::write(&file, "{\"at\": 1, \"statement\": \"SELECT * FROM a\"}\n").unwrap();
        let read = ReadRecording::read(&file).unwrap();
        let recording = read.recording();
        assert_eq!((recording.summary.statements.len(), recording.sha256.len()), (1, 64));
        let replay = Replay { path: recording.path.clone(), sha256: recording.sha256.clone(), thinned: 1 };
        assert!(ReadRecording::read_again(&replay).is_ok());
        std::fs::write(&file, "secret\n").unwrap();
        let changed = ReadRecording::read_again(&replay).unwrap_err();
        assert!(changed.ends_with("shop.jsonl has changed since the experiment was read"), "{changed}");
        let refused = ReadRecording::read(&file).unwrap_err();
        assert!(refused.contains("shop.jsonl: line 1: expected value"), "{refused}");
        let empty = ReadRecording::read(directory.path()).unwrap_err();
        assert!(empty.ends_with("has no file of a full query log (.cq4)"), "{empty}");
        let missing = ReadRecording::read(&directory.path().join("none")).unwrap_err();
        assert!(missing.starts_with("cannot read "), "{missing}");
    }

    #[test]
    fn a_partition_that_is_too_hot_is_refused_with_the_scale_that_is_not() {
        let said = too_hot("/logs/shop.jsonl", 16, TooHot { share: 0.0917, most: 10 });
        assert!(said.starts_with("/logs/shop.jsonl: 9.2 % of all requests ask for one partition, or "), "{said}");
        assert!(said.ends_with("replay it with a `scale` of 10 or less"), "{said}");
        let said = too_hot("x", 2, TooHot { share: 0.6, most: 1 });
        assert!(said.ends_with("or nothing; replay it without `scale`"), "{said}");
    }

    #[test]
    fn logs_of_several_nodes_lie_in_folders_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let of = |name: &str| directory.path().join(name);
        for folder in ["db1/deeper", "db2"] {
            std::fs::create_dir_all(of(folder)).unwrap();
        }
        for name in ["db2/1.cq4", "db1/2.cq4", "db1/1.cq4", "db1/metadata.cq4t", "db1/deeper/3.cq4", "0.cq4"] {
            std::fs::write(of(name), "").unwrap();
        }
        let found = files(directory.path()).unwrap();
        assert_eq!(found, ["0.cq4", "db1/1.cq4", "db1/2.cq4", "db2/1.cq4"].map(of));
        let refused = ReadRecording::read(&of("db2")).unwrap_err();
        assert!(refused.contains("db2/1.cq4: byte 0: this is no file of a full query log"), "{refused}");
    }
}
