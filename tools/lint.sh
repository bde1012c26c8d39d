#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What make lint checks, in a few seconds: format, width, length of functions and files, include direction,
# comments, licences, documents, shell, spelling. Each finding is one line "FILE:LINE: what"; exit status 1 when
# there is any. A checker that is not installed is named and skipped (tools/install-deps.sh --check installs them
# all).

set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

MAX_FUNCTION=100 # lines; above 60 is for the review
MAX_COLUMNS=100  # with tabs of 8
MAX_LINES=500    # of a file
MAX_CASES=1000   # lines of a file in tests, which lists cases
MAX_OVERVIEW=15360 # bytes of ARCHITECTURE.md, which is read in one sitting

# Include direction (ARCHITECTURE.md has the same): a folder of src/ and what it may include besides itself.
declare -A may_include=(
	[base]=""
	[profile]="base bpf"
	[output]="base bpf profile metric"
	[terminal]="base profile"
	[push]="base bpf output profile"
	[proc]="base bpf"
	[who]="base reader"
	[serve]="base bpf output profile"
	[elf]="base"
	[reader]="base"
	[python]="base bpf elf reader"
	[symbol]="base bpf elf proc profile reader"
	[unwind]="base bpf elf proc profile reader"
	[uprobe]="base bpf elf symbol unwind"
	[event]="base bpf"
	[doctor]="base elf event proc profile symbol uprobe"
	[metric]="base event"
	[collect]="base bpf doctor elf event metric proc profile python reader symbol unwind uprobe"
	[agent]="base bpf collect profile"
	[cmd]="agent base bpf collect doctor elf event metric output proc profile push reader serve symbol terminal unwind uprobe who"
	[src]="base bpf cmd collect event metric output proc profile symbol unwind"
)

nr=0
findings() { # reads findings from stdin
	local line

	while IFS= read -r line; do
		echo "$line"
		nr=$((nr + 1))
	done
}

has() { # TOOL
	command -v "$1" >/dev/null 2>&1 && return
	echo "lint: skipped: $1 is not installed"
	return 1
}

mapfile -t sources < <(find bpf src tests tools -name '*.[ch]' -o -name '*.cc' | sort)
mapfile -t vmlinux < <(find vmlinux -name '*.h' 2>/dev/null | sort)
mapfile -t scripts < <(find tools tests .ci dist -name '*.sh' -o -path .ci/run -o -path 'dist/debian/post*' 2>/dev/null | sort)
mapfile -t pythons < <(find tools tests -name '*.py' | sort)
documents=(*.md docs/*.md)

# One line per file; make format is the answer to all of them.
check_format() {
	clang-format --dry-run "${sources[@]}" 2>&1 | awk -F: '
		/code should be clang-formatted/ {
			if (!($1 in first)) { order[++n] = $1; first[$1] = $2 }
			nr[$1]++
		}
		END {
			for (i = 1; i <= n; i++)
				print order[i] ":" first[order[i]] ": not as make format has it, in places: " nr[order[i]]
		}'
}

# Bytes 0x80 to 0xbf continue a character.
check_width() {
	LC_ALL=C awk -v max="$MAX_COLUMNS" '
		{
			line = $0
			gsub(/[\200-\277]/, "", line)
			while ((i = index(line, "\t")))
				line = substr(line, 1, i - 1) sprintf("%" 8 - (i - 1) % 8 "s", "") substr(line, i + 1)
			if (length(line) > max)
				print FILENAME ":" FNR ": " length(line) " columns, at most " max
		}
		/[ \t]$/ { print FILENAME ":" FNR ": white space at the end" }' "${sources[@]}"
}

# A function is what stands between braces in the first column.
check_functions() {
	awk -v max="$MAX_FUNCTION" '
		/^[A-Za-z_].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
		/^\{/ { from = FNR; what = name }
		/^\}/ && from {
			if (FNR - from + 1 > max)
				print FILENAME ":" from ": " what "() has " FNR - from + 1 " lines, at most " max
			from = 0
		}
		FNR == 1 { from = 0 }' "${sources[@]}"
}

check_lengths() {
	local lines file max

	while read -r lines file; do
		case $file in tests/*) max=$MAX_CASES ;; *) max=$MAX_LINES ;; esac
		[ "$lines" -le "$max" ] || echo "$file:$max: the file has $lines lines, at most $max"
	done < <(wc -l "${sources[@]}" "${scripts[@]}" "${pythons[@]}" src/*/*.js src/*/*.css | grep -v ' total$')
}

check_includes() {
	local file dir line header to

	while IFS=: read -r file line header; do
		dir=${file#src/}
		case $dir in */*) dir=${dir%%/*} ;; *) dir=src ;; esac
		header=${header#*\"}
		header=${header%\"*}
		to=${header%%/*}
		case $header in
		bpfprof.skel.h)
			case $file in
			src/collect/session*.c | src/collect/maps.c | src/collect/accounts.c) ;;
			*) echo "$file:$line: only the session, its maps and the accounts know the skeleton" ;;
			esac
			continue
			;;
		*/*) ;;
		*)
			echo "$file:$line: \"$header\": say which folder it is in"
			continue
			;;
		esac
		case " $dir ${may_include[$dir]-} " in
		*" $to "*) ;;
		*) echo "$file:$line: $dir must not include $to/" ;;
		esac
	done < <(grep -rnE '^#include "' src --include='*.[ch]')
}

# Strings and characters go first: "http://" is no comment. Inside of block comments // is fine.
check_comments() {
	awk '
		FNR == 1 { inside = 0 }
		{
			s = $0
			if (inside) {
				if (!(i = index(s, "*/")))
					next
				s = substr(s, i + 2)
				inside = 0
			}
			gsub(/\\./, "", s)
			gsub(/"[^"]*"/, "", s)
			gsub(/\047[^\047]*\047/, "", s)
			while ((i = index(s, "/*")) && !((j = index(s, "//")) && j < i)) {
				rest = substr(s, i + 2)
				if (!(j = index(rest, "*/"))) {
					inside = 1
					s = substr(s, 1, i - 1)
					break
				}
				s = substr(s, 1, i - 1) substr(rest, j + 2)
			}
			if (index(s, "//"))
				print FILENAME ":" FNR ": // comment"
		}' "${sources[@]}"
}

check_licences() {
	local file

	for file in "${sources[@]}" "${vmlinux[@]}" "${scripts[@]}" "${pythons[@]}"; do
		head -n 2 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause' ||
			echo "$file:1: no SPDX line"
	done
}

check_shell() {
	shellcheck -x -f gcc "${scripts[@]}"
}

check_spelling() {
	codespell -q 3 --skip 'build*,.git,vmlinux,docs/pictures,go.mod,go.sum' \
		Makefile man bpf src tests tools dist docs ./*.md 2>/dev/null | sed 's/^\.\///'
}

check_overview() {
	local bytes

	bytes=$(wc -c <ARCHITECTURE.md)
	[ "$bytes" -le "$MAX_OVERVIEW" ] ||
		echo "ARCHITECTURE.md:1: has $bytes bytes of $MAX_OVERVIEW; details go to docs/structures.md"
}

# What is built was never meant to be in the repository; the largest picture has 116 KiB.
check_kept_files() {
	git ls-files -z 2>/dev/null | xargs -0r stat -c '%s %n' 2>/dev/null |
		awk '$1 > 256 * 1024 { print $2 ":1: has " $1 " bytes; is it built?" }'
}

# Files that documents name or link to exist. Capitals stand for something (tNNN, ARCH), a * for any.
check_documents() {
	local file line name

	while IFS=: read -r file line name; do
		[[ $name =~ [A-Z][A-Z] ]] || compgen -G "$name" >/dev/null ||
			echo "$file:$line: there is no $name"
	done < <(grep -noE '`(\.ci|bpf|dist|docs|src|tests|tools|vmlinux)/[^` ]*`' "${documents[@]}" | tr -d '`')
	while IFS=: read -r file line name; do
		[ -e "$(dirname "$file")/$name" ] || echo "$file:$line: there is no $name"
	done < <(grep -noE '\]\([^):# ]+\)' "${documents[@]}" | sed -E 's/\]\((.*)\)/\1/')
	while IFS=: read -r line name; do
		grep -qrw --include='*.[ch]' "${name%??}" bpf src || echo "ARCHITECTURE.md:$line: there is no $name"
	done < <(grep -noE '`[a-z_0-9]+(\(\)|\[\])`' ARCHITECTURE.md | tr -d '`')
}

# Of a row in ARCHITECTURE.md the last column is what the folder may include besides base.
check_directions() {
	local dir said

	for dir in "${!may_include[@]}"; do
		[ "$dir" != src ] || continue
		said=$(sed -n "s/^| \`src\/$dir\` |.*| \(.*\) |\$/\1/p" ARCHITECTURE.md | grep -oE '[a-z]+' | sort | xargs)
		[ "$said" = "$(tr ' ' '\n' <<<"${may_include[$dir]}" | grep -vx base | sort | xargs)" ] ||
			echo "ARCHITECTURE.md: src/$dir may include '${may_include[$dir]}' by tools/lint.sh, '$said' here"
	done
}

! has clang-format || findings < <(check_format)
findings < <(check_width)
findings < <(check_functions)
findings < <(check_lengths)
findings < <(check_includes)
findings < <(check_comments)
findings < <(check_licences)
findings < <(check_overview)
findings < <(check_kept_files)
findings < <(check_documents)
findings < <(check_directions)
! has shellcheck || findings < <(check_shell)
! has codespell || findings < <(check_spelling)

[ "$nr" -eq 0 ] || echo "lint: $nr findings"
[ "$nr" -eq 0 ]
