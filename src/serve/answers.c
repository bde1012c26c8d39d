/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is answered at which path: a table. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "output/output.h"
#include "serve/listener_parts.h"

#define NS_PER_S	1000000000ull
#define DEFAULT_SECONDS 30

/* Pages draw themselves, without a network; nobody else may put them into a frame. */
#define POLICY                                                                                     \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "              \
	"connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "              \
	"frame-ancestors 'self'"

static const char *const headers[][2] = {
	{ "Content-Security-Policy", POLICY },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "SAMEORIGIN" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },
};

#define TEXT	"text/plain; charset=utf-8"
#define HTML	"text/html; charset=utf-8"
#define METRICS "text/plain; version=0.0.4; charset=utf-8"
#define PPROF	"application/octet-stream"
#define JSON	"application/json"

static void add_headers(struct listener *l, struct MHD_Response *r, const char *type)
{
	l->lib.add_response_header(r, "Content-Type", type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		l->lib.add_response_header(r, headers[i][0], headers[i][1]);
}

static enum MHD_Result queue(struct listener *l, struct MHD_Connection *c, unsigned int status,
			     struct MHD_Response *r, const char *type)
{
	enum MHD_Result result;

	add_headers(l, r, type);
	if (status == MHD_HTTP_UNAUTHORIZED)
		l->lib.add_response_header(r, "WWW-Authenticate", "Basic realm=\"bpfprof\"");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		l->lib.add_response_header(r, "Allow", "GET, HEAD");
	result = l->lib.queue_response(c, status, r);
	l->lib.destroy_response(r);
	return result;
}

static enum MHD_Result put_copy(struct listener *l, struct MHD_Connection *c, unsigned int status,
				const char *type, const void *bytes, size_t sz)
{
	struct MHD_Response *r =
		l->lib.create_response_from_buffer(sz, (void *)bytes, MHD_RESPMEM_MUST_COPY);

	return r ? queue(l, c, status, r, type) : MHD_NO;
}

enum MHD_Result answers_put_text(struct listener *l, struct MHD_Connection *c, unsigned int status,
				 const char *text)
{
	return put_copy(l, c, status, TEXT, text, strlen(text));
}

enum MHD_Result answers_refuse(struct listener *l, struct MHD_Connection *c,
			       enum access_verdict verdict)
{
	if (verdict == ACCESS_NO_TOKEN)
		return answers_put_text(l, c, MHD_HTTP_UNAUTHORIZED,
					"needs the token: Authorization: Bearer TOKEN\n");
	return answers_put_text(l, c, MHD_HTTP_FORBIDDEN,
				"ask for localhost: other names are not answered on loopback\n");
}

/* What a writer prints; it takes over the memory. */
struct printed {
	char *bytes;
	size_t sz;
	FILE *out;
};

static bool begin_print(struct printed *p)
{
	*p = (struct printed){};
	p->out = open_memstream(&p->bytes, &p->sz);
	return p->out;
}

static struct MHD_Response *end_print(struct listener *l, struct printed *p)
{
	fclose(p->out);
	return l->lib.create_response_from_buffer(p->sz, p->bytes, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result get_page(struct listener *l, struct MHD_Connection *c, struct asker **waits)
{
	return put_copy(l, c, MHD_HTTP_OK, HTML, page_text, strlen(page_text));
}

static enum MHD_Result get_metrics(struct listener *l, struct MHD_Connection *c,
				   struct asker **waits)
{
	struct MHD_Response *r;
	struct printed p;

	if (!begin_print(&p))
		return MHD_NO;
	metrics_write(l->metrics, p.out);
	r = end_print(l, &p);
	return r ? queue(l, c, MHD_HTTP_OK, r, METRICS) : MHD_NO;
}

static enum MHD_Result get_health(struct listener *l, struct MHD_Connection *c,
				  struct asker **waits)
{
	uint64_t ago = now_ns() - l->window_end_ns;
	char text[96];

	if (ago <= 3 * l->window_ns)
		return answers_put_text(l, c, MHD_HTTP_OK, "ok\n");
	snprintf(text, sizeof(text), "no window has ended for %" PRIu64 " s\n",
		 (uint64_t)(ago / NS_PER_S));
	return answers_put_text(l, c, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

static enum MHD_Result get_status(struct listener *l, struct MHD_Connection *c,
				  struct asker **waits)
{
	const struct profile *last =
		l->last[PART_RUNNING] ? l->last[PART_RUNNING] : l->last[PART_WAITS];
	char text[160];

	snprintf(text, sizeof(text),
		 "{\"window\": %" PRIu64 ", \"start_ms\": %" PRIu64 ", \"seconds\": %.3f}\n",
		 l->nr_windows, last ? last->meta.start_ns / 1000000 : 0,
		 last ? (double)last->meta.duration_ns / NS_PER_S : 0.0);
	return put_copy(l, c, MHD_HTTP_OK, JSON, text, strlen(text));
}

/* --- what is made of the last window --- */

static const struct {
	int (*write)(const struct profile *p, const struct view *v, FILE *out);
	const char *type;
} makers[MADE_NR] = {
	[MADE_PAGE] = { html_write, HTML },
	[MADE_PPROF] = { pprof_write, PPROF },
};

static struct MHD_Response *make(struct listener *l, enum part part, enum made what)
{
	const struct view v = { .by_class = what == MADE_PAGE && part == PART_WAITS };
	struct MHD_Response *r;
	struct printed p;

	if (!begin_print(&p))
		return NULL;
	makers[what].write(l->last[part], &v, p.out);
	r = end_print(l, &p);
	if (r)
		add_headers(l, r, makers[what].type);
	return r;
}

static enum MHD_Result put_made(struct listener *l, struct MHD_Connection *c, enum part part,
				enum made what)
{
	struct MHD_Response **r = &l->made[part][what];

	if (!*r)
		*r = make(l, part, what);
	return *r ? l->lib.queue_response(c, MHD_HTTP_OK, *r) : MHD_NO;
}

void answers_forget(struct listener *l, enum part part)
{
	for (enum made what = 0; what < MADE_NR; what++) {
		if (l->made[part][what])
			l->lib.destroy_response(l->made[part][what]);
		l->made[part][what] = NULL;
	}
}

static enum MHD_Result put_flame(struct listener *l, struct MHD_Connection *c, enum part part)
{
	if (!l->last[part])
		return answers_put_text(l, c, MHD_HTTP_NOT_FOUND,
					part == PART_WAITS
						? "no waits were recorded so far\n"
						: "no running code was recorded so far\n");
	return put_made(l, c, part, MADE_PAGE);
}

static enum MHD_Result get_running_flame(struct listener *l, struct MHD_Connection *c,
					 struct asker **waits)
{
	return put_flame(l, c, PART_RUNNING);
}

static enum MHD_Result get_waits_flame(struct listener *l, struct MHD_Connection *c,
				       struct asker **waits)
{
	return put_flame(l, c, PART_WAITS);
}

/* --- pprof --- */

static enum MHD_Result put_pprof(struct listener *l, struct MHD_Connection *c,
				 const struct profile *profile)
{
	const struct view v = {};
	struct MHD_Response *r;
	struct printed p;

	if (!begin_print(&p))
		return MHD_NO;
	pprof_write(profile, &v, p.out);
	r = end_print(l, &p);
	return r ? queue(l, c, MHD_HTTP_OK, r, PPROF) : MHD_NO;
}

enum MHD_Result answers_put_profile(struct listener *l, struct asker *a)
{
	if (a->merged->meta.command)
		return put_pprof(l, a->connection, a->merged);
	return answers_put_text(l, a->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				"no such window has ended meanwhile\n");
}

static bool parse_seconds(const char *text, uint64_t *seconds)
{
	char *end;

	if (!text) {
		*seconds = DEFAULT_SECONDS;
		return true;
	}
	*seconds = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && *seconds &&
	       *seconds <= LISTENER_MAX_SECONDS;
}

static size_t count_askers(const struct listener *l)
{
	size_t nr = 0;

	for (const struct asker *a = l->askers; a; a = a->next)
		nr++;
	return nr;
}

static struct asker *new_asker(struct listener *l, struct MHD_Connection *c, enum part part,
			       uint64_t seconds)
{
	const union MHD_ConnectionInfo *info =
		l->lib.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct asker *a = xcalloc(1, sizeof(*a));

	*a = (struct asker){ .connection = c,
			     .fd = info ? info->connect_fd : -1,
			     .part = part,
			     .seconds = seconds,
			     .asked_ns = now_ns(),
			     .merged = profile_new(),
			     .next = l->askers };
	l->askers = a;
	return a;
}

/*
 * Readers wait for half as long again as they asked for, so who asks for less than two windows gets
 * the last one at once.
 */
static enum MHD_Result get_profile(struct listener *l, struct MHD_Connection *c, enum part part,
				   struct asker **waits)
{
	uint64_t seconds;

	if (!parse_seconds(l->lib.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "seconds"),
			   &seconds))
		return answers_put_text(l, c, MHD_HTTP_BAD_REQUEST,
					"seconds has to be a number from 1 to 300\n");
	if (seconds * NS_PER_S < 2 * l->window_ns && l->last[part])
		return put_made(l, c, part, MADE_PPROF);
	if (count_askers(l) >= LISTENER_MAX_ASKERS)
		return answers_put_text(l, c, MHD_HTTP_TOO_MANY_REQUESTS,
					"8 others wait for profiles: ask later\n");
	*waits = new_asker(l, c, part, seconds);
	return MHD_YES;
}

static enum MHD_Result get_running(struct listener *l, struct MHD_Connection *c,
				   struct asker **waits)
{
	return get_profile(l, c, PART_RUNNING, waits);
}

static enum MHD_Result get_waits(struct listener *l, struct MHD_Connection *c, struct asker **waits)
{
	return get_profile(l, c, PART_WAITS, waits);
}

static const struct {
	const char *path;
	enum MHD_Result (*get)(struct listener *l, struct MHD_Connection *c, struct asker **waits);
} paths[] = {
	{ "/", get_page },
	{ "/metrics", get_metrics },
	{ "/healthz", get_health },
	{ "/status", get_status },
	{ "/flame/cpu", get_running_flame },
	{ "/flame/offcpu", get_waits_flame },
	{ "/debug/pprof/profile", get_running },
	{ "/debug/pprof/offcpu", get_waits },
};

enum MHD_Result answers_get(struct listener *l, struct MHD_Connection *c, const char *path,
			    struct asker **waits)
{
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (!strcmp(path, paths[i].path))
			return paths[i].get(l, c, waits);
	return answers_put_text(l, c, MHD_HTTP_NOT_FOUND,
				"there are /, /metrics, /healthz, /debug/pprof/profile?seconds=N "
				"and /debug/pprof/offcpu?seconds=N\n");
}
