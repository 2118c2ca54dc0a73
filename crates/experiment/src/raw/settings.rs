//! Settings of a configuration, and those for several.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;

use product::SectionKind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use toml::Value;

use super::instance::WeightingWord;
use crate::products::{section, sections};
use crate::spanned::Spanned;

/// Keys of somebody else, each with its place.
pub(crate) type Keys = BTreeMap<Spanned<String>, Spanned<Value, serde_json::Value>>;

/// A set of settings for all configurations, or for the named ones: each of them is measured with these settings too,
/// as a configuration of its own called `CONFIGURATION_VARIANT`. A version of the database is one of them.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variant {
    /// Unique name. Letters, digits, `-` and `_`.
    pub name: Spanned<String>,
    /// Names of the configurations that get it. Default: all.
    pub configurations: Option<Vec<Spanned<String>>>,
    /// What is otherwise. It comes after the configuration's own settings, and wins where both state the same.
    pub settings: Option<Spanned<Settings>>,
    /// Instead of the configuration's own.
    pub bandwidth_weighting: Option<Spanned<String, WeightingWord>>,
    /// Another version of the database, instead of the configuration's own.
    pub database: Option<Spanned<DatabaseVersion>>,
}

/// A database in a version.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseVersion {
    /// That of `[target]`: an experiment is about one. Default: it.
    pub name: Option<Spanned<String>>,
    /// For example `5.0.9`.
    pub version: Spanned<String>,
}

/// What of a configuration is otherwise than iopslab has it: sections of products, and of the machine `host`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// By their names, which are those of [`sections`].
    pub sections: BTreeMap<&'static str, Section>,
    /// Of the machine: `read_ahead_kb` of the configuration's volumes.
    pub host: Option<Keys>,
}

/// What a section states.
#[derive(Debug, Clone)]
pub(crate) enum Section {
    /// Options of a command line.
    Options(Vec<Spanned<String>>),
    /// Keys with their values.
    Keys(Keys),
}

/// The key of what is set of the machine.
const HOST: &str = "host";

impl Section {
    fn is_empty(&self) -> bool {
        match self {
            Self::Options(options) => options.is_empty(),
            Self::Keys(keys) => keys.is_empty(),
        }
    }
}

impl Settings {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.host.as_ref().is_none_or(Keys::is_empty) && self.sections.values().all(Section::is_empty)
    }

    /// The keys that a section states.
    pub fn keys(&self, section: &str) -> Option<&Keys> {
        match self.sections.get(section)? {
            Section::Keys(keys) => Some(keys),
            Section::Options(_) => None,
        }
    }

    /// What the sections state, without its places.
    pub fn stated(&self) -> toml::Table {
        let plain = |section: &Section| match section {
            Section::Options(options) => {
                Value::Array(options.iter().map(|option| Value::String(option.to_string())).collect())
            }
            Section::Keys(keys) => {
                Value::Table(keys.iter().map(|(key, value)| (key.to_string(), value.get_ref().clone())).collect())
            }
        };
        self.sections.iter().map(|(name, section)| ((*name).to_owned(), plain(section))).collect()
    }

    /// These settings with others after them, which win where both set the same.
    pub fn varied(self, over: &Self) -> Self {
        let keys = |mut own: Keys, over: &Keys| {
            // Of equal keys the map would keep the first one's place.
            own.retain(|key, _| !over.contains_key(key));
            own.extend(over.clone());
            own
        };
        let Self { mut sections, host } = self;
        for (name, over) in &over.sections {
            let both = match (sections.remove(name), over) {
                (Some(Section::Options(own)), Section::Options(over)) => {
                    let sets = |option: &str| match section(name).map(|section| section.kind) {
                        Some(SectionKind::Options(sets)) => sets(option),
                        _ => option.to_owned(),
                    };
                    let wins: BTreeSet<String> = over.iter().map(|option| sets(option)).collect();
                    let kept = own.into_iter().filter(|option| !wins.contains(&sets(option)));
                    Section::Options(kept.chain(over.iter().cloned()).collect())
                }
                (Some(Section::Keys(own)), Section::Keys(over)) => Section::Keys(keys(own, over)),
                (_, over) => over.clone(),
            };
            sections.insert(*name, both);
        }
        let host = match (host, &over.host) {
            (Some(own), Some(over)) => Some(keys(own, over)),
            (own, over) => over.clone().or(own),
        };
        Self { sections, host }
    }
}

/// Names of what can be set.
fn names() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| sections().into_iter().map(|section| section.name).chain([HOST]).collect())
}

/// A name of what can be set.
struct Name(&'static str);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = String::deserialize(from)?;
        let known = names().iter().find(|name| **name == given);
        known.map(|name| Self(name)).ok_or_else(|| serde::de::Error::unknown_field(&given, names()))
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_struct("Settings", names(), OfSections)
    }
}

struct OfSections;

impl<'de> Visitor<'de> for OfSections {
    type Value = Settings;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("struct Settings")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Settings, M::Error> {
        let mut settings = Settings::default();
        while let Some(Name(name)) = map.next_key()? {
            let stated = match section(name).map(|section| section.kind) {
                Some(SectionKind::Options(_)) => Section::Options(map.next_value()?),
                Some(SectionKind::Keys) => Section::Keys(map.next_value()?),
                None => {
                    settings.host = Some(map.next_value()?);
                    continue;
                }
            };
            settings.sections.insert(name, stated);
        }
        Ok(settings)
    }
}

impl JsonSchema for Settings {
    fn schema_name() -> Cow<'static, str> {
        "Settings".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = serde_json::Map::new();
        let mut add = |name: &str, mut schema: Schema, about: &str| {
            schema.insert("description".to_owned(), about.into());
            properties.insert(name.to_owned(), schema.to_value());
        };
        for section in sections() {
            let schema = match section.kind {
                SectionKind::Options(_) => generator.subschema_for::<Option<Vec<String>>>(),
                SectionKind::Keys => generator.subschema_for::<Option<Keys>>(),
            };
            add(section.name, schema, section.about);
        }
        let host = generator.subschema_for::<Option<Host>>();
        add(HOST, host, "Of the machine: `read_ahead_kb` of the configuration's volumes.");
        json_schema!({
            "type": "object",
            "additionalProperties": false,
            "properties": properties,
            "description": "What of a configuration is otherwise than iopslab has it.",
        })
    }
}

/// Settings of a machine.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes the keys for the schema; the check reads them with their places")]
pub(crate) struct Host {
    /// Read-ahead of the configuration's volumes, KiB: whole pages of 4.
    pub read_ahead_kb: Option<u32>,
}
