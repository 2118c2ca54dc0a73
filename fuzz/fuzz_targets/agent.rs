//! What an agent says: a line of JSON, its histograms and pieces of logs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Event, Reply};

fuzz_target!(|bytes: &[u8]| {
    let mut from = bytes;
    while let Ok(Some(event)) = wire::read::<Event>(&mut from) {
        match event {
            Event::Piece(piece) => {
                for interval in &piece.intervals {
                    let _ = wire::from_wire(interval);
                }
            }
            Event::Reply(Ok(Reply::LogPiece(piece))) => drop(piece.bytes()),
            _ => {}
        }
    }
});
