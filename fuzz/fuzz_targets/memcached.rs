//! What whoever listens at the address of a cache answers, in memcached's text protocol.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tokio::io::{join, sink};
use tokio::runtime::Builder;

// Connection and record alone, without the database and its drivers: they would compile for minutes.
#[allow(dead_code)]
#[path = "../../crates/database/src/memcached/protocol.rs"]
mod protocol;
#[allow(dead_code)]
#[path = "../../crates/database/src/memcached/record.rs"]
mod record;

fuzz_target!(|bytes: &[u8]| {
    // The first byte says what was asked.
    let Some((asked, answers)) = bytes.split_first() else { return };
    let runtime = Builder::new_current_thread().build().expect("a runtime without I/O needs nothing of the system");
    runtime.block_on(async {
        let mut node = protocol::Connection::over(join(answers, sink()));
        match asked {
            b'g' => {
                while let Ok(Some(item)) = node.get("user1").await {
                    let _ = record::decode(&item, 2);
                }
            }
            b's' => while node.stats().await.is_ok() {},
            b'p' => while node.set("user1", b"item", 0).await.is_ok() {},
            _ => while node.delete("user1").await.is_ok() {},
        }
    });
});
