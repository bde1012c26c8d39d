#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# 64 hostile names, as names of threads and of symbols, in every output: no control byte gets out, every format still parses.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog hostile_comm hostile_sym

cat >"$TMP/judge.py" <<'P'
import csv, gzip, html.parser, json, re, sys
import xml.etree.ElementTree as ET
base = sys.argv[1]
bad = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
def text(ext):
    data = open(base + ext, "rb").read().decode("utf-8")  # strict: invalid UTF-8 raises
    found = bad.search(data.replace("\t", " "))
    assert not found, (ext, hex(ord(found.group())), data[max(0, found.start() - 40):found.start() + 20])
    return data
total = 0
frames = set()
for line in text(".folded").splitlines():
    stack, count = line.rsplit(" ", 1)
    assert count.isdigit() and stack, line
    assert not re.search(r"\s\d+(;|$)", stack), line
    assert " " not in stack.split(";")[0], line
    frames.update(stack.split(";"))
    total += int(count)
summary = json.loads(text(".json"))
s = summary["samples"]
assert total == s["recorded"] + s["lost"], (total, s)
assert {f["name"] for f in summary["functions"]} <= frames
text(".txt")
text(".afdo.txt")
for ext in ".speedscope.json", ".firefox.json":
    json.loads(text(ext))
for ext in ".thread.csv", ".function.csv":
    rows = list(csv.reader(text(ext).splitlines()))
    assert len(rows) > 1 and {len(row) for row in rows} == {len(rows[0])}, {len(row) for row in rows}

def varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return n, at

def strings(data):  # field 6 of a profile of pprof
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        n, at = varint(data, at)
        if key & 7 == 2:
            if key >> 3 == 6:
                yield data[at:at + n].decode("utf-8")
            at += n
names = list(strings(gzip.decompress(open(base + ".pprof", "rb").read())))
assert len(names) > 60, names
for name in names:
    assert not bad.search(name), name
root = ET.fromstring(text(".svg"))
assert root.tag.endswith("svg")
class Page(html.parser.HTMLParser):
    scripts = 0
    opened = []
    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)
        self.scripts += tag == "script"
        assert not any(k.startswith("on") for k, v in attrs), (tag, attrs)
page = Page()
page.feed(text(".html"))
assert set(page.opened) <= set("html head meta title style body header main section nav div span p a b label input button canvas svg g rect text script noscript h1 h2 output dialog kbd footer form br code pre ul li path title desc table tr td th thead tbody template small strong em select option".split()), set(page.opened)
print(total, len(frames), page.scripts)
P
judge() { # NAME: all outputs of a profile
	for by in thread function; do
		check "$1 by $by" "$BPFPROF" report --by "$by" --csv "$TMP/$1.bpfprof"
		cp "$OUT" "$TMP/$1.$by.csv"
	done
	check "$1: every format parses and is clean" python3 "$TMP/judge.py" "$TMP/$1"
	cat "$OUT"
}
outputs() { # NAME
	for ext in folded json txt svg html pprof speedscope.json firefox.json afdo.txt bpfprof; do
		printf -- '-o\n%s\n' "$TMP/$1.$ext"
	done
}

mapfile -t args < <(outputs comm)
check "64 threads with hostile names" "$BPFPROF" oncpu -F 999 -f "${args[@]}" -- "$PROGS/hostile_comm" 1
judge comm
check_near "$(cut -d ';' -f 1 "$TMP/comm.folded" | sort -u | wc -l)" 60 8 "thread names"

"$PROGS/hostile_sym" --patch "$TMP/hostile" && chmod +x "$TMP/hostile"
mapfile -t args < <(outputs sym)
check "65 functions with hostile names" "$BPFPROF" oncpu -U -F 1999 -f "${args[@]}" -- "$TMP/hostile" 1
judge sym
# What main calls, besides the clock, its entry in the linkage table and what resolves that: three of the 65 look like another one when they
# are made printable. Each has some 30 samples; one alone may be of anything else that runs at the end.
check_near "$(sed -nE 's/^.*;main;([^;]*)(;.*)? ([0-9]+)$/\3 \1/p' "$TMP/sym.folded" | grep -vE '^[0-9]+ .*clock_gettime|^[0-9]+ cpu_ns$|^[0-9]+ _dl_|^[0-9]+ \[hostile\+0x' |
	awk '{ n = $1; sub(/^[0-9]+ /, ""); sum[$0] += n } END { for (name in sum) nr += sum[name] >= 4; print nr }')" 62 0 "function names"
check_near "$(awk '{ if (length > n) n = length } END { print n }' "$TMP/sym.folded")" 4200 150 "the 4 KB name is whole"
for ext in folded json txt svg html pprof speedscope.json firefox.json afdo.txt; do
	check "$ext from the saved profile" "$BPFPROF" report -f -o "$TMP/again.$ext" "$TMP/sym.bpfprof"
	check "$ext is the same" cmp "$TMP/sym.$ext" "$TMP/again.$ext"
done

# Nor do messages, which name files and what was typed.
name=$TMP/$'a\e]0;x\a\n\e[31m\302\233b.json'
echo >"$name"
check_status 1 "no recording, with a hostile name" "$BPFPROF" report "$name"
check_near "$(wc -l <"$ERR")" 1 0 "lines of the message"
check_grep 'a[?]]0;x[?]{3}[[]31m[?]b.json: not a bpfprof profile$' "$ERR"
check_near "$(tr -d '\n' <"$ERR" | LC_ALL=C tr -cd '\000-\037\177-\237' | wc -c)" 0 0 "control bytes in it"
finish
