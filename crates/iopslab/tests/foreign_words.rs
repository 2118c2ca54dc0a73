//! What an agent on a machine of the user's writes to stderr, which is somebody else's text on the user's terminal.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Laboratory, by_script};

/// Most memory of the run, KiB: that of `ulimit -d`. The client's agent writes a line that is longer.
const MOST_KIB: u64 = 256 << 10;
/// A client whose agent writes to the clipboard (OSC 52), writes on and on, and conceals its last word.
const SSH: &str = r#"#!/bin/sh
for word; do :; done
case $word in
    *"agent --role client"*)
        while read -r request; do case $request in *hello*) break ;; esac; done
        printf 'a\033]52;c;cm0gLXJm\007b\033[2J\n' >&2
        printf '\377\rb\342\200\256txt\n' >&2
        yes 'disk full' | head -n 100000 >&2
        head -c 335544320 /dev/zero | tr '\0' x >&2
        printf '\nthe last word\033[8m\n' >&2
        sleep 1
        exit 7 ;;
esac
exec sh -c "$word"
"#;

#[test]
fn what_an_agent_writes_is_shown_in_part_obeyed_by_nobody_and_fills_no_memory() {
    let lab = Laboratory::new();
    let run = by_script::run(&lab, SSH);
    let mut bounded = Command::new("sh");
    bounded
        .args(["-c", &format!("ulimit -d {MOST_KIB}; exec \"$0\" \"$@\"")])
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(lab.path())
        .envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(lab.path().join("stderr.txt")).unwrap());
    let began = Instant::now();
    let status = bounded.status().unwrap();
    let said = lab.stderr_so_far();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(!said.contains(['\u{1b}', '\u{7}']), "{said:?}");
    for part in [
        "load1: a\\u001b]52;c;cm0gLXJm\\u0007b\\u001b[2J\n",
        "load1: \u{fffd}\\u000db\\u202etxt\n",
        "load1: disk full\n",
        "load1: it writes more than 200 lines to stderr within 60 s: the others are left out\n",
        "the client agent was lost: ssh load1: it ended with exit status: 7; its last words: ",
        "the last word\\u001b[8m",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let of_client = said.lines().filter(|line| line.starts_with("load1: ")).count();
    assert!((100..210).contains(&of_client), "{of_client} lines: {said}");
    assert!(said.len() < 128 << 10, "{} bytes", said.len());
}
