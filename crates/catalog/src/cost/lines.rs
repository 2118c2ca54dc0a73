//! The lines of a bill.

use super::{Basis, Cost, CostError, CostLine, micro};
use crate::{Catalog, EbsOptimisation, InstanceType, PriceError, VolumeRequest, resolve_volume_by, volume};

/// Day on which the surcharges for EBS optimisation were seen, the only one in the table.
const SURCHARGE_DATE: &str = "2017-11-12";

/// Like machines on a bill.
pub(super) struct Machines<'a> {
    pub(super) instance: &'a str,
    pub(super) volumes: &'a [VolumeRequest],
    pub(super) nodes: u32,
}

/// The bill being written.
struct Bill<'a> {
    catalog: &'a Catalog,
    basis: &'a Basis,
    /// Last day whose prices count.
    day: Option<String>,
    /// Free GB-months that no line has used yet.
    free_gb: f64,
    lines: Vec<CostLine>,
    notes: Vec<String>,
}

pub(super) fn priced(catalog: &Catalog, machines: &[Machines<'_>], basis: &Basis) -> Result<Cost, CostError> {
    let mut bill = Bill {
        catalog,
        basis,
        day: basis.checked_day(catalog)?,
        free_gb: basis.free_gb,
        lines: Vec::new(),
        notes: Vec::new(),
    };
    if machines.is_empty() || machines.iter().any(|some| some.nodes == 0) {
        return Err(CostError::NoNodes);
    }
    for some in machines {
        let known = catalog
            .instance(some.instance)
            .ok_or_else(|| CostError::UnknownInstance {
                given: some.instance.to_owned(),
                nearest: catalog
                    .nearest_instances(some.instance)
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
            })?;
        bill.instances(known, some)?;
        for requested in some.volumes {
            bill.volumes(requested, some.nodes)?;
        }
    }
    Ok(bill.total())
}

impl Bill<'_> {
    fn add(&mut self, line: CostLine) {
        self.lines.push(line);
    }

    fn instances(&mut self, known: &InstanceType, some: &Machines<'_>) -> Result<(), CostError> {
        let price = self.catalog.instance_price(
            &known.name,
            self.basis.purchase,
            &self.basis.region,
            self.day.as_deref(),
        )?;
        let hours = f64::from(some.nodes) * self.basis.hours_per_month;
        let line = |what: String, unit_usd: f64, date: &str, source: &str| CostLine {
            what,
            quantity: hours,
            unit: "hour".to_owned(),
            unit_usd,
            usd_per_month: micro(hours * unit_usd),
            price_date: Some(date.to_owned()),
            source: source.to_owned(),
        };
        let name = format!("{} x {}", some.nodes, known.name);
        self.add(line(
            format!("{name}, {}", price.purchase),
            price.usd_per_hour,
            &price.date,
            &price.source,
        ));
        if known.ebs_optimisation != EbsOptimisation::Surcharge || some.volumes.is_empty() {
            return Ok(());
        }
        match known.ebs_optimisation_usd_per_hour {
            Some(usd) if self.basis.ebs_optimised => {
                let source = "ec2instances.info git 94e1f006 www/instances.json";
                self.add(line(format!("{name}, EBS optimisation"), usd, SURCHARGE_DATE, source));
            }
            None if self.basis.ebs_optimised => {
                return Err(CostError::Price(PriceError::Unknown {
                    what: format!("surcharge for EBS optimisation of {}", known.name),
                    known: Vec::new(),
                }));
            }
            surcharge => {
                let usd = surcharge.map_or("not known".to_owned(), |usd| {
                    format!("{usd} USD an hour on {SURCHARGE_DATE}")
                });
                self.notes.push(format!(
                    "{}: EBS optimisation costs extra ({usd}) and is not counted; without it volumes share the network",
                    known.name
                ));
            }
        }
        Ok(())
    }

    fn volumes(&mut self, requested: &VolumeRequest, nodes: u32) -> Result<(), CostError> {
        let rules = match &self.day {
            Some(day) => volume::rules_on(requested.kind, day),
            None => crate::rules(requested.kind),
        };
        resolve_volume_by(rules, requested).map_err(|error| CostError::Volume {
            volume: format!("{} volume of {} GiB", requested.kind, requested.size_gib),
            error,
        })?;
        let price = self
            .catalog
            .volume_price(requested.kind, &self.basis.region, self.day.as_deref())?;
        let name = format!("{nodes} x {} {} GiB", requested.kind, requested.size_gib);
        let nodes = f64::from(nodes);
        let extras = price.extras(requested).ok_or_else(|| PriceError::Unknown {
            what: format!(
                "price of the IOPS or MiB/s of {} volumes on {}",
                requested.kind, price.date
            ),
            known: Vec::new(),
        })?;
        for charge in std::iter::once(price.storage(requested)).chain(extras) {
            let line = |what: String, quantity: f64| CostLine {
                what,
                quantity,
                unit: charge.unit.to_owned(),
                unit_usd: charge.unit_usd,
                usd_per_month: micro(quantity * charge.unit_usd),
                price_date: Some(price.date.clone()),
                source: price.source.clone(),
            };
            let quantity = charge.quantity * nodes;
            self.lines.push(line(format!("{name}, {}", charge.what), quantity));
            if charge.unit == "GB-month" && self.free_gb > 0.0 {
                let free = self.free_gb.min(quantity);
                self.free_gb -= free;
                self.lines
                    .push(line(format!("free storage of {}", requested.kind), -free));
            }
        }
        if let Some(usd) = price.usd_per_million_io {
            self.notes.push(format!(
                "{}: {usd} USD per million I/O requests come on top; their number is not known and they are not counted",
                requested.kind
            ));
        }
        Ok(())
    }

    fn total(mut self) -> Cost {
        let subtotal: f64 = self.lines.iter().map(|line| line.usd_per_month).sum();
        let percent = self.basis.uplift_percent;
        if percent > 0.0 {
            self.lines.push(CostLine {
                what: "uplift on everything above".to_owned(),
                quantity: percent,
                unit: "%".to_owned(),
                unit_usd: micro(subtotal / 100.0),
                usd_per_month: micro(subtotal * percent / 100.0),
                price_date: None,
                source: "the basis".to_owned(),
            });
        }
        let usd_per_month = micro(self.lines.iter().map(|line| line.usd_per_month).sum());
        let latest = self.lines.iter().filter_map(|line| line.price_date.clone()).max();
        self.notes.sort();
        self.notes.dedup();
        Cost {
            usd_per_hour: micro(usd_per_month / self.basis.hours_per_month),
            usd_per_month,
            lines: self.lines,
            notes: self.notes,
            basis: Basis {
                price_date: self.basis.price_date.clone().or(latest),
                ..self.basis.clone()
            },
        }
    }
}
