#!/usr/bin/env bash
# Prints what a Cassandra can be set to, as its own classes say it: keys of cassandra.yaml, options of tables.
# scripts/cassandra-settings.sh VERSION >crates/cassandra_model/src/known/cassandra-VERSION.txt
# Needs the lock list of that version, its jars in iopslab's cache (`iopslab db lock` puts them there) and a JDK on which it runs.
set -euo pipefail
cd "$(dirname "$0")"
version=$1
cache=${IOPSLAB_CACHE:-/var/cache/iopslab}/cassandra
# The jars of the lock list, in its order.
jars=$(grep -v '^#' "../crates/database/src/cassandra/lock/$version.txt" | awk -v root="$cache" '{print root "/" $3}' | paste -sd:)
echo "# Cassandra $version. Made by scripts/cassandra-settings.sh; not written by hand."
"${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:TieredStopAtLevel=1 -Xmx256m -Djna.tmpdir="${TMPDIR:-/tmp}" -cp "$jars" CassandraSettings.java |
  # Its classes log to the same place.
  grep -E "^(key|old|table|compaction|compression) "
