/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * With x = sqrt(df) tan(angle) Student's density becomes cos(angle)^(df - 1) but for a constant:
 * smooth on a bounded interval, so Simpson's rule takes it.
 */
#include "base/student.h"

#include <math.h>

#define DF_MAX	  1e6 /* from here on it is the normal distribution, to six digits */
#define NR_STEPS  400 /* of Simpson's rule, even */
#define NR_HALVES 60  /* of the bisection */

static double within(double df, double angle)
{
	double sum = 1 + pow(cos(angle), df - 1), h = angle / NR_STEPS;

	for (int i = 1; i < NR_STEPS; i++)
		sum += (i % 2 ? 4 : 2) * pow(cos(i * h), df - 1);
	return 2 * exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(M_PI) * sum * h / 3;
}

static double bounded(double df)
{
	return df < 1 ? 1 : df > DF_MAX ? DF_MAX : df;
}

/* Far out the steps would get too wide for what they add up to: there it is as good as certain. */
double student_within(double t, double df)
{
	double share;

	df = bounded(df);
	if (df >= DF_MAX)
		return erf(t / sqrt(2));
	share = within(df, atan(t / sqrt(df)));
	return share < 0 ? 0 : share > 1 ? 1 : share;
}

double student_t95(double df)
{
	double low = 0, high, middle;

	df = bounded(df);
	/* t is below 12.71 for all of them; above that Simpson's steps would only get wider. */
	high = atan(12.8 / sqrt(df));
	for (int i = 0; i < NR_HALVES; i++) {
		middle = (low + high) / 2;
		if (within(df, middle) < 0.95)
			low = middle;
		else
			high = middle;
	}
	return sqrt(df) * tan(low);
}
