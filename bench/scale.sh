#!/usr/bin/env bash
# make bench-scale: what one controller carries, on hosts whose agents are processes of this machine. Prints a Markdown table.
#
#   HOSTS="4 15 30 60"   hosts that send one sample a second
#   RATES="10 100"   samples a second of each of the most hosts
#   SECONDS_EACH=60      of measurement
#   IOPSLAB=/path        measure this program instead of building it
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
say() { printf '%s\n' "$*" >&2; }

say "building iopslab and the agents that stand in for hosts (release)"
if [ -z "${IOPSLAB:-}" ]; then
    cargo build --release --locked --package iopslab --bin iopslab
    export IOPSLAB=$target/release/iopslab
fi
cargo build --release --locked --package iopslab --example streaming_agent --example controller_scale

say "measuring $IOPSLAB on $(nproc) CPUs, load average $(cut -d ' ' -f 1-3 /proc/loadavg)"
"$target/release/examples/controller_scale"
