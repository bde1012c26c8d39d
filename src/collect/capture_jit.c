/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What runtimes have written of the code they generated. */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/capture_parts.h"
#include "proc/java.h"
#include "reader/jail.h"
#include "reader/peek.h"

#define JAVA_NS 3000000000ull /* an answer takes 0.2 s, and the cache of a large JVM longer */

#define OPEN_NS	 300000000ull /* a file system that is there answers in microseconds */
#define TIRED_NS 20000000ull  /* when one did not */
#define LATE_NS	 200000000ull /* a child that says itself that there was no answer */
#define MOST	 4	      /* that do not answer; then nobody is asked any more */

#define CAP(name) (1ull << CAP_##name)
#define CAPS_OF_JAVA                                                                               \
	(CAP(CHOWN) | CAP(DAC_OVERRIDE) | CAP(DAC_READ_SEARCH) | CAP(FOWNER) | CAP(KILL) |         \
	 CAP(SYS_PTRACE))

int capture_do_open_jit(struct reader_work *w)
{
	struct jit_refusal why;
	struct jit_place place;

	if (w->question_sz != sizeof(place) || w->max_sz < sizeof(why))
		return -EINVAL;
	memcpy(&place, w->question, sizeof(place));
	w->fd = jit_place_open(&place, w->fds[0], &why);
	if (w->fd < 0 && why.rule == JIT_COUNTS)
		return -ENOENT;
	memcpy(w->answer, &why, sizeof(why));
	w->sz = sizeof(why);
	return 0;
}

int capture_open_jit(void *arg, const struct jit_place *place, int tmp, struct jit_refusal *why)
{
	struct capture *c = arg;
	const struct reader_question q = { .task = READER_JIT_FILES,
					   .bytes = place,
					   .sz = sizeof(*place),
					   .fds = &tmp,
					   .nr_fds = tmp >= 0,
					   .timeout_ns = c->jit_hung ? TIRED_NS : OPEN_NS };
	struct reader_answer a;
	int err = c->jit_hung < MOST ? reader_ask(c->reader, &q, &a) : -EIO;

	*why = (struct jit_refusal){};
	if (err == -ETIMEDOUT && c->jit_hung++ < MOST)
		log_warn("/tmp of process %u: its file system does not answer: its generated code "
			 "has no names",
			 place->pid);
	if (err)
		return err;
	if (a.sz == sizeof(*why))
		memcpy(why, a.bytes, sizeof(*why));
	free(a.bytes);
	return a.fd < 0 ? -ENOENT : a.fd;
}

/*
 * The child talks to the JVM, whose working folder, /tmp and socket may all be made to never
 * answer. It keeps what that takes: to leave a file there for the JVM's user, and to signal it.
 */
int capture_do_ask_java(struct reader_work *w)
{
	struct jit_files j = { .tmp = w->fds[0] };
	char *why;
	int err;

	if (w->question_sz != sizeof(j.place) || j.tmp < 0)
		return -EINVAL;
	memcpy(&j.place, w->question, sizeof(j.place));
	err = jail_keep(CAPS_OF_JAVA);
	if (err)
		return err;
	why = java_write_names(&j, JAVA_NS);
	if (why) {
		w->sz = strlen(why) + 1;
		memcpy(w->answer, why, w->sz);
	}
	free(why);
	return 0;
}

/* What ends a wait that Ctrl-C may cut short: it is not taken, so that it acts afterwards. */
static int interrupts(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	return signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* NULL, or why it has not written its names; to be freed. */
static char *have_written(struct capture *c, const struct jit_files *j)
{
	int interrupt = interrupts();
	const struct reader_question q = { .task = READER_JAVA,
					   .bytes = &j->place,
					   .sz = sizeof(j->place),
					   .fds = &j->tmp,
					   .nr_fds = 1,
					   .timeout_ns =
						   (c->java_hung ? TIRED_NS : JAVA_NS) + LATE_NS,
					   .interrupt = interrupt < 0 ? 0 : interrupt };
	struct reader_answer a;
	char *why = NULL;
	int err = c->java_hung < MOST ? reader_ask(c->reader, &q, &a) : -ETIMEDOUT;

	if (interrupt >= 0)
		close(interrupt);
	c->java_hung += err == -ETIMEDOUT;
	if (err)
		return xstrdup(err == -ETIMEDOUT ? "it does not answer in time"
			       : err == -EINTR	 ? "interrupted"
						 : strerror(-err));
	if (a.sz && !((char *)a.bytes)[a.sz - 1])
		why = text_cleaned(a.bytes);
	free(a.bytes);
	return why;
}

static void note(struct capture *c, uint32_t pid, enum lack what, const char *detail)
{
	char key[LACKS_KEY_MAX];

	lacks_add(&c->lacks, what, lacks_key(pid, key), detail);
}

static void ask_java(struct capture *c, const struct jit_files *j, const struct process *p)
{
	char *why = p->exit_ns ? xstrdup("it has ended") : have_written(c, j);

	if (why) {
		log_warn("no names of Java code of process %u: %s", p->pid, why);
		note(c, p->pid, LACK_JAVA, why);
	}
	free(why);
}

/* A perf map that is there, and does not count. */
static void note_refusal(struct capture *c, const struct jit_files *j)
{
	static const enum lack lacks[] = { [JIT_OWNER] = LACK_MAP_OWNER,
					   [JIT_TYPE] = LACK_MAP_TYPE,
					   [JIT_LINK] = LACK_MAP_LINK,
					   [JIT_RIGHTS] = LACK_MAP_RIGHTS,
					   [JIT_AGE] = LACK_MAP_AGE };
	uint32_t rule = j->refused.rule;
	char detail[64];

	if (j->map >= 0 || rule == JIT_COUNTS || rule >= sizeof(lacks) / sizeof(*lacks))
		return;
	snprintf(detail, sizeof(detail),
		 rule == JIT_OWNER ? "/tmp/perf-%u.map of user %u" : "/tmp/perf-%u.map",
		 j->place.own_pid, j->refused.owner);
	note(c, j->place.pid, lacks[rule], detail);
}

void capture_find_jit(struct capture *c, bool ask)
{
	struct process *p;
	struct jit_files *j;

	for (size_t i = 0; i < c->nr_sources; i++) {
		j = c->sources[i].jit;
		if (!j)
			continue;
		p = proc_find(c->procs, j->place.pid);
		if (p)
			jit_files_find_dump(j, p->image);
		if (p && ask && java_is_jvm(p->image))
			ask_java(c, j, p);
		jit_files_open_map(j);
		note_refusal(c, j);
	}
	lacks_move(&c->lacks, c->profile);
}

void capture_try_jit(struct capture *c)
{
	const struct process *p;
	struct jit_files *j;

	for (size_t i = 0; i < c->nr_sources; i++) {
		j = c->sources[i].jit;
		if (!j)
			continue;
		p = proc_find(c->procs, j->place.pid);
		if (p)
			jit_files_find_dump(j, p->image);
		jit_files_try_map(j, !p || p->exit_ns);
	}
}

/*
 * A read costs some ten microseconds. What cannot be read is remembered as well: 0 is no code that
 * tells.
 */
bool capture_code(struct capture *c, uint32_t pid, uint64_t at, uint64_t *bytes)
{
	const struct peek p = { pid, sizeof(*bytes), at };
	struct capture_code *code;

	if (!c->codes)
		c->codes = xcalloc(CAPTURE_CODES, sizeof(*c->codes));
	code = &c->codes[(at >> 2 ^ pid) % CAPTURE_CODES];
	if (code->pid != pid || code->at != at) {
		*code = (struct capture_code){ pid, at, 0 };
		if (peek_read(c->reader, &p, &code->bytes) != (ssize_t)sizeof(code->bytes))
			code->bytes = 0;
	}
	*bytes = code->bytes;
	return code->bytes;
}
