//! What one controller carries: `make bench-scale`.
//!
//! `iopslab run --provider hosts` as it is released, on an `ssh` that starts its command here instead of elsewhere, and
//! hosts whose agents play a simulated trial in real time (`streaming_agent`). The controller says how late each sample
//! was when it was handled (`IOPSLAB_LOG=iopslab=info`); its CPU time and memory are the kernel's (/proc), and what the
//! agents sent is counted by them. The table goes to stdout.
//!
//! `HOSTS="4 15 30 60"` hosts at one sample a second; `RATES="10 100"` samples a second of the most hosts;
//! `SECONDS_EACH` of measurement.

#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Clients of a run with so many hosts.
const fn clients_of(hosts: u32) -> u32 {
    if hosts < 20 { 1 } else { 3 }
}

/// How often the kernel is asked.
const PERIOD: Duration = Duration::from_millis(200);

const SSH: &str = "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n";

fn main() -> Result<()> {
    let numbers = |name: &str, default: &str| -> Result<Vec<u32>> {
        let text = std::env::var(name).unwrap_or_else(|_| default.to_owned());
        Ok(text.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?)
    };
    let hosts = numbers("HOSTS", "4 15 30 60")?;
    let rates = numbers("RATES", "10 100")?;
    let seconds = numbers("SECONDS_EACH", "60")?.first().copied().unwrap_or(60);
    let programs = std::env::current_exe()?;
    let examples = programs.parent().ok_or("this program is nowhere")?;
    let iopslab = std::env::var_os("IOPSLAB").map_or_else(|| examples.join("../iopslab"), PathBuf::from);
    let bench = Bench {
        iopslab: fs::canonicalize(iopslab)?,
        agent: fs::canonicalize(examples.join("streaming_agent"))?,
        seconds,
    };
    println!(
        "| hosts | samples/s of each | events/s | KB/s | controller's CPU, ms/s | us a sample | lag of a sample p50 / \
         p99 / max, ms | memory at the end of the load, MB | most, MB | trial on disk, KB | stored in, s | report in, \
         s | machine's CPU used |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let most = hosts.iter().copied().max().unwrap_or(60);
    let rows = hosts.into_iter().map(|hosts| (hosts, 1));
    for (hosts, hz) in rows.chain(rates.into_iter().map(|hz| (most, hz))) {
        let row = bench.measure(hosts, hz)?;
        println!("{row}");
    }
    Ok(())
}

struct Bench {
    iopslab: PathBuf,
    agent: PathBuf,
    seconds: u32,
}

/// What the kernel says of a process.
#[derive(Clone, Copy, Default)]
struct Process {
    cpu_s: f64,
    rss_bytes: f64,
    peak_rss_bytes: f64,
}

impl Process {
    fn of(pid: u32) -> Option<Self> {
        // In nanoseconds, of the threads that there are: none ends while a load goes on.
        let mut cpu_s = 0.0;
        for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
            let schedstat = fs::read_to_string(thread.ok()?.path().join("schedstat")).unwrap_or_default();
            let ns = schedstat.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok());
            cpu_s += ns.unwrap_or_default() / 1e9;
        }
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
        };
        Some(Self { cpu_s, rss_bytes: bytes("VmRSS")?, peak_rss_bytes: bytes("VmHWM")? })
    }
}

/// Busy and idle seconds of this machine's CPUs so far.
fn machine() -> Option<(f64, f64)> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let fields = stat.lines().next()?.split_whitespace().skip(1);
    let ticks: Vec<f64> = fields.filter_map(|ticks| ticks.parse().ok()).collect();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((ticks.iter().take(8).sum::<f64>() - idle, idle))
}

/// The controller and its machine at a moment.
#[derive(Clone, Copy)]
struct Moment {
    at: Instant,
    process: Process,
    machine: (f64, f64),
}

/// A controller that is ended with this program.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It is gone already where all went well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Bench {
    fn measure(&self, hosts: u32, hz: u32) -> Result<String> {
        let directory = tempfile::tempdir()?;
        let root = directory.path();
        let experiment = self.prepare(root, hosts)?;
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(&self.iopslab);
        command
            .args(["run", "--provider", "hosts", "--out"])
            .arg(root.join("runs"))
            .arg(&experiment)
            .env("PATH", format!("{}:{path}", root.join("bin").display()))
            .env("HOME", root)
            .env("IOPSLAB_LOG", "iopslab=info")
            .env("NO_COLOR", "1")
            .env("IOPSLAB_SCALE_EXPERIMENT", &experiment)
            .env("IOPSLAB_SCALE_HZ", hz.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut controller = Running(command.spawn()?);
        let stderr = controller.0.stderr.take().ok_or("stderr was piped above")?;
        let (to, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(std::result::Result::ok) {
                if to.send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        let seen = Seen::of(&mut controller.0, &lines)?;
        seen.row(hosts, hz, &root.join("runs"))
    }

    /// The experiment, and the `ssh` that goes nowhere.
    fn prepare(&self, root: &Path, hosts: u32) -> Result<PathBuf> {
        let bin = root.join("bin");
        fs::create_dir(&bin)?;
        fs::write(bin.join("ssh"), SSH)?;
        fs::set_permissions(bin.join("ssh"), fs::Permissions::from_mode(0o755))?;
        let clients = clients_of(hosts);
        let nodes = hosts - clients;
        let databases: Vec<String> =
            (1..=nodes).map(|n| format!("{{ ssh = \"db{n}\", address = \"10.0.0.{n}\" }}")).collect();
        let senders: Vec<String> = (1..=clients).map(|n| format!("\"load{n}\"")).collect();
        let text = format!(
            "name = \"scale\"\n\
             [dataset]\nrecords = 20_000_000\n\
             [[configuration]]\nname = \"a\"\nnodes = {nodes}\n\
             instance = {{ vcpus = 4, memory_gib = 16 }}\n\
             data_volume = {{ iops = 3000, mib_per_s = 125, size_gib = 100 }}\n\
             [[workload]]\nname = \"w\"\nread = 0.5\nupdate = 0.5\n\
             [load]\nconcurrency = [64]\nclients = {clients}\nwarmup_s = 5\nduration_s = {}\nrepetitions = 1\n\
             [provider.simulated]\n\
             [provider.hosts]\nlimits = true\nbinary_{} = \"{}\"\nclient = [{}]\ndatabase = [{}]\n",
            self.seconds,
            std::env::consts::ARCH,
            self.agent.display(),
            senders.join(", "),
            databases.join(", "),
        );
        let experiment = root.join("scale.toml");
        fs::write(&experiment, text)?;
        Ok(experiment)
    }
}

/// What was seen of a controller from outside.
struct Seen {
    /// By the log line that marks it.
    load_began: Moment,
    load_ended: Moment,
    stored: Moment,
    ended: Moment,
    /// Figures of the log, `name=value`.
    log: String,
    events: f64,
    bytes: f64,
}

impl Seen {
    fn of(controller: &mut Child, lines: &Receiver<(Instant, String)>) -> Result<Self> {
        let pid = controller.id();
        let mut last = Process::default();
        let (mut began, mut ended, mut stored) = (None, None, None);
        let (mut log, mut reported) = (String::new(), Vec::new());
        let (mut events, mut bytes) = (0.0, 0.0);
        loop {
            // A process that is gone but not waited for has no memory any more.
            last = Process::of(pid).unwrap_or(last);
            let now =
                Moment { at: Instant::now(), process: last, machine: machine().ok_or("/proc/stat cannot be read")? };
            match lines.recv_timeout(PERIOD) {
                Ok((at, line)) => {
                    let process = Process::of(pid).unwrap_or(last);
                    let moment = Moment { at, process, ..now };
                    if line.contains("the load begins") {
                        began = Some(moment);
                    } else if line.contains("the load has ended") {
                        ended = Some(moment);
                        log = format!("{log} {line}");
                    } else if line.contains("the trial is stored") {
                        stored = Some(moment);
                        log = format!("{log} {line}");
                    } else if let Some((_, sent)) = line.split_once(": sent ") {
                        let mut words = sent.split(' ');
                        events += words.next().unwrap_or_default().parse::<f64>()?;
                        bytes += words.nth(2).unwrap_or_default().parse::<f64>()?;
                    }
                    reported.push(line);
                }
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    let status = controller.wait()?;
                    let whole = (began, ended, stored);
                    let (true, (Some(load_began), Some(load_ended), Some(stored))) = (status.success(), whole) else {
                        return Err(format!("the controller ended with {status}:\n{}", reported.join("\n")).into());
                    };
                    return Ok(Self { load_began, load_ended, stored, ended: now, log, events, bytes });
                }
            }
        }
    }

    fn figure(&self, name: &str) -> Result<f64> {
        let mut words = self.log.split_whitespace();
        let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        Ok(value.ok_or_else(|| format!("the log has no {name}: {}", self.log))?.parse()?)
    }

    fn row(&self, hosts: u32, hz: u32, runs: &Path) -> Result<String> {
        let seconds = (self.load_ended.at - self.load_began.at).as_secs_f64();
        let cpu_s = self.load_ended.process.cpu_s - self.load_began.process.cpu_s;
        let (busy, idle) = (
            self.load_ended.machine.0 - self.load_began.machine.0,
            self.load_ended.machine.1 - self.load_began.machine.1,
        );
        let samples = self.figure("samples")?;
        let mb = |bytes: f64| bytes / 1e6;
        Ok(format!(
            "| {hosts} | {hz} | {:.0} | {:.0} | {:.1} | {:.0} | {:.2} / {:.1} / {:.1} | {:.0} | {:.0} | {:.0} | {:.2} \
             | {:.1} | {:.0} % |",
            self.events / seconds,
            self.bytes / seconds / 1e3,
            cpu_s / seconds * 1e3,
            cpu_s / samples * 1e6,
            self.figure("lag_p50_ms")?,
            self.figure("lag_p99_ms")?,
            self.figure("lag_max_ms")?,
            mb(self.load_ended.process.rss_bytes),
            mb(self.ended.process.peak_rss_bytes),
            trial_bytes(runs)? / 1e3,
            self.figure("seconds")?,
            (self.ended.at - self.stored.at).as_secs_f64(),
            100.0 * busy / (busy + idle),
        ))
    }
}

/// Bytes of the files of all trials below a directory of runs.
fn trial_bytes(runs: &Path) -> Result<f64> {
    fn all(directory: &Path, in_trial: bool) -> std::io::Result<u64> {
        let mut bytes = 0;
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let in_trial = in_trial || entry.file_name() == "trials";
            if entry.file_type()?.is_dir() {
                bytes += all(&entry.path(), in_trial)?;
            } else if in_trial {
                bytes += File::open(entry.path())?.metadata()?.len();
            }
        }
        Ok(bytes)
    }
    Ok(all(runs, false)? as f64)
}
