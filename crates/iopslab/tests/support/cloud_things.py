"""Things on the API server of the tests.

`make REGION NAME=EXPIRES... [NAME]` makes all that a run makes, with its tags, for each name; without the tags for a
name alone. `list REGION` tells all that there is, as JSON: id -> the run's name, or null. `protect` and `release REGION
INSTANCE` switch an instance's protection from termination.
"""

import json
import sys

import boto3

ec2 = boto3.client("ec2", region_name=sys.argv[2])


def make(name, expires=None):
    tags = [{"Key": "iopslab:run", "Value": name}, {"Key": "iopslab:expires", "Value": expires}]
    # Somebody else's may look like ours.
    tags = tags if expires else [{"Key": "Name", "Value": "iopslab:run"}, {"Key": "iopslab", "Value": "run"}]

    def tagged(*kinds):
        return [{"ResourceType": kind, "Tags": tags} for kind in kinds]

    vpc = ec2.create_vpc(CidrBlock="10.80.0.0/16", TagSpecifications=tagged("vpc"))["Vpc"]["VpcId"]
    gateway = ec2.create_internet_gateway(TagSpecifications=tagged("internet-gateway"))
    gateway = gateway["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    table = ec2.create_route_table(VpcId=vpc, TagSpecifications=tagged("route-table"))["RouteTable"]["RouteTableId"]
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    subnets = []
    for number in range(2):
        subnet = ec2.create_subnet(
            VpcId=vpc, CidrBlock=f"10.80.{number}.0/24", TagSpecifications=tagged("subnet")
        )["Subnet"]["SubnetId"]
        ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
        subnets.append(subnet)
    group = ec2.create_security_group(
        GroupName=f"iopslab-{name}", Description="x", VpcId=vpc, TagSpecifications=tagged("security-group")
    )["GroupId"]
    between = {"IpProtocol": "tcp", "FromPort": 9042, "ToPort": 9042, "UserIdGroupPairs": [{"GroupId": group}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[between])
    ec2.create_key_pair(KeyName=f"iopslab-{name}", TagSpecifications=tagged("key-pair"))
    ec2.create_placement_group(
        GroupName=f"iopslab-{name}", Strategy="cluster", TagSpecifications=tagged("placement-group")
    )
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    for subnet in subnets:
        instance = ec2.run_instances(
            ImageId=image,
            MinCount=1,
            MaxCount=1,
            InstanceType="m5.large",
            SubnetId=subnet,
            SecurityGroupIds=[group],
            Placement={"GroupName": f"iopslab-{name}"},
            BlockDeviceMappings=[
                {"DeviceName": "/dev/sdf", "Ebs": {"VolumeSize": 8, "VolumeType": "gp3", "DeleteOnTermination": True}}
            ],
            TagSpecifications=tagged("instance", "volume"),
        )["Instances"][0]
        interface = instance["NetworkInterfaces"][0]["NetworkInterfaceId"]
        ec2.create_tags(Resources=[interface], Tags=tags)
    # What a run that was killed in the middle leaves beside its machines.
    zone = ec2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
    ec2.create_volume(AvailabilityZone=zone, Size=8, VolumeType="gp3", TagSpecifications=tagged("volume"))
    ec2.create_network_interface(SubnetId=subnets[0], TagSpecifications=tagged("network-interface"))


def things():
    def whose(thing):
        tags = {tag["Key"]: tag["Value"] for tag in thing.get("Tags", thing.get("TagSet", []))}
        return tags.get("iopslab:run")

    instances = [i for r in ec2.describe_instances()["Reservations"] for i in r["Instances"]]
    # The main table and the default group of a network come and go with it.
    tables = [
        table
        for table in ec2.describe_route_tables()["RouteTables"]
        if not any(association["Main"] for association in table["Associations"])
    ]
    groups = [g for g in ec2.describe_security_groups()["SecurityGroups"] if g["GroupName"] != "default"]
    listed = [
        ("InstanceId", [i for i in instances if i["State"]["Name"] != "terminated"]),
        ("VolumeId", ec2.describe_volumes()["Volumes"]),
        ("NetworkInterfaceId", ec2.describe_network_interfaces()["NetworkInterfaces"]),
        ("KeyPairId", ec2.describe_key_pairs()["KeyPairs"]),
        ("GroupId", ec2.describe_placement_groups()["PlacementGroups"]),
        ("GroupId", groups),
        ("RouteTableId", tables),
        ("SubnetId", ec2.describe_subnets()["Subnets"]),
        ("InternetGatewayId", ec2.describe_internet_gateways()["InternetGateways"]),
        ("VpcId", ec2.describe_vpcs()["Vpcs"]),
    ]
    return {thing[key]: whose(thing) for key, things in listed for thing in things}


match sys.argv[1:]:
    case ["make", _, *runs]:
        for run in runs:
            make(*run.split("="))
    case ["list", _]:
        print(json.dumps(things()))
    case ["protect" | "release" as verb, _, instance]:
        ec2.modify_instance_attribute(InstanceId=instance, DisableApiTermination={"Value": verb == "protect"})
    case other:
        sys.exit(f"what is {other}?")
