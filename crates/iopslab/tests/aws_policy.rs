//! `docs/aws-policy.json` lets credentials make, tag, change and remove what has the tag of a run, and nothing else:
//! who may tag anything may remove anything.

use serde_json::Value;

const MADE_WITH: &str = "aws:RequestTag/iopslab:run";
const HAS: &str = "aws:ResourceTag/iopslab:run";

/// One text, or several.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}

/// What of a statement would touch things that no run has made.
fn too_wide(statement: &Value) -> Vec<String> {
    let condition = &statement["Condition"];
    let asks_for = |tag: &str| condition["Null"][tag] == "false";
    let of_kind = |kind: &str| texts(&statement["Resource"]).iter().all(|name| name.contains(&format!(":{kind}/")));
    let made_by = texts(&condition["StringEquals"]["ec2:CreateAction"]);
    let is_narrow = |action: &&str| match action.split_once(':').unwrap().1 {
        verb if verb.contains('*') => false,
        verb if verb.starts_with("Describe") || verb.starts_with("Get") => true,
        // What is being made, in the request that makes it, or what has the tag already. Interfaces have none.
        "CreateTags" => {
            let is_of_run = |by: &&str| !["CreateNetworkInterface", "CreateTags"].contains(by) && !by.contains('*');
            asks_for(HAS) || (!made_by.is_empty() && made_by.iter().all(is_of_run))
        }
        // What costs money has the tag from its beginning; the rest are parts that it is made of.
        "RunInstances" if !asks_for(MADE_WITH) => {
            !texts(&statement["Resource"]).iter().any(|name| name.contains(":instance/") || name.contains(":volume/"))
        }
        verb if verb.starts_with("Run") || verb.starts_with("Create") || verb.starts_with("Import") => {
            // Parts of a network that is there, and AWS's own role for spot machines.
            asks_for(MADE_WITH) || asks_for(HAS) || of_kind("vpc") || of_kind("role")
        }
        // A rule is new, and its group has the tag; a request for spot machines has none.
        verb if verb.starts_with("Authorize") => asks_for(HAS) || of_kind("security-group-rule"),
        "CancelSpotInstanceRequests" => of_kind("spot-instances-request"),
        _ => asks_for(HAS),
    };
    let actions = texts(&statement["Action"]);
    actions.iter().filter(|action| !is_narrow(action)).map(|action| format!("{} {action}", statement["Sid"])).collect()
}

fn policy() -> Vec<Value> {
    let policy: Value = serde_json::from_str(include_str!("../../../docs/aws-policy.json")).unwrap();
    policy["Statement"].as_array().unwrap().clone()
}

#[test]
fn nothing_is_tagged_changed_or_removed_but_what_a_run_has_made() {
    let statements = policy();
    assert!(statements.len() > 8);
    for statement in &statements {
        // Nothing is allowed by what is left out.
        let is_listed = !texts(&statement["Action"]).is_empty() && !texts(&statement["Resource"]).is_empty();
        assert!(is_listed && statement["Effect"] == "Allow", "{statement:#}");
    }
    assert_eq!(statements.iter().flat_map(too_wide).collect::<Vec<_>>(), Vec::<String>::new());
}

/// Any network interface of the account could be given the tag of a run once, and was then the run's to remove.
#[test]
fn each_right_too_many_is_noticed() {
    let tags = |condition: Value| {
        serde_json::json!({
            "Sid": "Tags", "Effect": "Allow", "Action": "ec2:CreateTags",
            "Resource": "arn:aws:ec2:*:*:network-interface/*", "Condition": condition
        })
    };
    let being_made = |action: &str| serde_json::json!({ "StringEquals": { "ec2:CreateAction": [action] } });
    assert_eq!(too_wide(&tags(Value::Null)), ["\"Tags\" ec2:CreateTags"]);
    assert_eq!(too_wide(&tags(being_made("CreateNetworkInterface"))).len(), 1);
    assert_eq!(too_wide(&tags(being_made("CreateTags"))).len(), 1);
    assert!(too_wide(&tags(being_made("RunInstances"))).is_empty());
    for mut statement in policy() {
        let changes = texts(&statement["Action"]).iter().any(|action| action.contains(":Delete"));
        statement["Condition"] = Value::Null;
        assert!(!changes || too_wide(&statement).len() > 20, "{statement:#}");
    }
}
