#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 900
# Whoever swaps folders on the way to an output for links, while root writes there, cannot have it write elsewhere: not
# files, not a history, and no folder is made there. By day 400 races, at night 10,000, none is won. Links of root's own,
# where only root writes, are followed as ever.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_root
need setpriv
need_prog swaps_folders
GEN=${PROGS%/progs}/e2e/gen_profile
[ -x "$GEN" ] || lacks "$GEN is not built"
cd "$TMP" || exit 1
umask 022
rounds=${NIGHTLY:+5000}
rounds=${rounds:-200}
chmod 755 "$TMP"
"$GEN" small small.bpfprof

# Root's own: a link in the middle, one at the end, and both through "..".
mkdir -p own/real
ln -s real own/link
ln -s "$TMP/own/link/../real/at-last.folded" own/last.folded
for path in own/link/a.folded "$TMP/own/link/b.folded" own/link/../link/./c.folded own//last.folded; do
	check "$path" "$BPFPROF" report -o "$path" small.bpfprof
done
check "they are behind the link" test "$(echo own/real/*)" = \
	"own/real/a.folded own/real/at-last.folded own/real/b.folded own/real/c.folded"
check "--history through a link" "$BPFPROF" stat -e task-clock --history own/link/h.csv -- true
check "is there" test -s own/real/h.csv
ln own/real/h.csv own/real/second
check_status 1 "not into a file with two names" "$BPFPROF" stat -e task-clock --history own/real/h.csv -- true
mkdir proc
check "a link of /proc leads to what is open" sh -c "cd proc && exec $BPFPROF report -o /proc/self/cwd/d.folded ../small.bpfprof"
check "and there it is" test -s proc/d.folded

mkdir secret theirs open
chmod 700 secret
chown 65534:65534 theirs
chmod 777 open
ln -s ../own/real open/roots
check_status 1 "a link of root's, where others may have moved it" "$BPFPROF" report -o open/roots/x.folded small.bpfprof
check_grep "roots is a link that another user may have put there" "$ERR"
rm open/roots
cp "$PROGS/swaps_folders" .
swaps_of() {
	od -An -td8 "$1/swaps" | tr -d ' '
}
for folder in theirs open; do
	start setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/swaps_folders" "$TMP/$folder" "$TMP/secret"
	wait_until 5 test -s "$folder/swaps"
	hangs=0 written=0 refused=0 before=$(swaps_of "$folder")
	for ((i = 0; i < rounds; i++)); do
		STATUS=0
		((i % 2)) && way=sub || way=way/in
		timeout 5 "$BPFPROF" report -o "$folder/$way/x.folded" small.bpfprof >"$OUT" 2>"$ERR" || STATUS=$?
		case $STATUS in 0) written=$((written + 1)) ;; 1) refused=$((refused + 1)) ;; *) hangs=$((hangs + 1)) ;; esac
		if ((i % 100 == 0)); then
			timeout 9 "$BPFPROF" stat -e task-clock --history "$folder/$way/h.csv" -- true >"$OUT" 2>"$ERR"
			timeout 9 "$BPFPROF" agent --keep "$folder/$way/keep" -d 0.1 >"$OUT" 2>"$ERR"
		fi
	done
	swaps=$(($(swaps_of "$folder") - before))
	stop "$PID" KILL
	check_near "$hangs" 0 0 "runs in $folder that did not end by themselves ($written written, $refused refused)"
	check "$folder: nothing got behind the links, with $swaps swaps" test -z "$(ls -A secret)"
	check "$folder: links and folders were there" test "$refused" -gt $((rounds / 20)) -a "$written" -gt $((rounds / 20))
	check "$folder: they were swapped while it wrote" test "$swaps" -gt "$rounds"
done
finish
