//! Words of instances.

use catalog::{BandwidthWeighting, CardPlacement};

use crate::words::words;

words! {
    /// On which EBS cards volumes are.
    pub(crate) enum CardWord {
        /// Over all of them.
        Spread = "spread",
        /// All on card 0.
        First = "first",
    }
}

words! {
    /// How an instance shares its bandwidth, in AWS's words.
    pub(crate) enum WeightingWord {
        /// As the type has it.
        Default = "default",
        /// More for its volumes.
        Ebs1 = "ebs-1",
    }
}

impl From<CardWord> for CardPlacement {
    fn from(word: CardWord) -> Self {
        match word {
            CardWord::Spread => Self::Spread,
            CardWord::First => Self::First,
        }
    }
}

impl From<WeightingWord> for BandwidthWeighting {
    fn from(word: WeightingWord) -> Self {
        match word {
            WeightingWord::Default => Self::Default,
            WeightingWord::Ebs1 => Self::Ebs1,
        }
    }
}
