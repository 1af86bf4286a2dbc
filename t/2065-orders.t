#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what many agents are told at the same moment goes down their tree, also when one of it is killed or stopped'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
PATH=$EVENSTEP_BUILD:$PATH

# units FRAMES: what 24 nodes print of a unit each.
units() { for frame in $(seq "$1"); do seq 0 23; done; }
# sent FRAMES: messages of the front end alone, by 64 agents.
sent() {
	strace -c -e trace=sendto -o calls evenstep run --local 64 --metrics equal --policy static --range 0:64 --repeat "$1" \
		--pieces 1 -- true && awk '$NF == "sendto" { print $4 }' calls
}
# once: the agent of local0, in whose part of the tree are local8 to local15, is sent $1 while slices are under way.
cat >once <<'E2'
#!/bin/sh
test "$EVENSTEP_NODE" != local0 || test -e begun || {
	>begun
	agent=$PPID
	{ kill -$1 $agent; sleep 4; kill -CONT $agent; } >&- 2>&- &
}
seq $2 $(($3 - 1))
E2
chmod +x once

if command -v strace >/dev/null && strace true 2>&-; then test_set_prereq STRACE; fi

test_expect_success STRACE 'a frame of 64 agents is not 64 messages of the front end' '
	few=$(sent 1) && many=$(sent 21) && echo "$few at 1 frame, $many at 21" && test $((many - few)) -lt $((20 * 64 / 4))
'
test_expect_success STRACE 'the table of 64 agents, of some 2 kB, is 8 messages of the front end' '
	strace -e trace=sendto,sendmsg,writev -o calls evenstep run --local 64 --metrics equal --range 0:64 --pieces 1 -- true &&
	n=$(awk "\$(NF - 1) == \"=\" && \$NF > 1000" calls | wc -l) && echo "$n messages" && test "$n" = 8
'
test_expect_success 'an agent that is killed when slices are under way takes none of those below it along' '
	rm -f begun && evenstep run --local 24 --metrics equal --range 0:24 --repeat 6 --pieces 1 --gather got -- ./once KILL {begin} {end} 2>err ||
	{ cat err; false; } && units 6 >want && test_cmp want got && grep "local0 is lost" err
'
test_expect_success 'one that is stopped keeps none of those below it waiting for ever' '
	rm -f begun && evenstep run --local 24 --metrics equal --range 0:24 --repeat 6 --pieces 1 --gather got -- ./once STOP {begin} {end} 2>err ||
	{ cat err; false; } && units 6 >want && test_cmp want got && ! grep lost err
'
test_done
