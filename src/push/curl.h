/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libcurl, loaded when something is to be sent: linked, it would bring two dozen libraries into
 * every start of bpfprof. Its numbers are part of its binary interface; the unit test compares them
 * with its header where that is installed.
 */
#ifndef BPFPROF_PUSH_CURL_H
#define BPFPROF_PUSH_CURL_H

#include <stdint.h>

struct curl_slist;

enum curl_option {
	CURL_WRITEDATA = 10001,
	CURL_URL = 10002,
	CURL_ERRORBUFFER = 10010,
	CURL_POSTFIELDS = 10015,
	CURL_USERAGENT = 10018,
	CURL_HTTPHEADER = 10023,
	CURL_SSLCERT = 10025,
	CURL_CAINFO = 10065,
	CURL_SSLKEY = 10087,
	CURL_ACCEPT_ENCODING = 10102,
	CURL_PRIVATE = 10103,
	CURL_WRITEFUNCTION = 20011,
	CURL_HTTP_VERSION = 84,
	CURL_NOSIGNAL = 99,
	CURL_TIMEOUT_MS = 155,
	CURL_CONNECTTIMEOUT_MS = 156,
	CURL_PROTOCOLS = 181,
	CURL_POSTFIELDSIZE_LARGE = 30120,
};
enum { CURL_HTTP_1_1 = 2, CURL_HTTP = 1, CURL_HTTPS = 2, CURL_ERROR_BYTES = 256 };

enum curl_info {
	CURL_RESPONSE_CODE = 0x200002,
	CURL_RETRY_AFTER = 0x600039,
	CURL_PRIVATE_INFO = 0x100015,
};

enum curl_multi_option {
	CURL_MULTI_SOCKETDATA = 10002,
	CURL_MULTI_TIMERDATA = 10005,
	CURL_MULTI_SOCKETFUNCTION = 20001,
	CURL_MULTI_TIMERFUNCTION = 20004,
};
enum { CURL_IN = 1, CURL_OUT = 2, CURL_REMOVE = 4, CURL_TIMEOUT_SOCKET = -1, CURL_DONE = 1 };

enum curl_result {
	CURL_OK = 0,
	CURL_PARTIAL_FILE = 18,
	CURL_WRITE_ERROR = 23,
	CURL_TIMEDOUT = 28,
	CURL_GOT_NOTHING = 52,
	CURL_SEND_ERROR = 55,
	CURL_RECV_ERROR = 56,
};

struct curl_message {
	int what; /* CURL_DONE */
	void *easy;
	union {
		void *pad;
		int result;
	} data;
};

struct curl {
	int (*global_init)(long flags);
	void *(*easy_init)(void);
	int (*easy_setopt)(void *easy, int option, ...);
	int (*easy_getinfo)(void *easy, int info, ...);
	void (*easy_cleanup)(void *easy);
	const char *(*easy_strerror)(int result);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
	void *(*multi_init)(void);
	int (*multi_setopt)(void *multi, int option, ...);
	int (*multi_add_handle)(void *multi, void *easy);
	int (*multi_remove_handle)(void *multi, void *easy);
	int (*multi_socket_action)(void *multi, int fd, int events, int *running);
	struct curl_message *(*multi_info_read)(void *multi, int *left);
	int (*multi_cleanup)(void *multi);
};

/* NULL after a message: it is not installed. Stays loaded. */
const struct curl *curl_load(void);

#endif
