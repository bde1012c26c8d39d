#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# In a root without devices (a container with an empty /dev) files are read as anywhere: there are names, and no reader dies.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need unshare mount
need_prog spin_abc

mkdir "$TMP/dev"
# shellcheck disable=SC2016
run unshare -m --propagation private bash -c 'mount --bind "$0" /dev && exec "$@" 2>"$0/err"' "$TMP/dev" \
	"$BPFPROF" oncpu -e cpu-clock -F 99 -o "$TMP/x.folded" -- "$PROGS/spin_abc" 1
check_is "$STATUS" 0 "exit status without /dev/null"
check_grep ';spin_a [0-9]+$' "$TMP/x.folded"
check_no_grep 'died' "$TMP/dev/err"
finish
