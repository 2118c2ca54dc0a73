//! Open loop: requests are sent when they are due, whatever became of the earlier ones.
//!
//! One task, the pacer, sleeps on a nanosecond timer until the next request is due and gives every due request to an
//! idle slot, or to a new one. A wake-up costs more than a request, so it sleeps at least [`QUANTUM_NS`] between two:
//! requests that are due closer together are sent together, and the lag says how late. After a stall (of the server,
//! the network or this machine) all requests that became due meanwhile are sent at once. The number of slots therefore
//! grows to the largest number in flight; a slot that has ended its request first takes what is overdue, so that a full
//! driver delays requests but never loses one.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use tokio::task::spawn_local;

use crate::clock::{Alarm, now_ns};
use crate::histograms::micros;
use crate::operate::Source;
use crate::recorded::Due;
use crate::recorder::Ended;
use crate::schedule::Schedule;
use crate::threads::{Occupied, Seat};
use crate::{Driver, EngineError};

/// After a wake-up the pacer sleeps at least this long, and then sends all that became due meanwhile. Requests that are
/// due further apart are not touched by it; closer ones share a wake-up, and are late by half of this on average.
const QUANTUM_NS: u64 = 50_000;
/// While the driver is full the pacer only looks again after this long; slots serve themselves meanwhile.
const FULL_PAUSE_NS: u64 = 1_000_000;

/// What pacer and slots of a thread share.
struct Loop<D> {
    seat: Rc<Seat<D>>,
    source: Source,
    schedule: RefCell<Schedule>,
    idle: RefCell<Vec<Rc<Desk>>>,
    /// The schedule has ended and the pacer is gone.
    over: Cell<bool>,
}

/// Where the pacer leaves a request for a slot.
#[derive(Default)]
struct Desk {
    due: Cell<Option<Due>>,
    waker: RefCell<Option<Waker>>,
}

impl Desk {
    fn wake(&self) {
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }
}

/// Spawns the pacer.
pub(crate) fn begin<D: Driver + 'static>(
    seat: &Rc<Seat<D>>,
    source: Source,
    schedule: Schedule,
) -> Result<(), EngineError> {
    let alarm = Alarm::new()?;
    let shared = Rc::new(Loop {
        seat: Rc::clone(seat),
        source,
        schedule: RefCell::new(schedule),
        idle: RefCell::new(Vec::with_capacity(1024)),
        over: Cell::new(false),
    });
    spawn_local(pace(Occupied::new(seat), shared, alarm));
    Ok(())
}

async fn pace<D: Driver + 'static>(occupied: Occupied<D>, shared: Rc<Loop<D>>, alarm: Alarm) {
    let limit = shared.seat.driver.max_in_flight(shared.seat.threads);
    let mut slots = 0usize;
    loop {
        let now = now_ns();
        let mut full = false;
        loop {
            let idle = shared.idle.borrow_mut().pop();
            if idle.is_none() && slots >= limit {
                full = true;
                break;
            }
            let Some(due) = shared.schedule.borrow_mut().take_due(now) else {
                shared.idle.borrow_mut().extend(idle);
                break;
            };
            match idle {
                Some(desk) => {
                    desk.due.set(Some(due));
                    desk.wake();
                }
                None => {
                    slots += 1;
                    spawn_local(slot(Occupied::new(&shared.seat), Rc::clone(&shared), due));
                }
            }
        }
        let next = shared.schedule.borrow().peek();
        let Some(due_ns) = next else { break };
        let wake_ns = wake_at(now, due_ns, full);
        if let Err(error) = alarm.until(wake_ns).await {
            occupied.seat().fail(error.into());
            return;
        }
    }
    shared.over.set(true);
    for desk in shared.idle.borrow_mut().drain(..) {
        desk.wake();
    }
}

/// When the pacer that woke at `now_ns` wakes again, with `due_ns` the next request of the schedule.
fn wake_at(now_ns: u64, due_ns: u64, full: bool) -> u64 {
    if full { now_ns + FULL_PAUSE_NS } else { due_ns.max(now_ns + QUANTUM_NS) }
}

async fn slot<D: Driver>(occupied: Occupied<D>, shared: Rc<Loop<D>>, first: Due) {
    let seat = occupied.seat();
    let source = &shared.source;
    let desk = Rc::new(Desk::default());
    let mut buffers = source.buffers();
    let mut due = first;
    loop {
        let due_ns = due.at_ns;
        let operation = source.next(&seat.driver, &mut buffers, due.number);
        let measured = due_ns >= seat.times.start_ns;
        seat.recorder.borrow_mut().sent();
        let sent_ns = now_ns();
        if measured {
            seat.sent.set(seat.sent.get() + 1);
            seat.lag.borrow_mut().saturating_record(micros(sent_ns.saturating_sub(due.ready_ns)));
        }
        let result = source.perform(&seat.driver, &seat.notes, &operation, &buffers).await;
        let done_ns = now_ns();
        seat.recorder.borrow_mut().ended(&Ended {
            kind: operation.kind,
            measured,
            done_ns,
            response_ns: done_ns - due_ns,
            service_ns: Some(done_ns - sent_ns),
            result,
        });
        // Something may be overdue: then the driver was full, this thread was late, or it has waited for this one.
        let overdue = {
            let mut schedule = shared.schedule.borrow_mut();
            schedule.ended(due, done_ns);
            schedule.take_due(done_ns)
        };
        due = match overdue {
            Some(due) => due,
            None => match rest(&shared, &desk).await {
                Some(due) => due,
                None => return,
            },
        };
    }
}

/// Waits for the pacer to leave a request on the desk; `None` when there will be none.
async fn rest<D>(shared: &Loop<D>, desk: &Rc<Desk>) -> Option<Due> {
    shared.idle.borrow_mut().push(Rc::clone(desk));
    poll_fn(|context| {
        if let Some(due) = desk.due.take() {
            return Poll::Ready(Some(due));
        }
        if shared.over.get() {
            return Poll::Ready(None);
        }
        let mut waker = desk.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            *waker = Some(context.waker().clone());
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::wake_at;

    #[test]
    fn requests_far_apart_have_a_wake_up_each_at_their_time_and_close_ones_share_one() {
        assert_eq!(wake_at(1_000_000, 1_200_000, false), 1_200_000);
        assert_eq!(wake_at(1_000_000, 1_020_000, false), 1_050_000);
        assert_eq!(wake_at(1_000_000, 990_000, false), 1_050_000);
    }

    #[test]
    fn a_full_driver_is_looked_at_again_after_a_millisecond() {
        assert_eq!(wake_at(1_000_000, 1_020_000, true), 2_000_000);
    }
}
