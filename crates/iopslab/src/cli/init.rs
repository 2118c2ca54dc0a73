//! `iopslab init`: a first experiment file, from flags or from a few questions.

use std::io::{BufRead, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use ::catalog::{Catalog, ClusterRequest};
use clap::Args;
use experiment::{Arrivals, Consistency, Draft, Experiment, Lack, LoadLevel, Mistake, Origins, PRODUCTS, RecordShape};
use process::failure::Failure;
use process::machine;
use process::output::{Format, pretty};

use super::amounts::{data_size, part};
use super::facts::catalog;
use super::numbers::positive;

/// What was typed after `init`.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Without --current and --candidate it asks, if stdin is a terminal. A configuration is \
INSTANCE[+TYPE:SIZE[:IOPS[:MIB_PER_S]]][+COMMIT_LOG_VOLUME]; without
a volume the instance's own disks are meant.

Examples:
  iopslab init
  iopslab init --current r6i.2xlarge+gp3:500GiB --candidate r6i.2xlarge+gp3:500GiB:12000:300 \
--candidate i4i.2xlarge --out storage.toml
  iopslab init --database postgresql --current r6i.2xlarge+gp3:500GiB --candidate i4i.2xlarge --rate \
5000 --p99 10
  iopslab init --current r6i.2xlarge+gp3:500GiB --candidate i4i.2xlarge --demand 5000 --read-share \
95% --data 800GB --out -
  iopslab init --current r6i.2xlarge+gp3:500GiB --candidate i4i.2xlarge --nodes 3 --rf 3 --consistency \
quorum --rate 9000")]
pub struct InitArgs {
    /// What the experiment is to answer
    #[arg(long)]
    question: Option<String>,
    /// The database [default: cassandra]
    #[arg(long, value_name = "NAME", value_parser = PRODUCTS.map(|product| product.name))]
    database: Option<String>,
    /// What one node runs on today
    #[arg(long, value_name = "CONFIG")]
    current: Option<String>,
    /// What might replace it (repeatable)
    #[arg(long = "candidate", value_name = "CONFIG")]
    candidates: Vec<String>,
    /// Nodes of the cluster, all on the same configuration [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Copies of each record among the nodes [default: 3, or as many as there are nodes]
    #[arg(long, visible_alias = "rf", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    replication_factor: Option<u32>,
    /// What requests wait for, such as local_quorum [default: one]
    #[arg(long, value_name = "LEVEL")]
    consistency: Option<Consistency>,
    /// Share of the operations that read, 0.8 or 80%; the others update
    #[arg(long, value_name = "SHARE", value_parser = part)]
    read_share: Option<f64>,
    /// Size of the data in production on one node, its copies included, such as 400GB: payload, which is bytes on disk
    /// of one node / compression ratio / 1.15 [default: 400GB]
    #[arg(long, value_name = "SIZE", value_parser = data_size)]
    data: Option<f64>,
    /// Requests in flight on all nodes together [default: 64 for each]
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "rate",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    in_flight: Option<u32>,
    /// Operations a second of clients on all nodes together, instead of --in-flight
    #[arg(long, value_name = "OPS_PER_S", value_parser = positive)]
    rate: Option<f64>,
    /// Operations a second of clients that all nodes together have to carry: the cheapest configuration that does is
    /// recommended
    #[arg(long, value_name = "OPS_PER_S", value_parser = positive)]
    demand: Option<f64>,
    /// Greatest 99th percentile of latency that is good enough at --rate, milliseconds
    #[arg(long, value_name = "MS", value_parser = positive)]
    p99: Option<f64>,
    /// Where to write the file; - prints it
    #[arg(long, value_name = "FILE", default_value = "experiment.toml")]
    out: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

const QUESTION: &str = "Is it worth paying for faster storage?";
const READ_SHARE: f64 = 0.8;
const DATA_BYTES: f64 = 400e9;
/// On each node.
const IN_FLIGHT: u32 = 64;
/// Copies that are usual, where there are as many nodes: the default of experiments.
const REPLICAS: u32 = 3;

pub fn run(mut args: InitArgs, format: Format) -> Result<(), Failure> {
    let catalog = catalog()?;
    let to_stdout = args.out == Path::new("-");
    if !to_stdout {
        is_free(&args.out, args.force)?;
    }
    if args.current.is_none() || args.candidates.is_empty() {
        if !std::io::stdin().is_terminal() {
            return Err(Failure::input("--current and at least one --candidate are missing").help(
                "for example --current r6i.2xlarge+gp3:500GiB --candidate i4i.2xlarge; in a terminal iopslab init asks",
            ));
        }
        let mut conversation =
            Conversation { answers: &mut std::io::stdin().lock(), say: &mut |text| eprint!("{text}") };
        interview(&catalog, &mut args, &mut conversation)?;
    }
    if let Some(ms) = args.p99.filter(|_| args.rate.is_none()) {
        let message = format!(
            "--p99 {ms} without --rate: a bound on latency means something at a rate that is expected; with requests \
             in flight alone latency is their number over the throughput"
        );
        return Err(Failure::input(message).help(format!("state both, for example --rate 5000 --p99 {ms}")));
    }
    let (text, experiment) = drafted(&catalog, &args, machine::cpus() as f64)?;
    if to_stdout {
        print!("{text}");
        tell(&args, &experiment);
        return Ok(());
    }
    write(&args.out, args.force, &text)?;
    tell(&args, &experiment);
    let (out, word) = (args.out.display(), guarded::shell_path(&args.out));
    match format {
        Format::Json => println!("{}", pretty(&serde_json::json!({ "experiment": args.out }))),
        Format::Human => println!("wrote {out}; next: iopslab plan {word}, then iopslab run {word}"),
    }
    Ok(())
}

/// What must not surprise after the run: a bound that a model does not always decide, load that is a cluster's, and
/// that nothing can be learned of other machines.
fn tell(args: &InitArgs, experiment: &Experiment) {
    let is_asked = args.rate.is_some() || args.demand.is_some();
    let has_clusters = !experiment.target.database.product().lacks(Lack::Clusters);
    if args.nodes.is_none() && is_asked && has_clusters {
        eprintln!(
            "note: one node is measured, and asked for all of --rate and --demand. Of N nodes each does operations x \
             (read x replicas that a read waits for + update x copies) / N; --nodes, --rf and --consistency measure \
             the cluster"
        );
    }
    let is_one_size = experiment.configurations.windows(2).all(|two| two[0].instance.vcpus == two[1].instance.vcpus);
    let needs = [
        (is_asked, "--in-flight instead of --rate, --demand and --p99"),
        (is_one_size, "a --candidate of another instance size (or a second [[workload]], of another mix)"),
    ];
    let needs: Vec<&str> = needs.iter().filter(|(is_missing, _)| *is_missing).map(|(_, what)| *what).collect();
    if has_clusters && !needs.is_empty() {
        eprintln!("note: before `iopslab next` can propose what else to measure, it needs {}", needs.join(", and "));
    }
    let scale = experiment.place.scale();
    if let Some(ms) = args.p99.filter(|_| scale > 1.0) {
        eprintln!(
            "note: p99_ms = {ms} is judged in a 1:{scale} model, where a queue in front of a volume takes {scale} \
             times as long: missed by less than that it is not decided. --demand states an objective that carries over"
        );
    }
}

/// The text and what it says, because it has been read back: what init writes can be planned.
fn drafted(catalog: &Catalog, args: &InitArgs, machine_cpus: f64) -> Result<(String, Experiment), Failure> {
    let configurations = args
        .current
        .iter()
        .chain(&args.candidates)
        .map(|text| configuration(catalog, text).map_err(Failure::input))
        .collect::<Result<_, _>>()?;
    let asked = PRODUCTS.into_iter().find(|product| args.database.as_deref() == Some(product.name));
    let nodes = args.nodes.unwrap_or(1);
    let draft = Draft {
        name: name(&args.out),
        product: asked.unwrap_or(PRODUCTS[0]),
        question: args.question.clone().unwrap_or_else(|| QUESTION.to_owned()),
        configurations,
        nodes,
        replication_factor: args.replication_factor.unwrap_or(REPLICAS.min(nodes)),
        consistency: args.consistency,
        read_share: args.read_share.unwrap_or(READ_SHARE),
        data_bytes: args.data.unwrap_or(DATA_BYTES),
        load: match args.rate {
            Some(operations_per_s) => LoadLevel::Rate { operations_per_s, arrivals: Arrivals::Poisson },
            None => LoadLevel::Concurrency(args.in_flight.unwrap_or(IN_FLIGHT.saturating_mul(nodes))),
        },
        demand: args.demand,
        p99_ms: args.p99,
        machine_cpus,
        record: RecordShape::default(),
        keys: None,
        own: None,
        origins: Origins::default(),
    };
    let current = args.current.iter().map(|config| format!("--current {config}"));
    let candidates = args.candidates.iter().map(|config| format!("--candidate {config}"));
    read_back(catalog, &draft, &current.chain(candidates).collect::<Vec<_>>())
}

/// The text of a draft, and what it says. Its configurations were given by these flags, if any.
pub(super) fn read_back(catalog: &Catalog, draft: &Draft, flags: &[String]) -> Result<(String, Experiment), Failure> {
    let text = experiment::draft(catalog, draft);
    // The one file that it may name is written with it.
    let beside = |file: &str| {
        let own = draft.own.as_ref().filter(|own| own.file == file);
        own.map(|own| own.text.clone()).ok_or_else(|| format!("{file} is not written"))
    };
    let context = experiment::ParseContext::files(&beside);
    let name = "the file that would be written";
    let experiment = experiment::parse(catalog, name, &text, &context, experiment::ReadFor::Anybody)
        .map_err(|mistakes| by_flag(flags, &text, mistakes.list()))?;
    Ok((text, experiment))
}

/// What is wrong, by the flag that says it: nobody sees the file that would have been written.
fn by_flag(flags: &[String], text: &str, mistakes: &[Mistake]) -> Failure {
    let said = mistakes.iter().map(|mistake| {
        let headers: Vec<&str> = text.lines().take(mistake.line).filter(|line| line.starts_with('[')).collect();
        let nth = headers.iter().filter(|header| **header == CONFIGURATION).count();
        let flag = flags.get(nth.saturating_sub(1)).filter(|_| headers.last() == Some(&CONFIGURATION));
        let flag = flag.map_or_else(String::new, |flag| format!("{flag}: "));
        let help = mistake.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
        format!("{flag}{}{help}", mistake.message)
    });
    Failure::input(said.collect::<Vec<_>>().join("\n"))
}

/// The header of each configuration of the file.
const CONFIGURATION: &str = "[[configuration]]";

/// A machine with at most two volumes: what an experiment can measure.
fn configuration(catalog: &Catalog, text: &str) -> Result<ClusterRequest, String> {
    let request = ClusterRequest::parse(catalog, text).map_err(|error| error.to_string())?;
    if request.nodes != 1 {
        let nodes = request.nodes;
        return Err(format!("configuration `{text}`: leave out `*{nodes}`; --nodes {nodes} is for all configurations"));
    }
    if request.volumes.len() > 2 {
        return Err(format!(
            "configuration `{text}`: {} volumes; an experiment has a data volume and a commit-log volume",
            request.volumes.len()
        ));
    }
    Ok(request)
}

/// The experiment is called after its file, as far as names may say it.
pub(super) fn name(out: &Path) -> String {
    let stem = out.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let is_sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name: String = stem.chars().map(|c| if is_sound(c) { c } else { '-' }).take(64).collect();
    match name.trim_matches('-') {
        "" => "experiment".to_owned(),
        name => name.to_owned(),
    }
}

/// What is there is replaced where that is asked for.
pub(super) fn is_free(out: &Path, force: bool) -> Result<(), Failure> {
    if !force && out.exists() {
        return Err(Failure::input(format!("{} is there already", out.display()))
            .help("choose another name with --out FILE, or replace it with --force"));
    }
    Ok(())
}

/// Writes a file that was free, or in the place of another.
pub(super) fn write(out: &Path, force: bool, text: &str) -> Result<(), Failure> {
    let written = match force {
        true => guarded::replace(out, text.as_bytes(), 0o666),
        false => guarded::create(out).and_then(|mut file| file.write_all(text.as_bytes())),
    };
    written.map_err(|error| Failure::work(format!("cannot write {}: {error}", out.display())))
}

/// Somebody to ask.
struct Conversation<'a> {
    answers: &'a mut dyn BufRead,
    say: &'a mut dyn FnMut(&str),
}

impl Conversation<'_> {
    /// Asks until the answer can be understood; an empty one is `None`.
    fn ask<T>(&mut self, question: &str, understand: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Failure> {
        loop {
            (self.say)(&format!("{question} "));
            let mut line = String::new();
            let read = self.answers.read_line(&mut line);
            if read.map_err(|error| Failure::work(format!("cannot read your answer: {error}")))? == 0 {
                return Err(Failure::input("no answer: nothing is written"));
            }
            match line.trim() {
                "" => return Ok(None),
                answer => match understand(answer) {
                    Ok(value) => return Ok(Some(value)),
                    Err(problem) => (self.say)(&format!("  {problem}\n")),
                },
            }
        }
    }
}

/// Asks for what no flag says.
fn interview(catalog: &Catalog, args: &mut InitArgs, with: &mut Conversation<'_>) -> Result<(), Failure> {
    (with.say)("Press Enter for the default, which stands in brackets.\n");
    let is_configuration = |text: &str| configuration(catalog, text).map(|_| text.to_owned());
    if args.question.is_none() {
        args.question = with.ask(&format!("What is the question? [{QUESTION}]"), |text| Ok(text.to_owned()))?;
    }
    while args.current.is_none() {
        let question = "What does a node run on today? Instance and volume, such as r6i.2xlarge+gp3:500GiB:";
        args.current = with.ask(question, is_configuration)?;
    }
    loop {
        let question = match args.candidates.len() {
            0 => "What might replace it? Such as r6i.2xlarge+gp3:500GiB:12000:300, or i4i.2xlarge for its own disks:",
            _ => "And what else? [nothing]",
        };
        match with.ask(question, is_configuration)? {
            Some(candidate) => args.candidates.push(candidate),
            None if args.candidates.is_empty() => {}
            None => break,
        }
    }
    // A product without clusters was asked for.
    if args.nodes.is_none() && args.database.as_deref().is_none_or(|name| name == PRODUCTS[0].name) {
        args.nodes = with.ask("How many nodes does the cluster have? [1]", typed)?;
    }
    if args.nodes.is_some_and(|nodes| nodes > 1) {
        if args.replication_factor.is_none() {
            let question = "How many copies of each record are there? [3, or as many as there are nodes]";
            args.replication_factor = with.ask(question, typed)?;
        }
        if args.consistency.is_none() {
            args.consistency =
                with.ask("What do requests wait for, such as quorum? [one]", str::parse::<Consistency>)?;
        }
    }
    if args.read_share.is_none() {
        args.read_share = with.ask("Which share of the operations reads? [80%]", part)?;
    }
    if args.data.is_none() {
        args.data = with.ask("How much payload is on one node, copies included? [400GB]", data_size)?;
    }
    if args.rate.is_none() && args.in_flight.is_none() {
        let question = "How many operations a second do clients ask of all nodes together? [not known: 64 requests in \
                        flight for each]";
        args.rate = with.ask(question, positive)?;
    }
    if args.demand.is_none() {
        let question = "How many operations a second must all nodes together carry? [not stated]";
        args.demand = with.ask(question, positive)?;
    }
    if args.p99.is_none() && args.rate.is_some() {
        let question = "Which 99th percentile of latency is good enough, in ms? [not stated]";
        args.p99 = with.ask(question, positive)?;
    }
    Ok(())
}

/// A number of nodes or copies.
fn typed(text: &str) -> Result<u32, String> {
    let number = text.parse::<u32>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{text}` is no whole number from 1 on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was asked, and the arguments afterwards.
    fn asked(answers: &str) -> (String, Result<InitArgs, Failure>) {
        let mut args = InitArgs { out: PathBuf::from("own.toml"), ..InitArgs::default() };
        let mut said = String::new();
        let mut conversation = Conversation { answers: &mut answers.as_bytes(), say: &mut |text| said.push_str(text) };
        let ended = interview(Catalog::built_in(), &mut args, &mut conversation);
        (said, ended.map(|()| args))
    }

    #[test]
    fn a_conversation_with_slips_ends_in_a_sound_file() {
        let (said, args) = asked(
            "Is it?\nr6i.2xlrage+gp3:500GiB\n\nr6i.2xlarge+gp3:500GiB\n\ni4i.2xlarge*3\ni4i.2xlarge\n\n\
             none\n3\n\nquorums\nquorum\nmost\n180%\n95%\n800\n800GB\n5_000\n6000\n10\n",
        );
        let args = args.unwrap();
        for problem in [
            "unknown instance type `r6i.2xlrage`",
            "--nodes 3 is for all configurations",
            "`none` is no whole number",
            "`quorums` is no consistency level",
            "`most` is no share",
            "`180%` is more than all",
            "`800` is no size",
        ] {
            assert!(said.contains(problem), "{problem}: {said}");
        }
        assert_eq!(args.question.as_deref(), Some("Is it?"));
        assert_eq!(args.candidates, ["i4i.2xlarge"]);
        assert_eq!((args.nodes, args.replication_factor, args.consistency), (Some(3), None, Some(Consistency::Quorum)));
        assert_eq!((args.read_share, args.data), (Some(0.95), Some(800e9)));
        assert_eq!((args.rate, args.demand, args.p99), (Some(5_000.0), Some(6_000.0), Some(10.0)));
        let (text, _) = drafted(Catalog::built_in(), &args, 2.0).unwrap();
        assert!(text.contains("name = \"own\"") && text.contains("rate = [5000]"), "{text}");
        assert!(text.contains("nodes = 3\nreplication_factor = 3\n"), "{text}");
    }

    #[test]
    fn empty_answers_take_the_defaults_and_the_end_of_input_writes_nothing() {
        let (_, args) = asked("\nr6i.2xlarge+gp3:500GiB\ni4i.2xlarge\n\n\n\n\n\n\n");
        let (text, _) = drafted(Catalog::built_in(), &args.unwrap(), 2.0).unwrap();
        assert!(text.contains(QUESTION) && text.contains("concurrency = [64]"), "{text}");
        assert!(matches!(asked("Is it?\n").1, Err(Failure { kind: process::failure::Kind::Input, .. })));
    }

    #[test]
    fn an_experiment_is_called_after_its_file() {
        for (out, expected) in
            [("own.toml", "own"), ("a/b c.v2.toml", "b-c-v2"), ("-", "experiment"), ("...", "experiment")]
        {
            assert_eq!(name(Path::new(out)), expected, "{out}");
        }
    }
}
