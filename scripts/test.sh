#!/usr/bin/env bash
# Every test. Stories with a real database (`--test machine`) wait more than they compute, so that they run beside all others; what
# they say comes at the end.
# scripts/test.sh [COMMAND...]: COMMAND runs beside them, too, with the CPU that they leave.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

tests=(--workspace --features "iopslab/aws,iopslab/tls" --locked)
JAVA_HOME=$(scripts/java-for-tests.sh)
export JAVA_HOME
cargo test "${tests[@]}" --no-run
# A line for each program of tests: its package's directory, and its path.
programs=$(cargo test "${tests[@]}" --no-run --message-format=json 2>/dev/null |
  sed -nE 's/.*"manifest_path":"([^"]*)\/Cargo\.toml".*"profile":\{[^}]*"test":true.*"executable":"([^"]*)".*/\1 \2/p')
stories=$(grep -E '/deps/machine-[^/]*$' <<<"$programs" | cut -d' ' -f2)

target=$(realpath "${CARGO_TARGET_DIR:-target}")
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
run() {
  local directory=$1
  shift
  echo "==> ${1#"$root"/} ${*:2}"
  (cd "$directory" && exec "$@") || status=$?
}

# Those of the engine look at milliseconds: they come first and alone.
while read -r directory program; do run "$directory" "$program"; done < <(grep '/crates/engine ' <<<"$programs")
echo "==> stories with a real database run beside the other tests; their output: $target/stories.log"
beside "$target/stories.log" env --chdir=crates/iopslab "$stories" real::
[ $# = 0 ] || beside "$target/beside.log" "$@"
while read -r directory program; do run "$directory" "$program" --skip real::; done < <(grep -v '/crates/engine ' <<<"$programs")
cargo test "${tests[@]}" --doc || status=$?
for job in "${jobs[@]}"; do wait "$job" || status=$?; done
jobs=()
cat "$target/stories.log"
[ $# = 0 ] || cat "$target/beside.log"
exit "$status"
