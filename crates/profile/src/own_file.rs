//! The file of statements that a log makes, in the form that an experiment's `cql` has.

use experiment::OwnDraft;

use crate::log::LogUse;
use crate::logged::OwnUse;

/// So many that are left out are named.
const MOST_LEFT_OUT: usize = 20;
/// So much of a statement is shown in a comment.
const MOST_CHARACTERS: usize = 200;

/// What an experiment needs of it; `None`: there is no statement that it can have.
pub(crate) fn own_draft(log: &LogUse, name: &str) -> Option<OwnDraft> {
    if log.own.statements.is_empty() {
        return None;
    }
    let tables = log.own_tables.iter().map(|table| (table.data.clone(), table.row_bytes, table.origin.clone()));
    let statements = log.own.statements.iter().map(|one| {
        let assumed =
            one.data.range_rows.map(|rows| format!("{rows} rows of a range are an assumption: a log has none."));
        (one.name.clone(), one.data.clone(), assumed.into_iter().collect())
    });
    Some(OwnDraft {
        file: format!("{name}.cql"),
        text: text(log),
        tables: tables.collect(),
        statements: statements.collect(),
    })
}

fn text(log: &LogUse) -> String {
    let own = &log.own;
    // What is not all of a workload says so first.
    let mut text: String = own.not_all().iter().map(|line| comment(line)).collect();
    text += &comment(&format!(
        "From iopslab profile: tables as the schema of the cluster has them, statements of {}.",
        log.path
    ));
    text += &comment(
        "A weight is how often a statement was asked. No value of the log is kept but numbers after LIMIT and TTL: ? \
         stands for every other one.",
    );
    text.extend(left_out(own).iter().map(|line| comment(line)));
    for create in log.own_types.iter().chain(log.own_tables.iter().map(|table| &table.create)) {
        text += &format!("\n{create};\n");
    }
    for one in &own.statements {
        text.push('\n');
        if one.has_rows_of_one_partition {
            text += &comment("An assumption: what it writes into one table are rows of one partition.");
        }
        text += &format!("-- statement {} weight {}", one.name, one.requests);
        if let Some(level) = &one.consistency {
            text += &format!(" consistency {level}");
        }
        if let Some(level) = one.serial {
            text += &format!(" serial {}", level.name());
        }
        text += &format!("\n{};\n", one.text.trim());
    }
    text
}

/// What the file cannot have, with the reasons.
pub(crate) fn left_out(own: &OwnUse) -> Vec<String> {
    if own.left_out.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["Not among the statements, with their share of the requests:".to_owned()];
    let all = own.requests() as f64;
    lines.extend(
        own.left_out
            .iter()
            .take(MOST_LEFT_OUT)
            .map(|one| format!("* {:.2} %: {}: {}", one.requests as f64 / all * 100.0, shortened(&one.what), one.why)),
    );
    if let Some(more) = own.left_out.len().checked_sub(MOST_LEFT_OUT).filter(|more| *more > 0) {
        lines.push(format!("* {more} more"));
    }
    lines
}

/// A statement on one line, no longer than a comment shows of it.
pub(crate) fn shortened(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MOST_CHARACTERS).collect()
}

/// A line that stays one. None begins with `statement`, which would make it a directive.
fn comment(line: &str) -> String {
    format!("-- {}\n", line.replace(char::is_control, " "))
}
