#!/usr/bin/env bash
# Every test: built once, then run in two lanes beside each other. Stories with a real database on this machine's own address take
# turns in the first and mostly wait; the second has all the rest and mostly computes. A new test is in the second by itself.
set -euo pipefail
cd "$(dirname "$0")/.."

# Test programs that start a database on 127.0.0.1:9042, or look at what runs have left on this machine.
machine=(run_stories cluster_stories existing_stories fault_stories bad_input)

others=()
for file in crates/*/tests/*.rs crates/*/tests/*/main.rs; do
  name=$(basename "${file%/main.rs}" .rs)
  [[ " ${machine[*]} " == *" $name "* ]] || others+=("$name")
done

tests=(cargo test --workspace --features iopslab/aws --locked --no-fail-fast)
echo "==> building all tests"
"${tests[@]}" --no-run

# The first lane is a process group of its own, which ends with this script; what it prints comes in one piece at the end.
said=$(mktemp)
lane=
trap '[ -z "$lane" ] || kill -- "-$lane" 2>/dev/null || true; rm -f "$said"' EXIT
trap 'exit 130' INT TERM
echo "==> beside each other: ${machine[*]} (shown at the end), and all other tests"
setsid env --default-signal=INT,QUIT "${tests[@]}" "${machine[@]/#/--test=}" >"$said" 2>&1 </dev/null &
lane=$!

failed=()
"${tests[@]}" --lib --bins "${others[@]/#/--test=}" || failed+=("other tests")
"${tests[@]}" --doc || failed+=("examples in documentation")
wait "$lane" || failed+=("${machine[*]}")
lane=
cat "$said"
if [ ${#failed[@]} -gt 0 ]; then
  printf '==> FAILED: %s\n' "${failed[@]}" >&2
  exit 1
fi
