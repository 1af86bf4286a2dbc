#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='options that people bring to tasks from GNU parallel, xargs, HyperQueue, disBatch and srun'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm

PATH=$EVENSTEP_BUILD:$PATH
each() { timeout 300 evenstep run --local 1 --metrics equal --each "$@" 2>err </dev/null; }
tasks() { timeout 300 evenstep tasks --local 1 --metrics equal "$@" 2>err </dev/null; }
# A line begins so.
begins() { cat err && grep -qF -e "$1" err; }
printf 'echo 1\necho 2\n' >two

test_expect_success 'what is done anyhow is accepted, and what is ours by another name' '
	tasks --bar --eta --progress --keep-order -k --will-cite --group two >got && seq 2 | test_cmp - got &&
	tasks -P 2 two >got && seq 2 | test_cmp - got && tasks --max-procs=1 two >got && tasks --tasks-per-node 2 two >got && tasks -c 1 two >got &&
	each -n 2 -- echo ::: a b c >got && printf "a b\nc\n" | test_cmp - got && each -kN2 -- echo ::: a b c >got && printf "a b\nc\n" | test_cmp - got &&
	each --argsep ,, -- echo ,, a b >got && printf "a\nb\n" | test_cmp - got && each --dryrun -- echo ::: "a b" >got && echo "echo '"'a b'"'" | test_cmp - got &&
	printf "true\nfalse\n" >mend && test_expect_code 1 tasks mend && printf "true\necho mended\n" >mend && tasks --retry-failed mend >got && echo mended | test_cmp - got
'
while IFS='|' read -r words whose answer; do
	test_expect_success "$words: an option of $whose, and how to say it here" '
		test_expect_code 2 tasks $words two >got && test ! -s got && begins "evenstep: ${words%%[ =]*}: an option of $whose: $answer" &&
		test_expect_code 2 each $words -- echo ::: a >got && begins "evenstep: ${words%%[ =]*}: an option of $whose: $answer"
	'
done <<'END'
--pipe|GNU parallel|for stdin cut in pieces give evenstep run --lines FILE without --each
--sshlogin n1|GNU parallel|tasks run on all nodes of the job
-S n1|GNU parallel|tasks run on all nodes of the job
--memfree=1G|GNU parallel|--mem BYTES counts memory
--load 50%|GNU parallel|the job's cores are its own: -j 50%
--nice 5|GNU parallel|begin the command with nice -n N
--tagstring x|GNU parallel|--tag begins lines with the values
--line-buffer|GNU parallel|--unordered prints
-u|GNU parallel|--unordered prints
-I x|xargs|{} is filled in without it
-L 5|xargs|-N 5 gives a task 5 lines
-d :|xargs|lines end with a newline, or with -0 with a NUL
--array 0-9|HyperQueue|give evenstep run --range 0:N --each
--each-line f|HyperQueue|give evenstep run --lines FILE --each
--resource x|HyperQueue|--cpus N gives each task N cores
--max-fails 3|HyperQueue|give --keep-going=N
--time-limit 9|HyperQueue|give --timeout SECONDS
--resume-from f|disBatch|give --resume
--ssh-node n1|disBatch|tasks run on all nodes of the job
--ntasks=8|srun|-j N runs N tasks a node
--mem-per-cpu 4|srun|--mem BYTES counts memory
--partition p|srun|give it to salloc or sbatch
--multi-prog|srun|give evenstep tasks FILE
END
test_expect_success '--tag: each line begins with the values of its task, of stderr, too; files of results and numbers are as without' '
	each --tag --results dir --joblog log -- sh -c "seq 2; echo no >&2" x {} ::: a "b  c" >got && printf "a\t1\na\t2\nb  c\t1\nb  c\t2\n" | test_cmp - got &&
	begins "$(printf "b  c\tno")" && seq 2 | test_cmp - dir/1/a/stdout && echo no | test_cmp - dir/1/a/stderr && tail -n +2 log | cut -f6 | sort -u >n && echo 4 | test_cmp - n &&
	each --tag -- echo {2}{1} ::: 1 ::: a b >got && printf "1 a\ta1\n1 b\tb1\n" | test_cmp - got &&
	rm -rf .evenstep-tasks && tasks --tag two >got && printf "echo 1\t1\necho 2\t2\n" | test_cmp - got && tasks --tag --resume two >got && printf "echo 1\t1\necho 2\t2\n" | test_cmp - got
'
test_expect_success 'what the answer for --tagstring says works' '
	each --shell -- "echo {} | sed s/^/{#}:/" ::: a "b  c" >got && printf "1:a\n2:b  c\n" | test_cmp - got
'
test_expect_success 'options that make no sense for command lines, and those that --each has no use for' '
	test_expect_code 2 tasks --range 0:5 two && begins "evenstep: --range: not an option of tasks: evenstep run has it" &&
	test_expect_code 2 tasks -a two two && begins "evenstep: -a: not an option of tasks" && test_expect_code 2 tasks -n 2 two && begins "evenstep: --max-args: not an option of tasks" &&
	for words in "--queue two" "--persistent" "--record 2 --lines two" "--stdout o-{begin}" "--return o" "--bisect" "--replace [[]]"; do
		test_expect_code 2 each $words -- echo {} ::: 1 && begins "exclude each other" || return 1
	done &&
	for words in "--colsep ," "--null" "-N 2" "-X" "--shuf" "--shell" "--delay 1" "--arg-file two" "--halt never" "--unordered"; do
		test_expect_code 2 evenstep run --local 1 --lines two $words -- cat 2>err </dev/null && begins "there is no --each: give --each, too" || return 1
	done &&
	evenstep tasks --help >help && grep -e --halt help && ! grep -E "^  (-., )?--(range|queue|persistent|colsep) " help && ! grep "^work:" help &&
	evenstep completion words tasks --re >words && grep -e "^--resume-failed" words && ! grep -e "^--record" words
'

# --- how many at once -------------------------------------------------------------------------
test_expect_success '-j in percent of the cores; 0 and 100% are all of them' '
	each -j 1% -- echo "{%}" ::: a b c d e f >got && sort -u got >slots && echo 1 | test_cmp - slots &&
	each -j 0 -- echo {} ::: a >got && each -j 100% -- echo {} ::: a >got && echo a | test_cmp - got &&
	for bad in 0% 5000% x% 50%x %; do
		test_expect_code 2 each -j $bad -- echo ::: a && begins "evenstep: --slots: \"$bad\" is no number of slots: give 1 to 4096, 50%, cores, sockets or gpus" || return 1
	done
'

test_expect_success '--retries: what the last try prints is the output of a task' '
	each --retries 2 --joblog log -- sh -c "echo \$1; echo tried \$1 >&2; test -e tried.\$1 || { >tried.\$1; exit 1; }" x {} ::: a b >got && printf "a\nb\n" | test_cmp - got &&
	test "$(grep -c "^tried a" err)" = 2 && tail -n +2 log | cut -f6 | sort -u >n && echo 2 | test_cmp - n
'

# --- --halt -----------------------------------------------------------------------------------
seq 30 | sed 's/.*/test & != 7 \&\& test & != 9 \&\& echo &/' >thirty
test_expect_success '--halt now,fail=N: so many failures end the run, what is done comes out, and --resume-failed does the rest' '
	rm -rf .evenstep-tasks && test_expect_code 1 tasks -j 1 --halt now,fail=1 thirty >got && seq 6 | test_cmp - got && test "$(grep -c "^evenstep: failed:" err)" = 1 &&
	rm -rf .evenstep-tasks && test_expect_code 1 tasks -j 1 --halt now,fail=2 thirty >got && { seq 6; echo 8; } | test_cmp - got && test "$(grep -c "^evenstep: failed:" err)" = 2 &&
	sed -i "s/test [0-9]* != [79] &&//g" thirty && tasks -j 1 --resume-failed thirty >got && seq 30 | test_cmp - got
'
test_expect_success 'in percent of all tasks, at least one; never, and too few failures, end nothing' '
	seq 30 | sed "s/.*/test & != 7 \&\& test & != 9 \&\& echo &/" >thirty && rm -rf .evenstep-tasks &&
	test_expect_code 1 tasks -j 1 --halt now,fail=1% thirty >got && seq 6 | test_cmp - got && test_expect_code 1 tasks -j 1 --halt now,fail=5% thirty >got && { seq 6; echo 8; } | test_cmp - got &&
	for rule in never now,fail=3 now,fail=10%; do
		test_expect_code 1 tasks --halt $rule thirty >got && seq 30 | grep -vxE "[79]" | test_cmp - got || return 1
	done
'
test_expect_success '--halt soon: what runs may end, nothing more is begun, and --resume-failed does the rest' '
	rm -rf .evenstep-tasks && printf "sleep 0.7; echo 1\nsleep 0.2; exit 3\n" >halted && seq 3 90 | sed "s/^/sleep 0.1; echo /" >>halted &&
	test_expect_code 1 tasks -j 2 --halt soon,fail=1 halted >got && begins "evenstep: --halt: 1 task has failed: nothing more is begun" &&
	begins "1 task has failed, and --halt or --keep-going has the run end then" && test "$(head -1 got)" = 1 && test "$(wc -l <got)" -lt 5 &&
	sed -i "s/exit 3/echo 2/" halted && tasks --resume-failed halted >got && seq 90 | test_cmp - got
'
test_expect_success 'what --halt is not: refused, with what it may be' '
	for bad in soon soon,fail=0 soon,fail= soon,success=1 now,success=1 now,done=1 now,fail=0 now,fail=1.5 now,fail=101% now,fail= now,fail=-1 now 2 x; do
		test_expect_code 2 tasks --halt $bad two && begins "evenstep: --halt $bad: expected failures that end the run: give never, now,fail=1 or soon,fail=10%" || return 1
	done &&
	test_expect_code 2 tasks --halt never --keep-going two && begins "exclude each other"
'

# --- the order of what is printed ---------------------------------------------------------------
# The first one ends when the second has.
slow='n=0; while ! test -e go && test $n -lt 600; do sleep 0.05; n=$((n + 1)); done; test -e go && echo 1'
test_expect_success '--unordered: what a task prints comes when it has ended; without it in the order of the list' '
	printf "%s\n" "$slow" "echo 2; touch go" >race && rm -f go && tasks -j 2 race >got && seq 2 | test_cmp - got &&
	rm -f go && tasks -j 2 --unordered race >got && printf "2\n1\n" | test_cmp - got &&
	tasks -j 2 --unordered --resume race >got && sort got >sorted && seq 2 | test_cmp - sorted && test_expect_code 2 tasks --unordered --gather o race && begins "exclude each other"
'
test_expect_success '--header : has the names of columns, as --header 1 has' '
	printf "name,size\na,1\nb,2\n" >table && each --colsep , --header : --lines table -- echo {size}{name} >got && printf "1a\n2b\n" | test_cmp - got &&
	each --colsep , --header 1 --lines table -- echo {size}{name} >got && printf "1a\n2b\n" | test_cmp - got &&
	test_expect_code 2 each --header x --lines table -- echo && begins "evenstep: --header x: expected lines, or : for one: give a number of lines, for example 1"
'

test_expect_success 'a word in braces that looks like a field is refused, and another stays, with a warning' '
	test_expect_code 2 each -- echo {nmae} ::: a && begins "evenstep: unknown field {nmae}: a task has {}, {#} and {%}, and by --header : names of columns; {{nmae}} keeps the braces" &&
	each -- echo {foobar}-{} ::: a >got && echo {foobar}-a | test_cmp - got && begins "evenstep: warning: {foobar}-{}: the braces stay as they are: " && grep -c "braces stay" err >n && echo 1 | test_cmp - n &&
	each -- echo {{nmae}} {{foobar}} {} ::: a >got && echo "{nmae} {foobar} a" | test_cmp - got && ! grep braces err &&
	echo x y >text && each -- awk "{print}" {} ::: text >got && test_cmp text got && each --shell -- "awk '"'{print}'"' {}" ::: text >got && test_cmp text got && ! grep braces err
'

# --- started by srun ----------------------------------------------------------------------------
test_expect_success 'one of several tasks of srun: refused, and the journal of the run before is where it was' '
	rm -rf .evenstep-tasks && tasks two && cp .evenstep-tasks/two.journal kept &&
	test_expect_code 2 env SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 evenstep tasks two 2>err && begins "evenstep: started by srun as one of 4 tasks: each would do all of the work: start it without srun" &&
	test_cmp kept .evenstep-tasks/two.journal && test ! -e .evenstep-tasks/two.journal.old
'

# --- as GNU parallel does -------------------------------------------------------------------------
command -v parallel >/dev/null && test_set_prereq PARALLEL
while IFS='|' read -r words; do
	test_expect_success PARALLEL "as parallel does: $words" '
		printf "a b\nc\td\n\n e\n" >list && printf "a.b/c.d:x\ne/f.g:y\n" >pairs && printf "a b\0c\nd\0" >nul && printf "1\n2\n3\n" >three && printf "a,b\n1,2\n3,4\n" >table2 && echo CMD >one.txt &&
		eval "parallel --will-cite -k $words" >want </dev/null && eval "each $words" >got && cat err && test_cmp want got
	'
done <<'END'
echo {} ::: a 'b  c' '$x' "it's"
echo {1}-{2} ::: a b ::: 1 2
echo {2} {1} ::: a b :::+ 1 2
echo {1} {2} {3} ::: a b ::: 1 2 :::+ x y
echo {} {.} {/} {//} {/.} ::: a/b.c /d/e.f.g h
echo {1.} {2/} {1//} {2/.} ::: a/b.c ::: d/e.f
echo {#} {} ::: a b c
echo {-1} {-2} ::: a b ::: c d
-C : echo {2}-{1/.} :::: pairs
-a three echo {}
-a three -a list echo {1} {2}
echo ::: a b c
-N 2 echo {1}+{2} ::: a b c d
-N 2 echo ::: a b c
-n 2 echo {} ::: a b c
-j 1 -X echo p{}q ::: a b c
-0 -a nul echo {}
--arg-sep ,, echo {} ,, a b
--header : -C , echo {b}{a} :::: table2
--dry-run echo {} ::: a 'b c'
echo {1} {1} ::: a
echo {} :::: three
echo {1}{2} :::: three ::: x
echo {1}{2} :::: three :::+ x y z
echo {1} :::: one.txt three
echo '{}' "{}" ::: 'a b'
--retries 2 echo {} ::: a
--timeout 20 echo {} ::: a b
--delay 0.01 echo {} ::: a b
--bar echo {} ::: a 2>/dev/null
END
test_done
