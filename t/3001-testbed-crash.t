#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='whatever dies in a testbed, down leaves the machine as it was'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
name=$testbed_name
dir=$(testbed_dir)

# host_state: what others on this machine could see of us, but for /run/evenstep.
host_state() {
	ip -o link | cut -d: -f2
	ip netns
	awk '{ print $2, $3 }' /proc/mounts
	cksum /etc/hosts
	find /run -maxdepth 1 ! -name 'evenstep-testbed.*' ! -name evenstep | sort
}
host_state >host_before

# soon FILE: polls hot, to catch `up` at just that moment.
soon() {
	tries=0 end=$(($(date +%s) + 120))
	until test -e "$1"; do
		tries=$((tries + 1))
		test $((tries % 100000)) != 0 || test "$(date +%s)" -lt $end || return 1
	done
}

cgroup_is_made() { test -n "$(testbed_cgroups "$name")"; }

# of_another PROCESS: it carries the mark of another testbed, which may have got the
# number of a namespace that has gone.
of_another() { grep -zs "^EVENSTEP_TESTBED=" "$1/environ" | grep -qzvxF "EVENSTEP_TESTBED=$name"; }
# namespaces_gone FILE: none of those listed has a process any more.
namespaces_gone() {
	test -s "$1" || return 1
	for each in /proc/[0-9]*; do
		of_another "$each" || readlink "$each/ns/net" "$each/ns/mnt" "$each/ns/uts"
	done | sort -u >alive
	test -s alive && ! grep -xFf "$1" alive
}

# clean: one down is enough, and a second one finds nothing.  What was about to enter
# the cgroup when it was removed ends by itself.
clean() {
	testbed_down && wait_for 60 testbed_nothing_left "$name" &&
	testbed_down >got && grep "^testbed: nothing of $name is up$" got
}

# caught FILE SIGNAL SIGN [setsid]: up gets it once FILE exists, with the sign - all of
# its group.  On a busy machine it may have ended before we see FILE: then once more.
caught() {
	for each in 1 2 3 4 5 6 7 8; do
		{ $4 "$testbed" up --name "$name" & up=$!; } && soon "$1" || return 1
		kill "-$2" "$3$up" && return
		wait $up
		testbed_down || return 1
	done
	return 1
}

# kill_up_at MOMENT FILE: up alone, then with every process of its group.
kill_up_at() {
	test_expect_success "kill -9 of up once $1: down leaves nothing" "
		caught '$2' 9 '' && clean && caught '$2' 9 - setsid && clean
	"
}

test_expect_success 'kill -9 of up once its cgroup exists: down leaves nothing' '
	{ "$testbed" up --name $name & up=$!; } && wait_for 60 cgroup_is_made && kill -9 $up && clean
'
kill_up_at 'its run directory exists' "$dir"
kill_up_at 'slurm.conf exists' "$dir/slurm.conf"
kill_up_at 'the first namespace exists' "$dir/node/switch/keeper"
kill_up_at 'the last namespace is ready' "$dir/node/n3/ready"
kill_up_at 'munged answers' "$dir/munge/socket"
kill_up_at 'slurmctld runs' "$dir/slurmctld.pid"
kill_up_at 'the last slurmd runs' "$dir/node/n3/slurmd.pid"

# terminated: unless it was up before.
terminated() {
	caught "$dir/munge/socket" TERM "" && test_expect_code 143 wait "$up" && return
	testbed_down && false
}
test_expect_success 'TERM ends up at once, and it cleans up itself' '
	{ terminated || terminated || terminated; } && testbed_nothing_left $name
'
test_expect_success 'up that fails shows the end of the log, says what, and cleans up itself' '
	test_expect_code 1 testbed_up --set SelectType=select/none-such 2>err &&
	cat err && grep "^--- end of .*/log/slurmctld" err && grep "none-such" err &&
	grep "^testbed: slurmctld did not start: " err && testbed_nothing_left $name
'
test_expect_success 'a run directory alone is not overwritten; down removes it' '
	mkdir "$dir" && test_expect_code 1 testbed_up 2>err &&
	grep "^testbed: $name is up already, or was not taken down: use " err && clean
'

for victim in munge/pid slurmctld.pid node/n1/slurmd.pid node/n2/keeper node/switch/keeper; do
	test_expect_success "kill -9 of ${victim%.pid}: down leaves nothing" '
		testbed_up && kill -9 "$(cat "$dir/$victim")" && clean
	'
done
test_expect_success 'a node that has lost its namespaces is not entered' '
	testbed_up --nodes 2 && kill -9 "$(cat "$dir/node/n1/keeper")" &&
	keeper_is_gone() { ! grep -qx "$(cat "$dir/node/n1/keeper")" "$(cat "$dir/cgroup")/keep/cgroup.procs"; } &&
	wait_for 60 keeper_is_gone &&
	test_expect_code 1 on_node n1 true 2>err &&
	grep "^testbed: n1 of $name has lost its namespaces: " err && clean
'
test_expect_success 'down ends jobs, strays and their cgroups, and no namespace lives on' '
	testbed_up &&
	on_ctl sbatch -N4 --wrap "srun setsid sleep 1000" &&
	job_runs() { test "$(on_ctl srun -N4 --overlap --jobid 1 true 2>&1 && echo yes)" = yes; } &&
	wait_for 60 job_runs &&
	on_node n1 sh -c "mkdir \"\$0/inner\" && echo \$\$ >\"\$0/inner/cgroup.procs\" &&
		setsid sleep 1000 >stray_out 2>&1 & " "$(cat "$dir/cgroup")/n1" &&
	testbed_namespaces $name >spaces && test "$(wc -l <spaces)" -ge 18 &&
	clean && namespaces_gone spaces
'
test_expect_success 'down that is killed can be repeated' '
	testbed_up && { "$testbed" down --name $name & down=$!; } &&
	no_ctld() { ! grep -qs slurmctld "/proc/$(cat "$dir/slurmctld.pid" 2>&1)/comm"; } &&
	wait_for 60 no_ctld && { kill -9 $down || :; } && wait_for 60 testbed_down &&
	testbed_nothing_left $name
'
test_expect_success 'two downs at once both succeed' '
	testbed_up && { "$testbed" down --name $name & down=$!; } && testbed_down && wait $down &&
	testbed_nothing_left $name
'
test_expect_success 'up works again after all that' '
	testbed_up && wait_for 60 nodes_idle 4 && on_ctl srun -N4 true
'

# connects FROM TO: how a connection to TO'"'"'s slurmd ends within a second.
cat >connect.pl <<'END'
use IO::Socket::INET;
my $c = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => 6818, Timeout => 1);
print $c ? "connected\n" : $! == Errno::ETIMEDOUT ? "silence\n" : "$!\n";
END
connects() { on_node "$1" perl -MErrno connect.pl "$2"; }

# hold: what a peer hears on a connection to TO, until a second of nothing.
cat >hold.pl <<'END'
use IO::Socket::INET;
my $c = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => 6818, Timeout => 5) or die $!;
open my $f, '>', 'held' or die $!; close $f;
select undef, undef, undef, 0.05 until -e 'killed';
my $bits = ''; vec($bits, fileno $c, 1) = 1;
print select($bits, undef, undef, 1) ? "heard\n" : "silence\n";
END

node_processes() { find "$(cat "$dir/cgroup")/$1" -name cgroup.procs -exec cat {} +; }

test_expect_success 'a cut link is silent both ways, the others work' '
	connects ctl n2 >got && echo connected >want && test_cmp want got &&
	connects n2 n1 >got && test_cmp want got &&
	testbed_fault cut n2 &&
	connects ctl n1 >got && test_cmp want got &&
	connects ctl n2 >got && echo silence >want && test_cmp want got &&
	connects n2 n1 >got && test_cmp want got
'
test_expect_success 'a cut node keeps its processes, and healed it works again' '
	node_processes n2 >got && test -s got &&
	testbed_fault heal n2 &&
	connects ctl n2 >got && echo connected >want && test_cmp want got &&
	connects n2 n1 >got && test_cmp want got &&
	on_ctl srun -N4 true
'
test_expect_success 'a killed node says no good-bye' '
	rm -f held killed &&
	{ on_ctl perl hold.pl n2 >heard & hold=$!; } &&
	wait_for 60 test -e held && testbed_fault kill n2 && : >killed &&
	wait $hold && echo silence >want && test_cmp want heard
'
test_expect_success 'it has no process left, and the other nodes run steps' '
	node_processes n2 >got && test_must_be_empty got &&
	on_ctl srun -N3 -w n0,n1,n3 true
'
test_expect_success 'healed it comes back and runs steps' '
	testbed_fault heal n2 && wait_for 120 nodes_idle 4 &&
	on_ctl srun -N1 -w n2 cat /proc/sys/kernel/hostname >got && echo n2 >want && test_cmp want got
'
test_expect_success 'a killed node takes its tasks along' '
	{ on_ctl srun -N4 -k --input=none sleep 1000 2>srun_err & step=$!; } &&
	has_tasks() { test "$(node_processes n3 | wc -l)" -ge 3; } && wait_for 60 has_tasks &&
	testbed_fault kill n3 && node_processes n3 >got && test_must_be_empty got &&
	node_processes n1 >got && test "$(wc -l <got)" -ge 3 &&
	kill -9 $step
'
test_expect_success 'the control node can be killed and healed' '
	testbed_fault kill ctl && testbed_fault heal ctl && on_ctl scontrol ping | grep UP
'
test_expect_success 'after the faults down leaves nothing' '
	testbed_namespaces $name >spaces && clean && namespaces_gone spaces
'
test_expect_success 'links, named namespaces, mounts, /etc/hosts and /run are as before' '
	test -s host_before && host_state >host_after && test_cmp host_before host_after
'
test_done
