//! The host's disk: threads that read and write images directly, from the arrival of a request on.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::{Errno as SystemErrno, pread, pwrite};

use crate::block::Block;
use crate::error::{Result, io_error};
use crate::fuse::Errno;

/// How many requests the host's disk gets at a time.
const THREADS: usize = 16;

/// An image: directly, and by the page cache for what a device refuses to do directly.
#[derive(Debug)]
pub(crate) struct Image {
    direct: File,
    buffered: File,
    pub bytes: u64,
}

impl Image {
    pub fn open(path: &Path) -> Result<Self> {
        let open = |flags: OFlags| {
            OpenOptions::new()
                .read(true)
                .write(true)
                .custom_flags(flags.bits() as i32)
                .open(path)
                .map_err(io_error("open the image", path))
        };
        let buffered = open(OFlags::empty())?;
        let bytes = buffered.metadata().map_err(io_error("examine", path))?.len();
        Ok(Self { direct: open(OFlags::DIRECT)?, buffered, bytes })
    }

    fn read(&self, into: &mut [u8], offset: u64) -> rustix::io::Result<()> {
        self.all(into.len(), |file, done| pread(file, &mut into[done..], offset + done as u64))
    }

    fn write(&self, from: &[u8], offset: u64) -> rustix::io::Result<()> {
        self.all(from.len(), |file, done| pwrite(file, &from[done..], offset + done as u64))
    }

    /// So many bytes, however many calls of `act` that takes, which gets what is done already.
    fn all(
        &self,
        length: usize,
        mut act: impl FnMut(&File, usize) -> rustix::io::Result<usize>,
    ) -> rustix::io::Result<()> {
        let mut done = 0;
        while done < length {
            let moved = match act(&self.direct, done) {
                Err(SystemErrno::INVAL) => act(&self.buffered, done),
                other => other,
            };
            match moved {
                Ok(0) => return Err(SystemErrno::IO),
                Ok(bytes) => done += bytes,
                Err(SystemErrno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn punch(&self, offset: u64, length: u64) -> rustix::io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&self.buffered, flags, offset, length)
    }
}

/// What is done with an image.
#[derive(Debug)]
pub(crate) enum Work {
    Read {
        block: Block,
        offset: u64,
    },
    /// The bytes from `from` on.
    Write {
        block: Block,
        from: usize,
        offset: u64,
    },
    Punch {
        offset: u64,
        length: u64,
    },
    Sync,
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct Finished {
    pub error: Option<Errno>,
    pub block: Option<Block>,
}

#[derive(Debug)]
enum State {
    Working,
    /// Its answer is due.
    Awaited,
    Finished(Finished),
    Taken,
}

/// Where a job's end is looked for.
#[derive(Debug)]
pub(crate) struct Slot {
    tag: u64,
    state: Mutex<State>,
}

impl Slot {
    /// The result if there is one; if not, its tag comes from [`Workers::late`] when there is.
    pub fn take_or_await(&self) -> Option<Finished> {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, State::Taken) {
            State::Finished(finished) => Some(finished),
            _ => {
                *state = State::Awaited;
                None
            }
        }
    }
}

struct Job {
    image: Arc<Image>,
    work: Work,
    slot: Arc<Slot>,
}

struct Shared {
    jobs: Mutex<VecDeque<Job>>,
    there_is_one: Condvar,
    /// Jobs that ended after their answers were due.
    late: Mutex<Vec<u64>>,
    bell: OwnedFd,
}

/// The threads. They end with the process.
pub(crate) struct Workers {
    shared: Arc<Shared>,
}

impl Workers {
    pub fn start() -> Result<Self> {
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)
            .map_err(io_error("create", Path::new("eventfd")))?;
        let shared =
            Arc::new(Shared { jobs: Mutex::default(), there_is_one: Condvar::new(), late: Mutex::default(), bell });
        for number in 0..THREADS {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new()
                .name(format!("disk-{number}"))
                .stack_size(128 << 10)
                .spawn(move || work(&shared))
                .map_err(io_error("start", Path::new("a thread")))?;
        }
        Ok(Self { shared })
    }

    /// Begins it.
    pub fn begin(&self, tag: u64, image: &Arc<Image>, work: Work) -> Arc<Slot> {
        let state = Mutex::new(State::Working);
        let slot = Arc::new(Slot { tag, state });
        lock(&self.shared.jobs).push_back(Job { image: Arc::clone(image), work, slot: Arc::clone(&slot) });
        self.shared.there_is_one.notify_one();
        slot
    }

    /// Rings (becomes readable) when there is something [`Self::late`].
    pub fn bell(&self) -> &OwnedFd {
        &self.shared.bell
    }

    /// Tags of jobs that ended after their answers were due; each once.
    pub fn late(&self) -> Vec<u64> {
        let mut count = [0; 8];
        // Nothing rang: then there is nothing late either.
        let _ = rustix::io::read(&self.shared.bell, &mut count);
        std::mem::take(&mut *lock(&self.shared.late))
    }
}

fn work(shared: &Shared) {
    loop {
        let mut jobs = lock(&shared.jobs);
        let job = loop {
            match jobs.pop_front() {
                Some(job) => break job,
                None => jobs = shared.there_is_one.wait(jobs).unwrap_or_else(|poisoned| poisoned.into_inner()),
            }
        };
        drop(jobs);
        let finished = carry_out(&job.image, job.work);
        let mut state = lock(&job.slot.state);
        let is_awaited = matches!(*state, State::Awaited);
        *state = State::Finished(finished);
        drop(state);
        if is_awaited {
            lock(&shared.late).push(job.slot.tag);
            // A full counter has rung, too.
            let _ = rustix::io::write(&shared.bell, &1_u64.to_ne_bytes());
        }
    }
}

fn carry_out(image: &Image, work: Work) -> Finished {
    let (result, block) = match work {
        Work::Read { mut block, offset } => (image.read(block.bytes_mut(), offset), Some(block)),
        Work::Write { block, from, offset } => (image.write(&block.bytes()[from..], offset), Some(block)),
        Work::Punch { offset, length } => (image.punch(offset, length), None),
        Work::Sync => (image.buffered.sync_data().map_err(|_| SystemErrno::IO), None),
    };
    Finished { error: result.err().map(|error| Errno(error.raw_os_error())), block }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
