#!/usr/bin/env bash
# A Debian package of what scripts/dist.sh has put together: the static binary, manual pages, completions, licence, examples.
#
#   scripts/deb.sh FOLDER ARCHITECTURE VERSION PACKAGE.deb     FOLDER as in a released archive; ARCHITECTURE amd64 or arm64
#
# The same folder gives the same bytes: files have the time of the last commit, or that of SOURCE_DATE_EPOCH.
set -euo pipefail

if [ $# != 4 ]; then
  echo "error: expected FOLDER ARCHITECTURE VERSION PACKAGE.deb" >&2
  exit 2
fi
folder=$1 architecture=$2 package=$4
# What sorts after a release in Debian is behind a hyphen in a version of Rust: 1.0.0-rc.1 comes before 1.0.0.
version=${3//-/\~}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$(dirname "$0")" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
maintainer='iopslab developers <iopslab@localhost>'

# dpkg-deb refuses a package that others may not read.
umask 022
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
doc=usr/share/doc/iopslab
into() { # DIRECTORY FILE...: readable by all
  mkdir -p "$tree/$1"
  install -m 644 -t "$tree/$1" "${@:2}"
}

install -D -m 755 "$folder/iopslab" "$tree/usr/bin/iopslab"
into usr/share/man/man1 "$folder"/man/*.1
gzip -n9 "$tree"/usr/share/man/man1/*.1
install -D -m 644 "$folder/completions/iopslab.bash" "$tree/usr/share/bash-completion/completions/iopslab"
install -D -m 644 "$folder/completions/iopslab.zsh" "$tree/usr/share/zsh/vendor-completions/_iopslab"
install -D -m 644 "$folder/completions/iopslab.fish" "$tree/usr/share/fish/vendor_completions.d/iopslab.fish"
into "$doc" "$folder/README.md" "$folder/NOTICE"
cp -r "$folder/examples" "$tree/$doc/examples"
cat >"$tree/$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: iopslab

Files: *
Copyright: the authors of iopslab
License: Apache-2.0
 /usr/share/common-licenses/Apache-2.0 has its text. One table of the catalog
 that the program contains is under another licence: NOTICE, beside this file.
END
gzip -n9c >"$tree/$doc/changelog.gz" <<END
iopslab ($version) unstable; urgency=medium

  * What has changed: CHANGELOG.md of the sources.

 -- $maintainer  $(LC_ALL=C date -uRd "@$SOURCE_DATE_EPOCH")
END
mkdir -p "$tree/usr/share/lintian/overrides"
echo 'iopslab: statically-linked-binary *' >"$tree/usr/share/lintian/overrides/iopslab"
chmod -R u=rwX,go=rX "$tree"

mkdir "$tree/DEBIAN"
(cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
cat >"$tree/DEBIAN/control" <<END
Package: iopslab
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Recommends: fio, openjdk-17-jre-headless, util-linux, xfsprogs
Suggests: memcached
Section: utils
Priority: optional
Description: which storage a database workload is worth paying for
 iopslab measures configurations of instances and volumes with a real
 Cassandra or PostgreSQL, over emulated volumes of one machine, on machines
 of yours or on AWS, and says which one to run and why, or that the evidence
 does not decide.
 .
 The program is linked statically. To run experiments it needs the packages
 that are recommended, and root; 'iopslab doctor' says what is missing.
END
chmod 644 "$tree/DEBIAN/control" "$tree/DEBIAN/md5sums"
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$tree" "$package" >/dev/null
