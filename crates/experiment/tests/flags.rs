//! What is typed beside an experiment file, and is wrong.

use crate::story::{GOOD, read, with};
use experiment::{Assignment, ReadFor};

/// It stood at a line that nobody had written.
#[test]
fn what_a_flag_has_set_wrongly_is_a_mistake_of_the_flag_and_the_file_keeps_its_lines() {
    let said = |text: &str, all: &[Assignment]| {
        let changed = experiment::set(text, all).unwrap();
        changed.explain("x.toml", read(&changed.text, ReadFor::Anybody).unwrap_err())
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
