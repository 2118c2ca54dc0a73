//! What a host shows about once a second.
//!
//! Raw counters are stored; rates are derived later, purely. Missing is not zero: a figure that a host cannot give (no
//! pressure information, no cgroup, no log yet) is `None`. The unit is in the name; a name without "per" that ends in
//! `_s`, `_bytes`, `reads`, ... is a counter that only grows, unless its documentation says "now".

use std::collections::BTreeMap;

use experiment::VolumeRole;
use reported::Reported;
use serde::{Deserialize, Serialize};

/// Where a figure is in the figures that it is one of.
pub(crate) type Place<Figures> = fn(&mut Figures) -> &mut Option<f64>;

/// Declares a struct whose fields are all optional figures, together with its columns. In JSON, which goes from agent
/// to controller once a second, missing figures are left out; in a file each has its column.
macro_rules! figures {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<f64>,)*
        }

        impl $name {
            pub(crate) fn values(&self) -> Vec<Option<f64>> {
                vec![$(self.$field),*]
            }

            /// Where the figure of this name is; `None`: there is no such figure.
            pub(crate) fn place(name: &str) -> Option<Place<Self>> {
                let places: &[Place<Self>] = &[$(|figures| &mut figures.$field),*];
                let at = Self::FIELDS.iter().position(|field| *field == name)?;
                places.get(at).copied()
            }

            /// Names of all figures, without a volume's prefix.
            pub const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];
        }
    };
}

figures! {
    /// Figures of a host and of the process watched on it, whatever that is.
    HostFigures {
        /// CPU time of the whole host in user mode, seconds (/proc/stat).
        cpu_user_s,
        /// CPU time of the whole host in the kernel, interrupts included, seconds.
        cpu_system_s,
        /// Idle time summed over CPUs, seconds.
        cpu_idle_s,
        /// Idle time with I/O outstanding, seconds.
        cpu_iowait_s,
        /// Time taken by the hypervisor, seconds.
        cpu_steal_s,
        /// CPU time of the cgroup, seconds.
        cgroup_cpu_s,
        /// Time that the cgroup's tasks waited because of its CPU limit, seconds.
        cgroup_throttled_s,
        /// Enforcement periods of the CPU limit.
        cgroup_periods,
        /// Periods in which the limit was reached.
        cgroup_throttled_periods,
        /// Memory of the cgroup, now, bytes.
        cgroup_memory_bytes,
        /// Anonymous memory of the cgroup, and what its processes share without a file, now, bytes.
        cgroup_anonymous_bytes,
        /// Page cache of the cgroup, without shared memory, now, bytes.
        cgroup_file_bytes,
        /// Mapped part of that page cache, now, bytes.
        cgroup_mapped_bytes,
        /// Dirty part of that page cache, now, bytes.
        cgroup_dirty_bytes,
        /// Part under writeback, now, bytes.
        cgroup_writeback_bytes,
        /// Page faults of the cgroup that needed a device read.
        cgroup_major_faults,
        /// Process id of the database, now; a change means a restart.
        database_pid,
        /// CPU time of the watched process, seconds.
        process_cpu_s,
        /// Resident set of the watched process, now, bytes.
        process_rss_bytes,
        /// Memory of the host that programs could still get, now, bytes.
        memory_available_bytes,
        /// Time in which some task waited for a CPU, seconds (pressure stall information).
        pressure_cpu_some_s,
        /// Time in which some task waited for I/O, seconds.
        pressure_io_some_s,
        /// Time in which all tasks waited for I/O, seconds.
        pressure_io_full_s,
        /// Time in which some task waited for memory, seconds.
        pressure_memory_some_s,
        /// Time in which all tasks waited for memory, seconds.
        pressure_memory_full_s,
        /// Bytes received on all interfaces, loopback included.
        network_received_bytes,
        /// Bytes sent on all interfaces, loopback included.
        network_sent_bytes,
        /// TCP segments sent again.
        tcp_retransmits,
    }
}

figures! {
    /// Figures of one volume's block device.
    VolumeFigures {
        /// Read requests completed.
        reads,
        /// Read requests merged before they were issued.
        reads_merged,
        /// Bytes read.
        read_bytes,
        /// Time that read requests took, summed, seconds.
        read_wait_s,
        /// Write requests completed.
        writes,
        /// Write requests merged before they were issued.
        writes_merged,
        /// Bytes written.
        write_bytes,
        /// Time that write requests took, summed, seconds.
        write_wait_s,
        /// Requests under way, now.
        in_flight,
        /// Time with at least one request under way, seconds.
        busy_s,
        /// Requests under way integrated over time, seconds.
        weighted_busy_s,
        /// I/O credits in the burst bucket, now.
        burst_credits,
        /// IOPS limit in force, now.
        iops_limit,
        /// Credits of bytes in the bucket of a served st1 or sc1 volume, now.
        byte_credits,
        /// Limit of bytes per second in force, where that bucket moves it, now.
        bytes_limit,
        /// Time in which due answers of a served volume waited for this machine's disk, seconds.
        disk_floor_s,
        /// Time by which due answers of a served volume were late for want of CPU, seconds.
        cpu_floor_s,
        /// CPU time of the process that serves it, with all other volumes of that process, seconds.
        server_cpu_s,
    }
}

figures! {
    /// What Amazon EBS counts of a volume itself, since the volume was attached: the log page 0xD0 of its NVMe device
    /// (EBS user guide, "Amazon EBS detailed performance statistics", seen 2026-11-26); of a served volume what its
    /// server counts in the same way. Only the latency histogram has
    /// buckets of 32 bits, so that what is within so many microseconds goes back by 2^32 where one overflows.
    #[expect(missing_docs, reason = "the names say what these fields are")]
    EbsFigures {
        reads,
        writes,
        read_bytes,
        write_bytes,
        read_wait_s,
        write_wait_s,
        /// Time in which more requests were asked for than the volume's IOPS, seconds.
        volume_iops_exceeded_s,
        /// Time in which more bytes were asked for than the volume's throughput, seconds.
        volume_bytes_exceeded_s,
        /// Time in which more requests were asked for than the instance's path to EBS lets through, seconds.
        instance_iops_exceeded_s,
        /// Time in which more bytes were asked for than the instance's path to EBS lets through, seconds.
        instance_bytes_exceeded_s,
        /// Requests that wait to be completed, now.
        queue_length,
        reads_within_512_us,
        reads_within_1024_us,
        reads_within_2048_us,
        reads_within_4096_us,
        reads_within_16384_us,
        reads_within_65536_us,
        writes_within_512_us,
        writes_within_1024_us,
        writes_within_2048_us,
        writes_within_4096_us,
        writes_within_16384_us,
        writes_within_65536_us,
    }
}

/// One sample of a host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSample {
    /// Seconds from the start of measurement; negative in the warm-up. From an agent, until the trial is stored:
    /// monotonic seconds since its monitor began.
    pub t_s: f64,
    /// The host's wall clock, Unix milliseconds.
    pub unix_ms: i64,
    /// Host, cgroup, process.
    pub host: HostFigures,
    /// What the database on it says of itself.
    pub database: Reported,
    /// Devices by role.
    pub volumes: BTreeMap<VolumeRole, VolumeFigures>,
    /// What Amazon EBS counts of those that are its volumes. Apart from the others, so that a sample without it has no
    /// room for it.
    pub ebs: BTreeMap<VolumeRole, EbsFigures>,
}

impl HostSample {
    /// Reads plus writes per second on all data volumes between `before` and this sample; `None` when a counter of one
    /// is missing or went backwards.
    pub fn data_iops_since(&self, before: &Self) -> Option<f64> {
        let mut data = self.volumes.keys().filter(|role| role.is_data()).peekable();
        data.peek()?;
        data.map(|role| self.volume_iops_since(before, *role)).sum()
    }

    /// Reads plus writes per second on a volume between `before` and this sample; `None` when a counter is missing or
    /// went backwards (a new device, a reset).
    fn volume_iops_since(&self, before: &Self, role: VolumeRole) -> Option<f64> {
        let total = |s: &Self| {
            let v = s.volumes.get(&role)?;
            Some(v.reads? + v.writes?)
        };
        let seconds = (self.unix_ms - before.unix_ms) as f64 / 1e3;
        let operations = total(self)? - total(before)?;
        (seconds > 0.0 && operations >= 0.0).then(|| operations / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iops_are_differences_over_time_and_a_reset_is_no_rate() {
        let volume =
            |reads, writes| VolumeFigures { reads: Some(reads), writes: Some(writes), ..VolumeFigures::default() };
        let before = HostSample {
            unix_ms: 1_763_676_000_123,
            volumes: [(VolumeRole::Data, volume(5.0, 7.0)), (VolumeRole::Data2, volume(0.0, 4000.0))].into(),
            ..HostSample::default()
        };
        let mut after = before.clone();
        after.unix_ms += 2_000;
        let data = after.volumes.get_mut(&VolumeRole::Data).unwrap();
        data.reads = data.reads.map(|r| r + 300.0);
        data.writes = data.writes.map(|w| w + 100.0);
        assert_eq!(after.volume_iops_since(&before, VolumeRole::Data), Some(200.0));
        assert_eq!(before.volume_iops_since(&after, VolumeRole::Data), None);
        assert_eq!(after.volume_iops_since(&HostSample::default(), VolumeRole::Data), None);
        // The second data volume did nothing meanwhile.
        assert_eq!(after.data_iops_since(&before), Some(200.0));
        let data = after.volumes.get_mut(&VolumeRole::Data2).unwrap();
        data.reads = data.reads.map(|r| r + 20.0);
        assert_eq!(after.data_iops_since(&before), Some(210.0));
        assert_eq!(HostSample::default().data_iops_since(&before), None);
    }
}
