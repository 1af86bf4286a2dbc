#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='agents find each other by PMIx or without it, few of them and many'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF SLURM_JOB_ID

# by WAY COMMAND...: configured to that.
by() {
	printf 'wireup = "%s"\n' "$1" >own.conf
	shift
	env EVENSTEP_CONF="$PWD/own.conf" "$@"
}
seq 0 99 >want

test_expect_success 'tcp: the whole output, and no PMIx server, which has its folder in TMPDIR' '
	by tcp env TMPDIR=/nowhere evenstep run --local 3 --metrics equal --range 0:100 -- sh -c "exec seq {begin} \$(({end} - 1))" >got 2>err &&
	test_cmp want got && test_expect_code 3 by pmix env TMPDIR=/nowhere evenstep run --local 3 --range 0:100 -- true 2>err &&
	said "evenstep: .*: set TMPDIR to a directory that you may write"
'
# More than home gives the table to itself: it goes down the tree.
for way in tcp pmix; do
	test_expect_success "$way: 70 agents know each other, a file comes to all of them" '
		rm -rf to && mkdir to && head -c 200000 /dev/urandom >file && by $way evenstep bcast --local 70 --verify file "$PWD/to/{node}" &&
		for each in $(seq 0 69); do cmp file to/local$each || return 1; done
	'
done
# alone COMMAND...: where there is no IPv4, not even 127.0.0.1.
alone() { unshare --user --map-root-user --net sh -c 'ip link set lo up && ip -4 addr flush dev lo && exec "$@"' - "$@"; }
if alone ip -6 addr show dev lo 2>/dev/null | grep -q ::1; then
	test_set_prereq IPV6
fi
test_expect_success IPV6 'without IPv4 on this machine it is ::1: a file comes to all, also by its network' '
	rm -rf to && mkdir to && head -c 200000 /dev/urandom >file &&
	printf "wireup = \"tcp\"\n" >own.conf && alone env EVENSTEP_CONF="$PWD/own.conf" evenstep bcast --local 3 --interface ::/0 file "$PWD/to/{node}" 2>err && cat err && ! grep common err &&
	for each in 0 1 2; do cmp file to/local$each || return 1; done
'
test_expect_success 'tcp: what is run knows nothing of the start' '
	by tcp evenstep run --local 1 --metrics equal --range 0:1 -- env >environ && grep "^EVENSTEP_BEGIN=" environ &&
	! grep -E "^EVENSTEP_(SECRET|HOME|WIREUP|RANK|AGENTS?)=" environ
'
cat >dying <<END
#!/bin/sh
test \$EVENSTEP_AGENT != local1 || kill -9 \$\$
exec "$EVENSTEP_BUILD/evenstep-agent"
END
chmod +x dying
test_expect_success 'tcp: an agent that dies in the start: exit 3' '
	printf "wireup = \"tcp\"\nplugin { agent_path = \"%s/dying\" }\n" "$PWD" >own.conf &&
	test_expect_code 3 env EVENSTEP_CONF="$PWD/own.conf" evenstep run --local 3 --range 0:100 -- true 2>err &&
	said "evenstep: the agents ended before they were ready: see what it says"
'
test_expect_success 'another word than auto, pmix or tcp: exit 2, names it' '
	test_expect_code 2 by udp evenstep run --local 3 --range 0:100 -- true 2>err &&
	said "evenstep: .*own.conf:1: wireup is out of range: give \"auto\", \"pmix\" or \"tcp\""
'
test_done
