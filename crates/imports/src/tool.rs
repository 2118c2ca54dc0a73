//! Whose file is it?

use evidence::Tool;

use crate::{Refusal, nosqlbench};

/// How many lines are looked at for what a tool begins with.
const FIRST_LINES: usize = 60;

/// A tool that is known and not read.
struct Known {
    name: &'static str,
    /// What one of the first lines holds.
    sign: fn(&str) -> bool,
    /// What to do instead.
    help: &'static str,
}

const WITHOUT_LOAD: &str = "figures of a host say nothing without the load that it was under: import the results of \
                            the load generator, and have iopslab watch the hosts of the next run (docs/hosts.md)";
const NOT_READ: &str = "docs/imports.md says what is read, and why this is not";
const BESIDE: &str = "name it beside the results that it belongs to: `histograms` in the map, or --histograms";

const KNOWN: [Known; 6] = [
    Known { name: "a file of iostat", sign: is_iostat, help: WITHOUT_LOAD },
    Known { name: "a file of sar", sign: is_sar, help: WITHOUT_LOAD },
    Known {
        name: "an HdrHistogram log without its results",
        sign: |line| line.starts_with("#[Histogram log format version") || line.starts_with("\"StartTimestamp\""),
        help: BESIDE,
    },
    Known {
        name: "a file of cql-stress, or of cassandra-stress before 2.1",
        sign: |line| line.starts_with("total ops ,"),
        help: NOT_READ,
    },
    Known { name: "a file of pgbench", sign: |line| line.starts_with("transaction type:"), help: NOT_READ },
    Known {
        name: "a file of wrk",
        sign: |line| line.starts_with("Running ") && line.contains(" test @ "),
        help: NOT_READ,
    },
];

fn is_iostat(line: &str) -> bool {
    line.starts_with("avg-cpu:") || (line.starts_with("Device") && line.contains("r/s")) || line == "\"sysstat\": {"
}

fn is_sar(line: &str) -> bool {
    let is_head = |words: &[&str]| words.iter().all(|word| line.contains(word));
    is_head(&["CPU", "%user", "%iowait"]) || is_head(&["DEV", "tps"]) || is_head(&["kbmemfree", "kbmemused"])
}

/// The tool that wrote a file.
pub fn of(text: &str) -> Result<Tool, Refusal> {
    let head = text.trim_start();
    if head.is_empty() {
        return Err(Refusal::whole("the file is empty"));
    }
    if head.starts_with('{') || head.starts_with('[') && head[1..].trim_start().starts_with('{') {
        return of_json(head);
    }
    let lines = || text.lines().map(str::trim);
    if lines().any(|line| line.starts_with("[OVERALL], ")) {
        return Ok(Tool::Ycsb);
    }
    let is_stress = |line: &str| line.contains("* Stress Settings *") || line.starts_with("type       total ops,");
    if lines().any(is_stress) || lines().any(|line| line.starts_with("Op rate  ")) {
        return Ok(Tool::CassandraStress);
    }
    if lines().take(FIRST_LINES).any(|line| line.starts_with(nosqlbench::HEAD)) {
        return Ok(Tool::NoSqlBench);
    }
    for known in &KNOWN {
        if lines().take(FIRST_LINES).any(known.sign) {
            return Err(Refusal::whole(format!("this is {}, which is not read", known.name)).help(known.help));
        }
    }
    let is_status = |line: &str| line.contains(" sec: ") && line.contains(" operations; ");
    if lines().any(is_status) || lines().any(|line| line.starts_with("YCSB Client ")) {
        let message = "this is the output of YCSB without its end: there is no `[OVERALL], RunTime(ms), ...`";
        let help = "the run was stopped before its end, or stdout went elsewhere (YCSB's summary is on stdout, its \
                    progress on stderr)";
        return Err(Refusal::whole(message).help(help));
    }
    let help = "read are: YCSB's text output, the log of cassandra-stress, latte's JSON, the CSV of a timer of \
                NoSQLBench, and fio --output-format=json";
    Err(Refusal::whole("this is of no tool that is known here").help(help))
}

/// Of a JSON document; whether it is whole is seen when it is read.
fn of_json(text: &str) -> Result<Tool, Refusal> {
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    if has("fio version") || has("jobs") && (has("clat_ns") || has("clat")) {
        return Ok(Tool::Fio);
    }
    if has("conf") && has("cycle_throughput") {
        return Ok(Tool::Latte);
    }
    Err(match has("sysstat") {
        true => Refusal::whole("this is a file of iostat or sar in JSON, which is not read").help(WITHOUT_LOAD),
        false => {
            Refusal::whole("this is JSON of no tool that is known here").help("of JSON that of fio and latte is read")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_tool_is_called_by_its_name() {
        for (text, named) in [
            ("", "empty"),
            ("hello\nworld\n", "no tool that is known"),
            ("Linux 6.1 (h)\t06/17/2024\t_x86_64_\t(1 CPU)\n\navg-cpu:  %user   %nice\n", "iostat"),
            ("Linux 6.1\n\n12:00:01 AM     CPU     %user     %nice   %system   %iowait\n", "sar"),
            ("{\"sysstat\": {\"hosts\": []}}", "iostat or sar in JSON"),
            ("#[Histogram log format version 1.3]\n", "HdrHistogram"),
            ("transaction type: <builtin: TPC-B (sort of)>\n", "pgbench"),
            ("Running 30s test @ http://127.0.0.1:8080/\n", "wrk"),
            ("{\"a\": 1}", "JSON of no tool"),
            ("2017-06-19 22:46:23:688 0 sec: 0 operations; est completion in 0 seconds\n", "without its end"),
        ] {
            let refusal = of(text).unwrap_err();
            assert!(refusal.message.contains(named), "{text:?}: {refusal}");
        }
    }
}
