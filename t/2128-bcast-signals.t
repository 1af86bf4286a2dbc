#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast is ended by a signal while its host reads a source that takes minutes'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
ends_with_test
here=$PWD

# --- helpers -------------------------------------------------------------------
# What is called slow takes longer than a minute, as a disk would that a signal does
# not disturb, and is to end in less than half of one.
# on_disk KIND=MS COMMAND...: behind, until it waits for the disk for the first time.
on_disk() {
	kind=$1
	shift
	rm -f log && behind env --default-signal=INT,TERM LD_PRELOAD="$EVENSTEP_BUILD/t/programs/disk.so" DISK_LOG="$here/log" "$kind" "$@" &&
		wait_for 60 grep -qs "^slow" log && agents=$(pgrep -P "$run" -x evenstep-agent) && sleep 1
}
# ended_by SIGNAL STATUS: it ends so, soon, and leaves nobody.
ended_by() { since=$(date +%s) && kill -s "$1" "$run" && ended "$2"; }
# shellcheck disable=SC2086 # a list of numbers
ended() {
	test_expect_code "$1" wait "$run" && test $(($(date +%s) - since)) -lt 30 && wait_for 60 dead $agents && run=''
}
# as_before: DST has what it had, and nothing lies beside it.
as_before() {
	wait_for 60 alone && diff -r old dst/local0/x
}
alone() { test "$(ls -A dst/local0)" = x; }
again() { dead "$run" || { kill -INT "$run" 2>&- && sleep 1 && dead "$run"; }; }
nothing_there() { wait_for 60 empty; }
empty() { test -z "$(ls -A dst/local0)"; }
fresh() { rm -rf dst && mkdir -p dst/local0; }
dst="$here/dst/{node}/x"

mkdir slow old && for i in $(seq 400); do head -c 1000 /dev/urandom >slow/"$i" || exit 1; done
mkdir slow_few && for i in $(seq 100); do echo "$i" >slow_few/"$i" || exit 1; done
echo old >old/file
head -c 100M /dev/zero | tr '\0' x >slow_large

# --- where it is ---------------------------------------------------------------
for signal in INT:130:Interrupt TERM:143:Terminated; do
	name=${signal%%:*} status=${signal#*:} said=${signal##*:}
	status=${status%:*}
	test_expect_success "SIG$name while it looks at the files" '
		fresh && on_disk DISK_LOOK=900 evenstep bcast --local 1 -r slow_few "$dst" && ended_by $name $status &&
		said "evenstep: $said: nothing is left half-written" && lines err 1 && nothing_there
	'
	test_expect_success "SIG$name while it finds their digests: what is there stays" '
		fresh && cp -r old dst/local0/x && on_disk DISK_SLOW=900 evenstep bcast --local 1 -r --update slow "$dst" && ended_by $name $status &&
		said "evenstep: $said: nothing is left half-written" && lines err 1 && as_before
	'
	test_expect_success "SIG$name while it reads files that are in one chunk" '
		fresh && cp -r old dst/local0/x && on_disk DISK_SLOW=900 evenstep bcast --local 1 -rf -s 1M slow "$dst" && ended_by $name $status &&
		said "evenstep: $said: nothing is left half-written" && lines err 1 && as_before
	'
done
test_expect_success 'while it reads files that are so small that they go with the order' '
	fresh && on_disk DISK_SLOW=900 evenstep bcast --local 1 -r slow_few "$dst" && ended_by INT 130 &&
	said "evenstep: Interrupt: nothing is left half-written" && lines err 1 && nothing_there
'
test_expect_success 'while it finds the digests of one large file' '
	fresh && on_disk DISK_READ=300 evenstep bcast --local 1 --update slow_large "$dst" && ended_by INT 130 &&
	said "evenstep: Interrupt: nothing is left half-written" && lines err 1 && nothing_there
'
test_expect_success 'while it reads one large file' '
	fresh && on_disk DISK_READ=900 evenstep bcast --local 1 -s 1M slow_large "$dst" && ended_by INT 130 &&
	said "evenstep: Interrupt: nothing is left half-written" && lines err 1 && nothing_there
'

# --- run -----------------------------------------------------------------------
for slow in DISK_LOOK=900 DISK_SLOW=900; do
	test_expect_success "the same of run --bcast, $slow" '
		fresh && on_disk $slow evenstep run --local 1 --range 0:2 --bcast "slow_few:$dst" --reads-env -- touch "$here/ran.{begin}" && ended_by INT 130 &&
		said "evenstep: Interrupt: nothing is left running" && lines err 1 && nothing_there && ! ls | grep "^ran"
	'
	test_expect_success "SIGTERM ends a run there as one that has not begun, $slow" '
		fresh && on_disk $slow evenstep run --local 1 --range 0:2 --bcast "slow_few:$dst" --reads-env -- touch "$here/ran.{begin}" &&
		ended_by TERM 4 && mentioned "stopped by SIGTERM" && nothing_there && ! ls | grep "^ran"
	'
done

# --- a second one --------------------------------------------------------------
test_expect_success 'a disk that answers no more: the second signal ends it at once, and the agents leave nothing' '
	fresh && cp -r old dst/local0/x && on_disk DISK_SLOW=500000 evenstep bcast --local 1 -rf -s 1M slow "$dst" &&
	kill -INT $run && sleep 1.5 && ! dead $run && wait_for 60 again && since=$(date +%s) && ended 130 &&
	said "evenstep: a second signal: .*" && lines err 1 && as_before
'
test_expect_success 'two at once are one' '
	fresh && on_disk DISK_SLOW=900 evenstep bcast --local 1 -r -s 1M slow "$dst" && since=$(date +%s) && kill -INT $run $run && ended 130 &&
	said "evenstep: Interrupt: nothing is left half-written" && lines err 1 && nothing_there
'

test_done
