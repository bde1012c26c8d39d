#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
#
# A page of 200,000 different stacks opens within a second and zooms within 100 ms where nothing else runs; the limits
# here are wider, for machines that are shared. Figures are printed.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"

GEN=${PROGS%/progs}/e2e/gen_profile
need python3 /usr/bin/chromium /usr/bin/chromedriver
[ -x "$GEN" ] || skip "$GEN is not built"

check "200,000 stacks are written" "$GEN" 200000 "$TMP/large.html"
size=$(stat -c %s "$TMP/large.html")
echo "# figure: flame_200k_bytes $size"
check "in less than 15 MB" [ "$size" -lt 15000000 ]
drive flame_large.py "$TMP"
finish
