/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -fno-pie -no-pie */
/* first_role [NEXT]: spins until SIGUSR1, then its process becomes NEXT. */
#define ROLE first_role
#include "role.h"
