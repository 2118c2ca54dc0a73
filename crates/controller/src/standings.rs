//! Where the cells of a run stand: read from what is stored, and as the small table that a terminal gets after a block.

use archive::{RunDirectory, RunError};
use evidence::{TrialRecord, Validity};
use experiment::{PlannedTrial, grouped_by};

use super::live::Standing;
use super::live_line::cut;

/// Cells of a table: it is looked at, not studied; the report has all.
const MOST_ROWS: usize = 16;

/// Where the cells of a run, or of a part of one, stand now.
pub fn of(directory: &RunDirectory) -> Result<Vec<Standing>, RunError> {
    let (done, remaining, skipped) = (directory.done(), directory.remaining()?, directory.skipped()?);
    let cells = directory.plan().cells.iter().map(|cell| {
        let is_own = |trial: &&PlannedTrial| trial.cell == cell.id;
        let records = done.iter().filter(is_own).map(|trial| directory.record(trial).ok());
        let (valid, invalid): (Vec<_>, Vec<_>) =
            records.map(|record| record.as_ref().and_then(ops_per_s)).partition(Option::is_some);
        Standing {
            cell: cell.id.clone(),
            planned: valid.len() + invalid.len() + remaining.iter().filter(is_own).count(),
            ops_per_s: valid.into_iter().flatten().collect(),
            invalid: invalid.len(),
            is_skipped: skipped.contains(&cell.id),
        }
    });
    Ok(cells.collect())
}

/// Operations per second of a valid trial.
pub fn ops_per_s(record: &TrialRecord) -> Option<f64> {
    let client = record.client.as_ref().filter(|_| record.validity == Validity::Valid)?;
    let completed: u64 = client.completed.values().sum();
    (client.measured_s > 0.0).then(|| completed as f64 / client.measured_s)
}

/// A small table below a line that says when this is so, of so many columns at most.
pub fn table(when: &str, cells: &[Standing], width: usize) -> String {
    let shown = &cells[..cells.len().min(MOST_ROWS)];
    let mut rows = vec![[when.to_owned(), "trials".to_owned(), "op/s".to_owned(), String::new()]];
    rows.extend(shown.iter().map(row));
    let longest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [names, trials, throughput, remark] = [0, 1, 2, 3].map(longest);
    // Two blanks stand between columns.
    let names = names.min(width.saturating_sub(trials + throughput + remark + 6));
    let line = |[cell, of_trials, of_throughput, remark]: &[String; 4]| {
        let cell = cut(cell, names);
        format!("{cell:names$}  {of_trials:>trials$}  {of_throughput:>throughput$}  {remark}").trim_end().to_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if cells.len() > shown.len() {
        lines.push(format!("and {} more cells", cells.len() - shown.len()));
    }
    lines.join("\n")
}

/// A cell, its trials so far, what they did, and what is not as usual with it.
fn row(cell: &Standing) -> [String; 4] {
    let throughput = cell.mean_ops_per_s().map_or_else(|| "-".to_owned(), |mean| grouped_by(mean.round() as u64, ','));
    let remark = match (cell.invalid, cell.is_skipped) {
        (0, false) => String::new(),
        (0, true) => "skipped".to_owned(),
        (n, false) => format!("{n} invalid"),
        (n, true) => format!("{n} invalid, skipped"),
    };
    [cell.cell.clone(), format!("{} of {}", cell.done(), cell.planned), throughput, remark]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(cell: &str, ops_per_s: &[f64], invalid: usize, is_skipped: bool) -> Standing {
        Standing { cell: cell.to_owned(), planned: 5, ops_per_s: ops_per_s.to_vec(), invalid, is_skipped }
    }

    #[test]
    fn the_table_after_a_block_fits_a_terminal_of_80_columns() {
        let long = "io2-16000-with-a-name-that-somebody-has-made-very-long-indeed.read-heavy.c64";
        let cells = [
            standing("gp3-3000.read-heavy.c64", &[12_000.0, 12_690.4], 0, false),
            standing("gp3-16000.read-heavy.c64", &[23_456.0], 1, false),
            standing(long, &[], 0, true),
        ];
        let table = table("after block 2", &cells, 79);
        let expected = "\
after block 2                                               trials    op/s
gp3-3000.read-heavy.c64                                     2 of 5  12,345
gp3-16000.read-heavy.c64                                    2 of 5  23,456  1 invalid";
        assert_eq!(table.lines().count(), 4, "{table}");
        assert!(table.lines().all(|line| line.chars().count() <= 79), "{table}");
        for (line, expected) in table.lines().zip(expected.lines()) {
            let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
            assert_eq!(words(line), words(expected));
        }
        assert!(table.lines().last().is_some_and(|line| line.contains("…  0 of 5       -  skipped")), "{table}");
    }

    #[test]
    fn a_table_is_short_however_many_cells_there_are() {
        let cells: Vec<Standing> = (0..40).map(|n| standing(&format!("c{n}"), &[1.0], 0, false)).collect();
        let table = table("after block 1", &cells, 79);
        assert_eq!((table.lines().count(), table.lines().last()), (18, Some("and 24 more cells")));
    }
}
