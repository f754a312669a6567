# What people do with the project; `make help` lists it. Every target makes the environment it needs.
.DEFAULT_GOAL := help
.PHONY: help setup lock record-release test test-slow test-installation test-postgres test-httpx2 proof crash soak fuzz simulate crash-sweep mutation bench bench-freshness bench-pages bench-scale load cost check docs audit sbom sandbox-package release demo up down
BIN := .venv/bin
# Where a machine forbids cached bytecode, each of the many processes would compile Airflow anew, for seconds.
export PYTHONDONTWRITEBYTECODE :=

help:    ## this list
	@sed -n 's/^\([a-z-]*\): .*## /make \1	/p' Makefile | expand -t 16

setup:   ## the environment in .venv, from requirements-dev.txt
	@scripts/setup.sh

lock: setup   ## requirements*.in -> requirements*.txt; ARGS=--upgrade for newer versions
	@scripts/lock.sh $(ARGS)

test: setup   ## the tests, some five minutes on two cores; ARGS="-k word" for some of them
	@$(BIN)/python -m pytest -n 2 --dist loadfile --timeout=300 -m "not slow and not scale" $(ARGS)

test-slow: setup   ## the long ones, most of an hour: a whole installation, real kills, large data, real minutes; ARGS="-k word"
	@scripts/test_slow.sh $(ARGS)

test-installation: setup   ## of these, the installation alone: every DAG, command and page, and a short soak; ARGS="-k word"
	@$(BIN)/python -m pytest -m "installation and slow and not proof" $(ARGS)

test-postgres: setup   ## migrations, ledger and query plans on another PostgreSQL, Debian's by default; FOLDER=/usr/lib/postgresql/15
	@scripts/test_postgres.sh "$(FOLDER)" $(ARGS)

test-httpx2: setup   ## the client's tests on httpx2, the continuation of httpx; ARGS="-k word"
	@scripts/test_httpx2.sh $(ARGS)

proof: setup   ## every long proof, some days on two cores, for a weekly job; PARTS="mutation soak" SEEDS=1000 KILLS=50 MINUTES=60
	@PARTS="$(PARTS)" SEEDS="$(SEEDS)" KILLS="$(KILLS)" MINUTES="$(MINUTES)" scripts/proof.sh

crash: setup   ## real processes killed with -9 at seeded instants; KILLS=50 SEED=1, some half an hour
	@PYTHONPATH=tests:tests/support:sandbox/tests/support:include $(BIN)/python -m crash --kills $(or $(KILLS),50) --seed $(or $(SEED),1)

soak: setup   ## a real installation at work while everything around it goes wrong; MINUTES=20 SEED=1
	@PYTHONPATH=tests:tests/support:sandbox/tests/support:include $(BIN)/python -m soak --minutes $(or $(MINUTES),20) --seed $(or $(SEED),1) $(ARGS)

fuzz: setup   ## ever new faulty input at each endpoint, file and form; SECONDS=60 for each
	@FUZZ_S=$(or $(SECONDS),60) $(BIN)/python -m pytest -n 2 --timeout=0 -m slow -k "for_a_minute or test_fuzz" $(ARGS)

simulate: setup   ## seeded faults over virtual days; SEEDS=100 START=0
	@PYTHONPATH=tests:tests/support:sandbox/tests/support:include $(BIN)/python -m simulation --seeds $(or $(SEEDS),20) --start $(or $(START),0) $(ARGS)

crash-sweep: setup   ## processes that die at each fault-injection point; recovered by a retry or by the schedule; KINDS="full delta" ARGS="--every 10" for some
	@PYTHONPATH=tests:tests/support:sandbox/tests/support:include $(BIN)/python -m simulation --crash-points $(ARGS)
	@PYTHONPATH=tests:tests/support:sandbox/tests/support:include $(BIN)/python -m simulation --abandoned $(KINDS) $(ARGS)

mutation: setup   ## planted bugs, each of which the tests have to catch; BUG=words for some of them, ARGS="--jobs 2" for two at a time
	@PYTHONPATH=tests $(BIN)/python -m mutation --only "$(BUG)" $(ARGS)

bench: setup   ## what the hot path costs, against bounds and other ways, some minutes; SIZE=1m (10m, 50m), ARGS="--stage diff"
	@scripts/peers.sh
	@PYTHONPATH=include $(BIN)/python -m benchmarks --size $(or $(SIZE),1m) $(ARGS)

bench-freshness: setup   ## time from a sale in the ERP to the platform's acknowledgement, some eight minutes; VENDORS=6 SECONDS=300
	@PYTHONPATH=include $(BIN)/python -m benchmarks.freshness --vendors $(or $(VENDORS),6) --seconds $(or $(SECONDS),300) $(ARGS)

bench-scale: setup   ## what a vendor costs from few vendors to many, one chain and four, some half an hour; ARGS="--vendors 10 50 --skus 500"
	@PYTHONPATH=tests:tests/support:sandbox/tests/support:include $(BIN)/python -m benchmarks.scale $(ARGS)

bench-pages: setup   ## every page on a generated chain with a year of history, some minutes; ROWS=10000000 for a large chain, CALLS=20
	@PYTHONPATH=include $(BIN)/python -m benchmarks.pages --rows $(or $(ROWS),200000) --calls $(or $(CALLS),20)

load: setup   ## events at a rate on a real receiver that is killed meanwhile, and PostgreSQL too; SECONDS=30 RATE=500
	@PYTHONPATH=tests:tests/support:sandbox/tests/support:include $(BIN)/python -m benchmarks.load --seconds $(or $(SECONDS),30) --rate $(or $(RATE),500) $(ARGS)

cost: setup   ## how large ledger, warehouse and lake become: one day of two vendors, some ten minutes; ARGS="--skus 5000"
	@PYTHONPATH=tests:tests/support:sandbox/tests/support:include $(BIN)/python -m scenarios.cost $(ARGS)

check: setup   ## format, lint, types, import rules, prose, mirrors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/prose.py
	$(BIN)/python scripts/mirrors.py

docs: setup   ## the documentation site, into dist/docs; fails on a broken link, an unknown setting, a command that is not there
	@$(BIN)/python -m scripts.reference
	@$(BIN)/python -m pytest -q -n 0 tests/project/test_docs.py tests/shelfsync/cli/test_named_commands.py
	@scripts/site.sh

audit: setup   ## known vulnerabilities of the pinned packages; reports if their database cannot be reached
	@$(BIN)/python scripts/audit.py

sbom: setup   ## what an installation consists of (CycloneDX), into dist/sbom.json
	@mkdir -p dist
	@$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --output-format JSON --output-file dist/sbom.json requirements.txt
	@echo "sbom: dist/sbom.json"

sandbox-package: setup   ## the sandbox as a wheel that installs alone, into dist
	@$(BIN)/python -m pip wheel --quiet --no-deps --build-constraint requirements-build.txt --wheel-dir dist ./sandbox
	@ls dist/partner_sandbox-*.whl

record-release: setup   ## an installation at work, for the test that later versions upgrade it; before 1.0 after each change of a table, then with each release; FILE=elsewhere.tar.xz
	@PYTHONPATH=tests:tests/support:sandbox/tests/support:include $(BIN)/python tests/support/record_release.py $(FILE)

release: setup   ## wheels, site, SBOM, recipes and notes of a version, into dist/release-VERSION; VERSION=1.0.0; publishes nothing
	@$(BIN)/python scripts/release.py "$(VERSION)"

demo: setup   ## the whole of it once: full sync, a changed ERP, delta sync, summary
	@$(BIN)/shelfsync demo

up: setup   ## the same, left running; prints the addresses; ARGS="--platform HOST" sends to the platform of your settings
	@$(BIN)/shelfsync up $(ARGS)

down: setup   ## stops what `make up` started
	@$(BIN)/shelfsync down

.env:    # what docker-compose.yaml needs: passwords and keys
	@python3 scripts/compose_env.py
