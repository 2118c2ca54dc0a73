//! Two uses of one machine at once, with databases: a run, and beside it another run, `db start`, `clean`, and a
//! stranger that keeps a mount. Both runs end with their answers.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::small_node;
use crate::support::{Exits, Laboratory, json, lane::Share};

/// Small, and twice: the second trial finds what a stranger keeps of the first.
fn experiment(name: &str, duration_s: u32, repetitions: u32) -> String {
    let text = format!(
        r#"
name = "{name}"
[dataset]
records = 20_000
[[workload]]
name = "reads"
read = 1
[load]
rate = [200]
rest_max_s = 0
warmup_s = 1
duration_s = {duration_s}
repetitions = {repetitions}
seed = 7
"#
    );
    small_node::experiment(&text, &[("only", "")])
}

/// A process with a copy of all mounts that hears of no unmounting, as a container may have; not of the volumes of
/// stories in the other lane, which would be kept, too.
struct Stranger(Child);

impl Stranger {
    fn comes(lab: &Laboratory) -> Self {
        let script = "findmnt --raw --noheadings --types xfs --output TARGET | grep -vF \"$0\" | tac | xargs -r umount
            exec sleep 1000";
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", script]).arg(lab.work());
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn two_runs_at_once_end_with_both_answers_and_others_wait() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("first.toml", &experiment("first", 10, 2));
    lab.write("second.toml", &experiment("second", 3, 1));
    let mut first = lab.spawn(&["run", "first.toml", "--out", "one"]);
    lab.wait_in(&mut first, "measurement", Duration::from_secs(240), || lab.stderr_so_far().contains("op/s"));
    let stranger = Stranger::comes(&lab);

    let refused = lab.output(&["db", "start"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("measures on this machine"), "{said}");

    let mut second = lab.iopslab(&["run", "second.toml", "--beside", "--out", "two"]);
    second.env("IOPSLAB_WORK", lab.path().join("second-work"));
    second.exits(0);
    let status = first.wait().unwrap();
    let said = lab.stderr_so_far();
    assert!(status.success(), "{said}");
    // The stranger has kept the volume of the first trial.
    assert!(said.contains("made anew"), "{said}");

    let [one, two] = ["one", "two"].map(|out| json(&lab.run_in(out).join("analysis.json")));
    assert_eq!((&one["cells"][0]["valid_trials"], &two["cells"][0]["valid_trials"]), (&2.into(), &1.into()));
    let doubts = two["recommendation"]["doubts"].to_string();
    assert!(doubts.contains("go on beside others") && doubts.contains("run first-"), "{doubts}");
    let report = std::fs::read_to_string(lab.run_in("two").join("report.md")).unwrap().replace('\n', " ");
    assert!(report.contains("go on beside others"), "{report}");
    assert_eq!(one["environment"]["beside"], Value::Null);

    drop(stranger);
    lab.exits(0, &["clean"]);
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
