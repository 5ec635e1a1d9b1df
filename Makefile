# SPDX-License-Identifier: GPL-3.0-or-later
# A thin front of meson. `make demo` and `make test` do all the set-up on a fresh Debian 12; every
# other target expects the packages (`make deps` installs them).
B ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
SAN = -Db_sanitize=address,undefined -Db_lundef=false
SAN_ARGS = -fno-sanitize-recover=all -fno-omit-frame-pointer

# $(call setup,DIR,OPTIONS): configures a build directory once; ninja keeps it up to date.
setup = test -f $(1)/build.ninja || meson setup $(1) $(2)
# $(call run_tests,DIR,OPTIONS): every test, then "N passed, N failed" as the last line.
run_tests = rm -f $(1)/meson-logs/testlog.json; \
	meson test -C $(1) --print-errorlogs $(2); status=$$?; \
	python3 tools/test_summary.py $(1)/meson-logs/testlog.json && exit $$status

.PHONY: build deps demo test san lint fuzz-smoke proof-chess proof-evolve foreign fingerprint bench bench-optimizers install clean help

build: ## build/src/cli/rookery (the default)
	@tools/deps.sh --check build
	@$(call setup,$(B))
	ninja -C $(B)

deps: ## install the packages that are missing (as root or with sudo)
	@tools/deps.sh build

demo: deps ## set up, build, and run the main job on built-in data, without any key
	@$(MAKE) --no-print-directory build
	@ROOKERY=$(B)/src/cli/rookery tools/demo.sh

test: deps ## set up, build, and pass every test
	@tools/deps.sh peers
	@$(MAKE) --no-print-directory build
	@tools/peers.sh $(B)/peers
	@$(call run_tests,$(B))

san: deps ## all tests under the address and undefined-behaviour sanitizers
	@$(call setup,build-san,$(SAN) -Dc_args='$(SAN_ARGS)')
	ninja -C build-san
	@$(call run_tests,build-san,--timeout-multiplier 5)

# internalAstError: cppcheck's parser stumbles over a compound literal inside `? :`.
# ctuuninitvar: it takes the address of what a function fills for a use of what is in it.
lint: build ## layers, contracts, sizes, format; clang-tidy; cppcheck
	@tools/deps.sh lint
	@tools/lint.py
	@tools/tidy.py $(B)
	@mkdir -p $(B)/cppcheck
	cppcheck --quiet -j2 --std=c11 --enable=warning,performance,portability --inline-suppr \
		--cppcheck-build-dir=$(B)/cppcheck --suppress=missingIncludeSystem --suppress=internalAstError \
		--suppress=ctuuninitvar \
		--library=tools/cppcheck.cfg --error-exitcode=1 -D_GNU_SOURCE -Isrc src

fuzz-smoke: ## every fuzz target for FUZZ_SECONDS (60) each
	@tools/deps.sh build fuzz
	@CC=clang-14; export CC; $(call setup,build-fuzz,$(SAN) -Dfuzz=true \
		-Dc_args='$(SAN_ARGS) -fsanitize=fuzzer-no-link')
	ninja -C build-fuzz
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tools/fuzz.sh build-fuzz

proof-chess: build ## the rules against a million positions of Stockfish, and perft suites in depth
	@tools/deps.sh proof
	ninja -C $(B) tests/chess/chess_versus_engine
	PATH="$$PATH:/usr/games" $(B)/tests/chess/chess_versus_engine
	ROOKERY_SHARED=../shared ROOKERY_PERFT_NODES=200000000 $(B)/tests/chess_perft_test

proof-evolve: build ## forty iterations of harness evolution on 64 puzzles, unattended (ten minutes)
	ROOKERY=$(CURDIR)/$(B)/src/cli/rookery ROOKERY_EVOLVE_LIMIT=64 python3 tests/cli/evolve_long_test.py \
		Unattended.test_forty_iterations_run_unattended

foreign: build ## the chess tests on arm64 and on the oldest x86-64, emulated
	@tools/deps.sh arm64
	tests/foreign.sh $(B)

fingerprint: build ## one hash over deterministic simulated runs; UPDATE=1 accepts a new one
	@ROOKERY=$(B)/src/cli/rookery UPDATE=$(UPDATE) tools/fingerprint.sh

bench: build ## the quality bars, as ratios
	@tools/deps.sh bench
	@tools/bench.py $(B)/src/cli/rookery

bench-optimizers: build ## do the optimizers find what is there to be found? (20 minutes)
	@tools/bench_optimizers.py $(B)/tests/bench_optimizers

install: build ## honours PREFIX and DESTDIR
	@meson configure $(B) -Dprefix=$(PREFIX)
	meson install -C $(B)

clean: ## remove every build directory
	rm -rf build build-san build-fuzz

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
