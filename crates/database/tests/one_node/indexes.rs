//! An index of SAI and a materialised view come back with the files of their table, as each trial has them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use database::cassandra::{Admin, Node, flush_and_compact, import_sstables, truncate_table};
use database::{Account, Replication};
use experiment::{Consistency, Distribution, Own};
use statements::{Data, Generator, Population, Script, TableData};

use crate::snapshot::only;

const SCRIPT: &str = "CREATE TABLE carts (shopper int, item int, note text, PRIMARY KEY (shopper, item));
    CREATE INDEX by_note ON carts (note) USING 'sai';
    CREATE MATERIALIZED VIEW by_item AS SELECT * FROM carts WHERE item IS NOT NULL AND shopper IS NOT NULL
        PRIMARY KEY (item, shopper);
    -- statement noted weight 1
    SELECT shopper, item FROM carts WHERE note = ?;
    -- statement who_has weight 1
    SELECT shopper FROM by_item WHERE item = ?;";
const TIMEOUT: Duration = Duration::from_secs(180);
const ROWS: u32 = 20;
/// Requests of each statement that are tried.
const TRIED: u32 = 3;

/// Requests ask for the index and the view of one of the rows.
fn own() -> Own {
    let mut carts = TableData::new("carts", 1);
    carts.population = Population::Of(Distribution::Uniform);
    for (column, value) in [("shopper", "7"), ("item", "7"), ("note", "a note")] {
        carts.columns.insert(column.to_owned(), Generator::Fixed { value: value.to_owned() });
    }
    Own {
        file: "carts.cql".to_owned(),
        script: Script::parse(SCRIPT, &[]).unwrap(),
        data: Data { tables: vec![carts], ..Data::default() },
        row_bytes: BTreeMap::new(),
        replay: None,
        snapshot: None,
    }
}

/// `data` is the data directory of the node; `work` is for what is copied.
pub fn come_back(admin: &Admin, (node, version): (&Node, &str), (data, work): (&Path, &Path)) {
    let own = own();
    admin.create_own_schema("indexed", &own, &Replication::Each(1)).unwrap();
    for row in 0..ROWS {
        let note = if row == 7 { "a note" } else { "another" };
        let insert = format!("INSERT INTO indexed.carts (shopper, item, note) VALUES ({row}, {row}, '{note}')");
        admin.run(&insert, Consistency::One).unwrap();
    }
    let management = node.management();
    flush_and_compact(management, "indexed").unwrap();
    admin.wait_settled(1, TIMEOUT, &|| false).unwrap();
    let (kept, account) = (work.join("kept"), Account::of_this_machine().unwrap());
    // What `iopslab` keeps of the table and of its view, for as often as it is asked.
    let copy_of = |table: &str, number: u32| -> PathBuf {
        let copy = kept.join(number.to_string());
        let original = if number == 0 { only(&data.join("indexed"), table) } else { only(&kept.join("0"), table) };
        fs::create_dir_all(&copy).unwrap();
        assert!(Command::new("cp").arg("-r").arg(&original).arg(&copy).status().unwrap().success());
        if let Some(account) = &account {
            account.own(&kept).unwrap();
        }
        only(&copy, table)
    };
    let tables = own.tables_and_views();
    tables.iter().for_each(|table| drop(copy_of(&format!("{table}-"), 0)));

    let address = node.config().plan.client_address();
    let found = || -> Vec<u32> {
        let admin = Admin::connect_to_tables(address, Duration::from_secs(20), "indexed").unwrap();
        let sampled = admin.sample_statements("indexed", &own, TRIED).unwrap();
        sampled.iter().map(|statement| statement.found).collect()
    };
    let counted = || -> Vec<u64> {
        let counted = admin.count_rows("indexed", &tables).unwrap();
        counted.iter().map(|table| table.rows).collect()
    };
    let import = |table: &str, directory: &Path| {
        import_sstables((management, version), ("indexed", table), &[directory.to_str().unwrap()], false)
    };
    assert_eq!((counted(), found()), (vec![u64::from(ROWS); 2], vec![TRIED; 2]));
    truncate_table(management, "indexed", "carts").unwrap();
    assert_eq!((counted(), found()), (vec![0; 2], vec![0; 2]), "a view is emptied with its table");

    // Without its files an index would be built before a trial, by reading the whole table.
    let without = copy_of("carts-", 1);
    let files = || fs::read_dir(&without).unwrap().map(|file| file.unwrap().path());
    let is_of_index = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().contains("-SAI+");
    assert!(files().any(|path| is_of_index(&path)));
    files().filter(is_of_index).for_each(|path| fs::remove_file(path).unwrap());
    let refused = import("carts", &without).unwrap_err().to_string();
    assert!(refused.contains("it does not import"), "{refused}");
    assert_eq!(counted(), [0, 0]);

    for (number, table) in (2..).zip(&tables) {
        import(table, &copy_of(&format!("{table}-"), number)).unwrap();
    }
    assert_eq!((counted(), found()), (vec![u64::from(ROWS); 2], vec![TRIED; 2]));
    let log = fs::read_to_string(node.config().system_log()).unwrap();
    assert!(!log.contains("Submitting incremental index build"), "{log}");
}
