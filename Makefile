# make book | runs | test | lint | chapter | serve | clean; every target sets up what it needs.
#
#   PROFILE=smoke|laptop|paper   settings of the chapters (default: laptop)
#   TORCH_INDEX=...              index of CPU-only torch wheels; without it pip takes its default, which on Linux
#                                x86-64 ships CUDA builds of several GB
#   PYTHON=python3.12            the interpreter that .venv is made from (3.11 or later)
#   EXECUTOR=local|slurm         where training runs and chapters run (default: local; see book/cluster.md)
#   EXECUTOR_ARGS="..."          Snakemake's arguments for a cluster: partition, account, a workflow profile
SHELL := /bin/bash
PROFILE ?= laptop
PYTHON ?= python3
EXECUTOR ?= local
export EXECUTOR_ARGS
BIN := .venv/bin
TORCH := $(shell sed -n 's/^torch==//p' requirements.lock)
WHERE = --executor "$(EXECUTOR)" --executor-args="$$EXECUTOR_ARGS"
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: book runs test setup chapter serve confirm reference schemas bench lint lock clean

book: setup
	@$(BIN)/python -m book.tools.build --profile "$(PROFILE)" $(WHERE)

# The chapters' training runs alone: train what is missing, or LIST=1: what there is, done or its price.
runs: setup
	@$(BIN)/python -m book.tools.$(if $(LIST),runs --profile "$(PROFILE)",build --profile "$(PROFILE)" --target trained $(WHERE))

test: setup
	@$(BIN)/python -m book.tools.build --profile smoke --out build/test-book
	@$(BIN)/python -m pytest -n 2 --dist loadfile --nbval-lax --nbval-current-env --nbval-cell-timeout 600 tests

chapter: setup
	@test -n "$(NAME)" || { echo 'error: NAME is missing; for example: make chapter NAME=overlap_theorem ARGS="-p M 9"'; exit 2; }
	@$(BIN)/python -m book.tools.execute "$(NAME)" --profile "$(PROFILE)" $(ARGS)

serve: setup
	@test -f build/book/_build/html/index.html || { echo 'error: no book yet; run: make book'; exit 2; }
	@echo "The book: http://127.0.0.1:8000 (Ctrl-C stops)"
	@$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory build/book/_build/html

# Stored reference notebooks for nbval; made by hand, and every changed output explained in its commit.
reference: setup
	@$(BIN)/python -m book.tools.build --profile smoke --target executed
	@$(BIN)/python -m book.tools.reference

# A confirmatory run: seeds from the id of a clean commit, outcomes stored in book/recorded. By default at the papers' own
# settings; CHAPTERS="overlap_theorem ..." names some, COMMIT= an earlier commit with the same code and criteria.
confirm: setup
	@$(BIN)/python -m book.tools.confirm $(CHAPTERS) --profile $(if $(filter file default,$(origin PROFILE)),paper,$(PROFILE)) \
	    $(if $(COMMIT),--commit "$(COMMIT)")

bench: setup
	@$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-group-by=group --benchmark-columns=min,median,rounds

# JSON Schemas of the ledger and of the profiles, from their models.
schemas: setup
	@$(BIN)/python -m book.tools.schemas

# Style, docstrings and types.
lint: setup
	@$(BIN)/ruff check . && $(BIN)/ruff format --check --quiet . && $(BIN)/mypy

setup: .venv/.installed

.venv/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(f"error: Python {sys.version.split()[0]}; the book needs 3.11 or later: make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	@echo "Set-up: .venv takes 2 GB of disk with CPU-only torch and about 8 GB with CUDA (see TORCH_INDEX), and some minutes;" \
	      "$$(df -Ph . | awk 'NR==2 {print $$4}') free."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { rm -rf .venv; echo "error: $(PYTHON) cannot make a virtual environment; install its venv module"; exit 2; }
	@if [ -n "$(TORCH_INDEX)" ]; then $(PIP) install --index-url "$(TORCH_INDEX)" --no-deps "torch==$(TORCH)"; fi
	@$(PIP) install -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

# Exact versions for Python 3.11 and later. CUDA packages are left to torch's own wheel, which pins them.
lock: setup
	@$(PIP) install uv
	@mkdir -p build && cp requirements.lock build/lock.txt  # uv keeps its pins where they still fit
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --no-header --no-annotate \
	    pyproject.toml -o build/lock.txt
	@{ echo "# Exact versions, written by \`make lock\`; torch's wheel pins the CUDA packages that it needs."; \
	   grep -Ev '^((nvidia|cuda|triton)-?|#)' build/lock.txt; } > build/lock.new && mv build/lock.new requirements.lock

clean:
	rm -rf build .snakemake
