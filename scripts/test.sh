#!/usr/bin/env bash
# Every test. Stories with a real database (`--test machine`) take longest and wait more than they compute, so that they begin as soon as
# they are compiled, beside the compiler and all other tests; what they say comes at the end.
# scripts/test.sh [COMMAND...]: COMMAND runs beside the tests, too, with the CPU that they leave.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
# Databases run as another user, who passes through what tests make.
umask 022

JAVA_HOME=$(scripts/java-for-tests.sh)
export JAVA_HOME
tests=(--workspace --features "iopslab/aws,iopslab/tls" --locked)
# Compiles tests; a line for each of their programs: its package's directory, a tab, and its path. Either may have spaces.
programs() {
  cargo test "${tests[@]}" "$@" --no-run --message-format=json-render-diagnostics |
    sed -nE 's/.*"manifest_path":"([^"]*)\/Cargo\.toml".*"profile":\{[^}]*"test":true.*"executable":"([^"]*)".*/\1\t\2/p'
}

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
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
# A machine that is shared stands still for seconds now and then: a few tests that fail beside others are run once more, alone, when all
# else has ended, and what that says counts. A program that names no test (it crashed, or was killed) has failed.
again=$target/again.txt
mkdir -p "$target"
if ! hindered=$(scripts/way-for-tests.sh "$target"); then
  echo "error: tests of root have work directories below $target, and $hindered" >&2
  echo " help: name another directory, such as CARGO_TARGET_DIR=/var/lib/iopslab-tests" >&2
  exit 1
fi
: >"$again"
run_again() {
  local names
  names=$(sed -nE 's/^test (\S+)( - should panic)? \.\.\. FAILED$/\1/p' "$3")
  [ -n "$names" ] && awk -v of="$1"$'\t'"$2" '{ print of "\t" $0 }' <<<"$names" >>"$again"
}
# What took how long, and how much CPU time of its own and of what it started and waited for.
TIMEFORMAT='==> in %0R s, with %0U + %0S s of CPU time'
run() {
  local directory=$1 log
  shift
  echo "==> after $SECONDS s: ${1#"$root"/} ${*:2}"
  log=$(mktemp)
  { time (cd "$directory" && exec "$@" </dev/null) 2>&1; } 2>&1 | tee "$log" || run_again "$directory" "$1" "$log" || status=$?
  rm "$log"
}

# Those of the engine look at milliseconds: they come before anything else, and alone. What compiles meanwhile has the CPU that they leave
# and gives it back at once (SCHED_IDLE); it stays in this session, since the kernel may weigh sessions before processes.
alone=(crates/engine/tests/*.rs crates/engine/tests/*/main.rs)
alone=("${alone[@]#crates/engine/tests/}")
alone=("${alone[@]%/main.rs}")
alone=("${alone[@]%.rs}")
engine=$(programs "${alone[@]/#/--test=}")
set -m
{
  chrt --idle --pid 0 "$BASHPID" || true
  programs --test=machine
} >"$target/machine.txt" &
set +m
jobs+=($!)
while IFS=$'\t' read -r directory program; do run "$directory" "$program"; done <<<"$engine"
wait "${jobs[0]}"
jobs=()
echo "==> after $SECONDS s: stories with a real database run beside the other tests; their output: $target/stories.log"
stories=$(<"$target/machine.txt")
# They are the longest way: what they want of the CPUs they get before the compiler. The kernel may weigh sessions before the processes in them.
# shellcheck disable=SC2016
beside "$target/stories.log" bash -c '{ echo -10 >/proc/self/autogroup; } 2>/dev/null || true; exec nice -n -10 "$@"' stories \
  env --chdir="${stories%$'\t'*}" "${stories#*$'\t'}" real::
# Without examples, most of which are benchmarks (clippy checks them all), but the one that tests start.
all=$(programs --tests)
cargo build "${tests[@]}" --example simulated_agent
[ $# = 0 ] || beside "$target/beside.log" "$@"
# The others, one a line: whoever is free takes the next one. At first that is this shell alone; a second one takes the place of COMMAND or of the
# stories, whichever ends first, and a third that of the stories. The third has before that what else is in their program, which waits for Terraform
# more than it computes, and has networks of its own.
# The largest programs come first: on the whole they are the longest, and none of these is to be the last one, which nothing goes on beside.
queue=$target/queue.txt
grep -vxF "$engine" <<<"$all" | grep -vxF "$stories" | while IFS=$'\t' read -r directory program; do
  printf '%s\t%s\t%s\n' "$(stat -c %s "$program")" "$directory" "$program"
done | sort -rn | cut -f 2- >"$queue"
take() { { flock 9 && IFS=$'\t' read -r directory program <"$queue" && sed -i 1d "$queue"; } 9>"$queue.lock"; }
take_all() { while take; do run "$directory" "$program" --skip real::; done; }
lives() { kill -0 "$1" 2>/dev/null; }
first=${jobs[0]} last=${jobs[-1]}
set -m
{
  while lives "$first" && lives "$last"; do sleep 1; done
  take_all
  exit "$status"
} >"$target/second.log" 2>&1 </dev/null &
jobs+=($!)
{
  run "${stories%$'\t'*}" "${stories#*$'\t'}" --skip real::
  while lives "$first"; do sleep 1; done
  take_all
  exit "$status"
} >"$target/third.log" 2>&1 </dev/null &
jobs+=($!)
set +m
take_all
# Examples in comments of documentation. rustdoc takes seconds for each crate to find none: it is asked where there is one.
fences() { grep -rhE "^ *//[/!] *\`\`\`$1" crates/*/src | wc -l; }
[ "$(fences '')" = $((2 * $(fences '(text|toml)'))) ] || cargo test "${tests[@]}" --doc || status=$?
wait "$first" || run_again "${stories%$'\t'*}" "${stories#*$'\t'}" "$target/stories.log" || status=$?
for job in "${jobs[@]:1}"; do wait "$job" || status=$?; done
jobs=()
# A lock or a disk that fails ends the taking as an empty queue does.
[ ! -s "$queue" ] || { status=1 && echo "==> nobody ran:" && cat "$queue"; }
cat "$target/stories.log" "$target/second.log" "$target/third.log"
[ $# = 0 ] || cat "$target/beside.log"
if [ -s "$again" ]; then
  echo "==> these failed beside others, and are run once more, alone:" && cut -f 3 "$again"
  [ "$(wc -l <"$again")" -le 5 ] || { status=1 && echo "==> too many for chance"; }
  while IFS=$'\t' read -r directory program name; do
    (cd "$directory" && exec "$program" --exact "$name" </dev/null) || { status=1 && echo "==> failed twice: $name"; }
  done <"$again"
fi
echo "==> ended after $SECONDS s"
exit "$status"
