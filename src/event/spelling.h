/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The grammar of event names, before anything is looked up:
 *
 *	NAME[:MODIFIERS]		cycles:u
 *	CATEGORY:NAME			sched:sched_switch, sched:*
 *	PMU/TERM,.../[:][MODIFIERS]	cpu/event=0x3c,umask=1/u
 */
#ifndef BPFPROF_EVENT_SPELLING_H
#define BPFPROF_EVENT_SPELLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spelling {
	char *text;	       /* as a whole, without blanks around it */
	char *pmu;	       /* NULL without a slash */
	char *name;	       /* the name, or what stands between the slashes */
	char *modifiers;       /* with their ':', or "" */
	bool user, kernel, hv; /* which were named; none: all are meant */
	uint8_t precise;
	bool tracepoint; /* name is CATEGORY:NAME, both perhaps patterns */
};

/* 0, or -EINVAL with a sentence in *why, to be freed, unless why is NULL. Release it always. */
int spelling_parse(struct spelling *s, const char *text, char **why);
void spelling_release(struct spelling *s);

/* Length of the first name of a list. */
size_t spelling_len(const char *list);

/* Puts a sentence into *why unless why is NULL. Returns err. */
__attribute__((format(printf, 3, 4))) int spelling_refuse(char **why, int err, const char *fmt,
							  ...);

#endif
