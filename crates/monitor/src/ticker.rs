//! The thread that samples once a second.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use evidence::HostSample;

use crate::sampler::{Sampler, Sources};

const PERIOD: Duration = Duration::from_secs(1);

/// Adds figures to a sample before it is handed over, for example what the database says about itself.
pub type Annotate = Box<dyn FnMut(&mut HostSample) + Send>;

/// Samples at 1 Hz until it is stopped or dropped.
pub struct Monitor {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Monitor {
    /// The first sample is taken at once, then one a second on absolute ticks. A tick that is late is taken late, and
    /// its time says so; none is skipped silently.
    pub fn start(
        sources: Sources,
        mut annotate: Option<Annotate>,
        mut sink: Box<dyn FnMut(HostSample) + Send>,
    ) -> Self {
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let mut sampler = Sampler::new(sources);
            let start = Instant::now();
            let mut due = start;
            loop {
                let ended = match stopped.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Err(RecvTimeoutError::Timeout) => false,
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
                };
                let now = jiff::Timestamp::now().as_millisecond();
                let mut sample = sampler.sample(start.elapsed().as_secs_f64(), now);
                if let (false, Some(annotate)) = (ended, &mut annotate) {
                    annotate(&mut sample);
                }
                sink(sample);
                if ended {
                    return;
                }
                due += PERIOD;
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }

    /// Takes one last sample (without annotation, so that a stuck database cannot hold it up) and ends the thread.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has been reported on stderr already; the samples so far are kept.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn this_machine() -> Sources {
        Sources { root: PathBuf::from("/"), ..Sources::default() }
    }

    #[test]
    fn it_ticks_once_a_second() {
        let (to, samples) = channel();
        let annotate: Annotate = Box::new(|sample: &mut HostSample| sample.host.process_cpu_s = Some(5.0));
        let monitor = Monitor::start(this_machine(), Some(annotate), Box::new(move |sample| to.send(sample).unwrap()));
        let ticks: Vec<HostSample> = samples.iter().take(3).collect();
        monitor.stop();
        assert_eq!(ticks[0].host.process_cpu_s, Some(5.0));
        for (at, tick) in ticks.iter().enumerate() {
            assert!(tick.t_s >= at as f64, "no tick comes before its second: {}", tick.t_s);
        }
        let last = samples.iter().last().unwrap();
        assert!(last.t_s > ticks[2].t_s);
    }

    /// An end that waited for its tick would come at a whole second; a machine that is busy may be late by chance.
    #[test]
    fn it_stops_without_waiting_for_a_tick() {
        let stops_between_ticks = |_| {
            let (to, samples) = channel();
            let monitor = Monitor::start(this_machine(), None, Box::new(move |sample| to.send(sample).unwrap()));
            let first = samples.recv().unwrap();
            monitor.stop();
            let last = samples.iter().last().unwrap();
            last.t_s < first.t_s + 0.9
        };
        assert!((0..5).any(stops_between_ticks));
    }

    /// A host that stalls for 1.5 s still gives the sample of each second: the late one late, the next on its tick.
    #[test]
    fn a_late_tick_is_taken_late_and_none_is_skipped() {
        let (to, samples) = channel();
        let mut stall = Some(Duration::from_millis(1_500));
        let sink = move |sample: HostSample| {
            to.send(sample).unwrap();
            if let Some(time) = stall.take() {
                std::thread::sleep(time);
            }
        };
        let monitor = Monitor::start(this_machine(), None, Box::new(sink));
        std::thread::sleep(Duration::from_millis(2_400));
        drop(monitor);
        let times: Vec<f64> = samples.iter().map(|sample| sample.t_s).collect();
        assert_eq!(times.len(), 4, "at 0, 1 (late) and 2 s, and the last one: {times:?}");
        assert!(times[1] >= 1.5 && times[1] < 1.9, "late, and says so: {times:?}");
        assert!(times[2] >= 2.0 && times[2] < 2.35, "on its tick again: {times:?}");
    }
}
