# Two commands do everything on a bare Debian or Ubuntu machine: `make demo` and `make test`.
# The rest are their parts.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint types contracts unit format docs clean
.DEFAULT_GOAL := help

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.train  ## score completions with every checker, then train the bundled recipe
	$(BIN)/python scripts/demo.py

test: lint types contracts unit  ## all checks: lint, types, import contracts, tests

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

# With a container engine: as root, one is installed and started for the tests if none answers.
unit: $(VENV)/.dev
	VENV=$(VENV) scripts/engine.sh run $(BIN)/pytest

format: $(VENV)/.dev  ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev  ## write the generated parts of docs/ anew
	$(BIN)/python scripts/generate_docs.py

clean:  ## remove the virtual environment
	rm -rf $(VENV)

# One stamp a set of extras: pip runs again only when pyproject.toml has changed.
$(VENV)/.train: pyproject.toml scripts/install.sh
	scripts/install.sh $(PYTHON) $(VENV) train
	touch $@

$(VENV)/.dev: pyproject.toml scripts/install.sh
	scripts/install.sh $(PYTHON) $(VENV) train,dev
	touch $@ $(VENV)/.train
