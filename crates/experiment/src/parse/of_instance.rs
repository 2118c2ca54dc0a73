//! What a configuration states of its instance beside the type (EBS cards, bandwidth weighting), and which volumes it
//! takes.

use catalog::{BandwidthWeighting, CardPlacement, InstanceType, NotAttached, VolumeType};
use toml::Value;

use crate::EbsCards;
use crate::mistakes::Collector;
use crate::raw::{self, CardWord, WeightingWord};
use crate::spanned::Spanned;

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

/// The type with the path that volumes of its configuration have; volumes that it is not known to take are a mistake.
pub(super) fn with_volumes(
    known: &InstanceType,
    raw: &raw::Configuration,
    mistakes: &mut Collector<'_>,
) -> Option<InstanceType> {
    match known.with_volumes(&kinds(raw)) {
        Ok(found) => Some(found),
        Err(error) => {
            let help = format!("what it takes: iopslab catalog show {}", known.name);
            mistakes.refuse(raw.instance.span(), error.to_string(), help)
        }
    }
}

/// Volumes that no machine has together, beside one that is given by its size.
pub(super) fn not_together(raw: &raw::Configuration, mistakes: &mut Collector<'_>) -> Option<()> {
    match NotAttached::together(&kinds(raw)) {
        Some(error) => mistakes.refuse(raw.instance.span(), error.to_string(), "leave the other one out"),
        None => Some(()),
    }
}

fn kinds(raw: &raw::Configuration) -> Vec<VolumeType> {
    let volumes = std::iter::once(&raw.data_volume).chain(&raw.commitlog_volume);
    volumes.flat_map(|volume| kinds_of(volume.get_ref())).collect()
}

/// The type of each volume. A type that there is not, or a number that is none, is noted where the volume is read.
fn kinds_of(volume: &Value) -> Vec<VolumeType> {
    let kind = volume.get("type").and_then(Value::as_str).and_then(|name| name.parse::<VolumeType>().ok());
    let count = volume.get("count").and_then(Value::as_integer).unwrap_or(1);
    kind.map(|kind| vec![kind; count.clamp(1, 8) as usize]).unwrap_or_default()
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
