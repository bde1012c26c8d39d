/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Serves saved recordings as if they were windows of an agent, one behind the other, over and over,
 * until its standard input ends or it is terminated:
 *
 *	serve ADDRESS WINDOW_MS TOKEN_FILE|- MAX_OWNERS WINDOWS FILE...
 *
 * WINDOWS: after so many no more come; 0 = no end. Prints where it listens.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/labels.h"
#include "profile/save.h"
#include "serve/listener.h"

#define NS_PER_MS 1000000ull

static struct labels labels;

static const struct labels *who(void *arg, uint32_t pid)
{
	const struct profile *p = arg;
	char container[32];

	labels_release(&labels);
	for (size_t i = 0; i < p->nr_samples; i++)
		if (p->samples[i].pid == pid)
			labels_set(&labels, "service_name", profile_str(p, p->samples[i].process));
	snprintf(container, sizeof(container), "c\"\\\n%u", pid); /* has to be escaped */
	labels_set(&labels, "container", container);
	return &labels;
}

static void give(struct listener *l, struct metrics *m, struct profile *p)
{
	metrics_window(m, p, who, p);
	listener_window(l, p);
}

static int wait_ms(const struct listener *l, uint64_t until_ns)
{
	uint64_t now = now_ns();
	int ms = now < until_ns ? (int)((until_ns - now) / NS_PER_MS) + 1 : 0;
	int own = listener_timeout_ms(l);

	return own >= 0 && own < ms ? own : ms;
}

static void loop(struct listener *l, struct metrics *m, struct profile **windows, size_t nr,
		 uint64_t window_ns, uint64_t max)
{
	uint64_t next = now_ns() + window_ns, done = 0;
	struct pollfd p[] = { { listener_fd(l), POLLIN, 0 }, { 0, POLLIN, 0 } };

	for (;;) {
		poll(p, 2, wait_ms(l, next));
		if (p[1].revents)
			return;
		listener_turn(l);
		if (now_ns() < next)
			continue;
		for (size_t i = 0; i < nr && (!max || done < max); i++)
			give(l, m, windows[i]);
		done++;
		next += window_ns;
	}
}

int main(int argc, char **argv)
{
	struct listener_options o = {};
	struct profile **windows;
	struct listener *l;
	struct metrics *m;

	if (argc < 7)
		return 2;
	o.address = argv[1];
	o.window_ns = strtoull(argv[2], NULL, 10) * NS_PER_MS;
	o.token_file = strcmp(argv[3], "-") ? argv[3] : NULL;
	m = metrics_new(strtoul(argv[4], NULL, 10));
	windows = calloc(argc - 6, sizeof(*windows));
	for (int i = 6; i < argc; i++) {
		windows[i - 6] = profile_load(argv[i]);
		if (!windows[i - 6])
			return 1;
		windows[i - 6]->meta.duration_ns = o.window_ns;
	}
	if (listener_open(&l, &o, m))
		return 1;
	puts(listener_url(l));
	fflush(stdout);
	loop(l, m, windows, argc - 6, o.window_ns, strtoull(argv[5], NULL, 10));
	listener_close(l);
	metrics_free(m);
	for (int i = 6; i < argc; i++)
		profile_free(windows[i - 6]);
	free(windows);
	labels_release(&labels);
	return 0;
}
