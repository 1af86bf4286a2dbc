#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='--speculate: a piece that hangs is done by another node, too, and the first answer counts'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
# once BEGIN END: prints the units and writes them to out-BEGIN; the first one of all prints what is wrong and hangs.
cat >once <<END
#!/bin/sh
here='$PWD'
END
cat >>once <<'END'
if mkdir "$here/hung" 2>&-; then
	echo wrong | tee "out-$1"
	echo $$ >"$here/pid" && exec sleep 1000
fi
sleep 0.2
seq "$1" $(($2 - 1)) | tee "out-$1"
END
# second BEGIN END: the first one of all goes on when a second one with its units has failed.
cat >second <<'END'
#!/bin/sh
if mkdir hung 2>&-; then
	echo "$1" >unit.part && mv unit.part unit
	until test -e failed; do sleep 0.1; done
elif until test -e unit; do sleep 0.1; done && test "$(cat unit)" = "$1"; then
	touch failed
	exit 3
else
	sleep 0.2
fi
exec seq "$1" $(($2 - 1))
END
chmod +x once second
seq 0 19 >whole
for frame in 1 2 3; do cat whole; done >thrice
job() { rm -rf hung pid unit failed log out-*; evenstep run --local 2 --metrics equal --range 0:20 --speculate --joblog log "$@"; }
is_gone() { pid=$(cat pid) && i=0 && while kill -0 "$pid" 2>&-; do i=$((i + 1)) && test $i -lt 300 && sleep 0.1 || return 1; done; }

test_expect_success 'a command that hangs once: a node that is idle does its units, and what hangs is ended' '
	job --report report -- "$PWD/once" {begin} {end} >out 2>err && test_cmp whole out && is_gone &&
	awk -F"\t" "NR > 1 && \$7 == -1 && \$8 == 15 { n++ } END { exit n < 1 }" log &&
	jq -es "[.[].slices[]? | select(.beaten)] | length >= 1 and all(.twice and .status == -1 and .back > .sent)" report &&
	jq -es "([.[].slices[]? | select(.twice and (.beaten | not))] | length >= 1 and all(.status == 0))" report &&
	evenstep report --json report >got && jq -e ".nodes | all(.failed == 0)" got'

test_expect_success 'as slices, as bundles, in slots, and of frames ahead' '
	for how in "--pieces 1" "--pieces 4" "--policy guided" "--slots 2"; do
		job $how -- "$PWD/once" {begin} {end} >out && test_cmp whole out && is_gone || return 1
	done &&
	job --ahead 2 --repeat 3 -- "$PWD/once" {begin} {end} >out && test_cmp thrice out && is_gone'

test_expect_success 'files that come back, and those of output, are of the one that counts; so is the journal' '
	job --workdir tmp --return "out-{begin}" --stdout "std-{begin}" --journal journal -- "$PWD/once" {begin} {end} && is_gone &&
	cat $(ls out-* | sort -t- -k2n) >got && test_cmp whole got &&
	cat $(ls std-* | sort -t- -k2n) >got && test_cmp whole got &&
	evenstep run --local 2 --metrics equal --range 0:20 --speculate --workdir tmp --return "out-{begin}" --stdout "std-{begin}" \
		--journal journal --resume -- "$PWD/once" {begin} {end} && cat $(ls std-* | sort -t- -k2n) >got && test_cmp whole got'

test_expect_success 'one of the two fails: that does not count, and it is said' '
	job --pieces 1 -- ./second {begin} {end} >out 2>err && test_cmp whole out &&
	said "evenstep: local[01]: frame 1, units [0-9]+:[0-9]+: ./second exited with status 3: another node is at it, too"'

test_expect_success 'without a folder of its own for each, and for programs that stay alive, it is refused' '
	fails 2 ".*--speculate: two commands with the same units write the same out-{begin}, unless each has a folder.*: give --workdir tmp" \
		evenstep run --local 2 --range 0:5 --speculate --return "out-{begin}" -- true &&
	fails 2 ".*--speculate and --persistent exclude each other.*" evenstep run --local 2 --range 0:5 --speculate --persistent -- true'

test_done
