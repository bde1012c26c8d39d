/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording on the screen while it goes on: functions, processes, threads and waits of its last
 * seconds (profile/overview.h). Whoever records hands over what is new, and keys; what is shown can
 * be frozen, narrowed to a process, filtered, and looked into as a saved recording can
 * (terminal/browse.h).
 */
#ifndef BPFPROF_TERMINAL_TOP_H
#define BPFPROF_TERMINAL_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/overview.h"
#include "terminal/browse.h"

#define TOP_HEADS 3

struct top_opts {
	bool colour;
	enum overview_page page; /* the first one */
	char *(*annotate)(const struct browse *b, const char *function, size_t width);
};

/* What is shown; taken over. */
struct top_data {
	struct profile *profile;
	char *heads[TOP_HEADS]; /* safe; the first is what is recorded, the second what it costs */
	uint64_t lost;
};

enum top_wish { TOP_NOTHING, TOP_QUIT, TOP_SAVE };

struct top;

/* NULL: why says what is wrong, a sentence without an end. */
struct top *top_open(const struct top_opts *o, const char **why);
void top_close(struct top *t);

/* False while what is shown is frozen, or looked into. */
bool top_wants(const struct top *t);
void top_give(struct top *t, struct top_data *d);

void top_draw(struct top *t);

/* Every key that has come, and what to do about the last one. Draws what has changed. */
enum top_wish top_keys(struct top *t, int timeout_ms);

/* A line about what happened, until the next key. */
void top_tell(struct top *t, const char *message, bool is_bad);

/* What is shown: NULL = nothing yet; and of which process, 0 = of all. */
const struct profile *top_profile(const struct top *t);
uint32_t top_process(const struct top *t);

#endif
