//! Options about a cache before the database, the same wherever one is asked about.

use ::catalog::{Catalog, ClusterRequest};
use ::sizing::{CacheMachine, CacheOptions};
use clap::Args;
use experiment::{Experiment, Plan};
use miss_ratio::{LONGEST_TTL_S, Policy, Rules, TierCurve};
use process::failure::Failure;

use super::amounts::share;
use super::numbers::positive;

/// What a write does where nothing is stated: nobody reads what is stale.
const POLICY: Policy = Policy::Invalidate;
/// Share of a cache node's memory that is for items where nothing is stated; the kernel, connections and the table of
/// hashes have the rest (practice).
const MEMORY_SHARE: f64 = 0.9;

/// How a cache is used.
#[derive(Debug, Args)]
#[command(next_help_heading = "A cache before the database")]
pub struct CacheUse {
    /// Seconds after which what is cached expires, 1 to 2592000 (30 days). Default: never
    #[arg(long, value_name = "SECONDS", value_parser = ttl_s)]
    cache_ttl_s: Option<f64>,
    /// What a write does to the cache: aside (nothing), invalidate (deletes the item) or write_through (stores it).
    /// Default: invalidate
    #[arg(long, value_name = "POLICY")]
    cache_policy: Option<Policy>,
}

/// Cache machines among what is sized.
#[derive(Debug, Args)]
#[command(next_help_heading = "A cache before the database")]
pub struct CacheSizeArgs {
    /// A machine of a cache before the database: INSTANCE, or INSTANCE*NODES (repeatable). Its hit ratio is predicted
    /// from the workload's keys
    #[arg(long, value_name = "CONFIG")]
    cache: Vec<String>,
    /// The cache before the fleet of today, INSTANCE*NODES: database machines behind it are judged as one fleet
    #[arg(long, value_name = "CONFIG", requires = "current")]
    current_cache: Option<String>,
    /// CPU time that a request takes of a cache node, microseconds of one of its vCPUs. Default: what the runs have
    /// measured, if one of them has a cache_tier
    #[arg(long, value_name = "US")]
    cache_cpu_us: Option<f64>,
    /// Share of a cache node's memory for items: 90% or 0.9. Default: 90%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    cache_memory: Option<f64>,
    #[command(flatten)]
    used: CacheUse,
}

/// What is printed of a cache before an experiment's database.
#[derive(Debug, Args)]
#[command(next_help_heading = "A cache before the database")]
pub struct CacheCurveArgs {
    /// Print instead of the plan how often a cache before the database would find what each workload reads, by its size
    #[arg(long)]
    cache_curve: bool,
    /// Operations per second of a run (of a model of 1:N a N-th, as its records are), by which --cache-ttl-s and the
    /// seconds of memcached's LRU are counted. Default: so few that an item is kept for many seconds
    #[arg(long, value_name = "OPS_PER_S", value_parser = positive)]
    cache_rate: Option<f64>,
    #[command(flatten)]
    used: CacheUse,
}

/// Curves of an experiment's workloads, and why others have none.
pub struct Curves {
    /// Seconds after which what is cached expires; `None`: never.
    pub ttl_s: Option<f64>,
    /// One a workload.
    pub curves: Vec<TierCurve>,
    /// One a workload that has none.
    pub left_out: Vec<String>,
}

impl CacheSizeArgs {
    /// What is asked about caches; `None`: nothing.
    pub fn options(&self, catalog: &Catalog) -> Result<Option<CacheOptions>, Failure> {
        if self.cache.is_empty() && self.current_cache.is_none() {
            let alone = [
                ("--cache-cpu-us", self.cache_cpu_us.is_some()),
                ("--cache-memory", self.cache_memory.is_some()),
                ("--cache-ttl-s", self.used.cache_ttl_s.is_some()),
                ("--cache-policy", self.used.cache_policy.is_some()),
            ];
            return match alone.into_iter().find(|(_, is_stated)| *is_stated) {
                Some((flag, _)) => Err(Failure::input(format!("{flag} says something of a cache, and there is none"))
                    .help("name its machine: --cache r7g.large")),
                None => Ok(None),
            };
        }
        let machine = |text: &String| -> Result<CacheMachine, Failure> {
            let ClusterRequest { instance, nodes, .. } = machines(catalog, text)?;
            Ok(CacheMachine { instance, nodes: text.contains('*').then_some(nodes) })
        };
        Ok(Some(CacheOptions {
            machines: self.cache.iter().map(machine).collect::<Result<_, _>>()?,
            current: self.today(catalog)?,
            policy: self.used.cache_policy.unwrap_or(POLICY),
            ttl_s: self.used.cache_ttl_s,
            cpu_us: self.cache_cpu_us,
            memory_share: self.cache_memory.unwrap_or(MEMORY_SHARE),
        }))
    }

    /// The cache before the fleet of today.
    pub fn today(&self, catalog: &Catalog) -> Result<Option<ClusterRequest>, Failure> {
        let Some(text) = &self.current_cache else { return Ok(None) };
        let request = machines(catalog, text)?;
        match text.contains('*') {
            true => Ok(Some(request)),
            false => Err(Failure::input(format!("--current-cache {text} does not state how many machines there are"))
                .help(format!("state their number: --current-cache '{text}*36'"))),
        }
    }
}

/// Machines of a cache: what it caches is in their memory.
fn machines(catalog: &Catalog, text: &str) -> Result<ClusterRequest, Failure> {
    let request = ClusterRequest::parse(catalog, text).map_err(Failure::input)?;
    match request.volumes.is_empty() {
        true => Ok(request),
        false => Err(Failure::input(format!("the cache {text} has a volume; what it caches is in its memory"))),
    }
}

impl CacheCurveArgs {
    /// The curves, if they are asked for.
    pub fn curves(&self, experiment: &Experiment, plan: &Plan) -> Result<Option<Curves>, Failure> {
        let CacheUse { cache_ttl_s: ttl_s, cache_policy } = self.used;
        if !self.cache_curve {
            return match ttl_s.is_some() || cache_policy.is_some() || self.cache_rate.is_some() {
                true => Err(Failure::input("--cache-ttl-s, --cache-policy and --cache-rate are about --cache-curve")),
                false => Ok(None),
            };
        }
        all_records(experiment)?;
        let ttl_operations = match (ttl_s, self.cache_rate) {
            (Some(ttl_s), Some(rate)) => Some(ttl_s * rate),
            (Some(_), None) => {
                return Err(Failure::input(
                    "--cache-rate is missing: how much is asked for before something expires depends on it",
                )
                .help("state the operations per second of the workload: --cache-rate 20000"));
            }
            (None, _) => None,
        };
        let policy = cache_policy.unwrap_or(POLICY);
        let rules = Rules { policy, ttl_operations, operations_per_s: self.cache_rate };
        let (mut curves, mut left_out) = (Vec::new(), Vec::new());
        let record = (plan.dataset.fields, plan.dataset.record_bytes() as u64);
        for workload in &plan.workloads {
            match TierCurve::of(workload, plan.dataset.records, record, rules) {
                Ok(curve) => curves.push(curve),
                Err(why) => left_out.push(why.to_string()),
            }
        }
        if curves.is_empty() {
            return Err(Failure::input(left_out.join("; ")));
        }
        Ok(Some(Curves { ttl_s, curves, left_out }))
    }
}

/// Refuses a data set that stands for a larger one: popular keys are a larger share of fewer records, and what is
/// printed of memory would be that of the smaller one.
fn all_records(experiment: &Experiment) -> Result<(), Failure> {
    let stated = experiment.dataset.records;
    match experiment.stands_for_records.filter(|all| *all > stated) {
        Some(all) => Err(Failure::input(format!(
            "[dataset] stands_for_records = {all}: a curve of records = {stated} would be that of another data set"
        ))
        .help(format!("nothing is loaded for a curve, so ask for all of them: --set dataset.records={all}"))),
        None => Ok(()),
    }
}

/// Seconds that memcached takes for a time to live.
fn ttl_s(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| (1.0..=LONGEST_TTL_S).contains(seconds));
    seconds.ok_or_else(|| {
        format!("`{text}` is no TTL; expected 1 to {LONGEST_TTL_S} seconds: memcached takes what is longer for a date")
    })
}
