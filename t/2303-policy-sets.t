#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='sets of parameters of evenstep.conf are named wherever a policy is'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
cat >own.conf <<'END'
policy "three" {
  kind = "manual"
  size = 3
}
profile "small" {
  C = 1
  policy = "three"
}
END
EVENSTEP_CONF=$PWD/own.conf
export EVENSTEP_CONF

test_expect_success 'run: bundles are of the set, and the summary names it' '
	evenstep run --local 2 --metrics equal --policy three --range 0:9 --report report -- seq {begin} {end} >out &&
	jq -es "[.[] | select(.type == \"frame\") | .slices[] | .end - .begin] == [3, 3, 3]" report &&
	jq -es ".[-1].policy == \"three\"" report
'
test_expect_success 'a parameter behind its name goes before it' '
	evenstep run --local 1 --metrics equal --policy three:size=9 --range 0:9 --report report -- true &&
	jq -es "[.[] | select(.type == \"frame\") | .slices[] | .end - .begin] == [9]" report
'
test_expect_success 'a profile brings its policy, which --policy goes before' '
	evenstep run --local 2 --metrics equal --profile small --range 0:9 --report report -- true &&
	jq -es ".[-1].policy == \"three\"" report &&
	evenstep run --local 2 --metrics equal --profile small --policy even --range 0:9 --report report -- true &&
	jq -es ".[-1].policy == \"even\"" report
'
test_expect_success 'plan, replay and simulate know it' '
	echo "{\"nodes\":[{\"name\":\"n0\",\"C\":1}]}" >one.json &&
	evenstep plan --metrics one.json --range 0:9 --policy three --json | jq -e ".nodes[0].end == 9" &&
	echo "{\"op\":\"open\",\"channels\":2}" | evenstep replay --policy three >got && test "$(jq -c .sizes got)" = "[3,3]" &&
	evenstep simulate balance --speeds 1,1 --frames 1 --policy even,three,three:size=4 --json >got &&
	jq -es "map([.policy, .parameters.size]) == [[\"even\", null], [\"three\", 3], [\"three\", 4]]" got
'
test_expect_success 'simulate and replay take no kind as the site has it' '
	cp own.conf more.conf && echo "policy \"manual\" { size = 7 }" >>more.conf &&
	echo "{\"op\":\"open\",\"channels\":1}" | EVENSTEP_CONF=$PWD/more.conf evenstep replay --policy manual >got && test "$(jq -c .sizes got)" = "[1]" &&
	EVENSTEP_CONF=$PWD/more.conf evenstep run --local 1 --metrics equal --policy manual --range 0:7 --report report -- true && jq -es ".[0].slices | length == 1" report
'
test_expect_success 'completion has it, and so has the configuration in force, which reads as it was' '
	evenstep completion words run --policy thr | grep "^three" &&
	evenstep config >first && grep -x "policy \"three\" {" first && EVENSTEP_CONF=$PWD/first evenstep config >second && test_cmp first second
'
test_expect_success 'with --ahead idle nodes get bundles of the next frame' '
	printf "#!/bin/sh\ntest \$EVENSTEP_NODE = local1 || exec sleep 0.05\nexec sleep 1\n" >slow && chmod +x slow &&
	evenstep run --local 2 --metrics equal --policy three --range 0:12 --repeat 2 --ahead 1 --report report -- ./slow {begin} {end} &&
	jq -es "map(select(.type == \"frame\")) | (.[1].began + (.[1].slices | map(.sent) | min)) < .[0].began + (.[0].slices | map(.back) | max)" report
'
while IFS='|' read -r name text message; do
	test_expect_success "$name: one line, exit status 2" '
		printf "%b" "$text" >bad.conf && EVENSTEP_CONF=$PWD/bad.conf test_expect_code 2 evenstep run --local 1 --range 0:1 -- true 2>err &&
		test "$(wc -l <err)" = 1 && grep -E -e "^evenstep: .*bad.conf:$message" err
	'
done <<'END'
a set that names itself|policy "loop" {\n kind = "loop"\n}\n|2: policy "loop": its kind is itself: give one of: even .*
a set of an unknown kind|policy "odd" { kind = "bogus" }\n|1: policy "odd": kind "bogus" is unknown: give one of: even .*
a set with an unknown parameter|policy "odd" {\n kind = "rl"\n size = 3\n}\n|3: policy "odd" has no key size: .*
a profile with an unknown policy|profile "own" { C = 1 policy = "odd" }\n|1: profile "own": policy is out of range: "odd" is unknown: give one of: even .*
END
test_expect_success 'a name that is unknown is told with all that there are' '
	test_expect_code 2 evenstep run --local 1 --policy bogus --range 0:1 -- true 2>err && grep "even .* rl2 three$" err &&
	test_expect_code 2 evenstep simulate balance --speeds 1,2 --policy bogus 2>err && grep "even .* rl2 three$" err
'
test_done
