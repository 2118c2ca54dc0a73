#!/usr/bin/env bash
# make bench: what the load generator costs, first alone against a server without a database (closed and open loop), then
# beside latte on one local Cassandra. Prints a Markdown table of each.
#
#   ONLY=ceiling         leave the second one out: needs neither Cassandra nor latte
#   CASE_S=5             seconds of each case without a database; CASES=open: only those whose name has this in it
#   HOST=10.0.0.5:9042   use this CQL server instead of starting one
#   ROUNDS=5             counted rounds of each tool and workload
#   OPERATIONS=300000    operations of a run
#   LATTE=/path/latte    use this latte instead of building latte-cli 0.29.0
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
fi
export HOST

say "measuring against $HOST"
(cd "$logs" && "$target/release/examples/client_cost")
