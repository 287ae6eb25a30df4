# Two commands take a fresh clone anywhere: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
# A file's tests stay in one worker, so that what they share is made once; in this order, the longest files come early.
BY_FILE := --dist loadfile --no-loadscope-reorder
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-external lint types docs bench clean

demo: $(VENV)/.core
	$(BIN)/wardround demo --out runs/demo

test: $(VENV)/.dev lint types
	WARDROUND_COVERAGE=1 $(BIN)/python -m pytest -q -n 2 $(BY_FILE) -m "not external"

test-external: $(VENV)/.dev
	$(BIN)/python -m pytest -q -m external

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build -q
	@echo "docs            build/site/index.html"

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.run

# An editable install, so that the checkout and what runs are one thing.
$(VENV)/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

# What mcp 2 needs is pinned apart, since openenv, which is never installed here, needs mcp 1.
$(VENV)/.dev: pyproject.toml constraints.txt constraints-mcp.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints-mcp.txt -e '.[dev]'
	touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) runs build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
