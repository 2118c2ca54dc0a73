//! Watching a trial on the database host: host figures, what Cassandra says about itself, burst credits, and its death.

use std::sync::{Arc, Mutex};

use database::cassandra::{self, Admin, DroppedMessages, Node};
use evidence::HostSample;
use monitor::{Monitor, MonitorHooks, Sources};
use spec::VolumeRole;
use storage::BurstController;
use wire::Event;

use super::outbox::Outbox;
use super::shared::with;

/// Burst controllers by volume.
pub(super) type Bursts = Vec<(VolumeRole, Arc<BurstController>)>;

/// Samples this host once a second, and notices when the database ends on its own.
pub(super) fn watch(
    sources: Sources,
    admin: Admin,
    node: &Arc<Mutex<Node>>,
    bursts: &Bursts,
    outbox: Outbox,
) -> Monitor {
    let bursts: Vec<_> = bursts
        .iter()
        .map(|(role, burst)| (*role, Arc::downgrade(burst)))
        .collect();
    let mut dropped = DroppedMessages::from_now(&with(node, |n| n.system_log()));
    let node = Arc::clone(node);
    let mut died = false;
    let annotate = move |sample: &mut HostSample| {
        if let Ok(metrics) = admin.metrics() {
            add_metrics(&metrics, sample);
        }
        sample.host.dropped_messages = dropped.total().map(|n| n as f64);
        for (role, burst) in &bursts {
            if let Some(burst) = burst.upgrade() {
                let figures = sample.volumes.entry(*role).or_default();
                figures.burst_credits = Some(burst.credits());
                figures.iops_limit = Some(burst.limit_iops());
            }
        }
    };
    let sink = move |sample| {
        outbox.send(&Event::Sample(Box::new(sample)));
        if died {
            return;
        }
        let ended = with(&node, |n| n.exited().map(|how| (how, n.log_tail(20))));
        if let Some((how, log_tail)) = ended {
            died = true;
            outbox.send(&Event::DatabaseDied { how, log_tail });
        }
    };
    Monitor::start(
        sources,
        MonitorHooks {
            annotate: Some(Box::new(annotate)),
        },
        Box::new(sink),
    )
}

/// What Cassandra says about itself, as figures of the sample.
fn add_metrics(metrics: &cassandra::Metrics, sample: &mut HostSample) {
    let figure = |value: Option<u64>| value.map(|v| v as f64);
    let cache = |name: &str| metrics.caches.get(name);
    let pending = |name: &str| figure(metrics.pools.get(name).and_then(|pool| pool.pending));
    let host = &mut sample.host;
    host.pending_compactions = figure(metrics.pending_compactions);
    host.pending_hint_files = figure(metrics.pending_hint_files);
    host.chunk_cache_hits = figure(cache("chunks").and_then(|c| c.hits));
    host.chunk_cache_requests = figure(cache("chunks").and_then(|c| c.requests));
    host.key_cache_hits = figure(cache("keys").and_then(|c| c.hits));
    host.key_cache_requests = figure(cache("keys").and_then(|c| c.requests));
    host.coordinator_reads = metrics.coordinator_read.as_ref().map(|l| l.count as f64);
    host.coordinator_writes = metrics.coordinator_write.as_ref().map(|l| l.count as f64);
    host.coordinator_read_p99_ms = metrics.coordinator_read.as_ref().and_then(|l| l.p99_ms);
    host.coordinator_write_p99_ms = metrics.coordinator_write.as_ref().and_then(|l| l.p99_ms);
    host.client_requests = figure(metrics.client_requests);
    host.pending_reads = pending("ReadStage");
    host.pending_mutations = pending("MutationStage");
}
