#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='OpenMP threads of an MPI program that nobody changed: how long each rank has been busy, and waited for its own threads'
. /usr/share/sharness/sharness.sh
S=$EVENSTEP_SRC B=$EVENSTEP_BUILD
library="$B/libevenstep-mpi.so"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle
for cc in gcc clang; do
	OMPI_CC=$cc mpicc.openmpi -std=gnu11 -Wall -Wextra -O1 -fopenmp -o $cc.run "$S/t/programs/mpi_threads.c" 2>$cc.err && test_set_prereq $cc
done

metered() { timeout -k 5 60 "$B/t/programs/metered" 0 mpirun.openmpi -n 2 env "LD_PRELOAD=$library${2:+:$2}" "$1" "$how" >got; }
# ranks_have THREADS CONDITION: of u(seful), o(thers) and i(dle), in each of both; the output is the program's
ranks_have() {
	cat got && grep -cx "done" got && grep "^rank" got >ranks &&
	awk -v want="$1" "{ threads = \$13 == \"threads\" ? \$14 : 0; u = \$10; o = \$16; i = \$18; if (threads != want || !($2)) exit 1 } END { exit NR != 2 }" ranks
}

# In each of five regions a thread works for 40 ms or more, or not at all.
for cc in gcc clang; do
	while IFS='|' read -r how condition; do
		test_expect_success $cc "$cc: $how" 'metered ./$cc.run && ranks_have 2 "$condition"'
	done <<-'END'
		first|u >= 0.2 && o < u / 2 && i < u / 2
		other|u >= 0.2 && o >= 0.2 && i > 0.1
		barrier|u >= 0.4 && o >= 0.2 && i > 0.1
		dynamic|u >= 0.4 && u - i + o >= 0.6
	END
done
how=none
test_expect_success gcc 'a rank without a team has no threads' 'metered ./gcc.run && ranks_have 0 "u >= 0.2"'
how=tasks
test_expect_success clang 'tasks that a thread executes while it waits in a barrier are work' 'metered ./clang.run && ranks_have 2 "u - i + o >= 0.4"'
test_expect_success gcc 'where who executes tasks is not to be seen, nothing is told' 'metered ./gcc.run && ranks_have 0 "u >= 0.2"'

cat >tool.c <<'END'
#include <stdio.h>
static int start(void *lookup, int device, void *data) { (void)lookup; (void)device; (void)data; return 1; }
static void end(void *data) { (void)data; fputs("tool: end\n", stderr); }
static struct { int (*start)(void *, int, void *); void (*end)(void *); long data; } tool = {start, end, 0};
void *ompt_start_tool(unsigned version, const char *runtime);
void *ompt_start_tool(unsigned version, const char *runtime) { (void)version; (void)runtime; return &tool; }
END
how=even
test_expect_success clang 'another tool that is preloaded comes first' '
	gcc -shared -fPIC -o tool.so tool.c && metered ./clang.run ./tool.so 2>err && ranks_have 0 "u >= 0.2" && test $(grep -c "tool: end" err) = 2
'
test_expect_success clang 'so does one that OMP_TOOL_LIBRARIES names' '
	OMP_TOOL_LIBRARIES="$PWD/tool.so" metered ./clang.run 2>err && ranks_have 0 "u >= 0.2" && test $(grep -c "tool: end" err) = 2
'
test_expect_success clang 'a program that is not metered has no tool' '
	OMP_TOOL_VERBOSE_INIT=stderr LD_PRELOAD="$library" ./clang.run even >got 2>err && cat err && grep -x "done" got && grep "current address space... Failed" err
'
# Without it the second thread of rank 0 stays on the CPU of the first for the 30 s that the program waits.
test "$(nproc)" -ge 2 && taskset -c 0,1 true 2>/dev/null && test_set_prereq CPUS
for cc in gcc clang; do
	test_expect_success $cc,CPUS "$cc: EVENSTEP_LEND: the CPU of a rank that waits is lent to a thread of another, and given back" '
		OMPI_CC=$cc mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O1 -fopenmp -o lend "$S/t/programs/mpi_lend.c" &&
		EVENSTEP_LEND=1 timeout -k 5 120 "$B/t/programs/metered" 0 mpirun.openmpi --bind-to none -n 2 env "LD_PRELOAD=$library" ./lend >got && cat got && grep -x "lent 1, back 1" got
	'
done
test_done
