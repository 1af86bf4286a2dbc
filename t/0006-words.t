#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='README, CHANGELOG, manuals and messages are in plain words: what falls short only gets less'
. /usr/share/sharness/sharness.sh

# t/words-allowed has what still falls short, a line each: file, kind, count.  A count that is
# higher fails, and so does one that is lower until the list says so, too: then it stays low.
# t/lib/words.awk has the kinds of prose; awk -v show=1 -f t/lib/words.awk FILE shows the places.
texts() { (cd "$EVENSTEP_SRC" && ls README.md CHANGELOG.md launcher/*.[1-8] launcher/*/*.[1-8] policy/*.[1-8] spank_plugin/*.[1-8]); }

counts() {
	cd "$EVENSTEP_SRC" || return 1
	# shellcheck disable=SC2046 # names of ours have no blanks
	awk -f t/lib/words.awk $(texts)
	# "X is no Y" in a message: it says what was expected instead.
	grep -rcE '"[^"]*[^a-z]is no [^"]*"' --include='*.[ch]' launcher pmix_bcast policy spank_plugin | sed -n 's/:\([1-9][0-9]*\)$/ is-no \1/p'
	# A page of a command says how it ends.
	for page in launcher/*.1 launcher/*/*.1 launcher/*/*.8; do
		grep -q '^\.Sh EXIT STATUS' "$page" || echo "$page exit 1"
	done
	# A key of the configuration says its default, and its range or values: a switch, words in
	# quotes, a path.
	awk '
		function end() {
			if (key != "" && (text !~ /[Dd]efault/ || text !~ /range|A switch|Ql ..dq|\.Pa |No default/)) ++n
			key = text = ""
		}
		/^\.(It Ic|Sh|Ss)/ { end(); if (/^\.It/ && !/ Q[qo] /) key = $3 } # those with a title are sections
		{ text = text $0 "\n" }
		END { end(); if (n > 0) print FILENAME, "key", n }' launcher/config/evenstep.conf.5
}
# compared ALLOWED COUNTED: fails, with a line each, where they differ.
compared() {
	awk -v allowed="$1" '
		BEGIN { while ((getline line <allowed) > 0) { split(line, w, " "); may[w[1] " " w[2]] = w[3] } }
		{
			is = $1 " " $2
			if ($3 > may[is] + 0) { print is ": " $3 ", may have " may[is] + 0; bad = 1 }
			if ($3 < may[is]) { print is ": " $3 ", better than " may[is] ": say so in t/words-allowed"; bad = 1 }
			seen[is] = 1
		}
		END {
			for (is in may) if (!(is in seen)) { print is ": 0, better than " may[is] ": take it out of t/words-allowed"; bad = 1 }
			exit bad
		}' "$2"
}

(counts) | LC_ALL=C sort >counted
awk '{ n[$2] += $3 } END { for (kind in n) print "# " kind ": " n[kind] }' counted | sort

test_expect_success 'there are texts to count in' '
	texts >pages && grep -x README.md pages && grep -x launcher/run/evenstep-run.1 pages && test "$(wc -l <pages)" -ge 25
'
test_expect_success 'each kind is seen where it is, and not where it is not' '
	cat >bad.1 <<-\END &&
	.Sh DESCRIPTION
	What a node is told is in this folder.
	Of
	.Fl -begin
	nothing is counted:
	.Bd -literal
	What is told here is typed.
	.Ed
	One two three four five six seven eight nine ten one two three four five six seven eight nine ten
	one two three four five six seven eight nine ten, and one.
	END
	awk -f "$EVENSTEP_SRC/t/lib/words.awk" bad.1 | sort >have &&
	printf "bad.1 %s\n" "begins 2" "long 1" "retire 1" "told 1" "what 1" >want && test_cmp want have &&
	printf "%s\n" ".Sh DESCRIPTION" "Nodes print lines." ".It Fl -begin" "Start with unit" ".Ar B ." >good.1 &&
	awk -f "$EVENSTEP_SRC/t/lib/words.awk" good.1 >have && test_must_be_empty have
'
test_expect_success 'the list of what falls short is held from both sides' '
	echo "a.1 told 2" >may && echo "a.1 told 2" >is && compared may is &&
	echo "a.1 told 3" >is && test_must_fail compared may is && echo "a.1 told 1" >is && test_must_fail compared may is &&
	: >is && test_must_fail compared may is && echo "b.1 long 1" >>is && test_must_fail compared may is
'
test_expect_success 'no text has more than it may, and the list says no more than there is' '
	compared "$EVENSTEP_SRC/t/words-allowed" counted
'
test_done
