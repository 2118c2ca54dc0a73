//! A snapshot of a table, as `nodetool` leaves it, in a table of another keyspace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use database::cassandra::{Admin, Node, TableSnapshot, clean_up, flush_and_compact, import_foreign_sstables};
use database::{Account, Replication};
use experiment::Dataset;
use statements::Script;

/// The only directory in a directory whose name begins so.
fn only(directory: &Path, beginning: &str) -> PathBuf {
    let all = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut found = all.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(beginning));
    let first = found.next().unwrap();
    assert_eq!(found.next(), None);
    first
}

/// `data` has a snapshot `monday` of its table beside its own files; `work` is for what is copied.
pub fn comes_back(admin: &Admin, node: &Node, dataset: &Dataset, (data, work): (&Path, &Path)) {
    let refused = TableSnapshot::read(data).unwrap_err();
    assert!(refused.contains("has files of a running node beside a snapshot"), "{refused}");
    let table = only(&data.join("ycsb"), "usertable-");
    let backup = work.join("backup/shop").join(table.file_name().unwrap()).join("snapshots");
    fs::create_dir_all(&backup).unwrap();
    assert!(Command::new("cp").arg("-r").arg(table.join("snapshots/monday")).arg(&backup).status().unwrap().success());

    let snapshot = TableSnapshot::read(&work.join("backup")).unwrap();
    let found = snapshot.found();
    let tables: Vec<&str> = found.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(tables, ["usertable"]);
    let [schema] = found.schemas.as_slice() else { panic!("{:?}", found.schemas) };
    let script = "CREATE TABLE usertable (y_id text PRIMARY KEY, field0 text, field1 text, field2 text);";
    let agreement = Script::parse_schema(script, &[]).unwrap().agreement(&schema.text);
    assert!(agreement.disagreements.is_empty(), "{:?}\n{}", agreement.disagreements, schema.text);
    assert_eq!(agreement.tables, ["usertable"]);

    admin.create_schema("again", "usertable", dataset, &Replication::Each(1), &BTreeMap::new()).unwrap();
    let (copies, usertable) = (work.join("copies"), "usertable".to_owned());
    let tables = std::slice::from_ref(&usertable);
    let places = snapshot.copy(tables, (&copies, "again"), &mut |_| {}, &|| false).unwrap();
    if let Some(account) = Account::of_this_machine().unwrap() {
        account.own(&copies).unwrap();
    }
    let [place] = places.as_slice() else { panic!("{places:?}") };
    let directory = only(&place.join("again"), "usertable-");
    let management = node.management();
    import_foreign_sstables(management, "again", "usertable", &[directory.to_str().unwrap()]).unwrap();
    clean_up(management, "again").unwrap();
    flush_and_compact(management, "again").unwrap();
    let counted = |keyspace: &str| admin.count_rows(keyspace, tables).unwrap().remove(0).rows;
    assert!(counted("again") >= dataset.records);
    assert_eq!(counted("again"), counted("ycsb"));
}
