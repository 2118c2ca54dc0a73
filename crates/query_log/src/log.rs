//! A recording, taken in file by file.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::chronicle::Documents;
use crate::error::{At, LogError};
use crate::full_query_log::{self, Record};
use crate::gaps::Gaps;
use crate::json_lines;
use crate::values::{self, Value};

/// Most bytes of values: all of them are in the client's memory while it replays.
pub const MOST_VALUE_BYTES: usize = 1 << 30;
/// Most requests: each takes some 60 bytes more.
pub const MOST_REQUESTS: usize = 10_000_000;
/// Most different statements: values that stand in the text make each request a statement of its own.
pub const MOST_TEXTS: usize = 10_000;

/// A recording.
#[derive(Debug, Default)]
pub struct Log {
    statements: Vec<RecordedStatement>,
    /// By text, keyspace and levels.
    numbers: HashMap<String, u32>,
    requests: Vec<Request>,
    values: Vec<u8>,
    /// Whose logs these are, where that is said; and the place of the one that is being read.
    nodes: Vec<String>,
    node: u16,
    is_cut: bool,
    later_pages: u64,
}

/// A statement, as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedStatement {
    /// Its text.
    pub text: String,
    /// The keyspace of its connection.
    pub keyspace: Option<String>,
    /// Its level in small letters; `None`: not recorded.
    pub consistency: Option<String>,
    /// The level of its condition in small letters, where it is recorded.
    pub serial: Option<String>,
    /// How often it was asked.
    pub requests: u64,
}

/// A request. Its values are [`Log::values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// When, microseconds from whatever moment the recording counts from.
    pub at_us: u64,
    /// Its statement's place in [`Log::statements`].
    pub statement: u32,
    /// How many values it has.
    pub markers: u16,
    /// Where its values begin, and how many bytes they have.
    begin: u32,
    bytes: u32,
    /// Who recorded it, by its place among the nodes of the log.
    node: u16,
}

/// What was recorded, without the requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// In the order in which they were first asked.
    pub statements: Vec<RecordedStatement>,
    /// Of the first request, microseconds.
    pub begin_us: u64,
    /// Of the last one.
    pub end_us: u64,
    /// Where it seems to have holes.
    pub gaps: Gaps,
    /// Whose log has these holes, where there are those of several nodes: the one that lacks the most seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps_of: Option<String>,
    /// Whether a file ends within a record that was begun.
    pub is_cut: bool,
    /// Requests for a further page of a result, which are left out.
    pub later_pages: u64,
}

impl Summary {
    /// What it seems to have lost, after its name: `seems to have lost requests of db2: nothing for 3.1 s, ...`.
    pub fn lost(&self) -> Option<String> {
        let Gaps { number, longest_s, together_s, usual_per_s } = self.gaps;
        let node = self.gaps_of.as_ref().map_or_else(String::new, |node| format!(" of {node}"));
        (number > 0).then(|| {
            format!(
                "seems to have lost requests{node}: nothing for {together_s:.1} s, of which {longest_s:.1} s at a \
                 time, where {usual_per_s} requests a second are usual"
            )
        })
    }
}

impl Log {
    /// What is taken in from now on is of this node's log, whose holes are looked for among its own requests.
    pub fn of_node(&mut self, name: &str) {
        let known = self.nodes.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.nodes.push(name.to_owned());
            self.nodes.len() - 1
        });
        self.node = u16::try_from(place).unwrap_or(u16::MAX);
    }

    /// Takes in JSON Lines.
    ///
    /// # Errors
    /// The first line that cannot be read, or that there is no room for.
    pub fn read_json_lines(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        json_lines::read(bytes, |line, values| {
            let values = values.iter().map(|value| value.as_deref().map_or(Value::Null, Value::Bytes));
            self.add(Record {
                at_us: line.at,
                keyspace: line.keyspace.as_deref(),
                text: line.statement.clone(),
                consistency: line.consistency.as_deref(),
                serial: line.serial_consistency.as_deref(),
                values: values.collect(),
                is_later_page: false,
            })
        })
    }

    /// Takes in a file of Cassandra's full query log, without requests for a further page of a result: who asks again
    /// asks for all of it at once.
    ///
    /// # Errors
    /// The first record that cannot be read, or that there is no room for, or that it is no such file.
    pub fn read_full_query_log(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let mut documents = Documents::of(bytes)?;
        for document in documents.by_ref() {
            let (begin, document) = document?;
            let record = full_query_log::record(document, begin)?;
            if record.is_later_page {
                self.later_pages += 1;
                continue;
            }
            self.add(record).map_err(|message| LogError::new(At::Byte(begin), message))?;
        }
        self.is_cut |= documents.is_cut;
        Ok(())
    }

    fn add(&mut self, record: Record<'_>) -> Result<(), String> {
        if self.requests.len() == MOST_REQUESTS {
            return Err(format!("more than {MOST_REQUESTS} requests; replay a shorter part of the log"));
        }
        let Ok(markers) = u16::try_from(record.values.len()) else {
            return Err(format!("{} values, and a statement has at most {}", record.values.len(), u16::MAX));
        };
        let length = |value: &Value<'_>| 4 + if let Value::Bytes(bytes) = value { bytes.len() } else { 0 };
        let bytes: usize = record.values.iter().map(length).sum();
        if self.values.len() + bytes > MOST_VALUE_BYTES {
            return Err(format!("more than {MOST_VALUE_BYTES} bytes of values; replay a shorter part of the log"));
        }
        let begin = self.values.len();
        record.values.iter().for_each(|value| value.append(&mut self.values));
        let at_us = record.at_us;
        let statement = self.statement(record)?;
        self.statements[statement as usize].requests += 1;
        // Both are below MOST_VALUE_BYTES.
        let (begin, bytes) = (begin as u32, bytes as u32);
        self.requests.push(Request { at_us, statement, markers, begin, bytes, node: self.node });
        Ok(())
    }

    /// The number of a request's statement.
    fn statement(&mut self, record: Record<'_>) -> Result<u32, String> {
        let word = |word: Option<&str>| word.map(str::to_ascii_lowercase);
        let (consistency, serial) = (word(record.consistency), word(record.serial));
        let levels = [record.keyspace, consistency.as_deref(), serial.as_deref()].map(Option::unwrap_or_default);
        let key = format!("{}\0{}", record.text, levels.join("\0"));
        if let Some(known) = self.numbers.get(&key) {
            return Ok(*known);
        }
        if self.statements.len() == MOST_TEXTS {
            return Err(format!(
                "more than {MOST_TEXTS} different statements: values stand in their text; prepare them with bind \
                 markers, or leave them out of the log"
            ));
        }
        let number = self.statements.len() as u32;
        self.numbers.insert(key, number);
        self.statements.push(RecordedStatement {
            text: record.text,
            keyspace: record.keyspace.map(str::to_owned),
            consistency,
            serial,
            requests: 0,
        });
        Ok(number)
    }

    /// Puts the requests into the order of their times; of the same time they stay as they were read.
    pub fn finish(&mut self) {
        self.requests.sort_by_key(|request| request.at_us);
    }

    /// Every statement, in the order in which they were read.
    pub fn statements(&self) -> &[RecordedStatement] {
        &self.statements
    }

    /// Every request, after [`Self::finish`] in the order of their times.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The values of a request of this log, in the order of its markers.
    pub fn values<'a>(&'a self, request: &Request) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let begin = request.begin as usize;
        values::all(&self.values[begin..begin + request.bytes as usize])
    }

    /// What was recorded, after [`Self::finish`].
    pub fn summary(&self) -> Summary {
        let time = |request: Option<&Request>| request.map_or(0, |request| request.at_us);
        let (begin_us, end_us) = (time(self.requests.first()), time(self.requests.last()));
        let (gaps, gaps_of) = self.gaps((begin_us, end_us));
        Summary {
            statements: self.statements.clone(),
            begin_us,
            end_us,
            gaps,
            gaps_of,
            is_cut: self.is_cut,
            later_pages: self.later_pages,
        }
    }

    /// Where it seems to have holes; of several nodes' logs, where the one that lacks the most seconds has them.
    fn gaps(&self, span_us: (u64, u64)) -> (Gaps, Option<String>) {
        if self.nodes.len() < 2 {
            return (Gaps::of(self.requests.iter().map(|request| request.at_us)), None);
        }
        let times = |node: usize| {
            let of_node = self.requests.iter().filter(move |request| usize::from(request.node) == node);
            of_node.map(|request| request.at_us)
        };
        let each = self.nodes.iter().enumerate().map(|(place, name)| (Gaps::of_node(times(place), span_us), name));
        let most = each.max_by(|(a, _), (b, _)| a.together_s.total_cmp(&b.together_s));
        most.map(|(gaps, name)| (gaps, (gaps.number > 0).then(|| name.clone()))).unwrap_or_default()
    }
}
