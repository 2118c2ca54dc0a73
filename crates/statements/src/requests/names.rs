//! What the names mean that a server gives to bind markers.
//!
//! Source: Apache Cassandra 5.0: `Attributes.java` (`[ttl]`, `[timestamp]`), `SelectStatement.java` (`[limit]`,
//! `[per_partition_limit]`), `InMarker.java` (`in(a)`), `Maps.java`, `Lists.java`, `Sets.java` (`key(m)`, `value(m)`,
//! `idx(l)`), `TokenRelation.java` (`partition key token`), `FunctionResolver.java` (`arg0(system.token)`).

/// What the name of a marker means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named<'a> {
    Limit,
    Ttl,
    Timestamp,
    /// A token itself.
    Token,
    /// An argument of a function; of `token` it is a column of the partition key.
    Argument {
        number: usize,
        of_token: bool,
    },
    /// A list of keys of a column or of several.
    List(Vec<&'a str>),
    /// Several columns as a tuple.
    Tuple(Vec<&'a str>),
    /// An element of a collection: its key, or its value.
    Element {
        column: &'a str,
        is_value: bool,
    },
    /// The place in a list.
    Index,
    /// A column, or a field of one.
    Column(&'a str),
}

/// What a marker is that the server calls so.
pub(super) fn named(name: &str) -> Named<'_> {
    let within = |before: &str| name.strip_prefix(before).and_then(|rest| rest.strip_suffix(')'));
    match name {
        "[limit]" | "[per_partition_limit]" => return Named::Limit,
        "[ttl]" => return Named::Ttl,
        "[timestamp]" => return Named::Timestamp,
        "partition key token" => return Named::Token,
        _ => {}
    }
    if let Some(list) = within("in(").filter(|list| !list.is_empty()) {
        return Named::List(split(list));
    }
    if let Some(list) = within("(").filter(|list| !list.is_empty()) {
        return Named::Tuple(split(list));
    }
    if let Some(column) = within("key(") {
        return Named::Element { column, is_value: false };
    }
    if let Some(column) = within("value(") {
        return Named::Element { column, is_value: true };
    }
    if within("idx(").is_some() {
        return Named::Index;
    }
    let argument = within("arg").and_then(|rest| rest.split_once('('));
    if let Some((Ok(number), function)) = argument.map(|(number, function)| (number.parse(), function)) {
        let of_token = function == "token" || function.ends_with(".token");
        return Named::Argument { number, of_token };
    }
    Named::Column(name)
}

/// The columns of a list, which may be in brackets of their own: `in((a,b))`.
fn split(list: &str) -> Vec<&str> {
    let list = list.strip_prefix('(').and_then(|list| list.strip_suffix(')')).unwrap_or(list);
    list.split(',').map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_what_the_server_means_by_them() {
        for (name, meaning) in [
            ("user", Named::Column("user")),
            ("address.street", Named::Column("address.street")),
            ("[limit]", Named::Limit),
            ("[per_partition_limit]", Named::Limit),
            ("[ttl]", Named::Ttl),
            ("[timestamp]", Named::Timestamp),
            ("partition key token", Named::Token),
            ("arg0(system.token)", Named::Argument { number: 0, of_token: true }),
            ("arg1(shop.price)", Named::Argument { number: 1, of_token: false }),
            ("in(user)", Named::List(vec!["user"])),
            ("in(a,b)", Named::List(vec!["a", "b"])),
            ("in((a, b))", Named::List(vec!["a", "b"])),
            ("(a,b)", Named::Tuple(vec!["a", "b"])),
            ("key(tags)", Named::Element { column: "tags", is_value: false }),
            ("value(tags)", Named::Element { column: "tags", is_value: true }),
            ("idx(list)", Named::Index),
            ("args", Named::Column("args")),
        ] {
            assert_eq!(named(name), meaning, "{name}");
        }
    }
}
