//! What may be bought, and for how much: by the catalog, and by the experiments that measured it.

use analysis::RunEvidence;
use catalog::{Basis, Catalog, ClusterRequest, Cost, CostError, CostLine};
use experiment::{Configuration, VolumeKind};

use crate::candidate::{self, Node, NodeError};
use crate::observation::Observation;

/// Where a price of the bill is not the catalog's.
const STATED: &str = "its price is the one that the experiment states";
/// Prices that differ by less, USD, are one.
const CENT: f64 = 0.01;

/// A machine with its volumes that the evidence measured.
#[derive(Debug, Clone)]
pub(super) struct MeasuredMachine {
    /// One of it.
    pub request: ClusterRequest,
    /// The configurations that have it, by name.
    pub configurations: Vec<String>,
    /// What one costs, as experiments state it; empty: nothing is stated.
    stated: Vec<StatedPrice>,
}

/// What an experiment states of one machine.
#[derive(Debug, Clone, PartialEq)]
struct StatedPrice {
    usd_per_month: f64,
    /// The configuration, and its run.
    of: String,
}

impl MeasuredMachine {
    /// The price that counts: the least of several.
    fn stated(&self) -> Option<&StatedPrice> {
        self.stated.iter().min_by(|a, b| a.usd_per_month.total_cmp(&b.usd_per_month))
    }

    /// What is to be known of it: whose it is, where others are stated too.
    fn about(&self, price: &StatedPrice) -> String {
        let others = self.stated.iter().filter(|other| other.usd_per_month - price.usd_per_month >= CENT);
        let others: Vec<String> =
            others.map(|other| format!("{:.2} is that of {}", other.usd_per_month, other.of)).collect();
        match others.as_slice() {
            [] => STATED.to_owned(),
            others => format!(
                "its price is the least that experiments state of it: {:.2} USD a month for one is that of {}, {}",
                price.usd_per_month,
                price.of,
                others.join(", ")
            ),
        }
    }
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
    pub fn of(
        catalog: &'a Catalog,
        basis: &'a Basis,
        runs: &[RunEvidence<'_>],
        observations: &[Observation<'_>],
    ) -> Self {
        let mut measured: Vec<MeasuredMachine> = Vec::new();
        for (configuration, run) in observations.iter().map(|o| (o.configuration, &runs[o.run].run)) {
            let Ok(request) = ordered(configuration) else { continue };
            let (name, of) = (&configuration.name, format!("{} of {run}", configuration.name));
            let nodes = f64::from(configuration.placement.nodes);
            let price = configuration.price_usd_per_month;
            let price = price.map(|usd| StatedPrice { usd_per_month: usd / nodes, of });
            let index = measured.iter().position(|known| known.request == request).unwrap_or_else(|| {
                measured.push(MeasuredMachine { request, configurations: Vec::new(), stated: Vec::new() });
                measured.len() - 1
            });
            let machine = &mut measured[index];
            if !machine.configurations.contains(name) {
                machine.configurations.push(name.clone());
            }
            // Of each configuration there are several observations.
            if let Some(price) = price
                && !machine.stated.contains(&price)
            {
                machine.stated.push(price);
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
        let (mut stated, mut notes): (Vec<CostLine>, Vec<String>) = (Vec::new(), Vec::new());
        let mut by_catalog: Vec<ClusterRequest> = Vec::new();
        for request in requests {
            match self.measured(request).and_then(|known| Some((known, known.stated()?))) {
                Some((known, price)) => {
                    let what = format!("{request}, as the experiment states it");
                    let usd_per_month = price.usd_per_month * f64::from(request.nodes);
                    stated.push(CostLine::stated(&what, usd_per_month, "the experiment"));
                    notes.push(known.about(price));
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
        cost.notes.extend(analysis::each_once(notes));
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
