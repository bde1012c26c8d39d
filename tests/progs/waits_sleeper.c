/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_sleeper once [SECONDS]: sleeps for exactly that long, by default 1.000 s, in nap_once().
 * waits_sleeper often [N [US]]: sleeps N times for so long in nap_often().
 */
#include "waits.h"

static struct truth once = { .name = "nap_once" }, often = { .name = "nap_often" };

static CHAIN void nap_once(uint64_t ns)
{
	struct mark from = mark_now();

	sleep_ns(ns);
	truth_add(&once, from);
}

static CHAIN void nap_often(uint64_t ns)
{
	struct mark from = mark_now();

	sleep_ns(ns);
	truth_add(&often, from);
}

int main(int argc, char **argv)
{
	unsigned long i, nr = arg_nr(argc, argv, 2, 1000), us = arg_nr(argc, argv, 3, 1000);

	if (!arg_is(argc, argv, 1, "often")) {
		nap_once(arg_ns(argc, argv, 2, 1));
		truth_print(&once);
		return 0;
	}
	for (i = 0; i < nr; i++)
		nap_often(us * NS_PER_US);
	truth_print(&often);
	return 0;
}
