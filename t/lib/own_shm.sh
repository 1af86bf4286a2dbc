# SPDX-License-Identifier: BSD-2-Clause
#
# own_shm.sh - to be sourced before sharness.sh by a test of what `evenstep top` shows:
# where this may be done the test has a /dev/shm of its own, as top shows all runs of a
# user, and other tests run beside this one.

if [ -z "${OWN_SHM:-}" ] && unshare -m mount -t tmpfs none /dev/shm 2>&-; then
	OWN_SHM=1 exec unshare -m sh -c 'mount -t tmpfs -o mode=1777 none /dev/shm && exec sh "$@"' sh "$0" "$@"
fi
