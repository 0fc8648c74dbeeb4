# Everything a developer runs. Needs Python 3.11 or newer and make; the rest is fetched into .venv.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON3 ?= python3
VENV ?= .venv
PYTHON := $(VENV)/bin/python
PORT ?= 8080
TORTURE ?= 20
PACKAGES := manage.py ampup_site accounts memory bench tests $(wildcard mcp_gateway)

-include mk/*.mk

help: ## list these commands
	@grep -hE '^[a-z_-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/.local: requirements/local.txt pyproject.toml
	test -x $(PYTHON) || $(PYTHON3) -m venv $(VENV)
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/local.txt
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.local requirements/dev.txt
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	touch $@

setup: $(VENV)/.local ## make .venv with what serving needs
setup-dev: $(VENV)/.dev ## make .venv with what tests and checks need too

serve: setup ## serve at http://127.0.0.1:8080 with an embedded Postgres (PORT=…)
	$(VENV)/bin/ampup-memory serve --local --port $(PORT)

test: setup-dev ## run the tests but the torture
	$(PYTHON) -m pytest tests -q -m "not torture" $(TESTS)

torture: setup-dev ## run the crash tests, TORTURE rounds each
	TORTURE=$(TORTURE) $(PYTHON) -m pytest tests -q -m "torture or deaths" $(TESTS)

check: setup-dev ## format, lint, types, import contracts, migrations, house rules
	$(PYTHON) -m ruff format --check $(PACKAGES)
	$(PYTHON) -m ruff check $(PACKAGES)
	$(PYTHON) -m mypy $(PACKAGES)
	$(VENV)/bin/lint-imports
	DJANGO_SETTINGS_MODULE=ampup_site.settings.test $(PYTHON) manage.py check
	DJANGO_SETTINGS_MODULE=ampup_site.settings.test $(PYTHON) -W ignore manage.py makemigrations --check --dry-run
	$(PYTHON) -m pytest tests/architecture -q

pins: setup-dev ## write requirements/*.txt anew from the *.in files
	$(foreach set,base local dev prod,$(PYTHON) -m piptools compile --quiet --generate-hashes --allow-unsafe \
	  --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-header \
	  --output-file requirements/$(set).txt requirements/$(set).in &&) true

clean: ## remove .venv and caches, but no memory
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info

.PHONY: help setup setup-dev serve test torture check pins clean
