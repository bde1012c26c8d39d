#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it judges times
# timeout: 3600
# Waits of a Tokio program are where the program says they were, in each kind of build and with five versions of Tokio: that of
# Debian 12 (1.24.2), 1.28.2, 1.38.2 (old), 1.47.4 and 1.54.1. Each of its blocking functions in each build is a cell. All contexts
# and all but two kinds must be right.
#
#	NIGHTLY=1 BUILDS='v0 1.24.2-fat' ONE='fat' tests/run.sh tests/e2e/t647-*.sh
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
# shellcheck source=tokio_cells.sh
. "${0%/*}/tokio_cells.sh"
need_nightly
need_bpf
need python3 cargo
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

builds=(release fat full fullfat v0 v0fat reldebug fp old oldfat oldfull oldfullfat)
for version in 1.24.2 1.28.2 1.47.4; do
	builds+=("$version-release" "$version-fat" "$version-full" "$version-fullfat")
done
one=(release fat full fullfat v0 old oldfat 1.24.2-release 1.24.2-fat)
# shellcheck disable=SC2206 # words
[ -z "${BUILDS+x}" ] || builds=($BUILDS) one=(${ONE:-})

for variant in "${builds[@]}"; do
	several_workers "$variant"
done
for variant in "${one[@]}"; do
	one_thread "$variant"
done
say_cells
least=$((22 * ${#builds[@]} + 19 * ${#one[@]}))
check_between "$cells" $least 1000 "cells that were judged"
check_between "$right_contexts" "$cells" "$cells" "right contexts"
check_between "$right_kinds" $((cells - 2)) "$cells" "right kinds"
finish
