//! What a file states, whichever tool wrote it.

use std::collections::BTreeMap;

use evidence::{
    CountedFrom, ErrorKind, LONGEST_S, MOST_COUNTED, OperationKind, Progress, StatedLatency, Tool, TwoClocks,
};

use crate::Refusal;

/// What a file states.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// Whose it is.
    pub tool: Tool,
    /// Its version, where it says so.
    pub version: Option<String>,
    /// Seconds of the measurement.
    pub measured_s: f64,
    /// Operations completed without error, by kind.
    pub completed: BTreeMap<OperationKind, u64>,
    /// Operations that failed, by kind of error.
    pub failed: BTreeMap<ErrorKind, u64>,
    /// Operations a second without error, as the tool states them itself.
    pub stated_ops_per_s: f64,
    /// Response times by kind.
    pub latencies: BTreeMap<OperationKind, StatedLatency>,
    /// From when they count; from the sending where that is not known.
    pub counted_from: CountedFrom,
    /// Whether the file shows it.
    pub is_from_shown: bool,
    /// Whether those from the schedule have names of their own in it (`Intended-READ` of YCSB).
    pub has_intended: bool,
    /// What the file says of its load.
    pub load: StatedLoad,
    /// Its progress, in the order of the file.
    pub progress: Vec<Progress>,
    /// Its two clocks, where it has two.
    pub clocks: Option<TwoClocks>,
    /// What was understood and not taken, and why: whole sentences.
    pub left_out: Vec<String>,
}

/// What a file says of the load that it was measured under.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StatedLoad {
    /// Requests in flight at most; `None`: it does not say.
    pub in_flight: Option<u32>,
    /// Operations a second that were aimed at; `None`: as fast as it went, or it does not say.
    pub rate_per_s: Option<f64>,
}

/// What the operations of a file are, where somebody has to say so.
pub(crate) fn named(operation: Option<OperationKind>) -> Result<OperationKind, Refusal> {
    operation.ok_or_else(|| {
        Refusal::whole("what its operations do is not in the file")
            .help("state `operation` in the map, or as --operation: read, update, insert, scan or read_modify_write")
    })
}

/// Most lines of progress that are kept.
const LINES_MOST: usize = 5_000;

impl Results {
    /// What no tool can have measured is no result.
    pub(crate) fn sound(self) -> Result<Self, Refusal> {
        if !(self.measured_s > 0.0 && self.measured_s <= LONGEST_S) {
            let took = self.measured_s;
            return Err(Refusal::whole(format!(
                "the measurement took {took} s: expected more than 0 and at most two weeks"
            )));
        }
        if self.completed.values().all(|n| *n == 0) {
            let failed = self.failed.values().fold(0_u64, |sum, n| sum.saturating_add(*n));
            return Err(Refusal::whole(format!("no operation completed without error, and {failed} failed")));
        }
        let all = self.completed.values().chain(self.failed.values()).fold(0_u64, |sum, n| sum.saturating_add(*n));
        if all > MOST_COUNTED {
            return Err(Refusal::whole(format!("{all} operations are more than anybody can count")));
        }
        Ok(self.with_few_lines())
    }

    /// Takes somebody's word for from when its latencies count.
    ///
    /// # Errors
    /// The file shows another moment.
    pub fn count_from(&mut self, stated: CountedFrom) -> Result<(), Refusal> {
        if self.is_from_shown && stated != self.counted_from {
            let (stated, shown) = (stated.name(), self.counted_from.name());
            return Err(Refusal::whole(format!("counted_from = \"{stated}\": the file shows \"{shown}\"")));
        }
        if !self.is_from_shown {
            let word = stated.name();
            self.left_out
                .push(format!("The file does not show from when latencies count: \"{word}\" is stated beside it."));
        }
        self.counted_from = stated;
        Ok(())
    }

    /// Lines of progress are put together by twos until they are few enough for a record.
    fn with_few_lines(mut self) -> Self {
        let before = self.progress.len();
        while self.progress.len() > LINES_MOST {
            let both = |pair: &[Progress]| {
                let last = pair[pair.len() - 1];
                let operations = pair.iter().map(|line| line.operations).sum();
                Progress { from_s: pair[0].from_s, to_s: last.to_s, operations }
            };
            self.progress = self.progress.chunks(2).map(both).collect();
        }
        if self.progress.len() < before {
            self.left_out.push(format!("{before} lines of progress were put together to {}.", self.progress.len()));
        }
        self
    }
}
