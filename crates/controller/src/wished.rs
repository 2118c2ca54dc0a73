//! What the user wishes on the page is obeyed between trials: cells that are skipped, a pause, an end.

use std::time::Duration;

use archive::JournalEvent;

use super::live::Wishes;
use super::run::Run;
use super::run_failure::{Failure, Result};
use super::time_left::TimeLeft;

/// In a pause: between two looks at whether the user wants it to end.
const LOOK: Duration = Duration::from_millis(200);

/// Does what is wished now, and returns once a trial may begin; whether other cells are skipped than before. So many
/// trials are left: without any the run is over, whatever is wished.
pub(super) fn heed(run: &Run<'_>, left: usize) -> Result<bool> {
    let mut any = false;
    let mut is_paused = false;
    loop {
        let wishes = run.agents.screen.wishes();
        any |= skip(run, &wishes)?;
        if run.agents.is_interrupted() {
            return Err(Failure::Interrupted(None));
        }
        if wishes.is_stopping && left > 0 {
            return Err(Failure::Stopped { left, run: run.directory.path().to_owned() });
        }
        let screen = &run.agents.screen;
        if !wishes.is_paused || left == 0 {
            if is_paused {
                screen.say("the run goes on");
            }
            return Ok(any);
        }
        if !is_paused {
            is_paused = true;
            screen.say("paused after a trial, as wished on the page: Resume there goes on, Ctrl-C ends the run");
            screen.about(None, "");
            // Nothing counts down meanwhile.
            screen.publish_here(|site| {
                site.left = site.left.map(|left| TimeLeft { trial_s: 0.0, ..left });
            });
            screen.doing("paused", "");
        }
        // Machines that wait cost as much as those that work.
        run.check_money(0.0, left)?;
        std::thread::sleep(LOOK);
    }
}

/// Cells of this plan that are skipped from now on, or not any more, are noted; whether there are any.
fn skip(run: &Run<'_>, wishes: &Wishes) -> Result<bool> {
    if wishes.skips.is_empty() {
        return Ok(false);
    }
    let skipped = run.directory.skipped()?;
    let is_own = |cell: &str| run.plan().cells.iter().any(|own| own.id == cell);
    let new = wishes.skips.iter().filter(|(cell, wish)| is_own(cell.as_str()) && skipped.contains(*cell) != **wish);
    let mut any = false;
    for (cell, wish) in new {
        any = true;
        let (event, what) = match *wish {
            true => (JournalEvent::CellSkipped { cell: cell.clone() }, "is skipped from now on"),
            false => (JournalEvent::CellTakenUp { cell: cell.clone() }, "is measured again"),
        };
        run.note(event)?;
        run.agents.screen.publish(|live| {
            if let Some(known) = live.cells.iter_mut().find(|known| known.cell == *cell) {
                known.is_skipped = *wish;
            }
        });
        run.say(&format!("{cell} {what}, as wished on the page"));
    }
    Ok(any)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use archive::RunDirectory;
    use experiment::testing::small_job;
    use provider::local::Local;
    use serde_json::json;

    use crate::agents::Agents;
    use crate::live::LiveRun;
    use crate::progress::Screen;
    use crate::run::Settings;
    use crate::target::Target;

    use super::*;

    /// A pause went on for as long as nobody ended it, whatever its machines cost.
    #[test]
    fn a_pause_ends_where_there_is_no_money_for_the_machines_that_wait() {
        let parent = tempfile::tempdir().unwrap();
        let (job, named) = (small_job(""), ("x", "20260102T030405Z", false));
        let none = BTreeMap::new();
        let directory = RunDirectory::create(parent.path(), named, ("", &none), &job, &json!({}), &json!({})).unwrap();
        let live = LiveRun::default();
        live.update(|live| live.wishes.is_paused = true);
        let screen = Screen::new(Some(live));
        screen.quiet();
        let hosts = Box::new(Local::new(PathBuf::from("nobody")));
        let mut agents = Agents::new(hosts, channel(), &screen, &Arc::default());
        let settings = Settings {
            work_directory: PathBuf::new(),
            cache_directory: PathBuf::new(),
            affords: Arc::new(|_| false),
            evidence_grew: Arc::new(|_: &RunDirectory| {}),
        };
        let target = Target::of(&job.plan).unwrap();
        let run = Run { directory: &directory, agents: &mut agents, settings: &settings, target };
        assert!(matches!(heed(&run, 2), Err(Failure::Spent { left: 2, .. })));
        assert!(matches!(heed(&run, 0), Ok(false)), "a run that is over is not paused");
    }
}
