//! Before a trial the volumes that several configurations share get the level of its configuration, where they have
//! that of another.

use evidence::ModifiedVolume;
use experiment::PlannedTrial;
#[cfg(not(feature = "aws"))]
use experiment::{AwsPair, Setup};

use super::database::parts;
#[cfg(feature = "aws")]
use super::modifying::modify;
use crate::failure::Failure;
use crate::run::Run;

/// Modifies the volumes of a trial where they have another level, and waits until that is in force; so many trials are
/// left. Which were modified.
pub fn bring(run: &Run<'_>, planned: &PlannedTrial, left: usize) -> Result<Vec<ModifiedVolume>, Failure> {
    let Some(aws) = run.plan().place.aws() else { return Ok(Vec::new()) };
    let setup = parts(run.job(), planned)?.setup;
    match aws.pair_of(&setup.configuration) {
        Some(pair) => modify(run, setup, pair, left),
        // It has machines of its own.
        None => Ok(Vec::new()),
    }
}

/// Nobody here can ask AWS.
#[cfg(not(feature = "aws"))]
fn modify(_: &Run<'_>, _: &Setup, _: &AwsPair, _: usize) -> Result<Vec<ModifiedVolume>, Failure> {
    let refused = process::failure::Failure::input("pair_volumes: this iopslab was built without AWS");
    Err(refused.help("build it with: cargo build --release --features aws").into())
}
