# What one can do here; `make help` lists it. A fresh machine needs Python >= 3.11, Go >= 1.26,
# make, and on Debian or a relative of it apt: the rest is brought by the targets themselves.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
UV_VERSION := 0.13.9

# Everything in the cache can be made again; it may be deleted at any time.
CACHE := $(or $(ELASTICEP_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/elasticep)
UV := $(CACHE)/uv-$(UV_VERSION)/bin/uv
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK := uv.lock pyproject.toml testbed/pyproject.toml

# The testbed makes network namespaces and mounts, so it runs as root, with the same cache.
AS_ROOT := $(if $(filter-out 0,$(shell id -u)),sudo --preserve-env --set-home \
	env PATH="$(PATH)" ELASTICEP_CACHE="$(CACHE)")

# What `make test` runs, in this order: from the quick to the slow. `make test PARTS="lint unit"`
# runs some of it.
PARTS ?= lint types layers crd-check unit model api contract cluster
NEED_API_SERVER := tests/api tests/deploy tests/kube tests/process tests/testbed
NEED_SGLANG := tests/contract
MODEL_RUNS ?= 3000
PYTEST := $(BIN)/pytest
ROOT_PYTEST := $(AS_ROOT) $(PYTEST) -p no:cacheprovider

##@ Use

.PHONY: demo-moves
demo-moves: $(READY) ## After the demo: its group shrinks and gets another image while clients go on asking
	@$(AS_ROOT) $(BIN)/python -m demo moves

.PHONY: demo
demo: $(READY) ## Boot a cluster, install the operator and watch a group grow from 4 to 8 ranks
	@$(AS_ROOT) $(BIN)/python -m demo

.PHONY: up
up: $(READY) ## Boot the testbed: a real Kubernetes cluster with three GPU nodes on this machine
	@$(AS_ROOT) $(BIN)/testbed up

.PHONY: status
status: $(READY) ## Say what of the testbed is up, and where its kubeconfig is
	@$(AS_ROOT) $(BIN)/testbed status

.PHONY: image
image: $(READY) ## Build the images from the source as it is and put them on the testbed's nodes
	@$(AS_ROOT) $(BIN)/testbed load

.PHONY: install
install: image ## Install the operator, as the source is now, in the testbed
	@$(AS_ROOT) $(BIN)/python -m demo install

.PHONY: down
down: $(READY) ## End everything that the testbed has started; the cache stays
	@$(AS_ROOT) $(BIN)/testbed down

##@ Check

.PHONY: test
test: $(READY) ## Run every suite that CI runs, and sum up (PARTS="..." for some of it)
	@$(PYTHON) tests/every_part.py $(PARTS)

.PHONY: lint
lint: $(READY) ## Check the style and the formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: types
types: $(READY) ## Check the types
	$(BIN)/mypy

.PHONY: layers
layers: $(READY) ## Check that layers import only what is below them
	$(BIN)/lint-imports

.PHONY: crd-check
crd-check: $(READY) ## Check that crds/ and what in docs/ is made from code are as the code says
	$(BIN)/elasticep crd | diff --unified crds/elasticepgroups.yaml -
	$(BIN)/elasticep crd --format markdown | diff --unified docs/api.md -
	$(BIN)/elasticep explain --format markdown | diff --unified docs/reasons.md -

.PHONY: unit
unit: $(READY) ## Run the tests that need nothing but Python
	$(PYTEST) tests -m "not cluster" \
		$(addprefix --ignore=,tests/sim $(NEED_API_SERVER) $(NEED_SGLANG))

.PHONY: model
model: $(READY) ## Drive the planner through thousands of stories of a world that goes wrong
	$(PYTEST) tests/sim --model-runs $(MODEL_RUNS)

.PHONY: api
api: $(READY) ## Run the tests against a real API server
	$(ROOT_PYTEST) $(NEED_API_SERVER) -m "not cluster"

.PHONY: contract
contract: $(READY) ## Ask the real SGLang, oldest and newest version, about our command lines
	$(PYTEST) $(NEED_SGLANG)

.PHONY: contract-all
contract-all: $(READY) ## The same with every supported version
	$(PYTEST) $(NEED_SGLANG) --all-versions

.PHONY: cluster
cluster: $(READY) ## Boot a testbed of its own, run the tests on real nodes, tear it down
	@trap '$(AS_ROOT) $(BIN)/testbed down' EXIT; \
	$(AS_ROOT) $(BIN)/testbed up; \
	$(AS_ROOT) $(BIN)/python -m demo install; \
	$(ROOT_PYTEST) tests -m "cluster and not disturbs" -n 3 --dist worksteal; \
	$(ROOT_PYTEST) tests -m "cluster and disturbs"

##@ Change

.PHONY: fmt
fmt: $(READY) ## Format the code and mend what can be mended
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: crd
crd: $(READY) ## Write crds/, and what in docs/ is made from code
	$(BIN)/elasticep crd > $(VENV)/crd.yaml && cp $(VENV)/crd.yaml crds/elasticepgroups.yaml
	$(BIN)/elasticep crd --format markdown > $(VENV)/api.md && cp $(VENV)/api.md docs/api.md
	$(BIN)/elasticep explain --format markdown > $(VENV)/reasons.md && cp $(VENV)/reasons.md docs/reasons.md

.PHONY: clean
clean: ## Remove the virtual environment; `make down` and deleting the cache remove the rest
	rm -rf $(VENV)

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Tools: uv of a known version in the cache, and from it the locked environment.

$(UV):
	@echo "bringing uv $(UV_VERSION) into $(CACHE)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		f"Python >= 3.11 is needed, $(PYTHON) is {sys.version.split()[0]}: give make PYTHON=...")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		$(if $(filter-out 0,$(shell id -u)),sudo) apt-get install --yes --quiet python3-venv
	@$(PYTHON) -m venv --clear $(CACHE)/uv-$(UV_VERSION)
	@$(CACHE)/uv-$(UV_VERSION)/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(READY): $(UV) $(LOCK)
	@echo "bringing the locked Python packages into $(VENV)"
	@UV_PYTHON=$(PYTHON) UV_PYTHON_DOWNLOADS=never $(UV) sync --frozen
	@touch $@
