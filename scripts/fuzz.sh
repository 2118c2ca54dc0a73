#!/usr/bin/env bash
# Fuzzes the parsers of files that users write, and the decoders of bytes that others send, on a stable toolchain:
# scripts/fuzz.sh [SECONDS a target, default 60]
# As many targets at a time as there are CPUs. A crash ends its target; the others go on, and the last line says which have crashed. What
# did it stays in fuzz/artifacts/<target>/; run it again with: fuzz/target/<host>/release/<target> FILE
set -euo pipefail
cd "$(dirname "$0")/../fuzz"

seconds=${1:-60}
trap 'kill $(jobs -p) || true; exit 130' INT
# What cargo-fuzz passes with --strip-dead-code, without the sanitizer, which needs a nightly compiler. Code that no target calls would be
# compiled, linked into each target, and its counters looked at after each input.
coverage="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
coverage+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
coverage+=" -Ccodegen-units=1"
host=$(rustc -vV | sed -n 's/^host: //p')
# With --target, build scripts and macros are not instrumented.
RUSTFLAGS=$coverage cargo build --release --locked --target "$host"

built=${CARGO_TARGET_DIR:-target}/$host/release
fuzz() {
  "$built/$1" "corpus/$1" "seeds/$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="artifacts/$1/" -print_final_stats=1 -verbosity=0 >"artifacts/$1/log" 2>&1 || touch "artifacts/$1/crashed"
}

targets=(fuzz_targets/*.rs)
targets=("${targets[@]#fuzz_targets/}")
targets=("${targets[@]%.rs}")
for target in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
  echo "==> fuzzing $target for $seconds s"
  mkdir -p "corpus/$target" "artifacts/$target"
  rm -f "artifacts/$target/crashed"
  fuzz "$target" &
done
wait
crashed=()
for target in "${targets[@]}"; do
  echo "==> $target"
  cat "artifacts/$target/log"
  [ ! -e "artifacts/$target/crashed" ] || crashed+=("$target")
done
if [ ${#crashed[@]} != 0 ]; then
  echo "==> crashed, see fuzz/artifacts: ${crashed[*]}"
  exit 1
fi
echo "==> no target has crashed"
