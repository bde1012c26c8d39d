#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# The image of dist/Containerfile, run with the mounts and capabilities of dist/daemonset.yaml, does what the DaemonSet
# starts and records other users' programs completely; without any one of the capabilities doctor finds one missing.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need make unshare capsh python3
need_prog nofp_deep
python3 -c 'import yaml' 2>/dev/null || skip "needs python3-yaml"
cd "$ROOT" || exit 1
check "make static" make static

# capabilities, args, mounts (from, to): one a line.
python3 - >"$TMP/set" <<'PY'
import yaml

docs = [d for d in yaml.safe_load_all(open("dist/daemonset.yaml"))]
pod = [d for d in docs if d["kind"] == "DaemonSet"][0]["spec"]["template"]["spec"]
box = pod["containers"][0]
may = box["securityContext"]
assert pod["hostPID"] is True and len(pod["containers"]) == 1
assert may["capabilities"]["drop"] == ["ALL"] and may["readOnlyRootFilesystem"] is True
assert may["privileged"] is False and may["allowPrivilegeEscalation"] is False
volumes = {v["name"]: v for v in pod["volumes"]}
assert sorted(volumes) == sorted(m["name"] for m in box["volumeMounts"])
for cap in may["capabilities"]["add"]:
    print("cap", "cap_" + cap.lower())
print("args", *box["args"])
for mount in box["volumeMounts"]:
    host = volumes[mount["name"]].get("hostPath", {"path": "-"})["path"]
    assert host == "-" or mount["readOnly"] is True
    print("mount", host, mount["mountPath"])
PY
check_near $? 0 0 "the DaemonSet can be read, and holds what it promises"
caps=$(sed -n 's/^cap //p' "$TMP/set" | sort)
args=$(sed -n 's/^args //p' "$TMP/set")

# What the last stage copies, from where its first stage would have it: here.
image=$TMP/image
while read -r from to; do
	from=${from/#\/src\/build\/static/build\/static}
	mkdir -p "$image/$(dirname "$to")"
	cp -r "${from/#\/src\//}" "$image$to"
done < <(sed -n '/^FROM scratch/,$ s/^COPY --from=build //p' dist/Containerfile)
check_grep 'ENTRYPOINT \["/bpfprof"\]' dist/Containerfile
check "the image has the entry point" "$image/bpfprof" --version
check_near "$(find "$image" -type f -perm /111 | wc -l)" 1 0 "and no other program"
mkdir -p "$image/proc" "$image/sys" "$image/dev" "$image/out"

# As a container: its root cannot be written, /sys neither; the kernel gives root what is in the bounding set.
all=$(capsh --print | sed -n 's/^Bounding set =//p' | tr ',' '\n')
cat >"$TMP/contained" <<'SH'
#!/bin/bash
# contained CAPABILITIES ARGS...; environment: TMP, all
drop=$(grep -vxF "$1" <<<"$all" | paste -sd ,)
shift
exec unshare -m sh -c 'image=$0 drop=$1 set=$2 && shift 2 &&
	mount --bind "$image" "$image" && mount -o remount,bind,ro "$image" &&
	mount -t proc none "$image/proc" && mount --bind -o ro /sys "$image/sys" && mount --bind /dev "$image/dev" &&
	sed -n "s/^mount //p" "$set" | while read -r from to; do
		if [ "$from" = - ]; then mount -t tmpfs none "$image$to"; else mount --bind -o ro "$from" "$image$to"; fi
	done
	exec capsh --drop="$drop" --no-new-privs --chroot="$image" --shell=/bpfprof -- "$@"' "$TMP/image" "$drop" "$TMP/set" "$@"
SH
chmod 755 "$TMP/contained"
export TMP all
contained() {
	"$TMP/contained" "$@"
}

# doctor: the two rows about capabilities, as "state state".
rights() { # CAPABILITIES
	contained "$1" doctor --json oncpu 2>/dev/null |
		python3 -c 'import json, sys
rows = {c["name"]: c["state"] for c in json.load(sys.stdin)["checks"]}
print(rows["capabilities"], rows["other capabilities"])'
}
check_is "$(rights "$caps")" "ok ok" "doctor is content with these capabilities"
for cap in $caps; do
	[ "$(rights "$(grep -vx "$cap" <<<"$caps")")" != "ok ok" ]
	check_near $? 0 0 "and not without $cap"
done

# Somebody else's program in a file of his own, without frame pointers: a child without rights reads its tables.
mkdir "$TMP/his" && cp "$PROGS/nofp_deep" "$TMP/his/deep" && chown -R 65534 "$TMP/his" && chmod 755 "$TMP"
start setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/his/deep" 100 60
check "a recording" contained "$caps" oncpu -p "$PID" -F 499 --summary 2
check_grep '^stacks +100\.0% .* complete' "$OUT" "its stacks are complete"
check_grep '^names +100\.0%' "$OUT" "its functions have names"
check_status 0 "without the rights to become nobody" contained "$(grep -vx cap_setgid <<<"$caps")" oncpu -p "$PID" -F 499 --summary 2
check_no_grep '^stacks +100\.0%' "$OUT" "they are not"
check_status 0 "a file in the one place to write to" contained "$caps" oncpu -p "$PID" -o /out/x.bpfprof 1
check_status 1 "and none elsewhere" contained "$caps" oncpu -p "$PID" -o /x.bpfprof 1

# What the DaemonSet starts goes on until it is told to end.
# shellcheck disable=SC2086
env --default-signal=INT "$TMP/contained" "$caps" $args >"$TMP/log" 2>&1 &
runs=$!
pids+=("$runs")
wait_until 20 recording "$runs"
sleep 1
stop "$runs" INT
check_is "$STATUS" 0 "exit status of: $args"
check_no_grep 'cannot|not kept|without' "$TMP/log"
finish
