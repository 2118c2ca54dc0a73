#!/usr/bin/env bash
# What is checked before the tests: format, clippy with and without the features `aws` and `tls`, documentation, Terraform modules, shell scripts.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --all -- --check
cargo clippy --workspace --all-targets --locked -- -D warnings
cargo clippy -p iopslab -p provider -p database --all-targets --features iopslab/aws,iopslab/tls --locked -- -D warnings
RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --document-private-items --locked --quiet
# Licences, advisories and sources of dependencies. It is compiled for minutes, so that nobody has to have it: ci.yml does.
if command -v cargo-deny >/dev/null; then
  cargo deny --all-features check
else
  echo "lint: cargo-deny is not installed, deny.toml is not checked (cargo install --locked cargo-deny)"
fi
scripts/terraform.sh
shellcheck scripts/*.sh bench/*.sh .ci/*
