#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='files instead of a stream: an output for each piece'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
TMPDIR=$PWD/tmp
export TMPDIR
mkdir tmp
unset EVENSTEP_CONF SLURM_JOB_ID
cat >units <<'END'
#!/bin/sh
exec seq "$1" $(($2 - 1))
END
chmod +x units
run() { evenstep run --local 3 --metrics equal --range 0:90 "$@"; }
run=''
trap 'code=$?; test -z "$run" || kill -KILL $run 2>&-; (exit $code); die' EXIT
trap 'exit 143' TERM
seq 0 89 >all
# together FOLDER: the files there are whole, and all of the work.
together() { sort -n "$1"/* | test_cmp all - && test -z "$(find "$1" -name ".*")"; }

# --- --stdout ------------------------------------------------------------------
test_expect_success '--stdout: a file for each piece, named by its units; nothing on stdout' '
	run --stdout new/er/out-{begin}-{end} -- ./units {begin} {end} >got && test ! -s got && together new/er &&
	for file in new/er/*; do name=${file##*/out-} && test "$(head -n 1 $file)" = "${name%-*}" || return 1; done
'
test_expect_success 'the same again takes their place, and says that they were there' '
	run --stdout new/er/out-{begin}-{end} -- ./units {begin} {end} 2>err && said "evenstep: --stdout: there are such files already: .*"
'
test_expect_success 'what fails leaves no file, and is whole when it is done again' '
	run --stdout again/{begin} --retries 2 -- sh -c "./units {begin} {end}; ! mkdir tried 2>&-" >got 2>err && together again && grep "tried again" err
'
test_expect_success 'several frames' '
	run --stdout frames/{frame}-{begin} --repeat 2 -- ./units {begin} {end} && cat frames/0-* | sort -n | test_cmp all - && cat frames/1-* | sort -n | test_cmp all - &&
	printf "0:90 a\n0:90 b/c\n" >queue && evenstep run --local 3 --metrics equal --queue queue --stdout queued/{label}/{begin} -- ./units {begin} {end} &&
	together queued/a && together queued/b/c
'
test_expect_success '--journal: after a kill --resume does the rest, and writes again what is missing' '
	rm -f go && cat >gated <<-\END &&
	#!/bin/sh
	test $1 -lt 30 || until test -e go; do sleep 0.05; done
	exec ./units $1 $2
	END
	chmod +x gated && behind evenstep run --local 3 --metrics equal --range 0:90 --journal journal --pieces 4 --stdout kept/{begin} -- ./gated {begin} {end} &&
	wait_for 60 test -s kept/0 && kill -KILL $run && test_expect_code 137 wait $run && run= && rm kept/0 && : >go &&
	run --journal journal --pieces 4 --resume --stdout kept/{begin} -- ./gated {begin} {end} && together kept
'
test_expect_success 'a folder that cannot be written: exit 1, says which' '
	: >file && test_expect_code 1 run --stdout file/{begin} -- ./units {begin} {end} 2>err && said "evenstep: --stdout: file/[0-9]*: Not a directory: free some space or name another file"
'
printf '0:9 ../x\n' >leaves
while IFS='|' read -r options message; do
	test_expect_success "$options: exit 2, says why" '
		test_expect_code 2 evenstep run --local 2 $options -- true >got 2>err && test ! -s got && said "evenstep: $message"
	'
done <<'END'
--range 0:9 --stdout o/out|--stdout: o/out would be one file for all pieces: put {begin} into it
--range 0:9 --stdout o/{begin}/|--stdout: "o/{begin}/" names no file: name a file, as out-{begin}
--range 0:9 --repeat 2 --stdout o/{begin}|--stdout: o/{begin} would be one file for all frames: put {frame} into it
--queue queue --stdout o/{begin}|--stdout: o/{begin} would be one file for all frames: put {frame} or {label} into it
--queue leaves --stdout o/{label}-{begin}|--stdout: the label "../x" leads out of the folder: give labels without ..
--range 0:9 --stdout {begin} --gather x|--stdout and --gather exclude each other: give one of them
END
test_done
