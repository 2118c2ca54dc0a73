# Commands for users (`make demo`) and for those who change iopslab (`make test`, `make lint`). Each installs what it misses first.
SHELL := /bin/bash
.ONESHELL:
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Crates that are pure: those with the ban of files, network, processes and clocks.
PURE := $(patsubst crates/%/clippy.toml,%,$(wildcard crates/*/clippy.toml))
# A runner's service may have none.
export HOME ?= $(shell getent passwd "$$(id -u)" | cut -d: -f6)
TARGET := $(or $(CARGO_TARGET_DIR),target)
export PATH := $(HOME)/.cargo/bin:$(PATH):/sbin:/usr/sbin

.PHONY: help setup build demo check test test-all test-scales test-kills test-mutants test-vm truth lint fuzz bench bench-scale bench-volumes dist

help:           ## what can be made
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 16

setup:          ## install what is missing (Rust, JDK 17, xfsprogs, fio)
	@scripts/setup.sh

build: setup    ## build the binary: soon rather than optimised everywhere (make dist: the released one)
	@echo "==> building iopslab"
	cargo build --profile quick --locked -p iopslab

demo: build     ## run examples/quickstart.toml on emulated volumes of this machine
	@echo "==> $(TARGET)/quick/iopslab run examples/quickstart.toml"
	$(TARGET)/quick/iopslab run examples/quickstart.toml

check:          ## format, pure crates, the house, docs and refusals: minutes, no root, no Java
	cargo fmt --all -- --check
	cargo test --locked $(PURE:%=-p %) -p guarded -p wire -p archive
	cargo test --locked -p iopslab --features iopslab/aws,iopslab/tls --test architecture --test docs --test bad_input --test plan_stories

test:           ## every test, with a real Cassandra, real volumes, an AWS API server and a browser
	@scripts/setup.sh --tests
	scripts/test.sh $(BESIDE)

test-all:       ## the same and the long stories of AWS: twelve configurations, its refusals, a killed controller
	@scripts/setup.sh --tests
	scripts/test.sh
	scripts/long-stories.sh

test-scales:    ## one ratio of two volumes at 1:64, 1:16 and 1:4, with a real Cassandra (root; about half an hour on a quiet machine)
	@scripts/setup.sh --tests
	JAVA_HOME=$$(scripts/java-for-tests.sh) cargo test -p iopslab --locked --test machine -- --ignored --nocapture scales::

test-kills: build  ## SIGKILL to a random process of a run, N=200 times: what is left on the machine, and what is lost (root)
	JAVA_HOME=$$(scripts/java-for-tests.sh) scripts/kills.py $(or $(N),200)

test-mutants:   ## a thousand run directories with one file changed: no panic, no hang, bounded memory
	IOPSLAB_MUTANTS=$(or $(N),1000) cargo test -p iopslab --locked --test stories mutants -- --nocapture

test-vm:        ## storage, served volumes and tiny runs, a client near and far, in a Debian 12 with cgroup v2 (QEMU; needs root)
	@scripts/vm.sh

truth:          ## every rate that docs/method.md quotes, measured on simulated truth (no root, no Java; about half an hour)
	IOPSLAB_TRUTH=1 cargo test --release -p iopslab --locked --test truth -- --nocapture 2>&1 | grep -E '^\| |^test ' | sort

lint:           ## format, clippy, documentation, dependencies, Terraform modules, shell scripts
	@scripts/setup.sh --lint
	scripts/lint.sh

fuzz:           ## parsers of files and decoders of what others send, a minute each
	scripts/fuzz.sh

bench: setup    ## client cost per operation: alone against a null server, then beside latte on one Cassandra
	bench/bench.sh

bench-scale:    ## what one controller carries: 4 to 60 hosts whose agents are processes of this machine
	bench/scale.sh

bench-volumes: setup  ## what emulated volumes deliver: six types beside their model, and beside the kernel's throttle (root; 8 minutes)
	cargo build --release --locked -p iopslab
	bench/volumes.py

dist:           ## static binaries with man pages, completions and checksums, and Debian packages, in dist/
	scripts/dist.sh
