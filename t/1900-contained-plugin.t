#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the plugin, where Slurm runs its hooks in processes of their own (contain_spank)'
. /usr/share/sharness/sharness.sh

test_expect_success 'evenstep-power hears of a task from another process than started it, and of the end' '
	cc -rdynamic -o contained "$EVENSTEP_SRC/t/programs/contained.c" -ldl &&
	cat >evenstep-power <<-\END && chmod +x evenstep-power &&
	#!/bin/sh
	while read -r line; do
		echo "task $line" >>"${0%/*}/heard"
		echo ok
	done
	echo end >>"${0%/*}/heard"
	END
	timeout 20 ./contained "$EVENSTEP_BUILD/evenstep.so" "$PWD" 2>err; cat err &&
	printf "task 4711\nend\n" >want && test_cmp want heard
'
test_done
