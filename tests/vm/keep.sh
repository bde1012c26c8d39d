#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Writes figures that were just measured into tests/kept: tests/vm/keep.sh [FILE...], by default all results of guests.
set -u
cd "${BASH_SOURCE[0]%/*}/../.." || exit 1
[ $# -gt 0 ] || set -- build/tests/vm/*.result build/tests/cost/*.result
{
	grep '^#' tests/kept
	{
		grep -v '^#' tests/kept
		cat "$@" 2>/dev/null | sed -n '/(kept:/s/^[|# ]*figure: //p' | awk '{ print $1, $2, $3, $4 }'
	} | awk '{ value[$1 " " $2 " " $3] = $4 } END { for (key in value) print key, value[key] }' | LC_ALL=C sort -V
} >build/kept.new && mv build/kept.new tests/kept
git --no-pager diff --stat -- tests/kept 2>/dev/null
