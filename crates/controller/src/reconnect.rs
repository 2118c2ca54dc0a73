//! A host that is lost may only be out of reach for a while: the run goes on when it is there again.
//!
//! Whatever was lost, everything starts anew: agents, ledgers, volumes. It is what `--resume` does, in the same
//! process; the snapshot of the data set is on the hosts already.

use std::time::{Duration, Instant};

use archive::RunDirectory;

use super::agents::Agents;
use super::run_failure::{Failure, Next, Result};

/// First wait between two attempts; each is twice the one before.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// After this long the run ends.
const PATIENCE: Duration = Duration::from_secs(300);
/// So many losses without a trial between them end the run.
const LOSSES_IN_A_ROW: u32 = 3;

/// What is done with the agents of a run.
pub(super) type Act<'a> = &'a dyn Fn(&mut Agents) -> Result<()>;

/// Does `work` again after each loss of a host, once all hosts answer a `greeting` again.
pub(super) fn through_losses(
    directory: &RunDirectory,
    agents: &mut Agents,
    greeting: Act<'_>,
    work: Act<'_>,
) -> Result<()> {
    let mut in_a_row = 0;
    loop {
        let done = directory.done().len();
        let Err(failure) = work(agents) else { return Ok(()) };
        // The trial in which it was lost counts as done, and is invalid.
        in_a_row = if directory.done().len() > done + 1 { 1 } else { in_a_row + 1 };
        if failure.next() != Next::HostReturns || in_a_row == LOSSES_IN_A_ROW || agents.is_interrupted() {
            return Err(failure);
        }
        await_return(agents, &failure, greeting)?;
    }
}

/// Until all hosts answer the greeting again.
fn await_return(agents: &mut Agents, lost: &Failure, greeting: Act<'_>) -> Result<()> {
    let minutes = PATIENCE.as_secs() / 60;
    agents.screen.say(&format!("{}\nwaiting for it to be there again, at most {minutes} minutes", lost.message()));
    let began = Instant::now();
    let mut wait = FIRST_WAIT;
    loop {
        agents.dismiss();
        match greeting(agents) {
            Ok(()) if agents.is_interrupted() => return Err(Failure::Interrupted(None)),
            Ok(()) => break,
            Err(failure) if began.elapsed() + wait > PATIENCE => return Err(failure),
            Err(failure) if failure.next() != Next::HostReturns => return Err(failure),
            Err(_) => sleep(wait, agents)?,
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
    let seconds = began.elapsed().as_secs();
    agents.screen.say(&format!("all hosts are there again after {seconds} s"));
    Ok(())
}

/// Waits, unless the user wants an end.
pub(super) fn sleep(wait: Duration, agents: &Agents) -> Result<()> {
    let until = Instant::now() + wait;
    while Instant::now() < until {
        if agents.is_interrupted() {
            return Err(Failure::Interrupted(None));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
