//! `host-<host>.parquet`: what a host showed once a second, one row per sample, one nullable DOUBLE column per figure.
//!
//! Missing is not zero: a figure that a host cannot give (no PSI, no database) is null. Column names and units are
//! those of [`HostSample::columns`]. Low-level Parquet without Arrow keeps the program small; pages are not compressed
//! (a trial has some hundred rows), dictionaries shrink the constant columns.

use std::path::Path;
use std::sync::Arc;

use evidence::{Column, EbsFigures, FORMAT_VERSION, HostFigures, HostSample, MOST_SAMPLES, VolumeFigures};
use parquet::basic::{Compression, Encoding, Repetition, Type as PhysicalType};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use reported::Reports;

use crate::{Result, RunError};

/// Most rows times columns: two days of a host with two volumes that count for themselves. More is not taken into
/// memory.
const MOST_VALUES: usize = 1 << 25;
/// Columns of a host with the usual two volumes. A row becomes a sample with room for all of these figures, however few
/// columns its file has.
const USUAL_COLUMNS: usize = 2 + HostFigures::FIELDS.len() + 2 * VolumeFigures::FIELDS.len();
/// The same of what two volumes count for themselves, where a file has any of it.
const EBS_COLUMNS: usize = 2 * EbsFigures::FIELDS.len();
/// Least bytes of a row: its time.
const ROW_BYTES: u64 = size_of::<f64>() as u64;
const VERSION_KEY: &str = "iopslab.format_version";

/// The file as bytes; the database is this product.
pub fn encode(path: &Path, reports: &Reports, samples: &[HostSample]) -> Result<Vec<u8>> {
    let rows: Vec<Vec<(&'static str, Option<f64>)>> = samples.iter().map(|s| s.columns(reports)).collect();
    try_encode(&rows).map_err(|e| RunError::damaged(path, e))
}

fn try_encode(rows: &[Vec<(&'static str, Option<f64>)>]) -> std::result::Result<Vec<u8>, ParquetError> {
    // Rows have the same columns at the same places, but where a volume has come or gone.
    let mut names: Vec<&'static str> = Vec::new();
    for (at, (name, _)) in rows.iter().flat_map(|row| row.iter().enumerate()) {
        if names.get(at) != Some(name) && !names.contains(name) {
            names.push(*name);
        }
    }
    let fields = names
        .iter()
        .map(|name| {
            Type::primitive_type_builder(name, PhysicalType::DOUBLE)
                .with_repetition(Repetition::OPTIONAL)
                .build()
                .map(Arc::new)
        })
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("host_sample").with_fields(fields).build()?);
    let properties = Arc::new(
        WriterProperties::builder()
            .set_compression(Compression::UNCOMPRESSED)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_key_value_metadata(Some(vec![KeyValue::new(VERSION_KEY.to_owned(), FORMAT_VERSION.to_string())]))
            .build(),
    );
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties)?;
    if !names.is_empty() {
        let mut group = writer.next_row_group()?;
        for (at, name) in names.iter().enumerate() {
            let value = |row: &Vec<(&'static str, Option<f64>)>| {
                let usual = row.get(at).filter(|(n, _)| n == name);
                usual.or_else(|| row.iter().find(|(n, _)| n == name)).and_then(|(_, v)| *v)
            };
            let column: Vec<Option<f64>> = rows.iter().map(value).collect();
            let present: Vec<f64> = column.iter().flatten().copied().collect();
            let levels: Vec<i16> = column.iter().map(|v| i16::from(v.is_some())).collect();
            let mut out = group.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".into()))?;
            out.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
            out.close()?;
        }
        group.close()?;
    }
    writer.into_inner()
}

/// Reads the samples back.
///
/// The parquet crate trusts the figures of a footer in some places and panics where they make no sense (version 60.1):
/// what can be checked is checked before, and what panics all the same is a damaged file, not the end of the program.
///
/// No more than `most_rows` are read.
pub fn decode(path: &Path, bytes: Vec<u8>, most_rows: usize) -> Result<Vec<HostSample>> {
    std::panic::catch_unwind(|| decode_sound(path, bytes, most_rows))
        .unwrap_or_else(|_| Err(RunError::damaged(path, "its figures make no sense")))
}

/// Whether a column lies inside the file.
fn is_inside(column: &ColumnChunkMetaData, length: u64) -> bool {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    let range = u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok());
    column.data_page_offset() >= 0
        && column.num_values() >= 0
        && range.is_some_and(|(start, size)| start.checked_add(size).is_some_and(|end| end <= length))
}

/// The pages of a column of so many rows. Each is refused where it cannot hold what it announces: a dictionary is
/// allocated by its number of values, whatever bytes come.
struct Pages {
    all: Box<dyn PageReader>,
    rows: usize,
}

impl Iterator for Pages {
    type Item = std::result::Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> std::result::Result<Option<Page>, ParquetError> {
        let Some(page) = self.all.get_next_page()? else { return Ok(None) };
        let values = page.num_values() as usize;
        let most = match page {
            Page::DictionaryPage { .. } => page.buffer().len() / size_of::<f64>(),
            Page::DataPage { .. } | Page::DataPageV2 { .. } => self.rows,
        };
        match values <= most {
            true => Ok(Some(page)),
            false => Err(ParquetError::General(format!("a page announces {values} values and can hold {most}"))),
        }
    }

    fn peek_next_page(&mut self) -> std::result::Result<Option<PageMetadata>, ParquetError> {
        self.all.peek_next_page()
    }

    fn skip_next_page(&mut self) -> std::result::Result<(), ParquetError> {
        self.all.skip_next_page()
    }
}

/// Whether no row has a value, as is true of most columns of a trial: its pages name entries of a dictionary that has
/// none.
fn is_unknown(mut pages: Pages) -> std::result::Result<bool, ParquetError> {
    let Some(Page::DictionaryPage { num_values: 0, .. }) = pages.get_next_page()? else { return Ok(false) };
    let mut rows = 0;
    while let Some(page) = pages.get_next_page()? {
        if !page.is_data_page() || page.encoding() != Encoding::RLE_DICTIONARY {
            return Ok(false);
        }
        rows += page.num_values() as usize;
    }
    Ok(rows == pages.rows)
}

/// Sets the figure of a column in the sample of each row.
fn read_column(group: &dyn RowGroupReader, at: usize, samples: &mut [HostSample]) -> std::result::Result<(), String> {
    let described = group.metadata().column(at).column_descr_ptr();
    let name = described.name();
    let figure = Column::of(name)?;
    if described.physical_type() != PhysicalType::DOUBLE {
        return Err(format!("column {name} is not DOUBLE"));
    }
    let rows = samples.len();
    let wrong = |e: ParquetError| format!("column {name}: {e}");
    let pages = || group.get_column_page_reader(at).map(|all| Pages { all, rows });
    if pages().and_then(is_unknown).map_err(wrong)? {
        return Ok(());
    }
    let pages = Box::new(pages().map_err(wrong)?);
    let mut column = ColumnReaderImpl::<DoubleType>::new(Arc::clone(&described), pages);
    let (mut levels, mut values) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut read = 0;
    while read < rows {
        let (records, _, _) = column.read_records(rows - read, Some(&mut levels), None, &mut values).map_err(wrong)?;
        if records == 0 {
            return Err(format!("column {name} is cut off"));
        }
        read += records;
    }
    let mut present = values.into_iter();
    for (sample, level) in samples.iter_mut().zip(levels) {
        if level > 0
            && let Some(value) = present.next()
        {
            figure.set(sample, value);
        }
    }
    Ok(())
}

fn decode_sound(path: &Path, bytes: Vec<u8>, most_rows: usize) -> Result<Vec<HostSample>> {
    let damaged = |e: &dyn std::fmt::Display| RunError::damaged(path, e);
    let length = bytes.len() as u64;
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).map_err(|e| damaged(&e))?;
    let version = reader
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .and_then(|all| all.iter().find(|kv| kv.key == VERSION_KEY))
        .and_then(|kv| kv.value.as_deref()?.parse::<u64>().ok());
    RunError::check_format(path, version)?;
    let (mut samples, mut rows, mut values) = (Vec::<HostSample>::new(), 0_usize, 0_usize);
    for g in 0..reader.num_row_groups() {
        let group = reader.get_row_group(g).map_err(|e| damaged(&e))?;
        if !group.metadata().columns().iter().all(|column| is_inside(column, length)) {
            return Err(damaged(&"a column lies outside the file"));
        }
        let row_count = usize::try_from(group.metadata().num_rows()).map_err(|e| damaged(&e))?;
        // Every row has a time of its own, whose 8 bytes are not compressed. More rows would only ask for memory.
        if row_count as u64 > length / ROW_BYTES {
            return Err(damaged(&format!("{row_count} rows do not fit into it")));
        }
        rows += row_count;
        if rows > most_rows {
            return Err(damaged(&format!("it has {rows} rows, and the hosts of a trial have {MOST_SAMPLES} together")));
        }
        let has_ebs = group.metadata().columns().iter().any(|column| column.column_descr().name().contains("_ebs_"));
        let least = USUAL_COLUMNS + if has_ebs { EBS_COLUMNS } else { 0 };
        values = values.saturating_add(row_count.saturating_mul(group.num_columns().max(least)));
        if values > MOST_VALUES {
            return Err(damaged(&format!("it has more than {MOST_VALUES} values")));
        }
        let before = samples.len();
        samples.resize_with(before + row_count, HostSample::default);
        for c in 0..group.num_columns() {
            read_column(&*group, c, &mut samples[before..]).map_err(|problem| damaged(&problem))?;
        }
        for sample in &samples[before..] {
            sample.check().map_err(|problem| damaged(&problem))?;
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "host-database.parquet";

    fn file(names: &[&'static str], rows: impl Iterator<Item = f64>) -> Vec<u8> {
        let row = |t_s| names.iter().map(|name| (*name, Some(t_s))).collect::<Vec<_>>();
        try_encode(&rows.map(row).collect::<Vec<_>>()).unwrap()
    }

    fn refused(bytes: Vec<u8>) -> String {
        decode(Path::new(PATH), bytes, MOST_SAMPLES).unwrap_err().to_string()
    }

    /// 16.7 million equal rows took 17 MB of disk and 15 GB of memory.
    #[test]
    fn rows_become_no_more_samples_than_a_trial_has_however_small_they_are_on_disk() {
        let equal = file(&["t_s"], std::iter::repeat_n(1.0, 1 << 18));
        assert!(equal.len() < 1 << 16, "{}", equal.len());
        assert!(refused(equal).contains("262144 rows do not fit into it"));

        // Each with a time of its own, and nothing else: a sample has room for all figures.
        let narrow = file(&["t_s"], (0..600_000).map(f64::from));
        assert!(refused(narrow).contains("more than 33554432 values"));

        let few = || file(&["t_s", "unix_ms"], (0..1_000).map(f64::from));
        assert_eq!(decode(Path::new(PATH), few(), 1_000).unwrap().len(), 1_000);
        let more = decode(Path::new(PATH), few(), 999).unwrap_err().to_string();
        assert!(more.contains("it has 1000 rows, and the hosts of a trial have 1209600 together"), "{more}");
    }

    #[test]
    fn what_no_row_has_stays_missing_beside_what_some_have() {
        let steal = |t: i32| (t % 3 == 0).then(|| f64::from(t));
        let row = |t: i32| vec![("t_s", Some(f64::from(t))), ("cpu_user_s", None), ("cpu_steal_s", steal(t))];
        let bytes = try_encode(&(0..50).map(row).collect::<Vec<_>>()).unwrap();
        let samples = decode(Path::new(PATH), bytes.clone(), MOST_SAMPLES).unwrap();
        assert_eq!(samples.len(), 50);
        for (sample, t) in samples.iter().zip(0..) {
            let read = (sample.t_s, sample.host.cpu_user_s, sample.host.cpu_steal_s);
            assert_eq!(read, (f64::from(t), None, steal(t)));
        }
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let group = reader.get_row_group(0).unwrap();
        for (at, expected) in [false, true, false].into_iter().enumerate() {
            let pages = Pages { all: group.get_column_page_reader(at).unwrap(), rows: 50 };
            assert_eq!(is_unknown(pages).unwrap(), expected, "column {at}");
        }
    }

    /// The reader allocates a dictionary by the number of values that its page announces, before it reads any.
    #[test]
    fn a_dictionary_holds_what_it_announces() {
        let mut bytes = file(&["t_s"], (0..100).map(f64::from));
        assert_eq!(decode(Path::new(PATH), bytes.clone(), MOST_SAMPLES).unwrap().len(), 100);
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
        let begins = reader.metadata().row_group(0).column(0).dictionary_page_offset().unwrap() as usize;
        // Of the page's header in Thrift's compact form: field 7, a structure; in it field 1, a 32-bit integer: the
        // number of values, as a zigzag varint. 100 is 200, 8,191 is 16,382.
        let head = [0x4c, 0x15, 0xc8, 0x01];
        let at = begins + bytes[begins..].windows(head.len()).position(|window| window == head).unwrap();
        bytes[at + 2..at + 4].copy_from_slice(&[0xfe, 0x7f]);
        let words = refused(bytes);
        assert!(words.contains("is damaged: column t_s: "), "{words}");
        assert!(words.contains("a page announces 8191 values and can hold 100"), "{words}");
    }
}
