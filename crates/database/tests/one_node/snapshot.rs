//! A snapshot of a table, as `nodetool` leaves it, in a table of another keyspace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use database::cassandra::{Admin, Node, TableSnapshot, clean_up, flush_and_compact, import_sstables};
use database::{Account, Replication};
use experiment::{Dataset, Distribution, Own, StatementSample};
use statements::{Data, Generator, Population, Script, TableData};

const TABLE: &str = "CREATE TABLE usertable (y_id text PRIMARY KEY, field0 text, field1 text, field2 text);";
/// Requests of each statement that are tried.
const TRIED: u32 = 5;

/// The only directory in a directory whose name begins so.
pub fn only(directory: &Path, beginning: &str) -> PathBuf {
    let all = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut found = all.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(beginning));
    let first = found.next().unwrap();
    assert_eq!(found.next(), None);
    first
}

/// `data` has a snapshot `monday` of its table beside its own files; `work` is for what is copied.
pub fn comes_back(admin: &Admin, (node, version): (&Node, &str), dataset: &Dataset, (data, work): (&Path, &Path)) {
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
    let agreement = Script::parse_schema(TABLE, &[]).unwrap().agreement(&schema.text);
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
    import_sstables((management, version), ("again", "usertable"), &[directory.to_str().unwrap()], true).unwrap();
    clean_up(management, "again").unwrap();
    flush_and_compact(management, "again").unwrap();
    let counted = |keyspace: &str| admin.count_rows(keyspace, tables).unwrap().remove(0).rows;
    assert!(counted("again") >= dataset.records);
    assert_eq!(counted("again"), counted("ycsb"));
    what_statements_ask_for_is_looked_up(node);
}

/// A read and a write of one record.
fn asks(key: &str) -> Own {
    let statements = "-- statement look weight 1
        SELECT * FROM usertable WHERE y_id = ?;
        -- statement put weight 1
        UPDATE usertable SET field0 = ? WHERE y_id = ?;";
    let mut table = TableData::new("usertable", 1);
    table.population = Population::Of(Distribution::Uniform);
    table.columns.insert("y_id".to_owned(), Generator::Fixed { value: key.to_owned() });
    Own {
        file: "users.cql".to_owned(),
        script: Script::parse(&format!("{TABLE}\n{statements}"), &[]).unwrap(),
        data: Data { tables: vec![table], ..Data::default() },
        row_bytes: BTreeMap::new(),
        replay: None,
        snapshot: None,
    }
}

/// Requests for what was restored find it, and those for another key are counted as finding nothing.
fn what_statements_ask_for_is_looked_up(node: &Node) {
    let address = node.config().plan.client_address();
    let admin = Admin::connect_to_tables(address, Duration::from_secs(20), "again").unwrap();
    for (key, found) in [("user7", TRIED), ("nobody", 0)] {
        let sampled = admin.sample_statements("again", &asks(key), TRIED).unwrap();
        let of = |statement: &str| StatementSample { statement: statement.to_owned(), asked: TRIED, found };
        assert_eq!(sampled, [of("look"), of("put")], "{key}");
    }
}
