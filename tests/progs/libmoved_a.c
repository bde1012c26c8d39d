/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -shared -fPIC */
/* One of the two files that waits_moved maps at the same place: what it says is true. */
#define SAYS 48
#include "libmoved.h"
