//! What a step of money is worth, and where.

use analysis::{
    Analysis, CostKind, CostLine, DecidedBy, LimitKind, Reason, Status, ValueVerdict, Verdict, WorkloadAnswer,
};
use report::{answer, html, markdown};

use super::{run, said, step, story, with};
use crate::page::{self, LOADS};

#[test]
fn a_step_that_pays_is_reported_with_its_interval_and_the_next_one_that_does_not() {
    let mut analysis = with(DecidedBy::Value, run("gp3"));
    step(&mut analysis, 1, "gp3", 1.05, 2.1, ValueVerdict::NotWorthIt);
    analysis.value_of_money[1].extra_usd_per_month = 825.0;
    let answer = said(&analysis);
    assert_eq!(
        answer.headline(),
        "Run gp3: 2.00 times (1.90 to 2.10) the throughput of gp2 for 1.50 times its cost ($250.00 more a month)."
    );
    assert_eq!(
        answer.sentences[..2],
        [
            "io2 is not worth it: 1.05 times (0.997 to 1.10) the throughput of gp3 for 2.10 times its cost ($825.00 \
             more a month).",
            "If gp3 is too slow, more of gp3 buys more for the money, provided that throughput grows with their \
             number.",
        ]
    );
}

/// What the reader has today comes first, the step that explains the choice second.
#[test]
fn what_is_run_stands_beside_the_stated_baseline() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    analysis.is_baseline_stated = true;
    step(&mut analysis, 1, "gp3", 1.5, 1.33, ValueVerdict::WorthIt);
    let (to_baseline, reported) = (said(&analysis).because, said(&analysis).exchange.unwrap());
    assert!(
        to_baseline.starts_with(
            "3.00 times (2.85 to 3.15) the throughput of gp2, the baseline, for $1,000.00 instead of $500.00 a month; \
             1.50 times ("
        ) && to_baseline.contains(" the throughput of gp3 for 1.33 times its cost"),
        "{to_baseline}"
    );
    assert_eq!((&*reported.cost, &*reported.gain), ("2.00 times the cost", "3.00 times the throughput"));
    assert_eq!(reported.of, "io2 instead of gp2, the baseline, $500.00 more a month");
    // What is not shown is no large letter.
    let mut open = analysis.clone();
    for cell in open.cells.iter_mut().filter(|c| c.configuration == "io2") {
        cell.ratio_to_baseline.as_mut().unwrap().verdict = Verdict::NoDifferenceShown;
    }
    assert_eq!(said(&open).exchange.unwrap().of, "io2 instead of gp3, $500.00 more a month: worth it");
    // A step from the baseline says it already.
    step(&mut analysis, 1, "gp2", 3.0, 2.0, ValueVerdict::WorthIt);
    assert!(said(&analysis).because.starts_with("3.00 times (2.85 to 3.15) the throughput of gp2 for 2.00 times its"));
    assert_eq!(said(&analysis).exchange.unwrap().of, "io2 instead of gp2, $500.00 more a month: worth it");
    // Of several places each is named.
    let mut both = page::run(&["gp2", "gp3", "io2"], &["reads", "writes"], 3).0;
    both.is_baseline_stated = true;
    both.cells.retain(|c| c.load == LOADS[0]);
    both.recommendation.places.retain(|place| place.load == Some(LOADS[0]));
    for step in both.value_of_money.iter_mut().filter(|step| step.to == "io2") {
        step.from = "gp3".into();
    }
    let answer = answer(&both);
    assert!(
        answer.because.starts_with(
            "3.00 times (2.85 to 3.15) the throughput of gp2, the baseline, under reads, 3.00 times (2.85 to 3.15) \
             under writes, for $1,000.00 instead of $500.00 a month; "
        ),
        "{}",
        answer.because
    );
    assert_eq!(answer.exchange.unwrap().of, "io2 instead of gp2, the baseline, $500.00 more a month");
    // Nothing was stated: the cheapest is no more than the cheapest.
    step(&mut analysis, 1, "gp3", 1.5, 1.33, ValueVerdict::WorthIt);
    analysis.is_baseline_stated = false;
    assert!(!said(&analysis).headline().contains("baseline"));
}

#[test]
fn the_cheapest_is_run_where_the_next_step_does_not_pay() {
    let mut analysis = with(DecidedBy::Value, run("gp2"));
    step(&mut analysis, 0, "gp2", 1.01, 1.5, ValueVerdict::Same);
    step(&mut analysis, 1, "gp2", 0.9, 2.0, ValueVerdict::Dominated);
    let answer = said(&analysis);
    assert_eq!(
        answer.headline(),
        "Run gp2: no other costs less, and gp3 gives the same throughput as gp2 within 5 %: 1.01 times (0.959 to 1.06) \
         for 1.50 times its cost ($250.00 more a month)."
    );
    assert!(
        answer.sentences[0].starts_with(
            "io2 is dominated by gp2: 0.900 times (0.855 to 0.945) its throughput for 2.00 times its cost"
        ),
        "{answer:#?}"
    );
}

/// A cheaper one has no valid trial, or one has no price: that nothing costs less would be false, or is not known.
#[test]
fn the_cheapest_that_was_judged_need_not_be_the_cheapest() {
    let headline = |usd: Option<f64>| {
        let mut analysis = with(DecidedBy::Value, run("gp2"));
        analysis.value_of_money.clear();
        let other = analysis.configurations.iter_mut().find(|c| c.name == "gp3").unwrap();
        other.usd_per_month = usd;
        said(&analysis).headline()
    };
    let (all, judged) = ("and nothing more expensive", "gives more for its money.");
    assert_eq!(headline(Some(750.0)), format!("Run gp2: no other costs less, {all} {judged}"));
    let less = "Run gp2: no other that was judged costs less";
    assert_eq!(headline(Some(400.0)), format!("{less}, {all} {judged}"));
    assert_eq!(headline(None), format!("{less}, {all} that was judged {judged}"));
    // The others have no valid trial: nobody knows what they give.
    let mut alone = with(DecidedBy::Value, run("gp2"));
    alone.value_of_money.clear();
    alone.cells.iter_mut().filter(|c| c.configuration != "gp2").for_each(|c| c.valid_trials = 0);
    assert_eq!(said(&alone).headline(), format!("Run gp2: no other costs less, {all} was judged."));
}

/// What misses a bound may give more for its money than what is run.
#[test]
fn more_of_what_is_run_is_no_advice_where_a_bound_decided() {
    let is_advised = |by: DecidedBy| {
        let mut analysis = with(by, run("gp3"));
        step(&mut analysis, 0, "gp2", 2.0, 1.5, ValueVerdict::WorthIt);
        step(&mut analysis, 1, "gp3", 1.2, 1.33, ValueVerdict::NotWorthIt);
        said(&analysis).sentences.iter().any(|s| s.contains("more of gp3 buys more for the money"))
    };
    assert!(is_advised(DecidedBy::Value) && !is_advised(DecidedBy::Objective));
}

/// 16,000 IOPS behind 125 MiB/s: at 16 KiB a read half of them are never used.
#[test]
fn iops_that_were_paid_and_not_used_are_reported() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    let unused = |analysis: &Analysis| said(analysis).sentences.into_iter().find(|s| s.contains("limited by MB/s"));
    assert_eq!(unused(&analysis), None);
    let cell = analysis.cells.iter_mut().find(|c| c.configuration == "io2").unwrap();
    cell.limit.kind = LimitKind::VolumeThroughput;
    cell.limit.uses[0].used = 490.0;
    assert_eq!(unused(&analysis), None, "they come with the volume, as those of gp2 and of a machine's own disks");
    let line = CostLine { kind: CostKind::Iops, ..CostLine::stated("13,000 IOPS", 65.0, "a price list") };
    analysis.configurations.iter_mut().find(|c| c.name == "io2").unwrap().cost_lines.push(line);
    assert_eq!(
        unused(&analysis).unwrap(),
        "io2 was limited by MB/s and used 49 % of the 16,000 IOPS of its volume: for requests of this size the rest \
         buys nothing."
    );
    let cell = analysis.cells.iter_mut().find(|c| c.configuration == "io2").unwrap();
    cell.limit.uses[0].used = 850.0;
    assert_eq!(unused(&analysis), None, "most were used");
}

#[test]
fn different_workloads_may_want_different_configurations() {
    let (mut analysis, _) = page::run(&["gp2", "gp3"], &["read-heavy", "write-heavy"], 3);
    let place = |workload: &str, configuration: &str| WorkloadAnswer {
        workload: workload.into(),
        load: Some(LOADS[0]),
        by: DecidedBy::Value,
        by_money: true,
        outcome: run(configuration),
        candidates: Vec::new(),
    };
    analysis.recommendation.places = vec![place("read-heavy", "gp3"), place("write-heavy", "gp2")];
    let recommendation = &mut analysis.recommendation;
    (recommendation.run, recommendation.status, recommendation.reason) = (None, Status::NotDecided, Reason::Depends);
    step(&mut analysis, 1, "gp2", 1.2, 1.5, ValueVerdict::NotWorthIt);
    let headline = said(&analysis).headline();
    assert!(
        headline.starts_with(
            "Not decided: it depends on the workload: for read-heavy run gp3 (2.00 times (1.90 to 2.10) the \
             throughput of gp2 for"
        ) && headline.contains(
            "for write-heavy run gp2 (no other costs less, and gp3 is not worth it: 1.20 times \
             (1.14 to 1.26)"
        ),
        "{headline}"
    );
}

#[test]
fn what_the_money_buys_says_where_it_buys_that_if_not_everywhere() {
    let mut analysis = page::run(&["gp2", "gp3"], &["reads", "writes"], 3).0;
    analysis.cells.retain(|c| c.load == LOADS[0]);
    analysis.recommendation.places.retain(|place| place.load == Some(LOADS[0]));
    let of = |analysis: &Analysis| answer(analysis).exchange.unwrap().of;
    assert_eq!(of(&analysis), "gp3 instead of gp2, $250.00 more a month: worth it");
    // Of writes no such step is there: gp3 is run for another reason.
    analysis.value_of_money.retain(|step| step.workload == "reads");
    assert_eq!(of(&analysis), "gp3 instead of gp2 under reads, $250.00 more a month: worth it");
    analysis.recommendation.status = Status::NotDecided;
    assert_eq!(answer(&analysis).exchange, None);
}

/// A sum is as old as its oldest price.
#[test]
fn the_days_of_prices_are_told_from_the_oldest_to_the_newest() {
    let mut analysis = story();
    let mut reported = |days: [Option<&str>; 3]| {
        for (configuration, day) in analysis.configurations.iter_mut().zip(days) {
            for line in &mut configuration.cost_lines {
                line.price_date = day.map(str::to_owned);
            }
        }
        let page = html(&analysis, &page::run(&["gp2", "gp3", "io2"], &["read-heavy"], 3).1);
        let basis = answer(&analysis).basis.remove(0);
        let days = basis.split("prices of ").nth(1).unwrap().split(',').next().unwrap().to_owned();
        assert!(page.contains(&format!("prices of {days}, uplift")), "{days}");
        assert!(markdown(&analysis).contains(&format!("prices of {days}, uplift")), "{days}");
        days
    };
    let (old, new) = (Some("2025-10-01"), Some("2026-11-01"));
    assert_eq!(reported([new, old, new]), "2025-10-01 to 2026-11-01");
    assert_eq!(reported([old, old, None]), "2025-10-01");
}
