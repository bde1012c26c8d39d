/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Periods drawn at random, with as many samples as if they were not. */
#include "event/dither.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define NS_PER_S   1e9
#define SEGMENT_S  0.3	  /* lasts a segment, on average; but … */
#define LEAST_PART 20	  /* … so many samples at least */
#define STEP	   0.001  /* of the shares that are tried */
#define NR_STEPS   60	  /* so the rate is changed by 6 % at most */
#define HARMONICS  16	  /* of a program, that are looked at */
#define LEAST_NS   10000u /* the kernel makes shorter periods that long */

/* What programs are likely to have as a period, in ms: own ones, and ticks of the kernel. */
static const double periods[] = { 1, 2, 10.0 / 3, 4, 5, 10, 20, 50, 100 };
/* Loops take a little longer than they mean to. */
static const double overheads[] = { 1, 1.001, 1.004 };

static double random_part(struct dither *d) /* 0 … 1; xorshift64* */
{
	d->random ^= d->random >> 12;
	d->random ^= d->random << 25;
	d->random ^= d->random >> 27;
	return (d->random * 0x2545f4914f6cdd1dull >> 11) * 0x1p-53;
}

static double segment_s(double rate_hz)
{
	double least = LEAST_PART / rate_hz;

	return SEGMENT_S > least ? SEGMENT_S : least;
}

/*
 * How far off the share of a function may be after nr samples that lie step periods of its program
 * apart, squared: each harmonic of the program that the samples keep step with adds its part.
 */
static double misses(double step, double nr)
{
	double sum = 0;

	for (int h = 1; h <= HARMONICS; h++) {
		double off = fabs(remainder(h * step, 1)) * 2 * nr;

		sum += 1.0 / (h * h) / (off > 1 ? off * off : 1);
	}
	return sum;
}

static double worst(double rate_hz)
{
	double nr = rate_hz * segment_s(rate_hz), most = 0, miss;

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++)
		for (size_t k = 0; k < sizeof(overheads) / sizeof(*overheads); k++) {
			miss = misses(1000 / (rate_hz * periods[i] * overheads[k]), nr);
			if (miss > most)
				most = miss;
		}
	return most;
}

/* Half a period is lost where a segment ends. */
static double middle_hz(double rate_hz)
{
	return rate_hz + 0.5 / segment_s(rate_hz);
}

/* The shares to one side by which a rate keeps least step with any of them. */
static void choose(double rate_hz, double step, double shares[DITHER_SHARES])
{
	double best[DITHER_SHARES], miss;
	int at;

	for (int i = 0; i < DITHER_SHARES; i++)
		best[i] = DBL_MAX;
	for (int i = 1; i <= NR_STEPS; i++) {
		miss = worst(middle_hz(rate_hz) * (1 + i * step));
		for (at = DITHER_SHARES; at && best[at - 1] > miss; at--)
			;
		if (at == DITHER_SHARES)
			continue;
		memmove(best + at + 1, best + at, (DITHER_SHARES - at - 1) * sizeof(*best));
		memmove(shares + at + 1, shares + at, (DITHER_SHARES - at - 1) * sizeof(*shares));
		best[at] = miss;
		shares[at] = i * step;
	}
}

void dither_begin(struct dither *d, uint64_t now_ns)
{
	d->end_ns = now_ns + segment_s(d->rate_hz) * (0.6 + 0.8 * random_part(d)) * NS_PER_S;
}

void dither_init(struct dither *d, double rate_hz, uint64_t seed, uint64_t now_ns)
{
	*d = (struct dither){ .random = seed ? seed : 1, .rate_hz = rate_hz };
	choose(rate_hz, STEP, d->more);
	choose(rate_hz, -STEP, d->less);
	dither_begin(d, now_ns);
}

/*
 * What a CPU lacks by now. One that was left as it was for long, since nothing was recorded there,
 * owes nothing.
 */
static double owed(struct dither *d, const struct dither_cpu *c, uint64_t now_ns)
{
	uint64_t lasted_ns = now_ns - c->begin_ns;

	if (!c->period_ns)
		return random_part(d) - 0.5;
	if (lasted_ns > 4 * segment_s(d->rate_hz) * NS_PER_S)
		return 0;
	return c->owed + d->rate_hz * (lasted_ns / NS_PER_S) - lasted_ns / c->period_ns;
}

uint64_t dither_draw(struct dither *d, struct dither_cpu *c, uint64_t now_ns)
{
	const double *from;
	double share;

	c->owed = owed(d, c, now_ns);
	from = c->owed > 0 ? d->more : d->less;
	share = from[(int)(random_part(d) * DITHER_SHARES)] + STEP * (random_part(d) - 0.5);
	c->begin_ns = now_ns;
	c->period_ns = NS_PER_S / (middle_hz(d->rate_hz) * (1 + share));
	if (c->period_ns < LEAST_NS)
		c->period_ns = LEAST_NS;
	return c->period_ns;
}
