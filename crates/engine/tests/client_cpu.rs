//! What the client itself costs. One test, because CPU time is counted for the whole process.

mod fake;

use std::time::Duration;

use engine::ErrorKind;
use fake::{Fake, closed, constant, reads, run};

#[test]
fn neither_pacing_nor_a_lost_connection_burns_a_core() {
    let two_seconds = Duration::from_secs(2);
    let answering = Fake::answering_after(Duration::from_millis(2));
    let (paced, _) = run(&answering, &reads(constant(500.0), two_seconds));
    assert!((0.001..1.0).contains(&paced.result.client_cpu_s), "spinning would use 2 s: {}", paced.result.client_cpu_s);

    let lost = Fake::new(|_, _| (Duration::ZERO, Err(ErrorKind::Connection)));
    let (failing, _) = run(&lost, &reads(closed(100), two_seconds));
    assert!(failing.result.client_cpu_s < 1.0, "{}", failing.result.client_cpu_s);
}
