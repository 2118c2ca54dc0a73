//! Sentences that stand side by side say the same: whose evidence withholds a verdict, where nothing is faster for no
//! money, what may be run.

use analysis::{Analysis, ValueVerdict, Verdict, Withheld};

use crate::rates::seeds;
use crate::story::{Story, configuration, gp2, noisy, over_seeds, priced, step};
use crate::words::contradictions::contradictions;

/// Every sentence, after making sure that none contradicts the document.
fn lines(analysis: &Analysis) -> Vec<String> {
    let lines = report::answer(analysis).lines();
    let found = contradictions(analysis, &lines);
    assert!(found.is_empty(), "{found:#?}\n{lines:#?}");
    lines
}

/// What is said of the step to a configuration.
fn reason(analysis: &Analysis, to: &str) -> String {
    let table = report::html(analysis, &analysis::charts(&[]));
    let start = format!("Nothing is said about the value of {to}");
    let at = table.find(&start).unwrap_or_else(|| panic!("{start}: {:?}", step(analysis, to)));
    let end = table[at..].find("</li>").unwrap();
    table[at..at + end].to_owned()
}

/// A bucket that began full, beside a volume that has none; both beneath one that is larger.
#[test]
fn credits_are_those_of_the_volume_that_has_them() {
    let volume = |name: &str, iops: u32, usd: f64| {
        priced(name, iops, usd).replace("{ vcpus = 4, memory_gib = 16 }", "\"r4.4xlarge\"")
    };
    let bucket = gp2("bucket", 100, ", burst = \"full\"") + "price_usd_per_month = 100.0\n";
    let all = [bucket.clone(), volume("io", 3000, 200.0)];
    let analysis = noisy(&all, 0.02, 3).analysis();
    let step = step(&analysis, "io");
    assert!(matches!(step.withheld, Some(Withheld::Burst { .. })), "{step:?}");
    assert_eq!(step.withheld_of.as_deref(), Some("bucket"));
    assert!(reason(&analysis, "io").contains("burst credits carried bucket ("));
    lines(&analysis);

    // The bucket is what is paid for: it is its own.
    let all = [volume("io", 300, 50.0), bucket];
    let analysis = noisy(&all, 0.02, 3).analysis();
    assert!(reason(&analysis, "bucket").contains("burst credits carried bucket ("));
    lines(&analysis);
}

/// Four times the IOPS help reads alone, or both workloads.
#[test]
fn what_is_free_is_faster_where_it_is_shown() {
    let of = |writes: &str| {
        let two = format!("[[workload]]\nname = \"reads\"\nread = 1.0\n[[workload]]\nname = \"writes\"\n{writes}\n");
        let all = [priced("x", 600, 100.0), priced("y", 2400, 100.0)];
        noisy(&all, 0.02, 4).workload(&two).analysis()
    };
    let only = |lines: Vec<String>| -> Vec<String> {
        let mut lines = lines;
        lines.retain(|l| l.contains("or no money"));
        lines
    };
    let reported = only(lines(&of("update = 1.0")));
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(reported[0].starts_with("First, for no money: y instead of x, ") && reported[0].contains(" under reads"));
    assert!(
        reported[1]
            .starts_with("For no money, nothing that was tried is shown to be faster than x under writes: y has "),
        "{reported:?}"
    );
    let reported = only(lines(&of("read = 0.9\nupdate = 0.1")));
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].contains(" under reads, ") && reported[0].contains(" under writes"), "{reported:?}");
}

/// Of three for one price the one with the highest figure need not be the one that is shown to be faster.
#[test]
fn the_free_step_is_the_one_that_is_shown() {
    let all = [priced("x", 600, 100.0), priced("y", 700, 100.0), priced("z", 720, 100.0)];
    let seen = over_seeds(seeds(12, 60), &noisy(&all, 0.05, 3).job(), |analysis| {
        lines(analysis);
        let [step] = analysis.free_steps.as_slice() else { panic!("{:?}", analysis.free_steps) };
        let mut others = analysis.cells.iter().filter(|c| c.configuration != step.from);
        let is_faster = |r: &analysis::Ratio| r.to == "x" && r.verdict == Verdict::Faster;
        let any = others.any(|c| c.ratio_to_baseline.as_ref().is_some_and(is_faster));
        (any, step.throughput_ratio.verdict == Verdict::Faster)
    });
    assert!(seen.iter().all(|(any, reported)| any == reported), "{seen:?}");
    assert!(seen.iter().any(|(any, _)| *any), "{seen:?}");
}

/// Settings of one hardware, the cheapest there is: what only looks slower is not condemned, what is slower is.
fn settings(slowest: f64, noise: f64, repetitions: u32) -> Story {
    let names = ["a", "a_b", "a_c", "a_d", "a_e"];
    let mut all: Vec<String> = names.iter().map(|name| priced(name, 100_000, 100.0)).collect();
    all.push(priced("dear", 100_000, 300.0));
    noisy(&all, noise, repetitions).truth(&format!("speed = {{ a_e = {slowest:?} }}"))
}

#[test]
fn what_may_be_run_is_not_dominated_in_the_same_document() {
    for (noise, repetitions) in [(0.06, 3), (0.06, 5), (0.03, 5)] {
        let n = seeds(12, 40);
        let seen = over_seeds(n, &settings(0.97, noise, repetitions).job(), |analysis| {
            lines(analysis);
            analysis.recommendation.any_of.as_ref().map_or(0, |any| any.configurations.len())
        });
        let offered = seen.iter().filter(|any| **any > 1).count();
        println!(
            "| settings of one price, {repetitions} repetitions, {:.0} % noise, {n} seeds | several offered in \
             {offered}, and then none of them dominated |",
            noise * 100.0
        );
        assert!(offered * 2 > n as usize, "{offered} of {n}");
    }
    let analysis = settings(0.7, 0.02, 5).analysis();
    lines(&analysis);
    assert_eq!(step(&analysis, "a_e").verdict, ValueVerdict::Dominated);
    let any = analysis.recommendation.any_of.unwrap();
    assert_eq!(any.configurations, ["a", "a_b", "a_c", "a_d"]);
}

/// A machine that costs more and is not shown to be faster is dominated where its money buys less, and not for a cent.
#[test]
fn what_costs_a_cent_more_is_not_dominated_by_noise() {
    let of = |usd: f64| {
        let all = [configuration_of("a", 100.0), configuration_of("b", usd)];
        noisy(&all, 0.06, 4).truth("speed = { b = 0.95 }")
    };
    over_seeds(seeds(8, 40), &of(100.01).job(), |analysis| lines(analysis).len());
    let dominated = over_seeds(seeds(8, 40), &of(150.0).job(), |analysis| {
        lines(analysis);
        matches!(step(analysis, "b").verdict, ValueVerdict::Dominated | ValueVerdict::NotWorthIt | ValueVerdict::Same)
    });
    assert!(dominated.iter().filter(|is| **is).count() * 4 > dominated.len() * 3, "{dominated:?}");
}

fn configuration_of(name: &str, usd: f64) -> String {
    let volume = "data_volume = { iops = 100000, mib_per_s = 2000, size_gib = 100 }";
    configuration(name, &format!("{volume}\nprice_usd_per_month = {usd:.2}"))
}

/// Two volumes that repeat within 4 %, 7 % apart in value, alone or beside a CPU that repeats within 20 % and is worth
/// as much.
fn beside_noise(neighbour: bool) -> Story {
    let mut all = vec![priced("a", 1000, 100.0), priced("b", 1100, 102.5)];
    if neighbour {
        all.push(priced("noisy", 200_000, 900.0));
    }
    let mut story = noisy(&all, 0.2, 3).workload("read = 1.0\ndistribution = \"uniform\"");
    story.truth = story.truth.replace("block_noise = 0.08", "block_noise = 0.0\ndevice_noise = 0.04");
    story
}

#[test]
fn what_a_neighbour_needs_is_not_asked_of_a_pair() {
    let median = |neighbour: bool| {
        let reported = over_seeds(seeds(12, 60), &beside_noise(neighbour).job(), |analysis| {
            let lines = lines(analysis);
            let step = step(analysis, "b");
            let own = step.repetitions_to_decide.filter(|_| step.from == "a");
            let is_headline = lines[1].contains("b gives ") && lines[1].contains("would decide");
            if let Some(own) = own.filter(|_| is_headline) {
                assert!(lines[1].contains(&format!("about {own} repetitions")), "{own}: {}", lines[1]);
            }
            own.map(f64::from)
        });
        let reported: Vec<f64> = reported.into_iter().flatten().collect();
        assert!(reported.len() >= 4, "{reported:?}");
        let mut sorted = reported;
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    let (alone, beside) = (median(false), median(true));
    println!(
        "| repetitions that would decide between two volumes | {alone:.0} alone, {beside:.0} beside a noisy CPU |"
    );
    assert!(beside <= 2.5 * alone, "{alone} {beside}");
}
