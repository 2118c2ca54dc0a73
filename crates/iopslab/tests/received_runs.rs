//! Runs that somebody else has put together, or has changed: they are read without harm, and not obeyed.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::{Exits, Laboratory, Said, one_line, two_equal};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

/// Two configurations, two blocks: four trials.
const EXPERIMENT: &str = two_equal!("", "duration_s = 30\nrepetitions = 2\n[provider.simulated]\nrun_noise = 0.02\n");
/// Its workload.
const READS: &str = "name = \"reads\"\nread = 1.0";
/// Nothing that a hostile file makes it do may take longer.
const NO_HANG: Duration = Duration::from_secs(20);

fn run(lab: &Laboratory, workload: &str) -> PathBuf {
    lab.write("x.toml", &EXPERIMENT.replace(READS, workload));
    ask(lab, 0, &["run", "x.toml", "--provider", "simulated"]);
    lab.run_directory()
}

pub fn simulated(lab: &Laboratory) -> PathBuf {
    run(lab, READS)
}

/// Stderr of a command that has to exit with this code, and soon.
#[track_caller]
fn ask(lab: &Laboratory, code: i32, arguments: &[&str]) -> String {
    let began = Instant::now();
    let said = lab.exits(code, arguments);
    assert!(began.elapsed() < NO_HANG, "{arguments:?} took {:?}", began.elapsed());
    said.stderr
}

pub fn change(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    change(&mut document);
    std::fs::write(path, document.to_string()).unwrap();
}

/// A copy of the run, as if it had been received.
fn received(lab: &Laboratory, run: &Path, name: &str) -> PathBuf {
    let copy = lab.path().join(name);
    let copied = std::process::Command::new("cp").arg("-r").arg(run).arg(&copy).status();
    assert!(copied.unwrap().success());
    // A trial is missing: there is something to go on with.
    std::fs::remove_dir_all(copy.join("trials/b.reads.c32/2")).unwrap();
    copy
}

/// The way of the attack: a report was written to `.NAME.PID`, through whatever link lay there.
#[test]
fn a_report_is_written_through_no_link_that_the_run_holds() {
    let lab = Laboratory::new();
    let run = simulated(&lab);
    let own = lab.write("authorized_keys", "mine");
    let pid = std::process::id();
    for name in ["analysis.json", "report.md", "report.html", "summary.csv"] {
        let _ = std::fs::remove_file(run.join(name));
        symlink(&own, run.join(name)).unwrap();
        for next in 1..300 {
            symlink(&own, run.join(format!(".{name}.{}", pid + next))).unwrap();
        }
    }
    ask(&lab, 0, &["report", run.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "mine");
    for name in ["analysis.json", "report.md", "report.html"] {
        let found = std::fs::symlink_metadata(run.join(name)).unwrap();
        assert!(found.is_file() && found.len() > 100, "{name}");
    }
}

#[test]
fn a_run_that_is_not_all_ones_own_does_not_go_on() {
    let lab = Laboratory::new();
    let whole = simulated(&lab);
    let own = lab.write("precious", "mine\nno newline");
    let refused = |run: &Path, words: &str| {
        let stderr = ask(&lab, 2, &["run", "--resume", run.to_str().unwrap()]);
        assert!(stderr.contains(words) && stderr.contains("is not all yours"), "{stderr}");
    };
    let linked = received(&lab, &whole, "linked");
    std::fs::remove_file(linked.join("journal.jsonl")).unwrap();
    symlink(&own, linked.join("journal.jsonl")).unwrap();
    refused(&linked, "journal.jsonl is a symbolic link");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "mine\nno newline", "it was cut at its last line");

    let open = received(&lab, &whole, "open");
    std::fs::set_permissions(open.join("plan.json"), std::fs::Permissions::from_mode(0o666)).unwrap();
    refused(&open, "can be written by every user");
    std::fs::set_permissions(open.join("plan.json"), std::fs::Permissions::from_mode(0o664)).unwrap();
    refused(&open, "plan.json can be written by its group (chmod -R g-w)");

    let strange = received(&lab, &whole, "strange");
    if std::os::unix::fs::chown(strange.join("plan.json"), Some(65_534), None).is_ok() {
        refused(&strange, "plan.json belongs to user 65534");
    }
    let mine = received(&lab, &whole, "mine");
    ask(&lab, 0, &["run", "--resume", mine.to_str().unwrap()]);
}

/// A machine by SSH that is held to configurations, with this configuration of `ssh`.
fn held_and_reached_by(config: &Path) -> Value {
    let machine =
        json!({"ssh": "db1", "address": "192.0.2.1", "work_directory": null, "data": null, "commitlog": null});
    let ssh = json!({"ssh_config": config, "binary_x86_64": null, "binary_aarch64": null});
    let hosts = json!({"database": [machine], "cache": [], "client": ["client1"], "ssh": ssh});
    let model = json!({"scale": 1.0, "page_cache_bytes": null, "page_cache": "same-share"});
    json!({"emulated": {"model": model, "volumes": "throttled", "machines": {"hosts": hosts}}})
}

/// Each of these was obeyed.
#[test]
fn what_the_experiment_does_not_say_is_not_obeyed() {
    let lab = Laboratory::new();
    let whole = simulated(&lab);
    let refused = |run: &Path, words: &str| {
        let stderr = ask(&lab, 2, &["run", "--resume", run.to_str().unwrap()]);
        assert!(stderr.contains(words), "{stderr}");
    };
    let options = received(&lab, &whole, "options");
    change(&options.join("setups.json"), |setups| {
        setups["setups"][0]["heap_bytes"] = json!(1_u64 << 40);
    });
    refused(&options, "setups.json: setups.0.heap_bytes is not what its experiment.toml comes to");

    let elsewhere = received(&lab, &whole, "elsewhere");
    change(&elsewhere.join("plan.json"), |plan| plan["place"]["simulated"]["model"]["scale"] = json!(2.0));
    refused(&elsewhere, "plan.json: place.simulated.model.scale is not what");

    // A configuration of ssh whose command makes a file.
    let by_ssh = received(&lab, &whole, "by-ssh");
    let (made, config) = (lab.path().join("made-by-attacker"), by_ssh.join("ssh_config"));
    let text = format!("Host *\n  ProxyCommand touch {}\n", made.display());
    std::fs::write(&config, text).unwrap();
    change(&by_ssh.join("environment.json"), |facts| facts["provider"] = json!("hosts"));
    change(&by_ssh.join("plan.json"), |plan| {
        plan["place"] = held_and_reached_by(&config);
    });
    ask(&lab, 2, &["run", "--resume", by_ssh.to_str().unwrap()]);
    assert!(!made.exists(), "a command of the received run was carried out");

    // Even where the received experiment names it itself: what is obeyed does not come in the run's directory.
    let experiment = std::fs::read_to_string(by_ssh.join("experiment.toml")).unwrap();
    let hosts = "[provider.hosts]\ndatabase = [{ ssh = \"db1\", address = \"192.0.2.1\" }]\nclient = [\"client1\"]\n\
                 ssh_config = \"ssh_config\"\nlimits = true\n";
    std::fs::write(by_ssh.join("experiment.toml"), format!("{experiment}{hosts}")).unwrap();
    let stderr = ask(&lab, 2, &["run", "--resume", by_ssh.to_str().unwrap()]);
    assert!(stderr.contains("which lies in the run's own directory"), "{stderr}");
    assert!(!made.exists(), "a command of the received run was carried out");
}

/// Whatever lies on the way to it, and wherever links lead.
#[test]
fn a_file_that_somebody_else_could_exchange_is_not_obeyed() {
    let lab = Laboratory::new();
    let whole = simulated(&lab);
    let run = received(&lab, &whole, "by-ssh");
    let made = lab.path().join("made-by-attacker");
    let evil = format!("Host *\n  ProxyCommand touch {}\n", made.display());
    let experiment = std::fs::read_to_string(run.join("experiment.toml")).unwrap();
    let hosts = "[provider.hosts]\ndatabase = [{ ssh = \"db1\", address = \"192.0.2.1\" }]\nclient = [\"client1\"]\n\
                 ssh_config = \"ssh_config\"\nlimits = true\n";
    std::fs::write(run.join("experiment.toml"), format!("{experiment}{hosts}")).unwrap();
    change(&run.join("environment.json"), |facts| facts["provider"] = json!("hosts"));
    let asked = |config: &Path| {
        change(&run.join("plan.json"), |plan| {
            // What comes after files is refused in any case.
            plan["seed"] = json!(4_711);
            plan["place"] = held_and_reached_by(config);
        });
        let stderr = ask(&lab, 2, &["run", "--resume", run.to_str().unwrap()]);
        assert!(!made.exists(), "a command of the received run was carried out");
        stderr
    };
    let mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let [own, shared] = ["own", "shared"].map(|name| {
        let directory = lab.path().join(name);
        std::fs::create_dir(&directory).unwrap();
        mode(&directory, 0o755);
        directory
    });
    // It is put there later.
    let stderr = asked(&own.join("ssh_config"));
    assert!(stderr.contains("No such file"), "{stderr}");

    let config = shared.join("ssh_config");
    std::fs::write(&config, &evil).unwrap();
    mode(&config, 0o644);
    assert!(!asked(&config).contains("names the file"), "nobody but its user can");
    for (open, to, back) in
        [(&config, 0o664, 0o644), (&config, 0o666, 0o644), (&shared, 0o775, 0o755), (&shared, 0o777, 0o755)]
    {
        mode(open, to);
        let stderr = asked(&config);
        assert!(stderr.contains("which somebody else could exchange"), "{to:o}: {stderr}");
        mode(open, back);
    }
    // A link where others can make another one, to a file that is the user's.
    std::fs::write(own.join("target"), "").unwrap();
    std::fs::remove_file(&config).unwrap();
    symlink(own.join("target"), &config).unwrap();
    mode(&shared, 0o777);
    let stderr = asked(&config);
    assert!(stderr.contains("which somebody else could exchange"), "{stderr}");
    mode(&shared, 0o755);
    // One of the user's that leads into the run.
    std::fs::write(run.join("sent"), &evil).unwrap();
    symlink(run.join("sent"), own.join("ssh_config")).unwrap();
    let stderr = asked(&own.join("ssh_config"));
    assert!(stderr.contains("which lies in the run's own directory"), "{stderr}");
}

/// A umask that lets a group write, as some systems have it, makes no run that its own user cannot continue.
#[test]
fn a_run_is_its_users_own_whatever_the_umask_allows() {
    let lab = Laboratory::new();
    lab.write("x.toml", EXPERIMENT);
    let command = lab.iopslab(&["run", "x.toml", "--provider", "simulated", "--shared"]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "umask 002 && exec \"$@\"", "sh"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.current_dir(lab.path()).exits(0);
    let run = lab.run_directory();
    std::fs::remove_dir_all(run.join("trials/b.reads.c32/2")).unwrap();
    ask(&lab, 0, &["run", "--resume", run.to_str().unwrap()]);
}

/// What an experiment names is frozen with it.
#[test]
fn a_run_goes_on_without_the_file_that_its_experiment_named() {
    let lab = Laboratory::new();
    let file = lab.write(
        "reads.properties",
        "recordcount=100000\nreadproportion=1.0\nupdateproportion=0\nrequestdistribution=uniform\n",
    );
    let run = run(&lab, "name = \"reads\"\nycsb = \"reads.properties\"");
    std::fs::remove_file(file).unwrap();
    std::fs::remove_dir_all(run.join("trials/b.reads.c32/2")).unwrap();
    let stderr = ask(&lab, 0, &["run", "--resume", run.to_str().unwrap()]);
    assert!(stderr.contains("3 of 4 trials are done"), "{stderr}");
    change(&run.join("beside.json"), |beside| {
        beside["files"]["reads.properties"] = json!("readproportion=0.5\nupdateproportion=0.5\n");
    });
    let stderr = ask(&lab, 2, &["run", "--resume", run.to_str().unwrap()]);
    assert!(stderr.contains("plan.json: workloads.0"), "{stderr}");
}

/// A hostile value, and a word of the reason.
type Forged = (&'static str, fn(&Path), &'static str);

/// Each of these took gigabytes, panicked or never ended.
#[test]
fn sizes_that_a_trial_announces_are_not_believed() {
    fn measured_s(record: &Path, value: f64) {
        change(record, |record| record["client"]["measured_s"] = json!(value));
    }
    fn hlog(path: &Path, histogram: &str) {
        let text = std::fs::read_to_string(path).unwrap();
        let line = text.lines().find(|line| line.starts_with("Tag=read,")).unwrap();
        let (before, _) = line.rsplit_once(',').unwrap();
        std::fs::write(path, text.replace(line, &format!("{before},{histogram}"))).unwrap();
    }
    let forged: [Forged; 6] = [
        ("trial.json", |path| measured_s(path, 1e9), "measured_s"),
        ("trial.json", |path| measured_s(path, 9e18), "measured_s"),
        ("trial.json", |path| measured_s(path, -1.0), "measured_s"),
        // A V2 header that announces the widest range at five digits, and four gigabytes of counts.
        (
            "latency.hlog",
            |path| hlog(path, "HISTEwAAAAAAAAAAAAAABQAAAAAAAAABP/////////8/8AAAAAAAAA=="),
            "recorded up to",
        ),
        ("latency.hlog", |path| hlog(path, "HISTE/////8AAAAAAAAAAwAAAAAAAAABAAAAAAOThwA/8AAAAAAAAA=="), "announces"),
        (
            "trial.json",
            |path| {
                std::fs::remove_file(path).unwrap();
                mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            },
            "it is a pipe",
        ),
    ];
    let lab = Laboratory::new();
    let run = simulated(&lab);
    let trial = run.join("trials/b.reads.c32/2");
    for (file, forge, reason) in forged {
        let before = std::fs::read(trial.join(file)).unwrap();
        forge(&trial.join(file));
        ask(&lab, 0, &["report", run.to_str().unwrap()]);
        let analysis: Value = serde_json::from_slice(&std::fs::read(run.join("analysis.json")).unwrap()).unwrap();
        let invalid = &analysis["cells"][1]["trials_invalid"][0];
        assert!(invalid["reason"].as_str().unwrap().contains(reason), "{reason}: {invalid}");
        std::fs::remove_file(trial.join(file)).unwrap();
        std::fs::write(trial.join(file), before).unwrap();
    }
}

#[test]
fn no_file_of_a_run_makes_a_command_wait_or_reads_outside_of_it() {
    let lab = Laboratory::new();
    let whole = simulated(&lab);
    let pipe = |path: &Path| {
        std::fs::remove_file(path).unwrap();
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    };
    for file in ["plan.json", "journal.jsonl", "environment.json"] {
        let run = received(&lab, &whole, &format!("pipe-{file}"));
        pipe(&run.join(file));
        let began = Instant::now();
        let said = Said::of(&mut lab.iopslab(&["report", run.to_str().unwrap()]));
        assert!(matches!(said.code, Some(1 | 2)) && began.elapsed() < NO_HANG, "{file}: {}", said.all());
    }
    let endless = received(&lab, &whole, "endless");
    std::fs::remove_file(endless.join("run.sha256")).unwrap();
    symlink("/dev/zero", endless.join("run.sha256")).unwrap();
    let stderr = ask(&lab, 1, &["report", endless.to_str().unwrap(), "--verify"]);
    assert!(stderr.contains("run.sha256: it is a symbolic link"), "{stderr}");

    // The hash of a file elsewhere would be confirmed, or denied.
    for outside in ["/etc/passwd", "../../../../../../../../etc/passwd"] {
        std::fs::remove_file(endless.join("run.sha256")).unwrap();
        std::fs::write(endless.join("run.sha256"), format!("{}  {outside}\n", "0".repeat(64))).unwrap();
        let stderr = ask(&lab, 1, &["report", endless.to_str().unwrap(), "--verify"]);
        assert!(stderr.contains("about a file of the run"), "{stderr}");
    }

    let large = received(&lab, &whole, "large");
    let file = std::fs::File::create(large.join("plan.json")).unwrap();
    file.set_len(109 << 20).unwrap();
    let stderr = ask(&lab, 2, &["report", large.to_str().unwrap()]);
    assert!(stderr.contains("plan.json") && stderr.contains("bytes"), "{stderr}");
}

/// A clipboard is written to (OSC 52), the direction of writing is turned; the rest is for web pages.
pub const ATTACK: &str = "worth it?\u{1b}]52;c;cm0gLXJm\u{7} \u{202e}txt.exe\u{2066} <img src=x> \
                          ![x](https://example.org/x.png) https://example.org www.example.org @octocat";

/// Nothing that a terminal or a browser would obey is in a text, which shows all the same that it was there. Line
/// breaks of a terminal, and colours of this program's, are no harm.
pub fn is_shown(what: &str, text: &str) {
    let mut text = text.replace("\r\n", "\n");
    for code in ["0", "1", "2", "3", "4", "31", "32", "33", "34", "35", "36"] {
        text = text.replace(&format!("\u{1b}[{code}m"), "");
    }
    let is_obeyed = |c: &char| {
        (c.is_control() && *c != '\n' && *c != '\t')
            || ('\u{200b}'..='\u{200f}').contains(c)
            || ('\u{2028}'..='\u{202e}').contains(c)
            || ('\u{2060}'..='\u{206f}').contains(c)
    };
    assert_eq!(text.chars().find(is_obeyed), None, "{what}: {text:?}");
    for seen in ["\\u001b]52;c;cm0gLXJm\\u0007", "\\u202e"] {
        assert!(text.contains(seen), "{what}, {seen}: {text}");
    }
}

/// Names, questions and an agent's words: to the terminal, and into every file that is made of them.
#[test]
fn what_others_have_written_is_shown_and_never_sent() {
    let lab = Laboratory::new();
    let question = format!("name = \"story\"\nquestion = {}\n", json!(ATTACK));
    let asked = EXPERIMENT.replace("name = \"story\"\n", &question);
    lab.write("x.toml", &asked);
    is_shown("the end of a run", &lab.exits(0, &["run", "x.toml", "--provider", "simulated"]).all());

    // Whoever sends a run may call it as they like, and its agents have said what they liked.
    let run = lab.run_directory();
    change(&run.join("plan.json"), |plan| plan["experiment"] = json!(format!("called {ATTACK}")));
    change(&run.join("trials/b.reads.c32/2/trial.json"), |record| {
        record["status"] = json!("invalid");
        record["cause"] = json!("client_failed");
        record["reason"] = json!(format!("the agent said {ATTACK}"));
        record["log_tail"] = json!([ATTACK]);
    });
    let has_both = |what: &str, text: &str| {
        let text = one_line(text);
        for seen in ["called worth it?", "the agent said worth it?"] {
            assert!(text.contains(seen), "{what}, {seen}: {text}");
        }
    };
    let named = run.to_str().unwrap();
    let printed = lab.exits(0, &["report", named]).all();
    is_shown("report", &printed);
    has_both("report", &printed);
    for name in ["report.md", "report.html", "analysis.json"] {
        let text = std::fs::read_to_string(run.join(name)).unwrap();
        is_shown(name, &text);
        has_both(name, &text);
    }
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(!page.contains("<img src=x>") && page.contains("&lt;img src=x"));
    let text = std::fs::read_to_string(run.join("report.md")).unwrap();
    for obeyed in ["<img", "](", "https://", "www.", "@octocat"] {
        assert!(!text.contains(obeyed), "{obeyed}: {text}");
    }

    // On a terminal, where this program uses colours itself.
    let line =
        format!("{} report {named}; {} 'run{ATTACK}'", env!("CARGO_BIN_EXE_iopslab"), env!("CARGO_BIN_EXE_iopslab"));
    let mut terminal = std::process::Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).current_dir(lab.path()).stdin(std::process::Stdio::null());
    match terminal.env("TERM", "xterm").output() {
        Ok(output) => {
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            is_shown("a terminal", &printed);
            assert!(printed.contains("unrecognized subcommand"), "{printed}");
            assert!(printed.contains("\u{1b}[1m"), "there are colours: {printed:?}");
        }
        Err(error) => println!("skipped: no terminal can be made by script(1): {error}"),
    }
}

/// Bad usage repeats what was typed, which may have been pasted.
#[test]
fn a_wrong_word_is_shown_and_never_sent() {
    let lab = Laboratory::new();
    let said = lab.exits(2, &[ATTACK]).stderr;
    // Into a pipe clap leaves control sequences out by itself, and nothing else.
    assert!(said.contains("\\u202etxt.exe") && !said.contains(['\u{1b}', '\u{202e}', '\u{2066}']), "{said:?}");
}
