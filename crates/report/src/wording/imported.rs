//! What the results of other tools show of themselves.

use analysis::Remark;
use analysis::rules::imported::clocks::ImportedClocks;
use analysis::rules::imported::left_out::ImportedPartly;
use analysis::rules::imported::progress::{ImportedDrift, ImportedProgress};
use analysis::rules::imported::waits::CoordinatedOmission;
use analysis::rules::imported::windows::WindowsUnlike;

use super::amounts::{Words, signed};
use crate::figures::{duration, given, several, whole};

/// What to do about a finding that a run of iopslab's own can have, too. `None`: the same as there.
pub fn advice(remark: &Remark) -> Option<String> {
    let advice = match remark {
        Remark::LittlesLaw(of) => {
            return Some(format!(
                "By Little's law about {} were in flight: the threads that were stated are wrong, or the client did \
                 something else between requests. State those that the tool ran with.",
                whole(of.mean_in_flight)
            ));
        }
        Remark::CountsDisagree(_) => {
            "The file contradicts itself: do not use it. It was changed, or it holds parts of two runs; import it as \
             the tool wrote it."
        }
        Remark::BacklogDrained(_) => {
            "More was done than the rate that was stated: state the rate that the tool ran with, or its threads."
        }
        Remark::TooFewSamples(_) => "Measure for longer with the tool before comparing these percentiles.",
        Remark::RepetitionsSpread(_) => {
            "Something else happened in that trial. It still counts; measure more repetitions with the tool."
        }
        Remark::ErrorsAbove(_) => {
            "Measure again at a lower load; throughput and latency of the rest are not those of the whole workload."
        }
        Remark::NotFound(_) => "Check that the tool had loaded all of the records that its workload reads.",
        _ => return None,
    };
    Some(advice.to_owned())
}

pub fn progress(of: &ImportedProgress) -> Words {
    let mut seen = Vec::new();
    if of.missing_s > of.usual_s / 2.0 {
        seen.push(format!(
            "{} s have no line of their own (a line is of {} s)",
            whole(of.missing_s),
            given(of.usual_s)
        ));
    }
    if let Some(at) = of.first_backwards_at_s {
        let lines = several(of.backwards, "line");
        seen.push(format!("in {lines} fewer operations were done than before, first at {} s", whole(at)));
    }
    (
        format!("The progress that the tool printed is not whole: {}.", seen.join("; ")),
        "Look at the file around that time: the tool or its machine stood still, lines were lost, or two outputs are \
         in one file. What is missing is in the mean all the same.",
    )
}

pub fn drift(of: &ImportedDrift) -> Words {
    (
        format!(
            "Throughput went one way: {} operations/s in the first third of {} lines of progress, {} in the last ({}).",
            whole(of.first_third_ops_per_s),
            of.lines,
            whole(of.last_third_ops_per_s),
            signed(of.change_share)
        ),
        "The mean is that of this length and of no other. Measure for longer, or leave out the start (with YCSB: an \
         untimed run before the timed one), and compare what holds its level.",
    )
}

pub fn clocks(of: &ImportedClocks) -> Words {
    (
        format!(
            "The clocks of the file disagree: {} by the tool's own count, {} by the time of day that it prints.",
            duration(of.elapsed_s),
            duration(of.of_day_s)
        ),
        "A clock was set, or the machine was suspended: one of the two is wrong, and all rates of the file are by one \
         of them. Measure again.",
    )
}

pub fn waits(of: &CoordinatedOmission) -> Words {
    (
        format!(
            "Coordinated omission: {} kept to {} operations/s, and nothing shows that its latencies count from when a \
             request was due: they are taken as those from when it was sent.",
            of.tool.name(),
            whole(of.rate_ops_per_s)
        ),
        "They are shown as service times, and are neither compared nor held against an objective. Measure again with \
         latencies from the schedule (YCSB: measurement.interval=intended; cassandra-stress: -rate fixed=N/s), \
         state that they are such (`counted_from = \"due\"`), or state the load as threads.",
    )
}

pub fn left_out(of: &ImportedPartly) -> Words {
    (
        format!("Of {} ({}) not all was taken: {}", of.file, of.tool.name(), of.left_out.join(" ")),
        "The file is beside the trial's record as it was read.",
    )
}

pub fn windows(of: &WindowsUnlike) -> Words {
    (
        format!(
            "Not compared with {}: {} and {} operations here, {} and {} operations there.",
            of.other,
            duration(of.measured_s),
            whole(of.operations),
            duration(of.other_measured_s),
            whole(of.other_operations)
        ),
        "A store that fills, compacts or spends burst credits has another mean over another length. Measure both for \
         as long, or for as many operations.",
    )
}
