//! Looking at evidence several times, and being wrong no more often than was promised.
//!
//! Who looks after each block and stops once something is shown is wrong far more often than the level of one look. So
//! the looks are fixed beforehand, and the level is shared out over them: a comparison is judged at the share of the
//! look up to which it has evidence. By Bonferroni's inequality it is wrong at any look at all with no more than the
//! whole level, whatever its figures at several looks have in common, whatever rests meanwhile, and for whatever reason
//! nobody looks again. That asks for no normal distribution of looks together, as the boundaries of Pocock (Biometrika
//! 64, 1977) and of O'Brien and Fleming (Biometrics 35, 1979) do, and so holds for three trials as for many. It is
//! alpha spending (Lan and DeMets, Biometrika 70, 1983) at moments that are known.

use crate::contrast::REPETITIONS_MIN;

/// Blocks after which there is a first look, for what is beaten by far: nothing else is worth its small share.
const EARLY: u32 = 2;
/// Spent at the first look that may answer. A spread of few degrees of freedom makes small levels dear: of 6, half the
/// level widens an interval by an eighth, of 30 by a sixteenth. So much is spent where least is known, and where
/// stopping spares most.
const FIRST: f64 = 0.4;
/// Spent at the last of them: there an answer is had or not. What is left is the others', each the same.
const LAST: f64 = 0.4;
/// Blocks at a look / blocks at the look before: what came in between tells something.
const STEP: f64 = std::f64::consts::SQRT_2;

/// After which blocks the evidence is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looks {
    after: Vec<u32>,
}

impl Looks {
    /// Once, at the end, however many blocks that takes.
    pub const fn once() -> Self {
        Self { after: Vec::new() }
    }

    /// From the second block to the last one: after 2, 3, 4, 6, 8 and 12 where there are 12 at most. Where there are no
    /// more blocks than can be tested, once.
    pub fn up_to(most: u32) -> Self {
        let first = REPETITIONS_MIN as u32;
        let later = |after: u32| (f64::from(after) * STEP).round() as u32;
        let mut after = if first < most { vec![EARLY, first] } else { Vec::new() };
        // None is so close before the last one that it would tell nothing else.
        let mut next = later(first);
        while f64::from(next) * STEP <= f64::from(most) {
            after.push(next);
            next = later(next);
        }
        after.push(most);
        Self { after }
    }

    /// The first block after which the evidence is looked at; `None` where that is the end.
    pub fn first(&self) -> Option<u32> {
        self.after.first().copied()
    }

    /// The fewest pairs that are tested of evidence that ends with this block: two where the look after two blocks has
    /// a share of the level for them.
    pub fn pairs_min(&self, block: u32) -> u64 {
        if self.after.len() > 1 && block <= EARLY { u64::from(EARLY) } else { REPETITIONS_MIN }
    }

    /// Whether the evidence is looked at after this block.
    pub fn is_due(&self, block: u32) -> bool {
        self.after.contains(&block)
    }

    /// The share of the level at which something is judged whose evidence ends with this block.
    pub fn share(&self, block: u32) -> f64 {
        let looks = self.after.len();
        let look = self.after.iter().position(|after| block <= *after);
        match (looks, look) {
            (0 | 1, _) => 1.0,
            (_, Some(1)) => FIRST,
            (_, Some(look)) if look + 1 < looks => (1.0 - FIRST - LAST) / (looks as f64 - 2.0),
            _ => LAST,
        }
    }

    /// The share of the last look.
    pub fn last_share(&self) -> f64 {
        self.share(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_grow_apart_and_share_out_the_whole_level() {
        let after = |most: u32| (1..=most).filter(|block| Looks::up_to(most).is_due(*block)).collect::<Vec<_>>();
        assert_eq!(after(12), [2, 3, 4, 6, 8, 12]);
        assert_eq!(after(10), [2, 3, 4, 6, 10]);
        assert_eq!(after(20), [2, 3, 4, 6, 8, 11, 20]);
        assert_eq!((after(2), after(3), after(4)), (vec![2], vec![3], vec![2, 3, 4]));
        for most in 1..200 {
            let looks = Looks::up_to(most);
            let spent: f64 = after(most).into_iter().map(|block| looks.share(block)).sum();
            assert!((spent - 1.0).abs() < 1e-12, "{most}: {spent}");
        }
        assert_eq!((Looks::once().share(3), Looks::once().last_share()), (1.0, 1.0));
    }

    /// Two pairs are tested where a look has a share for them, and nowhere else: not the two of three blocks of which
    /// one trial was lost.
    #[test]
    fn two_pairs_are_tested_by_a_look_of_their_own() {
        for (looks, first, pairs_min) in [
            (Looks::up_to(12), Some(2), [2, 3]),
            (Looks::up_to(4), Some(2), [2, 3]),
            (Looks::up_to(3), Some(3), [3, 3]),
            (Looks::up_to(2), Some(2), [3, 3]),
            (Looks::once(), None, [3, 3]),
        ] {
            assert_eq!((looks.first(), [2, 3].map(|block| looks.pairs_min(block))), (first, pairs_min), "{looks:?}");
        }
    }

    /// Nobody gets a share twice: what has no new evidence is judged as before, and evidence that ends between two
    /// looks is first seen at the later one.
    #[test]
    fn evidence_is_judged_at_the_look_that_first_sees_it() {
        let looks = Looks::up_to(12);
        let of_others = (1.0 - FIRST - LAST) / 4.0;
        assert_eq!([1, 2, 3, 4].map(|block| looks.share(block)), [of_others, of_others, FIRST, of_others]);
        assert_eq!(looks.share(5), looks.share(6));
        assert_eq!([9, 12].map(|block| looks.share(block)), [LAST, LAST]);
        assert_eq!(looks.last_share(), LAST);
    }
}
