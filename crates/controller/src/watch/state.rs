//! What goes on in a run, as the page gets it.

use std::time::Instant;

use guarded::shown_line;
use serde_json::{Value, json};

use crate::live::{Live, LiveSecond, LiveTrial, Site, Standing};

/// All but the evidence, for this moment. What others have written is shown as on a terminal.
pub(super) fn of(live: &Live, now: Instant) -> Value {
    let running: Vec<&str> = live.under_way().map(|trial| trial.cell.as_str()).collect();
    // Sites work side by side: the last one to end is the end.
    let left_s = live.sites.values().filter_map(|site| site.left).map(|left| left.seconds(now)).reduce(f64::max);
    json!({
        "run": live.run,
        "question": live.question.as_deref().map(shown_line),
        "planned": live.planned(),
        "done": live.done(),
        "invalid": live.cells.iter().map(|cell| cell.invalid).sum::<usize>(),
        "left_s": left_s,
        "paused": live.wishes.is_paused,
        "stopping": live.wishes.is_stopping,
        "ended": live.ended.as_deref().map(shown_line),
        "watchers": live.watchers,
        "sites": live.sites.iter().map(|(name, of)| site(name, of)).collect::<Vec<Value>>(),
        "cells": live.cells.iter().map(|of| cell(live, of, &running)).collect::<Vec<Value>>(),
    })
}

fn site(name: &str, of: &Site) -> Value {
    let next = of.next.iter().map(|trial| format!("{} block {}", trial.cell, trial.block));
    json!({
        "name": name,
        "doing": shown_line(&of.doing),
        "trial": of.trial.as_ref().map(trial),
        "next": next.collect::<Vec<String>>(),
    })
}

/// A second is an array: there are many.
fn trial(of: &LiveTrial) -> Value {
    let second = |s: &LiveSecond| json!([s.t_s, s.operations, s.errors, s.p99_us, s.device_iops]);
    json!({
        "cell": of.cell,
        "block": of.block,
        "over": of.is_over,
        "seconds": of.seconds.iter().map(second).collect::<Vec<Value>>(),
    })
}

fn cell(live: &Live, of: &Standing, running: &[&str]) -> Value {
    let wish = live.wishes.skips.get(&of.cell).copied().filter(|wish| *wish != of.is_skipped);
    let stands = if running.contains(&of.cell.as_str()) {
        "running"
    } else if of.is_skipped {
        "skipped"
    } else if of.done() >= of.planned {
        "done"
    } else {
        "to come"
    };
    json!({
        "cell": of.cell,
        "planned": of.planned,
        "done": of.done(),
        "invalid": of.invalid,
        "ops_per_s": of.mean_ops_per_s(),
        "stands": stands,
        "skipped": of.is_skipped,
        "wish": wish,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::time_left::TimeLeft;

    use super::*;

    #[test]
    fn a_cell_is_running_done_skipped_or_to_come_and_a_wish_stands_until_it_is_obeyed() {
        let standing = |cell: &str, done, is_skipped| Standing {
            cell: cell.to_owned(),
            planned: 2,
            ops_per_s: vec![100.0; done],
            invalid: 0,
            is_skipped,
        };
        let mut live = Live { cells: vec![standing("a", 1, false), standing("b", 2, false)], ..Live::default() };
        live.cells.extend([standing("c", 0, true), standing("d", 0, false)]);
        let began = Instant::now();
        let trial = LiveTrial { cell: "a".to_owned(), block: 2, ..LiveTrial::default() };
        let left = TimeLeft { began, trial_s: 60.0, then_s: 30.0 };
        live.sites.insert(String::new(), Site { trial: Some(trial), left: Some(left), ..Site::default() });
        live.question = Some("which\u{202e}one?".to_owned());
        live.wishes.skips = [("c".to_owned(), true), ("d".to_owned(), true)].into();
        let state = of(&live, began + Duration::from_secs(10));
        let all =
            |key: &str| state["cells"].as_array().unwrap().iter().map(|cell| cell[key].clone()).collect::<Vec<_>>();
        assert_eq!(all("stands"), ["running", "done", "skipped", "to come"]);
        assert_eq!(all("wish"), [Value::Null, Value::Null, Value::Null, Value::Bool(true)], "that of c is obeyed");
        assert_eq!(state["question"], "which\\u202eone?");
        assert_eq!((&state["left_s"], &state["done"], &state["planned"]), (&json!(80.0), &json!(3), &json!(8)));
    }
}
