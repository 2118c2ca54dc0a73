//! Statements that were recorded elsewhere, as statements of a load.

use super::directive::SerialConsistency;
use super::names;
use super::slots::{Slot, slots};
use super::statement::{Batch, Effect, Statement, batch, effect};
use super::tokens::{Kind, Token, tokens};

/// Most bytes of a name, so that a number may follow.
const NAME: usize = 36;

/// A recorded statement, as a replay sends it: its tables lie in the run's keyspace, its markers are `?`, and what
/// surrounds it (comments, a `;`) is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// What is sent.
    pub text: String,
    /// The keyspace that its names had.
    pub keyspace: Option<String>,
    /// The tables that it names, each once, as the server spells them.
    pub tables: Vec<String>,
    /// What it does.
    pub effect: Effect,
    batch: Option<Batch>,
    pub(super) slots: Vec<Slot>,
    names: Vec<usize>,
}

impl Recorded {
    /// A statement by its text; `None`: it is none of a load (`SELECT`, `INSERT`, `UPDATE`, `DELETE`, a batch), or its
    /// tables are of several keyspaces.
    pub fn read(text: &str) -> Option<Self> {
        let given = words(text)?;
        let (first, last) = (given.first()?, given.last()?);
        if !first.is_any(&["SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN"]) {
            return None;
        }
        let mut keyspaces: Vec<Option<String>> = Vec::new();
        let mut tables: Vec<String> = Vec::new();
        let mut sent = String::with_capacity(text.len());
        let (mut from, mut braces) = (first.at, 0_usize);
        for (i, token) in given.iter().enumerate() {
            let next = |ahead: usize| given.get(i + ahead);
            let is_named = |ahead: usize| next(ahead).is_some_and(Token::is_name);
            match token.kind {
                Kind::Symbol('{') => braces += 1,
                Kind::Symbol('}') => braces = braces.saturating_sub(1),
                // A marker's name is known to the client alone: values were recorded in the order of the markers.
                Kind::Symbol(':') if braces == 0 && is_named(1) => {
                    sent.push_str(&text[from..token.at]);
                    sent.push('?');
                    from = next(1)?.span().end;
                }
                Kind::Word if token.is_any(&["FROM", "INTO", "UPDATE"]) && is_named(1) => {
                    let mut table = next(1)?;
                    let mut keyspace = None;
                    if next(2).is_some_and(|dot| dot.is_symbol('.')) && is_named(3) {
                        keyspace = Some(table.name());
                        sent.push_str(&text[from..table.at]);
                        table = next(3)?;
                        from = table.at;
                    }
                    keyspaces.push(keyspace);
                    tables.push(table.name());
                }
                _ => {}
            }
        }
        sent.push_str(&text[from..last.span().end]);
        let keyspace = keyspaces.first()?.clone();
        if keyspaces.iter().any(|other| *other != keyspace) {
            return None;
        }
        tables.sort();
        tables.dedup();
        let of_sent = words(&sent)?;
        let (slots, names) = (slots(&of_sent).ok()?, names::tables(&of_sent, 0).ok()?);
        let (effect, batch) = (effect(&of_sent), batch(&of_sent));
        Some(Self { text: sent, keyspace, tables, effect, batch, slots, names })
    }

    /// What to call it, such as `select_carts`: not unique.
    pub fn name(&self) -> String {
        let verb = match self.batch {
            Some(_) => "batch",
            None => self.text.split_ascii_whitespace().next().unwrap_or_default(),
        };
        let table = match self.tables.as_slice() {
            [table] => format!("_{table}"),
            _ => String::new(),
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        format!("{verb}{table}").chars().map(plain).take(NAME).collect()
    }

    /// As a statement of a script, by a name that no other one has.
    pub fn statement(
        self,
        name: String,
        weight: f64,
        consistency: Option<String>,
        serial: Option<SerialConsistency>,
    ) -> Statement {
        let Self { text, effect, batch, slots, names, .. } = self;
        let serial = serial.filter(|_| effect == Effect::Conditional);
        let (line, span, sql) = (0, 0..0, None);
        Statement { name, line, span, text, weight, consistency, serial, effect, batch, slots, names, sql }
    }
}

/// The tokens of one statement without comments and a `;` at its end; `None`: it never ends, or is several.
pub(super) fn words(text: &str) -> Option<Vec<Token<'_>>> {
    let mut words: Vec<Token<'_>> = tokens(text).ok()?.into_iter().filter(|token| !token.is_comment()).collect();
    while words.last().is_some_and(|last| last.is_symbol(';')) {
        words.pop();
    }
    let is_batch = words.first().is_some_and(|first| first.is("BEGIN"));
    (is_batch || !words.iter().any(|word| word.is_symbol(';'))).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Recorded {
        Recorded::read(text).unwrap()
    }

    #[test]
    fn a_statement_leaves_its_keyspace_and_the_names_of_its_markers() {
        let read =
            read("/* app */ UPDATE \"Shop\".Carts SET note = {'a:b': ?}, n = :n WHERE shopper = :shopper IF n = 1;");
        assert_eq!(read.text, "UPDATE Carts SET note = {'a:b': ?}, n = ? WHERE shopper = ? IF n = 1");
        assert_eq!((read.keyspace.as_deref(), read.tables.as_slice()), (Some("Shop"), &["carts".to_owned()][..]));
        assert_eq!((read.name().as_str(), read.effect), ("update_carts", Effect::Conditional));
        let level = Some(SerialConsistency::LocalSerial);
        let statement = read.statement("update_carts_2".to_owned(), 3.0, Some("quorum".to_owned()), level);
        assert_eq!((statement.markers(), statement.serial), (3, level));
        let cql = "UPDATE ks.Carts SET note = {'a:b': ?}, n = ? WHERE shopper = ? IF n = 1";
        assert_eq!(statement.cql("ks"), cql);
    }

    #[test]
    fn a_batch_is_one_statement_of_all_its_tables() {
        let read = read("BEGIN UNLOGGED BATCH INSERT INTO b (k) VALUES (?); DELETE FROM a WHERE k = ?; APPLY BATCH;");
        assert_eq!((read.name().as_str(), read.tables.as_slice()), ("batch", &["a".to_owned(), "b".to_owned()][..]));
        let statement = read.statement("batch".to_owned(), 1.0, None, Some(SerialConsistency::Serial));
        assert_eq!((statement.batch, statement.serial), (Some(Batch::Unlogged), None));
        assert!(statement.cql("ks").contains("INTO ks.b (k)") && statement.cql("ks").contains("FROM ks.a WHERE"));
    }

    #[test]
    fn what_is_none_of_a_load_is_left_out() {
        for text in [
            "",
            "USE shop",
            "CREATE TABLE a (k int PRIMARY KEY)",
            "SELECT 'never ends",
            "SELECT * FROM a; SELECT * FROM b",
            "BEGIN BATCH INSERT INTO x.a (k) VALUES (1); INSERT INTO y.a (k) VALUES (1); APPLY BATCH",
        ] {
            assert_eq!(Recorded::read(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_plain_and_short() {
        let long = format!("SELECT * FROM {}", "x".repeat(60));
        assert_eq!(read(&long).name().len(), 36);
        assert_eq!(read("select * from \"A b\"").name(), "select_a_b");
    }
}
