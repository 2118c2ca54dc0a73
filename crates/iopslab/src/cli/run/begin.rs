//! A new run: everything is checked before anything is created or printed.

use std::collections::BTreeMap;
use std::path::Path;

use ::catalog::Catalog;
use archive::RunDirectory;
use controller::{Agents, Channel, secrets};
use evidence::{Environment, HostId};
use experiment::{AwsSettings, ExistingCluster, Experiment, Job, Place, Provider, ReadFor};
use process::failure::Failure;
use provider::aws::Aws;
use serde_json::{Map, Value, json};
use storage::Measuring;

use super::args::DEFAULT_OUT;
use crate::cli::carried_out::{Hands, User, settings_for};
use crate::cli::experiment_file::read_otherwise;
use crate::cli::facts::catalog;
use crate::cli::{aws, machines, terminal};

/// A run that is to be begun.
struct New<'a> {
    catalog: &'a Catalog,
    experiment: &'a Experiment,
    /// The text of its file, and those of the files that it names by their names.
    texts: (&'a str, &'a BTreeMap<String, String>),
    user: &'a User<'a>,
}

/// Makes the run directory; the machines of AWS come after it, because it knows what was made.
pub(super) fn begin(file: &Path, user: &User<'_>, channel: Channel) -> Result<(RunDirectory, Hands), Failure> {
    let (args, catalog) = (user.args, catalog()?);
    let provider = args.provider.map_or(Provider::Local, Provider::from);
    if provider != Provider::Aws {
        user.refuse_for_aws()?;
    }
    if args.beside && matches!(provider, Provider::Aws | Provider::Simulated) {
        return Err(Failure::input(format!(
            "--beside is for machines on which others may measure; those of the provider {provider} are the run's own"
        )));
    }
    let mut read = read_otherwise(&catalog, file, &args.otherwise, ReadFor::Run(provider))?;
    let experiment = &mut read.experiment;
    machines::settle_files(&mut experiment.place, file)?;
    let secret_files = experiment.place.existing().into_iter().flat_map(ExistingCluster::secret_files);
    secrets::notes(secret_files).iter().for_each(|note| user.say(note));
    let new = New { catalog: &catalog, experiment, texts: (&read.text, &read.beside), user };
    let mut job = experiment::job(experiment);
    if let Some(settings) = job.plan.place.aws().cloned() {
        let directory = new.on_aws(&job, &settings)?;
        return Ok((directory, Hands::Sites(Box::new(settings), channel)));
    }
    let mut agents = user.agents(&job, args.beside, channel)?;
    let hosts = new.look(&mut agents, &mut job).inspect_err(|_| agents.close())?;
    new.say_plan(&job);
    let directory = new.create(&job, hosts)?;
    Ok((directory, Hands::Agents(Box::new(agents))))
}

impl New<'_> {
    /// The hosts are there, and nothing stands in the way of the run on them.
    fn look(&self, agents: &mut Agents, job: &mut Job) -> Result<Vec<(HostId, Environment)>, Failure> {
        let hosts = controller::greet(agents, job)?;
        if let Place::AsIs(_) = job.plan.place {
            controller::take_as_they_are(&mut job.setups, &hosts, &agents.screen)?;
        }
        controller::check(job, agents, &settings_for(&job.plan))?;
        self.user.wait_for_work_directory(&job.plan)?;
        Ok(hosts)
    }

    fn on_aws(&self, job: &Job, settings: &AwsSettings) -> Result<RunDirectory, Failure> {
        Aws::check_program().map_err(Failure::work)?;
        self.say_plan(job);
        let batches: Vec<u32> = (0..settings.batches.len() as u32).collect();
        self.user.may_make(job, settings, &batches)?;
        let directory = self.create(job, Vec::new())?;
        aws::keep_name(&directory)?;
        Ok(directory)
    }

    fn say_plan(&self, job: &Job) {
        let notes = experiment::static_notes(self.catalog, self.experiment, Some(job.plan.place.provider()), None);
        let table = report::plan_table(job, &notes, terminal::width());
        self.user.say(&table);
    }

    /// Creates the run directory with its frozen inputs and host facts.
    fn create(&self, job: &Job, hosts: Vec<(HostId, Environment)>) -> Result<RunDirectory, Failure> {
        let mut environment = Map::from_iter([
            ("provider".to_owned(), json!(job.plan.place.provider())),
            ("iopslab".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
        ]);
        let args = self.user.args;
        if args.beside {
            environment.insert(controller::BESIDE.to_owned(), json!(self.others_here()));
        }
        // A simulated host has no facts.
        let hosts = hosts.into_iter().filter(|(_, facts)| *facts != Environment::default());
        environment.extend(hosts.map(|(host, facts)| (host.to_string(), json!(facts))));
        let stamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let directory = RunDirectory::create(
            args.out.as_deref().unwrap_or(Path::new(DEFAULT_OUT)),
            (&self.experiment.name, &stamp, args.shared),
            self.texts,
            job,
            &self.frozen_catalog(),
            &environment,
        );
        let directory = directory.map_err(|e| Failure::work(e).help("choose another place with --out DIR"))?;
        self.user.say(&format!("writing results to {}", directory.path().display()));
        Ok(directory)
    }

    /// Who measures now on the machine of a run that is this one's own.
    fn others_here(&self) -> Vec<String> {
        let lock = process::paths::machine_lock().filter(|_| self.experiment.place.provider() == Provider::Local);
        lock.map_or_else(Vec::new, |lock| Measuring::going_on(&lock))
    }

    /// The facts this run's limits came from, kept with its evidence.
    fn frozen_catalog(&self) -> Value {
        let configurations = self.experiment.configurations.iter();
        let instances: Vec<_> = configurations
            .filter(|c| c.instance.from_catalog)
            .filter_map(|c| self.catalog.instance(&c.instance.label))
            .collect();
        json!({ "format_version": evidence::FORMAT_VERSION, "instances": instances })
    }
}
