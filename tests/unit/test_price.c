/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a probe costs, on a host that has other things to do meanwhile. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <cmocka.h>

#include "base/clock.h"
#include "uprobe/price.h"

#define AWAY_NS 1800000u /* as when another thread has the CPU, */
#define EACH_US 2000	 /* as often as that */

static void go_away(int signal)
{
	uint64_t until = now_ns() + AWAY_NS;

	while (now_ns() < until)
		;
}

static uint64_t least_of(size_t nr)
{
	uint64_t least = UINT64_MAX, price;

	for (size_t i = 0; i < nr; i++) {
		price = price_measure().emulated_ns;
		least = price < least ? price : least;
	}
	return least;
}

/* Away for nine tenths of the time: 200 hits at a time are seldom without it, some of 25 are. */
static void who_is_preempted_pays_no_more(void **state)
{
	struct sigaction on = { .sa_handler = go_away, .sa_flags = SA_RESTART }, before;
	struct itimerval busy = { { 0, EACH_US }, { 0, EACH_US } }, calm = {};
	uint64_t alone = least_of(3), most = 0, price;

	if (!alone)
		skip(); /* probes need root */
	sigaction(SIGALRM, &on, &before);
	setitimer(ITIMER_REAL, &busy, NULL);
	for (int i = 0; i < 10; i++) {
		price = price_measure().emulated_ns;
		most = price > most ? price : most;
	}
	setitimer(ITIMER_REAL, &calm, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_in_range(most, 1, 4 * alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_preempted_pays_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
