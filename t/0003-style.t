#!/bin/sh
test_description='the house style holds'
. /usr/share/sharness/sharness.sh

# Another clang-format breaks other lines.
clang-format --version 2>&1 | grep -q ' version 14\.' && command -v cppcheck && command -v shellcheck && test_set_prereq STYLE

test_expect_success STYLE 'make lint has nothing to say' '
	make -s -C "$EVENSTEP_SRC" lint
'
test_expect_success 'every script of tests can be executed' '
	find "$EVENSTEP_SRC"/t -maxdepth 1 -name "*.t" ! -perm -u=x >other && cat other && test ! -s other
'
test_done
