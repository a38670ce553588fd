# `make demo` and `make test` set up everything they need; the rest is for people who work on Assay.

PYTHON  ?= python3
SANDBOX ?= auto
VENV    := .venv
BIN     := $(VENV)/bin

.PHONY: demo test lint clean
.DEFAULT_GOAL := help

help:
	@echo "make demo                 score the demo model on the starter set, end to end, without any key"
	@echo "make demo SANDBOX=docker  the same in Docker containers"
	@echo "make test                 run the tests"
	@echo "make lint                 ruff, mypy --strict, import rules"

$(VENV)/.ready: pyproject.toml
	@echo "Setting up $(VENV) with $(PYTHON) (Python 3.11 or newer) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Assay needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -e '.[dev]'
	@touch $@

demo: $(VENV)/.ready
	@if [ "$(SANDBOX)" = docker ]; then .ci/engine with $(BIN)/assay demo --sandbox docker; \
	 else $(BIN)/assay demo --sandbox $(SANDBOX); fi

test: $(VENV)/.ready
	$(BIN)/pytest -n 2

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
