//! What good enough means, and how much is a difference: read, checked, frozen.

use crate::story;
use crate::story::{accepted, and, each_refused, notes, refused};
use experiment::{
    DecisionRules, DurabilityRule, LatencyFigure, LatencyObjective, Objective, OperationKind, Plan, plan,
};

fn objective(text: &str) -> Objective {
    accepted(&and(text)).objective.expect("an objective")
}

#[test]
fn without_an_objective_there_is_none_and_the_margin_is_five_per_cent() {
    let experiment = accepted(story::GOOD);
    assert_eq!(experiment.objective, None);
    let expected = DecisionRules { margin: 0.05, durability: DurabilityRule::Separate };
    assert_eq!(experiment.decision, expected);
}

#[test]
fn bounds_are_in_milliseconds_of_the_worst_kind_or_of_one() {
    let all = objective("[objective]\np99_ms = 10\nmean_ms = 2.5\nread = { p99_ms = 5 }\nerror_share = 0.001\n");
    let bound = |operation, figure, limit_us| LatencyObjective { operation, figure, limit_us };
    assert_eq!(
        all.latency,
        [
            bound(None, LatencyFigure::Mean, 2500.0),
            bound(None, LatencyFigure::P99, 10_000.0),
            bound(Some(OperationKind::Read), LatencyFigure::P99, 5000.0),
        ]
    );
    assert_eq!((all.error_share, all.throughput), (Some(0.001), None));
}

#[test]
fn a_demand_leaves_three_tenths_free_unless_it_says_otherwise() {
    let demand = objective("[objective]\nthroughput = 5000\n");
    assert_eq!((demand.throughput, demand.headroom), (Some(5000.0), 0.3));
    let tight = objective("[objective]\nthroughput = 5000\nheadroom = 0\n");
    assert_eq!(tight.headroom, 0.0);
}

#[test]
fn a_figure_knows_its_name_and_its_tail() {
    for figure in LatencyFigure::ALL {
        assert_eq!(serde_json::to_value(figure).unwrap(), figure.name());
    }
    let tails: Vec<_> = LatencyFigure::ALL.iter().map(|f| f.tail()).collect();
    assert_eq!(tails, [None, Some(0.5), Some(0.05), Some(0.01), Some(0.001)]);
    let quantiles = LatencyFigure::ALL.map(LatencyFigure::quantile);
    assert_eq!(quantiles, [None, Some(0.5), Some(0.95), Some(0.99), Some(0.999)]);
    assert_eq!(LatencyFigure::ALL.map(LatencyFigure::label), ["mean", "p50", "p95", "p99", "p99.9"]);
}

#[test]
fn every_wrong_objective_is_refused_at_its_place() {
    let cases = [
        ("[objective]\n", "x.toml:18:1: [objective] states nothing (for example p99_ms = 10, or throughput = 5000"),
        ("[objective]\np99 = 10\n", "x.toml:19:1: unknown key `p99` (did you mean `p99_ms`?"),
        ("[objective]\np99_ms = 0\n", "x.toml:19:10: p99_ms cannot be 0 (a number from 0.001 to 59999)"),
        ("[objective]\np99_ms = nan\n", "p99_ms cannot be NaN"),
        (
            "[objective]\nerror_share = 1.5\n",
            "x.toml:19:15: error_share cannot be 1.5 (a number from 0 to 1; 1.5 % is error_share = 0.015)",
        ),
        (
            "[objective]\nerror_share = 0.01\n",
            "x.toml:19:15: error_share = 0.01 has no effect: a trial with more than 0.001 failed operations is invalid \
             (at most 0.001, or leave it out)",
        ),
        ("[objective]\nthroughput = -1\n", "x.toml:19:14: throughput cannot be -1"),
        (
            "[objective]\nthroughput = 10\nheadroom = 1\n",
            "x.toml:20:12: headroom cannot be 1 (a number from 0 to 0.99)",
        ),
        (
            "[objective]\np99_ms = 10\nheadroom = 0.3\n",
            "x.toml:20:12: headroom is for a demand, and the objective states none (state throughput = N \
             operations/s as well, or remove it)",
        ),
        (
            "[objective]\nscan = { p99_ms = 5 }\n",
            "x.toml:19:8: the objective bounds scan, and no workload does any (remove it, or bound a kind that a \
             workload has)",
        ),
        ("[objective]\nread = { }\n", "the objective for read states nothing (for example read = { p99_ms = 5 })"),
        ("[objective]\nread = { p9_ms = 5 }\n", "x.toml:19:10: unknown key `p9_ms` (did you mean `p99_ms`?"),
        (
            "[objective]\np50_ms = 20\np99_ms = 10\n",
            "x.toml:20:10: p99_ms = 10 is less than p50_ms = 20 (a higher percentile is never the smaller one; were \
             they swapped?)",
        ),
        (
            "[objective]\np99_ms = 10\nread = { p99_ms = 20 }\n",
            "read p99_ms = 20 is implied by p99_ms = 10 of the worst kind",
        ),
        (
            "[decision]\nmargin = 0\n",
            "x.toml:19:10: margin cannot be 0 (a share above 0 and below 0.5, such as 0.05 for 5 %)",
        ),
        ("[decision]\nmargin = 0.5\n", "margin cannot be 0.5"),
        ("[decision]\nmargn = 0.1\n", "unknown key `margn` (did you mean `margin`?"),
    ];
    each_refused(&cases.map(|(more, expected)| (and(more), expected)));
}

#[test]
fn all_mistakes_of_an_objective_are_reported_together() {
    let mistakes =
        refused(&and("[objective]\np99_ms = -1\nscan = { p99_ms = 5 }\nheadroom = 0.2\n[decision]\nmargin = 2\n"));
    let mut lines: Vec<_> = mistakes.list().iter().map(|m| m.line).collect();
    lines.sort_unstable();
    assert_eq!(lines, [19, 20, 21, 23], "{mistakes}");
}

#[test]
fn objective_and_margin_are_frozen_into_the_plan() {
    let frozen = plan(&accepted(&and("[objective]\nupdate = { p999_ms = 7 }\n[decision]\nmargin = 0.1\n")));
    let text = serde_json::to_string(&frozen).unwrap();
    let read: Plan = serde_json::from_str(&text).unwrap();
    assert_eq!(read, frozen);
    assert_eq!(read.decision.margin, 0.1);
    assert_eq!(
        serde_json::to_value(&read.objective).unwrap(),
        serde_json::json!({"latency": [{"operation": "update", "figure": "p999", "limit_us": 7000.0}],
            "error_share": null, "throughput": null, "headroom": 0.3})
    );
}

#[test]
fn latency_of_a_closed_loop_is_remarked_on() {
    let closed = accepted(&and("[objective]\np99_ms = 10\n"));
    let reported = notes(&closed, "closed_loop_latency", None);
    assert!(reported[0].contains("load level c10 is a closed loop"), "{reported:?}");
    let open = accepted(&format!("{}[objective]\np99_ms = 10\n", story::with("concurrency = [10]", "rate = [500]")));
    assert_eq!(notes(&open, "closed_loop_latency", None), Vec::<String>::new());
}

#[test]
fn a_bound_on_latency_in_a_model_is_remarked_on() {
    let reported = |objective: &str, scale: u32| {
        let text = and(&format!("[objective]\n{objective}\n[provider.local]\nscale = {scale}\n"));
        notes(&accepted(&text), "latency_in_a_model", None)
    };
    let bound = reported("p99_ms = 10", 8);
    assert!(bound[0].contains("at scale 1:8, where a queue in front of a volume takes 8 times as long"), "{bound:?}");
    assert!(bound[0].contains("what misses it by less than a factor of 8 is not decided"), "{bound:?}");
    assert_eq!(reported("p99_ms = 10", 1), Vec::<String>::new());
    assert_eq!(reported("throughput = 500", 8), Vec::<String>::new());
    let find = story::with("concurrency = [10]", "rate = \"find\"");
    let find = accepted(&format!("{find}[objective]\np99_ms = 10\n[provider.local]\nscale = 8\n"));
    let found = notes(&find, "latency_in_a_model", None);
    assert!(found[0].contains("what is found to be carried is the least that production carries"), "{found:?}");
}

/// What is completed of a rate scatters around it, so that the rate which is advised lies above the least one.
#[test]
fn the_rate_that_is_advised_has_a_margin() {
    for (demand, headroom, needed, offer) in [
        (9000, 0.3, 12_858.0, 13_600.0),
        (3000, 0.3, 4286.0, 4510.0),
        (2100, 0.3, 3000.0, 3150.0),
        (50, 0.0, 50.0, 53.0),
    ] {
        let stated = objective(&format!("[objective]\nthroughput = {demand}\nheadroom = {headroom:?}\n"));
        assert_eq!((stated.capacity_needed(), stated.rate_to_offer()), (Some(needed), Some(offer)), "{demand}");
    }
}

/// A rate that is held is the least of a capacity: with three tenths free 2,100 need 3,000, and 3,000 need 4,286.
#[test]
fn rates_that_cannot_show_a_demand_are_remarked_on() {
    let reported = |load: &str, demand: &str| {
        let text = format!("{}[objective]\n{demand}\n", story::with("concurrency = [10]", load));
        notes(&accepted(&text), "rates_below_demand", None)
    };
    let below = reported("rate = [1000, 3000]", "throughput = 3000");
    assert!(below[0].contains("3000/s is the highest, and demand / (1 - headroom) is 4286/s"), "{below:?}");
    for (load, demand, is_below) in [
        ("rate = [4285]", "throughput = 3000", true),
        ("rate = [4286]", "throughput = 3000", false),
        ("rate = [1000, 4286]", "throughput = 3000", false),
        ("rate = [3000]", "throughput = 2100", false),
        ("rate = [3000]", "throughput = 3000\nheadroom = 0", false),
        ("concurrency = [10]", "throughput = 3000", false),
        ("rate = \"find\"", "p99_ms = 10\nthroughput = 3000", false),
        ("rate = [3000]", "p99_ms = 10", false),
    ] {
        assert_eq!(reported(load, demand).len(), usize::from(is_below), "{load}, {demand}");
    }
}
