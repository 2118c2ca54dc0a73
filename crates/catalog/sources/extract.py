#!/usr/bin/env python3
"""Makes the reference extracts of this directory from published data, one source at a time.

    extract.py moto FILE                instance_types.json.gz of PyPI's moto: a dump of EC2's DescribeInstanceTypes
    extract.py netflix DIRECTORY        Netflix-Skunkworks/service-capacity-modeling: its hardware/profiles/shapes
    extract.py karpenter DIRECTORY      aws/karpenter-provider-aws: zz_generated.bandwidth.go, zz_generated.pricing_aws.go
    extract.py scylla FILE              common/aws_io_params.yaml of scylladb/scylla-machine-image

Each writes NAME.csv beside this file: comments with source and date, then the figures of every type that the source
names. An empty value is not known. `tests/sources.rs` compares the catalog with all of them, and fails for a type that is
neither in the catalog nor among what it omits: `generate.py` places types by rules. State the version that was
read with --version TEXT. instance_store.csv and processors.csv were typed from the EC2 Instance Types Guide.
"""

import argparse
import csv
import gzip
import json
import re
from pathlib import Path

HERE = Path(__file__).parent

# What iotune measures, as Scylla's file names it.
MEASURED = ("read_iops", "write_iops", "read_bandwidth", "write_bandwidth")

# What DescribeInstanceTypes says of accelerators, and the word for it.
ACCELERATORS = {
    "GpuInfo": "gpu",
    "NeuronInfo": "neuron",
    "InferenceAcceleratorInfo": "inference",
    "FpgaInfo": "fpga",
    "MediaAcceleratorInfo": "media",
}


def write(name, notes, rows):
    path = HERE / f"{name}.csv"
    columns = list(rows[0])
    lines = [*(f"# {note}" for note in notes), ",".join(columns)]
    lines += [",".join(text(row[column]) for column in columns) for row in sorted(rows, key=lambda row: row["name"])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path}: {len(rows)} types")


def text(value):
    """Whole numbers without `.0`; no commas; None is empty."""
    if value is None:
        return ""
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value).replace(",", ";")


def architecture(supported):
    """As the catalog has it; a Mac's is none of these and stays as AWS names it."""
    return next((known for known in ("x86_64", "arm64", "i386") if known in supported), supported[0])


def accelerator(name, told):
    """What it is sold for; the dump has not the chips of every Trainium type."""
    found = next((word for key, word in ACCELERATORS.items() if key in told), None)
    return found or ("neuron" if name.startswith("trn") else None)


def ebs_cards(name, ebs):
    """How many cards the path to EBS has: each has an equal part of it, which the catalog's arithmetic relies on."""
    cards = ebs.get("EbsCards", [])
    whole = ebs.get("EbsOptimizedInfo", {})
    for card in cards:
        for figure in ("BaselineIops", "MaximumIops", "BaselineThroughputInMBps", "MaximumThroughputInMBps"):
            assert card[figure] * len(cards) == whole[figure], f"{name}: {figure} of a card"
    return len(cards) or None


def moto(path, version):
    rows = []
    for name, told in json.load(gzip.open(path)).items():
        ebs = told["EbsInfo"]
        path_to_ebs = ebs.get("EbsOptimizedInfo", {})
        disks = told.get("InstanceStorageInfo", {}).get("Disks", [])
        assert len(disks) <= 1, name
        disk = disks[0] if disks else {}
        nvme = told.get("InstanceStorageInfo", {}).get("NvmeSupport") in ("required", "supported")
        cards = told["NetworkInfo"].get("NetworkCards", [])
        total = lambda key: sum(card.get(key, 0.0) for card in cards) or None
        rows.append(
            {
                "name": name,
                "lifecycle": "current" if told["CurrentGeneration"] else "previous",
                "architecture": architecture(told["ProcessorInfo"]["SupportedArchitectures"]),
                "hypervisor": "metal" if told["BareMetal"] else told.get("Hypervisor"),
                "vcpus": told["VCpuInfo"]["DefaultVCpus"],
                "memory_gib": round(told["MemoryInfo"]["SizeInMiB"] / 1024, 6),
                "clock_ghz": told["ProcessorInfo"].get("SustainedClockSpeedInGhz"),
                "disk_kind": disk and ("hdd" if disk["Type"] == "hdd" else "nvme-ssd" if nvme else "ssd") or None,
                "disks": disk.get("Count"),
                "disk_gb": disk.get("SizeInGB"),
                "ebs_mode": {"default": "default", "supported": "surcharge"}.get(ebs["EbsOptimizedSupport"], "none"),
                "ebs_mb_per_s": path_to_ebs.get("BaselineThroughputInMBps"),
                "ebs_burst_mb_per_s": path_to_ebs.get("MaximumThroughputInMBps"),
                "ebs_iops": path_to_ebs.get("BaselineIops"),
                "ebs_burst_iops": path_to_ebs.get("MaximumIops"),
                "max_volumes": ebs.get("MaximumEbsAttachments"),
                "slots": ebs.get("AttachmentLimitType"),
                "network_label": told["NetworkInfo"]["NetworkPerformance"],
                "network_cards": len(cards),
                "network_gbps": total("BaselineBandwidthInGbps"),
                "network_burst_gbps": total("PeakBandwidthInGbps"),
                "ebs_cards": ebs_cards(name, ebs),
                "weighting": "y" if "ebs-1" in told["NetworkInfo"].get("BandwidthWeightings", []) else None,
                "accelerator": accelerator(name, told),
            }
        )
    notes = [
        f"EC2 DescribeInstanceTypes (us-east-1), as packaged in {version}, moto/ec2/resources/instance_types.json.gz.",
        "network_gbps, network_burst_gbps: the sum over all network cards, which AWS's own label (network_label) does not "
        "always bear out.",
        "slots: whether max_volumes is shared with network interfaces and local disks. "
        "clock_ghz: SustainedClockSpeedInGhz.",
        "ebs_cards: EBS cards, where there are several; each has an equal part of the whole (EbsCards; checked for every type).",
        "weighting: whether BandwidthWeightings names ebs-1 and vpc-1. accelerator: GPU, ML chip, FPGA or media accelerator.",
    ]
    write("moto", notes, rows)


def netflix(directory, version):
    rows = {}
    for file in sorted(Path(directory).rglob("*.json")):
        for name, shape in json.loads(file.read_text(encoding="utf-8")).get("instances", {}).items():
            # Classes of a managed database are no machines.
            if name.startswith("db."):
                continue
            drive = shape.get("drive") or {}
            if drive.get("name") != "ephem":
                drive = {}
            row = {
                "name": name,
                "vcpus": shape["cpu"],
                "memory_gib": shape["ram_gib"],
                "network_gbps": round(shape["net_mbps"] / 1000, 4),
                "disk_total_gib": drive.get("size_gib"),
                "read_iops": drive.get("read_io_per_s"),
                "write_iops": drive.get("write_io_per_s"),
            }
            # Files by hand (manual_*) repeat some types: the generated ones (auto_*) come first and count.
            rows.setdefault(name, row)
    notes = [
        f"Netflix-Skunkworks/service-capacity-modeling, {version}, "
        "service_capacity_modeling/hardware/profiles/shapes (Apache-2.0).",
        "network_gbps: its net_mbps / 1000. IOPS of all local disks together, 4 KiB.",
    ]
    write("netflix", notes, list(rows.values()))


def karpenter(directory, version):
    directory = Path(directory)
    one = lambda pattern: next(iter(sorted(directory.rglob(pattern)))).read_text(encoding="utf-8")
    bandwidth = dict(re.findall(r'"([a-z0-9-]+\.[a-z0-9-]+)":\s*(\d+),', one("zz_generated.bandwidth.go")))
    prices = one("zz_generated.pricing_aws.go")
    home = prices.split('"us-east-1": {', 1)[1].split("\n\t},", 1)[0]
    usd = dict(re.findall(r'"([a-z0-9-]+\.[a-z0-9-]+)":\s*([0-9.]+)', home))
    rows = [
        {
            "name": name,
            "network_gbps": int(bandwidth[name]) / 1000 if name in bandwidth else None,
            "usd_per_hour": float(usd[name]) if name in usd else None,
        }
        for name in sorted(set(bandwidth) | set(usd))
    ]
    day = re.search(r"generated at (\S+)", prices)
    notes = [
        f"aws/karpenter-provider-aws, {version} (Apache-2.0): zz_generated.bandwidth.go (baseline, read from the EC2 User "
        "Guide) and",
        f"zz_generated.pricing_aws.go (us-east-1, Linux, on demand; generated at {day.group(1) if day else 'an unknown day'}; "
        "bare metal there is of dedicated tenancy).",
    ]
    write("karpenter", notes, rows)


def scylla(path, version):
    counts = {row["name"]: int(row["disks"] or 0) for row in csv.DictReader(
        line for line in (HERE / "moto.csv").read_text(encoding="utf-8").splitlines() if not line.startswith("#")
    )}
    stated, current = {}, None
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"(\S+):$", line):
            current = stated.setdefault(match.group(1), {})
        elif match := re.match(r"  (\w+): (\d+)$", line):
            current[match.group(1)] = int(match.group(2))
    rows = []
    for name, disks in counts.items():
        own = stated.get(name) or stated.get(name.split(".")[0] + ".ALL")
        if disks and own:
            rows.append({"name": name, "disks": disks} | {key: own[key] for key in MEASURED})
    notes = [
        f"scylladb/scylla-machine-image, {version}, common/aws_io_params.yaml (Apache-2.0): measured with iotune.",
        "As stated there. The program that reads the file multiplies by the number of disks; for i7i, i7ie, i8g and i8ge the "
        "file holds totals already.",
    ]
    write("scylla", notes, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", choices=["moto", "netflix", "karpenter", "scylla"])
    parser.add_argument("path")
    parser.add_argument("--version", required=True, help="what was read: a version or commit, and its date")
    args = parser.parse_args()
    globals()[args.source](args.path, args.version)


if __name__ == "__main__":
    main()
