//! What a killed run leaves of served volumes: cleaning takes all of it away, whoever of server and owner is gone.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use storage::{VolumeServer, clean};
use volume::Effect;

use super::{fault, limited, mounted, server, signal, write_new, write_pattern};
use crate::machine::Machine;

/// Everything is there, its owner is forgotten; what `happens` then, and cleaning leaves nothing.
fn cleaned_after(machine: &Machine, happens: impl FnOnce(Arc<VolumeServer>)) {
    let server = server(machine);
    let pid = server.pid().unwrap();
    let volume = mounted(machine, &server, limited(500.0, None));
    write_pattern(&machine.path("data/file"), 3 << 20);
    std::mem::forget(volume);
    assert!(machine.leftovers().len() >= 3, "{:?}", machine.leftovers());
    happens(server);
    let began = Instant::now();
    let cleaned = clean(&machine.ledger_path).unwrap();
    println!("{:?}: {:#?}", began.elapsed(), cleaned.removed);
    assert!(cleaned.is_complete(), "{cleaned:?}");
    assert!(machine.leftovers().is_empty(), "{:?}", machine.leftovers());
    assert_eq!(storage::start_time_ticks(pid), None, "the server survives");
    assert!(!machine.path("data.img").exists() && !machine.path("data.served").exists());
}

pub fn server_killed(machine: &Machine) {
    cleaned_after(machine, |server| {
        signal(&server, Signal::KILL);
        assert!(write_new(machine).is_err(), "a volume without its server answers with errors");
        std::mem::forget(server);
    });
}

pub fn server_stopped(machine: &Machine) {
    cleaned_after(machine, |server| {
        signal(&server, Signal::STOP);
        std::mem::forget(server);
    });
}

/// Nobody cleans: the server ends all the same. Meanwhile it holds no pipe but those to its owner.
pub fn left_alone(machine: &Machine) {
    cleaned_after(machine, |server| {
        let pid = server.pid().unwrap();
        let open = |pid: &str, number: u32| fs::read_link(format!("/proc/{pid}/fd/{number}")).unwrap();
        for number in 0..3 {
            let its = open(&pid.to_string(), number);
            assert!(its.display().to_string().starts_with("pipe:"), "{number}: {}", its.display());
            assert!((0..3).all(|own| open("self", own) != its), "{number}: {}", its.display());
        }
        let began = Instant::now();
        server.let_go();
        while storage::start_time_ticks(pid).is_some() {
            assert!(began.elapsed() < Duration::from_secs(30), "a server that nobody leads goes on");
            std::thread::sleep(Duration::from_millis(50));
        }
        println!("a server that was left has ended after {:?}", began.elapsed());
        assert!(began.elapsed() > Duration::from_secs(5), "whoever cleans has time to unmount in order");
        assert!(write_new(machine).is_err(), "a volume without its server answers with errors");
    });
}

/// As when the process that holds the server's stdin is killed.
pub fn owner_gone(machine: &Machine) {
    cleaned_after(machine, |server| {
        // A volume forgotten above holds it, too; its memory is leaked, so that this is the last way to it.
        server.set_faults_of("data", &[fault(Effect::Stall, None)]).unwrap();
        server.let_go();
    });
}
