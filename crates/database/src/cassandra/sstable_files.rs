//! What the files of a table say of themselves. The schema says nothing about SSTables that exist: one that was written
//! before an option changed keeps its chunks, its compressor and its bloom filter.
//!
//! `NAME-Data.db` has beside it `NAME-CompressionInfo.db` (`CompressionMetadata`: compressor, its options, bytes of a
//! chunk) where it is compressed, and `NAME-Statistics.db` (`MetadataSerializer`), whose first part has the chance of
//! false positives that its bloom filter was made for. NAME is `nb-1-big` or `da-1-bti`: version, number, format.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use experiment::Setting;

use super::node_error::NotInForce;

/// Both kinds of file say what is asked here in their first bytes.
const HEAD_BYTES: u64 = 16 << 10;
/// Number of the part of `Statistics.db` with partitioner and bloom filter (`MetadataType.VALIDATION`).
const VALIDATION: u32 = 0;

/// One SSTable, as far as options of its table decide.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub(super) struct SsTable {
    /// `big` or `bti`.
    format: String,
    /// Compressor, and bytes of a chunk before it is compressed; `None`: not compressed.
    compression: Option<(String, u32)>,
    /// Chance of false positives that its bloom filter was made for.
    bloom_filter_fp_chance: Option<f64>,
}

impl SsTable {
    fn label(&self) -> String {
        let compression = self.compression.as_ref().map_or_else(
            || "not compressed".to_owned(),
            |(class, bytes)| format!("{class} in chunks of {} KiB", bytes >> 10),
        );
        let filter = self.bloom_filter_fp_chance;
        let filter = filter.map_or_else(String::new, |chance| format!(", bloom filter for {chance}"));
        format!("{}: {compression}{filter}", self.format)
    }
}

/// Directories of a table (`TABLE-ID`) below the directory of its keyspace.
pub(super) fn table_directories(keyspace: &Path, table: &str) -> io::Result<Vec<PathBuf>> {
    let beginning = format!("{table}-");
    let mut found = Vec::new();
    for directory in std::fs::read_dir(keyspace)? {
        let directory = directory?;
        if directory.file_name().to_string_lossy().starts_with(&beginning) {
            found.push(directory.path());
        }
    }
    Ok(found)
}

/// Those of a table, below the directory of its keyspace. Files that go meanwhile are no error.
pub(super) fn of_table(keyspace: &Path, table: &str) -> io::Result<Vec<SsTable>> {
    let mut found = Vec::new();
    for directory in table_directories(keyspace, table)? {
        for file in std::fs::read_dir(&directory)? {
            let name = file?.file_name().to_string_lossy().into_owned();
            let Some(own) = name.strip_suffix("-Data.db") else { continue };
            let head = |component: &str| head(&directory.join(format!("{own}-{component}.db")));
            found.push(SsTable {
                format: own.rsplit('-').next().unwrap_or_default().to_owned(),
                compression: head("CompressionInfo")?.and_then(|bytes| compression(&bytes)),
                bloom_filter_fp_chance: head("Statistics")?.and_then(|bytes| Some(validation(&bytes)?.1)),
            });
        }
    }
    Ok(found)
}

/// What the files are, each once, if they are as was asked.
pub(super) fn check(
    files: &[SsTable],
    asked: &BTreeMap<String, Setting>,
    format: Option<&String>,
) -> Result<Vec<String>, NotInForce> {
    let refused =
        |setting: String, file: &SsTable| Err((setting, format!("a file of the data set is {}", file.label())));
    for file in files {
        if let Some(format) = format.filter(|format| **format != file.format) {
            return refused(format!("cassandra sstable.selected_format = {format}"), file);
        }
        if let Some(option @ Setting::Map(map)) = asked.get("compression")
            && !is_compressed_so(map, file.compression.as_ref())
        {
            return refused(format!("table compression = {}", option.label()), file);
        }
        if let Some(Setting::Value(asked)) = asked.get("bloom_filter_fp_chance") {
            let wanted = asked.parse::<f64>().ok();
            let is_it = |(wanted, chance): (f64, f64)| (wanted - chance).abs() <= wanted * 1e-9;
            if !wanted.zip(file.bloom_filter_fp_chance).is_some_and(is_it) {
                return refused(format!("table bloom_filter_fp_chance = {asked}"), file);
            }
        }
    }
    let each: BTreeSet<String> = files.iter().map(SsTable::label).collect();
    Ok(each.into_iter().collect())
}

fn is_compressed_so(asked: &BTreeMap<String, String>, found: Option<&(String, u32)>) -> bool {
    let Some((class, bytes)) = found else { return asked.get("enabled").is_some_and(|enabled| enabled == "false") };
    let chunk = asked.get("chunk_length_in_kb").and_then(|kib| kib.parse::<u32>().ok());
    asked.get("class") == Some(class) && chunk.is_none_or(|kib| kib << 10 == *bytes)
}

/// By which partitioner the rows of an SSTable lie where they lie, as its `Statistics.db` has it; `None`: it has none.
pub(super) fn partitioner(statistics: File) -> io::Result<Option<String>> {
    Ok(validation(&beginning(statistics)?).map(|(partitioner, _)| partitioner))
}

/// The first bytes of a file, if there is one.
fn head(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // The server writes them: it could be a link, or a pipe.
    guarded::if_there(guarded::open_no_link(path))?.map(beginning).transpose()
}

fn beginning(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What Java's `DataOutput` writes, from a place on.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn at(bytes: &'b [u8], place: u32) -> Option<Self> {
        Some(Self(bytes.get(place as usize..)?))
    }

    fn bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, left) = self.0.split_at_checked(count)?;
        self.0 = left;
        Some(taken)
    }

    fn int(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    fn double(&mut self) -> Option<f64> {
        self.bytes(8)?.try_into().ok().map(f64::from_be_bytes)
    }

    /// Names here are ASCII, which Java's UTF has as it is.
    fn text(&mut self) -> Option<String> {
        let length = self.bytes(2)?.try_into().ok().map(u16::from_be_bytes)?;
        let bytes = self.bytes(usize::from(length))?;
        String::from_utf8(bytes.to_vec()).ok()
    }
}

fn compression(bytes: &[u8]) -> Option<(String, u32)> {
    let mut reader = Reader(bytes);
    let class = reader.text()?;
    for _ in 0..reader.int()? {
        reader.text()?;
        reader.text()?;
    }
    Some((class, reader.int()?))
}

/// Partitioner, and the chance of false positives that the bloom filter was made for (`ValidationMetadata`).
fn validation(bytes: &[u8]) -> Option<(String, f64)> {
    let mut reader = Reader(bytes);
    let parts = reader.int()?;
    // A checksum of the number of parts.
    reader.int()?;
    for _ in 0..parts {
        let (part, place) = (reader.int()?, reader.int()?);
        if part == VALIDATION {
            let mut reader = Reader::at(bytes, place)?;
            return Some((reader.text()?, reader.double()?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<u8> {
        [&u16::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat()
    }

    fn info(class: &str, bytes: u32) -> Vec<u8> {
        [text(class), 1_u32.to_be_bytes().into(), text("option"), text("value"), bytes.to_be_bytes().into()].concat()
    }

    fn statistics(chance: f64) -> Vec<u8> {
        let ints = [1_u32, 0, VALIDATION, 20, 0];
        let ints: Vec<u8> = ints.iter().flat_map(|int| int.to_be_bytes()).collect();
        [ints, text("Murmur3Partitioner"), chance.to_be_bytes().into()].concat()
    }

    #[test]
    fn files_that_were_written_before_an_option_changed_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let table = directory.path().join("usertable-1b255f4def2540a60000000000000000");
        std::fs::create_dir(&table).unwrap();
        for (file, bytes) in [
            ("nb-1-big-Data.db", Vec::new()),
            ("nb-1-big-CompressionInfo.db", info("LZ4Compressor", 16 << 10)),
            ("nb-1-big-Statistics.db", statistics(0.01)),
        ] {
            std::fs::write(table.join(file), bytes).unwrap();
        }
        std::fs::create_dir(directory.path().join("other-1")).unwrap();
        let files = of_table(directory.path(), "usertable").unwrap();
        assert_eq!(
            check(&files, &BTreeMap::new(), None).unwrap(),
            ["big: LZ4Compressor in chunks of 16 KiB, bloom filter for 0.01"]
        );

        let compression = |class: &str, kib: &str| {
            let entries = [("class", class), ("chunk_length_in_kb", kib)];
            let own = entries.map(|(key, value)| (key.to_owned(), value.to_owned()));
            [("compression".to_owned(), Setting::Map(own.into()))].into()
        };
        check(&files, &compression("LZ4Compressor", "16"), None).unwrap();
        let (setting, why) = check(&files, &compression("LZ4Compressor", "4"), None).unwrap_err();
        assert_eq!(setting, "table compression = LZ4Compressor, chunk_length_in_kb 4");
        assert!(why.contains("in chunks of 16 KiB"), "{why}");
        check(&files, &compression("ZstdCompressor", "16"), None).unwrap_err();
        let off = Setting::Map([("enabled".to_owned(), "false".to_owned())].into());
        check(&files, &[("compression".to_owned(), off)].into(), None).unwrap_err();
        let chance = |chance: &str| [("bloom_filter_fp_chance".to_owned(), Setting::Value(chance.to_owned()))].into();
        check(&files, &chance("0.01"), None).unwrap();
        check(&files, &chance("0.1"), None).unwrap_err();
        check(&files, &BTreeMap::new(), Some(&"bti".to_owned())).unwrap_err();
    }
}
