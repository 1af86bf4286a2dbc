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
	printf ">s\nACGT\nAC\n>t\nAC\n" | bom >fasta && run --lines fasta -- cat >got && mentioned "evenstep: --lines: fasta looks like FASTA.*" &&
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
test_done
