//! What a node finds on disk when it starts: its directories, its settings, its logging configuration.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{
    node_config::NodeConfig,
    node_error::NodeError,
    yaml::{cassandra_yaml, logback_xml, rackdc_properties},
};

/// What is for everybody to read.
const READABLE: u32 = 0o644;
const PASSABLE: u32 = 0o755;

/// Write the configuration of a node of this version and create directories; old logs of this node are kept as
/// `*.previous`. What it writes belongs to the user that it runs as; its configuration does not.
pub(crate) fn prepare(config: &NodeConfig, version: &str) -> Result<(), NodeError> {
    let temporary = config.plan.directories.own.join("tmp");
    if temporary.exists() {
        // Native libraries unpacked by a start that was killed.
        std::fs::remove_dir_all(&temporary).map_err(|source| NodeError::io(&temporary, source))?;
    }
    let conf = config.plan.directories.own.join("conf");
    // 6.0 has its journal of transactions there, by itself.
    let accord = cassandra_model::has_key(version, "accord").then_some("accord_journal");
    let own = ["logs", "hints", "saved_caches", "cdc_raw", "tmp"].into_iter().chain(accord);
    let own: Vec<PathBuf> = own.map(|d| config.plan.directories.own.join(d)).collect();
    let measured = config.plan.directories.data.iter().chain([&config.plan.directories.commitlog]);
    let written: Vec<&PathBuf> = own.iter().chain(measured).collect();
    for directory in [&conf.join("triggers")].into_iter().chain(written.iter().copied()) {
        std::fs::create_dir_all(directory).map_err(|source| NodeError::io(directory, source))?;
    }
    if let Some(account) = &config.account {
        for directory in [&config.plan.directories.own, &conf, &conf.join("triggers")] {
            set_mode(directory, PASSABLE)?;
        }
        written.iter().try_for_each(|directory| account.own(directory))?;
        account.check_way(written.iter().map(|directory| directory.as_path()))?;
    }
    for log in [config.system_log(), config.gc_log(), config.console_log()] {
        let kept = guarded::if_there(std::fs::rename(&log, log.with_extension("log.previous")));
        kept.map_err(|error| NodeError::io(&log, error))?;
    }
    for (name, text) in [("cassandra.yaml", cassandra_yaml(config, version)), ("logback.xml", logback_xml(version))] {
        write(&conf.join(name), &text)?;
    }
    if let Some(place) = &config.plan.place {
        write(&config.place_file(), &rackdc_properties(place))?;
    }
    Ok(())
}

/// A file that every user may read: there is nothing secret in it.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), NodeError> {
    guarded::replace(path, text.as_bytes(), READABLE).map_err(|source| NodeError::io(path, source))?;
    set_mode(path, READABLE)
}

fn set_mode(path: &Path, mode: u32) -> Result<(), NodeError> {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).map_err(|source| NodeError::io(path, source))
}
