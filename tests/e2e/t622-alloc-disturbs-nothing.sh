#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 120
# Programs compute the same while their allocators are probed, also at their returns; allocators other than the C library's
# and static ones are seen.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 gcc

cat >"$TMP/work.py" <<'PY'
import hashlib, json, re, sys, threading
h = hashlib.sha256()
def work(seed, out):
    x, texts = seed, {}
    for i in range(20000):
        x = (x * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        texts[str(x)] = [x, bytearray(x % 3000), {"i": i, "s": "é" * (x % 70)}]
        if len(texts) > 500:
            texts.pop(next(iter(texts)))
    out[seed] = json.dumps([(k, v[0], len(v[1]), v[2]) for k, v in texts.items()])
out = {}
for threads in [threading.Thread(target=work, args=(s, out)) for s in range(8)], :
    [t.start() for t in threads]
    [t.join() for t in threads]
for s in sorted(out):
    h.update(out[s].encode())
    h.update(re.sub("[0-9]+", lambda m: str(int(m[0]) % 97), out[s]).encode())
print(h.hexdigest())
PY
python3 "$TMP/work.py" >"$TMP/truth"
for how in '' --live; do
	check "python3 under alloc $how" "$BPFPROF" alloc ${how:+"$how"} -o "$TMP/x.folded" -o "$TMP/x.json" -- \
		python3 "$TMP/work.py"
	cp "$OUT" "$TMP/probed"
	check "its output is what it was" cmp "$TMP/truth" "$TMP/probed"
	check_near "$(json "$TMP/x.json" samples lost)" 0 0 "lost"
	check "calls were seen" test "$(json "$TMP/x.json" samples seen)" -gt 10000
done

# A static program has its allocator inside.
if gcc -O1 -g -static -D_GNU_SOURCE -o "$TMP/static" "$ROOT/tests/progs/allocates.c" 2>/dev/null; then
	check "a static program" "$BPFPROF" alloc --every 1K -f -- "$TMP/static" 5000
	check_grep ';large;.*malloc [0-9]+$' "$OUT"
fi
# Where a machine is slow, many of the first stacks find no room while tables are built, and end early: of each function alike.
shares() { # FILE DESC
	local name bytes got whole

	whole=$(awk '/;one_round;/ { sum += $NF } END { printf "%.0f", sum }' "$1")
	check "most stacks are whole$2" test $((whole * 4)) -gt $((all * 3))
	for name in mixed small; do
		bytes=$(awk -v name=$name '$1 == name { print $2 }' "$TMP/truth")
		got=$(awk -v name=";$name;" 'index($0, name) { sum += $NF } END { printf "%.0f", sum }' "$1")
		check_near "$(awk -v a="$got" -v b="$whole" -v c="$bytes" -v d="$all" 'BEGIN { printf "%.2f", 100 * a / b / (c / d) }')" 100 5 \
			"percent of the share of $name$2"
	done
}
jemalloc=$(library libjemalloc.so)
if [ -n "$jemalloc" ] && [ -x "$PROGS/allocates" ]; then
	check "jemalloc" env LD_PRELOAD="$jemalloc" "$BPFPROF" alloc --every 1K -o "$TMP/x.folded" -- \
		"$PROGS/allocates" 80000
	cp "$OUT" "$TMP/truth"
	all=$(awk '{ sum += $2 } END { printf "%.0f", sum }' "$TMP/truth")
	check_near "$(folded_sum "$TMP/x.folded")" "$all" $((all / 33)) "bytes of all"
	shares "$TMP/x.folded" ""
	# Its returns are seen at their instructions: leaks() leaves 64 bytes in each tenth round.
	check "jemalloc --live" env LD_PRELOAD="$jemalloc" "$BPFPROF" alloc --live --every 256 -o "$TMP/x.bpfprof" -- \
		"$PROGS/allocates" 80000
	"$BPFPROF" report -f --value live-bytes "$TMP/x.bpfprof" >"$TMP/live"
	check_near "$(awk '/;leaks;/ { sum += $NF } END { print sum + 0 }' "$TMP/live")" 512000 60000 "bytes of leaks in use"
	check_near "$(awk '/;small;/ { sum += $NF } END { print sum + 0 }' "$TMP/live")" 0 2000 "bytes of small in use"
	"$BPFPROF" report -f --value bytes "$TMP/x.bpfprof" >"$TMP/bytes"
	check_near "$(folded_sum "$TMP/bytes")" "$all" $((all / 33)) "bytes of all, with --live"
	shares "$TMP/bytes" ", with --live"
fi
finish
