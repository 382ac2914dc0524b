# Needs make and Python 3.11 or newer; everything else comes from requirements/dev.lock.
# `make` alone prints what there is.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
UV     ?= build/lock/bin/uv

DEMO   ?= $(BIN)/blockwire demo
BENCH  ?= $(BIN)/python bench/run.py
FUZZ   ?= $(BIN)/python fuzz/run.py --minutes 10
CRASH  ?= $(BIN)/python tests/crash/harness.py --runs 200
SOAK   ?= $(BIN)/python tests/soak/soak.py --minutes 2
PYTEST ?= $(BIN)/python -m pytest

# What the formatter, the linter and mypy look at; bench and fuzz are programs of the workbench.
SOURCES := src tests $(wildcard bench fuzz docs/examples docs/pictures docs/conf.py)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-full cover check format format-check lint types layers api docs \
        examples web web-check bench fuzz schema-attack page-attack crash soak lock clean install

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## Environment ---------------------------------------------------------------------------------

install: $(BIN)/.project-installed ## Create .venv from the lock (the other targets do it by themselves)

$(BIN)/.lock-installed: requirements/dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "blockwire needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11")'
	@echo "Setting up $(VENV) from requirements/dev.lock; a minute or two, once, and again when the lock changes."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@touch $@

$(BIN)/.project-installed: $(BIN)/.lock-installed pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

## Use -----------------------------------------------------------------------------------------

demo: install ## Three recorded answers through gateway, SQLite and SSE; one cut, one killed
	@$(DEMO)

## Test ----------------------------------------------------------------------------------------

test: install ## Every test but the slow ones
	$(PYTEST) -m "not slow"

test-full: install ## What coverage leaves out: slow and exhaustive tests, properties with 300 examples
	$(BIN)/python -m tests.full_runs

cover: install ## Tests under coverage: 100 % per room below the line, 95 % of the whole
	$(BIN)/python tests/coverage_rooms.py

# What only reads runs side by side; what runs the tests has a pool of its own.
check: install ## All that must hold before a commit is shared
	$(MAKE) --no-print-directory -j2 format-check lint types layers docs
	$(MAKE) --no-print-directory cover
	$(MAKE) --no-print-directory test-full

format: install ## Rewrite the code in the house format
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

format-check: install
	$(BIN)/ruff format --check $(SOURCES)

lint: install ## ruff
	$(BIN)/ruff check $(SOURCES)

types: install ## mypy, strict
	$(BIN)/mypy src tests $(wildcard bench fuzz)

layers: install ## Which room may import which
	$(BIN)/lint-imports --no-cache

api: install ## Write tests/public_api.txt anew after a decision to add or drop a public name
	$(BIN)/python -m tests.test_public_api

examples: install ## Run what docs/examples shows
	$(PYTEST) tests/docs

docs: install ## Build the documentation into docs/_build; a warning is an error
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build

## The page ------------------------------------------------------------------------------------

# Node 20 and npm are needed here and nowhere else: what is built is committed.
NPM ?= npm

web: web/node_modules/.package-lock.json ## Lint, type-check, test and build the page; commit what it writes
	cd web && $(NPM) run --silent check

web-check: web/node_modules/.package-lock.json ## The same, but build elsewhere and compare with what is committed
	cd web && $(NPM) run --silent lint && $(NPM) run --silent types && $(NPM) run --silent test
	rm -rf build/page
	cd web/page && ../node_modules/.bin/vite build --logLevel warn --outDir ../../build/page
	node web/page/build/manifest.mjs build/page
	@diff -r build/page src/blockwire/web/static && echo "the built page is that of its sources" \
	  || { echo "the built page is older than its sources, or from elsewhere: make web"; exit 1; }

# Nothing that is installed is run.
web/node_modules/.package-lock.json: web/package-lock.json web/.npmrc
	cd web && $(NPM) ci --ignore-scripts --no-fund --no-audit
	@touch $@

## Long runs -----------------------------------------------------------------------------------

bench: install ## Measure against the figures of the performance page (SQLite, nchan, Starlette)
	$(BENCH)

schema-attack: install ## A thousand requests to each route, made of the OpenAPI document
	SCHEMA_EXAMPLES=1000 $(PYTEST) tests/gateway/http/test_schemathesis.py

page-attack: install ## Every hostile payload in every place of a message, in the page
	HOSTILE_STRIDE=1 $(PYTEST) tests/page/test_hostile.py --timeout=1800

fuzz: install ## Ten minutes of random bytes and mutations at every reader
	$(FUZZ)

soak: install ## Two minutes of 60 producers, 200 readers and two restarts: nothing lost, no memory kept
	$(SOAK)

crash: install ## 200 times SIGKILL in mid-answer: nothing seen is lost, nothing doubled
	$(CRASH)

## House keeping -------------------------------------------------------------------------------

LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header

lock: ## Resolve the dependencies anew: make lock UPGRADE=--upgrade takes newer releases
	@test -x $(UV) || { $(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet uv; }
	$(LOCK) $(UPGRADE) --output-file requirements/run.lock pyproject.toml
	$(LOCK) $(UPGRADE) --output-file requirements/dev.lock --constraint requirements/run.lock --extra term --extra previews --group dev pyproject.toml

clean: ## Remove what was built, except .venv
	rm -rf build dist web/core/dist docs/_build htmlcov .coverage .coverage.* .hypothesis
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find src tests -name __pycache__ -type d -exec rm -rf {} +
