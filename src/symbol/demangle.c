/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stem of a name goes to libiberty, under bounds; the suffixes are ours. */
#include "symbol/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_MANGLED 4096
#define MAX_SHOWN   16384
#define MAX_NODES   16384u

/* Where the demanglers write. They cannot be told to stop, so a full buffer jumps out of them. */
struct sink {
	size_t len;
	jmp_buf full;
	char text[MAX_SHOWN + 1];
};

static void sink_put(const char *s, size_t len, void *opaque)
{
	struct sink *out = opaque;

	if (!len)
		return; /* s may be NULL then */
	if (len > MAX_SHOWN - out->len)
		longjmp(out->full, 1);
	memcpy(out->text + out->len, s, len);
	out->len += len;
	out->text[out->len] = '\0';
}

/*
 * The parsed form of a C++ name: nodes of one array that share their subtrees, since the mangling
 * refers back to what was said before. What it unfolds to can be exponential, so it is counted
 * before anything walks it.
 */
struct tree {
	const struct demangle_component *nodes;
	size_t nr;
	uint32_t *sizes; /* of each node unfolded, saturated; 0 = not known yet */
};

static uint32_t tree_size(struct tree *t, const struct demangle_component *node);

static bool tree_has(const struct tree *t, const struct demangle_component *node)
{
	return node >= t->nodes && node < t->nodes + t->nr;
}

/*
 * A kind newer than this list is taken for one with two subtrees: at worst its name stays mangled.
 */
static uint32_t children_size(struct tree *t, const struct demangle_component *node)
{
	switch (node->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return 0;
	case DEMANGLE_COMPONENT_CTOR:
		return tree_size(t, node->u.s_ctor.name);
	case DEMANGLE_COMPONENT_DTOR:
		return tree_size(t, node->u.s_dtor.name);
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		return tree_size(t, node->u.s_extended_operator.name);
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		return tree_size(t, node->u.s_fixed.length);
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		return tree_size(t, node->u.s_unary_num.sub);
	default:
		return tree_size(t, node->u.s_binary.left) + tree_size(t, node->u.s_binary.right);
	}
}

/* Each node is entered once, so this is O(nodes); a loop counts as too large. */
static uint32_t tree_size(struct tree *t, const struct demangle_component *node)
{
	uint32_t *size;

	if (!tree_has(t, node))
		return 0;
	size = &t->sizes[node - t->nodes];
	if (!*size) {
		*size = MAX_NODES;
		*size = 1 + children_size(t, node);
		if (*size > MAX_NODES)
			*size = MAX_NODES;
	}
	return *size;
}

/* nodes is the array that libiberty parsed a name of len bytes into: two nodes for each byte. */
static bool tree_is_small(const void *nodes, size_t len, const struct demangle_component *root)
{
	struct tree t = { .nodes = nodes, .nr = 2 * len };
	bool small;

	t.sizes = xcalloc(t.nr, sizeof(*t.sizes));
	small = tree_has(&t, root) && tree_size(&t, root) < MAX_NODES;
	free(t.sizes);
	return small;
}

static bool cxx_print(struct demangle_component *root, int options, struct sink *out)
{
	if (setjmp(out->full))
		return false;
	return cplus_demangle_print_callback(options, root, sink_put, out);
}

/* Parsing for a name without parameters ignores what follows it, so parse the whole first. */
static bool cxx_is_valid(const char *name)
{
	void *nodes = NULL;
	bool ok = cplus_demangle_v3_components(name, DMGL_ANSI | DMGL_PARAMS, &nodes);

	free(nodes);
	return ok;
}

static bool cxx_demangle(const char *name, int options, struct sink *out)
{
	struct demangle_component *root;
	void *nodes = NULL;
	bool ok;

	if (!cxx_is_valid(name))
		return false;
	root = cplus_demangle_v3_components(name, options, &nodes);
	ok = root && tree_is_small(nodes, strlen(name), root) && cxx_print(root, options, out);
	free(nodes);
	return ok;
}

/* Both Rust manglings; the older one looks like C++ and is told by its hash. */
static bool rust_demangle_bounded(const char *name, struct sink *out)
{
	if (setjmp(out->full))
		return false;
	return rust_demangle_callback(name, 0, sink_put, out);
}

static bool stem_demangle(const char *stem, int options, struct sink *out)
{
	if (strncmp(stem, "_Z", 2) && strncmp(stem, "_R", 2))
		return false;
	if (rust_demangle_bounded(stem, out))
		return true;
	out->len = 0;
	return stem[1] == 'Z' && cxx_demangle(stem, options, out);
}

/* Whether [s, end) is one part of a suffix: a number, or a word like "constprop" or "sse4_2". */
static bool is_suffix_part(const char *s, const char *end)
{
	bool word = s < end && (islower((unsigned char)*s) || *s == '_');

	if (s == end)
		return false;
	for (; s < end; s++) {
		unsigned char c = *s;

		if (!isdigit(c) && !(word && (islower(c) || c == '_')))
			return false;
	}
	return true;
}

/*
 * The length of name without suffixes. Taken from the end: Rust's older mangling has dots of its
 * own.
 */
static size_t stem_length(const char *name)
{
	const char *end = name + strlen(name), *dot;

	while ((dot = memrchr(name, '.', end - name)) && dot > name && is_suffix_part(dot + 1, end))
		end = dot;
	return end - name;
}

/* The length of the first suffix: one word and the numbers behind it. */
static size_t suffix_length(const char *s)
{
	size_t len = 1 + strcspn(s + 1, ".");

	while (s[len] == '.' && isdigit((unsigned char)s[len + 1]))
		len += 1 + strcspn(s + len + 1, ".");
	return len;
}

static bool suffix_is_dropped(const char *s)
{
	return !strncmp(s, ".llvm.", 6) && isdigit((unsigned char)s[6]);
}

static void put_suffixes(FILE *out, const char *s, bool brackets)
{
	for (size_t len; *s; s += len) {
		len = suffix_length(s);
		if (!suffix_is_dropped(s))
			fprintf(out, brackets ? " [clone %.*s]" : "%.*s", (int)len, s);
	}
}

static char *join(const char *stem, const char *suffixes, bool brackets)
{
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fputs(stem, out);
	put_suffixes(out, suffixes, brackets);
	fclose(out);
	return text;
}

static char *demangle(const char *linkage, int options)
{
	char stem[MAX_MANGLED + 1];
	struct sink out = { .len = 0 };
	size_t len;

	if (strlen(linkage) > MAX_MANGLED)
		return NULL;
	len = stem_length(linkage);
	memcpy(stem, linkage, len);
	stem[len] = '\0';
	if (stem_demangle(stem, options, &out) && out.len)
		return join(out.text, linkage + len, true);
	return strstr(linkage + len, ".llvm.") ? join(stem, linkage + len, false) : NULL;
}

/* Entries of the procedure linkage table are named after the function: "_Z1fv@plt". */
static char *demangle_stub(const char *linkage, size_t len)
{
	char *function = xstrndup(linkage, len), *text = demangle(function, DMGL_ANSI),
	     *stub = NULL;

	if (text)
		stub = xasprintf("%s@plt", text);
	free(function);
	free(text);
	return stub;
}

char *demangle_name(const char *linkage)
{
	size_t len = strlen(linkage);

	if (len > 4 && !strcmp(linkage + len - 4, "@plt"))
		return demangle_stub(linkage, len - 4);
	return demangle(linkage, DMGL_ANSI);
}

char *demangle_signature(const char *linkage)
{
	return demangle(linkage, DMGL_ANSI | DMGL_PARAMS);
}
