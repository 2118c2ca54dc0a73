//! Storage of RDS for PostgreSQL: its steps, and its money, which is not EC2's.

use catalog::{
    Basis, CapsError, Catalog, ClusterRequest, CostError, NotAttached, ResolvedVolume, UserCatalog, VolumeError,
    VolumeRequest, VolumeType, resolve_volume,
};

fn volume(kind: VolumeType, size_gib: f64, iops: Option<f64>) -> Result<ResolvedVolume, VolumeError> {
    resolve_volume(&VolumeRequest { kind, size_gib, iops, mib_per_s: None })
}

fn cost(text: &str) -> Result<catalog::Cost, CostError> {
    let stated = Basis { stated_usd_per_hour: [("db.r6i.4xlarge".to_owned(), 2.0)].into(), ..Basis::default() };
    cost_by(text, &stated)
}

fn cost_by(text: &str, basis: &Basis) -> Result<catalog::Cost, CostError> {
    let facts = Catalog::built_in();
    facts.cost(&ClusterRequest::parse(facts, text).unwrap(), basis)
}

/// RDS User Guide: four volumes from 400 GiB on, which do four times as much; more is sold of these alone.
#[test]
fn gp3_does_four_times_as_much_from_400_gib_on() {
    let done = |gib| volume(VolumeType::RdsGp3, gib, None).map(|v| (v.baseline_iops, v.baseline_mib_per_s)).unwrap();
    let each = [20.0, 399.0, 400.0, 65_536.0].map(done);
    assert_eq!(each, [(3_000.0, 125.0), (3_000.0, 125.0), (12_000.0, 500.0), (12_000.0, 500.0)]);
    let refused = |gib, iops| volume(VolumeType::RdsGp3, gib, Some(iops)).unwrap_err().to_string();
    let small = refused(399.0, 6_000.0);
    assert!(small.contains("IOPS of rds-gp3 cannot be chosen with up to 399 GiB; leave it out"), "{small}");
    let few = refused(400.0, 6_000.0);
    assert!(few.contains("expected 12000 to 64000 IOPS"), "{few}");
    assert_eq!(volume(VolumeType::RdsGp3, 400.0, Some(64_000.0)).unwrap().baseline_iops, 64_000.0);
}

/// The same page: half to 50 (io1) or 1,000 (io2) IOPS a GiB, 1,000 to 256,000 of them.
#[test]
fn provisioned_iops_go_with_the_size() {
    let done = |kind, gib, iops| volume(kind, gib, Some(iops)).map(|v| v.baseline_mib_per_s).ok();
    for (kind, gib, iops, mib_per_s) in [
        (VolumeType::RdsIo1, 100.0, 999.0, None),
        (VolumeType::RdsIo1, 399.0, 19_950.0, Some(500.0)),
        (VolumeType::RdsIo1, 399.0, 19_951.0, None),
        (VolumeType::RdsIo1, 400.0, 20_000.0, Some(2_000.0)),
        (VolumeType::RdsIo1, 8_000.0, 256_000.0, Some(4_000.0)),
        (VolumeType::RdsIo2, 100.0, 1_000.0, Some(256.0)),
        (VolumeType::RdsIo2, 4_000.0, 1_999.0, None),
        (VolumeType::RdsIo2, 4_000.0, 2_000.0, Some(512.0)),
        (VolumeType::RdsIo2, 256.0, 256_000.0, Some(16_000.0)),
    ] {
        assert_eq!(done(kind, gib, iops), mib_per_s, "{kind} {gib} GiB, {iops} IOPS");
    }
    let few = volume(VolumeType::RdsIo2, 4_000.0, Some(1_000.0)).unwrap_err().to_string();
    assert!(few.contains("rds-io2 takes 2000 to 256000 IOPS and 0.5 to 1000 per GiB"), "{few}");
}

/// infracost's golden file: 100 GB of io1 12.50 and 1,200 IOPS 120.00; in two zones 400 GB of gp3 92.00, and 2,000 IOPS
/// above 12,000 80.00.
#[test]
fn storage_has_the_prices_of_rds_and_machines_those_that_are_stated() {
    let usd = |text: &str| cost(text).unwrap().usd_per_month - 2.0 * 730.0;
    for (text, expected) in [
        ("r6i.4xlarge+rds-gp3:400", 46.0),
        ("r6i.4xlarge+rds-gp3:400:14000", 46.0 + 40.0),
        ("r6i.4xlarge+rds-io1:100:1200", 12.5 + 120.0),
        ("r6i.4xlarge+rds-io2:1000:20000", 125.0 + 2_000.0),
    ] {
        assert!((usd(text) - expected).abs() < 0.005, "{text}: {} is not {expected}", usd(text));
    }
    assert!(cost("r6i.4xlarge+rds-gp3:400").unwrap().lines[0].what.starts_with("1 x db.r6i.4xlarge, "));
    assert!(cost("r6i.4xlarge+gp3:400").unwrap().lines[0].what.starts_with("1 x r6i.4xlarge, "), "EC2's own");
}

#[test]
fn what_no_source_states_is_no_price() {
    let machine = cost_by("r6i.4xlarge+rds-gp3:400", &Basis::default()).unwrap_err().to_string();
    assert!(machine.contains("--stated-price db.r6i.4xlarge=USD_PER_HOUR"), "{machine}");
    let throughput = cost("r6i.4xlarge+rds-gp3:400:14000:600").unwrap_err().to_string();
    assert!(throughput.contains("price of the IOPS or MiB/s of rds-gp3 volumes"), "{throughput}");
    let slip = Basis { stated_usd_per_hour: [("db.r6i.4xlrge".to_owned(), 2.0)].into(), ..Basis::default() };
    assert!(matches!(cost_by("r6i.4xlarge", &slip), Err(CostError::UnknownInstance { .. })));
}

/// Elsewhere capitals do not matter in the name of a machine, and so here.
#[test]
fn a_machine_of_rds_has_the_price_that_is_stated_of_it_whatever_its_capitals() {
    let stated = |name: &str| {
        let basis = Basis { stated_usd_per_hour: [(name.to_owned(), 2.0)].into(), ..Basis::default() };
        cost_by("r6i.4xlarge+rds-gp3:400", &basis).map(|cost| cost.usd_per_month)
    };
    let expected = stated("db.r6i.4xlarge").unwrap();
    for name in ["DB.r6i.4xlarge", "Db.R6I.4XLARGE"] {
        assert_eq!(stated(name), Ok(expected), "{name}");
    }
    // One of a user's own.
    let text = "price_date = \"2026-11-01\"\n[[instance]]\nname = \"DB.own\"\nvcpus = 16\nmemory_gib = 128\n\
                usd_per_hour = 2.0\nebs = { baseline_iops = 20000, baseline_mb_per_s = 500 }\n";
    let mut facts = Catalog::built_in().clone();
    facts.add(&UserCatalog::parse("own.toml", text).unwrap()).unwrap();
    let request = ClusterRequest::parse(&facts, "DB.own+rds-gp3:400").unwrap();
    assert_eq!(facts.cost(&request, &Basis::default()).map(|cost| cost.usd_per_month), Ok(expected));
    let twice = format!("{text}[[instance]]\nname = \"db.Own\"\nusd_per_hour = 3.0\n");
    let error = UserCatalog::parse("own.toml", &twice).unwrap_err().to_string();
    assert_eq!(error, "own.toml:9: `db.Own`: is stated twice in this file");
}

#[test]
fn one_volume_has_data_and_wal() {
    let facts = Catalog::built_in();
    for text in ["r6i.4xlarge+rds-gp3:400+gp3:50", "r6i.4xlarge+rds-io2:400:1000+rds-io2:400:1000"] {
        let caps = facts.caps(&ClusterRequest::parse(facts, text).unwrap(), None);
        assert!(matches!(caps, Err(CapsError::NotAttached(NotAttached::NotAlone { .. }))), "{text}: {caps:?}");
    }
}
