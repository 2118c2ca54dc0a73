//! What a node finds on disk when it starts: its directories, its settings, its logging configuration.

use std::io;

use super::{
    node_config::NodeConfig,
    node_error::NodeError,
    yaml::{cassandra_yaml, logback_xml, rackdc_properties},
};

/// Write configuration and create directories; old logs of this node are kept as `*.previous`.
pub(crate) fn prepare(config: &NodeConfig) -> Result<(), NodeError> {
    let temporary = config.directory.join("tmp");
    if temporary.exists() {
        // Native libraries unpacked by a start that was killed.
        std::fs::remove_dir_all(&temporary).map_err(|source| NodeError::io(&temporary, source))?;
    }
    let own = ["conf/triggers", "logs", "hints", "saved_caches", "cdc_raw", "tmp"].map(|d| config.directory.join(d));
    let measured = config.data_directories.iter().chain([&config.commitlog_directory]);
    for directory in own.iter().chain(measured) {
        std::fs::create_dir_all(directory).map_err(|source| NodeError::io(directory, source))?;
    }
    for log in [config.system_log(), config.gc_log(), config.console_log()] {
        match std::fs::rename(&log, log.with_extension("log.previous")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(NodeError::io(&log, error)),
            _ => {}
        }
    }
    for (name, text) in [
        ("cassandra.yaml", cassandra_yaml(config)),
        ("logback.xml", logback_xml(config)),
    ] {
        let path = config.directory.join("conf").join(name);
        std::fs::write(&path, text).map_err(|source| NodeError::io(&path, source))?;
    }
    if let Some(place) = &config.place {
        let path = config.place_file();
        std::fs::write(&path, rackdc_properties(place)).map_err(|source| NodeError::io(&path, source))?;
    }
    Ok(())
}
