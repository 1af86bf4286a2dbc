#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep run in an allocation of unequal nodes, as users and sites have them'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF

# burn BEGIN END: some milliseconds of CPU a unit, then its number.
cat >burn <<'END'
#!/bin/sh
exec awk -v b="$1" -v e="$2" 'BEGIN { for (i = b; i < e; i++) { for (k = 0; k < 30000; k++) x += k; print i } }'
END
cat >units <<'END'
#!/bin/sh
exec seq "$1" $(($2 - 1))
END
chmod +x burn units
in_job() { on_ctl salloc -Q "$@"; } # salloc's options, then the command
nothing_left() { wait_for 60 no_agents && wait_for 60 no_jobs; }

test_expect_success 'up: four nodes with 80, 40, 20 and 10 percent of a core' '
	testbed_up --nodes 4 --speeds 80,40,20,10
'
test_expect_success 'three frames: exit 0, every unit once and in order' '
	seq 0 399 >once && cat once once once >want &&
	in_job -N4 evenstep run --range 0:400 --pieces 1 --repeat 3 --report report -- ./burn {begin} {end} >got 2>err &&
	test_cmp want got && said "evenstep: 3 frames in .* \(even\)"
'
# Others may be busy here, and their CPU is what the nodes share: three tries.
sorted_by_speed() {
	jq -es 'map(select(.type == "frame") | .slices | map({(.node): (.end - .begin)}) | add)
		| length == 3 and all(.n0 > .n1 and .n1 > .n2 and .n2 > .n3 and ([.[]] | add == 400))' report
}
test_expect_success 'slices are in the order of the speeds, from the first frame on, and add up' '
	for try in 1 2 3; do
		cat report && sorted_by_speed && return
		in_job -N4 evenstep run --range 0:400 --pieces 1 --repeat 3 --report report -- ./burn {begin} {end} >got || return 1
	done && sorted_by_speed
'
# The first component is one node: Slurm tells a job of no others.
in_both() { on_ctl salloc -Q -N1 : -N3 "$@"; }
test_expect_success 'a heterogeneous job: run, bcast and probe have the nodes of all components' '
	in_both sh -c "evenstep run --metrics equal --policy static --pieces 1 --range 0:400 --report report -- ./units {begin} {end} && evenstep bcast once /tmp/once && evenstep probe --nodes" >got 2>err &&
	head -n 400 got | test_cmp once - && jq -es "[.[0].slices[].node] | sort == [\"n0\", \"n1\", \"n2\", \"n3\"]" report &&
	said "evenstep: [0-9.]+ kB to 4 nodes in .*" && grep "4 of 4 nodes" got
'
test_expect_success 'of which another may be named' '
	in_both evenstep run --srun --het-group=1 --metrics equal --policy static --pieces 1 --range 0:300 --report report -- ./units {begin} {end} >got &&
	seq 0 299 | test_cmp - got && jq -es "[.[0].slices[].node] | sort == [\"n1\", \"n2\", \"n3\"]" report
'
test_expect_success 'static: four equal slices, and the same output' '
	in_job -N4 evenstep run --policy static --pieces 1 --range 0:400 --report report -- ./units {begin} {end} >got &&
	test_cmp once got && jq -es ".[0].slices | map(.end - .begin) == [100, 100, 100, 100]" report
'
test_expect_success 'types of work in one queue: each by its command, sized by its policy' '
	echo "work \"burn\" { command = {\"./burn\", \"{begin}\", \"{end}\"} } work \"list\" { command = \"./units {begin} {end}\" policy = \"manual:size=50\" }" >works.conf &&
	printf "0:400 @burn\n0:400 a @list\n0:400 b @burn\n0:400 c\n" >frames && cat once once once once >want &&
	in_job -N4 evenstep run --works works.conf --queue frames --report report -- ./units {begin} {end} >got 2>err && test_cmp want got &&
	jq -es "map(select(.type == \"frame\")) | map(.work) == [\"burn\", \"list\", \"burn\", null] and (.[1].slices | length == 8 and all(.end - .begin == 50))
		and (.[2].slices | map({(.node): (.end - .begin)}) | map(to_entries[0]) | group_by(.key) | map(map(.value) | add) | .[0] > .[3])" report
'
# comment OPTION...: of a run with a comment before it, and one after it; as scontrol shows it.
comment() {
	in_job -N4 sh -c 'scontrol update jobid=$SLURM_JOB_ID comment="my own, a = b" && evenstep run "$@" --range 0:400 -- ./units {begin} {end} >got 2>err &&
		evenstep run "$@" --policy static --range 0:40 --repeat 2 -- true 2>>err && scontrol show job $SLURM_JOB_ID' sh "$@" >job &&
		sed -n 's/ *$//; s/^ *Comment=//p' job >comment && cat comment err
}
test_expect_success 'the job has a line on how its last run went, behind what the user has written there' '
	comment --job-comment && ! grep warning err &&
	grep -xE "my own, a = b; evenstep: 2 frames in [0-9.]+ s, [0-9.]+ times as fast as equal parts, efficiency [01][.][0-9]+, slowest node n[0-3]" comment
'
test_expect_success 'or none, if nobody has asked for it; the site may' '
	comment && echo "my own, a = b" >want && test_cmp want comment &&
	echo "slurm { job_comment = true }" >site.conf && EVENSTEP_CONF=$PWD/site.conf comment && grep -q "^my own, a = b; evenstep: 2 frames" comment
'
test_expect_success 'nothing is left on the nodes, and the allocation is given back' '
	nothing_left
'
test_expect_success 'one bad unit, and a node on which the command can do nothing: all else is done' '
	test_expect_code 1 in_job -N4 evenstep run --range 0:400 --bisect --keep-going --joblog log -- \
		sh -c "test {node} != n2 || exit 4; test {begin} -gt 123 || test {end} -le 123 || exit 3; exec ./units {begin} {end}" >got 2>err &&
	grep -vx 123 once | test_cmp - got && said "evenstep: 1 unit is left out: 1 command failed: .*" &&
	said "evenstep: left out: frame 1, units 123:124, n[013]: exited with status 3" && awk -F"\t" "\$2 == \"n2\" && \$7 != 4 { exit 1 }" log
'
test_expect_success '--srun "-N2": two nodes of the four' '
	in_job -N4 evenstep run --srun "-N2" --pieces 1 --range 0:400 --report report -- ./units {begin} {end} >got &&
	test_cmp once got && jq -es ".[0].slices | map(.node) | unique | length == 2" report
'
test_expect_success '--srun "-w n1": that node' '
	in_job -N4 evenstep run --srun "-N1 -w n1" --pieces 1 --range 0:4 -- echo {node} >got && echo n1 >want && test_cmp want got
'
test_expect_success '--srun with an option that srun does not know: exit 3, srun'"'"'s own words' '
	test_expect_code 3 in_job -N1 evenstep run --srun "--no-such-option" --range 0:4 -- true 2>err &&
	said "evenstep: .*srun: unrecognized option .--no-such-option.*"
'
test_expect_success '--srun with an open quote: exit 2, says how' '
	test_expect_code 2 in_job -N1 evenstep run --srun "--comment=\"x" --range 0:4 -- true 2>err &&
	said "evenstep: --srun: .* cannot be read as words: quote it as for a shell"
'
test_expect_success 'in a batch job' '
	cat >job.sh <<-\END && on_ctl env "PATH=$PATH" sbatch -W -N4 -o got -e err job.sh && test_cmp once got
	#!/bin/sh
	exec evenstep run --range 0:400 -- ./units {begin} {end}
	END
'
test_expect_success 'two runs in one allocation at once do not meet' '
	cat >two.sh <<-\END && in_job -N4 sh two.sh && test_cmp once first && test_cmp once second
	evenstep run --range 0:400 -- ./burn {begin} {end} >first & first=$!
	evenstep run --range 0:400 -- ./units {begin} {end} >second && wait $first
	END
'
test_expect_success 'a job of another task shape: one agent a node all the same' '
	in_job -N4 -n8 --ntasks-per-node=2 -c1 env SLURM_TASKS_PER_NODE="2(x4)" SLURM_NTASKS=8 SLURM_NPROCS=8 \
		SLURM_CPUS_PER_TASK=1 SLURM_LABELIO=1 SLURM_DISTRIBUTION=cyclic \
		evenstep run --policy static --pieces 1 --range 0:400 --report report -- ./units {begin} {end} >got &&
	test_cmp once got && jq -es ".[0].slices | map(.node) | sort == [\"n0\", \"n1\", \"n2\", \"n3\"]" report
'
test_expect_success 'from within a task of the job (srun --pty, a batch script): likewise' '
	cat >step.sh <<-\END && in_job -N4 sh step.sh >got && test_cmp once got
	exec srun -N1 -n1 --overlap --mpi=none evenstep run --range 0:400 -- ./units {begin} {end}
	END
'
test_expect_success 'commands see their slice and the job, nothing of the companion step' '
	in_job -N4 evenstep run --range 0:4 --pieces 1 --policy static -- env >got &&
	grep -c "^EVENSTEP_NODE=n[0-3]$" got >n && echo 4 >want && test_cmp want n &&
	grep -c "^SLURM_JOB_ID=" got >n && test_cmp want n &&
	! grep -E "^(PMIX|PMI_|PMI2_|SLURM_PMIX|SLURM_STEP|SLURM_PROCID|EVENSTEP_(SECRET|HOME|PORTS|COMPANION))" got
'
test_expect_success 'they run where evenstep was called, with its environment' '
	mkdir -p "a folder" && (cd "a folder" && in_job -N4 env WORD="two words" evenstep run --policy static --pieces 1 --range 0:4 -- \
		sh -c "pwd; echo \$WORD; uname -n; test {node} = \$(uname -n)") >got &&
	for node in 0 1 2 3; do printf "%s\ntwo words\nn%d\n" "$PWD/a folder" $node; done >want && test_cmp want got
'
test_expect_success 'a command that fails: exit 1; its node and last words; nothing is left' '
	test_expect_code 1 in_job -N4 evenstep run --policy static --pieces 1 --range 0:400 -- \
		sh -c "test {node} != n2 || { echo \"my last words\" >&2; exit 9; }" 2>err &&
	said "n2: my last words" && said "evenstep: n2: frame 1, units 200:300: sh exited with status 9: .*" && nothing_left
'
test_expect_success 'a command that only some nodes have: exit 1, names the node' '
	on_ctl srun -N3 -w n0,n1,n2 cp units /tmp/only &&
	test_expect_code 1 in_job -N4 evenstep run --policy static --pieces 1 --range 0:400 -- /tmp/only {begin} {end} 2>err &&
	said "evenstep: n3: frame 1, units 300:400: /tmp/only could not be started: No such file or directory: .*"
'
as_nobody() { "$testbed" exec --name "$testbed_name" --user nobody -- "$@"; }
if as_nobody "$PWD/units" 0 1 >out 2>&1 && as_nobody evenstep --version >out 2>&1; then
	test_set_prereq NOBODY # else the checkout lies where nobody cannot enter
fi
test_expect_success NOBODY 'another user: every unit once' '
	as_nobody salloc -Q -N4 --chdir=/ sh -c "cd / && exec evenstep run --range 0:400 -- \"\$0\" {begin} {end}" "$PWD/units" >got 2>err
	cat err; test_cmp once got && said "evenstep: 1 frame in .*"
'
# left_behind WHAT [CONFIG]: a run that waits for all nodes, in a job whose agent on n2 starts with that in its environment, but only the first time.
left_behind() {
	rm -rf behind && cat >agent <<-END
		#!/bin/sh
		if test "\$(uname -n)" = n2 && mkdir "$PWD/behind" 2>/dev/null; then
			export $1
		fi
		exec "$EVENSTEP_BUILD/evenstep-agent"
	END
	chmod +x agent && printf '%s\n' "$2" "plugin { agent_path = '$PWD/agent' }" >behind.conf &&
	in_job -N4 env EVENSTEP_CONF="$PWD/behind.conf" evenstep run --pieces 4 --range 0:400 -- ./units "{begin}" "{end}" >got 2>err && test -d behind
}
# How it looks when Slurm's PMIx leaves one node behind: the others are ready, it never comes.
cat >behind.c <<'END'
#include <dlfcn.h>
#include <pmix.h>
#include <unistd.h>
pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo)
{
	pmix_status_t (*fence)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t) =
		(pmix_status_t (*)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t))dlsym(RTLD_NEXT, "PMIx_Fence");

	(void)fence(procs, nprocs, info, ninfo);
	for (;;)
		pause();
}
END
# shellcheck disable=SC2046 # words
test_expect_success PMIX 'a node that PMIx leaves behind: the agents are started once more, every unit once' '
	cc -D_GNU_SOURCE -shared -fPIC -o behind.so behind.c $(pkg-config --cflags pmix) &&
	left_behind "LD_PRELOAD=behind.so LD_LIBRARY_PATH=\"$PWD\"" "wireup = \"pmix\"" && test_cmp once got &&
	said "evenstep: warning: (only 3 of 4 agents came|n2: its agent has ended: .*): starting them once more" && nothing_left
'
test_expect_success 'a node whose agent does not find the front end at first: likewise' '
	left_behind EVENSTEP_FRONT_END=127.0.0.1:1 && test_cmp once got &&
	said "evenstep: warning: (only 3 of 4 agents came|n2: its agent has ended: .*): starting them once more" && nothing_left
'
test_expect_success 'a job that is over: exit 3, srun'"'"'s own words' '
	test_expect_code 3 on_ctl env SLURM_JOB_ID=999999 evenstep run --range 0:4 -- true 2>err &&
	said "evenstep: .*[Ii]nvalid job id.*"
'
test_expect_success 'Slurm that cannot be reached: exit 3, in time, says so' '
	conf=$(on_ctl printenv SLURM_CONF) && sed "s/^SlurmctldPort=.*/SlurmctldPort=1/" "$conf" >dead.conf &&
	on_ctl cmp -s "$conf" dead.conf; test $? = 1 &&
	test_expect_code 3 timeout 60 "$testbed" exec --name "$testbed_name" -- env SLURM_CONF="$PWD/dead.conf" SLURM_JOB_ID=1 \
		evenstep run --range 0:4 -- true 2>err &&
	said "evenstep: .*Unable to contact slurm controller.*"
'
test_expect_success 'down leaves nothing' '
	nothing_left && testbed_down && testbed_nothing_left $testbed_name
'

first=$testbed_name
test_expect_success 'with task/affinity the agent and its commands see every CPU of the job on the node' '
	testbed_use $first-a && testbed_up --nodes 1 --affinity &&
	cpus=$(on_ctl sinfo -h -o %c) && in_job -N1 --exclusive srun --overlap --cpu-bind=none -c "$cpus" nproc >want && cat want &&
	in_job -N1 --exclusive -n1 -c1 evenstep run --range 0:1 -- nproc >got && test_cmp want got &&
	in_job -N1 -n1 -c1 srun --overlap --cpu-bind=none nproc >want && cat want &&
	in_job -N1 -n1 -c1 evenstep run --range 0:1 -- nproc >got && test_cmp want got && testbed_down
'
test_done
