use std::sync::{Arc, Mutex};

use super::*;

#[test]
fn the_controller_moves_the_limit_when_the_counters_say_so() {
    let directory = tempfile::tempdir().unwrap();
    let stat = directory.path().join("stat");
    let write = |reads: u64, writes: u64| {
        let aside = directory.path().join("aside");
        fs::write(&aside, format!("{reads} 0 0 0 {writes} 0 0 0 0 0 0 0 0 0 0 0 0\n")).unwrap();
        fs::rename(&aside, &stat).unwrap();
    };
    write(1_000_000, 5);
    let limits = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&limits);
    let burst = Burst {
        baseline_iops: 10.0,
        burst_iops: 1000.0,
        credits_max: 500.0,
        credits_start: 500.0,
    };
    let of = MovingLimits {
        limits: IoLimits::symmetric(Some(2000.0), None),
        burst: Some(burst),
        is_combined: false,
    };
    let controller = LimitController::start(&stat, &of, move |limits| {
        seen.lock().unwrap().push(limits.read_iops.unwrap());
        Ok(())
    })
    .unwrap();
    assert_eq!(
        *limits.lock().unwrap(),
        [1000.0],
        "the starting limit is in force before the load can begin"
    );
    thread::sleep(3 * TICK);
    assert!(
        controller.credits().unwrap() >= 490.0,
        "what was counted before the start is not charged"
    );
    write(1_000_400, 305);
    thread::sleep(3 * TICK);
    assert_eq!(*limits.lock().unwrap(), [1000.0, 10.0]);
    assert_eq!(controller.limit_iops(), Some(10.0));
    assert_eq!(controller.lost(), None);
    fs::remove_file(&stat).unwrap();
    thread::sleep(3 * TICK);
    let lost = controller.lost().map(str::to_owned).unwrap();
    assert!(
        lost.contains("read the counters"),
        "it is known while the trial goes on: {lost}"
    );
    assert!(controller.stop().is_err(), "a device that vanished is reported");
}

/// Reads alone, then both in the ratio 3 to 1: the parts follow the counters, and their sum is the limit.
#[test]
fn the_controller_divides_a_limit_as_the_counters_say() {
    let directory = tempfile::tempdir().unwrap();
    let stat = directory.path().join("stat");
    let write = |reads: u64, writes: u64| {
        let aside = directory.path().join("aside");
        fs::write(
            &aside,
            format!("{reads} 0 {} 0 {writes} 0 {} 0\n", reads * 8, writes * 8),
        )
        .unwrap();
        fs::rename(&aside, &stat).unwrap();
    };
    write(0, 0);
    let limits = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&limits);
    let of = MovingLimits {
        limits: IoLimits::symmetric(Some(1000.0), Some(100.0)),
        burst: None,
        is_combined: true,
    };
    let controller = LimitController::start(&stat, &of, move |limits| {
        seen.lock().unwrap().push(*limits);
        Ok(())
    })
    .unwrap();
    let last = || *limits.lock().unwrap().last().unwrap();
    assert_eq!((last().read_iops, last().write_iops), (Some(500.0), Some(500.0)));
    for step in 1..=20 {
        write(step * 10, 0);
        thread::sleep(TICK / 5);
    }
    assert_eq!((last().read_iops, last().write_iops), (Some(1000.0), Some(50.0)));
    for step in 1..=100 {
        write(200 + step * 15, step * 5);
        thread::sleep(TICK / 5);
    }
    let (reads, writes) = (last().read_iops.unwrap(), last().write_iops.unwrap());
    assert!((reads + writes - 1000.0).abs() < 1e-6, "{reads} and {writes}");
    assert!((reads - 750.0).abs() < 60.0, "{reads} and {writes}");
    assert_eq!(controller.limit_iops(), None);
    controller.stop().unwrap();
}
