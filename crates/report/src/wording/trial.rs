//! Did the trial run, come to rest, and hold enough?

use analysis::{Rule, TooShort};

use super::of::{Of, count, operation, percent, signed};
use crate::figures::several;

pub fn words(of: &Of<'_>) -> (String, &'static str) {
    match of.0.rule {
        Rule::TrialInvalid => (
            of.fact("reason").to_owned(),
            "Read the last lines of the log in trial.json and database.log. The trial is left out of every comparison. `iopslab run --resume RUN \
             --retry-invalid` measures it again, and keeps what it left in set-aside/.",
        ),
        Rule::DatabaseRestarted => (
            format!(
                "The database process changed {} in the measured window.",
                several(of.number("restarts") as u64, "time")
            ),
            "Read database.log for the reason (out of memory, disk failure policy); a trial across a restart measures a start.",
        ),
        Rule::ErrorsAbove => (
            format!(
                "{} of {} operations failed ({}): {}.",
                of.count("errors"),
                of.count("operations"),
                of.percent("error_share"),
                of.fact("kinds")
            ),
            "Lower the load level, or raise [load] request_timeout_s if the question allows slower answers; throughput and latency of the rest are not \
             those of the whole workload.",
        ),
        Rule::NotFound => (
            format!(
                "{} of {} reads returned no row where one must exist.",
                of.count("not_found"),
                of.count("reads")
            ),
            "Check that the data set was loaded and restored whole (trial.json: restored_keys_checked) and that the workload's record count and key \
             order are those of the data set.",
        ),
        Rule::CountsDisagree => (
            format!(
                "{} operations were counted but {} latencies recorded in the measured window.",
                of.count("completed"),
                of.count("recorded_latencies")
            ),
            "The evidence contradicts itself: do not use this trial, and report it as a defect with its directory.",
        ),
        Rule::NoSteadyState => no_steady_state(of),
        Rule::TooShortToJudge => too_short(of),
        Rule::SlowChangePossible => slow_change(of),
        Rule::Stall => stall(of),
        Rule::TooFewSamples => (
            format!(
                "{} has {} samples a trial: {} and above rest on fewer than {} slower ones ({} samples needed).",
                operation(of.fact("operation")),
                of.count("samples"),
                of.fact("percentile"),
                of.count("threshold"),
                of.count("needed")
            ),
            "Lengthen [load] duration_s before comparing these percentiles.",
        ),
        _ => (
            format!(
                "Repetition {} deviates by {} from the mean of its cell and block; the others spread by {}.",
                of.count("block"),
                of.percent("off_by"),
                of.percent("spread_of_others")
            ),
            "Something else happened in that trial: look at its host samples (steal, compaction, other load). It still counts; repeat more \
             often.",
        ),
    }
}

fn no_steady_state(of: &Of<'_>) -> (String, &'static str) {
    (
        format!(
            "Throughput was still changing while it was measured: {} over the window (95 % interval {} to {}); its \
            five rounds spread by {}.",
            signed(of.number("change_over_window_share")),
            signed(of.number("change_low_share")),
            signed(of.number("change_high_share")),
            of.percent("rounds_range_share")
        ),
        if of.0.fact("trajectory").is_some() {
            "A workload that inserts has a trajectory, never a steady state: compare equal amounts of work ([load] operations), not this throughput \
             with another's."
        } else {
            "Lengthen [load] warmup_s (or use warmup = \"auto\") and duration_s: this figure depends on when it was measured."
        },
    )
}

fn slow_change(of: &Of<'_>) -> (String, &'static str) {
    let (low, high) = (of.number("change_low_share"), of.number("change_high_share"));
    let worth = format!(
        "95 % interval; {:.0} s are worth {:.0} independent batches of 5 s",
        of.number("window_s"),
        of.number("independent_batches")
    );
    let message = if low.abs().max(high.abs()) > 0.5 {
        format!("The noise is too large to say whether throughput changed while it was measured ({worth}).")
    } else if low > 0.0 || high < 0.0 {
        format!(
            "Throughput probably changed by {} to {} while it was measured ({worth}); the trend test alone does not show it.",
            signed(low),
            signed(high)
        )
    } else {
        format!(
            "No trend was shown, but a change between {} and {} over the window could hide in its noise ({worth}).",
            signed(low),
            signed(high)
        )
    };
    (
        message,
        "Lengthen [load] duration_s to narrow the interval. What changes over more time than a trial lasts stays unseen; published \
         series of Cassandra still drift after minutes.",
    )
}

fn too_short(of: &Of<'_>) -> (String, &'static str) {
    let measured_s = of.number("measured_s");
    let needed_s = of.number("needed_s");
    let what = match of.0.fact("until") {
        Some(until) => format!("{measured_s:.0} s before the {until}"),
        None => format!("{measured_s:.0} s of measurement"),
    };
    let message = if of.fact("why") == TooShort::Seconds.word() || measured_s < needed_s {
        format!("{what} are too short to tell a steady state from a passing one: {needed_s:.0} s are the least.")
    } else {
        format!(
            "{what} are too short to tell a steady state from a passing one: its seconds resemble their neighbours so much \
             that it is worth {:.1} independent batches of 5 s, or half of it may be start-up.",
            of.number("independent_batches")
        )
    };
    let advice = match of.0.fact("until") {
        Some(_) => {
            "Let the first fault begin later; published series of Cassandra still drift after minutes. All measured seconds count."
        }
        None => {
            "Lengthen [load] duration_s; published series of Cassandra still drift after minutes. All measured seconds count."
        }
    };
    (message, advice)
}

fn stall(of: &Of<'_>) -> (String, &'static str) {
    let (stops, longest_s, at_s) = (of.number("stops"), of.number("longest_s"), of.number("longest_at_s"));
    let usual = count(of.number("median_ops_per_s"));
    let share = percent(of.number("window_share"));
    let message = if stops > 1.0 {
        format!(
            "The server stood still {stops:.0} times, for {:.1} s together ({share} of the window); the longest time for {longest_s:.1} s, {at_s:.0} s after the \
             start of measurement. Otherwise it completed {usual} operations/s.",
            of.number("stopped_s")
        )
    } else {
        format!(
            "The server stood still for {longest_s:.1} s ({share} of the window), {at_s:.0} s after the start of measurement. Otherwise it completed {usual} \
             operations/s."
        )
    };
    (
        message,
        "Look at what happened then in gc.log, database.log and the trial's host samples (flush, compaction, throttle, steal). Throughput and tail \
         latency contain the stop; whether it belongs to this configuration, only repetitions show.",
    )
}
