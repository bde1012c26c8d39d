/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * is_signed: exit status 0 when the return addresses that this CPU puts on the stack carry a
 * signature in their upper bits, else 1.
 */
#include "burn.h"

static KEEP uint64_t saved_return_address(void)
{
	const uint64_t *record = __builtin_frame_address(0);

	return ((const volatile uint64_t *)record)[1];
}

int main(void)
{
	uint64_t address = saved_return_address();

	printf("%#llx\n", (unsigned long long)address);
	return address >> 48 ? 0 : 1;
}
