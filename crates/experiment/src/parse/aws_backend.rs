//! `backend` of `[provider.aws]`: where Terraform keeps its state.

use std::ops::Range;

use toml::Spanned;

use super::aws_sites::word;
use crate::mistakes::Collector;
use crate::{AwsBackend, raw};

/// Those that were tried.
const TYPES: [&str; 2] = ["s3", "local"];

/// The backend; what is wrong with it is noted at its place, and there is none then.
pub(super) fn check(given: &Spanned<raw::AwsBackend>, mistakes: &mut Collector<'_>) -> Option<AwsBackend> {
    let backend = given.get_ref();
    let at = |text: &Option<Spanned<String>>| text.as_ref().map(Spanned::span);
    let flag = |flag: &Option<Spanned<bool>>| flag.as_ref().map(Spanned::span);
    let of_s3 = [
        ("bucket", at(&backend.bucket)),
        ("region", at(&backend.region)),
        ("prefix", at(&backend.prefix)),
        ("profile", at(&backend.profile)),
        ("use_lockfile", flag(&backend.use_lockfile)),
        ("use_path_style", flag(&backend.use_path_style)),
    ];
    match backend.kind.get_ref().as_str() {
        "s3" => {
            refuse(&[("path", at(&backend.path))], "s3", mistakes);
            let mut needed = |text: &Option<Spanned<String>>, key: &str| match text {
                Some(text) => word(text, key, mistakes),
                None => {
                    let message = format!("a backend of the type s3 needs {key}");
                    mistakes.add(given.span(), message, "bucket and region, of a bucket that exists");
                    None
                }
            };
            let (bucket, region) = (needed(&backend.bucket, "bucket"), needed(&backend.region, "region"));
            let mut optional = |text: &Option<Spanned<String>>, key: &str| match text {
                Some(text) => word(text, key, mistakes).map(Some),
                None => Some(None),
            };
            let prefix = optional(&backend.prefix, "prefix");
            let profile = optional(&backend.profile, "profile");
            Some(AwsBackend::S3 {
                bucket: bucket?,
                region: region?,
                prefix: prefix?.map(|prefix| prefix.trim_matches('/').to_owned()),
                profile: profile?,
                use_lockfile: backend.use_lockfile.as_ref().map(|flag| *flag.get_ref()),
                use_path_style: backend.use_path_style.as_ref().map(|flag| *flag.get_ref()),
            })
        }
        "local" => {
            refuse(&of_s3, "local", mistakes);
            match &backend.path {
                Some(path) if path.get_ref().starts_with('/') => Some(AwsBackend::Local {
                    path: path.get_ref().clone(),
                }),
                other => {
                    let at = other.as_ref().map_or(given.span(), Spanned::span);
                    let message = "a backend of the type local needs path, an absolute one";
                    mistakes.add(
                        at,
                        message,
                        "path = \"/srv/states\"; or no backend: states lie in the run directory",
                    );
                    None
                }
            }
        }
        other => {
            let help = format!(
                "valid: {}; without a backend the state lies in the run directory",
                TYPES.join(", ")
            );
            let message =
                format!("the backend `{other}` was never tried with iopslab, and a lost state loses machines");
            mistakes.add(backend.kind.span(), message, help);
            None
        }
    }
}

/// Keys of another type.
fn refuse(keys: &[(&str, Option<Range<usize>>)], kind: &str, mistakes: &mut Collector<'_>) {
    for (key, at) in keys {
        if let Some(at) = at {
            let message = format!("a backend of the type {kind} has no {key}");
            mistakes.add(at.clone(), message, "leave it out");
        }
    }
}
