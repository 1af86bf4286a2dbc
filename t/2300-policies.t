#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='every policy does the same job: each unit once and in order, whatever it sizes'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF SLURM_JOB_ID
cat >units <<'END'
#!/bin/sh
exec seq "$1" $(($2 - 1))
END
# gated BEGIN END: says that it is there and waits for a file.
cat >gated <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE" >>started
until test -e go; do sleep 0.05; done
exec seq "$1" $(($2 - 1))
END
chmod +x units gated
seq 7 406 >once && cat once once once >want
# adds_up REPORT: the slices of every frame that went well are its units, each once.
adds_up() {
	jq -es 'map(select(.type == "frame")) | length > 0 and all(.slices | map(select(.status == 0)) | sort_by(.begin)
		| . as $s | $s[0].begin == 7 and $s[-1].end == 407 and ([range(1; length) | $s[.].begin == $s[. - 1].end] | all))' "$1"
}

for policy in even canon static guided manual nodethreads autotuned proportional rl rl2 manual:size=7; do
	test_expect_success "$policy: three frames on unequal nodes, each unit once" '
		evenstep run --local 4=60,40,20,10 --range 7:407 --grain 3 --repeat 3 --policy $policy --report report -- \
			./units {begin} {end} >got 2>err && test_cmp want got && adds_up report &&
		said "evenstep: 3 frames in .* \(${policy%%:*}\)"
	'
done
test_expect_success 'a bundle policy sends bundles of the size that it says, the last what is left' '
	evenstep run --local 2 --range 7:407 --policy manual:size=30 --report report -- ./units {begin} {end} >got &&
	test_cmp once got && jq -es ".[0].slices | sort_by(.begin) | map(.end - .begin)
		| length == 14 and .[-1] == 10 and (.[:-1] | all(. == 30))" report
'
test_expect_success 'guided sends a part of what is left: the bundles shrink, down to the least' '
	evenstep run --local 1 --range 7:407 --policy guided:divisor=4,least=20 --report report -- ./units {begin} {end} >got &&
	test_cmp once got && jq -es ".[0].slices | sort_by(.begin) | map(.end - .begin)
		| .[0] == 100 and .[1] == 75 and .[2] == 57 and (.[-4:-1] == [20, 20, 20]) and .[-1] <= 20" report
'
test_expect_success 'sizes are in grains for a bundle policy too, which begin at multiples of the grain' '
	evenstep run --local 2 --range 7:407 --grain 50 --policy manual:size=2 --report report -- ./units {begin} {end} >got &&
	test_cmp once got && jq -es ".[0].slices | length == 4 and all(.end - .begin == 100 and (.begin - 7) % 50 == 0)" report
'
# adjoin: lines BEGIN END follow each other from 0 to 2^62.
adjoin() {
	cat "$1" && sed -n "1s/ .*//p" "$1" >first && echo 0 | test_cmp - first &&
		sed -n "\$s/.* //p" "$1" >last && echo 4611686018427387904 | test_cmp - last &&
		sed "1d;s/ .*//" "$1" >begins && sed "\$d;s/.* //" "$1" | test_cmp - begins
}
test_expect_success 'a frame of 2^62 units: slices adjoin and are the frame' '
	evenstep run --local 3 --range 0:4611686018427387904 -- echo {begin} {end} >got && adjoin got && test "$(wc -l <got)" -ge 3
'
test_expect_success 'more units than JPPF can number: in bundles of more units each' '
	evenstep run --local 2 --range 0:4611686018427387904 --policy manual:size=500000000 -- echo {begin} {end} >got &&
	adjoin got && test "$(wc -l <got)" -gt 2
'
test_expect_success 'ten thousand frames of one unit each' '
	seq 0 9999 >frames && evenstep run --local 2 --metrics equal --range 0:1 --repeat 10000 -- echo {frame} >got 2>err &&
	test_cmp frames got && tail -n 3 err | grep "^evenstep: 10000 frames in "
'
test_expect_success 'an agent killed among bundles: the others do its part' '
	rm -f started go && evenstep run --local 3 --range 7:407 --policy manual:size=20 -- ./gated {begin} {end} >got 2>err 3>&- &
	run=$! && wait_for 60 lines started 3 && kill -KILL $(pgrep -P $run -x evenstep-agent | head -n 1) &&
	wait_for 60 grep -q "is lost" err && : >go && wait $run && test_cmp once got && said "evenstep: local[0-2] is lost .*"
'

test_expect_success 'the manual names every policy, and each of its keys behind it' '
	evenstep config >config &&
	awk "/^policy \"/ { gsub(/[\"{]/, \"\"); p = \$2; print p } /^}/ { p = \"\" } p && / = / { print p, \$1 }" config >names &&
	sed -n "/^.Ss policy/,/^.Sh FILES/p" "$EVENSTEP_SRC/launcher/config/evenstep.conf.5" >manual && test -s manual &&
	awk "/^.It Qq/ { p = \$3; print p } /^.El/ { p = \"\" } p && /^.Ic/ { for (i = 2; i <= NF; i++) if (\$i != \",\") print p, \$i }" manual >told &&
	sort names >want && sort told >got && grep guided want && test_cmp want got
'

# --- thresholds ----------------------------------------------------------------
for threshold in auto 0 1000 "1000%"; do
	test_expect_success "--threshold $threshold: two unequal nodes that are taken for equal ones" '
		evenstep run --local 2=80,10 --metrics equal --range 0:40 --repeat 3 --pieces 1 --threshold $threshold --report report -- \
			awk "BEGIN { for (i = 0; i < {count} * 30000; i++) x += i }" >got 2>err &&
		jq -s "map(select(.type == \"frame\") | .adjusted)" report >adjusted && cat adjusted &&
		case $threshold in 1000*) jq -e "length == 3 and all(not)" adjusted ;; *) jq -e "length == 3 and .[0]" adjusted ;; esac
	'
done

# --- bad input -----------------------------------------------------------------
while IFS='|' read -r options message; do
	test_expect_success "$options: exit 2, says why" '
		test_expect_code 2 evenstep run --local 2 --range 0:4 $options -- true >got 2>err && test ! -s got && said "$message"
	'
done <<'END'
--policy nobody|evenstep: --policy: "nobody" is unknown: give one of: even canon static guided manual nodethreads autotuned proportional rl rl2
--policy canon:step=101|evenstep: --policy: canon: step: "101" is out of range: give a number from 0.001 to 100
--policy canon:worst=0|evenstep: --policy: canon: worst: "0" is out of range: give a whole number from 1 to 1000000
--policy even:gain=2|evenstep: --policy: even: gain: "2" is out of range: give a number from 0.01 to 1
--policy manual:size=0|evenstep: --policy: manual: size: "0" is out of range: give a whole number from 1 to 2147483647
--policy even:nothing=1|evenstep: --policy: even has no parameter "nothing": see .*
--threshold never|evenstep: --threshold: "never" is no threshold: give seconds, or percent with a %, or auto
--pieces 0|evenstep: --pieces: "0" is out of range: give a whole number from 1, or auto
--retries -1|evenstep: --retries: "-1" is out of range: give a whole number from 0 to 1000
--timeout 0|evenstep: --timeout: "0" is out of range: give seconds from 0.1 to 1000000000, as .*
END
test_done
