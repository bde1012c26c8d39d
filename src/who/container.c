/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shapes of paths: tests/unit/test_container.c lists them by runtime. An id is 64 hexadecimal
 * digits, or 32 and a number; what stands around it in its element (cri-containerd-ID.scope) only
 * says whether it is a container or its monitor. Elements behind it are the container's own, those
 * before it may be outer containers: the last id counts.
 */
#include "who/container.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A part of the text, without an end of its own. */
struct part {
	const char *s;
	size_t len;
};

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool begins(struct part p, const char *with)
{
	return p.len >= strlen(with) && !memcmp(p.s, with, strlen(with));
}

static bool ends(struct part p, const char *with)
{
	size_t len = strlen(with);

	return p.len >= len && !memcmp(p.s + p.len - len, with, len);
}

static bool has(struct part p, const char *what)
{
	return memmem(p.s, p.len, what, strlen(what));
}

static void copy(char *to, size_t sz, struct part p)
{
	size_t len = p.len < sz ? p.len : sz - 1;

	memcpy(to, p.s, len);
	to[len] = '\0';
}

/* The next element of a path; false at its end. */
static bool next_element(struct part *path, struct part *element)
{
	const char *end;

	while (path->len && *path->s == '/') {
		path->s++;
		path->len--;
	}
	end = memchr(path->s, '/', path->len);
	*element = (struct part){ path->s, end ? (size_t)(end - path->s) : path->len };
	path->s += element->len;
	path->len -= element->len;
	return element->len;
}

static size_t hex_digits(struct part p)
{
	size_t n = 0;

	while (n < p.len && is_hex(p.s[n]))
		n++;
	return n;
}

static bool is_id(struct part p)
{
	size_t digits = hex_digits(p), i = 33;

	if (digits == CONTAINER_ID_LEN)
		return p.len == CONTAINER_ID_LEN;
	if (digits != 32 || p.len < 34 || p.len > 56 || p.s[32] != '-')
		return false;
	while (i < p.len && isdigit((unsigned char)p.s[i]))
		i++;
	return i == p.len;
}

/* The id of an element, and what stands before it. */
static bool find_id(struct part element, struct part *prefix, struct part *id)
{
	struct part rest = element;

	if (ends(rest, ".scope"))
		rest.len -= strlen(".scope");
	for (size_t i = 0; i < rest.len; i++) {
		if (i && rest.s[i - 1] != '-' && rest.s[i - 1] != ':')
			continue;
		*id = (struct part){ rest.s + i, rest.len - i };
		*prefix = (struct part){ rest.s, i };
		if (is_id(*id))
			return true;
	}
	return false;
}

static bool take_id(struct part element, struct container_place *c)
{
	struct part prefix, id;

	if (!find_id(element, &prefix, &id))
		return false;
	c->is_monitor = has(prefix, "conmon");
	copy(c->id, sizeof(c->id), c->is_monitor ? (struct part){ "", 0 } : id);
	c->name[0] = c->unit[0] = '\0';
	return true;
}

/* "kubepods-burstable-pod1234_5678.slice", "pod1234-5678": at least 32 digits. */
static void take_pod(struct part element, struct container_place *c)
{
	size_t len;

	for (size_t i = 0; i + 35 <= element.len; i++) {
		struct part uid = { element.s + i + 3, 0 };

		if (memcmp(element.s + i, "pod", 3) || (i && element.s[i - 1] != '-'))
			continue;
		for (len = i + 3;
		     len < element.len &&
		     (is_hex(element.s[len]) || element.s[len] == '-' || element.s[len] == '_');)
			len++;
		uid.len = len - i - 3;
		if (uid.len < 32 || uid.len > 36)
			continue;
		copy(c->pod_uid, sizeof(c->pod_uid), uid);
		for (char *s = c->pod_uid; *s; s++)
			if (*s == '_')
				*s = '-';
	}
}

/* Containers that are known by their name. */
static const struct {
	const char *before, *behind;
	const char *parent; /* the element before it, NULL = any */
} named[] = {
	{ "lxc.payload.", "", NULL },
	{ "", "", "lxc" },
	{ "", "", "lxc.payload" },
	{ "machine-", ".scope", "machine.slice" },
	{ "systemd-nspawn@", ".service", "machine.slice" },
};

static int hex_value(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* systemd writes "\x2d" for '-' and so on. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
		    isxdigit((unsigned char)s[3])) {
			*to++ = (char)(16 * hex_value(s[2]) + hex_value(s[3]));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static bool take_named(struct part element, struct part parent, struct container_place *c)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		size_t before = strlen(named[i].before), around = before + strlen(named[i].behind);

		if (element.len <= around || !begins(element, named[i].before) ||
		    !ends(element, named[i].behind) ||
		    (named[i].parent &&
		     (parent.len != strlen(named[i].parent) || !begins(parent, named[i].parent))))
			continue;
		copy(c->name, sizeof(c->name),
		     (struct part){ element.s + before, element.len - around });
		unescape(c->name);
		c->id[0] = c->unit[0] = '\0';
		c->is_monitor = false;
		return true;
	}
	return false;
}

static bool is_in_container(const struct container_place *c)
{
	return c->id[0] || c->name[0] || c->is_monitor;
}

/* Units inside of a container are its own affair. */
static void take_unit(struct part element, struct part first, struct container_place *c)
{
	if (is_in_container(c) || (!ends(element, ".service") && !ends(element, ".scope")))
		return;
	copy(c->unit, sizeof(c->unit), element);
	unescape(c->unit);
	c->is_service = ends(element, ".service") && !begins(first, "user.slice");
}

/* Talos: "/system/NAME" and "/podruntime/NAME". */
static void take_talos(struct part first, struct part last, size_t nr, struct container_place *c)
{
	if (nr != 2 || is_in_container(c) || c->unit[0] || memchr(last.s, '.', last.len))
		return;
	if ((first.len != 6 || !begins(first, "system")) &&
	    (first.len != 10 || !begins(first, "podruntime")))
		return;
	copy(c->unit, sizeof(c->unit), last);
	c->is_service = true;
}

static void take_path(struct part path, struct container_place *c)
{
	struct part first = {}, parent = {}, element = {}, last = {};
	size_t nr = 0;

	*c = (struct container_place){};
	while (next_element(&path, &element)) {
		parent = last;
		if (!nr++)
			first = element;
		last = element;
		take_pod(element, c);
		if (!take_id(element, c) && !take_named(element, parent, c))
			take_unit(element, first, c);
	}
	take_talos(first, last, nr, c);
}

/* What is behind the second ':' of "ID:CONTROLLERS:PATH". */
static struct part path_of(struct part line)
{
	for (int i = 0; i < 2; i++) {
		const char *colon = memchr(line.s, ':', line.len);

		if (!colon)
			return (struct part){};
		line.len -= colon + 1 - line.s;
		line.s = colon + 1;
	}
	return line;
}

/* Of version 1 there are several lines: one with a container counts most, then the longest. */
void container_parse(const char *text, size_t len, struct container_place *c)
{
	struct part rest = { text, len };
	size_t best = 0;

	*c = (struct container_place){};
	while (rest.len) {
		const char *end = memchr(rest.s, '\n', rest.len);
		struct part line = { rest.s, end ? (size_t)(end - rest.s) : rest.len };
		struct part path = path_of(line);
		struct container_place one;
		size_t rank;

		rest.s += line.len + !!end;
		rest.len -= line.len + !!end;
		if (!path.len)
			continue;
		take_path(path, &one);
		rank = path.len + (is_in_container(&one) ? SIZE_MAX / 2 : 0);
		if (rank > best) {
			best = rank;
			*c = one;
		}
	}
}
