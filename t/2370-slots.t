#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='several commands at once on a node: slots, their cores, their GPUs'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
TMPDIR=$PWD
export TMPDIR
unset EVENSTEP_CONF SLURM_JOB_ID CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES SLURM_STEP_GPUS
# together N BEGIN END: waits until N commands have begun, so fewer at once hang.
cat >together <<'END'
#!/bin/sh
echo $$ >"begun/$EVENSTEP_NODE.$EVENSTEP_SLOT.$2"
n=0
until test "$(ls begun | wc -l)" -ge "$1"; do
	n=$((n + 1))
	test $n -lt 1200 || exit 9
	sleep 0.05
done
exec seq "$2" $(($3 - 1))
END
# where: the slot, the CPUs that it may use, and the GPU that it sees.
cat >where <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE $EVENSTEP_SLOT $(sed -n "s/Cpus_allowed_list:[^0-9]*//p" /proc/self/status) $CUDA_VISIBLE_DEVICES"
END
chmod +x together where
test "$(nproc)" -ge 2 && test_set_prereq CPUS
# Two CPUs that we may use, as taskset takes them.
two=$(sed -n "s/Cpus_allowed_list:[^0-9]*//p" /proc/self/status | tr , "\n" |
	awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) if (n++ < 2) printf "%s%d", (n > 1 ? "," : ""), i }')

# --- commands at once ------------------------------------------------------------
test_expect_success '--slots 4: two nodes run eight commands at once, and the output is in order' '
	mkdir -p begun && seq 0 79 >want &&
	evenstep run --local 2 --slots 4 --metrics equal --policy static --pieces 1 --range 0:80 -- ./together 8 {begin} {end} >got &&
	test_cmp want got && ls begun | cut -d. -f1,2 | sort >slots && cat slots &&
	printf "local%s\n" 0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3 >all && test_cmp all slots
'
test_expect_success 'bundles, too, one ahead in each slot' '
	rm -rf begun && mkdir begun && seq 0 59 >want &&
	evenstep run --local 2 --slots 3 --policy manual:size=5 --range 0:60 -- ./together 6 {begin} {end} >got && test_cmp want got
'
test_expect_success '{slot} says what EVENSTEP_SLOT does' '
	evenstep run --local 1 --slots 3 --policy manual:size=1 --range 0:6 -- sh -c "echo {slot} \$EVENSTEP_SLOT" >got && cat got &&
	awk "\$1 != \$2 || \$1 > 2 { exit 1 } END { exit NR != 6 }" got
'
test_expect_success 'without --slots a node has one: 0' '
	evenstep run --local 2 --range 0:4 -- sh -c "echo {slot}" >got && sort -u got >one && echo 0 >want && test_cmp want one
'
for policy in even canon static guided manual nodethreads autotuned proportional rl rl2; do
	test_expect_success "$policy works with slots: every unit once, frame by frame" '
		seq 0 49 >want && cat want want want >all &&
		evenstep run --local 3 --slots 2 --range 0:50 --repeat 3 --policy '$policy' -- sh -c "seq {begin} \$(({end} - 1))" >got && test_cmp all got
	'
done
test_expect_success 'lines come to the slot that is to have them' '
	seq 1000 1199 >file && evenstep run --local 2 --slots 4 --lines file --policy manual:size=3 -- cat >got && test_cmp file got
'
test_expect_success 'frames ahead, and files, with slots' '
	seq 0 39 >want && cat want want want want >all &&
	evenstep run --local 2 --slots 3 --range 0:40 --repeat 4 --ahead 2 -- sh -c "seq {begin} \$(({end} - 1))" >got && test_cmp all got &&
	mkdir -p out && evenstep run --local 2 --slots 3 --range 0:9 --grain 1 --policy manual:size=1 --stdout "out/o-{begin}" -- echo {begin} &&
	cat out/o-0 out/o-1 out/o-2 out/o-3 out/o-4 out/o-5 out/o-6 out/o-7 out/o-8 >got && seq 0 8 >want && test_cmp want got
'
test_expect_success 'a node whose agent is killed loses all its slots, and the output is whole' '
	rm -rf begun go && mkdir begun && seq 0 59 >want &&
	cat >hold <<-\END &&
	#!/bin/sh
	echo $PPID >"begun/$EVENSTEP_NODE.$EVENSTEP_SLOT"
	until test -e go; do sleep 0.05; done
	exec seq "$1" $(($2 - 1))
	END
	chmod +x hold && evenstep run --local 2 --slots 3 --policy static --metrics equal --range 0:60 -- ./hold {begin} {end} >got 2>err & run=$! &&
	wait_for 60 sh -c "test \$(ls begun | wc -l) = 6" && kill -KILL $(cat begun/local1.0) && wait_for 60 grep -q "local1 is lost" err &&
	: >go && wait $run && test_cmp want got
'
test_expect_success 'a node that cannot run them fails in no two of its slots: --retries 1' '
	seq 0 59 >want && evenstep run --local 2 --slots 4 --policy static --metrics equal --retries 1 --range 0:60 -- \
		sh -c "test {node} = local0 || exit 1; seq {begin} \$(({end} - 1))" >got 2>err && test_cmp want got && grep "local1: .* it is tried again" err
'
test_expect_success 'a command that hangs, --timeout: it alone is ended, and its node goes on' '
	rm -rf begun && mkdir begun && seq 0 11 >want && cat >once <<-\END &&
	#!/bin/sh
	test "$1" != 5 || mkdir begun/5 2>&- || exec seq "$1" $(($2 - 1))
	test "$1" != 5 || exec sleep 600
	exec seq "$1" $(($2 - 1))
	END
	chmod +x once && evenstep run --local 2 --slots 2 --policy manual:size=1 --range 0:12 --timeout 1 --retries 3 -- ./once {begin} {end} >got 2>err &&
	cat err && test_cmp want got && grep "still run after 1 s" err && ! grep "is lost" err && rmdir begun/5 &&
	test_expect_code 1 evenstep run --local 1 --slots 2 --policy manual:size=1 --range 0:12 --timeout 5 --keep-going=5 -- sh -c "test {begin} != 11 || exec sleep 600; echo {begin}" >got 2>err &&
	cat err && seq 0 10 >want && test_cmp want got && ! grep "is lost" err
'

# --- CPUs and GPUs ---------------------------------------------------------------
test_expect_success CPUS 'each of two slots has a CPU of its own, of those that the step may use' '
	taskset -c $two evenstep run --local 1 --slots 2 --policy manual:size=1 --range 0:20 -- ./where >got && sort -u got >slots && cat slots &&
	echo "$two" | tr , "\n" | awk "{ print \"local0\", NR - 1, \$1 \" \" }" >want && test_cmp want slots
'
test_expect_success CPUS 'with one CPU there is one core to have a slot; more slots share it' '
	one=${two%,*} && taskset -c $one evenstep run --local 1 --slots cores --range 0:4 -- ./where >got && sort -u got >slots &&
	echo "local0 0 $one " >want && test_cmp want slots &&
	taskset -c $one evenstep run --local 1 --slots 3 --policy manual:size=1 --range 0:20 -- ./where >got &&
	cut -d" " -f3 got | sort -u >cpus && echo $one >want && test_cmp want cpus
'
test_expect_success 'more slots than CPUs are not bound' '
	evenstep run --local 1 --slots 4096 --range 0:4 -- ./where >got && cut -d" " -f3 got | sort -u >slots &&
	sed -n "s/Cpus_allowed_list:[^0-9]*//p" /proc/self/status >want && test_cmp want slots
'
test_expect_success '--slots gpus: each sees one of those that we may see' '
	CUDA_VISIBLE_DEVICES=2,GPU-5 evenstep run --local 1 --slots gpus --policy manual:size=1 --range 0:20 -- ./where >got && cut -d" " -f2,4 got | sort -u >slots &&
	printf "%s\n" "0 2" "1 GPU-5" >want && test_cmp want slots
'
test_expect_success 'a node without a GPU gets nothing, and a run without any is refused' '
	test_expect_code 3 env CUDA_VISIBLE_DEVICES= evenstep run --local 2 --slots gpus --range 0:4 -- ./where >got 2>err && cat err && test ! -s got &&
	grep -x "evenstep: local0: it has no GPU for us, and gets nothing" err && grep "no node has any slot" err
'

# --- overlap ---------------------------------------------------------------------
# alone BEGIN END: is killed if another runs on the same node, as if by want of memory.
cat >alone <<'END'
#!/bin/sh
lock=lock.$EVENSTEP_NODE
mkdir $lock 2>&- || { echo x >>beside; kill -KILL $$; }
sleep 0.3
n=0; while test $n -lt "$(($2 - $1))"; do n=$((n + 1)); sleep 0.02; done
rmdir $lock
exec seq "$1" $(($2 - 1))
END
chmod +x alone
test_expect_success '--overlap: units come out once and in order, frames ahead too' '
	seq 0 19 >want && cat want want want want want want >all &&
	evenstep run --local 2 --metrics equal --overlap --ahead 2 --range 0:20 --repeat 6 -- \
		sh -c "sleep 0.2; n={begin}; while test \$n -lt {end}; do n=\$((n + 1)); sleep 0.01; done; seq {begin} \$(({end} - 1))" >got && test_cmp all got
'
test_expect_success 'without memory for two a node goes back to one at a time, and nothing counts as failed' '
	evenstep run --local 2 --metrics equal --overlap --ahead 3 --range 0:20 --repeat 6 -- ./alone {begin} {end} >got 2>err; code=$?; cat err &&
	test $code = 0 && test_cmp all got && if test -e beside; then grep -E "^evenstep: local[01]: a command has ended as if there was no memory for two: " err; fi
'
test_expect_success 'a command that is killed without one beside it is a failure' '
	test_expect_code 1 evenstep run --local 1 --overlap --range 0:4 --policy static --pieces 1 -- sh -c "kill -KILL \$\$" 2>err && cat err && grep "was killed by signal 9" err
'
test_expect_success 'a file that was not returned, or an exit of 126, is no lack of memory' '
	beside() { evenstep run --local 1 --metrics equal --overlap --ahead 3 --range 0:20 --repeat 6 --keep-going "$@"; } &&
	test_expect_code 1 beside -- sh -c "sleep 0.3; test {frame} -lt 4 || exit 126" 2>err && grep "exited with status 126" err && ! grep "no memory for two" err &&
	test_expect_code 1 beside --return "made-{frame}-{begin}" -- sh -c "sleep 0.3; test {frame} -ge 4 || : {end} >made-{frame}-{begin}" 2>err &&
	grep "did not return made-4" err && ! grep "no memory for two" err
'
test_expect_success '--overlap is not for a program that stays alive' '
	test_expect_code 2 evenstep run --local 1 --overlap --persistent --range 0:4 -- true 2>err && cat err && grep -e "--overlap" err
'

# --- what is told ----------------------------------------------------------------
test_expect_success 'the report names the slot, and who reads it takes each for a node' '
	evenstep run --local 2 --slots 2 --policy static --pieces 1 --range 0:4 --report report -- true {begin} {end} && cat report &&
	jq -es "[.[0].slices[] | \"\(.node):\(.slot)\"] == [\"local0:0\", \"local0:1\", \"local1:0\", \"local1:1\"]" report &&
	evenstep report report >text && cat text && grep "^local1:1 " text
'
test_expect_success 'a report of one slot a node names none' '
	evenstep run --local 2 --range 0:4 --report report -- true {begin} {end} && jq -es "[.[0].slices[] | has(\"slot\")] | any | not" report
'
test_expect_success 'bad slots are refused with what is allowed' '
	for bad in -1 4097 1.5 "" core gpu 2x 99999999999999999999; do
		test_expect_code 2 evenstep run --local 1 --slots "$bad" --range 0:4 -- true 2>err && cat err &&
		grep -F "give 1 to 4096, 50%, cores, sockets or gpus" err || return 1
	done
'
test_expect_success 'with --persistent there is one slot' '
	test_expect_code 2 evenstep run --local 1 --slots 2 --persistent --range 0:4 -- true 2>err && cat err && grep -e "--slots: .*--persistent has one slot" err
'
test_done
