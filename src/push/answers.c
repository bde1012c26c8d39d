/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What engines answer, and what becomes of the item: gone, kept for later, in parts, or dropped. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "push/backoff.h"
#include "push/push_parts.h"

#define MOST_REST_NS 3600000000000ull
#define MAX_BROKEN   2

void way_drop(struct way *w, struct item *item, enum push_drop why)
{
	w->counts.dropped[why]++;
	queue_remove(&w->push->spool, &w->queue, item);
}

void way_set_trouble(struct way *w, const char *what, const char *text, size_t len)
{
	char *line = xstrndup(text, strcspn(text, "\r\n") < len ? strcspn(text, "\r\n") : len);
	char *clean, *full;

	if (strlen(line) > MAX_TROUBLE)
		line[MAX_TROUBLE] = '\0';
	clean = text_cleaned(line);
	full = xasprintf("%s%s%s", what, *clean && *what ? ": " : "", clean);
	if (!w->trouble || strcmp(w->trouble, full))
		log_warn("%s %s: %s", w->address.engine->name, w->address.url, full);
	free(w->trouble);
	w->trouble = full;
	w->counts.trouble = full;
	free(clean);
	free(line);
}

void way_rest(struct way *w, uint64_t asked_ns)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = now_ns();
	w->failures++;
	if (!asked_ns)
		asked_ns = backoff_ns(w->failures, w->push->retry_ns, random);
	w->rest_until_ns = now_ns() + (asked_ns < MOST_REST_NS ? asked_ns : MOST_REST_NS);
}

static void retry(struct way *w, struct item *item, const struct answer *a)
{
	way_rest(w, a->retry_ns);
	item->broken += a->broke;
	if (item->broken >= MAX_BROKEN) {
		way_drop(w, item, PUSH_DROP_POISON);
		return;
	}
	if (w->push->spool.dir < 0)
		return;
	if (!item->name && queue_spool(&w->push->spool, &w->queue, item))
		w->counts.spooled++;
}

/* Of an engine that kept nothing: each part as a request of its own, so one costs only itself. */
static void split(struct way *w, struct item *item)
{
	const uint8_t *at = item->bytes;

	for (size_t i = 0; i < item->nr; at += item->lens[i++]) {
		struct requests one = {};

		requests_add(&one, w->address.engine, at, item->lens[i], 0);
		queue_add(&w->push->spool, &w->queue, &one.v[0], item->window_ns);
		w->counts.queued++;
		requests_release(&one);
	}
	queue_remove(&w->push->spool, &w->queue, item);
}

/* ExportProfilesServiceResponse: partial_success 1 { rejected_profiles 1 }. */
static uint64_t rejected_of(const struct answer *a)
{
	const uint8_t *b = (const uint8_t *)a->text;
	uint64_t n = 0;
	size_t i = 3;

	if (a->len < 4 || b[0] != 0x0a || b[1] < 2 || b[2] != 0x08)
		return 0;
	for (uint32_t shift = 0; i < a->len && shift < 64; shift += 7) {
		n |= (uint64_t)(b[i] & 0x7f) << shift;
		if (!(b[i++] & 0x80))
			return n;
	}
	return 0;
}

static void delivered(struct way *w, struct item *item, const struct answer *a)
{
	uint64_t rejected = strcmp(w->address.engine->name, "otlp") ? 0 : rejected_of(a);

	w->failures = 0;
	w->rest_until_ns = 0;
	w->counts.sent++;
	w->counts.sent_bytes += item->len;
	w->counts.rejected += rejected;
	w->counts.last_ns = now_ns() - item->born_ns;
	free(w->trouble);
	w->counts.trouble = w->trouble = NULL;
	if (rejected)
		way_set_trouble(w, "it rejected a part of what it took", "", 0);
	queue_remove(&w->push->spool, &w->queue, item);
}

void way_answered(void *arg, const struct answer *a)
{
	struct way *w = arg;
	struct item *item = w->sending;
	char status[64] = "";

	w->sending = NULL;
	if (a->status == 200 || a->status == 202 || a->status == 204) {
		delivered(w, item, a);
		return;
	}
	if (a->status)
		snprintf(status, sizeof(status), "HTTP %ld%s", a->status,
			 a->status / 100 == 3 ? ", not followed: push to where it leads" : "");
	way_set_trouble(w, status, a->text, a->len);
	if (!a->status || backoff_may_retry(a->status))
		retry(w, item, a);
	else if (a->status == 400 && w->address.engine->all_or_nothing && item->nr > 1)
		split(w, item);
	else
		way_drop(w, item, PUSH_DROP_REFUSED);
}
