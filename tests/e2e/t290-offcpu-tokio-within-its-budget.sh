#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 120
# Where less is taken for --max-overhead, each blocking function of a Tokio program still has its time: long waits of
# threads that wait some 100 times a second keep their stacks.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"
unset BPFPROF_MAX_OVERHEAD

app=$("$ROOT/tests/progs/tokio/build.sh" release "$PROGS/tokio" 2>"$ERR")
status=$?
[ $status -ne 77 ] || skip "$(cat "$ERR")"
[ $status -eq 0 ] || { fail "the program is built" && show && finish; }

# Each of some 100 waits of about 20 ms, and one that waits often.
leaves=blocking_sleep,nested_sleep,std_mutex,rwlock_write,condvar,channel_recv,tcp_read,pipe_read,thread_park,poll,file_read
run "$BPFPROF" offcpu --max-overhead 0.3 -o "$TMP/x.json" -o "$TMP/x.folded" -- \
	"$app" 3 --workers 12 --leaves $leaves --dir "$TMP" --truth "$TMP/truth"
grep -q 'even with as little as can be taken' "$ERR" && skip "this host is too busy for 0.3 %"
check_is "$STATUS" 0 "exit status of offcpu"
echo "# figure: $(json "$TMP/x.json" cost thinned_s) s thinned, $(json "$TMP/x.json" cost spread_s) s of waits shown by other ones"
check_between "$(json "$TMP/x.json" cost spread_s)" 0 0.5 "s of waits shown by other ones"
check "each function has its time" python3 - "$TMP/truth" "$TMP/x.folded" <<-'END'
	import collections, json, re, sys
	truth, seen = json.load(open(sys.argv[1]))["leaves"], collections.Counter()
	for line in open(sys.argv[2]):
	    stack, us = line.rsplit(" ", 1)
	    leaf = re.search(r"leaves::blocking::(\w+)", stack)
	    seen[leaf and leaf.group(1)] += int(us)
	shares = {leaf: 100000 * seen[leaf] / row["ns"] for leaf, row in truth.items() if leaf != "file_read" and row["ns"] > 2e8}
	print({leaf: round(share, 1) for leaf, share in shares.items()})
	assert len(shares) >= 8
	assert all(85 <= share <= 115 for share in shares.values())
END
sed 's/^/# /' "$OUT"
finish
