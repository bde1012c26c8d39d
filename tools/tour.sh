#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every file of the project with the first sentence of its head comment, folder by folder in reading order. Of a header and
# its source the header's is printed: tools/tour.sh [FOLDER...]; make tour.
set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
[ $# -gt 0 ] || set -- bpf vmlinux src/base src/event src/metric src/proc src/elf src/symbol src/unwind src/profile \
	src/collect src/output src/cmd src tools tools/bench tests tests/unit tests/e2e tests/e2e/tables tests/e2e/stacks tests/fuzz \
	tests/vm tests/progs

# Of the comment that follows the licence.
first_sentence() { # FILE
	awk '
		/SPDX-License-Identifier|^#!/ || /^ *(\/\*|\*|#)? *$/ && text == "" || /^# *shellcheck/ { next }
		/^\/\* (CFLAGS|LDLIBS|LDFLAGS|CC):/ { next }
		!/^( *\/?\*|#|""")/ && text == "" { exit }
		!/^( *\/?\*|#|""")/ && !quoted { exit }
		{
			end = /\*\// || (quoted && /"""/) || /""".*"""/
			quoted = quoted || /^"""/
			gsub(/"""/, "")
			gsub(/^( *\/?\*+|#+) */, "")
			sub(/ *\*\/.*/, "")
			if ($0 == "")
				exit
			text = text (text == "" ? "" : " ") $0
			if (end)
				exit
		}
		END {
			if (match(text, /[.]( |$)/))
				text = substr(text, 1, RSTART)
			print text
		}' "$1"
}

names() { # FILE: itself, or both halves in one
	local stem=${1%.h}

	if [ "$stem" != "$1" ] && [ -e "$stem.c" ]; then
		echo "${stem##*/}.[ch]"
	else
		echo "${1##*/}"
	fi
}

for folder; do
	printf '\n%s/\n' "$folder"
	for file in "$folder"/*; do
		[ -f "$file" ] || continue
		case $file in
		*.c) [ ! -e "${file%.c}.h" ] || continue ;;
		*.h | *.cc | *.S | *.sh | *.py | *.js | *.css) ;;
		*) continue ;;
		esac
		printf '%s\t%s\n' "$(names "$file")" "$(first_sentence "$file")"
	done
done | awk -F '\t' -v wide=100 -v from=26 '
	NF < 2 { print; next }
	{
		line = sprintf("  %-" (from - 4) "s  ", $1)
		n = split($2, word, " ")
		for (i = 1; i <= n; i++) {
			if (length(line) + length(word[i]) > wide) {
				sub(/ +$/, "", line)
				print line
				line = sprintf("%" from "s", "")
			}
			line = line word[i] " "
		}
		sub(/ +$/, "", line)
		print line
	}'
