//! `repetitions = "adaptive"`: which cells rest, when a run stops, and that it goes on from its journal as it would
//! have.

use std::path::{Path, PathBuf};

use crate::support::Laboratory;
use serde_json::Value;

/// Three volumes whose throughput is their IOPS, at so many dollars a month; of the noise the volume's decides.
fn experiment(volumes: [(&str, u32, u32); 3], noise: f64, load: &str) -> String {
    let configuration = |(name, iops, usd): (&str, u32, u32)| {
        format!(
            "[[configuration]]\nname = \"{name}\"\ninstance = {{ vcpus = 4, memory_gib = 16 }}\nmemory_limit_gib = 4\n\
             data_volume = {{ iops = {iops}, mib_per_s = 2000, size_gib = 100 }}\nprice_usd_per_month = {usd}.0\n"
        )
    };
    format!(
        "name = \"story\"\n[dataset]\nrecords = 20_000_000\n{}\
         [[workload]]\nname = \"reads\"\nread = 0.95\nupdate = 0.05\n\
         [load]\nconcurrency = [64]\nwarmup_s = 2\ncache = \"cold\"\nrepetitions = \"adaptive\"\n{load}\n\
         [provider.simulated]\nread_cpu_us = 400\nwrite_cpu_us = 300\n\
         run_noise = {noise}\nblock_noise = 0.02\nseed = 7\n",
        volumes.map(configuration).concat()
    )
}

/// The cheap one gives four times the throughput for its money.
const CLEAR: [(&str, u32, u32); 3] = [("small", 600, 100), ("middle", 1200, 800), ("large", 2400, 1600)];
/// The second gives a few percent more for its money than the first, which 4 % of noise hide in three trials and not in
/// twelve; the third a twentieth, which two trials show.
const CLOSE: [(&str, u32, u32); 3] = [("small", 600, 100), ("middle", 1200, 192), ("large", 2400, 8000)];
const NOISE: f64 = 0.04;
const SHORT: &str = "duration_s = 45";

struct Run(PathBuf);

impl Run {
    fn of(lab: &Laboratory, name: &str, text: &str) -> Self {
        lab.write(&format!("{name}.toml"), text);
        lab.exits(0, &["run", &format!("{name}.toml"), "--provider", "simulated", "--out", name]);
        Self(lab.run_in(name))
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).unwrap()
    }

    fn analysis(&self) -> Value {
        serde_json::from_str(&self.text("analysis.json")).unwrap()
    }

    fn stopped(&self) -> String {
        self.analysis()["stopped"].as_str().unwrap_or_default().to_owned()
    }

    /// Events of one kind in the journal.
    fn events(&self, kind: &str) -> Vec<Value> {
        let lines: Vec<Value> = self.text("journal.jsonl").lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        lines.into_iter().filter(|line| line["event"] == kind).collect()
    }

    /// Trials in place of each configuration, in the order of the experiment.
    fn trials(&self) -> Vec<u64> {
        let analysis = self.analysis();
        let cells = analysis["cells"].as_array().unwrap();
        assert_eq!(analysis["trials"]["planned"], analysis["trials"]["done"], "nothing that was called for is missing");
        cells.iter().map(|cell| cell["trials"].as_u64().unwrap()).collect()
    }

    /// Why a configuration rests, and after which block it began to.
    fn rests(&self, configuration: &str) -> Option<(Value, u64)> {
        let id = format!("{configuration}.reads.c64");
        let analysis = self.analysis();
        let own = analysis["rested"].as_array().unwrap().iter().find(|rested| rested["cell"] == id.as_str())?.clone();
        Some((own["why"].clone(), own["after_block"].as_u64().unwrap()))
    }
}

/// Both others are beaten after two blocks, and the better of them is measured once more beside the best.
#[test]
fn what_is_decided_after_three_blocks_is_not_repeated() {
    let lab = Laboratory::new();
    let run = Run::of(&lab, "clear", &experiment(CLEAR, 0.01, SHORT));
    let trials = run.trials();
    assert_eq!((trials[0], trials[1].min(trials[2]), trials[1].max(trials[2])), (3, 2, 3), "{trials:?}");
    assert_eq!(run.analysis()["recommendation"]["run"], "small");
    assert_eq!(run.stopped(), "after 3 blocks nothing is open that repetitions would decide");
    for (name, trials) in ["small", "middle", "large"].into_iter().zip(&trials) {
        let (why, after) = run.rests(name).unwrap();
        let by = if *trials == 3 { &why["decided"]["run"] } else { &why["beaten"]["by"] };
        assert_eq!((by.as_str(), after), (Some("small"), *trials), "{name}: {why}");
    }
    // The first look that may answer has two fifths of the level.
    let confidence = run.analysis()["cells"][0]["throughput_ops_per_s"]["confidence"].as_f64().unwrap();
    assert!((confidence - 0.98).abs() < 1e-9, "{confidence}");
    assert!(run.text("report.md").contains("Cells that rested"));
    // A run that has stopped stays stopped.
    let said = lab.exits(0, &["run", "--resume", run.0.to_str().unwrap()]).stderr;
    assert!(said.contains("8 of 8 trials are done"), "{said}");
    assert_eq!((run.trials(), run.events("enough").len()), (trials, 1));
}

/// What is beaten rests, what is close goes on; whoever is killed in between decides the same of the same evidence.
#[test]
fn only_what_is_open_is_repeated_and_a_resumed_run_comes_to_the_same() {
    let lab = Laboratory::new();
    let run = Run::of(&lab, "close", &experiment(CLOSE, NOISE, SHORT));
    let trials = run.trials();
    assert!(trials[0] > 3 && trials[0] == trials[1], "{trials:?}: {}", run.stopped());
    assert_eq!(trials[2], 2);
    let called = run.events("next_block");
    assert_eq!(called.len() as u64, trials[0] - 2);
    for (next, block) in called.iter().zip(3_u64..) {
        assert_eq!(next["block"], block);
        assert_eq!(next["cells"], serde_json::json!(["small.reads.c64", "middle.reads.c64"]));
        assert_eq!(next["resting"][0]["cell"], "large.reads.c64");
    }
    let (why, after) = run.rests("large").unwrap();
    assert!(why["beaten"]["by"].is_string() && after == 2, "{why} {after}");

    let ends = run.text("analysis.json");
    back_to(&run.0, 2);
    let said = lab.exits(0, &["run", "--resume", run.0.to_str().unwrap()]).stderr;
    assert!(said.contains("6 of 6 trials are done"), "{said}");
    let bare = |mut events: Vec<Value>| -> Vec<Value> {
        for event in &mut events {
            event.as_object_mut().unwrap().remove("at");
        }
        events
    };
    assert_eq!(bare(run.events("next_block")), bare(called));
    let (before, after): (Value, Value) = (serde_json::from_str(&ends).unwrap(), run.analysis());
    for part in ["cells", "recommendation", "rested", "stopped", "trials"] {
        assert_eq!(before[part], after[part], "{part}");
    }
}

/// As if it had been killed after the last trial of this block.
fn back_to(run: &Path, last: u64) {
    for cell in std::fs::read_dir(run.join("trials")).unwrap() {
        for block in std::fs::read_dir(cell.unwrap().path()).unwrap() {
            let path = block.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().parse::<u64>().unwrap() > last {
                std::fs::remove_dir_all(path).unwrap();
            }
        }
    }
    let journal = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
    let kept = journal.lines().take_while(|line| !line.contains("\"next_block\""));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    std::fs::write(run.join("journal.jsonl"), kept).unwrap();
    let of_later = |line: &&str| {
        let path = line.split_whitespace().last().unwrap_or_default();
        let block = path.split('/').nth(2).and_then(|block| block.parse::<u64>().ok());
        path.starts_with("trials/") && block.is_some_and(|block| block > last)
    };
    let hashes = std::fs::read_to_string(run.join("run.sha256")).unwrap();
    let kept: String = hashes.lines().filter(|line| !of_later(line)).map(|line| format!("{line}\n")).collect();
    std::fs::write(run.join("run.sha256"), kept).unwrap();
}

/// Eight trials of 47 s are 6.3 minutes: a budget of 6 is spent with them, one of 7 after the next two. The fewest
/// trials are had whatever they cost.
#[test]
fn a_budget_of_time_or_money_ends_it() {
    let lab = Laboratory::new();
    let of = |name: &str, budget: &str| {
        let run = Run::of(&lab, name, &experiment(CLOSE, NOISE, &format!("{SHORT}\n{budget}")));
        (run.trials(), run.stopped())
    };
    let (trials, why) = of("time", "budget_minutes = 6");
    assert_eq!(
        (trials, why.as_str()),
        (vec![3, 3, 2], "after 3 blocks the budget of 6 minutes was spent before the answer was decided")
    );
    let (trials, why) = of("more-time", "budget_minutes = 7");
    assert_eq!(trials, [4, 4, 2], "{why}");
    // A block of all three costs more than a cent.
    let (trials, why) = of("money", "budget_usd = 0.01");
    assert_eq!(trials, [3, 3, 2]);
    assert!(why.contains("the budget of $0.01 was spent"), "{why}");
    let (_, why) = of("most", "max_repetitions = 3");
    assert_eq!(why, "after 3 blocks there were as many as there may be");
}

/// Trials of ten minutes, for a choice that is made for seven hours or for two years.
#[test]
fn measuring_ends_where_it_costs_more_than_the_choice_is_worth() {
    let lab = Laboratory::new();
    let of = |name: &str, months: f64| {
        let load = format!("duration_s = 600\nhorizon_months = {months:?}");
        let run = Run::of(&lab, name, &experiment(CLOSE, NOISE, &load));
        (run.trials(), run.stopped())
    };
    let (trials, why) = of("hours", 0.01);
    assert_eq!(trials, [3, 3, 2], "{why}");
    assert!(why.contains("is expected to lose less than") && why.ends_with("in 0.01 months"), "{why}");
    let (trials, why) = of("years", 24.0);
    assert!(trials[0] > 3 && trials[0] == trials[1] && trials[2] == 2, "{trials:?}: {why}");
}

/// Where little is read the cheapest is as fast as the others and the choice; where most is, it is beaten. Which of the
/// others is better there, by 1 % at 2 % of noise, makes none of them the choice for both.
#[test]
fn a_run_ends_once_no_configuration_is_the_choice_in_every_place() {
    let lab = Laboratory::new();
    let volumes = [("cheap", 1200, 100), ("one", 3000, 200), ("other", 3000, 202)];
    let text = experiment(volumes, 0.02, SHORT)
        .replace("[[workload]]\n", "[[workload]]\nname = \"writes\"\nread = 0.02\nupdate = 0.98\n[[workload]]\n");
    let run = Run::of(&lab, "unlike", &text);
    let trials = run.trials();
    assert!(trials.iter().all(|n| *n <= 3), "{trials:?}: {}", run.stopped());
    assert!(
        run.stopped().contains("would show one configuration to be the choice in every place"),
        "{}",
        run.stopped()
    );
    assert!(run.analysis()["recommendation"]["run"].is_null());
    assert_eq!(run.rests("one").unwrap().0, "out_of_reach");
}
