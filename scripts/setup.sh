#!/usr/bin/env bash
# Installs what iopslab needs and is missing here: a Rust toolchain, JDK 17, xfsprogs, fio; with --tests also a Chromium, in which
# the report is looked at, memcached, xz, an SSH server, and moto, an AWS API server on this machine that `iopslab catalog refresh` is tested against; with --lint
# also shellcheck and cargo-deny. Says what it does before it does it; asks nothing. Does nothing when everything is there.
set -euo pipefail

# The public address of the Rust installer; set RUSTUP_INIT_URL to use a mirror.
RUSTUP_INIT_URL=${RUSTUP_INIT_URL:-https://sh.rustup.rs}
MINIMUM_RUST=1.91
CARGO_DENY=0.19.0

have() { command -v "$1" >/dev/null 2>&1; }
say() { printf '==> %s\n' "$*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif have sudo; then sudo "$@"
  else echo "error: need root for: $*  (run as root, or install sudo)" >&2; exit 1
  fi
}

java_is_right() {
  local java=${JAVA_HOME:+$JAVA_HOME/bin/}java
  have "$java" && "$java" -version 2>&1 | head -1 | grep -qE '"(11|17)[."]'
}

packages=()
have mkfs.xfs || [ -x /sbin/mkfs.xfs ] || packages+=(xfsprogs)
have fio || packages+=(fio)
have cc || packages+=(gcc)
have curl || packages+=(curl)
have losetup || [ -x /sbin/losetup ] || packages+=(util-linux)
java_is_right || packages+=(java)

if [ ${#packages[@]} -gt 0 ]; then
  if have apt-get; then
    names=("${packages[@]/#java/openjdk-17-jre-headless}")
    say "installing with apt-get: ${names[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${names[@]}" ca-certificates >/dev/null
  elif have dnf; then
    names=("${packages[@]/#java/java-17-openjdk-headless}")
    say "installing with dnf: ${names[*]}"
    as_root dnf install -y -q "${names[@]}"
  else
    echo "error: neither apt-get nor dnf here; install by hand: ${packages[*]} (java = JDK 17)" >&2
    exit 1
  fi
fi

if [ "${1:-}" = --lint ] && ! have shellcheck; then
  say "installing shellcheck"
  if have apt-get; then
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends shellcheck >/dev/null
  else
    as_root dnf install -y -q ShellCheck
  fi
fi

if [ "${1:-}" = --tests ] && ! have chromium && ! have chromium-browser && ! have google-chrome; then
  if have apt-get; then
    say "installing with apt-get: chromium"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
  else
    say "no Chromium here and no apt-get to install it: the report's browser test will be skipped"
  fi
fi

# Caches in front of a database.
if [ "${1:-}" = --tests ] && ! have memcached && have apt-get; then
  say "installing with apt-get: memcached"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends memcached >/dev/null
fi

# The binaries of PostgreSQL are packed by it.
if [ "${1:-}" = --tests ] && ! have xz && have apt-get; then
  say "installing with apt-get: xz-utils"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends xz-utils >/dev/null
fi

# Machines by SSH are tested in network namespaces of this one.
if [ "${1:-}" = --tests ] && have apt-get; then
  servers=()
  [ -x /usr/sbin/sshd ] || servers+=(openssh-server)
  have ssh || servers+=(openssh-client)
  have ip || [ -x /sbin/ip ] || servers+=(iproute2)
  have nft || [ -x /usr/sbin/nft ] || servers+=(nftables)
  if [ ${#servers[@]} -gt 0 ]; then
    say "installing with apt-get: ${servers[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${servers[@]}" >/dev/null
  fi
fi

# An AWS API server, in a Python environment of its own; IOPSLAB_MOTO_SERVER names another one.
moto=${XDG_CACHE_HOME:-$HOME/.cache}/iopslab/moto-5.2
if [ "${1:-}" = --tests ] && [ -z "${IOPSLAB_MOTO_SERVER:-}" ] && [ ! -x "$moto/bin/moto_server" ]; then
  say "installing moto (an AWS API server for tests) into $moto"
  if ! have python3 || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    have apt-get && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-venv >/dev/null
  fi
  rm -rf "$moto"
  python3 -m venv "$moto"
  "$moto/bin/pip" install --quiet --disable-pip-version-check 'moto[ec2,server]==5.2.*'
fi

# shellcheck source=/dev/null
[ -f "$HOME/.cargo/env" ] && . "$HOME/.cargo/env"
rust_is_right() {
  have cargo || return 1
  local version
  version=$(cargo --version | awk '{print $2}')
  [ "$(printf '%s\n%s\n' "$MINIMUM_RUST" "$version" | sort -V | head -1)" = "$MINIMUM_RUST" ]
}
if ! rust_is_right; then
  if have rustup; then
    say "updating the Rust toolchain to stable (iopslab needs $MINIMUM_RUST or newer)"
    rustup toolchain install stable --profile minimal
    rustup default stable
  else
    say "installing the Rust toolchain from $RUSTUP_INIT_URL into ~/.cargo"
    curl --proto '=https' --tlsv1.2 -sSf "$RUSTUP_INIT_URL" | sh -s -- -y --profile minimal
  fi
fi

# Compiled once, for some minutes.
if [ "${1:-}" = --lint ] && [ -z "${IOPSLAB_LINT_WITHOUT_DENY:-}" ]; then
  # shellcheck source=/dev/null
  [ -f "$HOME/.cargo/env" ] && . "$HOME/.cargo/env"
  if [ "$(cargo-deny --version 2>/dev/null)" != "cargo-deny $CARGO_DENY" ]; then
    say "installing cargo-deny $CARGO_DENY with cargo install: it is compiled for some minutes"
    cargo install --locked --quiet "cargo-deny@$CARGO_DENY"
  fi
fi
