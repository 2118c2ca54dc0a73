//! Within the margin of practical importance nothing is faster, and what is the better value there all the same is
//! named beside.

use analysis::ValueVerdict;

use crate::story::{noisy, priced, step};

/// 2 % more, for 0.1 % and for 3 % of the price; and 9 % more for 6 %, which breaks even.
#[test]
fn within_the_margin_the_better_value_is_named_beside() {
    for (speed, usd, verdict, is_better) in [
        (1.02, 1001.0, ValueVerdict::Same, true),
        (1.02, 1030.0, ValueVerdict::Same, false),
        (1.09, 1060.0, ValueVerdict::BreakEven, true),
        (1.09, 1110.0, ValueVerdict::BreakEven, false),
    ] {
        let mut story = noisy(&[priced("a", 100_000, 1000.0), priced("b", 100_000, usd)], 0.001, 6);
        story.truth = story.truth.replace(
            "block_noise = 0.08",
            &format!("block_noise = 0.01\nsecond_noise = 0.001\nspeed = {{ b = {speed} }}"),
        );
        let analysis = story.analysis();
        let lines = report::answer(&analysis).lines().join("\n");
        println!("{speed} for {usd}: {lines}");
        assert_eq!(step(&analysis, "b").verdict, verdict, "{:?}", step(&analysis, "b"));
        let is_reported = lines.contains("; within the margin b is the better value");
        // A place that breaks even has other words for its steps.
        assert!(is_reported == is_better || (verdict == ValueVerdict::BreakEven && !is_reported), "{lines}");
        if verdict == ValueVerdict::Same {
            assert_eq!(analysis.recommendation.run.as_deref(), Some("a"));
        }
    }
}
