/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -fno-ipa-cp -fno-ipa-sra */
/* deep_fp [FRAMES] [SECONDS] without frame pointers. */
#include "deep_fp.c"
