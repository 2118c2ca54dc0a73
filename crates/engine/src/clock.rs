//! Time: one monotonic clock in nanoseconds, a timer that hits a given nanosecond, and what this process has used.

use std::os::fd::OwnedFd;

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

const NANOSECONDS: u64 = 1_000_000_000;

/// Nanoseconds of `CLOCK_MONOTONIC`. Read through the vDSO: about 25 ns, no system call.
#[inline]
pub(crate) fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// CPU nanoseconds that this process has used, user and system, all threads.
pub(crate) fn process_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}

fn nanoseconds(t: Timespec) -> u64 {
    t.tv_sec as u64 * NANOSECONDS + t.tv_nsec as u64
}

/// Largest resident set of this process so far, bytes (`VmHWM`, see proc_pid_status(5)); 0 where /proc is not mounted.
pub(crate) fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// A timer with the kernel's high resolution (timerfd_create(2)), because tokio's own has 1 ms.
///
/// The thread sleeps in `epoll_wait` until the timer fires: no spinning, no CPU between two requests.
pub(crate) struct Alarm {
    timer: AsyncFd<OwnedFd>,
}

impl Alarm {
    /// A timer of the current runtime.
    #[expect(
        deprecated,
        reason = "the replacement is an unsafe fn that asks for what holds here: the timer owns its descriptor and is \
                  closed only when it is dropped"
    )]
    pub(crate) fn new() -> std::io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self { timer: AsyncFd::with_interest(timer, Interest::READABLE)? })
    }

    /// Waits until `due_ns` on the clock of [`now_ns`]; at once when that has passed.
    pub(crate) async fn until(&self, due_ns: u64) -> std::io::Result<()> {
        let when = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec {
                tv_sec: (due_ns / NANOSECONDS) as i64,
                // All zero would disarm the timer; the clock never reads 0 on a running machine, but be exact.
                tv_nsec: (due_ns % NANOSECONDS).max(u64::from(due_ns == 0)) as i64,
            },
        };
        timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::ABSTIME, &when)?;
        // The expiration count is not read: tokio polls edge-triggered and arming the timer anew resets the count, so
        // each expiration is one edge. That saves a system call per wake-up.
        self.timer.readable().await?.clear_ready();
        Ok(())
    }
}
