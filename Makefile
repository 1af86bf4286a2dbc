# evenstep.  What one can type:
#
#   make deps        install the Debian packages that are missing (root)
#   make [all]       build everything into build/
#   make check       every test: unit, local, cluster, faults (root for the last)
#   make demo        a rendering on a cluster of four unequal nodes (root)
#   make bench       efficiency, turn-around and the plugin's cost, measured (root)
#   make bench-scale what a front end of 100 to 1,000 agents needs, and more
#   make bench-tick  what a tick of the progress meter costs, and its monitor
#   make bench-graph plans' cost; a workflow beside its plan and GNU parallel (root)
#   make bench-bcast evenstep bcast beside sbcast and MPI_Bcast, measured (root)
#   make lint format style
#   make fuzz F=message TIME=60    one fuzz target, TIME seconds
#   make fuzz-all TIME=60          all of them in turn, TIME seconds each
#   make install uninstall   PREFIX=/usr/local DESTDIR=
#
# SAN=address,undefined or SAN=thread builds into a directory of its own.
# Builds go into the build directory and nowhere else.

comma := ,
SAN   ?=
B     ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))

VERSION    := 0.1.0
PREFIX     ?= /usr/local
bindir     ?= $(PREFIX)/bin
libdir     ?= $(PREFIX)/lib
includedir ?= $(PREFIX)/include
mandir     ?= $(PREFIX)/share/man
sysconfdir ?= /etc

# Slurm says where its plugins are; without a running one the package does.
plugindir ?= $(or \
  $(shell scontrol show config 2>/dev/null | sed -n 's/^PluginDir *= *\([^:]*\).*/\1/p'), \
  $(shell dpkg -L slurm-wlm-basic-plugins 2>/dev/null | sed -n 's|/select_cons_tres\.so$$||p'), \
  $(PREFIX)/lib/slurm)

CC     ?= cc
CFLAGS ?= -O2 -g
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
          -Wmissing-prototypes -Wformat=2 -Wvla -Wundef
ALL_CPPFLAGS = -I. -D_GNU_SOURCE $(CPPFLAGS)
ALL_CFLAGS   = -std=c11 $(WARN) $(if $(WERROR),-Werror) -fvisibility=hidden \
               -fstack-protector-strong $(if $(SAN),-fsanitize=$(SAN) \
               -fno-sanitize-recover=all -fno-omit-frame-pointer) $(CFLAGS)
ALL_LDFLAGS  = $(if $(SAN),-fsanitize=$(SAN)) -Wl,-z,relro,-z,now $(LDFLAGS)

# --- packages, each asked of pkg-config once, when first needed: `make deps
# check` installs them before -------------------------------------------------
cflags_of = $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(1)))
libs_of   = $(shell pkg-config --libs $(1))
once      = $(eval $(1) := $(2))$($(1))

bcast_pkg       := pmix libevent_core libsodium libcrypto libxxhash
launcher_pkg    := $(bcast_pkg) jansson libconfuse libcgraph hwloc ncursesw
bcast_cflags    = $(call once,bcast_cflags,$(call cflags_of,$(bcast_pkg)))
launcher_cflags = $(call once,launcher_cflags,$(call cflags_of,$(launcher_pkg)))
launcher_libs   = $(call once,launcher_libs,$(call libs_of,$(launcher_pkg)) -lm -ldl -pthread)

# --- what is made of what ----------------------------------------------------
policy_src := \
  policy/aggregate.c \
  policy/autotuned.c \
  policy/balance.c \
  policy/bundles.c \
  policy/canon.c \
  policy/even.c \
  policy/fit.c \
  policy/graph.c \
  policy/graph_paths.c \
  policy/graph_plan.c \
  policy/grouping.c \
  policy/java.c \
  policy/manual.c \
  policy/median.c \
  policy/metric.c \
  policy/nodethreads.c \
  policy/order.c \
  policy/outlier.c \
  policy/pace.c \
  policy/policy.c \
  policy/power.c \
  policy/power_simulation.c \
  policy/profile.c \
  policy/proportional.c \
  policy/random.c \
  policy/replan.c \
  policy/rl.c \
  policy/rl2.c \
  policy/sample_cache.c \
  policy/schedule.c \
  policy/select.c \
  policy/shares.c \
  policy/slice_steering.c \
  policy/static.c \
  policy/tail.c \
  policy/threshold.c

pmix_bcast_src := \
  pmix_bcast/adapter.c \
  pmix_bcast/array.c \
  pmix_bcast/bcast_home.c \
  pmix_bcast/bcast_message.c \
  pmix_bcast/bcast_node.c \
  pmix_bcast/bytes.c \
  pmix_bcast/channel.c \
  pmix_bcast/chunk_tag.c \
  pmix_bcast/clock.c \
  pmix_bcast/conntable.c \
  pmix_bcast/destination.c \
  pmix_bcast/error.c \
  pmix_bcast/estimator.c \
  pmix_bcast/exchange.c \
  pmix_bcast/file_digest.c \
  pmix_bcast/feed.c \
  pmix_bcast/formula.c \
  pmix_bcast/handshake.c \
  pmix_bcast/link.c \
  pmix_bcast/listener.c \
  pmix_bcast/mesh.c \
  pmix_bcast/message.c \
  pmix_bcast/plan.c \
  pmix_bcast/pmix_host.c \
  pmix_bcast/pull.c \
  pmix_bcast/relay.c \
  pmix_bcast/seal.c \
  pmix_bcast/simulate.c \
  pmix_bcast/wireup.c

launcher_src := \
  launcher/actuator.c \
  launcher/actuator_cgroup.c \
  launcher/actuator_cpufreq.c \
  launcher/actuator_rapl.c \
  launcher/agent.c \
  launcher/agent_meter.c \
  launcher/agent_probe.c \
  launcher/agent_ring.c \
  launcher/agent_work.c \
  launcher/aside.c \
  launcher/attend.c \
  launcher/awake.c \
  launcher/balance_options.c \
  launcher/balance_trace.c \
  launcher/bcast.c \
  launcher/broadcast.c \
  launcher/bundle_replay.c \
  launcher/cgroup_limit.c \
  launcher/companion.c \
  launcher/config.c \
  launcher/config_print.c \
  launcher/config_syntax.c \
  launcher/connections.c \
  launcher/conntable.c \
  launcher/determination.c \
  launcher/distribution.c \
  launcher/drain.c \
  launcher/execution.c \
  launcher/extraction.c \
  launcher/feeder.c \
  launcher/file_limit.c \
  launcher/fingerprint.c \
  launcher/graph_command.c \
  launcher/graph_deliver.c \
  launcher/graph_dot.c \
  launcher/graph_draft.c \
  launcher/graph_fault.c \
  launcher/graph_file.c \
  launcher/graph_hear.c \
  launcher/graph_journal.c \
  launcher/graph_learn.c \
  launcher/graph_message.c \
  launcher/graph_node.c \
  launcher/graph_options.c \
  launcher/graph_own.c \
  launcher/graph_print.c \
  launcher/graph_progress.c \
  launcher/graph_recover.c \
  launcher/graph_result.c \
  launcher/graph_run.c \
  launcher/graph_state.c \
  launcher/graph_stg.c \
  launcher/graph_supply.c \
  launcher/graph_wfformat.c \
  launcher/graph_work.c \
  launcher/greeting.c \
  launcher/group_cpu.c \
  launcher/help.c \
  launcher/history.c \
  launcher/home_address.c \
  launcher/host_check.c \
  launcher/iteration.c \
  launcher/job_load_adjuster.c \
  launcher/journal.c \
  launcher/libevenstep.c \
  launcher/lines.c \
  launcher/local_option.c \
  launcher/meter.c \
  launcher/meter_page.c \
  launcher/meter_track.c \
  launcher/meter_option.c \
  launcher/metrics_cast.c \
  launcher/metrics_file.c \
  launcher/monitor.c \
  launcher/notice.c \
  launcher/outside_meter.c \
  launcher/number.c \
  launcher/on_error.c \
  launcher/paths.c \
  launcher/pcie.c \
  launcher/persistent.c \
  launcher/plan.c \
  launcher/policy_option.c \
  launcher/power_line.c \
  launcher/power_link.c \
  launcher/power_socket.c \
  launcher/power_state.c \
  launcher/probe.c \
  launcher/probe_bus.c \
  launcher/probe_cache.c \
  launcher/probe_command.c \
  launcher/probe_cpu.c \
  launcher/probe_crew.c \
  launcher/probe_gpu.c \
  launcher/probe_here.c \
  launcher/probe_json.c \
  launcher/probe_link.c \
  launcher/probe_memory.c \
  launcher/probe_print.c \
  launcher/probe_rate.c \
  launcher/probe_ring.c \
  launcher/probe_storage.c \
  launcher/probe_stream.c \
  launcher/profile_auto.c \
  launcher/profile_option.c \
  launcher/programs.c \
  launcher/progress.c \
  launcher/protocol.c \
  launcher/qualification.c \
  launcher/queue.c \
  launcher/rack.c \
  launcher/range_option.c \
  launcher/receiving.c \
  launcher/replay.c \
  launcher/report.c \
  launcher/report_chart.c \
  launcher/record_log.c \
  launcher/report_command.c \
  launcher/report_file.c \
  launcher/report_print.c \
  launcher/ring_test.c \
  launcher/roll.c \
  launcher/run.c \
  launcher/run_meter.c \
  launcher/run_options.c \
  launcher/scontrol_output.c \
  launcher/session.c \
  launcher/session_start.c \
  launcher/show_config.c \
  launcher/signals.c \
  launcher/simulate.c \
  launcher/simulate_balance.c \
  launcher/simulate_bcast.c \
  launcher/simulate_power.c \
  launcher/slice_message.c \
  launcher/slice_replay.c \
  launcher/slice_meter.c \
  launcher/slices.c \
  launcher/slurm_conf.c \
  launcher/spool.c \
  launcher/standstill.c \
  launcher/steering.c \
  launcher/step_dir.c \
  launcher/step_env.c \
  launcher/step_layout.c \
  launcher/step_tasks.c \
  launcher/svg.c \
  launcher/sysfs.c \
  launcher/table_tree.c \
  launcher/template.c \
  launcher/thread_advice.c \
  launcher/threshold_option.c \
  launcher/throttle.c \
  launcher/top.c \
  launcher/top_file.c \
  launcher/top_group.c \
  launcher/top_print.c \
  launcher/top_screen.c \
  launcher/topology.c \
  launcher/trace.c \
  launcher/trace_reader.c \
  launcher/unit_pool.c \
  launcher/user_dir.c \
  launcher/user_file.c \
  launcher/whole_node.c \
  launcher/work.c \
  launcher/work_folder.c

plugin_src := $(wildcard spank_plugin/*.c)

# libevenstep: what applications link, with what it stands on
lib_src := \
  launcher/libevenstep.c \
  launcher/meter.c \
  launcher/slice_message.c \
  launcher/slices.c \
  pmix_bcast/adapter.c \
  pmix_bcast/array.c \
  pmix_bcast/bytes.c \
  pmix_bcast/conntable.c \
  pmix_bcast/error.c

obj  = $(patsubst %.c,$(B)/%.o,$(1))
LIBS := $(B)/liblauncher.a $(B)/libpmix_bcast.a $(B)/libpolicy.a

all: $(B)/evenstep $(B)/evenstep-agent $(B)/evenstep-power $(B)/evenstep.so $(B)/libevenstep.so

$(B)/libpolicy.a:     $(call obj,$(policy_src))
$(B)/libpmix_bcast.a: $(call obj,$(pmix_bcast_src))
$(B)/liblauncher.a:   $(call obj,$(launcher_src))
$(B)/evenstep:        $(call obj,launcher/main.c) $(LIBS)
$(B)/evenstep-agent:  $(call obj,launcher/agent_main.c) $(LIBS)
$(B)/evenstep-power:  $(call obj,launcher/power_guard.c) $(LIBS)

# "own" and not CFLAGS +=: that would be dropped by `make CFLAGS=…`.
$(B)/policy/%.o:       own = -ffp-contract=off
$(B)/pmix_bcast/%.o:   own = $(bcast_cflags)
$(B)/launcher/%.o:     own = $(launcher_cflags) -pthread \
                             -DEVENSTEP_VERSION='"$(VERSION)"' \
                             -DEVENSTEP_CONF='"$(sysconfdir)/evenstep/evenstep.conf"'
$(B)/spank_plugin/%.o: own = -fPIC -fvisibility=default \
                             -DEVENSTEP_LAUNCHER='"$(bindir)/evenstep"'

# What is compiled in; changes only when it does, so that `make install` with
# another PREFIX builds anew what knows a path.
$(B)/places: FORCE
	@mkdir -p $(B); echo '$(bindir) $(sysconfdir)' >$@.new; \
	cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(call obj,launcher/config.c spank_plugin/plugin_options.c): $(B)/places
FORCE:

$(B)/evenstep.so: $(call obj,$(plugin_src)) spank_plugin/evenstep.map
	$(CC) -shared $(ALL_LDFLAGS) \
	    -Wl,--version-script=spank_plugin/evenstep.map -o $@ $(filter %.o,$^)

$(B)/pic/%.o: %.c
	@mkdir -p $(@D); echo "  cc -fPIC $<"
	@$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC -MMD -MP -c -o $@ $<
$(B)/libevenstep.so.0: $(lib_src:%.c=$(B)/pic/%.o)
	$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,libevenstep.so.0 -o $@ $^ -lxxhash
$(B)/libevenstep.so: $(B)/libevenstep.so.0
	ln -sf libevenstep.so.0 $@

# --- the three rules; `make -n` shows the whole commands ---------------------------------------------------------
$(B)/%.o: %.c
	@mkdir -p $(@D); echo "  cc $<"
	@$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(own) -MMD -MP -c -o $@ $<
$(B)/%.a:
	rm -f $@
	$(AR) rcs $@ $^
$(B)/evenstep $(B)/evenstep-agent $(B)/evenstep-power:
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(launcher_libs) $(LDLIBS)

# --- packages of Debian 12 ---------------------------------------------------
#         build it
packages := gcc make pkg-config libslurm-dev libpmix-dev libevent-dev \
            libsodium-dev libssl-dev libxxhash-dev libjansson-dev libconfuse-dev \
            libgraphviz-dev libhwloc-dev libncurses-dev \
            $(comment run it) slurm-client slurm-wlm-basic-plugins \
            $(comment test it) slurmd slurmctld munge hwloc-nox perl sharness jq \
            libxml2-utils openmpi-bin libopenmpi-dev iproute2 util-linux procps \
            $(comment check its style) clang-format cppcheck shellcheck mandoc \
            $(comment fuzz it) clang libclang-rt-14-dev \
            $(comment the demo) povray netpbm \
            $(comment what it is measured beside) parallel

deps:
	@missing=$$(for p in $(packages); do dpkg-query -Wf '$${Status}' $$p \
	    2>/dev/null | grep -q ' installed$$' || printf '%s ' $$p; done); \
	if [ -z "$$missing" ]; then echo "deps: nothing is missing"; exit 0; fi; \
	echo "deps: installing $$missing"; \
	if [ "$$(id -u)" -ne 0 ]; then \
	    echo "deps: not root: run 'sudo make deps'" >&2; exit 3; fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get -q update && apt-get -q -y install --no-install-recommends $$missing

# --- tests -------------------------------------------------------------------
t_src := $(wildcard t/policy/*.c t/pmix_bcast/*.c t/launcher/*.c \
                    t/spank_plugin/*.c)
t_bin := $(t_src:t/%.c=$(B)/t/%.t)
f_src := $(filter-out t/fuzz/replay.c,$(wildcard t/fuzz/*.c))
f_bin := $(f_src:t/fuzz/%.c=$(B)/t/fuzz/%)
wrap  := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

$(B)/t/%.o: own = -It/lib $(launcher_cflags)
$(t_bin): $(B)/t/%.t: $(B)/t/%.o $(LIBS)
	$(CC) $(ALL_LDFLAGS) $(if $(findstring fault.h,$(file <t/$*.c)),$(wrap)) \
	    -o $@ $^ $(launcher_libs) $(LDLIBS)
# What of the plugin does without Slurm.
$(B)/t/spank_plugin/env_file.t $(B)/t/fuzz/env_file: \
  $(B)/spank_plugin/env_file.o
# What a test opens at run time: a stand-in for the driver of a GPU.
$(B)/t/launcher/probe.t $(B)/t/launcher/probe_gpu.t: | $(B)/t/programs/libcuda.so
$(B)/t/programs/libcuda.so: own = -fPIC
$(B)/t/programs/libcuda.so: $(B)/t/programs/libcuda.o
	$(CC) -shared $(ALL_LDFLAGS) -o $@ $<
# What shell tests preload: a disk to be watched.
$(B)/t/programs/disk.o: own = -fPIC -fvisibility=default
$(B)/t/programs/disk.so: $(B)/t/programs/disk.o
	$(CC) -shared $(ALL_LDFLAGS) -o $@ $<
$(t_bin): | $(B)/t/programs/disk.so
# What shell tests run.
t_programs := $(B)/t/programs/metered $(B)/t/programs/old_kernel $(B)/t/programs/slices
$(t_programs): %: %.o $(LIBS)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(launcher_libs) $(LDLIBS)
$(t_bin): | $(t_programs)
$(f_bin): $(B)/t/fuzz/%: $(B)/t/fuzz/%.o $(B)/t/fuzz/replay.o $(LIBS)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(launcher_libs) $(LDLIBS)
$(f_bin:=.t): %.t: %
	printf '#!/bin/sh\nexec %s t/fuzz/corpus/%s/*\n' $< $(notdir $<) >$@
	chmod +x $@

# make check T=t/2000-local.t PROVE=-v runs some of them
tap = EVENSTEP_SRC='$(CURDIR)' EVENSTEP_BUILD='$(abspath $(B))' \
      LSAN_OPTIONS=suppressions=$(CURDIR)/t/lib/lsan.supp:print_suppressions=0 \
      prove -e 'timeout -k 10 600' $(PROVE)
unit_tests    := $(t_bin) $(f_bin:=.t) $(wildcard t/0*.t)
local_tests   := $(wildcard t/1*.t t/2*.t t/9*.t)
cluster_tests := $(wildcard t/3*.t)
fault_tests   := $(wildcard t/4*.t)

ifdef T
check: all $(t_bin) $(f_bin:=.t)
	$(tap) $(T)
else
check: check-unit check-local check-san check-cluster check-faults
endif
check-unit: all $(t_bin) $(f_bin:=.t)
	@echo "== tier 1: unit and layers (no root)"
	$(tap) $(unit_tests)
check-local: check-unit
	@echo "== tier 2: command line and --local (no root)"
	$(tap) $(local_tests)
check-san: check-local # the same, built with sanitizers
	@echo "== tier 3: unit and --local with sanitizers (no root)"
	$(MAKE) -s SAN=address,undefined check-programs
	$(MAKE) -s SAN=thread T=build-thread/t/launcher/probe_cpu.t check
check-cluster: check-san
	@echo "== tier 4: a real Slurm in contrib/testbed (root)"
	$(tap) $(cluster_tests)
check-faults: check-cluster
	@echo "== tier 5: faults and security on it (root)"
	$(tap) $(fault_tests)
check-programs: all $(t_bin) $(f_bin:=.t)
	$(tap) $(t_bin) $(f_bin:=.t) t/2000-local.t

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
            $(launcher_src) spank_plugin/env_file.c)
$(z_bin): $(B)/fuzz/%: $(B)/fuzz/t/fuzz/%.o $(z_lib)
	clang $(fuzz_san) -fsanitize=fuzzer -o $@ $^ $(launcher_libs)

fuzz: $(B)/fuzz/$(F) # needs clang
	t/fuzz/run $(or $(TIME),60) $(B)/fuzz $(F)
fuzz-all: $(z_bin)
	t/fuzz/run $(or $(TIME),60) $(B)/fuzz $(notdir $(z_bin))

# --- demo and benchmarks -----------------------------------------------------
peers := $(B)/contrib/bench-peers/tcp_flow $(B)/contrib/bench-peers/mpi_bcast
$(B)/contrib/%.o: own = $(call cflags_of,ompi-c)
$(peers): %: %.o
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(if $(findstring mpi,$@),$(call libs_of,ompi-c)) $(LDLIBS)

$(B)/contrib/bench-tick/%.o: own = $(launcher_cflags) -pthread
# As programs do: the library comes first.
$(B)/contrib/bench-tick/tick: $(B)/contrib/bench-tick/tick.o $(B)/libevenstep.so $(LIBS)
	$(CC) $(ALL_LDFLAGS) -Wl,-rpath,$(abspath $(B)) -o $@ $^ $(launcher_libs) $(LDLIBS)

demo: # from nothing: each step sees what the one before has made
	$(MAKE) deps
	$(MAKE) all
	contrib/demo/run
bench: all
	contrib/bench
bench-scale: all
	contrib/bench scale
bench-tick: all $(B)/contrib/bench-tick/tick
	$(B)/contrib/bench-tick/tick
bench-bcast: all $(peers)
	contrib/bench-bcast
bench-graph: all
	contrib/bench-graph-size
	contrib/bench-graph

# --- style -------------------------------------------------------------------
ours    := $(wildcard policy/*.[ch] pmix_bcast/*.[ch] launcher/*.[ch] \
             spank_plugin/*.[ch] t/*/*.[ch] contrib/*/*.[ch])
scripts := $(wildcard contrib/testbed contrib/bench contrib/bench-bcast \
             contrib/bench-graph contrib/bench-graph-size \
             contrib/demo/run contrib/demo/table contrib/demo/render-rows contrib/graphs/mosaic \
             t/fuzz/run .ci/run)
lint:
	clang-format --dry-run -Werror $(ours)
	cppcheck -q -j2 --error-exitcode=1 --inline-suppr \
	    --enable=warning,style,performance,portability \
	    --suppress=missingIncludeSystem --suppress=variableScope \
	    '-DSPANK_PLUGIN(a,b)=' -I. -It/lib $(filter %.c,$(ours))
	mandoc -T lint -W warning doc/*
	shellcheck $(scripts) etc/evenstep-health
	shellcheck -s sh -e SC1091,SC2034,SC2016,SC2154 t/*.t t/lib/*.sh
format:
	clang-format -i $(ours)

# --- install: one list, read by both targets ---------------------------------
#         file                   mode directory
placed := $(B)/evenstep:0755:$(bindir) \
          $(B)/evenstep-agent:0755:$(bindir) \
          $(B)/evenstep-power:0755:$(bindir) \
          $(B)/evenstep.so:0755:$(plugindir) \
          $(B)/libevenstep.so.0:0755:$(libdir) \
          $(B)/libevenstep.so:0755:$(libdir) \
          launcher/evenstep.h:0644:$(includedir) \
          launcher/evenstep.f90:0644:$(includedir) \
          doc/evenstep.1:0644:$(mandir)/man1 \
          doc/libevenstep.3:0644:$(mandir)/man3 \
          doc/evenstep.conf.5:0644:$(mandir)/man5 \
          doc/evenstep-security.7:0644:$(mandir)/man7 \
          doc/evenstep-plugin.8:0644:$(mandir)/man8
p_file = $(word 1,$(subst :, ,$(1)))
p_mode = $(word 2,$(subst :, ,$(1)))
p_dir  = $(DESTDIR)$(word 3,$(subst :, ,$(1)))
conf   = $(DESTDIR)$(sysconfdir)/evenstep/evenstep.conf

install: all
	$(foreach p,$(placed),install -D -m $(call p_mode,$p) $(call p_file,$p) \
	    "$(call p_dir,$p)/$(notdir $(call p_file,$p))" &&) :
	test -e "$(conf)" || install -D -m 0644 etc/evenstep.conf "$(conf)"
uninstall: # leaves the site's configuration
	rm -f $(foreach p,$(placed),"$(call p_dir,$p)/$(notdir $(call p_file,$p))")

clean:
	rm -rf build build-*

.PHONY: all deps check check-unit check-san check-local check-cluster \
        check-faults check-programs fuzz fuzz-all demo bench bench-bcast bench-graph bench-scale bench-tick lint format \
        install uninstall clean FORCE
.DELETE_ON_ERROR:
.PRECIOUS: $(B)/%.o
-include $(shell test -d $(B) && find $(B) -name '*.d')
