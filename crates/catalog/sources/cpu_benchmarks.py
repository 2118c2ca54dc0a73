#!/usr/bin/env python3
"""Writes data/cpu_benchmarks.csv and data/cpu_openssl.csv from a clone of SpareCores/sc-inspector-data, which holds results of Geekbench and of
`openssl speed` on machines of several clouds.

    python3 crates/catalog/sources/cpu_benchmarks.py CLONE

Geekbench: one machine of 8 vCPUs for each family; the multi-core scores of six tests of integers, which a database is nearer to than pictures,
as the geometric mean of their ratios to m5.2xlarge.

OpenSSL: all machines of each family that are in the catalog; of the algorithms that were run the one nearest to Geekbench (printed).
"""

import csv
import json
import math
import re
import statistics
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

# Of `openssl speed`: the largest blocks, in which the calls around them count least.
ALGORITHM, BLOCK = "ARIA-256-CBC", 16384

OPENSSL_NOTES = f"""\
# What a vCPU of each family did of a cipher that OpenSSL has in C alone, all vCPUs at work. Written by sources/cpu_benchmarks.py; do not edit.
# mb_per_s: MB (10^6 bytes) a second for each vCPU of `openssl speed -mr -mlock -elapsed -multi VCPUS -evp {ALGORITHM.lower()}` in blocks of {BLOCK}
#   bytes, OpenSSL 3.3.0 or 3.4.0 as gcc compiles it, one run of 3 s for each machine; the median of the family's machines, with the least and the most
# Source: github.com/SpareCores/sc-inspector-data at COMMIT (Spare Cores; CC BY-SA 4.0), data/*/*/openssl/parsed.json; how it was run:
#   github.com/SpareCores/sc-images, images/benchmark/openssl.sh
# Licence: figures of Spare Cores, used under CC BY-SA 4.0 (https://creativecommons.org/licenses/by-sa/4.0/), changed: shares of a vCPU, and the
#   medians of these, are ours. This file is under that licence too, not under iopslab's own; see NOTICE
# Not here: families of which no machine was measured
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


def catalogued(data):
    """The machines of the catalog: name, that of its directory, vCPUs."""
    for file in ["instances.csv", "other_instances.csv"]:
        with open(data / file, newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(line for line in lines if not line.startswith("#")):
                name = row["name"]
                yield name, name.replace(":", "/", 1) if ":" in name else f"aws/{name}", int(row["vcpus"])


def machines(data):
    """Those that have 8 vCPUs, with the name of their directory."""
    for name, directory, vcpus in catalogued(data):
        if name.endswith(".2xlarge") and family(name) not in NOT_EIGHT or ":" in name and vcpus == 8:
            yield name, directory


def blobs(clone, paths):
    """What each of these files holds, in one go: there are a thousand."""
    asked = "".join(f"HEAD:{path}\n" for path in paths).encode()
    text = subprocess.run(["git", "-C", clone, "cat-file", "--batch"], input=asked, check=True, capture_output=True).stdout
    at = 0
    for _ in paths:
        start = text.index(b"\n", at) + 1
        end = start + int(text[at:start].split()[2])
        yield text[start:end]
        at = end + 1


def openssl(clone, data, there):
    """Bytes a second of all vCPUs by algorithm, for each machine with its vCPUs."""
    found = [(name, vcpus, f"data/{directory}/openssl/parsed.json") for name, directory, vcpus in catalogued(data)]
    found = [one for one in found if one[2] in there]
    for (name, vcpus, _), text in zip(found, blobs(clone, [path for _, _, path in found])):
        yield name, vcpus, {row["algo"]: row["speed"] for row in json.loads(text) if row["block_size"] == BLOCK}


def nearest_to(benchmarks, results):
    """Prints, for each algorithm, by which factor it differs from Geekbench on the same machines: nine of ten, and all."""
    reference = next(speeds for name, _, speeds in results if name == "m5.2xlarge")
    for algorithm in sorted(reference):
        own = [(speeds[algorithm] / reference[algorithm], benchmarks[name]) for name, _, speeds in results if name in benchmarks]
        logs = [[math.log(value) for value in values] for values in zip(*own)]
        factors = sorted(math.exp(abs(a - b)) for a, b in zip(*logs))
        nine = factors[len(factors) * 9 // 10]
        print(f"  {algorithm:18} correlation {statistics.correlation(*logs):.2f}, factor {nine:.2f} and {factors[-1]:.2f}")


def openssl_rows(results):
    families = {}
    for name, vcpus, speeds in results:
        families.setdefault(family(name), []).append(speeds[ALGORITHM] / vcpus / 1e6)
    for name, own in families.items():
        yield name, str(len(own)), f"{statistics.median(own):.2f}", f"{min(own):.2f}", f"{max(own):.2f}"


def write(path, clone, notes, columns, rows):
    head = notes.replace("COMMIT", git(clone, "rev-parse", "--short=7", "HEAD").strip())
    lines = [head + columns, *(",".join(row) for row in sorted(rows))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


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
    write(data / "cpu_benchmarks.csv", clone, NOTES, "family,machine,speed,least,most", rows)
    results = list(openssl(clone, data, there))
    write(data / "cpu_openssl.csv", clone, OPENSSL_NOTES, "family,machines,mb_per_s,least,most", openssl_rows(results))
    print(f"{len(rows)} families by Geekbench, {len({family(name) for name, _, _ in results})} by OpenSSL")
    nearest_to({machine: float(speed) for _, machine, speed, _, _ in rows}, results)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
