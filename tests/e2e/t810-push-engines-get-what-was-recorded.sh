#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Three engines get a recording, each in its own format, and its sums by class to the last unit; so they do when it is
# split, when small branches are folded, and when there are more series than wanted. Nothing that they get would be
# refused by the strictest of them. The stub decodes with code of its own.
# alone: it needs the CPUs for itself
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
PATH=$PATH:/sbin ldconfig -p | grep -q 'libcurl.*\.so\.4' || skip "no libcurl"
STUB=$ROOT/tests/e2e/engine_stub.py
cd "$TMP" || exit 1
mkdir kept
start_first python3 "$STUB" serve kept # an engine takes less than ten seconds, however busy this machine is
wait_until 10 test -s kept/port || fail "the stub starts"
url=http://127.0.0.1:$(cat kept/port)
to=(--to "pyroscope=$url" --to "parca=$url" --to "otlp=$url")

sums() { # ENGINE: by process and class, as the oracle has them
	python3 "$STUB" sums kept | awk -v e="$1" '$1 == e && $3 != "bpfprof" { print $3, $4, $5 }' | sort
}

"$ROOT/build/tests/e2e/gen_profile" wall wall.bpfprof || exit 1
"$BPFPROF" report --idle show -o wall.pb.gz wall.bpfprof
python3 "$STUB" of wall.pb.gz | sort >expected
for more in "" "--min-weight 5" "--label zone=a"; do
	rm -f kept/taken
	# shellcheck disable=SC2086
	check "a recording is sent ($more)" "$BPFPROF" push --now "${to[@]}" $more wall.bpfprof
	for engine in pyroscope parca otlp; do
		check "$engine has its sums ($more)" diff expected <(sums $engine)
	done
	check_is "$(python3 "$STUB" sums kept | awk '$2 == "ledger:count" { n += $5 } END { print n }')" \
		$((3 * $("$BPFPROF" report --json wall.bpfprof | jq .samples.seen))) "ledger"
done
rm -f kept/taken
check "few series" "$BPFPROF" push --now "${to[@]}" --max-series 2 wall.bpfprof
check_is "$(sums parca | awk '{ n += $3 } END { printf "%.0f\n", n }')" \
	"$(awk '{ n += $3 } END { printf "%.0f\n", n }' expected)" "what is folded is in 'other'"
check_grep 'folded' "$OUT"
check "and is called so" grep -q '^other ' <(sums parca)

# More samples than Pyroscope takes at once.
"$ROOT/build/tests/e2e/gen_profile" 40000 big.bpfprof || exit 1
"$BPFPROF" report -o big.pb.gz big.bpfprof
rm -f kept/taken
check "a large recording is split" "$BPFPROF" push --now "${to[@]}" big.bpfprof
total=$(python3 "$STUB" of big.pb.gz | awk '{ n += $3 } END { printf "%.0f\n", n }')
for engine in pyroscope parca otlp; do
	check_is "$(python3 "$STUB" sums kept | awk -v e=$engine '$1 == e && $2 == "cpu:nanoseconds" { n += $5 }
		END { printf "%.0f\n", n }')" "$total" "$engine has all of it"
done
check_fail "Pyroscope's part is more than one request" test "$(grep -c pyroscope kept/taken)" -lt 2
finish
