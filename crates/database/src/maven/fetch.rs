//! Downloading jars: four at a time, each written aside, hashed on the way, renamed when it is right.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use sha2::{Digest, Sha256};

use super::error::DistributionError;
use super::locked::Locked;

/// Downloads at a time; more gains nothing against one repository.
const DOWNLOAD_THREADS: usize = 4;
/// After a failure or a cancellation, how long to wait for the other downloads to clean up after themselves.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// Attempts per jar where the failure may pass.
const ATTEMPTS: u32 = 3;

/// Progress of fetching.
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

/// What a download thread sends to the caller's.
enum DownloadEvent {
    Bytes(u64),
    /// Bytes of an attempt that failed: they do not count any more.
    Again(u64),
    Done,
    Failed(DistributionError),
}

/// Fetch all of `missing` below `root`.
pub(crate) fn fetch_all(
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
            Ok(DownloadEvent::Bytes(bytes)) => progress.bytes_done += bytes,
            Ok(DownloadEvent::Again(bytes)) => progress.bytes_done -= bytes,
            Ok(DownloadEvent::Done) => progress.files_done += 1,
            Ok(DownloadEvent::Failed(error)) => {
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
    fn work(&self, agent: &ureq::Agent, news: &mpsc::Sender<DownloadEvent>) {
        while !self.stop.load(Ordering::Relaxed) {
            let Some(jar) = self.missing.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return };
            let outcome = fetch(agent, &self.repository, &self.root, jar, &self.stop, news);
            let failed = outcome.is_err();
            // Nobody listens any more after a cancellation.
            let _ = news.send(outcome.map_or_else(DownloadEvent::Failed, |()| DownloadEvent::Done));
            if failed {
                return;
            }
        }
    }
}

/// The operating system's trust store (a company's own certificate authority works) and proxy variables.
pub(super) fn agent() -> ureq::Agent {
    let tls = ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build();
    ureq::Agent::config_builder()
        .tls_config(tls)
        .timeout_connect(Some(Duration::from_secs(10)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        .timeout_recv_body(Some(Duration::from_secs(600)))
        .build()
        .into()
}

/// A file of the repository whose hash nobody knows yet, of at most so many bytes.
pub(super) fn bytes(
    agent: &ureq::Agent,
    repository: &str,
    path: &str,
    most: u64,
) -> Result<Vec<u8>, DistributionError> {
    let url = format!("{repository}/{path}");
    let get = || agent.get(url.as_str()).call()?.body_mut().with_config().limit(most).read_to_vec();
    let mut attempt = 1;
    loop {
        let error = match get() {
            Ok(bytes) => return Ok(bytes),
            Err(error) => error,
        };
        if attempt == ATTEMPTS {
            let (reason, repository) = (error.to_string(), repository.to_owned());
            return Err(DistributionError::Unreachable { url: url.clone(), repository, reason });
        }
        tracing::debug!(url, attempt, %error, "will try again");
        std::thread::sleep(Duration::from_millis(300) * attempt);
        attempt += 1;
    }
}

/// One jar: a few attempts to download, then the hash, then the final name.
fn fetch(
    agent: &ureq::Agent,
    repository: &str,
    root: &Path,
    jar: &Locked,
    stop: &AtomicBool,
    news: &mpsc::Sender<DownloadEvent>,
) -> Result<(), DistributionError> {
    let url = format!("{repository}/{}", jar.path);
    let target = root.join(jar.path);
    let directory = target.parent().unwrap_or(root);
    std::fs::create_dir_all(directory).map_err(|source| write_error(source, directory, jar))?;
    let aside = guarded::aside(&target).map_err(|source| write_error(source, &target, jar))?;
    let mut attempt = 1;
    let actual = loop {
        match download(agent, &url, &aside, jar, stop, news) {
            Ok(hash) => break hash,
            Err(DownloadFailure::Final(error)) => {
                let _ = std::fs::remove_file(&aside);
                return Err(error);
            }
            Err(DownloadFailure::MayPass(reason)) if attempt == ATTEMPTS => {
                let _ = std::fs::remove_file(&aside);
                return Err(DistributionError::Unreachable { url, repository: repository.to_owned(), reason });
            }
            Err(DownloadFailure::MayPass(reason)) => tracing::debug!(url, attempt, reason, "will try again"),
        }
        std::thread::sleep(Duration::from_millis(300) * attempt);
        attempt += 1;
    };
    if actual != jar.sha256 {
        let _ = std::fs::remove_file(&aside);
        return Err(DistributionError::WrongHash { url, expected: jar.sha256.to_owned(), actual });
    }
    std::fs::rename(&aside, &target).map_err(|source| write_error(source, &target, jar))
}

enum DownloadFailure {
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
    news: &mpsc::Sender<DownloadEvent>,
) -> Result<String, DownloadFailure> {
    let mut response = agent.get(url).call().map_err(|error| DownloadFailure::MayPass(error.to_string()))?;
    let mut body = response.body_mut().as_reader();
    let write_failed = |source| DownloadFailure::Final(write_error(source, aside, jar));
    let mut file = guarded::write_anew(aside, 0o644).map_err(write_failed)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut received = 0;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(DownloadFailure::Final(DistributionError::Cancelled));
        }
        let outcome = body.read(&mut buffer);
        let read = match outcome {
            // A longer file than the lock list means is wrong already: do not fill the disk with it.
            Ok(_) if received > jar.size_bytes => 0,
            Ok(read) => read,
            Err(error) => {
                let _ = news.send(DownloadEvent::Again(received));
                return Err(DownloadFailure::MayPass(error.to_string()));
            }
        };
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        file.write_all(&buffer[..read]).map_err(write_failed)?;
        received += read as u64;
        let _ = news.send(DownloadEvent::Bytes(read as u64));
    }
    file.sync_all().map_err(write_failed)?;
    Ok(guarded::hex(&hasher.finalize()))
}

fn write_error(source: io::Error, path: &Path, jar: &Locked) -> DistributionError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            DistributionError::DiskFull { path, needed_bytes: jar.size_bytes }
        }
        _ => DistributionError::Io { path, source },
    }
}
