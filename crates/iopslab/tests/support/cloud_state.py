"""What an account has on the API server of the tests, as JSON: what would cost money, or be in the way."""

import json
import sys

import boto3

ec2 = boto3.client("ec2", region_name=sys.argv[1])
instances = [i for r in ec2.describe_instances()["Reservations"] for i in r["Instances"]]


def tags(thing):
    return {tag["Key"]: tag["Value"] for tag in thing.get("Tags", [])}


print(
    json.dumps(
        {
            "instances": [
                {
                    "id": i["InstanceId"],
                    "state": i["State"]["Name"],
                    "private_address": i.get("PrivateIpAddress", ""),
                    "public_address": i.get("PublicIpAddress"),
                    "tags": tags(i),
                }
                for i in instances
            ],
            "left": [f"instance {i['InstanceId']}" for i in instances if i["State"]["Name"] != "terminated"]
            + [f"volume {v['VolumeId']}" for v in ec2.describe_volumes()["Volumes"]]
            + [f"key pair {k['KeyName']}" for k in ec2.describe_key_pairs()["KeyPairs"]]
            + [f"placement group {g['GroupName']}" for g in ec2.describe_placement_groups()["PlacementGroups"]]
            + [
                f"security group {g['GroupName']}"
                for g in ec2.describe_security_groups()["SecurityGroups"]
                if g["GroupName"] != "default"
            ]
            + [f"network {v['VpcId']}" for v in ec2.describe_vpcs()["Vpcs"] if not v["IsDefault"]]
            + [f"interface {n['NetworkInterfaceId']}" for n in ec2.describe_network_interfaces()["NetworkInterfaces"]],
            "untagged": [
                f"{kind} {thing[key]}"
                for kind, key, things in [
                    ("instance", "InstanceId", instances),
                    ("volume", "VolumeId", ec2.describe_volumes()["Volumes"]),
                    ("key pair", "KeyName", ec2.describe_key_pairs()["KeyPairs"]),
                ]
                for thing in things
                if not {"iopslab:run", "iopslab:expires"} <= set(tags(thing))
            ],
        }
    )
)
