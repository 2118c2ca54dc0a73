#!/usr/bin/env python3
"""Writes data/cpu_benchmarks.csv from a clone of SpareCores/sc-inspector-data, which holds Geekbench results of machines of several clouds.

    python3 crates/catalog/sources/cpu_benchmarks.py CLONE

One machine of 8 vCPUs for each family; the multi-core scores of six tests of integers, which a database is nearer to than pictures, as the
geometric mean of their ratios to m5.2xlarge.
"""

import csv
import json
import math
import re
import subprocess
import sys
from pathlib import Path

TESTS = ["File Compression", "Navigation", "HTML5 Browser", "PDF Renderer", "Clang", "Text Processing"]
REFERENCE = "data/aws/m5.2xlarge/geekbench/results.json"
# 2xlarge with another number of vCPUs than 8.
NOT_EIGHT = {"m2"}

NOTES = """\
# How fast a vCPU of each family was in a published benchmark, beside m5.2xlarge. Written by sources/cpu_benchmarks.py; do not edit.
# speed: geometric mean of the multi-core scores of six tests of Geekbench 6 (File Compression, Navigation, HTML5 Browser, PDF Renderer, Clang,
#   Text Processing) over those of m5.2xlarge, one run each; machine: the one that was measured, of 8 vCPUs. least, most: of the six tests
# Source: github.com/SpareCores/sc-inspector-data at COMMIT (Spare Cores; CC BY-SA 4.0), data/*/*/geekbench/results.json
# Licence: figures of Spare Cores, used under CC BY-SA 4.0 (https://creativecommons.org/licenses/by-sa/4.0/), changed: ratios and their means are
#   ours. This file is under that licence too, not under iopslab's own; see NOTICE
# Not here: families of which no machine with 8 vCPUs was measured
"""


def git(clone, *arguments):
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True, text=True).stdout


def scores(clone, path):
    return json.loads(git(clone, "show", f"HEAD:{path}"))["Multi-Core Performance"]


def family(machine):
    """As catalog/src/cpu_speed.rs: the name without its size."""
    if machine.startswith("gcp:"):
        return machine.rsplit("-", 1)[0]
    if machine.startswith("azure:"):
        return re.sub(r"[0-9]+", "", machine, count=1)
    return machine.split(".")[0]


def machines(data):
    """The machines of the catalog that have 8 vCPUs, with the name of their directory."""
    for file in ["instances.csv", "other_instances.csv"]:
        with open(data / file, newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(line for line in lines if not line.startswith("#")):
                name = row["name"]
                if name.endswith(".2xlarge") and family(name) not in NOT_EIGHT:
                    yield name, f"aws/{name}"
                elif ":" in name and row["vcpus"] == "8":
                    yield name, name.replace(":", "/", 1)


def main():
    clone, data = sys.argv[1], Path(__file__).parent.parent / "data"
    there = set(git(clone, "ls-tree", "-r", "--name-only", "HEAD", "data").splitlines())
    reference = scores(clone, REFERENCE)
    rows = []
    for machine, directory in machines(data):
        path = f"data/{directory}/geekbench/results.json"
        if path not in there:
            continue
        own = scores(clone, path)
        ratios = [own[test]["score"] / reference[test]["score"] for test in TESTS]
        speed = math.prod(ratios) ** (1 / len(ratios))
        rows.append((family(machine), machine, f"{speed:.3f}", f"{min(ratios):.3f}", f"{max(ratios):.3f}"))
    head = NOTES.replace("COMMIT", git(clone, "rev-parse", "--short=7", "HEAD").strip())
    lines = [head + "family,machine,speed,least,most", *(",".join(row) for row in sorted(rows))]
    (data / "cpu_benchmarks.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(rows)} families")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
