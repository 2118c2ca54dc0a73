//! Room for what an agent has said and nobody has taken yet.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// So many bytes may be held at a time.
#[derive(Debug)]
pub(crate) struct Room {
    most: usize,
    held: Mutex<usize>,
    given_back: Condvar,
}

/// Room that is given back when this is dropped.
#[derive(Debug, Default)]
pub struct Held(Option<(Arc<Room>, usize)>);

impl Held {
    /// What needs none: said in this process, by what is called.
    pub const NONE: Self = Self(None);
}

impl Room {
    pub fn new(most: usize) -> Self {
        Self { most, held: Mutex::new(0), given_back: Condvar::new() }
    }

    /// Waits until there is room. What is larger than all of it has it for itself.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> Held {
        let bytes = bytes.min(self.most);
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |held: &mut usize| *held + bytes > self.most;
        let mut held = self.given_back.wait_while(held, full).unwrap_or_else(PoisonError::into_inner);
        *held += bytes;
        Held(Some((Arc::clone(self), bytes)))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some((room, bytes)) = self.0.take() {
            *room.held.lock().unwrap_or_else(PoisonError::into_inner) -= bytes;
            room.given_back.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn who_says_more_than_there_is_room_for_waits_until_it_is_heard() {
        let room = Arc::new(Room::new(10));
        let first = room.hold(6);
        let (to, from) = channel();
        let other = Arc::clone(&room);
        let speaker = std::thread::spawn(move || {
            for bytes in [4, 1_000, 1] {
                let _ = to.send(other.hold(bytes));
            }
        });
        let second = from.recv().unwrap();
        assert!(from.try_recv().is_err(), "a long one waits until all is free");
        drop(first);
        drop(second);
        let third = from.recv().unwrap();
        drop(third);
        drop(from.recv().unwrap());
        speaker.join().unwrap();
    }
}
