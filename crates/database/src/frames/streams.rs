//! The requests of one connection by their stream ids: who waits, since when, and which ids are free.
//!
//! All requests of a connection wait equally long, so the order in which they were sent is that of their deadlines:
//! they hang in a list, and one look at its end says whose time is up. An id is given away again when its request has
//! been answered *and* nobody waits for it any more: a server may still answer a request that has timed out.

use std::task::{Context, Poll, Waker};

use engine::ErrorKind;

use super::decode::Answer;

/// Ids that the protocol has: 0 to 32,767 (section 2.3).
const MOST: usize = 1 << 15;
/// No id.
const NONE: u16 = u16::MAX;

struct Stream {
    waits: Waits,
    /// The server has still to answer.
    is_owed: bool,
    deadline_ns: u64,
    older: u16,
    newer: u16,
}

enum Waits {
    /// For an answer; the waker is there once it was polled.
    For(Option<Waker>),
    /// Only for a poll.
    With(Result<Answer, ErrorKind>),
    Nobody,
}

pub(super) struct Streams {
    streams: Vec<Stream>,
    free: Vec<u16>,
    oldest: u16,
    newest: u16,
}

impl Streams {
    pub(super) fn new() -> Self {
        Self { streams: Vec::new(), free: Vec::new(), oldest: NONE, newest: NONE }
    }

    /// An id for a request; `None`: all are in use. Deadlines never get earlier from one to the next.
    pub(super) fn take(&mut self, deadline_ns: u64) -> Option<u16> {
        let stream = Stream { waits: Waits::For(None), is_owed: true, deadline_ns, older: self.newest, newer: NONE };
        let id = match self.free.pop() {
            Some(id) => {
                self.streams[usize::from(id)] = stream;
                id
            }
            None if self.streams.len() < MOST => {
                self.streams.push(stream);
                (self.streams.len() - 1) as u16
            }
            None => return None,
        };
        match self.newest {
            NONE => self.oldest = id,
            newest => self.streams[usize::from(newest)].newer = id,
        }
        self.newest = id;
        Some(id)
    }

    /// Takes a request that waits out of the list.
    fn unlink(&mut self, id: u16) {
        let Stream { older, newer, .. } = self.streams[usize::from(id)];
        match older {
            NONE => self.oldest = newer,
            older => self.streams[usize::from(older)].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.streams[usize::from(newer)].older = older,
        }
    }

    /// Ends the wait of a request.
    fn end(&mut self, id: u16, result: Result<Answer, ErrorKind>) {
        self.unlink(id);
        let waits = &mut self.streams[usize::from(id)].waits;
        if let Waits::For(Some(waker)) = std::mem::replace(waits, Waits::With(result)) {
            waker.wake();
        }
    }

    /// An answer has come. `false`: to no request.
    pub(super) fn answered(&mut self, id: u16, answer: Answer) -> bool {
        match self.streams.get_mut(usize::from(id)) {
            Some(stream) if stream.is_owed => {
                stream.is_owed = false;
                match stream.waits {
                    Waits::For(_) => self.end(id, Ok(answer)),
                    // It has timed out, and that is still to be noticed.
                    Waits::With(_) => {}
                    Waits::Nobody => self.free.push(id),
                }
                true
            }
            _ => false,
        }
    }

    /// What has become of a request; once that is known its id must not be used again.
    pub(super) fn poll(&mut self, id: u16, context: &Context<'_>) -> Poll<Result<Answer, ErrorKind>> {
        let stream = &mut self.streams[usize::from(id)];
        match &mut stream.waits {
            Waits::For(waker) => {
                match waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    None => *waker = Some(context.waker().clone()),
                }
                Poll::Pending
            }
            Waits::With(result) => {
                let result = *result;
                self.leave(id);
                Poll::Ready(result)
            }
            Waits::Nobody => unreachable!("a request is polled until it has ended, and no longer"),
        }
    }

    fn leave(&mut self, id: u16) {
        let stream = &mut self.streams[usize::from(id)];
        stream.waits = Waits::Nobody;
        if !stream.is_owed {
            self.free.push(id);
        }
    }

    /// Nobody waits for this request any more, which has not ended yet.
    pub(super) fn abandon(&mut self, id: u16) {
        if let Waits::For(_) = self.streams[usize::from(id)].waits {
            self.unlink(id);
        }
        self.leave(id);
    }

    /// When the oldest request that waits has waited long enough.
    pub(super) fn next_deadline_ns(&self) -> Option<u64> {
        self.streams.get(usize::from(self.oldest)).map(|stream| stream.deadline_ns)
    }

    /// Ends the wait of requests whose deadline has passed.
    pub(super) fn expire(&mut self, now_ns: u64) {
        while self.next_deadline_ns().is_some_and(|deadline_ns| deadline_ns <= now_ns) {
            self.end(self.oldest, Err(ErrorKind::ClientTimeout));
        }
    }

    /// The connection is gone: nothing will be answered any more.
    pub(super) fn close(&mut self) {
        while self.oldest != NONE {
            self.end(self.oldest, Err(ErrorKind::Connection));
        }
        for (id, stream) in (0u16..).zip(&mut self.streams) {
            if std::mem::take(&mut stream.is_owed) && matches!(stream.waits, Waits::Nobody) {
                self.free.push(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::task::{Context, Poll, Wake, Waker};

    use engine::ErrorKind;

    use super::{Answer, MOST, Streams};

    #[derive(Default)]
    struct Woken(AtomicU32);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// Polls, and says how often the waker was called since.
    fn poll(streams: &mut Streams, id: u16) -> Poll<Result<Answer, ErrorKind>> {
        streams.poll(id, &Context::from_waker(Waker::noop()))
    }

    #[test]
    fn an_answer_wakes_who_waits_and_frees_the_id() {
        let mut streams = Streams::new();
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let id = streams.take(10).unwrap();
        assert_eq!(streams.poll(id, &Context::from_waker(&waker)), Poll::Pending);
        assert!(streams.answered(id, Answer::Rows(1)));
        assert_eq!(woken.0.load(Relaxed), 1);
        assert_eq!(poll(&mut streams, id), Poll::Ready(Ok(Answer::Rows(1))));
        assert_eq!(streams.take(10), Some(id));
    }

    #[test]
    fn what_was_not_asked_is_not_answered() {
        let mut streams = Streams::new();
        assert!(!streams.answered(0, Answer::Done));
        let id = streams.take(10).unwrap();
        assert!(streams.answered(id, Answer::Done));
        assert!(!streams.answered(id, Answer::Done), "a second answer");
        assert!(!streams.answered(id + 1, Answer::Done));
    }

    #[test]
    fn requests_time_out_in_their_order_and_answered_ones_do_not() {
        let mut streams = Streams::new();
        let ids: Vec<u16> = (0..4).map(|n| streams.take(10 + n).unwrap()).collect();
        assert!(streams.answered(ids[1], Answer::Done));
        streams.expire(12);
        assert_eq!(streams.next_deadline_ns(), Some(13));
        let timeout = Poll::Ready(Err(ErrorKind::ClientTimeout));
        assert_eq!(poll(&mut streams, ids[0]), timeout);
        assert_eq!(poll(&mut streams, ids[1]), Poll::Ready(Ok(Answer::Done)));
        assert_eq!(poll(&mut streams, ids[2]), timeout);
        assert_eq!(poll(&mut streams, ids[3]), Poll::Pending);
    }

    #[test]
    fn the_id_of_a_timed_out_request_waits_for_its_answer() {
        let mut streams = Streams::new();
        let late = streams.take(1).unwrap();
        streams.expire(1);
        assert_eq!(poll(&mut streams, late), Poll::Ready(Err(ErrorKind::ClientTimeout)));
        assert_ne!(streams.take(2).unwrap(), late, "the server may still answer");
        assert!(streams.answered(late, Answer::Done));
        assert_eq!(streams.take(3), Some(late));
    }

    #[test]
    fn an_answer_between_a_timeout_and_its_notice_changes_nothing_but_frees_the_id() {
        let mut streams = Streams::new();
        let late = streams.take(1).unwrap();
        streams.expire(1);
        assert!(streams.answered(late, Answer::Done));
        assert_ne!(streams.take(2).unwrap(), late, "its result was not yet fetched");
        assert_eq!(poll(&mut streams, late), Poll::Ready(Err(ErrorKind::ClientTimeout)));
        assert_eq!(streams.take(3), Some(late));
    }

    #[test]
    fn an_abandoned_request_keeps_its_id_until_it_is_answered() {
        let mut streams = Streams::new();
        let id = streams.take(1).unwrap();
        streams.abandon(id);
        assert_eq!(streams.next_deadline_ns(), None);
        assert_ne!(streams.take(2).unwrap(), id);
        assert!(streams.answered(id, Answer::Done));
        assert_eq!(streams.take(3), Some(id));
    }

    #[test]
    fn there_are_as_many_ids_as_the_protocol_has() {
        let mut streams = Streams::new();
        let ids: std::collections::BTreeSet<u16> = std::iter::from_fn(|| streams.take(1)).collect();
        assert_eq!((ids.len(), ids.last()), (MOST, Some(&32_767)));
        assert!(streams.answered(77, Answer::Done));
        assert_eq!(streams.take(1), None, "its result was not yet fetched");
        assert!(poll(&mut streams, 77).is_ready());
        assert_eq!(streams.take(1), Some(77));
    }

    #[test]
    fn a_closed_connection_ends_all_that_wait_and_frees_all_ids() {
        let mut streams = Streams::new();
        let ids: Vec<u16> = (0..3).map(|_| streams.take(5).unwrap()).collect();
        streams.abandon(ids[1]);
        assert!(streams.answered(ids[2], Answer::Done));
        streams.close();
        assert_eq!(poll(&mut streams, ids[0]), Poll::Ready(Err(ErrorKind::Connection)));
        assert_eq!(poll(&mut streams, ids[2]), Poll::Ready(Ok(Answer::Done)), "it had come");
        let again: std::collections::BTreeSet<u16> = (0..3).map(|_| streams.take(9).unwrap()).collect();
        assert_eq!(again, ids.into_iter().collect());
        assert!(!streams.answered(3, Answer::Done));
    }
}
