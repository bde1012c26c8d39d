/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Windows at random, and the error of what they say. */
#include "collect/duty.h"

#include <math.h>
#include <stdlib.h>

#define FEWEST 3 /* windows that say how much they differ */

bool duty_is_due(const struct duty *d, uint64_t now)
{
	return d->share > 0 && now >= d->turn_ns;
}

static double since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

void duty_on(struct duty *d, const struct duty_mark *now)
{
	if (d->nr)
		d->off_cpu += since(now->cpu_ns, d->begin.cpu_ns);
	d->begin = *now;
	d->on = true;
	d->turn_ns = now->time_ns + DUTY_WINDOW_NS;
}

void duty_off(struct duty *d, const struct duty_mark *now)
{
	double window = since(now->time_ns, d->begin.time_ns), pause = window / d->share - window;
	double samples = since(now->samples, d->begin.samples);
	double cpu = since(now->cpu_ns, d->begin.cpu_ns);

	d->on_ns += window;
	d->on_cpu += cpu;
	if (cpu > 0) /* else the program has ended, and what the probes took of it is not known */
		d->hits += since(now->hits, d->begin.hits);
	d->sum += samples;
	d->square += samples * samples;
	d->nr++;
	d->begin = *now;
	d->on = false;
	d->turn_ns = now->time_ns + pause / 2 + pause * drand48();
}

void duty_end(struct duty *d, const struct duty_mark *now)
{
	if (d->on)
		duty_off(d, now);
	else if (d->nr)
		d->off_cpu += since(now->cpu_ns, d->begin.cpu_ns);
}

double duty_burden(const struct duty *d)
{
	return d->on_cpu > 0 ? fmin(d->hits * d->price_ns / d->on_cpu, 1) : 0;
}

double duty_factor(const struct duty *d)
{
	double work = d->on_cpu * (1 - fmin(duty_burden(d), DUTY_MOST_BURDEN));

	return d->share > 0 && work > 0 ? (work + d->off_cpu) / work : 1;
}

double duty_price_error(const struct duty *d)
{
	double burden = fmin(duty_burden(d), DUTY_MOST_BURDEN);

	return DUTY_PRICE_ERROR * burden / (1 - burden);
}

double duty_error(const struct duty *d)
{
	double mean = d->nr ? d->sum / d->nr : 0, variance;

	if (d->nr < FEWEST || mean <= 0)
		return INFINITY;
	variance = (d->square - d->nr * mean * mean) / (d->nr - 1);
	return 2 * sqrt(fmax(variance, 0) / d->nr * (1 - d->share)) / mean;
}
