#!/usr/bin/env bash
# Inside the machine of scripts/vm.sh: what latency between zones does to a run by SSH, and whether iopslab tells it.
#
#   zone a: controller, load1, db1       zone b: db2
#
# Hosts are network namespaces with an address and an sshd each. A zone is a bridge; netem on the link between the two
# delays each packet by ONE_WAY_MS in each direction. Two replicas, one in each zone. The client is token-aware and knows no
# zones: half of its requests go to either node. With R as the round trip between the zones:
#
#   ONE   by db1: 0     by db2: R, from the client to db2
#   ALL   by db1: R, from db1 to db2     by db2: 2 R, one more for the client
#
# What else a request takes comes on top, so these are lower bounds. Means differ by R.
set -euo pipefail
ONE_WAY_MS=50
ROUND_TRIP_MS=$((2 * ONE_WAY_MS))
PLACE=/var/tmp/zones
declare -A ADDRESS=([ctl]=10.99.0.1 [load1]=10.99.0.21 [db1]=10.99.0.11 [db2]=10.99.0.12)
declare -A ZONE=([ctl]=a [load1]=a [db1]=a [db2]=b)

fail() { echo "error: $*"; exit 1; }
within() { local host=$1; shift; ip netns exec "$host" "$@"; }

make_network() {
  modprobe -a veth bridge sch_netem
  local zone host
  for zone in a b; do
    ip netns add "zone-$zone"
    ip -n "zone-$zone" link add br0 type bridge
    ip -n "zone-$zone" link set br0 up
  done
  ip -n zone-a link add far type veth peer name far netns zone-b
  for zone in a b; do
    ip -n "zone-$zone" link set far master br0 up
    tc -n "zone-$zone" qdisc add dev far root netem delay "${ONE_WAY_MS}ms" limit 10000
  done
  for host in "${!ADDRESS[@]}"; do
    ip netns add "$host"
    ip -n "zone-${ZONE[$host]}" link add "$host" type veth peer name eth0 netns "$host"
    ip -n "zone-${ZONE[$host]}" link set "$host" master br0 up
    ip -n "$host" link set lo up
    ip -n "$host" addr add "${ADDRESS[$host]}/24" dev eth0
    ip -n "$host" link set eth0 up
  done
}

make_hosts() {
  local host own
  mkdir -p /run/sshd "$PLACE"
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
      "SetEnv XDG_CACHE_HOME=$own/cache IOPSLAB_CACHE=$IOPSLAB_CACHE JAVA_HOME=$JAVA_HOME" >"$own/sshd_config"
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

export HOME=/root JAVA_HOME IOPSLAB_CACHE
read -r IOPSLAB_CACHE </payload/cache
JAVA_HOME=$IOPSLAB_CACHE/java-for-tests
java_home=$(cat /payload/java-home)
mkdir -p "$IOPSLAB_CACHE/cassandra" "$java_home"
# At the same place, with the same times: then what was kept for shorter starts is of use.
cp -a /payload/cassandra/. "$IOPSLAB_CACHE/cassandra/"
cp -a /payload/java-for-tests "$IOPSLAB_CACHE/"
mount --bind /payload/java "$java_home"
make_network
make_hosts
for _ in $(seq 60); do within ctl ssh -F "$PLACE/ssh_config" -o BatchMode=yes db2 true && break; sleep 1; done
near=$(round_trip_ms "${ADDRESS[db1]}")
far=$(round_trip_ms "${ADDRESS[db2]}")
echo "zones: the network alone: $near ms to db1 and back, $far ms to db2"
[ "$far" -ge $ROUND_TRIP_MS ] || fail "netem does not delay"
[ "$near" -lt $ROUND_TRIP_MS ] || fail "what is near is as far as the other zone"

cp /payload/zones.toml "$PLACE/"
cd "$PLACE"
within ctl /payload/iopslab run zones.toml --provider hosts --require-valid 2>&1 | tee run.log
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
left=$(find "$PLACE"/db*/work/runs "$PLACE"/db*/data/iopslab -mindepth 1 2>/dev/null || true)
[ -z "$left" ] || fail "left behind: $left"
echo "iopslab-story: two zones, $ROUND_TRIP_MS ms apart: reads at ALL take $((more / 1000)) ms more than at ONE, none less than the network"
