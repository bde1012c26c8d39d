/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* deep_fp with plain return addresses, where the others of these programs sign theirs (aarch64). */
#ifdef __aarch64__
#pragma GCC target("branch-protection=none")
#endif
#include "deep_fp.c"
