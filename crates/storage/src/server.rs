//! The process that serves volumes, and the files that it serves, as the ledger knows them.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use catalog::Latency;
use guarded::{if_there, is_stopped, start_time_ticks};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use served::{Counts, Hardening, Server};
use volume::{Model, VolumeFault};

use crate::command::run;
use crate::error::{Result, io_error};
use crate::ledger::{Ledger, LedgerId, LedgerItem};
use crate::mounts::{IfBusy, unmount_all};
use crate::process::{executable, settled_executable};

/// A volume server. Dropping it lets it go: it takes away all limits, and ends once nothing of it is mounted, or after
/// some seconds. Where its process has ended although it should not, the next volume that is attached gets another one.
#[derive(Debug)]
pub struct VolumeServer {
    argv: Vec<String>,
    running: Arc<Mutex<Option<Running>>>,
    hardening: Hardening,
    /// Seconds that an answer is on its way, once it was measured.
    on_the_way_s: OnceLock<f64>,
    ledger: Arc<Ledger>,
}

/// Its process.
#[derive(Debug)]
struct Running {
    server: Server,
    start_time_ticks: u64,
    executable: PathBuf,
    entry: LedgerId,
}

impl Running {
    fn start(ledger: &Ledger, argv: &[String]) -> Result<Self> {
        let server = Server::start(argv)?;
        let pid = server.pid();
        // One that has ended at once is found out by the first order.
        let start_time_ticks = start_time_ticks(pid).unwrap_or_default();
        let executable = settled_executable(pid).unwrap_or_default();
        let entry = ledger.intend(LedgerItem::Process {
            pid,
            start_time_ticks,
            executable: executable.clone(),
            what: "volume server".to_owned(),
        })?;
        Ok(Self { server, start_time_ticks, executable, entry })
    }
}

impl VolumeServer {
    /// Starts `argv`, which calls [`served::run`], with real-time priority where that is allowed: a server that waits
    /// for a CPU makes its volumes slower than they are.
    pub fn start(ledger: &Arc<Ledger>, argv: &[String]) -> Result<Self> {
        let (argv, refused) = prioritised(argv);
        let running = Running::start(ledger, &argv)?;
        let mut hardening = running.server.hardening().clone();
        hardening.missing.extend(refused);
        let running = Arc::new(Mutex::new(Some(running)));
        let watched = Arc::downgrade(&running);
        std::thread::spawn(move || watch(&watched));
        Ok(Self { argv, running, hardening, on_the_way_s: OnceLock::new(), ledger: Arc::clone(ledger) })
    }

    /// Has an image served as the file `at`; gives what the ledger has to know. Where the
    /// process has ended another one is started. What the one before served stays dead until it is attached anew.
    fn serve(&self, name: &str, image: &Path, at: &Path, model: &Model) -> Result<LedgerItem> {
        let mut running = self.running();
        let running = running.as_mut().expect("it is there until it is ended");
        if running.server.has_ended() {
            let mut next = Running::start(&self.ledger, &self.argv)?;
            if let Some(way_s) = self.on_the_way_s() {
                next.server.take_off(way_s)?;
            }
            self.ledger.done(running.entry)?;
            *running = next;
        }
        let connection = running.server.serve(name, image, at, model)?;
        Ok(LedgerItem::ServedFile {
            connection,
            pid: running.server.pid(),
            start_time_ticks: running.start_time_ticks,
            executable: running.executable.clone(),
        })
    }

    /// Seconds by which an answer arrives later than it is due, for the way from the server to whoever asked; it is
    /// taken off the time of service. `None` until the first volume was attached.
    pub fn on_the_way_s(&self) -> Option<f64> {
        self.on_the_way_s.get().copied()
    }

    /// Measures that once, by reads of a volume of this name at `device`, which nobody else uses yet. `model` is what
    /// the volume is afterwards.
    pub(crate) fn measure_the_way(&self, name: &str, device: &Path, model: &Model) -> Result<()> {
        if self.on_the_way_s.get().is_some() {
            return Ok(());
        }
        let certain = Latency { median_us: CERTAIN_S * 1e6, sigma: 0.0 };
        let steady = Model { latency: Some(certain), ..Model::unlimited() };
        self.change(name, &steady)?;
        let taken_s = undisturbed_read_s(device)?;
        self.change(name, model)?;
        let way_s = (taken_s - CERTAIN_S).clamp(0.0, WAY_MAX_S);
        self.with(|server| server.take_off(way_s))?;
        let _ = self.on_the_way_s.set(way_s);
        Ok(())
    }

    /// Its process; `None` once it was let go.
    pub fn pid(&self) -> Option<u32> {
        self.running().as_ref().map(|running| running.server.pid())
    }

    /// Whether its process has ended although it should not, within a moment: its error may arrive
    /// before its end is seen.
    pub fn is_lost(&self) -> bool {
        let until = Instant::now() + END_SEEN;
        loop {
            if self.running().as_mut().is_some_and(|running| running.server.has_ended()) {
                return true;
            }
            if Instant::now() > until {
                return false;
            }
            std::thread::sleep(END_SEEN / 20);
        }
    }

    /// How far it could protect itself from the load that it serves.
    pub fn hardening(&self) -> &Hardening {
        &self.hardening
    }

    /// Its threads run on these CPUs from now on. One that is lost needs no place.
    fn run_on(&self, cpus: &CpuSet) -> Result<()> {
        let mut running = self.running();
        let Some(running) = running.as_mut() else { return Ok(()) };
        if running.server.has_ended() {
            return Ok(());
        }
        let threads = PathBuf::from(format!("/proc/{}/task", running.server.pid()));
        for thread in fs::read_dir(&threads).map_err(io_error("read", &threads))?.flatten() {
            let number = thread.file_name().to_string_lossy().parse().ok();
            let Some(number) = number.and_then(Pid::from_raw) else { continue };
            match sched_setaffinity(Some(number), cpus) {
                Ok(()) | Err(Errno::SRCH) => {}
                Err(error) => return Err(io_error("place", &thread.path())(error)),
            }
        }
        Ok(())
    }

    pub(crate) fn change(&self, name: &str, model: &Model) -> Result<()> {
        self.with(|server| server.change(name, model))
    }

    pub(crate) fn count(&self, name: &str) -> Result<Counts> {
        self.with(|server| server.count(name))
    }

    /// A volume has these faults from now on instead of those before, their times counted from now. Errors: when no
    /// volume of this name is served.
    pub fn set_faults_of(&self, name: &str, faults: &[VolumeFault]) -> Result<()> {
        self.with(|server| server.set_faults(name, faults))
    }

    /// Lets it go, as if this process had died: it takes away all limits and faults, and ends once nothing of it is
    /// mounted, or after some seconds. Nothing can be asked of it any more.
    pub fn let_go(&self) {
        drop(self.running().take());
    }

    /// Ends it; nothing of it is mounted any more. Errors: when it had to be killed.
    pub fn end(self) -> Result<()> {
        let Some(running) = self.running().take() else { return Ok(()) };
        running.server.end()?;
        self.ledger.done(running.entry)
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        locked(&self.running)
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Server) -> served::Result<T>) -> Result<T> {
        let mut running = self.running();
        let running = running.as_mut().expect("it is there until it is ended");
        Ok(ask(&mut running.server)?)
    }
}

fn locked(running: &Mutex<Option<Running>>) -> MutexGuard<'_, Option<Running>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often a server is asked whether it is there.
const LOOK: Duration = Duration::from_secs(5);

/// A server that stands still is found out, also while whoever would ask it waits for one of its volumes. Ends with the
/// handle, or when that has let the server go.
fn watch(running: &Weak<Mutex<Option<Running>>>) {
    loop {
        std::thread::sleep(LOOK);
        let Some(running) = running.upgrade() else { return };
        let mut guard = locked(&running);
        let Some(running) = guard.as_mut() else { return };
        if !running.server.has_ended() {
            // The next order reports it.
            let _ = running.server.is_there();
        }
    }
}

/// Within this the end of a process is seen that has given its last error.
const END_SEEN: Duration = Duration::from_secs(1);
/// Service time while the way is measured: more than the host's disk needs for one read.
const CERTAIN_S: f64 = 0.002;
/// What is longer is not the way but a busy machine, and must not make a volume faster: with 300 us, measured while two
/// others compiled, a volume of 600 us took 430.
const WAY_MAX_S: f64 = 0.000_1;
/// So many reads are made, and one tenth of them are faster than what counts: others that use the machine make reads
/// slower, never faster.
const READS: usize = 101;

/// How long a direct read of 4 KiB takes where nothing disturbs it, seconds.
fn undisturbed_read_s(device: &Path) -> Result<f64> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::DIRECT.bits() as i32)
        .open(device)
        .map_err(io_error("open", device))?;
    let mut memory = vec![0; 8192];
    let start = memory.as_ptr().align_offset(4096);
    let block = &mut memory[start..start + 4096];
    let mut times = Vec::with_capacity(READS);
    for _ in 0..READS {
        let began = Instant::now();
        file.read_exact_at(block, 0).map_err(io_error("read", device))?;
        times.push(began.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[READS / 10])
}

/// One served volume, to be asked what it did.
#[derive(Debug, Clone)]
pub struct ServedGauge {
    pub(crate) server: Arc<VolumeServer>,
    pub(crate) name: String,
}

impl ServedGauge {
    /// The process that answers for it, and for all volumes of this host, runs on these CPUs from now on.
    pub fn run_on(&self, cpus: &CpuSet) -> Result<()> {
        self.server.run_on(cpus)
    }

    /// These volumes, which one process serves, share what their instance lets through to all of them, until one of
    /// them is to behave otherwise. Errors: when one of them is not attached, or the server is lost.
    pub fn share(volumes: &[Self], instance: &Model) -> Result<()> {
        let names: Vec<String> = volumes.iter().map(|volume| volume.name.clone()).collect();
        match volumes.first() {
            Some(first) => first.server.with(|server| server.share(&names, instance)),
            None => Ok(()),
        }
    }

    /// What it did since it was attached. Errors: when it is not attached, or the server is lost.
    pub fn counts(&self) -> Result<Counts> {
        self.server.count(&self.name)
    }

    /// The same, and what it counts of itself since then, as EBS's volumes do: the bytes of their log page. Errors:
    /// when it is not attached, or the server is lost.
    pub fn sample(&self) -> Result<(Counts, Vec<u8>)> {
        self.server.with(|server| server.sample(&self.name))
    }
}

/// The command with the lowest real-time priority before it, or why that is not allowed.
fn prioritised(argv: &[String]) -> (Vec<String>, Option<String>) {
    let Some(chrt) = guarded::program("chrt") else {
        let why = "it has no real-time priority: chrt is not installed (package util-linux)";
        return (argv.to_vec(), Some(why.to_owned()));
    };
    let with = |command: &[String]| {
        let first = [chrt.display().to_string(), "--fifo".to_owned(), "1".to_owned()];
        first.into_iter().chain(command.iter().cloned()).collect::<Vec<_>>()
    };
    match run(&with(&["true".to_owned()]), Duration::from_secs(5)) {
        Ok(_) => (with(argv), None),
        Err(error) => (argv.to_vec(), Some(format!("it has no real-time priority: {error}"))),
    }
}

/// A file that is served for an image: `NAME.served` beside it, its own mount point.
#[derive(Debug)]
pub(crate) struct ServedFile {
    ledger: Arc<Ledger>,
    path: PathBuf,
    file: LedgerId,
    mount: Option<LedgerId>,
    connection: Option<LedgerId>,
}

impl ServedFile {
    /// Makes the empty file.
    pub fn prepare(ledger: &Arc<Ledger>, image: &Path) -> Result<Self> {
        let path = image.with_extension("served");
        let file = ledger.intend(LedgerItem::File { path: path.clone() })?;
        let made = guarded::write_anew(&path, 0o600);
        made.map_err(io_error("create the mount point", &path))?;
        Ok(Self { ledger: Arc::clone(ledger), path, file, mount: None, connection: None })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Has it served.
    pub fn mount(&mut self, server: &VolumeServer, name: &str, image: &Path, model: &Model) -> Result<()> {
        let path = self.path.clone();
        self.mount = Some(self.ledger.intend(LedgerItem::Mount { path })?);
        let connection = server.serve(name, image, &self.path, model)?;
        self.connection = Some(self.ledger.intend(connection)?);
        Ok(())
    }

    /// Takes it away; what is done already is success.
    pub fn unmount(&mut self, if_busy: IfBusy) -> Result<()> {
        unmount_all(&self.path, if_busy)?;
        for entry in [self.connection.take(), self.mount.take()].into_iter().flatten() {
            self.ledger.done(entry)?;
        }
        if_there(fs::remove_file(&self.path)).map_err(io_error("delete the mount point", &self.path))?;
        self.ledger.done(self.file)
    }
}

/// Ends a connection whose server stands still: everybody who waits for it gets an error, as if the volume had died.
/// Its number cannot be that of somebody else's as long as the server is there.
pub(crate) fn abort_if_stopped(connection: u32, pid: u32, start_time_ticks: u64, program: &Path) {
    if is_stopped(pid, start_time_ticks) && executable(pid).as_deref() == Some(program) {
        // Without the control file system the process is killed in its turn, which ends the connection as well.
        let _ = fs::write(format!("/sys/fs/fuse/connections/{connection}/abort"), "1");
        crate::process::kill_now(pid);
    }
}
