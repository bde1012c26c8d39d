#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where no guest can run, make check-vm names what is missing, exits with 77 and says nothing of passing.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
[ -z "${IN_GUEST:-}" ] || skip "boots guests"
need qemu-system-aarch64 cpio unshare
need_root
cd "$ROOT" || exit 1
export VM_LOGS=$TMP/vm
guest=arm64-6.1

mkdir "$TMP/bin"
for tool in bash env dirname uname nproc grep sed awk sort tr cut cat; do
	ln -s "$(command -v $tool)" "$TMP/bin/$tool"
done
check_status 77 "no QEMU" env PATH="$TMP/bin" tests/vm/run.sh $guest
check_grep "no qemu-system-aarch64; sudo tools/install-deps.sh --cross" "$ERR"
check_no_grep "passed" "$OUT"
ln -s "$(command -v qemu-system-aarch64)" "$TMP/bin"
check_status 77 "no cross compiler" env PATH="$TMP/bin" tests/vm/run.sh $guest
check_grep "no aarch64-linux-gnu-gcc; sudo tools/install-deps.sh --cross" "$ERR"
check_status 77 "no network" unshare -n env VM_CACHE="$TMP/cache" tests/vm/run.sh $guest
check_grep "fetch: no list of packages of .* from http.*is there a network" "$ERR"
check_no_grep "passed" "$OUT"
check_status 2 "no such guest" tests/vm/run.sh arm64-9.9
check_grep "no guest 'arm64-9.9'; there are: .*arm64-6.1" "$ERR"
finish
