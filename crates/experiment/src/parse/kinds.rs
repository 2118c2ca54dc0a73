//! A value of the wrong kind, in plain words: what it is, and an example of what is expected.

use crate::typed_number::{in_toml, meant, unit};

/// Up to here a floating-point number holds every whole one (2^53, IEEE 754).
const WHOLE_MAX: f64 = 9e15;

/// What of a key stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    /// Its value, which is no list.
    Value,
    /// Its value, a list.
    List,
    /// An element of its list.
    Element,
}

/// What is wrong with the value of `key`, or an element of it, and what is expected instead, out of serde's message
/// (`invalid type: string "4TB", expected f64`). `None`: the message is about something else.
pub(super) fn wrong_kind(message: &str, key: Option<(&str, Stands)>) -> Option<(String, String)> {
    let stated = message.strip_prefix("invalid type: ");
    let (given, expected) = stated.or_else(|| message.strip_prefix("invalid value: "))?.rsplit_once(", expected ")?;
    // Serde takes the elements of a list for the fields of a table, and complains about the first.
    if let Some((key, Stands::List)) = key
        && given == "map"
    {
        return Some((format!("{key} cannot be a list of tables"), one_table(key)));
    }
    // A list of one that was read instead of a value stands where that does.
    let is_in_list = |stands| stands == Stands::Element || (stands == Stands::List && given != "sequence");
    let is_element = key.is_some_and(|(_, stands)| is_in_list(stands));
    let key = key.map(|(name, _)| name);
    let said = match key {
        Some(key) => format!("{key} cannot be {}", given_words(given)),
        None => format!("{} cannot stand here", given_words(given)),
    };
    Some((said, expected_words((given, expected), key, is_element)))
}

/// What was meant by a value of another kind, as TOML has it: the number or truth that a text says, the list of one
/// number. Other mistakes are looked for with it.
pub(super) fn meant_instead(message: &str, key: Option<(&str, Stands)>) -> Option<String> {
    let (given, expected) = message.strip_prefix("invalid type: ")?.rsplit_once(", expected ")?;
    match (expected, given) {
        ("a boolean", "string \"true\"") => return Some("true".to_owned()),
        ("a boolean", "string \"false\"") => return Some("false".to_owned()),
        ("a sequence", _) => return number(given, key?.0).map(|number| format!("[{}]", in_toml(number))),
        _ => {}
    }
    let number = number(given, key?.0).filter(|_| given.starts_with("string "))?;
    let is_whole = number.fract() == 0.0 && number < WHOLE_MAX;
    (expected == "f64" || (is_whole && matches!(expected, "i64" | "u32" | "u64"))).then(|| in_toml(number))
}

/// `string "4TB"` -> `the text "4TB"`.
fn given_words(given: &str) -> String {
    let (kind, value) = given.split_once([' ', '`']).unwrap_or((given, ""));
    let bare = || given.split('`').nth(1).unwrap_or(value);
    match kind {
        "string" => format!("the text {value}"),
        "integer" => format!("the number {}", bare()),
        "floating" => format!("the number {}", bare()),
        "boolean" => bare().to_owned(),
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        _ => given.to_owned(),
    }
}

fn expected_words((given, expected): (&str, &str), key: Option<&str>, is_element: bool) -> String {
    let key = key.unwrap_or("key");
    let meant = number(given, key);
    let whole = meant.filter(|number| number.fract() == 0.0 && *number < WHOLE_MAX).map(in_toml);
    let of = unit(key).map_or_else(String::new, |unit| format!(" of {unit}"));
    let shown = |example: &str| if is_element { format!("[{example}]") } else { example.to_owned() };
    match (expected, given) {
        ("f64", _) => {
            let example = shown(&meant.map_or_else(|| "4.5".to_owned(), in_toml));
            format!("a number{of} without quotes or unit, such as {key} = {example}")
        }
        // Unsigned: serde names the type.
        ("u32" | "u64", _) => {
            format!("a whole number{of} from 0 on, such as {key} = {}", shown(whole.as_deref().unwrap_or("3")))
        }
        ("i64", _) => {
            let example = match whole {
                None if !is_element => format!("3 or {key} = 1_000_000"),
                whole => shown(whole.as_deref().unwrap_or("3")),
            };
            format!("a whole number{of} without quotes, point or unit, such as {key} = {example}")
        }
        ("a string", _) => format!("text in quotes, such as {key} = {}", shown("\"...\"")),
        ("a boolean", _) => format!("{key} = true or {key} = false, without quotes"),
        ("a sequence", "map") => format!("a list of tables: write [[{key}]] with two brackets on each side"),
        ("a sequence", _) if key == "jvm" => {
            "a list in brackets, such as jvm = [\"-XX:TieredStopAtLevel=1\"]".to_owned()
        }
        ("a sequence", _) => {
            format!("a list in brackets, such as {key} = [{}]", meant.map_or_else(|| "64".to_owned(), in_toml))
        }
        (table, "sequence") if table.starts_with("struct ") => one_table(key),
        (table, _) if table == "a map" || table.starts_with("struct ") => {
            format!("a table: a line [{key}] with its keys below it, or {key} = {{ ... }}")
        }
        (other, _) => format!("expected: {other}"),
    }
}

fn one_table(key: &str) -> String {
    format!("one table: write [{key}] with one bracket on each side")
}

/// The number that was typed, or meant: 1000000 of `string "1M"`, 0.8 of `string "80%"`.
fn number(given: &str, key: &str) -> Option<f64> {
    match given.strip_prefix("string \"") {
        Some(text) => meant(key, text.trim_end_matches('"')),
        None => given.split('`').nth(1)?.parse::<f64>().ok().filter(|number| *number >= 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{Stands, meant_instead, wrong_kind};

    /// As the TOML library says it.
    #[test]
    fn every_kind_has_its_words_and_an_example() {
        for (message, said, expected) in [
            (
                "invalid type: string \"4TB\", expected f64",
                "k cannot be the text \"4TB\"",
                "a number without quotes or unit, such as k = 4.5",
            ),
            (
                "invalid type: string \"80%\", expected f64",
                "k cannot be the text \"80%\"",
                "a number without quotes or unit, such as k = 0.8",
            ),
            (
                "invalid type: string \"1M\", expected i64",
                "k cannot be the text \"1M\"",
                "a whole number without quotes, point or unit, such as k = 1_000_000",
            ),
            (
                "invalid type: string \"9k\", expected a sequence",
                "k cannot be the text \"9k\"",
                "a list in brackets, such as k = [9000]",
            ),
            (
                "invalid type: floating point `2.5`, expected i64",
                "k cannot be the number 2.5",
                "a whole number without quotes, point or unit, such as k = 3 or k = 1_000_000",
            ),
            (
                "invalid value: integer `-2`, expected u32",
                "k cannot be the number -2",
                "a whole number from 0 on, such as k = 3",
            ),
            (
                "invalid type: integer `64`, expected a sequence",
                "k cannot be the number 64",
                "a list in brackets, such as k = [64]",
            ),
            (
                "invalid type: floating point `0.5`, expected a sequence",
                "k cannot be the number 0.5",
                "a list in brackets, such as k = [0.5]",
            ),
            (
                "invalid type: integer `-5`, expected a sequence",
                "k cannot be the number -5",
                "a list in brackets, such as k = [64]",
            ),
            (
                "invalid type: string \"-5\", expected f64",
                "k cannot be the text \"-5\"",
                "a number without quotes or unit, such as k = 4.5",
            ),
            (
                "invalid type: floating point `1e300`, expected i64",
                "k cannot be the number 1e300",
                "a whole number without quotes, point or unit, such as k = 3 or k = 1_000_000",
            ),
            (
                "invalid type: boolean `true`, expected a string",
                "k cannot be true",
                "text in quotes, such as k = \"...\"",
            ),
            (
                "invalid type: string \"a, expected b\", expected a boolean",
                "k cannot be the text \"a, expected b\"",
                "k = true or k = false, without quotes",
            ),
            (
                "invalid type: map, expected a sequence",
                "k cannot be a table",
                "a list of tables: write [[k]] with two brackets on each side",
            ),
            (
                "invalid type: sequence, expected struct Dataset",
                "k cannot be a list",
                "one table: write [k] with one bracket on each side",
            ),
        ] {
            let found = wrong_kind(message, Some(("k", Stands::Value)));
            assert_eq!(found, Some((said.to_owned(), expected.to_owned())), "{message}");
        }
        let (said, expected) = wrong_kind("invalid type: map, expected i64", Some(("dataset", Stands::List))).unwrap();
        assert_eq!(said, "dataset cannot be a list of tables");
        assert!(expected.contains("write [dataset]"), "{expected}");
        assert_eq!(wrong_kind("missing field `records`", None), None);
    }

    #[test]
    fn what_was_meant_is_a_number_a_truth_or_a_list_of_one() {
        for (message, meant) in [
            ("invalid type: string \"1M\", expected i64", Some("1_000_000")),
            ("invalid type: string \"false\", expected a boolean", Some("false")),
            ("invalid type: integer `64`, expected a sequence", Some("[64]")),
            ("invalid type: string \"9k\", expected a sequence", Some("[9000]")),
            ("invalid type: integer `64`, expected a string", None),
            ("invalid type: string \"soon\", expected f64", None),
            ("invalid type: string \"soon\", expected a boolean", None),
            ("invalid type: map, expected a sequence", None),
        ] {
            let found = meant_instead(message, Some(("k", Stands::Value)));
            assert_eq!(found.as_deref(), meant, "{message}");
        }
    }

    /// What replaces the value of the key has to be a list, too.
    #[test]
    fn an_element_of_a_list_is_shown_in_one() {
        for (message, example) in [
            ("invalid type: string \"9k\", expected i64", "such as k = [9000]"),
            ("invalid type: string \"x\", expected i64", "such as k = [3]"),
            ("invalid type: string \"0.5\", expected f64", "such as k = [0.5]"),
            ("invalid type: integer `3`, expected a string", "such as k = [\"...\"]"),
        ] {
            let (_, expected) = wrong_kind(message, Some(("k", Stands::Element))).unwrap();
            assert!(expected.ends_with(example), "{expected}");
        }
    }
}
