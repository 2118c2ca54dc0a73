//! The configurations as they were built, with what fio measured, their bills, and the facts of their hosts.

use analysis::{Analysis, ConfigurationFacts, VolumeReport, rules};
use serde_json::Value;

use crate::document::section::Section;
use crate::document::table::{Form, Rows, rows};
use crate::document::text::code;
use crate::figures::{GIB, MIB, given};
use crate::labels;
use crate::summary;

/// The whole section.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let all = &analysis.configurations;
    let settings = all.iter().flat_map(|c| c.settings.labels().into_iter().map(move |setting| (c, setting)));
    let label = "Settings: what was otherwise than iopslab starts the database, found in force in every valid trial";
    let settings = rows(label, settings)
        .text("Configuration", |(c, _)| c.name.clone())
        .text("Setting", |(_, setting)| code(setting));
    let lines = all.iter().flat_map(|c| {
        let lines = c.cost_lines.iter().map(|line| (&line.what, Some(line.usd_per_month)));
        let missing = c.cost_missing.iter().map(|missing| (missing, None));
        lines.chain(missing).map(move |(what, usd)| (c, what, usd))
    });
    let bill = rows("What each configuration costs", lines)
        .text("Configuration", |(c, ..)| c.name.clone())
        .text("Part", |(_, what, _)| (*what).clone())
        .number("$/month", |(.., usd)| usd.map(labels::dollars));
    let mut facts = Vec::new();
    flatten("", &analysis.environment, &mut facts);
    let section = Section::new("configurations", "Configurations")
        .mostly(Form::ROOMY)
        .table(machines(all, main_memory(analysis)))
        .list(summary::versions(analysis))
        .table(settings)
        .list(summary::weightings(analysis).into_iter().chain(summary::backlogs(analysis)))
        .table(volumes(all, labels::prober(analysis)))
        .table(bill)
        .key(format!("Basis of cost: {}.", labels::basis(analysis)));
    if facts.is_empty() {
        return section.paragraph("Facts of the hosts were not recorded.");
    }
    let facts = rows("Host facts, as frozen when the run began", facts)
        .text("Fact", |(name, _)| name.clone())
        .text("Value", |(_, value)| value.clone());
    section.table(facts).folded("Host facts", false)
}

/// What the database's main memory is called; a heap where nothing was measured.
fn main_memory(analysis: &Analysis) -> &'static str {
    let product = analysis.cells.iter().find_map(|cell| cell.database.product());
    product.map_or("Heap", |product| product.main_memory)
}

fn machines<'a>(all: &'a [ConfigurationFacts], main_memory: &str) -> Rows<&'a ConfigurationFacts> {
    let made = |c: &ConfigurationFacts, figure: f64| c.exists_at.is_empty().then_some(figure);
    rows(format!("{}; cost at full scale", labels::built(all)), all)
        .text("Configuration", |c| c.name.clone())
        .number("Nodes", |c| labels::is_known(c).then(|| labels::nodes(c)))
        .number("CPUs", |c| labels::is_known(c).then(|| given(c.cpus)))
        .number("Memory limit, GiB", |c| labels::is_known(c).then(|| c.memory_limit_bytes as f64 / GIB))
        .number(format!("{main_memory}, GiB"), |c| made(c, c.heap_bytes as f64 / GIB))
        .number("Page-cache budget, MiB", |c| made(c, c.page_cache_budget_bytes as f64 / MIB))
        .number("$/month", |c| c.usd_per_month.map(labels::dollars))
}

fn volumes<'a>(all: &'a [ConfigurationFacts], prober: &str) -> Rows<(&'a ConfigurationFacts, &'a VolumeReport)> {
    let label = format!(
        "Volumes: limits asked for, and what {prober} measured (4 KiB random reads, 64 KiB sequential writes, direct \
         I/O)"
    );
    let of_limit = |measured: f64, limit: Option<f64>| Some(measured / limit.filter(|l| *l > 0.0)? * 100.0);
    rows(label, all.iter().filter(|c| labels::is_known(c)).flat_map(|c| c.volumes.iter().map(move |v| (c, v))))
        .text("Configuration", |(c, _)| c.name.clone())
        .text("Volume", |(_, v)| v.role.name())
        .text("Models", |(c, v)| labels::volume(c, v))
        .text("Limit", |(_, v)| labels::limits(&v.limits))
        .number("Size, GiB", |(_, v)| v.size_bytes as f64 / GIB)
        .number("Reads, IOPS", |(_, v)| v.probe.as_ref().map(|p| p.read_iops))
        .number("of limit, %", |(_, v)| of_limit(v.probe.as_ref()?.read_iops, rules::expected_read_iops(&v.limits)))
        .number("Read latency, ms", |(_, v)| v.probe.as_ref().map(|p| p.read_latency_us / 1e3))
        .number("Writes, MiB/s", |(_, v)| v.probe.as_ref().map(|p| p.write_bytes_per_s / MIB))
        .number("of limit, %", |(_, v)| {
            of_limit(v.probe.as_ref()?.write_bytes_per_s, rules::expected_write_bytes_per_s(&v.limits))
        })
}

/// Nested facts as dotted names. Lists of plain values stay on one line.
fn flatten(prefix: &str, value: &Value, into: &mut Vec<(String, String)>) {
    let name = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Null => {}
        Value::Object(fields) => fields.iter().for_each(|(key, v)| flatten(&name(key), v, into)),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().enumerate().for_each(|(i, v)| flatten(&name(&i.to_string()), v, into));
        }
        Value::Array(items) => {
            let shown: Vec<String> = items.iter().map(plain).collect();
            into.push((prefix.to_owned(), shown.join(", ")));
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => into.push((prefix.to_owned(), plain(value))),
    }
}
