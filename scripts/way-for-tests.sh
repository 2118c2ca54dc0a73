#!/usr/bin/env bash
# scripts/way-for-tests.sh DIRECTORY: whether tests may have their work directories below it. Those of root are refused where somebody
# else could change them, and databases run as another user, who has to get there. Exits with 1 and names what is in the way.
set -euo pipefail
[ "$(id -u)" = 0 ] || exit 0
part=$1
while :; do
  read -r owner mode < <(stat -c '%u %a' "$part")
  if [ "$owner" != 0 ] || ! ((0$mode & 1)) || { ((0$mode & 022)) && ! ((0$mode & 01000)); }; then
    echo "others own $part, write there, or cannot pass ($owner, $mode)"
    exit 1
  fi
  [ "$part" != / ] || exit 0
  part=$(dirname "$part")
done
