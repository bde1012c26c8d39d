/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handlers of signals for as long as the screen is taken. SIGWINCH and SIGCONT are blocked but
 * while the program waits for input: nothing is drawn at the same time, and none is missed.
 */
#include "terminal/restore.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"

#define SEQUENCE_SZ 256
#define STACK_SZ    (64 * 1024) /* of handlers: a stack that is full has no room for them */

struct sequence {
	char bytes[SEQUENCE_SZ];
	size_t len;
};

/* Signals whose default is to end the program, and that somebody sends or a mistake makes. */
static const int deadly[] = { SIGINT, SIGTERM, SIGHUP,	SIGQUIT, SIGSEGV, SIGBUS, SIGILL,
			      SIGFPE, SIGABRT, SIGPIPE, SIGALRM, SIGXCPU, SIGSYS, SIGTRAP };
#define NR_DEADLY (sizeof(deadly) / sizeof(*deadly))

/* One terminal for the process; handlers reach nothing else. */
static struct {
	struct termios kept, taken;
	struct sequence leave, enter;
	volatile sig_atomic_t armed, went_on;
	pid_t owner;	      /* a child has the handlers too, and nothing to restore */
	int messages, errors; /* where messages go meanwhile; standard error as it was, -1 = none */
	struct sigaction was[NR_DEADLY], was_stop, was_go_on, was_size;
	sigset_t mask;
	stack_t was_stack;
	void *stack;
} terminal;

/* The library has handlers of its own, which end the program as if it had failed. */
int restore_keep(void)
{
	for (size_t i = 0; i < NR_DEADLY; i++)
		sigaction(deadly[i], NULL, &terminal.was[i]);
	sigaction(SIGTSTP, NULL, &terminal.was_stop);
	sigaction(SIGCONT, NULL, &terminal.was_go_on);
	sigaction(SIGWINCH, NULL, &terminal.was_size);
	return tcgetattr(STDIN_FILENO, &terminal.kept) ? -errno : 0;
}

static struct sequence *filled;

static int add_byte(int c)
{
	if (filled->len < SEQUENCE_SZ)
		filled->bytes[filled->len++] = (char)c;
	return c;
}

static void add_text(const char *sequence)
{
	if (sequence && sequence != (const char *)-1)
		tputs(sequence, 1, add_byte);
}

static char *capability(const char *name)
{
	char *text = tigetstr(name);

	return text == (char *)-1 ? NULL : text;
}

/* A terminal without a second screen keeps what was shown; what follows goes below it. */
static void prepare(int rows)
{
	static const char *const leave[] = { "sgr0", "op", "rmkx", "cnorm" };
	static const char *const enter[] = { "smcup", "smkx", "civis" };
	char *back = capability("rmcup"), *cup = capability("cup");

	filled = &terminal.leave;
	filled->len = 0;
	for (size_t i = 0; i < sizeof(leave) / sizeof(*leave); i++)
		add_text(capability(leave[i]));
	if (back)
		add_text(back);
	else if (cup)
		add_text(tparm(cup, rows - 1, 0, 0, 0, 0, 0, 0, 0, 0));
	add_text(back ? "\r" : "\r\n");
	filled = &terminal.enter;
	filled->len = 0;
	for (size_t i = 0; i < sizeof(enter) / sizeof(*enter); i++)
		add_text(capability(enter[i]));
}

static void put_bytes(const struct sequence *s)
{
	ssize_t n = write(STDOUT_FILENO, s->bytes, s->len);

	(void)n; /* a terminal that is gone needs nothing */
}

static bool is_ours(void)
{
	return terminal.armed && terminal.owner == getpid();
}

static void leave(void)
{
	put_bytes(&terminal.leave);
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.kept);
}

/* In the background the terminal belongs to others; whoever brings us back sends a signal again. */
static void enter(void)
{
	if (tcgetpgrp(STDIN_FILENO) != getpgrp())
		return;
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.taken);
	put_bytes(&terminal.enter);
	terminal.went_on = 1;
}

/* Messages that nobody has seen appear where they would have: the last words of who aborts. */
static void show_messages(void)
{
	char part[512];
	ssize_t n;
	off_t at = 0;

	if (terminal.errors < 0)
		return;
	dup2(terminal.errors, STDERR_FILENO);
	while ((n = pread(terminal.messages, part, sizeof(part), at)) > 0) {
		if (write(STDERR_FILENO, part, (size_t)n) < 0)
			break;
		at += n;
	}
}

/* As if there were no handler: the shell sees what ended the program, and a core may be left. */
static void on_deadly(int sig)
{
	sigset_t only;

	if (is_ours()) {
		terminal.armed = 0;
		leave();
		show_messages();
	}
	for (size_t i = 0; i < NR_DEADLY; i++)
		if (deadly[i] == sig)
			sigaction(sig, &terminal.was[i], NULL);
	sigemptyset(&only);
	sigaddset(&only, sig);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	raise(sig);
}

static void handle(int sig, void (*handler)(int), const struct sigaction *was)
{
	struct sigaction now = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER };

	sigemptyset(&now.sa_mask);
	/* What the caller ignores (nohup, a shell without jobs) stays ignored. */
	if (was->sa_handler != SIG_IGN)
		sigaction(sig, &now, NULL);
}

static void on_stop(int sig)
{
	struct sigaction stop = { .sa_handler = SIG_DFL }, again;
	int saved = errno;

	if (is_ours())
		leave();
	sigaction(sig, &stop, &again);
	raise(sig);
	sigaction(sig, &again, NULL);
	if (is_ours())
		enter();
	errno = saved;
}

static void on_going_on(int sig)
{
	int saved = errno;

	if (is_ours())
		enter();
	errno = saved;
}

static void on_exit_of_program(void)
{
	restore_disarm();
}

static void take_messages(void)
{
	fflush(stderr);
	terminal.messages = memfd_create("messages", MFD_CLOEXEC);
	terminal.errors = terminal.messages < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (terminal.errors >= 0)
		dup2(terminal.messages, STDERR_FILENO);
}

void restore_arm(int rows)
{
	static bool registered;
	stack_t own;
	sigset_t blocked;

	if (!registered)
		registered = !atexit(on_exit_of_program);
	prepare(rows);
	tcgetattr(STDIN_FILENO, &terminal.taken);
	terminal.stack = xmalloc(STACK_SZ);
	own = (stack_t){ .ss_sp = terminal.stack, .ss_size = STACK_SZ };
	sigaltstack(&own, &terminal.was_stack);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGWINCH);
	sigaddset(&blocked, SIGCONT);
	sigprocmask(SIG_BLOCK, &blocked, &terminal.mask);
	take_messages();
	terminal.owner = getpid();
	terminal.armed = 1;
	for (size_t i = 0; i < NR_DEADLY; i++)
		handle(deadly[i], on_deadly, &terminal.was[i]);
	handle(SIGTSTP, on_stop, &terminal.was_stop);
	handle(SIGCONT, on_going_on, &terminal.was_go_on);
}

void restore_disarm(void)
{
	if (!is_ours())
		return;
	terminal.armed = 0;
	leave();
	fflush(stderr);
	show_messages();
	if (terminal.errors >= 0)
		close(terminal.errors);
	if (terminal.messages >= 0)
		close(terminal.messages);
	for (size_t i = 0; i < NR_DEADLY; i++)
		sigaction(deadly[i], &terminal.was[i], NULL);
	sigaction(SIGTSTP, &terminal.was_stop, NULL);
	sigaction(SIGCONT, &terminal.was_go_on, NULL);
	sigaction(SIGWINCH, &terminal.was_size, NULL);
	sigprocmask(SIG_SETMASK, &terminal.mask, NULL);
	sigaltstack(&terminal.was_stack, NULL);
	free(terminal.stack);
}

int restore_wait(int timeout_ms)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	int n = ppoll(&in, 1, timeout_ms < 0 ? NULL : &timeout, &terminal.mask);

	if (n <= 0)
		return 0;
	/* Without a terminal there is input for ever: its end. */
	return in.revents & POLLIN && !(in.revents & POLLHUP) ? 1 : -1;
}

bool restore_went_on(void)
{
	bool went_on = terminal.went_on;

	terminal.went_on = 0;
	return went_on;
}

char *restore_message(void)
{
	static const char prefix[] = "bpfprof: ";
	char text[1024], *line;
	off_t end;
	ssize_t n;

	fflush(stderr);
	if (terminal.errors < 0 || (end = lseek(terminal.messages, 0, SEEK_END)) <= 0)
		return NULL;
	n = pread(terminal.messages, text, sizeof(text) - 1,
		  end < (off_t)sizeof(text) ? 0 : end - (off_t)sizeof(text) + 1);
	if (ftruncate(terminal.messages, 0) || n <= 0)
		return NULL;
	lseek(terminal.messages, 0, SEEK_SET);
	text[n] = '\0';
	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	return xstrdup(strncmp(line, prefix, sizeof(prefix) - 1) ? line
								 : line + sizeof(prefix) - 1);
}
