#!/usr/bin/env python3
"""make test-kills: SIGKILL to a random process of a run, again and again; what is left on the machine, and what is lost.

scripts/kills.py [N]: N kills (200) of controller, database agent, client agent, volume server and database of small runs with
served volumes. After each: what can end by itself ends, sometimes `iopslab clean`, then `run --resume` where the run has ended.
Trials that were finished at a kill must be there at the end with the same bytes, `report --verify` must agree, and no process,
mount, loop device, cgroup, FUSE connection or file of the run may be left. Prints a table; exit 1 on anything left or lost.
Needs root, a Java, /dev/fuse, and a Cassandra in the cache (or the network).

  IOPSLAB=PATH    the program (target/quick/iopslab)
  SEED=7 FROM=1   choices of kill number K depend on SEED, VICTIMS and K alone: FROM=K repeats those from K on
  VICTIMS=A,B,... whom: "controller", "database agent", "client agent", "volume server", "database", each as often as it is named
  SECONDS_MAX=S   no kill is begun after so many seconds; the run under way is completed
  KILLS_WORK=DIR  where everything is (a new directory below target/); stays if anything is wrong
  KILLS_LOG=FILE  a line of JSON for each kill; the table tells of all lines in it
"""

import collections
import ctypes
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
IOPSLAB = str(pathlib.Path(os.environ.get("IOPSLAB", TARGET / "quick/iopslab")).absolute())
SEED = os.environ.get("SEED", "7")
EVERYBODY = ["controller", "database agent", "client agent", "volume server", "database"]
VICTIMS = os.environ.get("VICTIMS", ",".join(EVERYBODY)).split(",")
# So many kills at most in one run: it is completed after them.
KILLS_A_RUN = 8
# A run whose number is a multiple of this begins without a data set, and without what earlier starts of the database have learnt:
# kills hit these, too.
LOADS_EVERY = 5
# Whatever ends by itself after a kill has done so within this; a run that goes on shows it within the other.
END_S, GOES_ON_S = 60, 240

EXPERIMENT = """
name = "kills"

[dataset]
records = 4_000
fields = 10
field_length = 100

[[configuration]]
name = "one"
instance = { vcpus = 0.8, memory_gib = 16 }
data_volume = { iops = 500, mib_per_s = 100, size_gib = 1 }
memory_limit_gib = 2
settings = { jvm = ["-XX:TieredStopAtLevel=1"] }

[[configuration]]
name = "two"
instance = { vcpus = 0.8, memory_gib = 16 }
data_volume = { iops = 1500, mib_per_s = 100, size_gib = 1 }
commitlog_volume = { iops = 3000, mib_per_s = 100, size_gib = 1 }
memory_limit_gib = 2
settings = { jvm = ["-XX:TieredStopAtLevel=1"] }

[[workload]]
name = "mixed"
read = 0.5
update = 0.5

[load]
concurrency = [4]
warmup_s = 1
duration_s = 3
repetitions = 2

[provider.local]
volumes = "served"
heap_mib = 512
page_cache_mib = 64
"""


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    if not pathlib.Path(IOPSLAB).is_file():
        sys.exit(f"{IOPSLAB} is not there: cargo build --profile quick -p iopslab, or set IOPSLAB")
    if unknown := set(VICTIMS) - set(EVERYBODY):
        sys.exit(f"VICTIMS: no {', '.join(unknown)}: {', '.join(EVERYBODY)}")
    if os.geteuid() != 0:
        sys.exit("not running as root, which volumes and cgroups need")
    own_network()
    # As Ctrl-C: what was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if "KILLS_WORK" in os.environ:
        directory = pathlib.Path(os.environ["KILLS_WORK"])
    else:
        TARGET.mkdir(parents=True, exist_ok=True)
        directory = pathlib.Path(tempfile.mkdtemp(prefix="kills-", dir=TARGET))
    lab = Laboratory(directory)
    first = int(os.environ.get("FROM", "1"))
    until = time.monotonic() + float(os.environ.get("SECONDS_MAX", "inf"))
    print(f"seed {SEED}, kills {first} to {first + kills - 1}, in {lab.path}", flush=True)
    number, last, run_number = first, first + kills - 1, 0
    try:
        while number <= last and time.monotonic() < until:
            run_number += 1
            number = Run(lab, run_number).go(number, last, until)
    finally:
        lab.end_all()
    records = lab.records()
    table(records)
    is_bad = any(r["left"] or r["lost"] or r["wrong"] for r in records)
    if not is_bad and "KILLS_WORK" not in os.environ:
        shutil.rmtree(lab.path)
    sys.exit(1 if is_bad else 0)


def own_network():
    """A network namespace: a database that runs on this machine already has another 127.0.0.1:9042."""
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000) != 0:  # CLONE_NEWNET
        sys.exit(f"no network namespace of its own: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


class Laboratory:
    """Directories, and what the machine holds of them."""

    def __init__(self, path):
        path.mkdir(parents=True, exist_ok=True)
        self.path = path.resolve()
        self.work = self.path / "work"
        self.log = pathlib.Path(os.environ.get("KILLS_LOG", self.path / "kills.jsonl"))
        (self.path / "kills.toml").write_text(EXPERIMENT)
        self.cache = self.own_cache()
        own = {"IOPSLAB_WORK": self.work, "XDG_CONFIG_HOME": self.path / "none", "IOPSLAB_CACHE": self.path / "cache/iopslab"}
        self.environment = {**os.environ, **{name: str(path) for name, path in own.items()}}
        # Pid and start of every process of its runs that was ever seen.
        self.seen = {}
        # The same of those that have nothing to do with it.
        self.strangers = {}
        self.before = set(connections()), set(loops())

    def own_cache(self):
        """The files of the database that are in the cache of whoever called, if there are any."""
        kept = pathlib.Path(os.environ.get("IOPSLAB_CACHE", "/var/cache/iopslab")) / "cassandra"
        own = self.path / "cache/iopslab/cassandra"
        if kept.exists() and not own.exists():
            shutil.copytree(kept, own, ignore=shutil.ignore_patterns("start-*"))
        return own

    def forget(self):
        """Data set, class archive and row overhead are made anew."""
        self.iopslab("clean", "--snapshots")
        for path in self.cache.glob("start-*"):
            path.unlink()

    def iopslab(self, *arguments):
        ended = subprocess.run(
            [IOPSLAB, *arguments], cwd=self.path, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        return ended.returncode, ended.stdout, ended.stderr

    def look(self):
        """Notes every process that has its work directory in its environment; gives those that live, by pid."""
        mark = f"\0IOPSLAB_WORK={self.work}\0".encode()
        found = {}
        for pid in pids():
            stat = stat_of(pid)
            if not stat or stat[0] == "Z" or self.strangers.get(pid) == stat[2]:
                continue
            environment = read(f"/proc/{pid}/environ")
            if mark in b"\0" + environment + b"\0":
                found[pid] = stat
                self.seen[pid] = stat[2]
            elif environment or stat[1] in (0, 2):
                # One of ours that has only just begun may have no environment yet; a thread of the kernel never has one.
                self.strangers[pid] = stat[2]
        return found

    def left(self):
        """Everything of its runs that is on the machine; snapshots of data sets are meant to stay."""
        work = str(self.work)
        found = [f"process {pid} {name_of(pid)}" for pid in self.look()]
        mountinfo = read("/proc/self/mountinfo").decode()
        found += [f"mount {line.split()[4]} ({line.split(' - ')[1]})" for line in mountinfo.splitlines() if work in line]
        for device, backing in loops().items():
            # That of a mount which was taken away shows no path of a file.
            is_nowhere = backing == "/" or not os.path.isdir(os.path.dirname(backing))
            if work in backing or device not in self.before[1] and is_nowhere:
                found.append(f"loop device {device} of {backing}")
        # Not by Path.glob: it fails where a cgroup goes meanwhile.
        for above, groups, _ in os.walk("/sys/fs/cgroup"):
            for group in groups:
                pid = group.split("-")[1] if group.startswith("iopslab-") else ""
                if pid.isdigit() and int(pid) in self.seen:
                    found.append(f"cgroup {above}/{group}")
        mounted = {line.split()[2].split(":")[1] for line in mountinfo.splitlines() if " - fuse" in line}
        found += [f"FUSE connection {c}" for c in connections() - self.before[0] - mounted]
        ledger = read(self.work / "ledger.jsonl").decode()
        done = {json.loads(line)["done"] for line in ledger.splitlines() if line.startswith('{"done"')}
        for line in ledger.splitlines():
            if line.startswith('{"intend"') and line.endswith("}") and json.loads(line)["intend"]["id"] not in done:
                found.append(f"ledger entry {json.loads(line)['intend']['item']}")
        for pattern in ["runs/*", "loading/*", "*"]:
            kept = ["runs", "loading", "snapshots", "lock", "ledger.jsonl", "roots.json"]
            found += [f"file {path}" for path in self.work.glob(pattern) if path.name not in kept]
        return found + [f"file {path}" for path in self.cache.glob("start-archive-*")]

    def settle(self):
        """Waits until nothing is left, or nobody is there any more who would remove it; gives what is left then."""
        until, before, same_since = time.monotonic() + END_S, None, time.monotonic()
        while time.monotonic() < until:
            found = self.left()
            if not found:
                return []
            if found != before:
                before, same_since = found, time.monotonic()
            acts = any(" agent " in f or " run " in f for f in found)
            if not acts and time.monotonic() - same_since > 3:
                break
            time.sleep(0.2)
        return before

    def end_all(self):
        """What of its runs lives although it should not: nothing of it may outlive this program."""
        for pid in self.look():
            os.kill(pid, signal.SIGKILL)
        if self.work.exists():
            time.sleep(0.5)
            self.iopslab("clean")

    def records(self):
        return [json.loads(line) for line in read(self.log).decode().splitlines()]


class Run:
    """One run of the experiment, from its start to its last trial."""

    def __init__(self, lab, number):
        self.lab = lab
        self.number = number
        self.out = lab.path / f"out-{number}-{int(time.time())}"
        self.said = lab.path / f"run-{self.out.name[4:]}.stderr"
        self.child = None
        self.finished = {}
        self.records = []

    def directory(self):
        complete = [path.parent for path in self.out.glob("*/plan.json")]
        return complete[0] if complete else None

    def start(self):
        directory = self.directory()
        resumed = ["--resume", str(directory)] if directory else ["kills.toml", "--out", str(self.out)]
        # Counted from here: what is in place is to be found again.
        with open(self.said, "a") as said:
            said.write(f"--- {time.strftime('%H:%M:%S')} run {' '.join(resumed)}\n")
            said.flush()
            self.child = subprocess.Popen(
                [IOPSLAB, "run", *resumed],
                cwd=self.lab.path,
                env=self.lab.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
            )

    def go(self, number, last, until):
        """Kills from `number` on; gives the number of the next one."""
        if self.number % LOADS_EVERY == 0:
            self.lab.forget()
        begun = number
        self.start()
        while number <= last and number - begun < KILLS_A_RUN and time.monotonic() < until:
            record = self.kill(number)
            if record is None:
                break
            self.records.append(record)
            number += 1
            print(told(record), flush=True)
            if self.child.returncode is not None and not self.is_complete():
                self.start()
        wrong = self.complete()
        lost = self.lost()
        left = self.lab.settle()
        if self.records:
            # Found at the end of the run: it may be any of its kills.
            at_end = self.records[-1]
            at_end["lost"] += lost
            at_end["wrong"] += wrong
            at_end["left"] += left
        elif wrong or left or lost:
            self.records.append({"number": number, "victim": "none", "went": "went on", "left": left, "lost": lost, "wrong": wrong})
        with open(self.lab.log, "a") as log:
            for record in self.records:
                log.write(json.dumps(record) + "\n")
        for what in wrong + lost + left:
            print(f"  run {self.number}: {what}", flush=True)
        print(f"  run {self.number} is complete: {self.summary()}", flush=True)
        if left:
            self.lab.iopslab("clean")
        return number

    def kill(self, number):
        """Waits for a random moment of a random victim, ends it, and sees what comes of it; `None` if the run was faster."""
        choices = random.Random(f"{SEED}/{number}")
        # Every block has each victim once.
        order = VICTIMS[:]
        block, place = divmod(number - 1, len(order))
        random.Random(f"{SEED}/block/{block}").shuffle(order)
        victim = order[place]
        is_long = victim not in ("volume server", "database")
        delay_s = choices.uniform(0, 1) if choices.random() < 0.3 else choices.uniform(0, 30 if is_long else 12)
        cleans = choices.random() < 0.5
        pid, since = None, time.monotonic()
        while True:
            if self.child.poll() is not None:
                return None
            found = self.victim(victim)
            if found != pid:
                # The next one of its kind: what it still waits for is shorter, so that it is met.
                delay_s = delay_s if pid is None else delay_s / 2
                pid, since = found, time.monotonic()
            if pid and time.monotonic() - since >= delay_s:
                break
            time.sleep(0.02 if delay_s < 1 else 0.05)
        self.finished.update(self.hashes())
        events = len(self.journal())
        stage = self.stage()
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return self.kill(number)
        record = {"seed": SEED, "number": number, "victim": victim, "after_s": round(delay_s, 2), "stage": stage}
        record.update(self.what_became(events))
        record.update({"left": [], "lost": [], "wrong": record["wrong"], "cleaned": False, "remained": []})
        if self.child.returncode is not None and self.child.returncode != 0:
            record["remained"] = self.lab.settle()
            if record["remained"] and cleans:
                record["cleaned"] = True
                code, out, err = self.lab.iopslab("clean")
                record["left"] = self.lab.settle()
                if code != 0:
                    record["wrong"].append(f"clean ended with {code}: {out}{err}")
            # A killed controller's agents undo everything by themselves.
            if victim == "controller":
                record["left"] += record["remained"]
        return record

    def what_became(self, events):
        """The run ends, or does something that it writes down."""
        began = time.monotonic()
        while time.monotonic() - began < GOES_ON_S:
            self.lab.look()
            if self.child.poll() is not None:
                code = self.child.returncode
                went = "went on" if code == 0 else "needed resume"
                return {"went": went, "code": code, "seconds": round(time.monotonic() - began, 1), "said": self.last_words(), "wrong": []}
            since = [event for event in self.journal()[events:] if event["event"].startswith("trial_")]
            if since:
                seconds = round(time.monotonic() - began, 1)
                return {"went": "went on", "code": None, "seconds": seconds, "said": self.of_trial(since[0]), "wrong": []}
            time.sleep(0.1)
        self.lab.end_all()
        self.child.wait()
        return {"went": "hung", "code": None, "seconds": GOES_ON_S, "said": self.last_words(), "wrong": ["the run hung"]}

    def of_trial(self, event):
        """What a trial came to, in words."""
        record = read(self.directory() / "trials" / event["cell"] / str(event["block"]) / "trial.json")
        record = json.loads(record) if record else {}
        return f"{event['event']}: {record.get('status')} {record.get('cause', '')}: {record.get('reason', '')[:250]}"

    def wait(self):
        """For its end; `False` where that does not come."""
        until = time.monotonic() + GOES_ON_S
        while self.child.poll() is None and time.monotonic() < until:
            self.lab.look()
            time.sleep(0.1)
        return self.child.poll() is not None

    def complete(self):
        """Carries the run to its end without kills; gives what is wrong with it."""
        for _ in range(5):
            if not self.wait():
                self.lab.end_all()
                self.child.wait()
                return ["the run hung"]
            if self.is_complete() and self.child.returncode == 0:
                break
            self.lab.settle()
            self.start()
        else:
            return [f"not complete after 5 resumes without a kill: {self.last_words()}"]
        wrong = []
        directory = self.directory()
        code, out, err = self.lab.iopslab("report", str(directory), "--verify")
        if code != 0:
            wrong.append(f"report --verify: {out[-300:]}{err[-300:]}")
        journaled = collections.Counter()
        validity = {}
        for event in self.journal():
            at = f"{event.get('cell')}/{event.get('block')}"
            if event["event"] == "trial_done":
                journaled[at] += 1
                validity[at] = event["valid"]
            elif event["event"] == "trial_set_aside":
                journaled[at] -= 1
        in_place = {str(path.parent.relative_to(directory / "trials")) for path in directory.glob("trials/*/*/trial.json")}
        if {at for at, times in journaled.items() if times} != in_place or set(journaled.values()) - {0, 1}:
            wrong.append(f"the journal has {dict(journaled)}, in place are {sorted(in_place)}")
        for at in sorted(in_place):
            record = json.loads(read(directory / "trials" / at / "trial.json"))
            is_valid = record["status"] == "valid"
            if is_valid != validity.get(at):
                wrong.append(f"{at} is {record['status']}, the journal says valid: {validity.get(at)}")
            if not is_valid and not record.get("reason"):
                wrong.append(f"{at} is {record['status']} without a reason")
        if list((directory / ".aside").glob("*")):
            wrong.append("something lies aside")
        return wrong

    def lost(self):
        """Finished trials that are not what they were. What is done again was set aside, with its bytes."""
        now = self.hashes()
        kept = {hashes for hashes in self.hashes("set-aside").values()}
        return [f"trial {at} was lost" for at, was in self.finished.items() if now.get(at) != was and was not in kept]

    def hashes(self, below="trials"):
        """By trial: name and SHA-256 of each file."""
        directory = self.directory()
        found = {}
        for trial in directory.glob(f"{below}/*/*") if directory else []:
            files = sorted(path for path in trial.rglob("*") if path.is_file())
            hashed = tuple((path.name, hashlib.sha256(read(path)).hexdigest()) for path in files)
            found[str(trial.relative_to(directory / below))] = hashed
        return found

    def journal(self):
        directory = self.directory()
        lines = read(directory / "journal.jsonl").decode().split("\n")[:-1] if directory else []
        return [json.loads(line) for line in lines]

    def is_complete(self):
        return len(self.hashes()) == 4

    def stage(self):
        lines = [line for line in read(self.said).decode().splitlines() if line.strip()]
        return lines[-1][:100] if lines else ""

    def last_words(self):
        lines = [line.strip() for line in read(self.said).decode().splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("error")]
        return (errors or lines or [""])[-1][:300]

    def summary(self):
        directory = self.directory()
        records = [json.loads(read(path)) for path in directory.glob("trials/*/*/trial.json")] if directory else []
        valid = sum(record["status"] == "valid" for record in records)
        return f"{valid} trials valid, {len(records) - valid} invalid"

    def victim(self, kind):
        """Its pid, if there is one now: the controller or a process below it."""
        if kind == "controller":
            self.lab.look()
            return self.child.pid
        below = {self.child.pid}
        processes = self.lab.look()
        grown = True
        while grown:
            more = {pid for pid, stat in processes.items() if stat[1] in below} - below
            below |= more
            grown = bool(more)
        words = {
            "database agent": "agent --role database",
            "client agent": "agent --role client",
            "volume server": " volume-server",
            "database": "CassandraDaemon",
        }
        fit = [pid for pid in sorted(below) if words[kind] in name_of(pid, whole=True)]
        # `chrt` becomes the server; a database's launcher becomes Java.
        fit = [pid for pid in fit if "chrt" not in name_of(pid, whole=True)[:20]]
        return fit[0] if fit else None


def read(path):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def stat_of(pid):
    """State, parent and start of a process."""
    fields = read(f"/proc/{pid}/stat").decode(errors="replace").rpartition(")")[2].split()
    return (fields[0], int(fields[1]), int(fields[19])) if len(fields) > 19 else None


def name_of(pid, whole=False):
    line = read(f"/proc/{pid}/cmdline").decode(errors="replace").replace("\0", " ")
    return line if whole else line.rpartition("/")[2][:60] if line.startswith(IOPSLAB) else line[:60]


def loops():
    found = {}
    for device in pathlib.Path("/sys/block").glob("loop*"):
        backing = read(device / "loop/backing_file").decode().strip()
        if backing:
            found[device.name] = backing
    return found


def control_files():
    """The control file system of FUSE, mounted nowhere (fsopen(2), fsmount(2)): /sys/fs/fuse/connections is not mounted everywhere."""
    system = ctypes.CDLL(None, use_errno=True).syscall
    made = system(430, b"fusectl", 0)
    if made < 0 or system(431, made, 6, None, None, 0) < 0:
        sys.exit(f"no control file system of FUSE: {os.strerror(ctypes.get_errno())}")
    return os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=system(432, made, 0, 0))


def connections(control=[]):
    """Numbers of FUSE connections."""
    if not control:
        control.append(control_files())
    return {name for name in os.listdir(control[0]) if name.isdigit()}


def told(record):
    ended = f"ended with {record['code']}" if record["code"] else record["went"]
    remained = f", {len(record['remained'])} things until the next start" if record["remained"] else ""
    cleaned = ", cleaned" if record["cleaned"] else ""
    bad = "".join(f"\n  LEFT {what}" for what in record["left"]) + "".join(f"\n  WRONG {what}" for what in record["wrong"])
    at = f"at \"{record['stage']}\" after {record['after_s']} s"
    said = f"\n       {record['said']}" if record["said"] else ""
    return f"{record['number']:4} {record['victim']:15} {at}: {ended} in {record['seconds']} s{remained}{cleaned}{said}{bad}"


def table(records):
    print("\n| victim | kills | run went on | needed resume | needed clean or the next start | left | lost |")
    print("|---|---|---|---|---|---|---|")
    for victim in EVERYBODY + ["none"]:
        of = [record for record in records if record["victim"] == victim]
        if of:
            went = collections.Counter(record["went"] for record in of)
            remained = sum(bool(record.get("remained")) for record in of)
            left, lost = (sum(len(record[what]) for record in of) for what in ("left", "lost"))
            print(f"| {victim} | {len(of)} | {went['went on']} | {went['needed resume']} | {remained} | {left} | {lost} |")
    for record in records:
        for what in record["left"] + record["lost"] + record["wrong"]:
            print(f"seed {record.get('seed')}, kill {record['number']} of {record['victim']}: {what}")


main()
