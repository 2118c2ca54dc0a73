//! The foot of the page: when, on what and with what the run was made, and the files beside it.

use analysis::Analysis;
use serde_json::Value;

use crate::document::html::escaped;
use crate::figures::bytes;
use crate::labels;

/// Facts and links. The links are relative: the page lies in the run's directory.
pub fn footer(analysis: &Analysis) -> String {
    let facts: String =
        facts(analysis).iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", escaped(value))).collect();
    let of_nodes = match analysis.cells.iter().any(|c| !c.nodes.is_empty()) {
        true => "<a href=\"nodes.csv\">nodes.csv</a> (one row for each node of a cell), ",
        false => "",
    };
    let of_faults = match analysis.cells.iter().any(|c| c.faults.is_some()) {
        true => "<a href=\"faults.csv\">faults.csv</a> (each cell before, during and after planned faults), ",
        false => "",
    };
    format!(
        "<footer>\n<dl>{facts}</dl>\n\
         <p>Files beside this page: <a href=\"summary.csv\">summary.csv</a> (one row a cell), {of_nodes}{of_faults}\
         <a href=\"analysis.json\">analysis.json</a> (every number of this page), <a href=\"report.md\">report.md</a>, \
         <a href=\"trials/\">trials/</a> (the evidence: <code>trials/&lt;cell&gt;/&lt;block&gt;/</code>). Made again \
         by: <code>iopslab report {}</code></p>\n</footer>\n",
        escaped(&analysis.run)
    )
}

/// What is known of the run; a fact that was not recorded is left out.
fn facts(analysis: &Analysis) -> Vec<(&'static str, String)> {
    let environment = &analysis.environment;
    let host = environment.get("database");
    let of_host = |name: &str| host.and_then(|h| h.get(name)).or_else(|| environment.get(name));
    let words = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let machine: Vec<String> = [
        words(of_host("cpu_model")),
        of_host("cpus").and_then(Value::as_u64).map(|n| format!("{n} CPUs")),
        of_host("memory_bytes").and_then(Value::as_f64).map(|memory| format!("{} of memory", bytes(memory))),
        words(of_host("os")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let all = [
        ("Run", Some(analysis.run.clone())),
        ("Begun", labels::begun(&analysis.run)),
        ("Machine", (!machine.is_empty()).then(|| machine.join(", "))),
        ("Kernel", words(of_host("kernel"))),
        ("iopslab", words(environment.get("iopslab"))),
        ("Database", Some(analysis.database.clone())),
        ("Seed", Some(analysis.seed.to_string())),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
