//! Watching a node of somebody else's: which process it is, on which devices its files are, and what it uses. Nothing
//! is started, stopped, limited or written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use evidence::VolumeFacts;
use experiment::{IoLimits, Setup, VolumeRole};
use monitor::{CgroupFiles, FoundProcess, GcLogPlace, Monitor, NotFound, OpenFile, Sources};
use wire::{Event, GivenByMachine, Observed, Reply, RequestError, Result, StartedTrial, WatchTask, WatchedFacts};

use super::outbox::Outbox;

/// The end of a data file's name (Cassandra since 1.0, DSE, ScyllaDB).
const DATA_FILE: &str = "-Data.db";
/// The beginning of a commit log's name, in all of them.
const LOG_FILE: &str = "CommitLog-";

/// A node that is watched.
pub(super) struct Watching {
    task: WatchTask,
    monitor: Option<Monitor>,
    /// Of an observation: its start, and the CPU seconds of this agent until then.
    began: Option<(Instant, Option<f64>)>,
}

/// What is seen of it now.
struct Seen {
    process: FoundProcess,
    /// Tells the process from a later one of the same number.
    started_ticks: u64,
    devices: BTreeMap<VolumeRole, String>,
    gc_log: Option<PathBuf>,
    /// What cannot be watched, and why.
    missing: Vec<String>,
}

impl Watching {
    /// Looks for the node.
    pub fn begin(task: WatchTask) -> Result<(Self, WatchedFacts)> {
        let seen = look(&task)?;
        let FoundProcess { pid, name, .. } = &seen.process;
        let devices = seen.devices.iter().map(|(role, device)| match role {
            VolumeRole::Commitlog => format!(", commit log on {device}"),
            role => format!(", {} on {device}", role.name()),
        });
        let facts = WatchedFacts {
            what: format!("process {pid} ({name}){}", devices.collect::<String>()),
            cpus: cpus(&seen.process),
            missing: seen.missing,
        };
        Ok((Self { task, monitor: None, began: None }, facts))
    }

    /// From now on samples are sent, and the end of the process is reported. The process is looked for anew: between
    /// trials its owner may have started another one.
    pub fn start_trial(&mut self, setup: &Setup, outbox: &Outbox) -> Result<Reply> {
        let began_unix_ms = jiff::Timestamp::now().as_millisecond();
        let seen = look(&self.task)?;
        let given = given(&seen.process)?;
        let stated = std::iter::once(&setup.data).chain(&setup.commitlog);
        let volumes = stated.filter_map(|volume| {
            Some(VolumeFacts {
                role: volume.role,
                label: volume.label.clone(),
                device: seen.devices.get(&volume.role)?.clone(),
                array: None,
                // Nothing is limited here; what is stated of the volume stands in the plan.
                limits: IoLimits::default(),
                probe: None,
                burst_credits: None,
                byte_credits: None,
                is_served: false,
                combined: None,
                initialised: None,
            })
        });
        let volumes = volumes.collect();
        self.monitor = Some(watch(&self.task.node.ssh, seen, outbox.clone()));
        Ok(Reply::Started(Box::new(StartedTrial {
            volumes,
            began_unix_ms,
            given: Some(given),
            // Nothing is known of its bytes on disk: a part of them may be in memory alone.
            ..StartedTrial::default()
        })))
    }

    /// From now on samples are sent, outside of any trial.
    pub fn observe(&mut self, outbox: &Outbox) -> Result<Reply> {
        let seen = look(&self.task)?;
        let given = given(&seen.process)?;
        self.began = Some((Instant::now(), own_cpu_s()));
        self.monitor = Some(watch(&self.task.node.ssh, seen, outbox.clone()));
        Ok(Reply::Observing(given))
    }

    /// No more samples, and what they cost.
    pub fn end_observation(&mut self) -> Reply {
        self.monitor = None;
        let (seconds, before) = match self.began.take() {
            Some((began, before)) => (began.elapsed().as_secs_f64(), before),
            None => (0.0, None),
        };
        let agent_cpu_s = own_cpu_s().zip(before).map(|(now, before)| now - before);
        Reply::Observed(Observed { agent_cpu_s, seconds })
    }

    /// No more samples.
    pub fn stop_trial(&mut self) -> Reply {
        self.monitor = None;
        Reply::Stopped(Box::default())
    }
}

/// What the machine gives to the process.
fn given(process: &FoundProcess) -> Result<GivenByMachine> {
    let memory_bytes = monitor::memory_bytes(Path::new("/"))
        .ok_or_else(|| RequestError::new("this machine does not say how much memory it has"))?;
    Ok(GivenByMachine { cpus: cpus(process), memory_bytes })
}

/// CPU seconds of this agent, all of its threads.
fn own_cpu_s() -> Option<f64> {
    monitor::process_cpu_s(Path::new("/"), std::process::id())
}

fn cpus(process: &FoundProcess) -> f64 {
    let of_machine = || process::machine::cpus() as f64;
    process.cpus().map_or_else(of_machine, f64::from)
}

/// Samples once a second; a process that is gone is reported once.
fn watch(machine: &str, seen: Seen, outbox: Outbox) -> Monitor {
    let (pid, started) = (seen.process.pid, seen.started_ticks);
    let how = format!("process {pid} ({}) on {machine} is gone", seen.process.name);
    let sources = Sources {
        root: PathBuf::from("/"),
        cgroup: CgroupFiles::default(),
        pid: Some(pid),
        is_database: true,
        devices: seen.devices,
        gc_log: seen.gc_log,
    };
    let mut is_gone = false;
    let sink = move |sample| {
        outbox.send(&Event::Sample(Box::new(sample)));
        if !is_gone && storage::start_time_ticks(pid) != Some(started) {
            is_gone = true;
            outbox.send(&Event::DatabaseDied { how: how.clone(), log_tail: Vec::new() });
        }
    };
    Monitor::start(sources, None, Box::new(sink))
}

/// Finds the process, and of what it uses as much as this user may see.
fn look(task: &WatchTask) -> Result<Seen> {
    let root = Path::new("/");
    let found = match &task.node.process {
        Some(words) => FoundProcess::called(root, words),
        None => FoundProcess::listening(root, &task.ports),
    };
    let process = found.map_err(|reason| not_found(task, reason))?;
    let started_ticks = storage::start_time_ticks(process.pid)
        .ok_or_else(|| RequestError::new(format!("{}: process {} has just ended", task.node.ssh, process.pid)))?;
    let mut missing = Vec::new();
    let mut devices = BTreeMap::new();
    let files = process.open_files();
    let data = device(task, "data", task.node.data.as_deref(), files.as_deref(), is_data)?;
    match data {
        Ok(device) => drop(devices.insert(VolumeRole::Data, device)),
        Err(why) => missing.push(format!("reads and writes of its data: {why}")),
    }
    if task.commitlog {
        let stated = task.node.commitlog.as_deref();
        match device(task, "commitlog", stated, files.as_deref(), is_log)? {
            Ok(device) if devices.get(&VolumeRole::Data) == Some(&device) => missing.push(format!(
                "its commit log apart from its data: both are on {device}, whatever commitlog_volume says"
            )),
            Ok(device) => drop(devices.insert(VolumeRole::Commitlog, device)),
            Err(why) => missing.push(format!("writes of its commit log: {why}")),
        }
    }
    let gc_log = match process.gc_log() {
        GcLogPlace::File(path) => match guarded::open_no_link(&path) {
            Ok(_) => Some(path),
            Err(error) => {
                missing.push(format!("pauses of its garbage collector: {}: {error}", path.display()));
                None
            }
        },
        GcLogPlace::Bare(path) => {
            let why = "has lines without level and tags (-Xlog)";
            missing.push(format!("pauses of its garbage collector: {} {why}", path.display()));
            None
        }
        GcLogPlace::Nowhere => {
            missing
                .push("pauses of its garbage collector: its command line names no log (-Xlog:gc*:file=...)".to_owned());
            None
        }
    };
    Ok(Seen { process, started_ticks, devices, gc_log, missing })
}

fn is_data(name: &str) -> bool {
    name.ends_with(DATA_FILE)
}

fn is_log(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| name.starts_with(LOG_FILE))
}

/// The device of a directory that is stated, else that of the files of its kind that are open; the inner error is why
/// it is not known. The outer one: what is stated is not there.
fn device(
    task: &WatchTask,
    key: &str,
    stated: Option<&str>,
    files: Option<&[OpenFile]>,
    is_of_kind: fn(&str) -> bool,
) -> Result<Result<String, String>> {
    let no_device =
        |path: &str| format!("{path} is on a file system without a device of its own (overlay, btrfs, network)");
    if let Some(directory) = stated {
        if !Path::new(directory).is_dir() {
            return Err(RequestError::new(format!("{}: {directory} is no directory there", task.node.ssh))
                .help(format!("state an existing directory as {key} of this node, or leave it out")));
        }
        return Ok(storage::device_of(Path::new(directory)).ok_or_else(|| no_device(directory)));
    }
    let Some(files) = files else {
        return Ok(Err(format!(
            "the user of this connection may not see what it has open; state `{key}`, or log in as its user or root"
        )));
    };
    let files: Vec<&OpenFile> = files.iter().filter(|file| is_of_kind(&file.name)).collect();
    let devices: BTreeSet<Option<String>> = files.iter().map(|file| storage::device_of(&file.path)).collect();
    let names: Vec<&str> = devices.iter().flatten().map(String::as_str).collect();
    Ok(match (files.first(), names.as_slice()) {
        (None, _) => Err(format!("it has no such file open; state `{key}`")),
        (Some(_), [device]) => Ok((*device).to_owned()),
        (Some(first), []) => Err(no_device(&first.name)),
        (Some(_), several) => {
            Err(format!("they are on several devices ({}); state the one that counts as `{key}`", several.join(", ")))
        }
    })
}

fn not_found(task: &WatchTask, reason: NotFound) -> RequestError {
    let ports: Vec<String> = task.ports.iter().map(u16::to_string).collect();
    let (what, help) = match (&task.node.process, reason) {
        (None, NotFound::None) => (
            format!("no process listens on port {}", ports.join(" or ")),
            "start the database; one in a container of its own network is found by process = \"CassandraDaemon\"",
        ),
        (None, NotFound::Hidden) => (
            format!("the user of this connection may not see which process listens on port {}", ports.join(" or ")),
            "log in as root or as the database's user, or state a part of its command line: process = \
             \"CassandraDaemon\"",
        ),
        (None, NotFound::Several(each)) => (
            format!("several processes listen on port {}: {}", ports.join(" or "), each.join(", ")),
            "state words of one command line: process = \"...\"",
        ),
        (Some(words), NotFound::Several(each)) => (
            format!("several processes have `{words}` in their command line: {}", each.join(", ")),
            "state more of the one that is meant",
        ),
        (Some(words), NotFound::None | NotFound::Hidden) => (
            format!("no process has `{words}` in its command line"),
            "start the database, or correct `process` of this node",
        ),
    };
    RequestError::new(format!("{}: {what}", task.node.ssh)).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(process: Option<&str>, data: Option<&str>) -> WatchTask {
        WatchTask {
            node: experiment::WatchedNode {
                host: 0,
                ssh: "cass1".to_owned(),
                data: data.map(str::to_owned),
                commitlog: None,
                process: process.map(str::to_owned),
            },
            // Nobody listens on the port of nothing.
            ports: vec![0],
            commitlog: false,
        }
    }

    #[test]
    fn what_is_not_there_is_refused_with_its_machine_and_what_to_do() {
        let refused = |process, data| {
            let Err(refusal) = look(&task(process, data)) else {
                panic!("{process:?} {data:?} was found");
            };
            (refusal.message, refusal.help.unwrap_or_default())
        };
        let (what, help) = refused(None, None);
        assert_eq!(what, "cass1: no process listens on port 0");
        assert!(help.contains("process ="), "{help}");
        let (what, _) = refused(Some("no such words 4711"), None);
        assert_eq!(what, "cass1: no process has `no such words 4711` in its command line");
    }

    #[test]
    fn a_process_that_is_found_is_watched_as_far_as_it_can_be_seen() {
        // A name that no other process has.
        let seconds = format!("{}.25", 3_000 + std::process::id() % 1_000);
        let mut sleeping = std::process::Command::new("sleep").arg(&seconds).spawn().unwrap();
        let words = format!("sleep {seconds}");
        // Its command line appears a moment after its process.
        let began = std::time::Instant::now();
        let seen = loop {
            match look(&task(Some(&words), None)) {
                Err(_) if began.elapsed().as_secs() < 60 => {}
                seen => break seen,
            }
        };
        let stated = look(&task(Some(&words), Some("/no/such/directory")));
        sleeping.kill().unwrap();
        sleeping.wait().unwrap();
        let seen = seen.map_err(|refusal| refusal.message).unwrap();
        assert_eq!((seen.process.pid, seen.process.name.as_str()), (sleeping.id(), "sleep"));
        assert!(seen.devices.is_empty() && seen.gc_log.is_none());
        assert_eq!(seen.missing.len(), 2, "{:?}", seen.missing);
        assert!(seen.missing[0].contains("it has no such file open; state `data`"), "{:?}", seen.missing);
        assert!(seen.missing[1].contains("its command line names no log"), "{:?}", seen.missing);
        let Err(refusal) = stated else { panic!("there is no such directory") };
        assert_eq!(refusal.message, "cass1: /no/such/directory is no directory there");
    }
}
