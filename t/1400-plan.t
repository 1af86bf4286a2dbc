#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what the nodes measured becomes shares, or one line tells why not'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

unset EVENSTEP_CONF SLURM_JOB_ID
PATH=$EVENSTEP_BUILD:$PATH

# plan FILE ARGUMENT...: its JSON, in out.
plan() {
	plan_file=$1
	shift
	evenstep plan --metrics "$plan_file" --range 0:1000 --json "$@" >out
}

# near EXPRESSION WANT: what jq makes of out, numbers to 9 places.
near() {
	jq -c "$1 | walk(if type == \"number\" then . * 1e9 | round / 1e9 else . end)" out >got &&
		echo "$2" | jq -c . >want && test_cmp want got
}

# Four nodes; worked out by hand from steps 4 to 8 of US 8,645,454, with
# the profile cpu: I = C 0.3, M 0.3, I 0.2, B 0.15.
#      X: C  M  I   B    CU * X * I, added up                    JL of 2425
#  n0    40 10 40   0    30*.3*40 + 30*.3*10 + 20*.2*40              =  610
#  n1    30 20 40   0    30*.3*30 + 30*.3*20 + 20*.2*40              =  610
#  n2    20 30  0   0    30*.3*20 + 30*.3*30                         =  450
#  n3    10 40 20 100    30*.3*10 + 30*.3*40 + 20*.2*20 + 15*.15*100 =  755
cat >four.json <<'END'
{"nodes": [
	{"name": "n0", "C": 4, "M": 10, "I": 2},
	{"name": "n1", "C": 3, "M": 20, "I": 2},
	{"name": "n2", "C": 2, "M": 30, "S": 0},
	{"name": "n3", "C": 1, "M": 40, "I": 1, "B": 0.5, "G": 7}]}
END

test_expect_success 'X, CM, CU and JL of four nodes are as published' '
	plan four.json && cat out && test "$(wc -l <out)" = 1 &&
	near "[.nodes[].name]" "[\"n0\",\"n1\",\"n2\",\"n3\"]" &&
	near "[.nodes[].X | [.C, .M, .I, .B, .S, .G]]" \
		"[[40,10,40,0,0,0],[30,20,40,0,0,0],[20,30,0,0,0,0],[10,40,20,100,0,100]]" &&
	near "[.nodes[].CM | [.C, .M, .I, .B, .S, .G]]" \
		"[[12,3,8,0,0,0],[9,6,8,0,0,0],[6,9,0,0,0,0],[3,12,4,15,0,0]]" &&
	near "[.nodes[].CU | [.C, .M, .I, .B, .S, .G]] | unique" "[[30,30,20,15,0,0]]" &&
	near "[.nodes[].JL * 2425]" "[61000,61000,45000,75500]"
'
test_expect_success 'the format is that of the manual, key by key, in its order' '
	jq -c "keys_unsorted, (.nodes[0] | keys_unsorted, (.X, .CM, .CU | keys_unsorted))" out >got &&
	printf "%s\n" "[\"nodes\",\"rank_by\",\"elements\"]" "[\"name\",\"X\",\"CM\",\"CU\",\"JL\",\"begin\",\"end\"]" >want &&
	for row in X CM CU; do echo "[\"C\",\"M\",\"I\",\"B\",\"S\",\"G\"]"; done >>want &&
	test_cmp want got
'
# 251.546, 251.546, 185.567, 311.340: two units are left for the largest
# remainders, n2's and, of two alike, n0's.
test_expect_success 'slices are cut by largest remainder and add up to the range' '
	near "[.nodes[] | [.begin, .end]]" "[[0,252],[252,503],[503,689],[689,1000]]"
'
test_expect_success 'a range of any place and size, and a grain: slices adjoin, on the grain' '
	for arguments in "--range 7:8" "--range 5:1005 --grain 7" "--range 0:9223372036854775807" \
		"--range 1000000:1000003 --grain 2"; do
		plan four.json $arguments && set -- $arguments && jq -e --arg range "$2" \
			--arg grain "${4:-1}" "(\$range | split(\":\") | map(tonumber)) as \$r | [.nodes[]] |
			.[0].begin == \$r[0] and .[-1].end == \$r[1] and
			all(range(1; length) as \$i | [.[\$i - 1].end, .[\$i].begin]; .[0] == .[1]) and
			all(.[:-1][]; .end == \$r[1] or (.end - \$r[0]) % (\$grain | tonumber) == 0)" out || return 1
	done
'
test_expect_success 'a share of 0 gets no slice' '
	echo "{\"nodes\":[{\"name\":\"a\",\"C\":0},{\"name\":\"b\",\"C\":1},{\"name\":\"c\"}]}" >zero.json &&
	plan zero.json && near "[.nodes[] | [.JL, .begin, .end]]" "[[0,0,0],[100,0,1000],[0,1000,1000]]"
'
test_expect_success 'the profiles weigh what they are named for' '
	echo "{\"nodes\":[{\"name\":\"c\",\"C\":1},{\"name\":\"m\",\"M\":1},{\"name\":\"i\",\"I\":1},
		{\"name\":\"s\",\"S\":1},{\"name\":\"g\",\"G\":1}]}" >each.json &&
	for most in cpu:c memory:m network:i io:s gpu:g; do
		plan each.json --profile ${most%:*} && cat out &&
		jq -e ".nodes | max_by(.JL).JL as \$top | map(select(.JL == \$top).name)[0] ==
			\"${most#*:}\"" out || return 1
	done
'
test_expect_success 'a profile of the site, and the default that it changes' '
	printf "profile \"cards\" { G = 1 }\nprofile \"cpu\" { C = 1 }\n" >site.conf &&
	EVENSTEP_CONF=site.conf plan each.json --profile cards && near "[.nodes[].JL]" "[0,0,0,0,100]" &&
	EVENSTEP_CONF=site.conf plan each.json && near "[.nodes[].JL]" "[100,0,0,0,0]" &&
	fails 2 "evenstep: --profile: \"none\" is unknown: give one of: cpu memory network io gpu cards auto" \
		env EVENSTEP_CONF=site.conf evenstep plan --metrics each.json --range 0:5 --profile none
'

# C 3 to 1; what M, at 1.2 to 1, adds by the profile cpu: CU * X * I of M is 30 * .3 * 54.5 and 45.5.
test_expect_success 'elements in which the nodes are alike do not count, unless the site says so' '
	echo "{\"nodes\":[{\"name\":\"a\",\"C\":3,\"M\":1.2},{\"name\":\"b\",\"C\":1,\"M\":1}]}" >alike.json &&
	plan alike.json && cat out && near "[.nodes[].JL]" "[75,25]" && near "[.nodes[].X.M]" "[0,0]" &&
	jq -e ".rank_by == \"different\" and .elements == \"C\"" out &&
	echo "probe { rank_by = \"all\" }" >all.conf && EVENSTEP_CONF=all.conf plan alike.json && cat out &&
	near "[.nodes[].JL * 2.2]" "[142.5,77.5]" && jq -e ".rank_by == \"all\" and .elements == \"CM\"" out &&
	EVENSTEP_CONF=all.conf evenstep plan --metrics alike.json --range 0:10 >out && tail -n1 out | grep -x "ranked by CM: the elements of the profile cpu"
'
test_expect_success 'the element that counts most is kept: nodes alike in it are alike' '
	echo "{\"nodes\":[{\"name\":\"a\",\"C\":1,\"M\":1},{\"name\":\"b\",\"C\":1,\"M\":1}]}" >same.json &&
	plan same.json && near "[.nodes[].JL]" "[50,50]" && jq -e ".elements == \"C\"" out
'

# US 8,645,454, step 11 and Table 5: a CU of C of 30, 10, 10, 50.
cat >table5.json <<'END'
{"nodes": [
	{"name": "n1", "C": 1, "CU": {"C": 30}},
	{"name": "n2", "C": 1, "CU": {"C": 10}},
	{"name": "n3", "C": 1, "CU": {"C": 10}},
	{"name": "n4", "C": 1, "CU": {"C": 50}}]}
END
test_expect_success 'canon: 30, 10, 10, 50 becomes 33, 11, 11, 45' '
	plan table5.json --policy canon && near "[.nodes[].CU.C]" "[30,10,10,50]" &&
	plan table5.json --policy canon --times 0,2,3,10 &&
	near "[.nodes[] | [.CU.C, .JL, .begin, .end]]" \
		"[[33,33,0,330],[11,11,330,440],[11,11,440,550],[45,45,550,1000]]" &&
	near "[.nodes[].CU.M] | unique" "[30]"
'
test_expect_success 'what plan prints can be taken up again' '
	jq "{nodes: [.nodes[] | .X + {name, CU}]}" out >next.json &&
	plan next.json --policy canon --times 9,2,3,4 &&
	near "[.nodes[].CU.C] | add, .[0]" "$(printf "100\n28")" &&
	near "[.nodes[].X.C] | unique" "[25]"
'
test_expect_success 'canon: the first frame of four nodes, by hand' '
	plan four.json --policy canon:step=3 --times 1,2,3,4 &&
	near "[.nodes[].CU.C]" "[31,31,31,27]" && near "[.nodes[].CU.M] | unique" "[30]" &&
	near "[.nodes[].JL * 2443]" "[62200,61900,45600,74600]"
'
test_expect_success 'equal times adjust nothing; the time of a node without a slice says nothing' '
	plan four.json --policy canon && cp out before && plan four.json --policy canon --times 4,4,4,4 &&
	test_cmp before out && plan zero.json --policy canon && cp out before &&
	plan zero.json --policy canon --times 9,4,0 && test_cmp before out
'
test_expect_success 'even: sizes follow the times of one frame' '
	echo "{\"nodes\":[{\"name\":\"a\",\"C\":1},{\"name\":\"b\",\"C\":1}]}" >two.json &&
	plan two.json --times 1,4 && near "[.nodes[] | [.JL, .begin, .end]]" "[[80,0,800],[20,800,1000]]" &&
	near "[.nodes[].CU.C]" "[30,30]"
'
test_expect_success 'every policy plans, before and after' '
	evenstep help policies | sed -n "s/^\([a-z][a-z0-9]*\) .*/\1/p" >policies && cat policies &&
	grep -x canon policies && grep -x proportional policies && while read -r policy; do
		for times in "" "--times 1,2,3,4"; do
			plan four.json --policy $policy $times && jq -e "([.nodes[].JL] | add - 100 | fabs) < 1e-9 and
				.nodes[-1].end == 1000" out || return 1
		done
	done <policies
'
test_expect_success 'as a table: three lines a node' '
	evenstep plan --metrics four.json --range 0:1000 >out 2>err && cat out && test ! -s err &&
	test "$(wc -l <out)" = 14 && tail -n1 out | grep -x "ranked by CMIB: the elements of the profile cpu in which the nodes differ" && test "$(wc -L <out)" -le 80 &&
	grep -xE "n0 +X +40.00 +10.00 +40.00 +0.00 +0.00 +0.00 +25.15 +0 +252" out &&
	grep -xE " +CM +12.00 +3.00 +8.00 +0.00 +0.00 +0.00" out &&
	test "$(grep -cxE " +CU +30.00 +30.00 +20.00 +15.00 +0.00 +0.00" out)" = 4
'
test_expect_success 'metrics from a pipe' '
	cat four.json | evenstep plan --metrics /dev/stdin --range 0:10 --json >out && test -s out
'

# What is wrong | the file | the message.
while IFS='|' read -r what text message; do
	test_expect_success "a metrics file $what: exit 2, with the reason" '
		printf "%b" "$text" >bad.json &&
		fails 2 "evenstep: bad.json:$message" evenstep plan --metrics bad.json --range 0:5
	'
done <<'END'
that is empty|| is empty: give .*
that is no JSON|n0 1.0\n|1:[0-9]+: .* expected near 'n': give JSON that is whole
that is cut off|{"nodes":\n[{"name":"a",|2:[0-9]+: .*: give JSON that is whole
without a list|{"node":[]}| nodes: no such list: give \{"nodes": \[...\]\}
with an empty list|{"nodes":[]}| nodes: the list is empty: .*
with a node that has no name|{"nodes":[{"C":1}]}| nodes\[0\]: no name: give every node one
with a name twice|{"nodes":[{"name":"a","C":1},{"name":"a","C":2}]}| nodes\[1\]: "a" is there already: leave one of them out
with an unknown element|{"nodes":[{"name":"a","Q":1}]}| nodes\[0\]: "Q" is no element: give C, M, I, B, S or G, or W, X, Y or Z
with an element twice|{"nodes":[{"name":"a","C":1,"C":2}]}|1:[0-9]+: duplicate object key near .*
with a negative number|{"nodes":[{"name":"a","C":-1}]}| nodes\[0\]: C: -1 is out of range: give a number from 0 to 1e\+18
with NaN|{"nodes":[{"name":"a","C":NaN}]}|1:[0-9]+: invalid token near 'NaN': .*
with Infinity|{"nodes":[{"name":"a","C":Infinity}]}|1:[0-9]+: invalid token near 'Infinity': .*
with a huge number|{"nodes":[{"name":"a","C":1e300}]}| nodes\[0\]: C: 1e\+300 is out of range: .*
with a number over all|{"nodes":[{"name":"a","C":1e999}]}|1:[0-9]+: real number overflow near '1e999': .*
with a text for a number|{"nodes":[{"name":"a","C":"1"}]}| nodes\[0\]: C: no number: .*
of nothing but zeros|{"nodes":[{"name":"a","C":0},{"name":"b"}]}| every element of every node is 0: give what was measured
with nothing that the profile counts|{"nodes":[{"name":"a","G":1}]}| no node has any load by the profile cpu: give another --profile, or measure more
END

while IFS='|' read -r what arguments message; do
	test_expect_success "$what: exit 2, with the reason" '
		eval "fails 2 \"\$message\" evenstep plan $arguments"
	'
done <<'END'
no metrics|--range 0:5|evenstep: plan: --metrics is missing: give --metrics FILE
no range|--metrics four.json|evenstep: plan: --range is missing: give --range B:E
a file that is not there|--metrics nowhere.json --range 0:5|evenstep: nowhere.json: No such file or directory: give a file that can be read
a folder|--metrics . --range 0:5|evenstep: .: Is a directory: give a file that can be read
an empty range|--metrics four.json --range 5:5|evenstep: --range: 5:5 is empty: give a begin below the end
a range that is none|--metrics four.json --range 5|evenstep: --range: "5" is no range: .*
grain 0|--metrics four.json --range 0:5 --grain 0|evenstep: --grain: "0" is out of range: give a whole number from 1
an unknown profile|--metrics four.json --range 0:5 --profile heavy|evenstep: --profile: "heavy" is unknown: give one of: cpu memory network io gpu auto
an unknown policy|--metrics four.json --range 0:5 --policy bogus|evenstep: --policy: "bogus" is unknown: give one of: even .*
a parameter out of range|--metrics four.json --range 0:5 --policy canon:step=0|evenstep: --policy: canon: step: "0" is out of range: .*
too few times|--metrics four.json --range 0:5 --times 1,2,3|evenstep: --times: too few: give one a node: 4
too many times|--metrics four.json --range 0:5 --times 1,2,3,4,5|evenstep: --times: too many: give one a node: 4
no time at all|--metrics four.json --range 0:5 --times ""|evenstep: --times: "" is no number: give numbers from 0 to 1e[+]09, as 80,40
a comma too many|--metrics four.json --range 0:5 --times 1,2,3,4,|evenstep: --times: "" is no number: .*
a negative time|--metrics four.json --range 0:5 --times 1,2,3,-4|evenstep: --times: "-4" is out of range: .*
a time that is no number|--metrics four.json --range 0:5 --times 1,nan,3,4|evenstep: --times: "nan" is no number: .*
an argument too many|--metrics four.json --range 0:5 more|evenstep: plan: unexpected argument "more": give options alone; see .*
an option without its value|--range 0:5 --metrics|evenstep: --metrics: a value is missing: give --metrics FILE
an unknown option|--colour|evenstep: --colour: no such option: see .*
END
test_expect_success 'a profile that sums to 0: exit 2, with file and line' '
	printf "\nprofile \"own\" {\n C = 0\n}\n" >own.conf &&
	fails 2 "evenstep: own.conf:4: profile \"own\": nothing has influence: give one of C M I B S G or W X Y Z above 0" \
		env EVENSTEP_CONF=own.conf evenstep plan --metrics four.json --range 0:5
'
test_expect_success 'a full disk: exit 1' '
	for how in "" --json; do
		test_expect_code 1 evenstep plan --metrics four.json --range 0:5 $how 2>err >/dev/full &&
		grep -xE "evenstep: cannot write: free some space" err || return 1
	done
'
test_expect_success '--help tells every option' '
	evenstep plan --help >out 2>err && test ! -s err && grep "^usage: evenstep plan" out &&
	for option in metrics range grain profile policy times json; do
		grep -e "^  --$option" out || return 1
	done && evenstep --help | grep "^  plan "
'
test_done
