//! A disk that fails by plan: the fault and its end are orders to the server of a served volume.

use experiment::{FailingRequests, FaultAction, VolumeRole};
use process::machine::unix_ms;
use volume::{Effect, VolumeFault};
use wire::{Moments, RequestError, Result};

use super::volumes::Volumes;

/// A volume that has its fault.
pub(super) struct Failing {
    role: VolumeRole,
    /// Requests that had failed before, where the fault makes some fail.
    failed_before: Option<u64>,
}

/// The volume has the fault, from now until [`end`].
pub(super) fn begin(action: FaultAction, role: VolumeRole, volumes: &Volumes) -> Result<(Failing, Moments)> {
    let makes_some_fail = matches!(action, FaultAction::DiskError { .. } | FaultAction::DiskFull { .. });
    let failed_before = volumes.failed_requests(role).filter(|_| makes_some_fail);
    let size_bytes = volumes.size_bytes(role).unwrap_or_default();
    let fault = effect(action, size_bytes).map(|effect| VolumeFault { from_s: 0.0, until_s: None, effect });
    let moments = set(volumes, role, fault.as_slice())?;
    Ok((Failing { role, failed_before }, moments))
}

/// It has none any more; what a stall held back is answered. Says how many requests have failed.
pub(super) fn end(failing: &Failing, volumes: &Volumes) -> Result<(Moments, Option<u64>)> {
    let moments = set(volumes, failing.role, &[])?;
    let failed = volumes.failed_requests(failing.role).zip(failing.failed_before);
    Ok((moments, failed.map(|(now, before)| now.saturating_sub(before))))
}

fn set(volumes: &Volumes, role: VolumeRole, faults: &[VolumeFault]) -> Result<Moments> {
    let began_unix_ms = unix_ms();
    match volumes.set_faults(role, faults)? {
        true => Ok(Moments { began_unix_ms, done_unix_ms: unix_ms() }),
        false => Err(RequestError::new(format!("no process answers for {}, so that it cannot fail", role.of_node()))),
    }
}

/// What a fault does to a volume of so many bytes; `None`: it is a node's.
fn effect(action: FaultAction, size_bytes: u64) -> Option<Effect> {
    let byte = |share: f64| (share * size_bytes as f64).round() as u64;
    match action {
        FaultAction::NodeStop
        | FaultAction::NodeKill
        | FaultAction::NodePause
        | FaultAction::HostCut
        | FaultAction::Compaction
        | FaultAction::CacheKill { .. } => None,
        FaultAction::DiskStall { .. } => Some(Effect::Stall),
        FaultAction::DiskSlow { times, .. } => Some(Effect::Slow { times }),
        FaultAction::DiskFull { .. } => Some(Effect::Full),
        FaultAction::DiskError { requests, share, range, .. } => Some(Effect::Error {
            reads: requests != FailingRequests::Writes,
            writes: requests != FailingRequests::Reads,
            range: range.map(|(from, to)| (byte(from), byte(to))),
            share,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_a_part_of_the_volume() {
        let action = |requests| FaultAction::DiskError {
            volume: VolumeRole::Data,
            requests,
            share: 0.5,
            range: Some((0.25, 1.0)),
        };
        let reported = effect(action(FailingRequests::Reads), 1 << 30);
        let Some(Effect::Error { reads, writes, range, share }) = reported else { panic!("{reported:?}") };
        assert_eq!((reads, writes, share), (true, false, 0.5));
        assert_eq!(range, Some((1 << 28, 1 << 30)));
        assert_eq!(effect(FaultAction::NodeKill, 1), None);
    }
}
