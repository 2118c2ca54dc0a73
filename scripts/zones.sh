#!/usr/bin/env bash
# What latency between zones does to a run by SSH, and whether iopslab tells it. About 4 minutes on two cores.
#
#   sudo scripts/zones.sh IOPSLAB     with this program; its Cassandra must be in /var/cache/iopslab
#
#   zone a: controller, load1, db1       zone b: db2
#
# Hosts are network namespaces with an address and an sshd each. A zone is a bridge. On the link between the two netem delays
# each packet by ONE_WAY_MS in each direction; on a kernel without netem a relay does (zones-relay.py). Two replicas, one in
# each zone. The client is token-aware and knows no zones: half of its requests go to either node. With R as the round trip
# between the zones:
#
#   ONE   by db1: 0                      by db2: R, from the client to db2
#   ALL   by db1: R, from db1 to db2     by db2: 2 R, one more for the client
#
# What else a request takes comes on top, so these are lower bounds. Means differ by R.
set -euo pipefail
ONE_WAY_MS=50
ROUND_TRIP_MS=$((2 * ONE_WAY_MS))
# As in zones.toml.
PLACE=/var/tmp/zones
SCRIPTS=$(cd "$(dirname "$0")" && pwd)
PROGRAM=$(readlink -f "${1:?the program: scripts/zones.sh IOPSLAB}")
declare -A ADDRESS=([ctl]=10.99.0.1 [load1]=10.99.0.21 [db1]=10.99.0.11 [db2]=10.99.0.12)
declare -A ZONE=([ctl]=a [load1]=a [db1]=a [db2]=b)

fail() { echo "error: $*"; exit 1; }
within() { local host=$1; shift; ip netns exec "zones-$host" "$@"; }

clean() {
  local status=$? name pids
  for name in "${!ADDRESS[@]}" a b; do
    pids=$(ip netns pids "zones-$name" 2>/dev/null || true)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill $pids 2>/dev/null || true
    ip netns del "zones-$name" 2>/dev/null || true
  done
  [ -z "${relay:-}" ] || kill "$relay" 2>/dev/null || true
  wait
  if [ $status = 0 ]; then rm -rf "$PLACE"; else echo "kept: $PLACE"; fi
}

make_network() {
  local zone host how
  for zone in a b; do
    ip netns add "zones-$zone"
    ip -n "zones-$zone" link add br0 type bridge
    ip -n "zones-$zone" link set br0 up
  done
  ip -n zones-a link add far type veth peer name far netns zones-b
  modprobe -a veth bridge sch_netem 2>/dev/null || true
  how=netem
  for zone in a b; do
    tc -n "zones-$zone" qdisc add dev far root netem delay "${ONE_WAY_MS}ms" limit 10000 2>/dev/null || how=relay
  done
  if [ $how = relay ]; then
    ip -n zones-a link del far
    python3 "$SCRIPTS/zones-relay.py" $ONE_WAY_MS zones-a zones-b >"$PLACE/relay.log" 2>&1 &
    relay=$!
    for _ in $(seq 50); do grep -q up "$PLACE/relay.log" && break; sleep 0.1; done
  fi
  for zone in a b; do ip -n "zones-$zone" link set far master br0 up; done
  echo "zones: delayed by $how, $ONE_WAY_MS ms each way"
  for host in "${!ADDRESS[@]}"; do
    zone=zones-${ZONE[$host]}
    ip netns add "zones-$host"
    ip -n "$zone" link add "$host" type veth peer name eth0 netns "zones-$host"
    ip -n "$zone" link set "$host" master br0 up
    ip -n "zones-$host" link set lo up
    ip -n "zones-$host" addr add "${ADDRESS[$host]}/24" dev eth0
    ip -n "zones-$host" link set eth0 up
  done
}

make_hosts() {
  local host own
  mkdir -p /run/sshd
  ssh-keygen -q -t ed25519 -N '' -f "$PLACE/id"
  printf 'User root\nIdentityFile %s/id\nIdentitiesOnly yes\nUserKnownHostsFile %s/known_hosts\n' "$PLACE" "$PLACE" \
    >"$PLACE/ssh_config"
  for host in load1 db1 db2; do
    own=$PLACE/$host
    mkdir -p "$own/cache" "$own/data"
    ssh-keygen -q -t ed25519 -N '' -f "$own/host_key"
    echo "${ADDRESS[$host]} $(cat "$own/host_key.pub")" >>"$PLACE/known_hosts"
    printf 'Host %s\n  HostName %s\n' "$host" "${ADDRESS[$host]}" >>"$PLACE/ssh_config"
    printf '%s\n' "ListenAddress ${ADDRESS[$host]}" "HostKey $own/host_key" "AuthorizedKeysFile $PLACE/id.pub" \
      'PidFile none' 'UsePAM no' 'StrictModes no' 'PermitRootLogin yes' 'PasswordAuthentication no' 'LoginGraceTime 600' \
      "SetEnv XDG_CACHE_HOME=$own/cache IOPSLAB_CACHE=$IOPSLAB_CACHE IOPSLAB_MACHINE_LOCK=$own/lock/measuring JAVA_HOME=$JAVA_HOME" >"$own/sshd_config"
    within "$host" /usr/sbin/sshd -D -e -f "$own/sshd_config" 2>"$own/sshd.log" &
  done
}

# The shortest of five round trips from the controller, in ms: a TCP connection is there after one.
# shellcheck disable=SC2016
round_trip_ms() {
  within ctl bash -c '
    best=1000000
    for _ in 1 2 3 4 5; do
      began=${EPOCHREALTIME/./}
      exec 3<>"/dev/tcp/$0/22" || exit 1
      took=$((${EPOCHREALTIME/./} - began))
      exec 3>&-
      [ $took -ge $best ] || best=$took
    done
    echo $((best / 1000))' "$1"
}

# The figure of a configuration in a column of summary.csv, µs.
figure() {
  awk -F, -v configuration="$1" -v column="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; if (!(column in at) || !("configuration" in at)) exit 1 }
    NR > 1 && $at["configuration"] == configuration { printf "%d\n", $at[column]; found = 1 }
    END { exit !found }' "$summary"
}

at_least() {
  [ "$2" -ge "$3" ] || fail "$1 is $2 us: less than the $3 us that the network alone takes"
}

[ "$(id -u)" = 0 ] || fail "needs root: sudo scripts/zones.sh IOPSLAB"
[ ! -e "$PLACE" ] || fail "$PLACE is there: of another run, or kept of one that failed; remove it"
export IOPSLAB_CACHE=${IOPSLAB_CACHE:-/var/cache/iopslab}
[ -d "$IOPSLAB_CACHE/cassandra" ] || fail "no Cassandra in $IOPSLAB_CACHE; run once: iopslab db start && iopslab db stop"
JAVA_HOME=$("$SCRIPTS/java-for-tests.sh")
export JAVA_HOME
trap clean EXIT
mkdir -p "$PLACE"
make_network
make_hosts
for _ in $(seq 60); do within ctl ssh -F "$PLACE/ssh_config" -o BatchMode=yes db2 true && break; sleep 1; done
near=$(round_trip_ms "${ADDRESS[db1]}")
far=$(round_trip_ms "${ADDRESS[db2]}")
echo "zones: the network alone: $near ms to db1 and back, $far ms to db2"
[ "$far" -ge $ROUND_TRIP_MS ] || fail "netem does not delay"
[ "$near" -lt $ROUND_TRIP_MS ] || fail "what is near is as far as the other zone"

cp "$SCRIPTS/zones.toml" "$PLACE/"
cd "$PLACE"
within ctl "$PROGRAM" run zones.toml --provider hosts --require-valid 2>&1 | tee run.log
summary=$(echo runs/*/summary.csv)
r=$((ROUND_TRIP_MS * 1000))
for kind in read update; do
  for configuration in one all; do
    printf 'zones: %s at %s:' "$kind" "$configuration"
    for of in mean p50 p95 p99; do printf ' %s %d us' $of "$(figure $configuration "${kind}_${of}_us")"; done
    echo
  done
  at_least "p95 of $kind at ONE" "$(figure one "${kind}_p95_us")" $r
  at_least "p50 of $kind at ALL" "$(figure all "${kind}_p50_us")" $r
  at_least "p95 of $kind at ALL" "$(figure all "${kind}_p95_us")" $((2 * r))
done
# Routes are drawn by lot for each request: 0.7 leaves room for that. The upper bound is for work that ALL does besides.
more=$(($(figure all read_mean_us) - $(figure one read_mean_us)))
echo "zones: ALL takes $more us more than ONE in the mean of reads; the round trip is $r us"
[ $more -ge $((r * 7 / 10)) ] || fail "ALL takes less than a round trip more than ONE"
[ $more -le $((r * 3)) ] || fail "ALL takes more than three round trips more than ONE"
# What the controller sees of the clock of db2 is as far away, and the clock is the same: all of them share one.
clocks=$(tr -d ' \n' <"$(echo runs/*/trials/all.*/1/trial.json)" | grep -o '"database-2":{"start":{"offset_ms":[^}]*}' | head -1)
[[ $clocks =~ offset_ms\":(-?[0-9]+)[^,]*,\"round_trip_ms\":([0-9]+) ]] || fail "no clock of database-2 in trial.json"
echo "zones: the clock of db2: round trip ${BASH_REMATCH[2]} ms, offset ${BASH_REMATCH[1]} ms"
[ "${BASH_REMATCH[2]}" -ge $ROUND_TRIP_MS ] || fail "the clock of db2 was read in less than a round trip"
[ "${BASH_REMATCH[1]#-}" -lt $ONE_WAY_MS ] || fail "the clock of db2 is told to be off, and is the same"
left=$(find "$PLACE"/db*/work/runs "$PLACE"/db*/data/iopslab -mindepth 1 2>/dev/null || true)
[ -z "$left" ] || fail "left behind: $left"
echo "iopslab-story: two zones, $ROUND_TRIP_MS ms apart: reads at ALL take $((more / 1000)) ms more than at ONE, none less than the network"
