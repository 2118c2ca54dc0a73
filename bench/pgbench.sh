#!/usr/bin/env bash
# What iopslab's closed loop carries beside pgbench, and what either costs the client: TPC-B of examples/tpcb.sql on tables that
# pgbench has made, in turns on one PostgreSQL that this starts. Prints a Markdown table.
#
#   VOLUME=gp3:100GiB:3000   a served volume on which the server's data and WAL lie (root, /dev/fuse): then it is the limit
#   VOLUME_SCALE=16   by which its limits are divided
#   DIRECTORY=/mnt/volume   where the server's data lie (a directory of its own is made there, and removed)
#   BIN=/usr/lib/postgresql/18/bin   its programs; what pg_config names, or the newest below /usr/lib/postgresql
#   OWNER=postgres   who runs it, where this is root
#   SHARED_BUFFERS=128MB   of the server
#   SCALE=100   of pgbench: 100,000 accounts each
#   CLIENTS=32   connections
#   SECONDS_EACH=60   of a run
#   ROUNDS=5   counted rounds of each client
#   PGPORT=54329   where it listens, on 127.0.0.1
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
say() { printf '%s\n' "$*" >&2; }

export SCALE=${SCALE:-100} PGHOST=127.0.0.1 PGPORT=${PGPORT:-54329}
if [ -z "${BIN:-}" ]; then
    BIN=$(pg_config --bindir 2>/dev/null || true)
    if [ ! -x "$BIN/initdb" ]; then
        BIN=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1 || true)
    fi
fi
for program in initdb pg_ctl psql pgbench; do
    if [ ! -x "$BIN/$program" ]; then
        say "no $program in '$BIN': install PostgreSQL with its server and pgbench, or name its programs by BIN"
        exit 1
    fi
done
export PGBENCH=$BIN/pgbench

say "building the comparison (release)"
cargo build --release --locked --package database --example pgbench_cost

owner=${OWNER:-postgres}
as_owner() {
    if [ "$(id -u)" = 0 ]; then
        runuser -u "$owner" -- "$@"
    else
        "$@"
    fi
}

directory='' mounted='' volume=''
stop() {
    if [ -n "$directory" ]; then
        as_owner "$BIN/pg_ctl" -D "$directory/data" -m fast -w stop >&2 || true
        rm -rf "$directory"
    fi
    if [ -n "$volume" ]; then
        kill -TERM "$volume" 2>/dev/null || true
        wait "$volume" || true
    fi
    if [ -n "$mounted" ]; then
        rmdir "$mounted"
    fi
}
trap stop EXIT

under=${DIRECTORY:-${TMPDIR:-/tmp}}
if [ -n "${VOLUME:-}" ]; then
    cargo build --release --locked --package iopslab
    mounted=$(mktemp -d /mnt/iopslab-pgbench-XXXXXX)
    # In a session of its own: what Ctrl-C ends is this script, which stops the server before its volume.
    setsid "$target/release/iopslab" volume "$VOLUME" --scale "${VOLUME_SCALE:-16}" --mount "$mounted" >&2 &
    volume=$!
    until mountpoint --quiet "$mounted"; do
        if ! kill -0 "$volume" 2>/dev/null; then
            say "the volume was not mounted"
            exit 1
        fi
        sleep 0.2
    done
    under=$mounted
fi
directory=$(mktemp -d "$under/iopslab-pgbench-XXXXXX")
if [ "$(id -u)" = 0 ]; then
    chown "$owner" "$directory"
fi

say "starting PostgreSQL ($("$BIN/pg_ctl" --version)) in $directory"
as_owner "$BIN/initdb" -D "$directory/data" --username postgres --auth trust --locale C --encoding UTF8 >&2
as_owner "$BIN/pg_ctl" -D "$directory/data" -l "$directory/log" -w start >&2 -o "-p $PGPORT -c listen_addresses=127.0.0.1 \
-c unix_socket_directories=$directory -c max_connections=200 -c shared_buffers=${SHARED_BUFFERS:-128MB}"
ask() { "$BIN/psql" --username postgres --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$@" >&2; }
ask --dbname postgres --command "CREATE ROLE iopslab LOGIN" --command "CREATE DATABASE ycsb"
"$PGBENCH" --username postgres --initialize --scale "$SCALE" ycsb >&2
ask --dbname ycsb --command "GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO iopslab"

say "measuring at load average $(cut -d ' ' -f 1-3 /proc/loadavg)"
"$target/release/examples/pgbench_cost"
