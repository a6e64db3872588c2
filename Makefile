# Everything from a fresh machine with Python 3.11+, git and make: each target creates the venv it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.installed
STORE  ?= paramid-store

.PHONY: help demo test check format lint types asv asv-history asv-publish clean

help:
	@echo "make demo    install, run the quick suite, print its table"
	@echo "make test    every test"
	@echo "make check   format, lint, types, tests"
	@echo "make format  rewrite the sources in the project's format"
	@echo "make reproduce-shallow  run the suites beside the thesis and write docs/shallow.md (an hour); likewise the other pages"
	@echo "make asv     run the ASV suite on the current commit"
	@echo "make asv-history N=8  run a part of it on the last eight commits"
	@echo "make asv-publish  write .asv/html/index.html, the curves over commits"

$(READY): pyproject.toml setup.py constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt setuptools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	touch $@

demo: $(READY)
	$(BIN)/paramid compare --suite quick --store $(STORE)

test: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

check: lint types test

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# Type checkers do not follow the editable hook: they get a tree of links in the shape of the installed package.
types: $(READY)
	rm -rf .types
	mkdir -p .types/paramid
	ln -sfn $(CURDIR)/harness/* .types/paramid/
	ln -sfn $(CURDIR)/methods .types/paramid/methods
	ln -sfn $(CURDIR)/tasks .types/paramid/tasks
	MYPYPATH=.types $(BIN)/mypy -p paramid

reproduce-%: $(READY)
	$(BIN)/python -m benchmarks.reproduce $* --store $(STORE)

# Results of MACHINE=reference are kept in the repository; those of any other name are yours.
MACHINE ?= here
N       ?= 8
BENCH   ?= cells.Few|kernels

asv: $(READY)
	$(BIN)/asv machine --yes --machine $(MACHINE)
	$(BIN)/asv run --machine $(MACHINE) -E existing:$(BIN)/python --set-commit-hash $$(git rev-parse HEAD)

# Bare virtualenvs that see this one's packages: benchmarks/environment.py.
asv-history: $(READY)
	$(BIN)/asv machine --yes --machine $(MACHINE)
	git rev-list --first-parent -n $(N) HEAD | PARAMID_PACKAGES=$$($(BIN)/python -c \
	  'import sysconfig; print(sysconfig.get_path("purelib"))') \
	  $(BIN)/asv run --machine $(MACHINE) --skip-existing-commits --bench '$(BENCH)' HASHFILE:-

asv-publish: $(READY)
	$(BIN)/python -m benchmarks.publish --results benchmarks/results --out .asv/html/index.html

clean:
	rm -rf $(VENV) .types build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
