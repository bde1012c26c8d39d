#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Processes are called by what their environment, their control group and the rules say, each by its own of two hundred; none
# of them, whatever it calls itself, breaks the table or the JSON, and of its environment nothing else is shown.
# timeout: 120
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_root
need python3 curl
cd "$TMP" || exit 1
ID=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
UID_=01234567-89ab-cdef-0123-456789abcdef
label() { # PID NAME [OPTIONS...]
	local pid=$1 name=$2

	shift 2
	"$BPFPROF" who --json "$@" "$pid" | python3 -c 'import json, sys
print(json.load(sys.stdin)["processes"][0]["labels"].get(sys.argv[1], ""))' "$name"
}

runs_sleep() { [ "$(cat "/proc/$1/comm" 2>/dev/null)" = sleep ]; }

# --- environments ---
start env SECRET=hunter2 OTEL_SERVICE_NAME=pay OTEL_RESOURCE_ATTRIBUTES=service.name=no,service.version=1.2 sleep 100
PAY=$PID
start env OTEL_RESOURCE_ATTRIBUTES=service.name=a%20b,token=hunter2 DD_SERVICE=no sleep 100
ATTRIBUTE=$PID
start env DD_SERVICE=dog DD_ENV=prod sleep 100
DOG=$PID
start env OTEL_SERVICE_NAME= OTEL_RESOURCE_ATTRIBUTES=service.name=%zz sleep 100
EMPTY=$PID
start env OTEL_SERVICE_NAME=$'q"\\\n\x1b[2J\x01\xff' sleep 100
HOSTILE=$PID
start env OTEL_SERVICE_NAME="$(head -c 100000 /dev/zero | tr '\0' z)" sleep 100
LONG=$PID
start sleep 100
PLAIN=$PID
for pid in "$PAY" "$ATTRIBUTE" "$DOG" "$EMPTY" "$HOSTILE" "$LONG" "$PLAIN"; do
	wait_until 10 runs_sleep "$pid"
done
check_is "$(label "$PAY" service_name)" pay "OTEL_SERVICE_NAME"
check_is "$(label "$PAY" version)" 1.2 "the version of OTEL_RESOURCE_ATTRIBUTES"
check_is "$(label "$ATTRIBUTE" service_name)" "a b" "service.name of OTEL_RESOURCE_ATTRIBUTES"
check_is "$(label "$DOG" service_name)/$(label "$DOG" environment)" dog/prod "Datadog's variables"
check_is "$(label "$EMPTY" service_name)" "$(label "$PLAIN" service_name)" "nothing in the environment"
check_is "$(label "$PLAIN" service_from)" program "... is called by its program"
check_between "$(label "$LONG" service_name | wc -c)" 2 1025 "bytes of a name of 100,000"
check "all of them" "$BPFPROF" who --json "$PAY" "$ATTRIBUTE" "$DOG" "$EMPTY" "$HOSTILE" "$LONG"
check_no_grep 'hunter2|SECRET|token' "$OUT" "the rest of an environment"
check "... as a table" "$BPFPROF" who "$PAY" "$ATTRIBUTE" "$DOG" "$EMPTY" "$HOSTILE" "$LONG"
check_is "$(wc -l <"$OUT")" 9 "lines of the table"
check_no_grep $'[\x01-\x09\x0b-\x1f\x7f]' "$OUT" "control characters"
check "it is UTF-8" python3 -c 'import sys; open(sys.argv[1], encoding="utf-8").read()' "$OUT"
mistake 2 "there is no process 4194305" who 4194305

# --- control groups, where this host lets us make some ---
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
root=$root/bpfprof-test-$$
docker=$root/docker-$ID.scope
pod=$root/kubepods-pod${UID_//-/_}.slice/cri-containerd-$ID.scope
if mkdir "$root" 2>/dev/null && mkdir -p "$docker" "$pod" && [ -e "$docker/cgroup.procs" ]; then
	start sleep 100
	IN=$PID
	start sleep 100
	POD=$PID
	wait_until 10 runs_sleep "$POD"
	echo "$IN" >"$docker/cgroup.procs"
	echo "$POD" >"$pod/cgroup.procs"
	check_is "$(label "$IN" container_id)" "$ID" "a container of Docker"
	check_is "$(label "$IN" container)" "${ID:0:12}" "... is called by its id"
	check_is "$(label "$POD" pod_uid)" "$UID_" "a pod"
	stop "$IN"
	stop "$POD"
	rmdir "$docker" "$pod" "${pod%/*}" "$root"
else
	echo "# no control groups of our own here: these are left out"
fi

# --- rules ---
cat >rules <<'R'
# of the shop
label team="money" if service_name="pay"
label who="$service_name-$environment" if environment=~"pr.d"
drop service_name="a b" comm="sleep"
R
check_is "$(label "$PAY" team --rules rules)" money "a label that a rule sets"
check_is "$(label "$DOG" who --rules rules)" dog-prod "a label made of others"
check "the line that drops one" "$BPFPROF" who --rules rules "$ATTRIBUTE"
check_grep 'line 4' "$OUT"
wrong() { # PATTERN RULE
	printf '%s\n' "$2" >wrong
	mistake 2 "$1" who --rules wrong "$PAY"
}
wrong "wrong:1:1: 'labl' is no action; did you mean 'label'" 'labl a=b'
wrong "wrong:1:6: there is no label 'servicename'" 'drop servicename="x"'
wrong "wrong:1:12: '\\(' is no regular expression" 'drop comm=~"("'
wrong "wrong:1:5: a label has to follow" keep
mistake 1 "cannot read the rules in none: No such file" who --rules none "$PAY"

# --- many, and series beyond the cap ---
for i in {1..200}; do
	OTEL_SERVICE_NAME=many$i sleep 100 &
	pids+=("$!")
	many[i]=$!
done
wait_until 20 runs_sleep "${many[200]}"
check "two hundred at once" "$BPFPROF" who --json "${many[@]}"
cp "$OUT" who.json
check "each has its own name" python3 - "${many[@]}" <<'P'
import json, sys
named = {p["pid"]: p["labels"]["service_name"] for p in json.load(open("who.json"))["processes"]}
wrong = {pid: named[pid] for i, pid in enumerate(map(int, sys.argv[1:]), 1) if named[pid] != f"many{i}"}
assert not wrong, wrong
P
"$BPFPROF" who --max-series 10 --json "${many[@]}" >who.json
check_is "$(python3 -c 'import json
print(sum(p["series"]["service_name"] == "other" for p in json.load(open("who.json"))["processes"]))')" 190 "in 'other'"

# --- an agent sees that a process has become another program ---
if ! PATH=$PATH:/sbin ldconfig -p | grep -q 'libmicrohttpd\.so\.12'; then
	finish
fi
need_bpf
cp "$(command -v bash)" first
cp "$(command -v bash)" second
spin='while ! [ -e go ]; do :; done'
start ./first -c "$spin; exec ./second -c 'while :; do :; done'"
BECOMES=$PID
start_bpfprof agent -p "$BECOMES" -i 1s -v --rules rules --listen "unix:$TMP/socket"
AGENT=$PID
shop() { curl -s --unix-socket socket http://localhost/metrics 2>/dev/null | grep -q 'cpu_seconds_total{service_name="shop"'; }
says() { curl -s --unix-socket socket http://localhost/metrics 2>/dev/null | grep -q "cpu_seconds_total{service_name=\"unknown_service:$1\""; }
check "its program" wait_until 30 says first
touch go
check "... and the one after" wait_until 30 says second
echo 'label service_name="shop"' >rules
kill -HUP "$AGENT"
check "... and rules that it reads again" wait_until 30 shop
echo 'labl' >rules
kill -HUP "$AGENT"
check "not those with mistakes" wait_until 30 grep -q 'not reloaded: all is as before' "$ERR"
check_grep "rules:1:1: 'labl' is no action" "$ERR"
stop "$AGENT"
check_is "$STATUS" 0 "exit status"
finish
