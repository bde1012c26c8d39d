/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages and the progress line on stderr. */
#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/pipes.h"
#include "base/text.h"

int log_verbosity;
static bool progress_shown, progress_off;
static FILE *other; /* than stderr */

void log_to(FILE *out)
{
	other = out;
}

static void erase_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* Names of files and threads are in messages, too: none is a control sequence, or a line. */
static void put_cleaned(FILE *out, const char *fmt, va_list ap)
{
	char few[1024], *all = NULL;
	va_list again;
	int len;

	va_copy(again, ap);
	len = vsnprintf(few, sizeof(few), fmt, ap);
	if (len >= (int)sizeof(few) && vasprintf(&all, fmt, again) < 0)
		all = NULL; /* without memory, its begin */
	va_end(again);
	if (len >= 0)
		text_clean(out, all ? all : few, strlen(all ? all : few));
	free(all);
}

static void say(const char *prefix, int err, const char *fmt, va_list ap)
{
	FILE *out = other ? other : stderr;

	pipes_spare();
	erase_progress();
	fprintf(out, "bpfprof: %s", prefix);
	put_cleaned(out, fmt, ap);
	if (err)
		fprintf(out, ": %s", strerror(err < 0 ? -err : err));
	fputc('\n', out);
	pipes_spare_end();
}

int log_err(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", err, fmt, ap);
	va_end(ap);
	return err ? err : -1;
}

int log_as(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", 0, fmt, ap);
	va_end(ap);
	return err;
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", 0, fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	if (log_verbosity < 1)
		return;
	va_start(ap, fmt);
	say("", 0, fmt, ap);
	va_end(ap);
}

void log_progress_off(void)
{
	progress_off = true;
}

/* A line that wraps could not be erased: the last parts go, each begins with ", " or " (". */
static void cut_to(char *line, size_t width)
{
	char *end;

	if (strlen(line) <= width)
		return;
	line[width] = '\0';
	for (end = line + width; end > line; end--)
		if (!strncmp(end, ", ", 2) || !strncmp(end, " (", 2)) {
			*end = '\0';
			return;
		}
}

void log_progress(const char *fmt, ...)
{
	struct winsize w = {};
	char line[512];
	va_list ap;
	int width;

	erase_progress();
	if (!fmt || progress_off || !isatty(STDERR_FILENO))
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	width = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || !w.ws_col ? 80 : w.ws_col;
	cut_to(line, width - 1);
	fputs(line, stderr);
	fflush(stderr);
	progress_shown = true;
}
