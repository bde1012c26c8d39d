#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks of both architectures that were recorded once (tests/data) are walked as they were then, and as libdw walks them.
#
# replay-ARCH.data.xz	by tests/e2e/recorder, of tests/progs/shapes.c as shapes-ARCH.xz, built with that program's
#			flags and -g0 -s -ffreestanding -nostdlib -static
# replay-ARCH.frames	what "replay frames" said, and libdw too
# alone: it needs the CPUs for itself
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
[ -z "${IN_GUEST:-}" ] || skip "needs no guest: stacks are replayed the same everywhere"
need xz
REPLAY=${PROGS%/progs}/e2e/replay
DATA=$ROOT/tests/data
[ -x "$REPLAY" ] || lacks "$REPLAY is not built"

for arch in x86 arm64; do
	xz -dc "$DATA/shapes-$arch.xz" >"$TMP/shapes-$arch"
	xz -dc "$DATA/replay-$arch.data.xz" >"$TMP/$arch.data"
	check "$arch: walked" "$REPLAY" frames --root "$TMP" "$TMP/$arch.data"
	cp "$OUT" "$TMP/$arch.frames"
	check "$arch: $(wc -l <"$TMP/$arch.frames") walks are as they were" diff "$DATA/replay-$arch.frames" "$TMP/$arch.frames"
	check "$arch: and as libdw says" "$REPLAY" compare --root "$TMP" "$TMP/$arch.data"
	sed "s,$TMP/,,; s/^/#   /" "$OUT"
	check_near "$(sed -nE 's/.* identical ([0-9]+) .*/\1/p' "$OUT")" "$(wc -l <"$DATA/replay-$arch.frames")" 1 "$arch: identical"
	check_fail "$arch: one wrong rule in each walk is seen" "$REPLAY" compare --root "$TMP" --spoil "$TMP/$arch.data"
done
finish
