//! A thread that moves the limits of one throttled volume: as its bucket empties, and between reads and writes. It is
//! the only one that does.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use experiment::{Burst, IoLimits};

use crate::burst::BurstBucket;
use crate::error::{Result, io_error};
use crate::split::{Done, SplitLimits};

/// How often the device's counters are read: a slice of the kernel's throttle. The bucket may be overdrawn by what a
/// volume bursts in this time: at 3,000 IOPS, 300 of 5.4 million credits.
const TICK: Duration = Duration::from_millis(100);
/// Bytes of a sector in a device's counters (Documentation/block/stat.rst).
const SECTOR_BYTES: f64 = 512.0;

/// What a volume may do, besides what the kernel can hold by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MovingLimits {
    /// Its limits.
    pub limits: IoLimits,
    /// Its bucket of requests, below `limits`.
    pub burst: Option<Burst>,
    /// Whether reads and writes share the limits; otherwise each has them for itself.
    pub is_combined: bool,
}

impl MovingLimits {
    /// Whether anything of them moves.
    pub fn move_at_all(&self) -> bool {
        self.burst.is_some() || self.is_combined
    }
}

/// A thread that watches one device and moves its limits. Dropping it stops the thread; the limits stay where they are.
#[derive(Debug)]
pub struct LimitController {
    moved: Arc<Mutex<Moved>>,
    /// What ended the thread early.
    lost: Arc<OnceLock<String>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<()>>>,
}

#[derive(Debug)]
struct Moved {
    limits: IoLimits,
    bucket: Option<BurstBucket>,
    split: Option<SplitLimits>,
}

impl Moved {
    fn new(of: &MovingLimits) -> Self {
        let mut moved = Self {
            limits: of.limits,
            bucket: of.burst.map(BurstBucket::new),
            split: None,
        };
        moved.split = of.is_combined.then(|| SplitLimits::new(&moved.together()));
        moved
    }

    /// What reads and writes may do together, or each of them.
    fn together(&self) -> IoLimits {
        let iops = self.bucket.as_ref().map(BurstBucket::limit_iops);
        self.limits.min(IoLimits::symmetric(iops, None))
    }

    /// What reads and writes may do apart.
    fn in_force(&self) -> IoLimits {
        self.split.as_ref().map_or_else(|| self.together(), SplitLimits::parts)
    }

    fn advance(&mut self, done: &Done, seconds: f64) {
        if let Some(bucket) = &mut self.bucket {
            bucket.advance((done.requests[0] + done.requests[1]) as u64, seconds);
        }
        let together = self.together();
        if let Some(split) = &mut self.split {
            split.advance(done, seconds, &together);
        }
    }
}

impl LimitController {
    /// Applies the starting limits by `set`, then calls it again whenever they move. `stat` is the device's counters,
    /// `/sys/block/loop3/stat`; `set` typically calls [`crate::Cgroup::set_device_limits`].
    ///
    /// All of the device's I/O is charged, including the kernel's own writeback, as the real volume would.
    pub fn start(
        stat: &Path,
        of: &MovingLimits,
        mut set: impl FnMut(&IoLimits) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let moved = Moved::new(of);
        let mut applied = moved.in_force();
        let mut seen = counters(stat)?;
        set(&applied)?;
        let moved = Arc::new(Mutex::new(moved));
        let (stop, stopped) = mpsc::channel();
        let (shared, stat) = (Arc::clone(&moved), PathBuf::from(stat));
        let mut last = Instant::now();
        let mut advance = move || -> Result<()> {
            let (now, total) = (Instant::now(), counters(&stat)?);
            let in_force = {
                let mut moved = lock(&shared);
                moved.advance(&since(&seen, &total), (now - last).as_secs_f64());
                moved.in_force()
            };
            (seen, last) = (total, now);
            if in_force != applied {
                set(&in_force)?;
                applied = in_force;
            }
            Ok(())
        };
        let lost = Arc::new(OnceLock::new());
        let reported = Arc::clone(&lost);
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                advance().inspect_err(|error| {
                    let _ = reported.set(error.to_string());
                })?;
            }
            Ok(())
        });
        Ok(Self {
            moved,
            lost,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Operations left in the bucket, if there is one.
    pub fn credits(&self) -> Option<f64> {
        lock(&self.moved).bucket.as_ref().map(BurstBucket::credits)
    }

    /// The IOPS limit of the bucket that applies now, if there is one.
    pub fn limit_iops(&self) -> Option<f64> {
        lock(&self.moved).bucket.as_ref().map(BurstBucket::limit_iops)
    }

    /// Why the limits do not move any more, although nobody has stopped it.
    pub fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    /// Stops watching.
    ///
    /// # Errors
    /// The failure that ended the thread early, if one did: from then on the limits did not move.
    pub fn stop(mut self) -> Result<()> {
        self.halt()
    }

    fn halt(&mut self) -> Result<()> {
        drop(self.stop.take());
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for LimitController {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A failure is for `stop` to report; a drop has nobody to tell.
            let _ = thread.join();
        }
    }
}

fn lock(moved: &Mutex<Moved>) -> MutexGuard<'_, Moved> {
    moved.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Completed reads, sectors read, completed writes, sectors written (fields 1, 3, 5, 7 of
/// Documentation/block/stat.rst).
pub(crate) fn counters(stat: &Path) -> Result<[u64; 4]> {
    let text = fs::read_to_string(stat).map_err(io_error("read the counters", stat))?;
    let fields: Vec<u64> = text
        .split_ascii_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    match fields.as_slice() {
        [reads, _, read, _, writes, _, written, ..] => Ok([*reads, *read, *writes, *written]),
        _ => Err(io_error("understand the counters", stat)(std::io::Error::from(
            std::io::ErrorKind::InvalidData,
        ))),
    }
}

fn since(before: &[u64; 4], now: &[u64; 4]) -> Done {
    let done = |field: usize| now[field].saturating_sub(before[field]) as f64;
    Done {
        requests: [done(0), done(2)],
        bytes: [done(1) * SECTOR_BYTES, done(3) * SECTOR_BYTES],
    }
}

#[cfg(test)]
mod tests;
