//! `[dataset.store]`: where data sets are kept.

use super::aws_sites::word;
use crate::mistakes::Collector;
use crate::spanned::{Spanned, place};
use crate::{DataSetPlace, DataSetStore, raw};

pub(super) const S3: &str = "s3://";

/// The store; what is wrong with it is noted at its place, and there is none then.
pub(super) fn check(file: &raw::Experiment, mistakes: &mut Collector<'_>) -> Option<Option<DataSetStore>> {
    let Some(given) = &file.dataset.store else { return Some(None) };
    if file.has_existing_cluster() {
        return mistakes.refuse(
            given.span(),
            "[dataset.store] is for databases that iopslab starts: a data set is not restored into a cluster that \
             exists",
            "leave it out; what is in the cluster already is not loaded again",
        );
    }
    let place = match given.at.strip_prefix(S3) {
        Some(rest) => of_s3((&given.at, rest), (&given.region, &given.profile), mistakes),
        None if given.at.starts_with('/') => mistakes.sound(|mistakes| {
            let of_s3 = [("region", place(&given.region)), ("profile", place(&given.profile))];
            mistakes.stray(of_s3, |key| format!("a directory has no {key}"), "leave it out");
            DataSetPlace::Directory { path: given.at.trim_end_matches('/').to_owned() }
        }),
        None => {
            let message = format!("`{}` is neither a bucket nor an absolute directory", given.at);
            let help = "at = \"s3://BUCKET/PREFIX\", or a directory of the database hosts: at = \"/mnt/data-sets\"";
            mistakes.refuse(given.at.span(), message, help)
        }
    };
    Some(Some(DataSetStore { place: place?, keep: given.keep.unwrap_or(false) }))
}

/// A bucket that is stated as `at`, which goes on with `rest` behind its scheme.
pub(super) fn of_s3(
    (at, rest): (&Spanned<String>, &str),
    (region, profile): (&Option<Spanned<String>>, &Option<Spanned<String>>),
    mistakes: &mut Collector<'_>,
) -> Option<DataSetPlace> {
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let prefix = prefix.trim_matches('/');
    // Source: "General purpose bucket naming rules" and "Naming Amazon S3 objects" (safe characters), Amazon S3 User
    // Guide.
    let of_bucket = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let of_prefix = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/');
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    let is_sound = (3..=63).contains(&bucket.len())
        && bucket.chars().all(of_bucket)
        && prefix.chars().all(of_prefix)
        && (prefix.is_empty() || prefix.split('/').all(is_plain));
    if !is_sound {
        mistakes.add(
            at.span(),
            format!("`{S3}{rest}` is no bucket with a prefix"),
            "s3://BUCKET/PREFIX: a bucket has 3 to 63 of a-z, 0-9, - and .; a prefix letters, digits, -, _, . and /",
        );
    }
    if region.is_none() {
        let help = "region = \"eu-central-1\"";
        mistakes.add(at.span(), "a bucket needs its region", help);
    }
    let mut word = |given: &Option<Spanned<String>>, key| word(given.as_ref()?, key, mistakes);
    let (region, profile) = (word(region, "region"), word(profile, "profile"));
    let region = region?;
    is_sound.then(|| DataSetPlace::S3 { bucket: bucket.to_owned(), prefix: prefix.to_owned(), region, profile })
}
