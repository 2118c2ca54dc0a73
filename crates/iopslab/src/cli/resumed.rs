//! Whether the directory of a run that goes on, or whose machines are taken away, may be obeyed.
//!
//! What it says is done, with this user's rights: machines are reached by the configuration of `ssh` that it names,
//! programs started with the options that it has, money is spent. It may have come from somebody else. So it has to be
//! this user's own, and its plan and setups have to be what its experiment comes to: the experiment is what a person
//! reads before obeying it.

use std::path::{Component, Path, PathBuf};

use ::catalog::Catalog;
use archive::RunDirectory;
use evidence::{Environment, HostId, Role};
use experiment::{
    AwsQuotas, AwsSettings, AwsSite, ClientCost, DataSetPlace, Experiment, FoundSnapshot, Job, ParseContext, Place,
    Plan, QuotaNeeds, ReadFor, Recording, Setups,
};
use guarded::NotPrivate;
use process::failure::Failure;
use serde_json::Value;

use super::client_cost;
use super::experiment_file::this_machine;
use super::facts::catalog;

/// Refuses a run that may not be obeyed. Where it makes machines on AWS its settings come back, with the prices of
/// today's catalog.
pub(super) fn check(directory: &RunDirectory) -> Result<Option<AwsSettings>, Failure> {
    directory.check_own().map_err(Failure::input)?;
    let frozen = directory.job();
    // What a client costs here may have been measured since.
    let mut differs = Ok(None);
    for client in [client_cost::known(), None] {
        let mut again = parsed_again(directory, client)?;
        settle_files(&mut again.plan, &frozen.plan, directory.path())?;
        let prices = again.plan.place.aws().cloned();
        differs = first_difference(&again, frozen).map(Err).unwrap_or(Ok(prices));
        if differs.is_ok() {
            break;
        }
    }
    differs.map_err(|difference: String| {
        not_obeyed(directory, &difference).help(
            "if nobody has changed it, the version of iopslab or the facts and prices of the catalog have changed \
             since it began: continue with those, or start a new run from its experiment.toml; what it has measured \
             can be reported: iopslab report",
        )
    })
}

fn not_obeyed(directory: &RunDirectory, difference: &str) -> Failure {
    Failure::input(format!(
        "{}: {difference} is not what its experiment.toml comes to, and is not obeyed",
        directory.path().display()
    ))
}

/// Refuses a run by whose word machines may not be taken away: with whose credentials, where, and by which state has to
/// be what its experiment says. Nothing else of the plan is obeyed then, and may have come to something else since:
/// machines that stand cost money.
pub(super) fn check_to_take_away(directory: &RunDirectory) -> Result<(), Failure> {
    let again = parsed_again(directory, client_cost::known());
    let again = again.or_else(|_| parsed_again(directory, None));
    let again = again.map_err(|failure| Failure::input(failure.message).help(OTHERWISE))?;
    let plan = directory.plan();
    let is_nowhere = |aws: &AwsSettings| aws.batches.iter().any(|batch| batch.site >= aws.sites.len());
    let difference = match plan.place.aws().is_some_and(is_nowhere) {
        true => Some("place.bought.batches".to_owned()),
        false => differs("", &of_machines(&again.plan), &of_machines(plan)),
    };
    let refused = |at: String| Err(not_obeyed(directory, &format!("plan.json: {at}")).help(OTHERWISE));
    difference.map_or(Ok(()), refused)
}

/// How machines go without a run's directory.
const OTHERWISE: &str = "machines that a run of yours has made go by their tags: iopslab clean --aws --run RUN, with \
                         --region and --profile of each site";

/// What says where machines stand and where their state is.
fn of_machines(plan: &Plan) -> Value {
    let of_aws = |aws: &AwsSettings| {
        let sites = aws.sites.iter().map(|site| serde_json::json!({ "region": site.region, "profile": site.profile }));
        serde_json::json!({ "sites": sites.collect::<Vec<_>>(), "backend": aws.backend })
    };
    serde_json::json!({ "experiment": plan.experiment, "place": { "bought": plan.place.aws().map(of_aws) } })
}

/// The job of the frozen experiment, on what was frozen with it.
fn parsed_again(directory: &RunDirectory, client: Option<ClientCost>) -> Result<Job, Failure> {
    let text = directory.experiment_text().map_err(Failure::input)?;
    let name = directory.path().join("experiment.toml").display().to_string();
    let purpose = ReadFor::Run(directory.plan().place.provider());
    let mut job = experiment::job(&parsed(&catalog()?, directory, (&name, &text), (client, purpose))?);
    if job.plan.search.is_some() {
        job.plan.grow(&directory.rounds().map_err(Failure::input)?);
    }
    if let Place::AsIs(_) = job.plan.place {
        use_machines_of(directory, &mut job.setups)?;
    }
    Ok(job)
}

/// An experiment by its text, with what was frozen beside that of a run; its name stands in mistakes.
pub(super) fn parsed(
    catalog: &Catalog,
    directory: &RunDirectory,
    (name, text): (&str, &str),
    (client, purpose): (Option<ClientCost>, ReadFor),
) -> Result<Experiment, Failure> {
    let texts = directory.beside().map_err(Failure::input)?;
    let read = |name: &str| {
        let text = texts.get(name).cloned();
        text.ok_or_else(|| format!("the run has kept no copy of {name}"))
    };
    let recording = |name: &str| -> Result<Recording, String> {
        let text = read(name)?;
        serde_json::from_str(&text).map_err(|error| format!("the run's copy of what {name} has: {error}"))
    };
    let snapshot = |place: &DataSetPlace| -> Result<Option<FoundSnapshot>, String> {
        let text = read(&place.to_string())?;
        serde_json::from_str(&text).map(Some).map_err(|error| format!("the run's copy of what {place} has: {error}"))
    };
    let plan = directory.plan();
    let quotas = |site: &AwsSite, _: &QuotaNeeds| quotas_of(plan, site);
    let (quotas, machine) = (&quotas, Some(this_machine()));
    // Files that nobody keeps a copy of are looked for where the plan has them.
    let files = ParseContext::files(&read);
    let beside = ParseContext { recording: &recording, snapshot: &snapshot, quotas, client, machine, ..files };
    experiment::parse(catalog, name, text, &beside, purpose).map_err(Failure::mistakes)
}

/// What AWS granted when the run began: it is held to that, whatever has changed since.
fn quotas_of(plan: &Plan, site: &AwsSite) -> Result<AwsQuotas, String> {
    let sites = plan.place.aws().into_iter().flat_map(|aws| &aws.sites);
    let mut same = sites.filter(|frozen| frozen.name == site.name && frozen.region == site.region);
    let quotas = same.find_map(|frozen| frozen.limits.quotas.clone());
    quotas.ok_or_else(|| "the run does not say what AWS granted when it began".to_owned())
}

/// Machines that were taken as they were when the run began.
fn use_machines_of(directory: &RunDirectory, setups: &mut Setups) -> Result<(), Failure> {
    let environment = directory.environment().map_err(Failure::input)?;
    let hosts_of = |role: Role| -> Vec<Environment> {
        let hosts = environment.as_object().into_iter().flatten();
        hosts
            .filter(|(name, _)| name.parse::<HostId>().is_ok_and(|host| host.role == role))
            .filter_map(|(_, facts)| serde_json::from_value(facts.clone()).ok())
            .collect()
    };
    if let Some(cpus) = hosts_of(Role::Cache).iter().map(|facts| facts.cpus).min() {
        experiment::use_whole_cache_machines(setups, f64::from(cpus));
    }
    let databases = hosts_of(Role::Database);
    let cpus = databases.iter().map(|facts| facts.cpus).min();
    let memory = databases.iter().filter_map(|facts| facts.memory_bytes).min();
    let (Some(cpus), Some(memory)) = (cpus, memory) else {
        return Err(Failure::input("environment.json does not say what the database hosts are"));
    };
    experiment::use_whole_machines(setups, f64::from(cpus), memory).map_err(|(configuration, _)| {
        Failure::input(format!("environment.json has hosts on which {configuration} does not fit"))
    })
}

/// Files that the experiment names were found beside it, where it then lay: the plan has their whole paths. Each has to
/// end as the experiment has it, to be there, where nobody else than this user and root can put another in its place,
/// and to lie outside of the run's directory, where whoever sent it could have put it.
fn settle_files(again: &mut Plan, frozen: &Plan, run: &Path) -> Result<(), Failure> {
    let run = run.canonicalize().map_err(|e| Failure::input(format!("{}: {e}", run.display())))?;
    let mut frozen = frozen.clone();
    let ((_, written), (_, found)) = (again.place.files_mut(), frozen.place.files_mut());
    for (written, found) in written.into_iter().zip(found) {
        let path = Path::new(&*found);
        let is_named = path.is_absolute() && path.ends_with(tail(Path::new(&*written)));
        let why = match is_named {
            false => Some("is not what experiment.toml names".to_owned()),
            true if path.starts_with(&run) => Some(IN_THE_RUN.to_owned()),
            true => match guarded::check_file(path) {
                Ok(file) => file.starts_with(&run).then(|| IN_THE_RUN.to_owned()),
                Err(NotPrivate::Io { doing, source, .. }) => Some(format!("this user cannot {doing}: {source}")),
                Err(others) => Some(format!("somebody else could exchange: {others}")),
            },
        };
        if let Some(why) = why {
            return Err(Failure::input(format!("the plan of the run names the file {found}, which {why}"))
                .help("what it names is obeyed; start a new run from an experiment that names your own files"));
        }
        written.clone_from(found);
    }
    Ok(())
}

/// Of a file that a run names.
const IN_THE_RUN: &str = "lies in the run's own directory";

/// What remains of a path behind its last `..`.
fn tail(written: &Path) -> PathBuf {
    let mut tail = PathBuf::new();
    for part in written.components() {
        match part {
            Component::ParentDir => tail = PathBuf::new(),
            Component::Normal(name) => tail.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    tail
}

/// Where two jobs differ first, such as `plan.json: hosts.ssh_config`; `None`: they say the same. What things cost is
/// reported, never obeyed, and may be known better today.
fn first_difference(again: &Job, frozen: &Job) -> Option<String> {
    let without_money = |job: &Job| {
        let mut plan = job.plan.clone();
        plan.money = again.plan.money.clone();
        if let Place::Bought(aws) = &mut plan.place {
            aws.batches.iter_mut().for_each(|batch| batch.prices.clear());
        }
        (plan.to_json(), job.setups.to_json())
    };
    let (again, frozen) = (without_money(again), without_money(frozen));
    let plan = differs("", &again.0, &frozen.0).map(|at| format!("plan.json: {at}"));
    plan.or_else(|| differs("", &again.1, &frozen.1).map(|at| format!("setups.json: {at}")))
}

fn differs(at: &str, again: &Value, frozen: &Value) -> Option<String> {
    let inside = |key: &str| match at {
        "" => key.to_owned(),
        at => format!("{at}.{key}"),
    };
    match (again, frozen) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys = a.keys().chain(b.keys());
            keys.find_map(|key| {
                differs(&inside(key), a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null))
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(index, (a, b))| differs(&inside(&index.to_string()), a, b))
        }
        (a, b) if a == b => None,
        _ => Some(at.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_by_its_place() {
        let value = |text: &str| -> Value { serde_json::from_str(text).unwrap_or_default() };
        let at = |a: &str, b: &str| differs("", &value(a), &value(b));
        assert_eq!(at(r#"{"a": [{"b": 1}]}"#, r#"{"a": [{"b": 1}]}"#), None);
        assert_eq!(at(r#"{"a": [{"b": 1}]}"#, r#"{"a": [{"b": 2}]}"#).as_deref(), Some("a.0.b"));
        assert_eq!(at(r#"{"a": []}"#, r#"{"a": [1]}"#).as_deref(), Some("a"));
        assert_eq!(at("{}", r#"{"c": {"d": true}}"#).as_deref(), Some("c"));
    }

    #[test]
    fn what_remains_of_a_path_is_behind_its_last_step_up() {
        for (written, remains) in
            [("ssh_config", "ssh_config"), ("../../etc/./ssh", "etc/ssh"), ("/etc/ssh", "etc/ssh")]
        {
            assert_eq!(tail(Path::new(written)), Path::new(remains));
        }
    }
}
