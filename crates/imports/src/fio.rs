//! fio 3, `--output-format=json` or `json+`. It loads a volume and no database: reads are reads, writes are updates.
//!
//! What its figures are is in fio's HOWTO, "JSON output"; all latencies are in nanoseconds.

use std::collections::BTreeMap;

use evidence::{CountedFrom, ErrorKind, OperationKind, StatedLatency, Tool};
use serde_json::Value;

use crate::{Refusal, Results, StatedLoad, quantiles};

/// Nanoseconds of a microsecond.
const NS: f64 = 1e3;

pub fn read(text: &str) -> Result<Results, Refusal> {
    let document: Value = serde_json::from_str(text).map_err(|error| {
        let help = "the output was cut, or messages stand between: redirect stderr elsewhere, or use fio --output=FILE";
        Refusal::at(error.line(), format!("expected the JSON of fio: {error}")).help(help)
    })?;
    let version = document["fio version"].as_str().map(str::to_owned);
    if !version.as_deref().is_some_and(|version| version.starts_with("fio-3")) {
        let found = version.unwrap_or_else(|| "none".to_owned());
        return Err(Refusal::whole(format!("expected `fio version` 3, found {found}")));
    }
    let jobs = document["jobs"].as_array().filter(|jobs| !jobs.is_empty());
    let jobs = jobs.ok_or_else(|| Refusal::whole("expected `jobs`, a list with at least one job"))?;
    Fio { version, jobs, options: &document["global options"] }.results()
}

struct Fio<'a> {
    version: Option<String>,
    jobs: &'a [Value],
    options: &'a Value,
}

impl Fio<'_> {
    fn results(self) -> Result<Results, Refusal> {
        self.ran_together()?;
        let mut failed = 0_u64;
        for job in self.jobs {
            let (name, error) = (job["jobname"].as_str().unwrap_or("of no name"), job["error"].as_i64().unwrap_or(0));
            if error != 0 {
                return Err(Refusal::whole(format!("job {name} ended with error {error}: its figures are of a part")));
            }
            if number(&job["trim"], "total_ios")? > 0.0 {
                return Err(Refusal::whole(format!("job {name} trims, which is no kind of operation here")));
            }
            failed = job["total_err"].as_u64().unwrap_or(0).saturating_add(failed);
        }
        let mut left_out = Vec::new();
        let (mut completed, mut latencies) = (BTreeMap::new(), BTreeMap::new());
        let (mut measured_s, mut rate): (f64, f64) = (0.0, 0.0);
        for (key, kind) in [("read", OperationKind::Read), ("write", OperationKind::Update)] {
            let mut of_kind = Vec::new();
            for job in self.jobs.iter().map(|job| &job[key]) {
                let ios = number(job, "total_ios")?;
                if ios > 0.0 {
                    measured_s = measured_s.max(number(job, "runtime")? / 1e3);
                    rate += number(job, "iops")?;
                    let counted: &mut u64 = completed.entry(kind).or_default();
                    *counted = counted.saturating_add(ios as u64);
                    of_kind.push(job);
                }
            }
            latencies.extend(latency(&of_kind, &mut left_out)?.map(|stated| (kind, stated)));
        }
        left_out.sort();
        left_out.dedup();
        Ok(Results {
            tool: Tool::Fio,
            measured_s,
            completed,
            failed: if failed > 0 { BTreeMap::from([(ErrorKind::Other, failed)]) } else { BTreeMap::new() },
            stated_ops_per_s: rate,
            latencies,
            counted_from: CountedFrom::Sent,
            is_from_shown: true,
            has_intended: false,
            load: self.load()?,
            progress: Vec::new(),
            clocks: None,
            left_out,
            version: self.version,
        })
    }

    /// An option of a job, or of all of them; one without a value is empty.
    fn option(&self, job: &Value, key: &str) -> Option<String> {
        job["job options"][key].as_str().or_else(|| self.options[key].as_str()).map(str::to_owned)
    }

    /// Figures of jobs are added: that is true of those which ran at the same time.
    fn ran_together(&self) -> Result<(), Refusal> {
        let states = |key: &str| self.jobs.iter().any(|job| self.option(job, key).is_some());
        let first = &self.jobs[0];
        let is_apart = |of: &dyn Fn(&Value) -> Value| self.jobs.iter().any(|job| of(job) != of(first));
        let is_grouped = is_apart(&|job| job["groupid"].clone());
        let is_late = is_apart(&|job| self.option(job, "startdelay").into());
        let how = if is_grouped && states("stonewall") {
            "ran one after the other (stonewall)"
        } else if is_grouped {
            "are of several groups (new_group)"
        } else if self.jobs.len() > 1 && states("wait_for") {
            "ran one after the other (wait_for)"
        } else if is_late {
            "began at different times (startdelay)"
        } else {
            return Ok(());
        };
        let help = "run each by itself, or give a file with one of them";
        Err(Refusal::whole(format!("its jobs {how}: they are several measurements")).help(help))
    }

    /// What is stated of the load, where all jobs state the same.
    fn load(&self) -> Result<StatedLoad, Refusal> {
        let option = |job: &Value, key: &str| self.option(job, key);
        let (mut in_flight, mut rate) = (Some(0_u32), None::<f64>);
        for job in self.jobs {
            let stated = |key: &str| option(job, key).map(|text| text.parse::<u32>().ok());
            // With group_reporting one job of the output stands for as many as there are.
            let jobs = stated("numjobs").unwrap_or(Some(1)).filter(|_| self.jobs.len() == 1);
            let of_job = stated("iodepth").flatten().zip(jobs.or((self.jobs.len() > 1).then_some(1)));
            in_flight =
                in_flight.zip(of_job).and_then(|(sum, (depth, jobs))| sum.checked_add(depth.checked_mul(jobs)?));
            for (key, what) in [("rate", "kept to a rate in bytes"), ("thinktime", "paused between its requests")] {
                let is_set = |text: &String| text.contains(|digit: char| ('1'..='9').contains(&digit));
                if let Some(text) = option(job, key).filter(is_set) {
                    let message = format!("{key} = {text}: it {what}, which is no load that is known here");
                    return Err(Refusal::whole(message).help("limit it by rate_iops, or by iodepth and numjobs alone"));
                }
            }
            if let Some(text) = option(job, "rate_iops") {
                // Each of the jobs that an entry stands for keeps to it.
                let many = match self.jobs.len() {
                    1 => jobs.ok_or_else(|| Refusal::whole("numjobs: expected a whole number beside rate_iops"))?,
                    _ => 1,
                };
                rate = Some(rate.unwrap_or(0.0) + rate_of(job, &text)? * f64::from(many));
            }
        }
        Ok(StatedLoad { in_flight: in_flight.filter(|n| *n > 0), rate_per_s: rate })
    }
}

/// `rate_iops` of a job: `READS,WRITES`, or one number for each direction that it has.
fn rate_of(job: &Value, text: &str) -> Result<f64, Refusal> {
    let stated: Vec<&str> = text.split(',').collect();
    let mut sum = 0.0;
    for (place, key) in ["read", "write"].into_iter().enumerate() {
        if number(&job[key], "total_ios")? > 0.0 {
            let of_kind = stated.get(place).or(stated.first()).and_then(|text| text.parse::<f64>().ok());
            let of_kind = of_kind.filter(|rate| rate.is_finite() && *rate > 0.0);
            let message = || Refusal::whole(format!("rate_iops = {text}: expected a number for each direction"));
            sum += of_kind.ok_or_else(message)?;
        }
    }
    Ok(sum)
}

/// A number of a part of a job, which has to be there.
fn number(of: &Value, key: &str) -> Result<f64, Refusal> {
    let found = of[key].as_f64().filter(|n| n.is_finite() && *n >= 0.0);
    match (found, of.is_null()) {
        (Some(n), _) => Ok(n),
        // A version without that direction.
        (None, true) => Ok(0.0),
        (None, false) => Err(Refusal::whole(format!("expected a number `{key}` in each direction of each job"))),
    }
}

/// Latencies of one direction over all jobs that have it.
fn latency(jobs: &[&Value], left_out: &mut Vec<String>) -> Result<Option<StatedLatency>, Refusal> {
    let bins: Option<Vec<(u64, u64)>> =
        jobs.iter().map(|job| bins(&job["clat_ns"]["bins"])).collect::<Option<Vec<_>>>().map(|all| all.concat());
    let of_clat = "Latencies are those of completion (clat): what a request waited before it was handed on is not in \
                   them.";
    if let Some(found) = bins.and_then(|bins| quantiles::of(bins, NS)) {
        left_out.push(of_clat.to_owned());
        return Ok(Some(found));
    }
    let [job] = jobs else {
        if !jobs.is_empty() {
            let what = "Percentiles of several jobs cannot be added: there are no latencies (use group_reporting, or \
                        --output-format=json+).";
            left_out.push(what.to_owned());
        }
        return Ok(None);
    };
    let of = if job["lat_ns"]["percentile"].is_object() { &job["lat_ns"] } else { &job["clat_ns"] };
    if of == &job["clat_ns"] {
        left_out.push(of_clat.to_owned());
    }
    let percentile = |wanted: f64| {
        let all = of["percentile"].as_object()?;
        let (_, value) = all.iter().find(|(key, _)| key.parse::<f64>().ok() == Some(wanted))?;
        Some(value.as_f64()? / NS)
    };
    Ok(Some(StatedLatency {
        samples: number(job, "total_ios")? as u64,
        mean_us: number(of, "mean")? / NS,
        p50_us: percentile(50.0),
        p95_us: percentile(95.0),
        p99_us: percentile(99.0),
        p999_us: percentile(99.9),
        max_us: number(of, "max")? / NS,
    }))
}

/// (nanoseconds, how many) of `json+`.
fn bins(of: &Value) -> Option<Vec<(u64, u64)>> {
    of.as_object()?.iter().map(|(ns, n)| Some((ns.parse().ok()?, n.as_u64()?))).collect()
}
