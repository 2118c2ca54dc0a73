//! Local disks whose bytes a second nobody knows, which could not be limited.

use analysis::{Doubt, Provider, analyse};

use crate::story::{job, place, run, trials};

#[test]
fn disks_that_were_not_limited_in_bytes_are_doubted_before_anything_else() {
    let mut job = job();
    let data = &mut job.setups.setups[0].data;
    data.is_local = true;
    let trials = trials();
    let is_doubt = |doubt: &Doubt| matches!(doubt, Doubt::LocalBytesUnknown { .. });
    let known = analyse(&run(&job, &trials)).recommendation.doubts;
    assert!(!known.iter().any(is_doubt), "{known:?}");
    let data = &mut job.setups.setups[0].data;
    (data.limits.read_bytes_per_s, data.limits.write_bytes_per_s) = (None, None);
    let unknown = analyse(&run(&job, &trials)).recommendation.doubts;
    let Some(Doubt::LocalBytesUnknown { configurations }) = unknown.first() else { panic!("{unknown:?}") };
    let [(name, Some(bytes_per_s))] = &configurations[..] else { panic!("{configurations:?}") };
    // At full scale: 16 times what the model did, read and written.
    assert!(name == "gp2-320" && *bytes_per_s > 16.0, "{configurations:?}");
    // What is bought limits itself.
    job.plan.place = place(Provider::Aws);
    let bought = analyse(&run(&job, &trials)).recommendation.doubts;
    assert!(!bought.iter().any(is_doubt), "{bought:?}");
}
