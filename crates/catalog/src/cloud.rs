//! Whose machine types and volumes are known.

use crate::words::words;

/// The region whose prices the program's own tables hold.
pub const REGION: &str = "us-east-1";

words! {
    /// Who offers a machine type or a type of volume.
    pub enum Cloud by prefix {
        /// Amazon Web Services: its types go by their own names.
        Aws = "aws",
        /// Google Cloud: `gcp:n2-standard-16`.
        Google = "gcp",
        /// Microsoft Azure: `azure:Standard_E16ds_v5`.
        Azure = "azure",
    }
}

impl Cloud {
    /// Who offers the machine type of this name.
    pub fn of(instance: &str) -> Self {
        let prefix = instance.split_once(':').map(|(prefix, _)| prefix);
        let named = |cloud: &Self| prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(cloud.prefix()));
        [Self::Google, Self::Azure].into_iter().find(named).unwrap_or(Self::Aws)
    }

    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Aws => "AWS",
            Self::Google => "Google Cloud",
            Self::Azure => "Azure",
        }
    }

    /// The region whose prices are meant by `asked`: of AWS's region of the built-in prices, this cloud's own such one.
    pub fn region(self, asked: &str) -> &str {
        match self {
            Self::Google if asked == REGION => "us-central1",
            Self::Azure if asked == REGION => "eastus",
            _ => asked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whose_it_is() {
        for (name, cloud) in [
            ("r4.4xlarge", Cloud::Aws),
            ("acme.db40", Cloud::Aws),
            ("gcp:n2-standard-16", Cloud::Google),
            ("Azure:Standard_E16ds_v5", Cloud::Azure),
            ("oci:VM.Standard3", Cloud::Aws),
        ] {
            assert_eq!(Cloud::of(name), cloud, "{name}");
        }
    }

    #[test]
    fn the_usual_region_is_each_clouds_own_and_another_is_meant_as_it_is() {
        assert_eq!(Cloud::ALL.map(|cloud| cloud.region("us-east-1")), ["us-east-1", "us-central1", "eastus"]);
        assert_eq!(Cloud::Google.region("europe-west4"), "europe-west4");
    }
}
