//! A database is brought to rest before its limits come into force: its code compiled by the workload's own operations,
//! its data taken in again as it was loaded, its page cache filled by the workload's own keys.
//!
//! All of that is done while no limit of CPUs or volumes holds: under half a CPU a third of all CPU is still the
//! compilers' after 100 seconds, and at 47 IOPS a page cache takes minutes. What ends it is what is seen
//! (`analysis::code_is_warm`, `analysis::cache_is_settled`), and a bound of time; both stand in the trial's record.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ::evidence::{Cause, HostId, Rest, RestRound, Warmed};
use experiment::{CacheState, LoadLevel, Setup, TableBefore};
use wire::{ClientRequest, DatabaseRequest, Reply, Request, ToRest, TrialTask, Usage, WarmRound};

use super::database::{Parts, ask_nodes, sample_keys, task};
use super::state::TrialState;
use crate::agents::conversation::all_or_gravest;
use crate::run::Run;
use crate::run_failure::{Failure, Next, Result, answer};
use crate::{dataset, hosts};

/// Seconds of a round in which code is compiled.
const CODE_ROUND_S: f64 = 2.0;
/// Times that a new process has its data taken in again while its code is compiled. Each of the first two makes the JVM
/// throw away code that it had compiled without having seen what a renewal does: three CPU-seconds of it.
const RENEWALS_OF_COLD_CODE: u32 = 2;
/// Seconds of a round in which the page cache is filled: thousands of reads from any disk that volumes are emulated on.
const CACHE_ROUND_S: f64 = 1.0;
/// Requests in flight where the load of the trial is a rate.
const IN_FLIGHT: u32 = 32;
/// Requests in flight where compilers do not come before what they answer: more would leave them no CPU.
const IN_FLIGHT_BESIDE_COMPILERS: u32 = 2;

/// A process of gigabytes that was killed is gone within this.
const DYING_MAX: Duration = Duration::from_secs(3);
/// From one look at it to the next.
const LOOK: Duration = Duration::from_millis(100);

/// What a round is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Code,
    /// The page cache, for the first time.
    Cache,
    /// The same, filled with what had settled.
    Recalled,
}

/// Brings the nodes of a trial to rest, for at most so long as the experiment says, and puts their limits in force.
/// Nodes that are only watched, and simulated ones, have nothing to be brought to.
pub fn bring(run: &mut Run<'_>, parts: Parts<'_>, state: &mut TrialState) -> Result<()> {
    if let Some(hosts) = parts.setup.at.contact_points() {
        state.table = maintain(run, parts.setup, hosts)?;
    }
    let wanted: BTreeMap<HostId, ToRest> =
        state.started.iter().filter_map(|(host, started)| Some((*host, started.to_rest?))).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let began = Instant::now();
    let mut rest = Resting { run, parts, state, wanted, rests: BTreeMap::new(), rounds: 0 };
    let brought = rest.through().map_err(|failure| rest.reason_for(failure));
    let rests = rest.rests;
    state.rest_s = began.elapsed().as_secs_f64();
    state.rests = rests;
    brought
}

/// The table in a database that exists, brought to the state that it has before each trial.
fn maintain(run: &mut Run<'_>, setup: &Setup, hosts: &[String]) -> Result<Option<TableBefore>> {
    run.agents.screen.doing("bringing the table to rest", "");
    let request = Request::Client(ClientRequest::Maintain(Box::new(dataset::existing(run, setup, hosts)?)));
    let table = match run.agents.call(HostId::CLIENT, request, answer!(Reply::Maintained(table) => table)) {
        Err(Failure::Refused { error, .. }) => {
            let (database, how) = ("the database".to_owned(), "could not be brought to rest");
            return Err(Failure::DidNotStart { database, how, error });
        }
        other => other?,
    };
    let not_counted = table.as_ref().map_or(&[][..], |table| table.not_counted.as_slice());
    if !not_counted.is_empty() {
        run.agents.screen.note(&format!("a server of this release does not count {}", not_counted.join(", ")));
    }
    if let Some(refused) = table.as_ref().and_then(|table| table.no_checkpoint.as_ref()) {
        run.agents.screen.note(&format!(
            "no checkpoint before trials ({refused}): one may come in a trial because of what went before; from \
             PostgreSQL 15 on GRANT pg_checkpoint TO the user has it done"
        ));
    }
    Ok(table)
}

struct Resting<'a, 'r> {
    run: &'a mut Run<'r>,
    parts: Parts<'a>,
    state: &'a mut TrialState,
    wanted: BTreeMap<HostId, ToRest>,
    rests: BTreeMap<HostId, Rest>,
    /// How many have been run.
    rounds: u64,
}

impl Resting<'_, '_> {
    fn through(&mut self) -> Result<()> {
        let plan = self.parts.plan;
        let cache = plan.caches.state(&self.parts.workload.name);
        let is_warm = self.wanted.values().all(|to_rest| to_rest.code_is_warm);
        let mut code_is_warm = is_warm;
        // Without a round there is no code that a renewal could spoil.
        let has_rounds = plan.shape.rest_max_s > 0.0;
        let renewals = if is_warm || !has_rounds { 0 } else { RENEWALS_OF_COLD_CODE };
        for _ in 0..renewals {
            self.renew(CacheState::Cold)?;
            code_is_warm = self.rounds_of(Purpose::Code)?.0;
        }
        let mut is_renewed = false;
        let cache_is_settled = match cache {
            CacheState::Cold => {
                self.renew(cache)?;
                None
            }
            CacheState::Warm => {
                let before = self.rounds;
                let is_settled = self.settle_cache()?;
                // The rounds have written to the data, where no statement only reads.
                is_renewed = self.always_writes() && self.rounds > before;
                if is_renewed {
                    self.renew(cache)?;
                }
                Some(is_settled)
            }
        };
        for host in self.wanted.keys() {
            let rest = self.rests.entry(*host).or_default();
            (rest.code_is_warm, rest.cache_is_settled) = (code_is_warm, cache_is_settled);
            // What the rounds have read is not what the page cache has after a renewal.
            let started = self.state.started.get_mut(host).filter(|_| !is_renewed);
            if let Some(warmed) = started.and_then(|started| started.warmed.as_mut()) {
                let rounds = rest.cache.iter();
                warmed.by_keys_bytes = rounds.clone().map(|round| round.read_bytes).sum::<f64>() as u64;
                warmed.seconds += rounds.map(|round| round.seconds).sum::<f64>();
                warmed.cached_bytes = rest.cache.last().map_or(warmed.cached_bytes, |round| round.cached_bytes);
            }
        }
        self.each(&DatabaseRequest::Hold, answer!(Reply::Held => ()))?;
        self.caches(&DatabaseRequest::Hold, answer!(Reply::Held => ()))
    }

    /// Asks the caches that have machines of their own; those beside the database do as its node does.
    fn caches(&mut self, request: &DatabaseRequest, read: impl Fn(Reply) -> Result<()>) -> Result<()> {
        let hosts = hosts::caches_of(self.parts.plan, self.parts.setup);
        self.run.agents.ask_each(&hosts, request, read).map(drop)
    }

    /// Whether the statements are the user's own and each of them writes, so that no round leaves the data as it was.
    fn always_writes(&self) -> bool {
        let statements = &self.parts.workload.statements;
        !statements.is_empty() && statements.iter().all(|statement| statement.writes)
    }

    /// Data as it was loaded, and a page cache as the workload leaves it; whether it is.
    ///
    /// That takes many rounds, once: which pages these are is noted then. All trials of this workload begin with those
    /// pages, the first one too, so that they begin alike.
    fn settle_cache(&mut self) -> Result<bool> {
        self.renew(CacheState::Warm)?;
        if !self.is_recalled() {
            let (is_settled, rounds) = self.rounds_of(Purpose::Cache)?;
            if rounds.is_empty() {
                return Ok(false);
            }
            self.note_cache(is_settled, &rounds)?;
            if !is_settled {
                return Ok(false);
            }
            self.renew(CacheState::Warm)?;
        }
        // A compaction may have replaced the files of which that was noted.
        let purpose = if self.is_recalled() { Purpose::Recalled } else { Purpose::Cache };
        let (is_settled, rounds) = self.rounds_of(purpose)?;
        let holds = |host: &HostId| {
            let of_host = self.settled_reads(*host).zip(rounds.get(host));
            of_host.is_some_and(|(level, rounds)| analysis::cache_is_recalled(rounds, level))
        };
        // It has settled elsewhere, or not at all: the next trial need not wait for a level that does not come again.
        if purpose == Purpose::Recalled && !rounds.is_empty() && !self.wanted.keys().all(holds) {
            self.note_cache(is_settled, &rounds)?;
        }
        Ok(is_settled)
    }

    /// Has all nodes note which pages are in their page caches: twice, so many rounds apart that the keys turn them
    /// over.
    fn note_cache(&mut self, is_settled: bool, rounds: &BTreeMap<HostId, Vec<RestRound>>) -> Result<()> {
        let apart = |(host, to_rest): (&HostId, &ToRest)| {
            let rounds = rounds.get(host).map_or(&[][..], Vec::as_slice);
            analysis::rounds_of_a_turnover(rounds, to_rest.page_cache_bytes)
        };
        let apart = self.wanted.iter().map(apart).max().unwrap_or(1);
        for again in [false, true] {
            if again {
                for _ in 0..apart {
                    self.load(Purpose::Cache)?;
                }
            }
            let note = |host: HostId| {
                // One look alone is no note of what had settled.
                let rounds = rounds.get(&host).filter(|_| is_settled && again);
                let level = rounds.map(|rounds| analysis::settled_reads_per_operation(rounds));
                DatabaseRequest::NoteCache {
                    workload: self.parts.workload.name.clone(),
                    again,
                    reads_per_operation: level.filter(|level| level.is_finite()),
                }
            };
            self.each_of(note, answer!(Reply::CacheNoted => ()))?;
        }
        Ok(())
    }

    /// Device reads for each operation with which the page cache of a node had settled, where it was filled with that.
    fn settled_reads(&self, host: HostId) -> Option<f64> {
        self.state.started.get(&host)?.warmed?.settled_reads_per_operation
    }

    /// Whether the page caches of all nodes were filled with what had settled.
    fn is_recalled(&self) -> bool {
        self.wanted.keys().all(|host| self.settled_reads(*host).is_some())
    }

    /// Rounds until all nodes have what these are for, or their time is over; whether they have, and what each of them
    /// showed.
    fn rounds_of(&mut self, purpose: Purpose) -> Result<(bool, BTreeMap<HostId, Vec<RestRound>>)> {
        let most_s = self.parts.plan.shape.rest_max_s;
        let began = Instant::now();
        let mut before = self.usage()?;
        // Of these rounds alone: those before a renewal show another database.
        let mut since = BTreeMap::<HostId, Vec<RestRound>>::new();
        while began.elapsed().as_secs_f64() < most_s {
            let doing = match purpose {
                Purpose::Code => "JIT warm-up of the database",
                Purpose::Cache | Purpose::Recalled => "filling the page cache by the workload's keys",
            };
            self.run.agents.screen.doing(doing, "");
            let round = Instant::now();
            let loaded = self.load(purpose)?;
            let seconds = round.elapsed().as_secs_f64();
            let after = self.usage()?;
            for (host, now) in &after {
                let Some(then) = before.get(host) else { continue };
                let rest = self.rests.entry(*host).or_default();
                let rounds = match purpose {
                    Purpose::Code => &mut rest.code,
                    Purpose::Cache | Purpose::Recalled => &mut rest.cache,
                };
                let round = between(then, now, seconds, &loaded);
                since.entry(*host).or_default().push(round);
                rounds.push(round);
            }
            before = after;
            let is_done = |(host, to_rest): (&HostId, &ToRest)| {
                let rounds = since.get(host).map_or(&[][..], Vec::as_slice);
                // Caches in front of the database begin empty after each renewal.
                let tier = analysis::cache_tier_is_settled(rounds);
                let settled = || analysis::cache_is_settled(rounds, to_rest.page_cache_bytes);
                match purpose {
                    Purpose::Code => analysis::code_is_warm(rounds),
                    Purpose::Cache => tier && settled() && analysis::compilers_are_quiet(rounds),
                    Purpose::Recalled => {
                        let level = self.settled_reads(*host);
                        let is_recalled = level.is_some_and(|level| analysis::cache_is_recalled(rounds, level));
                        // Or it has settled elsewhere.
                        tier && (is_recalled || settled()) && analysis::compilers_are_quiet(rounds)
                    }
                }
            };
            if self.wanted.iter().all(is_done) {
                return Ok((true, since));
            }
        }
        Ok((false, since))
    }

    fn load(&mut self, purpose: Purpose) -> Result<WarmRound> {
        self.rounds += 1;
        let clients = hosts::clients_of(self.parts.plan, self.parts.setup);
        let client = *clients.first().ok_or_else(|| Failure::work("a run has no client"))?;
        let whole = task(self.parts, &self.run.target, self.state);
        let come_first = self.wanted.values().all(|to_rest| to_rest.compilers_first);
        let in_flight = match (purpose, self.parts.cell.load) {
            (Purpose::Code, _) if !come_first => IN_FLIGHT_BESIDE_COMPILERS,
            (_, LoadLevel::Concurrency(n)) => n,
            (_, LoadLevel::Rate { .. }) => IN_FLIGHT,
        };
        let seconds = match purpose {
            Purpose::Code => CODE_ROUND_S,
            Purpose::Cache | Purpose::Recalled => CACHE_ROUND_S,
        };
        // Where acknowledged writes are looked for, nobody else writes; nor do statements of the user's own on the data
        // that are measured next: an `INSERT ... IF NOT EXISTS` would find its row.
        let reads_alone = whole.check_writes || (whole.own.is_some() && purpose != Purpose::Code);
        let task = TrialTask {
            // Other keys than in the round before.
            seed: whole.seed.wrapping_add(self.rounds << 40),
            ..whole
        };
        let warm = ClientRequest::Warm { task: Box::new(task), seconds, in_flight, reads_alone };
        // No node is watched yet: none says anything.
        let requests = vec![(client, Request::Client(warm))];
        let mut answers = self.run.agents.converse(requests, &mut |_, _| Ok(()))?;
        match answers.remove(&client).ok_or(Failure::NoAnswer(client))? {
            Ok(reply) => answer!(Reply::Warm(round) => round)(reply),
            Err(Failure::Refused { error, .. }) => Err(Failure::DidNotStart {
                database: "the database".to_owned(),
                how: "could not be brought to rest",
                error,
            }),
            Err(lost) => Err(lost),
        }
    }

    /// The data set as it was loaded, whatever was written since: taken away once for all nodes, and taken in by each.
    fn renew(&mut self, cache: CacheState) -> Result<()> {
        let (plan, workload, agents) = (self.parts.plan, self.parts.workload, &mut *self.run.agents);
        let name = workload.name.clone();
        agents.screen.doing("restoring the data set", "");
        let Some(first) = hosts::nodes_of(self.parts.setup).first().copied() else { return Ok(()) };
        let empty = Request::Database(DatabaseRequest::Empty);
        agents.call(first, empty, answer!(Reply::Emptied => ()))?;
        // What was written meanwhile is in no data set any more.
        self.caches(&DatabaseRequest::Empty, answer!(Reply::Emptied => ()))?;
        let renewed = answer!(Reply::Renewed(warmed) => warmed);
        let renewed = self.each(&DatabaseRequest::Renew { cache, workload: name }, renewed)?;
        let sample_keys = sample_keys(plan, workload);
        self.each(&DatabaseRequest::LookUp { sample_keys }, answer!(Reply::LookedUp => ()))?;
        let is_asked_for = plan.caches.asks_for_warm(&workload.name);
        for (host, warmed) in renewed {
            if let Some(started) = self.state.started.get_mut(&host) {
                started.warmed = warmed.map(|warmed| Warmed { is_asked_for, ..warmed });
            }
        }
        Ok(())
    }

    /// Why a step failed: where a database has ended, that, whatever the step made of its silence. A process that was
    /// killed closes its connections before its end can be seen, so that it is looked for until [`DYING_MAX`] is over.
    fn reason_for(&mut self, failure: Failure) -> Failure {
        let may_be_silence = match &failure {
            Failure::Refused { error, .. } => !error.cancelled,
            failure => matches!(failure.next(), Next::TrialInvalid(cause) if cause != Cause::DatabaseEnded),
        };
        let failed = Instant::now();
        while may_be_silence && failed.elapsed() < DYING_MAX {
            match self.usage() {
                Err(reason @ (Failure::DatabaseEnded { .. } | Failure::Interrupted(_))) => return reason,
                Ok(_) | Err(_) => sleep(LOOK),
            }
        }
        failure
    }

    /// What each node has used.
    fn usage(&mut self) -> Result<BTreeMap<HostId, Usage>> {
        self.each(&DatabaseRequest::Usage, answer!(Reply::Usage(Some(usage)) => usage))
    }

    /// Asks every node; an error where a database has ended.
    fn each<R>(&mut self, request: &DatabaseRequest, read: impl Fn(Reply) -> Result<R>) -> Result<BTreeMap<HostId, R>> {
        self.each_of(|_| request.clone(), read)
    }

    /// The same with a request for each.
    fn each_of<R>(
        &mut self,
        request: impl Fn(HostId) -> DatabaseRequest,
        read: impl Fn(Reply) -> Result<R>,
    ) -> Result<BTreeMap<HostId, R>> {
        let nodes = hosts::nodes_of(self.parts.setup).into_iter();
        let requests = nodes.map(|host| (host, Request::Database(request(host)))).collect();
        let answers = ask_nodes(self.run, self.parts.setup, requests, self.state)?;
        let replies = all_or_gravest(answers).map_err(|(_, failure)| failure)?;
        let read = |(host, reply)| read(reply).map(|value| (host, value));
        replies.into_iter().map(read).collect()
    }
}

/// What happened between two looks at a node.
fn between(before: &Usage, after: &Usage, seconds: f64, loaded: &WarmRound) -> RestRound {
    RestRound {
        seconds,
        operations: loaded.operations,
        database_cpu_s: after.database_cpu_s - before.database_cpu_s,
        compiler_cpu_s: after.compiler_cpu_s.zip(before.compiler_cpu_s).map(|(a, b)| a - b),
        device_reads: after.device_reads - before.device_reads,
        read_bytes: after.read_bytes - before.read_bytes,
        cached_bytes: after.cached_bytes,
        cache_hit_ratio: loaded.cache.map(|cache| cache.hits as f64 / cache.reads.max(1) as f64),
    }
}
