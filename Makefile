# evenstep.  What one can type:
#
#   make deps        install the Debian packages that are missing (root, or sudo)
#   make deps-packages    those that make deb and make rpm need besides
#   make [all]       build everything into build/
#   make check       every test (root for the last two tiers); one tier alone:
#                    check-unit check-local check-san check-cluster check-faults;
#                    JOBS=1 runs one test at a time, not one for each CPU
#   make check T='t/policy/even.c t/2000-local.t' PROVE=-v    only these
#   make check-suite SUITE=trixie  the same in a tree of that Debian, with its Slurm
#                    (root, and mmdebstrap); CHECK='check-cluster' runs less of it
#   make demo        a rendering on a cluster of four unequal nodes (root, or sudo)
#   make bench       efficiency, turn-around and the plugin's cost, measured (root)
#   make bench-scale what a front end of 100 to 1,000 agents needs, and more
#   make bench-tick  what a tick of the progress meter costs, and its monitor
#   make bench-graph what grouping is worth; plans' cost; a real workflow (root)
#   make bench-bcast evenstep bcast beside sbcast and MPI_Bcast, measured (root)
#   make lint format style
#   make html        the manuals as HTML, in build/html
#   make fuzz F=message TIME=60    one fuzz target, TIME seconds
#   make fuzz-all TIME=60          all of them in turn, TIME seconds each
#   make install uninstall   PREFIX=/usr/local DESTDIR=
#   make install-user uninstall-user   PREFIX=$HOME/.local: no plugin, no Slurm needed
#   make dist deb rpm   a tarball, and packages of Debian and of Enterprise Linux
#   make check-deb   those of Debian, installed in a fresh one, with a cluster (root);
#                    SUITE=trixie: those of that Debian
#
# SAN=address,undefined or SAN=thread builds into a directory of its own.
# Builds go into the build directory and nowhere else.

comma := ,
SAN   ?=
B     ?= build$(EVENSTEP_SUITE:%=-%)$(if $(SAN),-$(subst $(comma),-,$(SAN)))

VERSION    := 0.2.0# the one place, see CHANGELOG.md
PREFIX     ?= /usr/local
bindir     ?= $(PREFIX)/bin
libdir     ?= $(PREFIX)/lib
preloaddir ?= $(libdir)/evenstep
includedir ?= $(PREFIX)/include
mandir     ?= $(PREFIX)/share/man
sysconfdir ?= /etc
# Where shells look for completions.
datadir    ?= $(PREFIX)/share
bashdir    ?= $(datadir)/bash-completion/completions
zshdir     ?= $(datadir)/zsh/site-functions
fishdir    ?= $(datadir)/fish/vendor_completions.d

# Slurm says where its plugins are; without a running one the package does.
plugindir ?= $(or \
  $(shell scontrol show config 2>/dev/null | sed -n 's/^PluginDir *= *\([^:]*\).*/\1/p'), \
  $(shell dpkg -L slurm-wlm-basic-plugins slurm-smd 2>/dev/null | sed -n 's|/select_cons_tres\.so$$||p'), \
  $(PREFIX)/lib/slurm)

# gcc's thread sanitizer knows no fences, and warns of those of the meter's page
# (-Wno-tsan): what is tested under it reads no such page.
CC     ?= cc
CFLAGS ?= -O2 -g
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
          -Wmissing-prototypes -Wformat=2 -Wvla -Wundef
ALL_CPPFLAGS = -I. -D_GNU_SOURCE $(CPPFLAGS)
ALL_CFLAGS   = -std=c11 $(WARN) $(if $(WERROR),-Werror) -fvisibility=hidden \
               -fstack-protector-strong $(if $(SAN),-fsanitize=$(SAN) \
               -fno-sanitize-recover=all -fno-omit-frame-pointer) \
               $(if $(filter thread,$(SAN)),-Wno-tsan) $(CFLAGS)
ALL_LDFLAGS  = $(if $(SAN),-fsanitize=$(SAN)) -Wl,-z,relro,-z,now,--as-needed \
               $(LDFLAGS)

# --- packages, each asked of pkg-config once, when first needed: `make deps
# check` installs them before -------------------------------------------------
cflags_of = $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(1)))
libs_of   = $(shell pkg-config --libs $(1))
once      = $(eval $(1) := $(2))$($(1))

#                 pkg-config's name, and the package of Debian and of Enterprise Linux
bcast_libraries    := pmix:libpmix-dev:pmix-devel libevent_core:libevent-dev:libevent-devel \
                      libsodium:libsodium-dev:libsodium-devel \
                      libcrypto:libssl-dev:openssl-devel libxxhash:libxxhash-dev:xxhash-devel \
                      liblz4:liblz4-dev:lz4-devel libzstd:libzstd-dev:libzstd-devel
launcher_libraries := $(bcast_libraries) libevent_extra:libevent-dev:libevent-devel \
                      jansson:libjansson-dev:jansson-devel \
                      libconfuse:libconfuse-dev:libconfuse-devel \
                      libcgraph:libgraphviz-dev:graphviz-devel \
                      hwloc:libhwloc-dev:hwloc-devel ncursesw:libncurses-dev:ncurses-devel
column          = $(foreach w,$(2),$(word $(1),$(subst :, ,$w)))
bcast_pkg       := $(call column,1,$(bcast_libraries))
launcher_pkg    := $(call column,1,$(launcher_libraries))

# Each that is not there is named, with the packages that have it.
absent = $(shell echo 'evenstep: $(1) is missing: install $(2) (Debian) or $(3) (Enterprise Linux)' >&2)
look   = $(if $(shell pkg-config --exists $(1) 2>&1 || echo no),$(call absent,$(1),$(2),$(3))no)
have_pkg_config = $(if $(shell pkg-config --version 2>/dev/null),,$(call \
  absent,pkg-config,pkg-config,pkgconf-pkg-config)$(error see the line above))
have_libraries  = $(have_pkg_config)$(if $(strip $(foreach l,$(launcher_libraries),$(call \
  look,$(word 1,$(subst :, ,$l)),$(word 2,$(subst :, ,$l)),$(word 3,$(subst :, ,$l))))),$(error \
  see the lines above, or type `make deps` on Debian))
spank_h    := \#include <slurm/spank.h>
have_slurm = $(if $(shell echo '$(spank_h)' | $(CC) $(ALL_CPPFLAGS) -E - 2>&1 >/dev/null),$(call \
  absent,slurm/spank.h,libslurm-dev,slurm-devel)$(error see the line above; \
  `make install-user` needs no Slurm))

# Not needed: FABRIC=no builds without it, as where its headers are not there.
FABRIC     := $(or $(FABRIC),$(if $(shell pkg-config --exists libfabric 2>&1 || echo no),none,yes))
tell_fabric = $(if $(filter none,$(FABRIC)),$(shell echo 'evenstep: libfabric is not there, so `transport = "ofi"` is not: install \
  libfabric-dev (Debian) or libfabric-devel (Enterprise Linux) to have it' >&2))
fabric_cflags = $(if $(filter yes,$(FABRIC)),$(call cflags_of,libfabric))
bcast_cflags    = $(call once,bcast_cflags,$(have_libraries)$(tell_fabric)$(call cflags_of,$(bcast_pkg)) $(fabric_cflags))
launcher_cflags = $(call once,launcher_cflags,$(have_libraries)$(call cflags_of,$(launcher_pkg)))
plugin_cflags   = $(call once,plugin_cflags,$(have_slurm))
launcher_libs   = $(call once,launcher_libs,$(call libs_of,$(launcher_pkg)) -lm -ldl -pthread)

# --- what is made of what ----------------------------------------------------
# The rooms of launcher/, each an archive; one stands before those it uses, see
# t/0001-layers.t.
rooms := command whatif graph run session agent power config exec wire meter \
         probe libevenstep base
policy_src     := $(wildcard policy/*.c)
fabric_src     := $(filter-out pmix_bcast/fabric_message.c pmix_bcast/fabric_none.c, \
                    $(wildcard pmix_bcast/fabric_*.c)) pmix_bcast/link_lane.c
pmix_bcast_src := $(filter-out $(if $(filter yes,$(FABRIC)),pmix_bcast/fabric_none.c,$(fabric_src)), \
                    $(wildcard pmix_bcast/*.c))
plugin_src := $(wildcard spank_plugin/*.c)

# libevenstep: what applications link, with what it stands on
lib_src := \
  launcher/libevenstep/agent_socket.c \
  launcher/libevenstep/libevenstep.c \
  launcher/libevenstep/listen.c \
  launcher/libevenstep/meter.c \
  launcher/libevenstep/meter_writer.c \
  launcher/libevenstep/partition.c \
  launcher/libevenstep/slice_message.c \
  launcher/libevenstep/slices.c \
  pmix_bcast/adapter.c \
  pmix_bcast/array.c \
  pmix_bcast/bytes.c \
  pmix_bcast/conntable.c \
  pmix_bcast/error.c

# libevenstep-mpi: what is put before programs that know nothing of evenstep
mpi_src := \
  launcher/libevenstep/lend.c \
  launcher/libevenstep/meter_page.c \
  launcher/libevenstep/meter_writer.c \
  launcher/libevenstep/mpi_beside.c \
  launcher/libevenstep/mpi_meter.c \
  launcher/libevenstep/mpi_real.c \
  launcher/libevenstep/mpi_loops.c \
  launcher/libevenstep/mpi_poll.c \
  launcher/libevenstep/mpi_region.c \
  launcher/libevenstep/mpi_sites.c \
  launcher/libevenstep/mpi_wrap.c \
  launcher/libevenstep/omp_gomp.c \
  launcher/libevenstep/omp_tool.c \
  launcher/libevenstep/team_thread.c \
  launcher/libevenstep/thread_time.c \
  policy/lending.c

obj  = $(patsubst %.c,$(B)/%.o,$(1))
LIBS := $(rooms:%=$(B)/launcher/lib%.a) $(B)/libpmix_bcast.a $(B)/libpolicy.a

completions := $(B)/completions/bash/evenstep $(B)/completions/zsh/_evenstep \
               $(B)/completions/fish/evenstep.fish
for_a_user := $(B)/evenstep $(B)/evenstep-agent $(B)/evenstep-power $(B)/libevenstep.so $(B)/libevenstep-mpi.so \
              $(B)/evenstep.pc $(completions)
all: $(for_a_user) $(B)/evenstep.so

$(B)/libpolicy.a:     $(call obj,$(policy_src))
$(B)/libpmix_bcast.a: $(call obj,$(pmix_bcast_src))
$(foreach r,$(rooms),$(eval \
  $(B)/launcher/lib$(r).a: $(call obj,$(wildcard launcher/$(r)/*.c))))
$(B)/evenstep:        $(call obj,launcher/main.c) $(LIBS)
$(B)/evenstep-agent:  $(call obj,launcher/agent_main.c) $(LIBS)
$(B)/evenstep-power:  $(call obj,launcher/power_main.c) $(LIBS)

# "own" and not CFLAGS +=: that would be dropped by `make CFLAGS=…`.
$(B)/policy/%.o:       own = -ffp-contract=off
$(B)/pmix_bcast/%.o:   own = $(bcast_cflags)
$(B)/launcher/%.o:     own = $(launcher_cflags) -pthread \
                             -DEVENSTEP_VERSION='"$(VERSION)"' \
                             -DEVENSTEP_CONF='"$(sysconfdir)/evenstep/evenstep.conf"'
$(B)/spank_plugin/%.o: own = $(plugin_cflags) -fPIC -fvisibility=default \
                             -DEVENSTEP_LAUNCHER='"$(bindir)/evenstep"' \
                             -DEVENSTEP_LIBDIR='"$(preloaddir)"'

# What is compiled in; changes only when it does, so that `make install` with
# another PREFIX builds anew what knows a path, and a new version what tells it.
$(B)/places: FORCE
	@mkdir -p $(B); echo '$(VERSION) $(bindir) $(libdir) $(preloaddir) $(includedir) $(sysconfdir)' >$@.new; \
	cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(call obj,launcher/main.c launcher/power_main.c launcher/base/named_files.c launcher/base/report_head.c \
           launcher/config/config_file.c launcher/config/config_syntax.c \
           launcher/config/grammar.c launcher/probe/probe_cache.c launcher/session/arrival.c \
           launcher/session/lingering.c launcher/wire/protocol_nodes.c \
           spank_plugin/plugin_options.c spank_plugin/plugin_meter.c): $(B)/places
FORCE:

$(B)/evenstep.so: $(call obj,$(plugin_src)) spank_plugin/evenstep.map
	$(CC) -shared $(ALL_LDFLAGS) \
	    -Wl,--version-script=spank_plugin/evenstep.map -o $@ $(filter %.o,$^)

$(B)/pic/%.o: %.c
	@mkdir -p $(@D); echo "  cc -fPIC $<"
	@$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC $(own) -MMD -MP -c -o $@ $<
$(B)/libevenstep.so.0: $(lib_src:%.c=$(B)/pic/%.o)
	$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,libevenstep.so.0 -o $@ $^ -lxxhash
$(B)/libevenstep.so: $(B)/libevenstep.so.0
	ln -sf libevenstep.so.0 $@
$(B)/evenstep.pc: launcher/libevenstep/evenstep.pc.in $(B)/places
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(libdir)|; s|@INCLUDEDIR@|$(includedir)|; s|@VERSION@|$(VERSION)|' $< >$@
# It names no library, and no version of a symbol: mpi_real.h says why.
$(mpi_src:%.c=$(B)/pic/%.o): own = -Wp,-U_FORTIFY_SOURCE -ffunction-sections
$(B)/libevenstep-mpi.so: $(mpi_src:%.c=$(B)/pic/%.o)
	$(CC) -shared $(ALL_LDFLAGS) -Wl,--gc-sections $(if $(SAN),,-nodefaultlibs) -o $@ $^ $(if $(SAN),,-lgcc)

# --- the three rules; `make -n` shows the whole commands ---------------------------------------------------------
$(B)/%.o: %.c
	@mkdir -p $(@D); echo "  cc $<"
	@$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(own) -MMD -MP -c -o $@ $<
$(B)/%.a:
	rm -f $@
	$(AR) rcs $@ $^
$(B)/evenstep $(B)/evenstep-agent $(B)/evenstep-power:
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(launcher_libs) $(LDLIBS)

$(completions): $(B)/evenstep
	@mkdir -p $(@D)
	$< completion $(notdir $(@D)) >$@

# --- packages of Debian 12 ---------------------------------------------------
#         build it
packages := gcc g++ make pkg-config libslurm-dev $(call column,2,$(launcher_libraries)) \
            $(comment by a fast network; it is built without, too) libfabric-dev \
            $(comment run it) slurm-client slurm-wlm-basic-plugins \
            $(comment test it) slurmd slurmctld slurmdbd mariadb-server-core \
            mariadb-client-core munge hwloc-nox perl sharness jq \
            libxml2-utils openmpi-bin libopenmpi-dev python3-mpi4py \
            mpich libmpich-dev libomp-dev gfortran iproute2 nftables util-linux mount procps \
            musl-tools zsh fish bsdextrautils bsdutils mmdebstrap python3-venv python3-joblib busybox-static e2fsprogs btrfs-progs \
            $(comment check its style) clang-format cppcheck shellcheck mandoc lowdown mypy \
            $(comment fuzz it) clang libclang-rt-dev \
            $(comment the demo) povray netpbm \
            $(comment what it is measured beside) parallel python3-numpy sshfs socat openssh-sftp-server

# What makes a user root: root has no need of it, and may have none.
as_root = $(if $(filter 0,$(shell id -u)),,$(shell command -v sudo))

packages:
	@printf '%s\n' $(packages)
# To make packages of it.
packaging := build-essential dpkg-dev debhelper dh-python lintian rpm rpmlint
deps:          wanted = $(packages)
deps-packages: wanted = $(packaging)
deps deps-packages:
	@missing=$$(for p in $(wanted); do dpkg-query -Wf '$${Status}' $$p \
	    2>/dev/null | grep -q ' installed$$' || printf '%s ' $$p; done); \
	if [ -z "$$missing" ]; then echo "$@: nothing is missing"; exit 0; fi; \
	echo "$@: installing $$missing"; \
	if [ "$$(id -u)" -ne 0 ] && [ -z "$(as_root)" ]; then \
	    echo "$@: not root, and no sudo here: run it as root" >&2; exit 3; fi; \
	$(as_root) apt-get -q update && $(as_root) env DEBIAN_FRONTEND=noninteractive \
	    apt-get -q -y install --no-install-recommends $$missing

# --- tests -------------------------------------------------------------------
t_src := $(wildcard t/policy/*.c t/pmix_bcast/*.c t/launcher/*/*.c \
                    t/spank_plugin/*.c)
t_bin := $(t_src:t/%.c=$(B)/t/%.t)
f_src := $(filter-out t/fuzz/replay.c,$(wildcard t/fuzz/*.c))
f_bin := $(f_src:t/fuzz/%.c=$(B)/t/fuzz/%)
wrap  := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
fence := $(wrap),--wrap=free

$(B)/t/%.o: own = -It/lib $(launcher_cflags)
$(t_bin): $(B)/t/%.t: $(B)/t/%.o
	$(CC) $(ALL_LDFLAGS) $(if $(findstring fault.h,$(file <t/$*.c)),$(wrap)) \
	    $(if $(findstring fenced.h,$(file <t/$*.c)),$(fence)) \
	    -o $@ $^ $(launcher_libs) $(LDLIBS)
# A test of policy/ or pmix_bcast/ needs no more than these may use.
t_policy := $(filter-out %/params.t,$(filter $(B)/t/policy/%,$(t_bin)))
t_bcast  := $(filter $(B)/t/pmix_bcast/%,$(t_bin))
$(t_policy): $(B)/libpolicy.a
$(t_bcast):  $(B)/libpmix_bcast.a $(B)/libpolicy.a
$(filter-out $(t_policy) $(t_bcast),$(t_bin)): $(LIBS)
# The plugin's modules, without Slurm or with that of t/lib/fake_spank.h.
$(B)/libspank_plugin.a: $(call obj,$(plugin_src))
$(filter $(B)/t/spank_plugin/%,$(t_bin)) $(B)/t/fuzz/env_file: \
  $(B)/libspank_plugin.a
# What a test opens at run time: stand-ins for the drivers of GPUs, of each maker
# one as it should be, an old one, and one that cannot compute.
t_drivers := $(addprefix $(B)/t/drivers/, \
               $(foreach v,nvidia nvidia-old nvidia-bare,$v/libcuda.so.1) \
               $(foreach v,amd amd-old amd-bare,$v/libamdhip64.so.6) \
               $(foreach v,intel intel-old intel-bare,$v/libze_loader.so.1) \
               nvidia/libnvidia-ml.so.1 amd/libhiprtc.so.6 amd/librocm_smi64.so.7)
$(B)/t/launcher/probe/probe.t $(B)/t/launcher/probe/probe_gpu.t: | $(t_drivers)
$(t_drivers): $(wildcard t/drivers/*)
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC -shared $(ALL_LDFLAGS) \
	    $(if $(findstring -old/,$@),-DOLD) $(if $(findstring -bare/,$@),-DBARE) \
	    -o $@ t/drivers/$(firstword $(subst ., ,$(@F))).c
# What shell tests preload: a disk to be watched, a link that flips a bit.
t_preloaded := $(B)/t/programs/disk.so $(B)/t/programs/flip.so
$(t_preloaded:.so=.o): own = -fPIC -fvisibility=default
$(t_preloaded): %.so: %.o
	$(CC) -shared $(ALL_LDFLAGS) -o $@ $<
# What shell tests run.
# A front end without libfabric: its objects come before those in the archives.
$(B)/t/programs/no_fabric: $(call obj,launcher/main.c pmix_bcast/fabric_none.c) $(LIBS)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(launcher_libs) $(LDLIBS)
t_programs := $(B)/t/programs/decisions $(B)/t/programs/metered $(B)/t/programs/old_kernel $(B)/t/programs/slices $(B)/t/programs/task_args
$(t_programs): %: %.o $(LIBS)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(launcher_libs) $(LDLIBS)
for_scripts := all $(t_programs) $(B)/t/programs/no_fabric $(t_preloaded) $(t_drivers)
$(f_bin): $(B)/t/fuzz/%: $(B)/t/fuzz/%.o $(B)/t/fuzz/replay.o $(LIBS)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(launcher_libs) $(LDLIBS)
$(f_bin:=.t): %.t: %
	printf '#!/bin/sh\nexec %s t/fuzz/corpus/%s/*\n' $< $(notdir $<) >$@
	chmod +x $@

# A tier runs its tests by t/lib/tier: "twice" where a test that shares the machine
# with others may be run again.  Each can be run alone.
JOBS ?= $(shell nproc)
more_jobs = $(if $(filter 1,$(JOBS)),1,$(shell expr 1 + $(JOBS)))# where tests mostly wait
tier = EVENSTEP_SRC='$(CURDIR)' EVENSTEP_BUILD='$(abspath $(B))' PROVE='$(PROVE)' JOBS='$(or $(1),$(JOBS))' \
       LSAN_OPTIONS=suppressions=$(CURDIR)/t/lib/lsan.supp:print_suppressions=0 \
       t/lib/tier
pure_tests    := $(filter $(B)/t/policy/%,$(t_bin)) $(f_bin:=.t)
unit_tests    := $(filter-out $(pure_tests),$(t_bin)) $(wildcard t/0*.t)
local_tests   := $(wildcard t/1*.t t/2*.t t/9*.t)
cluster_tests := $(wildcard t/3*.t)
busy_tests    := $(filter-out t/3740% t/3775% t/3780%,$(wildcard t/37*.t)) \
                 $(wildcard t/3310-* t/3315-* t/3325-* t/3340-* t/3345-*)# their nodes compute, in time: one at a time
fault_tests   := $(wildcard t/4*.t)
long_tests    := $(wildcard t/3160-* t/3206-*) $(fault_tests)

# make check T='t/policy/even.c t/2000-local.t' PROVE=-v: these, and what they need.
ifdef T
t_given := $(patsubst t/%.c,$(B)/t/%.t,$(T))
check: JOBS = 1# what they say is not mixed
check: $(filter $(B)/%,$(t_given)) $(if $(filter-out $(B)/%,$(t_given)),$(for_scripts))
	$(tier) once $(t_given)
else
check: # one after the other, also with -j
	$(MAKE) check-unit
	$(MAKE) check-local
	$(MAKE) check-san
	$(MAKE) check-cluster
endif
tests: $(for_scripts) $(t_bin) $(f_bin:=.t)
check-unit: tests
	@echo "== tier 1: unit and layers (no root)"
	$(tier) once $(pure_tests)
	$(tier) twice $(unit_tests)
check-local: $(for_scripts)
	@echo "== tier 2: command line and --local (no root)"
	$(tier) twice $(local_tests)
check-san: # the same, built with sanitizers
	@echo "== tier 3: unit and --local with sanitizers (no root)"
	$(MAKE) -s SAN=address,undefined check-programs
	$(MAKE) -s SAN=thread T="t/launcher/probe/probe_cpu.c t/pmix_bcast/tree_ahead.c" check
check-cluster:
	@echo "== tiers 4 and 5: a real Slurm in contrib/testbed, faults and security on it (root)"
	$(MAKE) check-slurm
	$(MAKE) check-power
check-slurm: $(for_scripts) # of tiers 4 and 5, all but ...; the longest begin, so that none ends alone
	$(call tier,$(more_jobs)) twice $(long_tests) $(filter-out $(busy_tests) $(long_tests),$(cluster_tests))
check-power: $(for_scripts) # ... those that steer and measure power, and times
	$(call tier,1) twice $(busy_tests)
check-faults: $(for_scripts)
	@echo "== tier 5 alone: faults and security (root)"
	$(call tier,1) twice $(fault_tests)
check-programs: tests
	$(tier) once $(pure_tests)
	$(tier) twice $(filter-out $(pure_tests),$(t_bin)) t/2000-local.t
check-suite: # in build-SUITE, as contrib/suite sets EVENSTEP_SUITE
	contrib/suite $(or $(SUITE),trixie) -- \
	    sh -ec 'for tier; do $(MAKE) $$tier; done' - $(or $(CHECK),check)

# What is fuzzed, instrumented, once for all targets.
fuzz_san := -fsanitize=address,undefined -fno-sanitize-recover=all
fuzz_cc  := clang -std=c11 -g -O1 -fno-omit-frame-pointer
z_bin    := $(f_src:t/fuzz/%.c=$(B)/fuzz/%)
z_lib    := $(B)/fuzz/libfuzzed.a

$(B)/fuzz/%.o: own = $(launcher_cflags) -pthread -ffp-contract=off -It/lib \
                     -DEVENSTEP_CONF='"/dev/null"' -DEVENSTEP_VERSION='"$(VERSION)"'
$(B)/fuzz/%.o: %.c
	@mkdir -p $(@D); echo "  clang $<"
	@$(fuzz_cc) $(fuzz_san) -fsanitize=fuzzer-no-link $(ALL_CPPFLAGS) $(own) \
	    -MMD -MP -c -o $@ $<
$(z_lib): $(patsubst %.c,$(B)/fuzz/%.o,$(policy_src) $(pmix_bcast_src) \
            $(wildcard launcher/*/*.c) spank_plugin/env_file.c)
$(z_bin): $(B)/fuzz/%: $(B)/fuzz/t/fuzz/%.o $(z_lib)
	clang $(fuzz_san) -fsanitize=fuzzer -o $@ $^ $(launcher_libs)

fuzz: $(B)/fuzz/$(F) # needs clang
	t/fuzz/run $(or $(TIME),60) $(B)/fuzz $(F)
fuzz-all: $(z_bin)
	t/fuzz/run $(or $(TIME),60) $(B)/fuzz $(notdir $(z_bin))

# --- demo and benchmarks -----------------------------------------------------
peers := $(B)/contrib/bench-peers/tcp_flow $(B)/contrib/bench-peers/mpi_bcast \
         $(B)/contrib/bench-peers/mpi_pingpong $(B)/contrib/bench-peers/least_work
$(B)/contrib/%.o: own = $(call cflags_of,ompi-c)
$(B)/contrib/bench-peers/least_work: $(B)/libpmix_bcast.a
$(peers): %: %.o
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(if $(findstring mpi,$@),$(call libs_of,ompi-c)) \
	    $(if $(findstring least,$@),$(launcher_libs)) $(LDLIBS)

$(B)/contrib/bench-tick/%.o: own = $(launcher_cflags) -pthread
# As programs do: the library comes first.
$(B)/contrib/bench-tick/tick: $(B)/contrib/bench-tick/tick.o $(B)/libevenstep.so $(LIBS)
	$(CC) $(ALL_LDFLAGS) -Wl,-rpath,$(abspath $(B)) -o $@ $^ $(launcher_libs) $(LDLIBS)

demo: # from nothing: each step sees what the one before has made
	$(MAKE) deps
	$(MAKE) all
	$(as_root) contrib/demo/run
bench: all
	contrib/bench
bench-scale: all
	contrib/bench scale
bench-tick: all $(B)/contrib/bench-tick/tick
	$(B)/contrib/bench-tick/tick
bench-mpi: all $(peers) $(B)/t/programs/metered
	EVENSTEP_BUILD='$(abspath $(B))' contrib/bench-mpi
bench-bcast: all $(peers)
	contrib/bench-bcast
bench-graph: all
	contrib/bench-graph-claim
	contrib/bench-graph-size
	contrib/bench-graph
	contrib/bench-graph-speeds

# --- style -------------------------------------------------------------------
ours    = $(shell find contrib launcher pmix_bcast policy spank_plugin t -name '*.[ch]')
manuals := $(wildcard launcher/*.[1-8] launcher/*/*.[1-8] policy/*.[1-8] spank_plugin/*.[1-8])
scripts := $(wildcard contrib/testbed contrib/suite contrib/slurm_release.sh contrib/bench contrib/bench-bcast contrib/bench-mpi \
             contrib/bench-absence contrib/bench-graph contrib/bench-graph-claim contrib/bench-graph-size contrib/bench-graph-speeds contrib/bench-real contrib/bench-runs contrib/bench-tasks contrib/bench-truth contrib/requeue contrib/workflow/snakemake/evenstep-* contrib/workflow/nextflow/bin/hq contrib/containers/in-tree \
             contrib/demo/run contrib/demo/table contrib/demo/plain-srun contrib/demo/render-rows contrib/graphs/mosaic contrib/packaging/dist \
             contrib/packaging/deb contrib/packaging/rpm contrib/packaging/check-deb contrib/packaging/link-plugin \
             t/fuzz/run t/lib/tier t/lib/one_test .ci/run)
lint:
	clang-format --dry-run -Werror $(ours)
	cppcheck -q -j2 --error-exitcode=1 --inline-suppr \
	    --enable=warning,style,performance,portability \
	    --suppress=missingIncludeSystem --suppress=variableScope \
	    '-DSPANK_PLUGIN(a,b)=' -I. -It/lib $(filter %.c,$(ours))
	mandoc -T lint -W warning $(manuals)
	shellcheck $(scripts) etc/evenstep-health etc/evenstep-epilog
	shellcheck -s sh -e SC1091,SC2034,SC2016,SC2154 t/*.t t/lib/*.sh
format:
	clang-format -i $(ours)

# --- manuals for a browser, with links between them ----------------------------
# The pages of other packages are Debian's: mandoc looks for ours where it runs.
html_man := %N.%S.html;https://manpages.debian.org/%N.%S
html:
	@rm -rf $(B)/html && mkdir -p $(B)/html/pages && cp $(manuals) $(B)/html/pages
	@cd $(B)/html/pages && for m in *; do \
	    mandoc -T html -O man='$(html_man)',toc "$$m" >"../$$m.html" || exit 1; done
	@rm -rf $(B)/html/pages; cp contrib/demo/run.svg $(B)/html
	@contrib/site $(B)/html README.md CHANGELOG.md contrib/doc/performance.md contrib/HACKING.md
	@echo "html: $(B)/html/index.html"

# --- install: one list, read by both targets ---------------------------------
#         file                   mode directory
placed := $(B)/evenstep:0755:$(bindir) \
          $(B)/evenstep-agent:0755:$(bindir) \
          $(B)/evenstep-power:0755:$(bindir) \
          $(B)/evenstep.so:0755:$(plugindir) \
          $(B)/libevenstep.so.0:0755:$(libdir) \
          $(B)/libevenstep.so:link:$(libdir) \
          $(B)/libevenstep-mpi.so:0755:$(preloaddir) \
          launcher/libevenstep/evenstep.h:0644:$(includedir) \
          launcher/libevenstep/evenstep.hpp:0644:$(includedir) \
          launcher/libevenstep/evenstep.f90:0644:$(includedir) \
          $(B)/evenstep.pc:0644:$(libdir)/pkgconfig \
          $(B)/completions/bash/evenstep:0644:$(bashdir) \
          $(B)/completions/zsh/_evenstep:0644:$(zshdir) \
          $(B)/completions/fish/evenstep.fish:0644:$(fishdir) \
          $(foreach m,$(manuals),$m:0644:$(mandir)/man$(patsubst .%,%,$(suffix $m)))
p_file = $(word 1,$(subst :, ,$(1)))
p_mode = $(word 2,$(subst :, ,$(1)))
p_dir  = $(DESTDIR)$(word 3,$(subst :, ,$(1)))
conf   = $(DESTDIR)$(sysconfdir)/evenstep/evenstep.conf

# A link is one to the file before it.
put    = $(foreach p,$(1),$(if $(filter link,$(call p_mode,$p)),cp -P,install -D -m $(call \
             p_mode,$p)) $(call p_file,$p) "$(call p_dir,$p)/$(notdir $(call p_file,$p))" &&) :
drop   = rm -f $(foreach p,$(1),"$(call p_dir,$p)/$(notdir $(call p_file,$p))")

install: all
	$(call put,$(placed))
	test -e "$(conf)" || install -D -m 0644 etc/evenstep.conf "$(conf)"
uninstall: # leaves the site's configuration
	$(call drop,$(placed))

# For one user: no plugin, so that no Slurm is needed to build it, and nothing
# outside PREFIX, which is $HOME/.local if none is given.
for_a_site := $(B)/evenstep.so:% spank_plugin/%
placed_for_a_user = $(filter-out $(for_a_site),$(placed))
user_places = $(if $(filter file,$(origin PREFIX)),PREFIX='$(HOME)/.local' \
              sysconfdir='$(HOME)/.local/etc',sysconfdir='$(PREFIX)/etc')
install-user uninstall-user:
	$(MAKE) $(user_places) $@-there
install-user-there: $(for_a_user)
	$(call put,$(placed_for_a_user))
	test -e "$(conf)" || install -D -m 0644 etc/evenstep.conf "$(conf)"
uninstall-user-there: # leaves the user's configuration
	$(call drop,$(placed_for_a_user))

# --- packages ----------------------------------------------------------------
version:
	@echo $(VERSION)
dist:
	contrib/packaging/dist '$(VERSION)' '$(B)'
deb rpm: dist # into BUILD/deb and BUILD/rpm
	contrib/packaging/$@ '$(VERSION)' '$(B)'
# Installed, upgraded, removed in a fresh Debian, with a cluster (root).
ifdef SUITE
check-deb:
	contrib/suite $(SUITE) -- $(MAKE) deps-packages deb
	contrib/packaging/check-deb build-$(SUITE) $(SUITE)
else
check-deb: deb
	contrib/packaging/check-deb '$(B)'
endif

clean:
	rm -rf build build-*

.PHONY: all tests packages deps deps-packages check check-suite check-unit check-san check-local check-cluster \
        check-slurm check-power check-faults check-programs fuzz fuzz-all demo \
        bench bench-bcast bench-mpi bench-graph bench-scale bench-tick lint format html \
        install uninstall install-user uninstall-user install-user-there \
        uninstall-user-there version dist deb rpm check-deb clean FORCE
.DELETE_ON_ERROR:
.PRECIOUS: $(B)/%.o
-include $(shell test -d $(B) && find $(B) \( -path $(B)/deb -o -path $(B)/rpm \) -prune \
             -o -type f -name '*.d' -print)
