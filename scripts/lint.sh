#!/usr/bin/env bash
# What is checked before the tests: format, clippy with and without the features `aws` and `tls`, documentation, Terraform modules, shell scripts.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --all -- --check
cargo clippy --workspace --all-targets --locked -- -D warnings
cargo clippy -p iopslab -p provider -p database --all-targets --features iopslab/aws,iopslab/tls --locked -- -D warnings
RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --document-private-items --locked --quiet
scripts/terraform.sh
shellcheck scripts/*.sh bench/*.sh .ci/*
