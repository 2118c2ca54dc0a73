//! Messages that a PostgreSQL server sends, cut anywhere.
#![no_main]

use libfuzzer_sys::fuzz_target;

// The messages alone, without the connection and its drivers: they would compile for minutes.
#[allow(dead_code)]
#[path = "../../crates/database/src/postgresql/protocol/answers.rs"]
mod answers;

fuzz_target!(|bytes: &[u8]| {
    // The first byte says how the rest comes in pieces.
    let Some((cut, bytes)) = bytes.split_first() else { return };
    let mut incoming = answers::Incoming::new();
    for mut piece in bytes.chunks(usize::from(*cut).max(1)) {
        while !piece.is_empty() {
            let space = incoming.space();
            let taken = space.len().min(piece.len());
            assert!(taken > 0, "there is always room for more");
            space[..taken].copy_from_slice(&piece[..taken]);
            incoming.filled(taken);
            piece = &piece[taken..];
            loop {
                let message = match incoming.next() {
                    Ok(Some(message)) => message,
                    Ok(None) => break,
                    Err(_) => return,
                };
                let body = incoming.body(message);
                let _ = (answers::refused(body), answers::rows(body));
                let _ = (answers::columns(body), answers::authentication(body));
            }
        }
    }
});
