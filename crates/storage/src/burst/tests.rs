use super::*;

/// 5.4 million credits, 3 IOPS per GiB between 100 and the burst rate.
fn gp2(size_gib: f64) -> Burst {
    Burst {
        baseline_iops: (3.0 * size_gib).max(100.0),
        burst_iops: 3000.0,
        credits_max: 5_400_000.0,
        credits_start: 5_400_000.0,
    }
}

/// Seconds until the limit falls, for a load that always takes all it may.
fn seconds_to_depletion(burst: Burst, tick_s: f64) -> f64 {
    let mut bucket = BurstBucket::new(burst);
    let mut carried = 0.0;
    for tick in 1..1_000_000_u32 {
        carried += burst.burst_iops * tick_s;
        let limit = bucket.advance(carried as u64, tick_s);
        carried = carried.fract();
        if limit < burst.burst_iops {
            return f64::from(tick) * tick_s;
        }
    }
    f64::INFINITY
}

#[test]
fn a_full_bucket_lasts_as_long_as_documented_at_any_scale() {
    // Burst duration = credits / (burst - baseline), EBS user guide.
    for (size_gib, seconds) in [
        (1.0, 1862.0),
        (100.0, 2000.0),
        (250.0, 2400.0),
        (334.0, 2703.0),
        (500.0, 3600.0),
        (750.0, 7200.0),
    ] {
        for scale in [1.0, 16.0] {
            let measured = seconds_to_depletion(gp2(size_gib).scaled(scale), 0.2);
            assert!(
                (measured - seconds).abs() <= 1.0,
                "{size_gib} GiB at 1:{scale}: {measured} s, documented {seconds} s"
            );
        }
    }
}

#[test]
fn a_large_volume_never_runs_out() {
    assert_eq!(seconds_to_depletion(gp2(1000.0), 5.0), f64::INFINITY);
    let mut large = BurstBucket::new(Burst {
        credits_start: 0.0,
        ..gp2(2000.0)
    });
    assert_eq!(large.advance(6000, 1.0), 6000.0);
}

#[test]
fn an_empty_bucket_allows_the_baseline_and_refills_when_idle() {
    let mut bucket = BurstBucket::new(Burst {
        credits_start: 0.0,
        ..gp2(100.0)
    });
    assert_eq!(bucket.limit_iops(), 300.0);
    assert_eq!(bucket.advance(300, 1.0), 300.0, "at the baseline nothing is earned");
    assert_eq!(
        bucket.advance(0, 8.0),
        300.0,
        "2,400 credits: less than a second of burst"
    );
    assert_eq!(
        bucket.advance(0, 1.0),
        3000.0,
        "2,700 credits: a second of burst above the baseline"
    );
    for _ in 0..20_000 {
        bucket.advance(0, 1.0);
    }
    assert_eq!(bucket.credits(), 5_400_000.0, "never more than the bucket holds");
}

#[test]
fn over_a_long_time_the_volume_gets_its_baseline_plus_the_bucket() {
    let burst = gp2(100.0).scaled(16.0);
    let mut bucket = BurstBucket::new(burst);
    let (mut limit, mut done, mut carried) = (bucket.limit_iops(), 0_u64, 0.0);
    for _ in 0..50_000 {
        carried += limit * 0.2;
        let operations = carried as u64;
        carried = carried.fract();
        done += operations;
        limit = bucket.advance(operations, 0.2);
    }
    let entitled = burst.credits_max + burst.baseline_iops * 10_000.0;
    assert!((done as f64 / entitled - 1.0).abs() < 0.001, "{done} of {entitled}");
}
