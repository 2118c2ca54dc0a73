//! `[dataset] snapshot = "DIR"`, or in a bucket: what the tables of a workload's own statements hold is what a
//! cluster has had.

use super::beside::ReadSnapshot;
use super::data_set_store::{S3, of_s3};
use crate::mistakes::Collector;
use crate::spanned::{Spanned, place};
use crate::{DataSetPlace, FoundSnapshot, Note, Own, Snapshot, raw};

/// Share of a statement's requests that has to find something where none is stated.
const LEAST_FOUND: f64 = 0.9;

/// Differences of a `schema.cql` that are shown: each is with the text that it stands in, which may be large.
const MOST_DIFFERENCES: usize = 50;

/// Reads the snapshot and makes it the data set of `own`; what is wrong with it is noted at its place. `scale`: that of
/// the model.
pub(super) fn check(
    file: &raw::Experiment,
    own: Option<&mut Own>,
    scale: f64,
    read: ReadSnapshot<'_>,
    mistakes: &mut Collector<'_>,
) {
    let Some(given) = &file.dataset.snapshot else {
        let of = &file.dataset;
        let stray =
            [("least_found", place(&of.least_found)), ("region", place(&of.region)), ("profile", place(&of.profile))];
        mistakes.stray(stray, |key| format!("`{key}` is for a snapshot"), "state snapshot = \"DIR\", or remove it");
        return;
    };
    if let Some(sql) = file.workload.iter().find_map(|workload| workload.sql.as_ref()) {
        let message = format!("snapshot = \"{given}\" with sql = \"{sql}\": a snapshot is files of Cassandra's so far");
        mistakes.add(given.span(), message, "remove it: rows are made as [workload.tables.NAME] states");
        return;
    }
    if file.workload.iter().all(|workload| workload.cql.is_none()) {
        let message = format!("snapshot = \"{given}\": YCSB's records are in no cluster of yours");
        mistakes.add(given.span(), message, "state the tables and what is asked of them: [[workload]] cql = \"FILE\"");
        return;
    }
    let at = lies_at(&file.dataset, given, mistakes);
    if scale != 1.0 {
        let message = format!("snapshot = \"{given}\" at 1:{scale}: files of a snapshot are restored whole");
        mistakes.add(given.span(), message, "leave `scale` out of [provider.local]");
    }
    let least_found = mistakes.number(&file.dataset.least_found, "least_found", 0.0..=1.0, LEAST_FOUND);
    let Some(at) = at else { return };
    let found = match (read(&at), &at) {
        (Ok(Some(found)), _) => found,
        (Ok(None), _) => return mistakes.notes.extend(own.map(|own| not_read(given, own))),
        (Err(error), DataSetPlace::Directory { .. }) => {
            return mistakes.add(given.span(), error, "the path is relative to the experiment file");
        }
        (Err(error), DataSetPlace::S3 { .. }) => {
            let help = "docs/own-statements.md says what a snapshot in a bucket needs";
            return mistakes.add(given.span(), error, help);
        }
    };
    let Some(own) = own else { return };
    if let Some((view, table)) = own.script.views().next() {
        let message = format!(
            "snapshot = \"{given}\" with the materialised view {view}: it is made of what is written to {table}, and \
             files that are taken in are not written"
        );
        mistakes.add(given.span(), message, format!("leave {view} out of {}, and what asks for it", own.file));
    }
    agrees(&found, own, given, mistakes);
    let created = own.tables();
    let (tables, others): (Vec<_>, Vec<_>) = found.tables.into_iter().partition(|table| created.contains(&table.name));
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|table| table.name.as_str()).collect();
        let message = format!("tables of {given} that {} does not create are left out: {}", own.file, names.join(", "));
        mistakes.notes.push(Note::new("snapshot_left_out", message, "Create them there if requests ask for them"));
    }
    let place = match at {
        DataSetPlace::Directory { .. } => DataSetPlace::Directory { path: found.path },
        bucket => bucket,
    };
    own.snapshot = Some(Snapshot { place, tables, least_found });
}

/// Where a snapshot lies: a directory as it is stated.
fn lies_at(dataset: &raw::Dataset, given: &Spanned<String>, mistakes: &mut Collector<'_>) -> Option<DataSetPlace> {
    let (region, profile) = (&dataset.region, &dataset.profile);
    if let Some(rest) = given.strip_prefix(S3) {
        return of_s3((given, rest), (region, profile), mistakes);
    }
    if given.contains("://") {
        let message = format!("snapshot = \"{given}\" is neither a directory nor a bucket");
        return mistakes.refuse(given.span(), message, "state a directory, or s3://BUCKET/PREFIX");
    }
    mistakes.sound(|mistakes| {
        let stray = [("region", place(region)), ("profile", place(profile))];
        mistakes.stray(stray, |key| format!("a directory has no {key}"), "leave it out");
        DataSetPlace::Directory { path: given.to_string() }
    })
}

/// That a plan knows nothing of a snapshot.
fn not_read(given: &Spanned<String>, own: &Own) -> Note {
    let message = format!(
        "snapshot = \"{given}\": the bucket is not asked for a plan, so that rows, bytes and time are estimates of \
         what {} and [workload.tables] state",
        own.file
    );
    let advice = "iopslab run lists it, checks its schema.cql and fetches it before anything is measured";
    Note::new("snapshot_not_read", message, advice)
}

/// What of the snapshot's schema and files does not go with the script.
fn agrees(found: &FoundSnapshot, own: &Own, given: &Spanned<String>, mistakes: &mut Collector<'_>) {
    let mut described: Vec<String> = Vec::new();
    for schema in &found.schemas {
        let agreement = own.script.agreement(&schema.text);
        let path = format!("{given}/{}", schema.path);
        let more = agreement.disagreements.len().saturating_sub(MOST_DIFFERENCES);
        if more > 0 {
            let help = "those that are shown come first; or the snapshot is one of other tables";
            mistakes.add(given.span(), format!("{path} differs in {more} places more"), help);
        }
        for mistake in agreement.disagreements.into_iter().take(MOST_DIFFERENCES) {
            let help = format!("create it in {} as it is here, where its files come from", own.file);
            mistakes.add_in(&path, &schema.text, mistake.span, mistake.message, help);
        }
        if !agreement.left_out.is_empty() {
            let message = format!("{path} has {}, which a run has not", agreement.left_out.join(", "));
            let advice = "Writes cost less here than there; indexes of SAI can be created in the file of cql";
            mistakes.notes.push(Note::new("snapshot_without_indexes", message, advice));
        }
        described.extend(agreement.tables);
    }
    for table in &own.data.tables {
        let has_files = found.tables.iter().any(|of| of.name == table.table);
        if !has_files && table.partitions > 0 {
            let message = format!("{given} has no files of table {}, of which partitions are stated", table.table);
            mistakes.add(given.span(), message, "add its folder, or state partitions = 0: it begins empty");
        } else if has_files && !described.contains(&table.table) {
            let message = format!("no schema.cql in {given} has CREATE TABLE of {}", table.table);
            let help =
                "nodetool snapshot leaves one beside the files; or put one there: cqlsh -e \"DESCRIBE KEYSPACE ...\"";
            mistakes.add(given.span(), message, help);
        }
    }
}
