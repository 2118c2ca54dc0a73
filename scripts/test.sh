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
stories=$(cargo test "${tests[@]}" --test machine --no-run 2>&1 | sed -n 's/.*Executable tests.machine.main.rs (\(.*\))/\1/p')
stories=$(realpath "$stories")

target=$(realpath "${CARGO_TARGET_DIR:-target}")
others=$target/others.log
: >"$others"
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
echo "==> stories with a real database run beside the other tests; their output: $target/stories.log"
# Not beside those of the engine and of the database, which come first and look at milliseconds.
# shellcheck disable=SC2016
beside "$target/stories.log" bash -c '
  until grep -qE "Running unittests src/main.rs|^==> the end" "$1"; do sleep 1; done
  cd crates/iopslab && exec "$2"' stories "$others" "$stories"
# Cargo locks what it has built until its tests run.
[ $# = 0 ] || beside "$target/beside.log" bash -c 'sleep 20; exec "$@"' beside "$@"
cargo test "${tests[@]}" -- --skip real:: 2>&1 | tee "$others" || status=$?
echo "==> the end" >>"$others"
for job in "${jobs[@]}"; do wait "$job" || status=$?; done
jobs=()
cat "$target/stories.log"
[ $# = 0 ] || cat "$target/beside.log"
exit "$status"
