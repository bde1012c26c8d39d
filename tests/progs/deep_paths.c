/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * deep_paths: as waits_paths, with 300 bytes more in each frame: what a walk goes by lies up to 6
 * KB apart.
 */
#define ROOM 300
#include "waits_paths.c"
