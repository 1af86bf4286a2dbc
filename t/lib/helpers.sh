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
# end_ours PID...: those of them that this test has started, by the HOME that
# sharness has given it alone.  A number that was noted may be another's by now:
# where many tests run they come round within minutes.
end_ours() {
	for helpers_each; do
		! grep -zqxF -e "HOME=$HOME" "/proc/$helpers_each/environ" 2>&- || kill -KILL "$helpers_each" 2>&-
	done
}
# ends_with_test: $run, if there is one, is killed when the test is over.
# So are its $agents, which may have been stopped.
ends_with_test() {
	run='' agents=''
	trap 'code=$?; end_ours $run $agents; (exit $code); die' EXIT
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

# dead PID...: all have ended, also those for which nobody has waited.  It starts no
# process, as some look for that without a rest.
dead() {
	for helpers_each; do
		read -r helpers_state 2>&- <"/proc/$helpers_each/stat" || continue
		case $helpers_state in *') Z '*) ;; *) return 1 ;; esac
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

# opened N PATTERN: for held_while; $agents have so many files of such names open, at least.
# shellcheck disable=SC2046,SC2086 # numbers
opened() { test "$(find $(printf '/proc/%s/fd ' $agents) -lname "$2" 2>&- | wc -l)" -ge "$1"; }
# held_while IS_SO N COMMAND...: a broadcast behind, whose N agents ($agents) are stopped
# while it is so; COMMAND may be a function that ends with exec.  On a machine that is
# fast, or at work, it may be over between two looks: so they are taken without a rest,
# and if it was too late all is begun anew.
# shellcheck disable=SC2086 # numbers
held_while() {
	helpers_is_so=$1 helpers_agents=$2
	shift 2
	for helpers_try in $(seq 20); do
		behind "$@"
		until agents=$(pgrep -P $run -x evenstep-agent) && test "$(echo "$agents" | wc -l)" = "$helpers_agents" || dead $run; do :; done
		until $helpers_is_so || dead $run; do :; done
		kill -STOP $agents 2>&- && ! dead $run && $helpers_is_so && return
		kill -CONT $agents 2>&-
		wait $run
	done
	return 1
}
