/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* By names, and by those of libraries. */
#include "profile/allocator.h"

#include <string.h>

#define NR(a) (sizeof(a) / sizeof(*(a)))

/* Of a name as it is shown: where it begins, and what it has anywhere. */
static const char *const begins[] = { "mi_",  "_mi_",	"je_",	    "_rjem_",	    "tc_",
				      "mmap", "__mmap", "runtime.", "operator new", "tcmalloc::" };
static const char *const parts[] = { "__rust_alloc", "__rdl_alloc",    "__rg_alloc",
				     "GlobalAlloc",  "alloc::alloc::", "_M_allocate" };
/* What wrappers are called: xmalloc, g_malloc0, PyObject_Malloc, zmalloc_usable. */
static const char *const wrappers[] = { "malloc",   "calloc", "realloc",
					"memalign", "valloc", "aligned_alloc" };

static bool is_library(const struct profile *p, uint32_t module)
{
	const char *path = profile_str(p, p->modules[module].path);
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	return strstr(base, "alloc") && strstr(base, ".so");
}

static bool is_wrapper(const char *name)
{
	for (size_t i = 0; i < NR(wrappers) && !strstr(name, "::"); i++)
		if (strcasestr(name, wrappers[i]))
			return true;
	return strstr(name, "llocator") && strstr(name, "::allocate");
}

static bool is_allocator(const struct tree *t, const struct tree_node *n)
{
	const char *name = tree_name(t, n);

	for (size_t i = 0; i < NR(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	for (size_t i = 0; i < NR(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return is_wrapper(name) || is_library(t->profile, n->module);
}

/* Children of node 0 are thread names. */
static bool is_function(const struct tree *t, uint32_t node)
{
	return node && t->nodes[node].parent;
}

uint32_t allocator_caller(const struct tree *t, uint32_t leaf)
{
	uint32_t node = leaf;

	while (is_function(t, node) && is_allocator(t, &t->nodes[node]))
		node = t->nodes[node].parent;
	return is_function(t, node) ? node : leaf;
}
