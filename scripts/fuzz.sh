#!/usr/bin/env bash
# Fuzzes the parsers of files that users write, and the decoders of bytes that others send, on a stable toolchain:
# scripts/fuzz.sh [SECONDS a target, default 60]
# A crash stays in fuzz/artifacts/<target>/; run it again with: fuzz/target/release/<target> FILE
set -euo pipefail
cd "$(dirname "$0")/../fuzz"

seconds=${1:-60}
# What cargo-fuzz passes, without the sanitizer, which needs a nightly compiler.
coverage="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
coverage+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
coverage+=" -Clink-dead-code -Ccodegen-units=1"
host=$(rustc -vV | sed -n 's/^host: //p')
# With --target, build scripts and macros are not instrumented.
RUSTFLAGS=$coverage cargo build --release --locked --target "$host"

for target in experiment ycsb agent cql fuse hashes jmx journal latencies ledger samples tar; do
  echo "==> fuzzing $target for $seconds s"
  mkdir -p "corpus/$target" "artifacts/$target"
  "target/$host/release/$target" "corpus/$target" "seeds/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="artifacts/$target/" -print_final_stats=1 -verbosity=0
done
