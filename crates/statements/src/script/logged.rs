//! Statements of a log, as a file of statements can have them: without keyspace, comments and values, and with what
//! each marker is of. Which columns a table has, and of which types, is not known here.

use super::asked::{Asked, inserted, markers};
use super::literals::without_values;
use super::recorded::Recorded;
use super::slots::{Clause, Operator, Slot};
use super::statement::Effect;
use super::tokens::{Kind, Token, tokens};

/// A statement of a log. Nothing in it is a value that somebody gave, but numbers after `LIMIT` and `TTL`.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    /// What to call it, such as `select_carts`: not unique.
    pub name: String,
    /// What is sent, with `?` for each value.
    pub text: String,
    /// The keyspace that its names had.
    pub keyspace: Option<String>,
    /// The tables that it names, each once, as the server spells them.
    pub tables: Vec<String>,
    /// The table of each statement of a batch, in their order; of another statement its own.
    pub parts: Vec<String>,
    /// What it does.
    pub effect: Effect,
    /// Whether it may pass over rows that it does not want (`ALLOW FILTERING`).
    pub filters: bool,
    /// In the order of the text.
    pub markers: Vec<LoggedMarker>,
}

/// A `?` of a statement of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedMarker {
    /// What its value is of.
    pub of: MarkerOf,
    /// The table of that.
    pub table: String,
    /// Which of [`Logged::parts`] it belongs to.
    pub part: usize,
    /// Which of a request's values it is; `None`: it stood in the text.
    pub value: Option<usize>,
}

/// What a marker's value is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkerOf {
    /// A column, that is written or stands in a condition.
    Column {
        /// As the server spells it.
        name: String,
        /// Whether it decides which rows are meant (`WHERE`).
        is_compared: bool,
        /// Whether it is one of several that `IN (?, ?)` has.
        is_listed: bool,
    },
    /// The upper end of a range of this column whose lower end is a marker, too.
    RangeEnd(String),
    /// All values of this column that `IN ?` has.
    List(String),
    /// A part of a value that is written.
    Element,
    /// How many rows.
    Limit,
    /// Seconds to live.
    Ttl,
    /// When it is written.
    Timestamp,
    /// A token, or a column of one.
    Token,
}

/// Why a statement of a log can be none of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOwn {
    /// The statement, without a value of anybody's.
    pub what: String,
    /// Why.
    pub why: String,
}

/// Functions that every server has (Apache Cassandra 5.0, "Functions" of its documentation), as names have neither `_`
/// nor capitals; what turns a value into a blob or out of one is known by its name. `dateOf` and `unixTimestampOf` went
/// with 5.0 (CASSANDRA-18328).
const FUNCTIONS: [&str; 42] = [
    "abs",
    "avg",
    "cast",
    "collectionavg",
    "collectioncount",
    "collectionmax",
    "collectionmin",
    "collectionsum",
    "count",
    "currentdate",
    "currenttime",
    "currenttimestamp",
    "currenttimeuuid",
    "exp",
    "fromjson",
    "log",
    "log10",
    "mapkeys",
    "mapvalues",
    "maskdefault",
    "maskhash",
    "maskinner",
    "masknull",
    "maskouter",
    "maskreplace",
    "max",
    "maxtimeuuid",
    "maxwritetime",
    "min",
    "mintimeuuid",
    "now",
    "round",
    "similaritycosine",
    "similaritydotproduct",
    "similarityeuclidean",
    "sum",
    "todate",
    "tojson",
    "totimestamp",
    "tounixtimestamp",
    "ttl",
    "uuid",
];
/// More of these, and words that no function has before a bracket.
const NO_FUNCTIONS: [&str; 7] = ["AND", "IF", "IN", "TOKEN", "VALUES", "WHERE", "WRITETIME"];

impl Logged {
    /// A statement by the text that was recorded. Errors: it is none of a load, or what a value of it is of cannot be
    /// seen.
    pub fn of(text: &str) -> Result<Self, NotOwn> {
        let Some(recorded) = Recorded::read(text) else { return Err(not_of_a_load(text)) };
        let (text, values) = without_values(&recorded.text);
        let refused = |why: String| NotOwn { what: text.clone(), why };
        let plain = Recorded::read(&text).filter(|plain| plain.slots.len() == values.len());
        let Some(plain) = plain else { return Err(refused("its values cannot be told from its words".to_owned())) };
        let tokens = tokens(&text).unwrap_or_default();
        if let Some(function) = own_function(&tokens) {
            let why = "is a function of your own, or of Cassandra before 5.0: nodes of a run have none";
            return Err(refused(format!("{function} {why}")));
        }
        let of_markers = of_markers(&tokens, &plain.slots)
            .ok_or_else(|| refused("what one of its values is of does not follow from its text".to_owned()))?;
        let parts: Vec<String> = Asked::of(&text).into_iter().map(|asked| asked.table).collect();
        let marker = |((of, slot), value): ((MarkerOf, &Slot), Option<usize>)| LoggedMarker {
            of,
            table: parts.get(slot.part as usize).cloned().unwrap_or_default(),
            part: slot.part as usize,
            value,
        };
        Ok(Self {
            name: plain.name(),
            keyspace: recorded.keyspace,
            tables: plain.tables,
            effect: plain.effect,
            filters: tokens.iter().any(|token| token.is("FILTERING")),
            markers: of_markers.into_iter().zip(&plain.slots).zip(values).map(marker).collect(),
            parts,
            text,
        })
    }
}

/// Its first two words say what it is; what follows may be anything.
fn not_of_a_load(text: &str) -> NotOwn {
    let tokens = tokens(text).unwrap_or_default();
    let words = tokens.iter().filter(|token| !token.is_comment()).take(2);
    let words: Vec<String> =
        words.take_while(|token| token.kind == Kind::Word).map(|token| token.text.to_ascii_uppercase()).collect();
    let is_of_a_load =
        words.first().is_some_and(|first| ["SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN"].contains(&first.as_str()));
    let why = match is_of_a_load {
        true => "it is several statements, or its tables are of several keyspaces, and a run has one",
        false => "it is none of a load, which has SELECT, INSERT, UPDATE, DELETE and BATCH",
    };
    let what = if words.is_empty() { "a text that never ends".to_owned() } else { words.join(" ") };
    NotOwn { what, why: why.to_owned() }
}

/// The first function that not every server has.
fn own_function(tokens: &[Token<'_>]) -> Option<String> {
    let is_known = |token: &Token<'_>| {
        let name = token.name().replace('_', "");
        let is_of_blob = name.ends_with("asblob") || name.starts_with("blobas");
        token.is_any(&NO_FUNCTIONS) || is_of_blob || FUNCTIONS.contains(&name.as_str())
    };
    let is_table = |at: usize| at.checked_sub(1).is_some_and(|before| tokens[before].is("INTO"));
    let is_own = |at: &usize| {
        let is_called = tokens[*at].is_name() && tokens.get(at + 1).is_some_and(|open| open.is_symbol('('));
        is_called && !is_table(*at) && !is_known(&tokens[*at])
    };
    (0..tokens.len()).find(is_own).map(|at| tokens[at].name())
}

/// What each marker is of; `None`: of one of them that is not known.
fn of_markers(tokens: &[Token<'_>], slots: &[Slot]) -> Option<Vec<MarkerOf>> {
    let numbers = markers(tokens);
    let is_into = |at: &usize| tokens[*at].is("INTO");
    let inserts = (0..tokens.len()).filter(is_into).filter_map(|at| inserted(tokens, &numbers, at + 2));
    let inserted: Vec<(String, usize)> = inserts.flatten().collect();
    let (mut found, mut open) = (Vec::with_capacity(slots.len()), Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Symbol('(' | '[' | '{') => open.push(at),
            Kind::Symbol(')' | ']' | '}') => {
                open.pop();
            }
            Kind::Marker => {
                let slot = *slots.get(found.len())?;
                let written = inserted.iter().find(|(_, marker)| *marker == found.len());
                let written = written.map(|(name, _)| MarkerOf::Column {
                    name: name.clone(),
                    is_compared: false,
                    is_listed: false,
                });
                found.push(written.or_else(|| of_marker(tokens, at, open.last().copied(), slot))?);
            }
            _ => {}
        }
    }
    let is_end = |at: &usize| {
        let is_lower = |other: usize| {
            let is_same = slots[other].part == slots[*at].part && found[other] == found[*at];
            is_same && slots[other].operator == Operator::Greater
        };
        slots[*at].operator == Operator::Less && (0..found.len()).any(is_lower)
    };
    let ends: Vec<usize> = (0..found.len()).filter(is_end).collect();
    for end in ends {
        // A range of tokens would be empty at times.
        let MarkerOf::Column { name, .. } = &found[end] else { return None };
        found[end] = MarkerOf::RangeEnd(name.clone());
    }
    Some(found)
}

/// What a marker is of that no `VALUES` has by itself; `open`: the innermost bracket around it.
fn of_marker(tokens: &[Token<'_>], at: usize, open: Option<usize>, slot: Slot) -> Option<MarkerOf> {
    let before = |back: usize| at.checked_sub(back).map(|before| &tokens[before]);
    let is_comma = |other: Option<&Token<'_>>| other.is_some_and(|other| other.is_symbol(','));
    let is_listed = slot.operator == Operator::In && (is_comma(before(1)) || is_comma(tokens.get(at + 1)));
    let column = |at: Option<usize>| {
        let name = column(tokens, at?)?;
        Some(MarkerOf::Column { name, is_compared: slot.clause == Clause::Where, is_listed })
    };
    let is_written = slot.clause == Clause::Written;
    let last = before(1)?;
    if let Some(open) = open {
        let of = open.checked_sub(1).map(|of| &tokens[of]);
        return match tokens[open].kind {
            Kind::Symbol('(') if of?.is("IN") => column(open.checked_sub(2)),
            Kind::Symbol('(') if of?.is("TOKEN") => Some(MarkerOf::Token),
            Kind::Symbol('[' | '{') if is_written => Some(MarkerOf::Element),
            _ => None,
        };
    }
    match last.kind {
        Kind::Word if last.is("LIMIT") => Some(MarkerOf::Limit),
        Kind::Word if last.is("TTL") => Some(MarkerOf::Ttl),
        Kind::Word if last.is("TIMESTAMP") => Some(MarkerOf::Timestamp),
        Kind::Word if last.is("IN") => {
            let MarkerOf::Column { name, .. } = column(at.checked_sub(2))? else { return None };
            Some(MarkerOf::List(name))
        }
        Kind::Symbol('=' | '<' | '>') => {
            let is_of_two = matches!(before(2)?.kind, Kind::Symbol('<' | '>' | '!' | '+' | '-'));
            let left = at.checked_sub(if is_of_two { 3 } else { 2 })?;
            match tokens[left].kind {
                Kind::Symbol(')') => {
                    let open = tokens[..left].iter().rposition(|token| token.is_symbol('('))?;
                    tokens[open.checked_sub(1)?].is("TOKEN").then_some(MarkerOf::Token)
                }
                Kind::Symbol(']') => is_written.then_some(MarkerOf::Element),
                _ => column(Some(left)),
            }
        }
        // `n = n + ?`
        Kind::Symbol('+' | '-') if is_written && before(3)?.is_symbol('=') => column(at.checked_sub(4)),
        _ => None,
    }
}

/// The column whose name stands here, at the beginning of a comparison or an assignment.
fn column(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let before = &tokens[at.checked_sub(1)?];
    let begins = before.is_any(&["WHERE", "AND", "SET", "IF"]) || before.is_symbol(',');
    (tokens[at].is_name() && begins).then(|| tokens[at].name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let logged = Logged::of(text).unwrap_or_else(|not| panic!("{not:?}"));
        let said = |marker: &LoggedMarker| match &marker.of {
            MarkerOf::Column { name, is_listed: true, .. } => format!("{}.{name}, ...", marker.table),
            MarkerOf::Column { name, is_compared: true, .. } => format!("{}.{name}?", marker.table),
            MarkerOf::Column { name, .. } => format!("{}.{name}", marker.table),
            other => format!("{other:?}"),
        };
        logged.markers.iter().map(said).collect()
    }

    #[test]
    fn what_a_marker_is_of_follows_from_the_text() {
        let cases: [(&str, &[&str]); 12] = [
            ("SELECT * FROM carts WHERE shopper = ? LIMIT ?", &["carts.shopper?", "Limit"]),
            (
                "SELECT a FROM h WHERE k = ? AND \"At\" >= ? AND \"At\" < ? PER PARTITION LIMIT 3",
                &["h.k?", "h.At?", "RangeEnd(\"At\")"],
            ),
            ("SELECT a FROM t WHERE k IN ? AND c IN (?, ?)", &["List(\"k\")", "t.c, ...", "t.c, ..."]),
            ("SELECT a FROM t WHERE k IN (?) AND c = ?", &["t.k?", "t.c?"]),
            ("SELECT a FROM t WHERE token(k, l) > token(?, ?) LIMIT ?", &["Token", "Token", "Limit"]),
            ("SELECT a FROM t WHERE token(k) > ?", &["Token"]),
            (
                "INSERT INTO carts (k, n, s) VALUES (?, now(), ?) USING TTL ? AND TIMESTAMP ?",
                &["carts.k", "carts.s", "Ttl", "Timestamp"],
            ),
            (
                "UPDATE t USING TTL ? SET n = ?, m[?] = ?, s = s + ? WHERE k = ? IF n != ? AND m IN ?",
                &["Ttl", "t.n", "Element", "Element", "t.s", "t.k?", "t.n", "List(\"m\")"],
            ),
            ("UPDATE t SET n += ?, l -= ? WHERE k = ?", &["t.n", "t.l", "t.k?"]),
            ("DELETE FROM t WHERE k = 5 AND c <= 7", &["t.k?", "t.c?"]),
            ("BEGIN BATCH INSERT INTO a (k) VALUES (?); DELETE FROM b WHERE k = ? APPLY BATCH", &["a.k", "b.k?"]),
            ("INSERT INTO t (k, m) VALUES (:k, {'a': ?})", &["t.k", "Element", "Element"]),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_value_in_the_text_is_a_marker_without_a_number_and_nothing_of_it_is_left() {
        let logged = Logged::of("/* Jo */ SELECT * FROM shop.carts WHERE shopper = 'Jo' AND item > ?;").unwrap();
        assert_eq!(logged.text, "SELECT * FROM carts WHERE shopper = ? AND item > ?");
        assert_eq!((logged.parts.as_slice(), &logged.parts), (&["carts".to_owned()][..], &logged.tables));
        assert_eq!((logged.keyspace.as_deref(), logged.name.as_str()), (Some("shop"), "select_carts"));
        let values: Vec<Option<usize>> = logged.markers.iter().map(|marker| marker.value).collect();
        assert_eq!(values, [None, Some(0)]);
        assert!(Logged::of("SELECT to_json(a), toJson(b) FROM t WHERE k = ?").is_ok(), "no function of one's own");
        assert!(!logged.filters && Logged::of("SELECT a FROM t WHERE a = 1 ALLOW FILTERING").unwrap().filters);
    }

    #[test]
    fn what_can_be_none_of_a_file_is_named_without_its_values() {
        for (text, what, why) in [
            ("CREATE TABLE shop.carts (k int PRIMARY KEY)", "CREATE TABLE", "none of a load"),
            ("ALTER ROLE jo WITH PASSWORD = 'secret'", "ALTER ROLE", "none of a load"),
            ("TRUNCATE carts", "TRUNCATE CARTS", "none of a load"),
            (
                "BEGIN BATCH DELETE FROM a.t WHERE k = 1; DELETE FROM b.t WHERE k = 1 APPLY BATCH",
                "BEGIN BATCH",
                "keyspaces",
            ),
            ("SELECT price(a) FROM t WHERE k = 'Jo'", "SELECT price(a) FROM t WHERE k = ?", "function of your own"),
            ("SELECT dateOf(c) FROM t WHERE k = ?", "SELECT dateOf(c) FROM t WHERE k = ?", "Cassandra before 5.0"),
            ("INSERT INTO t JSON '{\"k\": 1}'", "INSERT INTO t JSON ?", "does not follow"),
            (
                "SELECT a FROM t WHERE k = ? AND (b, c) > (?, 'x')",
                "SELECT a FROM t WHERE k = ? AND (b, c) > (?, ?)",
                "follow",
            ),
            ("SELECT a FROM t WHERE m CONTAINS 'x'", "SELECT a FROM t WHERE m CONTAINS ?", "follow"),
            (
                "SELECT a FROM t WHERE token(k) > ? AND token(k) <= ?",
                "SELECT a FROM t WHERE token(k) > ? AND token(k) <= ?",
                "follow",
            ),
            ("SELECT 'never ends", "a text that never ends", "none of a load"),
        ] {
            let not = Logged::of(text).unwrap_err();
            assert_eq!(not.what, what, "{text}");
            assert!(not.why.contains(why), "{text}: {}", not.why);
        }
    }
}
