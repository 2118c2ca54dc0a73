//! Settings of a configuration: what of its database and its volumes is otherwise than iopslab has them. They cost
//! nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

/// What of a configuration is otherwise than iopslab has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Settings {
    /// Of the database, by the sections of its product; none of them empty, so that what says the same is equal.
    #[serde(flatten, deserialize_with = "stated_alone")]
    pub sections: BTreeMap<String, Section>,
    /// Read-ahead of its volumes, KiB.
    pub read_ahead_kb: Option<u32>,
}

/// What is set in a section.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Section {
    /// Options of a command line, after iopslab's own.
    Options(Vec<String>),
    /// Keys with their values.
    Keys(BTreeMap<String, Setting>),
}

/// What a key is set to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// As the product's own files and statements have it.
    Value(String),
    /// Options of its own, such as those of a table's `compaction`.
    Map(BTreeMap<String, String>),
}

impl Section {
    /// The same with those of its keys, or options, alone that are asked for.
    #[must_use]
    pub fn only(&self, is_asked: impl Fn(&str) -> bool) -> Self {
        match self {
            Self::Options(options) => {
                Self::Options(options.iter().filter(|option| is_asked(option)).cloned().collect())
            }
            Self::Keys(keys) => {
                let asked = keys.iter().filter(|(key, _)| is_asked(key));
                Self::Keys(asked.map(|(key, setting)| (key.clone(), setting.clone())).collect())
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Options(options) => options.is_empty(),
            Self::Keys(keys) => keys.is_empty(),
        }
    }
}

/// Those of these sections in which something is stated.
fn stated(sections: impl IntoIterator<Item = (String, Section)>) -> BTreeMap<String, Section> {
    sections.into_iter().filter(|(_, section)| !section.is_empty()).collect()
}

fn stated_alone<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Section>, D::Error> {
    BTreeMap::<String, Section>::deserialize(from).map(stated)
}

impl Settings {
    /// What these sections state, and read-ahead, KiB.
    pub fn new(sections: impl IntoIterator<Item = (String, Section)>, read_ahead_kb: Option<u32>) -> Self {
        Self { sections: stated(sections), read_ahead_kb }
    }

    /// Whether everything is as iopslab has it.
    pub fn is_empty(&self) -> bool {
        self.read_ahead_kb.is_none() && self.sections.values().all(Section::is_empty)
    }

    /// The same with this section in place of what it states there.
    #[must_use]
    pub fn with(mut self, name: &str, section: Section) -> Self {
        match section.is_empty() {
            true => drop(self.sections.remove(name)),
            false => drop(self.sections.insert(name.to_owned(), section)),
        }
        self
    }

    /// The options of a section.
    pub fn options(&self, section: &str) -> &[String] {
        match self.sections.get(section) {
            Some(Section::Options(options)) => options,
            _ => &[],
        }
    }

    /// The keys of a section.
    pub fn keys(&self, section: &str) -> &BTreeMap<String, Setting> {
        static NONE: BTreeMap<String, Setting> = BTreeMap::new();
        match self.sections.get(section) {
            Some(Section::Keys(keys)) => keys,
            _ => &NONE,
        }
    }

    /// Each setting for people: `jvm -XX:TieredStopAtLevel=1`, `table compression = LZ4Compressor, chunk_length_in_kb
    /// 4`. Options come first.
    pub fn labels(&self) -> Vec<String> {
        let of = |(name, section): (&String, &Section)| -> Vec<String> {
            match section {
                Section::Options(options) => options.iter().map(|option| format!("{name} {option}")).collect(),
                Section::Keys(keys) => {
                    keys.iter().map(|(key, setting)| format!("{name} {key} = {}", setting.label())).collect()
                }
            }
        };
        let (options, keys): (Vec<_>, Vec<_>) =
            self.sections.iter().partition(|(_, section)| matches!(section, Section::Options(_)));
        let read_ahead = self.read_ahead_kb.iter().map(|kb| format!("host read_ahead_kb = {kb}"));
        options.into_iter().chain(keys).flat_map(of).chain(read_ahead).collect()
    }
}

impl Setting {
    /// Its one value; empty where it has options of its own.
    pub fn value(&self) -> &str {
        match self {
            Self::Value(value) => value,
            Self::Map(_) => "",
        }
    }

    /// For people: without quotes; of several options the class first.
    pub fn label(&self) -> String {
        let map = match self {
            Self::Value(value) => return value.trim_matches('"').to_owned(),
            Self::Map(map) => map,
        };
        let class = map.get("class").cloned();
        let others = map.iter().filter(|(key, _)| *key != "class");
        let others = others.map(|(key, value)| format!("{key} {value}"));
        class.into_iter().chain(others).collect::<Vec<_>>().join(", ")
    }
}

/// What of the settings was found in force in a node that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsInForce {
    /// Of the database, by the sections of its product: options that its process runs with, keys as the node shows
    /// them, or as its log or its schema does.
    #[serde(flatten)]
    pub sections: BTreeMap<String, Section>,
    /// What the data set's files say of themselves, where options of the table decide it: each once.
    pub files: Vec<String>,
    /// Read-ahead of each volume by its role, KiB, as its device says it.
    pub read_ahead_kb: BTreeMap<String, u32>,
}

impl SettingsInForce {
    /// Nobody knows of any.
    pub const NONE: Self = Self { sections: BTreeMap::new(), files: Vec::new(), read_ahead_kb: BTreeMap::new() };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_stored_by_their_sections_and_read_as_they_were() {
        let stored = "{\"jvm\":[\"-Xss1m\"],\"table\":{\"gc_grace_seconds\":\"0\",\"compaction\":{\"class\":\"X\"}},\
                      \"own\":{\"a\":\"\\\"10s\\\"\"},\"read_ahead_kb\":8}";
        let settings: Settings = serde_json::from_str(stored).expect("settings");
        let again = serde_json::to_string(&settings).expect("text");
        assert_eq!(serde_json::from_str::<Settings>(&again).expect("settings"), settings);
        let labels = [
            "jvm -Xss1m",
            "own a = 10s",
            "table compaction = X",
            "table gc_grace_seconds = 0",
            "host read_ahead_kb = 8",
        ];
        assert_eq!(settings.labels(), labels);
        assert!(!settings.is_empty());
        let none: Settings =
            serde_json::from_str("{\"jvm\":[],\"table\":{},\"read_ahead_kb\":null}").expect("settings");
        assert!(none.is_empty() && none.options("jvm").is_empty() && none.keys("else").is_empty());
    }

    /// However nothing is stated in a section, it is the same as no such section.
    #[test]
    fn settings_that_say_the_same_are_equal() {
        let none = Settings::default();
        let empty = || Section::Options(Vec::new());
        assert_eq!(serde_json::from_str::<Settings>("{\"jvm\":[],\"table\":{}}").expect("settings"), none);
        assert_eq!(Settings::new([("jvm".to_owned(), empty())], None), none);
        let one = none.clone().with("jvm", Section::Options(vec!["-Xss1m".to_owned()]));
        assert_ne!(one, none);
        assert_eq!(one.with("jvm", empty()), none);
        assert_eq!(serde_json::to_string(&none).expect("text"), "{\"read_ahead_kb\":null}");
    }
}
