#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='records of a file as units, a header for each command, and files that look as if they had some'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
lines() { evenstep run --local 3 --metrics equal --lines "$@"; }
awk 'BEGIN { for (i = 0; i < 500; i++) { print ">r" i " a>b"; for (k = 0; k < i % 7; k++) print "ACGT" } }' >fasta
awk 'BEGIN { for (i = 0; i < 300; i++) print "@r" i "\nACGT\n+\n@+>I" }' >fastq
awk 'BEGIN { print "name,size"; for (i = 0; i < 300; i++) print "n" i "," i }' >table

test_expect_success '--recstart: every command gets whole records, and as many as it has units' '
	lines fasta --recstart ">" -- sh -c "cat >part.{begin}; test \$(grep -c ^\> part.{begin}) = {count} && head -c 1 part.{begin} | grep -q \> && cat part.{begin}" >got 2>err &&
	cmp fasta got && ! grep "looks like" err && ls part.* && test "$(ls part.* | wc -l)" -ge 3 && rm part.*
'
test_expect_success '--record 4: likewise, though a line of letters begins with an @' '
	lines fastq --record 4 -- sh -c "test \$(tee part.{begin} | wc -l) = \$((4 * {count})) && head -n 1 part.{begin} | grep -q ^@r && cat part.{begin}" >got 2>err &&
	cmp fastq got && ! grep "looks like" err && rm part.*
'
test_expect_success '--recend: between two marks, and what is behind the last of them' '
	printf "a\n--\nb--\nc\n--\nd" >marks && lines marks --recend "\\n--\\n" -- sh -c "cat; echo \"[{begin}:{end}]\"" >got 2>err && cat got &&
	lines marks --recend "\\n--\\n" --policy manual:size=1 --pieces 1 -- cat >got && cmp marks got &&
	test "$(lines marks --recend "\\n--\\n" --may-leave-lines -- echo {count} | awk "{ n += \$1 } END { print n }")" = 3
'
test_expect_success '--header: before what each command reads, and no unit' '
	lines table --header 1 -- sh -c "head -n 1 >head.{begin}; cat" >got 2>err && sed 1d table | cmp - got && ! grep "first line of names" err &&
	ls head.* && cat head.* | sort -u >heads && echo name,size | test_cmp - heads
'
test_expect_success '--header: a command that reads it first makes nothing of it, and of one that does not a line warns' '
	printf "%s\n" name,size ant,3 bee,12 cat,4000 >rows && printf "ant is 3\nbee is 12\ncat is 4000\n" >want && of_row="IFS=, read -r name size; do echo \"\$name is \$size\"; done" &&
	lines rows --header 1 --policy manual:size=1 -- sh -c "read -r header; while $of_row" >got 2>err && test_cmp want got && ! grep "the header" err &&
	lines rows --header 1 --policy manual:size=1 -- sh -c "while $of_row" >got 2>err && test "$(grep -c "^name is size" got)" = 3 &&
	said "evenstep: --header: each piece begins with the header, which \"while\" takes for a unit: read it before, as in sh -c \"read -r header; while ...\"" &&
	lines rows --header 1 -- xargs -n 1 >got 2>err && mentioned "which \"xargs\" takes for a unit" && lines rows -- xargs -n 1 >got 2>err && ! grep "the header" err
'
test_expect_success 'records and a journal: resumed, and refused with other records' '
	lines fasta --recstart ">" --journal journal -- cat >got && cmp fasta got && truncate -s -200 journal &&
	lines fasta --recstart ">" --journal journal --resume -- cat >got && cmp fasta got &&
	test_expect_code 2 lines fasta --recstart ">" --header 1 --journal journal --resume -- cat 2>err &&
	said "evenstep: --journal: journal: is of another work: lines .*" &&
	test_expect_code 2 lines fasta --recstart ">r" --journal journal --resume -- cat 2>err &&
	said "evenstep: --journal: journal: is of another work: lines .*"
'
printf "@a\nACGT\nAC\n+\nIIII\nII\n" >wrapped
printf "##fileformat=VCFv4.2\n#CHROM\tPOS\n1\t2\n" >vcf
for name in a b c; do echo ">$name" && head -c 20000 /dev/zero | tr "\0" A && echo; done >contigs
while IFS='|' read -r file message; do
	test_expect_success "$file without these options: exit 2, says what is wrong, and what mends it" '
		test_expect_code 2 lines $file -- cat >got 2>err && test ! -s got && said "evenstep: --lines: $file $message; or --record 1, if each line is a unit" &&
		{ echo name; cat $file; } >headed && test_expect_code 2 lines headed --header 1 -- cat >got 2>err && said "evenstep: --lines: headed $message; or --record 1, if each line is a unit" &&
		lines $file --record 1 -- cat >got 2>err && cmp $file got && ! grep -e "--record 1" err
	'
done <<'END'
fasta|looks like FASTA, and is cut within its records: give --recstart '>'
fastq|looks like FASTQ, and is cut within its records: give --record 4
wrapped|looks like FASTQ of more than four lines a record, and is cut within its records: write them in four, as by seqtk seq, and give --record 4
contigs|looks like FASTA, and is cut within its records: give --recstart '>'
END
while IFS='|' read -r file message; do
	test_expect_success "$file without these options: one line says what is wrong, and what mends it" '
		lines $file -- cat >got 2>err && cmp $file got && said "evenstep: --lines: $file $message; or --record 1, if each line is a unit" &&
		lines $file --record 1 -- cat >got 2>err && cmp $file got && ! grep -e "--record 1" err
	'
done <<'END'
table|has a first line of names above numbers, which is taken for a unit: give --header 1
vcf|begins with 2 lines that are no records, and are taken for units: give --header 2
END
# --- by what the options make of it -----------------------------------------------------
awk 'BEGIN { for (i = 0; i < 300; i++) print "@r" i "\nACGT\n+\n" (i == 250 ? "@II" : "@III") }' >short
awk 'BEGIN { for (i = 0; i < 5000; i++) print (i >= 4990 ? "ACGT\n>s" i : ">s" i "\nACGT") }' >turned
awk 'BEGIN { for (i = 0; i < 8; i++) print "@r" i "\nACGTACGTAC\nGTACGTACGT\n+\n@IIIIIIIII\nFFFFFFFFFF" }' >folded
{ cat fastq && printf '\n\n'; } >trailing
printf 'id,text\n1,"a\nb"\n2,c\n' >quoted
printf '"Well, then,\nhe said, "go."\n"No,\nnever, or so."\n' >prose2
printf '["a, \\"b", 1]\n["c", "d\\", e"]\n' >json
printf 'id;text;more\r\n1;"a ""x""\r\nb";z\r\n' >excel
printf 'id\ttext\n1\t"a, b"\n2\t"say ""no"""\n3\t5" disk\n' >sound
while IFS='|' read -r options message; do
	test_expect_success "$options: exit 2, before anything begins" '
		test_expect_code 2 lines $options -- cat >got 2>err && test ! -s got && said "evenstep: $message"
	'
done <<'END'
folded --record 4|--record 4: record 1 of folded is not FASTQ of four lines each: write each in four lines, as by seqtk seq, and give --record 4; or --record 1, if each line is a unit
folded --record 6|--record 6: record 1 of folded is not FASTQ of four lines each: .*
fastq --record 2|--record 2: record 1 of fastq is not FASTQ of four lines each: .*
short --record 4|--record 4: record 251 of short is not FASTQ of four lines each: .*
fastq --recstart @|--recstart @: a line of qualities of fastq may begin with it, too: give --record 4; or --record 1, if each line is a unit
turned --record 2|--record 2: record 5000 of turned does not begin with > as the first does: give --recstart '>'; or --record 1, if each line is a unit
quoted|--lines: quoted: a field in quotes begins in line 2 and ends in another, and is cut between them: write each record in one line; or --record 1, if each line is a unit
quoted --header 1|--lines: quoted: a field in quotes begins in line 2 and ends in another, .*
excel|--lines: excel: a field in quotes begins in line 2 and ends in another, .*
END
test_expect_success 'records of other formats that do not begin as the first does: a warning' '
	printf "[a]\nx=1\n[b]\nx=2\ny=3\n[c]\nx=1\n" >ini && sed -i "\$ a z=1" ini && lines ini --record 2 -- cat >got 2>err && cmp ini got &&
	said "evenstep: warning: --record 2: record 3 of ini does not begin with .*, as the first does" && head -n 4 ini >even && lines even --record 2 -- cat >got 2>err && ! grep warning err
'
test_expect_success 'what is whole by the options is not doubted' '
	for options in "fastq --record 8" "trailing --record 4" "fastq --recstart @r" "fasta --recstart >" "quoted --record 1" "sound --header 1" "folded --recstart @r" prose2 json; do
		lines $options -- cat >got 2>err && ! grep -e "--record 1" err || return 1
	done
'
test_expect_success 'plain lists are never doubted' '
	seq 100 >numbers && ls /usr/bin >words && seq -f "%.0f,x" 50 >pairs && find "$EVENSTEP_SRC/t" -name "*.c" >paths && cp "$EVENSTEP_SRC/README.md" prose &&
	for file in numbers words pairs paths prose; do lines $file -- cat >got 2>err && cmp $file got && ! grep -e "--record 1" err || return 1; done
'
printf '>a\nACGT\n' >one
printf '\n\n' >blank
while IFS='|' read -r options message; do
	test_expect_success "$options: exit 2, says why" '
		test_expect_code 2 evenstep run --local 2 $options -- true >got 2>err && test ! -s got && said "evenstep: $message"
	'
done <<'END'
--lines table --recstart >|--recstart: ">" is nowhere in table, which would be one unit: say what its records begin or end with
--lines table --recend ;|--recend: ";" is nowhere in table, which would be one unit: say what its records begin or end with
--lines table --recend \x|--recend: "\\x" is unknown: give .*
--lines table --recstart > --record 2|--record and --recstart exclude each other: give one of them
--lines fastq --record 7|--record 7: the last record of fastq has only 3 lines: mend the file, or give another number
--lines blank --record 4|--record 4: the last record of blank has only 2 lines: mend the file, or give another number
--lines one --header 2|--header 2: one has nothing behind them: give fewer lines
--lines one --header 9|--header 9: one has nothing behind them: give fewer lines
--range 0:4 --record 4|--record: there is no --lines: give --lines FILE.-, too
--range 0:4 --header 1|--header: there is no --lines or --each: give --lines FILE.-, too
END
test_expect_success 'a start that is empty, and an end without a start: exit 2' '
	test_expect_code 2 lines table --recstart "" -- cat 2>err && said "evenstep: --recstart is empty: .*" &&
	test_expect_code 2 lines table --recend "" -- cat 2>err && said "evenstep: --recend is empty: .*"
'
test_done
