# bpfprof: one Makefile, no lists to maintain.
#
#   make               build ./bpfprof                     make demo          install, build, profile, draw
#   make check         what takes seconds each (root)       make check-all     what has to pass before a change lands
#   make check-nightly what takes minutes, all guests
#   make check-unit    unit tests only (no root)           make check-vm      end-to-end tests in guests (VM= TESTS=)
#   make check-fuzz    files made to hurt (FUZZ_SECONDS=60, fixed, full)
#   make check-engines Parca, a Collector and Pyroscope (PYROSCOPE=FILE) get what push sends (docs/engines.md)
#   make bench         figures, side by side               make check-cost    BPF programs, in instructions
#   make check-distros the README in chroots (DISTROS=)    make format        rewrite with clang-format
#   make lint          format, lengths, layers, shell    make tour          every file in one sentence
#   make install       DESTDIR= prefix= CAPS=1             make V=1           show the commands
#   make static        one file without libraries          make deb           a Debian package, in build/deb
#   make release       source, programs and packages of both architectures, checksums: in build/release
#
#   make CROSS_COMPILE=aarch64-linux-gnu-                  build for aarch64, below build-arm64
#
# Knobs: BUILD= CC= CLANG= BPFTOOL= ARCH= CROSS_COMPILE= DEBUG=1 SAN=1 STATIC=1 WERROR=1 DESTDIR= prefix=
# Objects live under $(BUILD); a sanitizer build has a folder of its own, so the two never mix.

CLANG     ?= clang
BPFTOOL   ?= $(shell tools/find-bpftool.sh)
PKGCONF   ?= pkg-config
prefix    ?= /usr/local
sbindir   ?= $(prefix)/sbin
datadir   ?= $(prefix)/share
mandir    ?= $(datadir)/man
zshdir    ?= $(datadir)/zsh/site-functions
docdir    ?= $(datadir)/doc/bpfprof
unitdir   ?= $(prefix)/lib/systemd/system
# With CAPS=1 members of this group run it without root, by these rights of the file (docs/install.md).
group     ?= bpfprof
FILE_CAPS  = cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_checkpoint_restore,cap_syslog
ifdef CROSS_COMPILE
CC        := $(CROSS_COMPILE)gcc
CXX       := $(CROSS_COMPILE)g++
endif
TRIPLET   := $(shell $(CC) -print-multiarch 2>/dev/null || $(CC) -dumpmachine)
ARCH      ?= $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))))
BUILD     ?= build$(if $(CROSS_COMPILE),-$(ARCH))$(if $(SAN),-san)

# What a cross build is linked with: unpacked by tools/install-deps.sh --cross, else installed as multiarch packages.
SYSROOT   ?= $(if $(CROSS_COMPILE),$(realpath $(or $(VM_CACHE),.cache)/sysroot-$(ARCH)))
ifneq ($(SYSROOT),)
PKGCONF_ENV = PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(TRIPLET)/pkgconfig
else ifdef CROSS_COMPILE
PKGCONF_ENV = PKG_CONFIG_LIBDIR=/usr/lib/$(TRIPLET)/pkgconfig
endif
pkgconf    = $(PKGCONF_ENV) $(PKGCONF)

VERSION   := $(shell cat VERSION)
PROG      := $(if $(STATIC),$(BUILD)/static/bpfprof,$(if $(SAN)$(CROSS_COMPILE),$(BUILD)/bpfprof,bpfprof))
# Maps that other files look into come first: libbpf 1.1 gives a map the wrong place that it is told of before it is there.
BPF_FIRST := $(patsubst %,$(BUILD)/bpf/%.bpf.o,counters arena threads)
BPF_OBJS  := $(BPF_FIRST) $(filter-out $(BPF_FIRST),$(patsubst %.c,$(BUILD)/%.o,$(wildcard bpf/*.bpf.c)))
OBJS      := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/*.c src/*/*.c))
LIB_OBJS  := $(filter-out $(BUILD)/src/main.o,$(OBJS))
SKEL      := $(BUILD)/bpfprof.skel.h
UNIT_BINS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
PROG_BINS := $(patsubst %,$(BUILD)/tests/progs/%,$(basename $(notdir $(wildcard tests/progs/*.c tests/progs/*.cc))))

E2E_BINS  := $(patsubst tests/e2e/%.c,$(BUILD)/tests/e2e/%,$(filter-out %.bpf.c,$(wildcard tests/e2e/*.c)))

LIBS       = libbpf zlib json-c capstone libseccomp libdw liblzma ncursesw
ALL_CFLAGS = -std=gnu11 -O2 -g -fPIE -fno-omit-frame-pointer -fstack-protector-strong \
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter \
	$(if $(WERROR)$(CI),-Werror) $(if $(SAN),,-D_FORTIFY_SOURCE=2) $(if $(DEBUG),-O0 -U_FORTIFY_SOURCE) \
	$(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all) \
	-D_GNU_SOURCE -DBPFPROF_VERSION='"$(VERSION)"' -I$(BUILD) -Isrc -I. \
	$(patsubst -I%,-idirafter %,$(shell $(pkgconf) --cflags $(LIBS))) \
	$(if $(SYSROOT),-idirafter $(SYSROOT)/usr/include -idirafter /usr/include -ffile-prefix-map=$(SYSROOT)=) $(CFLAGS)
ALL_LDFLAGS = -pie -Wl,-z,relro,-z,now $(if $(STATIC),-static-pie) $(LDFLAGS) \
	$(if $(SYSROOT),-L$(SYSROOT)/usr/lib/$(TRIPLET) -Wl$(comma)-rpath-link$(comma)$(SYSROOT)/usr/lib/$(TRIPLET))
LDLIBS     = $(shell $(pkgconf) $(if $(STATIC),--static) --libs $(LIBS)) -liberty -lm
# The folder it was built in is no part of the program (type information names files).
BPF_CFLAGS = -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -O2 -g -fdebug-prefix-map=$(CURDIR)=. -Wall -Werror -Ivmlinux -Ibpf -I. \
	$(foreach dir,/usr/include /usr/include/$(TRIPLET) /usr/$(TRIPLET)/include,-idirafter $(dir))
comma     := ,

Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(patsubst $(BUILD)/%,%,$(2))';)

# Who builds for another machine tests there.
all: $(PROG) $(if $(CROSS_COMPILE),progs)

$(PROG): $(OBJS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@
# Asked once: a build that lacks something says what to run, not what a compiler stumbled over.
$(BUILD)/.tools:
	$(Q)mkdir -p $(@D)
	$(Q)for tool in $(CC) $(CLANG) $(BPFTOOL) $(PKGCONF); do command -v $$tool >/dev/null || \
		{ echo "bpfprof: $$tool is missing; sudo tools/install-deps.sh$(if $(CROSS_COMPILE), --cross) installs it" >&2; \
		exit 1; }; done
	$(Q)$(pkgconf) --exists '$(firstword $(LIBS)) >= 1.0' $(LIBS) || \
		{ echo "bpfprof: needs $(LIBS)$(if $(CROSS_COMPILE), for $(ARCH)); tools/install-deps.sh$(if \
		$(CROSS_COMPILE), --cross) installs them" >&2; exit 1; }
	$(Q)touch $@
$(BUILD)/%.bpf.o: %.bpf.c | $(BUILD)/.tools
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/bpfprof.bpf.o: $(BPF_OBJS)
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^
$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@
$(BUILD)/%.o: %.c VERSION | $(SKEL)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# Unit tests link everything but main; each file is one cmocka program.
$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) -lcmocka -o $@

# The yardstick of tools/bench.sh, and what reads the kernel's run-time statistics for it.
BENCH_BINS = $(BUILD)/tools/bench/reference $(BUILD)/tools/bench/stats $(BUILD)/tools/bench/called \
	     $(BUILD)/tools/bench/touches
$(BUILD)/tools/bench/reference: $(BUILD)/tools/bench/reference.skel.h
$(BUILD)/tools/bench/%: tools/bench/%.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -I$(@D) $(ALL_LDFLAGS) $< $(LDLIBS) -o $@

# The viewer's script and style are inside the program.
$(BUILD)/src/output/flame_script.o: $(wildcard src/output/flame*.js) $(wildcard src/output/flame*.css)

# Test programs say in their first lines what they want: "CFLAGS: …", "LDLIBS: …". Always with frame pointers.
PROG_CFLAGS = -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-mno-omit-leaf-frame-pointer $(if $(filter arm64,$(ARCH)),-mbranch-protection=standard)
flags_of    = $(shell sed -n 's@^/\* $(1): \(.*\) \*/@\1@p' $(2))
$(BUILD)/tests/progs/%: tests/progs/%.c $(wildcard tests/progs/*.h)
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(PROG_CFLAGS) $(call flags_of,CFLAGS,$<) $< $(call flags_of,LDLIBS,$<) -o $@
# exiter again, in the ways a program can be linked. Without a static C library there is no static one.
LAYOUTS        = fixed high split static stripped
FLAGS_fixed    = -no-pie
FLAGS_high     = -no-pie -Wl,-Ttext-segment=0x10000000
FLAGS_split    = -pie -Wl,-z,separate-code
FLAGS_static   = -static
FLAGS_stripped = -s
$(BUILD)/tests/progs/exiter-%: tests/progs/exiter.c tests/progs/burn.h Makefile
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(PROG_CFLAGS) $(FLAGS_$*) $< -o $@ $(if $(filter static,$*),2>/dev/null || true)
$(BUILD)/tests/progs/%-static: tests/progs/%.c $(wildcard tests/progs/*.h) Makefile
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(PROG_CFLAGS) $(call flags_of,CFLAGS,$<) -static $< -o $@ 2>/dev/null || true
# C++ as it is shipped, without frame pointers; guests have no library for it. Without a compiler there is none.
$(BUILD)/tests/progs/%: tests/progs/%.cc
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D) && ! command -v $(CXX) >/dev/null || \
		$(CXX) -O2 -g -Wall -fomit-frame-pointer -static-libstdc++ -static-libgcc $< -o $@
# Programs in Go for guests, which have no compiler; elsewhere the tests build them. Without Go there are none.
GO_BINS           = $(addprefix $(BUILD)/tests/progs/go-,whole stripped pie asleep)
GO_FLAGS_stripped = -ldflags='-s -w'
GO_FLAGS_pie      = -buildmode=pie
GO_FLAGS_asleep   = -ldflags='-s -w'
$(BUILD)/tests/progs/go-%: tests/e2e/go/work.go tests/e2e/go/asleep.go
	$(call say,GO,$@)
	$(Q)mkdir -p $(@D) && ! command -v go >/dev/null || CGO_ENABLED=1 GOFLAGS=-mod=mod GOARCH=$(ARCH) CC=$(CC) \
		go build $(GO_FLAGS_$*) -o $@ tests/e2e/go/$(if $(filter asleep,$*),asleep,work).go
# Programs of end-to-end tests that use our own code (e.g. to write a large profile), BPF programs of their own, or
# libraries: "LDLIBS: …" in their first lines.
$(E2E_BINS:=.o): | $(patsubst %.bpf.c,$(BUILD)/%.skel.h,$(wildcard tests/e2e/*.bpf.c))
$(BUILD)/tests/e2e/%: $(BUILD)/tests/e2e/%.o $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) $(call flags_of,LDLIBS,tests/e2e/$*.c) -o $@

$(BUILD)/tests/e2e/replay: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/e2e/stacks/*.c))
$(BUILD)/tests/e2e/torn $(BUILD)/tests/e2e/cost: $(BUILD)/tests/e2e/tables/tables.o

unit: $(UNIT_BINS)
progs: $(PROG_BINS) $(LAYOUTS:%=$(BUILD)/tests/progs/exiter-%) $(BUILD)/tests/progs/nofp_libc-static $(E2E_BINS) \
	$(if $(CROSS_COMPILE),$(GO_BINS))

# Unit tests run with sanitizers, end-to-end tests with the program as it is shipped. check leaves out scripts that are
# "# long"; check-all has them, files made to hurt, and in two guests what depends on the kernel and the architecture
# (tests/vm/guests; all of them: make check-vm, make check-nightly). What is built, and files made to hurt, take all CPUs,
# unless make was told how many.
all_cpus = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
# Elsewhere than on Debian for x86-64, guests that cannot run are a skip.
no_guests = { [ $$? -eq 77 ] && [ "$$(. /etc/os-release; echo $$ID) $$(uname -m)" != "debian x86_64" ] && \
	echo "skip   guests: they need Debian on x86-64"; }
# Guests where a nanosecond is an instruction, and addresses are the same at every boot.
cost = RUN=tests/vm/cost.sh VM_LOGS=build/tests/cost SHIFT=0 APPEND=nokaslr tests/vm/run.sh $(or $(VM),amd64-6.1 arm64-6.1)
check:
	@tools/install-deps.sh --check
	@$(MAKE) --no-print-directory $(all_cpus) SAN=1 unit
	@$(MAKE) --no-print-directory $(all_cpus) all progs
	@QUICK=1 AGAIN=2 JOBS=2 tests/run.sh
check-all:
	@tools/install-deps.sh --check --cross
	@$(MAKE) --no-print-directory $(all_cpus) SAN=1 unit all
	@$(MAKE) --no-print-directory $(all_cpus) all progs fuzzers
	@AGAIN=8 JOBS=2 tests/run.sh
	@$(MAKE) --no-print-directory check-fuzz FUZZ_SECONDS=fixed
	@AGAIN=2 DAY=1 tests/vm/run.sh || $(no_guests)
check-nightly:
	@tools/install-deps.sh --check --cross
	@$(MAKE) --no-print-directory $(all_cpus) SAN=1 unit all
	@$(MAKE) --no-print-directory $(all_cpus) all progs $(BENCH_BINS)
	@NIGHTLY=1 tests/run.sh
	@$(MAKE) --no-print-directory check-fuzz FUZZ_SECONDS=600
	@$(MAKE) --no-print-directory check-fuzz FUZZ_SECONDS=full
	@NIGHTLY=1 tests/vm/run.sh || $(no_guests)
	@$(cost) || $(no_guests)
	@tests/distros.sh || [ $$? -eq 77 ]
check-vm:
	@TESTS=$(TESTS) tests/vm/run.sh $(VM)
check-cost:
	@$(cost)
# What the README says, in a clean chroot of each distribution that it names.
check-distros:
	@tests/distros.sh $(DISTROS)
# Also a part of check-nightly. Engines are built once; where that cannot be, each is a skip with its reason.
check-engines:
	@$(MAKE) --no-print-directory all progs
	@NIGHTLY=1 tests/run.sh $(wildcard tests/e2e/t81*-itself.sh) || [ $$? -eq 77 ]
check-unit:
	@$(MAKE) --no-print-directory SAN=1 unit
	@tests/run.sh --unit

# Files made to hurt. What a target needs of us it takes from an archive; what it finds stays in build-fuzz. In make
# check-all the search is the same every time: a change is not blamed for what was there before. At night it goes its own
# way, for so many seconds each, and the same search follows with more inputs (full).
FUZZ_SECONDS ?= 60
FUZZ_CFLAGS   = -std=gnu11 -O1 -g -Wno-format-zero-length -D_GNU_SOURCE -DBPFPROF_VERSION='"$(VERSION)"' -I$(BUILD) \
	-Isrc -I. $(shell $(pkgconf) --cflags $(LIBS)) -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZERS       = $(filter-out limits,$(basename $(notdir $(wildcard tests/fuzz/*.c))))
FUZZ_OBJS     = $(LIB_OBJS:$(BUILD)/%=build-fuzz/%)
fuzzers: $(FUZZERS:%=build-fuzz/%)
check-fuzz: fuzzers $(BUILD)/tests/progs/generates $(patsubst %.c,$(BUILD)/%,$(wildcard tests/e2e/gen_*.c))
	@printf '%s\n' $(FUZZERS) | xargs -P $(if $(filter fixed full,$(FUZZ_SECONDS)),$(shell nproc),1) -I {} tests/fuzz/run.sh {} $(FUZZ_SECONDS)
# Where each instruction of a file is decoded, to look at all comparisons is most of the work, and leads nowhere.
$(patsubst %,build-fuzz/src/unwind/%.o,x86 scan scan_functions): FUZZ_COVERAGE = -fno-sanitize-coverage=trace-cmp
build-fuzz/%.o: %.c VERSION | $(SKEL)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link $(FUZZ_COVERAGE) -MMD -MP -c $< -o $@
build-fuzz/bpfprof.a: $(FUZZ_OBJS)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
build-fuzz/%: build-fuzz/tests/fuzz/%.o build-fuzz/tests/fuzz/limits.o build-fuzz/bpfprof.a
	$(call say,FUZZ,$@)
	$(Q)$(CLANG) -fsanitize=fuzzer,address,undefined $^ $(LDLIBS) -o $@

demo:
	@tools/install-deps.sh
	@$(MAKE) --no-print-directory all $(BUILD)/tests/progs/demo
	./bpfprof oncpu -F 499 --summary -o demo.html -o demo.folded 5 -- $(BUILD)/tests/progs/demo 7
	@echo; echo "demo.html is the flame graph, demo.folded the stacks behind it."

bench: all progs $(BENCH_BINS)
	@tools/bench.sh

lint:
	@tools/lint.sh
tour:
	@tools/tour.sh
format:
	clang-format -i $(filter-out vmlinux/%,$(wildcard src/*.[ch] src/*/*.[ch] bpf/*.[ch] tests/*/*.[ch] tools/*/*.[ch]))

# The program writes them itself. They are the same for each architecture: COMPLETER is one that runs here.
COMPLETER ?= $(if $(CROSS_COMPILE),,./$(PROG))
complete = $(COMPLETER) completion $(1) | install -D -m 644 /dev/stdin $(DESTDIR)$(2)

install: $(PROG)
	install -D -m 755 $(PROG) $(DESTDIR)$(sbindir)/bpfprof
	install -D -m 644 -t $(DESTDIR)$(mandir)/man8 man/*.8
	install -D -m 644 -t $(DESTDIR)$(docdir) README.md SECURITY.md CHANGELOG.md docs/*.md docs/json.schema.json
	$(if $(COMPLETER),$(call complete,bash,$(datadir)/bash-completion/completions/bpfprof))
	$(if $(COMPLETER),$(call complete,zsh,$(zshdir)/_bpfprof))
	$(if $(COMPLETER),$(call complete,fish,$(datadir)/fish/vendor_completions.d/bpfprof.fish))
	install -D -m 644 -t $(DESTDIR)$(unitdir) dist/bpfprof-agent.service
	sed -i 's|/usr/local/sbin|$(sbindir)|' $(DESTDIR)$(unitdir)/bpfprof-agent.service
	$(if $(CAPS),getent group $(group) >/dev/null || groupadd --system $(group))
	$(if $(CAPS),chown root:$(group) $(DESTDIR)$(sbindir)/bpfprof && chmod 750 $(DESTDIR)$(sbindir)/bpfprof)
	$(if $(CAPS),setcap $(FILE_CAPS)=ep $(DESTDIR)$(sbindir)/bpfprof)

static:
	@$(MAKE) --no-print-directory STATIC=1 $(BUILD)/static/bpfprof
deb:
	@tools/deb.sh $(CROSS_COMPILE)
release:
	@tools/release.sh

clean:
	rm -rf build build-san build-fuzz bpfprof

# For scripts that package: what a variable is.
print-%:
	@echo '$($*)'
help:
	@awk '!/^#/ { exit } { sub(/^# ?/, ""); print }' Makefile

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all unit progs check check-all check-nightly check-unit check-vm check-cost check-distros check-engines check-fuzz fuzzers demo bench lint tour format \
	install static deb release clean help
-include $(wildcard $(BUILD)/tests/e2e/*.d $(BUILD)/tests/e2e/*/*.d $(BUILD)/tools/bench/*.d) $(BPF_OBJS:.o=.d) $(OBJS:.o=.d) $(UNIT_BINS:=.d) $(FUZZ_OBJS:.o=.d) $(patsubst %.c,build-fuzz/%.d,$(wildcard tests/fuzz/*.c))
