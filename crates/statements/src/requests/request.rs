//! One request.

use super::shared::Claim;
use crate::values::{Values, component};

/// One request. Filled again it takes no memory once it has been filled with as much.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Which statement of the script, from 0.
    pub statement: usize,
    /// One for each of its markers.
    pub values: Values,
    /// Whether every partition and row that it asks for was loaded or has been written since. It may have been deleted,
    /// or have expired.
    pub exists: bool,
    routing_key: Vec<u8>,
    has_routing_key: bool,
    pub(super) claims: Vec<Claim>,
}

impl Request {
    /// The partition key as its token is computed from it (see [`crate::TableRows::routing_key`]); `None` where the
    /// statement does not bind a whole one: a range of tokens, a list of keys in one marker, an index, a key in the
    /// text.
    pub fn routing_key(&self) -> Option<&[u8]> {
        self.has_routing_key.then_some(&self.routing_key)
    }

    pub(super) fn begin(&mut self, statement: usize) {
        self.statement = statement;
        self.values.clear();
        self.claims.clear();
        self.exists = true;
        self.has_routing_key = false;
    }

    /// Takes the routing key from the values of these markers.
    pub(super) fn route(&mut self, markers: &[usize]) {
        self.routing_key.clear();
        self.has_routing_key = true;
        for marker in markers {
            let value = self.values.get(*marker).unwrap_or_default();
            if markers.len() == 1 {
                self.routing_key.extend_from_slice(value);
            } else {
                component(&mut self.routing_key, |out| out.extend_from_slice(value));
            }
        }
    }
}
