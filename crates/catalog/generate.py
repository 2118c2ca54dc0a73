#!/usr/bin/env python3
"""Writes the crate's data from the project's collected facts: instances, volumes, and the prices of both over time.

    python3 crates/catalog/generate.py DIRECTORY

DIRECTORY holds instances.csv, instance_price_history.csv, volumes.csv and SOURCES.md as collected (one row per type, per dated
price, or per type and era, with a source beside each fact). The crate carries only the columns that its arithmetic needs, in a form that simple code can read: no
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
# introduced: year of the family; nitro: y, n (its EBS volumes have at most 32000 provisioned IOPS each)
# ebs_mode: how the type gets the path to EBS in the ebs_* columns: default, surcharge (asked for and paid by the hour:
#   ebs_surcharge_usd as of 2017-11-12), none
# net_gbps, net_burst_gbps: network bandwidth that lasts, and for a while
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
        "introduced": row["family_introduced_year"],
        "nitro": {"nitro": "y", "none (bare metal)": "y", "xen": "n"}.get(row["hypervisor"], ""),
        "ebs_mode": {"default": "default", "supported": "surcharge", "unsupported": "none"}.get(row["ebs_optimized_mode"], ""),
        "ebs_surcharge_usd": row["ebs_optimized_surcharge_usd_per_hour_2017_11_12"],
        "net_gbps": row["network_baseline_gbps"],
        "net_burst_gbps": row["network_burst_gbps"],
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


INSTANCE_PRICE_NOTES = """\
# What an hour of an instance cost, USD, us-east-1, Linux, shared tenancy; one row per type and day on which the prices were
# seen. Written by generate.py; do not edit. An empty value is not known, never 0. The source of each day: price_sources.csv.
# on_demand; reserved for 1 or 3 years with no (n), partial (p) or all (a) upfront, or "heavy utilisation" (h, until 2014): the
#   upfront payment spread over the hours of the term, plus the hourly rate
"""

PRICE_SOURCE_NOTES = """\
# Where the instance prices of a day were seen. Written by generate.py; do not edit.
"""

VOLUME_PRICE_NOTES = """\
# What EBS volumes cost in us-east-1, USD a month. Written by generate.py; do not edit. An empty value: no such charge for the type.
# date: first day for which the collected facts state these prices, or a later day on which they were seen unchanged
# usd_per_gb: per GB-month, where AWS's "GB" is the GiB of the volume's size
# usd_per_iops: per provisioned IOPS above iops_above; io2 has lower prices above 32000 and above 64000
# usd_per_mib: per MiB/s above mib_above; usd_per_million_io: per million I/O requests
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
        empty = {"name": price["instance_type"], "date": day} | dict.fromkeys(PURCHASES.values(), "")
        row = rows.setdefault((price["instance_type"], day), empty)
        assert row[column] in ("", price["usd_per_hour_effective"]), f"two prices: {price}"
        row[column] = price["usd_per_hour_effective"]
        source = price["source"].split(" (total")[0]
        assert sources.setdefault(day, source) == source, f"two sources of {day}: {sources[day]} and {source}"
    dated = [{"date": day, "source": source} for day, source in sorted(sources.items())]
    return [rows[key] for key in sorted(rows)], dated


def prices_of_volume(row):
    for day in VOLUME_PRICE_DAYS[(row["volume_type"], row["era"].split(" ")[0])]:
        yield {
            "type": row["volume_type"],
            "date": day,
            "usd_per_gb": row["price_usd_per_gb_month"],
            "usd_per_iops": row["price_usd_per_provisioned_iops_month"],
            "iops_above": row["price_iops_applies_above"],
            "usd_per_iops_above_32000": row["price_usd_per_iops_month_32001_to_64000"],
            "usd_per_iops_above_64000": row["price_usd_per_iops_month_above_64000"],
            "usd_per_mib": row["price_usd_per_mib_per_s_month"],
            "mib_above": row["price_throughput_applies_above_mib_per_s"],
            "usd_per_million_io": row["price_usd_per_million_io_requests"],
            "source": f"seen: {row['price_as_of']}; " + row["source"].split("price ")[-1].split("(awsdocs")[0].strip(),
        }


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
    with open(facts / "instance_price_history.csv", newline="", encoding="utf-8") as file:
        prices, sources = instance_prices(csv.DictReader(file))
    with open(facts / "volumes.csv", newline="", encoding="utf-8") as file:
        volume_prices = [price for row in csv.DictReader(file) for price in prices_of_volume(row)]
    write(data / "instance_prices.csv", INSTANCE_PRICE_NOTES, prices)
    write(data / "price_sources.csv", PRICE_SOURCE_NOTES, sources)
    write(data / "volume_prices.csv", VOLUME_PRICE_NOTES, sorted(volume_prices, key=lambda row: (row["type"], row["date"])))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
