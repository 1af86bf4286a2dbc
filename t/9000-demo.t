#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the demo: a picture cut by rows is the whole picture, and its table tells who did what and what it is to be held against'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

demo=$EVENSTEP_SRC/contrib/demo
for tool in povray jq; do
	command -v $tool >/dev/null || { skip_all="$tool is not installed"; test_done; }
done
DEMO_WIDTH=60 DEMO_ROWS=75 DEMO_FRAMES=6
TMPDIR="$PWD/tmp" # what is left there is ours
export DEMO_WIDTH DEMO_ROWS DEMO_FRAMES TMPDIR
mkdir -p "$TMPDIR" bin

render() { "$demo/render-rows" "$@"; } # BEGIN END FRAME
# cut_at FRAME ROW...: in slices that end at these rows
cut_at() {
	frame=$1 begin=0
	shift
	for end; do
		render "$begin" "$end" "$frame" || return 1
		begin=$end
	done
}
has_povray() { povray=$(pgrep -P "$shell" -x povray); }

# --- render-rows -----------------------------------------------------------------
test_expect_success 'whole: width x rows x 3 bytes of it, which are not all the same, and nothing on stderr' '
	render 0 75 2 >whole 2>err && test_must_be_empty err &&
	test "$(wc -c <whole)" = $((60 * 75 * 3)) &&
	test "$(od -An -v -tx1 -w3 whole | sort -u | wc -l)" -gt 500
'
test_expect_success 'a slice at a time: as many bytes as it has rows, also the first and last row alone' '
	for rows in "0 1" "1 2" "0 2" "31 32" "31 33" "74 75"; do
		render ${rows% *} ${rows#* } 2 >slice &&
		tail -c +$((${rows% *} * 180 + 1)) whole | head -c $(((${rows#* } - ${rows% *}) * 180)) >want &&
		cmp want slice || return 1
	done
'
test_expect_success 'slices at odd places, one after the other, are the whole' '
	cut_at 2 1 2 5 31 32 34 47 74 75 >slices && cmp whole slices
'
test_expect_success 'slices at other places, of another frame, are the whole, which is another' '
	render 0 75 5 >whole5 && cut_at 5 33 63 65 75 >slices5 && cmp whole5 slices5 &&
	test_must_fail cmp -s whole whole5
'
test_expect_success 'it renders no more than it is asked for, also for the first row alone' '
	real=$(command -v povray) && export real &&
	printf "#!/bin/sh\n\"\$real\" \"\$@\" && cp out.ppm \"\$TMPDIR/../kept\"\n" >bin/povray && chmod +x bin/povray &&
	(PATH=$PWD/bin:$PATH && render 0 1 2 >slice) && test "$(wc -c <kept)" -gt $((75 * 180)) &&
	head -c $((73 * 180)) /dev/zero >black && tail -c $((73 * 180)) kept >below && cmp black below
'
test_expect_success 'whatever the folder is called and settings the user has' '
	mkdir -p "a b/.povray/3.7" && cp "$demo/render-rows" "$demo/scene.pov" "a b" &&
	printf "Quality=0\n" | tee "a b/povray.ini" >"a b/.povray/3.7/povray.ini" &&
	(cd "a b" && HOME=$PWD ./render-rows 0 75 2) >whole2 && cmp whole whole2
'

while IFS='|' read -r args message; do
	test_expect_success "render-rows $args: exit 2, $message" '
		test_expect_code 2 render $args >out 2>err && test_must_be_empty out &&
		echo "render-rows: $message: give BEGIN END FRAME, rows 0 <= BEGIN < END <= 75" >want &&
		test_cmp want err
	'
done <<'END'
|0 arguments
0 1|2 arguments
0 1 0 0|4 arguments
5 5 0|rows 5 to 5
6 5 0|rows 6 to 5
0 76 0|rows 0 to 76
-1 5 0|"-1" is no number
010 20 0|"010" is no number
0 5 1.5|"1.5" is no number
0 99999999999999999999 0|"99999999999999999999" is no number
{begin} {end} {frame}|"{begin}" is no number
END
test_expect_success 'a size that is none: exit 2' '
	test_expect_code 2 env DEMO_WIDTH=0 "$demo/render-rows" 0 5 0 2>err &&
	grep "^render-rows: size or number of frames is 0: " err
'
test_expect_success 'a scene that cannot be parsed: exit 1, and the reason of POV-Ray' '
	cp "$demo/render-rows" bin && echo "sphere { 0, radius_of_it }" >bin/scene.pov &&
	test_expect_code 1 bin/render-rows 3 5 1 >out 2>err && test_must_be_empty out && cat err &&
	grep "^render-rows: rows 3 to 5 of frame 1: povray failed$" err &&
	grep "line 1: Parse Error: .*undeclared" err && test "$(wc -l <err)" -le 6
'
test_expect_success 'no POV-Ray: exit 127, and how to get it' '
	sh=$(command -v sh) && test_expect_code 127 env PATH=/nonexistent "$sh" "$demo/render-rows" 0 5 0 2>err &&
	echo "render-rows: no povray: apt-get install povray" >want && test_cmp want err
'
test_expect_success 'its output is not taken: exit 1' '
	test_expect_code 1 render 0 75 0 >/dev/full 2>err && grep "No space left on device" err
'
test_expect_success 'ended half way, it takes POV-Ray with it' '
	{ DEMO_WIDTH=6000 DEMO_ROWS=6000 "$demo/render-rows" 0 6000 0 >out 2>err & } && shell=$! &&
	wait_for 60 has_povray && kill $shell && wait_for 60 dead $povray;
	ended=$?; kill $povray 2>&-; test $ended = 0 && test_expect_code 143 wait $shell
'
test_expect_success 'no files are left behind, by any of these' '
	ls -A "$TMPDIR" >left && test_must_be_empty left
'

# --- table -----------------------------------------------------------------------
# In frame 1 of this run n1 is lost, and n0 does its slice too; frame 2 is n0's.
cat >lost.report <<'END'
{"type":"frame","frame":0,"slices":[{"node":"n0","begin":0,"end":40,"seconds":1.2,"attempt":1,"status":0},{"node":"n1","begin":40,"end":60,"seconds":0.9,"attempt":1,"status":0}],"first":0.9,"last":1.2,"efficiency":0.875,"ideal":1.05,"equal_parts":1.3,"adjusted":true}
{"type":"frame","frame":1,"slices":[{"node":"n0","begin":0,"end":35,"seconds":1,"attempt":1,"status":0},{"node":"n1","begin":35,"end":60,"seconds":0.5,"attempt":1,"status":137},{"node":"n0","begin":35,"end":60,"seconds":0.755,"attempt":2,"status":0}],"first":1,"last":1.8,"efficiency":0.5,"ideal":0.9,"equal_parts":1.305,"adjusted":true}
{"type":"frame","frame":2,"slices":[{"node":"n0","begin":0,"end":60,"seconds":12.004,"attempt":1,"status":0}],"first":12.004,"last":12.1,"efficiency":1,"ideal":12.1,"equal_parts":12.1,"adjusted":false}
{"type":"summary","frames":3,"seconds":15.1,"efficiency":0.7875,"policy":"even"}
END
cat >one.report <<'END'
{"type":"frame","frame":0,"slices":[{"node":"a-node-of-a-long-name","begin":100,"end":12345,"seconds":1000.5,"attempt":1,"status":0}],"first":1000.5,"last":1001,"efficiency":0.04,"adjusted":false}
END
table() { "$demo/table" "$@"; }
squeezed() { sed 's/  */ /g; s/^ //' "$1"; }

printf '1.5\n2.25\n13\n' >plain.seconds

test_expect_success 'every frame: rows and seconds of each node, two slices added up, a lost one marked' '
	table lost.report >out 2>err && test_must_be_empty err && cat out && squeezed out >got &&
	cat >want <<-\END && head -6 got >part && test_cmp want part
	n0 n1
	frame rows time rows time
	1 40 1.20 s 20 0.90 s
	2 60 1.76 s 0* 0.00 s
	3 60 12.00 s 0 0.00 s

	END
'
test_expect_success 'then its time beside the ideal, equal parts by its costs, and what srun really took' '
	table lost.report plain.seconds >out && cat out && squeezed out | tail -n 7 >got && cat >want <<-\END && test_cmp want got
	frame evenstep ideal time/ideal equal parts plain srun
	1 1.20 s 1.05 s 1.14 1.30 s 1.50 s
	2 1.80 s 0.90 s 2.00 1.31 s 2.25 s
	3 12.10 s 12.10 s 1.00 12.10 s 13.00 s
	all 15.10 s 14.05 s 1.07 14.71 s 16.75 s

	efficiency 0.79
	END
'
test_expect_success 'what is not known is no number, nor is a sum with it' '
	printf "1.5\n2.25\n" >two.seconds && table lost.report two.seconds | tail -n 4 >out && squeezed out >got && cat >want <<-\END && test_cmp want got &&
	3 12.10 s 12.10 s 1.00 12.10 s -
	all 15.10 s 14.05 s 1.07 14.71 s -

	efficiency 0.79
	END
	table one.report >out && cat out && squeezed out >got && cat >want <<-\END && test_cmp want got
	a-node-of-a-long-name
	frame rows time
	1 12245 1000.50 s

	frame evenstep ideal time/ideal equal parts plain srun
	1 1001.00 s - - - -
	all 1001.00 s - - - -
	END
'
cat >ahead.report <<'END'
{"type":"frame","frame":0,"began":0,"slices":[{"node":"n0","begin":0,"end":60,"seconds":2,"attempt":1,"status":0}],"first":2,"last":3,"efficiency":0.5,"ideal":1.5,"equal_parts":2,"adjusted":true}
{"type":"frame","frame":1,"began":1,"slices":[{"node":"n0","begin":0,"end":60,"seconds":2,"attempt":1,"status":0}],"first":2,"last":2.5,"efficiency":1,"ideal":1.5,"equal_parts":2,"adjusted":true}
{"type":"frame","frame":2,"began":2,"slices":[{"node":"n0","begin":0,"end":60,"seconds":1,"attempt":1,"status":0}],"first":1,"last":1.2,"efficiency":1,"ideal":1,"equal_parts":1,"adjusted":true}
{"type":"summary","frames":3,"seconds":3.5,"efficiency":0.8,"ideal":2.8,"rest":{"restarts":0.4,"waiting":0.3,"twice":0,"wire":0.004},"policy":"even"}
END
test_expect_success 'frames that overlap: the time since the one before, ideal of the run, and what the rest went to' '
	table ahead.report plain.seconds >out && cat out && squeezed out | tail -n 8 >got && cat >want <<-\END && test_cmp want got
	frame evenstep ideal time/ideal equal parts plain srun
	1 3.00 s 1.50 s - 2.00 s 1.50 s
	2 0.50 s 1.50 s - 2.00 s 2.25 s
	3 0.00 s 1.00 s - 1.00 s 13.00 s
	all 3.50 s 2.80 s 1.25 5.00 s 16.75 s

	efficiency 0.80; the rest: restarts 0.40 s, waiting 0.30 s
	with a start of the command on each node in each frame the ideal is 4.00 s: time/ideal 0.88
	END
'
test_expect_success 'columns stand below each other, and four nodes fit in 100' '
	jq -c "if .slices then .slices += [.slices[0] * {node: \"n2\"}, .slices[0] * {node: \"n3\"}] else . end" \
		lost.report >four.report && table four.report plain.seconds >out && cat out &&
	for part in 1,5 7,11; do
		sed -n ${part}p out | awk "{ print length }" >widths && test "$(uniq widths | wc -l)" = 1 || return 1
	done && test "$(wc -L <out)" -le 100
'
echo '{"type":"summary"}' >empty.report
echo 'no report' >text.report
while IFS='|' read -r args message; do
	test_expect_success "table $args: exit 2, $message" '
		test_expect_code 2 table $args >out 2>err &&
		echo "table: $message: give REPORT [SECONDS], a report of evenstep run and a file of numbers" >want && test_cmp want err
	'
done <<'END'
|0 arguments
a b c|3 arguments
gone.report|gone.report: cannot read it
lost.report gone.seconds|gone.seconds: cannot read it
lost.report text.report|text.report: no numbers
empty.report|empty.report: not a report, or one without frames
text.report|text.report: not a report, or one without frames
END
test_expect_success 'no jq: exit 127, and how to get it' '
	sh=$(command -v sh) && test_expect_code 127 env PATH=/nonexistent "$sh" "$demo/table" lost.report 2>err &&
	echo "table: no jq: apt-get install jq" >want && test_cmp want err
'
test_done
