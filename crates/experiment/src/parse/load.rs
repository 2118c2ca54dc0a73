//! `[load]`: load levels and the shape of a trial.

use toml::{Spanned, Value};

use super::clients::{self, Clients, Senders};
use super::numbers::Check as _;
use crate::judged::{JUDGED_FROM_S, REPETITIONS_MIN};
use crate::mistakes::{Collector, choice};
use crate::{Adaptive, Find, Load, LoadLevel, raw};

/// Most requests in flight: a CQL connection has 32,768 stream ids, and one connection per load thread is used.
const MOST_CONCURRENCY: i64 = 30_000;

/// `senders` are the machines of clients, and the scale at which they send.
pub(super) fn check(
    spanned: &Spanned<raw::Load>,
    senders: (&Senders, f64),
    mistakes: &mut Collector<'_>,
) -> Option<Load> {
    let load = spanned.get_ref();
    let mut levels = Vec::new();
    for level in &load.concurrency {
        let n = mistakes.integer(Some(level), "concurrency", 1, MOST_CONCURRENCY, 1);
        levels.extend(n.map(|n| LoadLevel::Concurrency(n as u32)));
    }
    let (rates, find) = rates(load, mistakes);
    levels.extend(rates);
    if load.concurrency.is_empty() && load.rate.is_none() {
        mistakes.add(
            spanned.span(),
            "[load] has no load level",
            "for example concurrency = [100], rate = [5000], or rate = \"find\" with an objective",
        );
    }
    for (i, level) in levels.iter().enumerate() {
        if levels[..i].contains(level) {
            mistakes.add(
                spanned.span(),
                format!("load level {} is given twice", level.slug()),
                "repetitions = N repeats cells",
            );
        }
    }
    let clients = clients::check(load, &levels, senders, mistakes).and_then(|c| fit(c, load, &levels, mistakes));
    let (repetitions, adaptive) = repetitions(load, mistakes)?;
    let day = 86_400.0;
    let (warmup_s, warmup_max_s) = warmup(load, mistakes)?;
    let rest_max_s = mistakes.number(load.rest_max_s.as_ref(), "rest_max_s", 0.0..=3_600.0, REST_MAX_S);
    let forks = mistakes.integer(load.forks.as_ref(), "forks", 1, 10_000, 1);
    let duration_s = mistakes.number(load.duration_s.as_ref(), "duration_s", 0.5..=7.0 * day, 60.0);
    let operations = mistakes.integer(load.operations.as_ref(), "operations", 1, i64::MAX, 1);
    let seed = mistakes.integer(load.seed.as_ref(), "seed", 0, i64::MAX, 1);
    let request_timeout_s = mistakes.number(
        load.request_timeout_s.as_ref(),
        "request_timeout_s",
        0.01..=3_600.0,
        30.0,
    );
    Some(Load {
        levels,
        find,
        warmup_s,
        warmup_max_s,
        rest_max_s: rest_max_s?,
        forks: forks? as u32,
        clients: clients?.number,
        client_threads: clients?.threads,
        client_cost: clients?.cost,
        duration_s: duration_s?,
        operations: load.operations.as_ref().and(operations).map(|n| n as u64),
        repetitions,
        adaptive,
        seed: seed? as u64,
        request_timeout_s: request_timeout_s?,
    })
}

/// The rates of the open loop, or that they are to be found.
fn rates(load: &raw::Load, mistakes: &mut Collector<'_>) -> (Vec<LoadLevel>, Option<Find>) {
    let poisson = match load.arrival.as_ref().map(|a| (a, a.get_ref().as_str())) {
        None | Some((_, "poisson")) => true,
        Some((_, "constant")) => false,
        Some((arrival, other)) => {
            mistakes.add(
                arrival.span(),
                format!("unknown arrival `{other}`"),
                choice(other, &["poisson", "constant"]),
            );
            true
        }
    };
    let Some(given) = &load.rate else {
        if let Some(arrival) = &load.arrival {
            mistakes.add(
                arrival.span(),
                "arrival is for the open loop, and no rate is given",
                "remove it, or give rate = [N]; a closed loop sends when an answer has come",
            );
        }
        return (Vec::new(), None);
    };
    let at = given.span();
    match given.get_ref() {
        Value::String(word) if word == "find" => {
            to_be_found(load, mistakes);
            (Vec::new(), Some(Find { poisson }))
        }
        Value::Array(stated) => {
            let mut levels = Vec::new();
            for rate in stated {
                let number = rate.as_float().or_else(|| rate.as_integer().map(|n| n as f64));
                let Some(number) = number else {
                    mistakes.add(
                        at.clone(),
                        format!("a rate cannot be {rate}"),
                        "operations per second: rate = [5000]",
                    );
                    continue;
                };
                let spanned = Spanned::new(at.clone(), number);
                let rate = mistakes.number(Some(&spanned), "rate", 1e-3..=1e9, 1.0);
                levels.extend(rate.map(|operations_per_s| LoadLevel::Rate {
                    operations_per_s,
                    poisson,
                }));
            }
            if stated.is_empty() && load.concurrency.is_empty() {
                mistakes.add(at, "rate has no load level", "for example rate = [5000]");
            }
            (levels, None)
        }
        other => {
            let help = "operations per second, such as rate = [5000], or rate = \"find\"";
            mistakes.add(at, format!("rate cannot be {other}"), help);
            (Vec::new(), None)
        }
    }
}

/// What does not go with rates that are to be found, each at its place.
fn to_be_found(load: &raw::Load, mistakes: &mut Collector<'_>) {
    if let Some(closed) = load.concurrency.first() {
        mistakes.add(
            closed.span(),
            "rate = \"find\" measures rates of its own, and concurrency is another kind of load",
            "remove concurrency, or give it in an experiment of its own",
        );
    }
    let is_auto = |value: &&Spanned<Value>| value.get_ref().as_str() == Some("auto");
    let others = [
        (
            load.operations.as_ref().map(Spanned::span),
            "operations end a trial early, and rate = \"find\" compares trials of the same time",
            "give duration_s",
        ),
        (
            load.repetitions.as_ref().filter(is_auto).map(Spanned::span),
            "repetitions = \"auto\" looks at ratios between configurations, and rate = \"find\" measures each at its own rates",
            "give a number of repetitions; 3 are the least",
        ),
        (
            load.warmup.as_ref().map(Spanned::span),
            "warmup = \"auto\" waits for rest, and a rate that cannot be held never comes to rest",
            "give warmup_s in seconds",
        ),
    ];
    for (at, what, help) in others {
        if let Some(at) = at {
            mistakes.add(at, what, help);
        }
    }
}

/// Clients that can share each level.
fn fit(all: Clients, load: &raw::Load, levels: &[LoadLevel], mistakes: &mut Collector<'_>) -> Option<Clients> {
    let clients = all.number;
    let Some(at) = load.clients.as_ref().filter(|_| clients > 1) else {
        return Some(all);
    };
    let problem = levels.iter().find_map(|level| match level {
        LoadLevel::Concurrency(n) if *n < clients => Some((
            format!("concurrency {n} cannot be shared by {clients} clients: each has at least one request in flight"),
            "give fewer clients, or a higher concurrency",
        )),
        LoadLevel::Rate { poisson: false, .. } => Some((
            format!("arrival = \"constant\" from {clients} clients is not constant: their requests fall anyhow between each other"),
            "give arrival = \"poisson\", which stays one when several are added up",
        )),
        _ => None,
    });
    let problem = problem.or_else(|| {
        load.warmup.as_ref().map(|_| {
            (
                format!("warmup = \"auto\" with {clients} clients: each would find its own rest, at its own time"),
                "give warmup_s in seconds",
            )
        })
    });
    match problem {
        Some((what, help)) => {
            mistakes.add(at.span(), what, help);
            None
        }
        None => Some(all),
    }
}

/// Most seconds until a database is at rest: several times what Cassandra 5.0 takes on two quiet cores.
const REST_MAX_S: f64 = 120.0;

/// Once throughput has come to rest the client connects anew; this many seconds cover its first requests.
const WARMUP_AFTER_REST_S: f64 = 5.0;

/// (seconds of warm-up, most seconds until rest before them).
fn warmup(load: &raw::Load, mistakes: &mut Collector<'_>) -> Option<(f64, Option<f64>)> {
    let day = 86_400.0;
    match &load.warmup {
        None => {
            if let Some(at) = &load.max_warmup_s {
                mistakes.add(
                    at.span(),
                    "max_warmup_s is for warmup = \"auto\"",
                    "remove it, or set warmup = \"auto\"",
                );
            }
            let seconds = mistakes.number(load.warmup_s.as_ref(), "warmup_s", 0.0..=day, 20.0);
            Some((seconds?, None))
        }
        Some(text) if text.get_ref() == "auto" => {
            if let Some(at) = &load.warmup_s {
                mistakes.add(
                    at.span(),
                    "both warmup = \"auto\" and warmup_s are given",
                    "remove one of them",
                );
                return None;
            }
            let most = mistakes.number(load.max_warmup_s.as_ref(), "max_warmup_s", JUDGED_FROM_S..=day, 300.0);
            Some((WARMUP_AFTER_REST_S, Some(most?)))
        }
        Some(text) => {
            mistakes.add(
                text.span(),
                format!("warmup cannot be `{}`", text.get_ref()),
                "\"auto\"; a number of seconds is warmup_s = 20",
            );
            None
        }
    }
}

/// Fewest and, by default, most blocks of an adaptive run. With fewer than are tested the spread is hardly known;
/// whether three are enough is the stopping rule's to say, which reckons with it.
const ADAPTIVE_BLOCKS: (i64, i64) = (REPETITIONS_MIN as i64, 20);

/// A number of trials, or `"auto"` with its bounds.
fn repetitions(load: &raw::Load, mistakes: &mut Collector<'_>) -> Option<(u32, Option<Adaptive>)> {
    let is_auto = load
        .repetitions
        .as_ref()
        .is_some_and(|r| r.get_ref().as_str() == Some("auto"));
    if is_auto {
        let (least, most) = ADAPTIVE_BLOCKS;
        let precision = mistakes.number(load.precision.as_ref(), "precision", 0.001..=1.0, 0.05);
        let blocks_max = mistakes.integer(load.max_repetitions.as_ref(), "max_repetitions", 2, 1_000, most);
        let budget = mistakes.number(load.budget_minutes.as_ref(), "budget_minutes", 0.1..=1e6, 1.0);
        let budget_usd = mistakes.number(load.budget_usd.as_ref(), "budget_usd", 0.01..=1e9, 1.0);
        let blocks_max = blocks_max? as u32;
        let adaptive = Adaptive {
            precision: precision?,
            blocks_min: blocks_max.min(least as u32),
            blocks_max,
            budget_s: load.budget_minutes.as_ref().and(budget).map(|minutes| minutes * 60.0),
            budget_usd: load.budget_usd.as_ref().and(budget_usd),
            stopped: None,
        };
        return Some((blocks_max, Some(adaptive)));
    }
    for (span, key) in [
        (load.precision.as_ref().map(Spanned::span), "precision"),
        (load.max_repetitions.as_ref().map(Spanned::span), "max_repetitions"),
        (load.budget_minutes.as_ref().map(Spanned::span), "budget_minutes"),
        (load.budget_usd.as_ref().map(Spanned::span), "budget_usd"),
    ] {
        if let Some(span) = span {
            mistakes.add(
                span,
                format!("{key} is for repetitions = \"auto\""),
                "remove it, or set repetitions = \"auto\"",
            );
        }
    }
    match load.repetitions.as_ref().map(|r| (r, r.get_ref())) {
        None => Some((3, None)),
        Some((_, Value::Integer(n))) if (1..=1_000).contains(n) => Some((*n as u32, None)),
        Some((at, other)) => {
            mistakes.add(
                at.span(),
                format!("repetitions cannot be {other}"),
                "a whole number from 1 to 1000, or \"auto\"",
            );
            None
        }
    }
}
