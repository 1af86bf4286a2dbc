#!/bin/sh
test_description='the house style holds'
. /usr/share/sharness/sharness.sh

for tool in clang-format cppcheck shellcheck; do
	command -v $tool >/dev/null || { skip_all="$tool is not installed"; test_expect_success 'every script of tests can be executed' '
	find "$EVENSTEP_SRC"/t -maxdepth 1 -name "*.t" ! -perm -u=x >other && cat other && test ! -s other
'
test_done; }
done
test_expect_success 'make lint has nothing to say' '
	make -s -C "$EVENSTEP_SRC" lint
'
test_expect_success 'every script of tests can be executed' '
	find "$EVENSTEP_SRC"/t -maxdepth 1 -name "*.t" ! -perm -u=x >other && cat other && test ! -s other
'
test_done
