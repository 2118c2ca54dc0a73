//! A first experiment file for a question of one's own: commented text from a few answers.
//!
//! What is drafted is read, planned and run like any other file; its comments say where its figures come from and what
//! to change first. The one thing that is worked out here is a model that this machine can carry:
//!
//! * `scale` divides IOPS, CPUs and data by N, so that the largest instance takes at most half of this machine's CPUs;
//!   the client needs the others.
//! * All nodes of a cluster run on this machine, each with its part of the model, so that load and demand are what
//!   clients ask of the whole cluster.
//! * In a 1:N model a queue in front of a volume takes N times as long: a bound on latency is in force, and a comment
//!   says what the analysis makes of it (`docs/method.md`).
//! * Where the data are still too many to load in minutes, data and page cache are reduced together. What counts is how
//!   many reads reach the volume. The share of the data that the page cache holds decides that, and how many records
//!   there are: so the file states how many these stand for, and has page caches of the size that misses as often.

mod checkpoints;
mod origins;
mod own;

use catalog::{Catalog, ClusterRequest, GIB};
use product::{CheckpointRules, Lack, Product, Settings};
use workload::Distribution;

use crate::cpu_share::LEAST_CPUS;
use crate::judged::{JUDGED_FROM_S, REPETITIONS_MIN, ROOMY_S};
use crate::ordered::{memory_limit_gib, name, quoted, volume};
use crate::scale::LEAST_PAGE_CACHE;
use crate::typed_number::grouped_by;
use crate::{Consistency, DEFAULT_HEADROOM, LoadLevel};

pub use origins::{Origins, RecordShape};
use origins::{comment, keys};
pub use own::OwnDraft;

/// What a draft is made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Name of the experiment.
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// The database.
    pub product: &'static Product,
    /// What a node runs on today, then what might replace it; a data volume first and a commit-log volume second.
    pub configurations: Vec<ClusterRequest>,
    /// Nodes of the cluster.
    pub nodes: u32,
    /// Copies that they keep of each record.
    pub replication_factor: u32,
    /// What requests wait for; `None`: it was not stated.
    pub consistency: Option<Consistency>,
    /// Share of the operations that read; the others update.
    pub read_share: f64,
    /// Bytes of data on one node, copies included.
    pub data_bytes: f64,
    /// What clients ask of all nodes.
    pub load: LoadLevel,
    /// Operations/s of clients that all nodes together have to carry at full scale.
    pub demand: Option<f64>,
    /// Greatest 99th percentile that is good enough, milliseconds.
    pub p99_ms: Option<f64>,
    /// CPUs of the machine that is to run it.
    pub machine_cpus: f64,
    /// What a record is like.
    pub record: RecordShape,
    /// How keys are chosen; `None`: it is not known, and zipfian ones are assumed.
    pub keys: Option<Distribution>,
    /// Statements of one's own; `None`: the operations of YCSB, by `record`, `keys` and `read_share`.
    pub own: Option<OwnDraft>,
    /// Where its figures come from.
    pub origins: Origins,
}

impl Draft {
    /// Bytes of the data set, each record counted once, for each byte on a node.
    fn data_sets_of_a_node(&self) -> f64 {
        f64::from(self.nodes) / f64::from(self.replication_factor)
    }

    /// How the database makes checkpoints, where something is written.
    fn checkpoints(&self) -> Option<CheckpointRules> {
        self.product.checkpoints.filter(|_| self.read_share < 1.0)
    }

    /// What load and demand are of.
    fn measured(&self) -> String {
        match self.nodes {
            1 => "one node".to_owned(),
            nodes => format!("all {nodes} nodes together"),
        }
    }
}

/// Bytes of a node on this machine: the least that are worth loading, and the most that are loaded in minutes (at
/// 15,000 to 30,000 records a second, measured).
const LOCAL_BYTES: (f64, f64) = (500e6, 4e9);
/// Largest 1:N that the file may state.
const MOST_SCALE: f64 = 512.0;

/// The model that this machine can carry.
struct Model {
    scale: f64,
    /// vCPUs of all nodes of the largest instance.
    vcpus: f64,
    records: u64,
    /// Memory limit of each configuration, GiB, where data and page cache are reduced together.
    memory_gib: Vec<Option<f64>>,
    /// By how much they are: 0.1 leaves a tenth.
    reduced_to: Option<f64>,
    /// Share of the data that the page cache of the first configuration holds at full scale.
    cached_share: Option<f64>,
}

fn model(catalog: &Catalog, draft: &Draft) -> Model {
    let instances = || draft.configurations.iter().filter_map(|c| catalog.instance(&c.instance));
    let of_one = instances().map(|i| f64::from(i.vcpus)).fold(1.0, f64::max);
    let vcpus = of_one * f64::from(draft.nodes);
    let room = (draft.machine_cpus / 2.0).max(2.0 * LEAST_CPUS);
    let mut scale = 1.0;
    // Beyond the least share of a node a larger scale saves no CPU.
    while vcpus / scale > room && of_one / scale >= 2.0 * LEAST_CPUS && scale < MOST_SCALE {
        scale *= 2.0;
    }
    let memories: Vec<u64> = instances().map(|i| (i.memory_gib * GIB) as u64).collect();
    let plain = Settings::default();
    let caches: Vec<f64> = memories.iter().filter_map(|m| draft.product.memory.page_cache_bytes(*m, &plain)).collect();
    let least_share = caches.iter().copied().fold(f64::INFINITY, f64::min) / draft.data_bytes;
    let divided = draft.data_bytes / scale;
    // Enough data that the smallest page cache is one that the kernel can keep.
    let wanted = (LEAST_PAGE_CACHE / least_share).clamp(LOCAL_BYTES.0, LOCAL_BYTES.1);
    let reduced_to = (divided > wanted).then(|| wanted / divided);
    let local = divided.min(wanted);
    let thousands = (local * draft.data_sets_of_a_node() / draft.record.bytes() / 1_000.0).round().max(1.0);
    Model {
        scale,
        vcpus,
        records: (thousands * 1_000.0 * scale) as u64,
        memory_gib: memories.iter().map(|m| memory_limit_gib(&draft.product.memory, *m, reduced_to?)).collect(),
        reduced_to,
        cached_share: caches.first().map(|c| c / draft.data_bytes),
    }
}

/// The text of the file.
pub fn draft(catalog: &Catalog, draft: &Draft) -> String {
    let model = model(catalog, draft);
    let names = names(&draft.configurations);
    let rules = draft.checkpoints();
    let mut text = head(draft, &names);
    text += &dataset(draft, &model);
    for (i, (request, name)) in draft.configurations.iter().zip(&names).enumerate() {
        let origin = draft.origins.configurations.get(i).map_or(&[][..], Vec::as_slice);
        text += &configuration(draft, request, name, (i == 0, origin), model.memory_gib.get(i).copied().flatten());
        text += &rules.map_or_else(String::new, |rules| checkpoints::settings(&rules, i == 0));
    }
    if let (Some(rules), Some(today)) = (rules, names.first()) {
        text += &checkpoints::variant(&rules, today);
    }
    text += &workload_and_load(draft, &model);
    text += &objective(draft, &model);
    text += &local(draft, &model);
    text
}

/// What is not stated is stated where the product has it, so that it is seen.
fn consistency(draft: &Draft) -> String {
    let level = match draft.consistency {
        None if !draft.product.has_consistency => return String::new(),
        stated => stated.unwrap_or(Consistency::One),
    };
    let why = match draft.replication_factor {
        1 => "one replica is measured: \"quorum\" would wait for the same one".to_owned(),
        all => format!("waits for {} of {all} replicas; state what your clients ask for", level.replicas(all)),
    };
    format!("consistency = {:<16} # {why}\n", quoted(level.name()))
}

fn head(draft: &Draft, names: &[String]) -> String {
    format!(
        "#:schema ./experiment.schema.json
# The line above lets editors complete and check this file; write that schema with: \
iopslab schema > experiment.schema.json
#
# See what it would do with `iopslab plan`, measure with `iopslab run`.
{}name = {}
question = {}
baseline = {}    # what runs today: ratios are against it

[target]
database = {}
{}",
        comment(&draft.origins.head),
        quoted(&draft.name),
        quoted(&draft.question),
        quoted(names.first().map_or("", String::as_str)),
        quoted(draft.product.name),
        consistency(draft),
    )
}

fn dataset(draft: &Draft, model: &Model) -> String {
    let local = model.records as f64 / model.scale * draft.record.bytes() / draft.data_sets_of_a_node();
    let (here, copies) = match (draft.nodes, draft.replication_factor) {
        (1, _) => ("on this machine", String::new()),
        (nodes, replicas) => (
            "on each node here",
            format!(
                "# Records count once: {data} on a node x {nodes} nodes / {replicas} replicas = {}.\n",
                bytes(draft.data_bytes * draft.data_sets_of_a_node()),
                data = bytes(draft.data_bytes),
            ),
        ),
    };
    let why = match (model.reduced_to, model.cached_share) {
        (Some(share), Some(cached)) if cached < 1.0 => format!(
            "# You have {} on a node, and a page cache for {} of it. To load that would take hours: \
             here data and page\n\
             # cache are {} of what divided by scale they would be, {} {here}. \
             The share of the data that memory\n\
             # can hold and the records that these stand for decide how many reads reach the volume.\n",
            bytes(draft.data_bytes),
            percent(cached),
            percent(share),
            bytes(local)
        ),
        (_, Some(cached)) if cached >= 1.0 => format!(
            "# The page cache of today's instance holds all of the {} on a node: volumes will hardly be read. \
             If that is\n\
             # not what you see in production, the data are more than stated. Loaded {here}: {}.\n",
            bytes(draft.data_bytes),
            bytes(local)
        ),
        _ => format!("# {} on a node, divided by scale: {} {here}.\n", bytes(draft.data_bytes), bytes(local)),
    };
    if draft.own.is_some() {
        return format!(
            "\n# Loaded once, and restored before every trial: the tables of [[workload]].\n{copies}{why}{}",
            comment(&draft.origins.dataset)
        );
    }
    let RecordShape { fields, field_length } = draft.record;
    let record = match draft.record == RecordShape::default() && draft.origins.dataset.is_empty() {
        true => "fields = 10\nfield_length = 100             # bytes: records of 1 kB. State what your rows are like"
            .to_owned(),
        false => format!("fields = {fields}\nfield_length = {field_length}"),
    };
    let stands_for = model.reduced_to.map_or_else(String::new, |_| {
        let all = draft.data_bytes * draft.data_sets_of_a_node() / draft.record.bytes();
        let all = all.round().max(model.records as f64);
        format!(
            "stands_for_records = {}   # as many as you have on {}\n",
            grouped_by(all as u64, '_'),
            draft.measured()
        )
    });
    format!(
        "
# Loaded once, and restored before every trial.
{copies}{why}{}[dataset]
records = {}
{stands_for}{record}
compressibility = 0.0          # share of a value that is constant text; 0: none of it can be compressed
",
        comment(&draft.origins.dataset),
        grouped_by(model.records, '_')
    )
}

fn configuration(
    draft: &Draft,
    request: &ClusterRequest,
    name: &str,
    (is_current, origin): (bool, &[String]),
    memory_gib: Option<f64>,
) -> String {
    let mut text = String::from("\n");
    if is_current {
        let nodes = match draft.nodes {
            1 => "one node".to_owned(),
            nodes => format!("{nodes} nodes"),
        };
        text += &format!("# What money buys: {nodes} each, today's first. `iopslab plan` shows what they cost.\n");
    }
    text += &comment(origin);
    text += &format!("[[configuration]]\nname = {}\ninstance = {}\n", quoted(name), quoted(&request.instance));
    let mut volumes = request.volumes.iter();
    text += &match volumes.next() {
        Some(data) => format!("data_volume = {}\n", volume(data, None)),
        None => "data_volume = \"local\"          # the instance's own disks\n".to_owned(),
    };
    if let Some(log) = volumes.next() {
        text += &format!("commitlog_volume = {}\n", volume(log, None));
    }
    if let Some(gib) = memory_gib {
        text += &format!("memory_limit_gib = {gib}        # leaves a page cache as much smaller as the data set is\n");
    }
    if (draft.nodes, draft.replication_factor) != (1, 1) {
        text += &format!("nodes = {}\nreplication_factor = {}\n", draft.nodes, draft.replication_factor);
    }
    text
}

const OF_CLUSTER: &str = "# A node of a cluster of N does more than an N-th of what clients ask: operations x (read x \
                          replicas that a read\n# waits for + update x copies) / N. nodes = N in each configuration \
                          measures the cluster itself.\n";

/// What is asked: the operations of YCSB, or statements of one's own.
fn workload(draft: &Draft, model: &Model) -> String {
    let read = (draft.read_share * 1e4).round() / 1e4;
    let update = ((1.0 - read) * 1e4).round() / 1e4;
    match &draft.own {
        Some(own) => own::workload(own, model.reduced_to),
        None => format!("[[workload]]\nname = \"production\"\nread = {read}\nupdate = {update}\n{}", keys(draft.keys)),
    }
}

fn workload_and_load(draft: &Draft, model: &Model) -> String {
    let level = match draft.load {
        LoadLevel::Concurrency(n) => format!(
            "# Requests in flight on {}. Latency follows from it; \
             rate = [N] shows latency at a load that is expected.\n\
             concurrency = [{n}]",
            draft.measured()
        ),
        LoadLevel::Rate { operations_per_s, .. } => format!(
            "# Operations a second on {}, divided by scale; \
             sent whether or not earlier ones have been answered.\n\
             rate = [{operations_per_s}]",
            draft.measured()
        ),
    };
    // Whoever has watched a cluster counted what one of its nodes does.
    let is_alone = draft.nodes == 1 && !draft.product.lacks(Lack::Clusters) && draft.origins.load.is_empty();
    let of_cluster = if is_alone { OF_CLUSTER } else { "" };
    let (duration_s, why) = match draft.checkpoints() {
        Some(rules) => checkpoints::duration(&rules),
        None => (ROOMY_S, format!("a steady state takes at least {JUDGED_FROM_S} s to judge")),
    };
    format!(
        "
{}{}
{}{of_cluster}[load]
{level}
warmup_s = 20
duration_s = {duration_s:<18}# {why}
# The fewest that can be tested. \"auto\": until every ratio is known to 5 %, or budget_minutes are spent.
repetitions = {REPETITIONS_MIN}
seed = 1
",
        comment(&draft.origins.workload),
        workload(draft, model),
        comment(&draft.origins.load)
    )
}

/// The bounds that are in force; what is not stated is a comment.
fn objective(draft: &Draft, model: &Model) -> String {
    let mut stated = Vec::new();
    let mut comments = Vec::new();
    let whole = draft.measured();
    match draft.demand {
        Some(demand) => {
            stated.push(format!("throughput = {demand}              # operations/s of {whole} of full size"));
            stated.push(format!(
                "headroom = {DEFAULT_HEADROOM}                 # share of its capacity that then stays free"
            ));
        }
        None => comments.push(format!("# throughput = 5000            # operations/s of {whole} of full size")),
    }
    let p99 = |ms: f64| format!("p99_ms = {ms}                    # 99th percentile of the worst operation kind");
    let (of_latency, line) = match draft.p99_ms {
        Some(ms) => (&mut stated, p99(ms)),
        None => (&mut comments, format!("# {}", p99(10.0))),
    };
    if model.scale > 1.0 {
        of_latency.push(format!(
            "# At 1:{scale} a queue in front of a volume takes {scale} times as long as in production: a bound that is \
             met is met, one that is\n\
             # missed by less than {scale} times is not decided. To decide it: scale = 1, on a machine with {} CPUs \
             for the database.",
            model.vcpus,
            scale = model.scale,
        ));
    }
    of_latency.push(line);
    let (what, table) = match stated.is_empty() {
        true => (
            "Without an objective, the answer is which configuration does the most for its money. \
             What good enough means:",
            "# [objective]",
        ),
        false => ("What good enough means: the cheapest configuration that meets it is recommended.", "[objective]"),
    };
    let origin = comment(&draft.origins.objective);
    let lines = [vec![format!("\n# {what}\n{origin}{table}")], stated, comments].concat();
    lines.join("\n") + "\n"
}

fn local(draft: &Draft, model: &Model) -> String {
    let mut text = format!(
        "
# How money is counted; on-demand unless stated:
# [basis]
# purchase = \"1yr-no-upfront\"

[provider.local]
# IOPS, MiB/s, CPUs, data and rates are divided by it: a model for a machine with {} CPUs, \
at most {} of them for the database.
scale = {}
",
        draft.machine_cpus,
        model.vcpus / model.scale,
        model.scale
    );
    // How often rows of one's own miss cannot be computed beforehand.
    let is_skewed = draft.own.is_none() && !matches!(draft.keys, Some(Distribution::Uniform));
    if is_skewed && (model.scale > 1.0 || model.reduced_to.is_some()) {
        text += "# Some keys are far more popular than others, and then the same share of fewer records misses more \
                 often. With\n# this a page cache has the size that misses as often as that of your machine; without \
                 it volumes would look more\n# important than they are.\npage_cache = \"same-misses\"\n";
    }
    if model.reduced_to.is_some() && !draft.product.lacks(Lack::Heap) {
        text += &format!(
            "# memory_limit_gib stands for a smaller machine; {} needs this heap all the same.\nheap_mib = {}\n",
            draft.product.short,
            draft.product.memory.least_main_bytes / catalog::MIB
        );
    }
    text
}

/// One for each, all different.
fn names(requests: &[ClusterRequest]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for request in requests {
        let name = name(request);
        let same = names.iter().filter(|n| **n == name || n.starts_with(&format!("{name}--"))).count();
        names.push(if same == 0 { name } else { format!("{name}--{}", same + 1) });
    }
    names
}

fn bytes(bytes: f64) -> String {
    match bytes {
        b if b >= 1e12 => format!("{} TB", two_digits(b / 1e12)),
        b if b >= 1e9 => format!("{} GB", two_digits(b / 1e9)),
        b => format!("{} MB", two_digits(b / 1e6)),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", two_digits(share * 100.0))
}

/// Two digits where there are fewer before the point: `0.42`, `4.2`, `42`, `420`.
fn two_digits(value: f64) -> String {
    match value {
        v if v >= 10.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{}", (v * 10.0).round() / 10.0),
        v => format!("{}", (v * 100.0).round() / 100.0),
    }
}
