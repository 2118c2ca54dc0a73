"""What accounts have on the API server of the tests, and what is done to them by somebody who is not iopslab: asked by
lines of JSON on a Unix socket, which all network namespaces reach.

* `{"ask": "state"}`: instances and what is left, of all accounts and regions that were used.
* `{"ask": "make", "region", "runs": {NAME: EXPIRES or null}}`: all that a run makes, with its tags; without them for
  null.
* `{"ask": "list", "region"}`: all that there is: id -> the run's name, or null.
* `{"ask": "protect" or "release", "region", "instance"}`: an instance's protection from termination.
* `{"ask": "first boot", "account", "region", "instance"}`: the script that an instance runs when it starts.
* `{"ask": "quota", "region", "service", "code", "value"}`: an account's own value; null: it has AWS's default only.
* `{"ask": "snapshot", "region", "gib"}`: a snapshot of a volume of this size, which is gone.
* `{"ask": "bucket", "account", "name"}`: a new bucket; `{"ask": "objects", ...}`: the keys of what is in it;
  `{"ask": "upload", ..., "key", "file"}`: another object, with what a file has.
* `{"ask": "account", "id"}`: another account, with keys to it.
* `{"ask": "refuse", "action", "code", "status", "after", "times", "region", "zone"}`: of the next requests of this action
  (`*`: of any), in this region (zone: of a new instance) or in all, `after` pass, then so many are refused (-1: all).
  `{"ask": "allow"}` ends all refusals.
"""

import base64
import json
import socketserver
import threading

import boto3
from moto.iam.models import iam_backends
from moto.servicequotas.exceptions import NoSuchResource

DEFAULT = "123456789012"
LOCK = threading.RLock()
# The keys of whoever asks here, by account: their requests are neither refused nor logged.
OWN = {DEFAULT: ("SOMEBODY000000000000", "secret")}
# Accounts of other keys.
ACCOUNTS = {}
# By account and region.
CLIENTS = {}
ENDPOINT = ["http://127.0.0.1:5000"]
USED = set()
# Requests that may change something.
CHANGES = {"begun": 0, "ended": 0}
# The last answer to "state", and after which requests it was made: it takes seven to this server for each account and
# region, and stories ask several times a second.
KNOWN = {"of": None, "state": None}
# What AWS gives every account, by service and code: Amazon EC2 and Amazon EBS endpoints and quotas.
DEFAULT_QUOTAS = {
    ("ec2", "L-1216C47A"): 5.0,
    ("ec2", "L-34B43A08"): 5.0,
    ("ec2", "L-7295265B"): 0.0,
    ("ec2", "L-E3A00192"): 0.0,
    ("ebs", "L-D18FCD1D"): 50.0,
    ("ebs", "L-7A658B76"): 50.0,
    ("ebs", "L-FD252861"): 50.0,
    ("ebs", "L-09BD8365"): 20.0,
    ("ebs", "L-82ACEF56"): 50.0,
    ("ebs", "L-17AF77E8"): 50.0,
    ("ebs", "L-9CF3C2EB"): 50.0,
}
# Values of the account's own, by region, service and code.
QUOTAS = {}
REFUSALS = []


def account_of(access_key):
    """The account of a key, as moto has it."""
    return ACCOUNTS.get(access_key, DEFAULT)


def is_own(access_key):
    return any(key == access_key for key, _ in OWN.values())


def refusal(action, region, zone):
    """The code and status with which a request is refused now, if it is."""
    with LOCK:
        for one in REFUSALS:
            place = (one.get("region", region), one.get("zone", zone))
            if one["action"] not in (action, "*") or place != (region, zone):
                continue
            if one["after"] > 0:
                one["after"] -= 1
            elif one["times"] != 0:
                one["times"] -= 1
                return one["code"], one["status"]
    return None


def quota(region, service, code, applied):
    """A quota as Service Quotas tells it: the value that is applied, or the default."""
    default = DEFAULT_QUOTAS.get((service, code))
    value = QUOTAS.get((region, service, code), default) if applied else default
    if value is None:
        raise NoSuchResource
    return {"ServiceCode": service, "QuotaCode": code, "Value": value, "Unit": "None", "GlobalQuota": False}


def client(region, account=DEFAULT):
    with LOCK:
        if (account, region) not in CLIENTS:
            key, secret = OWN[account]
            session = boto3.session.Session(key, secret, region_name=region)
            CLIENTS[account, region] = session.client("ec2", endpoint_url=ENDPOINT[0])
        return CLIENTS[account, region]


def s3(account):
    key, secret = OWN[account]
    session = boto3.session.Session(key, secret, region_name="us-east-1")
    return session.client("s3", endpoint_url=ENDPOINT[0])


def another(account):
    backend = iam_backends[account]["aws"]
    for name in ("iopslab", "somebody"):
        backend.create_user("us-east-1", user_name=name)
    key, own = (backend.create_access_key(user_name=name) for name in ("iopslab", "somebody"))
    ACCOUNTS[key.access_key_id] = account
    OWN[account] = (own.access_key_id, own.secret_access_key)
    return {"access_key": key.access_key_id, "secret": key.secret_access_key}


def tags(thing):
    return {tag["Key"]: tag["Value"] for tag in thing.get("Tags", thing.get("TagSet", []))}


def instances_of(ec2):
    return [i for r in ec2.describe_instances()["Reservations"] for i in r["Instances"]]


def is_attached(volume, instance):
    return any(a["InstanceId"] == instance["InstanceId"] for a in volume.get("Attachments", []))


def state_of(account, region):
    ec2 = client(region, account)
    instances = instances_of(ec2)
    volumes = ec2.describe_volumes()["Volumes"]
    keys = ec2.describe_key_pairs()["KeyPairs"]
    templates = ec2.describe_launch_templates()["LaunchTemplates"]
    named = [
        ("instance", "InstanceId", instances),
        ("volume", "VolumeId", volumes),
        ("key pair", "KeyName", keys),
        ("launch template", "LaunchTemplateName", templates),
    ]
    return {
        "instances": [
            {
                "id": i["InstanceId"],
                "site": f"{account}/{region}",
                "type": i["InstanceType"],
                "state": i["State"]["Name"],
                "private_address": i.get("PrivateIpAddress", ""),
                "public_address": i.get("PublicIpAddress"),
                "snapshots": [s for v in volumes if (s := v.get("SnapshotId")) and is_attached(v, i)],
            }
            for i in instances
        ],
        "left": [f"instance {i['InstanceId']}" for i in instances if i["State"]["Name"] != "terminated"]
        + [f"volume {v['VolumeId']}" for v in volumes]
        + [f"key pair {k['KeyName']}" for k in keys]
        + [f"launch template {t['LaunchTemplateName']}" for t in templates]
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
            for kind, key, things in named
            for thing in things
            if not {"iopslab:run", "iopslab:expires"} <= set(tags(thing))
        ],
    }


def is_change(action):
    return not (action or "").startswith(("Describe", "Get", "List"))


def change(what):
    with LOCK:
        CHANGES[what] += 1


def state():
    with LOCK:
        of = (CHANGES["begun"], CHANGES["ended"], len(USED))
    if KNOWN["of"] == of and of[0] == of[1]:
        return KNOWN["state"]
    whole = {"instances": [], "left": [], "untagged": []}
    for account, region in sorted(USED):
        for kind, things in state_of(account, region).items():
            whole[kind] += things
    KNOWN.update(of=of, state=whole)
    return whole


def make(ec2, name, expires=None):
    own = [{"Key": "iopslab:run", "Value": name}, {"Key": "iopslab:expires", "Value": expires}]
    # Somebody else's may look like ours.
    own = own if expires else [{"Key": "Name", "Value": "iopslab:run"}, {"Key": "iopslab", "Value": "run"}]

    def tagged(*kinds):
        return [{"ResourceType": kind, "Tags": own} for kind in kinds]

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
        ec2.create_tags(Resources=[interface], Tags=own)
    # What a run that was killed in the middle leaves beside its machines.
    zone = ec2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
    ec2.create_volume(AvailabilityZone=zone, Size=8, VolumeType="gp3", TagSpecifications=tagged("volume"))
    ec2.create_network_interface(SubnetId=subnets[0], TagSpecifications=tagged("network-interface"))


def snapshot(ec2, gib):
    zone = ec2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
    volume = ec2.create_volume(AvailabilityZone=zone, Size=gib, VolumeType="gp3")["VolumeId"]
    made = ec2.create_snapshot(VolumeId=volume)["SnapshotId"]
    ec2.delete_volume(VolumeId=volume)
    return made


def things(ec2):
    # The main table and the default group of a network come and go with it.
    tables = [
        table
        for table in ec2.describe_route_tables()["RouteTables"]
        if not any(association["Main"] for association in table["Associations"])
    ]
    groups = [g for g in ec2.describe_security_groups()["SecurityGroups"] if g["GroupName"] != "default"]
    listed = [
        ("InstanceId", [i for i in instances_of(ec2) if i["State"]["Name"] != "terminated"]),
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
    return {thing[key]: tags(thing).get("iopslab:run") for key, things in listed for thing in things}


def answer(asked):
    match asked:
        case {"ask": "state"}:
            return state()
        case {"ask": "make", "region": region, "runs": runs}:
            for name, expires in runs.items():
                make(client(region), name, expires)
        case {"ask": "list", "region": region}:
            return things(client(region))
        case {"ask": "protect" | "release" as verb, "region": region, "instance": instance}:
            protected = {"Value": verb == "protect"}
            client(region).modify_instance_attribute(InstanceId=instance, DisableApiTermination=protected)
        case {"ask": "first boot", "account": account, "region": region, "instance": instance}:
            data = client(region, account).describe_instance_attribute(InstanceId=instance, Attribute="userData")
            return {"script": base64.b64decode(data["UserData"]["Value"]).decode()}
        case {"ask": "quota", "region": region, "service": service, "code": code, "value": value}:
            QUOTAS[region, service, code] = value
        case {"ask": "snapshot", "region": region, "gib": gib}:
            return {"id": snapshot(client(region), gib)}
        case {"ask": "bucket", "account": account, "name": name}:
            s3(account).create_bucket(Bucket=name)
        case {"ask": "objects", "account": account, "name": name}:
            return [one["Key"] for one in s3(account).list_objects_v2(Bucket=name).get("Contents", [])]
        case {"ask": "upload", "account": account, "name": name, "key": key, "file": file}:
            with open(file, "rb") as body:
                s3(account).put_object(Bucket=name, Key=key, Body=body.read())
        case {"ask": "account", "id": account}:
            return another(account)
        case {"ask": "refuse", **refusal}:
            REFUSALS.append(refusal)
        case {"ask": "allow"}:
            REFUSALS.clear()
        case other:
            return {"error": f"what is {other}?"}
    return {}


class Asked(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            said = answer(json.loads(self.rfile.readline()))
        except Exception as error:  # Whoever asks is told.
            said = {"error": repr(error)}
        self.wfile.write(json.dumps(said).encode() + b"\n")


def serve(path, port):
    ENDPOINT[0] = f"http://127.0.0.1:{port}"
    server = socketserver.ThreadingUnixStreamServer(path, Asked)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
