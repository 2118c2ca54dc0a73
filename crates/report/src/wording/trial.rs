//! Did the trial run, stabilise, and hold enough?

use analysis::rules::counts_disagree::CountsDisagree;
use analysis::rules::database_restarted::DatabaseRestarted;
use analysis::rules::errors_above::ErrorsAbove;
use analysis::rules::no_steady_state::NoSteadyState;
use analysis::rules::not_found::NotFound;
use analysis::rules::repetitions_spread::RepetitionsSpread;
use analysis::rules::slow_change_possible::SlowChangePossible;
use analysis::rules::stall::Stall;
use analysis::rules::too_few_samples::TooFewSamples;
use analysis::rules::too_short_to_judge::TooShortToJudge;
use analysis::rules::trial_invalid::TrialInvalid;

use super::amounts::{Words, percent, signed};
use super::rest::taken;
use crate::figures::{count, several, whole};
use crate::labels::operation;

pub fn invalid(of: &TrialInvalid) -> Words {
    (
        of.reason.clone(),
        "Read the last lines of the log in trial.json and database.log. The trial is left out of every comparison. \
         `iopslab run --resume RUN --retry-invalid` measures it again, and keeps what it left in set-aside/.",
    )
}

pub fn restarted(of: &DatabaseRestarted) -> Words {
    (
        format!("The database process changed {} in the measured window.", several(of.restarts, "time")),
        "Read database.log for the reason (out of memory, disk failure policy); a trial across a restart measures a \
         start.",
    )
}

pub fn errors(of: &ErrorsAbove) -> Words {
    (
        format!(
            "{} of {} operations failed ({}): {}.",
            count(of.errors),
            count(of.operations),
            percent(of.error_share),
            of.by_kind()
        ),
        "Lower the load level, or raise [load] request_timeout_s if the question allows slower answers; throughput and \
         latency of the rest are not those of the whole workload.",
    )
}

pub fn not_found(of: &NotFound) -> Words {
    (
        format!("{} of {} reads returned no row where one must exist.", count(of.not_found), count(of.reads)),
        "Check that the data set was loaded and restored whole (trial.json: restored_keys_checked) and that the \
         workload's record count and key order are those of the data set.",
    )
}

pub fn counts_disagree(of: &CountsDisagree) -> Words {
    (
        format!(
            "{} operations were counted but {} latencies recorded in the measured window.",
            count(of.completed),
            count(of.recorded_latencies)
        ),
        "The evidence contradicts itself: do not use this trial, and report it as a defect with its directory.",
    )
}

pub fn no_steady_state(of: &NoSteadyState) -> Words {
    let rounds = percent(of.rounds_range_share);
    // Its rounds alone show that it changed.
    let varies = of.change_low_share <= 0.0 && of.change_high_share >= 0.0;
    let message = match varies {
        true => format!(
            "Throughput varied too much while it was measured to say whether it rose or fell: between the best and the \
             worst of its five rounds lie {rounds} of their mean, more than their own noise explains."
        ),
        false => format!(
            "Throughput was still changing while it was measured: {} over the window (95 % interval {} to {}); its \
             five rounds spread by {rounds}.",
            signed(of.change_over_window_share),
            signed(of.change_low_share),
            signed(of.change_high_share)
        ),
    };
    let advice = match (of.trajectory, of.cpu_taken_by) {
        (Some(_), _) => {
            "A workload that inserts has a trajectory, never a steady state: compare equal amounts of work ([load] \
             operations), not this throughput with another's."
        }
        (None, Some(by)) => taken(by),
        (None, None) if varies => {
            "Something held it up for a part of the window: look at the trial's host samples and at database.log \
             (compaction, garbage collection, throttle). Lengthen [load] duration_s, so that it counts for less."
        }
        (None, None) => {
            "Lengthen [load] warmup_s (or use warmup = \"auto\") and duration_s: this figure depends on when it was \
             measured."
        }
    };
    (message, advice)
}

pub fn too_short(of: &TooShortToJudge) -> Words {
    let measured_s = of.measured_s;
    let needed_s = of.needed_s;
    let what = match of.until_fault {
        true => format!("{measured_s:.0} s before the first planned fault"),
        false => format!("{measured_s:.0} s of measurement"),
    };
    let message = match &of.judged {
        Some(judged) if measured_s >= needed_s => format!(
            "{what} are too short to tell a steady state from a passing one: its seconds resemble their neighbours so \
             much that it is worth {:.1} independent batches of 5 s, or half of it may be start-up.",
            judged.independent_batches
        ),
        _ => format!("{what} are too short to tell a steady state from a passing one: at least {needed_s:.0} s."),
    };
    let advice = match of.until_fault {
        true => {
            "Let the first fault begin later; published series of Cassandra still drift after minutes. All measured \
             seconds count."
        }
        false => {
            "Lengthen [load] duration_s; published series of Cassandra still drift after minutes. All measured seconds \
             count."
        }
    };
    (message, advice)
}

pub fn slow_change(of: &SlowChangePossible) -> Words {
    let (low, high) = (of.change_low_share, of.change_high_share);
    let worth = format!(
        "95 % interval; {:.0} s are worth {:.0} independent batches of 5 s",
        of.window_s, of.independent_batches
    );
    let message = if low.abs().max(high.abs()) > 0.5 {
        format!("The noise is too large to say whether throughput changed while it was measured ({worth}).")
    } else if low > 0.0 || high < 0.0 {
        format!(
            "Throughput probably changed by {} to {} while it was measured ({worth}); the trend test alone does not \
             show it.",
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
        "Lengthen [load] duration_s to narrow the interval. What changes over more time than a trial lasts stays \
         unseen; published series of Cassandra still drift after minutes.",
    )
}

pub fn stall(of: &Stall) -> Words {
    let (stops, longest_s, at_s) = (of.stops, of.longest_s, of.longest_at_s);
    let usual = whole(of.median_ops_per_s);
    let share = percent(of.window_share);
    let message = if stops > 1 {
        format!(
            "The server stood still {stops} times, for {:.1} s together ({share} of the window); the longest time for \
             {longest_s:.1} s, {at_s:.0} s after the start of measurement. Otherwise it completed {usual} \
             operations/s.",
            of.stopped_s
        )
    } else {
        format!(
            "The server stood still for {longest_s:.1} s ({share} of the window), {at_s:.0} s after the start of \
             measurement. Otherwise it completed {usual} operations/s."
        )
    };
    (
        message,
        "Look at what happened then in the trial's logs and host samples (flush, checkpoint, compaction, throttle, \
         steal). Throughput and tail latency contain the stop; whether it belongs to this configuration, only \
         repetitions show.",
    )
}

pub fn few_samples(of: &TooFewSamples) -> Words {
    (
        format!(
            "{} has {} samples a trial: {} and above rest on fewer than {} slower ones ({} samples needed).",
            operation(of.operation),
            count(of.samples),
            of.percentile,
            whole(of.threshold),
            whole(of.needed)
        ),
        "Lengthen [load] duration_s before comparing these percentiles.",
    )
}

pub fn spread(of: &RepetitionsSpread) -> Words {
    (
        format!(
            "Repetition {} deviates by {} from the mean of its cell and block; the others spread by {}.",
            count(of.block.into()),
            percent(of.off_by),
            percent(of.spread_of_others)
        ),
        "Something else happened in that trial: look at its host samples (steal, compaction, other load). It still \
         counts; repeat more often.",
    )
}
