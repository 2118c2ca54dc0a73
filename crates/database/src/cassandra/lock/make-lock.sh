#!/bin/sh
# Writes the lock list of one Cassandra version: every jar of the Maven runtime closure of
# org.apache.cassandra:cassandra-all, as `SHA-256  bytes  path-in-repository`, sorted by path.
# Maven checks each download against the repository's own checksum; the SHA-256 here is of the file it accepted.
# Usage: ./make-lock.sh 5.0.9   (needs mvn, sha256sum; then add the file to LOCKS in ../distribution.rs)
set -eu
version=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>iopslab</groupId><artifactId>lock</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId><version>$version</version>
  </dependency></dependencies>
</project>
POM
mvn -B -q --strict-checksums -f "$work/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
    -DoutputDirectory="$work/jars" -Dmdep.useRepositoryLayout=true
{
    echo "# org.apache.cassandra:cassandra-all:$version, runtime scope. Made by make-lock.sh; do not edit."
    cd "$work/jars"
    find . -name '*.jar' | sed 's|^\./||' | LC_ALL=C sort | while read -r path; do
        echo "$(sha256sum "$path" | cut -d' ' -f1)  $(stat -c %s "$path")  $path"
    done
} >"$here/$version.txt"
grep -vc '^#' "$here/$version.txt"
