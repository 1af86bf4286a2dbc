#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='srun --evenstep and programs that nobody changed: they are metered, and run as without, whatever happens to them'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF
B=$EVENSTEP_BUILD
conf=$(testbed_dir)/site.conf # a path without a space, as the next: arguments of the plugin
bin=$(testbed_dir)/bin

no_line() { test -e "$2" && ! grep -E -e "$1" "$2"; }
# step WORDS...: of four ranks, with its report in ./report; it ends.
step() {
	rm -f report
	on_ctl timeout 120 srun -N2 -n4 --mpi=pmix --evenstep-report=report "$@" >got 2>err
	code=$?
	cat err
	return $code
}
# metered N: so many ranks were.
metered() { test "$(grep -c '"type": *"rank"' report)" = "$1"; }
none_metered() { grep 'nothing was metered' err && ! grep '"type": *"rank"' report; }
evenstep_top() { on_ctl "$B/evenstep" top --once; }
nothing_left() { wait_for 60 none_of evenstep-agent && wait_for 60 none_of evenstep && wait_for 60 no_jobs; }

cat >app.c <<'END'
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Open MPI 5.0.7 now and then crashes in a rank that is sent to before it has left
 * MPI_Init (its issue 12495), also without us: so none sends before all have. */
static void init(int *argc, char ***argv)
{
	const char *job = getenv("SLURM_JOB_ID"), *tasks = getenv("SLURM_STEP_NUM_TASKS");
	char name[64];
	int all;

	MPI_Init(argc, argv);
	if (!job || !tasks)
		return;
	snprintf(name, sizeof name, "in-%s", job);
	all = open(name, O_WRONLY | O_APPEND | O_CREAT, 0644);
	if (all < 0 || write(all, "", 1) != 1)
		abort();
	while (lseek(all, 0, SEEK_END) < atoi(tasks))
		usleep(1000);
}

/* app [abort | kill | until FILE]; with EARLY it has called MPI before main. */
__attribute__((constructor)) static void early(void)
{
	if (getenv("EARLY"))
		init(NULL, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int rank, goes_on = 1, sum = 0;

	if (!getenv("EARLY"))
		init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 20; i++) {
		MPI_Allreduce(MPI_IN_PLACE, i == 0 ? &rank : &goes_on, 1, MPI_INT, i == 0 ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
		sum += rank;
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		printf("sum %d\n", sum), fflush(stdout);
	if (strcmp(how, "abort") == 0 && rank == 1)
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (strcmp(how, "kill") == 0 && rank == 1)
		raise(SIGKILL);
	for (goes_on = argc > 2; goes_on;) {
		goes_on = access(argv[2], F_OK) < 0;
		usleep(1000);
		MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END
cat >tool.c <<'END'
#include <mpi.h>
#include <stdio.h>
static int calls;
int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
	calls++;
	return PMPI_Allreduce(a, b, n, t, op, c);
}
int MPI_Finalize(void)
{
	int rank;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		printf("the tool saw %d\n", calls);
	return PMPI_Finalize();
}
END
# The launcher is a script, so that the library is looked for beside that.
test_expect_success 'up: two nodes of two CPUs, and programs that know nothing of evenstep' '
	mpicc -O1 -o app app.c && mpicc -O1 -o tooled app.c tool.c && mpicc -O1 -shared -fPIC -o tool.so tool.c &&
	cc -o plain "$EVENSTEP_SRC/t/programs/preloaded.c" && echo "int puts(const char *); int main(void) { return puts(\"static\") < 0; }" >static.c && cc -static -o static static.c &&
	sed s/static/sanitized/ static.c >sanitized.c && cc -fsanitize=address -o sanitized sanitized.c &&
	testbed_up --nodes 2 --cpus 2 --plugin "$B/evenstep.so" --plugin-args "launcher=$bin/evenstep config=$conf" &&
	mkdir "$bin" && printf "#!/bin/sh\nexec \"%s\" \"\$@\"\n" "$B/evenstep" >"$bin/evenstep" && chmod +x "$bin/evenstep" && : >"$conf" &&
	ln -s "$B/libevenstep-mpi.so" "$bin" && cp tool.so "$bin" && on_ctl srun -N2 -n4 --mpi=pmix ./app >want && cat want
'
# preloaded N WORDS...: into so many of the step's tasks.
preloaded() {
	want=$1
	shift
	on_ctl env EVENSTEP_DEFAULT=on srun "$@" sh -c "echo \"<\$LD_PRELOAD>\"" >got 2>err && cat got err && quiet err && test "$(grep -c "^<.*>\$" got)" = 2 && test "$(grep -cx "<$bin/libevenstep-mpi.so>" got)" = "$want" && test "$(grep -cx "<>" got)" = $((2 - want))
}
test_expect_success 'attended by default: the library is preloaded, and nothing where nothing is metered' '
	preloaded 2 -N2 && preloaded 0 -N1 -n2 && preloaded 2 -N1 -n2 --evenstep && preloaded 0 -N2 --evenstep=off &&
	preloaded 0 -N2 --evenstep-meter=none && preloaded 0 -N2 --evenstep-meter=cpu
'
test_expect_success 'an MPI program is metered, and does as without' 'step ./app && test_cmp want got && metered 4'
test_expect_success 'one that calls MPI before main: likewise' 'step env EARLY=1 ./app && test_cmp want got && metered 4'
test_expect_success 'one under a PMPI tool of its own that is preloaded: both see all' '
	LD_PRELOAD=$bin/tool.so step sh -c "test \$SLURM_PROCID != 0 || echo \$LD_PRELOAD; exec ./app" &&
	printf "%s\n" "$bin/libevenstep-mpi.so:$bin/tool.so" "$(cat want)" "the tool saw 20" >both && test_cmp both got && metered 4
'
test_expect_success 'one with such a tool linked in: the tool sees all, we the rest' '
	step ./tooled && { cat want && echo "the tool saw 20"; } >both && test_cmp both got && metered 4
'
test_expect_success 'ranks that share their CPUs' 'step -n8 --overcommit ./app && grep -c sum got && metered 8'
test_expect_success 'MPI_Abort: the same exit status' 'test_expect_code 7 step ./app abort && test_cmp want got && metered 4'
# Where a rank of Open MPI 5 that has lost it ends first, srun has that one's status.
test_expect_success 'a rank that is killed: the step ends as without' '
	step ./app kill; code=$?
	{ test $code = 137 || test $code = 14; } && test_cmp want got && metered 4
'
test_expect_success 'MPI in one rank only, as a program of its own' '
	step --mpi=none sh -c "test \$SLURM_PROCID != 2 || exec env -i PATH=\"\$PATH\" HOME=/root EVENSTEP_DIR=\$EVENSTEP_DIR LD_PRELOAD=\$LD_PRELOAD OMPI_MCA_ess_singleton_isolated=1 ./app" &&
	echo "sum 0" >alone && test_cmp alone got && metered 1
'
test_expect_success 'a page that cannot be mapped: the program goes on without' '
	mkdir bad && echo no page >bad/meter && step env "EVENSTEP_DIR=$PWD/bad" ./app && test_cmp want got && none_metered
'
test_expect_success 'programs that never call MPI, are linked statically or look for memory errors run as they are' '
	step -n1 -N1 sh -c "./plain; ./static; ./sanitized; true | cat; echo \$EVENSTEP_METER" && printf "preloaded\nstatic\nsanitized\nmpi\n" >odd && test_cmp odd got && none_metered
'
musl-gcc -o musl "$EVENSTEP_SRC/t/programs/preloaded.c" 2>&- && test_set_prereq MUSL
alone='^slurmstepd-n0: error: evenstep: this node.s tasks are not metered: [.]/[a-z]* is linked statically, or not for this system.s C library: give --evenstep-meter=cpu, or link it with that$'
test_expect_success MUSL 'a program of musl, or linked statically, runs as without: with a line where it was asked to be metered' '
	step -n1 -N1 --evenstep-meter=mpi ./musl && echo plain >odd && test_cmp odd got && mentioned "$alone" && none_metered &&
	step -n1 -N1 --evenstep-meter=mpi ./static && echo static >odd && test_cmp odd got && mentioned "$alone" &&
	on_ctl srun -n1 -N1 --evenstep ./musl >got 2>err && echo plain >odd && test_cmp odd got && quiet err
'
test_expect_success MUSL 'also started by one of glibc, or by a script' '
	step -n1 -N1 sh -c ./musl && echo preloaded >odd && test_cmp odd got && cp musl "$bin" && printf "#!$bin/musl\n" >script && chmod +x script &&
	on_ctl srun -n1 -N1 --evenstep ./script >got 2>err && echo plain >odd && test_cmp odd got && quiet err
'
cp plain other && chown nobody other && chmod u+s other && LD_PRELOAD=$B/libevenstep-mpi.so ./other >probe 2>&1; grep -qx plain probe && test_set_prereq SETUID
test_expect_success SETUID 'a setuid program is not metered, and nothing is said of it' '
	step -n1 -N1 ./other && echo plain >odd && test_cmp odd got && none_metered && no_line preload err
'
test_expect_success 'the agents are killed: the program goes on as if nothing were' '
	rm -f got && { on_ctl timeout 120 srun -N2 -n4 --mpi=pmix --evenstep ./app until "$PWD/go" >got 2>err 3>&- 4>&- 5>&- & step=$!; } &&
	wait_for 60 test -s got && kill -KILL $(ours evenstep-agent) && wait_for 60 none_of evenstep-agent && wait_for 60 grep -q "agent is lost" err; code=$?; touch go; wait $step && cat err && test $code = 0 && test_cmp want got
'
test_expect_success 'that their meters are not read any more is said in one line' '
	mentioned "^evenstep: warning: n[01] and 1 more node: the agent is lost [(].*[)]: the tasks go on, but are not metered or steered there any more: see slurmd.s log" && test "$(grep -c "agent is lost" err)" = 1
'
test_expect_success 'the agent of one node is killed: the report and top mark the node, whose ranks do not look idle' '
	rm -f got go report && { on_ctl timeout 120 srun -N2 -n4 --mpi=pmix --evenstep-report=report ./app until "$PWD/go" >got 2>err 3>&- 4>&- 5>&- & step=$!; } &&
	wait_for 60 test -s got && sleep 3 && set -- $(ours evenstep-agent) && kill -KILL "$1" && wait_for 60 grep -q "agent is lost" err && sleep 2; code=$?; evenstep_top >top; touch go; wait $step && cat err top report && test $code = 0 && test_cmp want got &&
	grep -E "2 nodes [(]1 lost[)]" top && grep -c " lost after [0-9.]* s$" top &&
	mentioned "over 1 node, 2 ranks" && mentioned "n[01] [(]after [0-9.]* s[)]: the agent was lost: what is known of its ranks is until then" &&
	jq -se "[.[] | select(.lost)] | length == 3" report && jq -se ".[0] | .lost_nodes == 1 and .ranks == 2 and .elapsed > 3" report
'
test_expect_success '--evenstep-meter=cpu: the CPU time of each task' '
	step -n2 --mpi=none --evenstep-meter=cpu sh -c "test \$SLURM_PROCID = 0 && perl -e \"while ((times)[0] < 1.5) {}\" && exec touch done
		until test -e done; do sleep 0.5; done" && metered 2 &&
	jq -se "[.[] | select(.type == \"rank\")] | sort_by(.rank) | .[0].useful > 0.5 and .[1].useful < .[0].useful / 2" report
'
test_expect_success '--evenstep-meter=none: nothing is preloaded' 'step -n1 -N1 --evenstep-meter=none ./plain && echo plain >odd && test_cmp odd got && none_metered'
test_expect_success 'plugin { meter } is for who does not say' '
	echo "plugin { meter = \"none\" }" >"$conf" && step -n1 -N1 ./plain && test_cmp odd got && step -n1 -N1 --evenstep-meter=mpi ./plain && echo preloaded >odd && test_cmp odd got
'
test_expect_success 'a library that cannot be preloaded: the loader says so, and the program runs as without' '
	rm "$bin/libevenstep-mpi.so" && echo no library >"$bin/libevenstep-mpi.so" && step --evenstep-meter=mpi ./app && test_cmp want got && mentioned "libevenstep-mpi.so.* cannot be preloaded" && none_metered
'
test_expect_success 'a node without the library: one line, and the step' '
	rm "$bin/libevenstep-mpi.so" && step --evenstep-meter=mpi ./app && test_cmp want got && test "$(grep -c "tasks are not metered: .* is missing" err)" = 2 && none_metered
'
test_expect_success 'nothing is left' nothing_left
test_done
