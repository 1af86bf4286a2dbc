# SPDX-License-Identifier: BSD-2-Clause
#
# helpers.sh - what shell tests share: source it after sharness.sh.

# What commands have cost in one run decides the sizes in the next: here each run
# is the first.  Tests of what is kept name a folder of their own.
export XDG_STATE_HOME=/dev/null

# without_slurm: the programs of this build, outside of any job; scratch files
# are here.
without_slurm() {
	PATH=$EVENSTEP_BUILD:$PATH
	TMPDIR=$PWD
	export TMPDIR
	unset EVENSTEP_CONF SLURM_JOB_ID
}
# compile WORD...: with the compiler of this build, which may be more words than one
# (ccache cc).
compile() { ${CC:-cc} "$@"; }
# ends_with_test: $run, if there is one, is killed when the test is over.
ends_with_test() {
	run=''
	trap 'code=$?; test -z "$run" || kill -KILL $run 2>&-; (exit $code); die' EXIT
	trap 'exit 143' TERM
}

# wait_for SECONDS COMMAND...: polls until it is true, and fails at the limit.
# A limit is for what never comes, and costs nothing else: give a minute at
# least, as this machine may have ten times as much to do as it can.
wait_for() {
	helpers_tries=$(($1 * 20))
	shift
	until "$@"; do
		helpers_tries=$((helpers_tries - 1))
		test $helpers_tries -gt 0 || return 1
		sleep 0.05
	done
}

# said PATTERN: a whole line of the file err is so; mentioned: a part of one.
said() {
	cat err
	grep -qxE -e "$1" err
}
mentioned() {
	cat err
	grep -qE -e "$1" err
}

# fails STATUS PATTERN COMMAND...: it exits so, prints nothing, and says one line.
fails() {
	helpers_status=$1 helpers_pattern=$2
	shift 2
	test_expect_code "$helpers_status" "$@" >out 2>err </dev/null
	helpers_code=$?
	said "$helpers_pattern" && test $helpers_code = 0 && test ! -s out && lines err 1
}

# lines FILE N: it has so many.
lines() { test -e "$1" && test "$(wc -l <"$1")" = "$2"; }
# settled FILE: for wait_for; it has had one length for twenty looks in a row.
settled() {
	helpers_now=$(wc -l <"$1")
	if test "$helpers_now" = "$helpers_length"; then
		helpers_looks=$((helpers_looks + 1))
	else
		helpers_length=$helpers_now helpers_looks=0
	fi
	test "$helpers_looks" -ge 20
}
# started N: so many commands have said that they are there, in the file started.
started() { lines started "$1"; }

# dead PID...: all have ended, also those for which nobody has waited.
dead() {
	for helpers_each; do
		test ! -e "/proc/$helpers_each" || grep -qs "^State:.Z" "/proc/$helpers_each/status" || return 1
	done
}

# behind COMMAND...: in the background, its number in $run, its words in out and
# err; behind_to FILE COMMAND...: with another file for out.  It holds nothing
# that prove waits for.
behind_to() {
	helpers_out=$1
	shift
	rm -f started go
	"$@" >"$helpers_out" 2>err 3>&- 4>&- 5>&- &
	run=$!
}
behind() { behind_to out "$@"; }
