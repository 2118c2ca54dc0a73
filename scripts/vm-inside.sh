#!/usr/bin/env bash
# Inside the machine of scripts/vm.sh: runs every story and says how it went, on lines that begin with "vm: ".
set -uo pipefail
failed=0
say() { printf 'vm: %s\n' "$*"; }

say "kernel $(uname -r), cgroup v2 controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
modprobe -a loop xfs 2>/dev/null
export HOME=/root IOPSLAB_EMULATED_CPUS=1
mkdir -p "$(cat /payload/scratch)"

# A program, its log, and what it printed at the end where it failed; figures are told where it did not.
story() {
  local name=$1 began=$SECONDS
  shift
  if timeout 2400 "$@" 2>&1 | tee /var/tmp/log; then
    say "ok      $name ($((SECONDS - began)) s): $(grep -E '^test result|^iopslab-story' /var/tmp/log | tail -1)"
    grep -oE '(figures|zones|mix|[0-9]+ % reads): .*' /var/tmp/log | while read -r line; do say "        $line"; done
  else
    say "FAILED  $name ($((SECONDS - began)) s)"
    tail -60 /var/tmp/log
    failed=1
  fi
}

# A program of stories, all or those of a word, of which at least one is to run.
program() {
  story "$1" "${@:2}" --nocapture --test-threads=1
  grep -qE '^test result: ok\. [1-9]' /var/tmp/log || { say "FAILED  $1: no story was run"; failed=1; }
}

part=$(sed -n 's/.*iopslab\.part=\([a-z]*\).*/\1/p' /proc/cmdline)

# Those of served volumes are of the part `volumes`, those of arrays of the part `arrays`.
for program in /payload/tests/*; do
  name=$(basename "$program" | sed 's/-[0-9a-f]*$//')
  case "$part $name" in
    'volumes served' | 'arrays arrays') program "$name" "$program" ;;
    'arrays served') program "$name" "$program" array ;;
    'stories served' | 'stories arrays') ;;
    stories*) program "$name" "$program" ;;
  esac
done

# All at the places and with the times that they have outside: then what was kept for shorter starts is of use.
prepare_cassandra() {
  IOPSLAB_CACHE=$(cat /payload/cache)
  export IOPSLAB_CACHE
  java_home=$(cat /payload/java-home)
  mkdir -p "$IOPSLAB_CACHE" "$java_home"
  cp -a /payload/cassandra "$IOPSLAB_CACHE/"
  mount --bind /payload/java "$java_home"
  JAVA_HOME=$(JAVA_HOME=$java_home /payload/java-for-tests.sh)
  export JAVA_HOME
}

nothing_is_left() {
  local mounts
  # The Java is ours.
  mounts=$(grep iopslab /proc/self/mountinfo | grep -v ' /java ')
  if pgrep -af 'iopslab (agent|volume)' || losetup -l | grep iopslab || [ -n "$mounts" ] || grep '^md' /proc/mdstat 2>/dev/null || ls -d /sys/fs/cgroup/iopslab-* 2>/dev/null; then
    echo "left behind: $mounts"
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

# A served volume for any program: random 4 KiB, half of them reads, at most its limit and at least half of that.
by_hand() {
  local limit=200 server i sum
  /payload/iopslab volume gp3:10GiB:3000 --scale $((3000 / limit)) --mount /mnt/v >/var/tmp/volume 2>&1 &
  server=$!
  for ((i = 0; i < 120; i++)); do mountpoint -q /mnt/v && grep -q Ctrl-C /var/tmp/volume && break; sleep 1; done
  for mix in 100 50 0; do
    sum=$(fio --name=mix --filename=/mnt/v/mix --size=16m --rw=randrw --rwmixread=$mix --bs=4k --direct=1 --ioengine=libaio \
      --iodepth=16 --time_based --ramp_time=2 --runtime=8 --norandommap --minimal | awk -F';' '{ printf "%d", $8 + $49 }')
    echo "figures: a served volume of $limit IOPS, $mix % reads: $sum I/Os a second"
    if [ "$sum" -gt $((limit * 21 / 20)) ] || [ "$sum" -lt $((limit / 2)) ]; then echo "that is not its limit"; return 1; fi
  done
  kill -INT $server && wait $server || return 1
  cat /var/tmp/volume
  echo "figures: $(grep ' reads (' /var/tmp/volume)"
  ! mountpoint -q /mnt/v && nothing_is_left || return 1
  echo "iopslab-story: a volume by hand holds its limit, and nothing is left of it"
}

# First without the device, then with the device and without the module behind it.
without_fuse() {
  local kind told
  # Its control file system holds it.
  umount /sys/fs/fuse/connections 2>/dev/null
  modprobe -r fuse || return 1
  echo 'install fuse /bin/false' >/etc/modprobe.d/no-fuse.conf
  for kind in device module; do
    rm -f /dev/fuse
    [ $kind = device ] || mknod /dev/fuse c 10 229
    refused /payload/iopslab volume gp3:10GiB --mount /var/tmp/no-volume || return 1
    refused /payload/iopslab run /payload/served.toml --out /var/tmp/no-run || return 1
    grep -q 'volumes = "throttled"' /var/tmp/refused || return 1
    if [ -e /var/tmp/no-volume ] || [ -e /var/tmp/no-run ]; then echo "something was begun"; return 1; fi
    told=$(/payload/iopslab doctor 2>&1 | grep 'served volumes')
    echo "$told"
    [[ $told == *'not here'* ]] || return 1
  done
  rm -f /etc/modprobe.d/no-fuse.conf /dev/fuse
  modprobe fuse || return 1
  [ -e /dev/fuse ] || mknod /dev/fuse c 10 229
  nothing_is_left || return 1
  echo "iopslab-story: without /dev/fuse, and without its module, volumes are refused before anything is made"
}

refused() {
  local code=0
  "$@" >/var/tmp/refused 2>&1 || code=$?
  cat /var/tmp/refused
  [ $code = 1 ] && grep -q 'volumes cannot be served: /dev/fuse' /var/tmp/refused
}

if [ "$part" = volumes ]; then
  export -f by_hand without_fuse refused nothing_is_left
  story "a served volume by hand" bash -c by_hand
  story "a machine without FUSE" bash -c without_fuse
fi

# The volumes of a configuration as one RAID 0, two of 100 IOPS: what it does, and that nothing stays of one whose maker is killed.
array_of_volumes() {
  local program iops
  export IOPSLAB_WORK=/var/tmp/array/work
  mkdir -p /var/tmp/array
  cd /var/tmp/array || return 1
  /payload/iopslab doctor 2>&1 | grep 'RAID 0 of volumes' | grep 'the md driver' || return 1
  /payload/iopslab probe /payload/raid.toml --seconds 2 --size-mib 32 --format json >probe.json || return 1
  cat probe.json
  iops=$(sed -n 's/.*"read_iops_4kib": \([0-9]*\).*/\1/p' probe.json | head -1)
  echo "figures: a RAID 0 of two served volumes of 100 IOPS: $iops reads a second"
  if [ "$iops" -lt 140 ] || [ "$iops" -gt 210 ]; then echo "that is not what both may do"; return 1; fi
  nothing_is_left || return 1

  /payload/iopslab probe /payload/raid.toml --seconds 5 >probe.txt 2>&1 &
  program=$!
  for ((i = 0; i < 120; i++)); do grep -q 'md9.* xfs ' /proc/self/mounts && break; sleep 1; done
  grep 'md9.* xfs ' /proc/self/mounts || { cat probe.txt; return 1; }
  sleep 2
  kill -9 $program
  wait $program
  grep '^md' /proc/mdstat || { echo "it is gone with its maker"; return 1; }
  /payload/iopslab clean || return 1
  nothing_is_left || return 1
  echo "iopslab-story: an array does what its members may, and nothing is left of one whose maker was killed"
}

if [ "$part" = arrays ]; then
  export -f array_of_volumes nothing_is_left
  story "the volumes of a configuration as one array" bash -c array_of_volumes
fi

# A tiny run on a RAID 0 of two served volumes, one of which is slow for a while.
raid_run() {
  local run
  mkdir -p /var/tmp/run
  cd /var/tmp/run || return 1
  /payload/iopslab run /payload/raid.toml --out raid --require-valid || return 1
  run=$(echo raid/*)
  cat "$run/report.md"
  grep -q '"array": *"md9' "$run"/trials/*/1/trial.json || return 1
  grep -q 'RAID 0, chunks of 256 KiB' "$run/report.md" || return 1
  if grep -q fault_not_as_planned "$run/analysis.json"; then echo "the fault was not as planned"; return 1; fi
  nothing_is_left || return 1
  grep '^| two .* | data' "$run/report.md" | while read -r line; do echo "figures: $line"; done
  echo "iopslab-story: one run on a RAID 0 of which a member was slow, evidence complete, nothing left behind"
}

if [ "$part" = raid ]; then
  prepare_cassandra
  export -f raid_run nothing_is_left
  story "a tiny run on a RAID 0" bash -c raid_run
fi

# The tiny run on a served volume that stalls for a while.
served_run() {
  local run
  mkdir -p /var/tmp/run
  cd /var/tmp/run || return 1
  /payload/iopslab run /payload/served.toml --out served --require-valid || return 1
  run=$(echo served/*)
  grep -q 'When a disk failed' "$run/report.md" || return 1
  cat "$run/report.md"
  if grep -q fault_not_as_planned "$run/analysis.json"; then echo "the fault was not as planned"; return 1; fi
  nothing_is_left || return 1
  echo "figures: p50 of reads on served volumes: $(figure served read_p50_us) us"
  echo "iopslab-story: one run on a served volume that stalled, evidence complete, nothing left behind"
}

if [ "$part" = served ]; then
  prepare_cassandra
  export -f served_run nothing_is_left figure
  story "a tiny run on a served volume" bash -c served_run
fi

if [ "$part" = whole ]; then
  prepare_cassandra
  export -f whole_run far_client nothing_is_left figure
  story "a tiny whole run with Cassandra" bash -c whole_run
  story "the same with a client in another zone" bash -c far_client
fi

[ $failed = 0 ] && say "all passed"
sync
