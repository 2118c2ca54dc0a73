#!/bin/sh
# Prints what a version of PostgreSQL can be set to, as its own pg_settings has it:
#
# scripts/postgresql-settings.sh VERSION >crates/postgresql_model/src/known/postgresql-VERSION.txt
#
# It asks the binaries that iopslab has fetched and unpacked (`iopslab db lock postgresql VERSION` fetches, a first run
# unpacks), without a server that listens. Not as root: PostgreSQL does not start so.
set -eu

version=${1:?usage: scripts/postgresql-settings.sh VERSION}
if [ "$(id -u)" = 0 ]; then
    echo "run it as another user than root, for example: setpriv --reuid=nobody --clear-groups $0 $version" >&2
    exit 1
fi
cache=${IOPSLAB_CACHE:-$HOME/.cache/iopslab}
home=$(find "$cache/postgresql" -maxdepth 1 -type d -name "$version-*" 2>/dev/null | head -n 1)
if [ -z "$home" ]; then
    echo "there is no unpacked PostgreSQL $version in $cache/postgresql: start one first" >&2
    exit 1
fi

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export LC_ALL=C TZ=UTC
"$home/bin/initdb" --pgdata "$place/data" --username=postgres --locale=C --encoding=UTF8 --no-sync >"$place/log" 2>&1

# One statement a line is what a server without connections takes.
query="SELECT name || ' ' || CASE vartype WHEN 'bool' THEN 'boolean' WHEN 'string' THEN 'text' \
WHEN 'enum' THEN 'one-of ' || array_to_string(enumvals, ',') \
ELSE (CASE vartype WHEN 'real' THEN 'number ' ELSE 'integer ' END) || coalesce(unit, '-') || ' ' || min_val || ' ' || max_val END \
FROM pg_settings WHERE context <> 'internal' AND name NOT LIKE '%.%' ORDER BY name COLLATE \"C\""
echo "COPY ($query) TO '$place/settings'" | "$home/bin/postgres" --single -D "$place/data" postgres >>"$place/log" 2>&1

echo "# PostgreSQL $version. Made by scripts/postgresql-settings.sh; not written by hand."
# COPY writes a backslash twice.
sed 's/\\\\/\\/g' "$place/settings"
