//! Watching a host once a second: readers of `/proc`, cgroups, the counters of EBS volumes and the Java GC log, and the
//! thread that calls them.
//!
//! Every reader takes the directory it reads from, so that tests feed it a made-up tree, and gives `None` for what is
//! not there: missing is not zero. Raw counters go into the sample; rates are for later.

mod cgroup;
mod compilers;
mod ebs;
mod environment;
mod found;
mod gc_log;
mod others;
mod proc;
mod sampler;
mod ticker;

pub use cgroup::CgroupFiles;
pub use compilers::{CompilerMeter, compiler_thread_ids, thorough_compiler_thread_ids};
pub use ebs::ebs_figures;
pub use environment::{environment, memory_bytes};
pub use found::{FoundProcess, GcLogPlace, NotFound, OpenFile};
pub use others::OthersWatch;
pub use proc::{block_device, family_cpu_s, process_cpu_s};
pub use sampler::{Sampler, Sources};
pub use ticker::{Annotate, Monitor};
