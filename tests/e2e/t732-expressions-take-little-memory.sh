#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A regular expression of a few characters that the C library would make gigabytes of is refused in one sentence, wherever
# one is taken; what people write is not.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_prog called
GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || lacks "$GEN is not built"
cd "$TMP" || exit 1
"$GEN" small small.bpfprof

plus=$(printf '+%.0s' {1..40})
limited() { # COMMAND...: with 512 MB of memory, and 10 s of CPU time
	run bash -c 'ulimit -v 1000000 -t 10; exec "$@"' bash "$@"
}
refused() { # WHY COMMAND...
	limited "${@:2}"
	check_near "$STATUS" 2 0 "exit status of ${*:3}"
	check_grep "^bpfprof: .*$1" "$ERR"
	check_near "$(grep -c . "$ERR")" 1 0 "sentences"
}
for option in --focus --ignore --peek; do
	refused "$option: no regular expression .it repeats what is repeated already, or can be empty, more than 8 times" "$BPFPROF" report "$option" "a$plus" small.bpfprof
done
refused "references back" "$BPFPROF" report --focus '(a)\1' small.bpfprof
refused "can be empty, more than 8 times" "$BPFPROF" report --focus "((a|b|)?){50}" small.bpfprof
refused "more than 1000 characters" "$BPFPROF" report --focus '((a{30}){30}){30}' small.bpfprof
check "usual ones" "$BPFPROF" report --focus '^(main|[a-z_]+(::[a-z]+){0,3})' --ignore 'x{2,}' small.bpfprof

# Rules of labels, and functions to probe.
printf 'label service_name="x" if comm=~"a%s"\n' "$plus" >rules
limited "$BPFPROF" who --rules rules
check_between "$STATUS" 1 2 "exit status with such a rule"
check_grep "^bpfprof: .*(more than 1000 characters|repeats what is repeated)" "$ERR"
limited "$BPFPROF" uprobe "$PROGS/called:/a$plus/" -d 1
check_between "$STATUS" 1 77 "exit status with such a function"
[ "$STATUS" -eq 77 ] || check_grep "^bpfprof: .*(more than 1000 characters|repeats what is repeated)" "$ERR"
finish
