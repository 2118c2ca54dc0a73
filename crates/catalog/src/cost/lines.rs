//! The lines of a bill.

use std::collections::BTreeSet;

use super::basis::Basis;
use super::bill::{Cost, Extras};
use super::error::CostError;
use super::line::{CostKind, CostLine};
use super::micro::micro;
use super::rds;
use super::term::TermTotal;
use crate::{
    Catalog, Cloud, EbsOptimisation, InstancePrice, InstanceType, OtherCharge, PriceError, ResolvedVolume,
    VolumeRequest, VolumeType, reach, resolve_volume_on, volume,
};

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
    term: Option<TermTotal>,
    notes: Vec<String>,
    regions: BTreeSet<String>,
}

pub(super) fn priced(
    catalog: &Catalog,
    machines: &[Machines<'_>],
    extras: Extras,
    basis: &Basis,
) -> Result<Cost, CostError> {
    let mut bill = Bill {
        catalog,
        basis,
        day: basis.checked_day(catalog)?,
        free_gb: basis.free_gb,
        lines: Vec::new(),
        term: None,
        notes: Vec::new(),
        regions: BTreeSet::new(),
    };
    if machines.is_empty() || machines.iter().any(|some| some.nodes == 0) {
        return Err(CostError::NoNodes);
    }
    let others = machines.iter().map(|some| Cloud::of(some.instance)).find(|cloud| *cloud != Cloud::Aws);
    if let Some(cloud) = others.filter(|_| extras != Extras::default()) {
        let what = format!("price of data between zones, and of snapshots, on {}", cloud.label());
        return Err(CostError::Price(PriceError::Unknown { what, known: Vec::new() }));
    }
    for some in machines {
        let known = catalog.instance(some.instance).ok_or_else(|| CostError::UnknownInstance {
            given: some.instance.to_owned(),
            nearest: catalog.nearest_instances(some.instance).into_iter().map(str::to_owned).collect(),
        })?;
        known.attaches(some.volumes.len())?;
        let kinds: Vec<VolumeType> = some.volumes.iter().map(|volume| volume.kind).collect();
        let known = &match known.with_volumes(&kinds) {
            Err(why) if why.is_sold() => {
                bill.notes.push(format!("{why}; the price does not need them"));
                known.clone()
            }
            found => found?,
        };
        let of_others = bill.lines.len();
        bill.instances(known, some)?;
        let mut volumes = Vec::new();
        // Like volumes that follow each other are one line: `2 x gp3 250 GiB`. What each has for nothing each has.
        for like in some.volumes.chunk_by(|a, b| a == b) {
            let count = u32::try_from(like.len()).unwrap_or(u32::MAX);
            let resolved = bill.volumes(known, &like[0], some.nodes.saturating_mul(count))?;
            volumes.extend(std::iter::repeat_n(resolved, like.len()));
        }
        let region = known.cloud().region(&basis.region);
        // A price that the user states is of where the user says.
        let is_of_tables = bill.lines[of_others..].iter().any(|line| is_built_in(known, line));
        let of_prices = if is_of_tables { region } else { basis.region.as_str() };
        bill.regions.insert(of_prices.to_owned());
        if region != basis.region && is_of_tables {
            let whose = known.cloud().label();
            bill.notes
                .push(format!("{}: prices of {whose} are those of {region}, not of {}", known.name, basis.region));
        }
        bill.notes.extend(volume::taken(some.volumes.iter()));
        let beyond = reach::beyond(known, &volumes).into_iter();
        bill.notes.extend(beyond.map(|remark| format!("{}: {remark}", known.name)));
    }
    bill.extras(extras)?;
    Ok(bill.total())
}

/// Whether a price of a machine, or of one of its volumes, is of the program's own tables.
fn is_built_in(machine: &InstanceType, line: &CostLine) -> bool {
    let tables = Catalog::built_in();
    let mut of_machine = tables.price_history(&machine.name).iter().map(|price| &price.source);
    let mut of_volumes = tables.volume_prices().iter().map(|price| &price.source);
    of_machine.any(|source| *source == line.source) || of_volumes.any(|source| *source == line.source)
}

impl Bill<'_> {
    fn add(&mut self, line: CostLine) {
        self.lines.push(line);
    }

    fn instances(&mut self, known: &InstanceType, some: &Machines<'_>) -> Result<(), CostError> {
        let hours = f64::from(some.nodes) * self.basis.hours_per_month;
        let line = |kind: CostKind, what: String, unit_usd: f64, date: Option<&str>, source: &str| CostLine {
            kind,
            what,
            quantity: hours,
            unit: "hour".to_owned(),
            unit_usd,
            usd_per_month: micro(hours * unit_usd),
            price_date: date.map(str::to_owned),
            source: source.to_owned(),
        };
        let billed = rds::billed_as(known, some.volumes);
        let name = format!("{} x {billed}", some.nodes);
        let purchase = self.basis.purchase;
        let what = format!("{name}, {purchase}");
        match self.stated(&billed) {
            Some(usd) => self.add(line(CostKind::Instances, what, usd, None, "stated by the user")),
            None => {
                let (region, day) = (&self.basis.region, self.day.as_deref());
                let price = self.catalog.instance_price(&billed, purchase, region, day)?;
                self.add(line(CostKind::Instances, what, price.usd_per_hour, Some(&price.date), &price.source));
                self.reserve(some.nodes, price);
            }
        }
        let is_of_rds = billed != known.name;
        if known.ebs_optimisation != EbsOptimisation::Surcharge || some.volumes.is_empty() || is_of_rds {
            return Ok(());
        }
        match known.ebs_optimisation_usd_per_hour {
            Some(usd) if self.basis.ebs_optimised => {
                let source = "ec2instances.info git 94e1f006 www/instances.json";
                let what = format!("{name}, EBS optimisation");
                self.add(line(CostKind::EbsOptimisation, what, usd, Some(SURCHARGE_DATE), source));
            }
            None if self.basis.ebs_optimised => {
                return Err(CostError::Price(PriceError::Unknown {
                    what: format!("surcharge for EBS optimisation of {}", known.name),
                    known: Vec::new(),
                }));
            }
            surcharge => {
                let usd =
                    surcharge.map_or("not known".to_owned(), |usd| format!("{usd} USD an hour on {SURCHARGE_DATE}"));
                self.notes.push(format!(
                    "{}: EBS optimisation costs extra ({usd}) and is not counted; without it volumes share the network",
                    known.name
                ));
            }
        }
        Ok(())
    }

    /// What the user states as the price of an instance type.
    fn stated(&self, name: &str) -> Option<f64> {
        let stated = &self.basis.stated_usd_per_hour;
        let found = stated.iter().find(|(given, _)| self.catalog.with_cloud(given).eq_ignore_ascii_case(name));
        found.map(|(_, usd)| *usd)
    }

    /// Adds machines to what is owed over the term of the reservations.
    fn reserve(&mut self, nodes: u32, price: &InstancePrice) {
        if let Some(own) = TermTotal::of(nodes, price) {
            self.term = Some(match self.term.take() {
                Some(others) => others.and(own),
                None => own,
            });
        }
    }

    /// What is charged beside machines and volumes.
    fn extras(&mut self, extras: Extras) -> Result<(), CostError> {
        for (kind, charge, gb, directions, what, unit) in [
            (
                CostKind::BetweenZones,
                OtherCharge::BetweenZones,
                extras.cross_zone_gb,
                2.0,
                "data between zones, out of one and into the other",
                "GB",
            ),
            (CostKind::Snapshots, OtherCharge::Snapshot, extras.snapshot_gb, 1.0, "EBS snapshots", "GB-month"),
        ] {
            if !(0.0..=1e12).contains(&gb) {
                return Err(CostError::Basis { key: kind.label(), given: gb, least: 0.0, most: 1e12 });
            }
            if gb > 0.0 {
                let price = self.catalog.other_price(charge, &self.basis.region, self.day.as_deref())?;
                let quantity = gb * directions;
                self.add(CostLine {
                    kind,
                    what: what.to_owned(),
                    quantity,
                    unit: unit.to_owned(),
                    unit_usd: price.usd,
                    usd_per_month: micro(quantity * price.usd),
                    price_date: Some(price.date),
                    source: price.source,
                });
            }
        }
        Ok(())
    }

    /// A volume as the instance lets it work, once all that are like it are on the bill.
    fn volumes(
        &mut self,
        machine: &InstanceType,
        requested: &VolumeRequest,
        count: u32,
    ) -> Result<ResolvedVolume, CostError> {
        let rules = match &self.day {
            Some(day) => volume::rules_on(requested.kind, day),
            None => crate::rules(requested.kind),
        };
        let resolved = resolve_volume_on(rules, requested, machine).map_err(|error| CostError::Volume {
            volume: format!("{} volume of {} GiB", requested.kind, requested.size_gib),
            error,
        })?;
        let price = self.catalog.volume_price(requested.kind, &self.basis.region, self.day.as_deref())?;
        let name = format!("{count} x {} {} GiB", requested.kind, requested.size_gib);
        let count = f64::from(count);
        let charges = price.charges(&resolved, rules).ok_or_else(|| PriceError::Unknown {
            what: format!("price of the IOPS or MiB/s of {} volumes on {}", requested.kind, price.date),
            known: Vec::new(),
        })?;
        for charge in charges {
            let line = |what: String, quantity: f64| CostLine {
                kind: charge.kind,
                what,
                quantity,
                unit: charge.unit.to_owned(),
                unit_usd: charge.unit_usd,
                usd_per_month: micro(quantity * charge.unit_usd),
                price_date: Some(price.date.clone()),
                source: price.source.clone(),
            };
            let quantity = charge.quantity * count;
            self.lines.push(line(format!("{name}, {}", charge.what), quantity));
            if charge.kind == CostKind::Storage && price.steps.is_empty() && self.free_gb > 0.0 {
                let free = self.free_gb.min(quantity);
                self.free_gb -= free;
                self.lines.push(line(format!("free storage of {}", requested.kind), -free));
            }
        }
        if let Some(usd) = price.usd_per_million_io {
            self.notes.push(format!(
                "{}: {usd} USD per million I/O requests come on top; \
                 their number is not known and they are not counted",
                requested.kind
            ));
        }
        Ok(resolved)
    }

    fn total(mut self) -> Cost {
        let subtotal: f64 = self.lines.iter().map(|line| line.usd_per_month).sum();
        let percent = self.basis.uplift_percent;
        if percent > 0.0 {
            let usd = micro(subtotal * percent / 100.0);
            let (what, usd) = if self.basis.round_up_uplift {
                ("uplift on everything above, rounded up to whole USD", usd.ceil())
            } else {
                ("uplift on everything above", usd)
            };
            self.lines.push(CostLine {
                kind: CostKind::Uplift,
                what: what.to_owned(),
                quantity: percent,
                unit: "%".to_owned(),
                unit_usd: micro(subtotal / 100.0),
                usd_per_month: usd,
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
            term: self.term,
            notes: self.notes,
            regions: self.regions.into_iter().collect(),
            basis: Basis { price_date: self.basis.price_date.clone().or(latest), ..self.basis.clone() },
        }
    }
}
