//! Where Terraform keeps its state, if not in the run directory.

use experiment::AwsBackend;

/// One state in a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// Terraform's name of the type.
    kind: &'static str,
    config: Vec<(&'static str, String)>,
    /// For people.
    address: String,
}

impl Backend {
    /// The state under this key, such as `run/batch-1`.
    pub fn of(settings: &AwsBackend, key: &str) -> Self {
        match settings {
            AwsBackend::S3 { bucket, region, prefix, profile, use_lockfile, use_path_style } => {
                let prefix = prefix.as_deref().filter(|prefix| !prefix.is_empty());
                let key =
                    prefix.map_or_else(|| key.to_owned(), |prefix| format!("{prefix}/{key}")) + "/terraform.tfstate";
                let address = format!("s3://{bucket}/{key}");
                let mut config = vec![("bucket", bucket.clone()), ("key", key), ("region", region.clone())];
                config.extend(profile.clone().map(|profile| ("profile", profile)));
                config.extend(use_lockfile.map(|flag| ("use_lockfile", flag.to_string())));
                config.extend(use_path_style.map(|flag| ("use_path_style", flag.to_string())));
                Self { kind: "s3", config, address }
            }
            AwsBackend::Local { path } => {
                let path = format!("{}/{key}/terraform.tfstate", path.trim_end_matches('/'));
                Self { kind: "local", config: vec![("path", path.clone())], address: path }
            }
        }
    }

    /// What has the modules take it: a file beside them.
    pub(super) fn file(&self) -> serde_json::Value {
        serde_json::json!({ "terraform": { "backend": { self.kind: {} } } })
    }

    /// Arguments of `terraform init`.
    pub(super) fn arguments(&self) -> Vec<String> {
        // A directory may know another state of this run: that of another site.
        let mut arguments = vec!["-reconfigure".to_owned()];
        let config = self.config.iter();
        arguments.extend(config.map(|(key, value)| format!("-backend-config={key}={value}")));
        arguments
    }

    /// For people.
    pub(super) fn address(&self) -> &str {
        &self.address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_a_key_of_its_own_below_what_the_user_says() {
        let mut settings = AwsBackend::S3 {
            bucket: "states".to_owned(),
            region: "eu-west-1".to_owned(),
            prefix: Some("lab".to_owned()),
            profile: None,
            use_lockfile: Some(true),
            use_path_style: None,
        };
        let of = |settings: &AwsBackend| Backend::of(settings, "r-1/batch-2");
        assert_eq!(of(&settings).address(), "s3://states/lab/r-1/batch-2/terraform.tfstate");
        assert_eq!(
            of(&settings).arguments(),
            [
                "-reconfigure",
                "-backend-config=bucket=states",
                "-backend-config=key=lab/r-1/batch-2/terraform.tfstate",
                "-backend-config=region=eu-west-1",
                "-backend-config=use_lockfile=true"
            ]
        );
        if let AwsBackend::S3 { prefix, .. } = &mut settings {
            *prefix = None;
        }
        assert_eq!(of(&settings).address(), "s3://states/r-1/batch-2/terraform.tfstate");
        let path = "/srv/states/".to_owned();
        assert_eq!(of(&AwsBackend::Local { path }).address(), "/srv/states/r-1/batch-2/terraform.tfstate");
    }
}
