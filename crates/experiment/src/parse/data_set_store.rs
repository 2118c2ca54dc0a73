//! `[dataset.store]`: where data sets are kept.

use toml::Spanned;

use super::aws_sites::word;
use crate::mistakes::Collector;
use crate::{DataSetPlace, DataSetStore, raw};

const S3: &str = "s3://";

/// The store; what is wrong with it is noted at its place, and there is none then.
pub(super) fn check(file: &raw::Experiment, mistakes: &mut Collector<'_>) -> Option<Option<DataSetStore>> {
    let Some(given) = &file.dataset.get_ref().store else {
        return Some(None);
    };
    if file.has_existing_cluster() {
        mistakes.add(
            given.span(),
            "[dataset.store] is for databases that iopslab starts: a data set is not restored into a cluster that exists",
            "leave it out; what is in the cluster already is not loaded again",
        );
        return None;
    }
    let store = given.get_ref();
    let at = store.at.get_ref();
    let place = match at.strip_prefix(S3) {
        Some(rest) => of_s3(given, rest, mistakes),
        None if at.starts_with('/') => {
            let of_s3 = [("region", &store.region), ("profile", &store.profile)];
            let stray = of_s3
                .into_iter()
                .filter_map(|(key, value)| Some((key, value.as_ref()?)));
            let mut is_sound = true;
            for (key, value) in stray {
                mistakes.add(value.span(), format!("a directory has no {key}"), "leave it out");
                is_sound = false;
            }
            is_sound.then(|| DataSetPlace::Directory {
                path: at.trim_end_matches('/').to_owned(),
            })
        }
        None => {
            mistakes.add(
                store.at.span(),
                format!("`{at}` is neither a bucket nor an absolute directory"),
                "at = \"s3://BUCKET/PREFIX\", or a directory of the database hosts: at = \"/mnt/data-sets\"",
            );
            None
        }
    };
    Some(Some(DataSetStore {
        place: place?,
        keep: store.keep.unwrap_or(false),
    }))
}

fn of_s3(given: &Spanned<raw::DataSetStore>, rest: &str, mistakes: &mut Collector<'_>) -> Option<DataSetPlace> {
    let store = given.get_ref();
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
            store.at.span(),
            format!("`{S3}{rest}` is no bucket with a prefix"),
            "s3://BUCKET/PREFIX: a bucket has 3 to 63 of a-z, 0-9, - and .; a prefix letters, digits, -, _, . and /",
        );
    }
    let region = match &store.region {
        Some(region) => word(region, "region", mistakes),
        None => {
            mistakes.add(
                store.at.span(),
                "a bucket needs its region",
                "region = \"eu-central-1\"",
            );
            None
        }
    };
    let profile = match &store.profile {
        Some(profile) => word(profile, "profile", mistakes).map(Some),
        None => Some(None),
    };
    let (region, profile) = (region?, profile?);
    is_sound.then(|| DataSetPlace::S3 {
        bucket: bucket.to_owned(),
        prefix: prefix.to_owned(),
        region,
        profile,
    })
}
