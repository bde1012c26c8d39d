#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The USDT probes of real programs are those that readelf prints, each place is a nop, and arguments are understood.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need readelf gcc
notes=$ROOT/build/tests/e2e/usdt_notes
[ -x "$notes" ] || lacks "usdt_notes is not built"

nr_files=0
for file in "$(gcc -print-file-name=libstdc++.so.6)" /usr/bin/python3.[0-9]* /usr/lib/*/libpython3.*.so.1.0 \
	/usr/aarch64-linux-gnu/lib/libstdc++.so.6; do
	readelf -n "$file" 2>/dev/null | awk '
		$1 == "Provider:" { provider = $2 }
		$1 == "Name:" { name = $2 }
		$1 == "Location:" { sub(",", "", $2); location = $2 }
		$1 == "Arguments:" { sub(/^ *Arguments: */, ""); print provider, name, location, $0 }' |
		sort >"$TMP/wanted"
	[ -s "$TMP/wanted" ] || continue
	nr_files=$((nr_files + 1))
	check "${file##*/}: places are nops, arguments are understood" "$notes" "$file"
	sort "$OUT" >"$TMP/got"
	check "${file##*/}: $(wc -l <"$TMP/wanted") places are as readelf says" diff "$TMP/wanted" "$TMP/got"
done
check "$nr_files files had probes" test "$nr_files" -ge 1
finish
