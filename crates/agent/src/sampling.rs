//! Watching a trial on the database host: host figures, what the database and served volumes say about themselves, and
//! its death.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use database::{MetricsReader, RunningNode};
use evidence::HostSample;
use monitor::{Monitor, Sources};
use reported::Reported;
use wire::Event;

use super::backing::Served;
use super::outbox::Outbox;
use super::shared::with;

/// Samples this host once a second, and notices when the database ends on its own, or has lost its volumes, which is no
/// better. While the node is `away` by plan, it is asked nothing, and its end is no news.
pub(super) fn watch(
    sources: Sources,
    metrics: Box<dyn MetricsReader>,
    node: &Arc<Mutex<Box<dyn RunningNode>>>,
    away: &Arc<AtomicBool>,
    served: Vec<Served>,
    outbox: Outbox,
) -> Monitor {
    let node = Arc::clone(node);
    let (is_away, not_asked) = (Arc::clone(away), Arc::clone(away));
    let mut died = false;
    let lost = Arc::new(Mutex::new(None::<String>));
    let found_lost = Arc::clone(&lost);
    let mut database = Asked::of(metrics);
    let annotate = move |sample: &mut HostSample| {
        for volume in &served {
            if let Err(error) = volume.note(sample) {
                with(&found_lost, |lost| *lost = Some(error.to_string()));
            }
        }
        // Last: it may have to be waited for, and nothing else of the sample does.
        if !not_asked.load(Ordering::Relaxed) {
            database.note(&mut sample.database);
        }
    };
    let sink = move |sample| {
        outbox.send(&Event::Sample(Box::new(sample)));
        if died || is_away.load(Ordering::Relaxed) {
            return;
        }
        let lost = with(&lost, Option::take);
        if let Some(event) = with(&node, |n| death(lost, &mut **n)) {
            died = true;
            outbox.send(&event);
        }
    };
    Monitor::start(sources, Some(Box::new(annotate)), Box::new(sink))
}

/// How long a sample waits for what the database says about itself: less than the second after which the next one is
/// due, so that a database that is stopped or overloaded makes none late. It answers in milliseconds, and in some
/// hundred where its CPUs are full.
const PATIENCE: Duration = Duration::from_millis(800);

/// A database that is asked beside the samples of its host.
pub(super) struct Asked {
    ask: Sender<()>,
    answers: Receiver<Reported>,
    /// The answer to an earlier sample is still to come.
    is_waiting: bool,
}

impl Asked {
    pub(super) fn of(mut metrics: Box<dyn MetricsReader>) -> Self {
        let (ask, asked) = channel();
        let (answer, answers) = channel();
        std::thread::spawn(move || while asked.recv().is_ok_and(|()| answer.send(metrics.read()).is_ok()) {});
        Self { ask, answers, is_waiting: false }
    }

    /// Adds what it says now; nothing where it does not answer at once: an answer that comes later belongs to no
    /// sample.
    pub(super) fn note(&mut self, reported: &mut Reported) {
        if self.is_waiting && self.answers.try_recv().is_err() {
            return;
        }
        self.is_waiting = self.ask.send(()).is_ok();
        if let Ok(said) = self.answers.recv_timeout(PATIENCE) {
            self.is_waiting = false;
            reported.extend(said);
        }
    }
}

/// What is said of a node that has ended, or that has `lost` its volumes.
pub(super) fn death(lost: Option<String>, node: &mut dyn RunningNode) -> Option<Event> {
    let how = lost.or_else(|| node.ended())?;
    Some(Event::DatabaseDied { how, log_tail: node.log_tail(20) })
}

#[cfg(test)]
mod tests {
    use reported::cassandra::TABLE_READS;

    use super::*;

    /// A database that answers when it is let.
    struct Stopped(Receiver<f64>);

    impl MetricsReader for Stopped {
        fn read(&mut self) -> Reported {
            Reported::from([(&TABLE_READS, self.0.recv().unwrap_or_default())])
        }
    }

    #[test]
    fn what_a_database_says_late_belongs_to_no_sample() {
        let (answer, answers) = channel();
        let mut asked = Asked::of(Box::new(Stopped(answers)));
        let mut noted = || {
            let mut reported = Reported::default();
            asked.note(&mut reported);
            reported.get(&TABLE_READS)
        };
        assert_eq!(noted(), None, "it is not waited for");
        assert_eq!(noted(), None, "nor asked again");
        // The late answer, and one in time.
        answer.send(1.0).unwrap();
        answer.send(2.0).unwrap();
        let next = (0..2_000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            noted()
        });
        assert_eq!(next, Some(2.0));
    }
}
