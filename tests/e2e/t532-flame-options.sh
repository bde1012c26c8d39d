#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 120
#
# --title, --colors and --min-width do in pages and pictures what they say, and refuse what they do not know.
# SHOTS=DIR keeps pictures.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"

GEN=${PROGS%/progs}/e2e/gen_profile
need python3
[ -x "$GEN" ] || skip "$GEN is not built"

refuses() { # WHY OPTIONS...
	check_status 2 "refused: ${*:2}" "$BPFPROF" report "$TMP/offcpu.bpfprof" -o "$TMP/no.html" "${@:2}"
	check_grep "$1" "$ERR"
	[ ! -e "$TMP/no.html" ] || fail "nothing is written"
}

classes() { # FILE; of the picture's frames
	grep -o 'rect class="[a-z0-9]*"' "$1" | cut -d '"' -f 2 | grep -v page | sort -u
}

for kind in small offcpu 2000; do
	check "$kind is written" "$GEN" "$kind" "$TMP/$kind.bpfprof"
done
refuses "unknown mode 'clas'; did you mean 'class'\?" --colors clas
refuses "use cpu, io, class, module or diff" --colors rainbow
refuses "diff is for bpfprof diff" --colors diff
for px in -1 x 1e9 '' 5px nan; do
	refuses "is no number from 0 to 1000" --min-width "$px"
done
check_status 2 "diff has no classes" "$BPFPROF" diff "$TMP/small.bpfprof" "$TMP/2000.bpfprof" --colors class -o "$TMP/no.html"
check_grep "class is for one recording" "$ERR"
check "of samples, class is the kind of code" "$BPFPROF" report "$TMP/small.bpfprof" --colors class -o "$TMP/kind.svg"
check_grep "has no waits" "$ERR"
check_grep 'class="kernel' "$TMP/kind.svg"

hostile=$'<script>alert(1)</script> & "a"\x1b[31m'
check "a title" "$BPFPROF" report "$TMP/small.bpfprof" --title "$hostile" -o "$TMP/title.html" -o "$TMP/title.svg"
check_no_grep 'alert\(1\)</script>' "$TMP/title.html" "the title is text"
check_grep '<title>&lt;script&gt;alert' "$TMP/title.svg"

# Colour classes of each scheme; the picture has those that the page has.
while read -r colors pattern; do
	check "--colors $colors" "$BPFPROF" report "$TMP/offcpu.bpfprof" --colors "$colors" \
		-o "$TMP/$colors.svg" -o "$TMP/$colors.html"
	classes "$TMP/$colors.svg" >"$TMP/$colors.classes"
	if grep -Evq "^($pattern)\$" "$TMP/$colors.classes"; then
		fail "--colors $colors has other classes: $(tr '\n' ' ' <"$TMP/$colors.classes")"
	else
		pass "--colors $colors: $(tr '\n' ' ' <"$TMP/$colors.classes")"
	fi
done <<-'END'
	cpu none|unknown|(kernel|jit|user)[0-9]+
	io none|io[0-4]
	class none|class(1|2|4|7|11|13)
	module none|module[0-7]
END
check_grep '^class4$' "$TMP/class.classes" "locks have their colour"
# All that io_thd_1 did was wait for a lock, and the kernel's worker for a device.
check_grep '<title>io_thd_1: [^<]*</title><rect class="class4"' "$TMP/class.svg"
check_grep '<title>kworker/1:2: [^<]*</title><rect class="class7"' "$TMP/class.svg"

for px in 0.01 3 40; do
	check "--min-width $px" "$BPFPROF" report "$TMP/2000.bpfprof" --min-width "$px" -o "$TMP/min.svg" -o "$TMP/min$px.html"
	least=$(grep -o 'rect class="[a-z0-9]*" fill="#[a-z0-9]*" x="[0-9.]*" y="[0-9.]*" width="[0-9.]*"' "$TMP/min.svg" |
		grep -v page | cut -d '"' -f 10 | sort -g | head -n 1)
	if awk -v least="$least" -v px="$px" 'BEGIN { exit !(least >= px - 0.71 && least < 2 * px + 2) }'; then
		pass "the narrowest frame with --min-width $px has $least px"
	else
		fail "the narrowest frame with --min-width $px has $least px"
	fi
done

if [ ! -x /usr/bin/chromium ] || [ ! -x /usr/bin/chromedriver ]; then
	finish
fi
[ -z "${SHOTS:-}" ] || mkdir -p "$SHOTS"
drive flame_options.py "$TMP" ${SHOTS:+"$SHOTS"}
finish
