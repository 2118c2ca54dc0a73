//! From a generated operation to calls of the driver. Every slot keeps its buffers, so nothing is allocated per
//! request.

use std::cell::RefCell;
use std::sync::Arc;

use evidence::{ErrorKind, OperationKind};
use workload::{Definition, Generator, InsertSequence, KeyFormat, Operation, Random, ValuePool, write_key};

use crate::driver::{Condition, Driver};
use crate::plan::{Part, TrialPlan};
use crate::recorder::Answered;
use crate::schedule::thread_seed;
use crate::stamp::Stamp;
use crate::written::Notes;

/// What the slots of a load thread generate requests from.
pub(crate) struct Source {
    generator: RefCell<Generator>,
    /// Of the user's own statements.
    own: Option<RefCell<OwnMix>>,
    inserts: Arc<InsertSequence>,
    values: Arc<ValuePool>,
    fields: u32,
    keys: KeyFormat,
    part: Part,
    first_insert: u64,
    read_all_fields: bool,
    is_stamped: bool,
}

impl Source {
    pub(crate) fn new(
        plan: &TrialPlan,
        inserts: &Arc<InsertSequence>,
        values: &Arc<ValuePool>,
        expected_operations: Option<u64>,
        thread: u32,
    ) -> Self {
        let seed = thread_seed(plan.seed, thread);
        let mut generator = Generator::new(&plan.definition, plan.fields, plan.records, Arc::clone(inserts), seed);
        if let Some(operations) = expected_operations {
            generator = generator.with_expected_operations(operations);
        }
        Self {
            generator: RefCell::new(generator),
            own: plan.definition.is_own().then(|| RefCell::new(OwnMix::new(&plan.definition, seed))),
            inserts: Arc::clone(inserts),
            values: Arc::clone(values),
            fields: plan.fields,
            keys: plan.definition.keys,
            part: plan.part,
            first_insert: plan.first_insert,
            read_all_fields: plan.definition.read_all_fields,
            is_stamped: plan.check_writes,
        }
    }

    /// Fresh buffers for a slot.
    pub(crate) fn buffers<R: Default>(&self) -> Buffers<'_, R> {
        let fields = self.fields as usize;
        Buffers {
            own: R::default(),
            key: String::with_capacity(64),
            record: Vec::with_capacity(fields),
            updates: Vec::with_capacity(fields),
        }
    }

    /// The next operation, with its key and values in `buffers`; or the recorded one of this number.
    pub(crate) fn next<'a, D: Driver>(
        &'a self,
        driver: &D,
        buffers: &mut Buffers<'a, D::Own>,
        recorded: Option<u32>,
    ) -> Operation {
        if let Some(own) = &self.own {
            let OwnMix { random, kinds } = &mut *own.borrow_mut();
            let kind = kinds[match recorded {
                Some(number) => driver.make_recorded(number, &mut buffers.own),
                None => driver.make(random, &mut buffers.own),
            }];
            return Operation { kind, record: 0, field: None, scan_records: 0 };
        }
        let mut generator = self.generator.borrow_mut();
        let operation = generator.next_operation();
        write_key(self.record(&operation), self.keys, &mut buffers.key);
        match operation.kind {
            OperationKind::Insert => {
                buffers.record.clear();
                buffers.record.extend((0..self.fields).map(|_| self.values.value(generator.random())));
            }
            OperationKind::Update | OperationKind::ReadModifyWrite => {
                let fields = operation.field.map_or(0..self.fields, |field| field..field + 1);
                buffers.updates.clear();
                buffers.updates.extend(fields.map(|field| (field, self.values.value(generator.random()))));
            }
            OperationKind::Read | OperationKind::Scan | OperationKind::Statement(_) => {}
        }
        operation
    }

    /// The record that an operation means.
    #[inline]
    fn record(&self, operation: &Operation) -> u64 {
        self.part.record(operation.record, self.first_insert)
    }

    /// Carries an operation out; where writes are checked, with a stamp that `notes` keep when it is acknowledged.
    pub(crate) async fn perform<D: Driver>(
        &self,
        driver: &D,
        notes: &RefCell<Notes>,
        operation: &Operation,
        buffers: &Buffers<'_, D::Own>,
    ) -> Result<Answered, ErrorKind> {
        let key = &buffers.key;
        let done = match operation.kind {
            OperationKind::Read => {
                let answer = driver.read_cached(key, operation.field).await?;
                return Ok(answer.map_or(Answered::Plain, Answered::ByCache));
            }
            OperationKind::Update => self.update(driver, notes, operation, buffers).await,
            OperationKind::Insert => {
                let result = if self.is_stamped {
                    let stamp = Stamp::now(self.record(operation));
                    let result = driver.insert_stamped(key, &buffers.record, &stamp).await;
                    notes.borrow_mut().ended(&stamp, None, result.is_ok());
                    result
                } else {
                    driver.insert(key, &buffers.record).await
                };
                // After a failure too, as YCSB does in its `finally`: an unacknowledged record would hold the newest
                // readable record where it is for the rest of the trial.
                self.inserts.acknowledge(operation.record);
                result
            }
            OperationKind::Scan => driver.scan(key, operation.scan_records).await,
            OperationKind::Statement(_) => {
                return driver.send(&buffers.own).await.map(|condition| match condition {
                    Condition::Met => Answered::Plain,
                    Condition::Unmet => Answered::Unmet,
                });
            }
            OperationKind::ReadModifyWrite => {
                let field = if self.read_all_fields { None } else { operation.field };
                driver.read(key, field).await?;
                self.update(driver, notes, operation, buffers).await
            }
        };
        done.map(|()| Answered::Plain)
    }

    async fn update<D: Driver>(
        &self,
        driver: &D,
        notes: &RefCell<Notes>,
        operation: &Operation,
        buffers: &Buffers<'_, D::Own>,
    ) -> Result<(), ErrorKind> {
        if !self.is_stamped {
            return driver.update(&buffers.key, &buffers.updates).await;
        }
        let stamp = Stamp::now(self.record(operation));
        let result = driver.update_stamped(&buffers.key, &buffers.updates, &stamp).await;
        notes.borrow_mut().ended(&stamp, operation.field, result.is_ok());
        result
    }
}

/// The user's own statements, among which the driver chooses.
struct OwnMix {
    random: Random,
    /// By their places.
    kinds: Vec<OperationKind>,
}

impl OwnMix {
    fn new(definition: &Definition, seed: u64) -> Self {
        let kinds = definition.statements.iter().map(|statement| statement.kind);
        Self { random: Random::from_seed(seed), kinds: kinds.collect() }
    }
}

/// Key and values of a slot's current request.
pub(crate) struct Buffers<'a, R> {
    /// Where the statements are the user's own, and then nothing else is used.
    own: R,
    pub(crate) key: String,
    pub(crate) record: Vec<&'a str>,
    pub(crate) updates: Vec<(u32, &'a str)>,
}
