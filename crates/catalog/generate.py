#!/usr/bin/env python3
"""Writes the crate's data from the project's collected facts: instances, volumes, and the prices of both over time.

    python3 crates/catalog/generate.py DIRECTORY

DIRECTORY holds instances.csv, instance_price_history.csv, volumes.csv and SOURCES.md as collected (one row per type, per dated
price, or per type and era, with a source beside each fact). `sources/`, beside this script, holds extracts of published data that correct and
complete them. The crate carries only the columns that its arithmetic needs, in a form that simple code can read: no quotes, no commas
inside a value, lines beginning with # are comments, an empty value is "not known", never 0.
"""

import csv
import re
import sys
from pathlib import Path

SOURCES = Path(__file__).parent / "sources"

# A measured figure per disk this many times that of the family's single disk of the same size is a total that was
# multiplied once more.
TOTAL_RATHER_THAN_EACH = 1.4

INSTANCE_NOTES = """\
# Instance types: size, local disks, path to EBS, price. Written by generate.py; do not edit.
# An empty value is not known. MB is 10^6 bytes, GB 10^9, GiB 2^30. Prices: us-east-1, Linux, shared tenancy.
#
# vcpus, memory_gib, disk_*, ebs_*, ghz, max_volumes, weighting: moto 5.2.5 instance_types.json.gz, a DescribeInstanceTypes dump packaged
#   2026-10-27; types absent there and EBS figures it lacks (2018 columns): EC2 User Guide 2018-02-02
#   (awsdocs/amazon-ec2-user-guide@d1a4d62) and ec2instances.info's history
# ebs_*_iops at 16 KiB, ebs_*_mb_per_s at 128 KiB; all volumes of the instance together
# read_iops, write_iops of all local disks together, 4 KiB random: d = documented (sources/instance_store.csv; hi1: EC2 User Guide
#   2023-06, the lower end of a range), m = measured by scylladb/scylla-machine-image@f25b2c5 (2025-09-15)
# read_mb_per_s, write_mb_per_s of all local disks together: d and m as above. The measured file holds figures per disk, but totals for i7i, i7ie,
#   i8g and i8ge: found by comparing with the family's single disk of the same size, and not multiplied
# usd_per_hour at usd_date: karpenter-provider-aws@1d92708 (2026-07-20); for types no longer sold, the last price in
#   ec2instances.info's history
# lifecycle: current, previous (generation), retired
# introduced: year of the family; nitro: y, n (its EBS volumes have at most 32000 provisioned IOPS each)
# ebs_mode: how the type gets the path to EBS in the ebs_* columns: default, surcharge (asked for and paid by the hour:
#   ebs_surcharge_usd as of 2017-11-12), none
# net_gbps, net_burst_gbps: network bandwidth that lasts, and for a while: the sum over the network cards, but never more than the label
#   "N Gigabit" that AWS gives the type
# cpu, ghz: processor as AWS names it, its sustained clock
# max_volumes: most EBS volumes that may be attached, the root volume among them; slots: s = shared with network interfaces and local
#   disks, d = for volumes alone
# cpu_share: share of each vCPU that lasts, of types that earn CPU credits (EC2 User Guide, "burstable performance instances")
# ebs_cards: EBS cards, where there are several: each carries an equal part of the path, and of the volumes (EC2 User Guide, "EBS cards", seen
#   2026-11-26)
# weighting: y = bandwidth weighting may be configured (ebs-1)
"""

OMITTED_NOTES = """\
# Instance types that a source names and the catalog leaves out, with the reason. Written by generate.py; do not edit.
# accelerator: sold for its GPU, ML chip, FPGA or media accelerator; mac: a Mac, which runs macOS alone; no_storage: it has no local disks, and
#   AWS publishes no limits of its path to EBS; not_described: of no such kind, and not in DescribeInstanceTypes of us-east-1, from which sizes
#   and limits are taken
# source: the extract in sources/ that names it
"""

VOLUME_NOTES = """\
# Volume types by era, oldest first: the last row of a type is today's. Written by generate.py; do not edit.
# An empty value means that the rule does not exist for the type. Throughput in MiB/s, also where the source has MB/s (Azure: 10^6 bytes).
# base_iops + iops_per_gib x size: baseline (gp2, persistent disks); max_iops_per_gib: most that may be provisioned (gp3, io1, io2, ...)
# max_iops_not_nitro: most that a volume does on an instance that is not built on Nitro, whatever was provisioned (io1: EC2 User Guide
#   2023-06, provisioned-iops.md; io2: EC2 API Reference, CreateVolume)
# mib_per_iops up to mib_cap; above many_iops: many_mib_per_iops; never above max_mib
# min_iops_per_gib: least that must be provisioned (rds-io1, rds-io2)
# steps: GiB:IOPS:MiB/s of volumes up to so many GiB, of which no more is sold (Azure's Premium SSD; rds-gp3 before it is striped)
# min_mib, min_mib_per_iops: least that must be bought; base_mib + mib_per_gib x size: persistent disks
# mib_per_tib .. max_base_mib: throughput that lasts (st1, sc1); burst_mib_per_tib .. max_mib: while credits last
# least_mib_per_tib .. most_mib_per_tib: throughput that may be bought for each TiB; iops_per_mib: IOPS that come with it (Hyperdisk Throughput)
"""


# Columns of the collected facts, once they have been read.
COLLECTED = []

# Families that earn CPU credits. t8i: as t3 (6, 12, 24 and 24 credits an hour from nano to medium; AWS on its launch, 2026-09-17).
CREDITS = ("t3", "t3a", "t4g", "t8i")

# Share of a vCPU that burstable types have at all times, by size: EC2 User Guide, "Key concepts for burstable performance
# instances" (credits an hour / vCPUs / 60).
BURSTABLE = {
    "nano": "0.05",
    "micro": "0.1",
    "small": "0.2",
    "medium": "0.2",
    "large": "0.3",
    "xlarge": "0.4",
    "2xlarge": "0.4",
}

# Day of the prices in sources/karpenter.csv.
PRICES_OF_ADDED = "2026-07-20"


def lower_end(value):
    """10000-85000 -> 10000: what the disk is sure to do."""
    return value.split("-")[0]


def upper_end(value):
    """40-200 -> 200: a documented maximum."""
    return value.split("-")[-1]


def first(row, *columns):
    return next((row[column] for column in columns if row[column]), "")


def extract(name, key="name"):
    """An extract's rows by name."""
    with open(SOURCES / f"{name}.csv", newline="", encoding="utf-8") as file:
        return {row[key]: row for row in csv.DictReader(line for line in file if not line.startswith("#"))}


MEASURED = [f"local_{figure}_measured_scylladb" for figure in ("read_iops", "write_iops", "read_mb_per_s", "write_mb_per_s")]


def undo_totals(rows):
    """Divides what was multiplied by the number of disks although it was a total already; says where."""
    single = {(row["family"], row["local_disk_size_gb_each"]): row for row in rows if row["local_disk_count"] == "1"}
    for row in rows:
        alone = single.get((row["family"], row["local_disk_size_gb_each"]))
        disks = int(row["local_disk_count"] or 0)
        if not alone or disks < 2 or not row[MEASURED[3]] or not alone[MEASURED[3]]:
            continue
        if float(row[MEASURED[3]]) / disks > TOTAL_RATHER_THAN_EACH * float(alone[MEASURED[3]]):
            for column in MEASURED:
                row[column] = f"{float(row[column]) / disks:.1f}".removesuffix(".0")
            print(f"{row['instance_type']}: measured figures are totals, not multiplied by {disks}")


def network(row):
    """Bandwidth that lasts and for a while: AWS's label bounds the sum over the cards, which it counts twice for some types."""
    label = re.fullmatch(r"([\d.]+) Gigabit", row["network_label"])
    # Labels are cut to two digits (28.125 is "28.12 Gigabit"): a hundredth above one is the same.
    most = float(label.group(1)) * 1.01 if label else float("inf")
    gbps = [row["network_baseline_gbps"], row["network_burst_gbps"]]
    if any(value and float(value) > most for value in gbps):
        print(f"{row['instance_type']}: {gbps} Gbit/s, labelled {row['network_label']}")
    return [label.group(1) if value and float(value) > most else value for value in gbps]


def added(told, price):
    """A row in the form of the collected facts, from the extract of DescribeInstanceTypes."""
    row = dict.fromkeys(COLLECTED, "") | {
        "instance_type": told["name"],
        "family": told["name"].split(".")[0],
        "lifecycle": told["lifecycle"],
        "cpu_architecture": told["architecture"],
        "cpu_sustained_clock_ghz": told["clock_ghz"],
        "hypervisor": {"metal": "none (bare metal)"}.get(told["hypervisor"], told["hypervisor"]),
        "vcpus": told["vcpus"],
        "memory_gib": told["memory_gib"],
        "local_disk_kind": told["disk_kind"],
        "local_disk_count": told["disks"],
        "local_disk_size_gb_each": told["disk_gb"],
        "ebs_optimized_mode": {"surcharge": "supported", "none": "unsupported"}.get(told["ebs_mode"], told["ebs_mode"]),
        "ebs_baseline_throughput_mb_per_s_128kib": told["ebs_mb_per_s"],
        "ebs_burst_throughput_mb_per_s_128kib": told["ebs_burst_mb_per_s"],
        "ebs_baseline_iops_16kib": told["ebs_iops"],
        "ebs_burst_iops_16kib": told["ebs_burst_iops"],
        "ebs_max_attachments": told["max_volumes"],
        "network_label": told["network_label"],
        "network_baseline_gbps": told["network_gbps"],
        "network_burst_gbps": told["network_burst_gbps"],
    }
    # The price of bare metal there is of dedicated tenancy, which is not what the catalog's prices are.
    if price and row["hypervisor"] != "none (bare metal)":
        row |= {"on_demand_usd_per_hour_latest": price, "on_demand_latest_as_of": PRICES_OF_ADDED}
    return row


# Families with accelerators that DescribeInstanceTypes of us-east-1 does not have (any more): EC2 User Guide, "Accelerated computing".
ACCELERATED = {"dl1", "f1", "g2", "g3", "g3s", "g4ad", "p2", "p3", "p6e-gb200"}


def why_omitted(told):
    """The reason for which a type of DescribeInstanceTypes is no row of the catalog; None: it is one."""
    if told["accelerator"]:
        return "accelerator"
    if told["architecture"].endswith("_mac"):
        return "mac"
    if not told["ebs_iops"] and not told["disks"]:
        return "no_storage"
    return None


def omitted(told, catalog):
    """Every type that an extract names and the catalog has not, by name."""
    rows = {}
    for source in ("moto", "karpenter", "netflix", "scylla", "instance_store"):
        for name in extract(source):
            if name not in catalog and name not in rows:
                missing = "accelerator" if name.split(".")[0] in ACCELERATED else "not_described"
                reason = why_omitted(told[name]) if name in told else missing
                assert reason, f"{name} is in neither table"
                rows[name] = {"name": name, "reason": reason, "source": source}
    return [rows[name] for name in sorted(rows)]


def figures(row, documented, measured):
    """The documented pair of figures, else the measured one, and which of them it is."""
    for columns, letter in ((documented, "d"), (measured, "m")):
        pair = [lower_end(row[column]) for column in columns]
        if any(pair):
            return [*pair, letter]
    return ["", "", ""]


def has_price(row):
    return bool(row["on_demand_usd_per_hour_latest"])


def price_of_added(row):
    """The price of an added type in the form of the collected history."""
    return {
        "instance_type": row["instance_type"],
        "as_of_date": PRICES_OF_ADDED,
        "purchase": "on_demand",
        "term_years": "",
        "payment_option": "",
        "usd_per_hour_effective": row["on_demand_usd_per_hour_latest"],
        "upfront_usd": "",
        "source": "karpenter-provider-aws@1d92708 zz_generated.pricing_aws.go",
    }


def iops(row, documented):
    """Random 4 KiB reads and writes of all local disks together, and where they come from."""
    if documented:
        return [documented["read_iops"], documented["write_iops"], "d"]
    return figures(row, ["local_read_iops_4kib_documented", "local_write_iops_4kib_documented"], MEASURED[:2])


def throughput(row):
    """MB read and written per second by all local disks together, and where they come from."""
    return figures(row, ["local_read_mb_per_s_documented", "local_write_mb_per_s_documented"], MEASURED[2:])


def instance(row, documented, processors, told):
    has_disks = row["local_disk_kind"] not in ("", "none")
    read_iops, write_iops, iops_from = iops(row, documented.get(row["instance_type"]))
    read_mb, write_mb, mb_from = throughput(row)
    net_gbps, net_burst_gbps = network(row)
    processor = row["cpu_model"] or processors.get(row["family"], {}).get("processor", "")
    described = told.get(row["instance_type"], {})
    return {
        "name": row["instance_type"],
        "lifecycle": row["lifecycle"].split(" ")[0],
        "architecture": row["cpu_architecture"],
        "vcpus": row["vcpus"],
        "memory_gib": row["memory_gib"],
        "disk_kind": row["local_disk_kind"] if has_disks else "",
        "disks": row["local_disk_count"] if has_disks else "",
        "disk_gb": row["local_disk_size_gb_each"] if has_disks else "",
        "read_iops": read_iops,
        "write_iops": write_iops,
        "iops_from": iops_from,
        "read_mb_per_s": read_mb,
        "write_mb_per_s": write_mb,
        "mb_from": mb_from,
        "ebs_mb_per_s": first(row, "ebs_baseline_throughput_mb_per_s_128kib", "ebs_2018_baseline_throughput_mb_per_s_128kb", "ebs_2018_max_throughput_mb_per_s_128kb"),
        "ebs_burst_mb_per_s": first(row, "ebs_burst_throughput_mb_per_s_128kib", "ebs_2018_max_throughput_mb_per_s_128kb"),
        "ebs_iops": first(row, "ebs_baseline_iops_16kib", "ebs_2018_baseline_iops_16kb", "ebs_2018_max_iops_16kb"),
        "ebs_burst_iops": first(row, "ebs_burst_iops_16kib", "ebs_2018_max_iops_16kb"),
        "usd_per_hour": row["on_demand_usd_per_hour_latest"],
        "usd_date": row["on_demand_latest_as_of"],
        "introduced": row["family_introduced_year"],
        "nitro": {"nitro": "y", "none (bare metal)": "y", "xen": "n"}.get(row["hypervisor"], ""),
        "ebs_mode": {"default": "default", "supported": "surcharge", "unsupported": "none"}.get(row["ebs_optimized_mode"], ""),
        "ebs_surcharge_usd": row["ebs_optimized_surcharge_usd_per_hour_2017_11_12"],
        "net_gbps": net_gbps,
        "net_burst_gbps": net_burst_gbps,
        "cpu": processor,
        "ghz": row["cpu_sustained_clock_ghz"],
        "max_volumes": row["ebs_max_attachments"],
        "slots": {"shared": "s", "dedicated": "d"}.get(described.get("slots"), ""),
        "cpu_share": BURSTABLE.get(row["instance_type"].split(".")[1], "") if row["family"] in CREDITS else "",
        "ebs_cards": described.get("ebs_cards", ""),
        "weighting": described.get("weighting", ""),
    }


def volume(row):
    out = {
        "type": row["volume_type"],
        "era": row["era"],
        "from": row["valid_from"],
        "min_gib": row["min_size_gib"],
        "max_gib": row["max_size_gib"],
        "iops_per_gib": row["baseline_iops_per_gib"],
        "min_iops": row["min_iops"] if row["volume_type"] != "standard" else "",
        "max_iops": upper_end(row["max_iops_per_volume"] or row["min_iops"]),
        # io2 as io1: "On other instances, you can achieve performance up to 32,000 IOPS" (EC2 API Reference, CreateVolume).
        "max_iops_not_nitro": "32000" if row["volume_type"] == "io2" else row["max_iops_per_volume_non_nitro"],
        "max_iops_per_gib": row["max_provisioned_iops_per_gib"],
        "min_iops_per_gib": "",
        "base_iops": "",
        "included_iops": row["included_iops"],
        "burst_iops": row["burst_iops"],
        "burst_credits": row["burst_bucket_io_credits"],
        "burst_below_gib": row["burst_only_below_gib"],
        "included_mib": row["included_throughput_mib_per_s"],
        "min_mib": "",
        "min_mib_per_iops": "",
        "max_mib": upper_end(row["max_throughput_mib_per_s"]),
        "mib_per_iops": row["throughput_mib_per_s_per_provisioned_iops"],
        "mib_cap": "",
        "many_iops": "",
        "many_mib_per_iops": "",
        "small_gib": "",
        "small_mib": "",
        "steps": "",
        "base_mib": "",
        "mib_per_gib": "",
        "mib_per_tib": row["baseline_throughput_mib_per_s_per_tib"],
        "burst_mib_per_tib": row["burst_throughput_mib_per_s_per_tib"],
        "max_base_mib": row["max_baseline_throughput_mib_per_s"],
        "least_mib_per_tib": "",
        "most_mib_per_tib": "",
        "iops_per_mib": "",
        "source": row["source"].split(";")[0].split("(awsdocs")[0].strip(),
    }
    rule = row["throughput_rule"]
    # Rules that the collected table holds in words only.
    if rule.startswith("<=32000 IOPS: 256 KiB per I/O up to 500 MiB/s"):
        out |= {"mib_per_iops": "0.25", "mib_cap": "500", "many_iops": "32000", "many_mib_per_iops": "0.015625"}
    if rule == "as io1 since 2018-11":
        out |= {"mib_per_iops": "0.25", "mib_cap": "500", "many_iops": "32000", "many_mib_per_iops": "0.015625"}
    if "170 GiB" in rule:
        out |= {"small_gib": "170", "small_mib": "128"}
    return out


# Rules that the collected facts lack. Throughput: what the IOPS move with the 16 KiB at which they are rated; larger requests of that time
# are not documented.
ADDED_VOLUMES = [
    {
        "type": "standard",
        "era": "2012",
        "from": "2008-08-20",
        "min_gib": "1",
        "max_gib": "1024",
        "max_iops": "100",
        "max_mib": "90",
        "source": "about 100 IOPS on average: AWS News Blog 2022-07-25 on the volumes of before Provisioned IOPS; sizes and MiB/s: EC2 User Guide "
        "2018-02-02, which is later",
    },
    {
        "type": "io1",
        "era": "2012-2013",
        "from": "2012-07-31",
        "min_gib": "10",
        "max_gib": "1024",
        "min_iops": "100",
        "max_iops": "2000",
        "max_iops_per_gib": "10",
        "max_mib": "31.25",
        "mib_per_iops": "0.015625",
        "source": "EC2 User Guide as quoted 2013-03 (virtuallyhyper.com): 2000 IOPS; 10 GB; 10 IOPS per GB; the limit of the first months was not found",
    },
    {
        "type": "io1",
        "era": "2014",
        "from": "2013-10-17",
        "min_gib": "10",
        "max_gib": "1024",
        "min_iops": "100",
        "max_iops": "4000",
        "max_iops_per_gib": "30",
        "max_mib": "62.5",
        "mib_per_iops": "0.015625",
        "source": "EC2 User Guide EBSVolumes 2013-10-17 as quoted in public code: 10 GB; 30 IOPS per GB; 4000 IOPS: testpreptraining.com (undated)",
    },
]

# Storage of RDS for PostgreSQL (MySQL, MariaDB and Db2 have the same). From 400 GiB on it lies on four volumes; gp3 is sold as it is below
# that. The page does not say how io1's throughput follows from its IOPS: as that of EC2's, four times.
RDS_GUIDE = "RDS User Guide: Amazon RDS DB instance storage; as public code has that page (read 2026-11-27)"
RDS_VOLUMES = [
    {
        "type": "rds-gp3",
        "era": "2026",
        "from": "seen 2026-11-27",
        "min_gib": "20",
        "max_gib": "65536",
        "min_iops": "12000",
        "max_iops": "64000",
        "max_iops_per_gib": "500",
        "included_iops": "12000",
        "included_mib": "500",
        "max_mib": "4000",
        "mib_per_iops": "0.25",
        "steps": "399:3000:125",
        "source": RDS_GUIDE,
    },
    {
        "type": "rds-io1",
        "era": "2026",
        "from": "seen 2026-11-27",
        "min_gib": "100",
        "max_gib": "65536",
        "min_iops": "1000",
        "max_iops": "256000",
        "max_iops_per_gib": "50",
        "min_iops_per_gib": "0.5",
        "max_mib": "4000",
        "mib_per_iops": "0.25",
        "mib_cap": "2000",
        "many_iops": "128000",
        "many_mib_per_iops": "0.015625",
        "small_gib": "399",
        "small_mib": "500",
        "source": f"{RDS_GUIDE}; MiB/s for each of the IOPS: four times io1 of the EC2 User Guide 2023-06",
    },
    {
        "type": "rds-io2",
        "era": "2026",
        "from": "seen 2026-11-27",
        "min_gib": "100",
        "max_gib": "65536",
        "min_iops": "1000",
        "max_iops": "256000",
        "max_iops_per_gib": "1000",
        "min_iops_per_gib": "0.5",
        "max_mib": "16000",
        "mib_per_iops": "0.256",
        "source": RDS_GUIDE,
    },
]

# Azure states MB/s of 10^6 bytes: so many MiB/s is one.
MB = 1e6 / 2**20

# Premium SSD, P4 to P80: GiB, IOPS, MB/s. P1 to P3 (4 to 16 GiB) do what P4 does. What the small ones do for half an hour is left out.
PREMIUM = [
    (32, 120, 25),
    (64, 240, 50),
    (128, 500, 100),
    (256, 1100, 125),
    (512, 2300, 150),
    (1024, 5000, 200),
    (2048, 7500, 250),
    (4096, 7500, 250),
    (8192, 16000, 500),
    (16384, 18000, 750),
    (32767, 20000, 900),
]

# Volumes of other clouds, from their documentation. Persistent disks: the part that does not depend on the size is the machine's, not the
# disk's, and the most is what the largest machine gets.
OTHER_CLOUDS = [
    {
        "type": "pd-balanced",
        "era": "2026",
        "from": "seen 2026-11-26",
        "min_gib": "10",
        "max_gib": "65536",
        "iops_per_gib": "6",
        "max_iops": "80000",
        "base_iops": "3000",
        "max_mib": "1200",
        "base_mib": "140",
        "mib_per_gib": "0.28",
        "source": "GoogleCloudPlatform/gcpdiag@9f84bc0 gcpdiag/runbook/gce/disk_performance_benchmark (Google's own); sizes: "
        "Cyclenerd/google-cloud-pricing-cost-calculator@dac3128 tools/disktypes.csv",
    },
    {
        "type": "pd-ssd",
        "era": "2026",
        "from": "seen 2026-11-26",
        "min_gib": "10",
        "max_gib": "65536",
        "iops_per_gib": "30",
        "max_iops": "100000",
        "base_iops": "6000",
        "max_mib": "1200",
        "base_mib": "240",
        "mib_per_gib": "0.48",
        "source": "GoogleCloudPlatform/gcpdiag@9f84bc0 gcpdiag/runbook/gce/disk_performance_benchmark (Google's own); sizes: "
        "Cyclenerd/google-cloud-pricing-cost-calculator@dac3128 tools/disktypes.csv",
    },
    {
        "type": "hyperdisk-balanced",
        "era": "2026",
        "from": "seen 2026-07-28",
        "min_gib": "4",
        "max_gib": "65536",
        "min_iops": "3000",
        "max_iops": "160000",
        "max_iops_per_gib": "500",
        "included_iops": "3000",
        "included_mib": "140",
        "min_mib_per_iops": "0.00390625",
        "max_mib": "2400",
        "mib_per_iops": "0.25",
        "source": "docs.cloud.google.com compute/docs/disks/hd-types/hyperdisk-balanced as quoted 2026-07-28 "
        "(takech9203/google-cloud-news-summary); sizes: Cyclenerd/google-cloud-pricing-cost-calculator@dac3128 tools/disktypes.csv",
    },
    {
        "type": "hyperdisk-extreme",
        "era": "2026",
        "from": "seen 2026-08-26",
        "min_gib": "64",
        "max_gib": "65536",
        "min_iops": "128",
        "max_iops": "350000",
        "max_iops_per_gib": "1200",
        "min_iops_per_gib": "2",
        "max_mib": "5000",
        "mib_per_iops": "0.25",
        "source": "docs.cloud.google.com compute/docs/disks/hd-types/hyperdisk-extreme (2 to 1200 IOPS a GiB, 250 MiB/s with every 1000 IOPS; a "
        "stored copy of the page; undated; read 2026-11-28); sizes and the most: Google Cloud Hyperdisk overview (2026-08-26)",
    },
    {
        "type": "hyperdisk-throughput",
        "era": "2026",
        "from": "seen 2026-09-28",
        "min_gib": "2048",
        "max_gib": "32768",
        "max_iops": "9600",
        "min_mib": "20",
        "max_mib": "2400",
        "least_mib_per_tib": "5",
        "most_mib_per_tib": "90",
        "iops_per_mib": "4",
        "source": "docs.cloud.google.com compute/docs/disks/hd-types/hyperdisk-throughput as quoted 2026-09-28 "
        "(takech9203/google-cloud-news-summary)",
    },
    {
        "type": "premium",
        "era": "2026",
        "from": "seen 2026-11-26",
        "min_gib": "4",
        "max_gib": "32767",
        "max_iops": "20000",
        "max_mib": str(900 * MB),
        "steps": " ".join(f"{gib}:{iops}:{mb * MB}" for gib, iops, mb in PREMIUM),
        "source": "Azure's page on disk types: Premium SSD size; as quoted in public code and in Azure's own pages on SQL Server; the most as of "
        "disks-types.md (2026-08-11)",
    },
    {
        "type": "premium-v2",
        "era": "2026",
        "from": "seen 2026-08-11",
        "min_gib": "1",
        "max_gib": "65536",
        "min_iops": "3000",
        "max_iops": "80000",
        "max_iops_per_gib": "500",
        "included_iops": "3000",
        "included_mib": str(125 * MB),
        "max_mib": str(2000 * MB),
        "mib_per_iops": str(0.25 * MB),
        "source": "MicrosoftDocs/azure-compute-docs articles/virtual-machines/disks-types.md (2026-08-11): Premium SSD v2",
    },
    {
        "type": "ultra",
        "era": "2026",
        "from": "seen 2026-08-11",
        "min_gib": "4",
        "max_gib": "65536",
        "min_iops": "100",
        "max_iops": "400000",
        "max_iops_per_gib": "1000",
        "min_mib": str(1 * MB),
        "max_mib": str(10000 * MB),
        "mib_per_iops": str(0.25 * MB),
        "source": "MicrosoftDocs/azure-compute-docs articles/virtual-machines/disks-types.md (2026-08-11): Ultra Disk",
    },
]


def write(path, notes, rows):
    lines = [notes + ",".join(rows[0])]
    for row in rows:
        values = [value.replace(",", ";") for value in row.values()]
        lines.append(",".join(values))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path}: {len(rows)} rows, {path.stat().st_size} bytes")


INSTANCE_PRICE_NOTES = """\
# What an hour of an instance cost, USD, us-east-1, Linux, shared tenancy; one row per type and day on which the prices were
# seen. Written by generate.py; do not edit. An empty value is not known, never 0. The source of each day: price_sources.csv.
# on_demand; reserved for 1 or 3 years with no (n), partial (p) or all (a) upfront, or "heavy utilisation" (h, until 2014): the
#   upfront payment spread over the hours of the term, plus the hourly rate
# 1h_upfront, 3h_upfront: the upfront payment of "heavy utilisation", where the source states it
"""

PRICE_SOURCE_NOTES = """\
# Where the instance prices of a day were seen. Written by generate.py; do not edit.
"""

VOLUME_PRICE_NOTES = """\
# What volumes cost, USD a month: EBS and RDS (one zone) in us-east-1, Google in us-central1, Azure in eastus. Written by generate.py; do not edit.
# An empty value: no such charge for the type; rds-gp3: what MiB/s above the included ones cost was not found
# date: first day for which the collected facts state these prices, or a later day on which they were seen unchanged
# usd_per_gb: per GB-month, where the "GB" is the GiB of the volume's size
# usd_per_iops: per provisioned IOPS above iops_above; io2 has lower prices above 32000 and above 64000
# usd_per_mib: per MiB/s above mib_above; usd_per_million_io: per million I/O requests
# usd_steps: GiB:USD of a whole volume up to so many GiB, in place of usd_per_gb (Azure's Premium SSD)
"""

# A price that the collected history lacks. The figure is the study's own: 15 hi1.4xlarge at 46.50 USD an hour.
ADDED_PRICES = [
    {
        "instance_type": "hi1.4xlarge",
        "as_of_date": "2012-07-19",
        "purchase": "on_demand",
        "term_years": "",
        "payment_option": "",
        "usd_per_hour_effective": "3.1",
        "source": "Netflix TechBlog 2012-07-19 (launch of hi1.4xlarge): Benchmarking High Performance I/O with SSD for Cassandra on AWS",
    }
]

PURCHASES = {
    ("on_demand", "", ""): "on_demand",
    ("reserved", "1", "noUpfront"): "1n",
    ("reserved", "1", "partialUpfront"): "1p",
    ("reserved", "1", "allUpfront"): "1a",
    ("reserved", "3", "noUpfront"): "3n",
    ("reserved", "3", "partialUpfront"): "3p",
    ("reserved", "3", "allUpfront"): "3a",
    ("reserved", "1", "heavy utilization"): "1h",
    ("reserved", "3", "heavy utilization"): "3h",
}

# Options whose upfront payment the history states by itself; of "no" and "all" upfront it follows.
UPFRONT = {"1h": "1h_upfront", "3h": "3h_upfront"}

# Days of the prices in volumes.csv, by type and first word of the era: from when they are stated, then when they were seen.
VOLUME_PRICE_DAYS = {
    ("standard", "2012"): ["2012-05-06"],
    ("standard", "current"): ["2014-01-01"],
    ("gp2", "2015-2018"): ["2015-01-01"],
    ("gp2", "since"): ["2018-12-03", "2019-05-01"],
    ("gp3", "2020-2025"): ["2020-12-01"],
    ("gp3", "since"): ["2025-09-26", "2026-09-30"],
    ("io1", "2012-2014"): ["2012-07-31"],
    ("io1", "2015-2016"): ["2015-01-01"],
    ("io1", "2017"): ["2017-06-02"],
    ("io1", "2018"): ["2017-12-06"],
    ("io1", "since"): ["2018-11-29", "2019-05-01"],
    ("io2", "non-Block-Express"): ["2020-08-24"],
    ("io2", "Block"): ["2021-07-01", "2026-09-30"],
    ("st1", "2016-2020"): ["2016-04-19"],
    ("st1", "since"): ["2020-12-03"],
    ("sc1", "2016-2020"): ["2016-04-19"],
    ("sc1", "since"): ["2020-12-03"],
}


def instance_prices(history):
    """One row per type and day, all purchase options beside each other; and the source of each day."""
    rows, sources = {}, {}
    for price in [*history, *ADDED_PRICES]:
        day = price["as_of_date"]
        option = price["payment_option"].split(" (")[0]
        column = PURCHASES[(price["purchase"], price["term_years"], option)]
        empty = {"name": price["instance_type"], "date": day} | dict.fromkeys([*PURCHASES.values(), *UPFRONT.values()], "")
        row = rows.setdefault((price["instance_type"], day), empty)
        assert row[column] in ("", price["usd_per_hour_effective"]), f"two prices: {price}"
        row[column] = price["usd_per_hour_effective"]
        # The total of 2012 folds upfront and hourly payments together: its "upfront" is the whole term's money.
        if column in UPFRONT and "folded together" not in price["payment_option"]:
            row[UPFRONT[column]] = price["upfront_usd"]
        source = price["source"].split(" (total")[0]
        assert sources.setdefault(day, source) == source, f"two sources of {day}: {sources[day]} and {source}"
    dated = [{"date": day, "source": source} for day, source in sorted(sources.items())]
    return [rows[key] for key in sorted(rows)], dated


def prices_of_volume(row):
    for day in VOLUME_PRICE_DAYS[(row["volume_type"], row["era"].split(" ")[0])]:
        yield {
            "type": row["volume_type"],
            "date": day,
            "region": "us-east-1",
            "usd_per_gb": row["price_usd_per_gb_month"],
            "usd_per_iops": row["price_usd_per_provisioned_iops_month"],
            "iops_above": row["price_iops_applies_above"],
            "usd_per_iops_above_32000": row["price_usd_per_iops_month_32001_to_64000"],
            "usd_per_iops_above_64000": row["price_usd_per_iops_month_above_64000"],
            "usd_per_mib": row["price_usd_per_mib_per_s_month"],
            "mib_above": row["price_throughput_applies_above_mib_per_s"],
            "usd_per_million_io": row["price_usd_per_million_io_requests"],
            "usd_steps": "",
            "source": f"seen: {row['price_as_of']}; " + row["source"].split("price ")[-1].split("(awsdocs")[0].strip(),
        }


# Prices of RDS's storage for PostgreSQL in one zone. What gp3's MiB/s above 500 cost was not found.
RDS_PRICE_LIST = "AWS Price List of RDS (us-east-1; Last-Modified 2026-07-28): rows that public code quotes; Single-AZ"
RDS_PRICES = [
    {
        "type": "rds-gp3",
        "date": "2026-07-28",
        "region": "us-east-1",
        "usd_per_gb": "0.115",
        "usd_per_iops": "0.02",
        "iops_above": "12000",
        "mib_above": "500",
        "source": f"{RDS_PRICE_LIST}; infracost golden db_instance_test.golden has twice that for two zones",
    },
    {
        "type": "rds-io1",
        "date": "2026-07-28",
        "region": "us-east-1",
        "usd_per_gb": "0.125",
        "usd_per_iops": "0.1",
        "iops_above": "0",
        "source": f"{RDS_PRICE_LIST}; infracost golden db_instance_test.golden has the same",
    },
    {
        "type": "rds-io2",
        "date": "2026-07-28",
        "region": "us-east-1",
        "usd_per_gb": "0.125",
        "usd_per_iops": "0.1",
        "iops_above": "0",
        "source": RDS_PRICE_LIST,
    },
]

# USD a month of a Premium SSD up to so many GiB.
PREMIUM_USD = [
    (4, 0.6),
    (8, 1.2),
    (16, 2.4),
    (32, 5.2795),
    (64, 10.207),
    (128, 19.71),
    (256, 38.012142),
    (512, 73.22),
    (1024, 135.17),
    (2048, 259.0457),
    (4096, 495.5657),
    (8192, 946.08),
    (16384, 1802.06),
    (32767, 3604.11),
]

# Prices of other clouds' volumes, by the day on which they were seen. Azure sells by the hour, and by the MB/s:
# Ultra 0.3495 USD a MB/s of a month (730 hours), 2,048 GiB at 245.19 and 4,000 IOPS at 198.56; Premium SSD v2 a GiB at 0.00011 USD an hour, an
# IOPS at 0.000007 and a MB/s at 0.000055. Not here: Hyperdisk Throughput, of which one price without its region was found (0.006 USD a GiB).
OTHER_CLOUDS_PRICES = [
    {
        "type": "pd-balanced",
        "date": "2026-10-02",
        "region": "us-central1",
        "usd_per_gb": "0.1",
        "source": "price table yapnr-price-table-v1 in public code (accessed 2026-10-02)",
    },
    {
        "type": "pd-ssd",
        "date": "2026-11-26",
        "region": "us-central1",
        "usd_per_gb": "0.17",
        "source": "infracost golden compute_disk_test.golden (us-central1; undated; seen 2026-11-26)",
    },
    {
        "type": "hyperdisk-balanced",
        "date": "2026-10-02",
        "region": "us-central1",
        "usd_per_gb": "0.08",
        "usd_per_iops": str(round(0.000006849 * 730, 6)),
        "iops_above": "3000",
        "usd_per_mib": str(round(0.000054795 * 730, 6)),
        "mib_above": "140",
        "source": "price table yapnr-price-table-v1 in public code (accessed 2026-10-02); IOPS and MiB/s: Google's page on disk prices (Iowa; by the "
        "hour 0.000006849 and 0.000054795) as amroja-biz/rockysurf docs/providers/gcp.md quotes it (read 2026-08-21)",
    },
    {
        "type": "hyperdisk-extreme",
        "date": "2026-11-26",
        "region": "us-central1",
        "usd_per_gb": "0.125",
        "usd_per_iops": "0.032",
        "iops_above": "0",
        "source": "infracost golden compute_disk_test.golden (us-central1; undated; seen 2026-11-26)",
    },
    {
        "type": "premium",
        "date": "2026-07-23",
        "region": "eastus",
        "usd_steps": " ".join(f"{gib}:{usd}" for gib, usd in PREMIUM_USD),
        "source": "answers of Azure's Retail Prices API (eastus; LRS): P20 to P60 of 2026-07-23 and all of them in a table of public code (undated; "
        "seen 2026-11-27); P4 as infracost golden managed_disk_test.golden has it",
    },
    {
        "type": "premium-v2",
        "date": "2026-11-26",
        "region": "eastus",
        "usd_per_gb": str(round(0.00011 * 730, 6)),
        "usd_per_iops": str(round(0.000007 * 730, 6)),
        "iops_above": "3000",
        "usd_per_mib": str(round(0.000055 * 730 / MB, 6)),
        "mib_above": str(125 * MB),
        "source": "answers of Azure's Retail Prices API (eastus) that tests in public code hold (IOPS and MB/s the same in two of them; undated; seen "
        "2026-11-26)",
    },
    {
        "type": "ultra",
        "date": "2026-11-26",
        "region": "eastus",
        "usd_per_gb": str(round(245.19 / 2048, 6)),
        "usd_per_iops": str(round(198.56 / 4000, 6)),
        "iops_above": "0",
        "usd_per_mib": str(round(6.99 / 20 / MB, 6)),
        "mib_above": "0",
        "source": "infracost golden managed_disk_test.golden (eastus; undated; seen 2026-11-26)",
    },
]


def main():
    facts = Path(sys.argv[1])
    data = Path(__file__).parent / "data"
    with open(facts / "instances.csv", newline="", encoding="utf-8") as file:
        collected = list(csv.DictReader(file))
    COLLECTED.extend(collected[0])
    told, karpenter = extract("moto"), extract("karpenter")
    known = {row["instance_type"] for row in collected}
    added_rows = [
        added(row, karpenter.get(name, {}).get("usd_per_hour", ""))
        for name, row in told.items()
        if name not in known and not why_omitted(row)
    ]
    collected += added_rows
    undo_totals(collected)
    documented, processors = extract("instance_store"), extract("processors", "family")
    instances = [instance(row, documented, processors, told) for row in collected]
    with open(facts / "volumes.csv", newline="", encoding="utf-8") as file:
        # A row without sizes records prices of a time whose rules were not found.
        volumes = [volume(row) for row in csv.DictReader(file) if row["min_size_gib"]]
    write(data / "instances.csv", INSTANCE_NOTES, sorted(instances, key=lambda row: row["name"]))
    write(data / "omitted.csv", OMITTED_NOTES, omitted(told, {row["name"] for row in instances}))
    added_volumes = [dict.fromkeys(volumes[0], "") | row for row in ADDED_VOLUMES]
    other_volumes = [dict.fromkeys(volumes[0], "") | row for row in OTHER_CLOUDS]
    rds_volumes = [dict.fromkeys(volumes[0], "") | row for row in RDS_VOLUMES]
    write(data / "volumes.csv", VOLUME_NOTES, [*added_volumes, *volumes, *rds_volumes, *other_volumes])
    with open(facts / "instance_price_history.csv", newline="", encoding="utf-8") as file:
        prices, sources = instance_prices([*csv.DictReader(file), *map(price_of_added, filter(has_price, added_rows))])
    with open(facts / "volumes.csv", newline="", encoding="utf-8") as file:
        volume_prices = [price for row in csv.DictReader(file) for price in prices_of_volume(row)]
    volume_prices += [dict.fromkeys(volume_prices[0], "") | row for row in [*RDS_PRICES, *OTHER_CLOUDS_PRICES]]
    write(data / "instance_prices.csv", INSTANCE_PRICE_NOTES, prices)
    write(data / "price_sources.csv", PRICE_SOURCE_NOTES, sources)
    write(data / "volume_prices.csv", VOLUME_PRICE_NOTES, sorted(volume_prices, key=lambda row: (row["type"], row["date"])))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
