#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the manual says what --help and the configuration say, and no more'
. /usr/share/sharness/sharness.sh

PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF
if ! command -v mandoc >/dev/null; then
	skip_all='mandoc is not installed: make deps'
	test_done
fi
for source in $(cd "$EVENSTEP_SRC" && ls launcher/*.[1-8] launcher/*/*.[1-8] policy/*.[1-8] spank_plugin/*.[1-8] 2>/dev/null); do
	page=${source##*/}
	mandoc -T ascii -O width=1000 "$EVENSTEP_SRC/$source" | col -bx >"$page"
	test_expect_success "$page: mandoc has nothing to say against it" '
		mandoc -T lint -W warning "$EVENSTEP_SRC/$source"
	'
done
commands=$(evenstep --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
# options FILE: the long ones.
options() { grep -oE -e '(^|[^a-z-])--[a-z][a-z-]*' "$1" | grep -oE -e '--[a-z-]*' | sort -u; }
test_expect_success 'there are commands to look for' '
	echo "$commands" && echo "$commands" | grep -qx run && echo "$commands" | grep -qx probe
'
# words COMMAND: the options of its table.
words() {
	{
		evenstep completion words "$1" --
		for action in plan run import bcast balance "balance --power"; do
			# shellcheck disable=SC2086 # words
			evenstep completion words "$1" $action --
		done
	} |
		sed -n 's/^\(--[a-z0-9-]*\)	.*/\1/p' | grep -vx -e --help | sort -u
}
for command in $commands; do
	page=evenstep-$command.1
	test_expect_success "evenstep $command is in evenstep(1), and has a page with every option of its --help" '
		grep -qw -e "evenstep-$command" evenstep.1 && test -s $page && evenstep $command --help >help && test -s help &&
		{ options help | grep -vx -e --help || :; } >want; options $page >have; comm -23 want have >missing && cat missing && test ! -s missing
	'
	test_expect_success "evenstep-$command(1) lists the options of $command: all of its table, and no others" '
		words $command >want; source=$(find "$EVENSTEP_SRC/launcher" -name $page) && sed -n "/^\.Sh OPTIONS/,/^\.Sh [^O]/p" "$source" | grep "^\.It" |
			grep -oE "Fl -[a-z0-9-]+" | sed "s/Fl -/--/" | sort -u >have; test_cmp want have
	'
done
test_expect_success 'the pages have options to list' '
	words run | grep -x -e --range && words bcast | grep -x -e --pull && words graph | grep -x -e --journal
'
# In examples, and of containers, there are options of other programs, too; t/2710 and t/3780 type them.
test_expect_success 'the pages of commands have no option that no command has' '
	{ evenstep --help; echo --version; for command in $commands; do evenstep $command --help; done; } >help && grep -oE "srun --[a-z-]+" evenstep*.1 >>help
	for part in bcast balance "balance --power"; do evenstep simulate $part --help; done >>help &&
	options help >have && awk "/^[A-Z]/ { examples = /^(EXAMPLES|CONTAINERS)/ } !examples" evenstep*.1 >text && options text >want && comm -23 want have >extra && cat extra && test ! -s extra
'
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs us
test_expect_success 'make html has a page for each, and its links between them lead somewhere' '
	made=$(mktemp -d) && test_when_finished rm -rf "$made" && # make takes no blanks in names
	make -s -C "$EVENSTEP_SRC" B="$made" html && (cd "$made/html" && ls) | sort >pages && grep -x evenstep-run.1.html pages && grep -x evenstep-policies.7.html pages &&
	grep -ohE "class=\"Xr\" href=\"[^\"]*" "$made"/html/*.html | sed "s/.*href=\"//" | grep -v "^https:" | sort -u >links && grep -x evenstep.1.html links &&
	comm -13 pages links >broken && cat broken && test ! -s broken &&
	for page in $(grep "html$" pages); do grep -q "search.js" "$made/html/$page" && grep -q "href=.index.html" "$made/html/$page" || return 1; done && ! grep -lE "(src|<link[^>]*href)=.https?:" "$made"/html/*.html &&
	sed -n "s/^const index = \(.*\);$/\1/p" "$made/html/search.js" >index && jq -e "map(select(.[0] == \"--range B:E\")) | map(.[1]) | contains([\"evenstep-run.1.html#range\"])" index &&
	jq -r ".[][1]" index | sed "s/#.*//" | sort -u >found && comm -13 pages found >broken && cat broken && test ! -s broken
'
# Of the pages of others only these are referred to.
test_expect_success 'every page of evenstep that a page refers to is there' '
	(cd "$EVENSTEP_SRC" && grep -ohE "^\.(It )?Xr (evenstep[a-z.-]*|libevenstep[a-z-]*) [1-8]" launcher/*.[1-8] launcher/*/*.[1-8] policy/*.[1-8] spank_plugin/*.[1-8]) |
		sed "s/.*Xr //; s/ /./" | sort -u >referred && grep -x evenstep-run.1 referred &&
	while read -r page; do test -s $page || { echo "missing: $page" && return 1; }; done <referred
'
test_expect_success 'evenstep.conf(5) has every section and key of evenstep config' '
	evenstep config >config && grep -oE "^ *[a-zA-Z_]+ (=|\"|\{)" config | grep -oE "[a-zA-Z_]+" | sort -u >keys &&
	grep -x budget_ms keys && grep -x outlier keys &&
	while read -r key; do grep -qw -e "$key" evenstep.conf.5 || { echo "missing: $key" && return 1; }; done <keys
'
test_expect_success 'evenstep.conf(5) has every policy, and evenstep-policies(7) what it does' '
	sed -n "s/^policy \"\(.*\)\" {/\1/p" config >titles && test -s titles &&
	while read -r title; do
		{ grep -q "\"$title\"" evenstep.conf.5 && grep -qw "$title" evenstep-policies.7; } || { echo "missing: $title" && return 1; }
	done <titles
'
test_expect_success 'srun --help names every profile that is shipped' '
	sed -n "/what the step needs most/,/OPTION_PROFILE/p" "$EVENSTEP_SRC/spank_plugin/plugin_options.c" >told && test -s told &&
	EVENSTEP_CONF= evenstep config | sed -n "s/^profile \"\(.*\)\" {/\1/p" >shipped && test "$(wc -l <shipped)" -ge 5 &&
	while read -r profile; do grep -qw "$profile" told || { echo "missing: $profile" && return 1; }; done <shipped
'
test_expect_success 'evenstep-plugin(8) has every option and argument of the plugin' '
	grep -ohE "\"evenstep(-[a-z]+)?\"" "$EVENSTEP_SRC/spank_plugin/plugin_options.c" | tr -d \" | sort -u >options && test -s options &&
	while read -r option; do grep -q -e "--$option" evenstep-plugin.8 || { echo "missing: $option" && return 1; }; done <options &&
	for argument in config default launcher timeout; do grep -q "$argument=" evenstep-plugin.8 || return 1; done
'
# {end} is behind the last unit, and seq prints its last number.
test_expect_success 'no example does the last unit of a piece twice' '
	(cd "$EVENSTEP_SRC" && grep -rnIE "seq \{begin\} \{end\}" launcher policy spank_plugin etc contrib README.md) >twice; cat twice; test ! -s twice
'
# Publications are cited by their numbers, and HISTORY has them.
test_expect_success 'nothing refers to papers that are not in the tree' '
	(cd "$EVENSTEP_SRC" && grep -rnIE "(^|[^-a-z])[Ss]eed [1-5]\\b|[Pp]atent|to the letter|(design|house)\.md|\\b[Ss]tudy\\b" \
		launcher policy pmix_bcast spank_plugin etc contrib t README.md Makefile) | grep -vE "^(t/0004-manual.t|README.md:[0-9]+:.*patents of their owners|launcher/evenstep.1:[0-9]+:.*patents)" >foreign; cat foreign; test ! -s foreign &&
	for number in 8,645,454 9,477,533 102486739 103235742; do
		(cd "$EVENSTEP_SRC" && grep -rlF "$number" launcher policy pmix_bcast --include="*.[ch]" | head -n 1 | grep .) && grep -F "$number" evenstep.1 && grep -F "$number" "$EVENSTEP_SRC/README.md" || return 1
	done
'
test_done
