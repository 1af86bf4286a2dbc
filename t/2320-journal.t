#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a journal: whatever kills the front end, --resume brings the very output of an undisturbed run'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
# gated BEGIN END: the units from 100 on wait for a file; what was begun is told.
cat >gated <<'END'
#!/bin/sh
echo "$EVENSTEP_FRAME $1 $2" >>started
test "$1" -lt 100 || until test -e go; do sleep 0.05; done
exec seq "$1" $(($2 - 1))
END
# noise BEGIN END: 64 KiB a unit of bytes that look like nothing else.
cat >noise <<'END'
#!/usr/bin/perl
for my $unit ($ARGV[0] .. $ARGV[1] - 1) {
	print pack 'L*', map { ($unit * 16384 + $_) * 2654435761 & 0xffffffff } 0 .. 16383;
}
END
chmod +x gated noise
ends_with_test
# kept FILE N: the journal has slices of so many units.
kept() {
	test -s "$1" && test "$(sed -n '/"type":"slice"/s/.*"begin":\([0-9]*\),"end":\([0-9]*\).*/\1 \2/p' "$1" | awk '{ n += $2 - $1 } END { print n + 0 }')" = "$2"
}
job() { evenstep run --local 2 --metrics equal --policy static --pieces 4 --range 0:200 --repeat 2 "$@" -- ./gated "{begin}" "{end}"; }
seq 0 199 >once && cat once once >want

test_expect_success 'a run with a journal does what one without does; each line is JSON and has a sum' '
	: >go && job --journal journal >got && test_cmp want got && kept journal 400 &&
	jq -es "length > 4 and all(.sum | test(\"^[0-9a-f]{16}$\")) and .[0].type == \"journal\"
		and (map(select(.type == \"slice\") | .status) | all(. == 0))" journal
'
test_expect_success 'a whole journal is resumed: all output comes again, and no command runs' '
	rm -f started && job --journal journal --resume >got && test_cmp want got && test ! -e started
'
# The first half of frame 0 is done by local0, and then by local1 what it has not begun but for the gate.
test_expect_success 'kill -9 of the front end in the middle of a frame' '
	behind evenstep run --local 2 --metrics equal --policy static --pieces 4 --range 0:200 --repeat 2 --journal cut --gather file -- ./gated {begin} {end} &&
	wait_for 60 kept cut 100 && kill -KILL $run && test_expect_code 137 wait $run && run= && test ! -e file && cp cut torn && cp cut changed
'
test_expect_success '--resume: no unit is done again that was done; the output is that of an undisturbed run' '
	rm -f started && : >go && job --journal cut --resume --gather file 2>err && test_cmp want file &&
	awk "\$1 == 0 && \$2 < 100 { exit 1 }" started && kept cut 400
'
test_expect_success 'a torn end (power cut): it is told, cut off, and its units are done again' '
	truncate -s -10 torn && job --journal torn --resume --gather file 2>err && test_cmp want file &&
	said "evenstep: torn: its last [0-9]+ bytes are incomplete and not used" && kept torn 400
'
test_expect_success 'any length that a power cut may leave of the journal is good for a resume' '
	size=$(wc -c <changed) && for cut in 1 2 28 100 200 $((size / 2)); do
		cp changed short && truncate -s -$cut short && job --journal short --resume --gather file 2>err && test_cmp want file || return 1
	done
'
test_expect_success 'a byte that was changed: what stands behind it does not count' '
	printf x | dd of=changed bs=1 seek=$(($(wc -c <changed) / 2)) conv=notrunc status=none && job --journal changed --resume --gather file 2>err &&
	test_cmp want file && said "evenstep: changed: its last [0-9]+ bytes are incomplete and not used"
'
test_expect_success 'an empty one, and one that is not there, are begun' '
	: >empty && rm -f none && job --journal empty --resume >got && test_cmp want got && kept empty 400 &&
	job --journal none --resume >got && test_cmp want got && kept none 400
'
test_expect_success 'a node lost while it is kept: nothing twice' '
	behind evenstep run --local 2 --metrics equal --policy static --pieces 4 --range 0:200 --repeat 2 --journal lost -- ./gated {begin} {end} &&
	wait_for 60 kept lost 100 && kill -KILL $(pgrep -P $run -x evenstep-agent | head -n 1) && wait_for 60 grep -q "is lost" err && : >go &&
	wait $run && run= && test_cmp want out && job --journal lost --resume >got && test_cmp want got
'
test_expect_success '6 MiB of binary output go through the journal, with another number of nodes, and grain kept' '
	./noise 0 96 >bytes && evenstep run --local 2 --range 0:96 --grain 40 --journal big --gather file -- ./noise {begin} {end} && cmp bytes file &&
	truncate -s -3000000 big && evenstep run --local 3 --range 0:96 --grain 40 --journal big --resume --gather file -- ./noise {begin} {end} && cmp bytes file
'
test_expect_success 'a command that fails: what was done is kept' '
	test_expect_code 1 evenstep run --local 2 --policy static --pieces 4 --range 0:40 --journal failed -- sh -c "test {begin} -lt 20 || exec test -e mended; seq {begin} \$(({end} - 1))" >got 2>err &&
	: >mended && evenstep run --local 2 --policy static --pieces 4 --range 0:40 --journal failed --resume -- sh -c "test {begin} -lt 20 || exec test -e mended; seq {begin} \$(({end} - 1))" >got &&
	seq 0 19 >twenty && head -n 20 got | test_cmp twenty -
'

printf '%s' '{"type":"journal","version":3,"work":"range 0:200 repeat 2 grain 1","command":["true"],"sum":"1f2532b4c2a4f1f9"}' >later && echo >>later
# --- what is refused -----------------------------------------------------------
while IFS='|' read -r options message; do
	test_expect_success "$options: exit 2, says why" '
		cp journal before && eval "set -- $options" && test_expect_code 2 evenstep run --local 2 "$@" >got 2>err && test ! -s got &&
		said "$message" && test_cmp before journal
	'
done <<'END'
--range 0:200 --repeat 2 --journal journal -- ./gated {begin} {end}|evenstep: --journal: journal: is there already: give --resume to go on with it, or name another file
--range 0:201 --repeat 2 --journal journal --resume -- ./gated {begin} {end}|evenstep: --journal: journal: is of another work: range 0:200 repeat 2 grain 1: give what it was begun with, or another file
--range 0:200 --repeat 3 --journal journal --resume -- ./gated {begin} {end}|evenstep: --journal: journal: is of another work: range 0:200 repeat 2 grain 1: .*
--range 0:200 --repeat 2 --grain 2 --journal journal --resume -- ./gated {begin} {end}|evenstep: --journal: journal: is of another work: .*
--range 0:200 --repeat 2 --journal journal --resume -- ./gated {begin} {count}|evenstep: --journal: journal: is of another command: \["./gated","\{begin\}","\{end\}"\]: .*
--range 0:200 --journal gated --resume -- true|evenstep: --journal: gated: is no journal of evenstep: name another file
--range 0:200 --repeat 2 --journal later --resume -- true|evenstep: --journal: later: is of version 3, of a later evenstep; this one reads up to 2: resume with that evenstep, or give another file
--range 0:200 --journal /dev/full -- true|evenstep: --journal: /dev/full: is no regular file: name a file that you may write
--range 0:200 --journal . -- true|evenstep: --journal: \.: Is a directory: name a file that you may write
--range 0:200 --journal nowhere/journal -- true|evenstep: --journal: nowhere/journal: No such file or directory: name a file that you may write
--range 0:200 --report nowhere/report -- true|evenstep: --report: nowhere/report: No such file or directory: name a file that you may write
--range 0:200 --resume -- true|evenstep: --resume: there is no journal: give --journal FILE of the run before
END
test_expect_success 'a journal that another run is at: exit 2, and that one is not disturbed' '
	behind evenstep run --local 2 --metrics equal --policy static --pieces 4 --range 0:200 --repeat 2 --journal busy -- ./gated {begin} {end} &&
	wait_for 60 kept busy 100 && mv err other && test_expect_code 2 job --journal busy --resume 2>err &&
	said "evenstep: --journal: busy: another run is using it: wait for it, or name another file" && : >go && wait $run && run= && test_cmp want out
'
if test "$(id -u)" = 0 && mkdir -p small && unshare -m mount -t tmpfs -o size=64k none small 2>/dev/null; then
	test_set_prereq MOUNT
fi
test_expect_success MOUNT 'a full disk: exit 1 with the reason; with some space --resume goes on' '
	cat >full.sh <<-\END && unshare -m sh full.sh && cmp bytes file
	mount -t tmpfs -o size=64k none small || exit 1
	evenstep run --local 2 --range 0:96 --journal small/journal --gather file -- ./noise {begin} {end} 2>err
	test $? = 1 && { test ! -e file || cmp -n "$(stat -c %s file)" bytes file; } && mount -o remount,size=100m small &&
		evenstep run --local 2 --range 0:96 --journal small/journal --resume --gather file -- ./noise {begin} {end}
	END
	said "evenstep: --journal: small/journal: No space left on device: free some space, then --resume goes on"
'
test_expect_success 'a file that may not grow, the journal or what is kept for it: exit 1 with the reason, and --resume goes on' '
	(ulimit -f 64 && test_expect_code 1 evenstep run --local 2 --policy static --pieces 1 --range 0:96 --journal small.journal -- ./noise {begin} {end} >out) 2>err &&
	said "evenstep: cannot keep the output of a slice: File too large: raise ulimit -f" &&
	(ulimit -f 64 && test_expect_code 1 evenstep run --local 2 --policy manual:size=1 --range 10:106 --journal little -- seq {begin}000 {begin}180 >out) 2>err &&
	said "evenstep: --journal: little: File too large: raise ulimit -f, then --resume goes on" &&
	evenstep run --local 2 --range 0:96 --journal small.journal --resume --gather file -- ./noise {begin} {end} && cmp bytes file &&
	evenstep run --local 2 --policy manual:size=1 --range 10:106 --journal little --resume -- seq {begin}000 {begin}180 >out && test "$(sort -n out | uniq | wc -l)" = $((96 * 181))
'
test_done
