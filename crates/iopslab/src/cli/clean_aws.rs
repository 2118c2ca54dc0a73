//! `iopslab clean --aws`: removes what runs have made on AWS, by its tags.

use clap::Args;
use process::failure::Failure;
use process::output::Format;

/// What was typed after `clean`, for AWS.
#[derive(Debug, Args)]
pub(super) struct AwsArgs {
    /// Clean an AWS account of what runs have made, by its tags, instead of this machine
    #[arg(long, conflicts_with_all = ["snapshots", "work_directory", "hosts"])]
    pub aws: bool,
    /// With --aws: of this run (repeatable)
    #[arg(long, value_name = "NAME", requires = "aws")]
    run: Vec<String>,
    /// With --aws: of every run whose time (the tag iopslab:expires) is over
    #[arg(long, requires = "aws", conflicts_with = "run")]
    expired: bool,
    /// With --aws: of every run, also of those that go on
    #[arg(long, requires = "aws", conflicts_with_all = ["run", "expired"])]
    all: bool,
    /// With --aws: in this region (repeatable) [default: that of the environment or the profile, else us-east-1]
    #[arg(long, requires = "aws")]
    region: Vec<String>,
    /// With --aws: the account of this profile of your AWS configuration
    #[arg(long, requires = "aws")]
    profile: Option<String>,
    /// With --aws: only list what would be removed
    #[arg(long, requires = "aws")]
    dry_run: bool,
}

#[cfg(not(feature = "aws"))]
pub(super) fn run(_: &AwsArgs, _: Format) -> Result<(), Failure> {
    Err(Failure::input("this iopslab was built without AWS")
        .help("build it with: cargo build --release --features aws"))
}

#[cfg(feature = "aws")]
pub(super) fn run(args: &AwsArgs, format: Format) -> Result<(), Failure> {
    with_aws::run(args, format)
}

#[cfg(feature = "aws")]
mod with_aws {
    use std::collections::{BTreeMap, BTreeSet};
    use std::time::Duration;

    use jiff::Timestamp;
    use offers::{Account, Kind, Lifetime, Patience, RemovalOutcome, Resource, Run, Selection, runs};
    use process::failure::Failure;
    use process::output::{Format, pretty};
    use serde_json::{Value, json};

    use crate::cli::clean_aws::AwsArgs;

    const PATIENCE: Patience =
        Patience { look: Duration::from_secs(2), instances: Duration::from_secs(600), held: Duration::from_secs(120) };

    /// What there is in all regions that were asked.
    struct There {
        /// By region.
        resources: BTreeMap<String, Vec<Resource>>,
        /// What could not be found out.
        unknown: Vec<String>,
    }

    impl There {
        fn runs(&self) -> Vec<Run> {
            runs(self.resources.values().flatten())
        }

        /// `us-east-1, eu-west-1`
        fn regions(&self) -> String {
            let names: Vec<&str> = self.resources.keys().map(String::as_str).collect();
            names.join(", ")
        }

        /// `r1, expired 2026-11-20T10:00:00Z: 2 instances, 1 network (us-east-1)`
        fn reported(&self, run: &Run, now: Timestamp) -> String {
            let mut regions = BTreeSet::new();
            let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
            for (region, resources) in &self.resources {
                for resource in resources.iter().filter(|resource| resource.run == run.name) {
                    regions.insert(region.as_str());
                    *counts.entry(resource.kind).or_default() += 1;
                }
            }
            let counts = counts.into_iter().map(|(kind, count)| match count {
                1 => format!("1 {}", kind.name()),
                _ => format!("{count} {}s", kind.name()),
            });
            let (counts, regions): (Vec<String>, Vec<&str>) = (counts.collect(), regions.into_iter().collect());
            format!("{}, {}: {} ({})", run.name, life(run.life, now), counts.join(", "), regions.join(", "))
        }
    }

    fn life(life: Lifetime, now: Timestamp) -> String {
        match life {
            Lifetime::Until(moment) if life.is_past(now) => format!("expired {}", at(moment)),
            Lifetime::Until(moment) => format!("expires {}", at(moment)),
            Lifetime::Unknown => "without a moment in iopslab:expires".to_owned(),
        }
    }

    fn at(moment: Timestamp) -> String {
        moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    pub fn run(args: &AwsArgs, format: Format) -> Result<(), Failure> {
        let now = Timestamp::now();
        let is_name = |region: &&String| {
            let is_of_one = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            !region.is_empty() && region.chars().all(is_of_one)
        };
        if let Some(wrong) = args.region.iter().find(|region| !is_name(region)) {
            return Err(Failure::input(format!("--region {wrong}: no name of a region"))
                .help("such as eu-west-1; several regions: --region eu-west-1 --region us-east-1"));
        }
        let account =
            Account::new(args.profile.as_deref(), args.region.first().map(String::as_str)).map_err(|error| {
                Failure::work(error).help(
                "credentials: aws sso login, --profile, AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            )
            })?;
        let there = look(&account, &args.region);
        let selection = if args.all {
            Selection::All
        } else if args.expired {
            Selection::Expired(now)
        } else if !args.run.is_empty() {
            Selection::Runs(args.run.clone())
        } else if there.runs().is_empty() && there.unknown.is_empty() {
            Selection::All
        } else {
            return Err(whose(&there, now));
        };
        let (meant, kept): (Vec<Run>, Vec<Run>) = there.runs().into_iter().partition(|run| selection.takes(run));
        let meant: BTreeSet<&str> = meant.iter().map(|run| run.name.as_str()).collect();

        let mut report =
            Report { format, dry_run: args.dry_run, taken: Vec::new(), failed: Vec::new(), unknown: Vec::new() };
        for why in &there.unknown {
            report.unknown(why);
        }
        for (region, resources) in &there.resources {
            let resources = resources.iter().filter(|resource| meant.contains(resource.run.as_str()));
            let resources: Vec<Resource> = resources.cloned().collect();
            if resources.is_empty() {
                continue;
            }
            if args.dry_run {
                resources.iter().for_each(|resource| report.taken(region, resource, "would remove"));
            } else {
                account.remove(region, resources, &PATIENCE, &mut |outcome| report.hear(region, outcome));
            }
        }
        report.end(&there, &selection, &kept, now)
    }

    /// A region that does not answer does not keep the others from it.
    fn look(account: &Account, regions: &[String]) -> There {
        let regions = match regions {
            [] => vec![account.region().to_owned()],
            stated => stated.to_vec(),
        };
        let mut there = There { resources: BTreeMap::new(), unknown: Vec::new() };
        for region in regions {
            if there.resources.contains_key(&region) {
                continue;
            }
            let resources = match account.list(&region) {
                Ok(found) => {
                    let reported = |(kind, why): (Kind, String)| format!("{}s in {region}: {why}", kind.name());
                    there.unknown.extend(found.not_listed.into_iter().map(reported));
                    found.resources
                }
                Err(error) => {
                    there.unknown.push(error.to_string());
                    Vec::new()
                }
            };
            there.resources.insert(region, resources);
        }
        there
    }

    /// Nobody said whose things are to go, and some are there.
    fn whose(there: &There, now: Timestamp) -> Failure {
        let runs = there.runs();
        if runs.is_empty() {
            return Failure::work(format!("it is not known what runs have: {}", there.unknown.join("; ")))
                .help("permissions that are needed: docs/aws-policy.json");
        }
        let lines = runs.iter().map(|run| format!("\n  {}", there.reported(run, now)));
        let unknown = there.unknown.iter().map(|why| format!("\n  not known: {why}"));
        let lines: String = lines.chain(unknown).collect();
        Failure::input(format!("whose things are to be removed? Nothing was. There are those of{lines}")).help(
            "--run NAME: of that run; --expired: of runs whose time is over; --all: of all, also of runs that go on",
        )
    }

    /// What is printed of the work, as it goes on and at its end.
    struct Report {
        format: Format,
        dry_run: bool,
        /// Removed, or what would be.
        taken: Vec<Value>,
        failed: Vec<Value>,
        unknown: Vec<String>,
    }

    impl Report {
        fn hear(&mut self, region: &str, outcome: RemovalOutcome<'_>) {
            match outcome {
                RemovalOutcome::Removed(resource) => self.taken(region, resource, "removed"),
                RemovalOutcome::Gone(resource) => self.taken(region, resource, "gone by itself:"),
                RemovalOutcome::Failed(resource, why) => {
                    if self.format == Format::Human {
                        println!("could not remove {}: {why}", place(region, resource));
                    }
                    let mut entry = document(region, resource);
                    entry["reason"] = why.into();
                    self.failed.push(entry);
                }
                RemovalOutcome::Unknown(why) => self.unknown(&format!("whether anything is left in {region}: {why}")),
                RemovalOutcome::Waiting(what) => eprintln!("{region}: {what} ..."),
            }
        }

        fn taken(&mut self, region: &str, resource: &Resource, what: &str) {
            if self.format == Format::Human {
                println!("{what} {}", place(region, resource));
            }
            self.taken.push(document(region, resource));
        }

        fn unknown(&mut self, why: &str) {
            if self.format == Format::Human {
                println!("not known: {why}");
            }
            self.unknown.push(why.to_owned());
        }

        fn end(self, there: &There, selection: &Selection, kept: &[Run], now: Timestamp) -> Result<(), Failure> {
            let Self { format, dry_run, taken, failed, unknown } = self;
            let reported: Vec<String> = kept.iter().map(|run| there.reported(run, now)).collect();
            match format {
                Format::Human => {
                    if taken.is_empty() && failed.is_empty() && unknown.is_empty() {
                        println!("{} in {}", nothing(selection), there.regions());
                    }
                    if dry_run && !taken.is_empty() {
                        println!("nothing was removed: --dry-run");
                    }
                    reported.iter().for_each(|run| println!("kept: {run}"));
                }
                Format::Json => {
                    let (removed, would_remove) = if dry_run { (vec![], taken) } else { (taken, vec![]) };
                    let kept = kept.iter().map(|run| {
                        let until = match run.life {
                            Lifetime::Until(moment) => Some(at(moment)),
                            Lifetime::Unknown => None,
                        };
                        json!({ "run": run.name, "expires": until, "things": run.resources })
                    });
                    println!(
                        "{}",
                        pretty(&json!({
                            "regions": there.resources.keys().collect::<Vec<_>>(),
                            "dry_run": dry_run,
                            "removed": removed,
                            "would_remove": would_remove,
                            "failed": failed,
                            "not_known": unknown,
                            "kept": kept.collect::<Vec<_>>(),
                        }))
                    );
                }
            }
            let advice = "the command may be repeated; what is left costs money until it is gone";
            match (failed.len(), unknown.len()) {
                (0, 0) => Ok(()),
                (0, _) => Err(Failure::work("it is not known whether anything is left").help(advice)),
                (n, _) => Err(Failure::work(format!("{n} things could not be removed")).help(advice)),
            }
        }
    }

    fn nothing(selection: &Selection) -> String {
        match selection {
            Selection::Runs(names) => format!("nothing is left of {}", names.join(", ")),
            Selection::Expired(_) => "nothing has expired".to_owned(),
            Selection::All => "nothing carries the tag iopslab:run".to_owned(),
        }
    }

    /// `instance i-0123 of r1 (us-east-1)`
    fn place(region: &str, resource: &Resource) -> String {
        format!("{} of {} ({region})", resource.reported(), resource.run)
    }

    fn document(region: &str, resource: &Resource) -> Value {
        json!({
            "region": region,
            "kind": resource.kind.name(),
            "id": resource.id,
            "name": resource.name,
            "run": resource.run,
            "expires": resource.expires,
        })
    }
}
