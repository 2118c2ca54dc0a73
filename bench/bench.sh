#!/usr/bin/env bash
# make bench: what the load generator costs, first alone against a server without a database (closed and open loop), then
# beside latte and cassandra-stress on one local Cassandra, also while that stands still for two seconds. Prints a
# Markdown table of each.
#
#   ONLY=ceiling         leave the second one out: needs neither Cassandra nor latte
#   CASE_S=5             seconds of each case without a database; CASES=open: only those whose name has this in it
#   HOST=10.0.0.5:9042   use this CQL server instead of starting one (it is not stopped: no row of a stall)
#   ROUNDS=5             counted rounds of each tool and workload
#   OPERATIONS=300000    operations of a run
#   LATTE=/path/latte    use this latte instead of building latte-cli 0.29.0
#   STRESS=/path         an unpacked Cassandra 4.0 instead of fetching 4.0-alpha2 for its cassandra-stress
#   IOPSLAB_MAVEN_MIRROR fetch it from this Maven repository
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
say() { printf '%s\n' "$*" >&2; }

say "measuring the client alone"
cargo build --release --locked --package database --example client_ceiling
"$target/release/examples/client_ceiling"
printf '\n'
if [ "${ONLY:-}" = ceiling ]; then
    exit 0
fi

say "building iopslab (release)"
cargo build --release --locked --package iopslab --bin iopslab
export IOPSLAB=${IOPSLAB:-$target/release/iopslab}
cargo build --release --locked --package database --example client_cost

if [ -z "${LATTE:-}" ]; then
    LATTE=$target/bench/bin/latte
    if [ ! -x "$LATTE" ]; then
        say "building latte-cli 0.29.0 into $target/bench (once, some minutes)"
        CARGO_TARGET_DIR=$target/bench/build cargo install latte-cli --version 0.29.0 --locked --root "$target/bench"
    fi
fi
export LATTE
if [ -z "${STRESS:-}" ]; then
    # The newest version whose programs are published as a package. Newer ones are published as jars without them.
    name=apache-cassandra-4.0-alpha2
    STRESS=$target/bench/$name
    if [ ! -d "$STRESS" ]; then
        say "fetching cassandra-stress ($name, 53 MB) into $target/bench"
        mkdir -p "$target/bench"
        archive=$target/bench/$name.tar.gz
        curl -fsS --retry 3 -o "$archive" \
            "${IOPSLAB_MAVEN_MIRROR:-https://repo.maven.apache.org/maven2}/org/apache/cassandra/apache-cassandra/4.0-alpha2/$name-bin.tar.gz"
        echo "a88431e5976ff8a487386b2904926503f2d364fd9b72dcadbce87ee53049445d  $archive" | sha256sum --check --quiet
        tar -C "$target/bench" -xf "$archive"
        rm "$archive"
    fi
fi
export STRESS
export SCRIPTS=$PWD/bench
# latte leaves a log of each run in the directory it is started from.
logs=$(mktemp -d "${TMPDIR:-/tmp}/iopslab-bench-logs-XXXXXX")
trap 'rm -rf "$logs"' EXIT

if [ -z "${HOST:-}" ]; then
    directory=$(mktemp -d "${TMPDIR:-/tmp}/iopslab-bench-XXXXXX")
    stop() {
        "$IOPSLAB" db stop --directory "$directory" >&2 || true
        rm -rf "$directory" "$logs"
    }
    trap stop EXIT
    say "starting Cassandra in $directory"
    HOST=$("$IOPSLAB" --format json db start --directory "$directory" |
        sed -n 's/.*"\(127\.[0-9.]*:[0-9]*\)".*/\1/p' | head -n 1)
    SERVER_PID=$("$IOPSLAB" --format json db status --directory "$directory" | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
    export SERVER_PID
fi
export HOST

say "measuring against $HOST"
(cd "$logs" && "$target/release/examples/client_cost")
