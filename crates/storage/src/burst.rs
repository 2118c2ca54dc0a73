//! gp2-like burst credits: a bucket of I/O operations, and a thread that moves a volume's limit as the bucket empties.
//!
//! The rule (EBS user guide, "General Purpose SSD volumes", gp2: "I/O credits and burst performance"): a volume earns
//! credits at its baseline rate (3 IOPS per GiB, at least 100), spends one per operation, holds at most 5.4 million
//! (enough for 3,000 IOPS during 30 minutes at no refill), and may run at 3,000 IOPS while it holds any. So a full
//! bucket of a 100 GiB volume lasts 5,400,000 / (3,000 - 300) = 2,000 s at full burst. Dividing rates and credits by
//! the same scale keeps that time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use spec::Burst;

use crate::error::{Result, io_error};

/// How often the device's counters are read. The bucket may be overdrawn by what a volume bursts in this time: at
/// 3,000 IOPS, 600 of 5.4 million credits.
const TICK: Duration = Duration::from_millis(200);

/// Seconds of full burst that must be saved up before an empty bucket allows bursting again. The real service hands
/// out credits one by one; without this pause the limit would flap at every tick while a saturated volume earns and
/// spends the same trickle. The operations allowed are the same.
const RESUME_SECONDS: f64 = 1.0;

/// The bucket's arithmetic, without a clock: fed with operations and elapsed time.
#[derive(Debug, Clone, PartialEq)]
pub struct BurstBucket {
    burst: Burst,
    credits: f64,
    bursting: bool,
}

impl BurstBucket {
    /// A bucket with its starting credits.
    pub fn new(burst: Burst) -> Self {
        let credits = burst.credits_start.clamp(0.0, burst.credits_max.max(0.0));
        Self {
            burst,
            credits,
            bursting: credits > 0.0,
        }
    }

    /// Accounts for `operations` done during the last `seconds`; returns the IOPS limit to apply from now on.
    pub fn advance(&mut self, operations: u64, seconds: f64) -> f64 {
        let Burst {
            baseline_iops,
            burst_iops,
            credits_max,
            ..
        } = self.burst;
        self.credits = (self.credits + baseline_iops * seconds - operations as f64).clamp(0.0, credits_max.max(0.0));
        let resume_at = ((burst_iops - baseline_iops) * RESUME_SECONDS).min(credits_max);
        self.bursting = if self.bursting {
            self.credits > 0.0
        } else {
            self.credits > 0.0 && self.credits >= resume_at
        };
        self.limit_iops()
    }

    /// The IOPS limit that applies now.
    pub fn limit_iops(&self) -> f64 {
        // A volume whose baseline exceeds the burst rate (gp2 above 1,000 GiB) is never slowed down by its bucket.
        if self.bursting {
            self.burst.burst_iops.max(self.burst.baseline_iops)
        } else {
            self.burst.baseline_iops
        }
    }

    /// Operations left in the bucket.
    pub fn credits(&self) -> f64 {
        self.credits
    }
}

/// A thread that watches one device and moves its limit. Dropping it stops the thread; the limit stays where it is.
#[derive(Debug)]
pub struct BurstController {
    bucket: Arc<Mutex<BurstBucket>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl BurstController {
    /// Applies the starting limit by `set_iops`, then calls it again whenever the regime changes. `stat` is the
    /// device's counters, `/sys/block/loop3/stat`; `set_iops` typically takes the smaller of its argument and the
    /// instance's cap and calls [`crate::Cgroup::set_device_limits`].
    ///
    /// All of the device's I/O is charged, including the kernel's own writeback, as the real volume would.
    pub fn start(
        stat: &Path,
        burst: Burst,
        mut set_iops: impl FnMut(f64) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let bucket = BurstBucket::new(burst);
        let mut applied = bucket.limit_iops();
        let mut seen = operations(stat)?;
        set_iops(applied)?;
        let bucket = Arc::new(Mutex::new(bucket));
        let (stop, stopped) = mpsc::channel();
        let (shared, stat) = (Arc::clone(&bucket), PathBuf::from(stat));
        let thread = thread::spawn(move || {
            let mut last = Instant::now();
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let (now, total) = (Instant::now(), operations(&stat)?);
                let done = total.saturating_sub(seen);
                let limit = lock(&shared).advance(done, (now - last).as_secs_f64());
                (seen, last) = (total, now);
                if limit != applied {
                    set_iops(limit)?;
                    applied = limit;
                }
            }
            Ok(())
        });
        Ok(Self {
            bucket,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Operations left in the bucket.
    pub fn credits(&self) -> f64 {
        lock(&self.bucket).credits()
    }

    /// The IOPS limit that applies now.
    pub fn limit_iops(&self) -> f64 {
        lock(&self.bucket).limit_iops()
    }

    /// Stops watching.
    ///
    /// # Errors
    /// The failure that ended the thread early, if one did: from then on the limit did not move.
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

impl Drop for BurstController {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A failure is for `stop` to report; a drop has nobody to tell.
            let _ = thread.join();
        }
    }
}

fn lock(bucket: &Mutex<BurstBucket>) -> std::sync::MutexGuard<'_, BurstBucket> {
    bucket.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Completed reads plus writes (fields 1 and 5 of Documentation/block/stat.rst).
fn operations(stat: &Path) -> Result<u64> {
    let text = fs::read_to_string(stat).map_err(io_error("read the counters", stat))?;
    let fields: Vec<u64> = text
        .split_ascii_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    match (fields.first(), fields.get(4)) {
        (Some(reads), Some(writes)) => Ok(reads + writes),
        _ => Err(io_error("understand the counters", stat)(std::io::Error::from(
            std::io::ErrorKind::InvalidData,
        ))),
    }
}

#[cfg(test)]
mod tests;
