#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='files that others have written: what stands before a text, at the ends of its lines, and what is no text'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
run() { evenstep run --local 2 --metrics equal "$@" 2>err; }
bom() { printf '\357\273\277' && cat; }

# --- a byte order mark, and CRLF ---------------------------------------------------------
test_expect_success 'a byte order mark is in no line, with a header or without' '
	seq 100 >list && bom <list >marked && run --lines marked -- cat >got && test_cmp list got &&
	run --lines marked --header 1 -- sed 1d >got && sed 1d list | test_cmp - got &&
	printf ">s\nACGT\nAC\n>t\nAC\n" | bom >fasta && test_expect_code 2 run --lines fasta -- cat >got && mentioned "evenstep: --lines: fasta looks like FASTA.*" &&
	run --lines fasta --recstart ">" -- cat >got && bom <got | cmp - fasta && ! mentioned "does not begin with it" &&
	run --lines marked --journal j -- cat >got && run --lines marked --journal j --resume -- cat >got && test_cmp list got &&
	bom <marked >twice && run --lines twice -- cat >got && cmp marked got
'
test_expect_success 'a file with nothing but the mark is empty' '
	bom </dev/null >only && test_expect_code 2 run --lines only -- cat && said "evenstep: --lines: only: is empty: name a file of lines"
'
test_expect_success '--queue: neither the mark nor the CR of CRLF is in a frame or its label' '
	printf "0:4 a b\r\n0:2\r\n0:1 c\r\n" | bom >queue && run --queue queue --joblog log -- echo "[{label}]" | sort -u >got &&
	printf "[]\n[a b]\n[c]\n" | sort >want && test_cmp want got
'
test_expect_success 'configuration, metrics, works, reports, lists and graphs may begin with the mark' '
	echo "profile \"mine\" { C = 0.3 M = 0.6 }" | bom >conf && EVENSTEP_CONF=$PWD/conf evenstep config >got && grep -q "^profile.*mine" got &&
	echo "{\"nodes\": [{\"name\": \"local0\", \"C\": 1, \"M\": 1, \"I\": 1, \"B\": 1}, {\"name\": \"local1\", \"C\": 1, \"M\": 1, \"I\": 1, \"B\": 1}]}" | bom >metrics &&
	evenstep run --local 2 --metrics metrics --report plain --range 0:8 -- echo {begin} {end} >got 2>err && bom <plain >report &&
	evenstep report plain >want && evenstep report report | sed s/report/plain/ >got && sed s/report/plain/ want | test_cmp - got &&
	evenstep replay --policy even <report >got && test -s got &&
	echo "{\"tasks\":[{\"id\":1,\"time\":1}],\"edges\":[]}" | bom >graph && evenstep graph import graph >got && grep -q tasks got &&
	mkdir -p tree dst && echo x >tree/a && echo a | bom >names && evenstep bcast --local 1 -r --files-from names tree "$PWD/dst/out" 2>err && cat dst/out/a
'

# --- what is no text ---------------------------------------------------------------------
seq 1000 >plain
packers='gzip bzip2 xz zstd lz4'
for packer in $packers; do
	command -v "$packer" >/dev/null || continue
	test_expect_success "$packer: its text is read" '
		$packer -c <plain >packed && run --lines packed -- cat >got && test_cmp plain got && said "evenstep: --lines: packed: is $packer: its text is read by $packer -dc" &&
		evenstep run --local 2 --metrics equal --lines - -- cat <packed >got 2>err && test_cmp plain got &&
		head -c $(($(wc -c <packed) / 2)) packed >cut && test_expect_code 2 run --lines cut -- cat >got && test ! -s got && said "evenstep: --lines: cut: cannot be unpacked by $packer -dc: give one that is whole"
	'
done
test_expect_success 'looks are at the text that was packed, and a journal knows it again' '
	printf ">s\nACGT\n>t\nAC\n" | gzip >fa.gz && test_expect_code 2 run --lines fa.gz -- cat && mentioned "fa.gz looks like FASTA" &&
	gzip -c plain >plain.gz && run --lines plain.gz --journal packed.j -- cat >got && gzip -1 -c plain >plain.gz && run --lines plain.gz --journal packed.j --resume -- cat >got && test_cmp plain got && ! grep warning err
'
test_expect_success 'without the program: exit 2, names it' '
	mkdir -p none && gzip -c plain >plain.gz && test_expect_code 2 env PATH="$PWD/none" "$EVENSTEP_BUILD/evenstep" run --local 2 --lines plain.gz -- /bin/cat 2>err &&
	said "evenstep: --lines: plain.gz: is packed by gzip, which is not here: install that, or give its text"
'
while IFS='|' read -r make message; do
	test_expect_success "$make: exit 2, with what to type" '
		printf "1\n2\n3\n" | $make >odd && test_expect_code 2 run --lines odd -- cat >got && test ! -s got && said "evenstep: --lines: odd: $message"
	'
done <<'END'
iconv -t UTF-16|is UTF-16: iconv -f UTF-16 -t UTF-8 <odd [|] evenstep run --lines - ...
iconv -t UTF-32|is UTF-32: iconv -f UTF-32 -t UTF-8 <odd [|] evenstep run --lines - ...
iconv -t UTF-16LE|has bytes 0, and is no text: give --recend '.0' where one ends each name, or make it a text .iconv.; or --record 1, if each line is a unit
tr \n \r|its lines end with CR alone: tr '.r' '.n' <odd [|] evenstep run --lines - ...
tr \n \0|has bytes 0, and is no text: .*
END
test_expect_success 'a list of names with a byte 0 behind each, and a text that begins as bzip2 does' '
	printf "a b\0c\0" >names0 && run --lines names0 --recend "\\0" --policy manual:size=1 -- tr "\0" "\n" >got && printf "a b\nc\n" | test_cmp - got &&
	printf "BZhang\n" >name && run --lines name -- cat >got && test_cmp name got
'
test_expect_success '--queue: exit 2, with what to type' '
	echo 0:4 | gzip >queue && test_expect_code 2 run --queue queue -- echo {begin} && said "evenstep: --queue: queue: is gzip: gzip -dc <queue [|] evenstep run --queue - ..." &&
	echo 0:4 | iconv -t UTF-16 >queue && test_expect_code 2 run --queue queue -- echo {begin} && said "evenstep: --queue: queue: is UTF-16: iconv .*"
'
test_done
