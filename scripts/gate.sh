#!/usr/bin/env bash
# The step of action.yml: compares RUN with BASELINE, writes the comparison into the job's summary and the verdict into its outputs,
# and fails as `iopslab compare` fails (3: failed, or inconclusive and INCONCLUSIVE=fail).
set -euo pipefail

IOPSLAB=${IOPSLAB:-iopslab}
arguments=("$BASELINE" "$RUN" --inconclusive "${INCONCLUSIVE:-fail}")
while IFS= read -r condition; do
  [ -n "$condition" ] && arguments+=(--fail-if "$condition")
done <<<"${FAIL_IF:-throughput < -5%}"

# A runner obeys commands wherever they stand in a step's output (`##[set-output name=verdict]passed`), and a comparison shows what
# runs say that others may have made.
obey() { [ -z "${GITHUB_ACTIONS:-}" ] || echo "::$1::${2:-}"; }
word=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
obey stop-commands "$word"
trap 'obey "$word"' EXIT

status=0
"$IOPSLAB" compare "${arguments[@]}" | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}" || status=${PIPESTATUS[0]}
# 1 and 2: nothing was judged.
if [ "$status" != 0 ] && [ "$status" != 3 ]; then exit "$status"; fi
judged=$("$IOPSLAB" compare "${arguments[@]}" --format json || true)
verdict=passed
if grep -q '"outcome": "failed"' <<<"$judged"; then verdict=failed
elif grep -q '"outcome": "inconclusive"' <<<"$judged"; then verdict=inconclusive
fi
echo "verdict=$verdict" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
