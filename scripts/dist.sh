#!/usr/bin/env bash
# Released archives: one static binary per target with man pages, completions, licence and examples, the same as a Debian package where
# dpkg-deb is there, and SHA256SUMS beside them.
#
#   scripts/dist.sh                                    x86-64 and aarch64, linked with musl
#   DIST_TARGETS=x86_64-unknown-linux-gnu scripts/dist.sh   another set
#
# aarch64 is linked with the C compiler that CC_aarch64_unknown_linux_musl names (default aarch64-linux-gnu-gcc, Debian's
# gcc-aarch64-linux-gnu). *-gnu targets are linked statically as well.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=${DIST_TARGETS:-x86_64-unknown-linux-musl aarch64-unknown-linux-musl}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
export CC_aarch64_unknown_linux_musl=${CC_aarch64_unknown_linux_musl:-aarch64-linux-gnu-gcc}
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER:-$CC_aarch64_unknown_linux_musl}

# A clone of somebody else's, or none, has no time to tell: then it has to be stated.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
rm -rf dist && mkdir -p dist
for target in $targets; do
  if command -v rustup >/dev/null && ! rustup target list --installed | grep -qx "$target"; then
    rustup target add "$target"
  fi
  echo "==> building for $target"
  RUSTFLAGS="-C target-feature=+crt-static" \
    cargo build --profile dist --locked -p iopslab --features aws,tls --target "$target"
  binary=${CARGO_TARGET_DIR:-target}/$target/dist/iopslab
  if command -v readelf >/dev/null && readelf -d "$binary" 2>/dev/null | grep -q NEEDED; then
    echo "error: $binary needs shared libraries" >&2
    exit 1
  fi
  name=iopslab-$version-$target
  mkdir -p "dist/$name"
  cp "$binary" LICENSE NOTICE README.md "dist/$name/"
  cp -r examples "dist/$name/"
done

# Man pages and completions come from a binary that runs here.
for target in $targets; do
  binary=${CARGO_TARGET_DIR:-target}/$target/dist/iopslab
  if "$binary" --version >/dev/null 2>&1; then runs=$binary; break; fi
done
for target in $targets; do
  name=iopslab-$version-$target
  mkdir -p "dist/$name/man" "dist/$name/completions"
  if [ -n "${runs:-}" ]; then
    "$runs" man "dist/$name/man"
    for shell in bash zsh fish; do "$runs" completions $shell >"dist/$name/completions/iopslab.$shell"; done
    case $target in
      x86_64-*) architecture=amd64 ;;
      aarch64-*) architecture=arm64 ;;
      *) architecture= ;;
    esac
    if [ -n "$architecture" ] && command -v dpkg-deb >/dev/null; then
      scripts/deb.sh "dist/$name" "$architecture" "$version" "dist/iopslab_${version}_$architecture.deb"
    else
      echo "note: no Debian package of $target: an architecture that Debian does not have, or no dpkg-deb here" >&2
    fi
  else
    echo "note: no binary of $targets runs here: no man pages and completions" >&2
  fi
  # The same input gives the same bytes.
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --mode='u=rwX,go=rX' -C dist -cf - "$name" |
    gzip -n9 >"dist/$name.tar.gz"
  rm -rf "dist/$name"
done
shopt -s nullglob
(cd dist && sha256sum iopslab*.tar.gz iopslab*.deb >SHA256SUMS && cat SHA256SUMS)
