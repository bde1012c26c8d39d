/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Seen against expected. */
#include "profile/expected.h"

#include "profile/profile.h"

bool expected_init(struct expected *x, const struct profile *p)
{
	*x = (struct expected){ .least = p->meta.expected_least,
				.most = p->meta.expected_most,
				.seen = p->meta.expected_seen,
				.lost = profile_sum(p, COUNTER_LOST),
				.ledger = p->counters[PROF_SEEN] };
	if (x->most)
		return true;
	x->seen = x->ledger;
	return false;
}

static double pct(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

double expected_difference_pct(const struct expected *x)
{
	if (!x->most)
		return 0;
	if (x->seen < x->least)
		return -pct(x->least - x->seen, x->least);
	return x->seen > x->most ? pct(x->seen - x->most, x->most) : 0;
}

double expected_lack_pct(const struct expected *x)
{
	uint64_t missing = x->most && x->seen < x->least ? x->least - x->seen : 0;
	double lost = x->ledger ? (double)x->lost / x->ledger : 0;

	return pct(missing + x->seen * lost, missing + x->seen);
}
