#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
#
# The flame graph files do in a browser what they promise, and 50,000 stacks stay light. SHOTS=DIR keeps pictures.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"

GEN=${PROGS%/progs}/e2e/gen_profile
need python3 /usr/bin/chromium /usr/bin/chromedriver
[ -x "$GEN" ] || skip "$GEN is not built"

check "small profile is written" "$GEN" small "$TMP/small.svg" "$TMP/small.html"
check "50,000 stacks are written" "$GEN" 50000 "$TMP/large.svg" "$TMP/large.html"
for file in "$TMP"/large.*; do
	size=$(stat -c %s "$file")
	echo "# ${file##*/}: $size bytes"
	check "${file##*/} is below 5 MB" [ "$size" -lt 5000000 ]
done

[ -z "${SHOTS:-}" ] || mkdir -p "$SHOTS"
drive flame_in_chromium.py "$TMP" ${SHOTS:+"$SHOTS"}
finish
