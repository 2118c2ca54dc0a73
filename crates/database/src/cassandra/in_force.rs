//! Whether what was asked of a node is in force in the process that runs, in its table and in that one's files: what
//! was asked for and not obeyed would be measured as if it had been.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cassandra_model::{JVM, TABLE, YAML, is_value, jvm, jvm_option_name, table, values, yaml};
use experiment::{Section, Setting, SettingsInForce};

use super::{
    admin::Admin,
    log,
    node::Node,
    node_error::{NodeError, NotInForce},
    sstable_files, table_in_force,
};
use crate::server::DataSetTable;

/// The settings of a node that runs, each as asked, with what the node shows of them.
pub(crate) fn settings(
    node: &Node,
    admin: &Admin,
    version: &str,
    DataSetTable { keyspace, table: name, is_restored }: DataSetTable<'_>,
) -> Result<SettingsInForce, NodeError> {
    let config = node.config();
    let settings = &config.plan.settings;
    let refused =
        |(setting, why): NotInForce| NodeError::NotInForce { address: config.plan.client_address(), setting, why };
    let mut found = SettingsInForce::NONE;
    let options = jvm(settings);
    if !options.is_empty() {
        let path = PathBuf::from(format!("/proc/{}/cmdline", node.pid()));
        let line = std::fs::read(&path).map_err(|source| NodeError::io(&path, source))?;
        let path = config.console_log();
        let console = log::of_start(&path).map_err(|source| NodeError::io(&path, source))?;
        let checked = jvm_options(options, &line, &console);
        checked.map_err(|(option, why)| refused((option.clone(), why)))?;
        found.sections.insert(JVM.to_owned(), Section::Options(options.to_vec()));
    }
    let mut format = None;
    if !yaml(settings).is_empty() {
        let shown = admin.settings()?;
        let path = config.system_log();
        let said = log::of_start(&path).map_err(|source| NodeError::io(&path, source))?;
        let shown = keys(version, yaml(settings), &shown, &said).map_err(refused)?;
        format = shown.get("sstable.selected_format").map(|format| format.value().to_owned());
        found.sections.insert(YAML.to_owned(), Section::Keys(shown));
    }
    if !table(settings).is_empty() || format.is_some() {
        let schema = admin.table_schema(keyspace, name)?;
        let options = table_in_force::check(table(settings), &schema).map_err(refused)?;
        if !options.is_empty() {
            found.sections.insert(TABLE.to_owned(), Section::Keys(options));
        }
        if is_restored {
            let mut files = Vec::new();
            for directory in &config.plan.directories.data {
                let directory = directory.join(keyspace);
                let found = sstable_files::of_table(&directory, name);
                files.extend(found.map_err(|source| NodeError::io(&directory, source))?);
            }
            found.files = sstable_files::check(&files, table(settings), format.as_ref()).map_err(refused)?;
        }
    }
    Ok(found)
}

/// Keys of `cassandra.yaml` as the node shows them; of the two of which its table of settings repeats what was asked
/// for, what its log says was made of it.
fn keys(
    version: &str,
    asked: &BTreeMap<String, Setting>,
    shown: &BTreeMap<String, String>,
    said: &str,
) -> Result<BTreeMap<String, Setting>, NotInForce> {
    let mut found = BTreeMap::new();
    for (key, value) in asked.iter().map(|(key, setting)| (key, setting.value())) {
        for (name, wanted) in values(key, value) {
            let setting = || format!("cassandra {name} = {wanted}");
            let shown = shown_value(&name, shown).ok_or_else(|| {
                let why = format!("system_views.settings of this node does not show {name}");
                (setting(), why)
            })?;
            if !is_value(version, &name, &wanted, &shown) {
                return Err((setting(), format!("system_views.settings shows {name} = {shown}")));
            }
            found.insert(name, Setting::Value(shown));
        }
        let bare = value.trim_matches('"');
        if let Some((made, says)) = made_of(key, bare, said) {
            let Some(made) = made else {
                let why = format!("its log says: {says}");
                return Err((format!("cassandra {key} = {bare}"), why));
            };
            found.insert(key.clone(), Setting::Value(made));
        }
    }
    Ok(found)
}

/// The value of a key, or of a key below one that is shown as JSON.
fn shown_value(name: &str, shown: &BTreeMap<String, String>) -> Option<String> {
    if let Some(value) = shown.get(name) {
        return Some(value.clone());
    }
    let (above, below) = name.rsplit_once('.')?;
    let table = shown_value(above, shown)?;
    let table: serde_json::Value = serde_json::from_str(&table).ok()?;
    let value = table.get(below)?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// What the log says was made of a key (`None`: something else than was asked for), and its words; `None`: it says
/// nothing of this key.
fn made_of(key: &str, asked: &str, said: &str) -> Option<(Option<String>, String)> {
    let after = |beginning: &str| {
        let line = said.lines().rev().find(|line| line.contains(beginning));
        line.and_then(|line| line.split_once(beginning)).map(|(_, rest)| rest.trim())
    };
    match key {
        "disk_access_mode" => {
            let modes = after("DiskAccessMode is ").unwrap_or("nothing of DiskAccessMode");
            let (data, index) = modes.split_once(", indexAccessMode is ").unwrap_or((modes, ""));
            let is_as_asked = match asked {
                "mmap_index_only" => (data, index) == ("standard", "mmap"),
                "auto" => index == "mmap",
                mode => (data, index) == (mode, mode),
            };
            let words = format!("data files by {data}, indexes by {index}");
            Some((is_as_asked.then_some(words), format!("DiskAccessMode is {modes}")))
        }
        "commitlog_disk_access_mode" => {
            let beginning = "commitlog_disk_access_mode resolved to: ";
            let mode = after(beginning).unwrap_or("nothing of it");
            // These two leave it to the server.
            let is_as_asked = ["auto", "legacy"].contains(&asked) || mode == asked;
            Some((is_as_asked.then(|| mode.to_owned()), format!("{beginning}{mode}")))
        }
        _ => None,
    }
}

/// The options that are not in the command line of the process, which the kernel knows, and those of which the JVM says
/// that it ignores them. A JVM does not start with an option that it does not know.
fn jvm_options<'a>(asked: &'a [String], line: &[u8], console: &str) -> Result<(), (&'a String, String)> {
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    for option in asked {
        if !words.contains(&option.as_bytes()) {
            return Err((option, "its process was started without it".to_owned()));
        }
        let name = jvm_option_name(option);
        let name = name.trim_start_matches("-XX:");
        let ignored = |said: &&str| said.to_ascii_lowercase().contains("ignoring") && said.contains(name);
        if let Some(said) = console.lines().find(ignored) {
            return Err((option, format!("the JVM says: {said}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use experiment::Setting;

    use super::{jvm_options, keys};

    #[test]
    fn a_key_is_in_force_if_the_node_shows_it_as_asked_and_its_log_does_not_differ() {
        let asked = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), Setting::Value(value.to_owned()))]);
        let shown: BTreeMap<String, String> = [
            ("concurrent_reads", "64"),
            ("read_request_timeout", "10000ms"),
            ("disk_access_mode", "mmap"),
            ("sstable", "{\"selected_format\":\"bti\"}"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
        let log = "INFO  [main] DatabaseDescriptor.java:1 - DiskAccessMode is standard, indexAccessMode is mmap\n";
        let checked = |key, value| keys("5.0.9", &asked(key, value), &shown, log);
        assert_eq!(checked("concurrent_reads", "64").unwrap()["concurrent_reads"].value(), "64");
        assert_eq!(checked("read_request_timeout", "\"10s\"").unwrap()["read_request_timeout"].value(), "10000ms");
        let nested = checked("sstable", "{\"selected_format\":\"bti\"}").unwrap();
        assert_eq!(nested["sstable.selected_format"].value(), "bti");

        let (setting, why) = checked("concurrent_reads", "65").unwrap_err();
        assert_eq!(setting, "cassandra concurrent_reads = 65");
        assert_eq!(why, "system_views.settings shows concurrent_reads = 64");
        let (_, why) = checked("column_index_size", "\"4KiB\"").unwrap_err();
        assert_eq!(why, "system_views.settings of this node does not show column_index_size");
        // The table shows what was asked for, the log what became of it.
        let (_, why) = checked("disk_access_mode", "\"mmap\"").unwrap_err();
        assert_eq!(why, "its log says: DiskAccessMode is standard, indexAccessMode is mmap");
    }

    #[test]
    fn an_option_is_in_force_if_the_process_has_it_and_the_jvm_does_not_ignore_it() {
        let line = b"java\0-XX:+UseBiasedLocking\0-Xss512k\0-cp\0a.jar\0";
        let asked = |options: &[&str]| options.iter().map(|o| (*o).to_owned()).collect::<Vec<_>>();
        let good = asked(&["-XX:+UseBiasedLocking", "-Xss512k"]);
        let deprecated = "OpenJDK 64-Bit Server VM warning: Option UseBiasedLocking was deprecated in version 15.0";
        assert_eq!(jvm_options(&good, line, deprecated), Ok(()));

        let missing = asked(&["-Xss512k", "-Xss51"]);
        let (option, why) = jvm_options(&missing, line, "").unwrap_err();
        assert_eq!((option.as_str(), why.as_str()), ("-Xss51", "its process was started without it"));

        let said = "OpenJDK 64-Bit Server VM warning: Ignoring option UseBiasedLocking; support was removed in 18.0";
        let (option, why) = jvm_options(&good, line, said).unwrap_err();
        assert_eq!((option.as_str(), why), ("-XX:+UseBiasedLocking", format!("the JVM says: {said}")));
    }
}
