/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options in the order in which the JVM takes them: of a flag the last one counts. */
#include "proc/java_options.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_BYTES (1u << 20)

/* One option: does it switch the flag? */
static void look(const char *option, size_t len, bool *forbids)
{
	static const char on[] = "-XX:+DisableAttachMechanism",
			  off[] = "-XX:-DisableAttachMechanism";

	if (len == sizeof(on) - 1 && !memcmp(option, on, len))
		*forbids = true;
	if (len == sizeof(off) - 1 && !memcmp(option, off, len))
		*forbids = false;
}

/* A variable of the environment: words, which quotes may be around. */
static void look_at_variable(const char *environ, size_t sz, const char *name, bool *forbids)
{
	static const char between[] = " \t\n\r\f\v'\"";
	size_t name_len = strlen(name), len, word;

	for (size_t at = 0; at < sz; at += len + 1) {
		const char *s = environ + at;

		len = strnlen(s, sz - at);
		if (len <= name_len || strncmp(s, name, name_len) || s[name_len] != '=')
			continue;
		for (size_t i = name_len + 1; i < len; i += word + 1) {
			word = 0;
			while (i + word < len && !strchr(between, s[i + word]))
				word++;
			look(s + i, word, forbids);
		}
		return;
	}
}

/* An option whose value is the argument that follows. */
static bool takes_value(const char *option)
{
	static const char *const options[] = {
		"-cp",
		"-classpath",
		"--class-path",
		"-p",
		"--module-path",
		"--add-reads",
		"--add-modules",
		"--add-exports",
		"--add-opens",
		"--patch-module",
		"--source",
		"--upgrade-module-path",
		"--limit-modules",
		"--enable-native-access",
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(option, options[i]))
			return true;
	return false;
}

/* Up to the class, whose arguments are the program's own. */
static void look_at_command(const char *cmdline, size_t sz, bool *forbids)
{
	bool is_value = true; /* the first is the name of the program */
	size_t len;

	for (size_t at = 0; at < sz; at += len + 1) {
		const char *s = cmdline + at;

		len = strnlen(s, sz - at);
		if (at + len == sz)
			return; /* cut */
		if (!is_value && (*s != '-' && *s != '@'))
			return;
		if (!is_value && (!strcmp(s, "-jar") || !strcmp(s, "-m") || !strcmp(s, "--module")))
			return;
		if (!is_value)
			look(s, len, forbids);
		is_value = !is_value && takes_value(s);
	}
}

bool java_options_forbid_attach(const char *environ, size_t environ_sz, const char *cmdline,
				size_t cmdline_sz)
{
	bool forbids = false;

	look_at_variable(environ, environ_sz, "JAVA_TOOL_OPTIONS", &forbids);
	look_at_variable(environ, environ_sz, "JDK_JAVA_OPTIONS", &forbids);
	look_at_command(cmdline, cmdline_sz, &forbids);
	look_at_variable(environ, environ_sz, "_JAVA_OPTIONS", &forbids);
	return forbids;
}

static char *read_all(uint32_t pid, const char *name, size_t *sz)
{
	char *path = xasprintf("/proc/%u/%s", pid, name), *bytes = xmalloc(MAX_BYTES);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = 1;

	for (*sz = 0; fd >= 0 && got > 0 && *sz<MAX_BYTES; *sz += got> 0 ? got : 0)
		got = read(fd, bytes + *sz, MAX_BYTES - *sz);
	if (fd >= 0)
		close(fd);
	free(path);
	return bytes;
}

bool java_forbids_attach(uint32_t pid)
{
	size_t environ_sz, cmdline_sz;
	char *environ = read_all(pid, "environ", &environ_sz);
	char *cmdline = read_all(pid, "cmdline", &cmdline_sz);
	bool forbids = java_options_forbid_attach(environ, environ_sz, cmdline, cmdline_sz);

	free(environ);
	free(cmdline);
	return forbids;
}
