//! `run --watch`: the page of a run that is under way has the report of what is known so far.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use analysis::TrialMeasurement;
use archive::RunDirectory;
use controller::{LiveRun, Measured, Watch};
use process::failure::Failure;

/// A report is made again when trials have taken so many times as long as the last one: simulated trials are over in
/// milliseconds.
const REST: u32 = 20;

/// A run that is watched.
#[derive(Debug)]
pub(super) struct WatchPage {
    watch: Watch,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Each trial is measured once.
    trials: Vec<TrialMeasurement>,
    /// When the last report was ready, and what it took.
    last: Option<(Instant, Duration)>,
}

impl WatchPage {
    /// Has it served, and says where: once, because whoever reads that may end the run.
    pub fn serve(address: SocketAddr, live: &LiveRun) -> Result<Self, Failure> {
        let watch = Watch::serve(address, live, report::watch_page)?;
        eprintln!("Watch: {}", watch.url());
        Ok(Self { watch, known: Mutex::default() })
    }

    /// Shows the answer so far, unless that was done a moment ago. Nothing is measured meanwhile: it is called between
    /// trials.
    pub fn evidence_grew(&self, directory: &RunDirectory) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.last.is_none_or(|(at, took)| at.elapsed() >= took * REST) {
            self.show(directory, &mut known);
        }
    }

    /// The run has ended like this.
    pub fn ended(&self, directory: &RunDirectory, how: &str) {
        self.show(directory, &mut self.known.lock().unwrap_or_else(PoisonError::into_inner));
        self.watch.end(how);
    }

    fn show(&self, directory: &RunDirectory, known: &mut Known) {
        let began = Instant::now();
        match so_far(directory, std::mem::take(&mut known.trials)) {
            Ok((html, trials)) => {
                self.watch.show(html);
                known.trials = trials;
            }
            // The run is worth more than who looks at it.
            Err(failure) => tracing::warn!("the answer so far cannot be shown: {}", failure.message),
        }
        known.last = Some((Instant::now(), began.elapsed()));
    }
}

/// The answer so far of the whole run, of which this may be a part; and its trials.
fn so_far(directory: &RunDirectory, known: Vec<TrialMeasurement>) -> Result<(String, Vec<TrialMeasurement>), Failure> {
    let whole = RunDirectory::open(directory.path()).map_err(Failure::work)?;
    let measured = Measured::read_after(&whole, known)?;
    let analysis = analysis::analyse(&measured.evidence(&whole));
    let charts = analysis::charts(measured.trials());
    let html = report::answer_and_evidence(&analysis, &charts);
    Ok((guarded::shown(&html).into_owned(), measured.into_trials()))
}
