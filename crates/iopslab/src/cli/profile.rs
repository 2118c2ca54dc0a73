//! `iopslab profile`: a cluster that runs, or a server of PostgreSQL, is watched, and judged by what was seen of it.
//! Nothing of it is written or altered.

mod args;
mod nodes;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::catalog::{Basis, Catalog, ClusterRequest};
use ::profile::{HostSeen, Observation, Profile};
use controller::{Agents, Observing, Screen, not_watched_any_more};
use database::ReadRecording;
use experiment::WatchedNode;
use process::failure::Failure;
use process::output::{Format, pretty};
use process::{interrupt, machine};
use provider::hosts::Hosts;

use super::entry::{CQL_PORT, SQL_PORT, with_port};
use super::facts::catalog;
use super::{init, machines, terminal};
pub use args::ProfileArgs;
use nodes::Nodes;

/// Between two readings of the nodes.
const PERIOD: Duration = Duration::from_secs(60);
/// How soon Ctrl-C is noticed.
const GLANCE: Duration = Duration::from_millis(200);

/// Watches, judges, and writes an experiment where one is asked for.
pub fn run(args: &ProfileArgs, format: Format) -> Result<(), Failure> {
    let catalog = catalog()?;
    let basis = args.basis.basis()?;
    basis.check(&catalog).map_err(Failure::input)?;
    let today = args.today(&catalog, &basis)?;
    let ssh = args.ssh_files()?;
    if let Some(out) = &args.out {
        init::is_free(out, args.force)?;
        // Where a log shows statements they are written beside it.
        if args.query_log.is_some() {
            let own = out.with_file_name(format!("{}.cql", init::name(out)));
            if own == *out {
                let message = format!("{} is what the file of statements beside it would be called", out.display());
                return Err(Failure::input(message).help("end --out with .toml"));
            }
            init::is_free(&own, args.force)?;
        }
    }
    let dbname = args.dbname()?;
    let recording = match &args.query_log {
        Some(path) => Some(ReadRecording::read(path).map_err(|why| Failure::input(format!("--query-log: {why}")))?),
        None => None,
    };
    let access = args.entry.access()?;
    let screen = Screen::new(None);
    args.entry.notes().iter().for_each(|note| screen.say(note));
    let stop = interrupt::install(|| eprintln!("ending the observation; what was seen is judged"))
        .map_err(|error| Failure::work(format!("cannot watch for Ctrl-C: {error}")))?;
    let usual = if dbname.is_some() { SQL_PORT } else { CQL_PORT };
    let points: Vec<String> = args.hosts.iter().map(|host| with_port(host, usual)).collect();
    let mut nodes = match dbname {
        Some(dbname) => Nodes::of_server(&points, dbname, access, &screen)?,
        None => Nodes::connect(&points, &access, &screen)?,
    };
    let cluster = nodes.cluster()?;
    let log = recording.map(|recording| recording.asked_keys(&cluster.tables));
    if args.ssh.len() > cluster.nodes as usize {
        screen.say(&format!(
            "warning: --ssh names {} machines, and the cluster has {} nodes: one is of another cluster, or named twice",
            args.ssh.len(),
            cluster.nodes
        ));
    }
    let hosts = if args.ssh.is_empty() { None } else { Some(watch(args, &ssh, &points, &screen)?) };
    let began = Instant::now();
    let (hosts, ended_early) = observe(args, &mut nodes, hosts, (&stop, &screen, began))?;
    screen.clear();
    let (seconds, nodes) = (nodes.seconds(), nodes.into_seen());
    let seen = Observation { cluster, nodes, hosts, today, log, seconds, ended_early };
    answer(args, &catalog, &basis, &seen, format)
}

/// The agents of the machines that are watched.
fn watch(
    args: &ProfileArgs,
    ssh: &experiment::SshFiles,
    points: &[String],
    screen: &Screen,
) -> Result<Observing, Failure> {
    let node = |(host, name): (u32, &String)| WatchedNode {
        host,
        ssh: name.clone(),
        data: args.data.clone(),
        commitlog: None,
        process: args.process.clone(),
    };
    let watched: Vec<WatchedNode> = (0..).zip(&args.ssh).map(node).collect();
    let hosts = Hosts::of_existing(ssh, Vec::new(), args.ssh.clone(), &machines::own_binary()?);
    // Ctrl-C ends the observation, not the agents: they say at the end what they saw.
    let never: Arc<AtomicBool> = Arc::default();
    let agents = Agents::new(Box::new(hosts), std::sync::mpsc::channel(), screen, &never);
    let mut ports: Vec<u16> = points.iter().filter_map(|point| point.rsplit_once(':')?.1.parse().ok()).collect();
    ports.sort_unstable();
    ports.dedup();
    let observing = Observing::begin(agents, &watched, &ports)?;
    for seen in observing.hosts() {
        screen.say(&format!("watching {}: {}", seen.host, seen.what));
        seen.missing.iter().for_each(|missing| screen.say(&format!("not watched on {}: {missing}", seen.host)));
    }
    Ok(observing)
}

/// Reads at the beginning, each minute and at the end; what the hosts showed, and whether it ended early.
fn observe(
    args: &ProfileArgs,
    nodes: &mut Nodes<'_>,
    mut hosts: Option<Observing>,
    (stop, screen, began): (&Arc<AtomicBool>, &Screen, Instant),
) -> Result<(Vec<HostSeen>, bool), Failure> {
    let end = began + args.minutes;
    let is_stopped = || stop.load(Ordering::Relaxed);
    let mut given_up = Vec::new();
    nodes.read(began, true);
    let mut due = began + PERIOD;
    let ended_early = loop {
        let until = due.min(end);
        let left_s = end.saturating_duration_since(Instant::now()).as_secs_f64();
        screen.doing("watching", &format!("({:.0} minutes left; Ctrl-C ends it early)", (left_s / 60.0).ceil()));
        while Instant::now() < until && !is_stopped() {
            std::thread::sleep(GLANCE.min(until.saturating_duration_since(Instant::now())));
        }
        let is_whole = Instant::now() >= end;
        let is_last = is_whole || is_stopped();
        nodes.read(began, is_last);
        if is_last {
            break !is_whole;
        }
        if nodes.are_lost() {
            screen.say("warning: no node answers any more; what was seen is judged");
            break true;
        }
        // Nodes that were waited for make no reading that follows at once.
        while due <= Instant::now() {
            due += PERIOD;
        }
        if let Some(mut observing) = hosts.take() {
            match observing.take() {
                Ok(()) => hosts = Some(observing),
                Err(failure) => {
                    given_up = observing.given_up();
                    not_watched_any_more(&failure, &mut given_up, screen);
                }
            }
        }
    };
    let seen = match hosts.map(Observing::end) {
        None => given_up,
        Some((seen, None)) => seen,
        Some((mut seen, Some(failure))) => {
            not_watched_any_more(&failure, &mut seen, screen);
            seen
        }
    };
    Ok((seen, ended_early))
}

/// Prints what is said of it; then the experiment, where one is asked for.
fn answer(
    args: &ProfileArgs,
    catalog: &Catalog,
    basis: &Basis,
    seen: &Observation,
    format: Format,
) -> Result<(), Failure> {
    let profile = ::profile::judge(catalog, basis, seen);
    match format {
        Format::Json => println!("{}", pretty(&::report::profile_document(&profile))),
        Format::Human if terminal::is_one() => {
            print!("{}", ::report::profile_terminal(&profile, terminal::width()));
        }
        Format::Human => print!("{}", ::report::profile_markdown(&profile)),
    }
    match &args.out {
        Some(out) => write(catalog, &profile, out, args.force),
        None => Ok(()),
    }
}

/// An experiment that can be planned, because it has been read back.
fn write(catalog: &Catalog, profile: &Profile, out: &Path, force: bool) -> Result<(), Failure> {
    let draft = ::profile::drafted(profile, &init::name(out), machine::cpus() as f64).map_err(|why| {
        let (what, help) = why.words();
        Failure::work(format!("no experiment is written: {what}")).help(help)
    })?;
    let (text, _) = init::read_back(catalog, &draft, &[])?;
    let mut with = String::new();
    if let Some(own) = &draft.own {
        let file = out.with_file_name(&own.file);
        init::write(&file, force, &own.text)?;
        with = format!(" with {}", file.display());
    }
    init::write(out, force, &text)?;
    let word = guarded::shell_path(out);
    eprintln!("wrote {}{with}; next: iopslab plan {word}, then iopslab run {word}", out.display());
    Ok(())
}

impl ProfileArgs {
    /// What one node runs on: a machine that the catalog knows, with a volume that can be bought for it.
    fn today(&self, catalog: &Catalog, basis: &Basis) -> Result<Option<ClusterRequest>, Failure> {
        let Some(name) = &self.instance else { return Ok(None) };
        let found = catalog.instance(&catalog.with_cloud(name));
        let instance = found.ok_or_else(|| super::facts::unknown_instance(catalog, name))?;
        let volumes = match self.data_volume.as_deref() {
            None | Some("local") => Vec::new(),
            Some(text) => vec![::catalog::VolumeRequest::parse(text).map_err(Failure::input)?],
        };
        if volumes.is_empty() && instance.local_disks.is_none() {
            return Err(Failure::input(format!("{name} has no disks of its own, and no volume is stated"))
                .help("state it: --data-volume TYPE:SIZE[:IOPS[:MIB_PER_S]], such as gp3:500GiB"));
        }
        let request = ClusterRequest { instance: instance.name.clone(), volumes, nodes: 1 };
        catalog.caps(&request, basis.price_date.as_deref()).map_err(Failure::input)?;
        Ok(Some(request))
    }
}

#[cfg(test)]
mod tests {
    use ::profile::{Cluster, DeviceCounters, Moment, NodeSeen};
    use evidence::HostId;

    use super::*;

    /// A host whose volume is asked for 100 reads a second.
    fn host(name: &str, seconds: i64) -> HostSeen {
        let sample = |second: i64| {
            let (reads, read_bytes) = (Some(second as f64 * 100.0), Some(second as f64 * 1e6));
            let none = Some(0.0);
            let data =
                DeviceCounters { reads, read_bytes, writes: none, write_bytes: none, ..DeviceCounters::default() };
            Moment { unix_ms: second * 1_000, data: Some(data), ..Moment::default() }
        };
        HostSeen {
            host: name.to_owned(),
            what: "process 42 (java)".to_owned(),
            missing: Vec::new(),
            cpus: 8.0,
            memory_bytes: 64 << 30,
            samples: (0..=seconds).map(sample).collect(),
            agent_cpu: None,
        }
    }

    #[test]
    fn a_machine_that_was_lost_or_never_watched_is_in_the_answer() {
        let catalog = Catalog::built_in();
        let text = |hosts: Vec<HostSeen>| {
            let cluster = Cluster { name: "shop".to_owned(), nodes: 3, ..Cluster::default() };
            let today = ClusterRequest::parse(catalog, "r6i.2xlarge+gp3:500GiB:12000:500").unwrap();
            let (today, nodes) = (Some(today), Vec::new());
            let seen = Observation { cluster, nodes, hosts, today, log: None, seconds: 660.0, ended_early: false };
            ::report::profile_markdown(&::profile::judge(catalog, &Basis::default(), &seen))
        };
        let all = text(vec![host("db1", 660), host("db2", 660)]);
        assert!(all.contains("It is of 2 of 3 nodes: one that was not watched may need more."), "{all}");
        assert!(all.contains("over all hosts, of which db"), "{all}");
        assert!(!all.contains("minutes were seen of"), "{all}");
        let mut hosts = vec![host("db1", 660), host("db2", 120)];
        let why = controller::Failure::NoAnswer(HostId::database(1));
        not_watched_any_more(&why, &mut hosts[1..], &Screen::new(None));
        let part = text(hosts);
        assert!(part.contains("on db2: its device after 2.0 minutes: "), "{part}");
        assert!(part.contains("minutes were seen of the device of db2."), "{part}");
    }

    #[test]
    fn what_nobody_saw_is_said_and_no_word_of_somebody_else_is_markup() {
        let cluster =
            Cluster { name: "<b>shop</b>".to_owned(), version: "5.0.9".to_owned(), nodes: 2, ..Cluster::default() };
        let nodes = vec![NodeSeen { node: "db1:9042".to_owned(), ..NodeSeen::default() }];
        let (hosts, today, log) = (Vec::new(), None, None);
        let seen = Observation { cluster, nodes, hosts, today, log, seconds: 30.0, ended_early: true };
        let profile = ::profile::judge(Catalog::built_in(), &Basis::default(), &seen);
        let text = ::report::profile_markdown(&profile);
        for said in [
            "Cluster &lt;b>shop&lt;/b> (5.0.9, 2 nodes), watched for 0.5 minutes, ended early.",
            "No verdict on volumes: no device was seen;",
            "what one further node of the cluster does: it was not read",
            "which keys are asked for how often",
        ] {
            assert!(text.contains(said), "{said}\n{text}");
        }
        let document = ::report::profile_document(&profile);
        assert_eq!(document["verdict"]["withheld"]["because"], "no_device");
        assert_eq!(document["unknown"][0]["kind"], "skew");
        assert!(document["sentences"][0].as_str().unwrap().starts_with("No verdict on volumes"));
    }
}
