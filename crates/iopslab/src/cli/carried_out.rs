//! What a run needs whoever carries it out: on machines that are there, and on those that are made for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use archive::RunDirectory;
use controller::{Agents, Channel, EvidenceGrew, Screen, Settings};
use database::cassandra::java;
use evidence::{Environment, HostId};
use experiment::{AwsSettings, Database, Job, Lack, Machines, PRODUCTS, Place, Plan, Provider};
use process::failure::Failure;
use process::paths::{cache_directory, work_directory};
use provider::local::Local;
use provider::simulated::SimulatedHosts;
use provider::watched::Watched;
use storage::WorkDirectory;

use super::run::args::RunArgs;
use super::watch_page::WatchPage;
use super::{aws, machines, pairs, snapshots};

/// Who carries a run out.
pub(super) enum Hands {
    /// The agents of all hosts.
    Agents(Box<Agents>),
    /// The agents of machines that have to be made, site by site and batch by batch.
    Sites(Box<AwsSettings>, Channel),
}

/// Who asked for a run: what they typed, what they see, and whether they want an end.
pub(super) struct User<'a> {
    pub args: &'a RunArgs,
    pub screen: Screen,
    pub interrupted: Arc<AtomicBool>,
    /// Where they may watch it in a browser.
    pub watched: Option<Arc<WatchPage>>,
}

impl User<'_> {
    /// A line that stays.
    pub fn say(&self, line: &str) {
        self.screen.say(line);
    }

    /// What is done after each trial: whoever watches the run gets its answer so far.
    pub fn evidence_grew(&self) -> EvidenceGrew {
        match self.watched.clone() {
            Some(watched) => Arc::new(move |directory: &RunDirectory| watched.evidence_grew(directory)),
            None => Arc::new(|_: &RunDirectory| {}),
        }
    }

    /// The run has ended like this: whoever watches it hears that.
    pub fn ended(&self, directory: &RunDirectory, how: &str) {
        if let Some(watched) = &self.watched {
            watched.ended(directory, how);
        }
    }

    /// What is said of AWS to a run elsewhere.
    pub fn refuse_for_aws(&self) -> Result<(), Failure> {
        let given = [("--yes", self.args.yes), ("--max-cost", self.args.max_cost.is_some())];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(Failure::input(format!("{flag} is for --provider aws: nothing else costs money"))),
            None => Ok(()),
        }
    }

    /// Whether the machines of a job may be made on AWS: everything that could be refused later is refused now. Those
    /// of other batches than these may stand, with their data set.
    pub fn may_make(&self, job: &Job, settings: &AwsSettings, batches: &[u32]) -> Result<(), Failure> {
        have_their_java(job)?;
        let estimate = aws::estimate(job, settings);
        self.say(&aws::reported(settings, &estimate));
        controller::check_store(job, batches)?;
        snapshots::check(settings, &self.screen)?;
        pairs::check(settings)?;
        aws::may_be_made(settings, &estimate, self.args.max_cost, self.args.yes)
    }

    /// The agents of a job's hosts, none of them started yet.
    pub fn agents(&self, job: &Job, goes_beside: bool, channel: Channel) -> Result<Agents, Failure> {
        let hosts = hosts_of(job, goes_beside)?;
        Ok(Agents::new(hosts, channel, &self.screen, &self.interrupted))
    }

    /// Waits until no other process of this machine holds the work directory, as long as one that was killed may take
    /// to leave it. The agent takes the lock later; what it would refuse is refused before a run directory is made.
    pub fn wait_for_work_directory(&self, plan: &Plan) -> Result<(), Failure> {
        if plan.place.provider() != Provider::Local {
            return Ok(());
        }
        let is_interrupted = || self.interrupted.load(Ordering::Relaxed);
        let path = settings_for(plan).work_directory;
        let waiting = |what: &str| {
            self.screen.doing(what, "");
            !is_interrupted()
        };
        WorkDirectory::wait_until_free(&path, waiting).map_err(|taken| match is_interrupted() {
            true => Failure::interrupted("interrupted; nothing was begun"),
            false => Failure::work(taken),
        })
    }
}

/// What is installed on machines that are made (`programs` of `terraform/aws/variables.tf`).
const JAVA_OF_MACHINES: u32 = 17;

/// Whether each version of a job runs with what machines on AWS are made with: one that does not would be refused when
/// they are there, and paid for.
fn have_their_java(job: &Job) -> Result<(), Failure> {
    let Database::Started(started) = &job.plan.target.database else { return Ok(()) };
    if started.product.lacks(Lack::Aws) {
        let message = format!("machines on AWS are made for {} alone so far", PRODUCTS[0].title);
        let help = format!("measure {} on this machine, or on hosts of yours", started.product.title);
        return Err(Failure::input(message).help(help));
    }
    let all = experiment::versions(&started.version, job.setups.iter().map(|setup| &setup.version));
    match all.into_iter().find(|version| !java::supported(version).contains(&JAVA_OF_MACHINES)) {
        None => Ok(()),
        Some(version) => {
            let needed = java::needed(version);
            let message = format!(
                "Cassandra {version} needs Java {needed}, and machines on AWS are made with Java {JAVA_OF_MACHINES}"
            );
            Err(Failure::input(message)
                .help("measure this version on this machine, or on hosts of yours that have its Java"))
        }
    }
}

/// Where the hosts of this job come from.
fn hosts_of(job: &Job, goes_beside: bool) -> Result<Box<dyn provider::Provider>, Failure> {
    let plan = &job.plan;
    let local = || Ok::<_, Failure>(Local::new(machines::own_binary()?));
    Ok(match &plan.place {
        Place::Emulated { machines: Machines::This { .. }, .. } => match &plan.target.database {
            Database::Started(started) if goes_beside => {
                let server = database::server(started, None).map_err(Failure::work)?;
                Box::new(local()?.beside(server.ports().clients))
            }
            _ => Box::new(local()?),
        },
        Place::Existing(cluster) => match machines::of_existing(cluster, &plan.configurations)? {
            Some(all) if all.has_clients() => Box::new(all),
            Some(nodes) => Box::new(Watched::new(local()?, nodes)),
            None => Box::new(local()?),
        },
        Place::Emulated { .. } | Place::AsIs(_) => {
            let tiers = job.setups.iter().filter_map(|setup| setup.cache_tier.as_ref());
            Box::new(machines::hosts(&plan.place, tiers.map(|tier| tier.nodes).max().unwrap_or(0))?)
        }
        Place::Bought(_) => return Err(Failure::work("machines of AWS belong to a run; this is a bug of iopslab")),
        Place::Simulated { truth, .. } => Box::new(SimulatedHosts::new(job, truth)),
        Place::Imported => return Err(Failure::input("an imported run has no machines: others have measured")),
    })
}

/// Trials of one configuration on two machines are not repetitions:
/// a run is not resumed where the processor or the memory differs.
pub(super) fn same_machine(
    directory: &RunDirectory,
    hosts: &[(HostId, Environment)],
    screen: &Screen,
) -> Result<(), Failure> {
    let frozen = directory.environment().map_err(Failure::work)?;
    for (host, now) in hosts {
        let now = serde_json::json!(now);
        let then = &frozen[host.to_string()];
        for fact in ["cpu_model", "cpus", "memory_bytes", "kernel"] {
            if then[fact].is_null() || then[fact] == now[fact] {
                continue;
            }
            let change = format!("{fact} of the {host} host was {}, here it is {}", then[fact], now[fact]);
            if fact == "kernel" {
                screen.say(&format!("warning: {change}; trials before and after may differ"));
            } else {
                return Err(Failure::input(format!("this run began on another machine: {change}")).help(
                    "its trials would not be repetitions of those; start a new run here, and put both side by \
                     side with: iopslab compare",
                ));
            }
        }
    }
    Ok(())
}

/// Directories of this machine, no bound of money, and nobody who watches.
pub(super) fn settings_for(plan: &experiment::Plan) -> Settings {
    let stated = match &plan.place {
        Place::Emulated { machines: Machines::This { work_directory }, .. } => work_directory.as_ref(),
        _ => None,
    };
    Settings {
        work_directory: stated.map_or_else(work_directory, PathBuf::from),
        cache_directory: cache_directory(),
        affords: Arc::new(|_| true),
        evidence_grew: Arc::new(|_: &RunDirectory| {}),
    }
}
