//! Tables, columns, types and bind markers, as the server describes them. A table of SQL is one of these, too: of its
//! primary key the first column is the partition key and the others are clustering columns; where it is one column, all
//! others are static (their partition is their row), and without a key its rows are numbered all the same.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A type of CQL.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are CQL's own")]
pub enum CqlType {
    Ascii,
    BigInt,
    Blob,
    Boolean,
    Counter,
    Date,
    Decimal,
    Double,
    Duration,
    Float,
    Inet,
    Int,
    SmallInt,
    Text,
    Time,
    Timestamp,
    TimeUuid,
    TinyInt,
    Uuid,
    VarInt,
    List(Box<CqlType>),
    Set(Box<CqlType>),
    Map(Box<CqlType>, Box<CqlType>),
    Tuple(Vec<CqlType>),
    /// A user-defined type with its fields in order.
    Udt {
        name: String,
        fields: Vec<(String, CqlType)>,
    },
    Vector {
        element: Box<CqlType>,
        dimensions: u16,
    },
}

/// In CQL's words: `map<text, int>`.
impl fmt::Display for CqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Ascii => "ascii",
            Self::BigInt => "bigint",
            Self::Blob => "blob",
            Self::Boolean => "boolean",
            Self::Counter => "counter",
            Self::Date => "date",
            Self::Decimal => "decimal",
            Self::Double => "double",
            Self::Duration => "duration",
            Self::Float => "float",
            Self::Inet => "inet",
            Self::Int => "int",
            Self::SmallInt => "smallint",
            Self::Text => "text",
            Self::Time => "time",
            Self::Timestamp => "timestamp",
            Self::TimeUuid => "timeuuid",
            Self::TinyInt => "tinyint",
            Self::Uuid => "uuid",
            Self::VarInt => "varint",
            Self::Udt { name, .. } => name,
            Self::List(element) => return write!(f, "list<{element}>"),
            Self::Set(element) => return write!(f, "set<{element}>"),
            Self::Map(key, value) => return write!(f, "map<{key}, {value}>"),
            Self::Vector { element, dimensions } => return write!(f, "vector<{element}, {dimensions}>"),
            Self::Tuple(fields) => {
                let fields: Vec<String> = fields.iter().map(ToString::to_string).collect();
                return write!(f, "tuple<{}>", fields.join(", "));
            }
        };
        f.write_str(word)
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// As the server spells it: without quotes.
    pub name: String,
    /// Its type.
    pub cql_type: CqlType,
}

impl Column {
    /// A column of this name and type.
    pub fn new(name: &str, cql_type: CqlType) -> Self {
        Self { name: name.to_owned(), cql_type }
    }
}

/// A table or a materialised view.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Table {
    /// Without its keyspace.
    pub name: String,
    /// Of a materialised view: the table whose rows it shows. A view is not loaded; requests to it ask for rows of that
    /// table.
    pub view_of: Option<String>,
    /// In the order of the key; at least one, but for a table of SQL without a primary key.
    pub partition_key: Vec<Column>,
    /// In the order of the key.
    pub clustering: Vec<Column>,
    /// Static columns.
    pub statics: Vec<Column>,
    /// All others.
    pub regular: Vec<Column>,
}

impl Table {
    /// Whether its columns beside the key are counters.
    pub fn is_counters(&self) -> bool {
        self.statics.iter().chain(&self.regular).any(|column| column.cql_type == CqlType::Counter)
    }
}

/// A bind marker of a prepared statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// As the server names it: a column, or `[limit]`, `[ttl]`, `in(key)` and the like.
    pub name: String,
    /// The type of its value.
    pub cql_type: CqlType,
    /// The table or view that the server names for it.
    pub table: String,
}

/// A name as it stands in CQL, whatever its case and even if it is a keyword.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
