/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Student's t distribution: is a difference more than noise? */
#ifndef BPFPROF_BASE_STUDENT_H
#define BPFPROF_BASE_STUDENT_H

/* How likely t lies within -t and t, for df degrees of freedom, df >= 1, whole or not. */
double student_within(double t, double df);

/* How many standard errors a mean is off at most, with 95 % confidence: t at 0.975. */
double student_t95(double df);

#endif
