# Everything runs in an environment of its own, $(VENV); what is already installed there is not
# installed again. `make` alone lists the targets.

VENV       ?= .venv
PYTHON     ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
                "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
                && echo "$$p" && break; done)
JOBS       ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PYTEST_ARGS ?=
BENCH      ?=
WITH_TORCH ?=
DIR        ?= engine
SEED       ?= 0
PROGRAMS   ?= 10000
STEPS      ?= 100000
MODULES    ?= graph op engine autograd
SAMPLE     ?= 0
PORT       ?= 8000
VERSIONS   ?=

# Windows has an environment's programs in another folder.
RUN     := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
INSTALL := $(RUN)/python -m pip install --disable-pip-version-check --constraint constraints.txt
TORCH   := $(if $(filter-out 0,$(WITH_TORCH)),$(VENV)/.stamp-torch)
# One BLAS thread per process: the test processes already share the cores.
PYTEST  := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(RUN)/python -m pytest -n $(JOBS)

FROM_NPM := site/node_modules
FIREFOX  := tests/browser/firefox/node_modules

# The generic run takes place in a copy of the tree from which the quick twins are removed. What a
# learner's code runs on has them switched off anyway, and examples in documents are run once. So
# are the tests of texts and of tools, which have nothing to do with either.
# The second list is code that calls ops like any program: whatever is wrong with a call or with a
# derivative of the generic kind, tests of ops, of the engine, of nn and of func find without it.
# `compile` traces calls of that kind anyway, and so does every GPU but the first.
GENERIC := $(CURDIR)/build/generic
RUN_ONCE := $(patsubst %,--ignore=tests/%,course docs hostile browser widgets programs \
              mutation release voice test_skips.py test_pinned_dependencies.py \
              aot compat data distributions gpu optim pytorch stages utils viz \
              test_layers.py test_tree.py)

# An environment that was moved, copied or lost its Python is made again, not repaired.
HEALTHY := $(shell [ "$$(cat '$(VENV)/.stamp-venv' 2>/dev/null)" = '$(CURDIR)' ] \
             && '$(RUN)/python' -c '' 2>/dev/null && echo yes)
ifneq ($(HEALTHY),yes)
$(VENV)/.stamp-venv: FORCE
endif

.DEFAULT_GOAL := help
.PHONY: help tour learn test test-all test-everything test-generic imaginary-gpu faults soak fuzz pytorch-tests mutation audit sbom lint bench course walk course-full export-full release versions site serve site-check \
        site-browser site-same site-built verify-full clean FORCE
FORCE:
.NOTPARALLEL:

help: ## list the targets
	@echo 'make TARGET, one of:'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'
	@echo 'Settings: PYTHON=python3.12, VENV=folder, WITH_TORCH=1 (parity with PyTorch), JOBS=processes,'
	@echo '          PYTEST_ARGS="-k name -x", BENCH="benchmarks/mlp.py --quick" (one script alone).'

tour: $(VENV)/.stamp-tour ## set up and run the guided tour (under 90 s)
	@$(RUN)/minigrad tour

learn: $(VENV)/.stamp-course ## set up and take the course, in a workspace at DIR (default: engine)
	@$(RUN)/minigrad learn --dir '$(DIR)' --create

test: $(VENV)/.stamp-test $(TORCH) ## set up and run the quick tests; WITH_TORCH=1 compares with PyTorch too
	@$(PYTEST) -m 'not slow' $(PYTEST_ARGS)

test-all: $(VENV)/.stamp-test $(TORCH) ## all tests: builds, exports, grading, every wrong answer that is sampled
	@$(PYTEST) $(PYTEST_ARGS)

test-everything: ## test-all, with all cases of the lists of which it takes others each day; hours
	@MINIGRAD_ALL_MUTANTS=1 $(MAKE) --no-print-directory test-all

# Neither benchmarks nor PyTorch's databases tell more without the fast paths.
test-generic: $(VENV)/.stamp-test $(TORCH) ## the tests in a copy of the tree without minigrad/codegen and tests/codegen
	@$(RUN)/python tests/support/without_codegen.py '$(GENERIC)'
	@cd '$(GENERIC)' && PYTHONPATH='$(GENERIC)' MINIGRAD_GENERIC=1 $(subst $(RUN),$(abspath $(RUN)),$(PYTEST)) \
	  $(RUN_ONCE) --ignore=tests/benchmarks --ignore=tests/yardsticks $(PYTEST_ARGS)

# An environment of its own, since CuPy changes what is there: the rest is tested without it.
imaginary-gpu: ## the GPU's tests without a GPU: CuPy itself, with the host in the place of CUDA (needs g++)
	@$(MAKE) --no-print-directory VENV=.venv-gpu .venv-gpu/.stamp-imaginary-gpu
	@.venv-gpu/bin/python tests/gpu/imaginary/build.py
	@PYTHONPATH=.:tests/gpu/imaginary OPENBLAS_NUM_THREADS=1 MACHINE_LAZY=1 .venv-gpu/bin/python \
	  -m pytest -n $(JOBS) -p imaginary_gpu -m gpu tests/gpu $(PYTEST_ARGS)

faults: $(VENV)/.stamp-test ## Ctrl-C, or no memory, at every place of writes and of backward passes
	@MINIGRAD_ALL_INTERRUPTS=1 $(PYTEST) tests/op/test_interrupted_writes.py tests/engine/test_interrupted_passes.py

soak: $(VENV)/.stamp-test ## does memory grow? STEPS=100000 of each feature, garbage collector off; a quarter of an hour
	@MINIGRAD_STEPS=$(STEPS) $(PYTEST) tests/graph/test_memory.py tests/graph/test_memory_of_features.py -k leave_nothing

fuzz: $(VENV)/.stamp-torch ## random programs beside PyTorch: SEED=, PROGRAMS=, JOBS=; result in build/fuzz.json
	@mkdir -p build
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(RUN)/python -m tests.fuzz --seed $(SEED) \
	  --programs $(PROGRAMS) --jobs $(JOBS) --result build/fuzz.json

pytorch-tests: $(VENV)/.stamp-test ## PyTorch 1.13's own tests of autograd on minigrad; downloads their source once
	@$(RUN)/python -m tests.pytorch

# All of them, some 8,000, take hours.
mutation: $(VENV)/.stamp-mutation $(TORCH) ## do the tests notice small wrong changes? MODULES="graph autograd", SAMPLE=500, SEED=
	@mkdir -p build
	@$(RUN)/python -m tests.mutation --modules '$(MODULES)' --sample $(SAMPLE) \
	  --seed $(SEED) --result build/mutation.json

# Both ask an advisory service about each pinned version, and fail where none answers.
audit: $(VENV)/.stamp-supply $(FROM_NPM)/.stamp ## are faults known in what constraints.txt and npm's lock files pin? (asks a service)
	@$(RUN)/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt
	@npm audit --prefix site --package-lock-only
	@npm audit --prefix $(dir $(FIREFOX)) --package-lock-only

sbom: $(VENV)/.stamp-supply $(VENV)/.stamp-site $(FROM_NPM)/.stamp ## bills of materials in CycloneDX's form, in build/sbom
	@mkdir -p build/sbom
	@$(RUN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-file build/sbom/python.cdx.json '$(RUN)/python'
	@$(RUN)/python site/runtime/fetch.py | $(RUN)/cyclonedx-py requirements --output-reproducible \
	  --output-file build/sbom/page.cdx.json -
	@npm sbom --prefix site --package-lock-only --omit dev --sbom-format cyclonedx > build/sbom/npm.cdx.json
	@echo '==> the bills are in build/sbom'

lint: $(VENV)/.stamp-lint ## ruff, spelling, and mypy --strict on the package
	@$(RUN)/python -m ruff check .
	@$(RUN)/codespell
	@$(RUN)/python -m mypy

# `dev build --check` runs all of a notebook's code too, though outside Jupyter.
course: $(VENV)/.stamp-authors ## is the course as it is made, do a third of its notebooks run, is a sample of stages right?
	@$(RUN)/minigrad dev build --check
	@$(RUN)/python -m pytest -q --nbval -n $(JOBS) --dist loadfile \
	  $$(ls notebooks/*.ipynb | awk -v day="$$(($$(date +%s) / 86400))" '(NR + day) % 3 == 0')
	@$(RUN)/python -m pytest -q tests/course/test_lesson.py -k "cell or magic"
	@$(RUN)/minigrad dev verify --sample 1 --quiet

walk: $(VENV)/.stamp-authors ## take stages in a pseudo-terminal, a mistake and an answer for each exercise; STAGES=05,06b
	@MINIGRAD_WALK=$(or $(STAGES),all) $(RUN)/python -m pytest -q tests/course/test_walk.py

# `dev verify` takes 7 minutes on two cores left alone (1,342 mistakes, 2026-11-21).
course-full: $(VENV)/.stamp-authors ## the same with every stage, and a canary in each exercise
	@$(RUN)/minigrad dev build --check
	@$(RUN)/python -m pytest -q --nbval -n $(JOBS) --dist loadfile notebooks
	@$(RUN)/minigrad dev verify
	@$(RUN)/minigrad dev canary

export-full: $(VENV)/.stamp-platforms ## assignments of two stages in every form, graded offline as platforms do
	@PATH='$(abspath $(RUN))':"$$PATH" MINIGRAD_EXPORT_WHOLE=1 $(PYTEST) tests/course/test_export.py

site: $(VENV)/.stamp-site site-built ## build the course's site into build/site (needs Node and npm)

serve: site ## build the site and serve it on this machine; PORT=8000
	@$(RUN)/python site/serve.py --port $(PORT)

site-check: $(VENV)/.stamp-browser site-built ## build the site strictly and drive it in a browser
	@MINIGRAD_SITE=build/site $(RUN)/python -m pytest -q -m 'not slow' tests/browser

# Every lesson and every exercise, in Chromium and, where it is installed, in Firefox.
site-browser: $(VENV)/.stamp-browser $(FIREFOX)/.stamp site-built ## site-check with every lesson and exercise run in the browsers
	@MINIGRAD_SITE=build/site MINIGRAD_SITE_ALL=1 $(RUN)/python -m pytest -q tests/browser

site-same: $(VENV)/.stamp-site $(FROM_NPM)/.stamp ## build the site twice and compare every file
	@$(RUN)/python site/same.py

site-built: $(FROM_NPM)/.stamp
	@NO_MKDOCS_2_WARNING=1 $(RUN)/python -m mkdocs build --strict --quiet
	@echo '==> the site is in build/site'

release: $(VENV)/.stamp-release ## build wheel and source archive into dist, install each into a clean environment, test it there
	@$(RUN)/python -m tests.release --jobs $(JOBS)

versions: $(VENV)/.stamp-test ## the quick tests on each Python and NumPy that is supported; VERSIONS="3.11 3.13"
	@$(RUN)/python -m tests.release.versions $(VERSIONS) --jobs $(JOBS)

# In full this takes 10 to 15 minutes, on a machine left alone.
bench: $(VENV)/.stamp-bench $(TORCH) ## time ops beside HIPS autograd and MyGrad, run the three trainings
	@$(if $(BENCH),$(RUN)/python $(BENCH),$(RUN)/python benchmarks/op_overhead.py && $(RUN)/python benchmarks/trainings.py)

verify-full: ## all of the above, PyTorch included
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test-all WITH_TORCH=1
	@$(MAKE) --no-print-directory test-generic WITH_TORCH=1
	@$(MAKE) --no-print-directory course-full
	@$(MAKE) --no-print-directory export-full
	@$(MAKE) --no-print-directory site-same
	@$(MAKE) --no-print-directory tour
	@$(MAKE) --no-print-directory bench WITH_TORCH=1

clean: ## remove the environment and all caches
	@[ ! -e '$(VENV)/pyvenv.cfg' ] || rm -rf '$(VENV)'
	@rm -rf .venv-gpu build dist $(FROM_NPM) $(FIREFOX) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the environment -------------------------------------------------------------------------

stop = { echo "minigrad: $(1)" >&2; exit 1; }
NO_PYTHON  := no Python 3.11 or newer was found; install one and run make again, or name it: \
make PYTHON=/path/to/python3.
BAD_PYTHON  = PYTHON=$(PYTHON) is not a working Python 3.11 or newer; name another, or leave PYTHON out.
NO_VENV     = $(PYTHON) lacks the module venv or ensurepip; install it (Debian, Ubuntu: \
apt install python3-venv) and run make again.
NOT_A_VENV  = $(VENV) exists and is no environment of Python's; name another folder: make VENV=folder.
VENV_FAILED = $(PYTHON) could not make an environment in $(VENV) (its message is above); see to that, \
or set VENV=folder, and run make again.
NO_NPM     := npm was not found, and the site is made with Node 20 or newer; install it (Debian, \
Ubuntu: apt install npm) and run make again.
NPM_FAILED  = npm could not get what $*/package-lock.json names (its message is above); check that \
this machine reaches an npm registry, then run make again.
PIP_FAILED := pip could not install what is needed (its message is above); check that this machine \
reaches a package index, then run make again.

$(VENV)/.stamp-venv:
	@[ -n "$(PYTHON)" ] || $(call stop,$(NO_PYTHON))
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || $(call stop,$(BAD_PYTHON))
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || $(call stop,$(NO_VENV))
	@[ ! -e '$(VENV)' ] || [ -e '$(VENV)/pyvenv.cfg' ] || [ -z "$$(ls -A '$(VENV)')" ] || $(call stop,$(NOT_A_VENV))
	@echo "==> making $(VENV) with $$("$(PYTHON)" --version)"
	@"$(PYTHON)" -m venv --clear '$(VENV)' || $(call stop,$(VENV_FAILED))
	@echo '$(CURDIR)' > $@

$(VENV)/.stamp-build: $(VENV)/.stamp-venv constraints.txt
	@echo '==> installing the build tools (once)'
	@$(INSTALL) --quiet hatchling editables || $(call stop,$(PIP_FAILED))
	@touch $@

$(VENV)/.stamp-tour $(VENV)/.stamp-test $(VENV)/.stamp-lint $(VENV)/.stamp-bench \
$(VENV)/.stamp-authors $(VENV)/.stamp-course $(VENV)/.stamp-site $(VENV)/.stamp-browser \
$(VENV)/.stamp-platforms $(VENV)/.stamp-release $(VENV)/.stamp-mutation $(VENV)/.stamp-supply \
$(VENV)/.stamp-imaginary-gpu: \
$(VENV)/.stamp-%: $(VENV)/.stamp-build pyproject.toml constraints.txt
	@echo '==> installing minigrad with what `make $*` needs (once)'
	@$(INSTALL) --no-build-isolation --editable '.[$*]' || $(call stop,$(PIP_FAILED))
	@touch $@

# npm's packages, for the site and for driving Firefox: exactly what the lock files name, each
# checked by its hash.
$(FROM_NPM)/.stamp $(FIREFOX)/.stamp: %/node_modules/.stamp: %/package.json %/package-lock.json
	@command -v npm >/dev/null || $(call stop,$(NO_NPM))
	@echo "==> getting what $*/package.json names from npm (once)"
	@npm ci --prefix $* --ignore-scripts --no-audit --no-fund --loglevel=error || $(call stop,$(NPM_FAILED))
	@touch $@

# Its own step because on Linux the registry's build brings several GB of CUDA libraries with it:
# whoever has a CPU build installs that into $(VENV) first.
$(VENV)/.stamp-torch: $(VENV)/.stamp-test constraints.txt
	@echo '==> installing PyTorch to compare with (once)'
	@$(INSTALL) 'torch==2.13.0' || $(call stop,$(PIP_FAILED))
	@touch $@
