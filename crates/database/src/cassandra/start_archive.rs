//! What an earlier start has learnt and a later one need not find out again: classes, and the size of a memtable's row.
//!
//! # A class-data archive
//!
//! The JVM's memory of the 8,200 classes that Cassandra loads shortens the start by a quarter. Measured on 2 busy cores
//! with JDK 17 and 1 GiB of heap, in turns, the best of three each: CQL answers after 3.1 s rather than 3.9 (5.2 s of
//! CPU time rather than 6.5).
//!
//! Most of a start is loading and verifying classes. "Application class-data sharing" (JEP 350) stores them parsed, and
//! maps them at the next start. What a class does, and how it is compiled, is the same with and without. An archive
//! belongs to one class path, jars of these lengths and times, and one JVM, so its name holds all of them; a JVM that
//! cannot use an archive ignores it (`-Xshare:auto`), so a wrong one costs time, never correctness.
//!
//! The archive is made by a throw-away node with a small heap, on its own loopback address and free ports, which
//! starts, answers CQL and stops. JVMs make one as they end since Java 13, where they have the archive of the JDK's own
//! classes; without it there is none, which is remembered in its place.
//!
//! # The overhead of a memtable's row
//!
//! At every start Cassandra builds a memtable of 100,000 rows to learn how many bytes of heap a row takes besides its
//! data (`AbstractAllocatorMemtable.estimateRowOverhead`; 2.6 s of one CPU here). The figure depends on the JVM and on
//! whether object pointers are compressed (heaps below 32 GiB), not on the data. A second throw-away node measures it,
//! and later starts are given it (`-Dcassandra.memtable.row_overhead_size`).

use std::{
    fs, io,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::{getegid, geteuid};
use sha2::{Digest, Sha256};

use crate::account::Account;
use crate::server::{Remember, Temporary};

use super::{
    distribution::Distribution, java::Java, jvm::ArchiveUse, log, node::Node, node_config::NodeConfig,
    node_error::NodeError,
};

/// Where throw-away nodes live: no other part of iopslab uses this address.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 77);
const READY_TIMEOUT: Duration = Duration::from_secs(180);
/// JVMs make an archive as they end from this Java on (JEP 350); an older one does not start when it is asked to.
const ARCHIVES_AT_EXIT: u32 = 13;
/// Most bytes of the file that has a row's overhead: a number.
const OVERHEAD_MOST_BYTES: u64 = 64;

/// Make the archive and measure the row overhead unless the cache has them, and let `distribution` use both from now
/// on. Takes some 20 s, once per Java and Cassandra version. Without them everything works, only slower, so a caller
/// may treat an error as a remark.
pub fn ensure_start_archive(
    distribution: &mut Distribution,
    java: &Java,
    account: Option<&Account>,
    cancelled: &dyn Fn() -> bool,
    remember: Remember<'_>,
) -> Result<(), NodeError> {
    let asked = ArchiveRequest { account, cancelled, remember };
    let path = archive_path(distribution, java);
    if !is_decided(java, &path) {
        make(distribution, java, &path, asked)?;
    }
    let overhead_path = overhead_path(&path);
    distribution.start_archive = Some(path).filter(|path| path.is_file());
    if !overhead_path.is_file() {
        measure_row_overhead(distribution, java, &overhead_path, asked)?;
    }
    let overhead = guarded::text(&overhead_path, OVERHEAD_MOST_BYTES).ok();
    distribution.row_overhead_bytes = overhead.and_then(|text| text.trim().parse().ok());
    Ok(())
}

/// Whether both are in the cache already, so that [`ensure_start_archive`] takes no time.
pub(crate) fn has_start_archive(distribution: &Distribution, java: &Java) -> bool {
    let path = archive_path(distribution, java);
    is_decided(java, &path) && overhead_path(&path).is_file()
}

/// Whether there is an archive, or can be none.
fn is_decided(java: &Java, archive: &Path) -> bool {
    java.version < ARCHIVES_AT_EXIT || archive.is_file() || no_archive_path(archive).is_file()
}

/// Is there where this JVM makes none.
fn no_archive_path(archive: &Path) -> PathBuf {
    archive.with_extension("no-archive")
}

fn overhead_path(archive: &Path) -> PathBuf {
    archive.with_extension("row-overhead")
}

fn archive_path(distribution: &Distribution, java: &Java) -> PathBuf {
    // The JVM holds each jar to them, and leaves an archive of others unused.
    let of_jar = |jar: &PathBuf| {
        let facts = fs::metadata(jar).ok();
        facts.map(|facts| format!("{} {}.{:09}", facts.len(), facts.mtime(), facts.mtime_nsec())).unwrap_or_default()
    };
    let jars: Vec<String> = distribution.jars.iter().map(of_jar).collect();
    let (java, classpath) = (format!("{}\n{}", java.path.display(), java.version_text), distribution.classpath());
    let identity = format!("{java}\n{classpath}\n{}", jars.join("\n"));
    let name =
        format!("start-{}-{}.jsa", distribution.version, &guarded::hex(&Sha256::digest(identity.as_bytes()))[..16]);
    distribution.cache.join(name)
}

/// Whom throw-away nodes run as, whether to give up, and who hears of what is there for a moment.
#[derive(Clone, Copy)]
struct ArchiveRequest<'a> {
    account: Option<&'a Account>,
    cancelled: &'a dyn Fn() -> bool,
    remember: Remember<'a>,
}

fn make(distribution: &Distribution, java: &Java, path: &Path, asked: ArchiveRequest<'_>) -> Result<(), NodeError> {
    in_throw_away_directory(distribution, asked.remember, |directory| {
        // Where it may write.
        let made = directory.join("tmp/made.jsa");
        let mut node = throw_away_node(distribution, java, (directory, asked), ArchiveUse::Make(&made))?;
        let ready = node.wait_ready(READY_TIMEOUT, asked.cancelled);
        // Writing the archive happens at the end of the process and takes some seconds.
        let stopped = node.stop(if ready.is_ok() { Duration::from_secs(120) } else { Duration::ZERO });
        ready.and(stopped)?;
        let kept = if made.exists() { keep(&made, path) } else { guarded::replace(&no_archive_path(path), b"", 0o644) };
        kept.map_err(|source| NodeError::io(path, source))
    })
}

/// Moves what a throw-away node has made to where it is kept: it is ours from then on, and for every node to read.
fn keep(made: &Path, path: &Path) -> io::Result<()> {
    // What was opened is what is changed, whatever has its name by then.
    let file = guarded::open_no_link(made)?;
    if file.metadata()?.nlink() > 1 {
        return Err(io::Error::other("what the node has made has a second name elsewhere"));
    }
    fchown(&file, Some(geteuid().as_raw()), Some(getegid().as_raw()))?;
    file.set_permissions(fs::Permissions::from_mode(0o644))?;
    fs::rename(made, path)
}

/// Stores the figure of a node that runs as measured ones do, the agent for object sizes included.
fn measure_row_overhead(
    distribution: &Distribution,
    java: &Java,
    path: &Path,
    asked: ArchiveRequest<'_>,
) -> Result<(), NodeError> {
    in_throw_away_directory(distribution, asked.remember, |directory| {
        let archive = distribution.start_archive.as_deref().map_or(ArchiveUse::None, ArchiveUse::Use);
        let mut node = throw_away_node(distribution, java, (directory, asked), archive)?;
        let ready = node.wait_ready(READY_TIMEOUT, asked.cancelled);
        node.kill();
        ready?;
        let found = log::of_start(&node.config().system_log()).ok().and_then(|said| row_overhead(&said));
        // Another version may word it otherwise: that is noted as an empty line, and each of its starts measures.
        let text = found.map_or_else(String::new, |bytes| bytes.to_string()) + "\n";
        guarded::replace(path, text.as_bytes(), 0o644).map_err(|source| NodeError::io(path, source))
    })
}

/// Bytes, from Cassandra's log: `Estimated SkipListMemtable row overhead: 180`.
fn row_overhead(log: &str) -> Option<u32> {
    let marker = "Estimated SkipListMemtable row overhead: ";
    let rest = log.lines().find_map(|line| line.split_once(marker))?.1;
    rest.trim().parse().ok()
}

fn in_throw_away_directory(
    distribution: &Distribution,
    remember: Remember<'_>,
    act: impl FnOnce(&Path) -> Result<(), NodeError>,
) -> Result<(), NodeError> {
    let directory = distribution.cache.join(format!("start-archive-{}", std::process::id()));
    let outcome = remember(Temporary::Directory(&directory))
        .and_then(|()| fs::create_dir_all(&directory))
        .map_err(|source| NodeError::io(&directory, source))
        .and_then(|()| act(&directory));
    if let Err(error) = fs::remove_dir_all(&directory) {
        tracing::warn!(directory = %directory.display(), %error, "cannot remove the throw-away node's directory");
    }
    outcome
}

fn throw_away_node(
    distribution: &Distribution,
    java: &Java,
    (directory, asked): (&Path, ArchiveRequest<'_>),
    archive: ArchiveUse<'_>,
) -> Result<Node, NodeError> {
    let mut config = NodeConfig::new("iopslab-start-archive", ADDRESS, directory);
    config.plan.ports.clients = free_port(ADDRESS)?;
    config.plan.ports.peers = free_port(ADDRESS)?;
    config.plan.ports.management = free_port(Ipv4Addr::LOCALHOST)?;
    config.account = asked.account.cloned();
    config.plan.memory.main_bytes = 384 << 20;
    config.plan.memory.buffer_bytes = 256 << 20;
    let mut node = Node::start_with(distribution, java, config, archive)?;
    if let Err(source) = (asked.remember)(Temporary::Process(node.pid())) {
        node.kill();
        return Err(NodeError::io(directory, source));
    }
    Ok(node)
}

fn free_port(address: Ipv4Addr) -> Result<u16, NodeError> {
    let bound = TcpListener::bind((address, 0)).and_then(|listener| listener.local_addr());
    let purpose = "throw-away node";
    bound.map(|address| address.port()).map_err(|source| NodeError::Address { address, port: 0, purpose, source })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn on(java: u32) -> Java {
        let path = PathBuf::from("/jdk/bin/java");
        Java { path, version: java, version_text: String::new(), own_options: Vec::new() }
    }

    /// The JVM would leave an archive unused, in silence, of jars that were written anew.
    #[test]
    fn an_archive_is_of_the_jars_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let jar = directory.path().join("one.jar");
        fs::write(&jar, "jar").unwrap();
        let distribution = Distribution {
            version: "5.0.9".to_owned(),
            jars: vec![jar.clone()],
            cache: directory.path().to_owned(),
            start_archive: None,
            row_overhead_bytes: None,
        };
        let before = archive_path(&distribution, &on(17));
        assert_eq!(archive_path(&distribution, &on(17)), before);
        let later = SystemTime::now() + Duration::from_secs(60);
        fs::File::options().write(true).open(&jar).unwrap().set_modified(later).unwrap();
        assert_ne!(archive_path(&distribution, &on(17)), before);
    }

    #[test]
    fn nothing_is_tried_again_of_a_jvm_that_makes_no_archive() {
        let directory = tempfile::tempdir().unwrap();
        let archive = directory.path().join("start.jsa");
        assert!(is_decided(&on(11), &archive), "before JEP 350");
        assert!(!is_decided(&on(17), &archive));
        fs::write(no_archive_path(&archive), "").unwrap();
        assert!(is_decided(&on(17), &archive));
    }

    #[test]
    fn the_row_overhead_is_read_from_the_log() {
        let log = "INFO  [main] Initializing system.IndexInfo\nINFO  [main] 2026-11-22 00:45:33,930 \
                   SkipListMemtable.java:240 - Estimated SkipListMemtable row overhead: 180\n";
        assert_eq!(row_overhead(log), Some(180));
        assert_eq!(row_overhead("Estimated TrieMemtable row overhead: 96"), None);
    }
}
