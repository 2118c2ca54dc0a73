#!/usr/bin/env bash
# Every test. Stories with a real database (`--test machine`) wait more than they compute, so that they run beside all others; what
# they say comes at the end.
# scripts/test.sh [COMMAND...]: COMMAND runs beside them, too, with the CPU that they leave.
set -euo pipefail
cd "$(dirname "$0")/.."

tests=(--workspace --features "iopslab/aws,iopslab/tls" --locked --no-fail-fast)
JAVA_HOME=$(scripts/java-for-tests.sh)
export JAVA_HOME
cargo test "${tests[@]}" --no-run

target=${CARGO_TARGET_DIR:-target}
jobs=()
# With a process group of its own: it is ended as a whole when this script is.
beside() {
  local log=$1
  shift
  setsid --wait "$@" >"$log" 2>&1 </dev/null &
  jobs+=($!)
}
trap 'for job in "${jobs[@]}"; do kill -- -"$job" 2>/dev/null || true; done' EXIT

status=0
beside "$target/stories.log" cargo test "${tests[@]}" --test machine
echo "==> stories with a real database run beside the other tests; their output: $target/stories.log"
# Cargo locks what it has built until its tests run.
until grep -qs Running "$target/stories.log" || ! kill -0 "${jobs[0]}" 2>/dev/null; do sleep 0.2; done
[ $# = 0 ] || beside "$target/beside.log" bash -c 'sleep 20; exec "$@"' beside "$@"
cargo test "${tests[@]}" -- --skip real:: || status=$?
for job in "${jobs[@]}"; do wait "$job" || status=$?; done
jobs=()
cat "$target/stories.log"
[ $# = 0 ] || cat "$target/beside.log"
exit "$status"
