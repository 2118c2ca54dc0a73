//! Agents as a shell script: what becomes of a run's agents when they end, fall silent, or say what nobody asked.

use std::os::unix::fs::PermissionsExt as _;

use super::conversation::{CANCEL_PATIENCE, all_or_gravest};
use super::*;
use crate::run_failure::Next;
use provider::local::Local;
use wire::{ClientRequest, DatabaseRequest, Reply, Request, RequestError};

/// Agents as a shell script. The first client that is asked for something is killed; what begins as `idle` ends
/// before that, and its database waits for it; a `twice` database answers twice; an `older` one is of another
/// version, and a `lost` one ends before it is asked; the first `nonsense` client says a second that no trial has, the
/// first `busy` one that it works, on and on. All others answer.
const AGENTS: &str = r#"#!/bin/sh
case "$(basename "$0") $3" in
asked*client) [ -e "$0.lost" ] || { read -r request; : > "$0.lost"; kill -9 $$; } ;;
idle*client) [ -e "$0.lost" ] || { : > "$0.lost"; exit 7; } ;;
idle*database) while [ ! -e "$0.lost" ]; do sleep 0.05; done; sleep 0.5 ;;
twice*database) read -r request; echo '{"reply":{"Ok":"closed"}}' ; echo '{"reply":{"Ok":"closed"}}' ;;
twice*client) sleep 0.5 ;;
lost*database) kill -9 $$ ;;
silent*client) [ -e "$0.silent" ] || { : > "$0.silent"; read -r request; echo '"at_work"'; kill -STOP $$; } ;;
silent*database) read -r request; exec sleep 2 ;;
stopped*client) kill -STOP $$ ;;
nonsense*client) [ -e "$0.said" ] || {
    : > "$0.said"; read -r request; echo '{"second":{"t_s":1e300,"operations":1,"errors":0,"p50_us":1,"p99_us":1}}'
} ;;
busy*client) [ -e "$0.busy" ] || {
    : > "$0.busy"; read -r request; while :; do echo '"at_work"'; sleep 0.1; done
} ;;
older*database)
    read -r request; echo '{"reply":{"Err":{"message":"other protocol","help":"same","cancelled":false}}}' ;;
esac
while read -r request; do echo '{"reply":{"Ok":"closed"}}'; done
"#;

fn agents(directory: &Path, name: &str) -> Agents {
    let binary = directory.join(name);
    std::fs::write(&binary, AGENTS).unwrap();
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
    let channel = std::sync::mpsc::channel();
    let mut agents = Agents::new(Box::new(Local::new(binary)), channel, &Screen::new(None), &Arc::default());
    agents.start(&[HostId::DATABASE, HostId::CLIENT]).unwrap();
    agents
}

fn close(role: Role) -> Request {
    match role {
        Role::Database | Role::Cache => Request::Database(DatabaseRequest::Close),
        Role::Client => Request::Client(ClientRequest::Close),
    }
}

fn ask(agents: &mut Agents, host: HostId) -> Result<Reply> {
    let answers = agents.converse(vec![(host, close(host.role))], &mut |_, _| Ok(()));
    answers.unwrap().remove(&host).unwrap()
}

#[test]
fn where_each_host_answers_for_itself_a_lost_one_costs_its_own_answer() {
    let directory = tempfile::tempdir().unwrap();
    let mut agents = agents(directory.path(), "lost");
    agents.each_for_itself = true;
    let both = [HostId::DATABASE, HostId::CLIENT].map(|host| (host, close(host.role)));
    let answers = agents.converse(both.to_vec(), &mut |_, _| Ok(())).unwrap();
    assert!(matches!(answers[&HostId::DATABASE], Err(Failure::HostLost { .. })), "{answers:?}");
    assert!(matches!(answers[&HostId::CLIENT], Ok(Reply::Closed)), "{answers:?}");
    assert!(agents.is_lost(HostId::DATABASE) && !agents.is_lost(HostId::CLIENT));
}

/// So a machine that is taken away while its volume is modified is a host that is lost: no trial asks it for anything.
#[test]
fn whoever_reads_the_clock_of_a_host_that_is_gone_hears_that_it_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let mut agents = agents(directory.path(), "lost");
    let gone = agents.clocks(&[HostId::DATABASE]).unwrap_err();
    assert!(matches!(gone, Failure::HostLost { .. }), "{gone:?}");
}

#[test]
fn a_lost_client_costs_what_it_was_doing_and_nothing_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut asked = agents(directory.path(), "asked");
    let Err(Failure::ClientLost { how }) = ask(&mut asked, HostId::CLIENT) else {
        panic!("the client was killed while it was asked");
    };
    assert!(how.contains("the client agent was lost") && how.contains("SIGKILL"), "{how}");
    assert!(matches!(ask(&mut asked, HostId::DATABASE), Ok(Reply::Closed)));
    assert!(matches!(ask(&mut asked, HostId::CLIENT), Ok(Reply::Closed)), "another one answers");

    // Lost while it was idle: nothing is lost.
    let mut idle = agents(directory.path(), "idle");
    assert!(matches!(ask(&mut idle, HostId::DATABASE), Ok(Reply::Closed)));
    assert!(matches!(ask(&mut idle, HostId::CLIENT), Ok(Reply::Closed)));
}

/// Such a second ended the controller, and left its machines to nobody.
#[test]
fn an_agent_that_says_what_no_trial_has_is_lost_as_one_that_speaks_nonsense_is() {
    let directory = tempfile::tempdir().unwrap();
    let mut agents = agents(directory.path(), "nonsense");
    let Err(Failure::ClientLost { how }) = ask(&mut agents, HostId::CLIENT) else {
        panic!("nothing of a trial takes so long");
    };
    assert!(how.starts_with("the client agent was lost: it said what cannot be: t_s of a second is 1e300"), "{how}");
    assert!(matches!(ask(&mut agents, HostId::DATABASE), Ok(Reply::Closed)));
    assert!(matches!(ask(&mut agents, HostId::CLIENT), Ok(Reply::Closed)), "another one answers");
}

/// What works and what says so are two threads: whoever hangs goes on saying that it works.
#[test]
fn an_agent_that_works_on_and_on_is_given_up_when_its_answer_is_long_due() {
    let directory = tempfile::tempdir().unwrap();
    let mut agents = agents(directory.path(), "busy");
    // Six minutes, in 0.4 s.
    agents.work.tempo = 1e-3;
    let began = Instant::now();
    let Err(Failure::ClientLost { how }) = ask(&mut agents, HostId::CLIENT) else {
        panic!("the client never answers");
    };
    let words = "the client agent was lost: it goes on long after what it was asked for should have ended";
    assert_eq!(how, words);
    assert!(began.elapsed() > Duration::from_millis(300), "it had its time: {:?}", began.elapsed());
    agents.work.tempo = 1.0;
    assert!(matches!(ask(&mut agents, HostId::DATABASE), Ok(Reply::Closed)));
    assert!(matches!(ask(&mut agents, HostId::CLIENT), Ok(Reply::Closed)), "another one answers");
}

/// A client that is stopped (SIGSTOP) in the midst of its work, and what a machine that hangs looks like.
#[test]
fn a_host_that_says_nothing_is_given_up_by_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let mut agents = agents(directory.path(), "silent");
    agents.silence = Duration::from_millis(300);
    let Err(Failure::ClientLost { how }) = ask(&mut agents, HostId::CLIENT) else {
        panic!("the client says nothing");
    };
    assert_eq!(how, "the client agent was lost: it has said nothing for 0 s");
    // Another one is started in its place, and nothing of the first one is taken for it.
    agents.silence = SILENCE;
    assert!(matches!(ask(&mut agents, HostId::CLIENT), Ok(Reply::Closed)));

    agents.silence = Duration::from_millis(300);
    let hello = |host| (host, Request::Hello { protocol: wire::PROTOCOL });
    let gone = agents.call_all(vec![hello(HostId::database(1))], Ok).unwrap_err();
    assert_eq!(
        (gone.message().as_str(), gone.next()),
        ("the database-2 agent is gone: it has said nothing for 0 s", Next::RunEnds)
    );
}

/// A client that was stopped (SIGSTOP) neither answers nor ends: both waits have their bounds, and nobody is sent to
/// clean what nothing was made of.
#[test]
fn who_interrupts_a_run_does_not_wait_for_a_client_that_is_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let mut agents = agents(directory.path(), "stopped");
    agents.to.send(Incoming::Interrupt).unwrap();
    let began = Instant::now();
    let asked = agents.converse(vec![(HostId::CLIENT, close(Role::Client))], &mut |_, _| Ok(()));
    assert!(matches!(asked, Err(Failure::Interrupted(None))));
    agents.close();
    let took = began.elapsed();
    let bound = CANCEL_PATIENCE + Duration::from_secs(5 + 2);
    assert!(took < bound + Duration::from_secs(20), "{took:?}");
}

#[test]
fn several_hosts_are_asked_at_the_same_time_and_each_answers_for_itself() {
    let directory = tempfile::tempdir().unwrap();
    let mut agents = agents(directory.path(), "plain");
    let hosts = [HostId::DATABASE, HostId::database(1), HostId::CLIENT, HostId::client(1)];
    let requests = hosts.map(|host| (host, close(host.role)));
    let answers = agents.converse(requests.to_vec(), &mut |_, _| Ok(())).unwrap();
    assert_eq!(answers.len(), 4);
    assert!(answers.values().all(|answer| matches!(answer, Ok(Reply::Closed))));
}

#[test]
fn a_host_of_another_version_is_refused_by_its_name_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let mut agents = agents(directory.path(), "older");
    let hello = |host| {
        let protocol = wire::PROTOCOL;
        (host, Request::Hello { protocol })
    };
    let requests = vec![hello(HostId::DATABASE), hello(HostId::CLIENT)];
    let refused = failure::Failure::from(agents.call_all(requests, Ok).unwrap_err());
    let shown = (refused.code(), refused.message.as_str(), refused.help.as_deref());
    assert_eq!(shown, (1, "database: other protocol", Some("same")));
}

#[test]
fn a_host_that_was_called_off_says_less_than_the_one_that_failed() {
    let refused = |host, message: &str, cancelled| {
        let error = RequestError { message: message.to_owned(), help: None, cancelled };
        let host = Some(host);
        Err(Failure::Refused { host, error })
    };
    let [first, second, third] = [0, 1, 2].map(HostId::database);
    let answers = BTreeMap::from([
        (first, refused(first, "cancelled", true)),
        (second, refused(second, "no space left", false)),
        (third, refused(third, "cancelled", true)),
    ]);
    let (host, failure) = all_or_gravest(answers).unwrap_err();
    assert_eq!((host, failure.message().as_str()), (second, "database-2: no space left"));
    let how = "killed".to_owned();
    let answers = BTreeMap::from([
        (HostId::CLIENT, Err(Failure::ClientLost { how })),
        (HostId::client(1), refused(HostId::client(1), "cancelled", true)),
    ]);
    assert_eq!(all_or_gravest(answers).unwrap_err().0, HostId::CLIENT);
}

#[test]
fn an_answer_that_nobody_asked_for_is_never_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let mut agents = agents(directory.path(), "twice");
    assert!(matches!(ask(&mut agents, HostId::DATABASE), Ok(Reply::Closed)));
    let second = agents.converse(vec![(HostId::CLIENT, close(Role::Client))], &mut |_, _| Ok(()));
    let message = second.unwrap_err().message();
    assert!(message.contains("database agent gave an answer that it was not asked for"), "{message}");
}

/// Its files and processes are gone when the run has ended, and it is reported what they were.
#[test]
fn what_an_agent_leaves_on_this_machine_is_undone_by_whoever_ends_it() {
    let work = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&WorkDirectory::ledger_path_in(work.path())).unwrap();
    let here = work.path().to_owned();
    let undone = || undone_after(HostId::DATABASE, Some((here.as_path(), None)), false);
    assert_eq!(undone_after(HostId::CLIENT, None, true), None);
    assert_eq!(undone_after(HostId::DATABASE, None, false), None, "it was not opened");
    assert_eq!(undone(), None, "it has made nothing");
    let path = here.join("image");
    std::fs::write(&path, "").unwrap();
    ledger.intend(storage::LedgerItem::File { path: path.clone() }).unwrap();
    assert_eq!(undone(), Some(format!("what it had left is removed:\n  file {}", path.display())));
    assert!(!path.exists());
    // What cannot be removed is for the user to see to.
    std::fs::create_dir(&path).unwrap();
    ledger.intend(storage::LedgerItem::File { path }).unwrap();
    let words = undone().unwrap();
    assert!(words.contains(&format!("goes with: iopslab clean --work-directory {} (file ", here.display())), "{words}");
    let words = undone_after(HostId::DATABASE, None, true).unwrap();
    assert!(words.ends_with("iopslab clean --hosts"), "{words}");
}

/// A run that came next had the directory, and had undone what was there: it was waited for, and `clean` was advised.
#[test]
fn what_another_run_has_made_since_in_the_same_directory_is_its_own() {
    let work = tempfile::tempdir().unwrap();
    let here = work.path().canonicalize().unwrap();
    let taken = WorkDirectory::lock(&here).unwrap();
    let ledger = Ledger::open(&taken.ledger_path()).unwrap();
    let path = here.join("image");
    std::fs::write(&path, "").unwrap();
    ledger.intend(storage::LedgerItem::File { path: path.clone() }).unwrap();
    let own = std::process::id();
    let undone_after = |pid| undone_after(HostId::DATABASE, Some((here.as_path(), Some(pid))), false);
    let began = Instant::now();
    assert_eq!(undone_after(own + 1), None);
    assert!(began.elapsed() < Duration::from_secs(15) && path.exists(), "{:?}", began.elapsed());
    // The agent's own process is waited for, however slowly it ends.
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            drop(taken);
        });
        assert_eq!(undone_after(own), Some(format!("what it had left is removed:\n  file {}", path.display())));
    });
}

/// As a database's agent that is stopped in the midst of its clean-up: another process has its directory until it ends.
#[test]
fn an_agent_that_is_killed_or_lost_leaves_nothing_on_this_machine() {
    let (directory, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for name in ["plain", "lost"] {
        let mut agents = agents(directory.path(), name);
        agents.works_here(HostId::DATABASE, work.path());
        let ledger = Ledger::open(&WorkDirectory::ledger_path_in(work.path())).unwrap();
        let path = work.path().join("image");
        std::fs::write(&path, "").unwrap();
        ledger.intend(storage::LedgerItem::File { path: path.clone() }).unwrap();
        agents.close();
        // One that has ended in order has said by its ledger what is meant to stay.
        assert_eq!(path.exists(), name == "plain", "{name}");
    }
}
