#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 180
# After make install CAPS=1 a member of the group, who is not root, records root's program with complete stacks into a file
# of his own; others cannot start it.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need make unshare setpriv setcap getcap groupadd jq
need_prog nofp_deep
cd "$ROOT" || exit 1

# A group is made in a copy of /etc, which is there in a namespace only.
cp -a /etc "$TMP/etc"
sed -i '/^bpfprof:/d' "$TMP/etc/group"
privately() { # CMD...
	# shellcheck disable=SC2016
	unshare -m bash -c 'mount --bind "$0" /etc && exec "$@"' "$TMP/etc" "$@"
}
check "make install CAPS=1" privately make install DESTDIR="$TMP/root" prefix=/usr CAPS=1
program=$TMP/root/usr/sbin/bpfprof
group=$(awk -F: '$1 == "bpfprof" { print $3 }' "$TMP/etc/group")
check_between "${group:-0}" 1 65533 "the group's number"
check_is "$(stat -c '%u:%g %a' "$program")" "0:$group 750" "owner and mode"
check_is "$(getcap "$program" | sed 's/.* //; s/=ep$//' | tr ',' '\n' | sort | paste -sd ,)" \
	"$(make -s --no-print-directory print-FILE_CAPS | tr ',' '\n' | sort | paste -sd ,)" "what it may do"

chmod 755 "$TMP"
mkdir -m 777 "$TMP/his"
operator() { # ARGS...
	(cd "$TMP/his" && setpriv --reuid 65534 --regid 65534 --groups "$group" --inh-caps=-all "$program" "$@")
}
start "$PROGS/nofp_deep" 100 60
check "a member records a program of root's" operator oncpu -p "$PID" -F 499 --summary -o x.bpfprof 2
check "and looks at it" operator report --summary x.bpfprof
check_grep '^stacks +100\.0% .* complete' "$OUT" "its stacks are complete"
check_grep '^names +100\.0%' "$OUT" "its functions have names"
check_is "$(stat -c '%u %a' "$TMP/his/x.bpfprof")" "65534 600" "the file's owner and mode"
check "and calls of functions" operator uprobe -p "$PID" libc:clock_gettime 1
operator doctor --json oncpu >"$TMP/doctor"
check_is "$(jq -r '.checks[] | select(.name == "file capabilities" or .name == "other capabilities") | .state' "$TMP/doctor" |
	paste -sd ' ')" "ok ok" "what doctor says of the rights"
# A file that only root may read shows no line of it.
(umask 077 && echo "secret of root" >"$TMP/secret")
for command in "who --rules SECRET 1" "report SECRET" "diff x.bpfprof SECRET" "stat --baseline SECRET 1"; do
	# shellcheck disable=SC2086
	check_fail "a member has it read: $command" operator ${command/SECRET/"$TMP/secret"}
	check_grep 'Permission denied' "$ERR"
	check_no_grep 'secret of' "$ERR"
done
check_status 126 "somebody else cannot start it" setpriv --reuid 65534 --regid 65534 --clear-groups bash -c '"$0" --version' "$program"
finish
