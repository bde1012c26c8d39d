#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion scripts complete commands, options and processes in bash, and are read by zsh and fish where these are.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"

check "bash" "$BPFPROF" completion bash
cp "$OUT" "$TMP/bash"

completed() { # WORDS...; what the last one can become, by the script
	bash -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _bpfprof; printf "%s\n" "${COMPREPLY[@]}"' _ "$TMP/bash" "$@" |
		sed 's/ *$//' | sort | tr '\n' ' '
}

is() { # EXPECTED WORDS...
	local expected=$1 got

	shift
	got=$(completed "$@")
	if [ "$got" = "$expected" ]; then
		pass "'$*' becomes $expected"
	else
		fail "'$*' becomes '$got', not '$expected'"
	fi
}

is "offcpu oncpu " bpfprof o
is "wakeup wall " bpfprof wa
is "--max-depth --max-mem --max-overhead --max-stacks " bpfprof oncpu -p 1 --max-
is "timeline top tracepoint " bpfprof doctor t
is "--verbose " bpfprof doctor --v
is "bash fish zsh " bpfprof completion ""
is "$$ " bpfprof offcpu -p "$$"
for command in $("$BPFPROF" --help | awk '/^  [a-z]/ { print $1 }'); do
	help=$("$BPFPROF" "$command" --help | grep -oE '^ +(-[A-Za-z], )? *--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u | tr '\n' ' ')
	is "$help" bpfprof "$command" --
done

# A process may be called anything; its name is no command.
cp "$(command -v sleep)" "$TMP/\$(touch pwned)" || exit 1
cd "$TMP" || exit 1
start "$TMP/\$(touch pwned)" 30
wait_until 5 grep -q pwned "/proc/$PID/comm"
is "pwned " bpfprof oncpu -p pwne
[ ! -e pwned ] || fail "completion ran the name of a process"

for shell in zsh fish; do
	check "$shell" "$BPFPROF" completion $shell
	cp "$OUT" "$TMP/$shell"
	check_grep "offcpu" "$TMP/$shell"
	check_grep "block.*only waits of at least" "$TMP/$shell"
	if command -v $shell >/dev/null; then
		check "$shell reads it" $shell -n "$TMP/$shell"
	fi
done
check_no_grep "'[*][(]" "$TMP/zsh" "what zsh takes for the words behind the options"
check_status 2 "another shell" "$BPFPROF" completion bsh
check_grep "did you mean 'bash'" "$ERR"
check_status 2 "no shell" "$BPFPROF" completion
finish
