#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='programs that stay alive from slice to slice, on a cluster: MPI programs under srun --evenstep, any under evenstep run --persistent'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF EVENSTEP_SOCKET
slices="$EVENSTEP_BUILD/t/programs/slices"

in_job() { on_ctl salloc -Q "$@"; }
nothing_left() { wait_for 60 none_of evenstep-agent && wait_for 60 none_of evenstep && wait_for 60 none_of slices && wait_for 60 no_jobs && wait_for 60 no_step_dir; }
# A step that hangs does not hang us.
step() { on_ctl timeout -k 5 200 srun "$@"; }
# heat has a barrier before MPI_Finalize: without it 4 of 22 steps hung at a load of 12 to 230, 3 of 11 without evenstep (gdb: the root receives in MPI_Gatherv
# from a rank that has ended).  With it 0 of 462.  The fence of Slurm's PMIx that MPI_Finalize relies on waits for nobody, see launcher/session/companion.h.
mpi_step() { on_ctl timeout -k 5 200 srun --mpi=pmix "$@"; }
SLURM_PMIX_FENCE=$(slurm_pmix_fence)
export SLURM_PMIX_FENCE

test_expect_success 'up: four nodes with 80, 40, 20 and 10 percent of a core, the plugin; the example is compiled' '
	mpicc -std=c11 -O2 -I"$EVENSTEP_SRC/launcher/libevenstep" -o heat "$EVENSTEP_SRC/contrib/heat/heat.c" -L"$EVENSTEP_BUILD" -Wl,-rpath,"$EVENSTEP_BUILD" -levenstep &&
	testbed_up --nodes 4 --speeds 80,40,20,10 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep"
'

# --- an MPI program that re-partitions its rows --------------------------------------
test_expect_success 'heat: alone, as one rank, it has a result' '
	on_ctl ./heat 120 300 10 4 >want 2>err && cat want err && grep -qE "^mean [0-9.]+ digest [0-9a-f]{16}$" want && mentioned "in the end rows 120$"
'
test_expect_success 'heat without evenstep: four ranks, equal rows, the same bits' '
	mpi_step -N4 ./heat 120 300 10 4 >got 2>err && test_cmp want got && mentioned "in the end rows 30 30 30 30$"
'
for how in "-N4" "-N4 --ntasks-per-node=2" "-n7 -N4 -m cyclic" "-N2 -w n1,n3"; do
	test_expect_success "heat with it, srun $how: the rows move, the bits are the same" '
		mpi_step $how --evenstep ./heat 120 300 10 4 >got 2>err && cat err && test_cmp want got && ! mentioned "in the end rows (30 30 30 30|15 15 15 15 15 15 15 15|60 60)$"
	'
done
test_expect_success 'the configuration says how its rows are re-sized: static, not at all' '
	printf "plugin { policy = \"static\" }\n" >static.conf &&
	EVENSTEP_CONF="$PWD/static.conf" mpi_step -N4 --evenstep --evenstep-probe=off ./heat 120 300 10 4 >got 2>err && test_cmp want got && mentioned "in the end rows 30 30 30 30$"
'
test_expect_success 'likewise by a set of parameters' '
	printf "plugin { policy = \"fixed\" }\npolicy \"fixed\" { kind = \"proportional\"\n proportionalityFactor = 0 }\n" >set.conf &&
	EVENSTEP_CONF="$PWD/set.conf" mpi_step -N4 --evenstep --evenstep-probe=off ./heat 120 300 10 4 >got 2>err && cat err && test_cmp want got && mentioned "in the end rows 30 30 30 30$"
'
test_expect_success 'canon: frame by frame the last node has fewer rows' '
	printf "plugin { policy = \"canon\" }\n" >canon.conf &&
	EVENSTEP_CONF="$PWD/canon.conf" mpi_step -N4 --evenstep --evenstep-probe=off ./heat 120 300 10 4 >got 2>err && cat err && test_cmp want got &&
	sed -n "s/.*in the end rows //p" err | awk "{ exit !(\$4 < 30 && \$1 + \$2 + \$3 + \$4 == 120) }"
'
# Others may be busy here, and their CPU is what the nodes share: three tries.
fast_have_more() { sed -n 's/.*in the end rows //p' err | awk '{ exit !($1 + $2 > $3 + $4 && $1 + $2 + $3 + $4 == 400) }'; }
test_expect_success 'heat: in the end the two faster nodes have more rows than the slower ones' '
	for try in 1 2 3; do
		mpi_step -N4 --evenstep ./heat 400 2000 8 5 >got 2>err && cat err || return 1
		! fast_have_more || return 0
	done && false
'

# --- the tasks of a step ----------------------------------------------------------
# each UNIT N: the units 0 to 99 have come out, N times each.
each() { grep -x "[0-9]*" got | sort -n | uniq -c | awk -v n="$1" '$1 != n || $2 != NR - 1 { exit 1 } END { exit NR != 100 }'; }
for how in "-N4" "-N4 --ntasks-per-node=2" "-n6 -N4 -m cyclic"; do
	test_expect_success "two frames are shared by all tasks, each unit once a frame: srun $how" '
		step $how --evenstep "$slices" >got 2>err && cat err && each 2
	'
done
# Each unit of the second task of a node takes as long as four of the first.
cat >ranks.py <<-'END'
	import os, time, evenstep
	rank = int(os.environ["SLURM_LOCALID"])
	with evenstep.Session(units=100, frames=6) as session:
	    for s in session:
	        time.sleep((s.end - s.begin) * (0.004 if rank else 0.001))
	        last = s.end - s.begin
	print(rank, last)
END
test_expect_success 'two tasks of a node, one four times as slow: in the end it has a fifth, with static the half' '
	step -N1 -n2 --evenstep env PYTHONPATH="$EVENSTEP_SRC/contrib/python" python3 ranks.py >got 2>err; rc=$?; cat got err && test $rc = 0 &&
	awk "{ n[\$1] = \$2 } END { exit !(n[0] + n[1] == 100 && n[1] > 10 && n[1] < 35) }" got &&
	EVENSTEP_CONF="$PWD/static.conf" step -N1 -n2 --evenstep env PYTHONPATH="$EVENSTEP_SRC/contrib/python" python3 ranks.py >got 2>err && sort got >is && printf "0 50\n1 50\n" >should && test_cmp should is
'
test_expect_success 'more tasks than units: some slices are empty, all tasks go on' '
	step -N4 --ntasks-per-node=2 --evenstep "$slices" few >got 2>err && cat err && grep -x "[0-9]*" got | sort | uniq -c | xargs >counts && echo 2 0 2 1 2 2 >want2 && test_cmp want2 counts
'
test_expect_success 'without evenstep each task is alone' '
	step -N4 "$slices" >got && each 8
'
test_expect_success 'a program that knows nothing of slices is not troubled' '
	step -N4 --evenstep true && step -N4 --evenstep sh -c "test -S \$EVENSTEP_SOCKET" && nothing_left
'
test_expect_success 'a task is killed in its slice: the others are told, nothing hangs, nothing is left' '
	test_expect_code 137 step -N4 --evenstep "$slices" kill n1 >got 2>err && mentioned "slices: evenstep_next: Software caused connection abort" &&
	nothing_left
'
test_expect_success 'a task ends without a word: likewise' '
	test_expect_code 9 step -N4 --evenstep "$slices" exit n1 >got 2>err && mentioned "evenstep_next: Software caused connection abort" && nothing_left
'
test_expect_success 'the tasks of two nodes do not agree: all are told' '
	test_expect_code 9 step -N4 --evenstep "$slices" differ n1 >got 2>err && mentioned "slices: evenstep_next: Protocol error" && nothing_left
'
test_expect_success 'tasks of one node do not agree: who comes second is refused, the first is told' '
	test_expect_code 9 step -N1 -n2 --evenstep sh -c "if test \$SLURM_PROCID = 1; then exec \"\$0\" differ; else exec \"\$0\"; fi" "$slices" >got 2>err &&
	mentioned "slices: evenstep_open: Protocol error" && mentioned "slices: evenstep_next: Software caused connection abort" && nothing_left
'
# It writes "FRAME UNIT NODE" of what it has done; n2 waits for the file go in its
# first slice, or dies in its second.
cat >survives.c <<'END'
#include <evenstep.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int there(const char *name) { return access(name, F_OK) == 0; }
int main(int argc, char **argv)
{
	const char *node = getenv("SLURMD_NODENAME");
	int n2 = strcmp(node, "n2") == 0, n = 0, fd = open("done", O_WRONLY | O_APPEND | O_CREAT, 0644);
	uint64_t begin, end;
	char line[64];

	if (evenstep_open_flags(20, argc > 1 ? 3 : 0, EVENSTEP_SURVIVES) < 0)
		return 9;
	while (evenstep_next(&begin, &end) > 0) {
		if (n2 && argc > 1 && n == 1)
			raise(SIGKILL);
		while (n2 && argc == 1 && n == 0 && !there("go"))
			usleep(50000);
		n++;
		usleep(100000);
		for (uint64_t i = begin; i < end; i++) {
			int len = snprintf(line, sizeof line, "%d %d %s\n", (int)evenstep_frame(), (int)i, node);
			if (write(fd, line, (size_t)len) != len)
				return 8;
		}
		if (evenstep_done() < 0)
			return 7;
		if (there("enough"))
			break;
	}
	evenstep_close();
	return 0;
}
END
# whole FRAME: each of its units is done, but those of n2 before it was cut off.
whole() { test "$(awk -v f="$1" '$1 == f && $3 != "n2" { print $2 }' "./done" | sort -un | wc -l)" = 20; }
test_expect_success 'one that survives: a task is killed in its slice, the others do it, and the frames go on' '
	gcc -Wall -Werror -I"$EVENSTEP_SRC/launcher/libevenstep" -o survives survives.c -L"$EVENSTEP_BUILD" -Wl,-rpath,"$EVENSTEP_BUILD" -levenstep && rm -f done &&
	test_expect_code 137 step -N4 --evenstep ./survives die 2>err; cat err; awk "{ print \$1, \$2 }" done | sort | uniq -c | awk "\$1 != 1 { exit 1 } END { exit NR != 60 }" &&
	whole 1 && mentioned "evenstep: n2: a task has ended in the middle: the other nodes do its part" && nothing_left
'
test_expect_success 'its link is cut: the others do what it had; it is healed: it takes part again' '
	rm -f done && { "$testbed" exec --name "$testbed_name" -- salloc -Q --no-kill -N4 srun -k --evenstep ./survives 2>err 3>&- 4>&- 5>&- & step=$!; } &&
	wait_for 60 grep -q "^0 .* n[013]$" done && testbed_fault cut n2 && wait_for 100 whole 0 && wait_for 60 whole 1 && ! grep -q n2 done &&
	testbed_fault heal n2 && : >go && wait_for 60 grep -q "^[1-9][0-9]* .* n2$" done; code=$?; cat err; : >enough; wait $step; tail -n 3 done; rm -f go enough; test $code = 0 && nothing_left
'
test_expect_success 'a task closes: there are no more slices for anybody' '
	step -N4 --evenstep "$slices" enough n1 >got 2>err && cat err && each 1 && nothing_left
'
# srun -K ends the step when one has failed, as an MPI program's would.
ask() { EVENSTEP_CONF="$PWD/hasty.conf" step -K "$@" >got 2>err; test $? != 124; }
told_why() { test "$(grep -c "^evenstep: not every task on $1 has called evenstep_open() and evenstep_next(): " err)" = 1 && mentioned "slices: evenstep_next: Connection timed out"; }
test_expect_success 'one task never asks: the others are told after a while, and one line says whose fault it is' '
	printf "plugin { patience = 8 }\n" >hasty.conf && ask -N4 --evenstep "$slices" open n1 && told_why n1 && nothing_left
'
test_expect_success 'likewise if of every node one task does not, and no node is ready' '
	ask -N4 -n8 --ntasks-per-node=2 --evenstep sh -c "test \$SLURM_LOCALID = 0 || exec sleep 60; exec \"\$0\"" "$slices" && told_why "n0 and 3 more" && nothing_left
'
begin_waiting() { # three tasks wait for their first slice, the fourth never opens
	on_ctl timeout -k 5 90 srun -u -N4 --evenstep "$slices" open n1 >out 2>err 3>&- 4>&- 5>&- &
	step=$!
	wait_for 60 all_wait
}
# One waits in pause(2), three for their agent's answer.
all_wait() { test "$(for each in $(ours slices); do cat "/proc/$each/wchan"; echo; done | grep -c skb)" = 3; }
told() { test "$(grep -cE "evenstep_next: (Software caused connection abort|Connection reset)" err)" -ge 2; }
test_expect_success 'kill -9 of the front end: who waits for a slice is told' '
	begin_waiting && kill -KILL $(ours evenstep) && wait_for 60 told; rc=$?; cat err
	on_ctl scancel -u root; wait $step; test $rc = 0 && nothing_left
'
test_expect_success 'kill -9 of an agent: the tasks of its node are told, and the others' '
	begin_waiting && kill -KILL $(ours evenstep-agent | head -n 1) && wait_for 60 told; rc=$?; cat err
	on_ctl scancel -u root; wait $step; test $rc = 0 && wait_for 60 none_of slices
'

# --- evenstep run --persistent ------------------------------------------------------
seq 0 199 >one
cat one one one >want3
test_expect_success 'evenstep run --persistent: a program a node, every unit once and in order' '
	in_job -N4 evenstep run --persistent --range 0:200 --repeat 3 -- "$slices" >got 2>err && cat err && test_cmp want3 got
'
test_expect_success 'a node dies: its slices are done by the others' '
	cat >lost.sh <<-\END && chmod +x lost.sh && in_job -N4 -k env SLICES="$slices" evenstep run --persistent --range 0:200 --repeat 3 -- ./lost.sh >got 2>err && cat err && test_cmp want3 got && mentioned "^evenstep: n2 is lost "
	#!/bin/sh
	test "$EVENSTEP_NODE" != n2 || { kill -KILL $PPID; sleep 100; }
	exec "$SLICES"
	END
'
test_expect_success 'nothing is left, the daemons have lived through it' '
	wait_for 60 none_of evenstep-agent && wait_for 60 no_jobs && wait_for 60 nodes_idle 4 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
