//! A work directory, or a cache, that `nobody` has made before root has: a run is given it, on this machine and on one
//! by SSH, and so is an agent by itself, as if the directory had been exchanged after a run had looked at it.

use std::io::BufReader;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use experiment::{Database, MachineStorage};
use wire::{DatabaseRequest, Event, MachineUse, Request, UnderTest};

use crate::hostile_stories::{Belongings, as_nobody, everybodys, is_root};
use crate::support::{Laboratory, Said, by_script};

const QUICKSTART: &str = include_str!("../../../examples/quickstart.toml");
/// Why, for whoever runs as root.
const REFUSED: &str = "can be changed by others than user 0";

/// Exit code, and what was said.
fn ended(mut command: Command) -> (Option<i32>, String) {
    let said = Said::of(&mut command);
    (said.code, said.all())
}

#[test]
fn a_run_believes_nothing_of_a_work_directory_that_another_user_has_made_first() {
    if !is_root() {
        return;
    }
    let (lab, place, mut mine) = (Laboratory::new(), everybodys(), Belongings::new());
    let work = mine.wanted_by_nobody(place.path());
    lab.write("quickstart.toml", QUICKSTART);
    let mut run = lab.iopslab(&["run", "quickstart.toml"]);
    run.env("IOPSLAB_WORK", &work);
    let (code, said) = ended(run);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(work.to_str().unwrap()) && said.contains(REFUSED), "{said}");
    assert!(!lab.path().join("runs").exists(), "nothing was begun");
    mine.are_untouched();
}

/// What lies there is run, and a list of what was verified before would spare it the look at its hash.
#[test]
fn a_run_takes_nothing_from_a_cache_that_another_user_has_made_first() {
    if !is_root() {
        return;
    }
    let (lab, place) = (Laboratory::new(), everybodys());
    as_nobody(place.path(), "mkdir -p cache/cassandra/5.0.9; echo x >cache/cassandra/5.0.9/x.jar");
    let cache = place.path().join("cache");
    lab.write("quickstart.toml", QUICKSTART);
    let mut run = lab.iopslab(&["run", "quickstart.toml"]);
    run.env("IOPSLAB_CACHE", &cache).env("IOPSLAB_MAVEN_MIRROR", "http://127.0.0.1:9");
    let (code, said) = ended(run);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(cache.to_str().unwrap()) && said.contains(REFUSED), "{said}");
    assert_eq!(std::fs::read_dir(cache).unwrap().count(), 1, "nothing was put there");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// The machines are this one: the last word is what their shells would be given.
const SSH: &str = "#!/bin/sh\nfor word; do :; done\nexec sh -c \"$word\"\n";

#[test]
fn a_machine_by_ssh_believes_nothing_of_it_either_and_is_named() {
    if !is_root() {
        return;
    }
    let (lab, place, mut mine) = (Laboratory::new(), everybodys(), Belongings::new());
    let work = mine.wanted_by_nobody(place.path());
    let data = lab.path().join("data");
    std::fs::create_dir(&data).unwrap();
    by_script::write(&lab, SSH, &work, &data);
    let over_ssh = |arguments: &[&str]| ended(by_script::command(&lab, arguments));
    let (code, said) = over_ssh(&["run", "hosts.toml", "--provider", "hosts"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("db1: {}", work.display())) && said.contains(REFUSED), "{said}");
    assert!(!lab.path().join("runs").exists(), "nothing was begun");
    mine.are_untouched();
    let (code, said) = over_ssh(&["clean", "--hosts", "hosts.toml"]);
    assert_eq!(code, Some(1), "{said}");
    mine.are_untouched();
}

/// What an agent that is asked to take a host answers.
fn opened(lab: &Laboratory, task: UnderTest) -> Result<wire::Reply, wire::RequestError> {
    let mut command = lab.iopslab(&["agent", "--role", "database"]);
    let mut agent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, stdout) = (agent.stdin.take().unwrap(), agent.stdout.take().unwrap());
    wire::write(&mut stdin, &Request::Database(DatabaseRequest::Open(Box::new(task)))).unwrap();
    let mut lines = BufReader::new(stdout);
    let answer = loop {
        match wire::read::<Event>(&mut lines).unwrap() {
            Some(Event::Reply(answer)) => break answer,
            Some(_) => {}
            None => panic!("the agent has ended without an answer"),
        }
    };
    drop(stdin);
    assert!(agent.wait().unwrap().success());
    answer
}

/// A run has looked at the directory before: this is the moment at which its ledger would be carried out.
#[test]
fn an_agent_that_takes_a_host_undoes_nothing_that_a_forged_ledger_names() {
    if !is_root() {
        return;
    }
    let (lab, place, mut mine) = (Laboratory::new(), everybodys(), Belongings::new());
    let work = mine.wanted_by_nobody(place.path()).display().to_string();
    let job = experiment::testing::small_job("");
    let Database::Started(started) = &job.plan.target.database else { panic!("it is started") };
    let by_ssh = MachineUse {
        work_directory: Some(work.clone()),
        data: Some(MachineStorage::Directory(lab.path().display().to_string())),
        ..MachineUse::default()
    };
    for machine_use in [None, Some(by_ssh)] {
        let task = UnderTest {
            run: "hostile".to_owned(),
            work_directory: work.clone(),
            machine_use,
            addresses: vec![Ipv4Addr::LOCALHOST],
            index: 0,
            on_machine: 0,
            cache_directory: lab.path().join("cache").display().to_string(),
            started: started.clone(),
            versions: vec![started.version.clone()],
            dataset: job.plan.dataset,
            own: None,
            needed_bytes: 0,
            log_bytes: 0,
            patience: job.plan.patience,
            beside: false,
        };
        let refused = opened(&lab, task).unwrap_err().message;
        assert!(refused.contains(&work) && refused.contains(REFUSED), "{refused}");
        mine.are_untouched();
    }
}
