#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every BPF program passes the verifier in every configuration of its filters, below 50,000 instructions.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
verify=$ROOT/build/tests/e2e/verify
[ -x "$verify" ] || skip "$verify is not built"
check "all configurations load" "$verify"
cat "$OUT"
check_near "$(awk '$1 ~ /^(oncpu_sample|filter_fork)$/ && $2 > 0 && $2 <= 50000' "$OUT" | wc -l)" 2 0 "programs within the bound"
finish
