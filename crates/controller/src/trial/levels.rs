//! Before a trial the volumes that several configurations share get the level of its configuration, where they have
//! that of another.

use std::collections::BTreeMap;

use evidence::{HostId, ModifiedVolume};
#[cfg(not(feature = "aws"))]
use experiment::AwsPair;
use experiment::{PlannedTrial, Setup};

use super::database::parts;
#[cfg(feature = "aws")]
use super::modifying::modify;
use crate::hosts;
use crate::run::Run;
use crate::run_failure::Result;

/// Modifies the volumes of a trial where they have another level, and waits until that is in force; so many trials are
/// left. Which were modified.
pub fn bring(run: &mut Run<'_>, planned: &PlannedTrial, left: usize) -> Result<Vec<ModifiedVolume>> {
    let Some(aws) = run.plan().place.aws() else { return Ok(Vec::new()) };
    let setup = parts(run.job(), planned)?.setup;
    match aws.pair_of(&setup.configuration) {
        Some(pair) => modify(run, setup, pair, left),
        // It has machines of its own.
        None => Ok(Vec::new()),
    }
}

/// Ids of the volumes of EBS that hold a configuration's data, by host; none where nothing was bought for it.
pub fn volumes(run: &Run<'_>, setup: &Setup) -> BTreeMap<HostId, Vec<String>> {
    let of_host = |host| Some((host, run.agents.data_volumes(host)?.ids));
    hosts::nodes_of(setup).into_iter().filter_map(of_host).filter(|(_, ids)| !ids.is_empty()).collect()
}

/// Nobody here can ask AWS.
#[cfg(not(feature = "aws"))]
fn modify(_: &mut Run<'_>, _: &Setup, _: &AwsPair, _: usize) -> Result<Vec<ModifiedVolume>> {
    let refused = process::failure::Failure::input("pair_volumes: this iopslab was built without AWS");
    Err(refused.help("build it with: cargo build --release --features aws").into())
}
