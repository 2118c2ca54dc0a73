//! Requests that were recorded: those of one partition follow each other as they did.

use std::collections::{HashMap, VecDeque};

/// A recorded request, as a driver gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// When, nanoseconds from the first request of the recording, at its own pace.
    pub at_ns: u64,
    /// By what [`crate::Driver::make_recorded`] knows it.
    pub number: u32,
    /// Its partition: it waits until the one before it of the same partition has ended. `None`: it waits for nobody.
    pub partition: Option<u64>,
}

/// A request that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    pub at_ns: u64,
    /// From when on the client could send it: later, where it has waited for another one.
    pub ready_ns: u64,
    /// Which recorded request it is; `None`: what is sent is made when it is sent.
    pub number: Option<u32>,
    /// As [`Recorded::partition`].
    pub partition: Option<u64>,
}

impl Due {
    pub fn at(at_ns: u64) -> Self {
        Self { at_ns, ready_ns: at_ns, number: None, partition: None }
    }
}

/// Which partitions are being asked, and what waits for them.
#[derive(Default)]
pub(crate) struct Order {
    /// Each partition with a request in flight, with those that wait for its end.
    busy: HashMap<u64, VecDeque<Due>>,
    /// What may be sent now, after it has waited.
    freed: Vec<Due>,
}

impl Order {
    /// What has waited, and need not any more.
    #[inline]
    pub fn freed(&mut self) -> Option<Due> {
        self.freed.pop()
    }

    /// Whether a request may be sent now; else it waits.
    #[inline]
    pub fn admits(&mut self, due: Due) -> bool {
        let Some(partition) = due.partition else { return true };
        match self.busy.get_mut(&partition) {
            Some(waiting) => {
                waiting.push_back(due);
                false
            }
            None => {
                self.busy.insert(partition, VecDeque::new());
                true
            }
        }
    }

    /// A request has ended: the next one of its partition is freed.
    #[inline]
    pub fn ended(&mut self, due: Due, now_ns: u64) {
        let Some(partition) = due.partition else { return };
        match self.busy.get_mut(&partition).and_then(VecDeque::pop_front) {
            Some(next) => self.freed.push(Due { ready_ns: now_ns.max(next.at_ns), ..next }),
            None => {
                self.busy.remove(&partition);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(number: u32, partition: Option<u64>) -> Due {
        Due { number: Some(number), partition, ..Due::at(0) }
    }

    #[test]
    fn requests_of_a_partition_follow_each_other_and_no_others_wait() {
        let mut order = Order::default();
        let all = [(0, Some(7)), (1, Some(7)), (2, Some(8)), (3, Some(7)), (4, None), (5, None)];
        let all = all.map(|(number, partition)| due(number, partition));
        assert_eq!(all.map(|due| order.admits(due)), [true, false, true, false, true, true]);
        assert_eq!(order.freed(), None);
        order.ended(all[2], 5);
        assert_eq!(order.freed(), None);
        order.ended(all[0], 7);
        assert_eq!(order.freed(), Some(Due { ready_ns: 7, ..all[1] }));
        order.ended(all[1], 9);
        assert_eq!((order.freed(), order.freed()), (Some(Due { ready_ns: 9, ..all[3] }), None));
        order.ended(all[3], 11);
        assert!(order.admits(due(6, Some(7))) && order.admits(due(7, Some(8))));
    }
}
