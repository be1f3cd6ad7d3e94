# Everything is made in .venv inside this folder, from the exact versions and hashes in requirements/.
# Needed beforehand: Python 3.11 or newer (with its venv module), make and a package index that pip can reach.
# ARGS reaches the command behind a target: make demo ARGS="--fault prefix_cut", make test ARGS="tests/core -x".

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; break; }; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal
# Tests that start a built collector, Prometheus, Alertmanager and the services of an example, and so take minutes.
STACK := tests/collector tests/stack
WITHOUT_STACK := $(addprefix --ignore ,$(STACK))
ARGS ?=

.PHONY: help demo test check format lint types contracts coverage bench fuzz soak mutants pictures page-vendor grafana requirements collector stack stack-test clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.demo ## Watch a real retrieval pipeline over the standard library's documentation, and draw it on a page.
	@mkdir -p .work
	@$(BIN)/rop-otel demo --html .work/demo.html $(ARGS)

test: .venv/.dev ## Run all tests but those of make stack-test, on every core (ARGS="tests/core -x -n 0" for a part, on one).
	@echo "Running all tests ..."
	@$(PYTEST) $(WITHOUT_STACK) $(ARGS)

check: lint types contracts coverage ## Everything that a change needs: format, lint, types, contracts, tests, docs that run.
	@echo "Everything holds."

format: .venv/.dev ## Format the sources and mend what ruff can mend.
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

lint: .venv/.dev ## Check format and lint (ruff).
	@echo "Checking the format and linting ..."
	@$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --check .; exit 1; }
	@$(BIN)/ruff check --quiet .

types: .venv/.dev ## Check types (mypy, strict).
	@echo "Checking types ..."
	@$(BIN)/mypy

contracts: .venv/.dev ## Check who may import whom (import-linter).
	@echo "Checking the import contracts ..."
	@$(BIN)/lint-imports

coverage: .venv/.dev ## Run the same tests, the docs' code among them, and report branch coverage.
	@echo "Running all tests with branch coverage ..."
	@$(PYTEST) $(WITHOUT_STACK) --cov --cov-report=term $(ARGS)

bench: .venv/.dev ## Run the benchmarks (the stack's where the collector is built), write benchmarks/results.md and the README's figures (minutes).
	@$(BIN)/python benchmarks/report.py $(ARGS)
	@$(BIN)/python -m tests.docs.costs

soak: .venv/.dev ## Leave generators and streams to the garbage collector for ten minutes: make soak ARGS="--seconds 60 --threshold 50".
	@$(BIN)/python -m tests.safety.soak --seconds 600 $(ARGS)

fuzz: .venv/.dev ## Run random programs decorated and bare, and print the first that differs: ARGS="--programs 1000000 --seed 1" (half an hour).
	@$(BIN)/python -m tests.safety.fuzz $(ARGS)

mutants: .work/mutants/.made ## Change the ROP checks in thousands of small ways, and list those that no test notices (ten minutes).
	@.work/mutants/bin/mutmut run $(ARGS)
	@.work/mutants/bin/mutmut results | { grep -v 'not checked' || true; }

pictures: .venv/.dev ## Draw docs/pictures anew from what the demo prints and from its page (needs Chromium).
	@$(BIN)/python docs/pictures/make.py

page-vendor: .venv/.dev ## Copy the page's libraries, and the one that tests it, anew from npm (needs npm), by version and hash.
	@$(BIN)/python -m tests.page.vendoring

grafana: .venv/.dev ## Write grafana/dist and the runbook anew from their sources.
	@$(BIN)/python -m tests.grafana.committed

collector: ## Build the OpenTelemetry collector of collector-config (needs go), once, and print where it is.
	@collector-config/build.sh

stack: .venv/.dev collector ## Run application, collector, monitor, Prometheus and Alertmanager to look at, with a fault to put in.
	@$(BIN)/python -m tests.stack.by_hand

stack-test: .venv/.dev collector ## Test the stack from a fault to the webhook, and the collector's configurations.
	@$(BIN)/python -m pytest $(STACK) $(ARGS)

COMPILE = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate --no-emit-index-url --no-emit-find-links pyproject.toml
requirements: .venv/.dev ## Pin anew the newest versions that pyproject.toml allows.
	@$(COMPILE) --extra cpu --extra study --extra parquet --extra grafana --group dev --output-file requirements/dev.txt
	@$(COMPILE) --extra cpu --extra study --extra monitor --group build --constraints requirements/dev.txt --output-file requirements/demo.txt
	@$(COMPILE) --constraints requirements/dev.txt --output-file requirements/base.txt
	@$(COMPILE) --group test --group mutants --constraints requirements/dev.txt --output-file requirements/mutants.txt
	@echo "Wrote requirements/*.txt; run make check."

clean: ## Remove the environment and everything that the tools left.
	@rm -rf .venv .work mutants build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage*
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/pyvenv.cfg:
	@test -n "$(PYTHON)" && $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed; found $(or $(PYTHON),none on the PATH)." \
		"Name one: make PYTHON=/path/to/python3" >&2; exit 2; }
	@echo "Making .venv with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "$(PYTHON) could not make a virtual environment" \
		"(on Debian and Ubuntu: install python3-venv)." >&2; exit 2; }

.venv/.demo: requirements/demo.txt pyproject.toml | .venv/pyvenv.cfg
	@echo "Installing the pinned packages of the demo into .venv ..."
	@$(PIP) install --require-hashes --requirement requirements/demo.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# The packages of the tests include those of the demo, so this makes the other stamp too.
.venv/.dev: requirements/dev.txt requirements/demo.txt pyproject.toml | .venv/pyvenv.cfg
	@echo "Installing the pinned packages of the tests into .venv ..."
	@$(PIP) install --require-hashes --requirement requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation $(patsubst %,--editable %,. $(wildcard instrumentation/rop-otel-*))
	@touch .venv/.demo $@

# Apart from the tests' environment: what the tool brings need not agree with what they run with.
.work/mutants/.made: requirements/mutants.txt | .venv/pyvenv.cfg
	@echo "Installing the mutation tool into .work/mutants ..."
	@$(BIN)/python -m venv --clear .work/mutants
	@.work/mutants/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes --requirement requirements/mutants.txt
	@touch $@
