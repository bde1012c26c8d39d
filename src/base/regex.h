/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Extended regular expressions that people give. The C library copies what is repeated, so that
 * "a++++", with 30 of these, is a gigabyte; and references back take it exponential time, as
 * repetitions of repetitions do ("(a*)*(b*)*", with 20 of these), and of what can be empty
 * ("((a|b|)?){50}"). So all are looked at before it sees the expression.
 */
#ifndef BPFPROF_BASE_REGEX_H
#define BPFPROF_BASE_REGEX_H

#include <regex.h>
#include <stdbool.h>

#define REGEX_MAX_BYTES	   4096 /* of text */
#define REGEX_MAX_DEPTH	   100	/* groups in groups */
#define REGEX_MAX_REPEATED 8	/* of what is repeated: (a*b)* is one, a*** are two; (a?){5}: 5 */
#define REGEX_MAX_NODES	   1000 /* characters and sets, with the copies of what is repeated */
#define REGEX_WHY	   128

/*
 * As regcomp() with these flags more than REG_EXTENDED | REG_NOSUB. False: why says why not, and
 * there is nothing to free.
 */
bool regex_compile(regex_t *re, const char *text, int flags, char why[REGEX_WHY]);

/*
 * An expression that matches a text as it stands; NULL if the text is one, as it is with no more
 * than dots in it. To be freed.
 */
char *regex_literal(const char *text);

#endif
