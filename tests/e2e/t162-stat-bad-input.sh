#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Mistakes get one sentence that says what would be right, exit status 2, or 1 when a file is wrong, and no output.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_root

mistake 2 "page-fault.*page-faults" stat -e page-fault 1
mistake 2 "context-swiches.*context-switches" stat -e context-swiches,nosuchthing 1
mistake 2 "nosuchthing" stat -e nosuchthing 1
mistake 2 "task-clock:x" stat -e task-clock:x 1
mistake 77 "nosuchpmu" stat -e nosuchpmu/event=1/ 1
mistake 2 "." stat -e '' 1
mistake 2 "." stat -e 'page-faults,' 1
mistake 2 "." stat -e '{page-faults,task-clock}' 1
mistake 2 "rzz" stat -e rzz 1
case $(uname -m) in
x86_64) mistake "$(has_pmu && echo 2 || echo 77)" "stall_backend_mem" stat -e stall_backend_mem 1 ;;
aarch64) mistake 2 "mem_load_retired.l3_miss" stat -e mem_load_retired.l3_miss 1 ;;
esac
mistake 2 "topdwn.*topdown" stat -M topdwn 1
mistake 2 "." stat -M '' 1
mistake 2 "--level.*from 1 to 3" stat --level 4 1
mistake 2 "." stat -M ipc,,cache 1

mistake 2 "-I and -r exclude" stat -I 100 -r 2 1
mistake 2 "-r wants" stat -r 3
mistake 2 "from 10 ms" stat -I 1 1
mistake 2 "from 10 ms" stat -I 5ms 1
mistake 2 "-I" stat -I x 1
mistake 2 "-r" stat -r 0 1
mistake 2 "-r does not go with rows" stat --per-thread -r 2 1
mistake 2 "-r does not go with rows" stat --per-cgroup -r 2 -- true
mistake 2 "--per-thread excludes" stat --per-thread --per-process 1
mistake 2 "--per-process excludes" stat --per-process -A 1
mistake 2 "--max-rows" stat --max-rows 100 1
mistake 2 "--report: unknown form" stat --report html 1
mistake 2 "exclude each other" stat --json --csv 1
mistake 2 "above 0" stat 0
mistake 2 "'abc' is not a duration" stat abc
mistake 2 "unexpected argument .2." stat 1 2
mistake 2 "unknown file extension" stat -o x.jpeg 1
mistake 2 "unknown option '--evnt'.*--event" stat --evnt page-faults 1
mistake 2 "does not go with" stat -C 0 -p $$ 1
mistake 2 "does not go with" stat -a -p $$ 1
mistake 2 "does not go with" stat -A -p $$ 1
mistake 2 "only beside -a" stat --per-cgroup -- true
mistake 2 "separated by commas" stat '-x;' 1
mistake 2 "does not go with" stat --cgroup / -p $$ 1
mistake 1 "no process|process .*ended|999999999|4194303" stat -e page-faults -p 4194303 1
mistake 1 "nosuchgroup" stat -e page-faults --cgroup nosuchgroup 1
mistake 1 "nosuch-program" stat -e page-faults -- /nosuch-program

check "a baseline" "$BPFPROF" stat -r 2 -e page-faults,task-clock -o "$TMP/base.json" -- true
mistake 2 "--baseline" stat -e page-faults --fail-on 'time>5%' -- true
mistake 2 "--baseline" stat -e page-faults --junit "$TMP/x.xml" -- true
for rules in '' time time5% 'time>' 'time>5' 'time=5%' '>5%' 'time>x%' 'time>5%,' 'time>5%,,page-faults>1%' 'time>-5%' 'time>nan%'; do
	mistake 2 "--fail-on" stat -e page-faults --baseline "$TMP/base.json" --fail-on "$rules" -- true
done
mistake 2 "-I" stat -I 100 -e page-faults --baseline "$TMP/base.json" 1
mistake 1 "nosuch.json" stat -e page-faults --baseline "$TMP/nosuch.json" -- true
: >"$TMP/empty.json"
echo '{"format": "other"}' >"$TMP/other.json"
head -c 1000 "$TMP/base.json" >"$TMP/half.json"
head -c 1000 /dev/urandom >"$TMP/noise.json"
sed 's/"page-faults"/7/' "$TMP/base.json" >"$TMP/types.json"
for file in empty other half noise types; do
	mistake 1 "$TMP/$file.json" stat -e page-faults --baseline "$TMP/$file.json" -- true
done
# Neither report has what the rule names: that is found only when there are two.
check_fail "a rule for what was not counted" "$BPFPROF" stat -e page-faults --baseline "$TMP/base.json" --fail-on 'page-fault>5%' -- true
check_grep "page-fault.*page-faults" "$ERR" "it names the nearest"

sed -E 's/"core_ident": *"[^"]*"/"core_ident": "midr 0x410fd999"/' "$TMP/base.json" >"$TMP/model.json"
check "another CPU model in the file" grep -q 0x410fd999 "$TMP/model.json"
mistake 1 "another CPU model.*--force" stat -e page-faults,task-clock --baseline "$TMP/model.json" -- true
check "--force takes it" "$BPFPROF" stat -r 2 -e page-faults,task-clock --force --baseline "$TMP/model.json" -- true
check_grep "page-faults" "$OUT"
finish
