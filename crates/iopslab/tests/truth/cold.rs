//! A page cache that has not filled makes a slow volume look slower than it will be: what decides on money is at rest,
//! or says that it is not.

use analysis::{Analysis, Status, Unrest, ValueVerdict, Withheld};

use crate::story::{Story, cell, noisy, priced, step};

/// A small volume, and a large one for `times` the money, on machines whose memory holds most of what is asked for.
fn pair(cache: &str, times: f64) -> Story {
    let mut story = noisy(&[priced("small", 300, 100.0), priced("big", 20_000, 100.0 * times)], 0.02, 4);
    story.records = 4_000_000;
    story.load = format!("concurrency = [64]\nwarmup_s = 5\nduration_s = 60\ncache = \"{cache}\"");
    story.local = "page_cache_mib = 2300".into();
    story
}

fn gain(analysis: &Analysis) -> f64 {
    step(analysis, "big").throughput_ratio.median
}

#[test]
fn a_cold_cache_does_not_make_a_volume_worth_its_money() {
    let warm = pair("warm", 14.0).analysis();
    let cold = pair("cold", 14.0).analysis();
    println!("warm {:.2}, cold {:.2}", gain(&warm), gain(&cold));
    assert!(gain(&warm) < 12.0 && gain(&cold) > 17.0, "{} {}", gain(&warm), gain(&cold));
    // At rest: less for fourteen times the money, and more for half of what it gives.
    assert_eq!(step(&warm, "big").verdict, ValueVerdict::NotWorthIt);
    assert_eq!(warm.recommendation.run.as_deref(), Some("small"));
    let half = gain(&warm) / 2.0;
    assert_eq!(step(&pair("warm", half).analysis(), "big").verdict, ValueVerdict::WorthIt);
    // From a cold start, which was asked for: the answer is about that, and says so.
    let headline = report::answer(&cold).headline();
    let is_about_that = headline.starts_with("Run big: from a cold start, ");
    assert!(is_about_that || cold.recommendation.status != Status::Decided, "{headline}");
    // A cache that was to be warm and is not: nothing is said.
    let filling = pair("warm", 14.0).truth("waking_up = { compile_cpu_s = 0, cached_share = 0.2 }").analysis();
    let unrest = Some(Withheld::NotAtRest { unrest: Unrest::Cache });
    assert_eq!(cell(&filling, "small").withheld, unrest);
    assert_eq!(step(&filling, "big").verdict, ValueVerdict::NotDecided);
    assert_eq!(filling.recommendation.run, None);
}
