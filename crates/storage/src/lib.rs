//! Emulated volumes, cgroup limits, ledger.
//!
//! What a paid-for volume would be, on one Linux machine: a [`LoopVolume`] is a sparse file behind a loop device with
//! XFS on it; an [`Array`] makes one RAID 0 of several. Either a [`VolumeServer`] answers for the file as the volume
//! would, or a [`Cgroup`] holds a process to the volume's IOPS and bytes per second (and in any case to its memory and
//! CPUs). [`probe()`] measures what the result really delivers. Everything is entered into a [`Ledger`] before it is
//! created, so that [`clean()`] can undo a killed run.
//!
//! All of it needs root; [`preflight()`] says what a machine lacks.

mod array;
mod cgroup;
mod clean;
mod cold;
mod command;
mod disk;
mod error;
mod file_system;
mod ledger;
mod ledger_item;
mod left;
mod loops;
mod mounts;
mod network_cut;
mod page_cache;
mod permitted;
mod preflight;
mod probe;
mod process;
mod read_ahead;
mod resident;
mod roots;
mod server;
mod tree;
mod volume;
mod warm;
mod whole;
mod work;

pub use array::Array;
pub use cgroup::{
    CANNOT_JOIN_EXIT_STATUS, Cgroup, CgroupPaths, CgroupVersion, Controller, ControllerPath, Controllers, DeviceLimit,
    ResourceLimits, controllers,
};
pub use clean::{Cleaned, clean};
pub use cold::{device_of, drop_page_cache};
pub use command::call as call_program;
pub use disk::Disk;
pub use error::{Result, StorageError, io_error};
pub use guarded::start_time_ticks;
pub use ledger::{Ledger, LedgerId, LedgerItem};
pub use left::Left;
pub use mounts::share_mounts_below;
pub use network_cut::{NetworkCut, can_cut_network};
pub use page_cache::{PageCacheBudget, page_cache_bytes};
pub use preflight::{
    Problem, changed_by_others, free_bytes, preflight, preflight_without_limits, preflight_without_volumes,
};
pub use probe::{
    BurstDrain, DepthStep, Measured as ProbeMeasured, ProbeFigures, ProbeRequest, SequentialReads, Suite as ProbeSuite,
    probe, probe_members, probe_suite,
};
pub use read_ahead::{DISK_READ_AHEAD_KB, ReadAhead, read_ahead_kb_of};
pub use resident::{FilePages, Resident, read_pages};
pub use served::Counts as ServedCounts;
pub use server::{ServedGauge, VolumeServer};
pub use tree::{Restored, copy_tree, remove_tree, restore_apart, restore_tree, tree_bytes};
pub use volume::LoopVolume;
pub use warm::{ReadFiles, read_files};
pub use whole::{ReadWhole, device_bytes, read_whole};
pub use work::{LockHolder, Measuring, WorkDirectory};
