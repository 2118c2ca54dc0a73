#!/usr/bin/env bash
# Stories that `make test` leaves out (`#[ignore = "make test-all"]`): each spends half a minute and more of CPU in Terraform,
# or minutes in which hosts are away.
set -euo pipefail
cd "$(dirname "$0")/.."
JAVA_HOME=$(scripts/java-for-tests.sh)
export JAVA_HOME
cargo build -p iopslab --features aws,tls --locked --example simulated_agent
cargo test -p iopslab --features aws,tls --locked --test machine -- --ignored --skip scales:: --test-threads 2
