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
  if timeout 3000 "$@" 2>&1 | tee /var/tmp/log; then
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

whole_run() {
  mkdir -p /root/.cache/iopslab /var/tmp/run
  cp -r /payload/cassandra /root/.cache/iopslab/
  cd /var/tmp/run || return 1
  /payload/iopslab doctor
  /payload/iopslab run /payload/tiny.toml --require-valid || return 1
  ls runs/*/report.html runs/*/trials/*/1/latency.hlog || return 1
  if losetup -l | grep -q iopslab || grep -q iopslab /proc/self/mountinfo || ls -d /sys/fs/cgroup/iopslab-* 2>/dev/null; then
    echo "left behind:"; losetup -l; grep iopslab /proc/self/mountinfo
    return 1
  fi
  echo "iopslab-story: one run, evidence complete, nothing left behind"
}
if [ "$part" = whole ]; then
  export -f whole_run
  story "a tiny whole run with Cassandra" bash -c whole_run
fi

if [ "$part" = zones ]; then
  # All at the places and with the times that they have outside: then what was kept for shorter starts is of use.
  IOPSLAB_CACHE=$(cat /payload/cache)
  export IOPSLAB_CACHE XDG_CACHE_HOME=${IOPSLAB_CACHE%/iopslab}
  java_home=$(cat /payload/java-home)
  mkdir -p "$IOPSLAB_CACHE" "$java_home"
  cp -a /payload/cassandra "$IOPSLAB_CACHE/"
  mount --bind /payload/java "$java_home"
  export JAVA_HOME=$java_home
  story "a run by SSH with latency between zones" bash /payload/zones.sh /payload/iopslab
  grep '^zones: ' /var/tmp/log | while read -r line; do say "$line"; done
fi

[ $failed = 0 ] && say "all passed"
sync
