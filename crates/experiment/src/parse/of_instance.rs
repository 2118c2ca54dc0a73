//! What a configuration states of its instance beside the type: EBS cards and bandwidth weighting.

use catalog::{BandwidthWeighting, InstanceType};

use crate::EbsCards;
use crate::mistakes::Collector;
use crate::raw::{self, CardWord, WeightingWord};
use crate::spanned::Spanned;
use catalog::CardPlacement;

/// The type with its bandwidth weighted as stated.
pub(super) fn weighted(
    known: &InstanceType,
    stated: Option<&Spanned<String, WeightingWord>>,
    mistakes: &mut Collector<'_>,
) -> Option<InstanceType> {
    let Some(given) = stated else { return Some(known.clone()) };
    let word: WeightingWord = mistakes.word(given, "bandwidth_weighting cannot be")?;
    match known.weighted(word.into()) {
        Ok(weighted) => Some(weighted),
        Err(error) => {
            mistakes.add(given.span(), error.to_string(), "leave it out, or name a type of one of these families");
            None
        }
    }
}

/// The weighting that is not the type's own; a word that is none has been noted by [`weighted`].
pub(super) fn other_weighting(stated: Option<&Spanned<String, WeightingWord>>) -> Option<BandwidthWeighting> {
    stated.is_some_and(|given| given.as_str() == WeightingWord::Ebs1.name()).then_some(BandwidthWeighting::Ebs1)
}

/// The EBS cards of a type that has several; `None`: a mistake was noted.
pub(super) fn cards(
    known: &InstanceType,
    stated: Option<&Spanned<String, CardWord>>,
    mistakes: &mut Collector<'_>,
) -> Option<Option<EbsCards>> {
    let count = known.ebs_cards();
    let placement = match stated {
        None => CardPlacement::default(),
        Some(given) => {
            let word: CardWord = mistakes.word(given, "ebs_cards cannot be")?;
            if count < 2 {
                let message = format!("{} has one EBS card: there is nothing to choose", known.name);
                mistakes.add(given.span(), message, "leave ebs_cards out");
                return None;
            }
            word.into()
        }
    };
    Some((count > 1).then_some(EbsCards { count, placement }))
}

/// An instance that is given by its size has neither; `None`: a mistake was noted.
pub(super) fn none_of_a_size(raw: &raw::Configuration, mistakes: &mut Collector<'_>) -> Option<()> {
    let cards = raw.ebs_cards.as_ref().map(|given| ("ebs_cards", given.span()));
    let weighting = raw.bandwidth_weighting.as_ref().map(|given| ("bandwidth_weighting", given.span()));
    let stated: Vec<_> = cards.into_iter().chain(weighting).collect();
    for (key, span) in &stated {
        let message = format!("{key} is of an instance type of AWS, and this instance is given by its size");
        mistakes.add(span.clone(), message, "name a type, such as r8gb.48xlarge, or leave it out");
    }
    stated.is_empty().then_some(())
}
