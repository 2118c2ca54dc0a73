//! Volumes of the model as files of this machine.
//!
//! One process ([`run()`], started by [`Server::start`]) answers the kernel's FUSE requests for any number of volumes.
//! Each is one regular file, which is its own mount point; a loop device on that file is the volume. A request's
//! backing I/O is done at its arrival, directly on the image; the answer is given when the model says that it is due,
//! or later if the host's disk has not done it by then, which is counted.
//!
//! The process must never wait for what it serves itself: it opens nothing below its volumes, its memory is locked, and
//! it is marked as a flusher of I/O, so that reclaim does not wait for it.

mod block;
mod channel;
mod error;
mod fuse;
mod orders;
mod page;
mod run;
mod server;
mod workers;

pub use channel::available;
pub use error::{Result, ServedError};
pub use orders::{Counts, Hardening, Order, Reply};
pub use run::run;
pub use server::Server;
