//! From a cluster that meets the target to a proposal with its money.

use catalog::{CostError, VolumeRequest};

use super::{Found, Search};
use crate::document::{Label, Limit, Proposal};
use crate::fleet::FleetTotals;

/// Disks this full, of what they may be, say how many nodes it takes.
const SPACE_DECIDES: f64 = 0.9;
impl Search<'_> {
    /// Prices a cluster and says what lies beyond the evidence.
    pub(super) fn priced(&self, found: Found) -> Result<Proposal, String> {
        let instance = self
            .catalog
            .instance(&found.request.instance)
            .ok_or("unknown instance type")?;
        let cost = self
            .catalog
            .cost(&found.request, self.basis)
            .map_err(|error| match error {
                CostError::Price(_) => "its price is not known on this basis".to_owned(),
                CostError::Volume { .. } => "no volume is sold that is large or fast enough".to_owned(),
                other => other.to_string(),
            })?;
        let nodes = found.request.nodes;
        let total = FleetTotals::of(
            self.catalog,
            std::slice::from_ref(&found.request),
            self.usable(),
            self.era(),
        )?;
        let allowed = self.allowed(nodes);
        let beyond_evidence = match found.label {
            Label::Measured => Vec::new(),
            _ => self.beyond(instance, &found),
        };
        // Volumes made to measure are always as full as they may be; of others space may be what decides.
        let disk_fill = found.loaded.data_bytes * f64::from(nodes) / (total.disk_tb * 1e12);
        let is_given = found.request.volumes.is_empty() || !self.options.candidates.is_empty();
        let of_fill = disk_fill / (self.target.disk_fill_percent / 100.0);
        let is_space = is_given && of_fill >= SPACE_DECIDES && of_fill > found.fullest / allowed;
        let limit = if is_space { Limit::DiskSpace } else { found.limit };
        let mut remarks = cost.notes;
        if instance.network_gbps.is_none() {
            remarks.push("its network bandwidth is not known and not checked".to_owned());
        }
        if total.mb_per_s.is_none() {
            remarks.push("the MB/s of its disks are not known and not checked".to_owned());
        }
        let storage = match found.request.volumes.as_slice() {
            [] => instance
                .local_disks
                .as_ref()
                .map_or_else(String::new, |disks| disks.label()),
            volumes => volumes.iter().map(VolumeRequest::label).collect::<Vec<_>>().join(" + "),
        };
        Ok(Proposal {
            configuration: found.request.to_string(),
            nodes,
            nodes_per_zone: nodes / self.target.zones,
            instance: instance.name.clone(),
            storage,
            usd_per_month: cost.usd_per_month,
            usd_per_hour: cost.usd_per_hour,
            cost: cost.lines,
            label: found.label,
            uncertainty_percent: found
                .half_width
                .filter(|_| beyond_evidence.is_empty())
                .map(|half| half * 100.0),
            beyond_evidence,
            remarks,
            limit,
            operations_per_s: self.target.operations_per_s * allowed / found.fullest,
            used: found.fullest,
            utilisation: found.utilisation,
            utilisation_when_down: found.fullest * self.target.load_when_down(nodes),
            data_bytes_per_node: found.loaded.data_bytes,
            disk_fill,
            cache_share: found.loaded.cache_share,
            hit_ratio: found.loaded.work.hit_ratio,
            per_zone: total.of_one(self.target.zones),
            total,
        })
    }
}
