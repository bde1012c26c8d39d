/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Under the names that distributions have for it: Debian also builds it with GnuTLS. */
#include "push/curl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/shared.h"

#define ALL 3 /* what curl_global_init() starts */

static const struct {
	const char *name;
	size_t at;
} functions[] = {
	{ "curl_global_init", offsetof(struct curl, global_init) },
	{ "curl_easy_init", offsetof(struct curl, easy_init) },
	{ "curl_easy_setopt", offsetof(struct curl, easy_setopt) },
	{ "curl_easy_getinfo", offsetof(struct curl, easy_getinfo) },
	{ "curl_easy_cleanup", offsetof(struct curl, easy_cleanup) },
	{ "curl_easy_strerror", offsetof(struct curl, easy_strerror) },
	{ "curl_slist_append", offsetof(struct curl, slist_append) },
	{ "curl_slist_free_all", offsetof(struct curl, slist_free_all) },
	{ "curl_multi_init", offsetof(struct curl, multi_init) },
	{ "curl_multi_setopt", offsetof(struct curl, multi_setopt) },
	{ "curl_multi_add_handle", offsetof(struct curl, multi_add_handle) },
	{ "curl_multi_remove_handle", offsetof(struct curl, multi_remove_handle) },
	{ "curl_multi_socket_action", offsetof(struct curl, multi_socket_action) },
	{ "curl_multi_info_read", offsetof(struct curl, multi_info_read) },
	{ "curl_multi_cleanup", offsetof(struct curl, multi_cleanup) },
};

static bool fill(struct curl *c, void *handle)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return false;
		*(void **)((char *)c + functions[i].at) = function;
	}
	return !c->global_init(ALL);
}

const struct curl *curl_load(void)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	static struct curl curl;
	static bool loaded;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !loaded; i++) {
		void *handle = shared_open(names[i]);

		loaded = handle && fill(&curl, handle);
	}
	if (loaded)
		return &curl;
	shared_refuse("sending profiles", names[0], "libcurl4");
	return NULL;
}
