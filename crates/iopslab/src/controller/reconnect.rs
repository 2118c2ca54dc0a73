//! A host that is lost may only be out of reach for a while: the run goes on when it is there again.
//!
//! Whatever was lost, everything starts anew: agents, ledgers, volumes. It is what `--resume` does, in the same
//! process; the snapshot of the data set is on the hosts already.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use archive::RunDirectory;

use super::agents::Agents;
use crate::failure::Failure;
use crate::progress::Screen;

/// First wait between two attempts; each is twice the one before.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// After this long the run ends.
const PATIENCE: Duration = Duration::from_secs(300);
/// So many losses without a trial between them end the run.
const LOSSES_IN_A_ROW: u32 = 3;

/// What is done with the agents of a run.
pub(super) type Act<'a> = &'a dyn Fn(&mut Agents, &mut Screen) -> Result<(), Failure>;

/// Does `work` again after each loss of a host, once all hosts answer a `greeting` again.
pub(super) fn through_losses(
    directory: &RunDirectory,
    agents: &mut Agents,
    interrupted: &Arc<AtomicBool>,
    screen: &mut Screen,
    greeting: Act<'_>,
    work: Act<'_>,
) -> Result<(), Failure> {
    let mut in_a_row = 0;
    loop {
        let done = directory.done().len();
        let Err(failure) = work(agents, screen) else {
            return Ok(());
        };
        let Some(how) = agents.cut_off().map(str::to_owned) else {
            return Err(failure);
        };
        // The trial in which it was lost counts as done, and is invalid.
        in_a_row = if directory.done().len() > done + 1 {
            1
        } else {
            in_a_row + 1
        };
        if in_a_row == LOSSES_IN_A_ROW || interrupted.load(Ordering::Relaxed) {
            return Err(failure);
        }
        let minutes = PATIENCE.as_secs() / 60;
        screen.say(&format!(
            "{how}\nwaiting for it to be there again, at most {minutes} minutes"
        ));
        let began = Instant::now();
        let mut wait = FIRST_WAIT;
        loop {
            agents.dismiss(screen);
            match greeting(agents, screen) {
                Ok(_) if interrupted.load(Ordering::Relaxed) => return Err(Failure::interrupted("interrupted")),
                Ok(_) => break,
                Err(failure) if began.elapsed() + wait > PATIENCE => return Err(failure),
                Err(failure) if agents.cut_off().is_none() => return Err(failure),
                Err(_) => sleep(wait, interrupted)?,
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        screen.say(&format!(
            "all hosts are there again after {} s",
            began.elapsed().as_secs()
        ));
    }
}

fn sleep(wait: Duration, interrupted: &Arc<AtomicBool>) -> Result<(), Failure> {
    let until = Instant::now() + wait;
    while Instant::now() < until {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::interrupted("interrupted"));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
