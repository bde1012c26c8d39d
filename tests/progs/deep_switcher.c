/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * deep_switcher [SECONDS]: as waits_switcher, below 30 frames: what a walk goes by lies 4 KB apart,
 * on two pages or three.
 */
#define FRAMES 30
#include "waits_switcher.c"
