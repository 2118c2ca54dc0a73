//! How much disk a run needs on its database hosts.

use std::collections::BTreeSet;

use crate::{COMMITLOG_BYTES, Cluster, Job, Note, Setup};

/// Room besides the data on each configuration's volumes, bytes.
const SPARE_BYTES: f64 = 268_435_456.0;

impl Job {
    /// Bytes that a database host needs in its work directory: its part of each cluster's data set while it is loaded
    /// and as a snapshot, and each configuration's copy, which updates and their compaction may double, with the space
    /// that is stated for its log. Where a volume is `restored`, the data set lies there already and the copy shares
    /// its blocks until it is written anew. Before that a snapshot of the user's own is taken in whole; one in a bucket
    /// is fetched before, once, by the first host. `host` is its number among the database hosts of the run, from 0.
    pub fn needed_bytes(&self, host: u32, restored: bool) -> u64 {
        let part = |cluster: Cluster| {
            let is_node = cluster.hosts().contains(&host);
            is_node.then(|| self.bytes_of(&cluster) * cluster.files.placement.share_per_node())
        };
        let clusters = Cluster::all_of(&self.setups).into_iter();
        let snapshots: f64 = clusters.filter_map(part).map(|bytes| bytes * 2.0).sum();
        let log = |setup: &Setup| setup.commitlog_bytes.unwrap_or(0) as f64;
        let copies = self.started().filter_map(|setup| Some((part(Cluster::of(setup))?, log(setup))));
        let (loaded, copied) = if restored { (0.0, 1.0) } else { (1.0, 2.0) };
        let copies: f64 = copies.map(|(bytes, log)| bytes * copied + SPARE_BYTES + log).sum();
        let own = self.plan.own.as_ref().and_then(|own| own.snapshot.as_ref());
        let taken_in = own.filter(|_| snapshots > 0.0).map_or(0.0, |own| {
            let fetched = if host == 0 { own.bytes_fetched() } else { 0 };
            own.bytes_taken_in().saturating_add(fetched) as f64
        });
        (snapshots * loaded + copies).max(taken_in * loaded) as u64
    }

    /// Bytes that the logs of a database host need on a disk of their own: each configuration leaves as much there as
    /// its database is given, and the one that runs may exceed that by as much again for a while. Where nothing is
    /// stated they are asked for no more together than the data sets need.
    pub fn log_bytes(&self, host: u32, restored: bool) -> u64 {
        let here: Vec<&Setup> = self.started().filter(|setup| setup.database_hosts().contains(&host)).collect();
        let unstated = COMMITLOG_BYTES.min(self.needed_bytes(host, restored) / (here.len() as u64 + 1));
        let each: Vec<u64> = here.iter().map(|setup| setup.commitlog_bytes.unwrap_or(unstated)).collect();
        each.iter().chain(each.iter().max()).fold(0_u64, |all, bytes| all.saturating_add(*bytes))
    }

    /// Bytes that all database hosts need below one work directory, where they share a machine.
    pub fn needed_bytes_together(&self) -> u64 {
        let hosts: BTreeSet<u32> = self.started().flat_map(Setup::database_hosts).collect();
        hosts.into_iter().map(|host| self.needed_bytes(host, false)).fold(0, u64::saturating_add)
    }

    /// The note on a work directory in which all database hosts have so many bytes free, where they need more.
    pub fn no_room(&self, directory: &str, free_bytes: u64) -> Option<Note> {
        let needed = self.needed_bytes_together();
        (needed > free_bytes).then(|| {
            let (needed, free) = (needed as f64, free_bytes as f64);
            let message = format!(
                "a run on this machine needs {:.0} GB of disk in {directory}, which has {:.0} GB free",
                needed / 1e9,
                free / 1e9
            );
            let advice = "Raise [provider.local] scale, name a larger disk by work_directory, or free some space";
            Note::new("no_room", message, advice).with([("needed_bytes", needed), ("free_bytes", free)])
        })
    }

    /// Bytes on disk of the largest data set, with its backlog; one replica.
    pub fn most_data_bytes(&self) -> f64 {
        let clusters = Cluster::all_of(&self.setups);
        let at_rest = self.plan.dataset.most_bytes_on_disk();
        clusters.iter().map(|cluster| self.bytes_of(cluster)).fold(at_rest, f64::max)
    }

    /// Bytes on disk of a cluster's data set, with its backlog; one replica.
    fn bytes_of(&self, cluster: &Cluster) -> f64 {
        let dataset = &self.plan.dataset;
        dataset.most_bytes_on_disk() * cluster.files.backlog.map_or(1.0, |backlog| backlog.growth(dataset.records))
    }

    /// The configurations whose nodes the run starts.
    fn started(&self) -> impl Iterator<Item = &Setup> {
        self.setups.iter().filter(|setup| setup.at.is_started())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use statements::{Data, Script};

    use super::*;
    use crate::testing::one_and_three;
    use crate::{DataSetPlace, Own, Snapshot, SnapshotTable};

    fn assert_bytes(bytes: f64, expected: f64) {
        assert!((bytes - expected).abs() < 10.0, "{bytes} {expected}");
    }

    #[test]
    fn a_host_needs_room_for_its_part_of_each_data_set_loaded_and_copied() {
        let job = one_and_three();
        // Two thirds of the data set on each of the three: 1.15 GB on disk, twice loaded, twice copied.
        let (whole, part) = (1e9 * 1.15, 1e9 * 1.15 * 2.0 / 3.0);
        let needed = |host, restored| job.needed_bytes(host, restored) as f64;
        assert_bytes(needed(1, false), part * 4.0 + SPARE_BYTES);
        // On a volume that has the data set already: nothing is loaded, and a copy is written anew once.
        assert_bytes(needed(1, true), part + SPARE_BYTES);
        // The first host is the single node too.
        assert_bytes(needed(0, false), (whole + part) * 4.0 + 2.0 * SPARE_BYTES);
        assert_eq!(job.needed_bytes(3, false), 0, "no host of the run");
        let each: u64 = (0..3).map(|host| job.needed_bytes(host, false)).sum();
        assert_eq!(job.needed_bytes_together(), each);
        let is_noted = |free_bytes| job.no_room("/w", free_bytes).is_some();
        assert_eq!((is_noted(each - 1), is_noted(each)), (true, false));
    }

    /// A log of a stated space may fill it.
    #[test]
    fn a_log_needs_the_space_that_is_stated_for_it() {
        let mut job = one_and_three();
        let before = job.needed_bytes(0, false);
        job.setups[0].commitlog_bytes = Some(4 << 30);
        assert_eq!(job.needed_bytes(0, false), before + (4 << 30));
    }

    /// The first host has two configurations: what the one that does not run leaves lies there, too.
    #[test]
    fn a_disk_of_logs_has_room_for_each_and_for_the_largest_twice() {
        let mut job = one_and_three();
        let unstated = 1_u64 << 30;
        assert_eq!([0, 1, 3].map(|host| job.log_bytes(host, false)), [3 * unstated, 2 * unstated, 0]);
        job.setups[0].commitlog_bytes = Some(16 << 30);
        assert_eq!([0, 1].map(|host| job.log_bytes(host, false)), [(2 * 16 + 1) << 30, 2 * unstated]);
        // Of a small data set no more than that needs itself, whatever number of configurations has it.
        (job.setups[0].commitlog_bytes, job.plan.dataset.records) = (None, 1_000);
        assert_eq!(job.log_bytes(0, false), job.needed_bytes(0, false) / 3 * 3);
        assert_eq!(job.log_bytes(1, false), job.needed_bytes(1, false) / 2 * 2);
    }

    /// Three nodes of one machine take in three times what one does, each before it removes what others keep.
    #[test]
    fn each_node_takes_a_snapshot_in_whole() {
        let mut job = one_and_three();
        let (name, sha256) = ("t".to_owned(), "ab".to_owned());
        let table = SnapshotTable { name, folders: 1, sstables: 1, bytes: 4_000_000_000, sha256 };
        let place = DataSetPlace::Directory { path: "/s".to_owned() };
        let snapshot = Snapshot { place, tables: vec![table], least_found: 0.9 };
        job.plan.own = Some(Own {
            file: "t.cql".to_owned(),
            script: Script::parse(
                "CREATE TABLE t (k int PRIMARY KEY);\n-- statement r weight 1\nSELECT * FROM t WHERE k = ?;",
                &["one"],
            )
            .unwrap(),
            data: Data { seed: 1, tables: Vec::new(), statements: BTreeMap::new() },
            row_bytes: BTreeMap::new(),
            replay: None,
            snapshot: Some(snapshot),
        });
        assert_eq!([0, 1, 2].map(|host| job.needed_bytes(host, false)), [12_000_000_000; 3]);
        assert_eq!(job.needed_bytes_together(), 36_000_000_000);
        assert_eq!(job.needed_bytes(3, false), 0, "no host of the run");
        assert!(job.needed_bytes(1, true) < 2_000_000_000, "it has the data set already");
        // Out of a bucket there is one copy more, for all of them.
        let snapshot = job.plan.own.as_mut().and_then(|own| own.snapshot.as_mut()).unwrap();
        let (bucket, region) = ("our-data".to_owned(), "us-east-1".to_owned());
        snapshot.place = DataSetPlace::S3 { bucket, prefix: String::new(), region, profile: None };
        assert_eq!([0, 1].map(|host| job.needed_bytes(host, false)), [16_000_000_000, 12_000_000_000]);
    }

    #[test]
    fn the_largest_data_set_is_the_one_with_a_backlog() {
        let mut job = one_and_three();
        assert_bytes(job.most_data_bytes(), 1e9 * 1.15);
        job.setups[1].backlog = Some(crate::Backlog { overwrites: 0.5, sstables: 4 }.of(1_000_000));
        assert_bytes(job.most_data_bytes(), 1e9 * 1.15 * 1.5);
    }
}
