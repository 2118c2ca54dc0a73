//! Which kind of index a statement of the schema makes.

use super::schema::{Creates, SchemaStatement};
use super::tokens::{Kind, Token};

/// Names of SAI after `USING`, in small letters (`IndexMetadata.indexNameAliases`, and its class).
const ATTACHED: [&str; 3] = ["sai", "storageattachedindex", "org.apache.cassandra.index.sai.storageattachedindex"];
/// That of indexes in a hidden table (`CassandraIndex.NAME`).
const HIDDEN_TABLE: &str = "legacy_local_table";

/// Where an index of CQL keeps what it knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexKind {
    /// In a hidden table of each node: what `CREATE INDEX` makes without `USING`, unless settings of the node say
    /// otherwise.
    HiddenTable,
    /// In files beside those of each SSTable (SAI).
    Attached,
    /// Where this class keeps it.
    Other(String),
}

impl SchemaStatement {
    /// The kind of the index of CQL that it creates; `None`: it creates none.
    pub fn index(&self) -> Option<IndexKind> {
        (self.creates == Creates::Index && !self.is_sql).then(|| kind(&self.tokens()))
    }
}

/// That of the index which a statement creates; `tokens` are without comments.
pub(super) fn kind(tokens: &[Token<'_>]) -> IndexKind {
    let using = tokens.iter().position(|token| token.is("USING"));
    let class = using.and_then(|using| tokens.get(using + 1)).filter(|class| class.kind == Kind::Text);
    let Some(class) = class.map(|class| class.text.trim_matches(['\'', '$'])) else { return IndexKind::HiddenTable };
    match class.to_ascii_lowercase().as_str() {
        HIDDEN_TABLE => IndexKind::HiddenTable,
        small if ATTACHED.contains(&small) => IndexKind::Attached,
        _ => IndexKind::Other(class.to_owned()),
    }
}
