#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='how a run went is in the accounting database: Comment and AdminComment, by sacct'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF

# recorded JOBNAME FIELD: of the last job of that name, once slurmdbd has it whole.
recorded() { on_ctl sacct -nXP --name "$1" -s CD -S now-1hour -E now -o "$2" | tail -n 1; }
is_whole() { test "$(recorded "$1" state)" = COMPLETED; }
shows() { wait_for 30 is_whole "$1" && recorded "$1" "$2" >is && cat is && grep -qE "$3" is; }

run='evenstep: 1 frame in [0-9.]+ s, [0-9.]+ times as fast as equal parts, efficiency [01][.][0-9]+, slowest node n[01]'

test_expect_success 'up: two nodes, slurmdbd and its database, a site that wants AdminComment' '
	testbed_up --nodes 2 --slurmdbd --plugin "$EVENSTEP_BUILD/evenstep.so" \
		--plugin-args "launcher=$EVENSTEP_BUILD/evenstep admin_comment=on"
'
test_expect_success 'a run: the plugin has set AdminComment, and with --job-comment the user has Comment' '
	on_ctl salloc -Q -N2 -J both evenstep run --job-comment --range 0:40 -- true &&
	shows both admincomment "^$run\$" && shows both comment "^$run\$"
'
test_expect_success 'a run without it: no Comment; what the site has written stays, and the last run counts' '
	cat >job <<-\END &&
	#!/bin/sh
	scontrol update jobid=$SLURM_JOB_ID admincomment="of the site"
	evenstep run --range 0:40 -- true
	evenstep run --range 0:40 --repeat 2 -- true
	END
	on_ctl sbatch -Q --wait -N2 -J batch -o job.out job && shows batch admincomment "^of the site; evenstep: 2 frames in [^;]*\$" &&
	recorded batch comment >is && echo >want && test_cmp want is
'
test_expect_success PMIX 'an attended step of an unchanged program: its parallel efficiency' '
	mpicc -x c -o prog - <<-\END &&
	#include <mpi.h>
	int main(int argc, char **argv)
	{
	    MPI_Init(&argc, &argv);
	    for (int i = 0; i < 50; i++)
	        MPI_Barrier(MPI_COMM_WORLD);
	    return MPI_Finalize();
	}
	END
	on_ctl salloc -Q -N2 -J step srun --mpi=pmix --evenstep-report ./prog 2>err && cat err &&
	shows step admincomment "^evenstep: step 0: parallel efficiency [01][.][0-9]+ = load balance [01][.][0-9]+ x communication [01][.][0-9]+"
'
test_done
