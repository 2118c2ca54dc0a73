//! Whether what Terraform knows of may be obeyed: a state says which things of an account Terraform changes and
//! removes, and which plug-ins it starts. It comes with a run directory, or from a backend that others write to as
//! well; it may name anything that the user has.

use serde_json::Value;

use super::error::AwsError;
use super::modules::{Resource, resources};

/// The only plug-ins that the modules need, as a state names them: that of AWS, by Terraform and by OpenTofu, and what
/// is built in.
const PLUGINS: [&str; 3] = [
    "provider[\"terraform.io/builtin/terraform\"]",
    "provider[\"registry.terraform.io/hashicorp/aws\"]",
    "provider[\"registry.opentofu.org/hashicorp/aws\"]",
];
/// The tag whose value is the run's name: everything has it from the request that makes it.
const TAG: &str = "iopslab:run";
/// All tags of a thing, as a state and a plan have them.
const TAGS: &str = "tags_all";

/// Whether there is anything that was made.
pub(super) fn knows_of_anything(state: &Value) -> bool {
    list(&state["resources"]).any(|resource| resource["mode"] == "managed")
}

/// Refuses a state that names another plug-in than those of the modules, what no module makes, or a thing that has not
/// the tag of this run. `place` is where it lies, for people.
pub(super) fn check(state: &Value, run: &str, place: &str) -> Result<(), AwsError> {
    let refused = |what: String| Err(AwsError::Foreign { what });
    let known = resources();
    for found in list(&state["resources"]) {
        let plugin = found["provider"].as_str().unwrap_or_default();
        if !PLUGINS.contains(&plugin) {
            return refused(format!("{place} needs {plugin}"));
        }
        let resource = named(found, "module");
        let address = address(&resource);
        if !known.contains(&resource) {
            return refused(format!("{place} has {address}"));
        }
        for instance in list(&found["instances"]) {
            // What Terraform before 0.12 wrote is read by none of today's states.
            let is_strange = !instance["attributes_flat"].is_null();
            let other = other_run(&instance["attributes"], run);
            if let Some(other) = other.or(is_strange.then_some("?")) {
                return refused(format!("{place} has {address}, which belongs to {TAG} = {other}"));
            }
        }
    }
    Ok(())
}

/// Refuses what a plan is about that has not the tag of this run on AWS: before Terraform plans it reads again what its
/// state names, which could say anything of itself. What the run has yet to make has no past.
pub(super) fn check_plan(plan: &Value, run: &str, place: &str) -> Result<(), AwsError> {
    let there = || {
        let changes = list(&plan["resource_changes"]).filter(|change| change["mode"] == "managed");
        let all = changes.map(|change| (named(change, "module_address"), &change["change"]["before"]));
        all.filter(|(_, before)| !before.is_null())
    };
    let tables: Vec<&Value> =
        there().filter(|(resource, _)| resource.kind == "aws_route_table").map(|(_, before)| &before["id"]).collect();
    let is_of_run = |resource: &Resource, before: &Value| match resource.kind.as_str() {
        // It is nowhere but in the state.
        "terraform_data" => true,
        // These have no tags: a subnet's way to one of the run's tables.
        "aws_route_table_association" => tables.contains(&&before["route_table_id"]),
        _ => before[TAGS][TAG] == run,
    };
    let other = there().find(|(resource, before)| !is_of_run(resource, before));
    other.map_or(Ok(()), |(resource, before)| {
        let found = before[TAGS][TAG].as_str().unwrap_or("none");
        let what = format!("{place} has {}, which belongs to {TAG} = {found}", address(&resource));
        Err(AwsError::Foreign { what })
    })
}

/// Whether a plan makes a pair of keys, for the first time or another one: the keys of the directory are not those of
/// machines that stand.
pub(super) fn makes_key(plan: &Value) -> bool {
    makes(plan, "aws_key_pair")
}

/// Whether a plan makes a machine, for the first time or another one.
pub(super) fn makes_machine(plan: &Value) -> bool {
    makes(plan, "aws_instance")
}

fn makes(plan: &Value, kind: &str) -> bool {
    let of_kind = list(&plan["resource_changes"]).filter(|change| change["type"] == kind);
    of_kind.flat_map(|change| list(&change["change"]["actions"])).any(|action| action == "create")
}

/// The value of the tag where it is shown and is not that of this run.
fn other_run<'a>(values: &'a Value, run: &str) -> Option<&'a str> {
    let tags = values[TAGS].as_object().filter(|tags| !tags.is_empty())?;
    let found = tags.get(TAG).and_then(Value::as_str).unwrap_or("none");
    (found != run).then_some(found)
}

/// As a state names it (`module`), or a plan (`module_address`).
fn named(found: &Value, module: &str) -> Resource {
    let word = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    Resource { module: word(module), mode: word("mode"), kind: word("type"), name: word("name") }
}

/// As Terraform writes it.
fn address(resource: &Resource) -> String {
    let Resource { module, mode, kind, name } = resource;
    let mode = if mode == "managed" { "" } else { mode.as_str() };
    let parts = [module.as_str(), mode, kind.as_str(), name.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const AWS: &str = "provider[\"registry.terraform.io/hashicorp/aws\"]";

    fn refused(resource: Value) -> Option<String> {
        let state = json!({ "version": 4, "resources": [resource] });
        check(&state, "gp3-20261126T080000Z", "s3://states/x").err().map(|error| error.to_string())
    }

    fn instance(tags: &Value) -> Value {
        json!({
            "mode": "managed", "type": "aws_instance", "name": "machine", "provider": AWS,
            "instances": [{ "index_key": "a", "attributes": { "id": "i-1", "tags_all": tags } }],
        })
    }

    #[test]
    fn what_the_modules_have_made_for_the_run_is_taken_up() {
        let run = json!({ "Name": "x", "iopslab:run": "gp3-20261126T080000Z", "team": "storage" });
        assert_eq!(refused(instance(&run)), None);
        // A thing that was made by half does not say.
        assert_eq!((refused(instance(&json!({}))), refused(instance(&Value::Null))), (None, None));
        let image = json!({ "mode": "data", "type": "aws_ssm_parameter", "name": "image", "provider": AWS });
        assert_eq!(refused(image), None);
        let vpc = json!({
            "module": "module.network[0]", "mode": "managed", "type": "aws_vpc", "name": "run", "provider": AWS,
            "instances": [{ "attributes": { "tags_all": run } }],
        });
        assert_eq!(refused(vpc), None);
        let checked = json!({
            "mode": "managed", "type": "terraform_data", "name": "checked",
            "provider": "provider[\"terraform.io/builtin/terraform\"]", "instances": [{ "attributes": { "id": "x" } }],
        });
        assert_eq!(refused(checked), None);
        check(&Value::Null, "r", "here").unwrap();
        assert!(!knows_of_anything(&Value::Null));
        assert!(knows_of_anything(&json!({ "resources": [instance(&Value::Null)] })));
    }

    #[test]
    fn what_no_module_makes_is_refused_by_its_address() {
        for (module, mode, kind, name, address) in [
            ("", "managed", "aws_db_instance", "prod", "aws_db_instance.prod"),
            ("", "managed", "aws_instance", "prod", "aws_instance.prod"),
            ("", "data", "aws_instance", "machine", "data.aws_instance.machine"),
            ("module.network[1]", "managed", "aws_vpc", "run", "module.network[1].aws_vpc.run"),
            ("module.evil", "managed", "aws_vpc", "run", "module.evil.aws_vpc.run"),
            ("", "managed", "aws_vpc", "run", "aws_vpc.run"),
        ] {
            let mut found = json!({ "mode": mode, "type": kind, "name": name, "provider": AWS });
            if !module.is_empty() {
                found["module"] = json!(module);
            }
            let words = refused(found).unwrap();
            assert!(words.starts_with(&format!("s3://states/x has {address}: ")), "{words}");
        }
    }

    #[test]
    fn a_thing_of_another_run_is_refused() {
        for (tags, other) in [(json!({ "iopslab:run": "gp3-2" }), "gp3-2"), (json!({ "Name": "prod" }), "none")] {
            let words = refused(instance(&tags)).unwrap();
            let part = format!("aws_instance.machine, which belongs to iopslab:run = {other}");
            assert!(words.contains(&part), "{words}");
        }
    }

    #[test]
    fn a_plan_may_concern_what_has_the_tag_of_the_run_on_aws() {
        let change = |kind: &str, name: &str, before: Value| {
            let change = json!({ "actions": ["delete"], "before": before });
            json!({ "mode": "managed", "type": kind, "name": name, "change": change })
        };
        let run = json!({ "iopslab:run": "r-1" });
        let own = [
            change("aws_instance", "machine", json!({ "tags_all": run })),
            change("aws_route_table", "run", json!({ "id": "rtb-1", "tags_all": run })),
            change("aws_route_table_association", "zone", json!({ "route_table_id": "rtb-1" })),
            change("terraform_data", "checked", json!({ "id": "x" })),
            // Yet to be made.
            change("aws_security_group", "run", Value::Null),
            json!({ "mode": "data", "type": "aws_ssm_parameter", "name": "image", "change": { "before": {} } }),
        ];
        let of = |plan: &[Value]| check_plan(&json!({ "resource_changes": plan }), "r-1", "here");
        of(&own).unwrap();
        check_plan(&json!({}), "r-1", "here").unwrap();
        for (other, words) in [
            (change("aws_instance", "machine", json!({ "tags_all": { "Name": "prod" } })), "iopslab:run = none"),
            (change("aws_instance", "machine", json!({ "tags_all": null })), "iopslab:run = none"),
            (change("aws_vpc", "run", json!({ "tags_all": { "iopslab:run": "r-2" } })), "iopslab:run = r-2"),
            (change("aws_route_table_association", "zone", json!({ "route_table_id": "rtb-2" })), "association.zone"),
        ] {
            let refused = of(&[&own[..], &[other]].concat()).unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn a_pair_of_keys_that_is_made_is_none_of_a_machine_that_stands() {
        let makes = |kind: &str, actions: &[&str]| {
            makes_key(&json!({ "resource_changes": [{ "type": kind, "change": { "actions": actions } }] }))
        };
        assert!(makes("aws_key_pair", &["create"]) && makes("aws_key_pair", &["delete", "create"]));
        assert!(!makes("aws_key_pair", &["no-op"]) && !makes("aws_key_pair", &["update"]));
        assert!(!makes("aws_instance", &["create"]) && !makes_key(&Value::Null));
        let machine = |actions: &[&str]| {
            let change = json!({ "type": "aws_instance", "change": { "actions": actions } });
            makes_machine(&json!({ "resource_changes": [change] }))
        };
        assert!(machine(&["delete", "create"]) && !machine(&["update"]) && !machine(&["delete"]));
    }

    #[test]
    fn a_state_that_needs_another_plugin_is_refused() {
        for plugin in [
            "provider[\"registry.terraform.io/evil/shell\"]",
            "module.x.provider[\"registry.terraform.io/hashicorp/aws\"]",
            "",
        ] {
            let mut found = instance(&Value::Null);
            found["provider"] = json!(plugin);
            let words = refused(found).unwrap();
            assert!(words.starts_with(&format!("s3://states/x needs {plugin}")), "{words}");
        }
    }
}
