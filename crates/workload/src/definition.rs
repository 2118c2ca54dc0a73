//! What a workload is: the operation mix, how keys are chosen, and which fields are touched.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{KeyFormat, OperationKind};

/// One statement of a workload of the user's own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StatementShare {
    /// Which one: always [`OperationKind::Statement`].
    pub kind: OperationKind,
    /// Its share of the operations, 0..=1.
    pub share: f64,
    /// Whether it reads the database.
    pub reads: bool,
    /// Whether it writes; a conditional update does both.
    pub writes: bool,
    /// Whether it makes rows that were not there.
    pub grows: bool,
}

/// Where the requests of a workload were recorded, and how they are sent again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replayed {
    /// The recording, as the experiment names it.
    pub file: String,
    /// Requests of the whole recording that are sent again at full scale.
    pub requests: u64,
    /// Seconds from the first of them to the last, as recorded.
    pub span_s: f64,
    /// How much faster than recorded; `None`: as fast as their order allows.
    pub speed: Option<f64>,
    /// Whether it begins again where it ends: so that a database comes to rest before its trial, however long that
    /// takes.
    pub again: bool,
}

/// As reports have it: `replayed from shop.jsonl, 12,000 statements in 60 s, speed 4`.
impl fmt::Display for Replayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, requests, span_s, speed, .. } = self;
        let seconds = (span_s * 10.0).round() / 10.0;
        write!(f, "replayed from {file}, {requests} statements in {seconds} s, ")?;
        match speed {
            Some(speed) => write!(f, "speed {speed}"),
            None => f.write_str("as fast as their order allows"),
        }
    }
}

/// Proportions of each operation; they sum to 1 once checked.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Mix {
    /// Share of reads, 0..=1.
    pub read: f64,
    /// Share of updates, 0..=1.
    pub update: f64,
    /// Share of inserts, 0..=1.
    pub insert: f64,
    /// Share of scans, 0..=1.
    pub scan: f64,
    /// Share of read-modify-writes, 0..=1.
    pub read_modify_write: f64,
}

impl Mix {
    /// The sum of all proportions.
    pub fn sum(&self) -> f64 {
        self.read + self.update + self.insert + self.scan + self.read_modify_write
    }

    /// Reads of the database for each operation; a read-modify-write is a read and a write.
    pub fn reads(&self) -> f64 {
        self.read + self.scan + self.read_modify_write
    }

    /// Writes for each operation.
    pub fn writes(&self) -> f64 {
        self.update + self.read_modify_write + self.insert
    }

    /// The share of one kind.
    pub fn share(&self, kind: OperationKind) -> f64 {
        match kind {
            OperationKind::Read => self.read,
            OperationKind::Update => self.update,
            OperationKind::Insert => self.insert,
            OperationKind::Scan => self.scan,
            OperationKind::ReadModifyWrite => self.read_modify_write,
            OperationKind::Statement(_) => 0.0,
        }
    }
}

/// How the key of a request is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Distribution {
    /// Every record equally likely.
    Uniform,
    /// YCSB's scrambled zipfian: popular records spread over the key space.
    Zipfian {
        /// Skew; YCSB's scrambled generator has 0.99.
        constant: f64,
    },
    /// Zipfian over recency: the newest record is the most popular.
    Latest,
    /// A share of the operations goes to a share of the records.
    Hotspot {
        /// Share of the records that is hot (YCSB `hotspotdatafraction`, default 0.2).
        data_fraction: f64,
        /// Share of the operations that goes to them (YCSB `hotspotopnfraction`, default 0.8).
        operation_fraction: f64,
    },
    /// Exponentially decreasing popularity, newest first.
    Exponential {
        /// Percentile of operations that falls in the fraction (YCSB `exponential.percentile`, default 95).
        percentile: f64,
        /// That fraction of the records (YCSB `exponential.frac`, default 0.8571428571).
        fraction: f64,
    },
    /// Records one after another, then from the start again.
    Sequential,
}

/// In YCSB's words: `zipfian (0.99)`.
impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipfian { constant } => write!(f, "zipfian ({constant})"),
            Self::Latest => f.write_str("latest"),
            Self::Hotspot { data_fraction, operation_fraction } => {
                write!(f, "hotspot ({operation_fraction} of the operations on {data_fraction} of the records)")
            }
            Self::Exponential { percentile, fraction } => {
                write!(f, "exponential ({percentile} % of the operations on {fraction} of the records)")
            }
            Self::Sequential => f.write_str("sequential"),
        }
    }
}

/// How the length of a scan is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanLength {
    /// Fewest records (YCSB `minscanlength`, default 1).
    pub min: u32,
    /// Most records (YCSB `maxscanlength`, default 1000).
    pub max: u32,
    /// `true`: zipfian (short scans popular), `false`: uniform, YCSB's default.
    pub zipfian: bool,
}

impl Default for ScanLength {
    fn default() -> Self {
        Self { min: 1, max: 1000, zipfian: false }
    }
}

/// A workload, checked: proportions sum to 1 and every number is in its range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Name in the experiment.
    pub name: String,
    /// Proportions of YCSB's operations; all are 0 where the statements are the user's own.
    pub mix: Mix,
    /// The user's own statements, whose shares sum to 1; none in a workload of YCSB. Where there are some, nothing of
    /// what is said of keys and fields here holds: the statements' own generators choose.
    pub statements: Vec<StatementShare>,
    /// Where these statements were recorded, if they are sent again as they were.
    pub replayed: Option<Replayed>,
    /// Key distribution.
    pub distribution: Distribution,
    /// Read all fields (YCSB `readallfields`, default true) or one chosen at random.
    pub read_all_fields: bool,
    /// Update all fields, or one chosen at random (YCSB `writeallfields`, default false).
    pub write_all_fields: bool,
    /// Scan lengths.
    pub scan_length: ScanLength,
    /// How records are named.
    #[serde(flatten)]
    pub keys: KeyFormat,
}

impl Definition {
    /// With YCSB's defaults besides.
    pub fn new(name: &str, mix: Mix, distribution: Distribution) -> Self {
        Self {
            name: name.to_owned(),
            mix,
            statements: Vec::new(),
            replayed: None,
            distribution,
            read_all_fields: true,
            write_all_fields: false,
            scan_length: ScanLength::default(),
            keys: KeyFormat::default(),
        }
    }

    /// A workload of the user's own statements.
    pub fn of_statements(name: &str, statements: Vec<StatementShare>) -> Self {
        Self { statements, ..Self::new(name, Mix::default(), Distribution::Uniform) }
    }

    /// Whether its statements are the user's own.
    pub fn is_own(&self) -> bool {
        !self.statements.is_empty()
    }

    /// The kinds of operations that occur, in the order in which reports show them.
    pub fn kinds(&self) -> impl Iterator<Item = OperationKind> {
        let own = self.statements.iter().map(|statement| statement.kind);
        OperationKind::YCSB.into_iter().chain(own).filter(move |kind| self.share(*kind) > 0.0)
    }

    /// The share of one kind.
    pub fn share(&self, kind: OperationKind) -> f64 {
        let own = self.statements.iter().find(|statement| statement.kind == kind);
        own.map_or_else(|| self.mix.share(kind), |statement| statement.share)
    }

    /// Whether operations of this kind make records, or rows of the user's own, that were not there.
    pub fn grows(&self, kind: OperationKind) -> bool {
        let grows = |statement: &StatementShare| statement.kind == kind && statement.grows;
        kind == OperationKind::Insert || self.statements.iter().any(grows)
    }

    /// Operations that read the database, for each operation; a read-modify-write reads and writes.
    pub fn reads(&self) -> f64 {
        self.mix.reads() + self.share_of_statements(|statement| statement.reads)
    }

    /// Operations that write, for each operation.
    pub fn writes(&self) -> f64 {
        self.mix.writes() + self.share_of_statements(|statement| statement.writes)
    }

    fn share_of_statements(&self, does: impl Fn(&StatementShare) -> bool) -> f64 {
        self.statements.iter().filter(|statement| does(statement)).map(|statement| statement.share).sum()
    }
}
