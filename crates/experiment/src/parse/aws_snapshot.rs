//! `snapshot` of `[provider.aws]` and its sites: data volumes that are made from a snapshot of EBS.

use super::only;
use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{AwsInitialisation, Configuration, VolumeKind, raw};

/// Digits of an id: AWS gives 17, and gave 8 before 2016 ("Resource IDs", Amazon EC2 User Guide).
const DIGITS: [usize; 2] = [8, 17];

/// A snapshot's id, as AWS writes it.
pub(super) fn id(given: &Spanned<String>, mistakes: &mut Collector<'_>) -> Option<String> {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let digits = given.strip_prefix("snap-");
    let is_sound = digits.is_some_and(|digits| DIGITS.contains(&digits.len()) && digits.chars().all(is_digit));
    if !is_sound {
        let help = "its id, such as snapshot = \"snap-0123456789abcdef0\"";
        mistakes.add(given.span(), format!("`{given}` is no snapshot of EBS"), help);
    }
    is_sound.then(|| given.get_ref().clone())
}

/// What reading the volumes takes; what a snapshot cannot be for is noted at its place.
pub(super) fn check(
    file: &raw::Experiment,
    given: &raw::Aws,
    configurations: &[Configuration],
    mistakes: &mut Collector<'_>,
) -> Vec<AwsInitialisation> {
    let of_sites = given.site.iter().map(|site| &site.snapshot);
    if !of_sites.chain([&given.snapshot]).any(Option::is_some) {
        return Vec::new();
    }
    if let Some(store) = &file.dataset.store {
        mistakes.add(
            store.span(),
            "[dataset.store] beside a snapshot: the data set is on the volume already",
            "leave out one of the two",
        );
    }
    let mut initialisations = Vec::new();
    for (raw, configuration) in only::with_raw(file, configurations) {
        if configuration.placement.is_cluster() {
            let message = format!(
                "`{}` has {} nodes, and a snapshot holds the data set of one",
                configuration.name, configuration.placement.nodes
            );
            mistakes.add(
                raw.name.span(),
                message,
                "new machines have other addresses, at which nodes do not take up what they had: leave out snapshot",
            );
        }
        let volume = &configuration.data_volume;
        match &volume.order {
            Some(order) => initialisations.push(AwsInitialisation {
                configuration: configuration.name.clone(),
                size_gib: order.size_gib.ceil() as u32,
                mib_per_s: volume.effective_limits.read_bytes_per_s.map(|bytes| bytes / catalog::MIB),
            }),
            None if volume.kind == VolumeKind::Local => mistakes.add(
                raw.data_volume.span(),
                format!(
                    "`{}` has its data on the instance's own disks, which cannot be made from a snapshot",
                    configuration.name
                ),
                "leave out snapshot, and the data set is loaded everywhere; \
                 or measure this configuration in a run of its own",
            ),
            // Refused where machines are chosen.
            None => {}
        }
    }
    initialisations
}
