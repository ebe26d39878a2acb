# Every target works from a fresh clone: it first creates the virtual environment that it needs.
# Stamp files inside an environment record its installation; a change of pyproject.toml triggers a
# new one.

PYTHON ?= python3
VENV := .venv
BENCH_VENV := .venv-bench
OLDEST_VENV := .venv-oldest
BIN := $(VENV)/bin
BASE := $(VENV)/.base
STAMP := $(VENV)/.installed
BENCH_STAMP := $(BENCH_VENV)/.installed
OLDEST_STAMP := $(OLDEST_VENV)/.installed
# Tests of one file share fitted models, so they run in one process.
PARALLEL := --numprocesses logical --maxprocesses 4 --dist loadfile
PYTEST := $(BIN)/python -m pytest $(PARALLEL)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all test-oldest check bench clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(BASE)  ## Fit, certify and explain a model on a small real dataset
	$(BIN)/python -m everystump.demo

test: $(STAMP)  ## Run the tests and the docstring examples
	$(PYTEST)

test-all: $(STAMP)  ## Run all tests, including slow ones
	$(PYTEST) -m ""

test-oldest: $(OLDEST_STAMP)  ## Run the tests with the oldest supported scikit-learn
	$(OLDEST_VENV)/bin/python -m pytest $(PARALLEL) -W ignore::pytest.PytestRemovedIn10Warning

check: $(STAMP)  ## Run the linter, and check formatting, types and import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(BENCH_STAMP)  ## Compare training times with other packages
	$(BENCH_VENV)/bin/python -m benchmarks $(BENCH)

clean:  ## Remove environments, caches and build artifacts
	rm -rf $(VENV) $(BENCH_VENV) $(OLDEST_VENV) build dist .pytest_cache .mypy_cache .ruff_cache \
		.import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call make-environment,folder,extra)
define make-environment
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "everystump needs Python 3.11 or newer, which '$(PYTHON)' is not:" \
			"run 'make PYTHON=/path/to/python3.11'." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(1)
	$(1)/bin/python -m pip install --quiet --editable '.[$(2)]'
endef

# The demo needs only this environment; development dependencies are added to it.
$(BASE): pyproject.toml
	$(call make-environment,$(VENV),plot)
	@touch $@

$(STAMP): $(BASE)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

$(BENCH_STAMP): pyproject.toml
	$(call make-environment,$(BENCH_VENV),bench)
	@touch $@

$(OLDEST_STAMP): pyproject.toml
	$(call make-environment,$(OLDEST_VENV),test)
	$(OLDEST_VENV)/bin/python -m pip install --quiet 'scikit-learn==1.7.*'
	@touch $@
