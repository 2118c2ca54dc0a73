//! `[load]`: load levels and the shape of a trial.

use std::ops::Range;

use product::Product;
use stats::Looks;
use toml::Value;
use workload::{Arrivals, Replayed};

use super::clients::{self, Senders};
use crate::judged::{JUDGED_FROM_S, REPETITIONS_MIN};
use crate::mistakes::Collector;
use crate::raw::RepetitionsWord;
use crate::spanned::{Spanned, place};
use crate::typed_number::{in_toml, meant};
use crate::{Adaptive, Aim, Find, Load, LoadLevel, TrialShape, raw};

const DAY_S: f64 = 86_400.0;
/// Seconds of warm-up and of measurement, where they are not stated.
const WARMUP_S: f64 = 20.0;
const DURATION_S: f64 = 60.0;

/// `replayed` says what was recorded, where that is sent again (`Some(None)`: it has mistakes); `senders` are the
/// machines of clients, and the scale at which they send; `product` is asked.
pub(super) fn check(
    load: &Spanned<raw::Load>,
    replayed: Option<Option<&Replayed>>,
    senders: (&Senders, f64),
    product: &Product,
    mistakes: &mut Collector<'_>,
) -> Option<Load> {
    let most = i64::from(product.most_in_flight);
    let concurrency = load.concurrency.iter();
    let concurrency = concurrency.filter_map(|n| mistakes.stated_integer(n, "concurrency", 1..=most));
    let mut levels: Vec<_> = concurrency.map(|n| LoadLevel::Concurrency(n as u32)).collect();
    let (rates, find) = rates(load, mistakes);
    levels.extend(rates);
    if let Some(Some(replayed)) = replayed {
        levels.extend(of_recording(load, replayed, mistakes));
    }
    let has_none = levels.is_empty() && load.concurrency.is_empty() && load.rate.is_none();
    if has_none && replayed != Some(None) {
        mistakes.add(
            load.span(),
            "[load] has no load level",
            "for example concurrency = [100], rate = [5000], or rate = \"find\" with an objective",
        );
    }
    for (i, level) in levels.iter().enumerate() {
        if levels[..i].contains(level) {
            let message = format!("load level {} is given twice", level.slug());
            mistakes.add(load.span(), message, "repetitions = N repeats cells");
        }
    }
    let clients = clients::check(load, &levels, senders, mistakes);
    let clients = clients.inspect(|clients| fit(clients.number, load, &levels, mistakes));
    let (repetitions, adaptive) = repetitions(load, mistakes);
    let (warmup_s, warmup_max_s) = warmup(load, mistakes);
    let operations = mistakes.stated_integer(&load.operations, "operations", 1..=i64::MAX);
    Some(Load {
        levels,
        find,
        shape: TrialShape {
            warmup_s,
            warmup_max_s,
            rest_max_s: mistakes.number(&load.rest_max_s, "rest_max_s", 0.0..=3_600.0, REST_MAX_S),
            duration_s: mistakes.number(&load.duration_s, "duration_s", 0.5..=7.0 * DAY_S, DURATION_S),
            operations: operations.map(|n| n as u64),
            request_timeout_s: mistakes.number(&load.request_timeout_s, "request_timeout_s", 0.01..=3_600.0, 30.0),
        },
        forks: mistakes.integer(&load.forks, "forks", 1..=10_000, 1) as u32,
        repetitions,
        adaptive,
        seed: mistakes.integer(&load.seed, "seed", 0..=i64::MAX, 1) as u64,
        clients: clients?.number,
        client_threads: clients?.threads,
        client_cost: clients?.cost,
    })
}

/// The rates of the open loop, or that they are to be found.
fn rates(load: &raw::Load, mistakes: &mut Collector<'_>) -> (Vec<LoadLevel>, Option<Find>) {
    let words = [("poisson", Arrivals::Poisson), ("constant", Arrivals::Constant)];
    let arrival = load.arrival.as_ref();
    let arrivals = arrival.and_then(|word| mistakes.one_of(word.span(), word, "unknown arrival", &words));
    let arrivals = arrivals.unwrap_or(Arrivals::Poisson);
    let Some(given) = &load.rate else {
        if let Some(arrival) = arrival {
            let help = "remove it, or give rate = [N]; a closed loop sends when an answer has come";
            mistakes.add(arrival.span(), "arrival is for the open loop, and no rate is given", help);
        }
        return (Vec::new(), None);
    };
    let at = given.span();
    match given.get_ref() {
        Value::String(word) if word == "find" => {
            to_be_found(load, mistakes);
            (Vec::new(), Some(Find { arrivals }))
        }
        Value::Array(stated) => {
            let mut levels = Vec::new();
            for rate in stated {
                let number = rate.as_float().or_else(|| rate.as_integer().map(|n| n as f64));
                let Some(number) = number else {
                    let help = format!("operations per second: rate = [{}]", example(rate));
                    mistakes.add(at.clone(), format!("a rate cannot be {rate}"), help);
                    continue;
                };
                let rate = mistakes.stated_number(&Spanned::<f64>::new(at.clone(), number), "rate", 1e-3..=1e9);
                levels.extend(rate.map(|operations_per_s| LoadLevel::Rate { operations_per_s, arrivals }));
            }
            if stated.is_empty() && load.concurrency.is_empty() {
                mistakes.add(at, "rate has no load level", "for example rate = [5000]");
            }
            (levels, None)
        }
        other => {
            let help = format!("operations per second, such as rate = [{}], or rate = \"find\"", example(other));
            mistakes.add(at, format!("rate cannot be {other}"), help);
            (Vec::new(), None)
        }
    }
}

/// The rate that was probably meant: 9000 by `"9k"`.
fn example(given: &Value) -> String {
    let text = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
    meant("rate", &text).filter(|rate| *rate > 0.0).map_or_else(|| "5000".to_owned(), in_toml)
}

/// The load level that a recording has by itself; what it has not is refused.
fn of_recording(load: &Spanned<raw::Load>, replayed: &Replayed, mistakes: &mut Collector<'_>) -> Option<LoadLevel> {
    let file = &replayed.file;
    let mut stated = vec![("rate", place(&load.rate)), ("arrival", place(&load.arrival))];
    if replayed.speed.is_some() {
        stated.push(("concurrency", load.concurrency.first().map(Spanned::span)));
    }
    let help = "remove it; `speed` of the workload says how fast the recording is sent";
    mistakes.stray(stated, |key| format!("{key} with replay = \"{file}\": its requests are sent as recorded"), help);
    let speed = replayed.speed?;
    let warmup_s = load.warmup_s.as_deref().copied().unwrap_or(WARMUP_S);
    let duration_s = load.duration_s.as_deref().copied().unwrap_or(DURATION_S);
    let lasts_s = replayed.span_s / speed;
    if warmup_s + duration_s > lasts_s {
        let at = place(&load.duration_s).or_else(|| place(&load.warmup_s)).unwrap_or_else(|| load.span());
        let message = format!(
            "warm-up and measurement take {} s, and {file} lasts {:.1} s at speed {speed}",
            warmup_s + duration_s,
            lasts_s
        );
        mistakes.add(at, message, "give a shorter warmup_s and duration_s, a lower speed, or a longer recording");
    }
    // To a tenth: it is a name, too.
    let operations_per_s = (replayed.requests as f64 / lasts_s * 10.0).round().max(1.0) / 10.0;
    Some(LoadLevel::Rate { operations_per_s, arrivals: Arrivals::Recorded })
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
    for (at, what, help) in [
        (
            place(&load.operations),
            "operations end a trial early, and rate = \"find\" compares trials of the same time",
            "give duration_s",
        ),
        (
            load.repetitions.as_ref().filter(|n| n.is_str()).map(Spanned::span),
            "repetitions = \"auto\" or \"adaptive\" looks at ratios between configurations, \
             and rate = \"find\" measures each at its own rates",
            "give a number of repetitions, at least 3",
        ),
        (
            place(&load.warmup),
            "warmup = \"auto\": throughput never stabilises at a rate that cannot be held",
            "give warmup_s in seconds",
        ),
    ] {
        if let Some(at) = at {
            mistakes.add(at, what, help);
        }
    }
}

/// Refuses clients that cannot share each level.
fn fit(clients: u32, load: &raw::Load, levels: &[LoadLevel], mistakes: &mut Collector<'_>) {
    let Some(at) = place(&load.clients).filter(|_| clients > 1) else { return };
    let problem = levels.iter().find_map(|level| match level {
        LoadLevel::Concurrency(n) if *n < clients => Some((
            format!("concurrency {n} cannot be shared by {clients} clients: each has at least one request in flight"),
            "give fewer clients, or a higher concurrency",
        )),
        LoadLevel::Rate { arrivals: Arrivals::Constant, .. } => Some((
            format!(
                "arrival = \"constant\" from {clients} clients is not constant: \
                 their requests fall anyhow between each other"
            ),
            "give arrival = \"poisson\", which stays one when several are added up",
        )),
        _ => None,
    });
    let of_rest = load.warmup.as_ref().map(|_| {
        let what = format!("warmup = \"auto\" with {clients} clients: each would find its own rest, at its own time");
        (what, "give warmup_s in seconds")
    });
    if let Some((what, help)) = problem.or(of_rest) {
        mistakes.add(at, what, help);
    }
}

/// Most seconds until a database is at rest: several times what Cassandra 5.0 takes on two quiet cores.
const REST_MAX_S: f64 = 120.0;

/// Once throughput has stabilised the client connects anew; this many seconds cover its first requests.
const WARMUP_AFTER_REST_S: f64 = 5.0;

/// (seconds of warm-up, most seconds until rest before them).
fn warmup(load: &raw::Load, mistakes: &mut Collector<'_>) -> (f64, Option<f64>) {
    match &load.warmup {
        Some(text) if text.as_str() == "auto" => {
            if let Some(at) = place(&load.warmup_s) {
                mistakes.add(at, "both warmup = \"auto\" and warmup_s are given", "remove one of them");
            }
            let most = mistakes.number(&load.max_warmup_s, "max_warmup_s", JUDGED_FROM_S..=DAY_S, 300.0);
            (WARMUP_AFTER_REST_S, Some(most))
        }
        other => {
            if let Some(text) = other {
                let help = "\"auto\"; a number of seconds is warmup_s = 20";
                mistakes.add(text.span(), format!("warmup cannot be `{text}`"), help);
            } else if let Some(at) = place(&load.max_warmup_s) {
                let help = "remove it, or set warmup = \"auto\"";
                mistakes.add(at, "max_warmup_s is for warmup = \"auto\"", help);
            }
            (mistakes.number(&load.warmup_s, "warmup_s", 0.0..=DAY_S, WARMUP_S), None)
        }
    }
}

const AUTO: &str = RepetitionsWord::Auto.name();
const ADAPTIVE: &str = RepetitionsWord::Adaptive.name();
/// Half-width of the interval of each ratio that `"auto"` is after.
const PRECISION: f64 = 0.05;
/// Most blocks by default: until ratios are known, and until an answer is decided. Fewest are those before the first
/// look; whether these are enough is the stopping rule's to say, which reckons with how little they know of the spread.
const RATIOS_BLOCKS: i64 = 20;
const ANSWER_BLOCKS: i64 = 12;

/// A number of trials, or `"auto"` or `"adaptive"` with their bounds.
fn repetitions(load: &raw::Load, mistakes: &mut Collector<'_>) -> (u32, Option<Adaptive>) {
    let word = load.repetitions.as_ref().and_then(|given| given.as_str());
    let of_ratios = [("precision", place(&load.precision))];
    let of_answer = [("horizon_months", place(&load.horizon_months))];
    let of_both = [
        ("max_repetitions", place(&load.max_repetitions)),
        ("budget_minutes", place(&load.budget_minutes)),
        ("budget_usd", place(&load.budget_usd)),
    ];
    if word != Some(AUTO) {
        stray(of_ratios, "\"auto\"", mistakes);
    }
    if word != Some(ADAPTIVE) {
        stray(of_answer, "\"adaptive\"", mistakes);
    }
    let (most, aim) = match word {
        Some(AUTO) => {
            let precision = mistakes.number(&load.precision, "precision", 0.001..=1.0, PRECISION);
            (RATIOS_BLOCKS, Aim::Ratios { precision })
        }
        Some(ADAPTIVE) => {
            let horizon_months = mistakes.stated_number(&load.horizon_months, "horizon_months", 0.01..=1_200.0);
            (ANSWER_BLOCKS, Aim::Answer { horizon_months })
        }
        _ => {
            stray(of_both, "\"auto\" or \"adaptive\"", mistakes);
            return (number_of_repetitions(load, mistakes), None);
        }
    };
    let blocks_max = mistakes.integer(&load.max_repetitions, "max_repetitions", 2..=1_000, most) as u32;
    let minutes = mistakes.stated_number(&load.budget_minutes, "budget_minutes", 0.1..=1e6);
    let first_look = match aim {
        Aim::Ratios { .. } => REPETITIONS_MIN,
        Aim::Answer { .. } => Looks::up_to(blocks_max).first().unwrap_or(blocks_max),
    };
    let adaptive = Adaptive {
        aim,
        blocks_min: first_look.min(blocks_max),
        blocks_max,
        budget_s: minutes.map(|minutes| minutes * 60.0),
        budget_usd: mistakes.stated_number(&load.budget_usd, "budget_usd", 0.01..=1e9),
        called: Vec::new(),
        stopped: None,
        resting: Vec::new(),
    };
    (blocks_max, Some(adaptive))
}

/// Keys that only runs have which decide for themselves how often they repeat.
fn stray<const N: usize>(keys: [(&'static str, Option<Range<usize>>); N], of: &str, mistakes: &mut Collector<'_>) {
    let help = format!("remove it, or set repetitions = {of}");
    mistakes.stray(keys, |key| format!("{key} is for repetitions = {of}"), &help);
}

fn number_of_repetitions(load: &raw::Load, mistakes: &mut Collector<'_>) -> u32 {
    let Some(given) = &load.repetitions else { return REPETITIONS_MIN };
    let number = given.as_integer().filter(|n| (1..=1_000).contains(n));
    if number.is_none() {
        let help = "a whole number from 1 to 1000, \"auto\" or \"adaptive\"";
        mistakes.add(given.span(), format!("repetitions cannot be {given}"), help);
    }
    number.map_or(REPETITIONS_MIN, |n| n as u32)
}
