#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 400
# The unwind table of a file says in every row what libdw says: libraries of this machine, and of aarch64. Where files are
# large, a row takes little more than its 4 bytes.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
[ -z "${IN_GUEST:-}" ] || skip "needs no guest: tables are made the same everywhere"
ORACLE=${PROGS%/progs}/e2e/oracle
CORPUS=${VM_CACHE:-$ROOT/.cache}/corpus-arm64
[ -x "$ORACLE" ] || lacks "$ORACLE is not built"

# Those that exist: names differ between distributions.
existing() { # FILE...
	local file

	for file; do
		[ ! -f "$file" ] || realpath "$file"
	done | sort -u
}

sum() { # FIELD: over all files
	awk -v field="$1" '{ for (i = 2; i < NF; i++) if ($i == field) sum += $(i + 1) } END { print sum + 0 }' "$OUT"
}

compare() { # WHAT FEWEST-ROWS MOST-BYTES-PER-ROW FILE...
	local what=$1 fewest=$2 most=$3 over

	shift 3
	check "$what: $# files equal libdw" "$ORACLE" "$@"
	sed 's/^/#   /' "$OUT"
	check_near "$(sum mismatches)" 0 0 "$what: mismatches"
	check "$what: $(sum rows) rows" test "$(sum rows)" -ge "$fewest"
	over=$(sed -nE '/libLLVM/s/.*bytes\/row ([0-9.]+).*/\1/p' "$OUT" | awk -v most="$most" '$1 > most')
	check_near "$(wc -w <<<"$over")" 0 0 "$what: large files of more than $most bytes per row"
	check_fail "$what: one wrong rule in $1 is seen" "$ORACLE" --spoil "$1"
	check_near "$(grep -c 'mismatch at' "$OUT")" 3 2 "$what: mismatches of that rule"
}

# Go programs, whose table is made of .gopclntab, not of .debug_frame: but for about 60 rows where functions go over to
# another stack.
build_go() { # FILE ARCHITECTURE
	(cd "$TMP" && GOFLAGS=-mod=mod HOME=$TMP CGO_ENABLED=0 GOARCH=$2 \
		go build -o "$1" "$ROOT/tests/e2e/go/names.go") 2>&1
}
if command -v go >/dev/null && build_go go-amd64 amd64 && build_go go-arm64 arm64; then
	compare Go 60000 5 "$TMP"/go-{amd64,arm64}
	"$ORACLE" "$TMP"/go-{amd64,arm64} >"$OUT"
	check_near "$(sum switches)" 120 40 "Go: rows of functions that go over to another stack"
fi

# Programs of Tokio, as far as they are built or can be, also for aarch64; none of their rows is left out.
tokio=()
for variant in release fat; do
	app=$("$ROOT/tests/progs/tokio/build.sh" $variant "$PROGS/tokio" 2>"$ERR") && tokio+=("$app")
done
mapfile -t -O ${#tokio[@]} tokio < <(existing "$ROOT/build-arm64/tests/progs/tokio/release/release/tokio_waits")
if [ ${#tokio[@]} -gt 0 ]; then
	compare Tokio 9000 5 "${tokio[@]}"
	"$ORACLE" "${tokio[@]}" >"$OUT"
	echo "# figure: Tokio: $(sum rows) rows in ${#tokio[@]} files, $(sum unsupported) not representable, $(sum mismatches) unlike libdw"
	check_near "$(sum unsupported)" 0 0 "Tokio: rows that no rule can say"
fi

# A program whose only tables are in a compressed section.
if gcc -O2 -g -gz=zlib -fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer -nostdlib -static \
	-x c -o "$TMP/compressed" - 2>"$TMP/gcc.log" <<'EOC'; then
int leaf(int);
int use(void *);
__attribute__((noinline)) int big(int n) { char room[70000]; return use(room) + leaf(n); }
__attribute__((noinline)) int many(int a, int b, int c, int d) { return leaf(a) * leaf(b) + leaf(c) * leaf(d); }
void _start(void) { big(many(1, 2, 3, 4)); for (;;); }
__attribute__((noinline)) int leaf(int n) { __asm__(""); return n; }
__attribute__((noinline)) int use(void *p) { __asm__(""); return p != 0; }
EOC
	check "it is compressed" eval 'readelf -SW "$TMP/compressed" | grep -q "debug_frame.* C "'
	check "a compressed .debug_frame" "$ORACLE" "$TMP/compressed"
	check "it has rows" test "$(sum rows)" -ge 5
fi

mapfile -t libraries < <(ldconfig -p | sed -nE 's/.*(libc\.so\.6|libcrypto\.so\.3|libstdc\+\+\.so\.6|libLLVM-14\.so\.1) .*x86-64.* => (.*)/\2/p')
mapfile -t files < <(existing "${libraries[@]}" /lib64/ld-linux-x86-64.so.2 /usr/bin/python3 ${NIGHTLY:+/usr/bin/node} "$BPFPROF" \
	"$PROGS/exiter-static" "$PROGS/exiter-stripped" "$PROGS/demo")
[ "$(uname -m)" != x86_64 ] || compare x86-64 50000 4.5 "${files[@]}"

"$ROOT/tools/fetch.sh" corpus arm64 2>"$TMP/fetch.log" || { cat "$TMP/fetch.log"; skip "no files for aarch64"; }
mapfile -t files < <(existing "$CORPUS"/usr/lib/aarch64-linux-gnu/{libc.so.6,ld-linux-aarch64.so.1,libcrypto.so.3,libstdc++.so.6} \
	"$CORPUS"/usr/bin/python3* "$CORPUS"/usr/lib/aarch64-linux-gnu/libLLVM* ${NIGHTLY:+"$CORPUS"/usr/lib/aarch64-linux-gnu/libnode.so*})
compare aarch64 50000 4.8 "${files[@]}"
finish
