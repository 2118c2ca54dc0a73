//! What is asked of YCSB's table, as PostgreSQL's statements.

use super::super::schema::{fields, name};

/// One kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    /// All fields of a record, its key included.
    Record,
    /// One field.
    Field(u32),
    /// So many records in the order of their keys.
    Scan,
    /// One field is overwritten.
    UpdateField(u32),
    /// All fields are.
    UpdateRecord,
    /// A record is written, whether it exists or not.
    Insert,
    /// The same three with a moment, where of two writes of a field the later one has to win.
    StampedUpdateField(u32),
    StampedUpdateRecord,
    StampedInsert,
    /// All fields in their order, without the key.
    Fields,
}

/// The table that is asked.
#[derive(Debug, Clone)]
pub(super) struct Table {
    name: String,
    columns: Vec<String>,
}

/// The field with this column that is there is of a later write than moment `$N` says: values of checked trials begin
/// with a tag (`engine::Stamp`), whose characters 19 to 34 are the moment in hexadecimal digits.
fn is_later(column: &str, moment: usize) -> String {
    format!("left({column}, 1) = chr(1) AND substr({column}, 19, 16) > ${moment}")
}

impl Table {
    /// Of YCSB's layout, with so many fields.
    pub fn new(table: &str, field_count: u32) -> Self {
        Self { name: name(table), columns: fields(field_count) }
    }

    /// How many fields a record has.
    pub fn fields(&self) -> usize {
        self.columns.len()
    }

    /// The statement of a request. Values come in the order of the fields, then the key; of a read only the key, of a
    /// scan the key and the number of records, of an insert the key and then the values; a moment comes last.
    pub fn statement(&self, asked: Asked) -> String {
        let Self { name, columns } = self;
        let column = |field: u32| columns.get(field as usize).map_or("", String::as_str);
        let set = |number: usize, column: &str, moment: Option<usize>| match moment {
            None => format!("{column} = ${number}"),
            Some(moment) => {
                format!("{column} = CASE WHEN {} THEN {column} ELSE ${number} END", is_later(column, moment))
            }
        };
        let record = |moment: Option<usize>| {
            let each = columns.iter().enumerate().map(|(field, column)| set(field + 1, column, moment));
            each.collect::<Vec<_>>().join(", ")
        };
        let (count, all) = (columns.len(), columns.join(", "));
        let insert = |moment: Option<usize>| {
            let marks: Vec<String> = (1..=count + 1).map(|number| format!("${number}")).collect();
            let each = columns.iter().map(|column| match moment {
                None => format!("{column} = excluded.{column}"),
                Some(moment) => {
                    let there = format!("{name}.{column}");
                    format!("{column} = CASE WHEN {} THEN {there} ELSE excluded.{column} END", is_later(&there, moment))
                }
            });
            let each = each.collect::<Vec<_>>().join(", ");
            let marks = marks.join(", ");
            format!("INSERT INTO {name} (y_id, {all}) VALUES ({marks}) ON CONFLICT (y_id) DO UPDATE SET {each}")
        };
        match asked {
            Asked::Record => format!("SELECT * FROM {name} WHERE y_id = $1"),
            Asked::Field(field) => format!("SELECT {} FROM {name} WHERE y_id = $1", column(field)),
            Asked::Fields => format!("SELECT {all} FROM {name} WHERE y_id = $1"),
            Asked::Scan => format!("SELECT * FROM {name} WHERE y_id >= $1 ORDER BY y_id LIMIT $2"),
            Asked::UpdateField(field) => format!("UPDATE {name} SET {} WHERE y_id = $2", set(1, column(field), None)),
            Asked::UpdateRecord => format!("UPDATE {name} SET {} WHERE y_id = ${}", record(None), count + 1),
            Asked::Insert => insert(None),
            Asked::StampedUpdateField(field) => {
                format!("UPDATE {name} SET {} WHERE y_id = $2", set(1, column(field), Some(3)))
            }
            Asked::StampedUpdateRecord => {
                format!("UPDATE {name} SET {} WHERE y_id = ${}", record(Some(count + 2)), count + 1)
            }
            Asked::StampedInsert => insert(Some(count + 2)),
        }
    }

    /// What takes rows in as they come.
    pub fn copy(&self) -> String {
        format!("COPY {} (y_id, {}) FROM STDIN", self.name, self.columns.join(", "))
    }
}

/// One row of a COPY in its text format (PostgreSQL: "COPY", File Formats).
pub(super) fn copied_row<'v>(key: &'v str, values: impl IntoIterator<Item = &'v str>, to: &mut String) {
    for (number, text) in std::iter::once(key).chain(values).enumerate() {
        if number > 0 {
            to.push('\t');
        }
        for c in text.chars() {
            match c {
                '\\' => to.push_str("\\\\"),
                '\t' => to.push_str("\\t"),
                '\n' => to.push_str("\\n"),
                '\r' => to.push_str("\\r"),
                other => to.push(other),
            }
        }
    }
    to.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_those_of_ycsbs_table() {
        let table = Table::new("usertable", 2);
        let of = |asked| table.statement(asked);
        assert_eq!(of(Asked::Record), "SELECT * FROM \"usertable\" WHERE y_id = $1");
        assert_eq!(of(Asked::Field(1)), "SELECT field1 FROM \"usertable\" WHERE y_id = $1");
        assert_eq!(of(Asked::UpdateField(1)), "UPDATE \"usertable\" SET field1 = $1 WHERE y_id = $2");
        assert_eq!(of(Asked::UpdateRecord), "UPDATE \"usertable\" SET field0 = $1, field1 = $2 WHERE y_id = $3");
        assert_eq!(
            of(Asked::Insert),
            "INSERT INTO \"usertable\" (y_id, field0, field1) VALUES ($1, $2, $3) ON CONFLICT (y_id) DO UPDATE SET \
             field0 = excluded.field0, field1 = excluded.field1"
        );
        assert_eq!(table.copy(), "COPY \"usertable\" (y_id, field0, field1) FROM STDIN");
    }

    #[test]
    fn a_stamped_write_leaves_a_later_one_as_it_is() {
        let table = Table::new("t", 2);
        assert_eq!(
            table.statement(Asked::StampedUpdateField(0)),
            "UPDATE \"t\" SET field0 = CASE WHEN left(field0, 1) = chr(1) AND substr(field0, 19, 16) > $3 THEN field0 \
             ELSE $1 END WHERE y_id = $2"
        );
        let insert = table.statement(Asked::StampedInsert);
        assert!(
            insert.contains("substr(\"t\".field1, 19, 16) > $4 THEN \"t\".field1 ELSE excluded.field1"),
            "{insert}"
        );
        let record = table.statement(Asked::StampedUpdateRecord);
        assert!(record.contains("> $4 THEN field1 ELSE $2 END WHERE y_id = $3"), "{record}");
    }

    /// The place of the moment in a tag is the engine's.
    #[test]
    fn the_moment_of_a_tag_is_where_statements_look_for_it() {
        let stamp = engine::Stamp::now(7);
        let digits = &stamp.tag()[18..34];
        assert_eq!(i64::from_str_radix(digits, 16), Ok(stamp.micros()));
        assert_eq!(stamp.tag().chars().next(), Some('\u{1}'));
    }

    #[test]
    fn a_row_of_a_copy_has_no_column_or_line_too_many() {
        let mut text = String::new();
        copied_row("user1", ["a\tb", "c\\d\ne"], &mut text);
        assert_eq!(text, "user1\ta\\tb\tc\\\\d\\ne\n");
    }
}
