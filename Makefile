# make book | check | runs | test | test-slow | torture | validate | lint | chapter | serve | archive | reports | confirm | repeat |
# reference | schemas | bench | wild | lock | audit | setup | clean; every target but clean sets up what it needs.
#
#   PROFILE=smoke|laptop|paper   settings of the chapters (default: laptop; confirm: paper; repeat: smoke)
#   TORCH_INDEX=...              index of CPU-only torch wheels; without it torch comes from pip's find-links folder if it is
#                                there, else from pip's index, which for Linux has CUDA builds of several GB
#   PYTHON=python3.12            the interpreter for .venv (3.11 or later)
#   PORT=8000                    the port of `make serve`
#   EXECUTOR=local|slurm         where training runs and chapters run (default: local; see book/cluster.md)
#   EXECUTOR_ARGS="..."          Snakemake's arguments for a cluster: partition, account, a workflow profile
SHELL := /bin/bash
PROFILE ?= laptop
CHEAP := $(if $(filter file default,$(origin PROFILE)),smoke,$(PROFILE))
PYTHON ?= python3
PORT ?= 8000
EXECUTOR ?= local
export EXECUTOR_ARGS
export PYTHONUTF8 := 1
export PYTHONDONTWRITEBYTECODE :=
BIN := .venv/bin
locked = $(if $(shell command -v flock),flock $(1))  # one make at a time, where there is flock(1)
TORCH := $(shell sed -n 's/^\(torch==[^ ]*\).*/\1/p' requirements.lock)
WHERE = --executor "$(EXECUTOR)" --executor-args="$$EXECUTOR_ARGS"
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CHECKED := --require-hashes --no-deps --no-build-isolation --use-pep517

.PHONY: book check runs test test-slow torture validate setup chapter serve archive reports confirm repeat reference \
        schemas bench wild lint lock audit clean

book: setup
	@$(BIN)/python -m book build --profile "$(PROFILE)" $(WHERE)

# All hand-edited files, in seconds; also the first step of a build.
check: setup
	@$(BIN)/python -m book check

# Only the training runs: trains those that are missing, or with LIST=1 lists all with their state and cost.
runs: setup
	@$(BIN)/python -m book $(if $(LIST),runs --profile "$(PROFILE)",build --profile "$(PROFILE)" --target trained $(WHERE))

test: setup
	@$(BIN)/python -m book build --profile smoke --out build/test-book
	@$(BIN)/python -m pytest -n 2 --dist loadfile --nbval-lax --nbval-current-env --nbval-cell-timeout 600 tests

# Chapters at smoke against their references, without pages: CHAPTERS="overlap_theorem ...", or those that a change since
# the commit SINCE concerns (default: all); with PROFILE=laptop, the numbers that are stored there. Only what is stale runs.
validate: setup
	@$(BIN)/python -m book validate $(CHAPTERS) $(if $(SINCE),--since "$(SINCE)") --profile $(CHEAP)

# Slow tests, nightly: builds of a small book stopped at every stage, full disks, odd machines, every chapter with
# parameters that are drawn from SEED, and accessibility of every page.
test-slow: setup
	@$(BIN)/python -m book build --profile smoke --out build/test-book
	@SEED="$(SEED)" $(BIN)/python -m pytest -n 2 --dist loadfile -p no:nbval -m slow tests

# Builds of the real book at smoke, interrupted at MOMENTS random moments (drawn from SEED); nightly. Output in
# build/torture-book.
torture: setup
	@MOMENTS="$(MOMENTS)" SEED="$(SEED)" $(BIN)/python -m pytest -p no:nbval -m torture tests/book

chapter: setup
	@test -n "$(NAME)" || { echo 'error: NAME is missing; for example: make chapter NAME=overlap_theorem ARGS="-p M 9"'; exit 2; }
	@$(BIN)/python -m book execute "$(NAME)" --profile "$(PROFILE)" $(ARGS)
	@$(if $(findstring --output,$(ARGS)),,$(BIN)/python -m book page "$(NAME)" --profile "$(PROFILE)")

serve: setup
	@test -f build/book/_build/html/index.html || { echo 'error: no book yet; run: make book'; exit 2; }
	@echo "The book: http://127.0.0.1:$(PORT) (Ctrl-C stops)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory build/book/_build/html

# The built book in one file: pages, executed notebooks, sources, claims, records, checksums, RO-Crate metadata.
archive: book
	@$(BIN)/python -m book archive --profile "$(PROFILE)"

# The reports on the papers as PDF, in build/reports; needs a Chromium.
reports: book
	@$(BIN)/python -m book reports

# Results of cheap runs: the notebooks at smoke, for nbval, or with PROFILE=laptop and MNIST the numbers of parts that do
# not run at smoke. Renewed by hand; the commit explains every changed output.
reference: setup
	@$(BIN)/python -m book build --profile $(CHEAP) --target executed
	@$(BIN)/python -m book reference --profile $(CHEAP)

# A confirmatory run at profile paper: seeds from the id of a clean commit, outcomes stored in book/recorded.
# CHAPTERS="overlap_theorem ..." selects chapters, COMMIT= an earlier commit with the same criteria, or with others that
# LATER="chapter.parameter part ..." names. SPOT=1/3 instead repeats a
# random third of the recorded chapters that need no trained networks, and compares. ANEW=1 instead judges records again of which
# nothing but the criterion has changed.
confirm: setup
	@$(BIN)/python -m book confirm $(CHAPTERS) --profile $(if $(filter file default,$(origin PROFILE)),paper,$(PROFILE)) \
	    $(if $(COMMIT),--commit "$(COMMIT)") $(if $(LATER),--later $(LATER)) $(if $(SPOT),--spot "$(SPOT)") $(if $(ANEW),--anew)

# Repeats chapters with SEEDS other seeds from the commit's id, or in SETTINGS of book/settings.yml, compares, and stores the
# results in book/recorded: make repeat SEEDS=10 | SETTINGS=all [PROFILE=smoke] [CHAPTERS="overlap_theorem ..."] [COMMIT=...] [EXECUTOR=slurm]
repeat: setup
	@$(BIN)/python -m book repeat $(CHAPTERS) --profile $(CHEAP) $(WHERE) \
	    $(if $(SEEDS),--seeds "$(SEEDS)") $(if $(SETTINGS),--settings $(SETTINGS)) $(if $(COMMIT),--commit "$(COMMIT)")

# The networks of chapter 64: a quarter of a gigabyte of archives, pinned, a quarter of an hour of one core; SECTIONS="tuned flat" some of it.
WILD := lmc_helpers/_chapters/networks_from_the_wild
wild: setup
	@mkdir -p build/wild
	@$(PIP) install --no-deps --upgrade --target build/wild/lib h5py==3.16.0 cython==3.3.1
	@PYTHONPATH=build/wild/lib $(PIP) download --require-hashes --no-deps --no-build-isolation -d build/wild/archives -r $(WILD)/packages.txt
	@PYTHONPATH=build/wild/lib $(BIN)/python -c 'import sys; from $(subst /,.,$(WILD)) import measure; measure(*sys.argv[1:])' \
	    build/wild/archives "$(SECTIONS)"

bench: setup
	@$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-group-by=group --benchmark-columns=min,median,rounds

# JSON Schemas of the ledger and of the profiles, from their models.
schemas: setup
	@$(BIN)/python -m book schemas

# Style, docstrings and types.
lint: setup
	@$(BIN)/ruff check . && $(BIN)/ruff format --check --quiet . && $(BIN)/mypy

setup: .venv/.installed

# Set-up under a lock, once; an interrupted one is completed.
.venv/.installed: requirements.lock pyproject.toml
	@mkdir -p build && $(call locked,build/.setup.lock) $(MAKE) --no-print-directory .installed

.PHONY: .installed
.installed:
	@test .venv/.installed -nt requirements.lock -a .venv/.installed -nt pyproject.toml || $(MAKE) --no-print-directory .install

.PHONY: .install
.install:
	@$(PYTHON) -c 'import sys; sys.exit(f"error: Python {sys.version.split()[0]}; the book needs 3.11 or later: make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	@echo "Set-up: .venv takes 2 GB of disk with CPU-only torch and about 8 GB with CUDA (see TORCH_INDEX), and some minutes;" \
	      "$$(df -Ph . | awk 'NR==2 {print $$4}') free."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv || { rm -rf .venv; echo "error: $(PYTHON) cannot make a virtual environment; install its venv module"; exit 2; }
	@find .venv -type d -name '*.dist-info' ! -exec test -e '{}/RECORD' ';' -prune -exec rm -rf '{}' +  # half-installed
	@mkdir -p build && for part in first rest torch; do $(PYTHON) -m book lock $$part > build/.$$part.lock || exit; done
	@$(PIP) install $(CHECKED) -r build/.first.lock
	@$(PIP) install $(CHECKED) -r build/.rest.lock
	@if [ -n "$(TORCH_INDEX)" ]; then $(PIP) install --no-deps --index-url "$(TORCH_INDEX)" $(TORCH); \
	elif $(PIP) list --format=freeze | grep -q '^$(TORCH)+'; then :; \
	elif $(PIP) install --dry-run --ignore-installed --no-deps --no-index $(TORCH) >/dev/null 2>&1; then \
	    $(PIP) install --no-deps --no-index $(TORCH); \
	else $(PIP) install $(CHECKED) -r build/.torch.lock; fi
	@$(PIP) install --no-deps --no-build-isolation -e .
	@rm -f build/.first.lock build/.rest.lock build/.torch.lock
	@touch .venv/.installed

# Exact versions and SHA-256 hashes for Python 3.11 and later.
lock: setup
	@$(PIP) install uv
	@mkdir -p build && cp requirements.lock build/lock.txt  # uv keeps pins that still fit
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --generate-hashes --no-header \
	    --no-annotate pyproject.toml -o build/lock.txt
	@{ echo "# Exact versions and sums, written by \`make lock\`."; cat build/lock.txt; } > build/lock.new
	@mv build/lock.new requirements.lock

# Known vulnerabilities of the pinned packages.
audit: setup
	@test -x build/audit/bin/pip-audit || { $(PYTHON) -m venv build/audit && build/audit/bin/python -m pip install --quiet pip-audit; }
	@build/audit/bin/pip-audit --strict --progress-spinner off --disable-pip --require-hashes -r requirements.lock

clean:
	@mkdir -p build && $(call locked,build/.lock) rm -rf build .snakemake
