# evenstep.  What one can type:
#
#   make deps        install the Debian packages that are missing (root)
#   make [all]       build everything into build/
#   make check       every test: unit, local, cluster, faults (root for the last)
#   make demo        a rendering on a cluster of four unequal nodes (root)
#   make bench       the figures of the README, measured (root)
#   make lint format style
#   make fuzz F=message TIME=60
#   make install uninstall   PREFIX=/usr/local DESTDIR=
#
# SAN=address,undefined or SAN=thread builds into a directory of its own.
# Nothing but install writes outside the build directory.

comma := ,
SAN   ?=
B     ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))

VERSION    := 0.1.0
PREFIX     ?= /usr/local
bindir     ?= $(PREFIX)/bin
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

# --- packages, each asked of pkg-config once ---------------------------------
cflags_of = $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(1) 2>/dev/null))
libs_of   = $(shell pkg-config --libs $(1) 2>/dev/null)

bcast_pkg       := pmix libevent_core libsodium
launcher_pkg    := $(bcast_pkg) jansson libconfuse
bcast_cflags    := $(call cflags_of,$(bcast_pkg))
launcher_cflags := $(call cflags_of,$(launcher_pkg))
launcher_libs   := $(call libs_of,$(launcher_pkg)) -lm -pthread

# --- what is made of what ----------------------------------------------------
policy_src := \
  policy/canon.c \
  policy/even.c \
  policy/metric.c \
  policy/policy.c \
  policy/shares.c \
  policy/static.c

pmix_bcast_src := \
  pmix_bcast/bytes.c \
  pmix_bcast/channel.c \
  pmix_bcast/error.c \
  pmix_bcast/handshake.c \
  pmix_bcast/message.c \
  pmix_bcast/pmix_host.c \
  pmix_bcast/wireup.c

launcher_src := \
  launcher/agent.c \
  launcher/attend.c \
  launcher/companion.c \
  launcher/config.c \
  launcher/determination.c \
  launcher/distribution.c \
  launcher/execution.c \
  launcher/extraction.c \
  launcher/greeting.c \
  launcher/job_load_adjuster.c \
  launcher/notice.c \
  launcher/number.c \
  launcher/paths.c \
  launcher/probe_cpu.c \
  launcher/progress.c \
  launcher/protocol.c \
  launcher/qualification.c \
  launcher/receiving.c \
  launcher/report.c \
  launcher/run.c \
  launcher/run_options.c \
  launcher/session.c \
  launcher/show_config.c \
  launcher/spool.c \
  launcher/step_dir.c \
  launcher/template.c \
  launcher/throttle.c

plugin_src := $(wildcard spank_plugin/*.c)

obj  = $(patsubst %.c,$(B)/%.o,$(1))
LIBS := $(B)/liblauncher.a $(B)/libpmix_bcast.a $(B)/libpolicy.a

all: $(B)/evenstep $(B)/evenstep-agent $(B)/evenstep.so

$(B)/libpolicy.a:     $(call obj,$(policy_src))
$(B)/libpmix_bcast.a: $(call obj,$(pmix_bcast_src))
$(B)/liblauncher.a:   $(call obj,$(launcher_src))
$(B)/evenstep:        $(call obj,launcher/main.c) $(LIBS)
$(B)/evenstep-agent:  $(call obj,launcher/agent_main.c) $(LIBS)

# "own" and not CFLAGS +=: that would be dropped by `make CFLAGS=…`.
$(B)/policy/%.o:       own = -ffp-contract=off
$(B)/pmix_bcast/%.o:   own = $(bcast_cflags)
$(B)/launcher/%.o:     own = $(launcher_cflags) -pthread \
                             -DEVENSTEP_VERSION='"$(VERSION)"' \
                             -DEVENSTEP_CONF='"$(sysconfdir)/evenstep/evenstep.conf"'
$(B)/spank_plugin/%.o: own = -fPIC -fvisibility=default \
                             -DEVENSTEP_LAUNCHER='"$(bindir)/evenstep"'

$(B)/evenstep.so: $(call obj,$(plugin_src)) spank_plugin/evenstep.map
	$(CC) -shared $(ALL_LDFLAGS) \
	    -Wl,--version-script=spank_plugin/evenstep.map -o $@ $(filter %.o,$^)

# --- the three rules ---------------------------------------------------------
$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(own) -MMD -MP -c -o $@ $<
$(B)/%.a:
	rm -f $@
	$(AR) rcs $@ $^
$(B)/evenstep $(B)/evenstep-agent:
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(launcher_libs) $(LDLIBS)

clean:
	rm -rf build build-*

.PHONY: all clean
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell test -d $(B) && find $(B) -name '*.d')
