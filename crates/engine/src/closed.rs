//! Closed loop: each slot sends its next request when its last one has ended.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use evidence::ErrorKind;
use tokio::task::coop::consume_budget;
use tokio::task::spawn_local;

use crate::Driver;
use crate::claims::Claims;
use crate::clock::now_ns;
use crate::operate::Source;
use crate::recorder::Ended;
use crate::schedule::Schedule;
use crate::threads::{Occupied, Seat};

/// What the slots of a thread share.
struct Loop {
    source: Source,
    /// Recorded requests, all due at once: each slot takes the next one that need not wait for another.
    recording: Option<RefCell<Schedule>>,
    claims: Rc<Claims>,
}

/// Spawns this thread's share of the slots.
pub(crate) fn begin<D: Driver + 'static>(
    seat: &Rc<Seat<D>>,
    source: Source,
    recording: Option<Schedule>,
    claims: Rc<Claims>,
    concurrency: u32,
) {
    let shared = Rc::new(Loop { source, recording: recording.map(RefCell::new), claims });
    for _ in 0..seat.share_of(concurrency) {
        spawn_local(slot(Occupied::new(seat), Rc::clone(&shared)));
    }
}

async fn slot<D: Driver>(occupied: Occupied<D>, shared: Rc<Loop>) {
    let Loop { source, recording, claims } = &*shared;
    let seat = occupied.seat();
    let mut buffers = source.buffers();
    let mut patience = Patience::default();
    let mut now = now_ns();
    while now < seat.times.end_ns {
        let due = recording.as_ref().map(|recording| recording.borrow_mut().take_due(u64::MAX));
        if due == Some(None) {
            // The recording has ended; what still waits is taken by the slots for whose requests it waits.
            return;
        }
        let due = due.flatten();
        let operation = source.next(&seat.driver, &mut buffers, due.and_then(|due| due.number));
        let sent_ns = now_ns();
        let measured = sent_ns >= seat.times.start_ns;
        if measured {
            if !claims.claim() {
                return;
            }
            seat.sent.set(seat.sent.get() + 1);
        }
        seat.recorder.borrow_mut().sent();
        let result = source.perform(&seat.driver, &seat.notes, &operation, &buffers).await;
        now = now_ns();
        if let (Some(recording), Some(due)) = (recording, due) {
            recording.borrow_mut().ended(due, now);
        }
        seat.recorder.borrow_mut().ended(&Ended {
            kind: operation.kind,
            measured,
            done_ns: now,
            response_ns: now - sent_ns,
            service_ns: None,
            result,
        });
        if let Some(pause) = patience.after(result) {
            tokio::time::sleep(pause).await;
            now = now_ns();
        }
        // A driver that answers without waiting must not keep the thread from its other slots.
        consume_budget().await;
    }
}

/// How long a slot waits after an error before its next request.
///
/// A lost connection fails a request in microseconds. Without a pause a slot would count millions of such errors per
/// second and burn a core, at the moment in which a database on the same machine needs the CPU to come back. So
/// connection errors and refusals pause 10 ms, doubling with each in a row to 320 ms: a hundred slots then make some
/// 300 errors per second. Other errors were answered by the database or by a timeout and need no pause.
#[derive(Default)]
pub(crate) struct Patience {
    in_a_row: u32,
}

impl Patience {
    /// The pause after this result.
    #[inline]
    pub(crate) fn after<T>(&mut self, result: Result<T, ErrorKind>) -> Option<Duration> {
        match result {
            Err(ErrorKind::Connection | ErrorKind::Overloaded) => {
                let pause = Duration::from_millis(10 << self.in_a_row.min(5));
                self.in_a_row += 1;
                Some(pause)
            }
            _ => {
                self.in_a_row = 0;
                None
            }
        }
    }
}
