/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples to rows by name, sorted twice: to find equal ones, and by time. */
#include "profile/woken.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/waker.h"

const char *const woken_none_keys[WOKEN_NR_NONE] = {
	[WOKEN_NOT_ENDED] = "not-ended",
	[WOKEN_PREEMPTED] = "preempted",
	[WOKEN_UNKNOWN] = "unknown",
};

const char *const woken_none_texts[WOKEN_NR_NONE] = {
	[WOKEN_NOT_ENDED] = "not ended when the recording did",
	[WOKEN_PREEMPTED] = "pre-empted",
	[WOKEN_UNKNOWN] = "not known",
};

/* Libraries through which programs wake others: their callers tell more. */
static const char *const plumbing[] = { "libc.so", "libc-",	"libpthread",
					"ld-musl", "libstdc++", "linux-vdso" };

bool woken_is_plumbing(const struct profile *p, uint32_t frame)
{
	const char *path = profile_str(p, p->modules[profile_frame_module(p, frame)].path);
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(plumbing) / sizeof(*plumbing); i++)
		if (!strncmp(name, plumbing[i], strlen(plumbing[i])))
			return true;
	return false;
}

uint32_t woken_user_function(const struct profile *p, uint32_t stack)
{
	uint32_t nr, i;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr);

	for (i = 0; i < nr && woken_is_plumbing(p, frames[i]); i++)
		;
	return nr ? profile_frame_at(p, frames[i < nr ? i : 0])->name : 0;
}

static uint32_t kernel_function(const struct profile *p, uint32_t stack, uint32_t first)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, stack, &nr);

	return first < nr ? profile_frame_at(p, frames[first])->name : 0;
}

static struct woken_row row_of(const struct profile *p, const struct sample *s)
{
	const struct waker *waker = &p->wakers[s->waker];
	struct woken_row row = { .waiter = s->thread };
	struct waker_frames f;

	f = waker_frames(p, waker);
	row.irq = f.irq;
	if (!f.irq) {
		row.waker = waker->thread;
		row.function = woken_user_function(p, waker->ustack);
	}
	if (!row.function)
		row.function = kernel_function(p, waker->kstack, f.first);
	return row;
}

static int compare_names(const void *x, const void *y)
{
	const struct woken_row *a = x, *b = y;

	if (a->waiter != b->waiter)
		return a->waiter < b->waiter ? -1 : 1;
	if (a->waker != b->waker)
		return a->waker < b->waker ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (int)a->irq - (int)b->irq;
}

static int compare_time(const void *x, const void *y)
{
	const struct woken_row *a = x, *b = y;

	return a->ns != b->ns ? (a->ns < b->ns) - (a->ns > b->ns) : compare_names(x, y);
}

static void merge(struct woken *w)
{
	size_t nr = 0;

	qsort(w->v, w->nr, sizeof(*w->v), compare_names);
	for (size_t i = 0; i < w->nr; i++) {
		if (nr && !compare_names(&w->v[nr - 1], &w->v[i])) {
			w->v[nr - 1].ns += w->v[i].ns;
			w->v[nr - 1].nr += w->v[i].nr;
		} else {
			w->v[nr++] = w->v[i];
		}
	}
	w->nr = nr;
	qsort(w->v, w->nr, sizeof(*w->v), compare_time);
}

static void add_none(struct woken *w, const struct sample *s, uint64_t ns)
{
	enum woken_by_none why = s->wait & PROF_WAIT_OPEN		     ? WOKEN_NOT_ENDED
				 : PROF_WAIT_KIND(s->wait) == PROF_PREEMPTED ? WOKEN_PREEMPTED
									     : WOKEN_UNKNOWN;

	w->none[why].ns += ns;
	w->none[why].nr += s->count;
}

void woken_init(struct woken *w, const struct profile *p, const struct view *v)
{
	struct waits waits;

	*w = (struct woken){ .v = xcalloc(p->nr_samples + 1, sizeof(*w->v)) };
	waits_init(&waits, p, v);
	for (size_t i = 0; i < p->nr_samples; i++) {
		struct woken_row *row = &w->v[w->nr];

		if (waits.fate[i] != WAITS_SHOWN || !waits.ns[i])
			continue;
		w->ns += waits.ns[i];
		if (!p->samples[i].waker) {
			add_none(w, &p->samples[i], waits.ns[i]);
			continue;
		}
		*row = row_of(p, &p->samples[i]);
		row->ns = waits.ns[i];
		row->nr = p->samples[i].count;
		w->nr++;
	}
	waits_release(&waits);
	merge(w);
}

void woken_release(struct woken *w)
{
	free(w->v);
	*w = (struct woken){};
}
