#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the table of evenstep-policies(7) is what its command prints'
. /usr/share/sharness/sharness.sh

PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF
page=$EVENSTEP_SRC/policy/evenstep-policies.7
sed -n 's/^\.It Cm \([a-z0-9:=]*\) Ta \(.*\)/\1 \2/p' "$page" | sed 's/ Ta / /g' >table
policies=$(cut -d' ' -f1 table | paste -sd,)
# column SPEEDS STARTUP: time over ideal of all.
column() {
	evenstep simulate balance --speeds "$1" --units 4000 --frames 8 --startup "$2" --noise 0.03 --delay 0.002 --policy "$policies" --json |
		jq -r .ratio | awk '{ printf "%.2f\n", $1 }'
}
test_expect_success 'it has every policy, at its shipped defaults' '
	evenstep config | sed -n "s/^policy \"\(.*\)\" {/\1/p" | sort >want && grep -v : table | cut -d" " -f1 | sort >got && test_cmp want got
'
# But for the last digit: one that lies at the edge is another by another libm.
test_expect_success 'and the figures are those' '
	cut -d" " -f1 table >names && column 8,4,2,1 0.05 >one && column 4,4,4,4 0.05 >two && column 8,4,2,1 0 >three && test -s one &&
	paste -d" " names one two three >got && cat got && test "$(wc -l <got)" = "$(wc -l <table)" && paste -d" " table got |
	awk "\$1 != \$5 { exit 1 } { for (i = 2; i <= 4; i++) if ((\$i - \$(i + 4)) ^ 2 > 0.011 ^ 2) exit 1 }"
'
test_expect_success 'help says which of them JPPF has deprecated: one, and the page names it' '
	evenstep help policies | grep "deprecated" >told && test "$(wc -l <told)" = 1 && grep "^rl " told && tr "\n" " " <"$page" | grep -q "JPPF deprecates only .Cm rl of these"
'
test_done
