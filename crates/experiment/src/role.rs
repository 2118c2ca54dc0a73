//! What a host of a run is for.

use crate::words::words;

words! {
    /// What a host is for, by its name in arguments, file names and messages.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum Role {
        /// Owns volumes and a node of the database.
        Database = "database",
        /// Has a node of the caches in front of the database, where these have machines of their own.
        Cache = "cache",
        /// Makes the load.
        Client = "client",
    }
}
