/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libcurl says which sockets to watch and when to call it; an epoll and a timer do both. */
#include "push/sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/trust.h"

#define MS_NS	   1000000ull
#define SECOND_NS  1000000000ull
#define MAX_EVENTS 16
#define CONNECT_MS 5000l

struct sender {
	const struct curl *curl;
	void *multi;
	int epoll, timer;
	uint64_t curl_at_ns, wake_at_ns; /* 0 = never */
	void (*answered)(void *arg, const struct answer *a);
};

struct exchange {
	struct sender *s;
	const struct address *address;
	void *arg, *easy;
	struct curl_slist *headers;
	uint8_t *body;
	char error[CURL_ERROR_BYTES];
	char answer[ANSWER_BYTES + 1];
	size_t nr_answer;
	bool started;
};

static void arm(struct sender *s)
{
	uint64_t at = s->curl_at_ns;
	struct itimerspec when = {};

	if (s->wake_at_ns && (!at || s->wake_at_ns < at))
		at = s->wake_at_ns;
	when.it_value.tv_sec = at / SECOND_NS;
	when.it_value.tv_nsec = at % SECOND_NS;
	timerfd_settime(s->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

void sender_wake_at(struct sender *s, uint64_t ns)
{
	s->wake_at_ns = ns;
	arm(s);
}

/* --- called by libcurl --- */

static int watch_socket(void *easy, int fd, int what, void *arg, void *known)
{
	struct sender *s = arg;
	struct epoll_event e = { .data.fd = fd };

	if (what == CURL_REMOVE) {
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	e.events = (what & CURL_IN ? EPOLLIN : 0u) | (what & CURL_OUT ? EPOLLOUT : 0u);
	if (epoll_ctl(s->epoll, EPOLL_CTL_MOD, fd, &e))
		epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e);
	return 0;
}

static int set_timer(void *multi, long ms, void *arg)
{
	struct sender *s = arg;

	s->curl_at_ns = ms < 0 ? 0 : now_ns() + ms * MS_NS;
	arm(s);
	return 0;
}

/* Taking less than there is ends the transfer. */
static size_t take(char *bytes, size_t size, size_t nr, void *arg)
{
	struct exchange *x = arg;
	size_t room = ANSWER_BYTES - x->nr_answer, len = size * nr < room ? size * nr : room;

	memcpy(x->answer + x->nr_answer, bytes, len);
	x->nr_answer += len;
	return len;
}

/* --- sender --- */

struct sender *sender_open(void (*answered)(void *arg, const struct answer *a))
{
	const struct curl *curl = curl_load();
	struct epoll_event e = { .events = EPOLLIN };
	struct sender *s;

	if (!curl) {
		errno = ENOENT;
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	*s = (struct sender){ .curl = curl, .answered = answered, .multi = curl->multi_init() };
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	e.data.fd = s->timer;
	if (!s->multi || s->epoll < 0 || s->timer < 0 ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->timer, &e)) {
		log_err(-errno, "cannot prepare connections");
		sender_close(s);
		errno = EIO;
		return NULL;
	}
	curl->multi_setopt(s->multi, CURL_MULTI_SOCKETFUNCTION, watch_socket);
	curl->multi_setopt(s->multi, CURL_MULTI_SOCKETDATA, s);
	curl->multi_setopt(s->multi, CURL_MULTI_TIMERFUNCTION, set_timer);
	curl->multi_setopt(s->multi, CURL_MULTI_TIMERDATA, s);
	return s;
}

void sender_close(struct sender *s)
{
	if (!s)
		return;
	if (s->multi)
		s->curl->multi_cleanup(s->multi);
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->timer >= 0)
		close(s->timer);
	free(s);
}

int sender_fd(const struct sender *s)
{
	return s->epoll;
}

/* --- answers --- */

static void finish(struct exchange *x, int result)
{
	const struct curl *c = x->s->curl;
	struct answer a = {};
	int64_t seconds = 0;

	c->easy_getinfo(x->easy, CURL_RESPONSE_CODE, &a.status);
	c->easy_getinfo(x->easy, CURL_RETRY_AFTER, &seconds);
	c->multi_remove_handle(x->s->multi, x->easy);
	free(x->body);
	x->body = NULL;
	x->started = false;
	/* What is too long was read far enough to know what it is. */
	if (result == CURL_WRITE_ERROR && x->nr_answer == ANSWER_BYTES)
		result = CURL_OK;
	if (result != CURL_OK)
		a.status = 0;
	a.broke = result == CURL_GOT_NOTHING || result == CURL_RECV_ERROR ||
		  result == CURL_SEND_ERROR || result == CURL_PARTIAL_FILE;
	a.retry_ns = seconds > 0 ? seconds * SECOND_NS : 0;
	x->answer[x->nr_answer] = '\0';
	a.text = result == CURL_OK ? x->answer : *x->error ? x->error : c->easy_strerror(result);
	a.len = result == CURL_OK ? x->nr_answer : strlen(a.text);
	x->s->answered(x->arg, &a);
}

static void read_answers(struct sender *s)
{
	struct curl_message *m;
	int left;

	while ((m = s->curl->multi_info_read(s->multi, &left))) {
		struct exchange *x;

		if (m->what != CURL_DONE)
			continue;
		s->curl->easy_getinfo(m->easy, CURL_PRIVATE_INFO, &x);
		finish(x, m->data.result);
	}
}

static void act(struct sender *s, int fd, int events)
{
	int running;

	s->curl->multi_socket_action(s->multi, fd, events, &running);
}

void sender_turn(struct sender *s)
{
	struct epoll_event events[MAX_EVENTS];
	int nr = epoll_wait(s->epoll, events, MAX_EVENTS, 0);
	uint64_t ticks;

	for (int i = 0; i < nr; i++) {
		uint32_t what = events[i].events;

		if (events[i].data.fd == s->timer) {
			if (read(s->timer, &ticks, sizeof(ticks)) < 0)
				continue;
		} else {
			act(s, events[i].data.fd,
			    (what & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_IN : 0) |
				    (what & EPOLLOUT ? CURL_OUT : 0));
		}
	}
	if (s->curl_at_ns && s->curl_at_ns <= now_ns()) {
		s->curl_at_ns = 0;
		act(s, CURL_TIMEOUT_SOCKET, 0);
	}
	read_answers(s);
	arm(s);
}

/* --- exchanges --- */

struct exchange *exchange_new(struct sender *s, const struct address *a, void *arg)
{
	const struct curl *c = s->curl;
	struct exchange *x = xcalloc(1, sizeof(*x));

	*x = (struct exchange){ .s = s, .address = a, .arg = arg, .easy = c->easy_init() };
	c->easy_setopt(x->easy, CURL_PRIVATE, x);
	c->easy_setopt(x->easy, CURL_URL, a->url);
	c->easy_setopt(x->easy, CURL_PROTOCOLS, (long)(CURL_HTTP | CURL_HTTPS));
	c->easy_setopt(x->easy, CURL_HTTP_VERSION, (long)CURL_HTTP_1_1);
	c->easy_setopt(x->easy, CURL_USERAGENT, "bpfprof/" BPFPROF_VERSION);
	c->easy_setopt(x->easy, CURL_NOSIGNAL, 1l);
	c->easy_setopt(x->easy, CURL_ACCEPT_ENCODING, "");
	c->easy_setopt(x->easy, CURL_ERRORBUFFER, x->error);
	c->easy_setopt(x->easy, CURL_WRITEFUNCTION, take);
	c->easy_setopt(x->easy, CURL_WRITEDATA, x);
	c->easy_setopt(x->easy, CURL_CONNECTTIMEOUT_MS, CONNECT_MS);
	c->easy_setopt(x->easy, CURL_TIMEOUT_MS, (long)(a->timeout_ns / MS_NS));
	if (a->ca_file)
		c->easy_setopt(x->easy, CURL_CAINFO, a->ca_file);
	if (a->cert_file)
		c->easy_setopt(x->easy, CURL_SSLCERT, a->cert_file);
	if (a->key_file)
		c->easy_setopt(x->easy, CURL_SSLKEY, a->key_file);
	return x;
}

void exchange_free(struct exchange *x)
{
	if (!x)
		return;
	if (x->started)
		x->s->curl->multi_remove_handle(x->s->multi, x->easy);
	x->s->curl->easy_cleanup(x->easy);
	x->s->curl->slist_free_all(x->headers);
	free(x->body);
	free(x);
}

/* Takes the text. */
static void add_header(struct exchange *x, char *text)
{
	x->headers = x->s->curl->slist_append(x->headers, text);
	free(text);
}

static int make_headers(struct exchange *x)
{
	const struct address *a = x->address;
	const struct engine *e = a->engine;
	int err;
	char *token = address_token(a, &err);

	x->s->curl->slist_free_all(x->headers);
	x->headers = NULL;
	if (err)
		return err;
	add_header(x, xasprintf("Content-Type: %s", e->content_type));
	add_header(x, xstrdup("Expect:"));
	if (e->content_encoding && !a->plain)
		add_header(x, xasprintf("Content-Encoding: %s", e->content_encoding));
	if (a->tenant)
		add_header(x, xasprintf("X-Scope-OrgID: %s", a->tenant));
	if (token)
		add_header(x, xasprintf("Authorization: Bearer %s", token));
	for (size_t i = 0; i < a->nr_headers; i++)
		add_header(x, xstrdup(a->headers[i]));
	trust_forget(token);
	return 0;
}

int exchange_start(struct exchange *x, uint8_t *body, size_t len)
{
	const struct curl *c = x->s->curl;
	int err = make_headers(x);

	if (err) {
		free(body);
		return err;
	}
	x->body = body;
	x->nr_answer = 0;
	*x->error = '\0';
	c->easy_setopt(x->easy, CURL_HTTPHEADER, x->headers);
	c->easy_setopt(x->easy, CURL_POSTFIELDSIZE_LARGE, (int64_t)len);
	c->easy_setopt(x->easy, CURL_POSTFIELDS, body);
	x->started = true;
	c->multi_add_handle(x->s->multi, x->easy);
	return 0;
}
