//! What a load thread does next: the operation mix, the key and the field, as YCSB's `CoreWorkload.doTransaction` draws
//! them.
//!
//! This is the hot path of the load generator: [`Generator::next_operation`] neither allocates nor locks.

use std::sync::Arc;

use crate::chooser::{KeyChooser, ScanLengthChooser, uniform_item};
use crate::{Definition, InsertSequence, Mix, OperationKind, random::Random};

/// One request to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operation {
    /// What to do.
    pub kind: OperationKind,
    /// With which record. For an insert a new number: [`InsertSequence::acknowledge`] it when the insert has ended.
    pub record: u64,
    /// The one field to read or write; `None` means all of them. A read-modify-write writes this field; what it reads
    /// beforehand is all fields, or this one where the definition does not read all (YCSB draws a second field there).
    pub field: Option<u32>,
    /// Records to scan; 0 unless this is a scan.
    pub scan_records: u32,
}

/// Chooses operations for one load thread: the same seed gives the same operations, as long as no other thread moves
/// the shared [`InsertSequence`].
#[derive(Debug, Clone)]
pub struct Generator {
    random: Random,
    kinds: MixChooser,
    keys: KeyChooser,
    scan_length: ScanLengthChooser,
    inserts: Arc<InsertSequence>,
    definition: Definition,
    fields: u32,
    records: u64,
}

impl Generator {
    /// A generator for a data set of `records` records with `fields` fields each.
    ///
    /// `inserts` is shared by all threads of a trial and starts at `records`. With a zipfian distribution and inserts
    /// YCSB needs the number of operations beforehand; until [`Self::with_expected_operations`] says better, one
    /// operation per record is expected.
    ///
    /// The latest distribution and zipfian scans cost one power per record or length the first time in a process.
    pub fn new(definition: &Definition, fields: u32, records: u64, inserts: Arc<InsertSequence>, seed: u64) -> Self {
        Self {
            random: Random::from_seed(seed),
            kinds: MixChooser::new(&definition.mix),
            keys: KeyChooser::new(definition.distribution, definition.mix.insert, records, records),
            scan_length: ScanLengthChooser::new(definition.scan_length),
            inserts,
            definition: definition.clone(),
            fields,
            records,
        }
    }

    /// Tells how many operations all threads of the trial together are expected to make (YCSB's `operationcount`): how
    /// far a zipfian choice among inserted records reaches. Nothing changes for mixes without inserts.
    #[must_use]
    pub fn with_expected_operations(mut self, operations: u64) -> Self {
        if self.definition.mix.insert > 0.0 {
            let Definition { distribution, mix, .. } = &self.definition;
            self.keys = KeyChooser::new(*distribution, mix.insert, self.records, operations);
        }
        self
    }

    /// The next operation.
    #[inline]
    pub fn next_operation(&mut self) -> Operation {
        let kind = self.kinds.kind(self.random.next_unit());
        let record = if kind == OperationKind::Insert {
            self.inserts.claim()
        } else {
            self.keys.next_record(&self.inserts, &mut self.random)
        };
        let scan_records = if kind == OperationKind::Scan {
            let random = self.random.next_u64();
            self.scan_length.length(random, self.random.next_unit())
        } else {
            0
        };
        let all_fields = match kind {
            OperationKind::Read | OperationKind::Scan => self.definition.read_all_fields,
            OperationKind::Update | OperationKind::ReadModifyWrite => self.definition.write_all_fields,
            OperationKind::Insert | OperationKind::Statement(_) => true,
        };
        let field =
            if all_fields { None } else { Some(uniform_item(u64::from(self.fields), self.random.next_u64()) as u32) };
        Operation { kind, record, field, scan_records }
    }

    /// 64 random bits of this thread's sequence, to choose values with.
    #[inline]
    pub fn random(&mut self) -> u64 {
        self.random.next_u64()
    }
}

/// YCSB's `DiscreteGenerator` over the operation kinds, in the order in which `CoreWorkload` adds them.
#[derive(Debug, Clone, Copy)]
pub struct MixChooser {
    shares: [f64; OperationKind::YCSB.len()],
    /// Where rounding leaves a rest (YCSB throws an error there): the last kind that occurs.
    last: OperationKind,
}

impl MixChooser {
    /// Proportions need not sum to 1: as in YCSB each is divided by the sum.
    pub fn new(mix: &Mix) -> Self {
        let occurring = |kind: &OperationKind| mix.share(*kind) > 0.0;
        let sum: f64 = OperationKind::YCSB.iter().filter(|kind| occurring(kind)).map(|kind| mix.share(*kind)).sum();
        Self {
            shares: OperationKind::YCSB.map(|kind| if occurring(&kind) { mix.share(kind) / sum } else { 0.0 }),
            last: OperationKind::YCSB.into_iter().rfind(occurring).unwrap_or(OperationKind::Read),
        }
    }

    /// The kind for a uniform `u` in `[0, 1)`.
    #[inline]
    pub fn kind(&self, u: f64) -> OperationKind {
        let mut rest = u;
        for (kind, share) in OperationKind::YCSB.into_iter().zip(self.shares) {
            if rest < share {
                return kind;
            }
            rest -= share;
        }
        self.last
    }
}
