//! What an agent says: a line of JSON, its seconds, samples and totals, histograms and pieces of logs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Event, Reply};

fuzz_target!(|bytes: &[u8]| {
    let mut from = bytes;
    while let Ok(Some(event)) = wire::read::<Event>(&mut from) {
        // As where it is received: what is refused there is used by nobody.
        if event.check().is_err() {
            return;
        }
        match event {
            Event::Piece(piece) => {
                for interval in &piece.intervals {
                    let _ = wire::from_wire(interval);
                }
            }
            // What is made of it then: a moment, and a sum of many.
            Event::Second(second) => {
                let moment = std::time::Duration::from_secs_f64((second.t_s + 1.0).max(0.0));
                assert!(moment.as_secs_f64() <= evidence::LONGEST_S + 1.0);
            }
            Event::Reply(Ok(Reply::Trial(result))) => {
                let all = result.result.completed.values().chain(result.result.errors.values());
                assert!(all.sum::<u64>() <= evidence::MOST_COUNTED);
            }
            Event::Reply(Ok(Reply::LogPiece(piece))) => drop(piece.bytes()),
            _ => {}
        }
    }
});
