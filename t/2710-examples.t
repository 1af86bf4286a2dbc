#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what the README and the manuals tell a reader to type works: what needs no Slurm'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
. "$EVENSTEP_SRC/t/lib/examples.sh"
without_slurm

test_expect_success 'there are blocks to type, of each kind, and what they print' '
	texts >texts && grep -x launcher/run/evenstep-run.1 texts && examples "$EVENSTEP_SRC/README.md" readme &&
	for block in readme/*.sh; do kind $block; done | sort -u >kinds && grep -x local kinds && grep -x slurm kinds &&
	ls readme/*.out && grep -q "^evenstep run --local" readme/01.sh
'
test_expect_success 'a block that fails, or prints something else, is noticed' '
	printf "%s\n" "\`\`\`sh" "cd /nowhere" "\`\`\`" "\`\`\`sh" "echo 5 words" "\`\`\`" "" "\`\`\`" "6 words" "\`\`\`" >text.md && examples text.md bad &&
	test_must_fail bash -e bad/01.sh && bash -e bad/02.sh >printed && shown bad/02.out && echo words >printed && test_must_fail shown bad/02.out
'
type_all local
# What takes minutes is at least there: the README names it in a line of text.
test_expect_success 'each target of make and each part of contrib/bench in the README is there' '
	grep -oE "\`make [^\`]*\`" "$EVENSTEP_SRC/README.md" | tr -d "\`" | tr " " "\n" | grep -vxE "make|[A-Z]+=.*" | sort -u >targets && grep -x demo targets &&
	while read -r target; do grep -qE "^([a-z -]* )?$target( [a-z -]*)?:" "$EVENSTEP_SRC/Makefile" || { echo "no target: $target" && return 1; }; done <targets &&
	grep -oE "contrib/bench [a-z]+" "$EVENSTEP_SRC/README.md" | sed "s/.* //" | sort -u >parts && grep -x peers parts &&
	sed -n "/^# usage/,/^set/p" "$EVENSTEP_SRC/contrib/bench" >usage &&
	while read -r part; do grep -qw "$part" usage || { echo "no part: $part" && return 1; }; done <parts
'
test_expect_success 'a benchmark of graphs that is called wrongly: exit 2, one line says how to mend it' '
	fails 2 "bench-graph-claim: .x. is no number of cores: give 1 to 9999" "$EVENSTEP_SRC/contrib/bench-graph-claim" claim x &&
	fails 2 "bench-graph-claim: nowhere.json: cannot be read: give workflows of WfCommons" "$EVENSTEP_SRC/contrib/bench-graph-claim" claim 4 nowhere.json &&
	test ! -e claim &&
	fails 2 "bench-graph-speeds: .x. is no number of runs: give 1 to 9999" "$EVENSTEP_SRC/contrib/bench-graph-speeds" x &&
	fails 2 "bench-graph-speeds: .0. is no number of seconds: give 1 to 99999" "$EVENSTEP_SRC/contrib/bench-graph-speeds" 1 0 &&
	fails 2 "bench-graph-speeds: nowhere.json: cannot be read: give a workflow of WfCommons" "$EVENSTEP_SRC/contrib/bench-graph-speeds" 1 30 nowhere.json
'
test_expect_success 'a benchmark of steering that is called wrongly: exit 2, one line says how to mend it' '
	while read -r setting wrong; do
		test_expect_code 2 env EVENSTEP_BUILD="$PWD" "$setting" "$EVENSTEP_SRC/contrib/bench" harm >printed 2>&1 && grep -x "bench: $wrong" printed || return 1
	done <<-END
	SPEED=x SPEED x: expected a percentage, 1 to 99
	TURNS=0 TURNS 0: expected a number of 1 or more
	CAP=1.5 CAP 1.5: expected a part of the CPUs, 0.01 to 1
	LENGTH=0 LENGTH 0: expected seconds, 1 or more
	KINDS=none KINDS none: expected kinds of t/programs/harmless.c
	END
'
test_expect_success 'what the README points at is there' '
	grep -oE "\]\([^)]*\)" "$EVENSTEP_SRC/README.md" | tr -d "]()" >links && grep -x contrib/demo/run.svg links &&
	while read -r link; do test -e "$EVENSTEP_SRC/$link" || { echo "missing: $link" && return 1; }; done <links &&
	test "$(wc -c <"$EVENSTEP_SRC/contrib/demo/run.svg")" -lt 40000 && test "$(wc -l <"$EVENSTEP_SRC/README.md")" -lt 150
'
test_done
