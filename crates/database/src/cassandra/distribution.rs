//! Cassandra's jars: fetched from a Maven repository by a committed lock list, verified, cached.
//!
//! A lock list (`lock/VERSION.txt`, made by `lock/make-lock.sh`) names every jar of the runtime closure of
//! `org.apache.cassandra:cassandra-all` with its SHA-256 and size. A jar is written aside, hashed, and only then renamed to
//! its place, so that the cache never holds half a file under a final name, whoever is killed when.
//!
//! **Verified before use.** Hashing 69 MB at each start would cost about half a second, so the cache remembers what it has
//! verified: `verified-VERSION.txt` holds each jar's SHA-256, size and modification time in nanoseconds. A jar whose size and time still match
//! is taken as verified; any other is hashed again. This guards against truncation, mix-ups and bad mirrors, not against
//! somebody who can write to the cache on purpose (they could replace Java too).

use std::{
    fs::File,
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use sha2::{Digest, Sha256};

/// Environment variable with the address of another Maven repository.
pub const MIRROR_VARIABLE: &str = "IOPSLAB_MAVEN_MIRROR";
/// The public repository, used when the variable is not set.
pub const DEFAULT_REPOSITORY: &str = "https://repo.maven.apache.org/maven2";

/// Downloads at a time; more gains nothing against one repository.
const DOWNLOAD_THREADS: usize = 4;
/// After a failure or a cancellation, how long to wait for the other downloads to clean up after themselves.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// Attempts per jar where the failure may pass.
const ATTEMPTS: u32 = 3;

/// Lock lists, newest version first.
const LOCKS: &[(&str, &str)] = &[("5.0.9", include_str!("lock/5.0.9.txt"))];
const VERSIONS: &[&str] = &["5.0.9"];

/// Cassandra versions that can be fetched, newest first.
pub fn versions() -> &'static [&'static str] {
    VERSIONS
}

/// A complete, verified set of jars.
#[derive(Debug, Clone)]
pub struct Distribution {
    /// Cassandra version.
    pub version: String,
    /// All jars, in the order of the lock list.
    pub jars: Vec<PathBuf>,
    /// The directory that holds them, and the start archives made from them.
    pub cache: PathBuf,
    /// Class-data archive for faster starts, once [`super::ensure_start_archive`] has made one.
    pub start_archive: Option<PathBuf>,
}

impl Distribution {
    /// The class path. Its order is fixed: a class-data archive is only valid for the class path it was made with.
    pub fn classpath(&self) -> String {
        let jars: Vec<_> = self.jars.iter().map(|jar| jar.to_string_lossy()).collect();
        jars.join(":")
    }

    /// The jar whose file name starts with `prefix`.
    pub(crate) fn jar(&self, prefix: &str) -> Option<&Path> {
        let named = |jar: &&PathBuf| jar.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix));
        self.jars.iter().find(named).map(PathBuf::as_path)
    }
}

/// Progress of [`ensure_distribution`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetched {
    /// Jars present and verified.
    pub files_done: usize,
    /// Jars in the lock list.
    pub files_total: usize,
    /// Bytes present, including those of downloads under way.
    pub bytes_done: u64,
    /// Bytes in the lock list.
    pub bytes_total: u64,
}

/// Why the jars could not be had.
#[derive(Debug, thiserror::Error)]
pub enum DistributionError {
    /// Not in [`versions`].
    #[error("Cassandra {version} is not known to this iopslab; the nearest it can fetch is {nearest} (all: {})", VERSIONS.join(", "))]
    UnknownVersion {
        /// As asked.
        version: String,
        /// The known version closest to it.
        nearest: &'static str,
    },
    /// The repository did not give the file.
    #[error(
        "cannot fetch {url}: {reason}. Check the network, or set {MIRROR_VARIABLE} to a Maven repository that this machine \
         can reach (now {repository})"
    )]
    Unreachable {
        /// What was asked for.
        url: String,
        /// The repository in use.
        repository: String,
        /// What went wrong.
        reason: String,
    },
    /// The file is not the one that the lock list means.
    #[error(
        "{url} has the wrong content and was removed: SHA-256 {actual}, expected {expected}. The mirror is damaged or not a \
         copy of Maven Central; try again or set {MIRROR_VARIABLE} to another one"
    )]
    WrongHash {
        /// Where it came from.
        url: String,
        /// What the lock list says.
        expected: String,
        /// What the file has.
        actual: String,
    },
    /// No space left.
    #[error("no space left for {} ({needed_bytes} bytes): free some, or put the cache elsewhere", path.display())]
    DiskFull {
        /// The file being written.
        path: PathBuf,
        /// Its full size.
        needed_bytes: u64,
    },
    /// Any other trouble with the cache.
    #[error("cannot use the cache: {}: {source}", path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `cancelled` said so.
    #[error("fetching Cassandra was cancelled; what is complete stays in the cache")]
    Cancelled,
}

/// One line of a lock list.
#[derive(Debug, Clone, Copy)]
struct Locked {
    sha256: &'static str,
    size_bytes: u64,
    path: &'static str,
}

/// Make sure that all jars of `version` are in `cache`, verified; fetch what is missing.
///
/// The repository is [`DEFAULT_REPOSITORY`], or what the environment variable [`MIRROR_VARIABLE`] says.
pub fn ensure_distribution(
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<Distribution, DistributionError> {
    let mirror = std::env::var(MIRROR_VARIABLE)
        .ok()
        .filter(|mirror| !mirror.trim().is_empty());
    let repository = mirror
        .as_deref()
        .unwrap_or(DEFAULT_REPOSITORY)
        .trim()
        .trim_end_matches('/');
    ensure_distribution_from(repository, version, cache, on_progress, cancelled)
}

/// [`ensure_distribution`] from a given repository (`http(s)://...`, without a slash at its end).
pub fn ensure_distribution_from(
    repository: &str,
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<Distribution, DistributionError> {
    let locked = lock_list(version)?;
    let root = cache.join("cassandra");
    let mut verified = Verified::load(&root.join(format!("verified-{version}.txt")));
    let mut progress = Fetched {
        files_done: 0,
        files_total: locked.len(),
        bytes_done: 0,
        bytes_total: locked.iter().map(|jar| jar.size_bytes).sum(),
    };
    let mut missing = Vec::new();
    for jar in &locked {
        if cancelled() {
            return Err(DistributionError::Cancelled);
        }
        if verified.check(jar, &root.join(jar.path))? {
            progress.files_done += 1;
            progress.bytes_done += jar.size_bytes;
        } else {
            missing.push(*jar);
        }
    }
    if !missing.is_empty() {
        on_progress(progress);
        fetch_all(repository, &root, &missing, &mut progress, on_progress, cancelled)?;
        for jar in &missing {
            verified.note(jar, &root.join(jar.path))?;
        }
    }
    verified.store()?;
    Ok(Distribution {
        version: version.to_owned(),
        jars: locked.iter().map(|jar| root.join(jar.path)).collect(),
        cache: root,
        start_archive: None,
    })
}

fn lock_list(version: &str) -> Result<Vec<Locked>, DistributionError> {
    let Some((_, text)) = LOCKS.iter().find(|(known, _)| *known == version) else {
        let common = |known: &str| known.bytes().zip(version.bytes()).take_while(|(a, b)| a == b).count();
        // max_by_key takes the last of equals; reversed, that is the newest.
        let nearest = VERSIONS
            .iter()
            .rev()
            .max_by_key(|known| common(known))
            .copied()
            .unwrap_or_default();
        return Err(DistributionError::UnknownVersion {
            version: version.to_owned(),
            nearest,
        });
    };
    Ok(text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(parse_lock_line)
        .collect())
}

fn parse_lock_line(line: &'static str) -> Option<Locked> {
    let mut words = line.split_whitespace();
    Some(Locked {
        sha256: words.next()?,
        size_bytes: words.next()?.parse().ok()?,
        path: words.next()?,
    })
}

/// What a download thread tells the caller's thread.
enum News {
    Bytes(u64),
    /// Bytes of an attempt that failed: they do not count any more.
    Again(u64),
    Done,
    Failed(DistributionError),
}

fn fetch_all(
    repository: &str,
    root: &Path,
    missing: &[Locked],
    progress: &mut Fetched,
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<(), DistributionError> {
    let queue = Arc::new(Queue {
        repository: repository.to_owned(),
        root: root.to_owned(),
        missing: missing.to_vec(),
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
    });
    let agent = agent();
    let (sender, news) = mpsc::channel();
    // Not scoped threads: one that waits for a mirror that has gone silent must not hold up a cancellation.
    for _ in 0..DOWNLOAD_THREADS.min(missing.len()) {
        let (queue, agent, sender) = (queue.clone(), agent.clone(), sender.clone());
        std::thread::spawn(move || queue.work(&agent, &sender));
    }
    drop(sender);
    let mut failure = None;
    let mut give_up_at = None;
    loop {
        match news.recv_timeout(Duration::from_millis(100)) {
            Ok(News::Bytes(bytes)) => progress.bytes_done += bytes,
            Ok(News::Again(bytes)) => progress.bytes_done -= bytes,
            Ok(News::Done) => progress.files_done += 1,
            Ok(News::Failed(error)) => {
                failure.get_or_insert(error);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        if failure.is_none() && cancelled() {
            failure = Some(DistributionError::Cancelled);
        }
        if failure.is_some() {
            queue.stop.store(true, Ordering::Relaxed);
            if Instant::now() >= *give_up_at.get_or_insert_with(|| Instant::now() + STOP_GRACE) {
                break;
            }
        } else {
            on_progress(*progress);
        }
    }
    failure.map_or(Ok(()), Err)
}

/// What the download threads share.
struct Queue {
    repository: String,
    root: PathBuf,
    missing: Vec<Locked>,
    next: AtomicUsize,
    stop: AtomicBool,
}

impl Queue {
    /// Fetch one jar after another until none is left, one fails, or somebody says stop.
    fn work(&self, agent: &ureq::Agent, news: &mpsc::Sender<News>) {
        while !self.stop.load(Ordering::Relaxed) {
            let Some(jar) = self.missing.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let outcome = fetch(agent, &self.repository, &self.root, jar, &self.stop, news);
            let failed = outcome.is_err();
            // Nobody listens any more after a cancellation.
            let _ = news.send(outcome.map_or_else(News::Failed, |()| News::Done));
            if failed {
                return;
            }
        }
    }
}

/// The operating system's trust store (a company's own certificate authority works) and proxy variables.
fn agent() -> ureq::Agent {
    let tls = ureq::tls::TlsConfig::builder()
        .root_certs(ureq::tls::RootCerts::PlatformVerifier)
        .build();
    ureq::Agent::config_builder()
        .tls_config(tls)
        .timeout_connect(Some(Duration::from_secs(10)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        .timeout_recv_body(Some(Duration::from_secs(600)))
        .build()
        .into()
}

/// One jar: a few attempts to download, then the hash, then the final name.
fn fetch(
    agent: &ureq::Agent,
    repository: &str,
    root: &Path,
    jar: &Locked,
    stop: &AtomicBool,
    news: &mpsc::Sender<News>,
) -> Result<(), DistributionError> {
    let url = format!("{repository}/{}", jar.path);
    let target = root.join(jar.path);
    let directory = target.parent().unwrap_or(root);
    std::fs::create_dir_all(directory).map_err(|source| write_error(source, directory, jar))?;
    let aside = target.with_extension(format!("part-{}", std::process::id()));
    let mut attempt = 1;
    let actual = loop {
        match download(agent, &url, &aside, jar, stop, news) {
            Ok(hash) => break hash,
            Err(Trouble::Final(error)) => {
                let _ = std::fs::remove_file(&aside);
                return Err(error);
            }
            Err(Trouble::MayPass(reason)) if attempt == ATTEMPTS => {
                let _ = std::fs::remove_file(&aside);
                return Err(DistributionError::Unreachable {
                    url,
                    repository: repository.to_owned(),
                    reason,
                });
            }
            Err(Trouble::MayPass(reason)) => tracing::debug!(url, attempt, reason, "will try again"),
        }
        std::thread::sleep(Duration::from_millis(300) * attempt);
        attempt += 1;
    };
    if actual != jar.sha256 {
        let _ = std::fs::remove_file(&aside);
        return Err(DistributionError::WrongHash {
            url,
            expected: jar.sha256.to_owned(),
            actual,
        });
    }
    std::fs::rename(&aside, &target).map_err(|source| write_error(source, &target, jar))
}

enum Trouble {
    MayPass(String),
    Final(DistributionError),
}

/// Download to `aside`; gives the SHA-256 of what arrived.
fn download(
    agent: &ureq::Agent,
    url: &str,
    aside: &Path,
    jar: &Locked,
    stop: &AtomicBool,
    news: &mpsc::Sender<News>,
) -> Result<String, Trouble> {
    let mut response = agent
        .get(url)
        .call()
        .map_err(|error| Trouble::MayPass(error.to_string()))?;
    let mut body = response.body_mut().as_reader();
    let write_failed = |source| Trouble::Final(write_error(source, aside, jar));
    let mut file = File::create(aside).map_err(write_failed)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut received = 0;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Trouble::Final(DistributionError::Cancelled));
        }
        let outcome = body.read(&mut buffer);
        let read = match outcome {
            // A longer file than the lock list means is wrong already: do not fill the disk with it.
            Ok(_) if received > jar.size_bytes => 0,
            Ok(read) => read,
            Err(error) => {
                let _ = news.send(News::Again(received));
                return Err(Trouble::MayPass(error.to_string()));
            }
        };
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        file.write_all(&buffer[..read]).map_err(write_failed)?;
        received += read as u64;
        let _ = news.send(News::Bytes(read as u64));
    }
    file.sync_all().map_err(write_failed)?;
    Ok(hex(&hasher.finalize()))
}

fn write_error(source: io::Error, path: &Path, jar: &Locked) -> DistributionError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DistributionError::DiskFull {
            path,
            needed_bytes: jar.size_bytes,
        },
        _ => DistributionError::Io { path, source },
    }
}

/// The cache's memory of what it has hashed.
struct Verified {
    path: PathBuf,
    lines: Vec<String>,
    changed: bool,
}

impl Verified {
    fn load(path: &Path) -> Self {
        // Unreadable means nothing verified: everything is hashed again.
        let lines = std::fs::read_to_string(path)
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect();
        Self {
            path: path.to_owned(),
            lines,
            changed: false,
        }
    }

    /// Whether the jar is there and is what the lock list says; a wrong one is removed so that it is fetched again.
    fn check(&mut self, jar: &Locked, path: &Path) -> Result<bool, DistributionError> {
        let failed = |source| DistributionError::Io {
            path: path.to_owned(),
            source,
        };
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(error)),
        };
        if self.lines.contains(&line(jar, &metadata)) {
            return Ok(true);
        }
        let good = metadata.len() == jar.size_bytes && hash_file(path).map_err(failed)? == jar.sha256;
        if good {
            self.note(jar, path)?;
        } else {
            tracing::warn!(file = %path.display(), "cached jar is not what the lock list says; it is fetched again");
            std::fs::remove_file(path).map_err(failed)?;
        }
        Ok(good)
    }

    fn note(&mut self, jar: &Locked, path: &Path) -> Result<(), DistributionError> {
        let metadata = std::fs::metadata(path).map_err(|source| DistributionError::Io {
            path: path.to_owned(),
            source,
        })?;
        self.lines.retain(|known| !known.ends_with(&format!(" {}", jar.path)));
        self.lines.push(line(jar, &metadata));
        self.changed = true;
        Ok(())
    }

    fn store(&self) -> Result<(), DistributionError> {
        if !self.changed {
            return Ok(());
        }
        let aside = self.path.with_extension(format!("part-{}", std::process::id()));
        std::fs::write(&aside, self.lines.join("\n") + "\n")
            .and_then(|()| std::fs::rename(&aside, &self.path))
            .map_err(|source| DistributionError::Io {
                path: self.path.clone(),
                source,
            })
    }
}

fn line(jar: &Locked, metadata: &std::fs::Metadata) -> String {
    format!(
        "{} {} {}.{:09} {}",
        jar.sha256,
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        jar.path
    )
}

fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_a_sound_lock_list() {
        assert_eq!(VERSIONS, LOCKS.iter().map(|(version, _)| *version).collect::<Vec<_>>());
        for (version, text) in LOCKS {
            let jars = lock_list(version).unwrap();
            assert_eq!(
                jars.len(),
                text.lines().filter(|line| !line.starts_with('#')).count(),
                "every line parses"
            );
            assert!(
                jars.iter()
                    .any(|jar| jar.path.ends_with(&format!("cassandra-all-{version}.jar")))
            );
            assert!(
                jars.iter()
                    .all(|jar| jar.sha256.len() == 64 && jar.size_bytes > 0 && !jar.path.contains(".."))
            );
        }
    }

    #[test]
    fn an_unknown_version_names_the_nearest() {
        let error = lock_list("5.0.99").unwrap_err().to_string();
        assert!(
            error.contains("5.0.99") && error.contains("nearest it can fetch is 5.0.9"),
            "{error}"
        );
    }
}
