#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the plugin, in a Slurm that it was not built for'
. /usr/share/sharness/sharness.sh

# Slurm's files can hold no blanks, as there are in the names of folders here.
folder=$(mktemp -d)
trap 'rm -rf "$folder"; die' EXIT
printf 'ClusterName=none\nSlurmctldHost=localhost\nPlugStackConfig=%s\n' "$folder/plugstack.conf" >"$folder/slurm.conf"
echo "optional $folder/evenstep.so" >"$folder/plugstack.conf"
SLURM_CONF=$folder/slurm.conf
export SLURM_CONF
# built_for LOW MIDDLE HIGH: the bytes of the release that the plugin says it is of.
built_for() {
	offset=$(nm -D "$EVENSTEP_BUILD/evenstep.so" | sed -n "s/^0*\([0-9a-f]*\) R plugin_version$/\1/p") &&
	cp "$EVENSTEP_BUILD/evenstep.so" "$folder" && test -n "$offset" &&
	printf %b "\\0$1\\0$2\\0$3" | dd of="$folder/evenstep.so" bs=1 seek=$((0x$offset)) conv=notrunc 2>/dev/null
}

test_expect_success 'in the one it was built for it says nothing' '
	cp "$EVENSTEP_BUILD/evenstep.so" "$folder" &&
	srun --help >out 2>err; cat err; grep -e --evenstep out && ! grep "built for" err
'
test_expect_success 'in another it names both, and what to do, before Slurm refuses it' '
	built_for 000 001 023 &&
	srun --help >out 2>err; cat err; ! grep -e --evenstep out &&
	head -n 1 err | grep -xE "srun: error: evenstep: this is Slurm 2[0-9]\.[01][0-9], and the plugin was built for Slurm 19\.01: build it with the headers of Slurm (2[0-9]\.[01][0-9]), and install that" &&
	sed 1d err | grep "Incompatible"
'
test_done
