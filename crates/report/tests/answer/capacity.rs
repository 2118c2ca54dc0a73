//! What each carries under the objective: which one is run, by what, and what the next one costs.

use analysis::{
    Analysis, AnswerOutcome, Candidate, Capacity, CapacityOutcome, DecidedBy, LatencyFigure, LatencyObjective, Meets,
    Objective,
};
use report::answer;

use super::{run, with};

/// One that is shown to carry between `low` and `high`, estimated in their middle, for so much.
fn carries(name: &str, usd_per_month: Option<f64>, (low, high): (f64, f64), closed_loop: f64) -> Capacity {
    Capacity {
        configuration: name.to_owned(),
        workload: "read-heavy".to_owned(),
        usd_per_month,
        outcome: CapacityOutcome::Found,
        ops_per_s: Some(f64::midpoint(low, high)),
        low_ops_per_s: Some(low),
        high_ops_per_s: Some(high),
        missed: None,
        limit: None,
        closed_loop_ops_per_s: Some(closed_loop),
        probes: 5,
        probe_s: 50.0,
        levels: Vec::new(),
    }
}

/// These capacities at full scale, with the answer of their place.
fn found(outcome: AnswerOutcome, capacities: Vec<Capacity>) -> Analysis {
    let mut analysis = with(DecidedBy::Capacity, outcome);
    analysis.recommendation.places[0].load = None;
    analysis.scale = 1.0;
    analysis.capacities = capacities;
    analysis
}

/// The sentence on the step between two of them.
fn step(analysis: &Analysis) -> String {
    answer(analysis).sentences.into_iter().find(|s| s.starts_with("From ")).unwrap()
}

/// What the cheaper one carries at full scale nobody knows: its closed loop does as much as the other carries.
#[test]
fn a_step_of_rates_in_a_model_is_held_against_the_closed_loop() {
    let said_of = |scale: f64, closed_loop: f64| {
        let all = vec![
            carries("gp2", Some(500.0), (1000.0, 1000.0), closed_loop),
            carries("gp3", Some(750.0), (2000.0, 2000.0), 3000.0),
        ];
        step(&Analysis { scale, ..found(AnswerOutcome::Nothing, all) })
    };
    let shown = "From gp2 to gp3: 1,000 operations/s more for $250.00 a month more, $0.25 each.";
    // What a model did, times its scale, is no measurement of full scale.
    let of_model = shown.replace("operations/s more", "operations/s at full scale (estimated) more");
    assert_eq!([said_of(1.0, 2500.0), said_of(16.0, 1500.0)], [shown, &*of_model]);
    let open = said_of(16.0, 2500.0);
    assert_eq!(open, "From gp2 to gp3, $250.00 a month more: it is not shown to carry more.");
}

/// Which of two the experiment names first says nothing of them; and what is shown to carry less is not open.
#[test]
fn a_step_of_rates_goes_up_at_one_price_and_says_what_carries_less() {
    let (slow, fast, alike) = ((1950.0, 2350.0), (3000.0, 3500.0), (2300.0, 3100.0));
    for (of_gp2, of_gp3, said) in [
        ((100.0, slow), (100.0, fast), "From gp2 to gp3: 1,100 operations/s more for the same cost."),
        ((100.0, fast), (100.0, slow), "From gp3 to gp2: 1,100 operations/s more for the same cost."),
        ((100.0, alike), (100.0, slow), "From gp3 to gp2, for the same cost: it is not shown to carry more."),
        ((100.0, fast), (150.0, slow), "From gp2 to gp3, $50.00 a month more: it carries less."),
        ((150.0, slow), (100.0, fast), "From gp3 to gp2, $50.00 a month more: it carries less."),
        ((100.0, fast), (150.0, alike), "From gp2 to gp3, $50.00 a month more: it is not shown to carry more."),
    ] {
        let of = |name: &str, (usd, rates): (f64, (f64, f64))| carries(name, Some(usd), rates, 9000.0);
        let both = vec![of("gp2", of_gp2), of("gp3", of_gp3)];
        assert_eq!(step(&found(AnswerOutcome::Nothing, both)), said);
    }
}

/// One price alone is compared with nothing: that cost does not count is said, as it is of closed loops.
#[test]
fn rates_without_two_prices_say_that_cost_does_not_count() {
    let between = AnswerOutcome::Between {
        configurations: vec!["gp3".into(), "gp2".into()],
        break_even: false,
        alike: Vec::new(),
        repetitions: None,
    };
    let missing = ", and prices are missing, so that cost does not count";
    for (outcome, claim) in
        [(run("gp3"), "it carries the most at the objective"), (between, "which carries more is not shown")]
    {
        let both =
            vec![carries("gp2", None, (1950.0, 2350.0), 2500.0), carries("gp3", Some(139.0), (3000.0, 3500.0), 4000.0)];
        let mut analysis = found(outcome, both);
        analysis.recommendation.places[0].by_money = false;
        let headline = answer(&analysis).headline();
        assert!(headline.contains(&format!("{claim}{missing}")), "{headline}");
        // With two of them it does.
        analysis.recommendation.places[0].by_money = true;
        let headline = answer(&analysis).headline();
        assert!(headline.contains(" for its money") && !headline.contains("prices are missing"), "{headline}");
    }
}

/// 2,200/s for less money look as if they carried 1,800/s: what that takes with its headroom stands beside them.
#[test]
fn a_demand_is_stated_with_its_headroom_beside_what_each_carries() {
    let both = || {
        vec![
            carries("gp2", Some(100.0), (1950.0, 2350.0), 2500.0),
            carries("gp3", Some(139.0), (3000.0, 3500.0), 4000.0),
        ]
    };
    let candidate = |name: &str, usd: f64, meets: Meets| Candidate {
        configuration: name.to_owned(),
        usd_per_month: Some(usd),
        meets,
        checks: Vec::new(),
        fleet: None,
    };
    let headline = |outcome: AnswerOutcome, of_gp2: Meets, headroom: f64| {
        let mut analysis = found(outcome, both());
        let place = &mut analysis.recommendation.places[0];
        place.candidates = vec![candidate("gp2", 100.0, of_gp2), candidate("gp3", 139.0, Meets::Yes)];
        let bound = LatencyObjective { operation: None, figure: LatencyFigure::P99, limit_us: 10_000.0 };
        analysis.objective =
            Some(Objective { latency: vec![bound], error_share: None, throughput: Some(1800.0), headroom });
        answer(&analysis).headline()
    };
    let chosen = headline(run("gp3"), Meets::No, 0.3);
    let claim = "that carries 1,800/s with 30 % headroom (2,572/s) at p99 at most 10 ms: 3,250 (3,000 to 3,500) \
                 operations/s for $139.00 a month; gp2 carries 2,150 (1,950 to 2,350) operations/s";
    assert!(chosen.contains(claim), "{chosen}");
    let none = headline(AnswerOutcome::NoneMeets, Meets::No, 0.3);
    assert!(none.contains("no configuration carries 1,800/s with 30 % headroom (2,572/s) at p99"), "{none}");
    // Where none is asked for, none is named.
    let whole = headline(run("gp3"), Meets::No, 0.0);
    assert!(whole.contains("that carries 1,800/s at p99 at most 10 ms: "), "{whole}");
}
