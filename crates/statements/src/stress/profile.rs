//! From a user profile of cassandra-stress (`cassandra-stress user profile=FILE`) to schema, data and statements.
//!
//! Source: Apache Cassandra 5.0, `StressYaml.java` and `StressProfile.java`. How often what runs is on the command line
//! of cassandra-stress (`ops(insert=1,simple1=9)`), and so are the partitions where the profile leaves them at 100
//! billion, and how requests choose among them (`-pop`).

use super::clusters::rows;
use super::converted::Converted;
use super::definition::{Defined, Definition, Kind, definition, unqualified};
use super::distribution::distribution;
use super::operation::{Operation, stress_statement};
use super::reading::Reading;
use super::yaml::{Entry, Node, parse};
use crate::cql::quoted;
use crate::data::{Generator, Population, Size, TableData};
use crate::mistake::Mistake;
use crate::script::Script;
use workload::Distribution;

/// A profile, converted.
#[derive(Debug, Clone, PartialEq)]
pub struct StressProfile {
    /// Its schema, and the operations that are asked. Lines and places are those of the profile; all weights are 1.
    pub script: Script,
    /// What is in its table. Requests choose partitions uniformly.
    pub table: TableData,
    /// What of the profile is done otherwise here.
    pub notes: Vec<String>,
}

/// Bytes by which keys of text differ here.
const KEY_BYTES: u64 = 16;
/// cassandra-stress's size of text that has none (`uniform(4..8)`).
const USUAL_SIZE: Size = Size::Uniform { min: 4, max: 8 };
/// Keys that a profile may have.
const KEYS: [&str; 8] = [
    "keyspace",
    "keyspace_definition",
    "table",
    "table_definition",
    "extra_definitions",
    "columnspec",
    "insert",
    "queries",
];

/// The names of a profile's operations: `insert`, which each has, and its queries; or why it is no YAML of a profile.
pub fn stress_operations(text: &str) -> Result<Vec<String>, Mistake> {
    Ok(operations(&parse(text)?))
}

/// Converts a profile, or reports the lines that are not supported.
///
/// `asked`: the operations that become statements, by their names in the profile; they are called as
/// [`stress_statement`] says. `partitions`: how many there are; `None`: as many as the partition key's `population`
/// says. `levels`: the words that a consistency may be.
pub fn parse_stress(
    text: &str,
    asked: &[&str],
    partitions: Option<u64>,
    levels: &[&str],
) -> Result<StressProfile, Vec<Mistake>> {
    let root = parse(text).map_err(|mistake| vec![mistake])?;
    let mut reading = Reading::new(text);
    match reading.profile(&root, asked, partitions, levels) {
        Some((converted, table)) if reading.mistakes.is_empty() => {
            Ok(StressProfile { script: converted.script(text, levels)?, table, notes: reading.notes })
        }
        _ => Err(reading.mistakes),
    }
}

fn entry<'a>(root: &'a Node, key: &str) -> Option<&'a Entry> {
    root.entries().iter().find(|entry| entry.key == key)
}

fn operations(root: &Node) -> Vec<String> {
    let queries = entry(root, "queries").map(|entry| entry.value.entries()).unwrap_or_default();
    let queries = queries.iter().map(|query| query.key.clone()).filter(|name| name != "insert");
    std::iter::once("insert".to_owned()).chain(queries).collect()
}

/// What `columnspec` says of a column.
#[derive(Debug, Default)]
struct Spec {
    name: String,
    size: Option<Size>,
    population: Option<Size>,
    cluster: Option<Size>,
}

impl Reading<'_> {
    fn profile(
        &mut self,
        root: &Node,
        asked: &[&str],
        partitions: Option<u64>,
        levels: &[&str],
    ) -> Option<(Converted, TableData)> {
        self.keys(root);
        let text_of = |key: &str| entry(root, key).and_then(|entry| entry.value.text()).unwrap_or_default();
        let (keyspace, table) = (text_of("keyspace").to_ascii_lowercase(), text_of("table").to_ascii_lowercase());
        let Some(defined_at) = entry(root, "table_definition") else {
            return self.refuse(1, "the profile has no table_definition");
        };
        if table.is_empty() {
            self.refuse::<()>(1, "the profile has no table: it names the one that table_definition creates");
        }
        let create = unqualified(defined_at.value.text().unwrap_or_default(), &keyspace);
        let create = self.sound(defined_at.line, create)?;
        let defined = self.sound(defined_at.line, definition(&create))?;
        let mut converted = Converted::default();
        converted.push(defined_at.line, &format!("{create};"));
        self.extra_definitions(entry(root, "extra_definitions"), &keyspace, &mut converted);
        let specs = entry(root, "columnspec").map(|entry| self.specs(entry, &defined)).unwrap_or_default();
        let data = self.data(&table, &defined, &specs, partitions, defined_at.line)?;

        let names = operations(root);
        for name in asked.iter().filter(|name| !names.iter().any(|other| other == *name)) {
            let message = format!("{name} is asked, which the profile has not: it has {}", names.join(", "));
            self.refuse::<()>(1, message);
        }
        let mut all: Vec<Operation> = Vec::new();
        if asked.contains(&"insert") {
            let at = (entry(root, "insert"), defined_at.line);
            all.extend(self.insert(at, &quoted(&table), &defined, &data.rows));
        }
        for query in entry(root, "queries").map(|entry| entry.value.entries()).unwrap_or_default() {
            if query.key == "insert" {
                self.refuse::<()>(query.line, "a query cannot be called insert: that is what writes rows");
            } else if asked.contains(&query.key.as_str()) {
                all.extend(self.query(query, &keyspace, levels));
            }
        }
        if all.is_empty() && self.mistakes.is_empty() {
            return self.refuse(1, format!("no operation is asked: the profile has {}", names.join(", ")));
        }
        for Operation { name, line, text_line, levels, text } in all {
            let statement = stress_statement(&name);
            converted.push(line, &format!("-- statement {statement} weight 1{levels}"));
            converted.push(text_line, &format!("{text};"));
            if statement != name {
                self.notes.push(format!("{name} is reported as {statement}"));
            }
        }
        Some((converted, data))
    }

    /// The keys of the whole file.
    fn keys(&mut self, root: &Node) {
        for Entry { key, line, .. } in root.entries() {
            match key.as_str() {
                "keyspace_definition" => {
                    let note = "keyspace_definition is not executed: the run has a keyspace of its own";
                    self.notes.push(note.to_owned());
                }
                // A name for cassandra-stress's report.
                "specname" => {}
                known if KEYS.contains(&known) => {}
                other => {
                    self.refuse::<()>(*line, format!("{other} is not supported"));
                }
            }
        }
    }

    fn extra_definitions(&mut self, given: Option<&Entry>, keyspace: &str, converted: &mut Converted) {
        let Some(Entry { line, value, .. }) = given else { return };
        let Node::List(extra) = value else {
            self.refuse::<()>(*line, "extra_definitions is a list of statements: `- CREATE ...`");
            return;
        };
        for one in extra {
            let one = unqualified(one.text().unwrap_or_default(), keyspace);
            if let Some(one) = self.sound(*line, one) {
                converted.push(*line, &format!("{one};"));
            }
        }
    }

    fn specs(&mut self, given: &Entry, defined: &Definition) -> Vec<Spec> {
        let Node::List(items) = &given.value else {
            self.refuse::<()>(given.line, "columnspec is a list of columns: `- name: COLUMN`");
            return Vec::new();
        };
        let mut specs = Vec::new();
        for item in items {
            let mut spec = Spec::default();
            for Entry { key, line, value } in item.entries() {
                let value = value.text().unwrap_or_default();
                match key.as_str() {
                    "name" => {
                        spec.name = value.to_ascii_lowercase();
                        if !defined.columns.iter().any(|column| column.name == spec.name) {
                            self.refuse::<()>(*line, format!("the table has no column {value}"));
                        }
                    }
                    "size" => spec.size = self.sound(*line, distribution(value)),
                    "population" => spec.population = self.sound(*line, distribution(value)),
                    "cluster" => spec.cluster = self.sound(*line, distribution(value)),
                    other => {
                        self.refuse::<()>(*line, format!("{other} of a column is not supported"));
                    }
                }
            }
            if spec.name.is_empty() {
                self.refuse::<()>(given.line, "an item of columnspec has no name");
            }
            specs.push(spec);
        }
        specs
    }

    /// What is in the table.
    fn data(
        &mut self,
        table: &str,
        defined: &Definition,
        specs: &[Spec],
        partitions: Option<u64>,
        line: usize,
    ) -> Option<TableData> {
        let of = |name: &String| specs.iter().find(|spec| spec.name == *name);
        let populations = defined.partition_key.iter().map(|name| of(name)?.population.as_ref());
        let stated = populations.map(|size| size.map(|size| size.max() - size.min() + 1));
        let stated = stated.reduce(|all, one| Some(all?.saturating_mul(one?))).flatten();
        let Some(partitions) = partitions.or(stated) else {
            let message =
                "the population of the whole partition key is not stated: state how many partitions the table has";
            return self.refuse(line, message);
        };
        let mut data = TableData::new(table, partitions);
        data.population = Population::Of(Distribution::Uniform);
        let clusters: Vec<&Size> = defined.clustering.iter().filter_map(|name| of(name)?.cluster.as_ref()).collect();
        data.rows = rows(&clusters);
        if clusters.iter().filter(|size| size.max() > 1).count() > 1 {
            self.notes.push("each row has values of its own in all clustering columns".to_owned());
        }
        for Defined { name, kind } in &defined.columns {
            let spec = of(name);
            let is_partition = defined.partition_key.contains(name);
            let size = spec.and_then(|spec| spec.size.clone());
            let generator = match kind {
                Kind::Text => {
                    let size = size.unwrap_or(USUAL_SIZE);
                    let is_key = is_partition || defined.clustering.contains(name);
                    let length = if is_key { self.key_length(name, size) } else { size };
                    Some(Generator::Bytes { length, compressibility: 0.0 })
                }
                Kind::Collection => size.map(|size| Generator::Collection { size, element: None, key: None }),
                Kind::Counter | Kind::Other => None,
            };
            data.columns.extend(generator.map(|generator| (name.clone(), generator)));
            match spec.and_then(|spec| spec.population.as_ref()) {
                Some(_) if !is_partition => {
                    self.notes.push(format!("{name}: its population is not followed: its values hardly repeat"));
                }
                Some(Size::Histogram { .. }) => {
                    let note = "its population says how many partitions there are, not how often each is asked for";
                    self.notes.push(format!("{name}: {note}"));
                }
                _ => {}
            }
        }
        Some(data)
    }

    /// The length of a key of text: at least as many bytes as keys differ by.
    fn key_length(&mut self, name: &str, size: Size) -> Size {
        if size.min() >= KEY_BYTES {
            return size;
        }
        self.notes.push(format!("{name}: keys of text have at least {KEY_BYTES} bytes"));
        match size {
            Size::Histogram { sizes } => Size::Histogram {
                sizes: sizes.into_iter().map(|(size, weight)| (size.max(KEY_BYTES), weight)).collect(),
            },
            other => Size::Uniform { min: KEY_BYTES, max: other.max().max(KEY_BYTES) },
        }
    }
}
