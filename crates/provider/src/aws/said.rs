//! What Terraform writes, as people see it.

use serde_json::Value;

/// Called with what is being done.
pub type Say<'a> = &'a mut dyn FnMut(&str);

/// What people see of a line of `-json`.
pub(super) fn report(verb: &str, line: &str, say: Say<'_>) {
    let Ok(event) = serde_json::from_str::<Value>(line) else { return };
    let address = event["hook"]["resource"]["addr"].as_str().unwrap_or_default();
    let changes = &event["changes"];
    match event["type"].as_str() {
        // Each thing is in the log; people wait for machines.
        Some("apply_complete") if address.starts_with("aws_instance.") => {
            say(&format!("terraform {verb}: {address} done"));
        }
        // What was planned before is applied, whatever it is.
        Some("change_summary") if verb == "destroy" && changes["operation"] == "apply" => {
            say(&format!("Destroy complete! Resources: {} destroyed.", changes["remove"]));
        }
        Some("change_summary") => say(event["@message"].as_str().unwrap_or_default()),
        _ => {}
    }
}

/// Why it failed, by the lines that it has written: its errors, or else its last words.
pub(super) fn failure(lines: &[String]) -> Option<String> {
    let errors: Vec<String> = lines.iter().filter_map(|line| diagnostic(line)).collect();
    let last = || lines.iter().rev().find(|line| !line.is_empty()).cloned();
    if errors.is_empty() { plain_error(lines).or_else(last) } else { Some(errors.join("\n  ")) }
}

/// An error in a line of `-json`.
fn diagnostic(line: &str) -> Option<String> {
    let event: Value = serde_json::from_str(line).ok()?;
    let found = event.get("diagnostic").filter(|d| d["severity"] == "error")?;
    let (summary, detail) = (found["summary"].as_str()?, found["detail"].as_str().unwrap_or_default());
    Some(match detail.is_empty() {
        true => summary.to_owned(),
        false => format!("{summary}: {}", detail.split_whitespace().collect::<Vec<_>>().join(" ")),
    })
}

/// An error in plain output, such as that of `init`: all of it, in one line.
fn plain_error(lines: &[String]) -> Option<String> {
    let first = lines.iter().position(|line| line.starts_with("Error: "))?;
    let words = lines[first..].iter().flat_map(|line| line.split_whitespace()).skip(1);
    Some(words.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_at_before_it_was_destroyed_is_reported_as_destroyed() {
        let mut said = Vec::new();
        let mut report_all = |verb: &str, lines: &[&str]| {
            let say: Say<'_> = &mut |line: &str| said.push(line.to_owned());
            lines.iter().for_each(|line| report(verb, line, &mut *say));
        };
        report_all(
            "destroy",
            &[
                r#"{"@message":"Plan: 0 to add, 0 to change, 3 to destroy.",
                    "changes":{"remove":3,"operation":"plan"},"type":"change_summary"}"#,
                r#"{"hook":{"resource":{"addr":"aws_instance.machine[\"a\"]"}},"type":"apply_complete"}"#,
                r#"{"hook":{"resource":{"addr":"aws_key_pair.run"}},"type":"apply_complete"}"#,
                r#"{"@message":"Apply complete! Resources: 0 added, 0 changed, 3 destroyed.",
                    "changes":{"remove":3,"operation":"apply"},"type":"change_summary"}"#,
                "no JSON",
            ],
        );
        report_all(
            "apply",
            &[r#"{"@message":"Apply complete!","changes":{"operation":"apply"},"type":"change_summary"}"#],
        );
        assert_eq!(
            said,
            [
                "Plan: 0 to add, 0 to change, 3 to destroy.",
                "terraform destroy: aws_instance.machine[\"a\"] done",
                "Destroy complete! Resources: 3 destroyed.",
                "Apply complete!",
            ]
        );
    }

    #[test]
    fn an_error_of_terraform_is_its_summary_and_its_detail_in_one_line() {
        let line = r#"{"type":"diagnostic","diagnostic":{"severity":"error","summary":"creating EC2 Instance",
                       "detail":"InsufficientInstanceCapacity:\n  none left"}}"#;
        let reported = diagnostic(line);
        assert_eq!(reported.as_deref(), Some("creating EC2 Instance: InsufficientInstanceCapacity: none left"));
        assert_eq!(diagnostic(r#"{"diagnostic":{"severity":"warning","summary":"x"}}"#), None);
        assert_eq!(diagnostic("plain"), None);
        // init says it in plain words, the reason first.
        let said =
            "Initializing the backend...\n\nError: S3 bucket \"x\" does not exist.\n\nIt must have been\ncreated.\n";
        let lines: Vec<String> = said.lines().map(str::to_owned).collect();
        assert_eq!(plain_error(&lines).as_deref(), Some("S3 bucket \"x\" does not exist. It must have been created."));
        assert_eq!(plain_error(&lines[..1]), None);
    }
}
