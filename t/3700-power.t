#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='srun --evenstep-power: CPU time goes to the rank that comes last, within the same total, and all is put back'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF
B=$EVENSTEP_BUILD
conf=$(testbed_dir)/power.conf # a path without a space, as the next: arguments of the plugin
bin=$(testbed_dir)/bin

no_line() { test -e "$2" && ! grep -E -e "$1" "$2"; }
# guards: evenstep-power on the nodes; root's environment does not tell whose it is.
guards() { # but those that have ended
	for each in $(pgrep -x -r R,S,D,T evenstep-power); do
		! grep -qsF "/evenstep-testbed.$testbed_name/" "/proc/$each/cgroup" || echo "$each"
	done
}
no_guards() { test -z "$(guards)"; }
# quotas: of each node's step, microseconds in a period of 10000; nothing without a group.
quotas() { cat "$groups"/n*/evenstep-power-*/cpu.cfs_quota_us 2>&-; }
# quotas_at_once: into got; seen twice in a row, so that they were so at an instant.
are_still() { quotas >got && quotas | cmp -s - got; }
quotas_at_once() { wait_for 60 are_still; }
no_groups() { ! ls -d "$groups"/n*/evenstep-power-* 2>&-; }
nothing_left() { wait_for 60 none_of evenstep-agent && wait_for 60 no_jobs && wait_for 60 no_groups && wait_for 60 no_states && wait_for 60 no_guards; }
top() { on_ctl "$B/evenstep" top "$@" 2>&4; }
# is_steered: n3 has 1.6 of 4.6 parts of the limits, or nearly.
is_steered() {
	quotas >got && awk -v own="$(cat "$groups"/n3/evenstep-power-*/cpu.cfs_quota_us 2>&-)" '{ sum += $1 } END { share = own / sum; exit !(NR == 4 && share > 0.3 && share < 0.42) }' got
}
# is_saved: n3 has no limit, and the others together what they need, or nearly.
is_saved() {
	quotas >got && awk -v own="$(cat "$groups"/n3/evenstep-power-*/cpu.cfs_quota_us 2>&-)" '{ sum += $1 } END { exit !(NR == 4 && own == -1 && sum > 0 && sum < 9000) }' got
}
tells_of_all() {
	top --once --metrics-file "$PWD/prom" >got && grep -qE "^step [0-9]+[.]0 [a-z]+: 4 nodes, [0-9]+ s so far, skew 0[.]" got &&
		test "$(grep -cE "^n[0-3] +[#.]{10} .*% CPU$" got)" = 4
}
is_seen() { top --once | grep -q ^n3; }
begin() { # srun's words...: in the background, until its first region is told; metered by its ticks, unless they say otherwise
	rm -f out
	"$testbed" exec --name "$testbed_name" -- srun -N4 --mpi=pmix --evenstep-meter=none "$@" >out 2>err 3>&- 4>&- 5>&- &
	step=$!
	wait_for 60 test -s out
}
# limits: what the nodes' quotas were until the step had ended, each once.
limits() {
	while kill -0 "$step"; do
		quotas
		sleep 0.1
	done | sort -u
}
one_warning() { mentioned "$1" && test "$(grep -c evenstep: err)" = 1; }
end() { on_ctl scancel -u root && { wait "$step" || true; } && nothing_left; }

test_expect_success 'up: four equal nodes; an Open MPI program whose last rank has more to do' '
	mpicc -O1 -I"$EVENSTEP_SRC" -o regions "$EVENSTEP_SRC/t/programs/regions.c" -L"$B" -Wl,-rpath,"$B" -levenstep &&
	testbed_up --nodes 4 --speeds 40 --plugin "$B/evenstep.so" --plugin-args "launcher=$bin/evenstep config=$conf" &&
	mkdir "$bin" && ln -s "$B/evenstep" "$B/evenstep-power" "$bin" &&
	printf "power {\n actuator = \"cgroup\"\n cap = 0.5\n floor = 0.25\n}\n" >"$conf" &&
	groups=$(testbed_cgroups "$testbed_name" | head -n 1) && ls -d "$groups"/n0
'
case $(ls "$groups/n0") in
*cfs_quota*) test_set_prereq V1 ;; # quotas() reads these
esac
test_expect_success V1 'every node begins with half of its speed, and the last rank is given more of it' '
	begin --evenstep-power=pair ./regions 100000 50 1,1,1,1.6 && wait_for 300 is_steered && top --once &&
	quotas_at_once && cat got && awk "{ sum += \$1; if (\$1 < 1000 || \$1 > 4000) exit 1 } END { exit !(NR == 4 && sum <= 8000) }" got
'
test_expect_success V1 'the total is not exceeded while it is steered' '
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do quotas_at_once && awk "{ sum += \$1 } END { exit sum > 8000 }" got || { cat got; return 1; }; done
'
test_expect_success V1 'evenstep top tells of each node, and writes what Prometheus reads' '
	wait_for 60 tells_of_all; rc=$?; cat got; test $rc = 0 &&
	grep -qE "^evenstep_limit\{kind=\"step\",jobid=\"[0-9]+\",step=\"0\",pid=\"[0-9]+\",node=\"n3\"\} [0-9]+$" prom
'
test_expect_success V1 'another user'"'"'s program or job is not shown' '
	test_expect_code 3 top --once 4294967295 4>err.top && grep -q "^evenstep: top: nothing of yours is at work" err.top
'
test_expect_success V1 'kill -9 of an agent: its node is put back while the step goes on; the others go back to what they had' '
	agent=$(ours evenstep-agent | head -n 1) && node=$(tr "\0" "\n" <"/proc/$agent/environ" | sed -n "s/^SLURMD_NODENAME=//p") && kill -KILL $agent &&
	wait_for 60 grep -qx -e -1 "$groups/$node"/evenstep-power-*/cpu.cfs_quota_us && kill -0 $step
'
test_expect_success V1 'scancel: nothing is left, no cgroup, no state' end
test_expect_success V1 'boost: likewise' '
	begin --evenstep-power=boost ./regions 100000 50 1,1,1,1.6 && wait_for 300 is_steered && end
'
test_expect_success V1 'an MPI program that nobody changed: likewise, within the same total' '
	mpicc -O1 -o uneven "$EVENSTEP_SRC/t/programs/uneven.c" &&
	begin --evenstep-meter=mpi --evenstep-power=pair ./uneven 100000 50 1,1,1,1.6 && wait_for 300 is_steered && top --once &&
	quotas_at_once && awk "{ sum += \$1 } END { exit !(NR == 4 && sum <= 8000) }" got && end
'
capped() { printf "power {\n actuator = \"cgroup\"\n%s floor = 0.25\n}\n" "$1" >"$conf"; } # by that line, or not at all
uncapped='^evenstep: no power is capped here: %s has nothing to move between nodes; --evenstep-power=save lowers the power of nodes that wait$'
for way in pair boost; do
	test_expect_success V1 "no cap, $way: nothing is limited at any time, and one line says so" '
		capped "" && begin --evenstep-meter=mpi --evenstep-power=$way ./uneven 40 50 1,1,1,1.6 && limits >got; cat got; wait $step && echo -1 >unlimited && test_cmp unlimited got && one_warning "$(printf "$uncapped" $way)" && nothing_left
	'
done
test_expect_success V1 'a file of before, with start: nothing is limited, and one more line says that it has no effect' '
	capped " start = 0.5
" && begin --evenstep-meter=mpi --evenstep-power=pair ./uneven 60 50 1,1,1,1.6 && limits >got; cat got; wait $step && test_cmp unlimited got && mentioned "^evenstep: warning: power [{] start [}] of evenstep.conf has no effect any more: give cap, " && mentioned "$(printf "$uncapped" pair)" && nothing_left && capped ""
'
test_expect_success V1 'save: those that wait are given less, who comes last keeps all of it' '
	begin --evenstep-meter=mpi --evenstep-power=save ./uneven 100000 50 1,1,1,1.6 && wait_for 300 is_saved && end && capped " cap = 0.5
"
'
test_expect_success V1 'kill -9 of srun: nothing is left' '
	begin --evenstep-power=pair ./regions 100000 50 1,1,1,1 && kill -KILL $step && { wait "$step" || true; } && on_ctl scancel -u root && nothing_left
'
test_expect_success V1 'kill -9 of a guard: the step goes on, and the next one cleans the node' '
	begin --evenstep-power=pair ./regions 100000 50 1,1,1,1 && test $(guards | wc -l) = 4 && kill -KILL $(guards) &&
	wait_for 60 no_guards && kill -0 $step && on_ctl scancel -u root && { wait "$step" || true; } && wait_for 60 no_jobs && ls -d "$groups"/n0/evenstep-power-* &&
	on_ctl srun -N4 --evenstep-power=pair true && nothing_left
'
test_expect_success 'without steering a metered program is watched, and nothing is limited' '
	begin --evenstep ./regions 100000 20 1,1,1,1 && wait_for 60 is_seen && no_groups && end
'
test_expect_success 'a program without a meter runs as it is' '
	on_ctl srun -N4 --evenstep-power=pair sh -c "echo ran" >got 2>err && test $(grep -c ran got) = 4 && no_line evenstep err && nothing_left
'
cat >spins.c <<'END'
#include <evenstep.h>
#include <stdlib.h>
#include <string.h>
int main(void) /* a region; it costs n3 1.6 times as much */
{
	const char *node = getenv("EVENSTEP_NODE");
	long loops = node && strcmp(node, "n3") == 0 ? 1600000 : 1000000;
	evenstep_work(100);
	for (int i = 1; i <= 100; i++) {
		volatile double x = 1;
		for (long k = 0; k < loops; k++)
			x = x * 1.0000001 + 1e-9;
		evenstep_tick((uint64_t)i);
	}
	return 0;
}
END
test_expect_success V1 'evenstep run --power, a command a slice: likewise, and nothing is left' '
	gcc -O1 -I"$EVENSTEP_SRC/launcher/libevenstep" -o spins spins.c -L"$B" -Wl,-rpath,"$B" -levenstep && : >out &&
	{ "$testbed" exec --name "$testbed_name" -- salloc -Q -N4 "$bin/evenstep" run --metrics equal --policy static --pieces 1 --power=pair --range 0:4 --repeat 1000 -- ./spins >out 2>err 3>&- 4>&- 5>&- & step=$!; } &&
	wait_for 300 is_steered; code=$?; top --once; cat err; quotas_at_once && cat got && end && test $code = 0 && awk "{ sum += \$1 } END { exit !(NR == 4 && sum <= 8000) }" got
'
still='^evenstep: warning: no progress was metered for 10 s: no limits are set until there is some, by a collective of all MPI ranks or by evenstep_tick.., see libevenstep.3.$'
test_expect_success V1 'a program that never ticks: nothing is ever limited, and that is said once, after 10 s' '
	begin --evenstep-power=pair sh -c "echo began; exec sleep 25" && limits >got; cat got; wait $step && echo -1 >unlimited && test_cmp unlimited got && one_warning "$still" && nothing_left
'
cat >stops.c <<'END'
#include <evenstep.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	puts("began");
	fflush(stdout);
	evenstep_work(100);
	for (int i = 1; i <= 100; i++) {
		usleep(50000);
		evenstep_tick((uint64_t)i);
	}
	sleep(25);
	return 0;
}
END
quotas_are() { quotas >got && test "$(grep -cx -e "$1" got)" = 2 && test "$(wc -l <got)" = 2; }
test_expect_success V1 'one that ticks no more: what was limited is put back after 10 s, which is said once' '
	gcc -I"$EVENSTEP_SRC/launcher/libevenstep" -o stops stops.c -L"$B" -Wl,-rpath,"$B" -levenstep &&
	begin -N2 --evenstep-power=pair ./stops && wait_for 60 quotas_are 2000 && wait_for 60 quotas_are -1 && kill -0 $step && wait $step && one_warning "$still" && nothing_left
'
# The last rank waits for something that is no CPU time, as for a disk: whatever its
# limit, a region takes 0.16 s.
cat >waits.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank, mine = 1, all;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	puts("began");
	fflush(stdout);
	for (;;) {
		usleep(rank == 3 ? 160000 : 100000);
		MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
}
END
is_tried() { quotas >got && awk -v own="$(cat "$groups"/n3/evenstep-power-*/cpu.cfs_quota_us 2>&-)" 'END { exit !(NR == 4 && own > 2100) }' got; }
is_as_at_the_start() { quotas >got && test "$(grep -cx 2000 got)" = 4; }
test_expect_success V1 'one whose last rank waits for no CPU time: it is given none' '
	mpicc -O1 -o waits waits.c && begin --evenstep-meter=mpi --evenstep-power=pair ./waits && wait_for 60 is_as_at_the_start && for i in $(seq 40); do ! is_tried || { cat got; return 1; }; sleep 0.5; done && cat err && no_line "evenstep:" err && end
'
# As nobody, on a node: the names that evenstep-power once had, with nobody who
# answers, and as many callers as may wait; until /tmp/enough is there.
cat >names <<'END'
use strict; use Socket qw(:DEFAULT SOCK_NONBLOCK);
my ($job, @s) = @ARGV;
for my $step (0 .. 2) {
	my $name = pack 'S a*', AF_UNIX, "\0evenstep-power-$job.$step";
	socket my $s, AF_UNIX, SOCK_SEQPACKET, 0 or die $!;
	bind $s, $name and listen $s, 0 or die $!;
	my $c;
	do { socket $c, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0 or die $!; push @s, $c } while connect $c, $name;
	push @s, $s;
}
mkdir "/run/evenstep/$_" and die "a folder of mine is in /run/evenstep\n" for 'mine', 'power';
mkdir "/run/evenstep/power/$_" and die "a folder of mine is where sockets are\n" for 'mine';
open my $ready, '>', '/tmp/names' or die $!;
alarm 120; select undef, undef, undef, 0.05 until -e '/tmp/enough';
END
test_expect_success V1 'a stranger who has bound the names of old and lets callers wait: every node is steered all the same' '
	job=$(on_ctl salloc -N4 --no-shell 2>&1 | sed -n "s/.*Granted job allocation //p") && test -n "$job" &&
	{ "$testbed" exec --name "$testbed_name" --on n0 --user nobody -- perl -e "$(cat names)" $job 2>err.names 3>&- 4>&- 5>&- & names=$!; } && wait_for 60 on_node n0 test -e /tmp/names &&
	begin --jobid=$job --evenstep-power=pair ./regions 100000 50 1,1,1,1.6 && wait_for 300 is_steered && quotas >got && cat got && test $(grep -c "^[1-9]" got) = 4; code=$?
	cat err err.names; on_node n0 touch /tmp/enough; end; wait $names && test $code = 0
'
# took COMMAND...: on the control node; its seconds in $took.
took() {
	took=$(date +%s) && on_ctl "$@" >got 2>err && took=$(($(date +%s) - took)) && echo "$took s"
}
test_expect_success 'a guard that hangs costs a step of 16 tasks a second, not 16, and that is said' '
	rm "$bin/evenstep-power" && printf "#!/bin/sh\nexec sleep 60\n" >"$bin/evenstep-power" && chmod +x "$bin/evenstep-power" &&
	for try in 1 2 3; do # others may be busy here: against a step without a guard
		took srun -N1 -n16 --overcommit echo ran && without=$took &&
		took srun -N1 -n16 --overcommit --evenstep-power=pair echo ran && test $(grep -c ran got) = 16 &&
		mentioned "evenstep: no limits are set on this node: evenstep-power does not answer$" && test "$(grep -c evenstep: err)" = 1 || return 1
		test $took -gt $((without + 8)) || return 0
	done
	return 1
'
test_expect_success 'one that cannot begin says why' '
	printf "#!/bin/sh\necho no luck\n" >"$bin/evenstep-power" && on_ctl srun -N1 -n4 --overcommit --evenstep-power=pair echo ran >got 2>err && test $(grep -c ran got) = 4 &&
	one_warning "evenstep: no limits are set on this node: no luck$" && ln -sf "$B/evenstep-power" "$bin" && nothing_left
'
cat >dies.c <<'END'
#include <evenstep.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	evenstep_tick(1); /* before work */
	evenstep_work(100);
	for (int i = 1; i < 50; i++) {
		evenstep_tick((uint64_t)i);
		usleep(5000);
	}
	abort();
}
END
test_expect_success 'a program that misuses the meter and dies in a region: told once a node, exit status as without' '
	gcc -I"$EVENSTEP_SRC/launcher/libevenstep" -o dies dies.c -L"$B" -Wl,-rpath,"$B" -levenstep &&
	test_expect_code 134 on_ctl sh -c "ulimit -c 0; exec srun -N1 -n2 --overcommit --evenstep-power=pair ./dies" >got 2>err && mentioned "evenstep: warning: n[0-3]: calls of evenstep_tick.. that make no sense" && test "$(grep -c "make no sense" err)" = 1 && nothing_left
'
test_expect_success 'two steps on one node at once: each has its own' '
	cat >two.sh <<-\END && on_ctl salloc -Q -N1 -n2 --overcommit sh two.sh >got 2>err && cat got err && test $(grep -c ran got) = 2 && no_line evenstep err && nothing_left
	srun -n1 --overlap --evenstep-power=pair sh -c "sleep 1; echo ran" & first=$!
	srun -n1 --overlap --evenstep-power=pair sh -c "sleep 1; echo ran" && wait $first
	END
'
cat >squat.sh <<'END'
# squat GROUPS: a stranger's process is in the group that the step would have
group=$1/n0/evenstep-power-$SLURM_JOB_ID.0
mkdir "$group"
sleep 1000 >/dev/null 2>&1 &
stranger=$!
echo $stranger >"$group/cgroup.procs"
srun -N1 --evenstep-power=pair sh -c "sleep 1; echo ran"
kill $stranger
wait
rmdir "$group"
END
test_expect_success V1 'a cgroup of our name that is not ours: one line, and the step runs without' '
	timeout 300 "$testbed" exec --name "$testbed_name" -- salloc -Q -N1 -w n0 sh squat.sh "$groups" >got 2>err; cat got &&
	mentioned "evenstep: warning: n0: no power is steered: cgroup: .*evenstep-power-.* is in use: process [0-9]+ is in it: " && grep -q ran got && nothing_left
'
for site in "" "power { actuator = \"off\" }"; do
	test_expect_success "the site has it off ($site): one line with the key and the file, and the step runs without" '
		echo "$site" >"$conf" && on_ctl srun -N2 --evenstep-power=pair sh -c "sleep 1; echo ran" >got 2>err &&
		mentioned "evenstep: warning: n[0-3]: no power is steered: the actuator is off: as root, set actuator = .cgroup. in power [{] [}] of $conf$" && test $(grep -c ran got) = 2 && test $(grep -c evenstep: err) = 1
	'
done
test_expect_success '--evenstep-power=off and a word that is none' '
	on_ctl srun -N2 --evenstep-power=off sh -c "echo ran" >got 2>err && test $(grep -c ran got) = 2 && no_line evenstep err &&
	test_must_fail on_ctl srun -N2 --evenstep-power=most true 2>err && mentioned "evenstep: --evenstep-power: .most. is not allowed: give pair, boost, save or off"
'
test_expect_success 'the daemons have lived through it, down leaves nothing' '
	wait_for 60 nodes_idle 4 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
