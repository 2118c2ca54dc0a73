//! What the server says of the tables that a user's own schema has created, in the words of `statements`.

use ::statements::{Column, Data, Table, USUAL_TEXT_BYTES, USUAL_TEXT_WITHIN_BYTES};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Row};

use super::form::made_as;

/// Columns of tables in their order: the type with what it states of itself, whether the server fills it by itself, and
/// its place in the primary key (after whose columns those of its `INCLUDE` stand).
const COLUMNS: &str = "
    SELECT c.relname::text, a.attname::text, a.atttypid, a.atttypmod,
           a.attidentity <> '' OR a.attgenerated <> ''
               OR coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false),
           array_position((i.indkey::int2[])[0:i.indnkeyatts - 1], a.attnum)
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
      LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname::text = ANY($1::text[])
     ORDER BY c.relname, a.attnum";
/// What PostgreSQL adds to the length of a `char(n)` or `varchar(n)` (`VARHDRSZ`).
const LENGTH_HEADER: i32 = 4;

/// A table as the server has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Described {
    /// Its columns, but for those that the server fills by itself.
    pub table: Table,
    /// Characters that a column may have at the most, where its type states them.
    pub most_characters: Vec<(String, u64)>,
}

impl Described {
    /// Columns that are used and have fewer characters than a text of which nothing is stated.
    pub fn too_narrow(&self, data: &Data, is_used: impl Fn(&str) -> bool) -> Vec<String> {
        let Self { table, most_characters } = self;
        let stated = data.table(&table.name).map(|of_table| &of_table.columns);
        let is_narrow = |(column, most): &&(String, u64)| {
            let mut key = table.partition_key.iter().chain(&table.clustering);
            // A text of the key has so many, too.
            let usual =
                if key.any(|of_key| of_key.name == *column) { USUAL_TEXT_WITHIN_BYTES } else { USUAL_TEXT_BYTES };
            *most < usual && is_used(column) && stated.is_none_or(|stated| !stated.contains_key(column))
        };
        let narrow = most_characters.iter().filter(is_narrow);
        let said = narrow.map(|(column, most)| {
            format!(
                "{}.{column} has {most} characters at the most, and a text of which nothing is stated has more: state \
                 how columns.{column} of [workload.tables.{}] is made",
                table.name, table.name
            )
        });
        said.collect()
    }
}

/// One column, as the server describes it.
#[derive(Clone)]
struct Attribute {
    table: String,
    name: String,
    of: u32,
    modifier: i32,
    is_filled: bool,
    in_key: Option<i32>,
}

impl Attribute {
    fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            table: row.try_get(0)?,
            name: row.try_get(1)?,
            of: row.try_get(2)?,
            modifier: row.try_get(3)?,
            is_filled: row.try_get(4)?,
            in_key: row.try_get(5)?,
        })
    }
}

/// These tables, in the order of their names. Errors: the server does not say, or a column has a type of which nobody
/// here makes values.
pub(super) async fn described(client: &Client, names: &[String]) -> Result<Vec<Described>, String> {
    let rows = client.query(COLUMNS, &[&names]).await.map_err(|error| said(&error))?;
    let all: Vec<Attribute> =
        rows.iter().map(Attribute::read).collect::<Result<_, _>>().map_err(|error| said(&error))?;
    all.chunk_by(|one, next| one.table == next.table).map(table).collect()
}

fn table(attributes: &[Attribute]) -> Result<Described, String> {
    let mut described = Described { table: Table::default(), most_characters: Vec::new() };
    let (mut key, mut others) = (Vec::new(), Vec::new());
    // A key of which the server makes a part is known to nobody before the row is there.
    let is_known = attributes.iter().all(|attribute| !attribute.is_filled || attribute.in_key.is_none());
    for attribute in attributes {
        let Attribute { table, name, of, modifier, is_filled, in_key } = attribute;
        described.table.name.clone_from(table);
        if *is_filled {
            continue;
        }
        let unknown = || format!("{table}.{name}: it is of a type of its own, for which iopslab has no values");
        let of = Type::from_oid(*of).ok_or_else(unknown)?;
        let cql_type = made_as(&of).map_err(|error| format!("{table}.{name}: {error}"))?;
        if matches!(of, Type::BPCHAR | Type::VARCHAR) && *modifier > LENGTH_HEADER {
            described.most_characters.push((name.clone(), (modifier - LENGTH_HEADER).unsigned_abs().into()));
        }
        let column = Column::new(name, cql_type);
        match in_key {
            Some(place) if is_known => key.push((*place, column)),
            _ => others.push(column),
        }
    }
    key.sort_by_key(|(place, _)| *place);
    let mut key = key.into_iter().map(|(_, column)| column);
    described.table.partition_key = key.by_ref().take(1).collect();
    described.table.clustering = key.collect();
    // Where a partition is one row, what belongs to the row is numbered as that.
    if described.table.clustering.is_empty() {
        described.table.statics = others;
    } else {
        described.table.regular = others;
    }
    Ok(described)
}

/// What an error of the server says, and where there is one its hint.
pub(super) fn said(error: &Error) -> String {
    match error.as_db_error() {
        Some(of_server) => match of_server.hint() {
            Some(hint) => format!("{} ({hint})", of_server.message()),
            None => of_server.message().to_owned(),
        },
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use ::statements::{CqlType, Generator, TableData};

    use super::*;

    fn attribute(name: &str, of: &Type, in_key: Option<i32>) -> Attribute {
        let (table, name) = ("t".to_owned(), name.to_owned());
        Attribute { table, name, of: of.oid(), modifier: -1, is_filled: false, in_key }
    }

    fn names(columns: &[Column]) -> Vec<&str> {
        columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn the_first_column_of_a_key_names_a_partition_and_the_others_its_rows() {
        let all = [
            attribute("note", &Type::TEXT, None),
            attribute("item", &Type::INT4, Some(1)),
            attribute("shopper", &Type::UUID, Some(0)),
        ];
        let Described { table: of_several, .. } = table(&all).unwrap();
        assert_eq!((names(&of_several.partition_key), names(&of_several.clustering)), (vec!["shopper"], vec!["item"]));
        assert_eq!((names(&of_several.regular), of_several.statics.len()), (vec!["note"], 0));
        let Described { table: of_one, .. } =
            table(&[attribute("note", &Type::TEXT, None), attribute("id", &Type::INT8, Some(0))]).unwrap();
        assert_eq!((names(&of_one.statics), of_one.regular.len()), (vec!["note"], 0));
        assert_eq!(of_one.partition_key, [Column::new("id", CqlType::BigInt)]);
        let Described { table: without, .. } = table(&[attribute("note", &Type::TEXT, None)]).unwrap();
        assert_eq!((without.partition_key.len(), names(&without.statics)), (0, vec!["note"]));
    }

    #[test]
    fn a_column_that_the_server_fills_is_its_own_and_a_stated_length_is_known() {
        let id = Attribute { is_filled: true, ..attribute("id", &Type::INT8, Some(0)) };
        let filler = Attribute { modifier: 84 + LENGTH_HEADER, ..attribute("filler", &Type::BPCHAR, None) };
        let tenant = attribute("tenant", &Type::INT4, Some(0));
        let of_two = table(&[tenant, Attribute { in_key: Some(1), ..id.clone() }]).unwrap().table;
        assert_eq!(
            (of_two.partition_key.len(), names(&of_two.statics)),
            (0, vec!["tenant"]),
            "the key is the server's"
        );
        let described = table(&[id, filler]).unwrap();
        assert_eq!((described.table.partition_key.len(), names(&described.table.statics)), (0, vec!["filler"]));
        let mut data = Data { tables: vec![TableData::new("t", 1)], ..Data::default() };
        let narrow = described.too_narrow(&data, |_| true);
        assert!(narrow.len() == 1 && narrow[0].starts_with("t.filler has 84 characters"), "{narrow:?}");
        assert!(described.too_narrow(&data, |_| false).is_empty(), "nobody writes it");
        data.tables[0].columns.insert("filler".to_owned(), Generator::Fixed { value: String::new() });
        assert!(described.too_narrow(&data, |_| true).is_empty(), "it is stated");
    }

    #[test]
    fn a_type_that_nobody_makes_values_of_is_named_with_its_column() {
        let refused = |of: u32| table(&[Attribute { of, ..attribute("a", &Type::TEXT, None) }]).unwrap_err();
        assert!(refused(Type::JSONB.oid()).starts_with("t.a: jsonb is a type"), "{}", refused(Type::JSONB.oid()));
        assert!(refused(99_999).starts_with("t.a: it is of a type of its own"), "{}", refused(99_999));
    }
}
