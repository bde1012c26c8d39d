/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -fno-pie -no-pie */
/* See nofp_role.h. */
#define FRAME(name) second_##name
#define ROOM	    3000
#define NEXT	    "nofp_first"
#include "nofp_role.h"
