//! Bad input starts nothing: exit code 2, a place, what was expected, and no trace on the machine.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::io::Write as _;
use std::process::Stdio;

use support::{Exits, Laboratory, one_line};

const GOOD: &str = include_str!("../../../examples/quickstart.toml");

/// Runs a broken experiment; returns stderr.
fn refused(text: &str) -> String {
    let plain = |text: &str| text.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("\n");
    assert_ne!(plain(text), plain(GOOD), "nothing is broken: it would be run");
    let lab = Laboratory::new();
    lab.write("broken.toml", text);
    let stderr = lab.exits(2, &["run", "broken.toml"]).stderr;
    assert!(!lab.path().join("runs").exists(), "bad input must start nothing");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
    stderr
}

#[test]
fn an_unknown_key_is_shown_at_its_place_with_the_nearest_name() {
    let stderr = refused(&GOOD.replacen("repetitions = 3", "repetition = 3", 1));
    assert!(stderr.contains("broken.toml:"), "{stderr}");
    assert!(stderr.contains("repetition") && stderr.contains("repetitions"), "{stderr}");
}

#[test]
fn an_agent_refuses_a_controller_of_another_version_in_words_and_serves_no_other() {
    let greeted = |protocol: u32| {
        let lab = Laboratory::new();
        let mut agent =
            lab.iopslab(&["agent", "--role", "client"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let hello = format!("{{\"hello\":{{\"protocol\":{protocol}}}}}\n");
        agent.stdin.take().unwrap().write_all(hello.as_bytes()).unwrap();
        let output = agent.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let (own, older) = (wire::PROTOCOL, wire::PROTOCOL - 1);
    assert!(greeted(own)["reply"]["Ok"]["hello"]["version"].is_string());
    let refused = greeted(older);
    let refused = &refused["reply"]["Err"];
    assert_eq!(
        (refused["message"].as_str(), refused["help"].as_str()),
        (
            Some(format!("the controller speaks protocol {older}, this agent {own}").as_str()),
            Some("use the same iopslab binary on every host")
        )
    );
}

#[test]
fn a_missing_file_is_named() {
    let lab = Laboratory::new();
    let output = lab.exits(2, &["run", "nowhere.toml"]);
    assert!(output.stderr.contains("nowhere.toml"));
}

#[test]
fn text_that_is_no_toml_is_refused_with_a_line() {
    assert!(refused("name = \"x\"\nname = ").contains("broken.toml:2"));
}

#[test]
fn a_run_directory_of_another_format_is_refused_by_its_number() {
    let lab = Laboratory::new();
    let run = lab.path().join("other");
    std::fs::create_dir(&run).unwrap();
    for other in [2, 999] {
        std::fs::write(run.join("plan.json"), format!("{{\"format_version\": {other}}}")).unwrap();
        let stderr = lab.exits(2, &["report", run.to_str().unwrap()]).stderr;
        let expected = format!("plan.json has format_version {other}, this iopslab reads {}", evidence::FORMAT_VERSION);
        assert!(stderr.contains(&expected), "{stderr}");
    }
}

#[test]
fn plan_touches_nothing_and_speaks_json() {
    let lab = Laboratory::new();
    lab.write("good.toml", GOOD);
    let document = lab.exits(0, &["plan", "good.toml", "--format", "json"]).json();
    assert!(document["plan"]["trials"].as_array().unwrap().len() >= 6);
    assert_eq!(std::fs::read_dir(lab.path()).unwrap().count(), 1, "only the experiment is there");
}

const SIMULATED: &str = include_str!("../../../examples/simulated.toml");

/// A run that was planned with one node, as all once were, does not go on with three;
/// its frozen experiment is where to look.
#[test]
fn a_run_of_three_nodes_is_not_resumed() {
    let lab = Laboratory::new();
    lab.write("good.toml", &SIMULATED.replacen("repetitions = 6", "repetitions = 1", 1));
    lab.exits(0, &["run", "good.toml", "--provider", "simulated"]);
    let run = lab.run_directory();
    let (frozen, limit) = (run.join("experiment.toml"), "memory_limit_gib = 3\n");
    let text = std::fs::read_to_string(&frozen).unwrap();
    assert!(text.contains(limit), "{text}");
    std::fs::write(&frozen, text.replacen(limit, &format!("{limit}nodes = 3\n"), 1)).unwrap();
    let journal = std::fs::read(run.join("journal.jsonl")).unwrap();
    let stderr = unwrapped(&lab.exits(2, &["run", "--resume", run.to_str().unwrap()]).stderr);
    assert!(stderr.contains(":9: nodes = 3 of gp2-960: this run was planned with 1"), "{stderr}");
    assert_eq!(std::fs::read(run.join("journal.jsonl")).unwrap(), journal, "nothing is begun");
}

#[test]
fn an_existing_cluster_without_a_keyspace_is_refused_at_its_place() {
    let target = SIMULATED.replacen("[dataset]", "[target]\nhosts = [\"h:9042\"]\n[dataset]", 1);
    let stderr = refused(&target);
    assert!(stderr.contains("broken.toml:12:9: `hosts` without `keyspace`"), "{stderr}");
    assert!(stderr.contains("never dropped"), "{stderr}");
}

/// With its first configuration alone, on whatever stands there.
fn on_one() -> String {
    let part = |from: &str, to: &str| {
        let begin = SIMULATED.find(from).unwrap();
        &SIMULATED[begin..begin + SIMULATED[begin..].find(to).unwrap()]
    };
    part("name = \"simulated\"", "[[configuration]]\nname = \"gp2-3000\"").to_owned()
        + part("[[workload]]", "[provider.simulated]")
}

#[test]
fn nodes_that_cannot_be_reached_are_refused_before_anything_begins() {
    let lab = Laboratory::new();
    let target = |lines: &str| {
        let target = format!("[target]\nhosts = [\"127.0.0.1:1\"]\nkeyspace = \"lab\"\n{lines}\n[dataset]");
        lab.write("watched.toml", &on_one().replacen("[dataset]", &target, 1));
    };
    let said = |code: i32, arguments: &[&str]| {
        let stderr = unwrapped(&lab.exits(code, arguments).stderr);
        assert!(!lab.path().join("runs").exists(), "nothing has begun");
        stderr
    };
    let node = "[[target.node]]\nssh = \"no-such-host.invalid\"";
    target(node);
    let stderr = said(1, &["run", "watched.toml"]);
    assert!(stderr.contains("cannot connect to no-such-host.invalid"), "{stderr}");
    said(1, &["clean", "--hosts", "watched.toml"]);

    target(&format!("ssh_config = \"nowhere\"\n{node}"));
    let stderr = said(2, &["run", "watched.toml"]);
    assert!(stderr.contains("`ssh_config`: cannot find nowhere"), "{stderr}");

    target("");
    let stderr = said(2, &["clean", "--hosts", "watched.toml"]);
    assert!(stderr.contains("[target] names no node to watch"), "{stderr}");
}

#[test]
fn files_of_a_cluster_that_are_not_there_are_refused_at_their_lines_by_a_plan_too() {
    let lab = Laboratory::new();
    let target = "[target]\nhosts = [\"127.0.0.1:1\"]\nkeyspace = \"lab\"\nuser = \"bench\"\n\
                  password_file = \"secret\"\ntls = { ca_file = \"ca.pem\" }\n[dataset]";
    lab.write("theirs.toml", &on_one().replacen("[dataset]", target, 1));
    for command in ["plan", "run"] {
        let stderr = unwrapped(&lab.exits(2, &[command, "theirs.toml"]).stderr);
        assert!(stderr.contains("`password_file`: cannot find secret"), "{stderr}");
        assert!(stderr.contains("`ca_file`: cannot find ca.pem"), "{stderr}");
    }
    lab.write("secret", "word");
    lab.write("ca.pem", "");
    let plan = lab.exits(0, &["plan", "theirs.toml"]).stdout;
    assert!(plan.contains("as it stands") && plan.contains("as stated"), "{plan}");
    assert!(!plan.contains("on this machine"), "nothing runs here: {plan}");
}

#[test]
fn a_password_that_is_nowhere_is_asked_for_before_anything_begins() {
    let lab = Laboratory::new();
    let target = "[target]\ndatabase = \"postgresql\"\nhosts = [\"127.0.0.1:1\"]\ndbname = \"app\"\nschema = \"lab\"\n\
                  user = \"bench\"\npassword_env = \"NOBODY_SETS_THIS\"\n[dataset]";
    lab.write("theirs.toml", &on_one().replacen("[dataset]", target, 1));
    let stderr = unwrapped(&lab.exits(2, &["run", "theirs.toml"]).stderr);
    assert!(stderr.contains("no password for user bench: NOBODY_SETS_THIS is not set"), "{stderr}");
    assert!(!lab.path().join("runs").exists(), "nothing has begun");
}

/// Without a word to a bucket.
#[test]
fn a_snapshot_in_a_bucket_is_refused_where_it_is_stated_wrongly_or_cannot_be_had() {
    let lab = Laboratory::new();
    lab.write(
        "shop.cql",
        "CREATE TABLE t (k int PRIMARY KEY);\n-- statement r weight 1\nSELECT * FROM t WHERE k = ?;\n",
    );
    let write = |dataset: &str, rest: &str| {
        let text = format!(
            "name = \"x\"\n[dataset]\n{dataset}\n[[configuration]]\nname = \"a\"\n\
             instance = {{ vcpus = 1, memory_gib = 2 }}\nmemory_limit_gib = 2\n\
             data_volume = {{ iops = 500, size_gib = 1 }}\n[[workload]]\ncql = \"shop.cql\"\n\
             [workload.tables.t]\npartitions = 9\n[load]\nconcurrency = [1]\nduration_s = 30\n\
             [provider.local]\nheap_mib = 256\n{rest}"
        );
        lab.write("own.toml", &text);
    };
    let bucket = "snapshot = \"s3://backups/monday\"";
    let with = |more: &str| format!("{bucket}\n{more}");
    for (dataset, words) in [
        (bucket.to_owned(), "a bucket needs its region"),
        (with("region = \"eu central\""), "region cannot be `eu central`"),
        (with("region = \"r\"\nprofile = \"\""), "profile cannot be ``"),
        ("snapshot = \"s3://Back_ups\"\nregion = \"r\"".to_owned(), "is no bucket with a prefix"),
        ("snapshot = \"s3://backups/../x\"\nregion = \"r\"".to_owned(), "is no bucket with a prefix"),
        ("snapshot = \"https://backups/monday\"".to_owned(), "is neither a directory nor a bucket"),
        ("snapshot = \"monday\"\nregion = \"r\"".to_owned(), "a directory has no region"),
        ("region = \"r\"".to_owned(), "`region` is for a snapshot"),
    ] {
        write(&dataset, "");
        let said = unwrapped(&lab.exits(2, &["run", "own.toml"]).stderr);
        assert!(said.contains(words) && said.contains("own.toml:"), "{words}: {said}");
    }
    // What only another machine would have.
    write(&with("region = \"r\""), "[provider.hosts]\ndatabase = [\"db1\"]\nclient = [\"load1\"]\n");
    let said = unwrapped(&lab.exits(2, &["plan", "own.toml", "--provider", "hosts"]).stderr);
    assert!(said.contains("a bucket's files are fetched to this machine alone so far"), "{said}");
    #[cfg(not(feature = "aws"))]
    {
        write(&with("region = \"r\""), "");
        let said = unwrapped(&lab.exits(2, &["run", "own.toml"]).stderr);
        assert!(said.contains("this iopslab was built without AWS"), "{said}");
    }
    assert!(!lab.path().join("runs").exists(), "nothing has begun");
}

#[test]
fn an_objective_that_cannot_hold_is_refused_with_the_nearest_name() {
    let stderr = refused(&format!("{SIMULATED}\n[objective]\np99_m = 10\n"));
    assert!(stderr.contains("did you mean `p99_ms`?"), "{stderr}");
    let stderr = refused(&format!("{SIMULATED}\n[objective]\nscan = {{ p99_ms = 10 }}\n[decision]\nmargin = 5\n"));
    assert!(stderr.contains("the objective bounds scan, and no workload does any"), "{stderr}");
    assert!(stderr.contains("margin cannot be 5"), "both at once: {stderr}");
}

#[test]
fn a_burst_where_there_is_no_bucket_is_refused_with_the_reason() {
    let stderr = refused(&GOOD.replacen("size_gib = 500 }", "size_gib = 500, burst = \"full\" }", 1));
    assert!(stderr.contains("gp3 500 GiB has no burst bucket"), "{stderr}");
}

/// What the file states and a simulation does not follow is reported before it starts.
#[test]
fn a_simulated_run_tells_what_has_no_effect() {
    let lab = Laboratory::new();
    let text = SIMULATED.replacen("[dataset]", "[target]\nversion = \"5.0.9\"\n[dataset]", 1);
    lab.write("good.toml", &text.replacen("repetitions = 6", "repetitions = 1", 1));
    let stderr = lab.exits(0, &["run", "good.toml", "--provider", "simulated"]).stderr;
    assert!(stderr.contains("without effect in a simulated run: [target] version"), "{stderr}");
}

/// The words of an error without the frame, the colours and the line breaks that a terminal gives them.
fn unwrapped(stderr: &str) -> String {
    let words = stderr.split_whitespace().filter(|word| !word.chars().all(|c| "│×╭╰─·├▶".contains(c)));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn help_shows_examples_for_every_verb_that_has_them() {
    let lab = Laboratory::new();
    let text = lab.exits(0, &["--help"]).stdout;
    for verb in ["run", "plan", "report", "load", "probe", "db", "doctor", "clean"] {
        assert!(text.contains(&format!("  {verb} ")), "{verb} is missing in:\n{text}");
    }
    assert!(lab.exits(0, &["run", "--help"]).stdout.contains("Examples:"));
}

/// The headline used to list all mistakes and each was drawn after it.
#[test]
fn every_mistake_is_shown_once_and_none_hides_another() {
    let records = GOOD.lines().find(|line| line.starts_with("records = ")).unwrap();
    let stderr = refused(
        &GOOD.replacen("repetitions = 3", "repetition = 3", 1).replacen("update = 0.2", "update = 0.3", 1).replacen(
            records,
            "records = 0",
            1,
        ),
    );
    for reported in ["unknown key `repetition`", "the proportions sum to 1.1, not 1", "records cannot be 0"] {
        assert_eq!(stderr.matches(reported).count(), 1, "{reported}: {stderr}");
    }
}

/// The matrix used to be printed before the refusal, and an empty run directory stayed.
#[test]
fn a_run_that_is_refused_shows_no_plan_and_leaves_no_directory() {
    let lab = Laboratory::new();
    lab.write("good.toml", GOOD);
    let work = lab.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let lock = std::fs::File::create(work.join("lock")).unwrap();
    let refused = |expected: &str, shows_plan: bool| {
        let stderr = lab
            .iopslab(&["run", "good.toml"])
            .env("IOPSLAB_WORK", &work)
            .env("IOPSLAB_CACHE", lab.path().join("cache"))
            .env("IOPSLAB_MAVEN_MIRROR", "http://127.0.0.1:9")
            .exits(1)
            .stderr;
        assert!(stderr.contains(expected), "{stderr}");
        assert_eq!(stderr.contains("Estimated time"), shows_plan, "{stderr}");
        let runs = std::fs::read_dir(lab.path().join("runs"));
        assert_eq!(runs.map_or(0, Iterator::count), 0, "{stderr}");
        assert!(!stderr.contains("--resume"), "there is nothing to go on with: {stderr}");
    };
    lock.lock().unwrap();
    refused("is in use by process", false);
    lock.unlock().unwrap();
    // What only the agent finds out, once it has begun.
    refused("127.0.0.1:9", true);
}

#[test]
#[cfg(not(feature = "aws"))]
fn a_build_without_aws_says_so() {
    let lab = Laboratory::new();
    let quotas = "\n[[provider.aws.site]]\nregion = \"us-east-1\"\nlimits = \"quotas\"\n";
    let text = include_str!("../../../examples/gp3-or-io2.toml").replace("region = ", "# region = ");
    lab.write("own.toml", &(text + quotas));
    let plan = ["plan", "own.toml", "--provider", "aws"];
    for arguments in [&["clean", "--aws", "--all"][..], &["catalog", "refresh"], &plan] {
        let stderr = one_line(&lab.exits(2, arguments).stderr);
        assert!(stderr.contains("built without AWS") && stderr.contains("--features aws"), "{stderr}");
    }
}

/// An experiment that says where machines of AWS would be reached.
fn on_aws(lab: &Laboratory) {
    let way = "\n[provider.aws]\ncontroller_cidr = \"203.0.113.7/32\"\npublic_address = true\n";
    lab.write("own.toml", &format!("{GOOD}{way}"));
}

#[test]
fn machines_that_cost_money_are_not_made_without_a_word() {
    let lab = Laboratory::new();
    on_aws(&lab);
    let said = |code: i32, arguments: &[&str], terraform: &str| {
        let said = lab.iopslab(arguments).env("IOPSLAB_TERRAFORM", terraform).exits(code);
        assert!(!lab.path().join("runs").exists(), "nothing is begun");
        said.stderr
    };
    let run = ["run", "own.toml", "--provider", "aws"];
    let stderr = said(1, &run, "no-such-terraform");
    assert!(stderr.contains("no-such-terraform") && stderr.contains("OpenTofu"), "{stderr}");
    // Says which version it is, and can do nothing else.
    let of_version = |version: &str| {
        let script = format!("#!/bin/sh\necho '{{\"terraform_version\":\"{version}\"}}'\n");
        let path = lab.write(version, &script);
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, executable).unwrap();
        path.display().to_string()
    };
    let terraform = of_version("1.11.4");
    let stderr = said(2, &run, &terraform);
    assert!(stderr.contains("USD an hour") && stderr.contains("--yes"), "{stderr}");
    let stderr = said(2, &[&run[..], &["--yes", "--max-cost", "0.5"]].concat(), &terraform);
    assert!(stderr.contains("may cost 0.50 USD: nothing was made"), "{stderr}");
    let stderr = said(1, &run, &of_version("1.4.7"));
    assert!(stderr.contains("is 1.4.7"), "{stderr}");
}

#[test]
fn what_is_for_aws_alone_is_refused_elsewhere() {
    let lab = Laboratory::new();
    on_aws(&lab);
    for flags in [&["--yes"][..], &["--max-cost", "5"]] {
        let stderr = lab.exits(2, &[&["run", "own.toml", "--provider", "simulated"], flags].concat()).stderr;
        assert!(stderr.contains("is for --provider aws"), "{stderr}");
    }
    let simulated = "name = \"s\"\n[dataset]\nrecords = 1000\n[[configuration]]\nname = \"a\"\n\
                     instance = { vcpus = 1, memory_gib = 8 }\ndata_volume = { iops = 100 }\n[[workload]]\n\
                     name = \"w\"\n\
                     read = 1.0\n[load]\nconcurrency = [4]\nrepetitions = 1\n";
    lab.write("s.toml", simulated);
    lab.exits(0, &["run", "s.toml", "--provider", "simulated"]);
    let run = lab.run_directory();
    let output = lab.exits(2, &["destroy", run.to_str().unwrap()]);
    assert!(output.stderr.contains("made no machines on AWS"));
}

#[test]
fn a_volume_that_nobody_sells_or_that_would_cover_files_is_refused_before_anything_is_made() {
    let lab = Laboratory::new();
    std::fs::create_dir_all(lab.path().join("full/of")).unwrap();
    let mount = lab.path().join("v").display().to_string();
    let covered = lab.path().join("full").display().to_string();
    for (arguments, reason) in [
        (vec!["gp9:100GiB"], "unknown volume type `gp9`"),
        (vec!["gp3"], "`gp3` is no volume"),
        (vec!["gp3:1GiB:90000"], "gp3 takes 3000 to 80000 IOPS"),
        (vec!["gp3:100GiB", "--burst", "baseline"], "gp3 100 GiB has no burst bucket"),
        (vec!["gp3:100GiB", "--scale", "0.5"], "--scale cannot be 0.5"),
        (vec!["gp3:100GiB", "--latency-us", "1e9"], "--latency-us cannot be 1000000000"),
        (vec!["gp3:100GiB", "--latency-sigma", "9"], "--latency-sigma cannot be 9"),
        (vec!["gp3:100GiB", "--era", "1999"], "gp3"),
        (vec!["gp3:100GiB", "--mount", &covered], "is not an empty directory"),
    ] {
        let mut all = vec!["volume"];
        all.extend(&arguments);
        if !arguments.contains(&"--mount") {
            all.extend(["--mount", &mount]);
        }
        let stderr = lab.exits(2, &all).stderr;
        assert!(stderr.contains(reason), "{arguments:?}: {stderr}");
    }
    assert!(!lab.path().join("v").exists());
}

#[test]
fn a_machine_that_can_serve_no_volumes_is_refused_before_anything_is_made() {
    let lab = Laboratory::new();
    lab.write("served.toml", &(GOOD.to_owned() + "volumes = \"served\"\n"));
    let stderr = lab.iopslab_without_fuse(&["run", "served.toml"]).exits(1).stderr;
    assert!(stderr.contains("volumes cannot be served: /dev/fuse"), "{stderr}");
    assert!(stderr.contains("volumes = \"throttled\""), "{stderr}");
    assert!(!lab.path().join("runs").exists(), "nothing was begun");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// A file that does not say how volumes are emulated has the throttle there, and the plan says so.
#[test]
fn a_machine_that_can_serve_no_volumes_throttles_those_of_a_file_that_leaves_it_open() {
    let lab = Laboratory::new();
    lab.write("open.toml", GOOD);
    let stdout = lab.iopslab_without_fuse(&["plan", "open.toml"]).exits(0).stdout;
    assert!(!stdout.contains("served: reads and writes"), "{stdout}");
    let words = one_line(&stdout);
    let expected = "note: the kernel's throttle holds the volumes, and no process serves them: volumes cannot be \
                    served: /dev/fuse";
    assert!(words.contains(expected), "{stdout}");
}

#[test]
fn a_volume_that_this_machine_cannot_serve_is_refused_before_anything_is_made() {
    let lab = Laboratory::new();
    let stderr = lab.iopslab_without_fuse(&["volume", "gp3:10GiB", "--mount", "v"]).exits(1).stderr;
    assert!(stderr.starts_with("error: volumes cannot be served: /dev/fuse"), "{stderr}");
    assert!(!lab.path().join("v").exists() && !lab.work().exists(), "nothing was begun");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// Nobody is asked before all that was typed has been looked at: the port is one at which nobody listens.
#[test]
fn a_cluster_is_not_watched_for_flags_that_cannot_be() {
    let lab = Laboratory::new();
    lab.write("there.toml", "");
    lab.write("new.cql", "");
    lab.write("asked.jsonl", "secret\n");
    let today = ["--instance", "r6i.2xlarge", "--data-volume", "gp3:500GiB"];
    let of_postgresql = ["--database", "postgresql", "--dbname", "app", "--user", "watcher"];
    let cases: &[(&[&str], &str)] = &[
        (&["--instance", "r6i.2xlrage"], "unknown instance type `r6i.2xlrage`"),
        (&["--instance", "r6i.2xlarge"], "r6i.2xlarge has no disks of its own, and no volume is stated"),
        (&["--instance", "r6i.2xlarge", "--data-volume", "gp9:500GiB"], "unknown volume type `gp9`"),
        (&["--instance", "r6i.2xlarge", "--data-volume", "gp3:500GiB:900000"], "900000"),
        (&["--data-volume", "gp3:500GiB"], "--instance"),
        (&["--out", "new.toml"], "--instance"),
        (&[today.as_slice(), &["--out", "there.toml"]].concat(), "there.toml is there already"),
        (&[today.as_slice(), &["--out", "new.toml", "--query-log", "x"]].concat(), "new.cql is there already"),
        (
            &[today.as_slice(), &["--out", "asked.cql", "--query-log", "x"]].concat(),
            "asked.cql is what the file of statements beside it would be called",
        ),
        (&["--minutes", "0"], "expected minutes, 0.05 to 10080"),
        (&["--data", "/data"], "--ssh"),
        (&["--ssh", "db1,db1"], "--ssh names db1 twice"),
        (&["--ssh", "db1", "--ssh-config", "nowhere"], "--ssh-config: cannot find nowhere"),
        (&["--query-log", "nowhere"], "--query-log: cannot read nowhere"),
        (&["--query-log", "asked.jsonl"], "asked.jsonl: line 1: expected value"),
        (&["--user", "watcher"], "no password for user watcher"),
        (&["--region", "atlantis-1"], "no prices of region `atlantis-1`"),
        (&["--dbname", "app"], "--dbname is for a server of PostgreSQL"),
        (&["--database", "postgresql"], "which of its databases, is not stated"),
        (&["--database", "postgresql", "--dbname", "app"], "who asks, is not stated"),
        (&[of_postgresql.as_slice(), &["--hosts", "db2"]].concat(), "--hosts names several servers"),
        (&[of_postgresql.as_slice(), &["--ssh", "db1"]].concat(), "--ssh: on which device PostgreSQL has its data"),
        (&[of_postgresql.as_slice(), &["--query-log", "x"]].concat(), "--query-log is of a cluster that speaks CQL"),
        (&["--database", "oracle"], "invalid value 'oracle'"),
    ];
    for (flags, expected) in cases {
        let stderr = lab.exits(2, &[&["profile", "--hosts", "127.0.0.1:1"], *flags].concat()).stderr;
        assert!(stderr.contains(expected), "{flags:?}: {stderr}");
    }
    // Whoever does not answer is named.
    let stderr = lab.exits(1, &["profile", "--hosts", "127.0.0.1:1"]).stderr;
    assert!(stderr.contains("cannot connect to CQL at 127.0.0.1:1"), "{stderr}");
    lab.write("password", "hunter2");
    let by_sql = [&["profile", "--hosts", "127.0.0.1:1", "--password-file", "password"], &of_postgresql[..]].concat();
    let stderr = lab.exits(1, &by_sql).stderr;
    assert!(stderr.contains("cannot connect to PostgreSQL"), "{stderr}");
    assert!(!lab.path().join("new.toml").exists());
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
