//! Hardware, and any of its settings.

use analysis::{AnswerOutcome, AnyOf, DecidedBy, OtherSettings, Verdict, WorseSettings};
use report::{TerminalOptions, html, markdown, terminal};

use super::{run, said, with};
use crate::page::{self, ratio};

/// The hardware with what it gives for its price stands first; then any of its settings, those that are slower, and
/// those of which neither is known.
#[test]
fn hardware_comes_first_and_then_any_of_its_settings() {
    let names = ["gp2", "gp3", "gp3_a", "gp3_b", "gp3_c", "gp3_d"];
    let mut analysis = with(DecidedBy::Value, run("gp3"));
    let slower = |configuration: &str, factor: f64| {
        let mut throughput_ratio = ratio("gp3", factor);
        throughput_ratio.verdict = Verdict::Slower;
        WorseSettings { configuration: configuration.into(), throughput_ratio: Some(throughput_ratio) }
    };
    let settings = |worse: Vec<WorseSettings>| OtherSettings {
        any: vec!["gp3_a".into(), "gp3_b".into()],
        worse,
        open: vec!["gp3_d".into()],
    };
    let outcome = |worse: Vec<WorseSettings>| AnswerOutcome::Run {
        configuration: "gp3".into(),
        same: Vec::new(),
        settings: Some(settings(worse)),
    };
    analysis.configurations = page::run(&names, &["read-heavy"], 3).0.configurations;
    let recommendation = &mut analysis.recommendation;
    recommendation.places[0].outcome = outcome(vec![slower("gp3_c", 0.72)]);
    recommendation.any_of =
        Some(AnyOf { configurations: vec!["gp3".into(), "gp3_a".into(), "gp3_b".into()], apart: Some(1.12) });
    recommendation.hardware = names[1..].iter().map(|name| (*name).to_owned()).collect();
    let answer = said(&analysis);
    assert_eq!(
        answer.headline(),
        "Run gp3, with any of 3 settings: 2.00 times (1.90 to 2.10) the throughput of gp2 for 1.50 times its cost \
         ($250.00 more a month)."
    );
    assert_eq!(
        answer.sentences[..3],
        [
            "Settings, which cost nothing: none of gp3, gp3_a and gp3_b is shown to be faster than another; by the \
             widest of their intervals two of them differ by at most 1.12 times.",
            "Not gp3_c, shown to be slower: gp3_c has 0.720 times (0.684 to 0.756) the throughput of gp3.",
            "Open, on the same hardware: gp3_d, not shown to be worse, nor to be as good a choice.",
        ]
    );
    // All surfaces lead with it.
    assert!(markdown(&analysis).contains("**Run gp3, with any of 3 settings**: 2.00 times"));
    assert!(
        html(&analysis, &analysis::Charts::default()).contains("<b>Run gp3, with any of 3 settings</b>: 2.00 times")
    );
    let options = TerminalOptions { width: 200, color: false };
    assert!(terminal(&analysis, options).contains("Run gp3, with any of 3 settings: 2.00 times"));
    // Within the margin is another thing than not shown; many that are slower are given by the least and the most.
    if let Some(any) = &mut analysis.recommendation.any_of {
        any.apart = Some(1.05);
    }
    let four = [("gp3_c", 0.7), ("gp3_d", 0.9), ("gp3_e", 0.8), ("gp3_f", 0.75)];
    analysis.recommendation.places[0].outcome = outcome(four.map(|(name, factor)| slower(name, factor)).into());
    assert_eq!(
        said(&analysis).sentences[..2],
        [
            "Settings, which cost nothing: gp3, gp3_a and gp3_b give the same throughput within 5 %.",
            "Not gp3_c, gp3_d, gp3_e and gp3_f, shown to be slower: from 0.700 times (0.665 to 0.735) the throughput \
             of gp3 (gp3_c) to 0.900 times (0.855 to 0.945) the throughput of gp3 (gp3_d), in 4 comparisons.",
        ]
    );
}

/// Other hardware has the same throughput, and says so in brackets: that none has it would be false.
#[test]
fn other_hardware_with_the_same_throughput_is_not_denied() {
    let headline = |same: Vec<String>| {
        let settings = OtherSettings { any: vec!["gp3_a".into()], ..OtherSettings::default() };
        let outcome = AnswerOutcome::Run { configuration: "gp3".into(), same, settings: Some(settings) };
        said(&with(DecidedBy::Throughput, outcome)).headline()
    };
    let alone = headline(vec!["gp3_a".into()]);
    assert!(alone.contains("no other hardware has its throughput, and prices are missing"), "{alone}");
    let both = headline(vec!["gp3_a".into(), "io2".into()]);
    assert!(both.contains("no other hardware has a higher throughput, and prices are missing"), "{both}");
    assert!(both.contains("(gp3_a and io2 give the same within 5 %)"), "{both}");
}

/// What gives the same within the margin may be a little faster: then none is said to be the fastest.
#[test]
fn without_prices_the_highest_throughput_is_claimed_only_of_what_stands_alone() {
    let headline = |same: Vec<String>| {
        let outcome = AnswerOutcome::Run { configuration: "gp3".into(), same, settings: None };
        said(&with(DecidedBy::Throughput, outcome)).headline()
    };
    assert!(headline(Vec::new()).contains("it has the highest throughput, and prices are missing"));
    let same = headline(vec!["io2".into()]);
    assert!(same.contains("no other is shown to have a higher throughput, and prices are missing"), "{same}");
}
