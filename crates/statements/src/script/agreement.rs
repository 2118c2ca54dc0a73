//! Whether tables of a script are those of a schema that a server has written down.
//!
//! Cassandra writes a `schema.cql` beside each snapshot of a table (`SchemaCQLHelper`): the types that it uses, `CREATE
//! TABLE` with its identity and options, an `ALTER TABLE` for each column that was dropped, and its indexes. Files of a
//! snapshot are read by the schema that a run creates, so that the two have to have the same columns, types and keys.
//! Options (compaction, compression) may differ: a data set is compacted before it is kept, by those of the script.

use super::index;
use super::names::last_of_name;
use super::schema::{Creates, SchemaStatement, nesting, schema_of_server};
use super::tokens::{Kind, Token, tokens};
use crate::mistake::Mistake;

/// What a written-down schema says of the tables of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Tables of the script that it has.
    pub tables: Vec<String>,
    /// Indexes and views of these tables that the script does not create.
    pub left_out: Vec<String>,
    /// Where it is otherwise than the script, at its lines.
    pub disagreements: Vec<Mistake>,
}

/// What `schema`, the text of a `schema.cql`, says of tables and types that a script creates. All else in it is passed
/// over.
pub(super) fn agreement(script: &[SchemaStatement], schema: &str) -> Agreement {
    let all = match tokens(schema) {
        Ok(all) => all,
        Err(mistake) => return Agreement { disagreements: vec![mistake], ..Agreement::default() },
    };
    let all: Vec<Token<'_>> = all.into_iter().filter(|token| !token.is_comment()).collect();
    let own = |wanted: Creates, name: &str| script.iter().find(|own| own.creates == wanted && own.name == name);
    let mut agreement = Agreement::default();
    let mut altered: Vec<String> = Vec::new();
    for statement in all.split(|token| token.is_symbol(';')).filter(|statement| !statement.is_empty()) {
        let Some((creates, name)) = schema_of_server(statement) else { continue };
        let named = statement[name].name();
        match creates {
            Creates::Table | Creates::Type => {
                let Some(own) = own(creates, &named) else { continue };
                agreement.disagreements.extend(difference(statement, name, own));
                if creates == Creates::Table {
                    agreement.tables.push(named);
                }
            }
            Creates::Change => {
                if own(Creates::Table, &named).or_else(|| own(Creates::Type, &named)).is_none() {
                    continue;
                }
                let text = words(statement);
                if !changes(script).any(|own| words(&own.tokens()) == text) {
                    let message = format!(
                        "{named} was altered so, and is not in the script: the files have what came before; write its \
                         CREATE and ALTER there as they stand here"
                    );
                    agreement.disagreements.push(at(&statement[0], message));
                }
                altered.push(text);
            }
            Creates::Index | Creates::View => {
                let source = if creates == Creates::Index { "ON" } else { "FROM" };
                let Some(on) = statement.iter().position(|token| token.is(source)) else { continue };
                let table = last_of_name(statement, on + 1).map(|at| statement[at].name());
                let is_ours = table.is_some_and(|table| own(Creates::Table, &table).is_some());
                if is_ours && !script.iter().any(|own| is_index(own, statement)) {
                    agreement.left_out.push(named);
                }
            }
            Creates::Function | Creates::Aggregate => {}
        }
    }
    for own in changes(script).filter(|own| agreement.tables.contains(&own.name)) {
        if !altered.contains(&words(&own.tokens())) {
            let message = format!("the script has `{}`, which was not done here", own.text);
            agreement.disagreements.push(Mistake::new(1, 0..0, message));
        }
    }
    agreement.disagreements.sort_by_key(|mistake| mistake.line);
    agreement
}

fn changes(script: &[SchemaStatement]) -> impl Iterator<Item = &SchemaStatement> {
    script.iter().filter(|own| own.creates == Creates::Change)
}

/// Whether a statement of the script creates an index of the same kind of the same columns.
fn is_index(own: &SchemaStatement, theirs: &[Token<'_>]) -> bool {
    own.index() == Some(index::kind(theirs)) && indexed(&own.tokens()) == indexed(theirs)
}

/// What an index is of, in one spelling: the table and the columns.
fn indexed(tokens: &[Token<'_>]) -> String {
    let end = tokens.iter().position(|token| token.is_any(&["USING", "WITH"])).unwrap_or(tokens.len());
    let on = tokens[..end].iter().position(|token| token.is("ON")).map_or(end, |on| on + 1);
    words(&tokens[on..end])
}

fn at(token: &Token<'_>, message: String) -> Mistake {
    Mistake::new(token.line, token.span(), message)
}

/// A statement in one spelling: small letters, no keyspaces, one space between words.
fn words(tokens: &[Token<'_>]) -> String {
    let is_keyspace = |at: usize| tokens.get(at + 1).is_some_and(|dot| dot.is_symbol('.')) && tokens[at].is_name();
    let kept = (0..tokens.len()).filter(|at| !tokens[*at].is_symbol('.') && !is_keyspace(*at));
    kept.map(|at| spelled(&tokens[at])).collect::<Vec<_>>().join(" ")
}

/// A word as the server has it, one name for each type.
fn spelled(token: &Token<'_>) -> String {
    match token.kind {
        Kind::Word if token.is("VARCHAR") => "text".to_owned(),
        Kind::Word | Kind::Quoted => token.name(),
        _ => token.text.to_owned(),
    }
}

/// A column of a table, or a field of a type.
struct Member<'s, 't> {
    name: &'s Token<'t>,
    /// With `static` behind it.
    of: String,
}

/// What decides how files of a table are read.
struct Shape<'s, 't> {
    members: Vec<Member<'s, 't>>,
    /// What begins the key.
    key: Option<&'s Token<'t>>,
    partition: Vec<String>,
    /// Each with `desc` behind it where it is in that order.
    clustering: Vec<String>,
    is_compact: bool,
}

/// Words after which a column's type has ended.
const AFTER_TYPE: [&str; 4] = ["STATIC", "PRIMARY", "MASKED", "CHECK"];

impl<'s, 't> Shape<'s, 't> {
    /// Of a whole `CREATE`; what is after its name begins there.
    fn of(tokens: &'s [Token<'t>], after: usize) -> Self {
        let open = after + 1;
        let mut depth = 1_i32;
        let mut parts: Vec<&'s [Token<'t>]> = Vec::new();
        let (mut from, mut end) = (open, open);
        for (i, token) in tokens.iter().enumerate().skip(open) {
            depth += nesting(token);
            if depth == 0 || (depth == 1 && token.is_symbol(',')) {
                parts.push(&tokens[from..i]);
                from = i + 1;
            }
            end = i + 1;
            if depth == 0 {
                break;
            }
        }
        let behind = &tokens[end.min(tokens.len())..];
        let mut shape = Self {
            members: Vec::new(),
            key: None,
            partition: Vec::new(),
            clustering: Vec::new(),
            is_compact: behind.windows(2).any(|two| two[0].is("COMPACT") && two[1].is("STORAGE")),
        };
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            if part[0].is("PRIMARY") && part.get(1).is_some_and(|second| second.is("KEY")) {
                shape.takes_key(part);
                continue;
            }
            let is_after = |token: &Token<'_>| token.is_any(&AFTER_TYPE);
            let types = part.iter().skip(1).position(is_after).map_or(part.len(), |place| place + 1);
            let is_static = part[types..].iter().any(|token| token.is("STATIC"));
            let of = words(&part[1..types]) + if is_static { " static" } else { "" };
            if let Some(key) = part[types..].iter().find(|token| token.is("PRIMARY")) {
                shape.key = Some(key);
                shape.partition.push(part[0].name());
            }
            shape.members.push(Member { name: &part[0], of });
        }
        let order = behind.windows(2).position(|two| two[0].is("ORDER") && two[1].is("BY"));
        let order = order.map_or(&[][..], |place| &behind[place + 2..]);
        let order = order.split(|token| token.is_symbol(')')).next().unwrap_or_default();
        for two in order.windows(2).filter(|two| two[1].is("DESC")) {
            let name = two[0].name();
            shape.clustering.iter_mut().filter(|column| **column == name).for_each(|column| column.push_str(" desc"));
        }
        shape
    }

    /// `PRIMARY KEY (a, b)` or `PRIMARY KEY ((a, b), c)`.
    fn takes_key(&mut self, part: &'s [Token<'t>]) {
        self.key = Some(&part[0]);
        let mut depth = 0_i32;
        let is_composite = part.get(3).is_some_and(|token| token.is_symbol('('));
        for token in part.iter().skip(2) {
            depth += nesting(token);
            if !token.is_name() {
                continue;
            }
            let is_of_partition = if is_composite { depth == 2 } else { self.partition.is_empty() };
            match is_of_partition {
                true => self.partition.push(token.name()),
                false => self.clustering.push(token.name()),
            }
        }
    }

    fn member(&self, name: &str) -> Option<&Member<'s, 't>> {
        self.members.iter().find(|member| member.name.name() == name)
    }
}

/// Where a table or type is otherwise than the script has it; `name`: where its name stands.
fn difference(statement: &[Token<'_>], name: usize, own: &SchemaStatement) -> Vec<Mistake> {
    let own_tokens = own.tokens();
    let Some(own_name) = schema_of_server(&own_tokens).map(|(_, name)| name) else { return Vec::new() };
    let (theirs, ours) = (Shape::of(statement, name + 1), Shape::of(&own_tokens, own_name + 1));
    let (token, what) = (&statement[name], own.name.as_str());
    let mut found = Vec::new();
    for member in &theirs.members {
        let name = member.name.name();
        match ours.member(&name) {
            None => found.push(at(member.name, format!("{what} has no {name} in the script, line {}", own.line))),
            Some(other) if other.of != member.of => {
                let message = format!(
                    "{what}.{name} is {} here and {} in the script, line {}",
                    member.of,
                    other.of,
                    own.line + other.name.line - 1
                );
                found.push(at(member.name, message));
            }
            Some(_) => {}
        }
    }
    for member in ours.members.iter().filter(|member| theirs.member(&member.name.name()).is_none()) {
        let (name, line) = (member.name.name(), own.line + member.name.line - 1);
        found.push(at(token, format!("{what} has no {name} here, and in the script, line {line}, it has")));
    }
    let names = |shape: &Shape<'_, '_>| shape.members.iter().map(|member| member.name.name()).collect::<Vec<_>>();
    // Fields of a type lie in its values in their order.
    if found.is_empty() && own.creates == Creates::Type && names(&theirs) != names(&ours) {
        let message = format!("{what} has its fields in another order than in the script, line {}", own.line);
        found.push(at(token, message));
    }
    let key = |shape: &Shape<'_, '_>| format!("(({}), {})", shape.partition.join(", "), shape.clustering.join(", "));
    let (their_key, our_key) = (key(&theirs), key(&ours));
    if their_key != our_key {
        let message = format!("the key of {what} is {their_key} here and {our_key} in the script, line {}", own.line);
        found.push(at(theirs.key.unwrap_or(token), message));
    }
    if theirs.is_compact != ours.is_compact {
        let message = format!("{what} has COMPACT STORAGE in one of the two: here or in the script, line {}", own.line);
        found.push(at(token, message));
    }
    found
}
