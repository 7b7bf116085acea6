# Every target sets up what it needs; what is done is marked in .venv, so that it is done once.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON := .venv/bin/python
FAST_TESTS := $(wildcard tests/unit tests/scenarios tests/golden tests/sim tests/tidy)
ORACLE := $(wildcard tests/conformance/jars.py tests/conformance/pom.xml)
# Every process asks Kafka through three of Java, so that more of them would only wait for memory.
PARALLEL := -n auto --maxprocesses=4 --dist=worksteal
KERNELS := $(wildcard src/ottla/kernels/*.py src/ottla/kernels/*.pxd)
EXECUTIONS ?= 10000000
SECONDS ?= 1800
SEED ?= 1
FUZZ = fuzz.run --executions $(EXECUTIONS) --seconds $(SECONDS) --seed $(SEED)

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

setup: .venv/packages.done .venv/kernels.done .venv/oracle.done ## install what the others need, once; kernels are compiled in place
	@:

run: setup ## start a broker to develop against, on port 9092
	@$(PYTHON) -m ottla dev

check: setup lint ## the one-minute loop: format, lint, types, fast tests
	@$(PYTHON) -m pytest -q $(PARALLEL) $(FAST_TESTS)

test: setup lint ## everything
	@$(PYTHON) -m pytest -q $(PARALLEL)

lint: setup ## format, lint and both type checkers, changing nothing
	@$(PYTHON) -m ruff format --check --quiet || { echo 'type: $(PYTHON) -m ruff format'; exit 1; }
	@$(PYTHON) -m ruff check --quiet
	@$(PYTHON) -m mypy --no-error-summary
	@$(PYTHON) -m pyright --warnings

bench: setup ## measure; each figure in the documents names the bench that gave it
	@for file in bench/*.py; do $(PYTHON) -m "bench.$$(basename "$$file" .py)" || exit 1; done

fuzz: setup ## give every reader of bytes changed inputs: EXECUTIONS (10000000), SECONDS at most (1800), SEED (1)
	@$(PYTHON) -m $(FUZZ)

sanitize: setup ## the same with kernels that check every access, some four times slower
	@$(PYTHON) -m fuzz.variants sanitized $(FUZZ) --exact

crashes: setup ## open every crash image of every workload of three operations on a log; hours
	@$(PYTHON) -m tests.crashes.whole

clean: ## remove what was built, the environment included
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis src/*.egg-info
	find src tests bench fuzz -name __pycache__ -prune -exec rm -rf {} +
	find src -name '*.so' -delete

.venv/packages.done: pyproject.toml
	@.ci/make-venv
	@touch $@

# Not done while they are uncompiled, so that it is tried again once there is a compiler.
.venv/kernels.done: setup.py $(KERNELS) .venv/packages.done
	@$(PYTHON) setup.py -q build_ext --inplace
	@if $(PYTHON) -W ignore -c 'import ottla.kernels as k; exit(not k.compiled)'; then touch $@; fi

# Without Java the project works; only the tests that ask Kafka itself cannot run, and say so.
.venv/oracle.done: .ci/install-java $(ORACLE) .venv/packages.done
	@if .ci/install-java && $(if $(ORACLE),$(PYTHON) tests/conformance/jars.py,true); then touch $@; fi

.PHONY: help setup run check test lint bench fuzz sanitize crashes clean
