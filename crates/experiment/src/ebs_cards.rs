//! EBS cards of an instance type that has several.

use catalog::CardPlacement;
use serde::{Deserialize, Serialize};

/// EBS cards of an instance type that has several: each lets an equal part of the path through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EbsCards {
    /// How many, 2 or more.
    pub count: u32,
    /// On which of them volumes are.
    pub placement: CardPlacement,
}
