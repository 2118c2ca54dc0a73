//! Snapshots as `nodetool` leaves them, and as somebody may have changed them.

use std::fs;

use super::*;

const ID: &str = "1b255f4def2540a60000000000000000";

fn file(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// An SSTable with some of its files.
fn sstable_in(root: &Path, directory: &str, number: u32) {
    for (component, text) in [("Data.db", "data"), ("Statistics.db", "st"), ("SAI+aa+index.db", "index")] {
        file(root, &format!("{directory}/nb-{number}-big-{component}"), text);
    }
}

fn refused(root: &Path) -> String {
    TableSnapshot::read(root).unwrap_err()
}

#[test]
fn snapshots_of_two_nodes_are_found_as_nodetool_leaves_them() {
    let root = tempfile::tempdir().unwrap();
    for (node, sstables) in [("a", 2), ("b", 1)] {
        let carts = format!("{node}/shop/carts-{ID}/snapshots/monday");
        (1..=sstables).for_each(|number| sstable_in(root.path(), &carts, number));
        file(root.path(), &format!("{carts}/schema.cql"), "CREATE TABLE shop.carts (k int PRIMARY KEY);");
        file(root.path(), &format!("{carts}/manifest.json"), "{}");
        file(root.path(), &format!("{carts}/.carts_by_item/nb-1-big-Data.db"), "an index");
    }
    let read = TableSnapshot::read(root.path()).unwrap();
    let found = read.found();
    let carts = SnapshotTable { name: "carts".to_owned(), folders: 2, sstables: 3, bytes: 3 * 6 };
    assert_eq!(found.tables, std::slice::from_ref(&carts));
    assert_eq!(found.schemas.len(), 1, "both nodes have the same");

    let into = tempfile::tempdir().unwrap();
    let mut bytes = 0;
    let place = (into.path(), "ycsb");
    let places = read.copy(&["carts".to_owned()], place, &mut |copied| bytes = copied, &|| false).unwrap();
    assert_eq!((places.len(), bytes), (2, 18));
    let copied = places[0].join(format!("ycsb/carts-{:032x}/nb-2-big-Data.db", 0));
    assert_eq!(fs::read_to_string(copied).unwrap(), "data");
    // Both nodes have a file of this name, and neither overwrites that of the other.
    for (number, place) in places.iter().enumerate() {
        assert!(place.join(format!("ycsb/carts-{number:032x}/nb-1-big-Data.db")).exists(), "{}", place.display());
    }
    assert_eq!(read.copy(&["other".to_owned()], place, &mut |_| {}, &|| false).unwrap(), Vec::<PathBuf>::new());

    let tables = vec![carts];
    let snapshot = Snapshot { path: found.path, sha256: found.sha256, tables, least_found: 0.9 };
    assert!(TableSnapshot::read_again(&snapshot).is_ok());
    sstable_in(root.path(), &format!("b/shop/carts-{ID}/snapshots/monday"), 9);
    let other = TableSnapshot::read_again(&snapshot).unwrap_err();
    assert!(other.ends_with("has other files than when the experiment was read"), "{other}");
}

#[test]
fn a_folder_for_each_table_is_one_too() {
    let root = tempfile::tempdir().unwrap();
    sstable_in(root.path(), "carts", 1);
    sstable_in(root.path(), &format!("stock-{ID}"), 1);
    file(root.path(), "schema.cql", "CREATE TABLE carts (k int PRIMARY KEY);");
    let found = TableSnapshot::read(root.path()).unwrap().found();
    let names: Vec<&str> = found.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!((names, found.schemas[0].path.as_str()), (vec!["carts", "stock"], "schema.cql"));
}

#[test]
fn backups_are_left_out_below_a_table_and_nowhere_else() {
    let root = tempfile::tempdir().unwrap();
    sstable_in(root.path(), "a/backups", 1);
    sstable_in(root.path(), &format!("backups/stock-{ID}"), 1);
    sstable_in(root.path(), &format!("backups/stock-{ID}/backups"), 2);
    let found = TableSnapshot::read(root.path()).unwrap().found();
    let tables: Vec<(&str, u32)> = found.tables.iter().map(|table| (table.name.as_str(), table.sstables)).collect();
    assert_eq!(tables, [("backups", 1), ("stock", 1)], "a table and a node of that name are whole");
}

#[test]
fn what_is_no_snapshot_is_refused_with_its_path() {
    let root = tempfile::tempdir().unwrap();
    assert!(refused(root.path()).ends_with("has no SSTable (NAME-Data.db)"));
    let carts = format!("shop/carts-{ID}");
    sstable_in(root.path(), &format!("{carts}/snapshots/monday"), 1);
    sstable_in(root.path(), &carts, 2);
    assert!(refused(root.path()).contains("files of a running node beside a snapshot"));
    fs::remove_file(root.path().join(&carts).join("nb-2-big-Data.db")).unwrap();
    sstable_in(root.path(), &format!("{carts}/snapshots/tuesday"), 1);
    assert!(refused(root.path()).contains("several snapshots (monday, tuesday)"));
    fs::remove_dir_all(root.path().join(&carts).join("snapshots/tuesday")).unwrap();
    let other = ID.replace('1', "2");
    sstable_in(root.path(), &format!("old/carts-{other}/snapshots/monday"), 1);
    assert!(refused(root.path()).contains("has two tables carts"));
    fs::remove_dir_all(root.path().join("old")).unwrap();
    TableSnapshot::read(root.path()).unwrap();
    file(root.path(), &format!("{carts}/snapshots/monday/nb-3-big-Data.db"), "");
    assert!(refused(root.path()).contains("nb-3-big-Data.db is empty"));
}

/// As far as its partitioner (`MetadataSerializer`): one part, its number and place, checksums, and the part.
fn statistics(partitioner: &str) -> Vec<u8> {
    let numbers = [1_u32, 0, 0, 20, 0].into_iter().flat_map(u32::to_be_bytes);
    let length = u16::try_from(partitioner.len()).unwrap().to_be_bytes();
    numbers.chain(length).chain(partitioner.bytes()).chain(0.01_f64.to_be_bytes()).collect()
}

#[test]
fn files_of_another_partitioner_are_refused_before_a_node_meets_them() {
    let root = tempfile::tempdir().unwrap();
    sstable_in(root.path(), "carts", 1);
    let of = |partitioner: &str| {
        fs::write(root.path().join("carts/nb-1-big-Statistics.db"), statistics(partitioner)).unwrap();
        TableSnapshot::read(root.path()).map(drop)
    };
    assert_eq!(of(PARTITIONER), Ok(()));
    let said = of("org.apache.cassandra.dht.RandomPartitioner").unwrap_err();
    assert!(said.contains("nb-1-big-Statistics.db is of org.apache.cassandra.dht.RandomPartitioner"), "{said}");
}

#[test]
fn links_and_endless_depths_are_not_followed() {
    let root = tempfile::tempdir().unwrap();
    sstable_in(root.path(), "carts", 1);
    std::os::unix::fs::symlink("/etc/shadow", root.path().join("carts/nb-2-big-Data.db")).unwrap();
    assert!(refused(root.path()).contains("a snapshot has no links"));
    fs::remove_file(root.path().join("carts/nb-2-big-Data.db")).unwrap();
    let read = TableSnapshot::read(root.path()).unwrap();
    // Exchanged after it was looked at.
    let data = root.path().join("carts/nb-1-big-Data.db");
    fs::remove_file(&data).unwrap();
    std::os::unix::fs::symlink("/etc/shadow", &data).unwrap();
    let into = tempfile::tempdir().unwrap();
    let copied = read.copy(&["carts".to_owned()], (into.path(), "ycsb"), &mut |_| {}, &|| false);
    assert!(copied.unwrap_err().contains("nb-1-big-Data.db"));
    fs::remove_file(&data).unwrap();
    fs::write(&data, "longer than it was").unwrap();
    let into = tempfile::tempdir().unwrap();
    let copied = read.copy(&["carts".to_owned()], (into.path(), "ycsb"), &mut |_| {}, &|| false);
    assert!(copied.unwrap_err().ends_with("has changed while it was copied"));
    let deep = root.path().join("a/b/c/d/e/f/g/h/i/j");
    fs::create_dir_all(deep).unwrap();
    assert!(refused(root.path()).contains("lies deeper than"));
}
