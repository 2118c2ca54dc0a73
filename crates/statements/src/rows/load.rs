//! All rows of a table, one after another.

use super::table::{Place, TableRows};

/// The rows of one part of a table.
#[derive(Debug)]
pub struct Load {
    rows: TableRows,
    parts: u64,
    /// The next one.
    next: Place,
    /// Rows of its partition.
    rows_of_next: u64,
}

impl TableRows {
    /// The rows of part `part` (from 0) of `parts`, to load: whole partitions, by turns.
    pub fn load(&self, part: u64, parts: u64) -> Load {
        let next = Place { partition: part, row: 0 };
        Load { rows: self.clone(), parts: parts.max(1), next, rows_of_next: self.rows_of(part) }
    }
}

impl Iterator for Load {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        if self.next.partition >= self.rows.partitions() {
            return None;
        }
        let place = self.next;
        self.next.row += 1;
        if self.next.row == self.rows_of_next {
            self.next = Place { partition: place.partition + self.parts, row: 0 };
            self.rows_of_next = self.rows.rows_of(self.next.partition);
        }
        Some(place)
    }
}
