//! What a node's disks may do at all times: the smaller of volume and instance.

use catalog::{Catalog, ClusterRequest, GIB, LOCAL_BYTES_HELP, MIB};
use serde::Serialize;

use crate::flow::Flow;

/// Position of 4 KiB and of 256 KiB in [`catalog::SIZES_KIB`]: requests are what counts of the smallest, bytes of the
/// largest, and each is a limit by itself.
const AT_4_KIB: usize = 0;
const AT_256_KIB: usize = 3;

/// What lasts; no burst is counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Allowed {
    /// Of reads and writes together, as EBS counts.
    Together(Flow),
    /// Of each, as local disks have it.
    Apart {
        /// Of reads.
        read: Flow,
        /// Of writes.
        write: Flow,
    },
}

impl Allowed {
    /// One machine of a configuration; an error says why it is not known.
    pub(crate) fn of(catalog: &Catalog, request: &ClusterRequest, era: Option<&str>) -> Result<Self, String> {
        if request.volumes.is_empty() {
            let instance = catalog.instance(&request.instance);
            let limits = instance.and_then(|instance| instance.local_limits()).unwrap_or_default();
            let (Some(read_iops), Some(write_iops)) = (limits.read_iops, limits.write_iops) else {
                return Err(format!("what the local disks of {} do is not known", request.instance));
            };
            // Taken for none they would make such disks hold whatever is asked of bytes.
            let (Some(read), Some(write)) = (limits.read_bytes_per_s, limits.write_bytes_per_s) else {
                let whose = &request.instance;
                return Err(format!("the MB/s of the local disks of {whose} are not known: {LOCAL_BYTES_HELP}"));
            };
            let flow = |iops, bytes: f64| Flow { iops, mib_per_s: bytes / MIB };
            return Ok(Self::Apart { read: flow(read_iops, read), write: flow(write_iops, write) });
        }
        let caps = catalog.caps(request, era).map_err(|error| error.to_string())?;
        let (Some(small), Some(large)) = (caps.ebs.get(AT_4_KIB), caps.ebs.get(AT_256_KIB)) else {
            return Err(format!("what {request} lets through is not known"));
        };
        if caps.path.is_none() {
            return Err(format!("what {} lets through to its volumes is not known", request.instance));
        }
        Ok(Self::Together(Flow { iops: small.baseline.iops, mib_per_s: large.baseline.mib_per_s }))
    }

    /// The fullest of what it limits, as a share.
    pub fn used(&self, read: Flow, write: Flow) -> f64 {
        let of = |asked: Flow, allowed: Flow| (asked.iops / allowed.iops).max(asked.mib_per_s / allowed.mib_per_s);
        match *self {
            Self::Together(all) => of(read.plus(write), all),
            Self::Apart { read: reads, write: writes } => of(read, reads).max(of(write, writes)),
        }
    }

    /// Requests and bytes that it allows at the most: of reads and writes together, or of that of both, read or write,
    /// which may do more.
    pub fn most(&self) -> Flow {
        match *self {
            Self::Together(all) => all,
            Self::Apart { read, write } => {
                Flow { iops: read.iops.max(write.iops), mib_per_s: read.mib_per_s.max(write.mib_per_s) }
            }
        }
    }
}

/// GiB of a machine's disks for data.
pub(crate) fn disk_gib(catalog: &Catalog, request: &ClusterRequest) -> f64 {
    if request.volumes.is_empty() {
        let disks = catalog.instance(&request.instance).and_then(|instance| instance.local_disks.as_ref());
        return disks.map_or(0.0, |disks| disks.total_gb() * 1e9 / GIB);
    }
    request.volumes.iter().map(|volume| volume.size_gib).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(configuration: &str) -> Result<Allowed, String> {
        let catalog = Catalog::built_in();
        Allowed::of(catalog, &ClusterRequest::parse(catalog, configuration).unwrap(), None)
    }

    /// At 16 KiB its 125 MiB/s would be 8,000 requests a second.
    #[test]
    fn bytes_take_nothing_from_the_requests_that_are_bought() {
        let allowed = of("r6i.4xlarge+gp3:500GiB:16000").unwrap();
        let most = allowed.most();
        assert!((most.iops - 16_000.0).abs() < 1e-6 && (most.mib_per_s - 125.0).abs() < 1e-6, "{most:?}");
        let reads = |iops: f64, kib: f64| Flow { iops, mib_per_s: iops * kib / 1024.0 };
        assert!((allowed.used(reads(12_000.0, 4.0), Flow::default()) - 0.75).abs() < 1e-6);
        assert!((allowed.used(reads(4_000.0, 16.0), Flow::default()) - 0.5).abs() < 1e-6, "bytes are the fuller");
    }

    #[test]
    fn disks_whose_bytes_nobody_knows_are_no_disks_without_limits() {
        let why = of("m8gd.4xlarge").unwrap_err();
        assert!(why.starts_with("the MB/s of the local disks of m8gd.4xlarge are not known: measure them"), "{why}");
        assert!(of("i7ie.2xlarge").is_ok());
    }

    #[test]
    fn a_path_that_nobody_knows_is_no_path_without_limits() {
        let why = of("c3.large+gp2:500GiB").unwrap_err();
        assert_eq!(why, "what c3.large lets through to its volumes is not known");
    }
}
