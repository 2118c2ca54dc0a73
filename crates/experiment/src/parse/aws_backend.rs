//! `backend` of `[provider.aws]`: where Terraform keeps its state.

use super::aws_sites::word;
use crate::mistakes::Collector;
use crate::spanned::{Spanned, place};
use crate::{AwsBackend, raw};

/// The backend; what is wrong with it is noted at its place, and there is none then.
pub(super) fn check(given: &Spanned<raw::AwsBackend>, mistakes: &mut Collector<'_>) -> Option<AwsBackend> {
    let no_key = |kind: &'static str| move |key: &str| format!("a backend of the type {kind} has no {key}");
    match given.kind.as_str() {
        "s3" => {
            mistakes.stray([("path", place(&given.path))], no_key("s3"), "leave it out");
            for (key, is_missing) in [("bucket", given.bucket.is_none()), ("region", given.region.is_none())] {
                if is_missing {
                    let message = format!("a backend of the type s3 needs {key}");
                    mistakes.add(given.span(), message, "bucket and region, of a bucket that exists");
                }
            }
            let mut word = |given: &Option<Spanned<String>>, key| word(given.as_ref()?, key, mistakes);
            let (bucket, region) = (word(&given.bucket, "bucket"), word(&given.region, "region"));
            let prefix = word(&given.prefix, "prefix");
            Some(AwsBackend::S3 {
                profile: word(&given.profile, "profile"),
                bucket: bucket?,
                region: region?,
                prefix: prefix.map(|prefix| prefix.trim_matches('/').to_owned()),
                use_lockfile: given.use_lockfile.as_deref().copied(),
                use_path_style: given.use_path_style.as_deref().copied(),
            })
        }
        "local" => {
            let of_s3 = [
                ("bucket", place(&given.bucket)),
                ("region", place(&given.region)),
                ("prefix", place(&given.prefix)),
                ("profile", place(&given.profile)),
                ("use_lockfile", place(&given.use_lockfile)),
                ("use_path_style", place(&given.use_path_style)),
            ];
            mistakes.stray(of_s3, no_key("local"), "leave it out");
            let path = given.path.as_deref().filter(|path| path.starts_with('/')).cloned();
            if path.is_none() {
                let at = place(&given.path).unwrap_or(given.span());
                let message = "a backend of the type local needs path, an absolute one";
                let help = "path = \"/srv/states\"; or no backend: states lie in the run directory";
                mistakes.add(at, message, help);
            }
            Some(AwsBackend::Local { path: path? })
        }
        other => {
            // Those that were tried.
            let help = "valid: s3, local; without a backend the state lies in the run directory";
            let message =
                format!("the backend `{other}` was never tried with iopslab, and a lost state loses machines");
            mistakes.refuse(given.kind.span(), message, help)
        }
    }
}
