//! `iopslab agent`: serves a controller on stdin and stdout.
//!
//! One request at a time; `Cancel` ends it early. When stdin closes, or a signal asks to stop, the agent undoes
//! everything it did and exits, so that a killed controller leaves nothing behind.

mod absence;
mod backing;
mod cache_host;
mod cache_tier;
mod check;
mod client;
mod compilers;
mod database;
mod disk_fault;
mod foreign_node;
mod fork;
mod host;
mod limits;
mod loading;
mod logs;
mod outbox;
mod pace;
mod probe;
mod product;
mod restored;
mod sampling;
mod server;
mod shared;
mod store;
mod trial;
mod undoing;
mod volumes;
mod warming;
mod watchdog;

pub use probe::{ProbedVolume, probe_configuration};
pub use volumes::CGROUP_ROOT;
pub use warming::{ReadFilesArgs, serve as read_files};

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::{Args, ValueEnum};
use wire::{DatabaseRequest, Event, Reply, Request, RequestError, Result};

use outbox::Outbox;
use undoing::Undoing;
use watchdog::Heard;

/// How the agent is started.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// What this agent is for
    #[arg(long, value_enum)]
    role: AgentRole,
    /// End, and undo everything, when nothing has been heard of the controller for so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    watchdog_s: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AgentRole {
    /// Owns volumes and the database.
    Database,
    /// Has a node of a cache tier.
    Cache,
    /// Makes the load.
    Client,
}

/// The scheduling priority of a client (nice(2)): where it shares its machine with the database, a request is sent when
/// it is due, and not when the database, whose cgroup has a hundred times the usual weight, leaves it a CPU. It needs
/// next to none. At -20 a thread weighs 88 times the usual (sched(7)).
const CLIENT_PRIORITY: i32 = -20;

/// What the request loop handles; `End` is a closed stdin or a signal.
#[expect(clippy::large_enum_variant, reason = "a handful of values in the life of a process")]
enum Work {
    Request(Request),
    End,
}

/// Handles requests until the controller is gone.
pub fn serve(args: &AgentArgs) {
    if args.role == AgentRole::Client
        // Threads that begin later inherit it.
        && let Err(error) = rustix::process::setpriority_process(None, CLIENT_PRIORITY)
    {
        // The send lag of each trial says what that costs.
        tracing::info!("the client has no higher priority than the database: {error}");
    }
    let stop = Arc::new(AtomicBool::new(false));
    let outbox = Outbox::new(Arc::clone(&stop));
    let (sender, work) = channel();
    let (heard, ledger) = (Arc::new(Heard::new()), Arc::new(OnceLock::new()));
    let closing = Arc::new(AtomicBool::new(false));
    read_stdin(sender.clone(), Arc::clone(&stop), Arc::clone(&heard));
    if let Some(seconds) = args.watchdog_s {
        let (cancelled, sender, ledger) = (Arc::clone(&stop), sender.clone(), Arc::clone(&ledger));
        let (mut undoing, is_closing) = (Undoing::new(Arc::clone(&ledger)), Arc::clone(&closing));
        let on_silence = move || {
            cancelled.store(true, Ordering::Relaxed);
            let _ = sender.send(Work::End);
        };
        let at_last = move || watchdog::undo_and_end(&ledger);
        // A request that is still under way moves bytes, too, and undoes nothing.
        let advances = move || undoing.advances() && is_closing.load(Ordering::Relaxed);
        watchdog::watch(heard, Duration::from_secs(seconds), on_silence, advances, at_last);
    }
    let on_signal = Arc::clone(&stop);
    if let Err(error) = process::interrupt::install_once(move || {
        on_signal.store(true, Ordering::Relaxed);
        let _ = sender.send(Work::End);
    }) {
        tracing::warn!("signals will end this agent without cleaning up: {error}");
    }
    match args.role {
        AgentRole::Database => {
            process::machine::make_readable();
            let mut host = database::DatabaseHost::new(outbox.clone(), Arc::clone(&ledger));
            answer_for_host(&work, &outbox, (ledger, &*closing), |request| host.handle(request));
            host.close();
        }
        AgentRole::Cache => {
            let mut host = cache_host::CacheHost::new(outbox.clone(), Arc::clone(&ledger));
            answer_for_host(&work, &outbox, (ledger, &*closing), |request| host.handle(request));
            host.close();
        }
        AgentRole::Client => answer(&work, &outbox, |request| match request {
            Request::Client(request) => client::handle(request, &outbox),
            other => Err(RequestError::new(format!("a client agent cannot do {other:?}"))),
        }),
    }
}

/// Reads stdin on its own thread, so that `Cancel` and the end of the stream are seen while a request is under way.
fn read_stdin(to: Sender<Work>, cancelled: Arc<AtomicBool>, heard: Arc<Heard>) {
    std::thread::spawn(move || {
        let mut lines = std::io::stdin().lock();
        loop {
            let said = wire::read(&mut lines);
            if heard.is_over() {
                return;
            }
            heard.note();
            match said {
                Ok(Some(Request::Alive)) => {}
                Ok(Some(Request::Cancel)) => cancelled.store(true, Ordering::Relaxed),
                Ok(Some(request)) => {
                    // A new request comes only after the reply to the one before: an old Cancel must not reach it.
                    cancelled.store(false, Ordering::Relaxed);
                    if to.send(Work::Request(request)).is_err() {
                        return;
                    }
                }
                Ok(None) | Err(_) => {
                    cancelled.store(true, Ordering::Relaxed);
                    let _ = to.send(Work::End);
                    return;
                }
            }
        }
    });
}

/// The same on a host that has something to undo at its end, which comes next.
fn answer_for_host(
    work: &Receiver<Work>,
    outbox: &Outbox,
    (ledger, closing): (Arc<OnceLock<PathBuf>>, &AtomicBool),
    mut handle: impl FnMut(DatabaseRequest) -> Result<Reply>,
) {
    answer(work, outbox, |request| match request {
        Request::Database(request) => handle(request),
        other => Err(RequestError::new(format!("the agent of a host cannot do {other:?}"))),
    });
    // Whoever waits for its end hears that it goes on, and that it comes nearer.
    outbox.works(true);
    closing.store(true, Ordering::Relaxed);
    Undoing::new(ledger).report(outbox.clone());
}

/// Answers requests until there are no more.
fn answer(work: &Receiver<Work>, outbox: &Outbox, mut handle: impl FnMut(Request) -> Result<Reply>) {
    outbox.report_work();
    while let Ok(Work::Request(request)) = work.recv() {
        outbox.works(true);
        let reply = match request {
            Request::Hello { protocol } if protocol != wire::PROTOCOL => Err(RequestError::new(format!(
                "the controller speaks protocol {protocol}, this agent {}",
                wire::PROTOCOL
            ))
            .help("use the same iopslab binary on every host")),
            Request::Clock => Ok(Reply::Clock { unix_ms: Some(process::machine::unix_ms()) }),
            Request::Hello { .. } => Ok(Reply::Hello {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                environment: Box::new(monitor::environment(std::path::Path::new("/"))),
            }),
            other => handle(other),
        };
        outbox.works(false);
        outbox.send(&Event::Reply(reply));
    }
}
