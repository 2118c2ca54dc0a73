#!/usr/bin/env bash
# Inside the machine of scripts/vm.sh: runs every story and says how it went, on lines that begin with "vm: ".
set -uo pipefail
failed=0
say() { printf 'vm: %s\n' "$*"; }

say "kernel $(uname -r), cgroup v2 controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
modprobe -a loop xfs 2>/dev/null
export HOME=/root
mkdir -p "$(cat /payload/scratch)"

# A program, its log, and what it printed at the end where it failed.
story() {
  local name=$1 began=$SECONDS
  shift
  if timeout 2400 "$@" 2>&1 | tee /var/tmp/log; then
    say "ok      $name ($((SECONDS - began)) s): $(grep -E '^test result|^iopslab-story' /var/tmp/log | tail -1)"
  else
    say "FAILED  $name ($((SECONDS - began)) s)"
    tail -60 /var/tmp/log
    failed=1
  fi
}

part=$(sed -n 's/.*iopslab\.part=\([a-z]*\).*/\1/p' /proc/cmdline)

if [ "$part" = stories ]; then
  for program in /payload/tests/*; do
    story "$(basename "$program" | sed 's/-[0-9a-f]*$//')" "$program" --test-threads 1
  done
fi

# All at the places and with the times that they have outside: then what was kept for shorter starts is of use.
prepare_cassandra() {
  IOPSLAB_CACHE=$(cat /payload/cache)
  export IOPSLAB_CACHE XDG_CACHE_HOME=${IOPSLAB_CACHE%/iopslab}
  java_home=$(cat /payload/java-home)
  mkdir -p "$IOPSLAB_CACHE" "$java_home"
  cp -a /payload/cassandra "$IOPSLAB_CACHE/"
  mount --bind /payload/java "$java_home"
  JAVA_HOME=$(JAVA_HOME=$java_home /payload/java-for-tests.sh)
  export JAVA_HOME
}

nothing_is_left() {
  if losetup -l | grep -q iopslab || grep -q iopslab /proc/self/mountinfo || ls -d /sys/fs/cgroup/iopslab-* 2>/dev/null; then
    echo "left behind:"; losetup -l; grep iopslab /proc/self/mountinfo
    return 1
  fi
}

whole_run() {
  mkdir -p /var/tmp/run
  cd /var/tmp/run || return 1
  /payload/iopslab doctor
  /payload/iopslab run /payload/tiny.toml --out near --require-valid || return 1
  ls near/*/report.html near/*/trials/*/1/latency.hlog || return 1
  nothing_is_left || return 1
  echo "iopslab-story: one run, evidence complete, nothing left behind"
}

# The same run from its snapshot, with a client in another zone: netem delays all that goes over loopback. One request is in
# flight at a time, so that a read takes what it took before, and the round trip. Much for zones, because a read takes 0.1 s
# and more where CPUs are emulated; not more, because a node must be connected to within a second.
far_client() {
  local one_way_ms=200 near far r_us kind
  r_us=$((2 * one_way_ms * 1000))
  cd /var/tmp/run || return 1
  modprobe sch_netem
  tc qdisc add dev lo root netem delay ${one_way_ms}ms limit 10000 || return 1
  /payload/iopslab run /payload/tiny.toml --out far --require-valid || return 1
  tc qdisc del dev lo root
  nothing_is_left || return 1
  for kind in read update; do
    near=$(figure near "${kind}_p50_us") && far=$(figure far "${kind}_p50_us") || return 1
    echo "zones: p50 of $kind: $near us in the same zone, $far us with a round trip of $r_us us between client and node"
    if [ "$far" -lt $r_us ]; then echo "less than the network alone takes"; return 1; fi
    if [ $((far - near)) -lt $((r_us * 7 / 10)) ] || [ $((far - near)) -gt $((r_us * 2)) ]; then
      echo "the difference is not the round trip"; return 1
    fi
  done
  echo "iopslab-story: a client $((2 * one_way_ms)) ms away waits as much longer"
}

# The figure of the only configuration in a column of a run's summary.csv, us.
figure() {
  awk -F, -v column="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; if (!(column in at)) exit 1 }
    NR == 2 { printf "%d\n", $at[column] }' "$1"/*/summary.csv
}

if [ "$part" = whole ]; then
  prepare_cassandra
  export -f whole_run far_client nothing_is_left figure
  story "a tiny whole run with Cassandra" bash -c whole_run
  story "the same with a client in another zone" bash -c far_client
  grep '^zones: ' /var/tmp/log | while read -r line; do say "$line"; done
fi

[ $failed = 0 ] && say "all passed"
sync
