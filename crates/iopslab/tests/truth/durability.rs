//! No speed and no price makes up for what a lost node costs: configurations that differ in it are compared, the
//! difference is reported, and none is recommended over one that keeps more unless the experiment says so.

use analysis::{Analysis, AnswerOutcome, Status, ValueVerdict};

use crate::story::{NVME, Story, configuration, noisy, step};
use crate::words::contradictions::contradictions;

fn cluster(name: &str, nodes: u32, replicas: u32, level: &str, usd: f64) -> String {
    let levels = match nodes {
        1 => String::new(),
        _ => format!("nodes = {nodes}\nreplication_factor = {replicas}\nconsistency = \"{level}\"\n"),
    };
    configuration(name, &format!("{NVME}\n{levels}price_usd_per_month = {usd:.2}"))
}

fn story(all: &[String]) -> Story {
    noisy(all, 0.02, 4).workload("read = 0.5\nupdate = 0.5\ndistribution = \"uniform\"")
}

/// The headline, after making sure that nothing contradicts it.
fn headline(analysis: &Analysis) -> String {
    let answer = report::answer(analysis);
    let found = contradictions(analysis, &answer.lines());
    assert!(found.is_empty(), "{found:#?}\n{:#?}", answer.lines());
    println!("{:#?}", answer.lines());
    answer.headline()
}

/// Not decided, both named, and the difference in the headline.
fn is_separate(all: &[String], names: [&str; 2], costs: [&str; 2]) {
    let analysis = story(all).analysis();
    assert_eq!(analysis.recommendation.status, Status::NotDecided);
    let AnswerOutcome::Unlike { best } = &analysis.recommendation.places[0].outcome else {
        panic!("{:?}", analysis.recommendation.places[0].outcome)
    };
    let reported: Vec<&str> = best.iter().flat_map(|b| &b.configurations).map(String::as_str).collect();
    assert_eq!(reported, names);
    let headline = headline(&analysis);
    assert!(headline.starts_with("Not decided: what a lost node costs differs"), "{headline}");
    assert!(costs.iter().all(|cost| headline.contains(cost)), "{headline}");
    assert!(headline.contains(" times"), "speed is reported all the same: {headline}");

    // The same where durability is to be left out: a winner, and the difference beside it.
    let mut ignoring = story(all);
    ignoring.rest = "[decision]\ndurability = \"ignore\"".into();
    let analysis = ignoring.analysis();
    let headline = self::headline(&analysis);
    assert_eq!(analysis.recommendation.run.as_deref(), Some(names[0]), "{headline}");
    assert!(
        headline.starts_with(&format!("Run {}: ", names[0]))
            && headline.contains("; what a lost node costs differs: ")
            && costs.iter().all(|cost| headline.contains(cost)),
        "{headline}"
    );
}

const PART: &str = "with a node its part of the data is lost";
const WRITES: &str = "with a node writes may be lost that it alone had acknowledged";
const ALL: &str = "with it all data is lost";
const NOTHING: &str = "a node may be lost without losing data or answers";

#[test]
fn one_replica_is_not_preferred_to_three() {
    let all = [cluster("rf1", 3, 1, "quorum", 300.0), cluster("rf3", 3, 3, "quorum", 300.0)];
    is_separate(&all, ["rf1", "rf3"], [PART, NOTHING]);
}

#[test]
fn one_is_not_preferred_to_quorum() {
    let all = [cluster("one", 3, 3, "one", 300.0), cluster("quorum", 3, 3, "quorum", 300.0)];
    is_separate(&all, ["one", "quorum"], [WRITES, NOTHING]);
}

#[test]
fn one_node_is_not_preferred_to_three() {
    let all = [cluster("single", 1, 1, "one", 100.0), cluster("three", 3, 3, "quorum", 300.0)];
    is_separate(&all, ["single", "three"], [ALL, NOTHING]);
}

/// What keeps as much as any other, and gives more, is recommended; the difference stands beside it.
#[test]
fn what_keeps_more_and_gives_more_is_run() {
    let all = [cluster("rf1", 3, 1, "quorum", 900.0), cluster("rf3", 3, 3, "quorum", 100.0)];
    let analysis = story(&all).analysis();
    let headline = headline(&analysis);
    assert_eq!(analysis.recommendation.run.as_deref(), Some("rf3"), "{headline}");
    assert!(headline.contains("; what a lost node costs differs: rf3 ("), "{headline}");
}

/// Six nodes keep what three keep: their number alone is no difference.
#[test]
fn more_nodes_that_keep_alike_are_chosen_from() {
    let all = [cluster("three", 3, 3, "quorum", 300.0), cluster("six", 6, 3, "quorum", 1200.0)];
    let analysis = story(&all).analysis();
    assert_eq!(analysis.recommendation.run.as_deref(), Some("three"));
    assert!(!headline(&analysis).contains("a lost node"));
}

/// With one replica any node is lost with its part of the data, be it all of it: that is reported, and decides nothing.
#[test]
fn one_node_and_three_that_keep_one_replica_are_told_apart() {
    let all = [cluster("single", 1, 1, "one", 100.0), cluster("shards", 3, 1, "one", 900.0)];
    let analysis = story(&all).analysis();
    let headline = headline(&analysis);
    assert_eq!(analysis.recommendation.run.as_deref(), Some("single"), "{headline}");
    assert!(headline.contains(ALL) && headline.contains(PART), "{headline}");
}

/// A step across it says so, whatever it is worth; the cheapest that meets an objective is not chosen across it either.
#[test]
fn every_sentence_across_it_says_so() {
    let all = [
        cluster("single", 1, 1, "one", 100.0),
        cluster("three", 3, 3, "quorum", 300.0),
        cluster("three_dear", 3, 3, "quorum", 500.0),
    ];
    let analysis = story(&all).analysis();
    assert_ne!(step(&analysis, "three").verdict, ValueVerdict::WorthIt);
    let lines = report::answer(&analysis).lines();
    let across = lines.iter().filter(|line| line.contains("three is ") && line.contains("single"));
    for line in across {
        assert!(line.contains("they differ in what a lost node costs"), "{line}");
    }

    let mut held = story(&all).open(500.0);
    held.rest = "[objective]\np99_ms = 500.0".into();
    let analysis = held.analysis();
    let AnswerOutcome::Unlike { best } = &analysis.recommendation.places[0].outcome else {
        panic!("{:?}", analysis.recommendation.places[0])
    };
    let reported: Vec<&str> = best.iter().flat_map(|b| &b.configurations).map(String::as_str).collect();
    assert_eq!(reported, ["single", "three"], "the cheapest of each kind");
    headline(&analysis);
}
