# Every target sets up what it needs in a local environment; Python 3.11+ and a package index suffice.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-slow test-cluster lint format docs bench mutants corpus reproduce clean

demo: $(VENV)/.package  ## fit a classifier to real loans and explain how one that was refused would be granted
	$(BIN)/surefoot demo

test: $(VENV)/.test  ## run the tests, doctests included, but for those marked as slow
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow" $(PYTEST_ARGS)

test-slow: $(VENV)/.test  ## run the tests marked as slow: more seeds, signals, widths and problems of the same kinds
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow tests $(PYTEST_ARGS)

test-cluster: $(VENV)/.test $(VENV)/.cluster  ## the same rows through Dask, Ray and Spark (Java 17), with workers killed on the way
	$(BIN)/python -m pytest -p no:xdist --show-capture=no tests/cluster $(PYTEST_ARGS)

lint: $(VENV)/.lint  ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.lint  ## put the code into its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs  ## build the documentation into docs/_build/html; warnings are errors
	rm -rf docs/api/generated  # pages of names that are gone would be warnings
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: $(VENV)/.bench  ## measure speed against other implementations, side by side
	$(BIN)/python benchmarks/run.py

mutants: $(VENV)/.test  ## put small faults into the checker one at a time; the tests must notice each (hours)
	$(BIN)/python benchmarks/audit/mutants.py $(MUTANTS_ARGS)

corpus: $(VENV)/.test  ## the same requests of an earlier checkout and of this one, byte for byte: make corpus BEFORE=CHECKOUT
	PYTHONPATH=$(BEFORE)/src $(BIN)/python -m tests.corpus write .corpus/before
	$(BIN)/python -m tests.corpus write .corpus/now
	$(BIN)/python -m tests.corpus compare .corpus/before .corpus/now

reproduce: $(VENV)/.package  ## the paper's experiments, the quick form; into results/
	$(BIN)/surefoot reproduce --quick --output results

clean:
	rm -rf $(VENV) docs/_build docs/api/generated docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "surefoot needs Python 3.11 or newer; set PYTHON=...")'
	@echo "setting up $(VENV); the first time this takes about a minute"
	@$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --upgrade "pip>=25.1"
	@touch $@

KERNEL := src/surefoot/search/certified/kernel.c

$(VENV)/.package: $(VENV)/.created pyproject.toml constraints.txt hatch_build.py $(KERNEL)
	$(PIP) --editable ".[plots,solvers]"
	@touch $@

$(VENV)/.test $(VENV)/.lint $(VENV)/.docs $(VENV)/.cluster: $(VENV)/.%: $(VENV)/.package
	$(PIP) --group $*
	@touch $@

$(VENV)/.bench: $(VENV)/.package
	$(PIP) --group bench
	$(PIP) --no-deps gcastle==1.0.4
	@touch $@
