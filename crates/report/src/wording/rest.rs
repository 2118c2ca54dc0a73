//! Was the database at rest, and can what was measured be?

use analysis::{PREPARATION, Rule, Trajectory};

use super::of::{Of, count, percent, signed};

pub fn words(of: &Of<'_>) -> (String, &'static str) {
    match of.0.rule {
        Rule::CodeNotWarm => code(of),
        Rule::StillRising => still_rising(of),
        Rule::CacheNotSettled => cache(of),
        Rule::GainAboveResource => gain(of),
        Rule::CpuPerOperation => (
            format!(
                "An operation cost {} us of the database's CPU, and {} us with {}: the workload is the same.",
                count(of.number("cpu_us_per_operation")),
                count(of.number("cpu_us_per_operation_of_other")),
                of.fact("other")
            ),
            "Code that is not compiled costs a multiple of the CPU: lengthen [load] warmup_s, and look at compiler_cpu_s in the trial's host \
             samples. Machines with other processors, and garbage collection, may cost more as well.",
        ),
        _ => (
            format!(
                "An operation took {:.3} device reads, and {:.3} with {}, which has the same page cache; in each block {:.2} times as many or more.",
                of.number("device_reads_per_operation"),
                of.number("device_reads_per_operation_of_other"),
                of.fact("other"),
                of.number("least_ratio")
            ),
            "Its page cache has not come as far: a faster volume fills it sooner. Lengthen [load] warmup_s until device reads for each operation \
             stay the same.",
        ),
    }
}

fn code(of: &Of<'_>) -> (String, &'static str) {
    let ended_early = of.0.fact(PREPARATION).is_some();
    let message = match of.0.number("compiler_share") {
        Some(share) => {
            let why = match ended_early {
                true => " The preparation ended before its code was compiled.",
                false => "",
            };
            format!(
                "The database was still compiling its code: its compilers used {} of its CPU while it was measured.{why}",
                percent(share)
            )
        }
        None => "The preparation ended before the database's code was compiled, and nobody saw its compilers while it was measured.".to_owned(),
    };
    (
        message,
        "Code that is not compiled yet costs several times the CPU. Lengthen [load] warmup_s until the compilers use less than 5 % \
         (compiler_cpu_s beside process_cpu_s in the trial's host samples).",
    )
}

fn still_rising(of: &Of<'_>) -> (String, &'static str) {
    let change = of.number("change_share");
    let word = if change > 0.0 { "rose" } else { "fell" };
    let message = format!(
        "Throughput {word} while it was measured, from {} operations/s in the first third of {:.0} s to {} in the last ({}), by more than its \
         noise explains.",
        of.count("first_third_ops_per_s"),
        of.number("window_s"),
        of.count("last_third_ops_per_s"),
        signed(change)
    );
    let advice = match of.0.fact(Trajectory::NAME) {
        Some(why) if why == Trajectory::Inserts.word() => {
            "A workload that inserts has a trajectory, never a steady state: compare equal amounts of work ([load] operations)."
        }
        Some(_) => {
            "Asked for by cache = \"cold\" in [load], as far as the page cache is what fills: the figure is that of these seconds after a cold start."
        }
        None => "Lengthen [load] warmup_s (or use warmup = \"auto\"): this figure depends on when it was measured.",
    };
    (message, advice)
}

fn cache(of: &Of<'_>) -> (String, &'static str) {
    let grew = of.0.number("page_cache_grew_share");
    let message = match (of.0.number("device_reads_per_operation_first_third"), grew) {
        (None, Some(grew)) => format!(
            "The page cache was filling while it was measured: it grew by {} of what it may hold, to {}.",
            percent(grew),
            of.percent("page_cache_filled_share")
        ),
        (Some(first), _) => format!(
            "The page cache went on changing while it was measured: {first:.3} device reads for each operation in the first third of the window, \
             {:.3} in the last.",
            of.number("device_reads_per_operation_last_third")
        ),
        (None, None) => "The preparation ended before the page cache had settled, and the trial is too short to show that it did later.".to_owned(),
    };
    (
        message,
        "Lengthen [load] warmup_s (or use warmup = \"auto\") until device reads for each operation stay the same: with skewed keys the cache has to \
         find out what is popular. Where a cold start is the question, say so with cache = \"cold\".",
    )
}

fn gain(of: &Of<'_>) -> (String, &'static str) {
    let needed = |name: &str| {
        let (before, now) = (of.0.number(&format!("{name}_over"))?, of.0.number(name)?);
        Some(format!("{now:.3} instead of {before:.3}"))
    };
    let reads = needed("device_reads_per_operation").map(|n| format!("an operation took {n} device reads"));
    let writes = needed("device_writes_per_operation").map(|n| format!("an operation took {n} device writes"));
    let why = match (&reads, &writes) {
        (Some(reads), _) => format!(": {reads}"),
        (None, Some(writes)) => format!(": {writes}"),
        (None, None) => ", and an operation took as much of it on both sides".to_owned(),
    };
    let message = format!(
        "It did {:.2} times ({:.2} to {:.2}) what {} did, although {} limited both and it has {:.2} times as much{why}.",
        of.number("gain"),
        of.number("gain_low"),
        of.number("gain_high"),
        of.fact("over"),
        of.fact("resource"),
        of.number("resource_ratio")
    );
    let advice = match (of.0.fact("explained_by"), of.0.fact("because")) {
        (Some("memory"), _) => "It has more memory for files, which answers reads: that was bought as well.",
        (Some("cold_start"), _) => {
            "A faster volume fills a cold page cache sooner, and cache = \"cold\" asked for that. Measured warm, the gain is at most the ratio of the \
             resource."
        }
        (Some(_), _) => "It ran on burst credits: what lasts is its baseline.",
        (None, Some("page_cache")) => {
            "A faster volume fills the page cache sooner: the slower side had not come as far, and this gain cannot be at rest. Lengthen [load] warmup_s."
        }
        (None, Some("compaction")) => {
            "What is flushed and compacted later is not in this window: lengthen [load] duration_s until both sides write as much for an operation."
        }
        _ => {
            "At rest that cannot be: one of the two was not measured as it is. Look at the limits in force and at the trial's host samples."
        }
    };
    (message, advice)
}
