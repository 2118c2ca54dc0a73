//! A database that writes what has changed at checkpoints, and trials without one.

use analysis::{Course, Doubt, analyse};
use evidence::HostId;
use experiment::{Database, PRODUCTS, Started};
use reported::postgresql::{CHECKPOINTER_BYTES, CHECKPOINTING, CHECKPOINTS};

use crate::story::{job, run, trials};

/// The configurations of the story that are doubted, where each trial has so many checkpoints, bytes by them, and one
/// under way at its end or none.
fn doubted((checkpoints, bytes, at_the_end): (f64, f64, f64), writes: bool) -> Option<Vec<String>> {
    let mut job = job();
    let product = PRODUCTS[1];
    job.plan.target.database = Database::Started(Started { product, version: product.default_version.to_owned() });
    if !writes {
        let mix = &mut job.plan.workloads[0].mix;
        (mix.read, mix.update) = (1.0, 0.0);
    }
    let mut trials = trials();
    for trial in &mut trials {
        let work = &mut trial.hosts.get_mut(&HostId::DATABASE).unwrap().work;
        work.set(&CHECKPOINTS, Course::from_zero(Some(checkpoints)));
        work.set(&CHECKPOINTER_BYTES, Course::from_zero(Some(bytes)));
        work.set(&CHECKPOINTING, Course::from_zero(Some(at_the_end)));
    }
    let doubts = analyse(&run(&job, &trials)).recommendation.doubts;
    doubts.into_iter().find_map(|doubt| match doubt {
        Doubt::NoCheckpoint { configurations } => Some(configurations),
        _ => None,
    })
}

#[test]
fn writes_without_a_checkpoint_are_a_doubt() {
    let both = vec!["gp2-320".to_owned(), "io1-10000".to_owned()];
    assert_eq!(doubted((0.0, 0.0, 0.0), true), Some(both));
    assert_eq!(doubted((0.0, 0.0, 0.0), false), None, "nothing is written");
    assert_eq!(doubted((1.0, 4e6, 0.0), true), None);
    assert_eq!(doubted((0.0, 4e6, 1.0), true), None, "one was under way until the end");
    assert_eq!(doubted((0.0, 0.0, 1.0), true), None, "and was late, so that nothing of it is counted yet");
}
