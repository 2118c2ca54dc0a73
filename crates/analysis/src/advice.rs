//! Settings that the run did not vary and that are known to matter where its data volume is the limit: hypotheses with
//! the evidence that makes each worth trying.
//!
//! What is known of each setting and from where: docs/method.md. Nothing is advised where the settings are not known:
//! of a simulation, which has none, and of a cluster that exists.

use cassandra_model::{CASSANDRA, CHUNK_BYTES, USUAL_STRATEGY, chunk_bytes, compaction_strategy, is_compressed};
use experiment::{Plan, Settings};
use reported::cassandra::{COMPACTED_BYTES_PER_OPERATION, SSTABLES_PER_READ};

use crate::document::{CellAnalysis, ConfigurationFacts, NotTried, Untried};
use crate::limit::LimitKind;

/// Read-dominated: more than this share of the data volume's requests are reads.
const READ_SHARE: f64 = 0.5;
/// Volumes that read this many times the record for each read of one read what nobody asked for.
const BYTES_OF_RECORD: f64 = 4.0;
/// A chunk is worth cutting if it holds at least so many records.
const RECORDS_OF_CHUNK: f64 = 2.0;
/// More SSTables than this for each read are many: a leveled table without overlap needs about one, and one more for
/// what was written lately.
const MANY_SSTABLES: f64 = 2.0;
/// A read request of so many chunks has more in it than a read of one record needs.
const CHUNKS_OF_REQUEST: f64 = 2.0;
/// Where compactions wrote (and so read) more than this share of the bytes read, their large requests make the mean.
const OF_COMPACTION: f64 = 0.1;

/// What a run shows, and what it shows it of.
pub struct Seen<'a> {
    /// The plan: where it runs, workloads and data set.
    pub plan: &'a Plan,
    /// The configurations as they were built.
    pub configurations: &'a [ConfigurationFacts],
    pub cells: &'a [CellAnalysis],
}

impl Seen<'_> {
    /// Of the cells of one configuration, in their order.
    pub fn not_tried(&self, configuration: &str) -> Vec<NotTried> {
        // Tables of the user's own state their options themselves, which no setting shows; what is known are
        // Cassandra's.
        if self.plan.own.is_some() || *self.plan.target.database.product() != CASSANDRA {
            return Vec::new();
        }
        let has_settings = |c: &&ConfigurationFacts| !self.plan.place.is_simulated() && c.exists_at.is_empty();
        let facts = self.configurations.iter().find(|c| c.name == configuration);
        let Some(facts) = facts.filter(has_settings) else { return Vec::new() };
        let cells = self.cells.iter().filter(|c| c.configuration == configuration);
        let mut all = Vec::new();
        for cell in cells.filter(|cell| is_read_limited(cell)) {
            let settings = [self.chunk_length(facts, cell), self.strategy(facts, cell), self.read_ahead(facts, cell)];
            all.extend(settings.into_iter().flatten().map(|setting| NotTried {
                configuration: cell.configuration.clone(),
                workload: cell.workload.clone(),
                load: cell.load,
                setting,
            }));
        }
        all
    }

    /// Whether configurations of the run differ in this.
    fn is_varied<V: PartialEq>(&self, what: impl Fn(&Settings) -> V) -> bool {
        let mut all = self.configurations.iter().map(|c| what(&c.settings));
        let first = all.next();
        all.any(|other| Some(other) != first)
    }

    /// A chunk is read whole for a record of it, which matters where bytes run out: a request of a chunk counts as one
    /// whatever its size. Nothing is said of scans, which want its neighbours.
    fn chunk_length(&self, facts: &ConfigurationFacts, cell: &CellAnalysis) -> Option<Untried> {
        let chunk_bytes = chunk_bytes(&facts.settings);
        let record_bytes = self.plan.dataset.record_bytes();
        let is_large = chunk_bytes >= CHUNK_BYTES && chunk_bytes >= RECORDS_OF_CHUNK * record_bytes;
        let is_varied = self.is_varied(|s| (is_compressed(s), cassandra_model::chunk_bytes(s)));
        let mix = &self.plan.workloads.iter().find(|w| w.name == cell.workload)?.mix;
        if !is_compressed(&facts.settings) || !is_large || is_varied || mix.scan > 0.0 || !is_short_of_bytes(cell) {
            return None;
        }
        // What compactions wrote they had read; of a database that does not count them nothing is known of it.
        let compacted = cell.database.get(&COMPACTED_BYTES_PER_OPERATION).unwrap_or(0.0);
        let read = cell.device_read_bytes_per_operation? - compacted;
        // A read may ask every replica.
        let replicas = f64::from(facts.placement.replication_factor);
        let read_bytes_per_read = stats::ratio(read, mix.reads() * replicas)?;
        (read_bytes_per_read >= BYTES_OF_RECORD * record_bytes).then_some(Untried::ChunkLength {
            read_bytes_per_read,
            record_bytes,
            chunk_bytes,
        })
    }

    fn strategy(&self, facts: &ConfigurationFacts, cell: &CellAnalysis) -> Option<Untried> {
        let is_varied = self.is_varied(|s| compaction_strategy(s).to_owned());
        let sstables_per_read = cell.database.get(&SSTABLES_PER_READ)?;
        let is_many = sstables_per_read > MANY_SSTABLES;
        let is_usual = compaction_strategy(&facts.settings) == USUAL_STRATEGY;
        (is_usual && !is_varied && is_many).then_some(Untried::CompactionStrategy { sstables_per_read })
    }

    /// Bytes that nobody asked for matter where bytes run out.
    fn read_ahead(&self, facts: &ConfigurationFacts, cell: &CellAnalysis) -> Option<Untried> {
        let chunk_bytes = chunk_bytes(&facts.settings);
        let is_little = |kb: u32| f64::from(kb) * 1024.0 <= chunk_bytes;
        let is_varied = self.is_varied(|s| s.read_ahead_kb);
        let is_little = facts.settings.read_ahead_kb.is_some_and(is_little);
        if !is_compressed(&facts.settings) || is_little || is_varied || !is_short_of_bytes(cell) {
            return None;
        }
        let read = cell.device_read_bytes_per_operation?;
        let compacted = cell.database.get(&COMPACTED_BYTES_PER_OPERATION).unwrap_or(0.0);
        let read_bytes_per_request = stats::ratio(read, cell.device_reads_per_operation?)?;
        let is_more = read_bytes_per_request >= CHUNKS_OF_REQUEST * chunk_bytes;
        (is_more && compacted <= OF_COMPACTION * read)
            .then_some(Untried::ReadAhead { read_bytes_per_request, chunk_bytes })
    }
}

/// Whether reads of the data volume are what bounds a cell, and CPUs do not bound it as well.
fn is_read_limited(cell: &CellAnalysis) -> bool {
    use LimitKind::{BurstSpent, InstanceEbsBandwidth, VolumeIops, VolumeThroughput};
    let reads = cell.device_read_iops.unwrap_or(0.0);
    let writes = cell.device_write_iops.unwrap_or(0.0);
    let limits = [VolumeIops, VolumeThroughput, InstanceEbsBandwidth, BurstSpent];
    cell.withheld.is_none()
        && limits.contains(&cell.limit.kind)
        && !cell.limit.also.contains(&LimitKind::Cpu)
        && reads > READ_SHARE * (reads + writes)
}

/// Whether bytes a second are at their limit, of the volume or of the way to it.
fn is_short_of_bytes(cell: &CellAnalysis) -> bool {
    let mut limits = cell.limit.also.iter().chain([&cell.limit.kind]);
    limits.any(|limit| matches!(limit, LimitKind::VolumeThroughput | LimitKind::InstanceEbsBandwidth))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use evidence::HostId;
    use experiment::VolumeRole;

    use super::*;
    use crate::analyse;
    use crate::document::{Analysis, Withheld};
    use crate::story::{job, place, run, table, trials};

    static STORY: LazyLock<(Plan, Analysis)> = LazyLock::new(|| {
        let (job, trials) = (job(), trials());
        let analysis = analyse(&run(&job, &trials));
        (job.plan, analysis)
    });

    /// The story's run: reads of gp2-320's volume are its limit; records have 1,000 bytes, and 8 of 10 operations read.
    struct Made {
        plan: Plan,
        configurations: Vec<ConfigurationFacts>,
        cells: Vec<CellAnalysis>,
    }

    impl Made {
        /// The cell of gp2-320.
        fn cell(&mut self) -> &mut CellAnalysis {
            &mut self.cells[0]
        }

        /// So many read requests, and bytes of them, for each operation, at the volume's limit of bytes.
        fn reads(&mut self, requests: f64, bytes: f64) {
            self.cell().limit.kind = LimitKind::VolumeThroughput;
            self.cell().device_reads_per_operation = Some(requests);
            self.cell().device_read_bytes_per_operation = Some(bytes);
        }

        /// Settings of both configurations.
        fn all(&mut self, settings: &Settings) {
            self.configurations.iter_mut().for_each(|c| c.settings = settings.clone());
        }
    }

    /// What is advised of gp2-320 after a change of the run.
    fn advised(change: impl FnOnce(&mut Made)) -> Vec<Untried> {
        let (plan, analysis) = STORY.clone();
        let mut made = Made { plan, configurations: analysis.configurations, cells: analysis.cells };
        assert_eq!(made.cell().limit.kind, LimitKind::VolumeIops);
        change(&mut made);
        let seen = Seen { plan: &made.plan, configurations: &made.configurations, cells: &made.cells };
        seen.not_tried("gp2-320").into_iter().map(|n| n.setting).collect()
    }

    fn chunks(kib: &str) -> Settings {
        table("compression", "chunk_length_in_kb", kib)
    }

    fn read_ahead(kb: u32) -> Settings {
        Settings { read_ahead_kb: Some(kb), ..Settings::default() }
    }

    /// Volumes that read 5 times the record, in requests that are no larger than a chunk.
    fn much(made: &mut Made) {
        made.reads(0.5, 4_000.0);
    }

    #[test]
    fn chunks_are_advised_where_volumes_read_much_more_than_the_record() {
        assert_eq!(advised(|made| made.reads(0.5, 1_900.0)), [], "2.4 times the record");
        assert_eq!(advised(|made| made.reads(0.5, 3_190.0)), []);
        let reported = advised(|made| made.reads(0.5, 3_210.0));
        let [Untried::ChunkLength { read_bytes_per_read, record_bytes, chunk_bytes }] = reported.as_slice() else {
            panic!("{reported:?}");
        };
        assert!((read_bytes_per_read - 4_012.5).abs() < 1e-6, "{reported:?}");
        assert_eq!((*record_bytes, *chunk_bytes), (1_000.0, 16_384.0));
        // What compactions read is no read of a client.
        let beside_compactions = |made: &mut Made| {
            made.reads(0.5, 3_210.0);
            made.cell().database.set(&COMPACTED_BYTES_PER_OPERATION, Some(20.0));
        };
        assert_eq!(advised(beside_compactions), []);
    }

    #[test]
    fn chunks_are_advised_only_where_they_are_large_and_nobody_varied_them() {
        assert_eq!(advised(much).len(), 1);
        let with = |settings: Settings| {
            advised(|made| {
                much(made);
                made.all(&settings);
            })
        };
        assert_eq!(with(chunks("64")).len(), 1);
        assert_eq!(with(chunks("16")).len(), 1);
        assert_eq!(with(chunks("8")), []);
        assert_eq!(with(table("compression", "enabled", "false")), []);
        for other in [chunks("4"), chunks("64"), table("compression", "enabled", "false")] {
            let varied = |made: &mut Made| {
                much(made);
                made.configurations[1].settings = other;
            };
            assert_eq!(advised(varied), []);
        }
        // Another strategy varies another thing.
        let other = table("compaction", "class", "LeveledCompactionStrategy");
        let varied = |made: &mut Made| {
            much(made);
            made.configurations[1].settings = other;
        };
        assert_eq!(advised(varied).len(), 1);
    }

    #[test]
    fn chunks_are_not_advised_for_large_records_and_scans() {
        let records_of = |bytes: u32| {
            advised(|made| {
                made.reads(2.5, 40_000.0);
                (made.plan.dataset.fields, made.plan.dataset.field_length) = (1, bytes);
            })
        };
        assert_eq!(records_of(8_192).len(), 1, "two of them are a chunk");
        assert_eq!(records_of(8_193), []);
        let scans = |made: &mut Made| {
            much(made);
            (made.plan.workloads[0].mix.read, made.plan.workloads[0].mix.scan) = (0.7, 0.1);
        };
        assert_eq!(advised(scans), []);
    }

    #[test]
    fn another_strategy_is_advised_where_reads_merge_many_sstables() {
        let merging = |sstables: f64, change: &dyn Fn(&mut Made)| {
            advised(|made| {
                made.cell().database.set(&SSTABLES_PER_READ, Some(sstables));
                change(made);
            })
        };
        assert_eq!(merging(2.0, &|_| {}), []);
        let reported = [Untried::CompactionStrategy { sstables_per_read: 2.1 }];
        assert_eq!(merging(2.1, &|_| {}), reported);
        let unified = table("compaction", "class", "UnifiedCompactionStrategy");
        assert_eq!(merging(2.1, &|made| made.all(&unified)), [], "it is no size-tiered one");
        let varied = |made: &mut Made| made.configurations[1].settings = unified.clone();
        assert_eq!(merging(2.1, &varied), []);
        let other_chunks = |made: &mut Made| made.configurations[1].settings = chunks("4");
        assert_eq!(merging(2.1, &other_chunks), reported, "chunks are another setting");
    }

    #[test]
    fn less_read_ahead_is_advised_where_a_request_is_longer_than_chunks() {
        let requests_of = |bytes: f64, change: &dyn Fn(&mut Made)| {
            advised(|made| {
                made.reads(0.01, 0.01 * bytes);
                change(made);
            })
        };
        assert_eq!(requests_of(32_700.0, &|_| {}), []);
        let reported = requests_of(32_800.0, &|_| {});
        assert!(matches!(reported.as_slice(), [Untried::ReadAhead { .. }]), "{reported:?}");
        assert_eq!(requests_of(32_800.0, &|made| made.all(&chunks("64"))), []);
        assert_eq!(requests_of(32_800.0, &|made| made.all(&read_ahead(16))), [], "it is as small as a chunk");
        assert_eq!(requests_of(32_800.0, &|made| made.all(&read_ahead(64))).len(), 1);
        let varied = |made: &mut Made| made.configurations[1].settings = read_ahead(8);
        assert_eq!(requests_of(32_800.0, &varied), []);
        // Compactions read in large requests, whatever is set.
        let compacting = |share: f64| {
            requests_of(32_800.0, &|made| {
                made.cell().database.set(&COMPACTED_BYTES_PER_OPERATION, Some(share * 328.0));
            })
        };
        assert_eq!((compacting(0.09).len(), compacting(0.11)), (1, vec![]));
    }

    #[test]
    fn nothing_is_advised_where_reads_of_the_volume_are_not_the_limit() {
        let with = |change: &dyn Fn(&mut CellAnalysis)| {
            advised(|made| {
                much(made);
                change(made.cell());
            })
            .len()
        };
        assert_eq!(with(&|_| {}), 1);
        let by_requests =
            |also: Vec<LimitKind>| with(&|c| (c.limit.kind, c.limit.also) = (LimitKind::VolumeIops, also.clone()));
        assert_eq!(by_requests(Vec::new()), 0, "a request counts as one whatever its size");
        assert_eq!(by_requests(vec![LimitKind::VolumeThroughput]), 1);
        for other in [
            LimitKind::Cpu,
            LimitKind::Gc,
            LimitKind::CommitLog,
            LimitKind::Client,
            LimitKind::OfferedRate,
            LimitKind::NoneFound,
        ] {
            assert_eq!(with(&|c| c.limit.kind = other), 0, "{other:?}");
        }
        assert_eq!(with(&|c| c.limit.also = vec![LimitKind::Cpu]), 0);
        assert_eq!(with(&|c| c.limit.also = vec![LimitKind::CommitLog]), 1);
        assert_eq!(with(&|c| c.withheld = Some(Withheld::PageCache)), 0);
        let writes = |share: f64| with(&move |c| c.device_write_iops = c.device_read_iops.map(|reads| reads * share));
        assert_eq!((writes(0.99), writes(1.0)), (1, 0));
    }

    #[test]
    fn nothing_is_advised_where_settings_are_not_known() {
        let simulated = |made: &mut Made| {
            much(made);
            made.plan.place = place(experiment::Provider::Simulated);
        };
        assert_eq!(advised(simulated), []);
        let existing = |made: &mut Made| {
            much(made);
            made.configurations[0].exists_at = vec!["10.0.0.5".to_owned()];
        };
        assert_eq!(advised(existing), []);
    }

    /// Of the whole way from samples: the baseline, because nothing is recommended.
    #[test]
    fn a_run_advises_of_its_baseline_where_it_recommends_nothing() {
        let of_requests = |bytes: f64| {
            let mut trials = trials();
            for host in trials.iter_mut().filter_map(|t| t.hosts.get_mut(&HostId::DATABASE)) {
                if let Some(data) = host.volumes.get_mut(&VolumeRole::Data) {
                    data.read_bytes = data.reads * bytes;
                    data.windows.read_bytes_per_s = data.windows.read_iops.iter().map(|reads| reads * bytes).collect();
                }
            }
            analyse(&run(&job(), &trials)).not_tried
        };
        assert_eq!(of_requests(29_000.0), [], "requests are the limit");
        // 160 MiB/s.
        let reported = of_requests(175_000.0);
        assert_eq!(reported.len(), 2, "chunks, and requests that are longer: {reported:?}");
        assert_eq!((reported[0].configuration.as_str(), reported[0].workload.as_str()), ("gp2-320", "read-heavy"));
    }
}
