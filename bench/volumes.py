#!/usr/bin/env python3
"""make bench-volumes: what emulated volumes deliver, beside what their model says. Prints two Markdown tables.

Volumes of `iopslab volume`, one after the other, ROUNDS times: what fio sees of each, and the CPU of the process that answers for it,
as the kernel accounts it. Then a served volume and the kernel's throttle (cgroup v1) with the same IOPS, in turns.
Needs root, fio, mkfs.xfs and /dev/fuse; two cores with nothing else to do.

  ROUNDS=3      rounds; figures are medians of them, with the least and the most
  CASE_S=4    seconds of each fio job
  IOPSLAB=PATH  this program
"""

import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = int(os.environ.get("ROUNDS", "3"))
RUNTIME = int(os.environ.get("CASE_S", "4"))
IOPSLAB = os.environ.get("IOPSLAB", os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release/iopslab"))
TICK = os.sysconf("SC_CLK_TCK")
# Name, what is ordered, further arguments, bytes that fio lays out (what st1 writes in some seconds).
TYPES = [
    ("gp2 1000 GiB", "gp2:1000GiB", [], "512m"),
    ("gp3 500 GiB, 6,000 IOPS", "gp3:500GiB:6000", [], "512m"),
    ("io1 500 GiB, 5,000 IOPS", "io1:500GiB:5000", [], "512m"),
    ("io2 500 GiB, 10,000 IOPS", "io2:500GiB:10000", [], "512m"),
    ("st1 500 GiB", "st1:500GiB", [], "512m"),
    ("sc1 500 GiB", "sc1:500GiB", [], "512m"),
]
# Of served volumes beside the throttle: no time of their own.
RATES = [960, 3_000, 10_000, 16_000]


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def fio(directory, name, *options, cgroup=None, runtime=RUNTIME):
    """One job over a file of DIRECTORY; its part of fio's JSON."""
    command = [
        "fio", f"--name={name}", f"--filename={directory}/data", "--direct=1", "--ioengine=libaio",
        "--output-format=json", "--randrepeat=0", "--norandommap",
    ]
    if runtime:
        command += [f"--runtime={runtime}", "--time_based"]
    join = (lambda: pathlib.Path(cgroup, "cgroup.procs").write_text(str(os.getpid()))) if cgroup else None
    told = run(*command, *options, preexec_fn=join)
    return json.loads(told[told.index("{"):])["jobs"][0]


def iops(job):
    return job["read"]["iops"] + job["write"]["iops"]


def percentile_us(job, which):
    return job["read"]["clat_ns"]["percentile"][which] / 1e3


def mib_per_s(job):
    return (job["read"]["bw_bytes"] + job["write"]["bw_bytes"]) / 2**20


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Served:
    """A volume of `iopslab volume`."""

    def __init__(self, place, volume, arguments):
        self.mount = pathlib.Path(place, "v")
        self.process = subprocess.Popen(
            [IOPSLAB, "volume", volume, "--mount", str(self.mount), *arguments],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "IOPSLAB_WORK": str(pathlib.Path(place, "work"))},
        )
        self.told = ""
        for line in self.process.stdout:
            self.told += line
            if line.startswith("Ctrl-C"):
                break
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        server = [pid for pid in children if b"volume-server" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
        if not server:
            self.end()
            sys.exit(f"bench-volumes: no server of {volume}: {self.told}")
        self.server = server[0]
        found = re.search(r"takes ([0-9.]+) us \(median", self.told)
        self.median_us = float(found[1]) if found else None
        found = re.search(r"([0-9.]+) IOPS, reads and writes together", self.told)
        self.iops = float(found[1]) if found else None
        found = re.search(r"([0-9.]+) MiB/s, reads and writes together|MiB/s that last, ([0-9.]+) while", self.told)
        self.mib_per_s = float(found[1] or found[2]) if found else None

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)


class Throttled:
    """A file behind a loop device, its IOPS limited by the kernel for a cgroup."""

    def __init__(self, place, limit):
        self.mount, image = pathlib.Path(place, "t"), pathlib.Path(place, "t.img")
        self.mount.mkdir()
        run("truncate", "--size", "2G", str(image))
        self.device = run("losetup", "--find", "--show", "--direct-io=on", str(image)).strip()
        run("mkfs.xfs", "-q", self.device)
        run("mount", self.device, str(self.mount))
        self.limit = limit
        self.cgroup = pathlib.Path("/sys/fs/cgroup/blkio", f"iopslab-bench-{os.getpid()}")
        self.cgroup.mkdir()

    def hold(self):
        number = os.stat(self.device).st_rdev
        for file in ["read_iops_device", "write_iops_device"]:
            text = f"{os.major(number)}:{os.minor(number)} {self.limit}"
            (self.cgroup / f"blkio.throttle.{file}").write_text(text)

    def end(self):
        run("umount", str(self.mount))
        run("losetup", "--detach", self.device)
        self.cgroup.rmdir()


def median(figures):
    return statistics.median(figures)


def shown(figures, digits=0):
    """`3,014 [3,010, 3,016]`."""
    told = [f"{f:,.{digits}f}" for f in [median(figures), min(figures), max(figures)]]
    return f"{told[0]} [{told[1]}, {told[2]}]" if len(figures) > 1 else told[0]


def types(place):
    seen = {name: [] for name, *_ in TYPES}
    for round_ in range(ROUNDS):
        for name, volume, arguments, size in TYPES:
            say(f"round {round_ + 1} of {ROUNDS}: {name}")
            served = Served(place, volume, arguments)
            try:
                directory = served.mount
                fio(directory, "lay", "--rw=write", "--bs=1m", "--iodepth=8", f"--size={size}", runtime=0)
                one = fio(directory, "one", "--rw=randread", "--bs=4k", "--iodepth=1", f"--size={size}")
                before = cpu_s(served.server)
                many = fio(directory, "many", "--rw=randread", "--bs=4k", "--iodepth=32", f"--size={size}")
                cpu = cpu_s(served.server) - before
                mix = fio(directory, "mix", "--rw=randrw", "--bs=4k", "--iodepth=32", f"--size={size}")
                bulk = fio(directory, "bulk", "--rw=read", "--bs=256k", "--iodepth=8", f"--size={size}")
                requests = many["read"]["total_ios"]
                seen[name].append({
                    "median": served.median_us, "iops": served.iops, "mib": served.mib_per_s,
                    "one": percentile_us(one, "50.000000"), "many": iops(many), "mix": iops(mix),
                    "bulk": mib_per_s(bulk), "cpu": cpu / requests * 1e6,
                })
            finally:
                served.end()
    print(f"fio, {RUNTIME} s each, {ROUNDS} rounds; medians [least, most]\n")
    print("| volume | p50 of one at a time, us: model; measured | IOPS at 32 in flight: limit; reads; 50/50 mix "
          "| MiB/s of 256 KiB reads: limit; measured | server's CPU, us a request |")
    print("|---|---|---|---|---|")
    for name, rounds in seen.items():
        of = lambda key: [r[key] for r in rounds]
        limit = lambda key: f"{rounds[0][key]:,.0f}" if rounds[0][key] else "none"
        print(f"| {name} | {limit('median')}; {shown(of('one'))} | {limit('iops')}; {shown(of('many'))}; {shown(of('mix'))} "
              f"| {limit('mib')}; {shown(of('bulk'))} | {shown(of('cpu'))} |")
    print()


def host_cpu_s():
    """CPU that all of the machine used, less what it waited."""
    fields = [int(f) for f in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICK


def beside_the_throttle(place):
    if not pathlib.Path("/sys/fs/cgroup/blkio").is_dir():
        print("The kernel's throttle was not measured: this machine has no cgroup v1 controller blkio.")
        return
    seen = {(rate, kind): [] for rate in RATES for kind in ["throttled", "served"]}
    for round_ in range(ROUNDS):
        for rate in RATES:
            for kind in ["throttled", "served"]:
                say(f"round {round_ + 1} of {ROUNDS}: {rate} IOPS, {kind}")
                if kind == "served":
                    arguments = ["--latency-us", "0", "--latency-sigma", "0"]
                    volume, cgroup = Served(place, f"io2:1000GiB:{rate}", arguments), None
                else:
                    volume = Throttled(place, rate)
                    cgroup = volume.cgroup
                try:
                    fio(volume.mount, "lay", "--rw=write", "--bs=1m", "--iodepth=8", "--size=512m", runtime=0)
                    if cgroup:
                        volume.hold()
                    before = host_cpu_s()
                    many = fio(volume.mount, "many", "--rw=randread", "--bs=4k", "--iodepth=32", "--size=512m", cgroup=cgroup)
                    cpu = host_cpu_s() - before
                    mix = fio(volume.mount, "mix", "--rw=randrw", "--bs=4k", "--iodepth=32", "--size=512m", cgroup=cgroup)
                    seen[rate, kind].append({
                        "many": iops(many), "mix": iops(mix), "p50": percentile_us(many, "50.000000") / 1e3,
                        "p99": percentile_us(many, "99.000000") / 1e3, "cpu": cpu / many["read"]["total_ios"] * 1e6,
                    })
                finally:
                    volume.end()
                    for left in ["t", "t.img"]:
                        path = pathlib.Path(place, left)
                        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    print("The same limit by the kernel's throttle and by a served volume without a time of its own: 4 KiB reads, 32 in flight. CPU is "
          "all that the machine used meanwhile, fio included.\n")
    print("| IOPS asked | | reads: IOPS | p50, p99 ms | 50/50 mix: IOPS | CPU, us a request |")
    print("|---|---|---|---|---|---|")
    for (rate, kind), rounds in seen.items():
        of = lambda key: [r[key] for r in rounds]
        print(f"| {rate:,} | {kind} | {shown(of('many'))} | {shown(of('p50'), 1)}; {shown(of('p99'), 1)} | {shown(of('mix'))} "
              f"| {shown(of('cpu'))} |")


def main():
    with tempfile.TemporaryDirectory(prefix="iopslab-bench-volumes-") as place:
        types(place)
        beside_the_throttle(place)


if __name__ == "__main__":
    main()
