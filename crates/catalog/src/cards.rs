//! EBS cards: some instance types have several, each with an equal part of the path, and a volume is attached to one.
//!
//! EC2 User Guide, "EBS cards" (seen 2026-11-26): the performance of the instance is spread equally over its cards. EBS
//! User Guide, "Attach an Amazon EBS volume" (seen 2026-11-26): the root volume is on card 0, and so is every volume
//! for which nothing is stated; volumes are to be balanced over the cards by their performance.

use std::collections::BTreeMap;

use crate::IoLimits;
use crate::words::words;

words! {
    /// On which card volumes are.
    #[derive(Default)]
    pub enum CardPlacement by word {
        /// Over all of them, by what each volume can do: as AWS recommends.
        #[default]
        Spread = "spread",
        /// All on card 0: what AWS does where no card is stated.
        First = "first",
    }
}

impl CardPlacement {
    /// The card of each volume, from 0, in the order in which they are given. `shares`: of one card, what each volume
    /// can do (1: all of it). The next volume is put where least is so far.
    pub fn place(self, cards: u32, shares: impl IntoIterator<Item = f64>) -> Vec<u32> {
        let mut taken = vec![0.0; cards.max(1) as usize];
        let place = |share: f64| {
            let at = match self {
                Self::First => 0,
                // Of equal ones `min_by` has the first.
                Self::Spread => (0..taken.len()).min_by(|a, b| f64::total_cmp(&taken[*a], &taken[*b])).unwrap_or(0),
            };
            taken[at] += share;
            u32::try_from(at).unwrap_or_default()
        };
        shares.into_iter().map(place).collect()
    }
}

/// Of one card, what a volume can do by itself: of requests or of bytes, whichever is more; 1 where that is not known.
pub fn card_share(volume: &IoLimits, card: &IoLimits) -> f64 {
    let share = |own: Option<f64>, all: Option<f64>| Some(own? / all?);
    let requests = share(volume.read_iops, card.read_iops);
    let bytes = share(volume.read_bytes_per_s, card.read_bytes_per_s);
    requests.into_iter().chain(bytes).max_by(f64::total_cmp).unwrap_or(1.0)
}

/// What volumes do together of a ceiling that holds those of one card: each is given with its card (`None`: they share
/// the one path that there is).
pub fn through_cards(volumes: impl IntoIterator<Item = (Option<u32>, f64)>, ceiling: f64) -> f64 {
    let mut on_card: BTreeMap<Option<u32>, f64> = BTreeMap::new();
    for (card, figure) in volumes {
        *on_card.entry(card).or_default() += figure;
    }
    on_card.into_values().map(|figure| figure.min(ceiling)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_are_spread_by_what_they_can_do() {
        assert_eq!(CardPlacement::Spread.place(2, [0.3, 0.3, 0.3, 0.3]), [0, 1, 0, 1]);
        assert_eq!(CardPlacement::Spread.place(2, [0.9, 0.2, 0.2, 0.2]), [0, 1, 1, 1], "small ones beside each other");
        assert_eq!(CardPlacement::First.place(2, [0.3, 0.3]), [0, 0]);
        assert_eq!(CardPlacement::Spread.place(1, [0.3, 0.3]), [0, 0]);
        assert!(CardPlacement::Spread.place(2, []).is_empty());
    }

    #[test]
    fn volumes_of_one_card_stop_at_its_ceiling() {
        let (a, b) = (Some(0), Some(1));
        assert_eq!(through_cards([(a, 80.0), (a, 80.0)], 100.0), 100.0);
        assert_eq!(through_cards([(a, 80.0), (b, 80.0)], 100.0), 160.0);
        assert_eq!(through_cards([(a, 80.0), (b, 80.0), (a, 80.0)], 100.0), 180.0);
        assert_eq!(through_cards([(None, 80.0), (None, 10.0)], 100.0), 90.0);
    }
}
