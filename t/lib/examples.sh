# SPDX-License-Identifier: BSD-2-Clause
#
# examples.sh - what the README and the manuals tell a reader to type, for scripts
# that type it: source it after sharness.sh.
#
# A block of commands is what stands between ```sh and ``` in the README, and a .Dl or a
# .Bd in the EXAMPLES of a manual.  The blocks of one text are typed in their order into
# one folder: what one makes the next one reads.

# Those that no test types, each by its first words: what they begin with, and why.
not_typed='
evenstep top|a live view; t/1800 and t/3310 look at it
evenstep join|helps a run of another job; t/3275 types it
sbatch -N4 --wrap .evenstep run --joinable|with the job that joins it; t/3275 types both
make |installs packages, or takes minutes; t/0002, t/0005, t/9000 and CI type it
'

# examples FILE FOLDER: each block becomes FOLDER/NN.sh; what the README shows of its
# output, in the block behind it, FOLDER/NN.out.
examples() {
	mkdir -p "$2" && awk -v folder="$2" '
		function begin() { to = sprintf("%s/%02d.sh", folder, ++n) }
		function end() { close(to); to = "" }
		# mdoc has its own way to write some characters.
		function plain(text) {
			gsub(/\\e/, "\\", text)
			gsub(/\\&/, "", text)
			gsub(/\\-/, "-", text)
			gsub(/\\\(dq/, "\"", text)
			gsub(/\\\(aq/, "\047", text)
			return text
		}
		/^```sh$/ { begin(); next }
		/^```$/ && to == "" && FILENAME ~ /\.md$/ { to = sprintf("%s/%02d.out", folder, n); next }
		/^```$/ { end(); next }
		/^\.Sh/ { inside = $0 == ".Sh EXAMPLES" }
		inside && /^\.Dl / { begin(); print plain(substr($0, 5)) >to; end(); next }
		inside && /^\.Bd/ { begin(); next }
		inside && /^\.Ed/ { end(); next }
		to != "" { print FILENAME ~ /\.md$/ ? $0 : plain($0) >to }' "$1"
}

# kind BLOCK: who types it: "slurm" or "local"; "both", as it only makes files; or
# "nobody", with the reason.
kind() {
	echo "$not_typed" | while IFS='|' read -r words reason; do
		test -z "$words" || ! grep -q "^$words" "$1" || { echo "nobody: $reason" && return 1; }
	done || return 0
	if grep -v '^# ' "$1" | grep -qwE 'salloc|srun|sbatch|scontrol|sinfo'; then
		echo slurm
	elif grep -qw evenstep "$1"; then
		echo local
	else
		echo both
	fi
}

# typed TEXT BLOCK HOW...: a test that types a block of TEXT, by HOW bash BLOCK, and that it
# prints what the text shows: the begin of each line, as numbers differ.
typed() {
	typed_text=$1 typed_block=$PWD/$2
	shift 2
	typed_how=$*
	typed_needs=''
	! grep -q -e --mpi=pmix "$typed_block" || typed_needs=PMIX
	test_expect_success $typed_needs "$typed_text: $(head -n 1 "$typed_block")" '
		{ (cd "$(dirname "$typed_block")" && $typed_how bash -e "$typed_block") >printed 2>&1 </dev/null; code=$?; cat printed; test $code = 0; } &&
		{ test ! -e "${typed_block%.sh}.out" || shown "${typed_block%.sh}.out"; }
	'
}
starts() { sed -E 's/[0-9]+([.][0-9]+)?/N/g' "$1" | cut -c 1-30; }
shown() {
	starts "$1" >want && starts printed >have && test -s want &&
		while read -r line; do grep -qxF -e "$line" have || { echo "not printed: $line" && return 1; }; done <want
}

# texts: the README and those manuals that have examples for a shell; in libevenstep(3)
# they are in C.
texts() {
	echo README.md
	(cd "$EVENSTEP_SRC" && grep -l '^\.Sh EXAMPLES' launcher/*.[1-8] launcher/*/*.[1-8] policy/*.[1-8] spank_plugin/*.[1-8] 2>&-) | grep -v '\.3$'
}

# type_all KIND HOW...: the blocks of all texts that are of KIND, or only make files.
type_all() {
	type_kind=$1
	shift
	for type_text in $(texts); do
		type_folder=$(basename "$type_text")
		examples "$EVENSTEP_SRC/$type_text" "$type_folder"
		for type_block in "$type_folder"/*.sh; do
			case $(kind "$type_block") in "$type_kind" | both) typed "$type_text" "$type_block" "$@" ;; esac
		done
	done
}
