//! What may be bought, and for how much: by the catalog, and by the experiments that measured it.

use catalog::{Basis, Catalog, ClusterRequest, Cost, CostError, CostLine};
use experiment::{Configuration, VolumeKind};

use crate::candidate::{self, Node, NodeError};
use crate::observation::Observation;

/// Where a price of the bill is not the catalog's.
const STATED: &str = "its price is the one that the experiment states";

/// A machine with its volumes that the evidence measured.
#[derive(Debug, Clone)]
pub(super) struct MeasuredMachine {
    /// One of it.
    pub request: ClusterRequest,
    /// The configurations that have it, by name.
    pub configurations: Vec<String>,
    /// What one costs a month as an experiment states it, USD: the least of several; `None`: nothing is stated.
    stated_usd: Option<f64>,
}

/// The catalog, its prices on a basis, and the machines that were measured.
#[derive(Clone)]
pub(super) struct Market<'a> {
    pub catalog: &'a Catalog,
    pub basis: &'a Basis,
    pub measured: Vec<MeasuredMachine>,
}

impl<'a> Market<'a> {
    /// With what the observed configurations would be ordered as.
    pub fn of(catalog: &'a Catalog, basis: &'a Basis, observations: &[Observation<'_>]) -> Self {
        let mut measured: Vec<MeasuredMachine> = Vec::new();
        for configuration in observations.iter().map(|o| o.configuration) {
            let Ok(request) = ordered(configuration) else { continue };
            let nodes = f64::from(configuration.placement.nodes);
            let stated_usd = configuration.price_usd_per_month.map(|usd| usd / nodes);
            let name = configuration.name.clone();
            match measured.iter_mut().find(|known| known.request == request) {
                None => measured.push(MeasuredMachine { request, configurations: vec![name], stated_usd }),
                Some(known) => {
                    known.stated_usd = known.stated_usd.into_iter().chain(stated_usd).reduce(f64::min);
                    if !known.configurations.contains(&name) {
                        known.configurations.push(name);
                    }
                }
            }
        }
        Self { catalog, basis, measured }
    }

    /// The measured machine that an order buys.
    pub fn measured(&self, request: &ClusterRequest) -> Option<&MeasuredMachine> {
        let is_it = |known: &ClusterRequest| known.instance == request.instance && known.volumes == request.volumes;
        self.measured.iter().find(|machine| is_it(&machine.request))
    }

    /// One machine of an order. Of one that was measured the second volume is known to hold the commit log.
    pub fn node(&self, request: &ClusterRequest) -> Result<Node<'a>, NodeError> {
        let all = request.volumes.len();
        let of_data = if self.measured(request).is_some() { all.min(1) } else { all };
        candidate::node(self.catalog, request, of_data, self.basis.price_date.as_deref())
    }

    /// Several orders as one bill; what an experiment states the price of costs that, on every basis.
    pub fn total_cost(&self, requests: &[ClusterRequest]) -> Result<Cost, CostError> {
        let mut stated: Vec<CostLine> = Vec::new();
        let mut by_catalog: Vec<ClusterRequest> = Vec::new();
        for request in requests {
            match self.measured(request).and_then(|known| known.stated_usd) {
                Some(usd) => {
                    let what = format!("{request}, as the experiment states it");
                    stated.push(CostLine::stated(&what, usd * f64::from(request.nodes), "the experiment"));
                }
                None => by_catalog.push(request.clone()),
            }
        }
        if stated.is_empty() {
            return self.catalog.total_cost(requests, self.basis);
        }
        let mut cost = match by_catalog.as_slice() {
            [] => Cost {
                usd_per_hour: 0.0,
                usd_per_month: 0.0,
                lines: Vec::new(),
                term: None,
                notes: Vec::new(),
                regions: Vec::new(),
                basis: self.basis.clone(),
            },
            listed => self.catalog.total_cost(listed, self.basis)?,
        };
        cost.usd_per_month += stated.iter().map(|line| line.usd_per_month).sum::<f64>();
        cost.usd_per_hour = cost.usd_per_month / self.basis.hours_per_month;
        cost.lines.splice(0..0, stated);
        cost.notes.push(STATED.to_owned());
        Ok(cost)
    }
}

/// One machine of a configuration as it would be ordered: its data volume, then its commit log's, or the local disks
/// for both. Else why no order buys it.
pub(super) fn ordered(configuration: &Configuration) -> Result<ClusterRequest, &'static str> {
    let (instance, data) = (&configuration.instance, &configuration.data_volume);
    if !instance.from_catalog {
        return Err("its instance is given by its size, not by the catalog");
    }
    if instance.bandwidth_weighting.is_some() {
        return Err("its bandwidth is weighted, and a candidate has that of its type");
    }
    if data.count > 1 {
        return Err("its data is on several volumes");
    }
    let log = configuration.commitlog_volume.as_ref().filter(|log| log.kind != VolumeKind::Local);
    let volumes = match (data.kind, log) {
        (VolumeKind::Local, None) => Vec::new(),
        (VolumeKind::Local, Some(_)) => {
            return Err("its data is on local disks and its commit log on a volume, and a candidate has no such two");
        }
        _ => {
            let all = std::iter::once(data).chain(log).map(|volume| volume.order).collect::<Option<_>>();
            all.ok_or("a volume of it is given by its limits, not by the catalog")?
        }
    };
    Ok(ClusterRequest { instance: instance.label.clone(), volumes, nodes: 1 })
}

/// Whether a configuration is what this order buys, whatever the number of nodes.
pub(super) fn is_order(configuration: &Configuration, request: &ClusterRequest) -> bool {
    let is_type = configuration.instance.label == request.instance;
    is_type && ordered(configuration).is_ok_and(|own| own.volumes == request.volumes)
}
