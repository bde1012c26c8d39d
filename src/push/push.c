/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each engine has a queue and one request on its way, so none waits for another. What failed and
 * may be tried again makes its engine rest; with a spool its item moves there at once.
 */
#include "push/push.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/trust.h"
#include "profile/profile.h"
#include "push/backoff.h"
#include "push/push_parts.h"

#define PATIENCE_NS 300000000000ull /* without a spool */
#define MS_NS	    1000000ull

#define DROP_INFO(name, key, text) { key, text },
const struct push_drop_info push_drops[PUSH_NR_DROPS] = { PUSH_DROPS(DROP_INFO) };

/* --- sending --- */

/* The newest first where what is old is refused; else the oldest. */
static struct item *next_item(struct way *w)
{
	if (!w->queue.nr)
		return NULL;
	return w->queue.v[w->address.engine->max_age_ns ? w->queue.nr - 1 : 0];
}

static void drop_stale(struct way *w)
{
	uint64_t now = clock_ns(CLOCK_REALTIME), age = w->address.engine->max_age_ns;

	for (size_t i = 0; i < w->queue.nr;) {
		struct item *item = w->queue.v[i];

		if (item == w->sending)
			i++;
		else if (age && item->window_ns + age < now)
			way_drop(w, item, PUSH_DROP_TOO_OLD);
		else if (w->push->spool.dir < 0 && item->tries &&
			 item->born_ns + PATIENCE_NS < now_ns())
			way_drop(w, item, PUSH_DROP_GAVE_UP);
		else
			i++;
	}
}

/* A Collector that wants no compression gets the gzipped item without it. */
static uint8_t *inflated(uint8_t *body, size_t *len)
{
	z_stream z = { .next_in = body, .avail_in = *len };
	size_t cap = 4 * *len + 64;
	uint8_t *out = xmalloc(cap);
	int err;

	inflateInit2(&z, MAX_WBITS + 16);
	do {
		if (z.total_out == cap)
			out = xreallocarray(out, cap *= 2, 1);
		z.next_out = out + z.total_out;
		z.avail_out = cap - z.total_out;
		err = inflate(&z, Z_NO_FLUSH);
	} while (err == Z_OK);
	*len = z.total_out;
	inflateEnd(&z);
	free(body);
	return out;
}

static void start(struct way *w)
{
	struct item *item = next_item(w);
	uint8_t *body;
	size_t len;

	if (!item_load(&w->push->spool, item)) {
		way_drop(w, item, PUSH_DROP_BROKEN);
		return;
	}
	body = request_body(w->address.engine, item->bytes, item->lens, item->nr, &len);
	if (w->address.plain)
		body = inflated(body, &len);
	w->counts.requests++;
	w->counts.retried += item->tries++ > 0;
	if (!exchange_start(w->exchange, body, len)) {
		w->sending = item;
		return;
	}
	way_rest(w, 0);
	way_set_trouble(w, "", "the token cannot be read", MAX_TROUBLE);
}

static void send_next(struct way *w)
{
	drop_stale(w);
	while (!w->sending && w->queue.nr && w->rest_until_ns <= now_ns())
		start(w);
}

/* When something is to be done without anything having come. */
static void set_alarm(struct push *p)
{
	uint64_t at = 0;

	for (size_t i = 0; i < p->nr; i++) {
		const struct way *w = &p->ways[i];

		if (!w->sending && w->queue.nr && (!at || w->rest_until_ns < at))
			at = w->rest_until_ns ? w->rest_until_ns : 1;
	}
	sender_wake_at(p->sender, at);
}

void push_turn(struct push *p)
{
	sender_turn(p->sender);
	for (size_t i = 0; i < p->nr; i++)
		send_next(&p->ways[i]);
	set_alarm(p);
}

int push_fd(const struct push *p)
{
	return sender_fd(p->sender);
}

/* --- windows --- */

/* Of all queues the oldest item that is not on its way goes. */
static void keep_cap(struct push *p)
{
	while (p->spool.bytes > p->spool.cap_bytes) {
		struct way *of = NULL;
		struct item *oldest = NULL;

		for (size_t i = 0; i < p->nr; i++)
			for (size_t k = 0; k < p->ways[i].queue.nr; k++) {
				struct item *item = p->ways[i].queue.v[k];

				if (item == p->ways[i].sending)
					continue;
				if (!oldest || item->window_ns < oldest->window_ns) {
					oldest = item;
					of = &p->ways[i];
				}
				break;
			}
		if (!oldest)
			return;
		way_drop(of, oldest, PUSH_DROP_CAP);
	}
}

/* What would wait in memory behind another one waits in the spool. */
static void spool_waiting(struct way *w)
{
	struct spool *s = &w->push->spool;

	for (size_t i = 0; s->dir >= 0 && w->rest_until_ns && i < w->queue.nr; i++)
		if (w->queue.v[i] != w->sending && !w->queue.v[i]->name &&
		    queue_spool(s, &w->queue, w->queue.v[i]))
			w->counts.spooled++;
}

static void queue_window(struct way *w, const struct series_set *set)
{
	uint64_t end_ns = set->start_ns + set->duration_ns,
		 begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct requests r;

	requests_make(&r, w->address.engine, set);
	for (size_t i = 0; i < r.nr; i++)
		queue_add(&w->push->spool, &w->queue, &r.v[i], end_ns);
	w->counts.windows++;
	w->counts.series += set->nr;
	w->counts.folded += set->folded;
	w->counts.queued += r.nr;
	if (r.unfit && !w->counts.dropped[PUSH_DROP_UNFIT])
		log_warn("%s %s: series are not sent that it would refuse: %s",
			 w->address.engine->name, w->address.url, r.why);
	w->counts.dropped[PUSH_DROP_UNFIT] += r.unfit;
	requests_release(&r);
	spool_waiting(w);
	w->counts.encode_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

int push_window(struct push *p, const struct profile *window, push_who who, void *arg)
{
	const struct series_opts o = { .who = who,
				       .arg = arg,
				       .labels = &p->labels,
				       .max_series = p->max_series,
				       .min_weight = p->min_weight };
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), each;
	struct series_set set;

	if (!window->nr_samples)
		return log_as(-ENODATA, "there are no samples to send");
	series_set_init(&set, window, &o);
	if (p->now)
		set.start_ns = clock_ns(CLOCK_REALTIME) - set.duration_ns;
	if (!set.duration_ns)
		set.duration_ns = 1;
	each = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / p->nr;
	for (size_t i = 0; i < p->nr; i++) {
		p->ways[i].counts.encode_ns += each;
		queue_window(&p->ways[i], &set);
	}
	series_set_release(&set);
	keep_cap(p);
	push_turn(p);
	return 0;
}

/* Does something wait that could be sent before then? */
static bool is_busy(const struct push *p, uint64_t deadline_ns)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->ways[i].sending ||
		    (p->ways[i].queue.nr && p->ways[i].rest_until_ns < deadline_ns))
			return true;
	return false;
}

static void spool_all(struct way *w)
{
	for (size_t i = 0; i < w->queue.nr; i++)
		queue_spool(&w->push->spool, &w->queue, w->queue.v[i]);
}

int push_flush(struct push *p, uint64_t deadline_ns)
{
	bool all = true;

	push_turn(p);
	while (is_busy(p, deadline_ns) && now_ns() < deadline_ns) {
		struct pollfd fd = { push_fd(p), POLLIN, 0 };

		poll(&fd, 1, (deadline_ns - now_ns()) / MS_NS + 1);
		push_turn(p);
	}
	for (size_t i = 0; i < p->nr; i++) {
		spool_all(&p->ways[i]);
		all &= !p->ways[i].queue.nr;
	}
	return all ? 0 : -ETIMEDOUT;
}

const struct push_counts *push_counts(const struct push *p, size_t engine)
{
	struct way *w = engine < p->nr ? &p->ways[engine] : NULL;

	if (!w)
		return NULL;
	w->counts.waiting = w->queue.nr;
	w->counts.waiting_bytes = w->counts.in_memory = 0;
	for (size_t i = 0; i < w->queue.nr; i++) {
		w->counts.waiting_bytes += w->queue.v[i]->len;
		w->counts.in_memory += !w->queue.v[i]->name;
	}
	return &w->counts;
}

/* --- begin and end --- */

/* As engines take it. */
static bool is_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_.", *c))
			return false;
	return !isdigit((unsigned char)*name);
}

/* Why; NULL = engines take it. */
static const char *label_refused(const char *name, const char *value)
{
	char *clean = text_cleaned(value);
	bool is_clean = !strcmp(clean, value);

	free(clean);
	if (!is_name(name))
		return "names have letters, digits and '_', and begin with no digit";
	if (engine_has_label(name))
		return "engines use that name themselves";
	return is_clean ? NULL : "its value is no printable text (UTF-8)";
}

static int add_labels(struct push *p, const struct opt_strings *words)
{
	for (size_t i = 0; words && i < words->nr; i++) {
		const char *equals = strchr(words->v[i], '=');
		const char *why;
		char *name;

		if (!equals || equals == words->v[i] || !equals[1])
			return log_as(-EINVAL, "--label '%s': NAME=VALUE", words->v[i]);
		name = xstrndup(words->v[i], equals - words->v[i]);
		why = label_refused(name, equals + 1);
		if (!why)
			labels_set(&p->labels, name, equals + 1);
		free(name);
		if (why)
			return log_as(-EINVAL, "--label '%s': %s", words->v[i], why);
	}
	return 0;
}

/* FNV-1a: the same address has the same files in each run. */
static uint32_t hash_of(const char *s)
{
	uint32_t hash = 2166136261u;

	for (; *s; s++)
		hash = (hash ^ (uint8_t)*s) * 16777619u;
	return hash;
}

static int open_way(struct push *p, const char *word, const struct push_opts *o)
{
	struct way *w = &p->ways[p->nr++];
	int err = address_init(&w->address, word, o);
	char *token;

	w->push = p;
	if (err)
		return err;
	token = address_token(&w->address, &err);
	trust_forget(token);
	if (err)
		return err;
	w->queue.key = xasprintf("%s-%08" PRIx32, w->address.engine->name, hash_of(w->address.url));
	w->counts.engine = w->address.engine->name;
	w->counts.url = w->address.url;
	for (size_t i = 0; i + 1 < p->nr; i++)
		if (!strcmp(p->ways[i].queue.key, w->queue.key))
			return log_as(-EINVAL, "%s is named twice", w->address.url);
	w->exchange = exchange_new(p->sender, &w->address, w);
	w->counts.resumed = spool_resume(&p->spool, &w->queue);
	return 0;
}

struct push *push_open(const struct push_opts *o)
{
	struct push *p = xcalloc(1, sizeof(*p));
	int err = 0;

	p->spool.dir = p->spool.lock = -1;
	p->max_series = o->max_series ? o->max_series : PUSH_MAX_SERIES;
	p->min_weight = o->min_weight;
	p->retry_ns = o->retry_ns ? o->retry_ns : BACKOFF_FIRST_NS;
	p->now = o->now;
	p->ways = xcalloc(o->to->nr + 1, sizeof(*p->ways));
	if (!o->to->nr)
		err = log_as(-EINVAL, "where to? pyroscope=URL, parca=URL or otlp=URL");
	if (!err)
		err = add_labels(p, o->labels);
	if (!err)
		err = spool_open(&p->spool, o->spool,
				 o->spool_bytes ? o->spool_bytes : PUSH_SPOOL_BYTES);
	if (!err && !(p->sender = sender_open(way_answered)))
		err = -errno;
	for (size_t i = 0; !err && i < o->to->nr; i++)
		err = open_way(p, o->to->v[i], o);
	if (!err)
		return p;
	push_close(p);
	errno = -err;
	return NULL;
}

static void close_way(struct way *w)
{
	exchange_free(w->exchange);
	spool_all(w);
	queue_release(&w->queue);
	address_release(&w->address);
	free(w->trouble);
}

void push_close(struct push *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++)
		close_way(&p->ways[i]);
	free(p->ways);
	sender_close(p->sender);
	spool_close(&p->spool);
	labels_release(&p->labels);
	free(p);
}
