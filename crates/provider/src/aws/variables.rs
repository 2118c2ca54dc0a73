//! What the modules are asked for, as they read it.

use experiment::{AwsBatch, AwsMachine, AwsSettings, AwsSite};
use serde_json::json;

/// The variables of the modules.
pub(super) fn variables(
    ((run, expires), (public_key, host_key)): ((&str, &str), (&str, &str)),
    settings: &AwsSettings,
    (batch, site): (&AwsBatch, &AwsSite),
    first_zone: u32,
) -> serde_json::Value {
    // In a network that exists the zones are those of its subnets.
    let zone = |machine: &AwsMachine| match &site.network {
        Some(network) => (machine.zone + first_zone) % network.subnet_ids.len().max(1) as u32,
        None => machine.zone,
    };
    let machine = |machine: &AwsMachine| {
        let mut volumes = json!(machine.volumes);
        if let (Some(snapshot), Some(data)) = (&site.snapshot, volumes.get_mut("data")) {
            data["snapshot_id"] = json!(snapshot);
        }
        let value = json!({
            "role": machine.role,
            "configuration": machine.configuration.clone().unwrap_or_default(),
            "instance_type": machine.instance_type,
            "architecture": machine.architecture,
            "zone": zone(machine),
            "root_gib": machine.root_gib,
            "spot": machine.spot,
            "ebs_optimized": machine.ebs_optimized,
            "bandwidth_weighting": machine.bandwidth_weighting,
            "instance_store": machine.instance_store,
            "volumes": volumes,
        });
        (machine.name.clone(), value)
    };
    let machines: serde_json::Map<String, serde_json::Value> = batch.machines.iter().map(machine).collect();
    let mut variables = json!({
        "run": run,
        "expires": expires,
        "tags": settings.tags,
        "region": site.region,
        "profile": site.profile,
        "zones": batch.zones(),
        "first_zone": first_zone,
        "controller_cidr": settings.controller_cidr,
        "public_address": settings.public_address,
        "ssh_public_key": public_key,
        "ssh_host_key": host_key,
        "ssh_user": settings.ssh_user,
        "placement_group": settings.placement_group,
        "lifetime_s": settings.lifetime_s,
        "machines": machines,
    });
    if let Some(network) = &site.network {
        variables["network"] = json!({ "vpc_id": network.vpc_id, "subnet_ids": network.subnet_ids });
    }
    let stated = [("x86_64", &site.image_x86_64), ("arm64", &site.image_arm64)];
    let stated = stated.into_iter().filter_map(|(architecture, image)| Some((architecture, image.as_ref()?)));
    for (architecture, image) in stated {
        variables["images"][architecture] = json!(image);
    }
    variables
}

#[cfg(test)]
mod tests {
    use experiment::{AwsNetwork, Role};

    use super::super::planned::planned;
    use super::*;

    #[test]
    fn variables_say_what_is_asked_and_leave_out_what_is_not() {
        let (settings, mut batch, mut site) = planned();
        batch.machines[0].bandwidth_weighting = serde_json::from_value(json!("ebs-1")).unwrap();
        let said =
            variables((("r", "2026-11-23T12:00:00Z"), ("ssh-ed25519 A", "a key")), &settings, (&batch, &site), 0);
        assert_eq!(said["zones"], 3);
        let machine = &said["machines"]["fast.database-1"];
        assert_eq!((&machine["role"], &machine["configuration"]), (&json!("database"), &json!("fast")));
        assert_eq!(machine["bandwidth_weighting"], "ebs-1");
        assert_eq!(machine["volumes"], json!({ "data": { "type": "gp3", "size_gib": 500, "iops": 6000 } }));
        assert_eq!((said.get("network"), said.get("images")), (None, None), "the modules' defaults");
        let (mut cached, mut cache) = (batch.clone(), batch.machines[0].clone());
        (cache.name, cache.role) = ("fast.cache-1".to_owned(), Role::Cache);
        cached.machines.push(cache);
        let said = variables((("r", "e"), ("k", "h")), &settings, (&cached, &site), 0);
        let machine = &said["machines"]["fast.cache-1"];
        assert_eq!((&machine["role"], &machine["configuration"]), (&json!("cache"), &json!("fast")));
        site.image_arm64 = Some("ami-1".to_owned());
        assert_eq!(
            variables((("r", "e"), ("k", "h")), &settings, (&batch, &site), 0)["images"],
            json!({ "arm64": "ami-1" })
        );
        // Made from a snapshot: the volume of the data alone.
        let mut two = batch.clone();
        let log = two.machines[0].volumes["data"].clone();
        two.machines[0].volumes.insert("commitlog".to_owned(), log);
        site.snapshot = Some("snap-0123456789abcdef0".to_owned());
        let said = variables((("r", "e"), ("k", "h")), &settings, (&two, &site), 0);
        assert_eq!(
            said["machines"]["fast.database-1"]["volumes"],
            json!({
                "data": { "type": "gp3", "size_gib": 500, "iops": 6000, "snapshot_id": "snap-0123456789abcdef0" },
                "commitlog": { "type": "gp3", "size_gib": 500, "iops": 6000 },
            })
        );
        // Another zone first: in a network that exists that is another of its subnets.
        site.network = Some(AwsNetwork {
            vpc_id: "vpc-1".to_owned(),
            subnet_ids: ["subnet-1", "subnet-2", "subnet-3", "subnet-4"].map(str::to_owned).to_vec(),
        });
        let said = variables((("r", "e"), ("k", "h")), &settings, (&batch, &site), 3);
        let machine = &said["machines"]["fast.database-1"];
        assert_eq!((&machine["zone"], &said["first_zone"]), (&json!(1), &json!(3)));
    }
}
