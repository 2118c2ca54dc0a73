//! Frames of CQL that a server sends, cut anywhere.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// The decoder alone, without the driver: it would compile for minutes.
#[allow(dead_code, unused_imports)]
#[path = "../../crates/database/src/frames"]
mod frames {
    mod decode;
    mod protocol;

    /// Takes all pieces in, up to the first that cannot be understood.
    pub fn understand<'a>(pieces: impl Iterator<Item = &'a [u8]>) {
        let mut incoming = decode::Incoming::new();
        for mut piece in pieces {
            while !piece.is_empty() {
                let space = incoming.space();
                let taken = space.len().min(piece.len());
                assert!(taken > 0, "there is always room for more");
                space[..taken].copy_from_slice(&piece[..taken]);
                incoming.filled(taken);
                piece = &piece[taken..];
                loop {
                    match incoming.next() {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(_) => return,
                    }
                }
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte says how the rest comes in pieces.
    let Some((cut, bytes)) = bytes.split_first() else { return };
    frames::understand(bytes.chunks(usize::from(*cut).max(1)));
});
