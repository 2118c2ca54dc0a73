# Two commands for users: `make demo` and `make test`. Both install what is missing first.
SHELL := /bin/bash
.ONESHELL:
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export PATH := $(HOME)/.cargo/bin:$(PATH):/sbin:/usr/sbin

.PHONY: help setup build demo test truth lint bench

help:           ## what can be made
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

setup:          ## install what is missing (Rust, JDK 17, xfsprogs, fio)
	@scripts/setup.sh

build: setup    ## build the release binary
	@echo "==> building iopslab (release)"
	cargo build --release --locked -p iopslab

demo: build     ## run examples/quickstart.toml on emulated volumes of this machine
	@echo "==> target/release/iopslab run examples/quickstart.toml"
	target/release/iopslab run examples/quickstart.toml

test:           ## every test, with a real Cassandra, real volumes and a browser
	@scripts/setup.sh --tests
	cargo test --workspace --locked --no-fail-fast

truth:          ## every rate that docs/method.md quotes, measured on simulated truth (no root, no Java; about 15 minutes)
	IOPSLAB_TRUTH=1 cargo test -p iopslab --locked --test truth -- --nocapture 2>&1 | grep -E '^\| |^test ' | sort

lint: setup     ## format and clippy
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

bench: build    ## client cost per operation: iopslab's engine and latte, interleaved, on one Cassandra
	bench/bench.sh
