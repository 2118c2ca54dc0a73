//! What the answers of `iopslab catalog` share: the version of their documents, and what is said of an unknown name.

use ::catalog::Catalog;

use crate::failure::Failure;

/// Of the JSON documents of `catalog caps` and `catalog cost`.
pub(super) const FORMAT_VERSION: u32 = 1;

/// Exit 2 for a name that is none, with names like it.
pub(super) fn unknown(what: &str, name: &str, near: &[&str]) -> Failure {
    let help = match near {
        [] => "see: iopslab catalog list".to_owned(),
        near => format!("nearest: {}", near.join(", ")),
    };
    Failure::input(format!("unknown {what} `{name}`")).help(help)
}

pub(super) fn unknown_instance(catalog: &Catalog, name: &str) -> Failure {
    unknown("instance type", name, &catalog.nearest_instances(name))
}
