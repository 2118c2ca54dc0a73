//! Prices that a user states, terms of reservations, what is charged beside machines, and two bills beside each other.

use std::collections::BTreeMap;

use catalog::{Basis, Catalog, ClusterRequest, Cost, CostKind, Extras, Purchase, UserCatalog};

fn facts() -> &'static Catalog {
    Catalog::built_in()
}

fn fleet(texts: &[&str]) -> Vec<ClusterRequest> {
    texts.iter().map(|text| ClusterRequest::parse(facts(), text).unwrap()).collect()
}

fn cost(texts: &[&str], basis: &Basis) -> Cost {
    facts().total_cost(&fleet(texts), basis).unwrap()
}

fn purchase(purchase: Purchase) -> Basis {
    Basis { purchase, price_date: Some("2025-05-28".to_owned()), ..Basis::default() }
}

fn is(value: f64, expected: f64) {
    assert!((value - expected).abs() < 0.005, "{value} is not {expected}");
}

#[test]
fn spot_and_savings_plans_cost_what_the_user_states() {
    let spot = Basis { purchase: Purchase::Spot, ..Basis::default() };
    let error = facts().total_cost(&fleet(&["i3.2xlarge*3"]), &spot).unwrap_err().to_string();
    assert!(error.contains("--stated-price i3.2xlarge=USD_PER_HOUR"), "{error}");
    let stated = Basis { stated_usd_per_hour: BTreeMap::from([("I3.2xlarge".to_owned(), 0.2)]), ..spot };
    let bill = cost(&["i3.2xlarge*3"], &stated);
    is(bill.usd_per_month, 3.0 * 0.2 * 730.0);
    assert_eq!(
        (bill.lines[0].what.as_str(), bill.lines[0].source.as_str()),
        ("3 x i3.2xlarge, spot", "stated by the user")
    );
    assert!(bill.basis.to_string().contains("I3.2xlarge at 0.2 USD an hour as stated"));
    // A price that is stated counts before one that is known; of the other types the known one counts.
    let plan = Basis { purchase: Purchase::OnDemand, ..stated };
    is(cost(&["i3.2xlarge", "r4.4xlarge"], &plan).usd_per_hour, 0.2 + 1.064);
    // In a catalog file a Savings Plan is an option like the others.
    let file = "price_date = \"2026-11-01\"\n[[instance]]\nname = \"I3.2xlarge\"\n\
                reserved_usd_per_hour = { savings-plan = 0.41 }\n";
    let mut own = facts().clone();
    own.add(&UserCatalog::parse("own.toml", file).unwrap()).unwrap();
    let basis = Basis { purchase: Purchase::SavingsPlan, ..Basis::default() };
    is(own.total_cost(&fleet(&["i3.2xlarge"]), &basis).unwrap().usd_per_hour, 0.41);
    for wrong in [("i3.2xlrge", 0.2), ("i3.2xlarge", 0.0), ("i3.2xlarge", f64::NAN)] {
        let basis = Basis { stated_usd_per_hour: BTreeMap::from([(wrong.0.to_owned(), wrong.1)]), ..Basis::default() };
        assert!(basis.check(facts()).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_reservation_has_a_total_an_upfront_and_an_hourly_part() {
    // ec2instances.info 2025-05-28: i3.2xlarge, one year, 0.428 an hour or 3,482 USD upfront.
    let none = cost(&["i3.2xlarge*3"], &purchase(Purchase::OneYearNoUpfront)).term.unwrap();
    assert_eq!((none.years, none.hours), (1, 8760.0));
    is(none.usd, 3.0 * 0.428 * 8760.0);
    assert_eq!((none.upfront_usd, none.usd_per_hour), (Some(0.0), Some(1.284)));
    let all = cost(&["i3.2xlarge"], &purchase(Purchase::OneYearAllUpfront)).term.unwrap();
    is(all.usd.round(), 3482.0);
    is(all.upfront_usd.unwrap(), all.usd);
    assert_eq!(all.usd_per_hour, Some(0.0));
    // The source has a partial upfront's price by the hour, not its parts.
    let partial = cost(&["i3.2xlarge"], &purchase(Purchase::ThreeYearPartialUpfront)).term.unwrap();
    assert_eq!((partial.years, partial.upfront_usd, partial.usd_per_hour), (3, None, None));
    is(partial.usd, 0.280411 * 26_280.0);
    // AWS's price feed of 2014-03-19: m1.large heavy utilisation, 676 USD and 0.056 an hour.
    let heavy = Basis {
        purchase: Purchase::OneYearHeavyUtilisation,
        price_date: Some("2014-03-19".to_owned()),
        ..Basis::default()
    };
    let heavy = cost(&["m1.large*2"], &heavy).term.unwrap();
    assert_eq!(heavy.upfront_usd, Some(1352.0));
    assert!((heavy.usd_per_hour.unwrap() - 2.0 * 0.056).abs() < 1e-3, "{heavy:?}");
    // Two kinds of machines are one term; on demand has none.
    let both = cost(&["i3.2xlarge", "i3.4xlarge"], &purchase(Purchase::OneYearNoUpfront));
    is(both.term.unwrap().usd, both.usd_per_hour * 8760.0);
    assert_eq!(cost(&["i3.2xlarge"], &Basis::default()).term, None);
}

#[test]
fn transfer_between_zones_and_snapshots_are_lines_of_their_own() {
    let extras = Extras { cross_zone_gb: 1000.0, snapshot_gb: 200.0 };
    let basis = Basis { uplift_percent: 10.0, ..Basis::default() };
    let bill = facts().total_cost_with(&fleet(&["m5.large*3"]), extras, &basis).unwrap();
    let of = |kind: CostKind| bill.lines.iter().find(|line| line.kind == kind).unwrap();
    // 0.01 USD a GB out of one zone and 0.01 into the other; 0.05 USD a GB-month.
    is(of(CostKind::BetweenZones).usd_per_month, 20.0);
    is(of(CostKind::Snapshots).usd_per_month, 10.0);
    is(of(CostKind::Uplift).usd_per_month, 0.1 * (3.0 * 0.096 * 730.0 + 30.0));
    // Nobody wrote down what they cost in 2017: not 0, and not today's price either.
    let then = Basis { price_date: Some("2017-11-12".to_owned()), ..Basis::default() };
    let error = facts().total_cost_with(&fleet(&["i3.2xlarge"]), extras, &then).unwrap_err();
    assert!(error.to_string().contains("known days: 2026-11-22"), "{error}");
}

#[test]
fn an_uplift_may_be_charged_by_whole_dollars() {
    let basis = |round_up_uplift| Basis { uplift_percent: 3.0, round_up_uplift, ..Basis::default() };
    let uplift = |round| cost(&["m5.large"], &basis(round)).lines.last().unwrap().usd_per_month;
    is(uplift(false), 0.096 * 730.0 * 0.03);
    is(uplift(true), 3.0);
    assert!(basis(true).to_string().contains("rounded up to whole USD"));
}

#[test]
fn two_bills_differ_by_what_the_money_is_for() {
    let basis = Basis { uplift_percent: 10.0, ..Basis::default() };
    let from = cost(&["m5.large+gp3:1000:6000*3"], &basis);
    let to = cost(&["i3.2xlarge*3"], &basis);
    let diff = from.difference(&to).unwrap();
    let rows: Vec<(CostKind, f64)> = diff.rows.iter().map(|row| (row.kind, row.difference)).collect();
    let expected = [
        (CostKind::Instances, 3.0 * 730.0 * (0.624 - 0.096)),
        (CostKind::Storage, -3.0 * 80.0),
        (CostKind::Iops, -3.0 * 15.0),
    ];
    for ((kind, usd), (expected_kind, expected)) in rows.iter().zip(expected) {
        assert_eq!(*kind, expected_kind);
        is(*usd, expected);
    }
    is(rows.iter().map(|(_, usd)| usd).sum(), diff.usd_per_month);
    is(diff.usd_per_month, to.usd_per_month - from.usd_per_month);
    let back = to.difference(&from).unwrap();
    is(back.usd_per_month, -diff.usd_per_month);
    assert!((back.ratio.unwrap() * diff.ratio.unwrap() - 1.0).abs() < 1e-9);
    let other = cost(&["i3.2xlarge*3"], &Basis::default());
    assert!(from.difference(&other).unwrap_err().to_string().contains("counted in different ways"));
}

#[test]
fn each_node_holds_the_same_data_whatever_its_disks() {
    let both = fleet(&["i3.2xlarge*4", "m5.large+gp3:1000*2"]);
    let data = facts().data_per_node(&both, 2e12, 3);
    assert!(data.iter().all(|node| (node.bytes - 1e12).abs() < 1.0));
    // 1,900 GB of local disk; a volume of 1,000 GiB.
    assert!((data[0].fill.unwrap() - 1e12 / 1.9e12).abs() < 1e-9);
    assert!((data[1].fill.unwrap() - 1e12 / (1000.0 * 1_073_741_824.0)).abs() < 1e-9);
    assert_eq!(facts().data_per_node(&fleet(&["m5.large"]), 1e12, 1)[0].fill, None);
}

#[test]
fn a_text_in_the_place_of_a_number_is_refused_in_plain_words() {
    let text = "[[instance]]\nname = \"own.large\"\nmemory_gib = \"16 GiB\"\n";
    let refused = UserCatalog::parse("own.toml", text).unwrap_err().to_string();
    assert!(refused.contains("expected a number") && !refused.contains("f64"), "{refused}");
}
