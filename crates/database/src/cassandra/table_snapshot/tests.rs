//! Snapshots as `nodetool` leaves them, and as somebody may have changed them.

use std::fs;

use experiment::DataSetPlace;

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

/// A plan that has these tables of one.
fn planned(tables: Vec<SnapshotTable>) -> Snapshot {
    let place = DataSetPlace::Directory { path: "/backup".to_owned() };
    Snapshot { place, tables, least_found: 0.9 }
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
    let [carts] = found.tables.as_slice() else { panic!("{:?}", found.tables) };
    assert_eq!((carts.name.as_str(), carts.folders, carts.sstables, carts.bytes), ("carts", 2, 3, 3 * 6));
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

    let snapshot = planned(found.tables);
    assert!(read.as_planned(&snapshot).is_ok());
    // What is not restored may be another.
    sstable_in(root.path(), &format!("b/shop/stock-{ID}/snapshots/monday"), 9);
    assert!(TableSnapshot::read(root.path()).unwrap().as_planned(&snapshot).is_ok());
    sstable_in(root.path(), &format!("b/shop/carts-{ID}/snapshots/monday"), 9);
    let other = TableSnapshot::read(root.path()).unwrap().as_planned(&snapshot).unwrap_err();
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

/// All files below a directory, as the list of a bucket has them.
fn list(root: &Path, below: &Path, found: &mut Vec<(String, u64)>) {
    for entry in fs::read_dir(below).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(root, &path, found);
        } else {
            let key = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.push((key, entry.metadata().unwrap().len()));
        }
    }
}

/// It is fetched into a directory, and looked at there again.
#[test]
fn what_is_listed_is_the_same_snapshot_as_in_a_directory() {
    let whole = tempfile::tempdir().unwrap();
    for node in ["a", "b"] {
        let carts = format!("{node}/shop/carts-{ID}");
        sstable_in(whole.path(), &format!("{carts}/snapshots/monday"), 1);
        sstable_in(whole.path(), &format!("{carts}/backups"), 2);
        sstable_in(whole.path(), &format!("{carts}/snapshots/monday/.by_item"), 3);
        file(whole.path(), &format!("{carts}/snapshots/monday/schema.cql"), "CREATE TABLE carts (k int PRIMARY KEY);");
    }
    sstable_in(whole.path(), &format!("a/shop/stock-{ID}/snapshots/monday"), 1);
    let mut files = Vec::new();
    list(whole.path(), whole.path(), &mut files);
    assert_eq!(files.len(), 2 * (3 * 3 + 1) + 3);
    files.extend([(String::new(), 0), ("a/shop/".to_owned(), 0)]);
    let mut schemas = 0;
    let mut schema = |path: &Path| -> Result<String, String> {
        schemas += 1;
        Ok(fs::read_to_string(whole.path().join(path)).unwrap())
    };
    let listed = TableSnapshot::listed("s3://backups/monday", files, &mut schema).unwrap();
    assert_eq!(schemas, 2);
    let (found, read) = (listed.found(), TableSnapshot::read(whole.path()).unwrap().found());
    assert_eq!((&found.tables, &found.schemas), (&read.tables, &read.schemas));
    assert_eq!((found.path.as_str(), found.tables.len()), ("s3://backups/monday", 2));

    // What is fetched of it are the tables of a plan without anything else, and those are still the same.
    let carts = planned(found.tables.into_iter().filter(|table| table.name == "carts").collect());
    let files = listed.files(&carts);
    assert_eq!((files.len(), carts.bytes()), (4, 2 * 6));
    let fetched = tempfile::tempdir().unwrap();
    for (path, bytes) in &files {
        let text = fs::read_to_string(whole.path().join(path)).unwrap();
        assert_eq!(text.len() as u64, *bytes);
        file(fetched.path(), path.to_str().unwrap(), &text);
    }
    assert!(TableSnapshot::read(fetched.path()).unwrap().as_planned(&carts).is_ok());
}

#[test]
fn a_list_with_paths_that_lead_elsewhere_is_refused() {
    let refused = |key: &str| {
        let files = [("carts/nb-1-big-Data.db".to_owned(), 4), (key.to_owned(), 4)];
        let mut schema = |_: &Path| -> Result<String, String> { Err("nobody asks for it".to_owned()) };
        TableSnapshot::listed("s3://backups/x", files, &mut schema).map(|read| read.found().tables.len())
    };
    for key in ["../nb-2-big-Data.db", "/etc/nb-2-big-Data.db", "carts//nb-2-big-Data.db", "carts/./nb-2-big-Data.db"] {
        assert_eq!(refused(key), Err(format!("s3://backups/x has {key:?}, which is no path of a file")));
    }
    let control = refused("carts/nb-2\n-big-Data.db").unwrap_err();
    assert!(control.contains("nb-2\\n-big-Data.db"), "{control}");
    assert!(refused("a/b/c/d/e/f/g/h/i/nb-2-big-Data.db").unwrap_err().contains("lies deeper than"));
    assert_eq!(refused("carts/manifest.json"), Ok(1));
    assert_eq!(refused("carts/schema.cql"), Err("nobody asks for it".to_owned()));
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
