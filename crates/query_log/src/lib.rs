//! What was asked of a database, as it was recorded, without I/O: bytes in, records out.
//!
//! 1. [`Log`] takes the bytes of one file after another: JSON Lines ([`Log::read_json_lines`]), or a file of
//!    Cassandra's full query log ([`Log::read_full_query_log`]). What cannot be read is refused at its line or byte.
//! 2. [`Log::finish`] puts the requests into the order of their times. Each has its statement (a text with its levels),
//!    and its values as the protocol has them: they are sent again as they were.
//! 3. [`Log::summary`] says what was recorded, and where the recording seems to have holes ([`Gaps`]).
//! 4. [`keeps`] decides which partitions a model of 1:N has: rows and requests by the same function. [`Popularity`]
//!    says whether one of them is too hot for that.
//!
//! ```
//! let mut log = query_log::Log::default();
//! let line = r#"{"at": 5, "statement": "SELECT * FROM cart WHERE user = ?", "values": ["0x61"]}"#;
//! log.read_json_lines(line.as_bytes()).unwrap();
//! log.finish();
//! assert_eq!((log.requests().len(), log.requests()[0].at_us), (1, 5));
//! assert_eq!(log.values(&log.requests()[0]).next(), Some(query_log::Value::Bytes(b"a")));
//! ```

mod chronicle;
mod error;
mod full_query_log;
mod gaps;
mod json_lines;
mod log;
mod options;
mod thinning;
mod values;
mod wire;

pub use error::{At, LogError};
pub use gaps::Gaps;
pub use log::{Log, MOST_REQUESTS, MOST_TEXTS, MOST_VALUE_BYTES, RecordedStatement, Request, Summary};
pub use thinning::{Popularity, TooHot, keeps, partition};
pub use values::Value;
