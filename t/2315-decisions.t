#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the simulator decides as a run does, piece by piece, when it is told what happened when'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$EVENSTEP_BUILD/t/programs:$PATH
unset EVENSTEP_CONF SLURM_JOB_ID
processors=$(nproc)
# slow BEGIN END: takes $MS milliseconds for each unit, on local3 four times that.
cat >slow <<'END'
#!/bin/sh
ms=$((($2 - $1) * ${MS:-2}))
test "$EVENSTEP_NODE" != local3 || ms=$((ms * 4))
exec sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
END
chmod +x slow
# recorded POLICY UNITS GRAIN PIECES: a run of three frames, compared.
recorded() {
	rm -rf report state && mkdir state && XDG_STATE_HOME=$PWD/state evenstep run --local 4 --metrics equal --range "0:$2" --grain "$3" --pieces "$4" --repeat 3 --policy "$1" --threshold 5% --report report -- \
		./slow "{begin}" "{end}" 2>err && compared report "$@"
}
compared() { # REPORT POLICY UNITS GRAIN PIECES
	decisions "$1" 4 "$3" "$4" "$5" "$2" 5 "$processors" >out
	compared_code=$?
	cat out
	return $compared_code
}

while read -r policy units grain pieces; do
	test_expect_success "$policy: $units units, grain $grain, $pieces pieces: every decision is the same" '
		recorded $policy $units $grain $pieces && grep -qE "^3 frames, [0-9]+ pieces: each the same" out
	'
done <<\END
even 120 1 auto
even 500 3 auto
static 120 1 auto
canon 60 7 auto
even 120 1 16
canon 120 1 4
static 120 3 8
static 37 1 1
manual:size=7 120 1 1
nodethreads 100 2 1
autotuned 120 1 1
proportional 120 1 1
guided 120 1 1
rl 60 1 1
rl2 120 1 1
END
test_expect_success 'a run in which nodes take over from a slow one' '
	MS=20 recorded static 120 1 16 && cp report good && jq -es "map(select(.type == \"frame\"))[0].slices
		| length > 10 and (map(select(.node == \"local3\") | .end - .begin) | add < 30)" good
'
test_expect_success 'one of pieces by cost, whose starts are long: slices go in one after the first frame' '
	rm -rf report state && mkdir state && XDG_STATE_HOME=$PWD/state evenstep run --local 4 --metrics equal --range 0:120 --repeat 3 --report report -- \
		sh -c "sleep 0.5; exec ./slow {begin} {end}" 2>err && cat err &&
	compared report even 120 1 auto && jq -es "map(select(.type == \"frame\") | .slices | length) | .[0] > 4 and .[2] < 8" report
'
test_expect_success 'one that knows what the command costs from the run before, and says so in its first line' '
	cp report stranger && rm report && XDG_STATE_HOME=$PWD/state evenstep run --local 4 --metrics equal --range 0:120 --repeat 2 --report report -- \
		sh -c "sleep 0.5; exec ./slow {begin} {end}" 2>err && cat err &&
	compared report even 120 1 auto && ! grep costs_before stranger && jq -es "map(.costs_before.each) | .[0] > 0 and .[1:] == [null, null]" report
'
test_expect_success 'without them, other decisions follow' '
	jq -c "del(.costs_before)" report >bad && test_expect_code 1 compared bad even 120 1 auto && grep -q "^frame 0" out &&
	jq -c "if .costs_before then .costs_before.each = \"much\" else . end" report >bad && test_expect_code 2 compared bad even 120 1 auto 2>err && said "decisions: costs that are none"
'
test_expect_success 'one that knows where starts wait longer, and what units cost' '
	known=state/evenstep/costs && tail -n 1 $known | jq -c ". + {lag: {local1: 0.8}, begin: 0, units: 120, seen: [[0, 0.5, 1.6, 0.05], [0.5, 1, 0.4, 0.05]]}" >new && cp new $known &&
	rm report && XDG_STATE_HOME=$PWD/state evenstep run --local 4 --metrics equal --range 0:120 --repeat 2 --report report -- \
		sh -c "sleep 0.5; exec ./slow {begin} {end}" 2>err && cat err &&
	compared report even 120 1 auto && jq -es "map(.costs_before)[0] | .lag == {local1: 0.8} and (.seen | length) == 2" report
'
test_expect_success 'without either, other decisions follow' '
	jq -c "del(.costs_before.lag)" report >bad && test_expect_code 1 compared bad even 120 1 auto &&
	jq -c "del(.costs_before.seen)" report >bad && test_expect_code 1 compared bad even 120 1 auto
'
test_expect_success 'it is the same when it has been read and written again' '
	jq -c . good >again && compared again static 120 1 16
'

# altered WHAT JQ: of the first frame of a good report.
while IFS='|' read -r what filter; do
	test_expect_success "a record with $what is refused" '
		jq -c "if .frame == 0 then .slices |= ($filter) else . end" good >bad && ! cmp -s good bad && test_expect_code 1 compared bad static 120 1 16 &&
		grep -q "^frame 0: [0-9]* of [0-9]* pieces are the same" out
	'
done <<\END
a unit more in a piece|.[3].end += 1
a piece of another node|.[5].node = (if .[5].node == "local0" then "local1" else "local0" end)
two pieces in another order|.[0:2] + [.[3], .[2]] + .[4:]
a piece less|.[:-1]
a piece that nobody decided|. + [.[-1]]
a piece that was sent later|.[4].sent += 0.001
an answer before the one that it came after|.[0].back = .[1].back + 1
other seconds of a command|.[0].seconds = 0.0001
END
test_expect_success 'so is one that was adjusted otherwise, or of another policy' '
	jq -c "if .frame == 0 then .adjusted |= not else . end" good >bad && test_expect_code 1 compared bad static 120 1 16 &&
	test_expect_code 1 compared good even 120 1 16
'
test_expect_success 'so is one with a failure, or without a frame' '
	jq -c "if .frame == 0 then .slices[2].status = 1 else . end" good >bad && test_expect_code 2 compared bad static 120 1 16 2>err && said "decisions: a slice that is none, or that failed" &&
	test_expect_code 2 compared /dev/null static 120 1 16
'
test_done
