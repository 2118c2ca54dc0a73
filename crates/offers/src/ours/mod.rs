//! What runs have made on AWS: found by its tag, and removed.
//!
//! ```text
//! account     an account, asked with credentials
//! removal     in the order in which EC2 lets go of things
//! listing     all pages of all kinds
//! runs        whose is what, and until when
//! thing       one thing with its tags, out of an answer
//! kind        what there is, and how EC2 calls it
//! ```

mod account;
mod kind;
mod listing;
mod removal;
mod resource;
mod runs;

pub use account::Account;
pub use kind::Kind;
pub use listing::Found;
pub use removal::{Patience, RemovalOutcome};
pub use resource::Resource;
pub use runs::{Lifetime, Run, Selection, runs};
