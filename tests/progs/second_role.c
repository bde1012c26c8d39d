/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -fno-pie -no-pie */
/* second_role: as first_role, at the same addresses. */
#define ROLE second_role
#include "role.h"
