#!/usr/bin/env bash
# What is checked before the tests: format, clippy with and without the features `aws` and `tls`, documentation, Terraform modules, shell scripts.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --all -- --check
all=(--workspace --features "iopslab/aws,iopslab/tls" --locked)
cargo clippy "${all[@]}" --all-targets -- -D warnings
# Without the features: what is compiled then, and the one program of tests with a test for it.
cargo clippy -p iopslab -p controller -p database --lib --bins --test bad_input --locked -- -D warnings
RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc "${all[@]}" --no-deps --document-private-items --quiet
# Licences, advisories and sources of dependencies. It is compiled for minutes, so that nobody has to have it: ci.yml does.
if command -v cargo-deny >/dev/null; then
  cargo deny --all-features check
else
  echo "lint: cargo-deny is not installed, deny.toml is not checked (cargo install --locked cargo-deny)"
fi
scripts/terraform.sh
shellcheck scripts/*.sh bench/*.sh .ci/*
