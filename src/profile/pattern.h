/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of functions as tables of rules have them: without what differs between builds, and with
 * '*' for anything.
 */
#ifndef BPFPROF_PROFILE_PATTERN_H
#define BPFPROF_PROFILE_PATTERN_H

#include <stdbool.h>

/*
 * A function's name without hashes, generic arguments, parameters and suffixes of the compiler;
 * "<a::B as T>::f" becomes "a::B::f". To free().
 */
char *pattern_normal(const char *name);

/*
 * For readers, what pattern_normal() makes of a name: where the type is a generic parameter only
 * the trait says which function it is, so "F::call" becomes "<F as a::Trait>::call". Takes normal;
 * to free().
 */
char *pattern_of_parameter(const char *name, char *normal);

/* Whether the whole of a normal name is like a pattern, up to a '<' in the latter. */
bool pattern_is(const char *name, const char *pattern);

#endif
