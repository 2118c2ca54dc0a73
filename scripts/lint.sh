#!/usr/bin/env bash
# What is checked before the tests: format, clippy with and without the features `aws` and `tls`, documentation, dependencies, Terraform modules,
# shell scripts.
# scripts/lint.sh [--without-compiling]: format, Terraform modules and shell scripts alone.
set -euo pipefail
cd "$(dirname "$0")/.."

without_compiling() {
  cargo fmt --all -- --check
  scripts/terraform.sh
  shellcheck scripts/*.sh bench/*.sh .ci/*
}
if [ "${1:-}" = --without-compiling ]; then
  without_compiling
  exit
fi

# Licences, advisories and sources of dependencies. Whoever has to install cargo-deny learns it at once.
if [ -n "${IOPSLAB_LINT_WITHOUT_DENY:-}" ]; then
  deny=(echo "lint: deny.toml is not checked (IOPSLAB_LINT_WITHOUT_DENY)")
elif command -v cargo-deny >/dev/null; then
  deny=(cargo deny --all-features check)
else
  echo "error: cargo-deny is not installed, so that deny.toml cannot be checked; install it with: scripts/setup.sh --lint" >&2
  echo " help: where its database of advisories is out of reach, IOPSLAB_LINT_WITHOUT_DENY=1 leaves this check out" >&2
  exit 1
fi

without_compiling
all=(--workspace --features "iopslab/aws,iopslab/tls" --locked)
cargo clippy "${all[@]}" --all-targets --no-deps -- -D warnings
# Without the features: what is compiled then, and the one program of tests with a test for it. Of the whole workspace, as above, since
# a part of it asks its dependencies for less, and what is built on tokio would be compiled again. `--no-deps`, which both state: a crate
# that is the same with and without features is not linted again.
cargo clippy --workspace --lib --bins --test bad_input --locked --no-deps -- -D warnings
RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc "${all[@]}" --no-deps --document-private-items --quiet
"${deny[@]}"
