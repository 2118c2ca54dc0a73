#!/usr/bin/env python3
"""Writes data/instances.csv and data/volumes.csv from the project's collected facts.

    python3 crates/catalog/generate.py DIRECTORY

DIRECTORY holds instances.csv, volumes.csv and SOURCES.md as collected (one row per type or per type and era, with a source
beside each fact). The crate carries only the columns that its arithmetic needs, in a form that simple code can read: no
quotes, no commas inside a value, lines beginning with # are comments, an empty value is "not known", never 0.
"""

import csv
import sys
from pathlib import Path

INSTANCE_NOTES = """\
# Instance types: size, local disks, path to EBS, price. Written by generate.py; do not edit.
# An empty value is not known. MB is 10^6 bytes, GB 10^9, GiB 2^30. Prices: us-east-1, Linux, shared tenancy.
#
# vcpus, memory_gib, disk_*, ebs_*: moto 5.2.5 instance_types.json.gz, a DescribeInstanceTypes dump packaged 2026-10-27;
#   types absent there and EBS figures it lacks (2018 columns): EC2 User Guide 2018-02-02 (awsdocs/amazon-ec2-user-guide@d1a4d62)
#   and ec2instances.info's history
# ebs_*_iops at 16 KiB, ebs_*_mb_per_s at 128 KiB; all volumes of the instance together
# read_iops, write_iops of all local disks together, 4 KiB random: d = documented by the EC2 User Guide 2023-06 (a range is
#   carried as its lower end), m = measured by scylladb/scylla-machine-image@f25b2c5 (2025-09-15)
# read_mb_per_s, write_mb_per_s of all local disks together: d and m as above
# usd_per_hour at usd_date: karpenter-provider-aws@1d92708 (2026-07-20); for types no longer sold, the last price in
#   ec2instances.info's history
# lifecycle: current, previous (generation), retired
"""

VOLUME_NOTES = """\
# EBS volume types by era, oldest first: the last row of a type is today's. Written by generate.py; do not edit.
# An empty value means that the rule does not exist for the type. Throughput in MiB/s.
# iops_per_gib: baseline (gp2); max_iops_per_gib: most that may be provisioned (gp3, io1, io2)
# mib_per_iops up to mib_cap; above many_iops: many_mib_per_iops; never above max_mib
# mib_per_tib .. max_base_mib: throughput that lasts (st1, sc1); burst_mib_per_tib .. max_mib: while credits last
"""


def lower_end(value):
    """10000-85000 -> 10000: what the disk is sure to do."""
    return value.split("-")[0]


def upper_end(value):
    """40-200 -> 200: a documented maximum."""
    return value.split("-")[-1]


def first(row, *columns):
    return next((row[column] for column in columns if row[column]), "")


def figures(row, read, write):
    """The documented pair of figures, else the measured one, and which of them it is."""
    for source, letter in (("documented", "d"), ("measured_scylladb", "m")):
        pair = [lower_end(row[f"local_{figure}_{source}"]) for figure in (read[letter], write[letter])]
        if any(pair):
            return [*pair, letter]
    return ["", "", ""]


def instance(row):
    has_disks = row["local_disk_kind"] not in ("", "none")
    iops = figures(
        row,
        {"d": "read_iops_4kib", "m": "read_iops"},
        {"d": "write_iops_4kib", "m": "write_iops"},
    )
    throughput = figures(
        row,
        {"d": "read_mb_per_s", "m": "read_mb_per_s"},
        {"d": "write_mb_per_s", "m": "write_mb_per_s"},
    )
    return {
        "name": row["instance_type"],
        "lifecycle": row["lifecycle"].split(" ")[0],
        "architecture": row["cpu_architecture"],
        "vcpus": row["vcpus"],
        "memory_gib": row["memory_gib"],
        "disk_kind": row["local_disk_kind"] if has_disks else "",
        "disks": row["local_disk_count"] if has_disks else "",
        "disk_gb": row["local_disk_size_gb_each"] if has_disks else "",
        "read_iops": iops[0],
        "write_iops": iops[1],
        "iops_from": iops[2],
        "read_mb_per_s": throughput[0],
        "write_mb_per_s": throughput[1],
        "mb_from": throughput[2],
        "ebs_mb_per_s": first(row, "ebs_baseline_throughput_mb_per_s_128kib", "ebs_2018_baseline_throughput_mb_per_s_128kb", "ebs_2018_max_throughput_mb_per_s_128kb"),
        "ebs_burst_mb_per_s": first(row, "ebs_burst_throughput_mb_per_s_128kib", "ebs_2018_max_throughput_mb_per_s_128kb"),
        "ebs_iops": first(row, "ebs_baseline_iops_16kib", "ebs_2018_baseline_iops_16kb", "ebs_2018_max_iops_16kb"),
        "ebs_burst_iops": first(row, "ebs_burst_iops_16kib", "ebs_2018_max_iops_16kb"),
        "usd_per_hour": row["on_demand_usd_per_hour_latest"],
        "usd_date": row["on_demand_latest_as_of"],
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
        "max_iops_per_gib": row["max_provisioned_iops_per_gib"],
        "included_iops": row["included_iops"],
        "burst_iops": row["burst_iops"],
        "burst_credits": row["burst_bucket_io_credits"],
        "burst_below_gib": row["burst_only_below_gib"],
        "included_mib": row["included_throughput_mib_per_s"],
        "max_mib": upper_end(row["max_throughput_mib_per_s"]),
        "mib_per_iops": row["throughput_mib_per_s_per_provisioned_iops"],
        "mib_cap": "",
        "many_iops": "",
        "many_mib_per_iops": "",
        "small_gib": "",
        "small_mib": "",
        "mib_per_tib": row["baseline_throughput_mib_per_s_per_tib"],
        "burst_mib_per_tib": row["burst_throughput_mib_per_s_per_tib"],
        "max_base_mib": row["max_baseline_throughput_mib_per_s"],
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


def write(path, notes, rows):
    lines = [notes + ",".join(rows[0])]
    for row in rows:
        values = [value.replace(",", ";") for value in row.values()]
        lines.append(",".join(values))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path}: {len(rows)} rows, {path.stat().st_size} bytes")


def main():
    facts = Path(sys.argv[1])
    data = Path(__file__).parent / "data"
    with open(facts / "instances.csv", newline="", encoding="utf-8") as file:
        instances = [instance(row) for row in csv.DictReader(file)]
    with open(facts / "volumes.csv", newline="", encoding="utf-8") as file:
        # A row without sizes records prices of a time whose rules were not found.
        volumes = [volume(row) for row in csv.DictReader(file) if row["min_size_gib"]]
    write(data / "instances.csv", INSTANCE_NOTES, sorted(instances, key=lambda row: row["name"]))
    write(data / "volumes.csv", VOLUME_NOTES, volumes)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
