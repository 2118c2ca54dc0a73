//! The driver that asks the caches first, as an application does.
//!
//! A read gets the record from its node. Where that does not have it, the whole record is read from the database and
//! put there; where it does not answer, the database is asked and nothing is put. Writes go to the database, and once
//! that has acknowledged them the record's copy is treated by the policy. Scans pass the caches by.
//!
//! As in any such tier, a reader that was given a record just before it was written may put that old one there just
//! after: it is then read until its time is over, or it is written again. Each copy says when the database had answered
//! with it, so that one which lacks a write that this client had acknowledged before it asked is counted as stale.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use engine::{CacheAnswer, Condition, Connect, Driver, ErrorKind, NextRow, Random, Recorded, Stamp};
use experiment::CachePolicy;

use super::nodes::{Nodes, Unanswered, allow_connections, hash};
use super::record::{decode, encode};
use super::written::{Written, now_ns};

/// What has to be said of how requests were sent, wherever there are caches.
const MISSES: &str = "reads that the caches do not answer ask the database's driver for the record's values";

/// The caches in front of a database, and how they are used.
#[derive(Debug, Clone)]
pub struct CachesAt {
    /// `host:port` of each node; at least one.
    pub nodes: Vec<String>,
    /// Seconds after which an item is gone; `None`: none is by itself.
    pub ttl_s: Option<u32>,
    /// What writes do to it.
    pub policy: CachePolicy,
    /// Fields of a record.
    pub fields: u32,
}

/// The client of a database with caches in front of it, or with none.
#[derive(Debug)]
pub struct Cached<C> {
    database: C,
    caches: Option<CachesAt>,
    written: Arc<Written>,
    /// Copies that a write could not treat.
    untreated: Arc<AtomicU64>,
}

impl<C> Cached<C> {
    /// The database behind these caches.
    pub fn new(database: C, caches: Option<CachesAt>) -> Self {
        Self { database, caches, written: Arc::default(), untreated: Arc::default() }
    }
}

impl<C: Connect> Connect for Cached<C> {
    type Driver = CachedDriver<C::Driver>;

    async fn connect(&self) -> Result<Self::Driver, String> {
        if self.caches.is_some() {
            allow_connections();
        }
        let caches = self.caches.as_ref().map(|at| Caches {
            nodes: Nodes::new(&at.nodes),
            ttl_s: at.ttl_s.unwrap_or(0),
            policy: at.policy,
            fields: at.fields as usize,
            written: Arc::clone(&self.written),
            untreated: Arc::clone(&self.untreated),
        });
        Ok(CachedDriver { database: self.database.connect().await?, caches })
    }

    fn first_errors(&self) -> BTreeMap<ErrorKind, String> {
        self.database.first_errors()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.database.notes();
        if self.caches.is_some() {
            notes.push(MISSES.to_owned());
        }
        match self.untreated.load(Relaxed) {
            0 => {}
            n => notes.push(format!(
                "writes whose copy in a cache was neither replaced nor deleted, since its node was lost or too slow, \
                 warm-up included: {n}"
            )),
        }
        notes
    }
}

/// A driver of the database, and the caches in front of it.
pub struct CachedDriver<D> {
    database: D,
    caches: Option<Caches>,
}

struct Caches {
    nodes: Nodes,
    /// 0: for ever, as memcached has it.
    ttl_s: u32,
    policy: CachePolicy,
    fields: usize,
    written: Arc<Written>,
    untreated: Arc<AtomicU64>,
}

/// A write that has ended.
struct Write<'w> {
    key: &'w str,
    fields: &'w [(u32, &'w str)],
    sent_ns: u64,
    /// An error leaves open whether it was done.
    is_acknowledged: bool,
}

impl Caches {
    /// What the policy does to the copy of a record that was written, or that may have been.
    async fn written(&self, write: &Write<'_>) {
        let (answered_ns, hash) = (now_ns(), hash(write.key));
        if write.is_acknowledged {
            self.written.note(hash, write.sent_ns);
        }
        let treated = match self.policy {
            CachePolicy::Aside => Ok(()),
            CachePolicy::WriteThrough if write.is_acknowledged => self.replace(write, answered_ns).await,
            CachePolicy::WriteThrough | CachePolicy::Invalidate => self.nodes.of(hash).delete(write.key).await,
        };
        if treated.is_err() {
            self.untreated.fetch_add(1, Relaxed);
        }
    }

    /// Puts a record there as it was written: of a part of its fields the rest is what the copy has; where there is no
    /// copy, the next reader puts one.
    async fn replace(&self, write: &Write<'_>, answered_ns: u64) -> Result<(), Unanswered> {
        let node = self.nodes.of(hash(write.key));
        let item = if write.fields.len() == self.fields { None } else { node.get(write.key).await? };
        let copy = item.as_deref().and_then(|item| decode(item, self.fields));
        let mut record = match (copy, write.fields.len() == self.fields) {
            (Some(copy), _) => copy.fields,
            (None, true) => vec![None; self.fields],
            (None, false) => return Ok(()),
        };
        for (field, value) in write.fields {
            if let Some(place) = record.get_mut(*field as usize) {
                *place = Some(*value);
            }
        }
        node.set(write.key, &encode(answered_ns, record.into_iter()), self.ttl_s).await
    }
}

/// Values as a database has them that were written with this stamp.
fn tagged<'v>(stamp: &Stamp, values: impl Iterator<Item = &'v str>) -> Vec<String> {
    values.map(|value| format!("{}{value}", stamp.tag())).collect()
}

impl<D: Driver> CachedDriver<D> {
    /// A write of these fields, sent at this moment, has ended so.
    async fn written(
        &self,
        (key, fields): (&str, &[(u32, &str)]),
        sent_ns: u64,
        result: Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        if let Some(caches) = &self.caches {
            caches.written(&Write { key, fields, sent_ns, is_acknowledged: result.is_ok() }).await;
        }
        result
    }

    /// An insert of these values, sent at this moment, has ended so.
    async fn inserted(
        &self,
        (key, values): (&str, &[&str]),
        sent_ns: u64,
        result: Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        // Of a record that is new there is no copy: only a policy that replaces has something to put.
        if self.caches.as_ref().is_none_or(|caches| caches.policy != CachePolicy::WriteThrough) {
            return result;
        }
        let fields: Vec<(u32, &str)> = (0..).zip(values.iter().copied()).collect();
        self.written((key, &fields), sent_ns, result).await
    }
}

impl<D: Driver> Driver for CachedDriver<D> {
    type Own = D::Own;

    fn make(&self, random: &mut Random, request: &mut D::Own) -> usize {
        self.database.make(random, request)
    }

    fn recorded(&self, thread: u32, threads: u32) -> Vec<Recorded> {
        self.database.recorded(thread, threads)
    }

    fn make_recorded(&self, number: u32, request: &mut D::Own) -> usize {
        self.database.make_recorded(number, request)
    }

    fn make_row(&self, request: &mut D::Own) -> NextRow {
        self.database.make_row(request)
    }

    async fn send(&self, request: &D::Own) -> Result<Condition, ErrorKind> {
        self.database.send(request).await
    }

    async fn read(&self, key: &str, field: Option<u32>) -> Result<(), ErrorKind> {
        self.read_cached(key, field).await.map(|_| ())
    }

    async fn read_cached(&self, key: &str, field: Option<u32>) -> Result<Option<CacheAnswer>, ErrorKind> {
        let Some(caches) = &self.caches else {
            return self.database.read(key, field).await.map(|()| None);
        };
        let hash = hash(key);
        let (node, newest_write) = (caches.nodes.of(hash), caches.written.newest(hash));
        let answer = match node.get(key).await {
            Ok(item) => match item.as_deref().and_then(|item| decode(item, caches.fields)) {
                Some(copy) if newest_write.is_some_and(|sent_ns| sent_ns > copy.answered_ns) => {
                    return Ok(Some(CacheAnswer::Stale));
                }
                Some(_) => return Ok(Some(CacheAnswer::Hit)),
                // Whatever is no record is replaced as if it were not there.
                None => CacheAnswer::Miss,
            },
            Err(Unanswered) => CacheAnswer::Unanswered,
        };
        let record = self.database.fetch(key).await?.ok_or(ErrorKind::NotFound)?;
        if answer == CacheAnswer::Miss {
            let item = encode(now_ns(), record.iter().map(Option::as_deref));
            // One that could not be put is a miss of the next reader.
            let _ = node.set(key, &item, caches.ttl_s).await;
        }
        Ok(Some(answer))
    }

    async fn update(&self, key: &str, fields: &[(u32, &str)]) -> Result<(), ErrorKind> {
        let sent_ns = now_ns();
        self.written((key, fields), sent_ns, self.database.update(key, fields).await).await
    }

    async fn insert(&self, key: &str, values: &[&str]) -> Result<(), ErrorKind> {
        let sent_ns = now_ns();
        self.inserted((key, values), sent_ns, self.database.insert(key, values).await).await
    }

    async fn scan(&self, start_key: &str, records: u32) -> Result<(), ErrorKind> {
        self.database.scan(start_key, records).await
    }

    async fn prepare_stamped(&mut self) -> Result<(), String> {
        self.database.prepare_stamped().await
    }

    async fn update_stamped(&self, key: &str, fields: &[(u32, &str)], stamp: &Stamp) -> Result<(), ErrorKind> {
        let (sent_ns, result) = (now_ns(), self.database.update_stamped(key, fields, stamp).await);
        if self.caches.is_none() {
            return result;
        }
        let texts = tagged(stamp, fields.iter().map(|(_, value)| *value));
        let numbers = fields.iter().map(|(field, _)| *field);
        let fields: Vec<(u32, &str)> = numbers.zip(texts.iter().map(String::as_str)).collect();
        self.written((key, &fields), sent_ns, result).await
    }

    async fn insert_stamped(&self, key: &str, values: &[&str], stamp: &Stamp) -> Result<(), ErrorKind> {
        let (sent_ns, result) = (now_ns(), self.database.insert_stamped(key, values, stamp).await);
        if self.caches.is_none() {
            return result;
        }
        let texts = tagged(stamp, values.iter().copied());
        let values: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.inserted((key, &values), sent_ns, result).await
    }

    /// From the database, whatever the caches have: acknowledged writes are looked for there.
    async fn fetch(&self, key: &str) -> Result<Option<Vec<Option<String>>>, ErrorKind> {
        self.database.fetch(key).await
    }

    fn max_in_flight(&self, threads: u32) -> usize {
        self.database.max_in_flight(threads)
    }
}
