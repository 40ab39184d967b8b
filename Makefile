# e3: Unix filters that make the training data of EAGLE-3 drafters.
#
#   make                the programs, into bin/
#   make demo           the whole flow on the bundled sample, with the bundled stand-in server
#   make demo-real      the same with a real model folder and rows, from E3_SHARED
#   make check          all tests that need no network and no accelerator
#   make check-asan     the same under AddressSanitizer and UBSan; check-tsan, check-valgrind
#   make check-chaos    e3-infer, e3-extract and their server killed at random, many times (an hour)
#   make check-vllm     e3-infer and e3-extract against a real vLLM on the CPU (4 GB, by hand)
#   make check-tokenizer  the tokenizer in full: all code points, a gigabyte of text (hours)
#   make check-oracle   against torch, safetensors, tiktoken, Jinja2 ... (installs them)
#   make check-all      all of these one after the other; says what was skipped and why (hours)
#   make coverage       which lines the tests reach, into build/coverage
#   make bench          measurements beside others' tools, and one table of them in build/bench.md;
#                       bench-tokenizer: one of them
#   make fuzz           builds the fuzzers (clang)
#   make install        DESTDIR and prefix are honoured
#   make deb            a Debian package of what make install puts down, into build/
#   make deps           the Debian packages that building and running need
#   make clean          removes what was built, and the demo's output
#   make help           this text
#
# Another build tree: make BUILD=build/NAME SAN=-fsanitize=...   The whole commands: make V=1

prefix  = /usr/local
bindir  = $(prefix)/bin
mandir  = $(prefix)/share/man
docdir  = $(prefix)/share/doc/e3-drafter-data
datadir = $(prefix)/share/e3
bashdir = $(prefix)/share/bash-completion/completions
zshdir  = $(prefix)/share/zsh/site-functions

BUILD   = build/release
BIN     = $(if $(filter build/release,$(BUILD)),bin,$(BUILD)/bin)
SAN     =
E3_SHARED ?= ../shared

CC      = gcc
Q       = $(if $(V),,@)
say     = @$(if $(V),:,printf '  %-4s %s\n') # one short line a file, unless V=1
OPT     = -O3 -g
WARN    = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Werror
ALL_CFLAGS = -std=c17 '-ffile-prefix-map=$(CURDIR)=.' -D_POSIX_C_SOURCE=200809L -Isrc $(OPT) $(WARN) $(SAN) -pthread $(CFLAGS)
ALL_LDFLAGS = $(SAN) -pthread -Wl,--as-needed $(LDFLAGS)
LIBS    = -lcurl -lmicrohttpd -ljansson -lzstd -lxxhash -lm

PROGRAMS = $(patsubst src/%/main.c,e3-%,$(wildcard src/*/main.c))
SRC     = $(wildcard src/*/*.c)
LIBSRC  = $(filter-out %/main.c,$(SRC))
OBJ     = $(SRC:src/%.c=$(BUILD)/obj/%.o)
LIBOBJ  = $(LIBSRC:src/%.c=$(BUILD)/obj/%.o)
UNIT    = $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))
ORACLE  = $(patsubst tests/oracle/%.c,$(BUILD)/oracle/%,$(wildcard tests/oracle/*.c))
FUZZ    = $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

all: $(PROGRAMS:%=$(BIN)/%)

# Run only where the processor has them: bpe/window.c.
ifeq ($(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null))),x86_64)
$(BUILD)/obj/bpe/window_avx2.o: VECTORS = -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt
$(BUILD)/obj/bpe/window_avx512.o: VECTORS = -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt -mavx512f \
    -mavx512bw -mavx512vl -mavx512vbmi2
endif

$(BUILD)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(VECTORS) -MMD -MP -c -o $@ $<

$(BUILD)/libe3.a: $(LIBOBJ)
	@rm -f $@
	$(say) AR $@
	$(Q)ar rcsD $@ $(LIBOBJ)

$(BIN)/e3-%: $(BUILD)/obj/%/main.o $(BUILD)/libe3.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(BUILD)/libe3.a $(LIBS)

# ---- tests ----

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libe3.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(BUILD)/libe3.a $(LIBS) -lcmocka

# A fuzzer without its engine: replays corpus files.
$(BUILD)/fuzz/%: tests/fuzz/%.c tests/fuzz/replay.c $(BUILD)/libe3.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< tests/fuzz/replay.c $(BUILD)/libe3.a $(LIBS)

# What an oracle test drives.
$(BUILD)/oracle/%: tests/oracle/%.c $(BUILD)/libe3.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(BUILD)/libe3.a $(LIBS)

# What tests/lint/clang.sh compiles with.
flags:
	@echo $(ALL_CFLAGS)

tests: all $(UNIT) $(FUZZ:%=$(BUILD)/fuzz/%)

check: deps-check
	@$(MAKE) --no-print-directory -j2 tests
	@E3_BIN='$(abspath $(BIN))' E3_BUILD='$(abspath $(BUILD))' E3_SHARED=$(E3_SHARED) tests/run

check-asan: deps-check
	@$(MAKE) --no-print-directory BUILD=build/asan OPT="-O1 -g -fno-omit-frame-pointer" \
	    SAN="-fsanitize=address,undefined -fno-sanitize-recover=all" check

check-tsan: deps-check
	@$(MAKE) --no-print-directory BUILD=build/tsan OPT="-O1 -g" SAN=-fsanitize=thread check

check-valgrind: deps-check
	@$(MAKE) --no-print-directory -j2 tests
	@E3_BIN='$(abspath $(BIN))' E3_BUILD='$(abspath $(BUILD))' E3_SHARED=$(E3_SHARED) \
	    E3_WRAP="valgrind -q --error-exitcode=99 --leak-check=full" tests/run unit

check-chaos: deps-check
	@$(MAKE) --no-print-directory -j2 all
	@E3_BIN='$(abspath $(BIN))' tests/fault/infer-chaos 1000
	@E3_BIN='$(abspath $(BIN))' tests/fault/extract-chaos 500

check-tokenizer: deps-check
	@$(MAKE) --no-print-directory -j2 all oracle-drivers
	@E3_BIN='$(abspath $(BIN))' E3_BUILD='$(abspath $(BUILD))' E3_SHARED=$(E3_SHARED) tests/oracle/bpe-all

check-vllm: deps-check
	@$(MAKE) --no-print-directory -j2 all
	@E3_BIN='$(abspath $(BIN))' tests/oracle/vllm

check-oracle: deps-check
	@$(MAKE) --no-print-directory -j2 all oracle-drivers
	@E3_BIN='$(abspath $(BIN))' E3_BUILD='$(abspath $(BUILD))' E3_SHARED=$(E3_SHARED) tests/run oracle

check-all:
	@tests/all check check-asan check-tsan check-valgrind check-oracle check-tokenizer check-vllm check-chaos bench

coverage: deps-check deps-coverage
	@$(MAKE) --no-print-directory -j2 BUILD=build/coverage OPT="-O0 -g" \
	    SAN="--coverage -fprofile-update=atomic" tests
	@find build/coverage -name '*.gcda' -delete
	@E3_BIN=$(CURDIR)/build/coverage/bin E3_BUILD=$(CURDIR)/build/coverage E3_SHARED=$(E3_SHARED) tests/run || true
	@cd build/coverage && lcov -q -c -d obj -b $(CURDIR) --include "$(CURDIR)/src/*" -o info 2>lcov.log && \
	    lcov --list info >files.txt 2>>lcov.log && genhtml -q -o html info 2>>lcov.log && \
	    lcov --summary info 2>&1 | grep '%'
	@echo "by file: build/coverage/files.txt, line by line: build/coverage/html/index.html"

oracle-drivers: $(ORACLE) $(BUILD)/unit/test_jinja_notes

fuzz:
	@$(MAKE) --no-print-directory BUILD=build/fuzz CC=clang OPT="-O1 -g" \
	    SAN="-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all" $(FUZZ:%=build/fuzz/engine/%)

$(BUILD)/engine/%: tests/fuzz/%.c $(BUILD)/libe3.a
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $< $(BUILD)/libe3.a $(LIBS)

bench: all
	@E3_BIN='$(abspath $(BIN))' E3_BUILD='$(abspath $(BUILD))' E3_SHARED=$(E3_SHARED) tests/bench/run

bench-tokenizer: all
	@E3_BIN='$(abspath $(BIN))' E3_BUILD='$(abspath $(BUILD))' E3_SHARED=$(E3_SHARED) tests/bench/run tokenizer

# ---- the flow ----

demo: deps
	@$(MAKE) --no-print-directory -j2 all
	@E3_BIN='$(abspath $(BIN))' pipelines/demo/run

# The same on the shared sample rows with a real tokenizer and template.
demo-real: deps
	@$(MAKE) --no-print-directory -j2 all
	@E3_BIN='$(abspath $(BIN))' DEMO_OUT=demo-out-real DEMO_MODEL=$(E3_SHARED)/models/kimi-k2.5 \
	    DEMO_RAW=$(E3_SHARED)/raw DEMO_DRAFT=32000 pipelines/demo/run

deps:
	@pipelines/packages run

deps-check:
	@pipelines/packages run check

deps-coverage:
	@pipelines/packages coverage

deps-deb:
	@pipelines/packages run deb

# ---- install ----

DOCS    = $(wildcard man/*.[157])
FLOW    = $(shell cd pipelines && find . -type f ! -path './100k/out/*' ! -path './100k/raw/*' \
	  ! -path './100k/rehearsal/*' ! -path './packages' ! -path './deb' ! -name '*.pyc')

install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(docdir) $(DESTDIR)$(bashdir) $(DESTDIR)$(zshdir)
	install -m 755 $(PROGRAMS:%=$(BIN)/%) $(DESTDIR)$(bindir)
	install -m 644 README $(DESTDIR)$(docdir)
	for page in $(DOCS); do \
	    install -D -m 644 $$page $(DESTDIR)$(mandir)/man$${page##*.}/$${page##*/} || exit 1; done
	for p in $(PROGRAMS); do \
	    $(BIN)/$$p --help=bash >$(DESTDIR)$(bashdir)/$$p && \
	    $(BIN)/$$p --help=zsh >$(DESTDIR)$(zshdir)/_$$p || exit 1; done
	cd pipelines && for f in $(FLOW); do \
	    install -D -m $$(test -x $$f && echo 755 || echo 644) $$f $(DESTDIR)$(datadir)/pipelines/$$f || exit 1; done

deb: deps-deb
	@$(MAKE) --no-print-directory -j2 all
	@pipelines/deb build

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

clean:
	rm -rf bin build demo-out demo-out-real

.PHONY: all tests flags oracle-drivers check check-asan check-tsan check-valgrind check-oracle check-chaos check-tokenizer check-vllm fuzz bench bench-tokenizer demo demo-real deps \
    deps-check deps-coverage deps-deb coverage check-all install deb help clean
.SECONDARY:

-include $(OBJ:.o=.d) $(UNIT:=.d) $(ORACLE:=.d)
