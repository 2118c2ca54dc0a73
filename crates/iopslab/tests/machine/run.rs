//! Stories of `iopslab run` against a real Cassandra on real (emulated) volumes: what a user gets, and what faults do.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::counts;
use crate::support::{Exits, Laboratory, conformance, databases, json, lane::Share, wait_for};

/// Two volumes, ten times apart in IOPS and both the limit before a CPU is, so that even a machine busy with other work
/// shows it; a page cache too small for the data.
const SMALL: &str = r#"
name = "small"
question = "Does the faster volume read faster?"

[target]
database = "cassandra"
version = "5.0.9"
consistency = "one"

[dataset]
records = 100_000
fields = 10
field_length = 100

[[configuration]]
name = "slow"
instance = { vcpus = 0.7, memory_gib = 16 }
data_volume = { iops = 40, mib_per_s = 100, size_gib = 2 }
commitlog_volume = { iops = 3000, mib_per_s = 100, size_gib = 2 }
memory_limit_gib = 8

[[configuration]]
name = "fast"
instance = { vcpus = 0.7, memory_gib = 16 }
data_volume = { iops = 400, mib_per_s = 200, size_gib = 2 }
commitlog_volume = { iops = 3000, mib_per_s = 100, size_gib = 2 }
memory_limit_gib = 8

[[workload]]
name = "reads"
read = 0.9
update = 0.1
distribution = "uniform"

[load]
concurrency = [16]
rest_max_s = 1
warmup_s = 4
duration_s = 5
repetitions = 1
seed = 7

[provider.local]
heap_mib = 512
page_cache_mib = 64
"#;

/// [`SMALL`] with its fast configuration alone, without a volume for the commit log, for what is not about volumes
/// (each is probed for four seconds), and without rest, with little warm-up and at a low rate, for what is not about
/// figures.
fn fast_alone(repetitions: u32) -> String {
    let (slow, fast) = (SMALL.find("[[configuration]]"), SMALL.rfind("[[configuration]]"));
    let text = [&SMALL[..slow.unwrap()], &SMALL[fast.unwrap()..]].concat();
    let lines = text.lines().filter(|line| !line.starts_with("commitlog_volume"));
    let text = lines.map(|line| format!("{line}\n")).collect::<String>();
    text.replace("rest_max_s = 1\nwarmup_s = 4", "rest_max_s = 0\nwarmup_s = 1")
        .replace("concurrency = [16]", "rate = [100]")
        .replace("repetitions = 1", &format!("repetitions = {repetitions}"))
}

/// The same where what is begun is the question, not what it does then.
fn short(repetitions: u32) -> String {
    fast_alone(repetitions).replace("duration_s = 5", "duration_s = 2")
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
}

#[test]
fn a_run_measures_every_cell_and_leaves_evidence_but_nothing_on_the_machine() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("small.toml", SMALL);
    let output = lab.output(&["run", "small.toml", "--format", "json"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");

    let analysis: Value = serde_json::from_slice(&output.stdout).expect("stdout is the analysis, and nothing else");
    let cells = analysis["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    let throughput = |name: &str| {
        let cell = cells.iter().find(|c| c["configuration"] == name).unwrap();
        assert_eq!(cell["valid_trials"], 1, "{cell:#}\n{stderr}");
        assert!(cell["latency_us"]["read"]["p99"].as_f64().unwrap() > 0.0);
        cell["throughput_ops_per_s"]["median"].as_f64().unwrap()
    };
    // A small part of that advantage is asked for: what the CPU leaves of it on a noisy machine.
    assert!(throughput("fast") > 3.0 * throughput("slow"), "{} vs {}", throughput("fast"), throughput("slow"));

    let run = lab.run_directory();
    conformance::is_whole(&lab, &run, "local");
    counts::are_reported(cells.iter().find(|c| c["configuration"] == "fast").unwrap(), &run);
    // One process has served both, on volumes that turned from those of one configuration into those of the other; each
    // trial began with the data set as it was loaded, and was brought to rest.
    let records: Vec<Value> = lab.trials().iter().map(|(cell, block)| lab.record(cell, block)).collect();
    let of_each = |pointer: &str| -> BTreeSet<String> {
        let each = records.iter().map(|record| record.pointer(pointer).unwrap_or(&Value::Null));
        each.map(Value::to_string).collect()
    };
    assert_eq!(of_each("/fork/started_unix_ms").len(), 1, "{records:#?}");
    assert_eq!(of_each("/fork/place"), BTreeSet::from(["1".to_owned(), "2".to_owned()]));
    assert_eq!(of_each("/nodes/0/data_bytes_on_disk").len(), 1, "{records:#?}");
    let first = records.iter().find(|record| record["fork"]["place"] == 1).unwrap();
    let code = first["nodes"][0]["rest"]["code"].as_array().unwrap();
    assert!(code.iter().any(|round| round["compiler_cpu_s"].as_f64() > Some(0.0)), "{code:#?}");
    for record in &records {
        let cache = record["nodes"][0]["rest"]["cache"].as_array().unwrap();
        assert!(cache.iter().any(|round| round["operations"].as_u64() > Some(100)), "{record:#}");
    }
    for (cell, block) in lab.trials() {
        for file in ["database.log", "gc.log"] {
            assert!(
                run.join("trials").join(&cell).join(&block).join(file).is_file(),
                "{cell}/{block}/{file} is missing"
            );
        }
    }
    let trial = json(&run.join("trials/slow.reads.c16/1/trial.json"));
    // Watched from the moment at which limits come into force, before 4 s of warm-up.
    let directory = archive::RunDirectory::open(&run).unwrap();
    let stored = directory.trials().next().unwrap().unwrap();
    let first_s = stored.samples.values().flatten().map(|sample| sample.t_s);
    let first_s = first_s.fold(f64::INFINITY, f64::min);
    assert!((-60.0..-3.5).contains(&first_s), "{first_s} s");
    // One machine, one clock: what is read of it differs by the time that reading takes.
    for host in ["database", "client"] {
        let clock = &trial["clocks"][host];
        for end in ["start", "end"] {
            let offset_ms = clock[end]["offset_ms"].as_f64().unwrap();
            let round_trip_ms = clock[end]["round_trip_ms"].as_f64().unwrap();
            assert!(offset_ms.abs() <= round_trip_ms / 2.0 + 1.0, "{clock:#}");
        }
    }
    let volume = &trial["nodes"][0]["volumes"][0];
    let probed = volume["probe"]["read_iops"].as_f64().unwrap();
    assert!((25.0..55.0).contains(&probed), "asked for 40 IOPS, the probe saw {probed}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());

    let again = lab.output(&["report", run.to_str().unwrap(), "--format", "json"]);
    let rebuilt: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(rebuilt, analysis, "the same evidence gives the same answer");
}

/// 300 IOPS for reads and writes together, by a process that answers for the volume.
#[test]
fn served_volumes_are_measured_as_what_they_are_and_gone_afterwards() {
    let lab = Laboratory::on_machine(Share::Half);
    let text = fast_alone(1)
        .replace("iops = 400", "iops = 300")
        .replace("rate = [100]", "concurrency = [16]")
        .replace("warmup_s = 1", "warmup_s = 4")
        .replace("read = 0.9\nupdate = 0.1", "read = 0.5\nupdate = 0.5")
        .replace("[provider.local]\n", "[provider.local]\nvolumes = \"served\"\n");
    lab.write("served.toml", &text);
    let output = lab.exits(0, &["run", "served.toml", "--format", "json"]);
    let stderr = &output.stderr;
    assert!(!stderr.contains("WARN"), "what this machine refuses the server is a note of the run: {stderr}");
    assert!(stderr.matches("the volume server is less protected").count() <= 1, "{stderr}");
    let analysis: Value = output.json();
    let cells = analysis["cells"].as_array().unwrap();
    assert_eq!((cells.len(), &cells[0]["valid_trials"]), (1, &1.into()), "{stderr}");
    assert_eq!(analysis["configurations"][0]["volumes"][0]["is_served"], true);
    let rules = analysis["findings"].as_array().unwrap().iter().map(|f| &f["rule"]);
    let of_the_throttle = ["throttle_slices", "separate_read_write_limits", "ebs_disagrees"];
    let reported: Vec<&Value> = rules.filter(|rule| of_the_throttle.iter().any(|name| *rule == name)).collect();
    assert!(reported.is_empty(), "{reported:?}");

    let directory = archive::RunDirectory::open(&lab.run_directory()).unwrap();
    let stored = directory.trials().next().unwrap().unwrap();
    let volume = &stored.record.nodes[0].volumes[0];
    assert!(volume.is_served);
    let probed = volume.probe.unwrap().read_iops;
    assert!((200.0..315.0).contains(&probed), "asked for 300 IOPS, the probe saw {probed}");
    // The trial had no more than the limit, reads and writes together, and what was saved.
    let samples: Vec<_> = stored.samples.values().flatten().filter(|s| s.t_s > 0.0).collect();
    let done = |s: &evidence::HostSample| {
        let data = s.volumes.get(&experiment::VolumeRole::Data)?;
        Some((s.t_s, data.reads? + data.writes?, data.server_cpu_s?))
    };
    let seen: Vec<_> = samples.iter().filter_map(|s| done(s)).collect();
    let (first, last) = (seen.first().unwrap(), seen.last().unwrap());
    let iops = (last.1 - first.1) / (last.0 - first.0);
    assert!(iops < 315.0, "{iops} a second, reads and writes together");
    assert!(last.2 > first.2, "the server's CPU is measured: {first:?} {last:?}");
    // What the server counts as EBS does is what the device shows, which it does not know.
    let moved = |s: &evidence::HostSample| {
        let role = experiment::VolumeRole::Data;
        let (own, device) = (s.ebs.get(&role)?, s.volumes.get(&role)?);
        Some([own.read_bytes? + own.write_bytes?, device.read_bytes? + device.write_bytes?])
    };
    let counted: Vec<[f64; 2]> = samples.iter().filter_map(|s| moved(s)).collect();
    let (first, last) = (counted[0], counted[counted.len() - 1]);
    let [by_itself, by_device] = [0, 1].map(|at| last[at] - first[at]);
    assert!(by_device > 0.0 && (by_itself / by_device - 1.0).abs() < 0.1, "{by_itself} {by_device}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

#[test]
fn a_killed_run_resumes_without_measuring_anything_twice() {
    let lab = Laboratory::on_machine(Share::Half);
    // The second trial goes on for longer than a busy machine may keep this process from its turn.
    lab.write("small.toml", &fast_alone(2).replace("duration_s = 5", "duration_s = 15"));
    let mut first = lab.spawn(&["run", "small.toml"]);
    lab.wait_in(&mut first, "a first trial, and a second one under load", Duration::from_secs(600), || {
        let is_second = |line: &str| line.contains("[2 of 2") && line.contains("p99");
        lab.stderr_so_far().lines().any(is_second)
    });
    assert_eq!(lab.trials().len(), 1);
    assert!(!databases(&lab.work().display().to_string()).is_empty());
    // kill -9 of the controller: its agents lose their stdin and clean up.
    signal(first.id(), Signal::KILL);
    first.wait().unwrap();
    wait_for("the agents to clean up", Duration::from_secs(180), || lab.leftovers().is_empty());
    let run = lab.run_directory();
    conformance::resumes(&lab, &run);
    assert_eq!(lab.trials().len(), 2);
    assert_eq!(lab.leftovers(), Vec::<String>::new());

    // On another machine it is not resumed: its trials would be no repetitions of these.
    let environment = run.join("environment.json");
    let facts = std::fs::read_to_string(&environment).unwrap();
    let mut other: Value = serde_json::from_str(&facts).unwrap();
    other["database"]["cpu_model"] = "Another CPU".into();
    std::fs::write(&environment, other.to_string()).unwrap();
    let resume = ["run", "--resume", run.to_str().unwrap()];
    let stderr = lab.exits(2, &resume).stderr;
    assert!(stderr.contains("cpu_model of the database host was \"Another CPU\""), "{stderr}");
    std::fs::write(&environment, facts).unwrap();

    // Nothing is missing now: resuming again measures nothing.
    let begun = || std::fs::read_to_string(run.join("journal.jsonl")).unwrap().matches("trial_started").count();
    let before = begun();
    lab.exits(0, &resume);
    assert_eq!((begun(), before >= 3), (before, true));
}

#[test]
fn even_when_the_agent_is_killed_too_the_next_start_cleans_up() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("small.toml", &fast_alone(1));
    let mut run = lab.spawn(&["run", "small.toml"]);
    let work = lab.work().display().to_string();
    lab.wait_in(&mut run, "a database on a volume", Duration::from_secs(180), || {
        !databases(&work).is_empty() && lab.leftovers().iter().any(|l| l.starts_with("mount"))
    });
    for pid in agents_of(run.id()) {
        signal(pid, Signal::KILL);
    }
    signal(run.id(), Signal::KILL);
    run.wait().unwrap();
    assert!(!lab.leftovers().is_empty(), "a killed agent cannot clean up; this test proves the ledger");
    lab.exits(0, &["clean"]);
    assert_eq!(lab.leftovers(), Vec::<String>::new());
    assert!(databases(&work).is_empty());
}

#[test]
fn ctrl_c_stops_in_order_long_before_the_trial_would_end_and_says_how_to_resume() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("small.toml", &fast_alone(1).replace("duration_s = 5", "duration_s = 120"));
    let mut run = lab.spawn(&["run", "small.toml"]);
    lab.wait_in(&mut run, "measurement", Duration::from_secs(180), || lab.stderr_so_far().contains("op/s"));
    let began = Instant::now();
    signal(run.id(), Signal::INT);
    let status = run.wait().unwrap();
    let took = began.elapsed();
    assert_eq!(status.code(), Some(130));
    assert!(took < Duration::from_secs(60), "{took:?} of a trial of 120 s");
    assert!(lab.stderr_so_far().contains("iopslab run --resume"), "{}", lab.stderr_so_far());
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// It neither answers nor cleans up: the run ends, by its end nothing is left, and what that was is reported.
#[test]
fn an_agent_that_stands_still_is_killed_and_what_it_had_made_is_removed() {
    let lab = Laboratory::on_machine(Share::Half);
    let text = fast_alone(1).replace("duration_s = 5", "duration_s = 120");
    lab.write("small.toml", &text.replace("[provider.local]\n", "[provider.local]\nvolumes = \"served\"\n"));
    let mut run = lab.spawn(&["run", "small.toml"]);
    lab.wait_in(&mut run, "measurement", Duration::from_secs(180), || lab.stderr_so_far().contains("op/s"));
    let is_database = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("database")
    };
    let agents: Vec<u32> = agents_of(run.id()).into_iter().filter(is_database).collect();
    assert_eq!(agents.len(), 1, "{agents:?}");
    let servers: Vec<u32> = agents_of(agents[0]);
    signal(agents[0], Signal::STOP);
    let began = Instant::now();
    signal(run.id(), Signal::INT);
    let status = run.wait().unwrap();
    let (took, said) = (began.elapsed(), lab.stderr_so_far());
    println!("the run has ended {took:?} after Ctrl-C:\n{said}");
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(took < Duration::from_secs(60), "{took:?}");
    let (_, removed) = said
        .split_once("the database agent does not end and was killed; what it had left is removed:\n")
        .unwrap_or_else(|| panic!("{said}"));
    for what in ["(Cassandra)", "  mount ", "  loop device of ", "  cgroup ", "  directory "] {
        assert!(removed.contains(what), "{what}: {said}");
    }
    assert_eq!(lab.leftovers(), Vec::<String>::new());
    assert!(!servers.is_empty() && servers.iter().all(|pid| storage::start_time_ticks(*pid).is_none()));
}

/// A volume server that is killed while volumes are made costs nothing: they are made once more. Killed in a trial, its
/// volumes give errors, and the next trial has its own from another server. One that is stopped is no better.
#[test]
fn whoever_dies_in_a_trial_costs_that_trial_only() {
    let lab = Laboratory::on_machine(Share::Half);
    // A trial goes on for longer than a busy machine may keep this process from its turn.
    let served = fast_alone(5).replace("[provider.local]\n", "[provider.local]\nvolumes = \"served\"\n");
    lab.write("served.toml", &served.replace("duration_s = 5", "duration_s = 15"));
    let mut run = lab.spawn(&["run", "served.toml"]);
    let controller = run.id();
    let runs = |pid: &u32, what: &str| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        line.contains(what) && !line.contains("chrt")
    };
    let servers = || -> Vec<u32> {
        let below = agents_of(controller).into_iter().flat_map(agents_of);
        below.filter(|pid| runs(pid, "volume-server")).collect()
    };
    let clients = || -> Vec<u32> {
        let agents = agents_of(controller).into_iter();
        agents.filter(|pid| runs(pid, "client")).collect()
    };
    let databases = || databases(&lab.work().display().to_string());
    let kill = |pids: &[u32]| {
        assert_eq!(pids.len(), 1);
        signal(pids[0], Signal::KILL);
    };
    // The probe of the volume that was mounted takes four seconds, and nothing follows it while the controller stands.
    let is_mounted = || lab.leftovers().iter().any(|left| left.starts_with("mount /dev/"));
    lab.wait_in(&mut run, "volume server", Duration::from_secs(600), || !servers().is_empty() && is_mounted());
    signal(controller, Signal::STOP);
    let first = servers();
    let journal = std::fs::read_to_string(lab.run_directory().join("journal.jsonl")).unwrap();
    assert!(!journal.contains("trial_started"), "{journal}");
    kill(&first);
    signal(controller, Signal::CONT);

    let mut under_load = |number: u32| {
        let about = format!("[{number} of 5");
        let is_load = |line: &str| line.contains(&about) && line.contains("p99");
        lab.wait_in(&mut run, "trial under load", Duration::from_secs(180), || {
            lab.stderr_so_far().lines().any(is_load)
        });
    };
    under_load(1);
    kill(&databases());
    under_load(2);
    kill(&clients());
    under_load(3);
    let second = servers();
    assert_ne!(first, second);
    kill(&second);
    under_load(4);
    let third = servers();
    assert!(third.len() == 1 && third != second, "{third:?}");
    signal(third[0], Signal::STOP);
    let status = run.wait().unwrap();
    assert!(status.success(), "{}", lab.stderr_so_far());
    let records: Vec<_> = lab.trials().iter().map(|(cell, block)| lab.record(cell, block)).collect();
    let became = |record: &Value| (record["status"].clone(), record["cause"].clone());
    let invalid = |cause: &str| (Value::from("invalid"), Value::from(cause));
    assert_eq!(
        records.iter().map(became).collect::<Vec<_>>(),
        [
            invalid("database_ended"),
            invalid("client_lost"),
            invalid("volumes_lost"),
            invalid("volumes_lost"),
            ("valid".into(), Value::Null)
        ],
        "{}",
        lab.stderr_so_far()
    );
    for (record, words) in records.iter().zip([
        &["Cassandra ended"][..],
        &["the client agent was lost", "SIGKILL"],
        &[format!("the volume server (process {})", second[0]).as_str()],
        &[format!("the volume server (process {})", third[0]).as_str(), "was killed"],
    ]) {
        let reason = record["reason"].as_str().unwrap();
        assert!(words.iter().all(|words| reason.contains(words)), "{reason}");
    }
    assert!(!records[0]["log_tail"].as_array().unwrap().is_empty());
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// A Cassandra that starts and never answers: three trials, then the run stops with a report; once the cause is gone,
/// they are repeated.
#[test]
fn three_failed_starts_stop_the_run_with_a_report_and_are_repeated_by_resume() {
    let lab = Laboratory::on_machine(Share::Half);
    // One process can serve all of them.
    let short = short(1);
    let four = short.replace("rate = [100]", "rate = [25, 50, 75, 100]");
    lab.write("small.toml", &short);
    lab.write("impatient.toml", &(four + "start_timeout_s = 2\n"));
    let kept = std::fs::read_dir(lab.work().join("snapshots"));
    let mut kept = kept.into_iter().flatten().flatten();
    if !kept.any(|entry| entry.file_name().display().to_string().contains("-100000x")) {
        // Two seconds are too few to load the data set.
        assert!(lab.output(&["run", "small.toml", "--out", "first"]).status.success());
    }
    let home = java_home(&lab, "*/runs/*CassandraDaemon*) exec sleep 600 ;;");
    let stderr = lab.iopslab(&["run", "impatient.toml"]).env("JAVA_HOME", &home).exits(1).stderr;
    assert!(stderr.contains("3 trials in a row could not be carried out"), "{stderr}");
    assert!(stderr.contains("does not answer CQL after 2 s") && stderr.contains("start_timeout_s"), "{stderr}");
    assert_eq!(lab.trials().len(), 3);
    assert_eq!(lab.leftovers(), Vec::<String>::new());
    let run = lab.run_directory();
    assert!(run.join("report.html").is_file());
    let analysis = json(&run.join("analysis.json"));
    assert_eq!(analysis["trials"], serde_json::json!({"planned": 4, "done": 3, "valid": 0}));

    // The cause is removed, in the plan and in the experiment that it has to come from.
    for (name, impatient, patient) in [
        ("plan.json", "\"start_s\": 2.0", "\"start_s\": 180.0"),
        ("experiment.toml", "start_timeout_s = 2\n", "start_timeout_s = 180\n"),
    ] {
        let text = std::fs::read_to_string(run.join(name)).unwrap();
        std::fs::write(run.join(name), text.replace(impatient, patient)).unwrap();
    }
    let stderr = lab.exits(0, &["run", "--resume", run.to_str().unwrap()]).stderr;
    assert_eq!(stderr.matches("repeating ").count(), 3, "{stderr}");
    let analysis = json(&run.join("analysis.json"));
    assert_eq!(analysis["trials"], serde_json::json!({"planned": 4, "done": 4, "valid": 4}), "{stderr}");
}

/// The loader is killed where it should flush and end: what it leaves may lack records, and every trial would start
/// from it.
#[test]
fn a_data_set_whose_database_did_not_stop_in_order_is_not_kept() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("small.toml", &fast_alone(1).replace("records = 100_000", "records = 4_321"));
    let work = lab.path().join("own-work");
    let home = java_home(
        &lab,
        "*/loading/*CassandraDaemon*) \"$REAL\" \"$@\" & java=$!; trap 'kill -9 $java; wait $java; exit 143' TERM; \
         wait $java; exit 1 ;;",
    );
    let output =
        lab.iopslab(&["run", "small.toml"]).env("JAVA_HOME", &home).env("IOPSLAB_WORK", &work).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("did not stop in order after loading"), "{stderr}");
    let kept = std::fs::read_dir(work.join("snapshots")).map_or(0, Iterator::count);
    assert_eq!(kept, 0, "nothing is kept");
    assert!(databases(&work.display().to_string()).is_empty());
    let runs = std::fs::read_dir(lab.path().join("runs")).map_or(0, Iterator::count);
    assert_eq!(runs, 0, "a run without a data set leaves no directory");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// A Java that does as the real one, but for one case of its arguments; and that makes no class archive, which would
/// outlive the story.
fn java_home(lab: &Laboratory, case: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let real = std::env::var_os("JAVA_HOME")
        .map(|home| std::path::PathBuf::from(home).join("bin/java"))
        .or_else(|| {
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path).map(|d| d.join("java")).find(|java| java.is_file())
        })
        .expect("a Java");
    let bin = lab.path().join("java/bin");
    std::fs::create_dir_all(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\nREAL='{}'\ncase \"$*\" in\n*ArchiveClassesAtExit*) exit 1 ;;\n{case}\nesac\n\
         exec \"$REAL\" \"$@\"\n",
        real.display()
    );
    std::fs::write(bin.join("java"), script).unwrap();
    std::fs::set_permissions(bin.join("java"), std::fs::Permissions::from_mode(0o755)).unwrap();
    lab.path().join("java")
}

/// Pids of the agents that a controller started.
fn agents_of(controller: u32) -> Vec<u32> {
    let mut pids = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((head, rest)) = stat.rsplit_once(')') else { continue };
        if head.contains("iopslab") && rest.split_whitespace().nth(1) == Some(&controller.to_string()) {
            pids.extend(head.split_whitespace().next().and_then(|pid| pid.parse::<u32>().ok()));
        }
    }
    pids
}
