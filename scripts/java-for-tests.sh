#!/usr/bin/env bash
# Prints a JAVA_HOME for tests: the Java that is found here, without its second compiler (C2). A test's databases live for
# seconds; what C2 compiles for them was a third of their CPU time and never came to pay. Nothing measured comes from it.
set -euo pipefail
real=${JAVA_HOME:+$JAVA_HOME/bin/java}
real=${real:-$(command -v java)}
# At one place for all clones: what iopslab keeps of a Java for its next start goes by its path.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/iopslab
[ "$(id -u)" != 0 ] || cache=/var/cache/iopslab
home=${IOPSLAB_CACHE:-$cache}/java-for-tests
[ "$real" != "$home/bin/java" ] || { echo "$home"; exit; }
# Databases run it as another user, and other tests may run it meanwhile: it is whole or not there.
umask 022
mkdir -p "$home/bin"
new=$(mktemp "$home/bin/java.XXXXXX")
# shellcheck disable=SC2016
printf '#!/bin/sh\nexec %q -XX:TieredStopAtLevel=1 "$@"\n' "$(readlink -f "$real")" >"$new"
chmod 755 "$new"
mv "$new" "$home/bin/java"
echo "$home"
