//! The products that an experiment can be about: named here, and nowhere else in this crate.

use std::collections::BTreeMap;

/// Whether a version of Cassandra has SAI, and why a table of a CQL file may not have an option.
pub(crate) use cassandra_model::{has_attached_indexes, kept_table_option};
use product::{Product, Settings, SettingsSection, ShapesFiles, choice};
use serde::{Deserialize, Serialize};

/// All products. The first is that of a file that names none; a cluster that exists speaks its protocol then.
pub static PRODUCTS: [&Product; 2] = [&cassandra_model::CASSANDRA, &postgresql_model::POSTGRESQL];

/// Whether its tables are compressed with these settings.
pub(crate) fn is_compressed(product: &Product, settings: &Settings) -> bool {
    *product == cassandra_model::CASSANDRA && cassandra_model::is_compressed(settings)
}

/// A product in a version, started by iopslab. In files `{"cassandra": {"version": "5.0.9"}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, Version>", into = "BTreeMap<String, Version>")]
pub struct Started {
    /// The product.
    pub product: &'static Product,
    /// For example `5.0.9`.
    pub version: String,
}

#[derive(Serialize, Deserialize)]
struct Version {
    version: String,
}

impl TryFrom<BTreeMap<String, Version>> for Started {
    type Error = String;

    fn try_from(stored: BTreeMap<String, Version>) -> Result<Self, String> {
        let (name, Version { version }) = stored.into_iter().next().ok_or("no database")?;
        Ok(Self { product: product_named(&name)?, version })
    }
}

impl From<Started> for BTreeMap<String, Version> {
    fn from(Started { product, version }: Started) -> Self {
        [(product.name.to_owned(), Version { version })].into()
    }
}

/// The versions of a database in their order, each once, where configurations have these of their own and else the
/// usual one.
pub fn versions<'v>(usual: &'v str, own: impl Iterator<Item = &'v Option<String>>) -> Vec<&'v str> {
    let mut all = Vec::new();
    for version in own.map(|own| own.as_deref().unwrap_or(usual)) {
        if !all.contains(&version) {
            all.push(version);
        }
    }
    all
}

/// The product of this name. Errors: there is none, with those that there are.
pub fn product_named(name: &str) -> Result<&'static Product, String> {
    let found = PRODUCTS.into_iter().find(|product| product.name == name);
    found.ok_or_else(|| format!("unknown database `{name}` ({})", choice(name, &PRODUCTS.map(|product| product.name))))
}

/// A product as its name, for serde's `with`.
#[expect(missing_docs, clippy::missing_errors_doc, reason = "what serde asks for")]
pub mod product_name {
    use product::Product;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::products::product_named;

    pub fn serialize<S: Serializer>(product: &&'static Product, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(product.name)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Product, D::Error> {
        product_named(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// The sections of settings of all products, each name once.
pub(crate) fn sections() -> Vec<&'static SettingsSection> {
    let mut all: Vec<&'static SettingsSection> = Vec::new();
    for section in PRODUCTS.iter().flat_map(|product| product.sections) {
        if !all.iter().any(|other| other.name == section.name) {
            all.push(section);
        }
    }
    all
}

/// The section of this name, whatever product it is of.
pub(crate) fn section(name: &str) -> Option<&'static SettingsSection> {
    PRODUCTS.iter().find_map(|product| product.section(name))
}

/// Those settings that decide what is in the files of a data set: configurations that differ in none of them share it.
pub(crate) fn of_files(settings: &Settings) -> Settings {
    let of = |(name, given): (&String, &product::Section)| {
        let kept = match section(name).map_or(ShapesFiles::None, |section| section.shapes_files) {
            ShapesFiles::All => given.clone(),
            ShapesFiles::Keys(shape) => given.only(|key| shape.contains(&key)),
            ShapesFiles::None => given.only(|_| false),
        };
        (name.clone(), kept)
    };
    Settings::new(settings.sections.iter().map(of), None)
}
