#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='an MPI program that nobody changed is metered from outside: it runs as without, and how its time went is told'
. /usr/share/sharness/sharness.sh
S=$EVENSTEP_SRC B=$EVENSTEP_BUILD
library="$B/libevenstep-mpi.so"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
PRTE_MCA_mapby=:oversubscribe # as Open MPI 6 has it
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_mapby
for mpi in openmpi mpich; do
	command -v "mpicc.$mpi" >/dev/null && test_set_prereq "$mpi"
	command -v "mpif90.$mpi" >/dev/null && test_set_prereq "f90_$mpi"
done

# Waiting ranks do not take the CPU from those that are waited for.
plain() { mpi=$1 && shift && timeout -k 5 60 "mpirun.$mpi" -n 2 env OMPI_MCA_mpi_yield_when_idle=1 "$@"; }
metered() { mpi=$1 && shift && timeout -k 5 60 "$B/t/programs/metered" 0 "mpirun.$mpi" -n 2 env OMPI_MCA_mpi_yield_when_idle=1 "LD_PRELOAD=$library" "$@"; }
# ./tool.so: paths in LD_PRELOAD have no spaces.
# told CALLS REGIONS: by each of both ranks, who have left; the rest is the program's output.
told() {
	grep "^rank" got >ranks
	grep -v "^rank" got | grep -vE "^[0-9]+ [01][.][0-9]{3} 0$" >printed
	test "$(sort -k2n ranks | awk '{ print $2, $4, $6, $8 }' | xargs)" = "0 2 $1 $2 1 2 $1 $2" && ! grep here ranks
}

for mpi in openmpi mpich; do
	test_expect_success "$mpi" "C, $mpi: the output is the same, and each rank has made its calls" '
		mpicc.$mpi -std=gnu11 -Wall -Wextra -O1 -o all.$mpi "$S/t/programs/mpi_all.c" &&
		plain $mpi ./all.$mpi window >want && cat want && metered $mpi ./all.$mpi window >got && cat got && told 129 41 && test_cmp want printed
	'
	test_expect_success "$mpi" "$mpi: its useful time and its waiting sum up to less than it took" '
		awk "{ if (\$10 > 60 || \$12 > 60 || \$10 + \$12 <= 0) exit 1 } END { exit NR != 2 }" ranks
	'
	test_expect_success "$mpi" "$mpi: a second thread that makes calls is not troubled" '
		{ plain $mpi ./all.$mpi thread >want || test $? = 77; } && { metered $mpi ./all.$mpi thread >got || test $? = 77; } && cat want got &&
		{ test ! -s want || { told 179 41 && test_cmp want printed; }; }
	'
	test_expect_success "$mpi" "$mpi: children of the ranks are not metered" '
		plain $mpi ./all.$mpi fork >want && metered $mpi ./all.$mpi fork >got && told 124 41 && test_cmp want printed && ! grep child want
	'
	test_expect_success "$mpi" "$mpi: MPI_Abort ends it as without" '
		plain $mpi ./all.$mpi abort >want 2>err; code=$? && test $code != 0 && test_expect_code $code metered $mpi ./all.$mpi abort >got 2>err
	'
	test_expect_success "$mpi" "$mpi: without a page, and with EVENSTEP_DIR elsewhere, it does nothing" '
		plain $mpi ./all.$mpi >want && plain $mpi env LD_PRELOAD="$library" ./all.$mpi >got && test_cmp want got &&
		EVENSTEP_DIR=/nowhere plain $mpi env LD_PRELOAD="$library" ./all.$mpi >got && test_cmp want got
	'
	test_expect_success "$mpi" "$mpi: a program that never calls MPI_Init has no place in the page" '
		test_might_fail metered $mpi ./all.$mpi never >got && test -e got && ! grep "^rank" got
	'
	test_expect_success "$mpi" "$mpi: who comes late to files, communicators and memory of others is waited for; the table of calls fits mpi.h" '
		mpicc.$mpi -std=gnu11 -Wall -Wextra -O1 -I"$S" -o more.$mpi "$S/t/programs/mpi_more.c" && rm -f f &&
		plain $mpi ./more.$mpi "$PWD/f" >want && cat want && rm -f f && metered $mpi ./more.$mpi "$PWD/f" >got && cat got && told 48 1 && test_cmp want printed &&
		awk "\$2 == 0 { if (\$10 > 0.4 || \$12 < 0.8) exit 1 }" ranks
	'
	test_expect_success "$mpi" "$mpi: who tests in a loop, with sleeps, or waits for its own thread that waits in MPI, waits; who waits in MPI for its own thread that computes, computes" '
		mpicc.$mpi -std=gnu11 -Wall -Wextra -O1 -rdynamic -o waits.$mpi "$S/t/programs/mpi_waits.c" -pthread &&
		{ METERED_PARTS=1 metered $mpi ./waits.$mpi >got || test $? = 77; } && cat got &&
		{ ! grep -q " of 2$" got || {
			awk "/^rank 0/ { n++; if (\$10 > \$12 / 2 || \$12 < 0.6) exit 1 } END { exit n != 1 }" got &&
			awk "/^rank 1/ { n++; if (\$10 < 0.95) exit 1 } END { exit n != 1 }" got &&
			awk "/^parts of 0/ { n++; if (\$7 < 0.3 || \$13 != 1) exit 1 } END { exit n != 1 }" got &&
			grep -E "^site of 0 MPI_Test waiting [0-9.]+ calls [0-9]+ by_test[+]0x[0-9a-f]+ [(]waits.$mpi[)]$" got; }; }
	'
	test_expect_success "$mpi" "$mpi: what its library has and is not metered is local" '
		ldd ./all.$mpi | awk "/libmpi(ch)?[.]so/ { print \$3 }" >library && xargs nm -D --defined-only <library | awk "{ print \$3 }" | grep -E "^MPI_[A-Z][a-z_]+$" | sort >theirs &&
		grep -x MPI_Send theirs && nm -D --defined-only "$library" | awk "{ print \$3 }" | sort >ours && comm -23 theirs ours |
			grep -vE "^MPI_((Type|Info|Group|Errhandler|Error|Op|Attr|Keyval|Status|T|Grequest|Address|Aint|Get|Pack|Unpack|Add_error|Alloc|Free|Session|Cart|Graph|Dist_graph_neighbors)_.*|.*_(c2f|f2c)|(Comm|File|Win|Request|Session|Message)_(get|set|create|call|free|delete)_(attr|errhandler|keyval|name|info|group|parent)|Abort|Address|Buffer_attach(_c)?|Cartdim_get|Comm_(compare|group|rank|remote_group|remote_size|size|test_inter)|Dims_create|Dist_graph_neighbors|File_(call_errhandler|get_.*|seek)|Finalized|Graphdims_get|Initialized|Is_thread_main|Pack|Pcontrol|Query_thread|Reduce_local(_c)?|Register_datarep(_c)?|Request_free|Test_cancelled|Topo_test|Unpack|Win_shared_query(_c)?|Wtick|Wtime)$" >waits; cat waits; test ! -s waits
	'
	for new in "" -DF08; do
		test_expect_success "f90_$mpi" "Fortran, $mpi, by module ${new:+mpi_f08}${new:-mpi}: likewise" '
			mpif90.$mpi -O1 $new -o fortran "$S/t/programs/mpi_fortran.F90" &&
			plain $mpi ./fortran >want && cat want && metered $mpi ./fortran >got && cat got && told 102 21 && test_cmp want printed
		'
		test_expect_success "f90_$mpi" "Fortran, $mpi, by module ${new:+mpi_f08}${new:-mpi}: calls with texts, on files, and windows" '
			rm -f f && plain $mpi ./fortran "$PWD/f" >want && cat want && cp f file.want && rm -f f &&
			metered $mpi ./fortran "$PWD/f" >got && cat got && told 109 21 && test_cmp want printed && cmp f file.want
		'
	done
done

cat >large.f90 <<'END'
program large
   use mpi_f08
   integer(kind=MPI_COUNT_KIND) :: one = 1
   integer :: i, sum, mine = 1
   call MPI_Init()
   do i = 1, 3
      call MPI_Allreduce(mine, sum, one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   end do
   call MPI_Finalize()
end program large
END
test_expect_success f90_mpich 'Fortran, mpich: large counts are of calls that have names of their own' '
	mpif90.mpich -o large large.f90 && metered mpich ./large >got && cat got && told 4 3
'

# Without the meter, too, MPICH of Debian 12 cannot spawn under its mpirun, nor can
# Open MPI 5.0.7 of Debian 13.
mpirun.openmpi --version | grep -q " 4\." && test_set_prereq SPAWN
test_expect_success openmpi,SPAWN 'a rank that others spawn is not metered, and does what it is for' '
	mpicc.openmpi -std=gnu11 -Wall -Wextra -O1 -o spawn "$S/t/programs/mpi_spawn.c" && plain openmpi ./spawn >want && grep -x "the child says 42" want &&
	metered openmpi ./spawn >got && cat got && test "$(grep "^rank" got | awk "{ print \$2, \$4 }" | sort | xargs)" = "0 2 1 2" && grep -x "the child says 42" got
'

# A step and two sums after it, in a function, from two places, 20 times.
cat >steps.c <<'END'
#include <mpi.h>
static void add(int n)
{
	double mine = n, all;
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	add(0);
	for (int i = 0; i < 20; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		add(1);
		add(2);
	}
	MPI_Finalize();
	return 0;
}
END
for mpi in openmpi mpich; do
	test_expect_success "$mpi" "$mpi: its iterations are found by where it calls" '
		mpicc.$mpi -O0 -o steps.$mpi steps.c && metered $mpi ./steps.$mpi >got && cat got && told 62 61 && grep -c "iterations 19 loop . period 3$" ranks | grep -x 2
	'
done

cat >tool.c <<'END'
#include <stdio.h>
int PMPI_Barrier(void *comm);
int MPI_Barrier(void *comm);
static int calls;
int MPI_Barrier(void *comm)
{
	if (++calls == 5)
		fprintf(stderr, "tool: five\n");
	return PMPI_Barrier(comm);
}
END
test_expect_success openmpi 'a tool that is preloaded behind it gets its calls' '
	gcc -shared -fPIC -o tool.so tool.c && plain openmpi ./all.openmpi >want &&
	metered openmpi env LD_PRELOAD="$library:./tool.so" ./all.openmpi >got 2>err && cat err && grep -c "tool: five" err | grep -x 2 && told 124 41 && test_cmp want printed
'
test_expect_success openmpi 'so does one in front of it, and what that passes on to PMPI_* is not metered' '
	metered openmpi env LD_PRELOAD="./tool.so:$library" ./all.openmpi >got 2>err && cat err && grep -c "tool: five" err | grep -x 2 && told 119 36 && test_cmp want printed
'
cat >mine.c <<'END'
#include <evenstep.h>
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 4; i++) {
		evenstep_work(10);
		evenstep_tick(5);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
END
test_expect_success openmpi 'a program that tells its progress itself is taken at its word' '
	mpicc.openmpi -I"$S/launcher/libevenstep" -o mine mine.c -L"$B" -Wl,-rpath,"$B" -levenstep &&
	metered openmpi ./mine >got && cat got && test "$(grep -cx "4 0.500 0" got)" = 2 && test "$(grep -cx "0 1.000 0" got)" = 2 && told 5 4
'
cat >late.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *part = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	int (*run)(void) = part ? (int (*)(void))dlsym(part, "run") : 0;
	int (**end)(void) = part ? (int (**)(void))dlsym(part, "end") : 0;

	(void)argc;
	if (!run || !end)
		return puts(dlerror());
	return run() != 0 || (*end)() != 0;
}
END
cat >part.c <<'END'
#include <mpi.h>
int run(void);
extern int (*end)(void);
int (*end)(void) = MPI_Finalize;
int run(void)
{
	MPI_Init(0, 0);
	for (int i = 0; i < 5; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	return 0;
}
END
test_expect_success mpich 'MPI that was loaded out of sight, as by Python, is found, also by a program that has none itself' '
	gcc -o late late.c && mpicc.mpich -shared -fPIC -o part.so part.c && plain mpich ./late ./part.so &&
	metered mpich ./late ./part.so >got && cat got && told 6 5
'
test_expect_success 'a program without MPI is not troubled; one that looks for MPI and has none is told' '
	printf "%s\n" "int MPI_Barrier(long); int main(int n, char **v) { (void)v; return n > 1 ? MPI_Barrier(0) : 5; }" >none.c &&
	gcc -o none none.c "$library" && test_expect_code 5 ./none && test_expect_code 127 ./none x 2>err &&
	grep -x "evenstep: MPI_Barrier: no MPI library that is loaded has it: link the program with one, or give --evenstep-meter=none" err
'
test_done
