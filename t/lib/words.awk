# SPDX-License-Identifier: BSD-2-Clause
#
# words.awk - counts, in manual pages (mdoc) and in Markdown, what people read badly.
#
#   awk [-v show=1] -f words.awk FILE...
#
# prints a line "FILE KIND COUNT" for each kind that FILE has; with show=1 a line
# "FILE:LINE: KIND: TEXT" for each place.  The kinds:
#   told     a tool that tells or hears: it prints, reports, warns, receives
#   retire   a word for which the glossary has another one
#   what     "what" in the place of a noun
#   begins   a sentence that begins with What, Of, Where or Likewise
#   long     a sentence of more than 30 words
# Text that is typed or shown (literal blocks, .Dl, fences of Markdown) does not count, nor
# do the names of options, keys, files and functions.
function hit(kind, text) {
	count[kind]++
	if (show) print FILENAME ":" FNR ": " kind ": " text
}

# The number of times that the words PHRASE stand in TEXT, which has blanks around each word.
function times(text, phrase,    n, at) {
	for (n = 0; (at = index(text, " " phrase " ")) > 0; n++) text = substr(text, at + length(phrase) + 1)
	return n
}

# Words of prose: lower case, no punctuation, blanks around each.
function bare(text) {
	gsub(/\\[&%:|~]/, "", text)
	text = tolower(text)
	gsub(/[^a-z0-9{}_-]+/, " ", text)
	return " " text " "
}

# Ends the sentence that SENTENCE (all words) and PROSE (without names) hold.
function end_sentence(    words, n, i, k, w, first) {
	n = split(sentence, w, " ")
	for (i = 1; i <= n; i++) if (w[i] ~ /[A-Za-z0-9]/) words++
	if (words > 30) hit("long", words " words: " sentence)
	first = sentence
	sub(/^[^A-Za-z]*/, "", first)
	if (first ~ /^(What|Of|Where|Likewise)[ ,]/) hit("begins", substr(first, 1, 60))
	prose = bare(prose)
	gsub(/ /, "  ", prose) # so that neighbours do not share a blank
	gsub(/  /, " ", prose)
	for (k in kind_of) for (i = times(prose, k); i > 0; i--) hit(kind_of[k], k ": " substr(sentence, 1, 90))
	sentence = prose = ""
}

function words(kind, list,    n, w) {
	for (n = split(list, w, ","); n > 0; n--) kind_of[w[n]] = kind
}

function end_file(    k, n, names) {
	end_sentence()
	n = split("told retire what begins long", names, " ")
	for (k = 1; k <= n; k++) if (count[names[k]] && !show) print file, names[k], count[names[k]]
	split("", count)
	literal = skip = references = table = 0
}

BEGIN {
	words("told", "tell,tells,told,telling,hear,hears,heard")
	words("what", "what")
	words("retire", "folder,folders,at work,leave out,leaves out,left out,leaving out,left away,leave away,dear,this host,submit side,host of srun")
	words("retire", "companion,attended,qualify,qualifies,behind,begin,begins,beginning,begun,began,to be had,so many,likewise,bring,brings,brought,bringing")
	words("retire", "do again,done again,does again,equal parts,the run before,on the average,take away,taken away,takes away,given up,answer,answers,bundle,bundles")
	n = split("Fl Cm Ic Ev Pa Ql Li Va Nm Fn Fa Ft Xr Dv Er Vt Cd Lk", m, " ")
	for (i = 1; i <= n; i++) name[m[i]] = 1
	n = split("Ar No Sq Dq Qq Pq Bq Brq Em Sy Sx Ns Op Oo Oc Po Pc Qo Qc Do Dc So Sc Bo Bc Bro Brc Ta Ap Tn An Mt", m, " ")
	for (i = 1; i <= n; i++) other[m[i]] = 1
}
FNR == 1 {
	if (NR > 1) end_file()
	file = FILENAME
	sub(/^\.\//, "", file)
	markdown = FILENAME ~ /\.md$/
}
markdown {
	if (/^```/) { end_sentence(); literal = !literal; next }
	if (literal || /^    /) { end_sentence(); next }
	if (/^[ \t]*$/ || /^#/ || /^!\[/) { end_sentence(); next }
	line = $0
	if (line ~ /^\|/ || line ~ /^ *[*-] / || line ~ /^ *[0-9]+\. /) end_sentence()
	gsub(/`[^`]*`/, "CODE", line)
	gsub(/\]\([^)]*\)/, "", line)
	gsub(/[*][*]/, "", line)
	table = line ~ /^\|/
	n = split(line, w, table ? / *[|] */ : " ")
	for (i = 1; i <= n; i++) {
		sentence = sentence " " w[i]
		prose = prose " " w[i]
		if (table) end_sentence()
		else if (w[i] ~ /[.!?][)"*]*$/ && w[i] !~ /^(e\.g|i\.e|etc)\.$/) end_sentence()
	}
	next
}
/^\.\\"/ { next }
/^\.Sh/ {
	end_sentence()
	skip = /^\.Sh (NAME|SYNOPSIS|SEE ALSO|AUTHORS)/
	literal = 0
	next
}
/^\.Rs/ { references = 1 }
/^\.Re/ { references = 0; next }
/^\.Bd/ { end_sentence(); literal = !/-ragged|-filled/; next }
/^\.Ed/ { end_sentence(); literal = 0; next }
literal || references || (skip && !/^\.Nd/) { next }
/^\.(Ss|Pp|Bl|El|Dl|D1|TS|TE|Dd|Dt|Os|ft|sp|br|ds|de|nf|fi)/ { end_sentence(); next }
/^\.It/ { end_sentence(); if (!/ Ta /) next; sub(/^\.It */, "."); table = 1 }
/^\./ {
	line = substr($0, 2)
	n = split(line, w, " ")
	code = 0
	for (i = 1; i <= n; i++) {
		if (w[i] in name) { code = 1; continue }
		if (w[i] in other || w[i] == "Nd") { code = 0; if (w[i] == "Ta") end_sentence(); continue }
		if (w[i] ~ /^[.,;:()]$/) { sentence = sentence w[i]; continue }
		if (code && w[i] ~ /^[0-9]$/ && w[1] == "Xr") continue
		sentence = sentence " " w[i]
		if (!code) prose = prose " " w[i]
		else prose = prose " NAME"
	}
	if (line ~ /(^| )[.!?]( [)])?$/ || line ~ /[a-z0-9][.]$/ && line !~ /^(Pa|Ql|Fl|Cm)/) end_sentence()
	if (table) { end_sentence(); table = 0 }
	next
}
{
	sentence = sentence " " $0
	prose = prose " " $0
	if (/[.!?][)"]*$/ || /[.!?]\\\(dq$/) end_sentence()
}
END { end_file() }
