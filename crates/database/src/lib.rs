//! Databases under test: where their software comes from, how a node is started, settled, watched and stopped, and the
//! client that sends the engine's requests. One module per database.

pub mod cassandra;
