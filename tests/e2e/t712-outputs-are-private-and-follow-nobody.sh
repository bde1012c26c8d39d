#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 900
# Files that bpfprof writes are readable by their owner only, unless asked; and whoever swaps names and links in the
# folder while root writes there cannot have it write elsewhere: by day 200 races, at night 10,000, none is won.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_root
need setpriv
need_prog swaps_names
GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || lacks "$GEN is not built"
cd "$TMP" || exit 1
umask 022
rounds=${NIGHTLY:+5000}
rounds=${rounds:-100}

"$GEN" small small.bpfprof
check "as usual" "$BPFPROF" report -o x.folded -o x.html small.bpfprof
check "mode 600" test "$(stat -c %a x.folded) $(stat -c %a x.html)" = "600 600"
check "with --mode" "$BPFPROF" report -o y.folded --mode 640 small.bpfprof
check "mode 640" test "$(stat -c %a y.folded)" = 640
check_status 2 "no octal number" "$BPFPROF" report -o y.folded --mode 68 small.bpfprof
check_grep "^bpfprof: .*--mode.*octal" "$ERR"

chmod 755 "$TMP"
mkdir secret theirs open
echo precious >secret/file
chmod 700 secret
chown 65534:65534 theirs
chmod 777 open
cp "$PROGS/swaps_names" .
for folder in theirs open; do
	start setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/swaps_names" "$TMP/$folder" "$TMP/secret/file" \
		"$TMP/secret/new"
	hangs=0 written=0 refused=0
	for ((i = 0; i < rounds; i++)); do
		STATUS=0
		timeout 5 "$BPFPROF" report -o "$folder/x.folded" small.bpfprof >"$OUT" 2>"$ERR" || STATUS=$?
		case $STATUS in 0) written=$((written + 1)) ;; 1) refused=$((refused + 1)) ;; *) hangs=$((hangs + 1)) ;; esac
	done
	stop "$PID" KILL
	check_near "$hangs" 0 0 "runs in $folder that did not end by themselves ($written written, $refused refused)"
	check "$folder: the file behind the link is as it was" test "$(cat secret/file)" = precious
	check "$folder: nothing else is beside it" test "$(ls secret)" = file
	check "$folder: links were there" test "$refused" -gt 0
done
finish
