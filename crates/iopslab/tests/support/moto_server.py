"""moto's server for the tests of machines on AWS, with what those tests need and moto 5.2 lacks.

Run it by the Python that has moto, with the arguments of moto_server (the port last). IOPSLAB_MOTO_LOG names a file that
gets a line of JSON for each request: when, service, action, region, access key (moto knows keys of 20 characters only),
account; of those that make or end instances, their types; of those that make them IOPS and MiB/s of their volumes by
device name, and how bandwidth is weighted by the launch template, which moto keeps, and does nothing by.
IOPSLAB_MOTO_SOCKET names a Unix socket: see account.py.

Changed, each as EC2 documents it:

* RunInstances keeps IOPS and MiB/s of the volumes of its block device mapping. moto drops both, and so refuses io1 and
  io2 ("The parameter [VolumeType] requires the parameter Iops to be set").
* The primary network interface is deleted with its instance unless the request says otherwise; moto keeps it.
* A network interface without a public address has no association; moto tells of an empty one, which Terraform takes for
  a public address.
* An instance has the security groups of its primary network interface; moto tells of none.
* ModifyInstanceAttribute knows InstanceInitiatedShutdownBehavior; moto takes it for a change of the security groups to
  none.
* A rule between security groups has its description; moto has that of rules with addresses only.
* GetServiceQuota and GetAWSDefaultServiceQuota know quotas of EC2 and EBS; moto knows those of VPC only.
* Requests of S3 can be refused: PutObject, GetObject, ListBucket.
* Placement groups exist, and instances tell theirs. moto answers NotImplementedError, an HTTP 500.
"""

import json
import os
import re
import sys
import threading
import time

from moto.core.responses import ActionResult, BaseResponse
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import ec2_backends
from moto.ec2.models.elastic_network_interfaces import NetworkInterface
from moto.ec2.models.instances import Instance
from moto.ec2.models.security_groups import SecurityGroupRule
from moto.ec2.responses import EC2Response
from moto.ec2.responses.instances import InstanceResponse
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE
from moto.moto_api._internal import mock_random
from moto.s3.exceptions import S3AccessDeniedError
from moto.s3.responses import S3Response
from moto.server import main
from moto.servicequotas.models import ServiceQuotasBackend
from moto.servicequotas.responses import ServiceQuotasResponse

import account

LOCK = threading.Lock()


class Refused(EC2ClientError):
    def __init__(self, code):
        super().__init__(code, "Refused by the tests.")


def weighting_of(backend, get_param):
    """What the launch template of a request for instances states, where it has one."""
    template = (get_param("LaunchTemplate") or {}).get("LaunchTemplateId")
    if template is None:
        return None
    options = backend.get_launch_template(template).latest_version().data.get("NetworkPerformanceOptions", {})
    return options.get("BandwidthWeighting")


def log_requests(path):
    answer = BaseResponse.call_action

    def call_action(self):
        if not account.is_change(self._get_action()):
            return answer(self)
        account.change("begun")
        try:
            return answer(self)
        finally:
            account.change("ended")

    def logged(self):
        if account.is_own(self.access_key):
            return call_action(self)
        action = self._get_action()
        line = {
            "at": time.time(),
            "service": self.service_name,
            "action": action,
            "region": self.region,
            "access_key": self.access_key,
            "account": account.account_of(self.access_key),
        }
        zone = None
        if action == "RunInstances":
            subnet = re.search("subnet-[0-9a-f]+", json.dumps(self.querystring))
            subnets = ec2_backends[line["account"]][self.region].get_subnet
            zone = subnets(subnet.group()).availability_zone if subnet else None
            line["types"] = [self._get_param("InstanceType")]
            asked = [m for m in self._get_param("BlockDeviceMappings", []) if "Ebs" in m]
            line["performance"] = {m["DeviceName"]: [m["Ebs"].get("Iops"), m["Ebs"].get("Throughput")] for m in asked}
            line["weighting"] = weighting_of(ec2_backends[line["account"]][self.region], self._get_param)
        if action == "TerminateInstances":
            backend = ec2_backends[line["account"]][self.region]
            ids = self._get_param("InstanceIds", [])
            line["types"] = [backend.get_instance(one).instance_type for one in ids]
        refused = account.refusal(action, self.region, zone)
        account.USED.add((line["account"], self.region))
        with LOCK, open(path, "a", encoding="utf-8") as log:
            log.write(json.dumps({**line, "refused": refused[0] if refused else None}) + "\n")
        if refused:
            code, status = refused
            _, headers, body = self.serialized(ActionResult(Refused(code)))
            return status, {**headers, "status": status}, body
        return call_action(self)

    BaseResponse.call_action = logged


def keep_volume_performance():
    parse = InstanceResponse._parse_block_device_mapping

    def with_throughput(self):
        mappings = parse(self)
        for mapping, asked in zip(mappings, self._get_param("BlockDeviceMappings", [])):
            mapping["Ebs"]["Throughput"] = asked.get("Ebs", {}).get("Throughput")
        return mappings

    begin = Instance.__init__

    def with_mappings(self, *args, **kwargs):
        self.asked = {m["DeviceName"]: m["Ebs"] for m in kwargs.get("block_device_mappings", [])}
        begin(self, *args, **kwargs)
        groups = self.nics[0]._group_set if 0 in self.nics else []
        self.security_groups = self.security_groups or list(groups)

    def add_block_device(
        self, size, device_path, snapshot_id, encrypted, delete_on_termination, kms_key_id, volume_type
    ):
        asked = self.asked.get(device_path, {})
        throughput = asked.get("Throughput") or (125 if volume_type == "gp3" else None)
        volume = self.ec2_backend.create_volume(
            size=size,
            zone_name=self._placement.zone,
            snapshot_id=snapshot_id,
            encrypted=encrypted,
            kms_key_id=kms_key_id,
            volume_type=volume_type,
            iops=asked.get("Iops"),
            throughput=throughput,
        )
        self.ec2_backend.attach_volume(volume.id, self.id, device_path, delete_on_termination)

    InstanceResponse._parse_block_device_mapping = with_throughput
    Instance.__init__ = with_mappings
    Instance.add_block_device = add_block_device


def interfaces_as_ec2_has_them():
    prepare = Instance.prep_nics

    def prep_nics(self, nic_spec, *args, **kwargs):
        for nic in nic_spec:
            if "NetworkInterfaceId" not in nic:
                nic.setdefault("DeleteOnTermination", True)
        prepare(self, nic_spec, *args, **kwargs)

    Instance.prep_nics = prep_nics

    association = NetworkInterface.association.fget
    NetworkInterface.association = property(lambda self: association(self) or None)


def modify_shutdown_behaviour():
    others = InstanceResponse._dot_value_instance_attribute_handler

    def handler(self):
        behaviour = self._get_param("InstanceInitiatedShutdownBehavior.Value")
        if behaviour is None:
            return others(self)
        instance = self.ec2_backend.get_instance(self._get_param("InstanceId"))
        instance.instance_initiated_shutdown_behavior = behaviour
        return True

    InstanceResponse._dot_value_instance_attribute_handler = handler


def describe_rules_between_groups():
    def description(self):
        return self.ip_range.get("Description") or self.source_group.get("Description")

    SecurityGroupRule.description = property(description)


def refuse_requests_of_s3():
    actions = {
        ("_bucket_response", "GET"): "ListBucket",
        ("_key_response", "GET"): "GetObject",
        ("_key_response", "PUT"): "PutObject",
    }

    def of(name):
        others = getattr(S3Response, name)

        def answer(self, request, full_url):
            key = re.search("Credential=([A-Za-z0-9]+)", request.headers.get("Authorization", "") + full_url)
            action = actions.get((name, request.method), "")
            if not (key and account.is_own(key[1])) and account.refusal(action, None, None):
                raise S3AccessDeniedError
            return others(self, request, full_url)

        setattr(S3Response, name, answer)

    of("_bucket_response")
    of("_key_response")


class UnknownPlacementGroup(EC2ClientError):
    def __init__(self, name):
        super().__init__("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")


def have_placement_groups():
    EC2_PREFIX_TO_RESOURCE["pg"] = "placement-group"

    def groups(self):
        return self.ec2_backend.__dict__.setdefault("placement_groups", {})

    def told(self, group):
        tags = self.ec2_backend.tags.get(group["GroupId"], {})
        return {**group, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}

    def create_placement_group(self):
        name = self._get_param("GroupName")
        if name in groups(self):
            raise EC2ClientError(
                "InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists."
            )
        group = {
            "GroupId": "pg-" + mock_random.get_random_hex(17),
            "GroupName": name,
            "State": "available",
            "Strategy": self._get_param("Strategy", "cluster"),
        }
        if self._get_param("PartitionCount"):
            group["PartitionCount"] = int(self._get_param("PartitionCount"))
        group["GroupArn"] = f"arn:aws:ec2:{self.region}:{self.current_account}:placement-group/{name}"
        groups(self)[name] = group
        tags = self._parse_tag_specification().get("placement-group", {})
        self.ec2_backend.create_tags([group["GroupId"]], tags)
        return ActionResult({"PlacementGroup": told(self, group)})

    def describe_placement_groups(self):
        for name in self._get_param("GroupNames", []):
            if name not in groups(self):
                raise UnknownPlacementGroup(name)
        found = [told(self, group) for group in groups(self).values()]
        if self._get_param("GroupNames"):
            found = [group for group in found if group["GroupName"] in self._get_param("GroupNames")]
        for key, values in (self._filters_from_querystring() or {}).items():
            if key == "tag-key":
                found = [g for g in found if set(values) & {tag["Key"] for tag in g["Tags"]}]
                continue
            if not key.startswith("tag:"):
                raise EC2ClientError("InvalidParameterValue", f"this server knows no filter '{key}' here")
            wanted = {(key[4:], value) for value in values}
            found = [g for g in found if wanted & {(tag["Key"], tag["Value"]) for tag in g["Tags"]}]
        return ActionResult({"PlacementGroups": found})

    def delete_placement_group(self):
        name = self._get_param("GroupName")
        if name not in groups(self):
            raise UnknownPlacementGroup(name)
        members = [
            instance
            for instance in self.ec2_backend.all_instances()
            if instance._placement.group_name == name and instance.state != "terminated"
        ]
        if members:
            raise EC2ClientError("InvalidPlacementGroup.InUse", f"The placement group {name} is in use.")
        self.ec2_backend.tags.pop(groups(self).pop(name)["GroupId"], None)
        return ActionResult({})

    run_instances = InstanceResponse.run_instances

    def in_group(self):
        name = self._get_param("Placement.GroupName")
        if name and name not in groups(self):
            raise UnknownPlacementGroup(name)
        result = run_instances(self)
        for instance in result.result.instances:
            instance._placement.group_name = name or ""
        return result

    EC2Response.create_placement_group = create_placement_group
    EC2Response.describe_placement_groups = describe_placement_groups
    EC2Response.delete_placement_group = delete_placement_group
    InstanceResponse.run_instances = in_group


def have_quotas():
    others = ServiceQuotasBackend.get_service_quota

    def get_service_quota(self, service_code, quota_code):
        if service_code not in ("ec2", "ebs"):
            return others(self, service_code, quota_code)
        return account.quota(self.region_name, service_code, quota_code, applied=True)

    def get_aws_default_service_quota(self):
        asked = json.loads(self.body)
        told = account.quota(self.region, asked["ServiceCode"], asked["QuotaCode"], applied=False)
        return json.dumps({"Quota": told})

    ServiceQuotasBackend.get_service_quota = get_service_quota
    ServiceQuotasResponse.get_aws_default_service_quota = get_aws_default_service_quota


if __name__ == "__main__":
    if os.environ.get("IOPSLAB_MOTO_LOG"):
        log_requests(os.environ["IOPSLAB_MOTO_LOG"])
    keep_volume_performance()
    interfaces_as_ec2_has_them()
    modify_shutdown_behaviour()
    describe_rules_between_groups()
    have_placement_groups()
    have_quotas()
    refuse_requests_of_s3()
    if os.environ.get("IOPSLAB_MOTO_SOCKET"):
        account.serve(os.environ["IOPSLAB_MOTO_SOCKET"], sys.argv[-1])
    main()
