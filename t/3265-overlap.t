#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='--overlap: the next command of a node starts before the one before it has ended, where memory allows'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF

# slow_start BEGIN END: half a second of waiting, then some time a unit.  It writes into the file
# times "NODE BEGIN" and, unless it is killed, "NODE BEGIN END".
# With a file memory it takes 100 MB from the start to the end, in the group for its node.
cat >slow_start <<'END'
#!/usr/bin/perl
use Time::HiRes qw(time sleep);
my ($began, $node) = (time, $ENV{EVENSTEP_NODE});
sub add { open my $times, '>>', 'times'; syswrite $times, join(' ', $node, @_) . "\n" }
add($began);
if (open my $memory, 'memory') {
	chomp(my $group = <$memory>);
	open my $procs, '>', "$group.$node/cgroup.procs" or die $!;
	syswrite $procs, $$ or die $!;
	our $full = 'x' x (100 << 20);
}
sleep 0.5 + 0.02 * ($ARGV[1] - $ARGV[0]);
print map { "$_\n" } $ARGV[0] .. $ARGV[1] - 1;
add($began, time);
END
chmod +x slow_start
# beside: how many commands have begun before the one before them on their node had ended.
beside() { awk 'NF == 3' times | sort -k1,1 -k2,2n | awk '$1 != node { node = $1; end = 0 } $2 < end { n++ } $3 > end { end = $3 } END { print n + 0 }'; }
# overlapping OPTION...: eight frames of 40 units; by their sizes the start is learned.
overlapping() {
	rm -f times
	on_ctl salloc -Q -N2 evenstep run --metrics equal --ahead 3 --range 0:40 --repeat 8 "$@" -- ./slow_start "{begin}" "{end}" >got 2>err && test_cmp want got && cat err times
}
test_expect_success 'up: two nodes' '
	for frame in $(seq 8); do seq 0 39; done >want && testbed_up --nodes 2 --cpus 2
'
test_expect_success 'without it no command begins before the one before it has ended' '
	overlapping && test "$(beside)" = 0
'
test_expect_success 'with it some do, and every unit comes once and in order' '
	overlapping --overlap && test "$(beside)" -ge 2 && ! grep "no memory for two" err
'

# A group for each node, with room for one command and not for two.
if group=$(awk '$3 == "cgroup" && "," $4 "," ~ /,memory,/ { print $2; exit }' /proc/mounts) && test -n "$group"; then
	limit=memory.limit_in_bytes
elif group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts) && grep -qsw memory "$group/cgroup.subtree_control"; then
	limit=memory.max
fi
group=$group/evenstep-overlap.$$
groups_removed() {
	rmdir "$group".n0 "$group".n1 2>&-
	test ! -e "$group.n0" && test ! -e "$group.n1"
}
if test -n "$limit" && mkdir "$group.n0" "$group.n1" 2>&-; then
	test_set_prereq MEMORY
	trap 'code=$?; testbed_end; wait_for 60 groups_removed; (exit $code); die' EXIT
fi
test_expect_success MEMORY 'a node without the memory for two: one is killed, the node goes back to one at a time, and nothing counts as failed' '
	for node in n0 n1; do
		echo $((150 << 20)) >"$group.$node/$limit" && for swap in memory.memsw.limit_in_bytes memory.swap.max; do
			test ! -e "$group.$node/$swap" || case $swap in *max) echo 0 ;; *) echo $((150 << 20)) ;; esac >"$group.$node/$swap" || return 1
		done
	done && echo "$group" >memory && overlapping --overlap && grep -xE "evenstep: n[01]: a command has ended as if there was no memory for two: it gets one at a time from now on, without --overlap" err &&
	test "$(($(awk "NF == 2" times | wc -l) - $(awk "NF == 3" times | wc -l)))" = "$(grep -c "no memory for two" err)" && ! grep -E "failed|left out" err
'
test_done
