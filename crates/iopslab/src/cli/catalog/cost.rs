//! `iopslab catalog cost`: one fleet, or two beside each other.

use ::catalog::{Catalog, ClusterRequest, Cost, CostDiff, Extras, NodeData};
use clap::Args;
use process::failure::Failure;
use process::output::{Format, pretty};
use serde_json::{Value, json};

use crate::cli::amounts::data_size;
use crate::cli::basis::BasisArgs;
use crate::cli::facts::FORMAT_VERSION;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  iopslab catalog cost 'i3.2xlarge*3' --price-date 2017-11-12
  iopslab catalog cost r4.4xlarge+io1:3200GB:10000 --purchase 1yr-all-upfront
  iopslab catalog cost 'm2.4xlarge*48' 'm2.xlarge*36' --price-date 2012-07-19     # one fleet of two kinds
  iopslab catalog cost i3.4xlarge --run-hours 6                                   # one benchmark run
  iopslab catalog cost 'i3.2xlarge*6' --against 'i4i.2xlarge*4' --data 2TB        # what the second costs more
  iopslab catalog cost 'i4i.2xlarge*6' --purchase spot --stated-price i4i.2xlarge=0.21
  iopslab catalog cost 'm6i.2xlarge+gp3:1000*3' --cross-zone-gb 20000 --snapshot-gb 2000")]
pub(crate) struct CostArgs {
    /// INSTANCE[+TYPE:SIZE[:IOPS[:MIB_PER_S]]]...[*NODES], sizes in GiB or with a unit; several are one bill
    #[arg(required = true, value_name = "CONFIG")]
    configurations: Vec<String>,
    /// Beside it this fleet (repeatable: several kinds are one bill), and the difference
    #[arg(long, value_name = "CONFIG", conflicts_with = "run_hours")]
    against: Vec<String>,
    #[command(flatten)]
    basis: BasisArgs,
    /// Also the cost of one run of so many hours
    #[arg(long, value_name = "HOURS")]
    run_hours: Option<f64>,
    /// GB a month that cross from one availability zone into another; charged where they leave and where they enter
    #[arg(long, value_name = "GB", default_value_t = 0.0)]
    cross_zone_gb: f64,
    /// GB of EBS snapshots that are kept as backups
    #[arg(long, value_name = "GB", default_value_t = 0.0)]
    snapshot_gb: f64,
    /// Size of the data in production on all nodes together, each record once, such as 2TB: how much of it each node
    /// holds
    #[arg(long, value_name = "SIZE", value_parser = data_size)]
    data: Option<f64>,
    /// Copies of each record, for --data
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    replication_factor: u32,
}

pub(super) fn run(catalog: &Catalog, args: &CostArgs, format: Format) -> Result<(), Failure> {
    let fleet = Fleet::priced(catalog, &args.configurations, args)?;
    if !args.against.is_empty() {
        let other = Fleet::priced(catalog, &args.against, args)?;
        return difference(&fleet, &other, format);
    }
    let basis = args.basis.basis()?;
    let capacity = match fleet.requests.as_slice() {
        [only] => catalog.capacity_table(only, &basis).map_err(Failure::input)?,
        _ => Vec::new(),
    };
    let run = args
        .run_hours
        .map(|hours| catalog.run_cost(&fleet.requests, hours, &basis))
        .transpose()
        .map_err(Failure::input)?;
    if format == Format::Json {
        let mut document = fleet.document();
        document["format_version"] = FORMAT_VERSION.into();
        document["capacity"] = json!(capacity);
        if let Some(run) = &run {
            document["run"] = json!({ "hours": run.hours, "usd": run.usd });
        }
        println!("{}", pretty(&document));
        return Ok(());
    }
    fleet.bill();
    if let Some(run) = &run {
        total(&format!("a run of {} h", run.hours), run.usd);
    }
    if !capacity.is_empty() {
        println!("sets of nodes (capacity grows with them; without what is charged beside machines and volumes):");
        for row in &capacity {
            println!(
                "  {}x {:>5} nodes {:>14.2} USD/month {:>10.2} USD/hour",
                row.factor, row.nodes, row.usd_per_month, row.usd_per_hour
            );
        }
    }
    fleet.rest();
    Ok(())
}

/// Machines that are one bill.
struct Fleet {
    requests: Vec<ClusterRequest>,
    cost: Cost,
    data: Vec<NodeData>,
}

impl Fleet {
    fn priced(catalog: &Catalog, texts: &[String], args: &CostArgs) -> Result<Self, Failure> {
        let requests = texts
            .iter()
            .map(|text| ClusterRequest::parse(catalog, text))
            .collect::<Result<Vec<_>, _>>()
            .map_err(Failure::input)?;
        let extras = Extras { cross_zone_gb: args.cross_zone_gb, snapshot_gb: args.snapshot_gb };
        let basis = args.basis.basis()?;
        let cost = catalog.total_cost_with(&requests, extras, &basis).map_err(Failure::input)?;
        let copies = args.replication_factor;
        let data = args.data.map(|bytes| catalog.data_per_node(&requests, bytes, copies));
        Ok(Self { requests, cost, data: data.unwrap_or_default() })
    }

    fn words(&self) -> String {
        let words: Vec<String> = self.requests.iter().map(ToString::to_string).collect();
        words.join(" + ")
    }

    fn document(&self) -> Value {
        let mut document = json!(self.cost);
        if !self.data.is_empty() {
            document["data_per_node"] = json!(self.data);
        }
        document
    }

    fn bill(&self) {
        println!("{}", self.words());
        println!("{:<52} {:>12} {:>12} {:>12} {:>14}", "", "quantity", "unit", "USD each", "USD/month");
        for line in &self.cost.lines {
            // Azure's MB/s of 10^6 bytes are 480.79071044921875 MiB/s.
            let quantity = (line.quantity * 1e4).round() / 1e4;
            println!(
                "{:<52} {quantity:>12} {:>12} {:>12} {:>14.2}",
                line.what, line.unit, line.unit_usd, line.usd_per_month
            );
        }
        total("a month", self.cost.usd_per_month);
        total("an hour", self.cost.usd_per_hour);
        if let Some(term) = &self.cost.term {
            total(&format!("{} of the reservations", years(term.years)), term.usd);
            match (term.upfront_usd, term.usd_per_hour) {
                (Some(upfront), Some(hourly)) => {
                    total("  of it upfront", upfront);
                    println!("{:<52} {:>12} {:>12} {hourly:>12.4}", "  and by the hour", term.hours, "hour");
                }
                _ => println!("  (how much of it is upfront the source of the price does not say)"),
            }
        }
    }

    fn rest(&self) {
        for node in &self.data {
            println!("{}", sentence(node));
        }
        println!("basis: {}", self.cost.basis_words());
        for note in &self.cost.notes {
            println!("note: {note}");
        }
    }
}

fn total(what: &str, usd: f64) {
    println!("{what:<52} {:>12} {:>12} {:>12} {usd:>14.2}", "", "", "");
}

fn years(years: u32) -> String {
    if years == 1 { "one year".to_owned() } else { format!("{years} years") }
}

fn sentence(node: &NodeData) -> String {
    let gb = |bytes: f64| format!("{:.0} GB", bytes / 1e9);
    let of = match node.fill {
        Some(fill) if fill > 1.0 => format!("does not fit its disks of {}", gb(node.disk_bytes)),
        Some(fill) => format!("{:.0} % of its disks of {}", fill * 100.0, gb(node.disk_bytes)),
        None => "it has no disks for it".to_owned(),
    };
    format!("data: {} on each node of {}: {of}", gb(node.bytes), node.configuration)
}

fn difference(fleet: &Fleet, other: &Fleet, format: Format) -> Result<(), Failure> {
    let diff: CostDiff = fleet.cost.difference(&other.cost).map_err(Failure::input)?;
    if format == Format::Json {
        let document = json!({
            "format_version": FORMAT_VERSION,
            "from": fleet.document(),
            "to": other.document(),
            "difference": diff,
        });
        println!("{}", pretty(&document));
        return Ok(());
    }
    println!("A: {}", fleet.words());
    println!("B: {}", other.words());
    println!("{:<26} {:>16} {:>16} {:>16}", "USD a month", "A", "B", "B - A");
    for row in &diff.rows {
        let kind = row.kind.label();
        println!("{kind:<26} {:>16.2} {:>16.2} {:>+16.2}", row.from, row.to, row.difference);
    }
    let (a, b) = (&fleet.cost, &other.cost);
    println!("{:<26} {:>16.2} {:>16.2} {:>+16.2}", "together", a.usd_per_month, b.usd_per_month, diff.usd_per_month);
    if let Some(ratio) = diff.ratio {
        println!("B costs {ratio:.2} times A");
    }
    for node in fleet.data.iter().chain(&other.data) {
        println!("{}", sentence(node));
    }
    println!("basis of A: {}", a.basis_words());
    println!("basis of B: {}", b.basis_words());
    for (name, cost) in [("A", a), ("B", b)] {
        for note in &cost.notes {
            println!("note on {name}: {note}");
        }
    }
    Ok(())
}
