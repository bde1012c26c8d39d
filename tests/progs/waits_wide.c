/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * waits_wide [ROUNDS [US]]: sleeps for US in each of seven functions in turns, as the event loop of
 * a server does: below many calls, one of which has a local array of 12 KiB. Each function has a
 * frame of another size.
 */
#include "waits.h"

#define DEPTH	   40 /* calls, more than 32 words to verify */
#define WIDE_BYTES (12 * 1024)

static uint64_t ns;

#define NAP_IN(name, bytes)                                                                        \
	static struct truth truth_##name = { #name };                                              \
	static CHAIN void name(void)                                                               \
	{                                                                                          \
		struct mark from = mark_now();                                                     \
		TAKE_STACK(bytes);                                                                 \
                                                                                                   \
		sleep_ns(ns);                                                                      \
		truth_add(&truth_##name, from);                                                    \
	}

NAP_IN(nap_1, 32)
NAP_IN(nap_2, 96)
NAP_IN(nap_3, 160)
NAP_IN(nap_4, 224)
NAP_IN(nap_5, 288)
NAP_IN(nap_6, 352)
NAP_IN(nap_7, 416)

static const struct {
	void (*nap)(void);
	struct truth *truth;
} naps[] = {
	{ nap_1, &truth_nap_1 }, { nap_2, &truth_nap_2 }, { nap_3, &truth_nap_3 },
	{ nap_4, &truth_nap_4 }, { nap_5, &truth_nap_5 }, { nap_6, &truth_nap_6 },
	{ nap_7, &truth_nap_7 },
};
#define NR_NAPS (sizeof(naps) / sizeof(naps[0]))

static CHAIN void wide(unsigned int which)
{
	TAKE_STACK(WIDE_BYTES);

	naps[which].nap();
	room[1] = 1;
}

static CHAIN void down(unsigned int depth, unsigned int which)
{
	TAKE_STACK(24);

	if (depth)
		down(depth - 1, which);
	else
		wide(which);
	room[1] = 1;
}

int main(int argc, char **argv)
{
	unsigned long rounds = arg_nr(argc, argv, 1, 100), i;

	ns = arg_nr(argc, argv, 2, 2000) * NS_PER_US;
	for (i = 0; i < rounds * NR_NAPS; i++)
		down(DEPTH, i % NR_NAPS);
	for (i = 0; i < NR_NAPS; i++)
		truth_print(naps[i].truth);
	return 0;
}
