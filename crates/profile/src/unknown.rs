//! What could not be known, by name.

use serde::Serialize;
use workload::skew::MOST_GAP;

use crate::reading::TableName;

/// What nobody could see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// Which keys are asked for how often.
    Skew,
    /// The same, though there is a log.
    SkewOfLog,
    /// Which keys an experiment has to have to ask like the clients of this table.
    UnlikeAnyKeys(TableName),
    /// Which statements clients send: counters know reads, scans and writes of a table.
    Statements,
    /// The same of PostgreSQL, whose counters know scans and rows.
    SqlStatements,
    /// How far values can be compressed.
    Compressibility,
    /// How many requests are in flight.
    InFlight,
    /// Other hours than those that were seen.
    OtherHours,
    /// What volumes were asked for: no host was watched.
    Devices,
    /// What goes to another device than the data's, such as a commit log of its own.
    OtherDevices,
    /// Nodes that the cluster knows and that were not read: how many.
    Nodes(u32),
    /// Machines that were watched, of how many nodes that the cluster knows.
    Hosts(u32, u32),
    /// Tables whose partitions have several rows: what one request reads of them.
    Rows(Vec<String>),
}

impl Unknown {
    /// For people.
    pub fn words(&self) -> String {
        match self {
            Self::Skew => {
                "which keys are asked for how often: counters know no keys; the experiment assumes zipfian ones"
                    .to_owned()
            }
            Self::SkewOfLog => {
                "which keys are asked for how often: the log has too few requests of one partition, or the number of \
                 partitions is not estimated yet; the experiment assumes zipfian ones"
                    .to_owned()
            }
            Self::UnlikeAnyKeys(table) => format!(
                "keys like those of {table}: the best that an experiment can state are more than {:.0} points from how \
                 often its partitions are asked for",
                MOST_GAP * 100.0
            ),
            Self::Statements => {
                "which statements clients send: counters know reads, scans and writes of a table; inserts, updates and \
                 deletes are one, and conditional updates and batches are not counted apart"
                    .to_owned()
            }
            Self::SqlStatements => {
                "which statements clients send: counters know scans of indexes and tables, and rows that were written. \
                 A join is several scans, a statement may write many rows, and a scan of an index is taken for a read \
                 where no update or delete made it"
                    .to_owned()
            }
            Self::Compressibility => "how far values can be compressed".to_owned(),
            Self::InFlight => "how many requests are in flight: the experiment assumes some".to_owned(),
            Self::OtherHours => {
                "other hours than those that were seen: only you know whether the busiest one was among them".to_owned()
            }
            Self::Devices => "what volumes were asked for: no host was watched (--ssh)".to_owned(),
            Self::OtherDevices => {
                "what goes to other devices than the data's, such as a commit log of its own".to_owned()
            }
            Self::Nodes(1) => "what one further node of the cluster does: it was not read".to_owned(),
            Self::Nodes(count) => format!("what {count} further nodes of the cluster do: they were not read"),
            Self::Hosts(seen, of) => {
                format!("what the volumes of {} of {of} nodes were asked for: not watched", of - seen)
            }
            Self::Rows(tables) => format!(
                "how many rows of a partition one request reads or writes in {}: the experiment takes a whole \
                 partition for a record",
                tables.join(", ")
            ),
        }
    }
}
