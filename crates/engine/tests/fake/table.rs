//! A table that keeps what was written, or does not, as a script says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{Connect, Driver, ErrorKind, Stamp};
use workload::{KeyFormat, write_key};

/// What becomes of a write.
pub struct Fate {
    /// After how long it is answered, and how.
    pub answer: (Duration, Result<(), ErrorKind>),
    pub applied: Applied,
}

/// When a write reaches the table.
#[derive(Clone, Copy)]
pub enum Applied {
    /// Before it is answered.
    First,
    /// Whatever was answered.
    Never,
    /// So long after the answer.
    Later(Duration),
}

/// Acknowledged after so many milliseconds, and there.
pub fn kept(ms: u64) -> Fate {
    Fate { answer: (Duration::from_millis(ms), Ok(())), applied: Applied::First }
}

/// Acknowledged, and never there: what the checker must find.
pub fn dropped(ms: u64) -> Fate {
    Fate { applied: Applied::Never, ..kept(ms) }
}

/// A timeout for the client.
pub fn unanswered(ms: u64, applied: Applied) -> Fate {
    Fate { answer: (Duration::from_millis(ms), Err(ErrorKind::WriteTimeout)), applied }
}

/// A value of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub micros: i64,
    pub text: String,
}

/// The table. Clones are the same one.
#[derive(Clone)]
pub struct Table(Arc<State>);

type WriteScript = Box<dyn Fn(u64) -> Fate + Send + Sync>;
type FetchScript = Box<dyn Fn(u64, &str) -> (Duration, Result<(), ErrorKind>) + Send + Sync>;
/// A value: key and field.
pub type WrittenValue = (String, u32);

struct State {
    fields: u32,
    newest_wins: bool,
    reachable: AtomicBool,
    write_script: WriteScript,
    fetch_script: Mutex<FetchScript>,
    rows: Mutex<BTreeMap<String, Vec<Option<Cell>>>>,
    /// The greatest timestamp that was acknowledged of each value.
    acknowledged: Mutex<BTreeMap<WrittenValue, i64>>,
    lengths: Mutex<BTreeSet<usize>>,
    writes: AtomicU64,
    plain_writes: AtomicU64,
    refused: AtomicU64,
    reads: AtomicU64,
    fetches: AtomicU64,
}

impl Table {
    /// Three fields; records `0 .. records` are loaded. The script gets the write's number, from 0.
    pub fn new(records: u64, script: impl Fn(u64) -> Fate + Send + Sync + 'static) -> Self {
        Self::with(records, true, script)
    }

    /// One in which the write that comes last wins, whatever its timestamp: no table that can be checked.
    pub fn where_the_last_wins(records: u64, script: impl Fn(u64) -> Fate + Send + Sync + 'static) -> Self {
        Self::with(records, false, script)
    }

    fn with(records: u64, newest_wins: bool, script: impl Fn(u64) -> Fate + Send + Sync + 'static) -> Self {
        let loaded = Cell { micros: 1, text: "loaded before the trial, as usual text".into() };
        let row = vec![Some(loaded); 3];
        Self(Arc::new(State {
            fields: 3,
            newest_wins,
            reachable: true.into(),
            write_script: Box::new(script),
            fetch_script: Mutex::new(Box::new(|_, _| (Duration::ZERO, Ok(())))),
            rows: Mutex::new((0..records).map(|record| (key(record), row.clone())).collect()),
            acknowledged: Mutex::default(),
            lengths: Mutex::default(),
            writes: 0.into(),
            plain_writes: 0.into(),
            refused: 0.into(),
            reads: 0.into(),
            fetches: 0.into(),
        }))
    }

    /// How reading back goes: the script gets the number of the fetch, from 0, and the key.
    pub fn when_fetched(
        &self,
        script: impl Fn(u64, &str) -> (Duration, Result<(), ErrorKind>) + Send + Sync + 'static,
    ) {
        *self.0.fetch_script.lock().unwrap() = Box::new(script);
    }

    pub fn can_be_reached(&self, reachable: bool) {
        self.0.reachable.store(reachable, SeqCst);
    }

    /// Puts something into the table behind the engine's back.
    pub fn plant(&self, record: u64, field: u32, text: Option<String>) {
        let cell = text.map(|text| Cell { micros: i64::MAX, text });
        self.0.rows.lock().unwrap().get_mut(&key(record)).unwrap()[field as usize] = cell;
    }

    pub fn text(&self, record: u64, field: u32) -> String {
        self.0.rows.lock().unwrap()[&key(record)][field as usize].clone().unwrap().text
    }

    pub fn remove(&self, record: u64) {
        self.0.rows.lock().unwrap().remove(&key(record));
    }

    /// Values with an acknowledged write, and the greatest timestamp of those.
    pub fn acknowledged(&self) -> BTreeMap<WrittenValue, i64> {
        self.0.acknowledged.lock().unwrap().clone()
    }

    /// Values that are older in the table than was acknowledged, or not there, in order of the lost write.
    pub fn lost(&self) -> Vec<(i64, WrittenValue)> {
        let rows = self.0.rows.lock().unwrap();
        let is_there = |(key, field): &WrittenValue, acknowledged: i64| {
            rows.get(key).and_then(|row| row[*field as usize].as_ref()).is_some_and(|cell| cell.micros >= acknowledged)
        };
        let mut lost: Vec<_> = self
            .acknowledged()
            .into_iter()
            .filter(|(place, acknowledged)| !is_there(place, *acknowledged))
            .map(|(place, acknowledged)| (acknowledged, place))
            .collect();
        lost.sort_by_key(|(acknowledged, place)| (*acknowledged, place.1));
        lost
    }

    /// Lengths of the values that were sent.
    pub fn lengths(&self) -> Vec<usize> {
        self.0.lengths.lock().unwrap().iter().copied().collect()
    }

    /// Stamped writes, however they ended.
    pub fn writes(&self) -> u64 {
        self.0.writes.load(SeqCst)
    }

    pub fn plain_writes(&self) -> u64 {
        self.0.plain_writes.load(SeqCst)
    }

    /// Stamped writes that were not acknowledged.
    pub fn refused(&self) -> u64 {
        self.0.refused.load(SeqCst)
    }

    pub fn fetches(&self) -> u64 {
        self.0.fetches.load(SeqCst)
    }

    fn apply(&self, key: &str, fields: &[(u32, String)], micros: i64) {
        let mut rows = self.0.rows.lock().unwrap();
        let row = rows.entry(key.to_owned()).or_insert_with(|| vec![None; self.0.fields as usize]);
        for (field, text) in fields {
            let cell = &mut row[*field as usize];
            if !self.0.newest_wins || cell.as_ref().is_none_or(|cell| cell.micros < micros) {
                let text = text.clone();
                *cell = Some(Cell { micros, text });
            }
        }
    }

    async fn write(&self, key: &str, fields: Vec<(u32, String)>, stamp: &Stamp) -> Result<(), ErrorKind> {
        let (state, micros) = (&self.0, stamp.micros());
        let fate = (state.write_script)(state.writes.fetch_add(1, SeqCst));
        let lengths = fields.iter().map(|(_, text)| text.len());
        state.lengths.lock().unwrap().extend(lengths);
        let (delay, answer) = fate.answer;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        match fate.applied {
            Applied::First => self.apply(key, &fields, micros),
            Applied::Never => {}
            Applied::Later(delay) => {
                let (table, key, fields) = (self.clone(), key.to_owned(), fields.clone());
                std::thread::spawn(move || {
                    std::thread::sleep(delay);
                    table.apply(&key, &fields, micros);
                });
            }
        }
        if answer.is_err() {
            state.refused.fetch_add(1, SeqCst);
            return answer;
        }
        let mut acknowledged = state.acknowledged.lock().unwrap();
        for (field, _) in fields {
            let newest = acknowledged.entry((key.to_owned(), field)).or_insert(micros);
            *newest = micros.max(*newest);
        }
        answer
    }

    async fn plain(&self, lengths: impl Iterator<Item = usize>) -> Result<(), ErrorKind> {
        self.0.plain_writes.fetch_add(1, SeqCst);
        self.0.lengths.lock().unwrap().extend(lengths);
        tokio::time::sleep(Duration::from_millis(1)).await;
        Ok(())
    }
}

/// The key of a record, as usual.
pub fn key(record: u64) -> String {
    let mut key = String::new();
    write_key(record, KeyFormat::default(), &mut key);
    key
}

impl Connect for Table {
    type Driver = Prepared;

    async fn connect(&self) -> Result<Prepared, String> {
        if !self.0.reachable.load(SeqCst) {
            return Err("nobody listens".into());
        }
        Ok(Prepared { table: self.clone(), stamped: false })
    }
}

/// A driver of the table.
pub struct Prepared {
    table: Table,
    stamped: bool,
}

impl Driver for Prepared {
    type Own = ();

    /// Every third fails.
    async fn read(&self, _: &str, _: Option<u32>) -> Result<(), ErrorKind> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let number = self.table.0.reads.fetch_add(1, SeqCst);
        if number % 3 == 2 { Err(ErrorKind::ReadTimeout) } else { Ok(()) }
    }

    async fn update(&self, _: &str, fields: &[(u32, &str)]) -> Result<(), ErrorKind> {
        self.table.plain(fields.iter().map(|(_, text)| text.len())).await
    }

    async fn insert(&self, _: &str, values: &[&str]) -> Result<(), ErrorKind> {
        self.table.plain(values.iter().map(|text| text.len())).await
    }

    async fn scan(&self, _: &str, _: u32) -> Result<(), ErrorKind> {
        Ok(())
    }

    async fn prepare_stamped(&mut self) -> Result<(), String> {
        self.stamped = true;
        Ok(())
    }

    async fn update_stamped(&self, key: &str, fields: &[(u32, &str)], stamp: &Stamp) -> Result<(), ErrorKind> {
        assert!(self.stamped, "prepared before the first request");
        let tagged = |(field, text): &(u32, &str)| (*field, format!("{}{text}", stamp.tag()));
        self.table.write(key, fields.iter().map(tagged).collect(), stamp).await
    }

    async fn insert_stamped(&self, key: &str, values: &[&str], stamp: &Stamp) -> Result<(), ErrorKind> {
        let fields: Vec<(u32, &str)> = (0..).zip(values.iter().copied()).collect();
        self.update_stamped(key, &fields, stamp).await
    }

    async fn fetch(&self, key: &str) -> Result<Option<Vec<Option<String>>>, ErrorKind> {
        let state = &self.table.0;
        let (delay, answer) = state.fetch_script.lock().unwrap()(state.fetches.fetch_add(1, SeqCst), key);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        answer?;
        let row = state.rows.lock().unwrap().get(key).cloned();
        let text = |cell: Option<Cell>| cell.map(|cell| cell.text);
        Ok(row.map(|row| row.into_iter().map(text).collect()))
    }
}
