//! What is typed beside an experiment file, and is wrong.

use crate::story::{GOOD, read, with};
use experiment::{Assignment, ReadFor};

/// It stood at a line that nobody had written.
#[test]
fn what_a_flag_has_set_wrongly_is_a_mistake_of_the_flag_and_the_file_keeps_its_lines() {
    let said = |text: &str, all: &[Assignment]| {
        let changed = experiment::set(text, all).unwrap();
        let refused = |text: &str| read(text, ReadFor::Anybody).err();
        changed.explain("x.toml", refused(&changed.text).unwrap(), refused)
    };
    let sized = with("\"r4.4xlarge\"", "{ vcpus = 4, memory_gib = 16 }");
    for (text, set, expected) in [
        (GOOD, "load.repetition=1", "unknown key `repetition`"),
        (GOOD, "load.concurrency=[0]", "concurrency cannot be 0"),
        (GOOD, "load.duration_s=soon", "duration_s cannot be the text \"soon\""),
        (GOOD, "dataset.records=0", "records cannot be 0"),
        (GOOD, "configuration.a.instance=r4.4xlrage", "unknown instance type `r4.4xlrage`"),
        // Of a value in braces the mistake stands at the key, or at all of it.
        (GOOD, "configuration.a.data_volume.size_gib=0", ""),
        (GOOD, "configuration.a.data_volume.iops=5000", ""),
        (sized.as_str(), "configuration.a.instance.vcpus=0", "no instance has 0 vCPUs"),
        (GOOD, "basis.purchase=borrowed", "unknown purchase option `borrowed`"),
    ] {
        let mistakes = said(text, &[set.parse().unwrap()]).to_string();
        assert!(mistakes.starts_with(&format!("--set {set}: {expected}")), "{mistakes}");
        assert!(!mistakes.contains("x.toml"), "{mistakes}");
    }
    let only = said(GOOD, &[Assignment::only(&["b".to_owned()])]).to_string();
    assert!(only.starts_with("--only b: there is no configuration `b`"), "{only}");

    // A line before it is not the file's.
    let both = ["question=Why?", "load.concurrency=[0]"].map(|set| set.parse::<Assignment>().unwrap());
    let mistakes = said(&with("records = 1000", "records = 0"), &both);
    let reported = mistakes.to_string();
    let lines: Vec<&str> = reported.lines().collect();
    assert_eq!(lines.len(), 2, "{reported}");
    assert!(lines[0].starts_with("x.toml:4:11: records cannot be 0"), "{reported}");
    assert!(lines[1].starts_with("--set load.concurrency=[0]: "), "{reported}");
    let json = serde_json::to_value(&mistakes).unwrap();
    assert_eq!((json[0].get("flag"), &json[1]["flag"]), (None, &"--set load.concurrency=[0]".into()), "{json}");
}

/// A flag was blamed for whatever was refused of the braces in which it set a key.
#[test]
fn what_a_file_in_braces_states_wrongly_is_no_mistake_of_a_flag_that_sets_another_key_there() {
    let said = |text: &str, all: &[&str]| {
        let all: Vec<Assignment> = all.iter().map(|set| set.parse().unwrap()).collect();
        let changed = experiment::set(text, &all).unwrap();
        let refused = |text: &str| read(text, ReadFor::Anybody).err();
        changed.explain("x.toml", refused(&changed.text).unwrap(), refused).to_string()
    };
    let volume = "{ type = \"gp2\", size_gib = 320 }";
    let no_size = with(volume, "{ type = \"gp3\" }");
    let (iops, throughput) = ("configuration.a.data_volume.iops=5000", "configuration.a.data_volume.mib_per_s=200");
    for all in [&[iops][..], &[iops, throughput]] {
        let mistakes = said(&no_size, all);
        assert!(mistakes.starts_with("x.toml:9:15: ") && !mistakes.contains("--set"), "{mistakes}");
    }
    let sized = with("\"r4.4xlarge\"", "{ vcpus = 0, memory_gib = 16 }");
    let mistakes = said(&sized, &["configuration.a.instance.memory_gib=32"]);
    assert!(mistakes.starts_with("x.toml:8:14: no instance has 0 vCPUs and 32 GiB"), "{mistakes}");

    let at_the_top = |table: &str, in_braces: &str| with(table, "").replacen('\n', &format!("\n{in_braces}\n"), 1);
    let table = format!("[[configuration]]\nname = \"a\"\ninstance = \"r4.4xlarge\"\ndata_volume = {volume}\n");
    let text = at_the_top(&table, &format!("configuration = [{{ name = \"a\", data_volume = {volume} }}]"));
    let mistakes = said(&text, &["configuration.a.nodes=1"]);
    assert!(mistakes.starts_with("x.toml:2:") && !mistakes.contains("--set"), "{mistakes}");
    // What the braces of one flag state wrongly is not the next one's.
    let text = at_the_top("[load]\nconcurrency = [10]\n", "load = { concurrency = [10] }");
    let braces = "load={ concurrency = [10], duration_s = 0 }";
    let mistakes = said(&text, &[braces, "load.repetitions=5", "dataset.seed=7"]);
    assert!(mistakes.starts_with(&format!("--set {braces}: duration_s cannot be 0")), "{mistakes}");
}
