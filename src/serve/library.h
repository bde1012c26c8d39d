/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libmicrohttpd, loaded when somebody listens: it comes with a TLS library and nine others, which
 * would be loaded by each command.
 */
#ifndef BPFPROF_SERVE_LIBRARY_H
#define BPFPROF_SERVE_LIBRARY_H

#include <microhttpd.h>
#include <stdbool.h>

/* Functions, by their names without "MHD_". */
#define LIBRARY_FUNCTIONS(X)                                                                       \
	X(start_daemon)                                                                            \
	X(stop_daemon)                                                                             \
	X(run)                                                                                     \
	X(get_timeout)                                                                             \
	X(get_daemon_info)                                                                         \
	X(get_connection_info)                                                                     \
	X(lookup_connection_value)                                                                 \
	X(suspend_connection)                                                                      \
	X(resume_connection)                                                                       \
	X(create_response_from_buffer)                                                             \
	X(add_response_header)                                                                     \
	X(queue_response)                                                                          \
	X(destroy_response)

struct library {
#define X(name) __typeof__(MHD_##name) *name;
	LIBRARY_FUNCTIONS(X)
#undef X
};

/* False: logged. It stays loaded. */
bool library_load(struct library *l);

#endif
